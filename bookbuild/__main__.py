"""`python -m bookbuild <command>`."""

from .cli import main

main()
