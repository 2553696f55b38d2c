"""Nothing but the drawn values depends on the data: neighbouring tables have the same outcome, in about the same time.

The outcome of a release is the shape of its document, or the error with its numbers masked. What runs after the charge
is traced, and may not contain a `raise` or an `assert`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import utmost
from utmost import ledger
from utmost.errors import UtmostError
from utmost.publish import release_file
from utmost.publish.plans import plan_from_mapping
from utmost.publish.release_file import release_content
from utmost.queries import Count
from utmost.queries.answer_mechanisms.lattice import GeometricLattice

PACKAGE = str(Path(utmost.__file__).parent)
TIME_FACTOR, TIME_SLACK = 4, 0.3  # CPU seconds
BOUNDS = {"column": "x", "low": 0, "high": 9, "step": 1}
COUNTS: list[dict[str, Any]] = [
    {"kind": "count", "where": "x > 3"},
    {"kind": "histogram", "keys": {"region": ["n", "s", "e"]}},
    {"kind": "top", "keys": {"region": ["n", "s", "e"]}, "k": 2},
    {"kind": "distinct", "column": "region"},
    {"kind": "distinct", "column": "person", "domain": "0..3", "keys": {"region": ["n"]}, "other": True},
]
CELLS: dict[str, Any] = {"keys": {"region": ["n", "s"]}, "other": True}
NUMBERS: list[dict[str, Any]] = [
    {"kind": "sum", **BOUNDS, "nulls": "drop"},
    {"kind": "sum", **BOUNDS, "low": -9, "nulls": 2, "where": "region = 'n'"},
    {"kind": "mean", **BOUNDS, "nulls": "drop"},
    {"kind": "mean", **BOUNDS, "nulls": 9},
    {"kind": "quantile", **BOUNDS, "nulls": "drop", "probability": "1/2"},
    {"kind": "quantile", **BOUNDS, "nulls": "drop", "probabilities": ["1/4", "1/2", "3/4"]},
    {"kind": "min", **BOUNDS, "nulls": "drop"},
    {"kind": "max", **BOUNDS, "nulls": 3},
    {"kind": "quantile", **BOUNDS, "step": "1/4", "nulls": 0, "probability": "9/10", "where": "region = 'n'"},
    {"kind": "variance", **BOUNDS, "nulls": "drop"},
    *({"kind": kind, **BOUNDS, **CELLS, "nulls": "drop"} for kind in ("sum", "mean", "variance")),
    {"kind": "quantile", **BOUNDS, **CELLS, "nulls": 0, "probability": "1/3"},
    {"kind": "quantile", **BOUNDS, **CELLS, "nulls": "drop", "probabilities": ["1/4", "1/2", "3/4"]},
    *({"kind": kind, **BOUNDS, **CELLS, "nulls": "drop"} for kind in ("min", "max")),
]
OVER: list[dict[str, Any]] = [
    {"kind": "over", "by": ["region"]},
    {"kind": "histogram", "keys": {"region": ["n", "s", "e"]}, "other": True, "over": True},
]
TABLES: list[dict[str, Any]] = [
    {"levels": [[], ["region"]], "keys": {"region": ["n", "s"]}, "totals": [{"rows": 3}]},
    {
        "levels": [["region"], ["region", "person"]],
        "keys": {"columns": ["region", "person"], "cells": [["n", 0], ["n", 1], ["s", 0]]},
        "other": True,
        "where": "person < 100",
    },
]
BY: dict[str, Any] = {"by": ["region"], "delta": "1/100"}
FOUND: list[dict[str, Any]] = [
    {"kind": "count", **BY},
    *({"kind": kind, **BOUNDS, **BY, "nulls": "drop"} for kind in ("sum", "mean", "variance", "min", "max")),
    {"kind": "quantile", **BOUNDS, **BY, "nulls": 0, "probability": "1/3"},
    {"kind": "quantile", **BOUNDS, **BY, "nulls": "drop", "probabilities": ["1/4", "1/2", "3/4"]},
    {"kind": "distinct", "column": "person", **BY},
]
NORMAL: dict[str, Any] = {"noise": "gaussian", "delta": "1/100"}
GAUSSIAN: list[dict[str, Any]] = [
    *({**query, **NORMAL} for query in (COUNTS[0], COUNTS[1], COUNTS[3], COUNTS[4])),
    *({**query, **NORMAL} for query in NUMBERS[:2]),
    {"kind": "sum", **BOUNDS, **CELLS, **NORMAL, "step": "1/1000", "nulls": "drop"},
]
ENDING: dict[str, Any] = {"noise": "canonical", "delta": "1/100"}
CANONICAL: list[dict[str, Any]] = [
    *({**query, **ENDING} for query in (COUNTS[0], COUNTS[1], COUNTS[3], COUNTS[4])),
    *({**query, **ENDING} for query in NUMBERS[:2]),
    {"kind": "sum", **BOUNDS, **CELLS, **ENDING, "step": "1/1000", "nulls": "drop"},
]
UNITS = {"row": None, "rows = 2": {"column": "person", "rows": 2}, "groups = 2": {"column": "person", "groups": 2}}
NOISY = GAUSSIAN[:4] + CANONICAL[:1] + GAUSSIAN[4:] + CANONICAL[1:]
TINY = "1/1000000"  # canonical noise would reach too far
EPSILONS = st.sampled_from([TINY, "1/3", "10", "35"])

Row = tuple[int, float | None, str | None]
ROWS = st.tuples(
    st.just(0),
    st.sampled_from([0.0, 9.0, 4.5, -0.0, 5e-324, 1e308, -1e308, 3.4e18])
    | st.sampled_from([None, float("nan"), float("inf"), float("-inf")]),
    st.sampled_from(["n", "s", None, "elsewhere"]),
)
UNIT_ROWS = st.lists(ROWS, min_size=1, max_size=4) | ROWS.map(lambda row: [row] * 5)


def write_table(path: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def rows_query(rows: list[Row]) -> str:
    """A query whose rows these are."""

    def literal(value: object) -> str:
        return "NULL" if value is None else f"'{value}'"

    values = ", ".join(f"({person}, {literal(x)}, {literal(region)})" for person, x, region in rows)
    columns = "SELECT p::BIGINT AS person, x::DOUBLE AS x, region::VARCHAR AS region FROM"
    return f"{columns} (VALUES {values or '(0, 0, NULL)'}) AS t(p, x, region)" + ("" if rows else " LIMIT 0")


def outcome(
    folder: Path, query: str, queries: list[dict[str, Any]], relation: str, unit: dict[str, Any] | None, epsilon: str
) -> tuple[Any, float]:
    """What is seen of a whole release but its values, and the CPU seconds of it."""
    for old in folder.iterdir():
        old.unlink()
    write_table(folder / "data.parquet", query)
    with ledger.open_ledger("ledger.sqlite", folder) as new_ledger:
        column = "row" if unit is None else unit["column"]
        delta = Fraction(1, 2) if any("delta" in entry for entry in queries) else Fraction(0)
        new_ledger.open(ledger.Budget("b", Fraction(1000), delta, unit=column, neighbours=relation))
    plan = {
        "neighbours": relation,
        "budget": "b",
        "source": {"location": "data.parquet"},
        "output": "out.json",
        **plan_entries(queries, epsilon),
        **({} if unit is None else {"unit": unit}),
    }
    start = time.process_time()
    try:
        release = utmost.release(plan_from_mapping(plan, folder))
        seen: Any = shape(release_content(release))
        assert release_file.read_release(folder / "out.json") == release
    except UtmostError as error:
        seen = type(error).__name__, re.sub(r"\d+", "#", str(error))
    return seen, time.process_time() - start


def plan_entries(queries: list[dict[str, Any]], epsilon: str) -> dict[str, Any]:
    """Queries and tables as a plan has them."""
    named = [{"name": f"q{k}", "epsilon": epsilon, **entry} for k, entry in enumerate(queries)]
    sections = {"query": [e for e in named if "levels" not in e], "table": [e for e in named if "levels" in e]}
    return {section: entries for section, entries in sections.items() if entries}


def shape(content: Any, key: str = "", is_found: bool = False) -> Any:
    """A document without the values drawn, and without the number of units, which is public."""
    if is_found and key in ("value", "parts", "position", "positions", "counts", "cells"):
        return type(content).__name__  # how many cells are told is drawn
    if key in ("value", "parts", "position", "positions", "units", "left", "spent"):
        return type(content).__name__, len(content) if isinstance(content, list) else 0
    if isinstance(content, dict):
        return {name: shape(entry, name, "by" in content) for name, entry in content.items()}
    return [shape(entry) for entry in content] if isinstance(content, list) else content


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(epsilon=EPSILONS, others=st.lists(UNIT_ROWS, max_size=3), pair=st.tuples(UNIT_ROWS, UNIT_ROWS))
@example(epsilon="35", others=[], pair=([(0, 0.0, "n")], [(0, None, "s")]))
def test_neighbouring_tables_have_the_same_outcome_for_every_kind_of_query(
    tmp_path: Path, relation: str, unit: dict[str, Any] | None, epsilon: str, others: Any, pair: Any
) -> None:
    """A unit is replaced, or removed; values are at both ends, beyond, missing, infinite and no numbers."""
    assert_same_outcome(tmp_path, relation, unit, epsilon, others, pair)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_two_neighbouring_tables_have_the_same_outcome_for_every_kind_of_query(
    tmp_path: Path, relation: str, unit: dict[str, Any] | None
) -> None:
    """One has a row at an end, the other rows that are missing, infinite and no numbers."""
    odd = [(0, None, "s"), (0, float("nan"), None), (0, float("-inf"), "elsewhere")]
    assert_same_outcome(tmp_path, relation, unit, "1/3", [[(0, 9.0, "n")] * 2], ([(0, 0.0, "n")] * 5, odd))


def assert_same_outcome(
    tmp_path: Path, relation: str, unit: dict[str, Any] | None, epsilon: str, others: Any, pair: Any
) -> None:
    if unit is None:
        others, pair = [rows[:1] for rows in others], tuple(rows[:1] for rows in pair)
    states = pair if relation == "replace" else (pair[0], [])
    fixed = [(person, x, region) for person, rows in enumerate(others, 1) for _, x, region in rows]
    has_groups = unit is not None and "groups" in unit
    queries = (COUNTS + NOISY[:5] if has_groups else COUNTS + NUMBERS + NOISY) + (OVER if unit else [])
    queries = [query for query in queries if epsilon != TINY or query.get("noise") != "canonical"] + TABLES
    for half in (queries[::2], queries[1::2]):  # all together would cost more than a budget can hold
        outcomes = [
            outcome(tmp_path, rows_query([*fixed, *state]), half, relation, unit, epsilon)[0] for state in states
        ]
        assert outcomes[0] == outcomes[1]
        assert isinstance(outcomes[0], dict)


MIRRORED = "CASE WHEN i < 13000 THEN (i * 7) % 3001 ELSE 6001 - ((i - 13000) * 7) % 3001 END"
LONG_TABLES = {  # values of the row i, number of rows, highest value, ε
    "all at the end": ("9", 400_001, 9, "10"),
    "all at the end, large ε": ("9", 8_001, 9, "500"),
    "half at either end": ("9 * (i % 2)", 400_000, 9, "10"),
    "a tie of irrational weights": (MIRRORED, 26_000, 6001, "1"),
    "a million rows at either end": ("9 * (i % 2)", 10**6, 9, "1000"),
    "a million rows, small ε": ("9", 10**6, 9, "1/1000000"),
}


@pytest.mark.few
@pytest.mark.parametrize(("values", "rows", "high", "epsilon"), LONG_TABLES.values(), ids=LONG_TABLES)
def test_a_quantile_of_a_long_table_does_not_tell_one_row_by_its_outcome_or_its_time(
    tmp_path: Path, values: str, rows: int, high: int, epsilon: str
) -> None:
    queries = [{"kind": "quantile", **BOUNDS, "high": high, "nulls": "drop", "probability": "1/2"}]
    tables = [
        f"SELECT CASE WHEN i = 0 THEN {first} ELSE {values} END::BIGINT AS x FROM range({rows}) AS t(i)"
        for first in (values, "0", str(high), "NULL")
    ]
    (first, seconds), *others = [outcome(tmp_path, table, queries, "replace", None, epsilon) for table in tables]
    assert isinstance(first, dict), first
    for other, other_seconds in others:
        assert other == first
        assert other_seconds < TIME_FACTOR * seconds + TIME_SLACK
        assert seconds < TIME_FACTOR * other_seconds + TIME_SLACK


@pytest.fixture
def traced_codes(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[CodeType]]:
    """The functions of the package that run between the charge and the writing of what was drawn."""
    codes: set[CodeType] = set()
    charge, store_release = ledger.Ledger.charge, ledger.Ledger.store_release

    def trace(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            codes.add(frame.f_code)

    def charge_and_trace(self: ledger.Ledger, cost: Any) -> Any:
        receipt = charge(self, cost)
        sys.setprofile(trace)
        return receipt

    def stop_and_store(self: ledger.Ledger, entry: int, document: str) -> None:
        sys.setprofile(None)
        store_release(self, entry, document)

    monkeypatch.setattr(ledger.Ledger, "charge", charge_and_trace)
    monkeypatch.setattr(ledger.Ledger, "store_release", stop_and_store)
    yield codes
    sys.setprofile(None)


def raises_on_its_own(code: CodeType) -> bool:
    """Does a function's own text contain a `raise` of a new error, or an `assert`."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError):
        return False  # made by `dataclass`, or part of an expression
    return any(isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and node.exc) for node in ast.walk(tree))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_no_function_that_runs_after_the_charge_contains_a_raise_or_an_assert(
    tmp_path: Path, relation: str, traced_codes: set[CodeType]
) -> None:
    few, many = rows_query([(1, 3.0, "n"), (2, None, "s")]), rows_query([(k, 3.0, "ns"[k % 2]) for k in range(400)])
    plans = ((few, COUNTS + NUMBERS, None, "1/100"), (few, OVER, UNITS["rows = 2"], "1/100"), (many, FOUND, None, "5"))
    plans = (*plans, (few, GAUSSIAN, None, "1/2"), (few, CANONICAL, None, "1/2"), (few, TABLES, None, "1/2"))
    for rows, asked, unit, epsilon in plans:
        seen, _ = outcome(tmp_path, rows, asked, relation, unit, epsilon)
        assert isinstance(seen, dict), seen
    names = {code.co_name for code in traced_codes}
    assert {
        "noisy_counts",
        "told_cells",
        "draw_selection",
        "add_noise",
        "draw_permute_and_flip",
        "draw_lattice_noise",
        "draw_gaussian_noise",
        "draw_tight_noise",
        "_accept",
        "release_to_json",
    } <= names
    assert not names & {
        "lattice",
        "step_epsilon",
        "actual_epsilon",
        "prepare_draw",
        "prepare_choice",
        "prepare_selection",
        "selection_table",
        "gaussian_tables",
        "tight_tables",
        "tight_law",
        "told_delta",
        "actual_rho",
        "guarantee_sentence",
    }
    assert [code.co_qualname for code in traced_codes if raises_on_its_own(code)] == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_neighbouring_tables_with_other_cells_have_the_same_outcome(
    tmp_path: Path, unit: dict[str, Any] | None
) -> None:
    """A cell of one unit is there or not; which cells are told is drawn, and not part of the outcome."""
    others: list[Row] = [(person, 1.0, "n") for person in range(40)]
    states: list[list[Row]] = [[], [(99, 1.0, "s")], [(99, 1.0, "a\tb")], [(99, None, None)]]
    asked = FOUND if unit is None or "rows" in unit else FOUND[:1]
    outcomes = [outcome(tmp_path, rows_query([*others, *state]), asked, "add-remove", unit, "5")[0] for state in states]
    for seen in outcomes:
        assert isinstance(seen, dict), seen
    assert outcomes.count(outcomes[0]) == len(outcomes)


@pytest.mark.parametrize("broken", [(Count, "prepare_draw"), (GeometricLattice, "step_epsilon")])
def test_what_can_fail_from_public_things_fails_before_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[type, str]
) -> None:
    def fail(*_: Any) -> Callable[..., Any]:
        raise utmost.errors.UndecidedError("stopped here")

    monkeypatch.setattr(*broken, fail)
    seen, _ = outcome(tmp_path, rows_query([(1, 3.0, "n")]), COUNTS, "replace", None, "1")
    assert seen == ("UndecidedError", "stopped here")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        assert new_ledger.history("b") == []


def test_a_title_that_no_file_can_hold_is_refused_before_the_charge(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x\n1\n")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1)))
        content = {
            "title": "a \ud800 lone surrogate",
            "neighbours": "replace",
            "budget": "b",
            "source": {"location": "data.csv", "columns": {"x": "integer"}},
            "query": [{"name": "q", "kind": "count", "where": "x = 1", "epsilon": 1}],
        }
        with pytest.raises(UtmostError):
            utmost.release(plan_from_mapping(content, tmp_path))
        assert new_ledger.history("b") == []
