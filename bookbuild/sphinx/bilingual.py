"""What two languages ask of Sphinx: a switch on every page, tags for the head, and no English left in Korean pages."""

from __future__ import annotations

import hashlib
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import _
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

from sphinx import locale

from ..paths import ROOT

NAMES = {"en": "English", "ko": "한국어"}
LOCALES = {"en": "en_US", "ko": "ko_KR"}


def add_language_context(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give templates the address of the same page in the other language, and the head its tags."""
    language, other, base = app.config.language, app.config.book_other_language, app.config.book_base_url
    above, page = f"{context['content_root']}../", f"{pagename}.html"
    if other:
        context["other_language"] = {"code": other, "name": NAMES[other], "url": f"{above}{other}/{page}"}
    if doctree is None:  # the search page: nothing to describe or to share
        return

    tags = [f'<link rel="icon" type="image/svg+xml" href="{context["pathto"]("_static/logo.svg", 1)}">']
    if other:
        versions = {code: f"{base or above}{code}/{page}" for code in sorted((language, other))}
        versions["x-default"] = base or above
        tags += [f'<link rel="alternate" hreflang="{code}" href="{url}">' for code, url in versions.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags + _social_tags(app, context, doctree))


def _social_tags(app: Sphinx, context: dict[str, Any], doctree: nodes.document) -> list[str]:
    """Open Graph tags: what a shared link shows."""
    # Every source has a description; Sphinx has written it as a meta element by now.
    described = (meta["content"] for meta in doctree.findall(nodes.meta) if meta.get("name") == "description")
    base = app.config.book_base_url
    facts = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": app.env.titles[context["pagename"]].astext(),
        "og:description": next(described, None),
        "og:locale": LOCALES[app.config.language],
        "og:image": f"{base}cover.png" if base else context["pathto"]("_static/cover.png", 1),
        "og:image:alt": app.config.html_title,
        "og:url": context.get("pageurl"),
    }
    return [f'<meta property="{key}" content="{escape(value)}">' for key, value in facts.items() if value]


def visit_hidden_cell(self: HTML5Translator, node: nodes.Element) -> None:
    """A folded cell whose label is the text that is seen, in the page's language."""
    self.body.append(f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>\n')
    for state in ("show", "hide"):
        css = {"show": "collapsed", "hide": "expanded"}[state]
        self.body.append(f'<p class="{css} admonition-title">{escape(_(node[f"prompt_{state}"]))}</p>\n')
    self.body.append("</summary>\n")


def depart_hidden_cell(self: HTML5Translator, node: nodes.Element) -> None:
    """The end of a folded cell."""
    self.body.append("</details>\n")


def use_one_catalogue(app: Sphinx) -> None:
    """Themes and extensions speak from our catalogue: their own Korean is machine-made ('Launch' → 시작하다)."""
    for catalogue in ("booktheme", "togglebutton"):
        locale.translators["general", catalogue] = app.translator


def name_the_logo(app: Sphinx, config: Config) -> None:
    """Show the title under the logo; the logo alone would get an English description."""
    config.html_theme_options["logo"] = {"text": config.html_title}


def remove_thebe(app: Sphinx) -> None:
    """Jupyter Book always loads thebe, which starts kernels on another host; the book has explorers instead."""
    for name, listeners in app.events.listeners.items():
        app.events.listeners[name] = [x for x in listeners if x.handler.__module__ != "sphinx_thebe"]
    app.registry.css_files = [file for file in app.registry.css_files if "thebe" not in file[0]]


def code_and_words() -> str:
    """Hash of these extensions and the catalogues; Sphinx itself would not notice that they changed."""
    files = [*Path(__file__).parent.glob("*.py"), *(ROOT / "book" / "locale").rglob("*.po"), ROOT / "book/glossary.yml"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_config_value("book_code_and_words", code_and_words(), "env", str)
    app.add_config_value("book_other_language", "", "html", str)
    app.add_config_value("book_base_url", "", "html", str)
    use_one_catalogue(app)
    remove_thebe(app)
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_hidden_cell))
    app.connect("config-inited", name_the_logo)
    app.connect("html-page-context", add_language_context, priority=400)  # before the theme drops empty templates
    return {"parallel_read_safe": True, "parallel_write_safe": True}
