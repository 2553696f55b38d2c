"""Levels: α and ε, exact, with both endpoints."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import levels
from utmost.errors import InputError
from utmost.exact import Level, Real, alpha, epsilon


def test_alpha_keeps_its_fraction_and_knows_its_epsilon() -> None:
    half = alpha("1/2")
    assert half.alpha == Fraction(1, 2)
    assert half.epsilon == math.log(2)
    assert half.power(10) == Fraction(1, 1024)


def test_epsilon_is_exact_and_its_alpha_irrational() -> None:
    tenth = epsilon("0.1")
    assert tenth.exponent == Fraction(1, 10)
    assert isinstance(tenth.alpha, Real)
    assert tenth.power(10) == epsilon(1).alpha
    assert tenth.epsilon == 0.1


def test_both_endpoints_are_levels() -> None:
    assert alpha(0).epsilon == math.inf
    assert alpha(1).epsilon == 0 == epsilon(0).epsilon
    assert epsilon(0) == alpha(1)
    assert alpha(0).power(0) == 1
    assert alpha(0).power(3) == 0
    assert not alpha(0).is_inner
    assert not alpha(1).is_inner


@given(levels(), st.integers(0, 12), st.integers(0, 12))
def test_powers_multiply(level: Level, a: int, b: int) -> None:
    assert level.power(a) * level.power(b) == level.power(a + b)
    assert level.power(Fraction(a, 2)) * level.power(Fraction(a, 2)) == level.power(a)
    assert level.is_inner


@pytest.mark.parametrize("bad", ["-0.1", "1.1", "3/2", "nan", 0.5, "", "one half"])
def test_an_alpha_outside_the_unit_interval_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="alpha must"):
        alpha(bad)


@pytest.mark.parametrize("bad", ["-1", "inf", "nan", "sqrt(2)", "1e9", 0.1])
def test_a_negative_irrational_or_huge_epsilon_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="epsilon must"):
        epsilon(bad)


def test_epsilon_ball_contains_the_logarithm_at_any_precision() -> None:
    for bits in (64, 256, 1024):
        interval = alpha("1/2").epsilon_ball(bits)
        assert interval.rel_accuracy_bits() > bits - 10
        assert interval.exp().contains(2)


def test_alpha_zero_is_printed_as_an_infinite_epsilon() -> None:
    assert str(alpha(0)) == "α = 0 (ε = ∞)"
