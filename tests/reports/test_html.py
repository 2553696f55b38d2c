"""A report as HTML holds no text of somebody else's as markup, and every number exactly."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.reports import Facts, Matrix, Paragraph, Report, SideBySide, Table, Verbatim, quantity
from utmost.reports.blocks import MAX_EXACT_CHARS, block_html, number_html, report_html

TEXTS = st.text(max_size=30)


@given(TEXTS)
def test_no_text_of_a_block_is_markup(text: str) -> None:
    hostile = f"<script>{text}</script>&\x1b[2J"
    table = Table((hostile,), ((hostile,),), 1, hostile)
    blocks = [
        Paragraph(hostile),
        Verbatim(hostile),
        Facts(((hostile, hostile),)),
        table,
        SideBySide(((hostile, table),)),
    ]
    for block in blocks:
        page = block_html(block)
        assert "<script" not in page
        assert "\x1b" not in page


def test_blocks_come_in_order_and_missing_ones_are_left_out() -> None:
    report = Report({"first": Paragraph("one"), "second": None, "third": Verbatim("three")})
    assert report_html(report) == "<p>one</p><pre>three</pre>"


def test_a_number_says_what_it_is_exactly() -> None:
    assert 'title="exactly 1/3"' in number_html(quantity(Fraction(1, 3)))
    assert "title" not in number_html(quantity(7))
    assert len(number_html(quantity(Fraction(1, 7**300)))) < 4 * MAX_EXACT_CHARS


def test_a_large_channel_is_cut_and_says_so() -> None:
    page = block_html(Matrix(ut.geometric(40, ut.alpha("1/2")).channel()))
    assert "The first 30 of 41 rows and 30 of 41 columns." in page
    assert page.count("<tr>") == 31


def test_equal_columns_are_shown_once() -> None:
    table = Table(("what", "value"), (("x", "1"),))
    page = block_html(SideBySide((("published", table), ("computed", table))))
    assert page.count("<table") == 1
    assert "published = computed, in every cell" in page
    assert block_html(SideBySide((("published", Verbatim("1")), ("computed", table)))).count("<div>") == 2
