"""Ties settled exactly: which of a few readings is best for one answer, in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from utmost.consumer.counts.posteriors import mass_up_to
from utmost.consumer.counts.recurrences import Ints, PosteriorSums
from utmost.consumer.losses import Binary, Linear, Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Number, ball, sign
from utmost.exact.working_precision import working_precision

MAX_EXACT_WORK = 10**5  # counts times readings that are compared for a loss with plateaus
PRECISION_BITS = (64, 128, 256, 512, 1024)  # bits; what they leave undecided is decided symbolically


@runtime_checkable
class ExactRate(Protocol):
    """A privacy level: α exact, and ε = −ln α as the nearest double."""

    @property
    def alpha(self) -> Number:
        """The exact α."""

    @property
    def epsilon(self) -> float:
        """The nearest double to ε."""


class TieBreaker:
    """Compares readings of one answer exactly: the sign of Σ_x π_x α^|x−y| (ℓ(x, w) − ℓ(x, w′)).

    The prior's exact weights are worked out when the first question comes: most priors raise none. A loss with
    plateaus may raise thousands: it gets answers for the first 10⁵ terms.
    """

    def __init__(self, prior: Prior, alpha: Number, loss: Loss) -> None:
        self.prior, self.alpha, self.loss = prior, alpha, loss
        self.remaining_work: float = MAX_EXACT_WORK if loss.has_plateaus else math.inf
        self.exact, self.odds = lru_cache(maxsize=1 << 18)(loss.exact), lru_cache(maxsize=1 << 20)(self._odds)

    @cached_property
    def support(self) -> list[tuple[int, Number]]:
        """The counts with a weight; empty for a prior that is exact in principle, but not at its size."""
        try:
            return [(x, weight) for x, weight in enumerate(self.prior.proportions()) if weight]
        except InputError:
            return []

    @cached_property
    def weights(self) -> dict[int, Number]:
        """The same by count."""
        return dict(self.support)

    def best(self, answer: int, readings: Sequence[int], default: int) -> int:
        """The smallest of the readings (in ascending order) with the least expected loss; `default` if it is not known.

        Beyond the ends of the prior's support the posterior is that of the end.
        """
        self.remaining_work -= self.prior.size * len(readings)
        if self.remaining_work < 0 or not self.support:
            return default
        answer = min(max(answer, self.support[0][0]), self.support[-1][0])
        winner = readings[0]
        for reading in readings[1:]:
            if self._difference(answer, reading, winner) < 0:
                winner = reading
        return winner

    def settle(self, remap: Ints, rivals: dict[int, list[int]], requested: frozenset[int] | None) -> None:
        """Put the best of each answer's rivals into the remap, for all answers or those that are requested."""
        for answer, candidates in rivals.items():
            if requested is None or answer in requested:
                remap[answer] = self.best(answer, candidates, int(remap[answer]))

    def _difference(self, answer: int, reading: int, other: int) -> int:
        if isinstance(self.loss.closed_form, Binary):
            return self.odds(reading, other, abs(reading - answer) - abs(other - answer))
        coefficients: list[Number] = [Fraction(0)] * (max(answer, self.support[-1][0] - answer) + 1)
        for x, weight in self.support:
            gain = self.exact(x, reading) - self.exact(x, other)
            if gain:
                coefficients[abs(x - answer)] += weight * gain
        return sign_of_polynomial(coefficients, self.alpha)

    def _odds(self, reading: int, other: int, extra_distance: int) -> int:
        """The sign of π_other − π_reading·α^further: the same question for many answers, asked once."""
        zeros = [Fraction(0)] * (abs(extra_distance) - 1)
        reading_term, other_term = -self.weights[reading], self.weights[other]
        if not extra_distance:
            return sign(other_term + reading_term)
        return sign_of_polynomial(
            [other_term, *zeros, reading_term] if extra_distance > 0 else [reading_term, *zeros, other_term], self.alpha
        )


