"""The bounds on a probability, against exact binomial sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from utmost.audit.events import log_ratio, lower_bound, upper_bound, wilson_score

RISKS = st.sampled_from([0.05, 0.01, 0.00125, 1e-9])
COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def upper_tail(count, draws, p: Fraction) -> Fraction:
    """Pr[Binomial(draws, p) ≥ count], a sum of fractions."""
    terms = (math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(count, draws + 1))
    return sum(terms, Fraction(0))


@settings(max_examples=60)
@given(COUNTS, RISKS)
def test_the_bounds_keep_their_risk_in_exact_arithmetic(case, risk):
    count, draws = case
    low, high = Fraction(lower_bound(count, draws, risk)), Fraction(upper_bound(count, draws, risk))
    if count:
        assert upper_tail(count, draws, low) <= Fraction(risk)
    if high < 1:
        assert 1 - upper_tail(count + 1, draws, high) <= Fraction(risk)


@settings(max_examples=60)
@given(st.integers(1, 10**6), st.integers(0, 10**6), RISKS)
def test_the_bounds_are_the_quantiles_of_the_beta_law(draws, count, risk):
    count = min(count, draws - 1)
    assert lower_bound(count + 1, draws, risk) == pytest.approx(beta.ppf(risk, count + 1, draws - count), rel=1e-6)
    assert upper_bound(count, draws, risk) == pytest.approx(beta.isf(risk, count + 1, draws - count), rel=1e-6)


def test_an_event_that_never_came_still_has_a_positive_upper_bound():
    assert lower_bound(0, 100, 0.01) == 0
    assert 0 < upper_bound(0, 100, 0.01) == pytest.approx(1 - 0.01 ** (1 / 100), rel=1e-6)
    assert upper_bound(100, 100, 0.01) == 1
    assert log_ratio(0, 5, 100, 0.01) == -math.inf
    assert log_ratio(100, 0, 100, 0.01) < math.log(100)


def test_the_order_by_which_events_are_chosen_prefers_more_draws_and_larger_ratios():
    high, low = np.array([10, 100, 100, 0]), np.array([1, 10, 5, 0])
    scores = wilson_score(high, low, 1000, 3.0)
    assert scores[0] < scores[1] < scores[2]
    assert scores[3] < 0
