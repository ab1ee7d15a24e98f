"""What two languages ask of Sphinx: a switch on every page, tags for the head, and no English left in Korean pages."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx import locale
from sphinx.locale import _

NAMES = {"en": "English", "ko": "한국어"}
LOCALES = {"en": "en_US", "ko": "ko_KR"}


def add_language_context(app, pagename, templatename, context, doctree):
    """Give templates the address of the same page in the other language, and the head its tags."""
    context["without_icon_loaders"] = without_icon_loaders
    other, base = app.config.book_other_language, app.config.book_base_url
    up = "../" * pagename.count("/")
    page = f"{pagename}.html"
    address = {app.config.language: page}
    if other:
        context["other_language"] = {"code": other, "name": NAMES[other], "url": f"{up}../{other}/{page}"}
        address[other] = f"../{other}/{page}"
    if doctree is None:  # the search page: nothing to describe or to share
        return

    tags = [_link("alternate", _absolute(base, lang, page) or up + address[lang], hreflang=lang) for lang in address]
    if base:
        tags.append(_link("alternate", base, hreflang="x-default"))
    tags.append('<link rel="icon" type="image/svg+xml" href="{}">'.format(context["pathto"]("_static/logo.svg", 1)))
    tags += _social_tags(app, context, doctree, base and base + "cover.png")
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def _social_tags(app, context, doctree, cover):
    """Description and Open Graph tags of one page."""
    lang, description = app.config.language, describe(doctree)
    # A page may bring its own description (html_meta in its front matter); Sphinx has written it then.
    tags = [] if 'name="description"' in context.get("metatags", "") else [_meta("name", "description", description)]
    facts = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": app.env.titles[context["pagename"]].astext(),
        "og:description": description,
        "og:locale": LOCALES[lang],
        "og:image": cover or context["pathto"]("_static/cover.png", 1),
        "og:image:alt": app.config.html_title,
        "og:url": context.get("pageurl"),
    }
    return tags + [_meta("property", key, value) for key, value in facts.items() if value]


def describe(doctree, length: int = 155) -> str:
    """The first paragraph made of sentences, cut at a word; badges and lines of facts do not count."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 25 and text[-1] in ".?!" and not isinstance(paragraph.parent, nodes.list_item):
            return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"
    title = next(iter(doctree.findall(nodes.title)), None)
    return title.astext() if title else ""


def _absolute(base: str, lang: str, page: str) -> str:
    return f"{base}{lang}/{page}" if base else ""


def _link(rel: str, href: str, hreflang: str) -> str:
    return f'<link rel="{rel}" hreflang="{hreflang}" href="{escape(href)}">'


def _meta(kind: str, key: str, value: str) -> str:
    return f'<meta {kind}="{key}" content="{escape(value)}">'


def visit_hidden_cell(self, node):
    """A folded cell whose label is the text that is seen, in the page's language."""
    self.body.append(f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>\n')
    for state in ("show", "hide"):
        css = {"show": "collapsed", "hide": "expanded"}[state]
        self.body.append(f'<p class="{css} admonition-title">{escape(_(node[f"prompt_{state}"]))}</p>\n')
    self.body.append("</summary>\n")


def depart_hidden_cell(self, node):
    self.body.append("</details>\n")


def use_one_catalogue(app):
    """Themes and extensions speak from our catalogue: their own Korean is machine-made ('Launch' → 시작하다)."""
    for catalogue in ("booktheme", "togglebutton"):
        locale.translators["general", catalogue] = app.translator


def remove_thebe(app):
    """Jupyter Book always loads thebe, which starts kernels on another host; the book has explorers instead."""
    for name, listeners in app.events.listeners.items():
        app.events.listeners[name] = [x for x in listeners if x.handler.__module__ != "sphinx_thebe"]
    app.registry.css_files = [file for file in app.registry.css_files if "thebe" not in file[0]]


def without_icon_loaders(head: str) -> str:
    """Icons need one stylesheet. Font preloads fail from file://; a script of 1.4 MB would draw the icons again."""
    return re.sub(r'<link rel="preload" as="font"[^>]*>|<script src="[^"]*/fontawesome/[^"]*"></script>', "", head)


def setup(app):
    app.add_config_value("book_other_language", "", "html", str)
    app.add_config_value("book_base_url", "", "html", str)
    for extension in ("execution", "korean_search", "claims_ledger"):
        app.setup_extension(extension)
    use_one_catalogue(app)
    remove_thebe(app)
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_hidden_cell))
    app.connect("html-page-context", add_language_context, priority=400)  # before the theme drops empty templates
    return {"parallel_read_safe": True, "parallel_write_safe": True}
