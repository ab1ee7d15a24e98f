"""Read the built book in a browser."""

from __future__ import annotations

import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def serve(site: Path, port: int) -> None:
    """Serve until Ctrl+C; what stands in the way is said in one sentence."""
    if not site.is_dir():
        sys.exit("There is no _site/ yet: make book")
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=str(site)))
    except (OSError, OverflowError):
        sys.exit(f"Port {port} cannot be used, perhaps another program has it: make serve PORT={port % 65535 + 1}")
    with server:
        print(f"The book is at http://localhost:{server.server_port}/ until you press Ctrl+C", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
