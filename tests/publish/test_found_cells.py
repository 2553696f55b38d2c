"""Counts of found cells from plan to release and reading; prices of whole plans."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost as ut
from utmost import ledger
from utmost.errors import BudgetError, InputError
from utmost.publish import plans, release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan
from utmost.publish.plan_writer import write_plan
from utmost.reports.estimate import describe
from utmost.reports.release import describe as describe_release

DELTA = "1/1000000"
SIZES = {"a": 400, "b": 300, "c,d": 200, "once": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f'"{name}",{n // 3},{n % 7}' for name, size in SIZES.items() for n in range(size)]
    (tmp_path / "flights.csv").write_text("\n".join(["dest,person,delay", *rows, ",1,1", '"a\tb",2,2']) + "\n")
    return tmp_path


def plan(folder: Path, *queries: dict[str, Any], **changes: Any) -> Plan:
    columns = {"dest": "text", "person": "integer", "delay": "number"}
    content = {
        "neighbours": "add-remove",
        "budget": "flights",
        "source": {"location": "flights.csv", "columns": columns},
        "output": "out.json",
        "query": list(queries) or [found()],
    }
    return plans.plan_from_mapping(content | changes, folder)


def found(**changes: Any) -> dict[str, Any]:
    return {"name": "destinations", "kind": "count", "by": ["dest"], "epsilon": "1", "delta": DELTA} | changes


def open_budget(folder: Path, unit: str = "row", delta: str = "1/1000", neighbours: str = "add-remove") -> None:
    with ledger.open_ledger("ledger.sqlite", folder) as budgets:
        budgets.open(ledger.Budget("flights", Fraction(10), Fraction(delta), unit=unit, neighbours=neighbours))


def test_cells_are_found_told_and_read(folder: Path) -> None:
    open_budget(folder)
    release = ut.release(plan(folder))
    answer = release["destinations"]
    assert answer.cell_names == ("a", "b", "c,d")
    assert isinstance(answer.value, tuple)
    assert all(abs(value - size) < 40 for value, size in zip(answer.value, SIZES.values(), strict=False))
    assert (release.epsilon, release.delta) == (1, Fraction(DELTA))
    assert "1e-06 more" in release.guarantee
    estimate = answer.estimate("uniform", "absolute")
    width = answer.error.half_width
    assert estimate.value == estimate.estimate == answer.value
    assert estimate.interval == tuple((value - width, value + width) for value in answer.value)
    assert "optimal selection" in estimate.claim


def test_the_file_of_a_release_with_delta_is_of_schema_2_and_reads_back_equal(folder: Path) -> None:
    open_budget(folder)
    release = ut.release(plan(folder))
    content = json.loads((folder / "out.json").read_text())
    assert (content["schema"], content["guarantee"]["delta"]) == ("utmost-release/2", DELTA)
    assert content["queries"][0]["cells"] == [["a"], ["b"], ["c,d"]]
    jsonschema.validate(content, ut.release_schema())
    assert release_file.read_release(folder / "out.json") == release
    with ledger.open_ledger("ledger.sqlite", folder) as budgets:
        (charge,) = budgets.history("flights")
        assert charge.delta == budgets.state("flights").delta_spent == Fraction(DELTA)
        assert charge.source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": "1/2000000"}, "mechanism must have delta"),
        ({"value": [400, 300, 1]}, "value must be at least the threshold"),
        ({"value": [400, 300]}, "value must have a number for each of 3 cells"),
        ({"cells": [["b"], ["a"], ["c"]]}, "in order, each once"),
        ({"cells": [["a"], ["b"], ["c", "d"]]}, "must be lists of 1 keys"),
    ],
    ids=str,
)
def test_a_file_that_was_altered_is_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    open_budget(folder)
    ut.release(plan(folder))
    content = json.loads((folder / "out.json").read_text())
    content["queries"][0] |= change
    with pytest.raises(InputError, match=message):
        release_file.release_from_content(content)


def test_a_guarantee_with_another_delta_is_refused(folder: Path) -> None:
    open_budget(folder)
    ut.release(plan(folder))
    content = json.loads((folder / "out.json").read_text())
    content["guarantee"]["delta"] = "1/2000000"
    with pytest.raises(InputError, match="guarantee must have delta 1/1000000"):
        release_file.release_from_content(content)


@pytest.mark.parametrize("unit", [{"rows": 2}, {"groups": 2}], ids=str)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_persons_are_protected_at_the_delta_that_was_paid(folder: Path, unit: Any, neighbours: str) -> None:
    open_budget(folder, "person", neighbours=neighbours)
    asked = plan(folder, found(epsilon="4"), unit={"column": "person", **unit}, neighbours=neighbours)
    release = ut.release(asked)
    assert Fraction(DELTA) * (1 - Fraction(1, 10**12)) <= release.delta <= Fraction(DELTA)
    assert release_file.read_release(folder / "out.json") == release
    assert "a" in release["destinations"].cell_names


def test_a_table_without_cells_has_a_release_without_cells(folder: Path) -> None:
    open_budget(folder)
    release = ut.release(plan(folder, found(where="delay > 100")))
    answer = release["destinations"]
    assert (answer.value, answer.cell_names) == ((), ())
    assert release_file.read_release(folder / "out.json") == release
    reading = answer.estimate("uniform", "absolute")
    assert (reading.estimate, reading.interval, repr(reading)) == ((), (), "")
    assert describe(reading).json["cells"] == []
    assert release.to_arrow().num_rows == reading.to_arrow().num_rows == 0
    assert describe_release(release).json["queries"][0]["cells"] == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (found(delta=0), "by needs delta"),
        ({name: value for name, value in found().items() if name != "delta"}, "by needs delta"),
        (found(delta=1), "delta must be from 0 to below 1"),
        (found(delta=-1), "delta must be from 0 to below 1"),
        (found(keys={"dest": ["a"]}), "by must not be together with keys"),
        (found(by=[]), "by must be a list of 1 to 8 columns"),
        (found(by=["dest", "dest"]), "by must name each column once"),
        (found(by="dest"), "by must be a list"),
        (found(kind="histogram"), "by must be given with kind count"),
        (found(by=["delay"]), "by must name columns of integers, texts, truths or dates, got delay of kind number"),
        (found(by=["destt"]), "destt"),
        ({"name": "n", "kind": "count", "epsilon": 1, "delta": DELTA}, '"delta" is not known here'),
        (found(epsilon="1/1000000"), "a selection may have"),
        (found(delta="1/1" + "0" * 400), "delta must be"),
    ],
    ids=str,
)
def test_bad_input_is_one_line_before_any_charge(folder: Path, query: dict[str, Any], message: str) -> None:
    open_budget(folder)
    with pytest.raises(InputError, match=message) as refusal:
        ut.release(plan(folder, query))
    assert "\n" not in str(refusal.value)
    with ledger.open_ledger("ledger.sqlite", folder) as budgets:
        assert budgets.history("flights") == []


def test_a_budget_without_enough_delta_is_refused_before_the_table_is_answered(folder: Path) -> None:
    open_budget(folder, delta="1/10000000")
    with pytest.raises(BudgetError, match="has δ 1e-07 left, this plan costs 1e-06"):
        ut.release(plan(folder))
    assert "δ 1/1000000" in repr(ut.preview(plan(folder, budget="another")))


def test_a_plan_with_by_is_written_and_read_back(folder: Path) -> None:
    asked = plan(folder, found(where="delay > 3"))
    again = plans.parse_plan(write_plan(asked), folder)
    assert again.queries == asked.queries
    assert plan_digest(again) == plan_digest(asked) != plan_digest(plan(folder, found(delta="1e-7")))


def test_the_price_of_a_plan_is_split_over_its_queries(folder: Path) -> None:
    count = {"kind": "count", "where": "delay > 3"}
    queries = (
        {"name": "own", **count, "epsilon": "1/4"},
        {"name": "one", **count},
        {"name": "two", **count, "share": 2},
        {"name": "found", "kind": "count", "by": ["dest"], "share": "1/2"},
        {"name": "own delta", "kind": "count", "by": ["person"], "epsilon": "1/4", "delta": "1e-7"},
    )
    asked = plan(folder, *queries, epsilon=4, delta="1e-6")
    assert [query.epsilon for query in asked.queries] == [
        Fraction(1, 4),
        1,
        2,
        Fraction(1, 2),
        Fraction(1, 4),
    ]
    assert [query.delta for query in asked.queries] == [0, 0, 0, Fraction("9e-7"), Fraction("1e-7")]
    assert (asked.epsilon, asked.delta) == (4, Fraction("1e-6"))


@pytest.mark.parametrize(
    ("queries", "changes", "message"),
    [
        ([{"epsilon": 2}, {}], {"epsilon": 2}, "epsilon of the plan must be more than"),
        ([{"epsilon": 3}], {"epsilon": 2}, "epsilon of the plan must be more than"),
        ([{}], {}, "epsilon is missing"),
        ([{"share": 0}], {"epsilon": 2}, "share must be > 0"),
        ([{"share": 1, "epsilon": 1}], {"epsilon": 2}, "give either share or epsilon"),
        ([{}], {"epsilon": 0}, "epsilon must be > 0"),
        ([{}], {"epsilon": 1, "delta": 2}, "delta must be from 0 to below 1"),
    ],
    ids=str,
)
def test_a_price_that_cannot_be_split_is_refused(folder: Path, queries: Any, changes: Any, message: str) -> None:
    entries = [{"name": f"q{k}", "kind": "count", "where": "delay > 3", **query} for k, query in enumerate(queries)]
    with pytest.raises(InputError, match=message):
        plan(folder, *entries, **changes)


def test_splitting_a_price_gives_the_plan_that_says_each_epsilon(folder: Path) -> None:
    count = {"name": "n", "kind": "count", "where": "delay > 3"}
    split, said = plan(folder, count, epsilon="1/2"), plan(folder, {**count, "epsilon": "1/2"})
    assert plan_digest(split) == plan_digest(said)
