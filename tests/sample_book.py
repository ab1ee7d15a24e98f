"""A repository of one chapter and one page, for tests that doctor it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = """\
---
description: {en: How alike two layers are., ko: 두 층이 닮은 정도.}
---

+++ {"lang": "en"}

# 17. CKA: how alike are two layers?

Independent samples score 0.89 at $n=128$.

+++ {"lang": "ko"}

# 17. CKA: 두 층은 얼마나 닮았는가?

독립인 표본도 $n=128$에서 0.89가 나온다.

```{code-cell} ipython3
---
tags: [hide-input]
alt: {en: A rising line., ko: 올라가는 선.}
---
gram = features @ features.T
```

+++ {"lang": "en"}

## What did we see?

+++ {"lang": "ko"}

## 무엇을 보았는가?
"""
INDEX = """\
---
description: {en: Home., ko: 첫 쪽.}
---
+++ {"lang": "en"}

# Home

<!-- chapters:map -->

+++ {"lang": "ko"}

# 첫 쪽

<!-- chapters:map -->
"""


def write_book(root: Path) -> Path:
    """Write the small repository below `root` and generate its notebooks."""
    for folder in ("book/chapters", "book/pages"):
        (root / folder).mkdir(parents=True)
    for name in ("_config.yml", "book/toc.yml", "book/glossary.yml"):
        shutil.copy(ROOT / name, root / name)
    (root / "book/chapters/17_cka.md").write_text(CHAPTER, encoding="utf-8")
    (root / "book/pages/index.md").write_text(INDEX, encoding="utf-8")
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    done = generate(root)
    assert done.returncode == 0, done.stderr
    return root


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The generator's command line, as `make notebooks` calls it."""
    command = [sys.executable, str(root / "tools" / "notebooks.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def doctor(root: Path, before: str, after: str) -> str:
    """Change the chapter's source and return what --check complains about."""
    assert before in CHAPTER
    (root / "book/chapters/17_cka.md").write_text(CHAPTER.replace(before, after, 1), encoding="utf-8")
    done = generate(root, "--check")
    assert done.returncode == 1
    return done.stderr
