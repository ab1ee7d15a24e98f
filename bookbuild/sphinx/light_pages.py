"""Pages load what they use: no formula engine without a formula, a dozen icons instead of their font."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pydata_sphinx_theme
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

# What a page must hold to need a file; Jupyter Book asks for all of them on every page.
NEEDED_BY = {
    "mystnb": r'class="cell',
    "sphinx-design": r'class="[^"]*\bsd-',
    "design-tabs": r'class="[^"]*\bsd-tab',
    "togglebutton": r'class="[^"]*\b(?:toggle|dropdown)\b',
    "clipboard": r"<pre",
    "copybutton": r"<pre",
    "mathjax": r'class="[^"]*\bmath\b|\\\(|\\\[',
}
# Sphinx extensions set these up in scripts of their own, beside the file above.
SETTINGS_OF = {"toggle(?:Hint|Open|button)": "togglebutton", r"window\.MathJax": "mathjax"}
ICONS = ("angle-down", "arrow-up", "bars", "circle-half-stroke", "download", "expand", "file", "file-pdf", "github",
         "list", "magnifying-glass", "moon", "rocket", "sun", "xmark")
ICON_STYLE = """/* Icons of Font Awesome Free (CC BY 4.0, https://fontawesome.com): the ones this site shows. */
.fa, .fas, .fab, .fa-solid, .fa-brands { display: inline-block; line-height: 1; vertical-align: -0.125em; }
.fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.075em; }
:is(.fa, .fas, .fab, .fa-solid, .fa-brands)::before {
  content: ""; display: inline-block; width: 1em; height: 1em; background: currentcolor;
  mask: var(--icon) center / contain no-repeat; -webkit-mask: var(--icon) center / contain no-repeat;
}
"""


def keep_what_is_used(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Drop scripts and styles that this page does not need; leave the head without icon loaders."""
    body = str(context.get("body", ""))
    unused = {name for name, pattern in NEEDED_BY.items() if not re.search(pattern, body)}
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context[kind] if owner(file) not in unused]
    context["without_icon_loaders"] = without_icon_loaders


def owner(file: Any) -> str | None:
    """Which of the files above a script or style belongs to."""
    name, body = str(getattr(file, "filename", file) or ""), getattr(file, "attributes", {}).get("body") or ""
    if found := next((key for pattern, key in SETTINGS_OF.items() if re.search(pattern, body)), None):
        return found
    return next((key for key in NEEDED_BY if key in name), None)


def without_icon_loaders(head: str) -> str:
    """Neither the font of all icons with its preloads, which fail from file://, nor 1.4 MB that draw them again."""
    return re.sub(r'<link\b[^>]*/fontawesome/[^>]*>|<script src="[^"]*/fontawesome/[^"]*"></script>', "", head)


def icon_style(drawings: str) -> str:
    """The style of the icons that are used, drawn as the theme's own script would draw them."""
    rules = [ICON_STYLE]
    for name in ICONS:
        found = re.search(rf'[,{{]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]', drawings)
        if found is None:
            raise ValueError(f"The theme's Font Awesome has no icon {name}; correct ICONS in {Path(__file__).name}")
        box, path = f"0 0 {found[1]} {found[2]}", found[3]
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"><path d="{path}"/></svg>'
        rules.append(f'.fa-{name} {{ --icon: url("data:image/svg+xml,{quote(drawing, safe=" =/:")}"); }}\n')
    return "".join(rules)


def add_icons(app: Sphinx, config: Config) -> None:
    """Put the style of the icons among the static files."""
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    (drawings,) = theme.glob("vendor/fontawesome/*/js/all.min.js")
    folder = Path(app.doctreedir).parent / "icons"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "icons.css").write_text(icon_style(drawings.read_text(encoding="utf-8")), encoding="utf-8")
    config.html_static_path.append(str(folder))
    app.add_css_file("icons.css", priority=400)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.connect("config-inited", add_icons)
    app.connect("html-page-context", keep_what_is_used, priority=900)  # after all who add files
    return {"parallel_read_safe": True, "parallel_write_safe": True}
