"""Variances: the cost of their three numbers by brute force, their values, their errors and their files."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.data.grid import Grid
from utmost.data.row_sums import CellSums, Moments, RowSums
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.publish.calibration import calibrate_error
from utmost.queries import Variance
from utmost.queries.answer_mechanisms.ratio import geometric_row_noise
from utmost.queries.answer_mechanisms.variance import MovedNoises, ThreeNoises, VarianceMechanism
from utmost.queries.privacy_setting import PrivacySetting

ADD_REMOVE, REPLACE = NeighbourRelation.ADD_REMOVE, NeighbourRelation.REPLACE
HALF = Fraction(1, 2)


def grid_of(steps: int) -> Grid:
    return Grid(Fraction(0), Fraction(steps), Fraction(1))


@dataclass
class Positions:
    """A table of the kept rows' positions."""

    rows: tuple[int, ...]

    def row_sums(self, requests: Sequence[RowSums]) -> list[CellSums]:
        moments = Moments(len(self.rows), sum(self.rows), sum(row * row for row in self.rows))
        return [CellSums(((),), (moments,)) for _ in requests]


def costs(query: Variance, setting: PrivacySetting, mechanism: VarianceMechanism) -> list[Fraction]:
    """The cost of every change of one unit, over the rates of the three numbers."""
    rates = (mechanism.total.epsilon, mechanism.squares.epsilon, mechanism.rows.epsilon)
    positions, bound = range(query.grid.size + 1), setting.unit.bound
    units = [unit for size in range(bound + 1) for unit in combinations_with_replacement(positions, size)]
    answers = [query.exact_answer(Positions((0, *unit)), setting) for unit in units]  # type: ignore[arg-type]
    pairs = product(answers, answers) if setting.replacing else ((answers[0], answer) for answer in answers)
    return [sum((abs(x - y) * rate for x, y, rate in zip(a, b, rates, strict=True)), Fraction(0)) for a, b in pairs]


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("p", rows=2)], ids=str)
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_the_three_numbers_cost_exactly_epsilon_together(
    relation: NeighbourRelation, unit: PrivacyUnit, steps: int
) -> None:
    setting = PrivacySetting(relation, unit, None, 9 if relation is REPLACE else None)
    query = Variance("x", grid_of(steps), None)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    assert max(costs(query, setting, mechanism)) == HALF == query.actual_epsilon(mechanism, setting)


def test_equal_shares_would_cost_more_than_epsilon_under_replace() -> None:
    query = Variance("x", grid_of(8), None)
    add_remove = query.select_mechanism(HALF, PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)).mechanism
    replacing = PrivacySetting(REPLACE, PrivacyUnit(), None, 9)
    assert max(costs(query, replacing, add_remove)) == HALF * Fraction(25, 24)
    assert query.actual_epsilon(add_remove, replacing) == HALF * Fraction(25, 24)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_without_noise_the_value_is_the_population_variance(positions: list[int]) -> None:
    grid = Grid(Fraction(-3, 2), Fraction(3, 2), Fraction(1, 2))
    query, setting = Variance("x", grid, None), PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    numbers = query.exact_answer(Positions(tuple(positions)), setting)  # type: ignore[arg-type]
    assert mechanism.variance(*numbers, grid) == statistics.pvariance([grid.value(place) for place in positions])


@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(0, 5))
def test_a_value_lies_between_zero_and_a_quarter_of_the_squared_range(total: int, squares: int, rows: int) -> None:
    query, setting = Variance("x", grid_of(3), None), PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    assert 0 <= mechanism.variance(total, squares, rows, grid_of(3)) <= Fraction(9, 4)


def test_the_law_of_three_noises_is_that_of_draws() -> None:
    noises, generator = ThreeNoises(1.5, 6.0, 4.5), random.Random(5)

    def draw(scale: float) -> float:
        return scale * (generator.expovariate(1) - generator.expovariate(1))

    sums = [abs(draw(1.5) + draw(6.0) + draw(4.5)) for _ in range(40_000)]
    assert abs(statistics.mean(sums) / noises.mean() - 1) < 0.03
    width = noises.half_width(0.05)
    assert abs(sum(value > width for value in sums) / len(sums) - 0.05) < 0.005


def test_the_error_of_draws_is_about_the_worst_that_is_told() -> None:
    """Rows at one end of the grid, where the error is largest; many rows, where it is of first order."""
    grid, rows = grid_of(2), 4000
    query, setting = Variance("x", grid, None), PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    truth, draw = [2 * rows, 4 * rows, rows], query.prepare_draw(mechanism)
    unit, errors = mechanism.squares.unit, []
    for _ in range(300):
        parts = draw(truth).details["parts"]
        total, squares, count = parts["total"], parts["squares"], parts["rows"]
        value = unit * ((Fraction(squares, count) + 4) / 2 - Fraction(total, count) ** 2)  # before it is clamped
        errors.append(abs(float(value)) * rows)
    law = query.error_law(mechanism)
    assert 0.75 < statistics.mean(errors) / law.expected < 1.25
    assert sum(error > float(law.half_width) for error in errors) < 40


def test_an_accuracy_leads_to_an_epsilon() -> None:
    query, setting = Variance("x", grid_of(10), None), PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)
    calibration = calibrate_error(query, setting, "1/2", rows=10_000)
    mechanism = query.select_mechanism(calibration.epsilon, setting).mechanism
    assert float(query.error_law(mechanism).half_width) / 10_000 == pytest.approx(0.5, rel=0.01)
    with pytest.raises(InputError, match="error must be below 25"):
        calibrate_error(query, setting, 25, rows=10)
    with pytest.raises(InputError, match="rows must be given for a variance"):
        calibrate_error(query, setting, 1)


def test_a_grid_whose_squares_no_engine_can_add_up_is_refused() -> None:
    with pytest.raises(InputError, match="step must leave at most 1000000 steps for a variance"):
        Variance("x", grid_of(10**6 + 1), None)


@given(st.integers(-40, 40), st.integers(0, 60), st.integers(1, 12))
def test_the_range_of_a_variance_holds_that_of_all_numbers_within_their_errors(
    total: int, squares: int, rows: int
) -> None:
    query = Variance("x", grid_of(4), None)
    setting = PrivacySetting(ADD_REMOVE, PrivacyUnit(), None, None)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    low, high = mechanism.value_range((total, squares, rows), (3, 5, 2), query.grid)
    for t, q, r in product((-3, -1, 0, 3), (-5, 0, 5), (-2, 0, 1, 2)):
        assert low <= mechanism.variance(total + t, squares + q, max(rows + r, 1), query.grid) <= high


def test_two_noises_moved_by_a_third_of_a_small_rate_are_three_noises() -> None:
    three, moved = ThreeNoises(1.5, 6.0, 4.5), MovedNoises(1.5, 6.0, 0.045, geometric_row_noise(epsilon("0.01")))
    assert moved.mean() == pytest.approx(three.mean(), rel=1e-4)
    assert moved.half_width(0.05) == pytest.approx(three.half_width(0.05), rel=1e-4)
    for distance in (0.0, 1.0, 7.5, 30.0):
        assert moved.tail(distance) == pytest.approx(three.tail(distance), rel=1e-3)
