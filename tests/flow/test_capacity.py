"""Capacities of one channel, and the miracle theorems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, fractions, levels, weights
from utmost.channel import channel, deterministic, identity
from utmost.consumer import priors
from utmost.errors import InputError
from utmost.mechanisms import geometric, response
from utmost.qif import (
    Gain,
    bayes,
    capacity,
    leakage,
    miracle_additive,
    miracle_multiplicative,
    posterior_vulnerability,
    vulnerability,
)


@st.composite
def gains(draw, size, low=0, high=20):
    actions = draw(st.integers(1, 4))
    entries = st.lists(fractions(low, high), min_size=actions, max_size=actions)
    return draw(st.lists(entries, min_size=size, max_size=size))


@settings(max_examples=60)
@given(channels())
def test_both_capacities_are_attained_by_the_consumers_returned(source):
    result = capacity(source)
    multiplicative, additive = result.multiplicative, result.additive
    assert leakage(Gain(multiplicative.gain), multiplicative.prior, source).multiplicative == multiplicative.value
    assert leakage(Gain(additive.gain), additive.prior, source).additive == additive.value
    assert multiplicative.value == source.rows.max(axis=0).sum()
    assert additive.value == 1 - source.rows.min(axis=0).sum()


@settings(max_examples=60)
@given(st.integers(1, 5).flatmap(weights))
def test_the_vulnerability_that_attains_the_additive_capacity_stays_within_0_and_1(prior):
    gain = capacity(identity(range(len(prior)))).additive.gain
    assert vulnerability(prior, gain) == 1 - len(prior) * min(prior)
    assert 0 <= vulnerability(prior, gain) <= 1


@settings(max_examples=60)
@given(channels().flatmap(lambda c: st.tuples(weights(len(c.inputs)), gains(len(c.inputs)), st.just(c))))
def test_multiplicative_leakage_is_at_most_the_capacity(scenario):
    miracle = miracle_multiplicative(*scenario)
    assert miracle.holds
    assert miracle.leakage <= miracle.capacity


@settings(max_examples=60)
@given(
    channels().flatmap(lambda c: st.tuples(weights(len(c.inputs)), gains(len(c.inputs)), st.just(c))),
    st.fractions(0, 1, max_denominator=10),
)
def test_additive_leakage_is_at_most_the_capacity(scenario, floor):
    """The gain is moved so that its vulnerability is `floor` before the channel speaks, and 1 at most after."""
    prior, table, source = scenario
    before, largest = vulnerability(prior, table), max(map(max, table))
    unit = (1 - floor) / (largest - before) if largest > before else Fraction(0)
    gain = [[floor + (value - before) * unit for value in row] for row in table]
    miracle = miracle_additive(prior, gain, source)
    assert miracle.holds
    assert 0 <= miracle.leakage <= miracle.capacity


@settings(max_examples=60)
@given(channels().flatmap(lambda c: st.tuples(weights(len(c.inputs)), gains(len(c.inputs), 0, 1), st.just(c))))
def test_with_gains_between_0_and_1_the_additive_capacity_is_out_of_reach(scenario):
    """1 − 1/(multiplicative capacity) bounds what they leak; FMPD23 eq. 9 needs gains below 0."""
    prior, table, source = scenario
    capacities, additive = capacity(source), miracle_additive(prior, table, source).leakage
    assert additive <= 1 - 1 / capacities.multiplicative.value


def test_the_identity_leaks_1_only_to_a_gain_below_0():
    result = capacity(identity("ab"))
    assert (result.multiplicative.value, result.additive.value) == (2, 1)
    assert min(result.additive.gain.flat) == -1
    # With g >= 0 and prior (p, 1 − p), V before is at least max(p·a, (1 − p)·b) and V after is p·a + (1 − p)·b.
    assert leakage(bayes, priors.uniform(2), identity("ab")).additive == Fraction(1, 2) < result.additive.value


def test_with_a_gain_below_0_the_multiplicative_capacity_has_no_bound():
    """The class of FMPD23 eq. 9 does not do for eq. 8: a vulnerability of 0 grows above 0."""
    source = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    gain = capacity(source).additive.gain
    assert leakage(Gain(gain), priors.uniform(2), source).multiplicative is None
    with pytest.raises(InputError, match="gain must be >= 0 in every entry"):
        miracle_multiplicative(priors.uniform(2), gain, source)


def test_a_gain_outside_the_theorem_is_refused():
    for gain in ([[2, 0], [0, 2]], [[-1, -1], [-1, -1]]):
        with pytest.raises(InputError, match="gain must be <= 1 and its vulnerability >= 0"):
            miracle_additive(priors.uniform(2), gain, identity("ab"))


def test_a_constant_channel_has_no_capacity():
    result = capacity(deterministic([0] * 4, range(4), [0]))
    assert (result.multiplicative.value, result.additive.value) == (1, 0)


@settings(max_examples=60)
@given(st.integers(2, 6), levels())
def test_capacities_of_response_and_geometric_mechanisms_in_closed_form(size, level):
    a = level.alpha
    flat, line = capacity(response(size, level)), capacity(geometric(size - 1, level))
    assert flat.multiplicative.value == size / (1 + (size - 1) * a)
    assert flat.additive.value == 1 - size * a / (1 + (size - 1) * a)
    assert line.multiplicative.value == (size - (size - 2) * a) / (1 + a)


@settings(max_examples=60)
@given(channels().flatmap(lambda c: st.tuples(st.just(c), channels(inputs=len(c.outputs)))))
def test_processing_the_outputs_further_lowers_both(pair):
    source, post_processing = pair
    more, less = capacity(source), capacity(source.then(channel(post_processing.rows, source.outputs)))
    assert less.multiplicative.value <= more.multiplicative.value
    assert less.additive.value <= more.additive.value


@settings(max_examples=50)
@given(channels())
def test_qif_agrees_on_both(source):
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    rows, size = source.rows.copy(), len(source.inputs)
    result = capacity(source)
    assert qif.measure.bayes_vuln.mult_capacity(rows) == result.multiplicative.value
    assert 1 - qif.channel.sum_column_min(rows) == result.additive.value
    uniform = np.array([Fraction(1, size)] * size, dtype=object)
    assert qif.measure.g_vuln.add_capacity(uniform, rows) == result.additive.value
    gain_by_action = result.additive.gain.T.copy()
    assert qif.measure.g_vuln.posterior(gain_by_action, uniform, rows) == posterior_vulnerability(
        result.additive.prior, result.additive.gain, source
    )