def sign_of_polynomial(coefficients: Sequence[Number], alpha: Number) -> int:
    """The sign of Σ_k c_k α^k, decided: by integers where all is rational, else by balls, at last symbolically.

    >>> sign_of_polynomial([Fraction(1), Fraction(-2)], Fraction(1, 2))
    0
    """
    if not any(coefficients):
        return 0
    if isinstance(alpha, Fraction) and all(isinstance(c, Fraction) for c in coefficients):
        return _rational_sign(coefficients, alpha)
    for bits in PRECISION_BITS:
        ball_sign = _ball_sign(coefficients, alpha, bits)
        if ball_sign:
            return ball_sign
    total: Number = Fraction(0)
    for coefficient in reversed(coefficients):
        total = total * alpha + coefficient
    return sign(total)


def _rational_sign(coefficients: Sequence[Number], alpha: Fraction) -> int:
    from flint import fmpq, fmpq_poly

    polynomial = fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients if isinstance(c, Fraction)])
    value = polynomial(fmpq(alpha.numerator, alpha.denominator))
    return int(value > 0) - int(value < 0)


def _ball_sign(coefficients: Sequence[Number], alpha: Number, bits: int) -> int:
    from flint import arb_poly

    with working_precision(bits):
        value = arb_poly([ball(c, bits) for c in coefficients])(ball(alpha, bits))
        return int(value > 0) - int(value < 0)


def linear_rivals(sums: PosteriorSums, loss: Linear, remap: Ints) -> dict[int, list[int]]:
    """For the answers whose quantile is uncertain: the support points that may be it, ascending.

    They are those whose P(x ≤ w | y) is within the rounding error of θ = under/(under + over), and the next one above.
    """
    if not (loss.under and loss.over):
        return {}
    theta, relative_error = float(loss.under) / (float(loss.under) + float(loss.over)), sums.relative_error_bound
    support = np.flatnonzero(np.isfinite(sums.logs))
    answers, position = np.arange(sums.size), np.searchsorted(support, remap)
    low, high = position.copy(), position.copy()
    while True:
        previous = support[np.maximum(low - 1, 0)]
        is_close = (low > 0) & (mass_up_to(sums, answers, previous) >= theta - relative_error)
        if not is_close.any():
            break
        low -= is_close
    while True:
        is_close = (high < len(support) - 1) & (mass_up_to(sums, answers, support[high]) <= theta + relative_error)
        if not is_close.any():
            break
        high += is_close
    return {int(y): support[low[y] : high[y] + 1].tolist() for y in np.flatnonzero(low < high)}


def squared_rivals(sums: PosteriorSums) -> dict[int, list[int]]:
    """For the answers whose mean is within the rounding error of a half: the counts on both sides of it."""
    mean_distance = (sums.left.mass * sums.left.mean + sums.right.mass * sums.right.mean) / sums.total
    lower = np.rint(sums.offset - 0.5)
    unsure = np.abs(sums.offset - 0.5 - lower) <= 4 * sums.relative_error_bound * (1 + mean_distance)
    first = np.arange(sums.size) + lower.astype(np.int64)
    in_range = unsure & (first >= 0) & (first + 1 < sums.size)
    return {int(y): [int(first[y]), int(first[y]) + 1] for y in np.flatnonzero(in_range)}


def exact_modes(sums: PosteriorSums, tie_breaker: TieBreaker) -> Ints:
    """The smallest exact mode of every posterior.

    Two counts below y keep their order as y grows, so the best count up to y is the better of y and the best up to
    y − 1; likewise above. That makes 3n comparisons, of which those within the rounding error are decided exactly.
    """
    size, relative_error = sums.size, sums.relative_error_bound

    def better(y: int, first: int, second: int) -> int:
        if first < 0 or second < 0 or first == second:
            return max(first, second)
        lead = float(logs[second] - logs[first]) - sums.epsilon * (abs(second - y) - abs(first - y))
        likelier = second if lead > 0 else first
        return tie_breaker.best(y, [first, second], likelier) if abs(lead) <= relative_error else likelier

    logs, support_counts = sums.logs, np.where(np.isfinite(sums.logs), np.arange(sums.size), -1).tolist()
    before, after = support_counts.copy(), support_counts.copy()
    for y in range(1, size):
        before[y] = better(y, before[y - 1], support_counts[y])
        after[-1 - y] = better(size - 1 - y, support_counts[-1 - y], after[-y])
    return np.array([better(y, before[y], after[y]) for y in range(size)])
