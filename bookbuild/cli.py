"""The commands of `python -m bookbuild`; each imports only what it needs, so that `serve` runs with any Python."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .paths import ROOT, BuildError, relative


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    args = parser().parse_args(arguments)
    try:
        args.run(args)
    except BuildError as error:
        sys.exit(f"\n{error}")


def parser() -> argparse.ArgumentParser:
    """All commands with their arguments."""
    whole = argparse.ArgumentParser(prog="python -m bookbuild", description="How the notebooks and the site are made.")
    commands = whole.add_subparsers(required=True, metavar="command")

    def command(name: str, run: object, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help)
        added.set_defaults(run=run)
        return added

    added = command("notebooks", notebooks, "write notebooks/ and the tables of contents from book/")
    added.add_argument("--check", action="store_true", help="write nothing; list what differs and exit with 1")
    added = command("site", site, "execute what is not fresh and build both languages into _site/")
    added.add_argument("--bundle", action="store_true", help="also zip the site for a room without internet")
    added = command("chapter", chapter, "execute one chapter if it is not fresh and build its page in both languages")
    added.add_argument("number", help="such as 18")
    added = command("serve", serve, "read the built book in a browser")
    added.add_argument("port", nargs="?", type=int, default=8000)
    command("lighthouse", lighthouse, "measure the built site with Lighthouse (npm)")
    added = command("versions", versions, "run the notebooks with the oldest or newest versions pyproject.toml allows")
    added.add_argument("which", choices=("oldest", "newest"))
    added.add_argument("chapters", nargs="*", help="numbers such as 17; default: all")
    added = command("paper-paths", paper_paths, "run chapters at paper scale without the public weights")
    added.add_argument("chapters", nargs="*", help="numbers such as 18; default: all")
    added.add_argument("--images", required=True, type=Path, help="photos, a folder per class")
    added.add_argument("--spec", type=Path, help="a file that describes networks, as for make paper")
    added.add_argument("--vit", help="the network of the file that takes the place of every ViT")
    added.add_argument("--cnn", help="the network of the file that takes the place of every CNN")
    command("pictures", pictures, "draw the cover, the favicon and the README's picture of the built book")
    return whole


def notebooks(args: argparse.Namespace) -> None:
    """Write or check."""
    from .notebooks import run

    problems = run(ROOT, args.check)
    if problems:
        sys.exit("\n".join(problems))
    print("notebooks/ matches book/")


def site(args: argparse.Namespace) -> None:
    """Build everything."""
    from .build import build_site, bundle

    begin = time.perf_counter()
    built = build_site(ROOT)
    if args.bundle:
        archive = bundle(built, ROOT / "_build" / "vit-cnn-book")
        size = archive.stat().st_size / 1e6
        print(f"Bundle: {relative(archive)} ({size:.1f} MB). Unzip it anywhere and open _site/index.html.")
    took, folder = time.perf_counter() - begin, relative(built)
    print(f"The book is in {folder}/ after {took:.0f} s. Read it with `make serve`, or open {folder}/index.html.")


def chapter(args: argparse.Namespace) -> None:
    """Build one chapter."""
    from .build import build_chapter

    begin = time.perf_counter()
    pages = build_chapter(ROOT, args.number)
    took = time.perf_counter() - begin
    print(f"Chapter {args.number} after {took:.0f} s; links to other chapters lead nowhere. Open")
    for page in pages:
        print(f"  {page.as_uri()}")


def serve(args: argparse.Namespace) -> None:
    """Serve until Ctrl+C."""
    from .serve import serve

    serve(ROOT / "_site", args.port)


def lighthouse(args: argparse.Namespace) -> None:
    """Measure the site."""
    from .lighthouse import measure_site

    measure_site(ROOT)


def versions(args: argparse.Namespace) -> None:
    """Try other versions."""
    from .versions import try_versions

    try_versions(args.which, args.chapters)


def paper_paths(args: argparse.Namespace) -> None:
    """Try the paper scale."""
    from .paper_paths import try_chapters

    try_chapters(args.chapters, args.images, args.spec, args.vit, args.cnn)


def pictures(args: argparse.Namespace) -> None:
    """Draw them all."""
    from .pictures import draw

    draw()
