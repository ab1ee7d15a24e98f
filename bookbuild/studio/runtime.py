"""onnxruntime-web, of one version and one digest: from npm, kept below _build."""

from __future__ import annotations

import base64
import gzip
import hashlib
import subprocess
import tarfile
from pathlib import Path

VERSION = "1.30.0"
SHA512 = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
PARTS = {  # of the package: one thread, no special headers, WebAssembly only
    "library": "ort.wasm.min.js",
    "loader": "ort-wasm-simd-threaded.mjs",
    "machine": "ort-wasm-simd-threaded.wasm",
}
NOTICE = f"""onnxruntime-web {VERSION}, https://github.com/microsoft/onnxruntime, is in runtime.js, unchanged.

MIT License. Copyright (c) Microsoft Corporation.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of
the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO
THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,
TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""


class RuntimeMissing(Exception):
    """onnxruntime-web could not be fetched; the message says why and what to do."""


def parts(cache: Path) -> dict[str, str]:
    """The runtime's files as gzip in base64, by their part; fetched when they are not in `cache`."""
    if not all((cache / name).exists() for name in PARTS.values()):
        _fetch(cache)
    squeezed = {part: gzip.compress((cache / name).read_bytes(), mtime=0) for part, name in PARTS.items()}
    return {part: base64.b64encode(data).decode() for part, data in squeezed.items()}


def _fetch(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    archive = cache / f"onnxruntime-web-{VERSION}.tgz"
    try:
        fetch = ["npm", "pack", f"onnxruntime-web@{VERSION}", "--silent"]
        subprocess.run(fetch, cwd=cache, check=True, capture_output=True, timeout=600)
        if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != SHA512:
            raise RuntimeMissing(f"onnxruntime-web {VERSION} from npm is not the file that this book was tested with.")
        with tarfile.open(archive) as package:
            for name in PARTS.values():
                content = package.extractfile(f"package/dist/{name}")
                assert content is not None  # the digest says what is in it
                (cache / name).write_bytes(content.read())
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeMissing(f"onnxruntime-web could not be fetched with npm ({type(error).__name__}); with npm and a "
                             "connection, build again.") from error
    finally:
        archive.unlink(missing_ok=True)
