"""Read a number with canonical noise: its likelihood, its posterior, and losses beforehand.

The noise is within R, so a truth further than R from the answer is impossible. The posterior is on the points within R
alone, and exact there: nothing is left out. Ends do not absorb, so the likelihood of a truth x is α^|x − y| for every
answer y within R of it.

Where the prior holds no point within R possible, as points far apart or a prior of something else can, the likelihood
goes on as α^|x − y| beyond R: that reads the answer as geometric noise would be read.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from utmost.publish.reading.gaussian_readings import MAX_ANSWER_WORK, Positions, axis_gaps
from utmost.publish.reading.prior_points import Axis

if TYPE_CHECKING:
    from utmost.publish.reading.estimates import ExpectedLosses, Floats, Reader
    from utmost.queries.answer_mechanisms.canonical import CanonicalLattice

MAX_ANSWERS = 20_000  # that are read one by one for the losses before an answer is known


def canonical_likelihood(axis: Axis, mechanism: CanonicalLattice, number: int, logs: Floats | None = None) -> Floats:
    """The logarithm of the likelihood of each point, up to a constant; −∞ beyond R, if a point within is possible.

    `logs` has −∞ at points that are impossible.
    """
    distances = np.abs(axis_gaps(axis, mechanism, number))
    within = distances <= mechanism.reach
    likelihood = np.asarray(-float(mechanism.epsilon) * distances)
    is_met = bool((within if logs is None else within & np.isfinite(logs)).any())
    return np.where(within, likelihood, -np.inf) if is_met else likelihood


def canonical_positions(reader: Reader, mechanism: CanonicalLattice, number: int) -> Positions:
    """The positions of the best reading and of its interval, and the losses of it and of face value."""
    face, logs = reader.axis.nearest(mechanism.value(number)), reader.prior.logs()
    window = _window(reader.axis, mechanism, number)
    if not np.isfinite(logs[window]).any():
        return reader.best(reader.after(canonical_likelihood(reader.axis, mechanism, number, logs)), face)
    near = Axis(reader.axis.value(window.start), reader.axis.step, window.stop - window.start)
    scores = logs[window] + canonical_likelihood(near, mechanism, number, logs[window])
    weights = np.exp(scores - scores.max())
    if not reader.loss.by_error or not window.start <= face < window.stop:
        posterior = np.zeros(reader.axis.size)
        posterior[window] = weights / weights.sum()
        return reader.best(posterior, face)
    positions, losses = replace(reader, axis=near).best(weights / weights.sum(), face - window.start)
    best, low, high = (position + window.start for position in positions)
    return (best, low, high), losses


def _window(axis: Axis, mechanism: CanonicalLattice, number: int) -> slice:
    """The points within R of the answer; none where it is further from all."""
    first = (mechanism.value(number - mechanism.reach) - axis.first) / axis.step
    last = (mechanism.value(number + mechanism.reach) - axis.first) / axis.step
    start = min(max(math.ceil(first), 0), axis.size)
    return slice(start, max(min(math.floor(last) + 1, axis.size), start))


def losses_before(reader: Reader, mechanism: CanonicalLattice) -> ExpectedLosses | None:
    """The expected losses before an answer is known, over all answers that there are; None where that is much work."""
    from utmost.publish.reading.estimates import ExpectedLosses

    answers = _possible_answers(reader.axis, mechanism)
    points = reader.axis.size if not reader.loss.by_error else min(reader.axis.size, 2 * mechanism.reach + 1)
    if reader.is_partial or len(answers) > MAX_ANSWERS or len(answers) * points > MAX_ANSWER_WORK:
        return None
    prior, total_mass = np.exp(reader.prior.logs()), float(mechanism.law.mass(0))
    total = face_total = 0.0
    for number in answers:
        window = _window(reader.axis, mechanism, number)
        near = Axis(reader.axis.value(window.start), reader.axis.step, window.stop - window.start)
        if not near.size:
            continue
        probability = total_mass * float(prior[window] @ np.exp(canonical_likelihood(near, mechanism, number)))
        if probability > 0:
            _, (loss, face_loss) = canonical_positions(reader, mechanism, number)
            total, face_total = total + probability * loss, face_total + probability * face_loss
    return ExpectedLosses.of(reader.scale, total, face_total)


def _possible_answers(axis: Axis, mechanism: CanonicalLattice) -> range:
    """The answers that truths on the axis lead to."""
    first, last = ((value - mechanism.origin) / mechanism.unit for value in (axis.first, axis.value(axis.size - 1)))
    return range(math.floor(first) - mechanism.reach, math.ceil(last) + mechanism.reach + 1)


def canonical_tails(reader: Reader, mechanism: CanonicalLattice, number: int) -> tuple[float, float]:
    """Upper bounds on the prior probabilities of an answer ≤ y, and of one ≥ y: Pr[X ≥ d] for the whole d ≤ the gap."""
    gaps, weights = axis_gaps(reader.axis, mechanism, number), np.exp(reader.prior.logs())
    below, above = (_tail(np.floor(side), mechanism) for side in (gaps, -gaps))
    return min(float(weights @ below), 1.0), min(float(weights @ above), 1.0)


def _tail(gaps: Floats, mechanism: CanonicalLattice) -> Floats:
    """Pr[X ≥ d] = (α^d − α^(R+1))/(1 + α − 2·α^(R+1)) for d from 1 to R, 0 beyond, and 1 less that of 1 − d below."""
    rate, reach = float(mechanism.epsilon), mechanism.reach
    end = math.exp(-rate * (reach + 1))
    distances = np.minimum(np.where(gaps >= 1, gaps, 1 - gaps), reach + 1)
    tails = (np.exp(-rate * distances) - end) / (1 + math.exp(-rate) - 2 * end)
    return np.where(gaps >= 1, tails, 1 - tails)
