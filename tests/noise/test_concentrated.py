"""ρ-zCDP as (ε, δ): sound for the laws that attain ρ, outward, and no worse than the plain conversion."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.noise.concentrated import delta_of_rho, epsilon_of_rho, rho_of

RHOS = st.fractions(Fraction(1, 10**6), 10, max_denominator=10**6).filter(bool)
EPSILONS = st.fractions(Fraction(1, 1000), 20, max_denominator=1000).filter(bool)
DELTAS = st.integers(1, 40).map(lambda k: Fraction(1, 2**k))


@given(RHOS, DELTAS)
def test_epsilon_is_at_most_that_of_the_plain_conversion(rho: Fraction, delta: Fraction) -> None:
    plain = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / delta))
    assert 0 <= float(epsilon_of_rho(rho, delta)) <= plain * (1 + 1e-9)


@given(EPSILONS, DELTAS)
def test_the_three_conversions_agree(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of(epsilon, delta)
    assert rho > 0
    assert float(epsilon_of_rho(rho, delta)) == pytest.approx(float(epsilon), rel=1e-6)
    assert float(delta_of_rho(rho, epsilon)) == pytest.approx(float(delta), rel=1e-6)


@given(EPSILONS, DELTAS)
def test_rho_is_that_of_the_best_order_on_a_grid(epsilon: Fraction, delta: Fraction) -> None:
    """A second method: orders on a grid in doubles are never better than the order found, but for rounding."""
    orders = [1 + math.exp(x / 8) for x in range(-80, 160)]
    terms = [(math.log(1 / delta) + (a - 1) * math.log(a - 1) - a * math.log(a)) / (a - 1) for a in orders]
    on_grid = max((float(epsilon) - term) / a for a, term in zip(orders, terms, strict=True))
    rho = float(rho_of(epsilon, delta))
    assert on_grid <= rho * (1 + 1e-9)
    assert rho <= on_grid * 1.05


@pytest.mark.parametrize("rho", ["1/50", "1/8", "1/2", "2"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_delta_is_not_below_that_of_a_gaussian_with_this_rho(rho: str, epsilon: str) -> None:
    """N(0, 1/(2ρ)) moved by 1 is ρ-zCDP and no more private: Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), μ = √(2ρ)."""
    from scipy.stats import norm

    mu, e = math.sqrt(2 * Fraction(rho)), float(Fraction(epsilon))
    exact = norm.cdf(-e / mu + mu / 2) - math.exp(e) * norm.cdf(-e / mu - mu / 2)
    bound = float(delta_of_rho(Fraction(rho), Fraction(epsilon)))
    assert exact <= bound
    assert bound <= 20 * exact


def test_opendp_converts_alike() -> None:
    """Its curve is computed in floats, by another search."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    gaussian = dp.m.make_gaussian(*space, scale=5.0)
    rho = gaussian.map(1.0)
    curve = dp.c.make_zCDP_to_approxDP(gaussian).map(1.0)
    for delta in ("1e-3", "1e-6", "1e-9"):
        ours = float(epsilon_of_rho(Fraction(rho), Fraction(delta)))
        assert ours == pytest.approx(curve.epsilon(float(delta)), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: rho_of(Fraction(1), Fraction(0)), "delta must be > 0 and below 1"),
        (lambda: rho_of(Fraction(1), Fraction(1)), "delta must be > 0 and below 1"),
        (lambda: rho_of(Fraction(0), Fraction(1, 2)), "epsilon must be > 0, got 0"),
        (lambda: epsilon_of_rho(Fraction(-1), Fraction(1, 2)), "rho must be > 0, got -1"),
        (lambda: delta_of_rho(Fraction(0), Fraction(1)), "rho must be > 0, got 0"),
    ],
)
def test_amounts_that_cannot_be_converted_are_refused(call, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()


def test_amounts_of_any_size_are_converted() -> None:
    for epsilon in (Fraction(1, 10**9), Fraction(700)):
        for delta in (Fraction(1, 10**300), Fraction(1, 10**3)):
            rho = rho_of(epsilon, delta)
            assert rho > 0
            assert float(epsilon_of_rho(rho, delta)) == pytest.approx(float(epsilon), rel=1e-5)


@pytest.mark.parametrize(
    ("rho", "epsilon"), [("1e-3", "1000"), ("1e-9", "1e6"), ("1e-12", "1"), ("1e300", "1"), ("1e-300", "1e300")]
)
def test_a_delta_that_is_hardly_above_0_or_far_above_1_is_still_written_out(rho, epsilon):
    delta = delta_of_rho(Fraction(rho), Fraction(epsilon))
    assert delta == 1 if Fraction(rho) > 1 else 0 < delta < Fraction(1, 10**800)
    assert max(delta.numerator.bit_length(), delta.denominator.bit_length()) < 3000


@pytest.mark.parametrize("huge", [Fraction(10) ** 309, Fraction(10) ** 400])
def test_amounts_beyond_every_double_are_converted_all_the_same(huge: Fraction) -> None:
    delta = Fraction(1, 10**6)
    assert epsilon_of_rho(huge, delta) > huge
    assert delta_of_rho(huge, Fraction(1)) == 1
    assert 0 < delta_of_rho(Fraction(1), huge) < Fraction(1, 10**300)
    assert 0 < rho_of(huge, delta) < huge
