"""Bounds on ρ from draws: the variational form in exact arithmetic, power on short noise, and no false alarms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from audit.boxes import correct_geometric, gaussian
from utmost.audit import divergences, function_box, lower_bound, sampled_bound
from utmost.audit.divergences import ORDERS, Partition, Statistic
from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.noise.gaussian import gaussian_noise

WEIGHTS = st.lists(st.integers(1, 20), min_size=3, max_size=3)
LOG_RATIOS = st.lists(st.floats(-4, 4), min_size=3, max_size=3)


def law(weights):
    return [Fraction(weight, sum(weights)) for weight in weights]


@given(WEIGHTS, WEIGHTS, WEIGHTS, st.integers(2, 6))
def test_no_function_has_a_larger_mean_than_the_power_of_the_likelihood_ratio(p, q, h, order):
    """a·E_P[h^(a−1)] − (a−1)·E_Q[h^a] ≤ Σ p^a·q^(1−a), with equality at h = p/q: fractions."""
    first, second = law(p), law(q)
    power = sum(x**order * y ** (1 - order) for x, y in zip(first, second, strict=True))

    def mean(function):
        terms = zip(first, second, function, strict=True)
        return sum(order * x * z ** (order - 1) - (order - 1) * y * z**order for x, y, z in terms)

    assert mean([Fraction(z, 7) for z in h]) <= power
    assert mean([x / y for x, y in zip(first, second, strict=True)]) == power


@given(LOG_RATIOS, WEIGHTS, WEIGHTS, st.sampled_from(ORDERS))
def test_the_doubles_of_a_statistic_never_show_more_than_its_divergence(log_ratios, p, q, order):
    """The mean in doubles, as a ρ, against D_a/a with 40 digits; D_1 is the Kullback–Leibler divergence."""
    statistic = Statistic(Partition("value", 3, lambda sample: sample), order, np.array(log_ratios), True)
    gain, cost = (map(Fraction, part.tolist()) for part in statistic.parts)
    first, second = law(p), law(q)
    mean = sum(x * g - y * c for x, y, g, c in zip(first, second, gain, cost, strict=True))
    with mpmath.workdps(40):
        pairs = [
            (mpmath.mpf(x.numerator) / x.denominator, mpmath.mpf(y.numerator) / y.denominator)
            for x, y in zip(first, second, strict=True)
        ]
        a = mpmath.mpf(order.numerator) / order.denominator
        if order == 1:
            rho = mpmath.fsum(x * mpmath.log(x / y) for x, y in pairs)
        else:
            rho = mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in pairs)) / (a * (a - 1))
        assert statistic.rho(float(mean)) <= rho + mpmath.mpf("1e-14")


def discrete_gaussian(variance):
    return lambda secrets, _: np.asarray(secrets) + gaussian_noise(variance, len(secrets))


def test_gaussian_noise_a_tenth_too_small_for_its_rho_is_refuted_and_the_right_one_is_not():
    """ρ = 1: σ = 0.707. Short of a tenth of that the real ρ is 1.23, and 20 000 draws show about 1.09."""
    short, right = (sampled_bound(gaussian(1, part, seed=1), (0, 1), samples=20_000, rho=1) for part in (0.9, 1))
    assert (short.verdict, right.verdict) == ("refuted", "not refuted")
    assert 1 < short.lower < 1.235
    assert 0.8 < right.lower < 1


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "samples"), [("1/10", 100_000), ("1/50", 400_000), ("1/2", 40_000)])
def test_gaussian_noise_a_tenth_too_small_is_refuted_at_every_scale(rho, samples):
    for seed in range(2):
        short, right = (
            sampled_bound(gaussian(Fraction(rho), part, seed), (0, 1), samples=samples, rho=rho) for part in (0.9, 1)
        )
        assert (short.verdict, right.verdict) == ("refuted", "not refuted")


@pytest.mark.slow
def test_a_discrete_gaussian_a_tenth_too_small_is_refuted():
    """Variance 2 is ρ = 1/4 (Canonne, Kamath and Steinke, Prop. 5); a tenth less σ is a variance of 1.62."""
    assert sampled_bound(discrete_gaussian("1.62"), (0, 1), samples=60_000, rho="1/4").verdict == "refuted"
    assert sampled_bound(discrete_gaussian("2"), (0, 1), samples=60_000, rho="1/4").verdict == "not refuted"


def test_one_event_sees_almost_nothing_of_it():
    """Of half-lines with probability 10⁻⁴ or more: the largest D_a/a of the event and its complement, at any order."""
    mean = math.sqrt(2 * 0.1) / 0.9
    points = np.linspace(-3.72, 3.72, 200)
    p, q = (np.array([math.erfc((x - m) / math.sqrt(2)) / 2 for x in points]) for m in (mean, 0.0))
    best = max(
        float(np.max(np.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)))) / (a * (a - 1))
        for a in (1 + 2 ** (k / 2) for k in range(-10, 13))
    )
    assert best < 0.104 < mean**2 / 2 == pytest.approx(0.1235, abs=1e-4)


AUDITS_PER_TIER = [
    pytest.param(3, marks=()),
    pytest.param(80, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("audits", AUDITS_PER_TIER)
def test_right_noise_raises_no_more_alarms_than_stated(audits):
    """At 90 % one audit in ten may be wrong; more than the 1e-6 quantile of that binomial law fails this test."""
    box = gaussian(1, 1, seed=7)
    alarms = sum(sampled_bound(box, (0, 1), samples=400, confidence="0.9", rho=1).lower > 1 for _ in range(audits))
    assert alarms <= int(binom.isf(1e-6, audits, 0.1))


@pytest.mark.parametrize("name", ["choose_events", "choose_statistics", "choose_stake"])
def test_the_first_half_alone_chooses(monkeypatch, name):
    """Whatever the second half is, the events, the statistics and the stakes are the same."""
    module = lower_bound if name == "choose_events" else divergences
    choose, chosen = getattr(module, name), []

    def record(*arguments):
        chosen.append(choose(*arguments))
        return chosen[-1]

    monkeypatch.setattr(module, name, record)
    texts = []
    for factor in (0, 1):
        chosen.clear()
        numbers, draw = itertools.count(), gaussian(1, 1, seed=4)

        def box(secrets, _, numbers=numbers, draw=draw, factor=factor):
            return [y if next(numbers) < 400 else factor * y for y in draw(secrets, _)]

        sampled_bound(box, (0, 1), samples=400, rho=1)
        texts.append([_choice_text(item) for choice in chosen for item in np.atleast_1d(np.array(choice, object))])
    assert texts[0] == texts[1] != []


def _choice_text(item):
    if isinstance(item, Statistic):
        return item.partition.name, item.order, item.log_ratios.tolist(), item.forward
    return str(getattr(item, "event", item))


@pytest.mark.parametrize("claim", [{"rho": "1/10"}, {"claimed": epsilon("1/2"), "delta": "1/10"}])
def test_what_came_in_the_first_half_alone_is_no_evidence(claim):
    """The box answers with its secret for the first half of the draws, with 0 in the second."""
    made = []

    def fading(secrets, _):
        made.append(len(secrets))
        return list(secrets) if sum(made) <= 1000 else [0] * len(secrets)

    result = sampled_bound(fading, (0, 1), samples=1000, **claim)
    assert (result.verdict, result.lower, result.event) == ("not refuted", 0.0, None)


@pytest.mark.parametrize(
    "answer",
    [lambda s: 7, lambda s: math.nan, lambda s: None, lambda s: "text", lambda s: math.inf, lambda s: ()],
    ids=["number", "nan", "None", "text", "inf", "empty"],
)
@pytest.mark.parametrize("claim", [{"rho": "1e-9"}, {"claimed": epsilon(0), "delta": 0}, {"delta": "1e-400"}])
def test_a_constant_tells_nothing(answer, claim):
    result = sampled_bound(function_box(answer), (0, 1), samples=200, **claim)
    assert (result.lower, result.event) == (0.0, None)
    assert result.verdict in (None, "not refuted")


@pytest.mark.parametrize(
    "answer", [lambda s: s, lambda s: math.nan if s else 0.0, str, lambda s: math.inf * (2 * s - 1), lambda s: (1, s)]
)
def test_a_box_that_returns_its_secret_is_refuted(answer):
    assert sampled_bound(function_box(answer), (0, 1), samples=400, rho=2).verdict == "refuted"
    assert sampled_bound(function_box(answer), (0, 1), samples=400, claimed=epsilon(2), delta="1/2").lower > 2


def test_a_rare_leak_shows_at_a_high_order():
    """One draw in 200 is the secret. Near order 1 that is 0.04; the order that was chosen shows much more."""
    generator = np.random.default_rng(5)

    def leak(secrets, _):
        return [s if u < 1 / 200 else 7 for s, u in zip(secrets, generator.random(len(secrets)), strict=True)]

    result = sampled_bound(leak, (0, 1), samples=100_000, rho="1/10")
    assert result.verdict == "refuted"
    assert result.divergence.order > 1


@given(*[st.fractions(0, 1, max_denominator=12)] * 5)
@settings(max_examples=60)
def test_the_worst_point_of_a_confidence_box_is_its_corner(p_low, p, q, q_high, delta):
    """(p − δ)/q with p ≥ p_low > δ and q ≤ q_high is never below (p_low − δ)/q_high."""
    p_low, p, q, q_high = min(p_low, p), max(p_low, p), min(q, q_high), max(q, q_high)
    if p_low > delta and q > 0:
        assert (p - delta) / q >= (p_low - delta) / q_high


@pytest.mark.parametrize("delta", ["1/10", "1/4"])
def test_a_right_claim_of_epsilon_and_delta_is_not_refuted_and_a_wrong_one_is(delta):
    """Of a randomized response that is right with probability 3/4, ε(δ) = ln((3/4 − δ)/(1/4))."""
    box, share = correct_geometric(10, epsilon(0)), Fraction(delta)
    generator = np.random.default_rng(11)

    def response(secrets, _):
        return [s if u < 0.75 else 1 - s for s, u in zip(secrets, generator.random(len(secrets)), strict=True)]

    truth = math.log((Fraction(3, 4) - share) / Fraction(1, 4))
    result = sampled_bound(response, (0, 1), samples=20_000, delta=delta)
    assert truth - 0.1 < result.lower <= truth
    assert sampled_bound(response, (0, 1), samples=20_000, claimed=epsilon("1/4"), delta=delta).verdict == "refuted"
    assert sampled_bound(box, (0, 1), samples=2_000, delta=delta).lower == 0


@pytest.mark.slow
def test_gaussian_noise_a_tenth_too_small_for_epsilon_and_delta_is_refuted():
    """σ = 1.878 gives (1, 0.01) exactly (Balle and Wang); the half-line at privacy loss 1 has p = 0.066, q = 0.018."""
    box = gaussian(1 / (2 * 1.878**2), 0.9, seed=2)
    result = sampled_bound(box, (0, 1), samples=400_000, claimed=epsilon(1), delta="1/100")
    assert result.verdict == "refuted"
    right = sampled_bound(
        gaussian(1 / (2 * 1.879**2), 1, seed=2), (0, 1), samples=400_000, claimed=epsilon(1), delta="1/100"
    )
    assert right.verdict == "not refuted"


def test_delta_zero_is_the_pure_bound():
    results = [sampled_bound(gaussian(1, 1, seed=3), (0, 1), samples=2000, **claim) for claim in ({}, {"delta": 0})]
    assert results[0].lower == results[1].lower


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"delta": 1}, "delta must be >= 0 and below 1"),
        ({"delta": "-1e-9"}, "delta must be >= 0 and below 1"),
        ({"rho": 0}, "rho must be > 0"),
        ({"rho": 1, "delta": "0.1"}, "rho must come without"),
        ({"rho": 1, "claimed": epsilon(1)}, "rho must come without"),
        ({"rho": 1, "distance": 2}, "distance must be 1"),
        ({"delta": "0.1", "distance": 2}, "distance must be 1"),
    ],
)
def test_claims_that_cannot_be_audited_are_refused_before_a_draw(claim, message):
    def never(*_):
        raise AssertionError("a draw was made")

    with pytest.raises(InputError, match=message):
        sampled_bound(never, (0, 1), **claim)
