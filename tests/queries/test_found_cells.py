"""Found cells: what a unit can move, the (ε, δ) of all cells together, and which cells are told."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.data.found_cells import FoundKeys
from utmost.data.row_sums import collect_cells
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.noise.selection import selection_law
from utmost.queries import found_cells
from utmost.queries.answer_mechanisms.selection import SelectionMechanism, prepare_selection
from utmost.queries.found_cells import FoundAnswers
from utmost.queries.found_count import FoundCount
from utmost.queries.privacy_setting import PrivacySetting

UNITS = [PrivacyUnit(), PrivacyUnit("p", rows=1), PrivacyUnit("p", rows=2), PrivacyUnit("p", groups=2)]
SETTINGS = [
    PrivacySetting(relation, unit, None, 9 if relation is NeighbourRelation.REPLACE else None)
    for relation in NeighbourRelation
    for unit in UNITS
]
DELTA = Fraction(1, 10**6)
CELLS = 4


def unit_counts(setting: PrivacySetting) -> list[tuple[int, ...]]:
    """Every number of rows that a unit can have in each of a few cells."""
    ways = [way for size in range(setting.unit.bound + 1) for way in combinations_with_replacement(range(CELLS), size)]
    if setting.unit.groups is not None:
        ways = [way for way in ways if len(set(way)) == len(way)]
    return [tuple(way.count(cell) for cell in range(CELLS)) for way in ways]


def neighbouring_moves(setting: PrivacySetting) -> set[tuple[int, ...]]:
    """By how much the cells move between neighbours."""
    counts = unit_counts(setting)
    if not setting.replacing:
        return {tuple(sign * n for n in way) for way in counts for sign in (1, -1)}
    return {tuple(b - a for a, b in zip(before, after, strict=True)) for before in counts for after in counts}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_cells_move_as_the_theorem_says(setting: PrivacySetting) -> None:
    moves, all_moves = found_cells.unit_moves(setting), neighbouring_moves(setting)
    assert max(sum(map(abs, move)) for move in all_moves) == moves.total
    for side in (1, -1):
        sides = [sum(max(side * n, 0) for n in move) for move in all_moves]
        assert max(sides) <= moves.units * moves.cells
    assert max(abs(n) for move in all_moves for n in move) == moves.units


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_all_cells_together_are_private_at_the_delta_that_the_theorem_says(setting: PrivacySetting) -> None:
    """Every move of two cells at e^ε′ = 2: the hockey stick of all pairs of noisy numbers, exactly."""
    unit_delta, factor = Fraction(1, 20), Fraction(2)
    law, moves = selection_law(alpha("1/2"), unit_delta), found_cells.unit_moves(setting)
    mass = {n: law.probability(n) - law.probability(n - 1) for n in range(1, law.last + 1)}
    bound = unit_delta * moves.sides * moves.cells * (factor**moves.units - 1) / (factor - 1)
    for first, second in {move[:2] for move in neighbouring_moves(setting) if not any(move[2:])}:
        excess = Fraction(0)
        for a, b in product(mass, mass):
            moved = mass.get(a + first, Fraction(0)) * mass.get(b + second, Fraction(0))
            excess += max(mass[a] * mass[b] - factor**moves.total * moved, Fraction(0))
        assert excess <= bound


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("epsilon", ["1/10", "1", "7/3"])
def test_what_is_told_is_recomputed_and_never_more_than_was_paid_for(setting: PrivacySetting, epsilon: str) -> None:
    query = FoundCount(("dest",), None, DELTA)
    selected = query.select_mechanism(Fraction(epsilon), setting)
    assert query.actual_epsilon(selected.mechanism, setting) == Fraction(epsilon)
    told = query.actual_delta(selected.mechanism, setting)
    assert DELTA * (1 - Fraction(1, 10**12)) <= told <= DELTA
    again = query.with_delta(told).select_mechanism(Fraction(epsilon), setting)
    assert again.mechanism == selected.mechanism
    assert query.actual_delta(again.mechanism, setting) == told


def test_a_selection_of_rows_under_add_remove_is_the_optimal_one_at_the_whole_delta() -> None:
    selected = FoundCount(("dest",), None, DELTA).select_mechanism(Fraction(1, 10), SETTINGS[-4])
    assert selected.mechanism == SelectionMechanism(Fraction(1, 10), DELTA, 109)
    claims = {
        FoundCount(("dest",), None, DELTA).select_mechanism(Fraction(1), setting).optimal.partition(":")[0]
        for setting in SETTINGS
        if found_cells.unit_moves(setting).total > 1
    }
    assert (selected.optimal.partition(":")[0], claims) == ("optimal selection", {"none claimed"})


def test_a_row_is_in_a_cell_by_a_rule_that_looks_at_it_alone() -> None:
    plain = ["ORD", "", "œ\u20ac\U0001f600", "x" * 200, 7, True, date(2020, 1, 31), "a b"]
    others = [None, "x" * 201, "a\nb", "\0", "\x7f", "\ud800", "\x1b[31m", 1.5]
    (sums,) = collect_cells([(key, n + 1) for n, key in enumerate(plain + others)], FoundKeys(("key",)), [(0,)])
    assert sums.cells == tuple((key,) for key in plain)
    assert [moments.rows for moments in sums.moments] == list(range(1, len(plain) + 1))


def test_cells_are_told_sorted_by_key_with_numbers_from_the_threshold_on() -> None:
    prepared = prepare_selection(SelectionMechanism.of(Fraction(1), Fraction(1, 1000)))
    cells = [(name,) for name in "zyxwabc"]
    drawn = found_cells.draw_found_counts(prepared, FoundAnswers([10**6, 10**30, 10**6, 0, 0, 10**6, 10**6], cells))
    assert drawn.details["cells"] == [["b"], ["c"], ["x"], ["y"], ["z"]]
    assert isinstance(drawn.value, tuple)
    assert min(drawn.value) >= prepared.threshold
    assert abs(drawn.value[3] - 10**30) < 1000


def test_of_too_many_cells_the_largest_numbers_are_kept() -> None:
    prepared = prepare_selection(SelectionMechanism.of(Fraction(1), Fraction(1, 1000)))
    told = found_cells.told_cells(prepared, FoundAnswers([10**k for k in range(3, 10)], [(k,) for k in range(7)]), 3)
    assert [place for place, _ in told] == [4, 5, 6]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_no_cell_without_rows_is_told(counts: list[int]) -> None:
    prepared = prepare_selection(SelectionMechanism.of(Fraction(1, 2), Fraction(1, 100)))
    told = found_cells.told_cells(prepared, FoundAnswers(counts, [(k,) for k in range(len(counts))]))
    assert all(counts[place] > 0 for place, _ in told)


@pytest.mark.parametrize(
    ("epsilon", "delta", "message"),
    [("1", "0", "by needs delta"), ("900", "1e-6", "at most 600"), ("1", "1e-400", "delta must be at least 1e-50")],
)
def test_a_selection_that_cannot_be_is_refused(epsilon: str, delta: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        found_cells.select_cells(Fraction(epsilon), Fraction(delta), SETTINGS[-4])


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_told_count_lies_in_its_interval_given_that_it_is_told(setting: PrivacySetting) -> None:
    """For every number of kept rows; the law in doubles."""
    query = FoundCount(("g",), None, Fraction(1, 100))
    mechanism = query.select_mechanism(Fraction(3), setting).mechanism
    assert isinstance(mechanism, SelectionMechanism)
    errors, masses = mechanism.law.error_masses()
    for count in (*range(1, 12), mechanism.law.last, 2 * mechanism.law.last):
        told = [(count + int(error), mass) for error, mass in zip(errors, masses, strict=True)]
        told = [(number, mass) for number, mass in told if number >= mechanism.threshold]
        ranges = {n: query.value_range(mechanism, Fraction(n), {}, Fraction(1, 20)) for n, _ in told}
        held = sum(mass for n, mass in told if ranges[n][0] <= count <= ranges[n][1])
        assert held >= (0.95 - 1e-9) * sum(mass for _, mass in told)
        assert all(low <= n <= high for n, (low, high) in ranges.items())
