"""Canonical noise on whole answers: its (ε, δ) over all neighbouring tables, by enumeration in fractions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from queries import test_grouped, test_sensitivity
from queries.test_grouped import CELLS
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.exact import alpha
from utmost.exact import epsilon as level_of
from utmost.noise.tight_canonical import TightLaw
from utmost.queries import Count, Distinct, Mean, Quantile, Query, Sum, Variance
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.grouped import GroupedQuery
from utmost.queries.over import Over
from utmost.queries.privacy_setting import PrivacySetting

EPSILON, DELTA = Fraction(7, 5), Fraction(1, 1000)
RATE = Fraction(1, 2)  # α of a step, so that all is rational
GRID = Grid(Fraction(-1), Fraction(1), Fraction(1))
ROW = PrivacyUnit()


def least_delta(law: TightLaw, factor: Fraction, move: tuple[int, ...]) -> Fraction:
    """Σ over all answers of (p − factor·q)₊ for numbers that move by so much; what does not move tells nothing."""
    moved = [step for step in move if step]
    answers = product(*(range(-law.reach - abs(step), law.reach + abs(step) + 1) for step in moved))
    pairs = (
        (prod(law.mass(y) for y in answer), prod(law.mass(y - step) for y, step in zip(answer, moved, strict=True)))
        for answer in answers
    )
    return sum((max(p - factor * q, Fraction(0)) for p, q in pairs), Fraction(0))


def check_noise(query: Query, setting: PrivacySetting, moves: Iterable[list[int]]) -> None:
    """The sensitivity and a reach leave no move of a unit more than T(Δ), and the noise is the law at (ε, δ)."""
    selection = query.select_canonical(EPSILON, DELTA, setting)
    assert selection is not None
    mechanism, steps = selection.mechanism, selection.sensitivity
    assert isinstance(mechanism, CanonicalLattice)
    geometric = query.select_mechanism(EPSILON, setting)
    assert mechanism.lattice_content() == geometric.mechanism.lattice_content()
    assert query.actual_epsilon(mechanism, setting) == EPSILON == mechanism.epsilon * steps
    law = TightLaw(level_of(mechanism.epsilon), mechanism.reach)
    assert law.delta(steps) <= mechanism.told_delta(steps) <= DELTA
    model, factor = TightLaw(alpha(RATE), steps), RATE**-steps
    distinct_moves = {tuple(sorted(filter(None, move))) for move in moves}
    assert max(sum(move) for move in distinct_moves) == steps
    for move in distinct_moves:
        assert sum(move) <= steps
        if len(move) <= 2:
            assert least_delta(model, factor, move) <= model.delta(steps)
    if selection.ledger_law == "canonical":
        assert all(len(move) <= 1 for move in distinct_moves)


@pytest.mark.parametrize("setting", test_grouped.settings(), ids=str)
def test_counts_and_sums_in_cells(setting: PrivacySetting) -> None:
    for query, positions in (
        (GroupedQuery(Count(), CELLS), 1),
        (GroupedQuery(Distinct("x"), CELLS), 2),
        (GroupedQuery(Sum("x", GRID, None), CELLS), GRID.size + 1),
    ):
        pairs = test_grouped.neighbouring_answers(query, setting, positions)
        check_noise(query, setting, test_grouped.movements(pairs))


@pytest.mark.parametrize("setting", test_sensitivity.settings(), ids=str)
def test_one_number(setting: PrivacySetting) -> None:
    count = Count("x = 1")
    pairs = test_sensitivity.neighbouring_answers(count, setting, 1 if setting.unit.groups else 3, [(0,), ()])
    check_noise(count, setting, test_grouped.movements(pairs))
    if setting.unit.groups is None:
        total = Sum("x", GRID, None)
        pairs = test_sensitivity.neighbouring_answers(total, setting, GRID.size + 1, [(0,), (GRID.size,)])
        check_noise(total, setting, test_grouped.movements(pairs))


def test_a_mean_has_canonical_noise_where_its_number_of_rows_is_public() -> None:
    everyone = PrivacySetting(NeighbourRelation.REPLACE, ROW, None, 3)
    mean = Mean("x", GRID, GRID.low)
    pairs = test_sensitivity.neighbouring_answers(mean, everyone, GRID.size + 1, [(0,), (2,)])
    check_noise(mean, everyone, test_grouped.movements(pairs))
    secret = replace(everyone, neighbours=NeighbourRelation.ADD_REMOVE, units=None)
    assert mean.select_canonical(EPSILON, DELTA, secret) is None
    for other in (Quantile("x", GRID, Fraction(1, 2), None), Variance("x", GRID, None)):
        assert other.select_canonical(EPSILON, DELTA, everyone) is None


def claim(query: Query, setting: PrivacySetting) -> str:
    selection = query.select_canonical(EPSILON, DELTA, setting)
    assert selection is not None
    return selection.optimal.partition(":")[0]


def test_the_claim_is_universal_for_a_single_number_of_rows_that_one_unit_moves_by_one_alone() -> None:
    secret = PrivacySetting(NeighbourRelation.ADD_REMOVE, ROW, None, None)
    public = PrivacySetting(NeighbourRelation.REPLACE, ROW, None, 3)
    persons = replace(secret, unit=PrivacyUnit("p", rows=2))
    groups = replace(secret, unit=PrivacyUnit("p", groups=2))
    cells = GroupedQuery(Count(), CELLS)
    assert [claim(Count("x = 1"), setting) for setting in (secret, public, groups)] == ["universal"] * 3
    assert claim(Over(), persons) == "universal"
    assert claim(cells, secret) == "per cell"
    assert {claim(Count("x = 1"), persons), claim(cells, public), claim(cells, persons)} == {"none claimed"}
    assert {claim(Sum("x", GRID, None), secret), claim(Distinct("x"), secret)} == {"none claimed"}


def test_noise_does_not_stop_at_ends_and_a_number_beyond_its_reach_is_refused() -> None:
    from utmost.errors import InputError
    from utmost.queries.answer_mechanisms.lattice import PreparedNoise

    mechanism = CanonicalLattice(Fraction(1), 3, 0, 5)
    noise = PreparedNoise(mechanism, lambda count, _: np.array([-3, 3][:count]))
    assert noise.add_noise([0, 5]) == [-3, 8]
    for number in (-3, 0, 8):
        mechanism.check_number(number)
    for number in (-4, 9):
        with pytest.raises(InputError, match="within its mechanism's reach"):
            mechanism.check_number(number)
