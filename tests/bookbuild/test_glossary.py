"""One vocabulary and one message: banned words, drifting numbers and unequal structure are found and named."""

import re

import pytest

from bookbuild import glossary, notebooks, parity
from bookbuild.paths import ROOT
from helpers.claims.entries import load
from sample_book import doctor, write_book

ENTRIES = glossary.load(ROOT)
WRONG = [(entry, word) for entry in ENTRIES for word in entry.get("avoid", []) if word["wrong"]]


def test_prose_of_the_book_is_sound():
    problems = notebooks.prose_problems(ROOT)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", ["src/helpers/claims/[0-9][0-9].yml", "book/toc.yml"])
def test_data_files_use_no_banned_word(name):
    korean = [text for path in ROOT.glob(name) for text in re.findall(r"\bko: (.+)", path.read_text(encoding="utf-8"))]
    assert korean
    assert not [problem for text in korean for problem in glossary.wrong_words(ENTRIES, text)]


# ---------------------------------------------------------------------------------------------- the glossary


def test_every_entry_is_complete_and_listed_once():
    assert len({entry["en"] for entry in ENTRIES}) == len({entry["ko"] for entry in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        assert set(entry) <= {"en", "ko", "definition", "first_use", "avoid", "note"}, entry
        assert set(entry["definition"]) == {"en", "ko"} and all(entry["definition"].values()), entry
        assert set(entry.get("note", {"en": "", "ko": ""})) == {"en", "ko"}, entry
    for entry, word in WRONG:
        assert set(word["reason"]) == {"en", "ko"}, (entry, word)


def test_no_term_of_the_glossary_is_itself_banned():
    for entry in ENTRIES:
        assert not list(glossary.wrong_words(ENTRIES, f"{entry['ko']} {entry.get('first_use', '')}")), entry


def test_page_has_both_directions_sorted_and_complete():
    for direction, column in (("en-ko", "en"), ("ko-en", "ko")):
        rows = glossary.table(ENTRIES, direction, "ko", {"representation": "17_cka"}).splitlines()[2:]
        first = [re.split(r"(?<!\\)\|", row)[1].strip() for row in rows]
        assert sorted(first) == sorted(entry[column] for entry in ENTRIES)
        assert first == sorted(first, key=lambda term: term.strip("[").casefold())
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_definitions_use_the_books_own_words():
    for entry in ENTRIES:
        assert not list(glossary.wrong_words(ENTRIES, entry["definition"]["ko"])), entry["en"]


def test_the_first_chapter_that_introduces_a_term_is_linked():
    korean = {"18_later": "**표현(representation)** 하나", "17_cka": "표현(representation) 둘", "16_before": "표현"}
    places = glossary.first_chapters(ENTRIES, korean)
    assert places == {"representation": "17_cka"}
    rows = glossary.table(ENTRIES, "en-ko", "en", places).splitlines()
    (row,) = [row for row in rows if row.startswith("| representation |")]
    assert "[17](17_cka.ipynb)" in row and "seen as data" in row


@pytest.mark.parametrize(("entry", "word"), WRONG, ids=[word["word"] for _, word in WRONG])
def test_every_banned_word_is_found_and_may_be_quoted(entry, word):
    sentence = {"무한대": "ViT의 수용 영역은 무한대다.", "탐색": "선형 탐색으로 잰다."}.get(word["word"], word["word"])
    (problem,) = set(glossary.wrong_words(ENTRIES, sentence)) - set(glossary.wrong_glosses(ENTRIES, sentence))
    assert entry["ko"] in problem and word["reason"]["en"] in problem
    assert not list(glossary.wrong_words(ENTRIES, f"<del>{sentence}</del>이라는 말"))


@pytest.mark.parametrize(
    "innocent", ["무한대로 발산한다.", "탐색기에서 층을 고른다.", "그람 행렬(Gram matrix)", "여러 층(layers)"]
)
def test_innocent_words_pass(innocent):
    assert not list(glossary.wrong_words(ENTRIES, innocent))


def test_swapped_terms_are_found_by_their_english_gloss():
    (problem,) = glossary.wrong_words(ENTRIES, "이동 등변성(translation invariance)")
    assert "translation invariance is 이동 불변성" in problem


def test_banned_word_in_a_chapter_names_file_block_word_and_right_term(tmp_path):
    errors = doctor(write_book(tmp_path), "독립인 표본도", "등가성이 없는 독립인 표본도")
    assert "book/chapters/17_cka.md: block 1 (line 7): writes “등가성”" in errors
    assert "the right term is 이동 등변성" in errors


def test_banned_word_in_an_alternative_text_is_found(tmp_path):
    assert "block 2 (line 21): writes “로직”" in doctor(write_book(tmp_path), "올라가는 선.", "로직 곡선.")


# ------------------------------------------------------------------------------------------------- the parity


def test_number_that_drifted_in_one_language_is_named(tmp_path):
    errors = doctor(write_book(tmp_path), "0.89가", "0.98이")
    assert "block 1 (line 7): number 0.89 stands only in the en text" in errors
    assert "number 0.98 stands only in the ko text" in errors


@pytest.mark.parametrize(
    ("en", "ko", "problem"),
    [
        ("## Title", "### 제목", "headings differ"),
        ("See [a](b).", "a를 보라.", "number of links differs: en 1, ko 0"),
        ("$K$ and $L$", "$K$와 L", "number of formulas differs: en 2, ko 1"),
        ("$$K$$", "식", "number of formulas differs"),
        ("Call `cka`.", "cka를 부른다.", "number of code spans differs"),
        ("```python\nx\n```", "코드", "number of code blocks differs"),
        ("- a\n- b", "- 가", "number of list items differs: en 2, ko 1"),
        ("<details>a</details>", "답", "number of answers (<details>) differs"),
        ("a", "**표현(representation)**은", "** stays visible"),
        ("seven layers", "8개 층", "number 8 stands only in the ko text"),
    ],
)
def test_unequal_twins_are_named(en, ko, problem):
    assert any(problem in found for found in parity.differences(en, ko)), parity.differences(en, ko)


@pytest.mark.parametrize(
    ("en", "ko"),
    [
        ("1,024 examples, 4 %", "표본 1024개, 4%"),
        ("two layers", "2개 층"),
        ("14M to 0.3 billion images", "이미지 1,400만–3억 장"),
        ("the lower third", "아래 3분의 1"),
        ("2 layers", "두 층"),
        ("[paper](https://arxiv.org/abs/2108.08810v2)", "[논문](https://example.org/7)"),
        ("HSIC₁ of **all** layers", "모든 층의 **HSIC₁**"),
    ],
)
def test_equal_twins_pass(en, ko):
    assert not parity.differences(en, ko)


def test_claims_say_the_same_numbers_in_both_languages():
    problems = []
    for claim in load().values():
        for part in ("statement", "paper_value", "test", *({"note", "no_control"} & claim.keys())):
            alone = parity.numerals(claim[part]["en"]) ^ parity.numerals(claim[part]["ko"])
            # a single sentence mixes words and small digits freely: "top-1", "zero", "one in four"
            problems += [f"{claim['id']} {part}: {number} in one language only" for number in alone if len(number) > 1]
    assert not problems, "\n".join(problems)
