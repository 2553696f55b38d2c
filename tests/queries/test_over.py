"""Persons over their bound: sensitivity by brute force on every engine, plans, releases and their readings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from data.storages import COLUMNS, FRAMES, STORAGES, open_stored_table
from spark import quiet
from utmost import ledger
from utmost.cli import run
from utmost.data.candidates import ALL_ROWS, Candidates
from utmost.data.cells import Grouping
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit, Selection
from utmost.data.table import Table
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.queries import Count, Distinct, GroupedQuery, Histogram, Mean, Over, Query, Top
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.found_count import FoundCount
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.registry import FOUND_KINDS, parse_kind, parse_query

pytestmark = quiet

ROW_TYPES = (("north", 1), ("south", None))  # the region and the value of a row
PERSONS = [rows for size in range(3) for rows in combinations_with_replacement(ROW_TYPES, size)]  # all of up to 2 rows
NORTH = Grouping({"region": ("north",)})
ONE_ROW, ONE_GROUP = PrivacyUnit("person", rows=1), PrivacyUnit("person", groups=1)
ASKED = {
    "rows": (ONE_ROW, ALL_ROWS),
    "values": (ONE_ROW, Candidates(column="small")),
    "cells": (ONE_ROW, Candidates(NORTH)),
    "groups": (ONE_GROUP, Candidates(replace(NORTH, other=True))),
    "found groups": (ONE_GROUP, Candidates(by=("region",))),
}


def setting(relation: NeighbourRelation, unit: PrivacyUnit = ONE_ROW, units: int = 9) -> PrivacySetting:
    return PrivacySetting(relation, unit, None, units if relation is NeighbourRelation.REPLACE else None)


def worlds() -> list[dict[str, Any]]:
    """Tables told apart by their column big: two persons who stay, and a third one in every state."""
    rows = []
    for world, third in enumerate(PERSONS):
        for person, states in enumerate([(ROW_TYPES[0],) * 2, (ROW_TYPES[1],), third]):
            rows += [{"big": world, "person": person, "region": region, "small": value} for region, value in states]
    return [dict.fromkeys(COLUMNS) | row for row in rows]


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.slow if "spark" in name or name in FRAMES else ()) for name in STORAGES
    ]
)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    url = request.getfixturevalue("postgres_module_url") if request.param == "postgres" else None
    if "spark" in request.param:
        request.getfixturevalue("spark")
    with open_stored_table(request.param, worlds(), tmp_path, url) as opened:
        yield opened


@pytest.mark.parametrize("asked", ASKED)
def test_the_number_moves_exactly_by_one_whoever_comes_goes_or_is_replaced(table: Table, asked: str) -> None:
    """Every pair of tables that differ in one person; that with no rows is the table without the person."""
    unit, candidates = ASKED[asked]
    numbers = []
    for world in range(len(PERSONS)):
        query = Over(candidates, f"big = {world}")
        query.check(table, unit, None)
        numbers += query.exact_answer(table, setting(NeighbourRelation.ADD_REMOVE, unit))
    assert max(abs(number - numbers[0]) for number in numbers) == 1  # add-remove
    assert max(numbers) - min(numbers) == 1  # replace
    assert numbers == [_expected(asked, third) for third in PERSONS]
    for relation in NeighbourRelation:
        assert Over(candidates).select_mechanism(Fraction(1), setting(relation, unit)).sensitivity == 1


def _expected(asked: str, third: tuple[tuple[str, int | None], ...]) -> int:
    """The persons with more than one row, or group, worked out for each."""
    number = 0
    for rows in [(ROW_TYPES[0],) * 2, (ROW_TYPES[1],), third]:
        kept = [row for row in rows if asked not in ("values", "cells") or row == ROW_TYPES[0]]
        number += len(set(kept) if "groups" in asked else kept) > 1
    return number


GRID = Grid(Fraction(-9), Fraction(9), Fraction(1))
QUERIES: list[Query] = [
    Count("small > 0"),
    Histogram({"region": ("north", "south")}),
    Histogram({"region": ("north",)}, other=True),
    GroupedQuery(Count("big > 1"), NORTH),
    Mean("small", GRID, None),
    Mean("small", GRID, Fraction(0)),
    GroupedQuery(Mean("small", GRID, None), NORTH),
    Top({"region": ("north", "south")}, 1),
    FoundCount(("region",), "small > 0", Fraction(1, 10)),
    FoundCount(("region", "small"), None, Fraction(1, 10)),
]
PEOPLE = [
    dict.fromkeys(COLUMNS)
    | {
        "person": None if k % 11 == 10 else k * k % 7,
        "region": ("north", "south", "west", None)[k % 4],
        "small": None if k % 5 == 0 else k % 8 - 3,
        "big": k % 3,
    }
    for k in range(80)
]


def kept_rows(query: Query, table: Table, unit: PrivacyUnit) -> int:
    """How many rows a query keeps, which its exact answer tells."""
    answer = query.exact_answer(table, setting(NeighbourRelation.ADD_REMOVE, unit))
    return abs(sum(answer[1::2] if query.kind == "mean" else answer))


@pytest.mark.parametrize("bound", [1, 3, 100])
@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_candidates_are_the_rows_that_a_query_can_keep(query: Query, bound: int, tmp_path: Path) -> None:
    """Those that a bound leaves out are those kept without one, less those kept with it."""
    units = [PrivacyUnit("person", rows=bound)]
    units += [PrivacyUnit("person", groups=bound)] if query.kind in ("histogram", "top") else []
    with open_stored_table("parquet", PEOPLE, tmp_path) as table:
        for unit in units:
            unbounded = PrivacyUnit("person", **{"rows" if unit.groups is None else "groups": 1000})
            persons = table.count_persons(Selection(query.where, unit), Over.of(query).candidates)
            assert persons.left_out == kept_rows(query, table, unbounded) - kept_rows(query, table, unit)
            assert (persons.left_out > 0) == (persons.over > 0)


def test_different_values_are_the_groups_of_a_number_of_them(tmp_path: Path) -> None:
    values = {(row["person"], row["small"]) for row in PEOPLE if row["person"] is not None}
    numbers = Counter(person for person, value in values if value is not None)
    with open_stored_table("parquet", PEOPLE, tmp_path) as table:
        over = Over.of(Distinct("small")).exact_answer(
            table, setting(NeighbourRelation.ADD_REMOVE, PrivacyUnit("person", groups=3))
        )
    assert over == [sum(number > 3 for number in numbers.values())]


@pytest.mark.parametrize("kind", FOUND_KINDS)
def test_the_found_keys_of_a_query_decide_which_rows_it_can_keep(kind: str) -> None:
    from utmost.exact.input_text import Fields

    entries = {"name": "q", "kind": kind, "by": ["region"], "delta": "1e-6", "column": "small"}
    bounds = {"low": 0, "high": 9, "step": 1, "nulls": "drop", "probability": "1/2"}
    fields = Fields({**entries, **bounds}, "query")
    assert parse_query(parse_kind(fields), fields).candidates.by == ("region",)


def test_it_is_a_count_of_persons_that_no_other_mechanism_serves_better() -> None:
    """GRS12 Thm 3.2 for a count that a unit moves by 1: as for rows, whatever the bound of the unit is."""
    for unit in (PrivacyUnit("p", rows=7), PrivacyUnit("p", groups=7)):
        for relation, part in ((NeighbourRelation.REPLACE, None), (NeighbourRelation.ADD_REMOVE, Partition("g", 1))):
            where = replace(setting(relation, unit), part=part)
            selection = Over(where="x > 1").select_mechanism(Fraction(2, 3), where)
            assert selection.mechanism == GeometricLattice(Fraction(2, 3), 0, where.units)
            assert selection.optimal == Count("x > 1").select_mechanism(Fraction(2, 3), setting(relation, _ROW)).optimal
            assert Over().actual_epsilon(selection.mechanism, where) == Fraction(2, 3)


_ROW = PrivacyUnit()
PLAN = """
neighbours = "add-remove"
budget = "b"
output = "out.json"

