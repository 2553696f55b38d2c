"""Plans, tables and budgets from Python: the same plans as files make, checked when they are written."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.publish.builder import NamedBudget, PlanBuilder
from utmost.publish.builder.values import plain
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plans import parse_plan, plan_from_mapping, read_plan
from utmost.queries.registry import QUERY_KINDS, asked_fields, cell_fields

KINDS = {"tailnum": "text", "dest": "text", "carrier": "text", "dep_delay": "integer", "day": "date"}
COMMON = {"name", "where", "epsilon", "share", "error", "delta", "rho", "noise", "over"}
GRID = {"column": "dep_delay", "low": -30, "high": 180}
CALLS: dict[str, dict[str, Any]] = {  # the shortest call of each kind
    "count": {},
    "histogram": {"keys": {"carrier": ["UA"]}},
    "sum": GRID,
    "mean": GRID,
    "quantile": {**GRID, "probability": "1/2"},
    "min": GRID,
    "max": GRID,
    "top": {"keys": {"carrier": ["UA", "AA"]}, "k": 1},
    "variance": GRID,
    "distinct": {"column": "dest"},
    "over": {},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table of flights."""
    lines = [f"N{k % 40},D{k % 3},{'UA' if k % 2 else 'AA'},{k % 100 - 10},2013-01-0{1 + k % 9}" for k in range(600)]
    (tmp_path / "flights.csv").write_text("\n".join([",".join(KINDS), *lines]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def flights(**options: Any) -> ut.builder.ProtectedTable:
    return ut.table("flights.csv", columns=KINDS, **{"unit": "tailnum", "rows": 20, **options})


def builder(**options: Any) -> PlanBuilder:
    return flights().plan("flights", **{"epsilon": 1, "delta": "1e-6", **options})


def open_flights(**options: Any) -> NamedBudget:
    return ut.budget("flights", **{"epsilon": 1, "delta": "1e-6", "unit": "tailnum", **options})


# Methods and keys


@pytest.mark.parametrize("kind", QUERY_KINDS)
def test_each_kind_has_a_method_whose_arguments_are_its_keys_in_a_plan(kind: str) -> None:
    parameters = inspect.signature(getattr(PlanBuilder, kind)).parameters
    own_keys = {field.name for way in ("", *cell_fields(kind)) for field in asked_fields(kind, way)}
    expected = (COMMON - ({"over"} if kind == "over" else set())) | own_keys
    assert set(parameters) - {"self", "rows"} == expected
    assert ("rows" in parameters) == (kind in ("mean", "variance"))  # whose error depends on how many there are
    assert [name for name, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY] == [
        "self",
        "name",
    ]
    assert inspect.getdoc(getattr(PlanBuilder, kind))


@pytest.mark.parametrize("kind", QUERY_KINDS)
def test_the_shortest_call_of_each_kind_is_a_query_of_that_kind_with_the_defaults(kind: str) -> None:
    plan = builder()
    assert getattr(plan, kind)("a", **CALLS[kind]) is plan
    (query,) = plan.queries.values()
    assert query.kind == kind
    entries = query.plan_entries()
    assert entries.get("nulls", "drop") == "drop"
    assert entries.get("step", 1) == 1


def test_the_median_is_the_quantile_of_a_half() -> None:
    plan = builder().median("a", **GRID).quantile("b", **GRID, probability="1/2")
    assert plan.queries["a"] == plan.queries["b"]


def test_a_kind_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ut.InputError, match="kind must be one of count"):
        builder().add("mode", "a")


# The plan of a file

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: not CONTROL_CHARACTER.search(text) and not re.fullmatch(r"'.*'|\".*\"", text, flags=re.DOTALL)
)
NAMES = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12).filter(str.isprintable)
NUMBERS = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000)
KEY_LISTS = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=3, unique=True),
    st.lists(st.dates(min_value=date(1000, 1, 1)), min_size=1, max_size=3, unique=True),
)
KEYS = st.dictionaries(TEXTS, KEY_LISTS, min_size=1, max_size=2)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A kind, and keys that a plan may give it."""
    kind = draw(st.sampled_from(sorted(QUERY_KINDS)))
    fields = {field.name for field in asked_fields(kind)}
    keys: dict[str, Any] = {"where": draw(st.none() | st.just("dep_delay > 15"))}
    if "low" in fields:
        step, low, steps = draw(NUMBERS), draw(st.integers(-20, 20)), draw(st.integers(1, 60))
        keys |= {"column": draw(TEXTS), "low": low * step, "high": (low + steps) * step, "step": step}
        keys["nulls"] = draw(st.sampled_from(["drop", keys["low"]]))
    if "domain" in fields:
        keys |= {"column": draw(TEXTS), "domain": draw(st.none() | KEY_LISTS)}
    if "probability" in fields:
        keys |= draw(st.sampled_from([{"probability": Fraction(1, 3)}, {"probabilities": ["1/4", Fraction(1, 2)]}]))
    keys |= _cells(draw, kind)
    keys |= draw(st.sampled_from([{}, {"epsilon": Fraction(1, 3)}, {"share": Fraction(3, 2)}]))
    if kind != "over":
        keys["over"] = draw(st.sampled_from([None, True, Fraction(1, 5)]))
    return kind, {key: value for key, value in keys.items() if value is not None}


def _cells(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    if kind == "top":
        return {"keys": {draw(TEXTS): draw(KEY_LISTS.filter(lambda keys: len(keys) > 1))}, "k": 1}
    if kind == "histogram":
        return {"keys": draw(KEYS), **draw(st.sampled_from([{}, {"other": True}]))}
    way = draw(st.sampled_from(["", *cell_fields(kind)]))
    if way == "keys":
        return {"keys": draw(KEYS), **draw(st.sampled_from([{}, {"other": True}]))}
    if way == "by":
        delta = {} if kind == "over" else draw(st.sampled_from([{}, {"delta": Fraction(1, 10**7)}]))
        return {"by": draw(st.lists(TEXTS, min_size=1, max_size=2, unique=True)), **delta}
    return {}


@settings(max_examples=30)
@given(st.dictionaries(NAMES, asked(), min_size=1, max_size=3), st.none() | TEXTS)
def test_a_plan_of_python_is_the_one_of_its_mapping_and_of_its_file(
    queries: dict[str, tuple[str, dict[str, Any]]], title: str | None
) -> None:
    head = {"neighbours": "replace", "budget": 'a "b"', "epsilon": 3, "delta": Fraction(1, 10**6)}
    mapping = {
        **head,
        **({} if title is None else {"title": title}),
        "source": {"location": "flights.csv", "columns": KINDS},
        "unit": {"column": "tailnum", "rows": 20},
        "query": [{"name": name, "kind": kind, **plain(keys)} for name, (kind, keys) in queries.items()],
    }
    plan = flights(neighbours="replace").plan('a "b"', epsilon=3, delta=Fraction(1, 10**6), title=title)
    for name, (kind, keys) in queries.items():
        getattr(plan, kind)(name, **keys)
    expected = plan_from_mapping(mapping)
    assert plan.to_plan() == expected
    parsed_plan = parse_plan(plan.to_toml(), Path.cwd())
    assert (parsed_plan, plan_digest(parsed_plan)) == (expected, plan_digest(expected))


PLAN_FILE = """
neighbours = "add-remove"
budget = "flights"
rho = 0.01
noise = "best"
source = { location = "flights.csv", columns = { dep_delay = { kind = "integer", missing = ["NA"] } } }
derive = { late = "dep_delay > 15" }
unit = { column = "tailnum", rows = 3 }
part = { column = "carrier", equals = "UA" }
query = [
    { name = "a", kind = "count", share = 2, over = true },
    { name = "b", kind = "mean", column = "dep_delay", low = 0, high = 90, step = 3, nulls = 0, noise = "geometric" },
    { name = "c", kind = "count", where = "late", error = 5 },
]
"""


def test_a_file_that_is_read_is_the_plan_of_the_file(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN_FILE, encoding="utf-8")
    plan = ut.read_plan("plan.toml")
    assert plan.to_plan() == read_plan("plan.toml")
    assert plan.to_plan().output == folder / "plan.release.json"
    (folder / "again.toml").write_text(plan.to_toml(), encoding="utf-8")
    assert ut.read_plan("again.toml").to_toml() == plan.to_toml()
    assert len(plan.count("d", share=1)) == 4


def test_what_a_table_says_is_what_a_file_says(folder: Path) -> None:
    (folder / "airports.csv").write_text("faa,tz\nD1,-5\nD2,-6\n", encoding="utf-8")
    plan = (
        ut.table(folder / "flights.csv", columns={**KINDS, "dep_delay": "integer"}, missing={"dep_delay": {"NA", "."}})
        .derive({"is late": "dep_delay > 15"}, decade="bin(dep_delay, 10)")
        .lookup("airports.csv", on={"dest": "faa"}, take=["tz"], columns={"tz": "integer"})
        .plan("b", noise="best", ledger=Path("books.sqlite"), part={"carrier": "UA"}, title="t")
        .count("by zone", keys={"tz": [-5, -6]}, epsilon=1, delta="1e-6")
    ).to_plan()
    columns = {**KINDS, "dep_delay": {"kind": "integer", "missing": [".", "NA"]}}
    expected = {
        "title": "t",
        "neighbours": "add-remove",
        "budget": "b",
        "ledger": "books.sqlite",
        "noise": "best",
        "source": {"location": str(folder / "flights.csv"), "columns": columns},
        "derive": {"is late": "dep_delay > 15", "decade": "bin(dep_delay, 10)"},
        "lookup": [{"location": "airports.csv", "on": {"dest": "faa"}, "take": ["tz"], "columns": {"tz": "integer"}}],
        "part": {"column": "carrier", "equals": "UA"},
        "query": [
            {"name": "by zone", "kind": "count", "keys": {"tz": [-5, -6]}, "epsilon": 1, "delta": Fraction(1, 10**6)}
        ],
    }
    assert plan == plan_from_mapping(expected)


def test_the_plan_of_a_data_frame_is_written_without_a_location_and_takes_the_frame_again(folder: Path) -> None:
    frame = pa.table({"carrier": ["UA", "AA", "UA"], "dep_delay": [1.5, None, 3.0]})
    plan = ut.table(frame).plan("b", epsilon=1).mean("a", **GRID, keys={"carrier": ["UA"]})
    assert plan.preview().cost == 1
    (folder / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    again = ut.read_plan("plan.toml", data=frame)
    assert "location" not in plan.to_toml()
    assert replace(again.to_plan(), output=None) == plan.to_plan()
    assert plan_digest(again.to_plan()) == plan_digest(plan.to_plan())
    assert ut.table(frame).columns == {"carrier": "text", "dep_delay": "number"}


def test_columns_are_told_with_their_kinds_and_derived_ones(folder: Path) -> None:
    assert flights().derive(late="dep_delay > 15").columns == {**KINDS, "late": "truth"}
    kinds = ut.table("flights.csv", columns={"dest": "text"}).columns
    assert (kinds["dest"], kinds["dep_delay"]) == ("text", "undeclared")


# Values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Decimal("0.1")),
        (1e-06, Decimal("0.000001")),
        (np.float32(0.1), Decimal("0.1")),
        (np.int16(3), 3),
        (np.str_("UA"), "UA"),
        (np.bool_(True), True),
        (pa.scalar(3), 3),
        (range(1, 4), [1, 2, 3]),
        ((key for key in ("b", "a")), ["b", "a"]),
        ({"b", "a"}, ["a", "b"]),
        (np.array([2, 1]), [2, 1]),
        (pa.array(["UA", "AA"]), ["UA", "AA"]),
        (np.array(["2013-01-01"], dtype="datetime64[D]"), [date(2013, 1, 1)]),
        ({"carrier": ("UA",)}, {"carrier": ["UA"]}),
        ("1..12", "1..12"),
        (b"UA", b"UA"),
    ],
)
def test_values_are_the_plain_ones_that_they_hold(value: object, expected: object) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)
    if isinstance(found, list):
        assert [type(item) for item in found] == [type(item) for item in expected]  # type: ignore[call-overload]


@given(st.floats(min_value=1e-6, max_value=10))
def test_a_float_is_the_shortest_decimal_that_reads_back_as_it(value: float) -> None:
    (query,) = ut.table("bundled:anes96").plan("b").count("a", epsilon=value).to_plan().queries
    assert query.epsilon == Fraction(repr(value))


@pytest.mark.slow
def test_series_of_pandas_and_polars_are_lists_of_keys() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for series in (pandas.Series(["UA", "AA"]), pandas.Index(["UA", "AA"]), polars.Series(["UA", "AA"])):
        assert builder().count("a", keys={"carrier": series}).queries["a"].keys == {"carrier": ("UA", "AA")}
    assert builder().count("a", keys={"n": pandas.Series([1, 2])}).queries["a"].keys == {"n": (1, 2)}


@pytest.mark.slow
def test_an_endless_list_of_keys_ends() -> None:
    def numbers() -> Any:
        number = 0
        while True:
            yield (number := number + 1)

    with pytest.raises(ut.InputError, match="keys must make at most 100000 cells"):
        builder().count("a", keys={"n": numbers()})


def test_what_is_changed_after_the_call_changes_no_plan() -> None:
    keys = {"carrier": ["UA"]}
    plan = builder().count("a", keys=keys)
    keys["carrier"].append("AA")
    keys["dest"] = ["D1"]
    expressions = {"late": "dep_delay > 15"}
    table = flights().derive(expressions)
    expressions["late"] = "dep_delay > 60"
    assert plan.queries["a"].keys == {"carrier": ("UA",)}
    assert table.source.derive == {"late": "dep_delay > 15"}


# Errors


@pytest.mark.parametrize(
    ("call", "field", "words"),
    [
        (lambda: ut.table("flights.csv", rows=3), "rows", "rows must be given with unit"),
        (lambda: ut.table("flights.csv", unit="tailnum"), "unit", "got neither"),
        (lambda: ut.table("flights.csv", unit="tailnum", rows=1, groups=2), "unit", "got both"),
        (lambda: ut.table("flights.csv", unit="tailnum", rows=0), "rows", "from 1 to 1000000"),
        (lambda: ut.table("flights.csv", unit="row", rows=1), "unit", "must not be called row"),
        (lambda: ut.table("missing.csv"), "data", "data must be a file that exists"),
        (lambda: ut.table("no location"), "data", "data must be a .csv"),
        (lambda: ut.table(object()), "data", "data must be"),
        (lambda: ut.table(pa.table({"a": ["x"]}), table="t"), "table", "leave table out where data is given"),
        (lambda: ut.table(pa.table({"a": ["x"]}), columns={"a": "text"}, missing={"a": ["x"]}), "missing", "left out"),
        (lambda: ut.table("flights.csv", columns={"a": "intger"}), "columns", "did you mean integer"),
        (lambda: ut.table("flights.csv", columns=["a"]), "columns", "must be a mapping"),  # type: ignore[arg-type]
        (lambda: ut.table("flights.csv", missing={"a": ["NA"]}), "missing", "whose kinds are declared"),
        (lambda: ut.table("flights.csv", neighbours="swap"), "neighbours", 'got "swap"'),  # type: ignore[arg-type]
        (lambda: ut.table("flights.csv", fingerprint="a\x1b[2J"), "plan", "without control characters"),
        (lambda: flights().derive(late="dep_delay >"), "late", "expected a column"),
        (lambda: flights().derive(late="1 = 1").derive(late="1 = 2"), "derive", 'got "late", which was added before'),
        (lambda: flights().lookup("x.csv", on="dest", take=[]), "take", "at least one column"),
        (lambda: flights().plan(3), "budget", "budget must be a text"),  # type: ignore[arg-type]
        (lambda: flights().plan("b", epsilon=-1), "epsilon", "must be > 0"),
        (lambda: flights().plan("b", epsilon=1, rho=1), "rho", "must not be given with epsilon"),
        (lambda: flights().plan("b", noise="loud"), "noise", "geometric, gaussian, canonical or best"),  # type: ignore[arg-type]
        (lambda: flights().lookup(3, on="dest", take="tz"), "location", "location must be a text"),  # type: ignore[arg-type]
        (lambda: flights().derive(3), "expressions", "must be a mapping"),  # type: ignore[arg-type]
        (lambda: flights().plan("b", ledger=3), "ledger", "ledger must be a path"),  # type: ignore[arg-type]
        (lambda: flights().plan("b", output=3), "output", "output must be a path"),  # type: ignore[arg-type]
        (lambda: flights().plan("b", part={"carrier": 1.5}), "part", "a number with a point"),  # type: ignore[dict-item]
        (lambda: flights().plan("b", part={}), "part", "one column with its value"),
        (lambda: builder().count(""), "name", "1 to 100 printable characters"),
        (lambda: builder().count("a\x1b"), "query", "without control characters"),
        (lambda: builder().count("a", where="dep_delay >"), "where", "expected a column"),
        (lambda: builder().count("a", keys={"carrier": "UA"}), "keys.carrier", "must be a list"),
        (lambda: builder().count("a", keys={"n": [1.5]}), "keys.n", "a number with a point"),
        (lambda: builder().count("a", keys=["UA"]), "keys", "must be a mapping"),  # type: ignore[arg-type]
        (lambda: builder().count("a", epsilon=float("nan")), "epsilon", "must be a number"),
        (lambda: builder().count("a", epsilon=False), "epsilon", "must be a number"),
        (lambda: builder().mean("a", **GRID, nulls=False), "nulls", "must be a number"),
        (lambda: builder().count("a", epsilon=2), "epsilon", "must be more than its queries"),
        (lambda: builder().count("a", epsilon=1, share=1), "share", "give either share or epsilon"),
        (lambda: builder(epsilon=None).count("a"), "epsilon", "epsilon is missing"),
        (lambda: builder(delta=None).count("a", by="dest"), "delta", "by needs delta"),
        (lambda: builder().mean("a", column="d", low=0, high=1), "step", "at least 10 apart"),
        (lambda: builder().mean("a", column="d", low=0.5, high=20), "step", "whole numbers"),
        (lambda: builder().mean("a", column="d", low=9, high=3), "low", "low must be below high"),
        (lambda: builder().quantile("a", **GRID), "probability", "probability is missing"),
        (lambda: builder().remove("a"), "name", "must be that of a query"),
        (lambda: builder().count("a", keys={"n": pa.table({"n": [1]})}), "keys.n", "must be a list"),  # type: ignore[dict-item]
        (lambda: builder().remove(["a"]), "name", "must be that of a query"),  # type: ignore[arg-type]
        (lambda: builder().count("a", keys={3: [1]}), "keys", "must name columns by texts"),  # type: ignore[dict-item]
        (lambda: builder().to_plan(), "query", "at least one query"),
        (lambda: builder().preview(), "query", "at least one query"),
    ],
)
def test_an_error_names_the_argument(call: Callable[[], object], field: str, words: str) -> None:
    with pytest.raises(ut.InputError) as caught:
        call()
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_step_of_one_is_taken_for_whole_bounds_far_enough_apart_alone() -> None:
    assert builder().mean("a", column="d", low=0, high=10).queries["a"].grid.step == 1  # type: ignore[attr-defined]
    assert builder().mean("a", column="d", low=0, high=1, step=0.01).queries["a"].grid.step == Fraction(1, 100)  # type: ignore[attr-defined]


def test_a_query_that_is_refused_leaves_the_plan_as_it_was() -> None:
    plan = builder().count("a", epsilon="1/2")
    before = plan.to_plan()
    for call in (lambda: plan.count("b", epsilon=1), lambda: plan.count("a"), lambda: plan.count("b", where="(")):
        with pytest.raises(ut.InputError):
            call()
    assert plan.to_plan() == before


def test_the_same_query_again_is_one_query_and_another_of_its_name_is_refused() -> None:
    plan = builder()
    for _ in range(2):
        plan.count("a", keys={"carrier": ["UA"]})
    assert len(plan) == 1
    with pytest.raises(ut.InputError, match=r"remove\('a'\)"):
        plan.count("a")
    assert plan.remove("a").count("a").to_plan().queries[0].query == ut.queries.Count()


def test_names_with_quotes_reach_the_file_whole_and_no_page_raw() -> None:
    plan = builder().count('<b>"x"\\', keys={'a"b': ["'", '"', "\\"]})
    assert parse_plan(plan.to_toml(), Path.cwd()) == plan.to_plan()
    assert "<b>" not in plan._repr_html_()
    assert "&lt;b&gt;" in plan._repr_html_()


def test_a_copy_of_a_plan_is_another_plan() -> None:
    plan = builder().count("a")
    for twin in (copy.copy(plan), copy.deepcopy(plan)):
        twin.count("b", epsilon="1/8")
        assert (list(plan.queries), list(twin.queries)) == (["a"], ["a", "b"])


# Runs


def test_the_plan_of_the_contract_is_previewed_and_released() -> None:
    plan = flights().plan(budget="flights", epsilon=1, delta="1e-6")
    plan.mean("delay by carrier", column="dep_delay", low=-30, high=180, keys={"carrier": ["UA", "AA"]})
    plan.count("destinations", by=["dest"])
    assert plan.preview().left is None
    budget = open_flights()
    record = plan.release()
    assert [answer.name for answer in record] == ["delay by carrier", "destinations"]
    assert len(record["delay by carrier"].value) == 2
    assert record.epsilon == 1
    assert 0 < record.delta <= Fraction(1, 10**6)
    assert (budget.spent, budget.left, budget.delta_left) == (1, 0, 0)
    assert record.to_arrow().num_rows >= 2
    with pytest.raises(ut.errors.BudgetError, match="0 left"):
        plan.release()


def test_two_plans_spend_one_budget_and_a_plan_goes_on_after_its_release(folder: Path) -> None:
    budget = open_flights()
    first, second = (flights().plan(budget, epsilon="1/4", output=output) for output in (None, Path("out.json")))
    first.count("a").release()
    second.count("b").release()
    first.count("c").release()
    assert budget.left == Fraction(1, 4)
    assert ut.read_release("out.json")["b"].epsilon == Fraction(1, 4)
    history = budget.history()
    assert [row["queries"] for row in history.rows] == ["a", "b", "a, c"]
    assert [row["epsilon"] for row in history.rows] == [Fraction(1, 4)] * 3
    assert history.to_arrow().num_rows == 3
    assert datetime.now(UTC) >= history.rows[0]["charged"]  # type: ignore[operator]


def test_a_plan_that_changes_after_its_preview_is_released_as_it_is_then() -> None:
    open_flights()
    plan = builder().count("a")
    assert [answer.spec.name for answer in plan.preview().planned_answers] == ["a"]
    plan.remove("a").count("b")
    assert [answer.name for answer in plan.release()] == ["b"]


def test_paths_are_those_of_the_working_folder_at_the_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, plan, budget = flights(), builder().count("a"), open_flights()
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    assert plan.preview().left == budget.left == 1
    assert table.plan("flights", epsilon=1).count("a").preview().left is None
    assert table.plan(budget, epsilon=1).count("a").preview().left == 1
    assert table.plan("flights", epsilon=1, ledger=folder / "ledger.sqlite").count("a").preview().left == 1
    assert not (folder / "sub" / "ledger.sqlite").exists()


def test_inspection_counts_for_the_curator_alone() -> None:
    inspection = builder().count("a").inspect()
    assert inspection.rows == 600


# Budgets


def test_a_budget_is_opened_once_and_then_returned(folder: Path) -> None:
    first = ut.budget("b", epsilon=0.5, unit="person")
    assert first == ut.budget("b", epsilon="1/2", unit="person") == ut.budget("b")
    assert first.terms == ut.ledger.Budget(
        "b", Fraction(1, 2), unit="person", neighbours="add-remove", opened=first.terms.opened
    )
    assert repr(ut.budget("b")) == "<NamedBudget b: ε 0 spent, 0.5 left>"
    assert "each value of person" in first._repr_html_()
    assert ut.budget("c", epsilon=1, delta="1e-6").terms.composition == "approximate"
    assert ut.budget("d", rho="0.01", delta="1e-6").terms.composition == "zcdp"
    assert ut.budget("d", rho="0.01", delta="1e-6").state.measure == "ρ"
    assert len(first.history()) == 0


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"epsilon": 2}, "epsilon"),
        ({"epsilon": 1, "delta": "1e-6"}, "delta"),
        ({"epsilon": 1, "unit": "person"}, "unit"),
        ({"epsilon": 1, "neighbours": "replace"}, "neighbours"),
        ({"epsilon": 1, "remember": False}, "remember"),
        ({"epsilon": 1, "delta": 0, "composition": "approximate"}, "delta"),
        ({"unit": "person"}, "epsilon"),
    ],
)
def test_other_terms_than_a_budget_has_are_refused_by_name(terms: dict[str, Any], field: str) -> None:
    ut.budget("b", epsilon=1)
    with pytest.raises(ut.InputError) as caught:
        ut.budget("b", **terms)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("terms", "field"), [({"neighbours": "replace"}, "neighbours"), ({"remember": False}, "remember")]
)
def test_a_budget_asked_for_by_name_has_the_terms_that_are_asked_of_it(
    folder: Path, terms: dict[str, Any], field: str
) -> None:
    ut.budget("b", epsilon=1)
    with pytest.raises(ut.InputError, match=f"^{field} must be .* as budget 'b' was opened with"):
        ut.budget("b", **terms)
    other = ut.budget("c", epsilon=1, **terms)
    assert ut.budget("c") == ut.budget("c", **terms) == other


def test_a_budget_needs_a_price_to_be_opened_and_none_once_it_is_closed() -> None:
    with pytest.raises(ut.InputError, match="epsilon must be given to open budget 'b'"):
        ut.budget("b")
    with pytest.raises(ut.InputError, match="rho must be given in place of epsilon"):
        ut.budget("b", epsilon=1, rho=1)
    ut.budget("b", epsilon=1).close()
    assert repr(ut.budget("b")) == "<NamedBudget b: ε 0 spent, 1 left, closed>"
    with pytest.raises(ut.InputError, match="was closed at"):
        ut.budget("b", epsilon=1)


def test_a_budget_that_somebody_else_opens_meanwhile_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    ut.budget("b", epsilon=1)
    answers = iter([False, True, True])
    monkeypatch.setattr(ut.ledger.Ledger, "has_budget", lambda self, name: next(answers))
    assert ut.budget("b", epsilon=1).name == "b"
