"""The least ρ of a channel, and whether a claim holds at every order."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.channel import channel, concentration
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric

BOTH_WAYS = [(0, 1), (1, 0)]
ORDERS = [1 + 2 ** (k / 4) for k in range(-60, 61)]


def divergence(first, second, order):
    """D_a with 40 digits, from the definition."""
    with mpmath.workdps(40):
        a = mpmath.mpf(order)
        terms = (
            (mpmath.mpf(p.numerator) / p.denominator for p in first),
            (mpmath.mpf(q.numerator) / q.denominator for q in second),
        )
        total = mpmath.fsum(p**a * q ** (1 - a) for p, q in zip(*terms, strict=True) if p)
        return mpmath.log(total) / (a - 1)


def brute_force_rho(rows):
    """The largest D_a/a at many orders: a lower bound of the least ρ."""
    pairs = [(rows[0], rows[1]), (rows[1], rows[0])]
    return max(divergence(p, q, a) / mpmath.mpf(a) for p, q in pairs for a in ORDERS)


@st.composite
def two_rows(draw):
    size = draw(st.integers(2, 5))
    rows = [draw(st.lists(st.integers(1, 40), min_size=size, max_size=size)) for _ in range(2)]
    return [[Fraction(weight, sum(row)) for weight in row] for row in rows]


def discrete_gaussian_rows(variance, reach, size=2):
    """Discrete Gaussian noise cut off at `reach`, with probabilities rounded to fractions of 10^12."""
    rows = []
    for x in range(size):
        weights = [round(10**12 * math.exp(-((y - x) ** 2) / (2 * variance))) for y in range(-reach, reach + size)]
        weights = [max(weight, 1) for weight in weights]
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return rows


@settings(deadline=None)
@given(two_rows())
def test_the_enclosure_agrees_with_brute_force_at_many_orders(rows):
    result = concentration(channel(rows), BOTH_WAYS)
    brute = brute_force_rho(rows)
    assert float(result.lower) >= float(brute) * (1 - 0.02) - 1e-30  # orders a factor 2^(1/4) apart; 40 digits
    assert float(brute) <= float(result.upper) * (1 + 1e-12) + 1e-30
    assert result.lower <= result.upper <= result.lower * Fraction(1001, 1000)


@settings(deadline=None)
@given(two_rows())
def test_the_witness_of_a_refuted_claim_refutes_it_by_the_definition(rows):
    least = concentration(channel(rows), BOTH_WAYS)
    if not least.upper:
        return
    result = concentration(channel(rows), BOTH_WAYS, least.lower * Fraction(9, 10))
    assert result.holds is False
    first, second = (rows[label] for label in result.witness.pair)
    order = mpmath.mpf(result.witness.order.numerator) / result.witness.order.denominator
    assert divergence(first, second, order) > order * float(result.claimed)
    assert concentration(channel(rows), BOTH_WAYS, least.upper).holds is True


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("1/10"), epsilon(5)], ids=str)
def test_pure_privacy_gives_at_most_half_its_square(level):
    """Bun and Steinke, Prop. 3.3; for the geometric mechanism, with exact entries in powers of e."""
    result = concentration(geometric(4, level), [(x, x + 1) for x in range(4)] + [(x + 1, x) for x in range(4)])
    assert 0 < float(result.lower) <= level.epsilon**2 / 2


def test_randomised_response_at_a_large_epsilon_is_worst_at_order_one():
    """There D_a/a falls in a, so the least ρ is the Kullback–Leibler divergence (p − q)·ln(p/q)."""
    result = concentration(channel([["99/100", "1/100"], ["1/100", "99/100"]]), BOTH_WAYS)
    kullback = 0.98 * math.log(99)
    assert float(result.lower) <= kullback <= float(result.upper)


@pytest.mark.slow
def test_a_discrete_gaussian_has_about_the_rho_of_its_variance():
    rows = discrete_gaussian_rows(4, 14)
    result = concentration(channel(rows), BOTH_WAYS)
    assert float(result.lower) >= float(brute_force_rho(rows)) * (1 - 0.02)
    assert abs(float(result.upper) * 8 - 1) < 0.01
    assert concentration(channel(rows), BOTH_WAYS, "1/7").holds is True
    assert concentration(channel(rows), BOTH_WAYS, "1/9").holds is False


def test_an_output_of_one_input_only_refutes_every_rho():
    result = concentration(channel([["1/2", "1/2", "0"], ["1/2", "1/4", "1/4"]]), BOTH_WAYS, 1000)
    assert (result.holds, result.lower, result.upper) == (False, None, None)
    assert (result.witness.pair, result.witness.output) == ((1, 0), 2)
    one_way = concentration(channel([["1/2", "1/2", "0"], ["1/2", "1/4", "1/4"]]), [(0, 1)], 1000)
    assert one_way.holds is True


def test_equal_rows_have_rho_zero():
    result = concentration(channel([["1/3", "2/3"], ["1/3", "2/3"]]), BOTH_WAYS, "1/1000000")
    assert (result.holds, result.lower, result.upper, result.witness) == (True, 0, 0, None)


@pytest.mark.parametrize("rho", [0, "-1/8"])
def test_a_rho_that_is_not_positive_is_refused(rho):
    with pytest.raises(InputError, match="rho must be > 0"):
        concentration(channel([["1/3", "2/3"], ["2/3", "1/3"]]), BOTH_WAYS, rho)
