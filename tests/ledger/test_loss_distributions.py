"""Certified composition against every outcome written out in fractions, and against the profile of one Gaussian."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import pytest

from utmost.exact import ball, ball_endpoints, epsilon
from utmost.exact.working_precision import working_precision
from utmost.ledger.loss_distributions import compose
from utmost.ledger.loss_laws import ApproximateLoss, CanonicalLoss, GaussianLoss, GeometricLoss, SelectionLoss
from utmost.noise.selection import selection_law
from utmost.noise.tight_canonical import least_reach

MILLIONTH = Fraction(1, 10**6)
BITS = 200


def outcomes(law, direction=False):
    """Pairs (Pr under one table, Pr under the other) of one answer, as fractions within 2^−150."""

    with working_precision(BITS):
        return _outcomes(law, direction)


def middle(value):
    return sum(ball_endpoints(value)) / 2


def _outcomes(law, direction):
    if isinstance(law, ApproximateLoss):
        high = middle(1 / (1 + (-ball(law.epsilon, BITS)).exp())) * (1 - law.delta)
        low = 1 - law.delta - high
        return [(high, low), (low, high), (law.delta, Fraction(0))]
    if isinstance(law, SelectionLoss):
        selection = selection_law(epsilon(law.epsilon), law.delta)
        told = [middle(selection.probability_ball(n, BITS)) for n in range(-1, selection.last + 2)]
        masses = [b - a for a, b in pairwise(told)]
        pairs = list(pairwise(masses))
        return [(b, a) for a, b in pairs] if direction else pairs
    if isinstance(law, CanonicalLoss):
        reach = least_reach(epsilon(law.epsilon / law.steps), law.steps, law.delta)
        ratio = middle((-ball(law.epsilon / law.steps, BITS)).exp())
        weights = {x: ratio ** abs(x) for x in range(-reach, reach + 1)}
        total = sum(weights.values())
        places = range(-reach, reach + law.steps + 1)
        return [(weights.get(x, 0) / total, weights.get(x - law.steps, 0) / total) for x in places]
    ratio = middle((-ball(law.epsilon / law.steps, BITS)).exp())
    masses = [1 / (1 + ratio), *(ratio**y * (1 - ratio) / (1 + ratio) for y in range(1, law.steps))]
    masses.append(ratio**law.steps / (1 + ratio))
    return list(zip(masses, reversed(masses), strict=True))


def exact_delta(laws, bound, direction=False):
    """Σ over all outcomes of (p − e^bound·q)₊."""
    with working_precision(BITS):
        factor = middle(ball(bound, BITS).exp())
    total = Fraction(0)
    for outcome in product(*(outcomes(law, direction) for law in laws)):
        p, q = (math.prod(pair[side] for pair in outcome) for side in (0, 1))
        total += max(p - factor * q, Fraction(0))
    return total


def check_enclosed(laws):
    composed = compose(Counter(laws), MILLIONTH)
    amount = sum(law.epsilon for law in laws)
    for share in (Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(9, 10)):
        bound = share * amount
        truth = max(exact_delta(laws, bound, direction) for direction in (False, True))
        lower, upper = composed.delta_bounds(bound)
        slack = Fraction(1, 2**100)
        assert lower - slack <= truth <= upper + slack
        assert upper - lower < Fraction(1, 100)


def random_laws(generator):
    laws = []
    for _ in range(generator.randint(1, 4)):
        amount = Fraction(generator.randint(1, 200), generator.choice([100, 97, 1009]))
        delta = Fraction(1, generator.choice([100, 10**4, 10**7]))
        laws.append(generator.choice([GeometricLoss(amount, generator.randint(1, 4)), ApproximateLoss(amount, delta)]))
    return laws


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_random_compositions_enclose_the_exact_delta(seed):
    check_enclosed(random_laws(random.Random(seed)))


@pytest.mark.slow
def test_many_random_compositions_enclose_the_exact_delta():
    for seed in range(50, 1000):
        check_enclosed(random_laws(random.Random(seed)))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 1000)])
def test_selections_enclose_the_exact_delta_of_the_worse_direction(times, delta):
    check_enclosed([SelectionLoss(Fraction(1, 2), delta)] * times)


@pytest.mark.parametrize(("steps", "delta"), [(1, "1/5"), (3, "1/3"), pytest.param(3, "1/50", marks=pytest.mark.slow)])
def test_canonical_noise_encloses_the_exact_delta_alone_and_with_others(steps, delta):
    law = CanonicalLoss(Fraction(1, 2), steps, Fraction(delta))
    check_enclosed([law])
    check_enclosed([law, law])
    check_enclosed([law, GeometricLoss(Fraction(1, 3), 2), ApproximateLoss(Fraction(1, 7), Fraction(1, 1000))])
    own = exact_delta([law], law.epsilon)
    assert law.delta - own >= 0
    composed = compose(Counter({law: 1}), MILLIONTH)
    assert composed.delta_bounds(law.epsilon)[1] - own < Fraction(1, 10**9)


@pytest.mark.parametrize(("variance", "shift"), [(Fraction(4), 1), (Fraction(7, 3), 2), (Fraction(100), 5)])
def test_one_gaussian_encloses_its_profile(variance, shift):
    reach = 40 * math.isqrt(math.ceil(variance)) + 40
    weights = {x: math.exp(-(x**2) / (2 * variance)) for x in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    composed = compose(Counter({GaussianLoss(variance, shift): 1}), MILLIONTH)
    for bound in (Fraction(0), Fraction(1, 2), Fraction(2)):
        truth = math.fsum(max(weights[x] - math.exp(bound) * weights.get(x - shift, 0), 0) / total for x in weights)
        lower, upper = composed.delta_bounds(bound)
        assert float(lower) - 1e-13 <= truth <= float(upper) + 1e-13
        assert upper - lower < Fraction(1, 10**9)


@pytest.mark.parametrize(
    "law",
    [GeometricLoss(Fraction(1, 100)), GeometricLoss(Fraction(1, 10), 7), GaussianLoss(Fraction(2500))],
)
def test_a_thousand_compositions_are_known_within_a_thousandth(law):
    composed = compose(Counter({law: 1000}), MILLIONTH)
    lower, upper = composed.epsilon_bounds(MILLIONTH)
    assert 0 <= upper - lower <= Fraction(1, 1000)
    bounds = [composed.epsilon_bounds(Fraction(1, 10**k))[1] for k in range(2, 8)]
    assert bounds == sorted(bounds)
