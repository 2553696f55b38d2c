"""Sensitivities by brute force: every unit's every contribution, moved in every way its relation allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channel import channel, least_epsilon
from utmost.continuous.grid_selection import GridQuestion, common_step, rows_promise
from utmost.continuous.interval import interval
from utmost.continuous.losses import absolute
from utmost.data.cells import Grouping
from utmost.data.grid import Grid, GridColumn
from utmost.data.row_sums import CellSums, Moments, RowSums
from utmost.data.selection import NeighbourRelation, PrivacyUnit, Selection
from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.queries import Count, Histogram, Mean, Quantile, Query, Sum
from utmost.queries.answer_mechanisms.choice import PermuteAndFlip
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.ratio import RatioMechanism
from utmost.queries.privacy_setting import PrivacySetting
from utmost.spaces import space

Rows = tuple[int, ...]  # what is kept of one unit: the grid positions, or the cells, of its rows
GRIDS = [Grid(Fraction(a), Fraction(b), Fraction(s)) for a, b, s in ((0, 2, 1), (-1, 1, 1), (1, 2, "1/2"), (-3, -1, 1))]
HALF = Fraction(1, 2)


@dataclass
class BoundedTable:
    """A table after where, nulls and bounding: the kept rows of each unit."""

    units: list[Rows]

    def rows(self) -> list[int]:
        return [row for unit in self.units for row in unit]

    def row_sums(self, requests: Sequence[RowSums]) -> list[CellSums]:
        return [self.sums_of(request) for request in requests]

    def sums_of(self, request: RowSums) -> CellSums:
        if isinstance(request.grouping, Grouping):
            cells = request.grouping.cells
            return CellSums(cells, tuple(Moments(self.rows().count(cell)) for cell in range(len(cells))))
        if request.selection.unit.groups is not None:
            return CellSums(((),), (Moments(sum(1 for unit_rows in self.units if unit_rows)),))
        return CellSums(((),), (Moments(len(self.rows()), sum(self.rows())),))

    def position_counts(self, selection: Selection, values: GridColumn) -> list[int]:
        return [self.rows().count(k) for k in range(values.grid.size + 1)]


def contributions(setting: PrivacySetting, query: Query, positions: int) -> list[Rows]:
    """Every way a unit can be in a table."""
    if setting.holds_everyone(query):
        return [(k,) for k in range(positions)]
    if setting.unit.groups is not None:
        return [c for c in _multisets(setting.unit.bound, positions) if len(set(c)) == len(c)]
    return list(_multisets(setting.unit.bound, positions))


def _multisets(max_size: int, positions: int) -> Iterator[Rows]:
    for size in range(max_size + 1):
        yield from combinations_with_replacement(range(positions), size)


def neighbouring_answers(
    query: Query, setting: PrivacySetting, positions: int, other_units: list[Rows]
) -> Iterator[tuple[list[int], list[int]]]:
    """The exact answers of all pairs of neighbouring tables that share `other_units`."""
    states = [[unit_rows] for unit_rows in contributions(setting, query, positions)]
    answers = [query.exact_answer(BoundedTable(other_units + state), setting) for state in states]  # type: ignore[arg-type]
    if not setting.replacing:
        answer_without_unit = query.exact_answer(BoundedTable(other_units), setting)  # type: ignore[arg-type]
        yield from ((answer_without_unit, answer) for answer in answers)
        return
    yield from ((a, b) for a in answers for b in answers)


def settings(units: int = 3) -> list[PrivacySetting]:
    kinds = [PrivacyUnit(), PrivacyUnit("p", rows=1), PrivacyUnit("p", rows=2), PrivacyUnit("p", groups=2)]
    return [
        PrivacySetting(relation, unit, None, units if relation is NeighbourRelation.REPLACE else None)
        for relation in NeighbourRelation
        for unit in kinds
    ]


def max_steps_moved(pairs: Iterator[tuple[list[int], list[int]]]) -> int:
    return max(sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs)


@pytest.mark.parametrize("setting", settings(), ids=str)
def test_a_count_and_a_histogram_move_exactly_by_their_sensitivity(setting: PrivacySetting) -> None:
    count = Count("x = 1")
    assert (
        max_steps_moved(neighbouring_answers(count, setting, 1 if setting.unit.groups else 3, [(0,), ()]))
        == count.select_mechanism(HALF, setting).sensitivity
    )
    histogram = Histogram({"x": (1, 2, 3, 4)})
    assert (
        max_steps_moved(neighbouring_answers(histogram, setting, 4, [(0,), ()]))
        == histogram.select_mechanism(HALF, setting).sensitivity
    )


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("nulls", [None, "low"])
@pytest.mark.parametrize("setting", [s for s in settings() if s.unit.groups is None], ids=str)
def test_a_sum_moves_exactly_by_its_sensitivity_and_stays_between_its_ends(
    setting: PrivacySetting, nulls: str | None, grid: Grid
) -> None:
    query = Sum("x", grid, grid.low if nulls else None)
    selection = query.select_mechanism(HALF, setting)
    pairs = list(neighbouring_answers(query, setting, grid.size + 1, [(0,), (grid.size,)]))
    assert max_steps_moved(iter(pairs)) == selection.sensitivity
    mechanism = selection.mechanism
    assert isinstance(mechanism, GeometricLattice)
    for answer in (number for pair in pairs for [number] in pair):
        assert mechanism.low is None or mechanism.low <= answer
        assert mechanism.high is None or answer <= mechanism.high


@pytest.mark.parametrize("setting", [s for s in settings() if s.unit.groups is None], ids=str)
def test_the_total_and_the_rows_of_a_mean_cost_exactly_epsilon_together(setting: PrivacySetting) -> None:
    query = Mean("x", GRIDS[0], None)
    selection = query.select_mechanism(HALF, setting)
    assert isinstance(selection.mechanism, RatioMechanism)
    total, rows = selection.mechanism.total.epsilon, selection.mechanism.rows.epsilon
    pairs = neighbouring_answers(query, setting, GRIDS[0].size + 1, [(0,), (2,)])
    assert max(abs(a[0] - b[0]) * total + abs(a[1] - b[1]) * rows for a, b in pairs) == HALF
    assert query.actual_epsilon(selection.mechanism, setting) == HALF


def test_a_mean_of_everyone_is_one_number_that_moves_by_the_grid() -> None:
    setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 3)
    query = Mean("x", GRIDS[2], Fraction(1))
    selection = query.select_mechanism(HALF, setting)
    assert max_steps_moved(neighbouring_answers(query, setting, 3, [(0,), (2,)])) == selection.sensitivity == 2
    assert selection.mechanism == GeometricLattice(HALF / 2, 0, 6, Fraction(1), Fraction(1, 6))


@pytest.mark.parametrize("setting", [s for s in settings() if s.unit.groups is None], ids=str)
@pytest.mark.parametrize("share", ["0", "1/2", "1/3", "9/10", "1"])
def test_no_loss_of_a_quantile_moves_further_than_its_sensitivity(setting: PrivacySetting, share: str) -> None:
    query = Quantile("x", GRIDS[0], Fraction(share), None)
    sensitivity = query.select_mechanism(HALF, setting).sensitivity
    for other_units in ([], [(1,)], [(0,), (2,)], [(0,), (1,), (2,)]):
        for a, b in neighbouring_answers(query, setting, 3, list(other_units)):
            assert max(abs(x - y) for x, y in zip(a, b, strict=True)) <= sensitivity


@pytest.mark.parametrize("setting", settings(2)[:1] + settings(2)[4:5], ids=["replace", "add-remove"])
def test_a_quantile_as_a_channel_over_all_tables_is_private_at_the_epsilon_asked_for(setting: PrivacySetting) -> None:
    """The exact law of every table with up to two rows, and least_epsilon over their neighbours."""
    query = Quantile("x", GRIDS[0], Fraction(1, 2), None)
    selection = query.select_mechanism(HALF, setting)
    assert isinstance(selection.mechanism, PermuteAndFlip)
    tables: list[list[Rows]] = [[(p,) for p in c] for c in _multisets(2, 3)]
    rows = []
    for table in tables:
        truth = query.exact_answer(BoundedTable(list(table)), setting)  # type: ignore[arg-type]
        rows.append(selection.mechanism.law(truth))
    labels = [str(k) for k in range(len(tables))]
    level = least_epsilon(channel(rows, labels, ["a", "b", "c"]), space(_distances(tables, setting)))
    assert 0 < level.epsilon <= 0.5


def _distances(tables: list[list[Rows]], setting: PrivacySetting) -> list[list[int]]:
    """How many units must come, go (or, under replace, change: a missing row is a row that does not match)."""

    def distance(a: list[Rows], b: list[Rows]) -> int:
        left, right = [x for (x,) in a], [x for (x,) in b]
        for x in list(left):
            if x in right:
                left.remove(x)
                right.remove(x)
        return max(len(left), len(right)) if setting.replacing else len(left) + len(right)

    return [[distance(a, b) for b in tables] for a in tables]


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from(settings()))
def test_the_epsilon_of_the_mechanism_that_runs_is_the_one_asked_for(
    top: int, bottom: int, setting: PrivacySetting
) -> None:
    rate = Fraction(top, bottom)
    grid = GRIDS[0]
    queries: list[Query] = [Count("x = 1"), Histogram({"x": (1, 2)})]
    if setting.unit.groups is None:
        queries += [Sum("x", grid, None), Mean("x", grid, None), Mean("x", grid, Fraction(1))]
        queries += [Quantile("x", grid, Fraction(1, 2), None)]
    for query in queries:
        selection = query.select_mechanism(rate, setting)
        assert query.actual_epsilon(selection.mechanism, setting) == rate


def test_optimality_is_claimed_only_where_it_is_proved() -> None:
    rows, persons = PrivacyUnit(), PrivacyUnit("p", rows=3)
    claims = {
        (name, str(relation), unit.column): query.select_mechanism(
            HALF, PrivacySetting(relation, unit, None, 9)
        ).optimal.partition(":")[0]
        for name, query in (("count", Count("x = 1")), ("histogram", Histogram({"x": (1,)})))
        for relation in NeighbourRelation
        for unit in (rows, persons)
    }
    assert claims == {
        ("count", "replace", None): "universal",
        ("count", "add-remove", None): "universal",
        ("count", "replace", "p"): "metric",
        ("count", "add-remove", "p"): "metric",
        ("histogram", "replace", None): "none claimed",
        ("histogram", "add-remove", None): "per cell",
        ("histogram", "replace", "p"): "none claimed",
        ("histogram", "add-remove", "p"): "none claimed",
    }


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("p", groups=1)], ids=["rows", "persons"])
def test_a_count_of_everybody_is_refused_where_their_number_is_public(unit: PrivacyUnit) -> None:
    with pytest.raises(InputError, match="is public"):
        Count().select_mechanism(HALF, PrivacySetting(NeighbourRelation.REPLACE, unit, None, 9))
    assert (
        Count().select_mechanism(HALF, PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, None, None)).sensitivity == 1
    )


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.fractions(0, 1, max_denominator=12))
def test_some_position_of_a_quantile_has_no_loss(counts: list[int], share: Fraction) -> None:
    grid = Grid(Fraction(0), Fraction(max(len(counts) - 1, 1)), Fraction(1))
    padded_counts = counts + [0] * (grid.size + 1 - len(counts))
    assert min(Quantile("x", grid, share, None).losses(padded_counts)) == 0


RATES = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


@given(st.sampled_from([Sum, Mean]), st.integers(-5, 5), st.integers(1, 9), st.integers(1, 2000), RATES, RATES)
def test_an_accepted_extra_loss_leads_to_the_coarsest_step_that_keeps_it(
    kind: type[Sum] | type[Mean], low: int, length: int, units: int, rate: Fraction, extra: Fraction
) -> None:
    bounds, setting = (
        (Fraction(low), Fraction(low + length)),
        PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, units),
    )
    coarse_query = kind("x", Grid(*bounds, common_step(*bounds)), Fraction(low), extra_loss=extra)
    refined = coarse_query.resolve(rate, setting)
    assert isinstance(refined, kind)
    divisions = coarse_query.grid.step / refined.grid.step
    assert divisions.denominator == 1
    steps = refined.grid.step, coarse_query.grid.step / (divisions - 1) if divisions > 1 else None
    rows = units if kind is Sum else 1  # a sum's rounding adds up over its rows
    question = GridQuestion(interval(0, length * rows), Fraction(length * rows, units), rate, absolute)
    verdicts = [None if step is None else rows_promise(question, rows * step).meets(extra) for step in steps]
    assert verdicts in ([True, False], [True, None])
    claim = refined.select_mechanism(rate, setting).optimal
    assert f"at most {decimal_above(rows_promise(question, rows * refined.grid.step).extra, 4)} above" in claim


@pytest.mark.parametrize(
    ("query", "relation", "hint"),
    [
        (Sum("x", GRIDS[0], None), NeighbourRelation.ADD_REMOVE, "replace"),
        (Mean("x", GRIDS[0], Fraction(0)), NeighbourRelation.ADD_REMOVE, "replace"),
        (Mean("x", GRIDS[0], None), NeighbourRelation.REPLACE, "dropped nulls"),
        (Mean("x", GRIDS[0], Fraction(0), "x = 1"), NeighbourRelation.REPLACE, "without where"),
    ],
)
def test_no_extra_loss_is_promised_where_the_number_of_rows_is_secret(
    query: Sum | Mean, relation: NeighbourRelation, hint: str
) -> None:
    units = 9 if relation is NeighbourRelation.REPLACE else None
    with pytest.raises(InputError, match=f"number of rows is secret.*give step.*{hint}"):
        replace(query, extra_loss=HALF).resolve(HALF, PrivacySetting(relation, PrivacyUnit(), None, units))
