"""Where the posteriors have their mass, and which answers need a search of their own.

An answer with next to nothing at or below it is *idle*: from y to y + 1 every weight above y grows by the same 1/α, so
its posterior, best reading and loss are those of y + 1. Likewise an answer with next to nothing at or above it and
y − 1. Only the others, the *active* ones, are searched; the mass of such a posterior lies on both sides of y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from utmost.consumer.counts.closed_form import binary_losses
from utmost.consumer.counts.recurrences import Flags, Floats, Ints, PosteriorSums
from utmost.consumer.losses import Loss

MAX_FULL_COUNTS = 4096  # counts up to which nothing is left out
NEGLECTED_SHARE = 2.0**-40  # how much the neglected part may change an expected loss, relatively
MIN_EXPECTED_LOSS = 2.0**-100  # expected losses below this are not told from 0


@dataclass(frozen=True, slots=True)
class PosteriorBulk:
    """For every answer the first and the last count of its posterior that matter, and the answer it copies."""

    low: Ints
    high: Ints
    source: Ints

    @property
    def active(self) -> Ints:
        """The answers that copy no other."""
        return np.flatnonzero(self.source == np.arange(len(self.source)))


def posterior_bulk(sums: PosteriorSums, loss: Loss) -> PosteriorBulk:
    """Up to 4096 counts everything matters; above, all but a mass τ/n on either side, τ from `log_neglected_mass`.

    An idle answer copies the nearest active one beyond its side: errors of τ/n add up to at most τ along the way.
    """
    size, answers = sums.size, np.arange(sums.size)
    if size <= MAX_FULL_COUNTS:
        return PosteriorBulk(np.zeros(size, dtype=np.int64), np.full(size, size - 1), answers)
    log_tail = log_neglected_mass(sums, loss) - math.log(2 * size)
    total, left = sums.log(sums.total), sums.log(sums.left.mass)
    above = left < total + log_tail
    below = sums.log(sums.right.mass + sums.weight) < total + log_tail
    support = np.flatnonzero(np.isfinite(sums.logs))
    low = _first_reaching(support, left[support], total + log_tail, sums.epsilon)
    mirror_low = _first_reaching(
        size - 1 - support[::-1], _log_mass_from(sums, support), (total + log_tail)[::-1], sums.epsilon
    )
    return PosteriorBulk(low, size - 1 - mirror_low[::-1], _copied_answers(above, below))


def log_neglected_mass(sums: PosteriorSums, loss: Loss) -> float:
    """ln τ with τ·max ℓ ≤ 2^−40 of the expected loss of the best remap, or of 2^−100 if that is less.

    ℓ is taken to be monotone on both sides of every truth, as every legal one is. So its largest value is at an end,
    and its least apart from the truth beside it; the expected loss is at least P(x ≠ mode) times that.
    """
    counts = np.arange(sums.size)
    max_loss = max(float(loss.array(counts, 0).max()), float(loss.array(counts, sums.size - 1).max()))
    min_loss = min(float(loss.array(counts[1:], counts[:-1]).min()), float(loss.array(counts[:-1], counts[1:]).min()))
    miss_chances = np.where(sums.mode == counts, binary_losses(sums, counts), 0.0)
    chances = np.exp(np.minimum(sums.log(sums.total), 0)) * math.tanh(sums.epsilon / 2)
    floor = max(min_loss * float(chances @ miss_chances), MIN_EXPECTED_LOSS * min(max_loss, 1.0))
    return math.log(NEGLECTED_SHARE) + math.log(floor) - math.log(max_loss) if floor > 0 else math.log(NEGLECTED_SHARE)


def _log_mass_from(sums: PosteriorSums, support: Ints) -> Floats:
    """ln Σ_{x≥w} π_x α^(x−w) at the points w of the support, from the last to the first."""
    return sums.log(sums.right.mass + sums.weight)[support][::-1]


def _first_reaching(support: Ints, left: Floats, thresholds: Floats, epsilon: float) -> Ints:
    """The first point w of the support with L_w·α^(y−w) not below e^sought_y: L_w·α^−w does not decrease in w."""
    keys = np.maximum.accumulate(left + epsilon * support)
    positions = np.searchsorted(keys, thresholds + epsilon * np.arange(len(thresholds)))
    return np.asarray(support[np.minimum(positions, len(support) - 1)])


def _copied_answers(above: Flags, below: Flags) -> Ints:
    """Itself, or the next answer up that is not idle for the mass above it, or the next down likewise."""
    answers = np.arange(len(above))
    next_above = np.minimum.accumulate(np.where(above, len(above) - 1, answers)[::-1])[::-1]
    next_below = np.maximum.accumulate(np.where(below, 0, answers))
    return np.asarray(np.where(above, next_above, np.where(below, next_below, answers)))
