"""The iterative Bayesian update: the likeliest prior of a channel's answers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from strategies import channels
from utmost.channel import channel, identity
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import channel_on, geometric, response
from utmost.publish.local import CategoryMechanism, estimate_frequencies
from utmost.qif import iterative_bayesian_update
from utmost.spaces import grid

NOISY = geometric(4, alpha("1/2")).channel()


def log_likelihood(weights: np.ndarray, entries: np.ndarray, counts: list[int]) -> float:
    shares = np.array(counts) / sum(counts)
    return float(shares[shares > 0] @ np.log((weights @ entries)[shares > 0]))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_prior_that_scipy_finds_is_likelier_by_more_than_the_gap(data):
    source = data.draw(channels(inputs=3))
    counts = data.draw(st.lists(st.integers(0, 50), min_size=len(source.outputs), max_size=len(source.outputs)))
    entries = source.floats()
    occurring = [count * bool(entries[:, k].any()) for k, count in enumerate(counts)]
    if not sum(occurring):
        return
    estimate = iterative_bayesian_update(source, occurring, gap=1e-8, rounds=100_000)
    assert estimate.weights.sum() == pytest.approx(1, abs=1e-12)
    assert estimate.log_likelihood == pytest.approx(log_likelihood(estimate.weights, entries, occurring), abs=1e-12)
    constraint = {"type": "eq", "fun": lambda w: w.sum() - 1}

    def cost(weights: np.ndarray) -> float:
        return -log_likelihood(np.maximum(weights, 1e-9), entries, occurring)

    best = minimize(cost, np.full(3, 1 / 3), bounds=[(1e-9, 1)] * 3, constraints=[constraint])
    assert -best.fun <= estimate.log_likelihood + estimate.gap + 1e-6


def test_libqif_comes_to_the_same_weights():
    qif = pytest.importorskip("qif", reason="qif is not installed: make oracles")
    counts = [20, 31, 17, 22, 10]
    shares = np.array(counts) / 100
    theirs, _ = qif.channel.iterative_bayesian_update(NOISY.floats(), shares, max_diff=1e-12)
    ours = iterative_bayesian_update(NOISY, counts, gap=1e-12, rounds=10**6)
    assert np.abs(ours.weights - theirs).max() < 1e-4


def test_for_randomised_response_it_is_the_likeliest_law_in_closed_form():
    counts = [50, 30, 20]
    closed = estimate_frequencies(CategoryMechanism("c", alpha("1/2"), ("a", "b", "c")), counts)
    estimate = iterative_bayesian_update(response(3, alpha("1/2")), counts, gap=1e-10)
    assert estimate.weights == pytest.approx([float(share) for share in closed.likeliest], abs=1e-4)


def test_answers_that_are_certain_are_the_prior():
    estimate = iterative_bayesian_update(identity(range(3)), [1, 2, 1])
    assert estimate.weights.tolist() == [0.25, 0.5, 0.25]
    assert estimate.rounds == 1
    assert estimate.gap == 0
    assert [str(weight) for weight in estimate.prior().exact()] == ["1/4", "1/2", "1/4"]


def test_the_likelihood_never_falls_and_the_gap_holds_in_every_round():
    counts = [20, 31, 17, 22, 10]
    estimates = [iterative_bayesian_update(NOISY, counts, gap=0, rounds=k) for k in range(30)]
    likelihoods = [estimate.log_likelihood for estimate in estimates]
    best = iterative_bayesian_update(NOISY, counts, gap=1e-13, rounds=10**6).log_likelihood
    assert all(b >= a - 1e-14 for a, b in pairwise(likelihoods))
    assert all(best <= e.log_likelihood + e.gap + 1e-12 for e in estimates)
    assert [e.rounds for e in estimates] == list(range(30))


def test_a_mapping_is_matched_by_label_and_what_is_left_out_was_never_given():
    by_label = iterative_bayesian_update(NOISY, {3: 5, "0": 2})
    in_order = iterative_bayesian_update(NOISY, [2, 0, 0, 5, 0])
    assert by_label.weights.tolist() == in_order.weights.tolist()


def test_a_secret_without_weight_at_the_start_keeps_none():
    estimate = iterative_bayesian_update(NOISY, [5, 4, 3, 2, 1], [0, "1/4", "1/4", "1/4", "1/4"])
    assert estimate.weights[0] == 0
    assert estimate.gap <= 1e-6


def test_a_hundred_places_are_recovered_from_many_reports():
    places = grid(6, 6)
    source = channel_on("planar", places, epsilon(2))
    truth = np.array([1.0 + (k % 7) for k in range(36)])
    truth /= truth.sum()
    estimate = iterative_bayesian_update(source, truth @ source.floats() * 1e6, gap=1e-9, rounds=50_000)
    assert np.abs(estimate.weights - truth).max() < 2e-3
    assert str(estimate.inputs[7]) == "1,1"


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([1, 2], {}, "counts must be 5 numbers, one for each output, got 2"),
        ([0] * 5, {}, "counts must be finite numbers >= 0, some of them above 0"),
        ([1, 1, math.nan, 1, 1], {}, "counts must be finite"),
        ([1, 1, -1, 1, 1], {}, "counts must be finite"),
        ({"9": 1}, {}, 'counts must be of outputs of the channel, got "9"'),
        (["x"] * 5, {}, "counts must be"),
        ([1] * 5, {"start": [1, 0]}, "start must have 5 weights"),
        ([1] * 5, {"start": [1] * 5}, "start must be weights >= 0 that sum to 1"),
        ([1] * 5, {"gap": -1}, "gap must be a number >= 0"),
        ([1] * 5, {"rounds": -1}, "rounds must be a whole number from 0 to"),
    ],
)
def test_bad_input_is_refused_in_one_line(counts, options, message):
    with pytest.raises(InputError, match=message):
        iterative_bayesian_update(NOISY, counts, **options)


def test_answers_that_cannot_occur_are_refused_by_name():
    with pytest.raises(InputError, match='counts must be of answers that can occur, got some of "b"'):
        iterative_bayesian_update(channel([[1, 0], [1, 0]], [0, 1], ["a", "b"]), [3, 1])
