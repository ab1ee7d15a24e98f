"""Do an English text and its Korean twin still say the same thing? Structure and numbers are compared."""

from __future__ import annotations

import re
from collections import Counter

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

PARSER = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True)
KINDS = {
    "link_open": "links",
    "image": "images",
    "code_inline": "code spans",
    "fence": "code blocks",
    "math_inline": "formulas",
    "math_inline_double": "formulas",
    "math_block": "formulas",
    "tr_open": "table rows",
    "list_item_open": "list items",
}
NUMERAL = re.compile(r"(\d+(?:[.,]\d+)*)(?: ?(만|억|M\b|million\b|billion\b))?", re.ASCII)
UNITS = {"": 1, "만": 10**4, "억": 10**8, "M": 10**6, "million": 10**6, "billion": 10**9}
# A small number may be a word in one language and a digit in the other ("two layers", "2개 층").
NUMBER_WORDS = {
    "0": r"\b(zero|zeroing|none)\b|영",
    "1": r"\b(one|once|first|single)\b|하나|한 |한번|첫|단일",
    "2": r"\b(two|twice|second|both|half|pair|double)\b|둘|두 |둘째|양쪽|절반",
    "3": r"\b(three|third|thirds)\b|셋|세 |셋째",
    "4": r"\b(four|fourth|quarter)\b|넷|네 ",
    "5": r"\b(five|fifth)\b|다섯",
    "6": r"\b(six|sixth)\b|여섯",
    "7": r"\b(seven|seventh)\b|일곱",
    "8": r"\b(eight|eighth)\b|여덟",
    "9": r"\b(nine|ninth)\b|아홉",
    "10": r"\b(ten|tenth)\b|열 ",
}


def flat_tokens(text: str) -> list[Token]:
    """Markdown tokens of the text, inline ones included."""
    blocks = PARSER.parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def structure(text: str) -> tuple[list[str], Counter[str]]:
    """Heading levels in order, and how many links, formulas, code spans … the text has."""
    tokens = flat_tokens(text)
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    counts = Counter(KINDS[token.type] for token in tokens if token.type in KINDS)
    counts["answers (<details>)"] = text.count("<details")
    return headings, counts


def numerals(text: str) -> set[str]:
    """Numbers in the text, in full: 1,024 is 1024, and 14M is 1400만. Addresses do not count, nor the 1 in 3분의 1."""
    visible = re.sub(r"\]\([^)\s]*\)|https?://\S+|(?<=분의) 1(?!\d)", "]", text)
    found = NUMERAL.findall(visible)
    plain = [(re.sub(r",(?=\d{3}(?!\d))", "", number), UNITS[unit]) for number, unit in found]
    return {number if unit == 1 else f"{float(number) * unit:.0f}" for number, unit in plain}


def unclosed_bold(text: str) -> list[str]:
    """Pieces of text in which ** stayed literal: after a bracket, Markdown does not close it before a letter."""
    return [token.content for token in flat_tokens(text) if token.type == "text" and "**" in token.content]


def differences(en: str, ko: str) -> list[str]:
    """What differs between the twins, one sentence each; empty when they match."""
    problems = [
        f"** stays visible in “{piece}”; move it before the bracket or write <b>…</b>"
        for piece in [*unclosed_bold(en), *unclosed_bold(ko)]
    ]
    (en_headings, en_counts), (ko_headings, ko_counts) = structure(en), structure(ko)
    if en_headings != ko_headings:
        problems.append(f"headings differ: en {en_headings or 'none'}, ko {ko_headings or 'none'}")
    for kind in sorted(en_counts.keys() | ko_counts.keys()):
        if en_counts[kind] != ko_counts[kind]:
            problems.append(f"number of {kind} differs: en {en_counts[kind]}, ko {ko_counts[kind]}")
    en_numbers, ko_numbers = numerals(en), numerals(ko)
    for number in sorted(en_numbers ^ ko_numbers):
        present, other = ("en", ko) if number in en_numbers else ("ko", en)
        if not (number in NUMBER_WORDS and re.search(NUMBER_WORDS[number], other, re.IGNORECASE)):
            problems.append(f"number {number} stands only in the {present} text")
    return problems
