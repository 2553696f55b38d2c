"""Squared moves by brute force: what Gaussian noise pays for is exactly how far a unit can move an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from queries import test_grouped, test_sensitivity
from queries.test_grouped import CELLS, CellTable
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.queries import Count, Distinct, Mean, Quantile, Query, Sum, Variance
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.grouped import GroupedQuery
from utmost.queries.moves import Moves
from utmost.queries.privacy_setting import PrivacySetting

RHO = Fraction(1, 7)
SIGNED_GRIDS = [
    Grid(Fraction(a), Fraction(b), Fraction(1)) for a, b in ((0, 2), (-1, 1), (-3, -1), (1, 2), (-3, 1), (-1, 4))
]

Move = list[int]


def largest(moves: Iterator[Move]) -> int:
    return max(sum(entry**2 for entry in move) for move in moves)


def check_noise(query: Query, setting: PrivacySetting, moves: list[Move]) -> None:
    """σ² is what the largest move needs at ρ, no move goes beyond what a ledger is told, and ρ is found again."""
    selection = query.select_gaussian(RHO, setting)
    assert selection is not None
    assert isinstance(selection.mechanism, GaussianLattice)
    assert selection.moves is not None
    assert selection.mechanism.variance == largest(iter(moves)) / (2 * RHO)
    assert query.actual_rho(selection.mechanism, setting) == RHO
    geometric = query.select_mechanism(Fraction(1), setting).mechanism
    assert selection.mechanism.lattice_content() == geometric.lattice_content()
    if selection.ledger_law == "gaussian":
        assert selection.moves.numbers is not None
        assert selection.moves.squared == selection.moves.numbers * selection.moves.steps**2
        for move in moves:
            assert max(move) <= selection.moves.steps
            assert sum(entry > 0 for entry in move) <= selection.moves.numbers
    else:
        assert selection.ledger_law == "concentrated"


@pytest.mark.parametrize("setting", test_grouped.settings(), ids=str)
@pytest.mark.parametrize("grid", SIGNED_GRIDS, ids=str)
def test_sums_in_cells(setting: PrivacySetting, grid: Grid) -> None:
    query = GroupedQuery(Sum("x", grid, None), CELLS)
    pairs = test_grouped.neighbouring_answers(query, setting, grid.size + 1)
    check_noise(query, setting, list(test_grouped.movements(pairs)))


@pytest.mark.parametrize("setting", test_grouped.settings(), ids=str)
def test_counts_and_different_values_in_cells(setting: PrivacySetting) -> None:
    for query, positions in ((GroupedQuery(Count(), CELLS), 1), (GroupedQuery(Distinct("x"), CELLS), 3)):
        pairs = test_grouped.neighbouring_answers(query, setting, positions)
        check_noise(query, setting, list(test_grouped.movements(pairs)))


@pytest.mark.parametrize("relation", list(NeighbourRelation), ids=str)
def test_persons_with_one_row_in_each_of_several_cells(relation: NeighbourRelation) -> None:
    """A unit of two groups is counted once in each of at most two cells; there are four to come from and to go to."""
    setting = PrivacySetting(relation, PrivacyUnit("p", groups=2), None, 3 if relation == "replace" else None)
    query = GroupedQuery(Count(), replace(CELLS, keys={"g": (0, 1, 2, 3)}, other=False))
    units = [tuple((cell, 0) for cell in cells) for size in range(3) for cells in combinations(range(4), size)]
    answers = [query.exact_answer(CellTable([((0, 0),), unit]), setting) for unit in units]  # type: ignore[arg-type]
    firsts = answers if setting.replacing else answers[:1]
    check_noise(query, setting, list(test_grouped.movements((a, b) for a in firsts for b in answers)))


@pytest.mark.parametrize("setting", test_sensitivity.settings(), ids=str)
def test_one_number(setting: PrivacySetting) -> None:
    count = Count("x = 1")
    positions = 1 if setting.unit.groups else 3
    pairs = test_sensitivity.neighbouring_answers(count, setting, positions, [(0,), ()])
    check_noise(count, setting, list(test_grouped.movements(pairs)))
    for grid in SIGNED_GRIDS if setting.unit.groups is None else ():
        for query in (Sum("x", grid, None), Sum("x", grid, grid.low)):
            pairs = test_sensitivity.neighbouring_answers(query, setting, grid.size + 1, [(0,), (grid.size,)])
            check_noise(query, setting, list(test_grouped.movements(pairs)))


def test_a_mean_has_gaussian_noise_where_its_number_of_rows_is_public() -> None:
    grid = SIGNED_GRIDS[0]
    everyone = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 3)
    mean = Mean("x", grid, grid.low)
    pairs = test_sensitivity.neighbouring_answers(mean, everyone, grid.size + 1, [(0,), (2,)])
    check_noise(mean, everyone, list(test_grouped.movements(pairs)))
    assert mean.select_gaussian(RHO, replace(everyone, neighbours=NeighbourRelation.ADD_REMOVE, units=None)) is None
    for other in (Quantile("x", grid, Fraction(1, 2), None), Variance("x", grid, None)):
        assert other.select_gaussian(RHO, everyone) is None


@pytest.mark.parametrize("rows", range(1, 5))
@pytest.mark.parametrize("one_cell_each", [False, True])
@pytest.mark.parametrize("replacing", [False, True])
def test_the_largest_squared_move_is_at_a_corner(rows: int, one_cell_each: bool, replacing: bool) -> None:
    moves = Moves.of_cells(rows, 3, replacing, one_cell_each)
    cells = 2 * rows
    taken = [[0] * cells]
    for _ in range(rows):
        taken += [[n + 3 * (k == c) for k, n in enumerate(move)] for move in taken for c in range(cells)]
        taken = [list(move) for move in {tuple(sorted(move, reverse=True)) for move in taken}]
    unit = [m for m in taken if not one_cell_each or max(m) <= 3]
    spread = ([a - b for a, b in zip(first, reversed(second), strict=True)] for first in unit for second in unit)
    assert largest(spread if replacing else iter(unit)) == moves.squared
