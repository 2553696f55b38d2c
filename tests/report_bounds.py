"""Check a report: every bound in it holds as text, as HTML and in the document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from utmost.exact import enclosure
from utmost.reports import Block, Facts, Paragraph, Quantity, Report, Rounding, SideBySide, Table
from utmost.reports.blocks import block_html, number_html
from utmost.reports.numbers import MINUS, THIN_SPACE

COMPARED_BITS = 300  # of an irrational value, more than any digit that is shown
DATA_TEXT = re.compile(r">([^<]*)</data>")


def check_report(report: Report) -> int:
    """Check every bound of a report; returns how many there are."""
    shown = [number for block in report for number in block_quantities(block)]
    bounds = [*shown, *report.numbers.values(), *document_quantities(dict(report.content))]
    for bound in bounds:
        check_bound(bound)
    page = "".join(block_html(block) for block in report)
    for number in shown:
        assert number_html(number) in page, f"{number!r} is not on the page as it should be"
    return sum(bound.rounding is not Rounding.NEAREST for bound in bounds)


def check_bound(number: Quantity) -> None:
    """An upper bound is not below its value, a lower bound not above it, in each form."""
    if number.rounding is Rounding.NEAREST or (isinstance(number.value, float) and not math.isfinite(number.value)):
        return
    lower, upper = ends(number.value)
    page_text = DATA_TEXT.search(number_html(number))
    assert page_text is not None
    texts = [str(number), page_text.group(1)]
    texts = [text.removesuffix(number.suffix).replace(MINUS, "-").replace(THIN_SPACE, "") for text in texts]
    for text in [*texts, str(number.json)]:
        if text == number.exact:
            continue
        printed = Fraction(text)
        assert printed >= upper if number.rounding is Rounding.UP else printed <= lower, (number, text)


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Fractions below and above a number; equal where it is rational."""
    return (Fraction(value),) * 2 if isinstance(value, float) else enclosure(value, COMPARED_BITS)


def block_quantities(block: Block) -> Iterator[Quantity]:
    """The quantities that a block shows."""
    if isinstance(block, SideBySide):
        for _, column in block.columns:
            yield from block_quantities(column)
    cells: list[Any] = []
    if isinstance(block, Paragraph):
        cells = list(block.parts)
    elif isinstance(block, Facts):
        cells = [cell for _, cell in block.pairs]
    elif isinstance(block, Table):
        cells = [cell for row in block.rows for cell in row]
    yield from (cell for cell in cells if isinstance(cell, Quantity))


def document_quantities(content: Any) -> Iterator[Quantity]:
    """The quantities in a document, wherever they stand."""
    if isinstance(content, Quantity):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from document_quantities(value)
    elif isinstance(content, list | tuple):
        for value in content:
            yield from document_quantities(value)
