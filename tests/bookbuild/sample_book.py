"""A repository of one chapter and one page, for tests that doctor it."""

import shutil
from pathlib import Path

from bookbuild import notebooks
from bookbuild.paths import ROOT

CHAPTER = """\
---
description: {en: How alike two layers are., ko: 두 층이 닮은 정도.}
---

+++ {"lang": "en"}

# 17. CKA: how alike are two layers?

*Mirrors §3 of Raghu et al., [a paper](https://example.org) · about 5 minutes · needs nothing*

Independent samples score 0.89 at $n=128$.

+++ {"lang": "ko"}

# 17. CKA: 두 층은 얼마나 닮았는가?

*Raghu 외, [a paper](https://example.org)의 §3 · 약 5분 · 먼저 알 것은 없다*

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
    assert notebooks.run(root, check=False) == []
    return root


def doctor(root: Path, before: str, after: str) -> str:
    """Change the chapter's source and return what the check complains about."""
    assert before in CHAPTER
    (root / "book/chapters/17_cka.md").write_text(CHAPTER.replace(before, after, 1), encoding="utf-8")
    return "\n".join(notebooks.run(root, check=True))
