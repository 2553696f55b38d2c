"""Numbers of different values: sensitivity by brute force, ends, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.data.selection import NeighbourRelation, PrivacyUnit, Selection
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.plans import parse_plan
from utmost.queries import Distinct
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.privacy_setting import PrivacySetting

UNITS = [PrivacyUnit(), *(PrivacyUnit("p", rows=k) for k in (1, 2, 3)), PrivacyUnit("p", groups=2)]


@dataclass
class Values:
    """A table of the kept rows' values."""

    rows: tuple[int, ...]

    def distinct_count(self, selection: Selection, column: str, domain: Any) -> int:
        return len(set(self.rows))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("relation", NeighbourRelation)
def test_the_number_moves_exactly_by_its_sensitivity(relation: NeighbourRelation, unit: PrivacyUnit) -> None:
    setting = PrivacySetting(relation, unit, None, 3 if relation is NeighbourRelation.REPLACE else None)
    query = Distinct("x")
    states = [rows for size in range(unit.bound + 1) for rows in combinations_with_replacement(range(4), size)]
    if unit.groups is not None:
        states = [rows for rows in states if len(set(rows)) == len(rows)]
    largest = 0
    for others in ((), (0,), (0, 1)):
        numbers = [query.exact_answer(Values((*others, *rows)), setting)[0] for rows in states]  # type: ignore[arg-type]
        without = len(set(others))
        moves = [abs(a - b) for a in numbers for b in (numbers if setting.replacing else [without])]
        largest = max(largest, *moves)
    assert largest == query.select_mechanism(Fraction(1), setting).sensitivity


def test_the_ends_are_zero_and_the_most_values_there_can_be() -> None:
    persons = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit("p", rows=2), None, 3)
    assert Distinct("x").select_mechanism(Fraction(1), persons).mechanism == GeometricLattice(Fraction(1, 2), 0, 6)
    domain = Distinct("x", (1, 2, 3, 4)).select_mechanism(Fraction(1), persons).mechanism
    assert (domain.low, domain.high) == (0, 4)
    secret = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)
    selection = Distinct("x").select_mechanism(Fraction(1), secret)
    assert (selection.mechanism.high, selection.optimal.partition(":")[0]) == (None, "metric")


PLAN = """
neighbours = "add-remove"
budget = "b"
output = "out.json"
source = { location = "people.csv", columns = { age = "integer", region = "text", x = "number" } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{k % 40},{'nsw'[k % 3]},{k / 2}\n" for k in range(200))
    (tmp_path / "people.csv").write_text("age,region,x\n" + rows + ",,\n")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), neighbours="add-remove"))
    return tmp_path


def query_text(name: str, rest: str) -> str:
    return f'[[query]]\nname = "{name}"\nkind = "distinct"\nepsilon = 30\n{rest}\n'


def test_values_are_counted_once_each_and_null_is_none(folder: Path) -> None:
    queries = {
        "ages": 'column = "age"',
        "some ages": 'column = "age"\ndomain = "35..60"',
        "regions": 'column = "region"\nwhere = "age < 3"\ndomain = ["n", "e"]',
    }
    release = utmost.release(parse_plan(PLAN + "".join(query_text(*query) for query in queries.items()), folder))
    assert [answer.value for answer in release] == [40, 5, 1]
    assert release_file.read_release(folder / "out.json") == release


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ('column = "x"', "column must hold integers, texts, truths or dates, got x of kind number"),
        ('column = "region"\ndomain = "1..4"', "domain must be texts"),
        ('column = "age"\ndomain = [1, 1]', "domain must be distinct"),
        ('column = "age"\ndomain = []', "at least one value"),
        ('column = "nothing"', "nothing"),
    ],
)
def test_what_has_no_different_values_to_count_is_refused(folder: Path, rest: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        utmost.preview(parse_plan(PLAN + query_text("q", rest), folder))
    assert problem in str(caught.value)
