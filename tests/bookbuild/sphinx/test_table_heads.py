"""Heading cells of tables say what they head."""

from __future__ import annotations

from bookbuild.sphinx.table_heads import with_scopes

TABLE = ('<table><thead><tr><th></th><th colspan="2">CKA</th></tr></thead>'
         '<tbody><tr><th class="row">block 0</th><td>1</td></tr></tbody></table>')


def test_columns_and_rows_are_headed():
    assert with_scopes(TABLE) == (
        '<table><thead><tr><th scope="col"></th><th scope="colgroup" colspan="2">CKA</th></tr></thead>'
        '<tbody><tr><th scope="row" class="row">block 0</th><td>1</td></tr></tbody></table>')


def test_what_a_table_says_itself_stays():
    said = '<table><tbody><tr><th scope="rowgroup">a</th></tr></tbody></table>'
    assert with_scopes(said) == said and with_scopes("<p>no table</p>") == "<p>no table</p>"
