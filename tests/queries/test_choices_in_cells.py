"""Several quantiles, least and greatest values in cells: ε of all cells by brute force, plans, files and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from queries.test_grouped import CELLS, GRIDS, close, neighbouring_answers, settings
from queries.test_quantiles import loss_rates, tree_law
from utmost import ledger
from utmost.cli import run
from utmost.data.cells import Grouping
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.publish import release_file
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_digest
from utmost.publish.tidy_table import tidy_table
from utmost.queries import GroupedQuery, Max, Min
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.quantiles import Quantiles, rank_losses

HALF = Fraction(1, 2)
WIDTH = GRIDS[0].size + 1
Law = dict[Any, Fraction]
SHARES = [("1/2",), ("1/4",), ("1/4", "1/2", "3/4"), ("1/3", "1/2"), ("1/10", "1/2", "3/4")]


def several(*shares: str, grid: Grid = GRIDS[0]) -> Quantiles:
    return Quantiles("x", grid, tuple(map(Fraction, shares)), None)


def cells_of(answer: list[int]) -> Iterator[tuple[int, ...]]:
    yield from (tuple(answer[start : start + WIDTH]) for start in range(0, len(answer), WIDTH))


def worst_ratio(pairs: Iterator[tuple[list[int], list[int]]], law: Callable[[tuple[int, ...]], Law]) -> Fraction:
    """The largest ratio of the probabilities of all answers together: cells are independent, so theirs multiply."""

    @cache
    def cell_ratio(first: tuple[int, ...], second: tuple[int, ...]) -> Fraction:
        return max(law(second)[answer] / chance for answer, chance in law(first).items())

    worst = Fraction(1)
    for a, b in pairs:
        for first, second in ((a, b), (b, a)):
            worst = max(worst, math.prod(map(cell_ratio, cells_of(first), cells_of(second)), start=Fraction(1)))
    return worst


@cache
def choice_law(losses: tuple[int, ...]) -> Law:
    """Permute-and-flip at e^−rate = 1/2."""
    return dict(enumerate(permute_and_flip_law([HALF ** (loss - min(losses)) for loss in losses])))


@pytest.mark.parametrize("kind", [Min, Max])
@pytest.mark.parametrize("setting", settings(), ids=str)
def test_the_epsilon_of_extremes_in_cells_is_how_far_their_losses_move_apart(
    kind: type[Min] | type[Max], setting: PrivacySetting
) -> None:
    """At e^−rate = 1/2, e^ε is 2^sensitivity: never exceeded, and reached where a unit comes or goes."""
    query = GroupedQuery(kind("x", GRIDS[0], None), CELLS)
    selected = query.select_mechanism(Fraction(1), setting)
    assert query.actual_epsilon(selected.mechanism, setting) == 1
    pairs = list(neighbouring_answers(query, setting, WIDTH))
    moves = ([y - x for x, y in zip(a, b, strict=True)] for a, b in pairs)
    assert max(sum(max(cell) - min(cell) for cell in cells_of(move)) for move in moves) == selected.sensitivity
    worst, bound = worst_ratio(iter(pairs), choice_law), Fraction(2) ** selected.sensitivity
    assert bound / 2 < worst <= bound
    assert worst == bound or setting.replacing


@pytest.mark.parametrize("rows", [1, 2])
def test_no_smaller_epsilon_than_twice_that_of_a_unit_that_comes_holds_for_extremes_of_one_that_is_replaced(
    rows: int,
) -> None:
    """Its rows leave the last position but one of a cell, and enter the first of another: on a wide grid 4^k nearly."""
    last, none = 40, [0] * 41
    leaves, enters = (rank_losses(counts, Fraction(0)) for counts in (_rows(last - 1, rows), _rows(0, rows)))
    before, after = choice_law(tuple(leaves)), choice_law(tuple(none))
    assert after[last] == 2**rows * before[last]
    first, second = choice_law(tuple(none)), choice_law(tuple(enters))
    assert Fraction(99, 100) * 4**rows < after[last] / before[last] * second[0] / first[0] < 4**rows


def _rows(position: int, number: int) -> list[int]:
    return [number if place == position else 0 for place in range(41)]


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_the_epsilon_of_quantiles_in_cells_bounds_every_ratio_over_all_neighbours(
    setting: PrivacySetting, shares: tuple[str, ...]
) -> None:
    """The law of all answers in all cells, in exact fractions: with e^ε = 2^(L·d) every weight is a power of 2."""
    inner = several(*shares)
    query, grouped = GroupedQuery(inner, CELLS), Fraction(inner.levels)
    mechanism = query.select_mechanism(grouped, setting).mechanism
    assert query.actual_epsilon(mechanism, setting) == grouped
    rates = loss_rates(inner, mechanism.rates)
    common = math.lcm(*(rate.denominator for rate in rates))

    @cache
    def law(counts: tuple[int, ...]) -> Law:
        return tree_law(inner, list(counts), lambda index, loss: HALF ** int(rates[index] * common * loss))

    assert 1 < worst_ratio(neighbouring_answers(query, setting, WIDTH), law) <= Fraction(2) ** (inner.levels * common)


@pytest.mark.parametrize("share", [HALF, Fraction(1, 4)], ids=str)
def test_a_row_that_enters_a_cell_and_one_that_leaves_another_cost_twice_the_rate_times_m_each_on_wide_grids(
    share: Fraction,
) -> None:
    """One quantile s/t with e^(−rate/t) = 9/10. At the rate e/2 of one table both together cost more than e."""
    empty, movement = [0] * 28, max(share, 1 - share) * share.denominator
    others = int((1 - share) / share)  # the rows at one position that put the loss of the next at M
    enters = _law([0, others, *empty], share)[0], _law([1, others, *empty], share)[0]
    leaves = _law([1, *empty, others, 0], share)[-1], _law([0, *empty, others, 0], share)[-1]
    ratios, cost = [after / before for before, after in (enters, leaves)], Fraction(10, 9) ** int(2 * movement)
    assert all(Fraction(4, 5) * cost < ratio < cost for ratio in ratios)
    assert share == HALF or ratios[0] * ratios[1] > Fraction(10, 9) ** (2 * share.denominator)


def _law(counts: list[int], share: Fraction) -> list[Fraction]:
    losses = rank_losses(counts, share)
    return permute_and_flip_law([Fraction(9, 10) ** (loss - min(losses)) for loss in losses])
