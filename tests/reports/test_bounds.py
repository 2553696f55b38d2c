"""The check that every CLI test makes of the reports it prints: it counts bounds, and it can fail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from report_bounds import check_bound, check_report
from utmost.reports import Paragraph, Quantity, Report, Rounding, Table, at_least, at_most, quantity


def test_bounds_are_found_in_sentences_tables_numbers_and_documents() -> None:
    third = Fraction(1, 3)
    blocks = {"a": Paragraph("at most ", at_most(third), "."), "b": Table(("x", "≥"), (("1", at_least(third)),))}
    report = Report(blocks, lambda: {"rows": [{"upper": at_most(third, 12)}]}, {"gap": at_most(third, 3)})
    assert check_report(report) == 4
    assert check_report(Report({"a": Paragraph("about ", quantity(third))})) == 0


def test_a_bound_that_is_rounded_inward_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    inward = Quantity(Fraction(2, 3), 3, Rounding.DOWN)
    check_bound(inward)
    monkeypatch.setattr(Quantity, "rounded", property(lambda number: "0.667"))
    with pytest.raises(AssertionError):
        check_bound(inward)
