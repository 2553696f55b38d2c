"""Readings of answers with Gaussian noise, against Bayes' theorem written out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from utmost.noise.gaussian import mass_ball, tail_ball
from utmost.publish.estimate import belief_curves, chart_data
from utmost.publish.release_model import Answer
from utmost.queries import Count
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.query import GAUSSIAN_CLAIM

RHO = Fraction(1, 50)


def answer_of(mechanism: GaussianLattice, value: int) -> Answer:
    error = mechanism.error_law()
    fields: dict[str, Any] = {"rho": RHO, "noise_delta": Fraction("1e-6")}
    return Answer("q", Count("x = 1"), Fraction(1), 1, mechanism, GAUSSIAN_CLAIM, error, value, **fields)


def exact_likelihood(mechanism: GaussianLattice, truth: int, value: int) -> float:
    """Pr[value | truth], an end with all that lies beyond it."""
    variance = mechanism.variance
    if mechanism.low is not None and value == mechanism.low:
        return float(tail_ball(variance, truth - value, 64))
    if mechanism.high is not None and value == mechanism.high:
        return float(tail_ball(variance, value - truth, 64))
    return float(mass_ball(variance, value - truth, 64))


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(2), Fraction(25), Fraction(10**4)])
@pytest.mark.parametrize("value", [0, 1, 17, 39, 40])
@pytest.mark.parametrize("prior", ["uniform", "binomial:0.3"])
def test_the_posterior_is_that_of_bayes(variance: Fraction, value: int, prior: str) -> None:
    mechanism = GaussianLattice(variance, 0, 40)
    estimate = answer_of(mechanism, value).estimate(prior, "absolute")
    belief = belief_curves(estimate)
    weights = belief.prior * [exact_likelihood(mechanism, truth, value) for truth in range(41)]
    assert belief.posterior == pytest.approx(weights / weights.sum(), rel=1e-9, abs=1e-280)
    losses = [float(weights @ np.abs(np.arange(41) - guess)) / weights.sum() for guess in range(41)]
    (reading,) = estimate.readings
    assert reading.loss is not None
    assert reading.loss.expected == pytest.approx(min(losses), rel=1e-9, abs=1e-12)
    assert losses[int(reading.estimate)] == pytest.approx(min(losses), rel=1e-9, abs=1e-12)
    assert reading.loss.face_value == pytest.approx(losses[value], rel=1e-9, abs=1e-12)
    assert (reading.unbiased is None) == (value in (0, 40))


@pytest.mark.parametrize("variance", [Fraction(2), Fraction(25)])
def test_the_losses_beforehand_are_the_mean_over_all_answers(variance: Fraction) -> None:
    mechanism = GaussianLattice(variance, 0, 12)
    estimate = answer_of(mechanism, 3).estimate("binomial:0.4", "absolute")
    prior = belief_curves(estimate).prior
    likelihood = np.array([[exact_likelihood(mechanism, x, y) for y in range(13)] for x in range(13)])
    joint = prior[:, None] * likelihood
    losses = np.abs(np.arange(13)[:, None] - np.arange(13)[None, :])
    best = sum(min(joint[:, y] @ losses) for y in range(13))
    assert estimate.before is not None
    assert estimate.before.expected == pytest.approx(best, rel=1e-9)
    assert estimate.before.face_value == pytest.approx(float((joint * losses).sum()), rel=1e-9)


@pytest.mark.parametrize("value", [-7, 0, 12, 15])
def test_ends_that_do_not_absorb_bound_the_truth_alone(value: int) -> None:
    """The posterior is that of Bayes with no tail summed up; the losses beforehand are over all answers."""
    mechanism = GaussianLattice(Fraction(4), 0, 12, clamped=False)
    estimate = answer_of(mechanism, value).estimate("binomial:0.4", "absolute")
    belief = belief_curves(estimate)
    weights = belief.prior * [float(mass_ball(mechanism.variance, value - x, 64)) for x in range(13)]
    assert belief.posterior == pytest.approx(weights / weights.sum(), rel=1e-9, abs=1e-280)
    (reading,) = estimate.readings
    assert reading.unbiased == value
    answers = range(-60, 73)
    likelihood = np.array([[float(mass_ball(mechanism.variance, y - x, 64)) for y in answers] for x in range(13)])
    losses = np.abs(np.arange(13)[:, None] - np.arange(13)[None, :])
    best = sum(min((belief.prior * column) @ losses) for column in likelihood.T)
    assert estimate.before is not None
    assert estimate.before.expected == pytest.approx(best, rel=1e-9)


def test_a_count_up_to_a_million_is_read_near_its_answer() -> None:
    mechanism = GaussianLattice(Fraction(10**6), 0, 10**6)
    estimate = answer_of(mechanism, 345_678).estimate("uniform", "squared")
    (reading,) = estimate.readings
    assert reading.interval is not None
    assert reading.estimate == 345_678
    low, high = (int(end) - 345_678 for end in reading.interval)
    assert (-low, high) == (1960, 1960)
    assert reading.loss is not None
    assert reading.loss.expected == pytest.approx(10**6, rel=1e-6)
    data = chart_data(estimate)
    assert max(data.posterior) == pytest.approx(1 / math.sqrt(2 * math.pi * 10**6), rel=1e-3)
    assert len(data.remap) > 100
    assert estimate.claim.startswith("none claimed")


def test_a_prior_far_from_the_answer_is_not_cut_off() -> None:
    """Of a prior that holds counts near 0 alone, an answer of 1000 leaves the nearest to it."""
    mechanism = GaussianLattice(Fraction(4), None, None)
    estimate = answer_of(mechanism, 1000).estimate("uniform", "absolute", at_least=0, at_most=30)
    assert estimate.estimate == 30
    assert "very unlikely under your prior" in estimate.remark


def test_the_total_of_cells_has_the_variance_of_all() -> None:
    from utmost.publish.reading.estimates import unbiased_total

    mechanism = GaussianLattice(Fraction(9), 0, None, Fraction(0), Fraction(1, 2))
    assert unbiased_total(mechanism, [4, 7, 10]) == (Fraction(21, 2), pytest.approx(math.sqrt(27) / 2))
    assert unbiased_total(mechanism, [4, 0]) is None
