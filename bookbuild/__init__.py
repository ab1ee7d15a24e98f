"""How the notebooks and the site are made: `python -m bookbuild` at the root of the repository lists the commands.

    book/ ─ notebooks.py ─▶ notebooks/{en,ko} ─ execute.py ─▶ _build/executed
          ─ staging.py ─▶ _build/{en,ko}/source ─ build.py ─▶ _site
"""
