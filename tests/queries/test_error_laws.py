from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, epsilon
from utmost.mechanisms.geometric import tail_probability, untruncated_law
from utmost.queries import Mean, Quantile, Sum
from utmost.queries.answer_mechanisms import lattice
from utmost.queries.answer_mechanisms.choice import PermuteAndFlip, QuantileTree
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, half_width, noise_spread
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.answer_mechanisms.ratio import RatioMechanism
from utmost.queries.privacy_setting import PrivacySetting


def test_the_spread_is_the_expected_size_of_the_noise() -> None:
    """Σ |δ|·Pr[δ] over ±60 at α = 1/2, where the rest is below 1e-16."""
    probabilities = untruncated_law(0, range(-60, 61), alpha("1/2"))
    assert noise_spread(alpha("1/2")) == pytest.approx(
        float(sum(abs(d) * p for d, p in zip(range(-60, 61), probabilities, strict=True)))
    )


@given(
    st.fractions("1/9", "8/9", max_denominator=30), st.sampled_from([Fraction(1, 20), Fraction(1, 40), Fraction(1, 3)])
)
def test_the_half_width_is_the_least_that_misses_rarely_enough(rate: Fraction, miss: Fraction) -> None:
    level = alpha(rate)
    reach = half_width(level, miss)
    inside = lambda t: sum(untruncated_law(0, range(-t, t + 1), level))  # noqa: E731
    assert 1 - inside(reach) <= miss
    assert reach == 0 or 1 - inside(reach - 1) > miss


@settings(max_examples=20)
@given(st.integers(1, 15))
def test_the_half_width_is_decided_for_any_epsilon(decimals: int) -> None:
    """2α^(t+1)/(1+α) ≤ 1/20 < 2α^t/(1+α), seen with balls; for a small ε t·ε is near ln 20."""
    level = epsilon(Fraction(1, 10**decimals))
    reach = half_width(level)
    assert (
        2 * level.power(reach + 1) / (1 + level.alpha) <= Fraction(1, 20) < 2 * level.power(reach) / (1 + level.alpha)
    )
    assert abs(reach / 10**decimals - 2.9957) < 0.1


@pytest.mark.parametrize("rate", ["1e-30", "1e-290", "1000"])
def test_the_half_width_is_found_at_once_for_the_smallest_and_the_largest_epsilon(rate: str) -> None:
    level = epsilon(rate)
    reach = half_width(level)
    assert 2 * level.power(reach + 1) / (1 + level.alpha) <= Fraction(1, 20)
    assert reach == 0 or 2 * level.power(reach) / (1 + level.alpha) > Fraction(1, 20)


