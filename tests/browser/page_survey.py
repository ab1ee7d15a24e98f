"""What the pages of one language show, each opened once: at a desk over HTTP, and on a phone from a disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

PHONE = {"width": 390, "height": 844}
CODE = [["div.highlight"]]  # thousands of coloured words, the same on all pages: measured on one
WITH_CODE = "17_cka.html"
# Each language is read in both themes, once in each place.
THEME_AT_DESK = {"en": "light", "ko": "dark"}
THEME_ON_PHONE = {"en": "dark", "ko": "light"}
# Both languages have the same structure, so it is measured in one. What the other adds are its words and, in the other
# theme, its colours.
COLOURS_AND_WORDS = ["cat.color", "cat.language", "cat.text-alternatives", "cat.name-role-value", "cat.forms"]
STRICTER_THAN_PROMISED = {"color-contrast-enhanced": {"enabled": False}}  # 7:1, which a choice by category includes
AXE_RULES: dict[str, dict] = {"en": {}, "ko": {"runOnly": COLOURS_AND_WORDS, "rules": STRICTER_THAN_PROMISED}}

AT_DESK = """() => {
  const written = "article, .bd-sidebar-secondary nav, .bd-links, .prev-next-area, #jb-print-docs-body";
  const outside = (e) => !e.closest(written + ", script, style, noscript");
  const names = ["aria-label", "title", "placeholder", "alt", "data-tooltip", "data-bs-original-title"];
  const around = [...document.querySelectorAll("details.hide p")].map((p) => p.textContent);
  for (const e of document.body.querySelectorAll("*")) {
    if (outside(e)) for (const n of e.childNodes) if (n.nodeType === Node.TEXT_NODE) around.push(n.data);
    if (outside(e) || e.matches("button.copybtn, details.hide p, .headerlink"))
      for (const name of names) if (e.hasAttribute(name)) around.push(e.getAttribute(name));
  }
  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().width > 0;
  const verdicts = (card) => [...card.querySelectorAll(".claim-outcome .verdict")].filter(seen).map((v) => v.innerText);
  return {
    around,
    language: document.documentElement.lang,
    heading: document.querySelector("h1")?.innerText.trim() ?? "",
    formulas: document.querySelectorAll("mjx-container").length,
    broken_formulas: document.querySelectorAll("mjx-merror").length,
    cards: [...document.querySelectorAll(".claim")].map((card) => [card.id.replace(/^claim-/, ""), verdicts(card)]),
    ledger: [...document.querySelectorAll(".ledger-line")].map(
      (row) => [row.id, row.querySelector("summary .verdict:not(.verdict-open)")?.innerText]),
  };
}"""


@dataclass(frozen=True)
class Shown:
    """What a reader at a desk finds on one page."""

    language: str
    heading: str
    formulas: int
    broken_formulas: int
    around: list[str]  # names, tooltips and texts outside the article
    cards: list[tuple[str, list[str]]]  # claims and the verdicts in sight
    ledger: list[tuple[str, str | None]]  # rows of the ledger
    violations: list[str]  # serious ones that axe finds; none are looked for where there is no axe


@dataclass
class Survey:
    """Facts of all pages of one language, and everything that went wrong while they were opened."""

    pages: dict[str, Any] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


def page_names(site: Path, language: str) -> list[str]:
    """Names of the pages of one language."""
    return sorted(path.name for path in (site / language).glob("*.html"))


def survey_at_desk(visitor, address: str, site: Path, language: str, axe: Path | None) -> Survey:
    """{page: Shown}, over HTTP."""
    survey = Survey(troubles=visitor.troubles)
    for name in page_names(site, language):
        page = visitor.open(f"{address}/{language}/{name}")
        copy_buttons = page.locator("html:not(:has(article pre)), button.copybtn").first
        expect(copy_buttons, f"{language}/{name} has code without a button to copy it").to_be_attached()
        facts = page.evaluate(AT_DESK)  # before axe, which is a guest on the page
        violations = serious_violations(page, name, axe, AXE_RULES[language]) if axe else []
        survey.pages[name] = Shown(**facts, violations=violations)
    return survey


def survey_on_phone(visitor, site: Path, language: str) -> Survey:
    """{page: pixels by which it is wider than the phone}, from a disk."""
    survey = Survey(troubles=visitor.troubles)
    for name in page_names(site, language):
        page = visitor.open((site / language / name).as_uri())
        survey.pages[name] = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return survey


def serious_violations(page: Page, name: str, axe: Path, rules: dict) -> list[str]:
    """What axe calls serious or critical."""
    page.evaluate(axe.read_text(encoding="utf-8"))
    part, options = {"exclude": CODE if name != WITH_CODE else []}, {"resultTypes": ["violations"], **rules}
    violations = page.evaluate("([part, options]) => axe.run(part, options).then(r => r.violations)", [part, options])
    return [f"{name}: {violation['id']}: {node['html'][:160]}" for violation in violations
            if violation["impact"] in ("serious", "critical") for node in violation["nodes"]]
