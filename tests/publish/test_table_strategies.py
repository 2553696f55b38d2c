"""Strategies for the tables of plans: what is measured is what a release of the plan does; nothing is spent."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import utmost
from planning.dense import dense_variances, workload_matrix
from utmost import ledger
from utmost.errors import InputError
from utmost.noise.gaussian_law import variance_ball
from utmost.planning.workloads import parse_workload
from utmost.publish.plans import plan_from_mapping
from utmost.publish.table_designs import level_moves, table_design
from utmost.queries.tables import TableLevel

TOWNS = [["n", "a"], ["n", "b"], ["s", "c"], ["s", "d"], ["s", "e"]]
TREE: dict[str, Any] = {"columns": ["region", "town"], "cells": TOWNS}
LEVELS = [[], ["region"], ["region", "town"]]
CROSSED = {"educ": "1..7", "vote": [0, 1]}


def plan_of(table: dict[str, Any], **head: Any) -> Any:
    base = {"neighbours": "add-remove", "budget": "b", "source": {"location": "bundled:anes96"}}
    keys = {"keys": TREE, "levels": LEVELS} if "keys" not in table else {}
    return plan_from_mapping({**base, **head, "table": [{"name": "t", **keys, **table}]})


def test_variances_are_those_of_the_mechanisms_that_a_release_would_run() -> None:
    plan = plan_of({"epsilon": 2, "workload": "prefix"})
    comparison = utmost.strategies(plan)[0]
    planned = next(one for one in comparison.strategies if one.name == "planned shares")
    assert planned.shares == plan.tables[0].shares
    spec = plan.tables[0]
    precisions = []
    for query in plan.queries:
        assert isinstance(query.query, TableLevel)
        mechanism = query.query.select_mechanism(query.epsilon, spec.setting).mechanism
        alpha = np.exp(-float(mechanism.epsilon))
        precisions.append((1 - alpha) ** 2 / (2 * alpha))
    design = table_design(spec.table)
    workload = workload_matrix(parse_workload("prefix", design), design.size)
    levels, total = dense_variances(design.levels, precisions, workload)
    assert float(planned.variance or 0) == pytest.approx(total, rel=1e-9)
    assert [float(one or 0) for one in planned.level_variances] == pytest.approx(levels, rel=1e-9)


@pytest.mark.parametrize("unit", [{}, {"column": "pid", "rows": 3}, {"column": "pid", "groups": 2}])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/8", "noise": "gaussian", "delta": "1e-6"}])
def test_no_strategy_is_said_to_be_better_than_what_is_possible(
    unit: dict[str, Any], neighbours: str, price: dict[str, Any]
) -> None:
    head: dict[str, Any] = {"neighbours": neighbours, **({"unit": unit} if unit else {})}
    comparison = utmost.strategies(plan_of({**price, "where": "age > 30"}, **head))[0]
    assert len(comparison.strategies) == 3
    for one in comparison.strategies:
        assert one.c is not None
        assert one.c_any is not None
        assert 1 <= one.c <= one.c_any * Fraction(1000001, 1000000)
    table = plan_of(price, **head).tables[0]
    measure = comparison.measure
    expected = [
        level.moves(table.setting).squared if measure == "ρ" else level.moved_rows(table.setting)
        for level in table.table.queries
    ]
    assert list(level_moves(table.table, table.setting, measure)) == expected


@pytest.mark.parametrize("keys", [TREE, CROSSED])
def test_replacing_costs_no_more_than_twice_what_the_bound_says_for_rho(keys: dict[str, Any]) -> None:
    """A replaced row moves a level by 2 in squared length, and the bound knows: c stays near 1 without the total."""
    levels = [["region"], ["region", "town"]] if keys is TREE else [["educ"], ["educ", "vote"]]
    table = {"keys": keys, "levels": levels, "rho": "1/8", "noise": "gaussian", "delta": "1e-6", "other": False}
    planned = utmost.strategies(plan_of(table, neighbours="replace"))[0].strategies[-1]
    assert planned.c is not None
    assert planned.c < 2.2


def test_what_a_release_would_refuse_is_refused() -> None:
    table = {"keys": CROSSED, "levels": [[], ["educ", "vote"]], "other": True, "epsilon": 1}
    with pytest.raises(InputError, match="under replace their number is public"):
        utmost.strategies(plan_of(table, neighbours="replace"))


def test_stated_shares_are_measured_beside_planned_ones() -> None:
    comparison = utmost.strategies(plan_of({"epsilon": 1, "shares": [1, 1, 2]}))[0]
    assert [one.name for one in comparison.strategies] == [
        "cells alone",
        "equal shares",
        "stated shares",
        "planned shares",
    ]
    assert comparison.strategies[2].shares == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    planned = comparison.strategies[3]
    assert planned.variance is not None
    assert all(planned.variance <= (one.variance or 0) * Fraction(101, 100) for one in comparison.strategies)


def test_a_workload_and_a_price_may_be_asked_for_in_place_of_the_plans() -> None:
    plan = plan_of({"error": 9})
    with pytest.raises(InputError, match="epsilon must be given for a table that wants an error"):
        utmost.strategies(plan)
    first = utmost.strategies(plan, epsilon=1, workload="cells", table="t")[0]
    assert (first.workload, first.measure, first.amount) == ("cells", "ε", 1)
    assert utmost.strategies(plan, rho="1/2")[0].measure == "ρ"
    for wrong in ({"table": "u"}, {"epsilon": 0}, {"epsilon": 1, "rho": 1}, {"epsilon": "x"}, {"workload": "prefixes"}):
        with pytest.raises(InputError) as refusal:
            utmost.strategies(plan, **{"epsilon": 1, **wrong})
        assert "\n" not in str(refusal.value)
    base = {"neighbours": "add-remove", "budget": "b", "source": {"location": "bundled:anes96"}}
    with pytest.raises(InputError, match="must have a \\[\\[table\\]\\]"):
        utmost.strategies({**base, "query": [{"name": "q", "kind": "count", "where": "vote = 1", "epsilon": 1}]})


@pytest.mark.parametrize(
    ("table", "head", "rho"),
    [
        ({"rho": "1/4", "noise": "gaussian"}, {"delta": "1e-6"}, Fraction(1, 4)),
        ({"share": 1, "noise": "best"}, {"rho": "1/2"}, Fraction(1, 2)),
        ({"share": 1, "noise": "gaussian"}, {"epsilon": 1, "delta": "1e-6"}, None),
        ({"epsilon": 1, "noise": "gaussian", "delta": "1e-6"}, {}, None),
    ],
)
def test_prices_of_gaussian_noise_are_rho(table: dict[str, Any], head: dict[str, Any], rho: Fraction | None) -> None:
    comparison = utmost.strategies(plan_of(table, **head))[0]
    assert comparison.measure == "ρ"
    if rho is not None:
        assert comparison.amount == rho
    else:
        assert 0.01 < comparison.amount < 0.05
    planned = comparison.strategies[-1]
    sigma2 = 1 / (2 * comparison.amount * planned.shares[2])
    assert float(variance_ball(sigma2, 64)) <= float(sigma2) * (1 + 1e-12)
    with pytest.raises(InputError, match="must be geometric or gaussian"):
        utmost.strategies(plan_of({"epsilon": 1, "noise": "canonical", "delta": "1e-6"}))


@pytest.mark.slow
def test_a_budget_that_adds_up_rho_shares_rho(tmp_path: Path) -> None:
    """Shares that were planned for ε are planned again for ρ where the budget counts it."""
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(
            ledger.Budget("b", Fraction(5), Fraction(1, 10**6), neighbours="add-remove", composition="zcdp")
        )
    head = {"epsilon": 1, "delta": "1e-6", "noise": "gaussian"}
    content = {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "bundled:anes96"},
        **head,
        "table": [{"name": "t", "keys": CROSSED, "levels": "marginals:2", "workload": "cells"}],
    }
    plan = plan_from_mapping(content, tmp_path)
    preview = utmost.preview(plan)
    rhos = [answer.spec.rho for answer in preview.planned_answers]
    assert all(rho is not None for rho in rhos)
    shares = utmost.strategies(plan)[0].strategies[-1].shares
    total = sum(rho or 0 for rho in rhos)
    assert float(utmost.strategies(plan)[0].amount) == pytest.approx(float(total), rel=1e-9)
    assert [float((rho or 0) / total) for rho in rhos] == pytest.approx([float(share) for share in shares], abs=1e-6)
    release = utmost.release(plan)
    assert [len(answer.value) for answer in release] == [1, 7, 2, 14]  # type: ignore[arg-type]


def test_levels_without_a_shape_are_planned_as_if_they_were_complete() -> None:
    keys = {"a": "1..30", "b": "1..30"}
    plan = plan_of({"keys": keys, "levels": [["a"], ["b"], ["a", "b"]], "other": True, "epsilon": 1})
    shares = plan.tables[0].shares
    assert sum(shares) == 1
    assert shares[0] == pytest.approx(shares[1], abs=1e-3)
    with pytest.raises(InputError, match="more than 256 cells that is planned, got 901"):
        utmost.strategies(plan)
    small = plan_of({"keys": CROSSED, "levels": "marginals:2", "zeros": [{"educ": 7, "vote": 0}], "epsilon": 1})
    comparison = utmost.strategies(small)[0]
    assert (comparison.cells, comparison.strategies[1].levels) == (13, ("total", "educ", "vote", "educ, vote"))


def test_results_are_tables_charts_and_lines(tmp_path: Path) -> None:
    comparison = utmost.strategies(plan_of({"epsilon": 1}))[0]
    assert repr(comparison).startswith("<StrategyComparison of 3 for levels: ")
    frame = comparison.to_pandas()
    assert list(frame.columns) == ["strategy", "level", "share", "variance", "gain", "c"]
    assert len(frame) == 12
    assert "planned shares" in comparison._repr_html_()
    comparison.plot().save(tmp_path / "plan.svg")
    comparison.plot().save(tmp_path / "plan.json")
    text = json.dumps(json.loads((tmp_path / "plan.json").read_text()))
    assert "cells alone" in text
    assert (tmp_path / "plan.svg").stat().st_size > 2000


def test_a_builder_is_planned_as_its_plan() -> None:
    builder = utmost.table("bundled:anes96", neighbours="add-remove").plan(budget="b")
    builder.table("t", levels=[[], ["vote"]], keys={"vote": [0, 1]}, epsilon=1)
    assert utmost.strategies(builder)[0].strategies == utmost.strategies(builder.to_plan())[0].strategies
