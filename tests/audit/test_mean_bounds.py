"""The bound on a mean, against every sequence of draws in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.audit.mean_bounds import choose_stake, mean_lower_bound

RISKS = st.sampled_from([0.3, 0.05, 0.01])


@st.composite
def laws(draw):
    """Two or three values with rational probabilities."""
    values = draw(st.lists(st.integers(-20, 20), min_size=2, max_size=3, unique=True))
    weights = [draw(st.integers(1, 9)) for _ in values]
    return values, [Fraction(weight, sum(weights)) for weight in weights]


@settings(max_examples=40)
@given(laws(), RISKS, st.floats(1e-3, 100), st.integers(1, 6))
def test_the_bound_is_above_the_mean_no_more_often_than_stated(law, risk, stake, draws):
    values, probabilities = law
    mean = sum((p * v for p, v in zip(probabilities, values, strict=True)), Fraction(0))
    alarm = Fraction(0)
    for sequence in product(range(len(values)), repeat=draws):
        counts = np.bincount(sequence, minlength=len(values)).astype(float)
        if Fraction(mean_lower_bound(np.array(values, float), counts, risk, stake)) > mean:
            alarm += math.prod((probabilities[k] for k in sequence), start=Fraction(1))
    assert alarm <= Fraction(risk)


@given(laws(), RISKS)
def test_the_bound_never_leaves_the_range_of_the_values(law, risk):
    values = np.array(law[0], float)
    for counts in np.eye(len(values)) * 1000:
        bound = mean_lower_bound(values, counts, risk, choose_stake(values, counts, risk))
        assert values.min() <= bound <= float(counts @ values) / 1000


def test_with_a_chosen_stake_the_bound_is_as_near_as_a_normal_law_would_have_it():
    values, counts = np.array([-3.0, 0.0, 1.0]), np.array([2000.0, 5000.0, 3000.0])
    mean = float(counts @ values) / 10_000
    deviation = math.sqrt(float(counts @ (values - mean) ** 2)) / 10_000
    bound = mean_lower_bound(values, counts, 0.01, choose_stake(values, counts, 0.01))
    assert (mean - bound) / deviation == pytest.approx(math.sqrt(2 * math.log(100)), rel=0.03)


def test_draws_that_are_all_the_least_value_show_nothing():
    assert mean_lower_bound(np.array([-5.0, 1e100]), np.array([10.0, 0.0]), 0.01, 0.5) == -5.0