def test_the_half_width_takes_at_most_one_exact_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may have a thousand ε of 40 digits: each is found by balls, and only a tie is decided exactly."""
    decisions = []

    def counted(distance: int, level: Level) -> Number:
        decisions.append(distance)
        return tail_probability(distance, level)

    monkeypatch.setattr(lattice, "tail_probability", counted)
    for k in range(50):
        half_width(epsilon(Fraction(7 * k + 3, 10**39 - 1)))
    assert decisions == []
    assert half_width(alpha("1/2"), Fraction(1, 24)) == 4  # 2·(1/2)^5/(3/2) = 1/24: a tie
    assert decisions == [5]


@pytest.mark.parametrize("size", [Fraction(10**320), Fraction(1, 10**400)])
@pytest.mark.parametrize("kind", [Sum, Mean, partial(Quantile, probability=Fraction(1, 2))])
def test_a_step_whose_error_no_double_holds_is_refused(kind: Any, size: Fraction) -> None:
    query = kind("x", Grid(Fraction(0), size, size), nulls=None)
    setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 400)
    mechanism = query.select_mechanism(Fraction(1), setting).mechanism
    with pytest.raises(InputError, match="step must be from"):
        query.error_law(mechanism)


@pytest.mark.parametrize("rate", [pytest.param("1/10", marks=pytest.mark.slow), "1", "10"])
def test_the_error_of_a_ratio_is_that_of_a_mean_at_an_end(rate: str) -> None:
    """Against the convolution of both laws, term by term."""
    grid = Grid(Fraction(0), Fraction(4), Fraction(1))
    query = Mean("x", grid, None)
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)
    mechanism = query.select_mechanism(Fraction(rate), setting).mechanism
    assert isinstance(mechanism, RatioMechanism)
    reach = round(80 / float(Fraction(rate))) + 40
    (xs, p), (ys, q) = (_noise_law(mechanism.total, 8 * reach), _noise_law(mechanism.rows, reach))
    distances = np.abs(xs[:, None] + grid.size * ys[None, :])
    probabilities = p[:, None] * q[None, :]
    error = query.error_law(mechanism)
    assert error.expected == pytest.approx(float((distances * probabilities).sum()) / 2, rel=1e-6)
    half = 2 * float(error.half_width)
    assert float(probabilities[distances > half].sum()) <= 0.05 < float(probabilities[distances > half - 1].sum())


def _noise_law(mechanism: GeometricLattice, reach: int) -> tuple[np.ndarray, np.ndarray]:
    rate, points = float(mechanism.epsilon), np.arange(-reach, reach + 1)
    return points, np.tanh(rate / 2) * np.exp(-rate * np.abs(points))


@pytest.mark.parametrize("rows", [1, 3, 12])
@pytest.mark.parametrize("units", [None, 12])
@pytest.mark.parametrize("end", [-1, Fraction(1, 2), 1])
def test_a_released_mean_is_within_its_half_width_in_95_percent_of_cases(
    rows: int, units: int | None, end: Fraction
) -> None:
    """Pr[|m̂ − m| > half width of the release] by adding up the law of both noises; what is left of the law is a hit."""
    relation = NeighbourRelation.ADD_REMOVE if units is None else NeighbourRelation.REPLACE
    setting = PrivacySetting(relation, PrivacyUnit(), None, units)
    grid = Grid(Fraction(0), Fraction(4), Fraction(1))
    query = Mean("x", grid, None, "y > 0")
    mechanism = query.select_mechanism(Fraction(4), setting).mechanism
    error, total = query.error_law(mechanism), int(end * 4 * rows)
    mean = mechanism.total.value(0) + mechanism.total.unit * Fraction(total, rows)
    missed, weight = 0.0, math.tanh(0.25) * math.tanh(1.0)  # of Δ_T at rate 1/2 and Δ_R at rate 2
    for row_noise, total_noise in itertools.product(range(-8, 9), range(-40, 41)):
        noisy_rows = max(rows + row_noise, 0) if units is None else min(max(rows + row_noise, 0), units)
        noisy_mean = mechanism.mean(total + total_noise, noisy_rows, grid)
        drawn = Drawn(noisy_mean, {"parts": {"total": total + total_noise, "rows": noisy_rows}})
        released = query.released_error(mechanism, drawn, error)
        assert not released.over_rows
        assert released.half_width <= grid.high - grid.low
        if abs(noisy_mean - mean) > released.half_width:
            missed += weight * math.exp(-abs(total_noise) / 2 - 2 * abs(row_noise))
    assert missed <= 0.05


@pytest.mark.parametrize("rate", ["1/3", "1/7", "0.0123", "1e-9"])
@pytest.mark.parametrize("candidates", [2, 7, 211, 10**6])
def test_bounds_of_quantiles_are_never_below_themselves_as_they_are_written(rate: str, candidates: int) -> None:
    chosen = PermuteAndFlip(Fraction(rate), candidates).error_law(1)
    tree = QuantileTree((Fraction(rate),) * 2, candidates).error_law((Fraction(rate),) * 2)
    with mpmath.workdps(60):
        one = mpmath.mpf(Fraction(rate).denominator) / Fraction(rate).numerator
        factors = mpmath.mpf(max(candidates - 1, 2)) / 2, mpmath.mpf(max(candidates - 1, 2))
        for error, factor, scale in ((chosen, factors[0], one), (tree, factors[1], 2 * one)):
            for shown, bound in ((error.expected, 1 + mpmath.log(factor)), (error.half_width, mpmath.log(20 * factor))):
                written = mpmath.mpf(repr(shown))
                assert bound * scale <= written <= bound * scale * (1 + mpmath.mpf(10) ** -11)
