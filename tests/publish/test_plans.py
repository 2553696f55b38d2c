from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.errors import InputError
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plans import parse_plan, plan_from_mapping, read_plan
from utmost.queries import Count, Histogram, Mean, Quantile, Sum

FULL_PLAN = """
title = "A survey"
neighbours = "add-remove"
budget = "survey"
ledger = "books.sqlite"
output = "out.json"

[source]
location = "people.csv"
columns = { age = "integer" }
fingerprint = "2026-11"

[unit]
column = "person"
rows = 3

[part]
column = "region"
equals = "north"

[[query]]
name = "old"
kind = "count"
epsilon = 0.1
where = "age >= 65"

[[query]]
name = "by school"
kind = "histogram"
epsilon = "1/3"
keys = { educ = [1, 2], since = [2020-01-31] }

[[query]]
name = "all"
kind = "sum"
epsilon = 1
column = "age"
low = 0
high = 120
step = 0.5
nulls = "drop"

[[query]]
name = "mean age"
kind = "mean"
epsilon = 1
column = "age"
low = -1.5
high = 120
step = "1/2"
nulls = 40

[[query]]
name = "median"
kind = "quantile"
epsilon = 1
column = "age"
low = 0
high = 120
step = 1
nulls = "drop"
probability = 0.5
"""


def test_every_key_of_a_plan_is_read_exactly(tmp_path: Path) -> None:
    plan = parse_plan(FULL_PLAN, tmp_path)
    assert (plan.title, plan.budget, plan.ledger, plan.output) == (
        "A survey",
        "survey",
        "books.sqlite",
        tmp_path / "out.json",
    )
    assert plan.neighbours is NeighbourRelation.ADD_REMOVE
    assert plan.unit == PrivacyUnit("person", rows=3)
    assert plan.part == Partition("region", "north")
    assert (plan.source.location, dict(plan.source.columns), plan.fingerprint) == (
        "people.csv",
        {"age": "integer"},
        "2026-11",
    )
    half = Grid(Fraction(0), Fraction(120), Fraction(1, 2))
    assert [query_spec.query for query_spec in plan.queries] == [
        Count("age >= 65"),
        Histogram({"educ": (1, 2), "since": (date(2020, 1, 31),)}),
        Sum("age", half, None),
        Mean("age", Grid(Fraction(-3, 2), Fraction(120), Fraction(1, 2)), Fraction(40)),
        Quantile("age", Grid(Fraction(0), Fraction(120), Fraction(1)), Fraction(1, 2), None),
    ]
    assert [query_spec.epsilon for query_spec in plan.queries][:2] == [Fraction(1, 10), Fraction(1, 3)]
    assert plan.epsilon == Fraction(1, 10) + Fraction(1, 3) + 3


