"""Claims of (ε, δ) and ρ about channels, against every event in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from utmost.audit import channel_bound
from utmost.channel import channel
from utmost.errors import InputError
from utmost.mechanisms import geometric

ROWS = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=2, max_size=3)
EVENTS = [subset for size in (1, 2, 3) for subset in combinations(range(3), size)]
TINY = Fraction(1, 10**40)


def laws(weights):
    return [[Fraction(w, sum(row)) for w in row] for row in weights]


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["1/2", "2/3", "1", "0"]), st.fractions(0, "9/10", max_denominator=20))
def test_the_least_delta_and_the_least_epsilon_are_those_of_the_worst_event(weights, level, delta):
    rows, alpha = laws(weights), Fraction(level)
    names = [f"x{k}" for k in range(len(rows))]
    result = channel_bound(channel(rows, names), claimed=ut.alpha(level), delta=delta)
    loss = result.approximate_loss
    pairs = [(sum(p[y] for y in e), sum(q[y] for y in e)) for p, q in permutations(rows, 2) for e in EVENTS]
    least_delta = max(p - q / alpha if alpha else (Fraction(0) if q else p) for p, q in pairs)
    assert loss.least_delta == max(least_delta, 0)
    assert result.verdict == ("refuted" if least_delta > delta else "holds")
    alphas = [q / (p - delta) for p, q in pairs if p > delta]
    assert loss.least_level.alpha == min([Fraction(1), *alphas])
    if loss.event:
        high, low = (rows[names.index(x)] for x in (loss.high, loss.low))
        probabilities = [sum(row[int(y)] for y in loss.event) for row in (high, low)]
        assert probabilities == [loss.high_probability, loss.low_probability]
        if alpha:
            assert probabilities[0] - probabilities[1] / alpha == loss.least_delta


@settings(max_examples=30)
@given(ROWS, st.fractions("1/20", "9/10", max_denominator=20))
def test_without_a_claim_the_event_attains_the_least_epsilon(weights, delta):
    loss = channel_bound(channel(laws(weights)), delta=delta).approximate_loss
    assert loss.least_delta is None
    if loss.event and loss.least_level.alpha:
        assert (loss.high_probability - delta) * loss.least_level.alpha == loss.low_probability


def test_a_claim_on_the_boundary_is_decided():
    mechanism, level = geometric(5, ut.alpha("1/2")), ut.alpha("2/3")
    least_delta = channel_bound(mechanism, claimed=level, delta=0).approximate_loss.least_delta
    assert channel_bound(mechanism, claimed=level, delta=least_delta).verdict == "holds"
    assert channel_bound(mechanism, claimed=level, delta=least_delta - TINY).verdict == "refuted"
    assert channel_bound(mechanism, claimed=ut.alpha("1/2"), delta=0).verdict == "holds"
    assert channel_bound(mechanism, delta=0).lower == channel_bound(mechanism).lower
    assert channel_bound(mechanism, delta=0).event is not None


def test_an_irrational_epsilon_is_decided_too():
    """At ε = 1/2 the geometric mechanism of α = 1/2 has δ = 2/3 − e^(1/2)/3 = 0.11709291."""
    mechanism = geometric(5, ut.alpha("1/2"))
    claims = [channel_bound(mechanism, claimed=ut.epsilon("1/2"), delta=d).verdict for d in ("0.1170929", "0.117093")]
    assert claims == ["refuted", "holds"]


def test_an_output_that_one_input_alone_can_give_needs_its_probability_as_delta():
    leak = channel([["1", "0"], ["99/100", "1/100"]])
    assert channel_bound(leak, delta="1/1000").lower == float("inf")
    result = channel_bound(leak, claimed=ut.epsilon(1000), delta="1/1000")
    assert (result.verdict, result.event, result.high) == ("refuted", "output 1", 1)
    assert channel_bound(leak, claimed=ut.epsilon(0), delta="1/100").verdict == "holds"
    result = channel_bound(leak, rho=1000)
    assert (result.verdict, result.lower, result.event) == ("refuted", float("inf"), "output 1")


def test_rho_is_decided_at_all_orders_with_the_order_that_refutes():
    """A randomized response with α = 1/2: its least ρ is its Kullback–Leibler divergence, ln(2)/3 = 0.23104906."""
    response = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    low, high = (channel_bound(response, rho=rho) for rho in ("0.231049", "0.232"))
    assert (low.verdict, high.verdict) == ("refuted", "holds")
    assert low.concentration.witness.lower > low.concentration.witness.order * Fraction("0.231049")
    assert low.lower <= 0.2310490601866484


def test_equal_rows_meet_every_claim():
    constant = channel([["1/2", "1/2"]] * 3)
    for claim in ({"rho": TINY}, {"claimed": ut.epsilon(0), "delta": 0}):
        result = channel_bound(constant, **claim)
        assert (result.verdict, result.lower, result.event) == ("holds", 0, None)


@pytest.mark.parametrize("claim", [{"delta": "1/10"}, {"rho": 1}])
def test_neighbours_that_are_not_one_apart_are_refused(claim):
    mechanism = geometric(5, ut.alpha("1/2"))
    with pytest.raises(InputError, match="distance must be 1"):
        channel_bound(mechanism, pair=(0, 2), distance=2, **claim)
    assert channel_bound(mechanism, pair=(0, 2), **claim).neighbours == "pair"


@pytest.mark.parametrize("claim", [{"delta": "1/10"}, {"rho": 1}])
def test_a_channel_of_one_input_has_no_neighbours(claim):
    with pytest.raises(InputError, match="two inputs or more"):
        channel_bound(channel([["1/2", "1/2"]]), **claim)
