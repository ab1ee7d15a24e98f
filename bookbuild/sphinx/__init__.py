"""The book's Sphinx extension: `bookbuild.sphinx` in _config.yml loads all parts."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ("bilingual", "korean_search", "preview", "claims_ledger", "policy", "full_size", "explorer_parts",
         "studio_page", "api_page", "light_pages", "table_heads", "terms")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Load the parts, each an extension of its own."""
    for name in PARTS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
