"""A release and its preview are described once: terminal, pages and notebooks agree, and bounds are outward."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import utmost as ut
from example_releases import CLOSED, OPEN, answer, survey
from utmost.publish.release_model import DataOrigin, LedgerEntry, Release
from utmost.publish.tidy_table import answer_rows
from utmost.queries.count import Count
from utmost.reports import answer as answer_report
from utmost.reports import preview, release
from utmost.reports.numbers import THIN_SPACE

PLAN: dict[str, Any] = {
    "neighbours": "add-remove",
    "budget": "survey",
    "source": {"location": "bundled:anes96"},
    "query": [
        {"name": "dole", "kind": "count", "where": "vote = 1", "epsilon": "0.1"},
        {
            "name": "age",
            "kind": "mean",
            "column": "age",
            "low": 18,
            "high": 98,
            "step": 1,
            "nulls": "drop",
            "epsilon": "0.2",
        },
    ],
}


@pytest.fixture
def dry_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return ut.preview(PLAN)


def test_a_budget_that_is_not_open_is_said_to_be_so(dry_run: Any) -> None:
    assert "budget survey is not open yet" in repr(dry_run)
    assert "None" not in repr(dry_run)
    assert "budget survey is not open yet" in dry_run._repr_html_()


def test_the_error_of_a_mean_of_secretly_many_rows_is_divided_by_rows_everywhere(dry_run: Any) -> None:
    mean = dry_run.planned_answers[1]
    error = preview.shown_error(mean.error)
    assert str(error.half_width).endswith(" / rows")
    assert Fraction(error.half_width.rounded) >= Fraction(mean.error.half_width)
    report = preview.describe(dry_run)
    assert report.blocks["queries"].rows[1][-1] == error.half_width  # type: ignore[union-attr]
    assert f"{error.expected.typeset}<" in dry_run._repr_html_()
    assert any("/ rows: " in remark for remark in preview.plan_remarks(dry_run.planned_answers, dry_run.setting, {}))


def test_a_released_mean_is_shown_with_its_error_over_the_noisy_number_of_rows() -> None:
    answers = survey(OPEN)
    mean = next(shown for shown in answers if shown.parts is not None)
    entry = LedgerEntry("survey", 3, Fraction(1, 3), Fraction(2, 3))
    shown = Release(
        None, "utmost", DataOrigin("duckdb", "people"), OPEN.unit, OPEN.neighbours, OPEN.units, None,
        Fraction(6, 5), "one row changes little", entry, tuple(answers),
    )  # fmt: skip
    half_width = Fraction(mean.error.half_width) / mean.parts[1]
    report = release.describe(shown)
    row = next(row for row in report.blocks["answers"].rows if row[0] == mean.name)  # type: ignore[union-attr]
    assert half_width <= Fraction(row[2].rounded) <= half_width * Fraction(1001, 1000)
    texts = [report.text(f"remark {number}") for number in range(3)]
    assert any("from the noisy number of rows that is released with it" in text for text in texts)
    assert not any("/ rows" in text for text in [*texts, str(row[2]), shown._repr_html_()])
    assert "/ rows" in mean.error.words  # as the file has it, written before the rows were drawn
    assert "/ rows" not in mean.released_error.words


def test_what_a_release_costs_is_said_with_every_outcome() -> None:
    third, half, one = Fraction(1, 3), Fraction(1, 2), Fraction(1)
    short = preview.cost_paragraph(preview.BudgetOutlook(one, "b", half, third)).text
    assert short == "ε 1; budget b: ε 0.5 spent, ε 1/3 left"
    less = preview.cost_paragraph(preview.BudgetOutlook(one, "b", Fraction(0), one, half)).text
    assert "of which ε 0.5 is taken from the budget" in less
    free = preview.cost_paragraph(preview.BudgetOutlook(one, "b", half, half, half, is_free=True)).text
    assert free == "nothing: the ledger remembers this release; budget b: ε 0.5 spent, ε 0.5 left"


@pytest.mark.parametrize("setting", [CLOSED, OPEN])
def test_terminal_and_notebook_show_the_same_release(setting: Any) -> None:
    answers = (*survey(setting), answer(Count("vote = 1"), "1/10", setting, "large", value=16_635))
    entry = LedgerEntry("survey", 3, Fraction(1, 3), Fraction(2, 3))
    shown = Release(
        "A survey", "utmost", DataOrigin("duckdb", "people"), setting.unit, setting.neighbours, setting.units, None,
        Fraction(6, 5), "one row changes little", entry, answers,
    )  # fmt: skip
    report, html = release.describe(shown), shown._repr_html_()
    for row, released in zip(report.blocks["answers"].rows, answers, strict=True):  # type: ignore[union-attr]
        assert Fraction(row[2].rounded) >= Fraction(released.released_error.half_width)
        assert f">{row[1].typeset}</data>" in html
    assert f"16{THIN_SPACE}635" in html
    assert report.text("ledger") == "Ledger: entry 3, budget survey, ε 2/3 left."
    assert "Guarantee: one row changes little." in html


CELL_QUERIES = [
    {
        "name": "age by vote",
        "kind": "mean",
        "column": "age",
        "low": 18,
        "high": 98,
        "step": 1,
        "nulls": "drop",
        "keys": {"vote": [0, 1]},
        "epsilon": 2,
    },
    {"name": "ages", "kind": "count", "by": ["age"], "epsilon": 2, "delta": "1e-3"},
]


def test_cells_with_intervals_of_their_own_are_shown_with_them(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ut.ledger.open_ledger("ledger.sqlite") as budgets:
        budgets.open(ut.ledger.Budget("survey", "4", delta="1e-3", neighbours="add-remove"))
    released = ut.release(PLAN | {"query": CELL_QUERIES})
    report, rows = release.describe(released), {a.name: list(answer_rows(a)) for a in released}
    for (name, cells), line in zip(rows.items(), report.blocks["answers"].rows, strict=True):  # type: ignore[union-attr]
        widest = max(row.interval.error for row in cells if row.interval.error is not None)
        assert str(line[2]).endswith(" or less")
        assert widest <= Fraction(line[2].rounded) <= widest * Fraction(1001, 1000)
        table = report.blocks[f"cells of {name}"]
        for row, (*_, value, low, high) in zip(cells, table.rows, strict=False):  # type: ignore[union-attr]
            assert row.interval.low is not None
            assert row.interval.high is not None
            assert Fraction(low.rounded) <= row.interval.low <= Fraction(value.rounded) <= Fraction(high.rounded)
    texts = " ".join(report.text(f"remark {number}") for number in range(3))
    assert release.CELL_INTERVALS_NOTE in texts
    assert release.FOUND_INTERVALS_NOTE in texts
    assert "/ rows" not in texts + released._repr_html_()
    monkeypatch.setattr(answer_report, "MAX_COMPARED_CELLS", 1)
    assert [line[2] for line in release.describe(released).blocks["answers"].rows] == ["by cell"] * 2  # type: ignore[union-attr]
    hidden = len(rows["ages"]) - release.MAX_SHOWN_CELLS
    assert report.text("rest of cells of ages") == f"and {hidden} more; utmost table, or --table, writes them all."
