"""What is kept of a person: how much, how fairly, and that nobody else has a say in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from data.storages import Column, open_stored_table
from spark import quiet
from utmost.data.contribution_bounds import keep_rows, salt
from utmost.data.engines.duckdb import DuckDbEngine
from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import MAX_CONTRIBUTION, Partition, PrivacyUnit, Selection
from utmost.data.table import Table
from utmost.noise.entropy import system_source

pytestmark = quiet

COLUMNS = {
    "world": Column("int64", "bigint", "integer"),
    "person": Column("int64", "bigint", "integer"),
    "name": Column("string", "text", "text"),
    "value": Column("int64", "bigint", "integer"),
}
GRID = Grid(Fraction(0), Fraction(9), Fraction(1))
VALUES = tuple(range(10))
EXAMPLES = {"parquet": 25, "postgres": 10, "spark": 2}
FALSE_ALARM = 1e-9  # of each statistical test below, if every choice of k rows is equally likely


class FixedSource:
    """An entropy source that repeats fixed words and counts how many were drawn."""

    def __init__(self, *words: int) -> None:
        self.fixed_words, self.words_drawn = words, 0

    def words(self, count: int) -> Any:
        self.words_drawn += count
        return np.resize(np.array(self.fixed_words, dtype=np.uint64), count)


def with_fixed_salt(table: Table, *words: int) -> Table:
    """The same table with a fixed salt."""
    return Table(table._connection, table._rows, FixedSource(*words))


@pytest.fixture(scope="module", params=EXAMPLES)
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "spark":
        request.getfixturevalue("spark")
    return name


@pytest.fixture(scope="module")
def url(storage: str, request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgres_module_url") if storage == "postgres" else None


def row(world: int, person: int | None, value: int | None) -> dict[str, Any]:
    name = None if person is None else f"p'{person}\u20ac"
    return {"world": world, "person": person, "name": name, "value": value}


people = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9) | st.integers(0, 1)), max_size=30)
units = st.builds(PrivacyUnit, st.sampled_from(("person", "name")), st.integers(1, 4)) | st.builds(
    PrivacyUnit, st.sampled_from(("person", "name")), st.none(), st.integers(1, 4)
)


def worlds(rows: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """World 0 has everybody, world 1 + p has person p alone."""
    return [row(0, *pair) for pair in rows] + [row(1 + pair[0], *pair) for pair in rows]


def answers(table: Table, unit: PrivacyUnit, world: int) -> dict[str, list[int]]:
    """All answers about a world, as lists of numbers that add up over persons."""
    part = Partition("world", world)
    numbers = {
        "count": [table.count(Selection("value > 3", unit, part))],
        "histogram": table.cell_counts(Selection(unit=unit, part=part), {"value": VALUES[:8]}),
    }
    if unit.groups is None:
        moments = table.moments(Selection(unit=unit, part=part), GridColumn("value", GRID))
        numbers["moments"] = [moments.rows, moments.positions]
        numbers["positions"] = table.position_counts(Selection(unit=unit, part=part), GridColumn("value", GRID))
    return numbers


def add_up(number_lists: list[list[int]]) -> list[int]:
    return [sum(numbers) for numbers in zip(*number_lists, strict=True)]


@pytest.mark.slow
def test_an_answer_is_the_sum_of_what_each_person_gives_alone_for_every_salt(
    storage: str, url: str | None, tmp_path: Path, max_examples: Callable[[int], int]
) -> None:
    """The lemma, exactly: nobody's rows change what is kept of anybody else."""

    @settings(max_examples=max_examples(EXAMPLES[storage]))
    @given(people, units, st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
    def check(rows: list[tuple[int, int]], unit: PrivacyUnit, first: int, second: int) -> None:
        with open_stored_table(storage, worlds(rows), tmp_path, url, COLUMNS) as stored_table:
            table = with_fixed_salt(stored_table, first, second)
            all_answers = answers(table, unit, 0)
            person_answers = [answers(table, unit, 1 + person) for person in range(4)]
        for kind, numbers in all_answers.items():
            assert numbers == add_up([person_answer[kind] for person_answer in person_answers])

    check()


@pytest.mark.slow
def test_a_person_moves_an_answer_by_no_more_than_its_sensitivity(
    tmp_path: Path, max_examples: Callable[[int], int]
) -> None:
    """Replacing all rows of one person by others, for a fixed salt: at most k rows leave and k come."""
    replacement_rows = st.lists(st.tuples(st.just(0), st.integers(0, 9)), max_size=8)

    @settings(max_examples=max_examples(25))
    @given(people, replacement_rows, units, st.integers(0, 2**64 - 1))
    def check(rows: list[tuple[int, int]], replacement: list[tuple[int, int]], unit: PrivacyUnit, word: int) -> None:
        neighbour = [pair for pair in rows if pair[0] != 0] + replacement
        table_rows = [row(0, *pair) for pair in rows] + [row(1, *pair) for pair in neighbour]
        with open_stored_table("parquet", table_rows, tmp_path, None, COLUMNS) as stored_table:
            table = with_fixed_salt(stored_table, word)
            before, after = answers(table, unit, 0), answers(table, unit, 1)
        moves = {
            kind: [abs(a - b) for a, b in zip(numbers, after[kind], strict=True)] for kind, numbers in before.items()
        }
        assert sum(moves["count"]) <= (unit.rows or 1)
        assert sum(moves["histogram"]) <= 2 * unit.bound
        if unit.rows:
            assert moves["moments"][0] <= unit.bound
            assert moves["moments"][1] <= unit.bound * GRID.size
            assert sum(moves["positions"]) <= 2 * unit.bound

    check()


def test_rows_without_a_person_are_left_out(storage: str, url: str | None, tmp_path: Path) -> None:
    rows = [row(0, None, 1), row(0, None, 2), row(0, 7, 1)]
    with open_stored_table(storage, rows, tmp_path, url, COLUMNS) as table:
        for unit in (PrivacyUnit("person", rows=5), PrivacyUnit("name", groups=5)):
            assert table.count(Selection(unit=unit)) == 1
            assert table.cell_counts(Selection(unit=unit), {"value": (1, 2)}) == [1, 0]
            assert table.units(unit) == 1
        assert table.units(PrivacyUnit()) == 3


def test_a_person_with_many_equal_rows_keeps_as_many_as_allowed(storage: str, url: str | None, tmp_path: Path) -> None:
    rows = [row(0, 1, 5)] * 700 + [row(0, 2, 5)] * 3
    with open_stored_table(storage, rows, tmp_path, url, COLUMNS) as table:
        for k in (1, 3, 699, 701, MAX_CONTRIBUTION):
            unit = PrivacyUnit("person", rows=k)
            assert table.cell_counts(Selection(unit=unit), {"value": (5,)}) == [min(k, 700) + min(k, 3)]
            assert table.count(Selection(unit=unit)) == min(k, 700) + min(k, 3)


def test_only_rows_that_the_query_uses_compete_for_a_place(storage: str, url: str | None, tmp_path: Path) -> None:
    """A row outside where, the cells or the column's values takes nothing from the others."""
    rows = [row(0, 1, value) for value in (0, 1, None, 8, 9, 9, 9)]
    with open_stored_table(storage, rows, tmp_path, url, COLUMNS) as table:
        for _ in range(1 if storage == "spark" else 5):
            unit = PrivacyUnit("person", rows=2)
            assert table.cell_counts(Selection(unit=unit), {"value": (0, 1)}) == [1, 1]
            assert table.cell_counts(Selection("value < 5", unit), {"value": (0, 1, 8, 9)}) == [1, 1, 0, 0]
            assert table.moments(Selection("value < 5 or value is null", unit), GridColumn("value", GRID)).rows == 2
            assert (
                table.moments(
                    Selection("value is null or value = 0", unit), GridColumn("value", GRID, Fraction(9))
                ).positions
                == 9
            )


def hypergeometric(sizes: tuple[int, ...], k: int) -> dict[tuple[int, ...], Fraction]:
    """The law of how many of each value are kept, if every k of the rows are equally likely; by enumeration."""
    rows = [value for value, size in enumerate(sizes) for _ in range(size)]
    frequencies = Counter(tuple(subset.count(v) for v in range(len(sizes))) for subset in combinations(rows, k))
    return {counts: Fraction(number, comb(len(rows), k)) for counts, number in frequencies.items()}


def pearson_statistic(frequencies: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    """Pearson's statistic."""
    total = frequencies.total()
    assert set(frequencies) <= set(law)
    return sum((frequencies[counts] - float(p) * total) ** 2 / (float(p) * total) for counts, p in law.items())


class SlotEngine(DuckDbEngine):
    """DuckDB with another function in the place of the hash's remainder: of the person, the place and the divisor."""

    def __init__(self, remainder: Callable[[Any, Any, Any], Any]) -> None:
        self.remainder = remainder

    def hash_remainder(self, values: Sequence[Any], divisor: Any) -> Any:
        _, person, place = values
        return self.remainder(person, place, divisor)


def kept_values(table: Table, unit: PrivacyUnit, engine: DuckDbEngine) -> list[tuple[Any, ...]]:
    """The value and the person of each row that is kept."""
    rows = table._rows.select(p=table._rows["person"], v0=table._rows["value"], v1=table._rows["person"])
    return table._connection.rows(keep_rows(rows, ["v0", "v1"], unit, "salt", engine))


@pytest.mark.parametrize(
    "remainder",
    [
        lambda person, place, divisor: divisor * 0,
        lambda person, place, divisor: place,
        lambda person, place, divisor: (person * 7 + place * 3) % divisor,
    ],
    ids=["always the first slot", "never a slot", "something else"],
)
def test_k_rows_are_kept_whatever_the_hash_is(remainder: Callable[[Any, Any, Any], Any], tmp_path: Path) -> None:
    """Privacy does not rest on the hash: at most k rows, and as many of them as there are."""
    rows = [row(0, person, value % 3) for person in range(1, 8) for value in range(person)]
    with open_stored_table("parquet", rows, tmp_path, None, COLUMNS) as table:
        for k in (1, 2, 4, 9):
            kept = kept_values(table, PrivacyUnit("person", rows=k), SlotEngine(remainder))
            assert Counter(person for _, person in kept) == {person: min(k, person) for person in range(1, 8)}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_over_all_draws_of_slots_every_k_rows_are_kept_equally_often(k: int, tmp_path: Path) -> None:
    """Exactly: person j stands for the j-th of all draws, row t ≥ k having t + 1 slots to be in."""
    values, radices = (0, 0, 0, 1, 2), list(range(k + 1, 6))
    draws = prod(radices)
    strides = {place: prod(radices[: place - k]) for place in range(k, 5)}

    def digit(person: Any, place: Any, divisor: Any) -> Any:
        digits = [(place == t, (person // stride).cast("int64") % (t + 1)) for t, stride in strides.items()]
        return ibis.cases(*digits, else_=ibis.literal(0, "int64"))

    rows = [row(0, person, value) for person in range(draws) for value in values]
    with open_stored_table("parquet", rows, tmp_path, None, COLUMNS) as table:
        kept = Counter(kept_values(table, PrivacyUnit("person", rows=k), SlotEngine(digit)))
    frequencies = Counter(tuple(kept[value, person] for value in range(3)) for person in range(draws))
    assert frequencies == {counts: p * draws for counts, p in hypergeometric((3, 1, 1), k).items()}


@pytest.fixture(scope="module")
def crowd(storage: str, url: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """5000 persons, each with five rows: 0, 0, 0, 1, 2."""
    rows = [row(0, person, value) for person in range(5000) for value in (0, 0, 0, 1, 2)]
    with open_stored_table(storage, rows, tmp_path_factory.mktemp("crowd"), url, COLUMNS) as table:
        yield table


def kept_counts(table: Table, unit: PrivacyUnit) -> list[tuple[int, ...]]:
    """How many of 0, 1, 2 are kept of each person: the person is a key too."""
    sizes = table.cell_counts(Selection(unit=unit), {"person": tuple(range(5000)), "value": (0, 1, 2)})
    return [tuple(sizes[start : start + 3]) for start in range(0, len(sizes), 3)]


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    ("unit", "law"),
    [
        (PrivacyUnit("person", rows=1), hypergeometric((3, 1, 1), 1)),
        (PrivacyUnit("person", rows=2), hypergeometric((3, 1, 1), 2)),
        (PrivacyUnit("name", rows=2), hypergeometric((3, 1, 1), 2)),
        (PrivacyUnit("person", groups=2), hypergeometric((1, 1, 1), 2)),
    ],
    ids=["one row", "two rows", "two rows, by name", "two groups"],
)
def test_every_choice_of_rows_is_equally_likely(
    crowd: Table, unit: PrivacyUnit, law: dict[tuple[int, ...], Fraction], storage: str
) -> None:
    """Over 5000 persons and fresh salts. The test has the power to tell a law whose likeliest outcome is 15 % off."""
    frequencies: Counter[tuple[int, ...]] = Counter()
    for _ in range(3 if storage == "spark" else 6):
        frequencies.update(kept_counts(crowd, unit))
    limit = chi2.isf(FALSE_ALARM, len(law) - 1)
    assert pearson_statistic(frequencies, law) < limit
    likeliest, unlikeliest = (
        max(law, key=lambda counts: law[counts]),
        min(reversed(law), key=lambda counts: law[counts]),
    )
    moved_persons = round(0.15 * frequencies[likeliest])
    assert (
        pearson_statistic(
            frequencies + Counter({unlikeliest: moved_persons}) - Counter({likeliest: moved_persons}), law
        )
        > limit
    )


def test_the_remainder_of_a_hash_is_a_slot(crowd: Table) -> None:
    """From 0 to divisor − 1 on each engine, whatever sign its hashes have; 5000 hashes reach every one."""
    rows, engine = crowd._rows, crowd._connection.engine
    hashed = [ibis.literal("salt"), rows["person"]]
    remainders = {f"r{n}": engine.hash_remainder(hashed, ibis.literal(n, "int64") + rows["world"]) for n in (1, 2, 7)}
    found = crowd._connection.rows(rows.select(**remainders).distinct())
    assert {row[0] for row in found} == {0}
    assert {row[1] for row in found} == {0, 1}
    assert {row[2] for row in found} == set(range(7))


def test_people_with_equal_rows_are_drawn_for_apart(crowd: Table) -> None:
    """Of 5000 persons with rows 0, 0, 0, 1, 2, the number whose one row is 0 is binomial: within 6.5 deviations."""
    sizes = crowd.cell_counts(Selection(unit=PrivacyUnit("name", rows=1)), {"value": (0, 1, 2)})
    for size, p in zip(sizes, (0.6, 0.2, 0.2), strict=True):
        assert abs(size - 5000 * p) < 6.5 * (5000 * p * (1 - p)) ** 0.5  # false alarm below 1e-9


def test_the_choice_for_one_person_changes_with_the_salt(crowd: Table) -> None:
    first, second = (kept_counts(with_fixed_salt(crowd, word), PrivacyUnit("person", rows=2)) for word in (1, 2))
    assert first == kept_counts(with_fixed_salt(crowd, 1), PrivacyUnit("person", rows=2))
    agreement = sum(a == b for a, b in zip(first, second, strict=True))
    law = hypergeometric((3, 1, 1), 2)
    expected = float(sum(p * p for p in law.values())) * 5000
    assert abs(agreement - expected) < 6.5 * (expected * (1 - expected / 5000)) ** 0.5  # false alarm below 1e-9


def test_a_salt_is_128_bits_and_fresh_for_every_question_that_needs_one(tmp_path: Path) -> None:
    assert len({salt(None) for _ in range(100)}) == 100
    assert len(salt(system_source())) == 32
    assert salt(FixedSource(1, 2**64 - 1)) == "0000000000000001ffffffffffffffff"
    with open_stored_table("parquet", [row(0, 1, 1)], tmp_path, None, COLUMNS) as stored_table:
        source = FixedSource(5)
        table, unit = Table(stored_table._connection, stored_table._rows, source), PrivacyUnit("person", rows=1)
        table.cell_counts(Selection(unit=unit), {"value": (1,)})
        table.moments(Selection(unit=unit), GridColumn("value", GRID))
        assert source.words_drawn == 4
        table.count(Selection(unit=unit))
        table.cell_counts(Selection(), {"value": (1,)})
        assert source.words_drawn == 4
