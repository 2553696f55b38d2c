"""Splits of an ε over a plan: never above the total, and the balanced one is the best of all by brute force."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from utmost.errors import InputError
from utmost.ledger.compositions.zcdp import rho_limit
from utmost.noise.gaussian import half_width
from utmost.publish import execute
from utmost.publish.plan_splits import propose_splits
from utmost.publish.wanted_errors import printed_half_width

COUNT = {"name": "n", "kind": "count", "where": "x > 3"}
CELLS = {"name": "h", "kind": "histogram", "keys": {"x": [1, 2]}}
BOUNDS = {"column": "x", "low": 0, "high": 10, "step": 1}
MEAN = {"name": "m", "kind": "mean", **BOUNDS, "nulls": 0}
MEDIAN = {"name": "z", "kind": "quantile", **BOUNDS, "nulls": "drop", "probability": "1/2"}


def plan(tmp_path: Path, *queries: dict[str, Any]) -> dict[str, Any]:
    (tmp_path / "people.csv").write_text("x\n" + "".join(f"{k % 10}\n" for k in range(200)))
    source = {"location": str(tmp_path / "people.csv"), "columns": {"x": "integer"}}
    return {"neighbours": "replace", "budget": "b", "source": source, "query": list(queries)}


def test_the_epsilons_of_every_proposal_add_up_to_at_most_the_total_and_nearly_to_it(tmp_path: Path) -> None:
    queries = [{**COUNT, "epsilon": "1/3"}, {**CELLS, "error": 20}, {**MEAN, "epsilon": 2}, {**MEDIAN, "epsilon": 1}]
    proposals = propose_splits(plan(tmp_path, *queries), "1")
    assert [split.name for split in proposals.splits] == ["equal", "scaled", "balanced"]
    for split in proposals.splits:
        assert Fraction("0.995") <= split.total <= 1
    assert set(proposals.splits[0].epsilons) == {Fraction(1, 4)}


def test_a_split_shows_the_half_widths_that_a_plan_with_its_epsilons_has(tmp_path: Path) -> None:
    queries = [{**COUNT, "epsilon": 1}, {**MEAN, "epsilon": 2}, {**MEDIAN, "error": 30}]
    for split in propose_splits(plan(tmp_path, *queries), 1).splits:
        priced = [
            {**{key: value for key, value in query.items() if key != "error"}, "epsilon": str(epsilon)}
            for query, epsilon in zip(queries, split.epsilons, strict=True)
        ]
        preview = execute.preview(plan(tmp_path, *priced))
        shown = [answer.error.half_width for answer in preview.planned_answers]
        assert shown == [error.half_width for error in split.errors]


@pytest.mark.parametrize("prices", [({"error": 10}, {"error": 100}), ({"error": 10}, {"epsilon": 1})])
def test_no_other_split_of_two_queries_has_a_smaller_largest_relative_error(
    tmp_path: Path, prices: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    first, second = {**COUNT, **prices[0]}, {**CELLS, **prices[1]}
    equal, _, balanced = propose_splits(plan(tmp_path, first, second), 1).splits
    references = [
        Fraction(query["error"]) if "error" in query else printed_half_width(error)
        for query, error in zip((first, second), equal.errors, strict=True)
    ]
    best = min(
        max(
            _half_width(tmp_path, COUNT, Fraction(k, 100)) / references[0],
            _half_width(tmp_path, CELLS, 1 - Fraction(k, 100)) / references[1],
        )
        for k in range(4, 97, 4)
    )
    assert balanced.largest is not None
    assert balanced.largest <= best * (1 + Fraction(1, 200))


def _half_width(tmp_path: Path, query: dict[str, Any], epsilon: Fraction) -> Fraction:
    from utmost.publish.calibration import privacy_setting
    from utmost.publish.plans import plan_from_mapping
    from utmost.publish.wanted_errors import error_law_at

    spec = plan_from_mapping(plan(tmp_path, {**query, "epsilon": 1})).queries[0]
    return printed_half_width(error_law_at(spec.query, privacy_setting(units=200), epsilon))


def test_one_query_gets_everything_and_a_total_that_is_none_is_refused(tmp_path: Path) -> None:
    single = plan(tmp_path, {**COUNT, "epsilon": 1})
    assert [split.epsilons for split in propose_splits(single, "0.5").splits] == [(Fraction(1, 2),)] * 3
    for total in (0, -1, 10**6):
        with pytest.raises(InputError, match="epsilon must be > 0"):
            propose_splits(single, total)


def test_answers_that_are_exact_under_the_equal_split_are_left_as_they_are(tmp_path: Path) -> None:
    exact = plan(tmp_path, {**COUNT, "epsilon": 1})
    equal, _, balanced = propose_splits(exact, 50).splits
    assert equal.largest is None
    assert balanced.epsilons == equal.epsilons


def test_of_a_plan_with_gaussian_noise_rho_is_split(tmp_path: Path) -> None:
    content = plan(tmp_path, {**COUNT, "share": 3}, CELLS) | {"noise": "best", "epsilon": 1, "delta": "1e-6"}
    proposals = propose_splits(content, 1, delta="1e-6")
    equal, scaled, balanced = proposals.splits
    assert (proposals.measure, proposals.total) == ("ρ", rho_limit(Fraction(1), Fraction("1e-6")))
    assert scaled.epsilons[0] / scaled.epsilons[1] == pytest.approx(3, rel=1e-3)
    for split in (equal, scaled, balanced):
        assert split.total <= proposals.total
        for rho, error, squared in zip(split.epsilons, split.errors, (1, 2), strict=True):
            assert error.half_width == half_width(squared / (2 * rho), Fraction(1, 20))
    assert balanced.largest is not None
    assert equal.largest is not None
    assert balanced.largest <= equal.largest
    assert propose_splits(content, rho="0.01").total == Fraction(1, 100)


def test_amounts_that_do_not_fit_the_noise_of_a_plan_are_refused(tmp_path: Path) -> None:
    plain = plan(tmp_path, {**COUNT, "epsilon": 1})
    gaussian = plan(tmp_path, {**COUNT, "rho": "0.1"}) | {"noise": "gaussian"}
    for content, amounts, problem in (
        (plain, {"epsilon": 1, "delta": "1e-6"}, "delta and rho must be left out where all noise is geometric"),
        (gaussian, {"epsilon": 1}, "delta must be given with epsilon"),
        (gaussian, {"epsilon": 1, "delta": 1}, "delta must be > 0 and below 1"),
        (gaussian, {"epsilon": 1, "rho": 1}, "rho must be given without epsilon and delta"),
        (gaussian, {"rho": 0}, "rho must be > 0"),
    ):
        with pytest.raises(InputError, match=problem):
            propose_splits(content, **amounts)
