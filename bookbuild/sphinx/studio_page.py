"""The place of the studio on its page: a button, and nothing that is loaded before it is pressed."""

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from helpers.explore.base import stylesheet

STYLE = Path(__file__).parents[1] / "studio" / "studio.css"
FOLDER = "../studio/"  # beside the languages: both load the same files
WORDS = {
    "en": {
        "title": "The studio",
        "start": "Start the studio",
        "size": "This loads about 9 MB once: a program that runs networks (WebAssembly) and two networks. Your images "
                "stay in this page.",
        "missing": "The studio's files are not beside this page. They are part of the built site: open the page there, "
                   "or build it with npm installed (make book).",
        "script": "The studio needs JavaScript.",
    },
    "ko": {
        "title": "스튜디오",
        "start": "스튜디오 시작",
        "size": "신경망을 실행하는 프로그램(WebAssembly)과 신경망 두 개, 모두 9MB쯤을 한 번 불러온다. 이미지는 이 "
                "페이지 밖으로 나가지 않는다.",
        "missing": "스튜디오 파일이 이 페이지 옆에 없다. 빌드한 사이트에서 열거나, npm을 설치하고 다시 빌드하면 된다"
                   "(make book).",
        "script": "스튜디오는 자바스크립트가 있어야 작동한다.",
    },
}
SCRIPT = """
document.getElementById("studio-start").addEventListener("click", event => {
  const button = event.currentTarget, script = document.createElement("script");
  const root = (document.documentElement.dataset.content_root ?? "./") + "%s";
  button.disabled = true;
  script.dataset.folder = root;
  script.src = root + "studio.js";
  script.onerror = () => { button.disabled = false; document.getElementById("studio-status").textContent = %s; };
  document.head.append(script);
});
"""


class Studio(SphinxDirective):
    """```{studio}```"""

    def run(self) -> list[nodes.Node]:
        """The place, its style and its button."""
        self.env.note_dependency(str(STYLE))
        return [nodes.raw("", html(self.config.language), format="html")]


def html(language: str) -> str:
    """What the page has before the reader starts the studio."""
    words = {key: escape(text) for key, text in WORDS[language].items()}
    return (
        f"<style>{stylesheet()}\n{STYLE.read_text(encoding='utf-8')}</style>\n"
        f'<div id="studio" class="studio"><div class="explorer studio-before"><p class="ex-title">{words["title"]}</p>'
        f"<p>{words['size']}</p><noscript><p>{words['script']}</p></noscript>"
        f'<div class="ex-actions"><button type="button" id="studio-start">{words["start"]}</button></div>'
        f'<p id="studio-status" class="ex-status" role="status"></p></div></div>\n'
        f"<script>{SCRIPT % (FOLDER, _quoted(WORDS[language]['missing']))}</script>"
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_directive("studio", Studio)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