def test_a_release_goes_beside_its_plan_where_the_plan_does_not_say(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(FULL_PLAN.replace('output = "out.json"\n', ""))
    assert read_plan(path).output == tmp_path / "survey.release.json"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('budget = "survey"', 'bugdet = "survey"', 'budget is missing: is "bugdet" a misspelling of it?'),
        ('title = "A survey"', 'titel = "A survey"', '"titel" is not known here: did you mean title?'),
        ('where = "age >= 65"', 'were = "age >= 65"', 'query "old": "were" is not known here: did you mean where?'),
        (
            'neighbours = "add-remove"',
            'neighbours = "swap"',
            'neighbours must be "replace" or "add-remove", got "swap"',
        ),
        ("epsilon = 0.1", "epsilon = 0", 'query "old": epsilon must be > 0, got 0'),
        ("epsilon = 0.1", "epsilon = -1", 'query "old": epsilon must be > 0, got -1'),
        ("epsilon = 0.1", "epsilon = inf", 'query "old": epsilon must be'),
        ("epsilon = 0.1", 'epsilon = "a lot"', 'query "old": epsilon must be'),
        ("epsilon = 0.1", "epsilon = [1]", 'query "old": epsilon must be a number, got a list'),
        ("epsilon = 0.1", "epsilon = 1e7", 'query "old": epsilon must be'),
        ("epsilon = 0.1", "epsilon = 1e-400", 'query "old": epsilon must be a number of at most 40 digits'),
        ("epsilon = 0.1", "epsilon = 1e-9999", 'query "old": epsilon must be a shorter number'),
        ('kind = "count"', 'kind = "cuont"', 'query "old": kind must be one of count, histogram'),
        (
            "low = -1.5\nhigh = 120",
            "low = 120\nhigh = -1.5",
            'query "mean age": low must be below high, got 120 and -3/2',
        ),
        ('step = "1/2"', "step = 7", "low and high must be whole numbers of steps of 7"),
        ('step = "1/2"', "step = 0", "step must be > 0"),
        ('step = "1/2"\n', "", 'query "mean age": step or extra_loss must be given, one of the two'),
        ('step = "1/2"', 'step = "1/2"\nextra_loss = 1', 'query "mean age": step or extra_loss must be given'),
        ('step = "1/2"', "extra_loss = 0", 'query "mean age": extra_loss must be > 0, got 0'),
        ('step = "1/2"', "extra_loss = [1]", 'query "mean age": extra_loss must be a number, got a list'),
        ("step = 1\n", "extra_loss = 1\n", 'query "median": step is missing'),
        ("step = 1\n", "step = 1\nextra_loss = 1\n", 'query "median": "extra_loss" is not known here'),
        ("nulls = 40", "nulls = 400", 'nulls must be "drop" or a number from -3/2 to 120'),
        ("nulls = 40\n", "", 'query "mean age": nulls is missing'),
        ("nulls = 40\n", 'nulls = "keep"\n', 'query "mean age": nulls must be'),
        ("probability = 0.5", "probability = 50", "probability must be from 0 to 1"),
        ("rows = 3", "rows = 3\ngroups = 2", "one of the two"),
        ("rows = 3\n", "", "give rows = k or groups = k"),
        ("rows = 3", "rows = 0", "unit must keep from 1"),
        ("rows = 3", "rows = 2.5", "[unit]: rows must be a whole number"),
        ("educ = [1, 2]", 'educ = [1, "2"]', "keys of educ must all be of one type"),
        ("educ = [1, 2]", "educ = [1, 1]", "keys of educ must be distinct"),
        ("educ = [1, 2]", "educ = []", "keys must list at least one value"),
        ("educ = [1, 2]", "educ = [1.5]", "keys of educ must be texts, whole numbers"),
        ('name = "all"', 'name = "old"', 'query names must differ, got "old" twice'),
        ("[source]", "[sauce]", "did you mean source?"),
        ("[[query]]", "[query]", "plan must be TOML"),
        ("budget =", "budget ==", "plan must be TOML"),
    ],
)
def test_a_slip_in_a_plan_gets_its_own_line(old: str, new: str, message: str) -> None:
    text = FULL_PLAN.replace(old, new, 1)
    assert text != FULL_PLAN
    with pytest.raises(InputError) as problem:
        parse_plan(text)
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_plan_from_python_refuses_a_float_and_says_how_to_write_it() -> None:
    content: dict[str, Any] = {
        "neighbours": "replace",
        "budget": "b",
        "source": {"location": "x.csv"},
        "query": [{"name": "q", "kind": "count", "epsilon": 0.1, "where": "a = 1"}],
    }
    with pytest.raises(InputError, match=r'write it as text, for instance "0.1"'):
        plan_from_mapping(content)
    content["query"][0]["epsilon"] = "0.1"
    assert plan_from_mapping(content).epsilon == Fraction(1, 10)


def test_the_digest_tells_plans_apart_by_what_they_ask_and_by_nothing_else(tmp_path: Path) -> None:
    plan = plan_digest(parse_plan(FULL_PLAN, tmp_path))
    same = (
        FULL_PLAN.replace("A survey", "Another title")
        .replace("epsilon = 0.1", 'epsilon = "1/10"')
        .replace("out.json", "b.json")
    )
    assert plan_digest(parse_plan(same, tmp_path)) == plan
    for old, new in (
        ("age >= 65", "age >= 66"),
        ("add-remove", "replace"),
        ("rows = 3", "rows = 2"),
        ('"north"', '"south"'),
        ("educ = [1, 2]", "educ = [2, 1]"),
        ("people.csv", "persons.csv"),
        ("nulls = 40", "nulls = 41"),
        ("probability = 0.5", "probability = 0.25"),
        ("epsilon = 0.1", "epsilon = 0.2"),
    ):
        assert plan_digest(parse_plan(FULL_PLAN.replace(old, new, 1), tmp_path)) != plan
    assert plan_digest(parse_plan(FULL_PLAN, tmp_path / "elsewhere")) != plan


