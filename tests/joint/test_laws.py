import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import alpha, ball_endpoints, epsilon
from utmost.joint.laws import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise, UntoldNoise
from utmost.noise.selection import selection_law
from utmost.noise.tight_canonical import TightLaw

REACH = 400  # beyond which the laws of these tests have less than 1e-30


def geometric_masses(law):
    noise = np.arange(-REACH, REACH + 1)
    a = float(law.level.alpha) if isinstance(law.level.alpha, Fraction) else math.exp(-law.level.epsilon)
    return noise, (1 - a) / (1 + a) * a ** np.abs(noise)


def gaussian_masses(law):
    noise = np.arange(-REACH, REACH + 1)
    weights = np.exp(-(noise**2) / (2 * float(law.parameter)))
    return noise, weights / weights.sum()


def canonical_masses(law):
    noise = np.arange(-law.law.reach, law.law.reach + 1)
    return noise, np.array([float(law.law.mass(int(n))) for n in noise])


LAWS = {
    "geometric": (partial(GeometricNoise, alpha("1/2")), geometric_masses),
    "geometric by epsilon": (partial(GeometricNoise, epsilon("0.3")), geometric_masses),
    "gaussian": (partial(GaussianNoise, Fraction(9, 2)), gaussian_masses),
    "canonical": (partial(CanonicalNoise, TightLaw(alpha("1/2"), 4)), canonical_masses),
}


def answer_law(law, masses, count):
    """Pr[y given count], brought back to ends where they absorb."""
    noise, weights = masses(law)
    low, high = (None, None) if isinstance(law, CanonicalNoise) else law.ends
    answers = np.clip(count + noise, low, high) if (low, high) != (None, None) else count + noise
    return {int(y): float(weights[answers == y].sum()) for y in np.unique(answers)}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("ends", [(None, None), (0, None), (0, 9)])
def test_likelihoods_are_those_of_the_law_up_to_a_constant(name, ends):
    make, masses = LAWS[name]
    law, counts = make(low=ends[0], high=ends[1]), np.arange(0, 10)
    laws = [answer_law(law, masses, int(x)) for x in counts]
    for value in range(-3, 13):
        expected = np.array([of.get(value, 0.0) for of in laws])
        if not expected.any():
            continue
        found = np.exp(law.log_likelihood(value, counts))
        np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("ends", [(None, None), (0, None), (0, 9)])
@given(count=st.integers(0, 9), miss=st.sampled_from([Fraction(1, 3), Fraction(1, 100), Fraction(1, 10**8)]))
def test_ranges_miss_at_most_as_often_as_they_say(name, ends, count, miss):
    make, masses = LAWS[name]
    law = make(low=ends[0], high=ends[1])
    missed = 0.0
    for value, probability in answer_law(law, masses, count).items():
        low, high = law.range(value, miss)
        missed += probability * (not low <= count <= high)
    assert missed <= float(miss) * (1 + 1e-9)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("ends", [(None, None), (0, 9)])
@given(share=st.floats(0.01, 0.95), count=st.integers(0, 9))
def test_moments_bound_those_of_the_law(name, below, ends, share, count):
    make, masses = LAWS[name]
    law = make(low=ends[0], high=ends[1])
    rate = min(share * law.largest_rate, 1.5)
    side = 1 if below else -1
    moment = sum(p * math.exp(rate * side * (y - count)) for y, p in answer_law(law, masses, count).items())
    assert moment <= math.exp(float(ball_endpoints(law.log_moment(rate, below))[1])) * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "gaussian"])
@pytest.mark.parametrize("ends", [(None, None), (0, None), (0, 9)])
@given(count=st.integers(0, 9))
def test_unbiased_values_have_the_count_as_their_mean_and_at_most_the_variance(name, ends, count):
    make, masses = LAWS[name]
    law = make(low=ends[0], high=ends[1])
    of = answer_law(law, masses, count)
    mean = sum(p * float(law.unbiased(y)) for y, p in of.items())
    variance = sum(p * (float(law.unbiased(y)) - mean) ** 2 for y, p in of.items())
    assert mean == pytest.approx(count, abs=1e-9)
    assert variance <= float(law.variance) * (1 + 1e-9)


def test_variances_are_exact_where_alpha_is_rational_and_rounded_up_elsewhere():
    assert GeometricNoise(alpha("1/3")).variance == Fraction(3, 2)
    level = epsilon("0.3")
    exact = 2 * level.alpha / (1 - level.alpha) ** 2
    assert exact <= GeometricNoise(level).variance <= exact * (1 + Fraction(1, 2**60))
    masses = [TightLaw(alpha("1/2"), 4).mass(n) * n * n for n in range(-4, 5)]
    bound = CanonicalNoise(TightLaw(alpha("1/2"), 4)).variance
    assert sum(masses) <= bound <= sum(masses) * (1 + Fraction(1, 2**60))


@given(count=st.integers(1, 60), value=st.integers(30, 90))
def test_likelihood_of_a_found_cell_is_given_that_it_was_told(count, value):
    law = selection_law(epsilon("0.4"), Fraction(1, 1000))
    counts = np.arange(1, 80)
    logs = FoundNoise(law).log_likelihood(value, counts)
    noise = count + law.threshold - value
    expected = float(law.probability(noise) - law.probability(noise - 1)) / float(law.probability(count))
    assert np.exp(logs[count - 1]) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_a_known_cell_is_told_with_some_number_or_is_not():
    law = selection_law(epsilon("0.4"), Fraction(1, 1000))
    counts = np.arange(1, law.last + 3)
    told = sum(
        np.exp(FoundNoise(law, given_told=False).log_likelihood(value, counts))
        for value in range(law.threshold, law.threshold + int(counts[-1]) + 1)
    )
    untold = np.exp(UntoldNoise(law).log_likelihood(0, counts))
    assert told + untold == pytest.approx(np.ones(len(counts)), abs=1e-12)
    exact = [float(1 - law.probability(int(count))) for count in counts]
    assert untold == pytest.approx(exact, rel=1e-9, abs=1e-15)
    assert UntoldNoise(law).log_likelihood(0, np.array([0])).tolist() == [0.0]


@pytest.mark.parametrize("miss", [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**20)])
def test_a_cell_beyond_the_range_is_told_nearly_always(miss):
    law = selection_law(epsilon("0.4"), Fraction(1, 1000))
    low, high = UntoldNoise(law).range(0, miss)
    assert low == 0
    assert 1 - law.probability(high + 1) <= miss < 1 - law.probability(high)
