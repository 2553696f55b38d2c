"""Read a number with discrete Gaussian noise: its likelihood, its posterior near the answer, and losses beforehand.

Between the ends the answer y has the likelihood e^(−(x − y)²/(2σ²)), and at an end that absorbs that of all noise
beyond it, Pr[X ≤ y − x] or Pr[X ≥ y − x]. Unlike that of geometric noise it depends on how far the truth lies from the
end, so it is summed up: in logarithms, from the smallest term on, so that no term is lost.

**Near the answer.** Of a prior on many points only those within 12σ of the answer are looked at. A truth beyond has a
likelihood of at most e^−72, relative to the largest there is, so what is left out of the posterior is at most e^−72
divided by the prior mean of the likelihood. Where that is above 10^−12, as with a prior that is far from the answer,
all points are looked at.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from utmost.publish.reading.prior_points import Axis
from utmost.queries.answer_mechanisms.gaussian import NEAR_DEVIATIONS, GaussianLattice
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism

if TYPE_CHECKING:
    from utmost.publish.reading.estimates import ExpectedLosses, Floats, Reader

MAX_LEFT_OUT = 1e-12  # of the posterior
MAX_ANSWER_WORK = 2e7  # points times answers, for the losses before an answer is known
TAIL_DEVIATIONS = 40  # σ beyond the last point from which a tail is summed up

Positions = tuple[tuple[int, int, int], tuple[float, float]]


def gaussian_likelihood(axis: Axis, mechanism: GaussianLattice, number: int) -> Floats:
    """The logarithm of the likelihood of each point, up to a constant: at most 0 where the answer is near."""
    gaps = axis_gaps(axis, mechanism, number)
    variance = float(mechanism.variance)
    if mechanism.low == mechanism.high is not None:
        return np.zeros(axis.size)
    low, high = mechanism.absorbing_ends
    if number == low:
        return _log_tails(gaps, variance)
    if number == high:
        return _log_tails(-gaps, variance)
    return np.asarray(-(gaps**2) / (2 * variance))


def axis_gaps(axis: Axis, mechanism: LatticeMechanism, number: int) -> Floats:
    """x_k − y in steps of the lattice, taken from the point below y, so that it keeps its digits however large y is."""
    first, step = (axis.first - mechanism.origin) / mechanism.unit, axis.step / mechanism.unit
    below = math.floor((number - first) / step)
    rest = float(number - first - below * step)
    return np.asarray((np.arange(axis.size) - below) * float(step) - rest)


def _log_tails(gaps: Floats, variance: float) -> Floats:
    """ln Σ f(m) over the whole m ≥ each gap, which is rounded to a whole number, relative to ln Σ f(m) over all m."""
    whole = np.rint(gaps)
    first, last = float(whole.min()), float(whole.max()) + math.ceil(TAIL_DEVIATIONS * math.sqrt(variance)) + 1
    if last - first > MAX_ANSWER_WORK:  # far apart: the integral stands for the sum
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(-(whole - 0.5) / math.sqrt(variance)))
    logs = -((first + np.arange(int(last - first) + 1)) ** 2) / (2 * variance)
    sums = np.logaddexp.accumulate(logs[::-1])[::-1]
    numbers = np.arange(1, int(TAIL_DEVIATIONS * math.sqrt(variance)) + 2)
    total = math.log(1 + 2 * float(np.exp(-(numbers**2) / (2 * variance)).sum()))
    return np.asarray(sums[(whole - first).astype(np.int64)] - total)


def gaussian_positions(reader: Reader, mechanism: GaussianLattice, number: int) -> Positions:
    """The positions of the best reading and of its interval, and the losses of it and of face value."""
    face = reader.axis.nearest(mechanism.value(number))
    window = _window(reader, mechanism, number)
    near = Axis(reader.axis.value(window.start), reader.axis.step, window.stop - window.start)
    scores = reader.prior.logs()[window] + gaussian_likelihood(near, mechanism, number)
    if not _holds_nearly_all(scores) and near.size < reader.axis.size:
        return reader.best(reader.after(gaussian_likelihood(reader.axis, mechanism, number)), face)
    if not reader.loss.by_error or not window.start <= face < window.stop:
        posterior = np.zeros(reader.axis.size)
        posterior[window] = _normalise(scores)
        return reader.best(posterior, face)
    positions, losses = replace(reader, axis=near).best(_normalise(scores), face - window.start)
    best, low, high = (position + window.start for position in positions)
    return (best, low, high), losses


def _window(reader: Reader, mechanism: GaussianLattice, number: int) -> slice:
    """The points within 12σ of the answer, at least one."""
    centre = reader.axis.nearest(mechanism.value(number))
    reach = math.ceil(NEAR_DEVIATIONS * mechanism.noise_steps * mechanism.unit / reader.axis.step) + 1
    return slice(max(centre - reach, 0), min(centre + reach + 1, reader.axis.size))


def _holds_nearly_all(scores: Floats) -> bool:
    """Is what lies beyond 12σ below 10^−12 of the posterior."""
    peak = float(scores.max())
    if not math.isfinite(peak):
        return False
    log_mass = peak + math.log(float(np.exp(scores - peak).sum()))
    return -(NEAR_DEVIATIONS**2) / 2 - log_mass <= math.log(MAX_LEFT_OUT)


def _normalise(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def losses_before(reader: Reader, mechanism: GaussianLattice) -> ExpectedLosses | None:
    """The expected losses before an answer is known, over all answers; None where that is too much work.

    Answers beyond 12σ from every point are left out; all of them together have probability below 10^−30.
    """
    from utmost.publish.reading.estimates import ExpectedLosses

    answers = _possible_answers(reader.axis, mechanism)
    if len(answers) * reader.axis.size > MAX_ANSWER_WORK or reader.is_partial:
        return None
    prior, scale = np.exp(reader.prior.logs()), math.sqrt(2 * math.pi * float(mechanism.variance))
    total = face_total = 0.0
    for number in answers:
        likelihood = np.exp(gaussian_likelihood(reader.axis, mechanism, number))
        likelihood /= 1 if number in mechanism.absorbing_ends else scale
        joint = prior * likelihood
        probability = float(joint.sum())
        if probability > 0:
            _, (loss, face_loss) = reader.best(joint / probability, reader.axis.nearest(mechanism.value(number)))
            total, face_total = total + probability * loss, face_total + probability * face_loss
    return ExpectedLosses.of(reader.scale, total, face_total)


def _possible_answers(axis: Axis, mechanism: GaussianLattice) -> range:
    """The answers that truths on the axis lead to, but for noise beyond 12σ."""
    reach = math.ceil(mechanism.near_steps)
    ends = ((value - mechanism.origin) / mechanism.unit for value in (axis.first, axis.value(axis.size - 1)))
    first, last = math.floor(next(ends)) - reach, math.ceil(next(ends)) + reach
    low, high = mechanism.absorbing_ends
    first = first if low is None else max(first, low)
    last = last if high is None else min(last, high)
    return range(first, last + 1)


def gaussian_tails(reader: Reader, mechanism: GaussianLattice, number: int) -> tuple[float, float]:
    """Upper bounds on the prior probabilities of an answer ≤ y, and of one ≥ y: Pr[X ≥ m] ≤ Pr[N ≥ m − 1].

    N is normal with the same σ (Canonne, Kamath and Steinke 2020, Cor. 23); points between numbers of the lattice and
    ends only round further outward.
    """
    from scipy.special import ndtr

    gaps = axis_gaps(reader.axis, mechanism, number)
    weights, deviation = np.exp(reader.prior.logs()), math.sqrt(mechanism.variance)
    below, above = (ndtr(-(np.floor(side) - 1) / deviation) for side in (gaps, -gaps))
    return min(float(weights @ below), 1.0), min(float(weights @ above), 1.0)
