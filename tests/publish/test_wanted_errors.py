"""A wanted error in a plan: the least ε on the grid, found by the law that is printed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.data.grid import Grid
from utmost.errors import InputError
from utmost.publish import execute, plans
from utmost.publish.calibration import privacy_setting
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_writer import write_plan
from utmost.publish.wanted_errors import (
    WantedError,
    candidate,
    error_law_at,
    find_epsilon,
    printed_half_width,
    round_down,
)
from utmost.queries import Count
from utmost.queries.histogram import Histogram
from utmost.queries.mean import Mean
from utmost.queries.quantile import Quantile
from utmost.queries.query import Query
from utmost.queries.sum import Sum
from utmost.reports.preview import describe

GRID = Grid(Fraction(0), Fraction(8), Fraction(1, 4))
BOUNDS = {"column": "x", "low": 0, "high": 10, "step": 1, "nulls": "drop"}
CASES: list[tuple[Query, WantedError]] = [
    (Count("x > 3"), WantedError(Fraction(5))),
    (Histogram({"x": (1, 2)}), WantedError(Fraction(12))),
    (Sum("x", GRID, None), WantedError(Fraction(100))),
    (Mean("x", GRID, Fraction(1)), WantedError(Fraction("0.123456"))),
    (Mean("x", GRID, None), WantedError(Fraction(1, 3), 900)),
    (Quantile("x", GRID, Fraction(1, 2), None), WantedError(Fraction(20))),
    (Count("x > 3"), WantedError(Fraction(1, 10))),
    (Count("x > 3"), WantedError(Fraction(10**6))),
]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize(("query", "wanted"), CASES)
def test_the_epsilon_found_prints_at_most_the_error_and_the_next_smaller_one_prints_more(
    query: Query, wanted: WantedError, neighbours: str
) -> None:
    setting = privacy_setting(neighbours, units=200)
    is_ratio = error_law_at(query, setting, Fraction(1)).over_rows
    wanted = WantedError(wanted.error, 200 if is_ratio else None)
    epsilon = find_epsilon(query, setting, wanted)
    place = next(k for k in _places(epsilon) if candidate(k) == epsilon)
    below, target = candidate(place - 1), wanted.error * (wanted.rows or 1)
    assert printed_half_width(error_law_at(query, setting, epsilon)) <= target
    assert printed_half_width(error_law_at(query, setting, below)) > target


def _places(epsilon: Fraction) -> range:
    decade = next(k for k in range(-12, 5) if Fraction(10) ** k <= epsilon < Fraction(10) ** (k + 1))
    return range(9000 * decade, 9000 * (decade + 1))


@pytest.mark.parametrize("text", ["0.0012345", "1", "9.9999", "999.95"])
def test_rounding_down_gives_the_candidate_below(text: str) -> None:
    rounded = round_down(Fraction(text))
    place = next(k for k in _places(rounded) if candidate(k) == rounded)
    assert candidate(place) <= Fraction(text) < candidate(place + 1)


def _plan(tmp_path: Path, *queries: dict[str, Any], **entries: Any) -> dict[str, Any]:
    path = tmp_path / "people.csv"
    path.write_text("x\n" + "".join(f"{k % 10}\n" for k in range(200)))
    source = {"location": str(path), "columns": {"x": "integer"}}
    first = {"neighbours": "replace", "budget": "b", "ledger": str(tmp_path / "ledger.sqlite"), "source": source}
    return {**first, "query": list(queries), **entries}


COUNT = {"name": "many", "kind": "count", "where": "x > 3"}


def test_a_release_has_the_epsilon_found_and_the_digest_of_a_plan_that_says_it(tmp_path: Path) -> None:
    wanted_plan = plans.plan_from_mapping(_plan(tmp_path, {**COUNT, "error": 5}))
    with ledger.open_ledger("ledger.sqlite", tmp_path) as budget_ledger:
        budget_ledger.open(ledger.Budget("b", Fraction(1)))
    preview = execute.preview(wanted_plan)
    assert preview.cost == preview.plan.queries[0].epsilon == Fraction("0.5382")
    assert "error 5 → ε 0.5382" in " ".join(block.text for block in describe(preview) if hasattr(block, "text"))
    document = describe(preview).json["queries"][0]
    assert (document["epsilon"], document["wanted"]) == ("2691/5000", {"error": "5", "rows": None})
    said_plan = plans.plan_from_mapping(_plan(tmp_path, {**COUNT, "epsilon": "0.5382"}))
    assert plan_digest(preview.plan) == plan_digest(said_plan)
    release = utmost.release(wanted_plan)
    assert release.epsilon == release["many"].epsilon == Fraction("0.5382")
    assert release["many"].error.half_width <= 5


def test_a_plan_with_a_wanted_error_is_written_and_read_back_equal(tmp_path: Path) -> None:
    mean = {"name": "m", "kind": "mean", **BOUNDS, "error": "1/3", "rows": 150}
    plan = plans.plan_from_mapping(_plan(tmp_path, {**COUNT, "error": 5}, mean), tmp_path)
    assert plans.parse_plan(write_plan(plan), tmp_path) == plan


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({**COUNT, "error": 5, "epsilon": 1}, 'query "many": error must not be given with epsilon'),
        ({**COUNT, "error": 0}, "error must be > 0"),
        ({**COUNT, "error": 5, "rows": 10}, "rows must be left out"),
        ({**COUNT, "rows": 10, "epsilon": 1}, '"rows" is not known here'),
        ({**COUNT}, "epsilon is missing"),
        ({**COUNT, "error": 10**15}, "error must be smaller"),
        ({"name": "m", "kind": "mean", **BOUNDS, "error": 1}, "rows = 1000"),
        ({"name": "m", "kind": "mean", **BOUNDS, "error": 11, "rows": 5}, "how far apart the bounds are"),
        ({"name": "m", "kind": "mean", **BOUNDS, "error": 1, "rows": 0}, "rows must be from 1"),
        ({"name": "z", "kind": "quantile", "probability": "1/2", **BOUNDS, "error": "1e-9"}, "error must be larger"),
    ],
)
def test_a_wanted_error_that_cannot_be_is_refused_with_what_to_do(
    tmp_path: Path, query: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(InputError) as error:
        execute.preview(_plan(tmp_path, query))
    assert refusal in str(error.value)


def test_a_step_that_follows_from_an_extra_loss_goes_with_a_wanted_error(tmp_path: Path) -> None:
    mean = {"name": "m", "kind": "mean", "column": "x", "low": 0, "high": 10, "extra_loss": "0.1", "nulls": 0}
    preview = execute.preview(_plan(tmp_path, {**mean, "error": "0.5"}))
    assert printed_half_width(preview.planned_answers[0].error) <= Fraction(1, 2)
    assert preview.planned_answers[0].spec.query.resolved_sentence() is not None
