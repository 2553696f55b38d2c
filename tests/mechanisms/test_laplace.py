"""The truncated Laplace mechanism on a grid: private for real inputs, exactly, and its costs in closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, fixed_stream
from utmost.channel import least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.mechanisms.laplace import Laplace, laplace
from utmost.spaces import line

LEVELS = st.sampled_from([alpha("1/2"), alpha("9/10"), epsilon("0.1"), epsilon(2)])


@st.composite
def laplace_mechanisms(draw: st.DrawFn) -> Laplace:
    step = Fraction(draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    low = Fraction(draw(st.integers(-9, 9)), draw(st.integers(1, 4)))
    sensitivity = Fraction(draw(st.integers(1, 30)), draw(st.integers(1, 10)))
    return laplace(low, low + draw(st.integers(1, 8)) * step, step, sensitivity, draw(LEVELS))


@st.composite
def neighbouring_values(draw: st.DrawFn) -> tuple[Laplace, Fraction, Fraction]:
    """Two real values at most a sensitivity apart, ties of rounding among them."""
    mechanism = draw(laplace_mechanisms())
    length = mechanism.high - mechanism.low
    x = mechanism.low + length * Fraction(draw(st.integers(0, 48)), 48)
    y = x + mechanism.sensitivity * Fraction(draw(st.integers(-24, 24)), 24)
    return mechanism, x, min(max(y, mechanism.low), mechanism.high)


@given(neighbouring_values())
@settings(max_examples=150, deadline=None)
def test_real_inputs_one_sensitivity_apart_are_within_e_to_the_epsilon(
    case: tuple[Laplace, Fraction, Fraction],
) -> None:
    mechanism, x, other = case
    for high, low in zip(mechanism.law(x), mechanism.law(other), strict=True):
        assert high * mechanism.level.alpha <= low


@given(laplace_mechanisms())
@settings(max_examples=60, deadline=None)
def test_the_recomputed_epsilon_is_the_level(mechanism: Laplace) -> None:
    """Attained whatever the sensitivity: no ε is left over beside what the rounding takes."""
    assert mechanism.privacy_loss().ratio * mechanism.level.alpha == 1
    positions = mechanism.grid.channel()
    assert np.all(positions.rows == mechanism.channel().rows)
    assert least_epsilon(positions, line(mechanism.size + 1)).ratio ** mechanism.steps == mechanism.privacy_loss().ratio


def test_rounding_can_stretch_a_sensitivity_to_the_next_step_and_the_level_pays_for_it() -> None:
    """Δ = 1 on a grid of 2/3: 1/3 and 1 are 1 apart at most, and land 2 steps apart as 1 = Δ < 4/3 lets them."""
    mechanism = laplace(0, 4, "2/3", 1, epsilon(1))
    assert mechanism.steps == ceil(Fraction(3, 2)) == 2
    assert (mechanism.position("0.3"), mechanism.position("1.3")) == (0, 2)
    assert mechanism.grid.level.exponent == Fraction(1, 2)
    assert mechanism.cost.stretch == Fraction(4, 3)


def test_a_sensitivity_beyond_the_range_costs_no_more_than_the_range() -> None:
    mechanism = laplace(0, 2, 1, 100, epsilon(1))
    assert mechanism.steps == 2
    assert mechanism.privacy_loss().exponent == 1
    assert mechanism.cost.stretch == 1
    assert mechanism.cost.continuous_error == laplace(0, 2, 1, 2, epsilon(1)).cost.continuous_error


def test_the_example_of_the_paper() -> None:
    """FMM21 §VII-A: ε = 2·ln 4 on 0, 1/2, 1."""
    rows = laplace(0, 1, "1/2", 1, alpha("1/16")).channel().rows
    assert [" ".join(map(str, row)) for row in rows] == ["4/5 3/20 1/20", "1/5 3/5 1/5", "1/20 3/20 4/5"]


@pytest.mark.parametrize(("x", "position"), [("0", 0), ("0.24", 0), ("1/4", 1), ("3/4", 2), ("0.76", 2), (1, 2)])
def test_values_go_to_the_nearest_grid_point_and_ties_go_up(x: object, position: int) -> None:
    assert laplace(0, 1, "1/2", 1, alpha("1/2")).position(x) == position


@given(laplace_mechanisms())
@settings(max_examples=60, deadline=None)
def test_the_grid_error_is_the_mean_distance_and_largest_in_the_middle(mechanism: Laplace) -> None:
    errors = []
    for k in range(mechanism.size + 1):
        law = mechanism.law(mechanism.value(k))
        errors.append(sum((p * abs(y - k) * mechanism.granularity for y, p in enumerate(law)), Fraction(0)))
        assert errors[-1] == mechanism.grid_error(k)
    assert mechanism.cost.grid_error == max(errors)


@pytest.mark.parametrize("level", [epsilon("0.7"), alpha("1/3")], ids=str)
def test_the_continuous_error_is_the_integral_it_stands_for(level: Level) -> None:
    from scipy import integrate

    mechanism = laplace(-1, 4, "1/2", 2, level)
    slope = level.epsilon / 2

    def density(t: float, x: float) -> float:
        return slope / 2 * np.exp(-slope * abs(t)) * abs(min(max(x + t, -1), 4) - x)

    for x in (Fraction(-1), Fraction(1, 3), Fraction(3, 2), Fraction(4)):
        breakpoints = [-np.inf, -1 - float(x), 0, 4 - float(x), np.inf]
        integral = sum(integrate.quad(density, a, b, args=(float(x),))[0] for a, b in pairwise(breakpoints))
        assert float(mechanism.continuous_error(x)) == pytest.approx(integral, rel=1e-7)
    worst = max(float(mechanism.continuous_error(Fraction(k, 10) - 1)) for k in range(51))
    assert float(mechanism.cost.continuous_error) == pytest.approx(worst, rel=1e-12)


def test_a_finer_grid_tends_to_continuous_noise() -> None:
    costs = [laplace(0, 10, Fraction(1, k), 1, epsilon(1)).cost for k in (1, 10, 100)]
    gaps = [abs(float(cost.grid_error) - float(cost.continuous_error)) for cost in costs]
    assert gaps[0] > 50 * gaps[1] > 2500 * gaps[2] > 0
    assert [cost.rounding for cost in costs] == [Fraction(1, 2), Fraction(1, 20), Fraction(1, 200)]


@pytest.mark.parametrize("level", [epsilon("0.3"), alpha("1/2"), alpha("2/3")], ids=str)
def test_a_draw_is_the_draw_of_the_geometric_mechanism_on_the_grid(level: Level) -> None:
    mechanism = laplace(-3, 7, "1/4", 1, level)
    inputs = ["0", "-3", 7, Fraction(5, 8), "6.9"]
    draws = mechanism.draw(inputs, CountedWords(fixed_stream(5)))
    positions = geometric(mechanism.size, mechanism.grid.level).draw(
        [mechanism.position(x) for x in inputs], CountedWords(fixed_stream(5))
    )
    assert list(draws) == [Fraction(-3) + Fraction(int(k), 4) for k in positions]
    answer = mechanism.answer("1/3", CountedWords(fixed_stream(1)))
    assert (answer.cost.steps, answer.cost.grid_error) == (mechanism.cost.steps, mechanism.cost.grid_error)
    assert (answer.value * 4).denominator == 1


def test_the_words_taken_do_not_depend_on_the_inputs() -> None:
    mechanism, sources = (
        laplace(0, 100, "1/2", 1, epsilon(1)),
        [CountedWords(fixed_stream(2)), CountedWords(fixed_stream(2))],
    )
    mechanism.draw([0] * 1000, sources[0])
    mechanism.draw(list(range(100)) * 10, sources[1])
    assert sources[0].taken == sources[1].taken


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((1, 1, 1, 1), "range"),
        ((2, 1, 1, 1), "range"),
        ((0, 1, 0, 1), "granularity must be > 0"),
        ((0, 1, "-1", 1), "granularity must be > 0"),
        ((0, 1, "2/3", 1), "granularity must divide"),
        ((0, 1, "1e-13", 1), "granularity must leave"),
        ((0, 1, 1, 0), "sensitivity must be > 0"),
        ((0, "nan", 1, 1), "high"),
        ((0.5, 1, 1, 1), "low must be exact"),
    ],
)
def test_an_invalid_grid_is_refused(arguments: tuple[object, ...], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        laplace(*arguments, epsilon(1))


def test_invalid_inputs_and_levels_are_refused_before_any_word() -> None:
    mechanism, source = laplace(0, 1, "1/2", 1, epsilon(1)), CountedWords(fixed_stream(0))
    for inputs in (["1/2", 2], ["1/2", "-1/9"], [0.5]):
        with pytest.raises(InputError, match="input"):
            mechanism.draw(inputs, source)
    assert source.taken == 0
    for level in (alpha(0), alpha(1)):
        with pytest.raises(InputError, match="level"):
            laplace(0, 1, 1, 1, level)