TOML_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["replace", "drop", "count", "mean", "1/2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["location", "column", "rows", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["title", "neighbours", "budget", "ledger", "output", "source", "unit", "part", "query", "other"]
QUERY_KEYS = [
    "name",
    "kind",
    "epsilon",
    "where",
    "keys",
    "column",
    "low",
    "high",
    "step",
    "nulls",
    "probability",
    "other",
]


@settings(max_examples=400)
@given(
    st.dictionaries(st.sampled_from(KEYS), TOML_VALUES),
    st.lists(st.dictionaries(st.sampled_from(QUERY_KEYS), TOML_VALUES), max_size=2),
)
def test_any_mapping_is_a_plan_or_is_refused_with_one_line(
    content: dict[str, Any], queries: list[dict[str, Any]]
) -> None:
    assert "\n" not in _refusal(lambda: plan_from_mapping(content))
    full_content = {"neighbours": "replace", "budget": "b", "source": {"location": "x"}, **content, "query": queries}
    assert "\n" not in _refusal(lambda: plan_from_mapping(full_content))


@settings(max_examples=300)
@given(
    st.text(max_size=80)
    | st.integers(0, len(FULL_PLAN)).flatmap(
        lambda k: st.text(max_size=3).map(lambda t: FULL_PLAN[:k] + t + FULL_PLAN[k + len(t) :])
    )
)
def test_any_text_is_a_plan_or_is_refused_with_one_line(text: str) -> None:
    assert "\n" not in _refusal(lambda: parse_plan(text))


def _refusal(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except InputError as problem:
        return str(problem)
    return ""


OF_AGE = {"name": "age", "kind": "sum", "column": "age", "low": 0, "high": 80, "step": 1, "nulls": "drop", "epsilon": 1}


@pytest.mark.parametrize(
    ("change", "field", "context"),
    [
        ({"budget": 3}, "budget", "plan"),
        ({"source": {"location": 3}}, "source.location", "[source]"),
        ({"source": {"columns": {"age": 3}}}, "source.columns.age", "[source]"),
        ({"unit": {"column": "person", "rows": "two"}}, "unit.rows", "[unit]"),
        ({"unit": {"column": "person", "rows": 0}}, "unit.rows", None),
        ({"unit": {"column": "person", "rows": 1, "lines": 1}}, "unit.lines", "[unit]"),
        ({"part": {"column": "age", "equals": 1.5}}, "part.equals", None),
        ({"query": []}, "query", None),
        ({"query": [{"kind": "count"}]}, "name", "query 1"),
        ({"query": [{**OF_AGE, "low": 90}]}, "low", 'query "age"'),
        ({"query": [{**OF_AGE, "low": "x"}]}, "low", 'query "age"'),
        ({"query": [{**OF_AGE, "high": True}]}, "high", 'query "age"'),
        ({"query": [{**OF_AGE, "nulls": 500}]}, "nulls", 'query "age"'),
        ({"query": [{**OF_AGE, "epsilon": 0}]}, "epsilon", 'query "age"'),
        ({"query": [{**OF_AGE, "steps": 1}]}, "steps", 'query "age"'),
        ({"query": [{"name": "k", "kind": "histogram", "epsilon": 1, "keys": {"a": 1}}]}, "keys.a", 'query "k"'),
        ({"query": [{"name": "k", "kind": "histogram", "epsilon": 1, "keys": {"a": [1.5]}}]}, "keys.a", 'query "k"'),
    ],
    ids=str,
)
def test_an_error_names_the_key_of_the_plan_and_the_query(change, field, context):
    plan = {"neighbours": "replace", "budget": "b", "source": {"location": "a.csv"}, "query": [OF_AGE], **change}
    with pytest.raises(InputError) as caught:
        plan_from_mapping(plan)
    assert (caught.value.field, caught.value.context) == (field, context)


def test_the_cells_that_all_queries_list_are_bounded_before_the_last_is_read() -> None:
    cells = {"kind": "count", "keys": {"x": "1..100000"}, "epsilon": "0.1"}
    values = {"kind": "distinct", "column": "x", "domain": "1..100000", "epsilon": "0.1"}
    queries = [{"name": f"q{k}", **(cells if k % 2 else values)} for k in range(21)]
    source = {"location": "bundled:anes96"}
    content = {"neighbours": "add-remove", "budget": "b", "source": source, "query": [*queries, {"name": "unread"}]}
    with pytest.raises(InputError, match="plan must list at most 2000000 cells and values in all queries"):
        plan_from_mapping(content)
    assert len(plan_from_mapping(content | {"query": queries[:20]}).queries) == 20