[source]
location = "visits.csv"
columns = { person = "integer", age = "integer", clinic = "text" }

[unit]
column = "person"
rows = 2
"""
VISITS = [(k % 40, 20 + k % 50, "nsw"[k % 3] if k % 7 else "") for k in range(110)]
BOUNDS = 'column = "age"\nlow = 0\nhigh = 90\nstep = 1\nnulls = "drop"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{person},{age},{clinic}\n" for person, age, clinic in VISITS)
    (tmp_path / "visits.csv").write_text(f"person,age,clinic\n{rows}")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        budget = ledger.Budget("b", Fraction(1000), Fraction("0.1"), unit="person", neighbours="add-remove")
        new_ledger.open(budget)
    return tmp_path


def query_text(name: str, kind: str, rest: str = "", price: str = "epsilon = 30") -> str:
    return f'[[query]]\nname = "{name}"\nkind = "{kind}"\n{rest}\n{price}\n'


def persons_over(condition: Any, bound: int = 2) -> int:
    sizes = Counter(person for person, age, clinic in VISITS if condition(age, clinic))
    return sum(size > bound for size in sizes.values())


def test_each_kind_of_row_that_can_be_kept_is_asked_for_released_and_read_back(folder: Path) -> None:
    queries = {
        "all": ("", lambda age, clinic: True),
        "old": ('where = "age > 30"', lambda age, clinic: age > 30),
        "present": ('column = "clinic"', lambda age, clinic: clinic),
        "listed": ('column = "clinic"\ndomain = ["n", "w"]', lambda age, clinic: clinic in ("n", "w")),
        "cells": ('keys = { clinic = ["n", "s"] }', lambda age, clinic: clinic in ("n", "s")),
        "others": ('keys = { clinic = ["n", "s"] }\nother = true', lambda age, clinic: True),
        "found": ('by = ["clinic"]', lambda age, clinic: clinic),
    }
    plan = parse_plan(PLAN + "".join(query_text(name, "over", rest) for name, (rest, _) in queries.items()), folder)
    assert parse_plan(write_plan(plan), folder) == replace(plan, output=None)
    release = utmost.release(plan)
    assert [answer.value for answer in release] == [persons_over(condition) for _, condition in queries.values()]
    document = json.loads((folder / "out.json").read_text())
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert document["queries"][-1]["by"] == ["clinic"]
    assert release_file.read_release(folder / "out.json") == release


def test_a_query_with_over_is_two_answers_at_its_price_and_both_are_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = f'{BOUNDS}keys = {{ clinic = ["n"] }}\nother = true\nover = "1/5"'
    release = utmost.release(parse_plan(PLAN + query_text("ages", "mean", rest, "epsilon = 200"), folder))
    document = json.loads((folder / "out.json").read_text())
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert release_file.read_release(folder / "out.json") == release
    assert [(answer.name, answer.kind, answer.epsilon) for answer in release] == [
        ("ages", "mean", 160),
        ("ages: over the bound", "over", 40),
    ]
    over = release["ages: over the bound"]
    assert over.value == persons_over(lambda age, clinic: True)
    assert over.error.target == "the true number of persons with more than 2 rows"
    assert (document["queries"][1]["keys"], document["queries"][1]["other"]) == ({"clinic": ["n"]}, True)
    estimate = over.estimate("uniform", "absolute", at_most=40)
    assert estimate.estimate == over.value
    assert "GRS12 Thm 3.2" in estimate.claim
    assert run(["table", str(folder / "out.json"), "--output", str(folder / "out.csv")]) == 0
    assert f"ages: over the bound,over,,{over.value}," in (folder / "out.csv").read_text()
    assert run(["estimate", str(folder / "out.json"), "--at-most", "40", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"][1]["kind"] == "over"


def test_an_answer_beyond_its_ends_is_refused(folder: Path) -> None:
    utmost.release(parse_plan(PLAN + query_text("q", "over"), folder))
    document = json.loads((folder / "out.json").read_text())
    for change, refusal in (({"value": -1}, "value must be within"), ({"sensitivity": 2}, "sensitivity must be 1")):
        altered = {**document, "queries": [{**document["queries"][0], **change}]}
        with pytest.raises(InputError, match=refusal):
            release_file.release_from_content(altered)
    without_persons = {"column": None, "rows": None, "groups": None, "words": "each row"}
    with pytest.raises(InputError, match="unit must name persons"):
        release_file.release_from_content({**document, "unit": without_persons})


@pytest.mark.parametrize(
    ("top", "query", "problem"),
    [
        (PLAN.partition("[unit]")[0], query_text("q", "over"), 'query "q": unit must name persons'),
        (PLAN.partition("[unit]")[0], query_text("q", "count", "over = true"), "unit must name persons"),
        (PLAN, query_text("q", "over", "over = true"), 'query "q": over must be left out where'),
        (PLAN, query_text("q", "count", "over = 1"), "between 0 and 1, got 1"),
        (PLAN, query_text("q", "count", "over = 0"), "between 0 and 1, got 0"),
        (PLAN, query_text("q", "count", 'over = "some"'), "over must be"),
        (PLAN, query_text("q", "count", "over = [1]"), "over must be a number, or true, got a list"),
        (PLAN, query_text("q" * 90, "count", "over = true"), "name must be at most 84 characters with over"),
        (PLAN, query_text("q", "over", 'domain = ["n"]'), "column must be given with domain"),
        (PLAN, query_text("q", "over", 'column = "nothing"'), "nothing"),
        (PLAN, query_text("q", "over", "keys = { clinic = [1] }"), "keys of clinic must be texts"),
        (PLAN, query_text("q", "over", 'keys = { clinic = ["n"] }\nby = ["clinic"]'), "by must not be together with"),
        (PLAN.replace("rows", "groups"), query_text("q", "count", "over = true"), "fewer groups than the 1"),
        (
            PLAN.replace("rows", "groups"),
            query_text("q", "histogram", 'keys = { clinic = ["n", "s"] }\nover = true'),
            "unit must keep fewer groups than the 2 that a person can have rows in, got 2: nobody can be over that",
        ),
        (
            PLAN,
            query_text("q", "count", "over = true") + query_text("q: over the bound", "count"),
            'query names must differ, got "q: over the bound" twice',
        ),
    ],
)
def test_what_has_nobody_over_its_bound_to_count_is_refused_in_one_line(
    folder: Path, top: str, query: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        utmost.preview(parse_plan(top + query, folder))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_over_false_asks_for_nothing(folder: Path) -> None:
    asked, plain = (parse_plan(PLAN + query_text("q", "count", rest), folder) for rest in ("over = false", ""))
    assert asked == plain
    assert plan_digest(asked) == plan_digest(plain)
