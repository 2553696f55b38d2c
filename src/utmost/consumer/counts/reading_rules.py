"""How answers are read: by a quantile, the mean, the mode or at face value; ties are settled exactly."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from utmost.consumer.counts import posteriors
from utmost.consumer.counts.posteriors import MAX_FULL_COUNTS, Floats, Ints, PosteriorSums, mass_up_to
from utmost.consumer.losses import Binary, Linear, Loss, Squared
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


class ReadingRule(ABC):
    """How a loss with a closed form is read."""

    __slots__ = ()

    @abstractmethod
    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The best reading of each answer; ties are settled by the tie breaker, if there is one."""

    @abstractmethod
    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The expected loss of reading y as remap[y], given each answer y."""

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The same to full relative accuracy, where the exact path could run."""
        return self.losses(sums, remap)

    @abstractmethod
    def minimiser(self, chances: Floats) -> int:
        """The best reading of one posterior."""


@dataclass(frozen=True, slots=True)
class QuantileRule(ReadingRule):
    """Linear on each side: the best reading is the quantile at under/(under + over)."""

    loss: Linear

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The smallest such quantile."""
        remap = posteriors.linear_remap(sums, self.loss)
        if tie_breaker is not None:
            tie_breaker.settle(remap, linear_rivals(sums, self.loss, remap), requested)
        return remap

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """From the moments of the posterior."""
        return posteriors.linear_losses(sums, self.loss, remap)

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """Those that came out of a subtraction are summed anew."""
        return _sharpen(sums, self.loss, remap, self.losses(sums, remap))

    def minimiser(self, chances: Floats) -> int:
        """The smallest w with over·P(x ≤ w) ≥ under·P(x > w)."""
        support = np.flatnonzero(chances)
        if not self.loss.under:
            return 0
        above = np.append(np.cumsum(chances[support][::-1])[::-1][1:], 0.0)
        reaches = float(self.loss.over) * np.cumsum(chances[support]) >= float(self.loss.under) * above
        return int(support[np.argmax(reaches)])


@dataclass(frozen=True, slots=True)
class MeanRule(ReadingRule):
    """Squared: the best reading is the mean, rounded to the nearest count, a half downwards."""

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The rounded means."""
        remap = posteriors.squared_remap(sums)
        if tie_breaker is not None:
            tie_breaker.settle(remap, squared_rivals(sums), requested)
        return remap

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The variance and the square of the distance to the mean."""
        return posteriors.squared_losses(sums, remap)

    def minimiser(self, chances: Floats) -> int:
        """The mean, measured from the mode so that rounding is least."""
        centre = int(chances.argmax())
        return centre + int(np.ceil(float(chances @ (np.arange(len(chances)) - centre)) - 0.5))


@dataclass(frozen=True, slots=True)
class ModeRule(ReadingRule):
    """Binary: the best reading is the mode."""

    loss: Binary

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The smallest modes."""
        return sums.mode if tie_breaker is None else exact_modes(sums, tie_breaker)

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The chance that the reading is wrong."""
        return posteriors.binary_losses(sums, remap)

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """Those that came out of a subtraction are summed anew."""
        return _sharpen(sums, self.loss, remap, self.losses(sums, remap))

    def minimiser(self, chances: Floats) -> int:
        """The first of the largest chances."""
        return int(chances.argmax())


def reading_rule(loss: Loss) -> ReadingRule | None:
    """The rule of a loss with a closed form; None for a loss whose best reading is searched for."""
    match loss.closed_form:
        case Linear() as linear:
            return QuantileRule(linear)
        case Squared():
            return MeanRule()
        case Binary() as binary:
            return ModeRule(binary)
    return None


def _sharpen(sums: PosteriorSums, loss: Loss, remap: Ints, losses: Floats) -> Floats:
    """Losses to full relative accuracy where the exact path could run; above, to that of a double near the distance."""
    return posteriors.sharpen_losses(sums, loss, remap, losses) if sums.size <= MAX_FULL_COUNTS else losses


BLOCK_TRUTHS = 1 << 13  # truths summed at a time
RELATIVE_REMAINDER = 2.0**-50  # relative size of what may be left out


def face_value_loss(logs: Floats, epsilon: float, loss: Loss) -> float:
    """Σ_x π_x Σ_y κ_y α^|x−y| ℓ(x, y), summed over the truth x outside and the answer y inside.

    For a loss of the error the inner sum is two prefix sums and two ends, O(n) in all. For others the distances are
    summed from 1 on, until what is left is below 2^−50 of the sum (for a loss that is largest at the ends).
    """
    if len(logs) == 1:
        return float(loss.array(0, 0))
    truths = np.flatnonzero(np.isfinite(logs))
    weights = np.exp(logs[truths])
    if loss.by_error:
        return float(weights @ _losses_by_error(truths, len(logs), epsilon, loss))
    blocks = [slice(start, start + BLOCK_TRUTHS) for start in range(0, len(truths), BLOCK_TRUTHS)]
    return math.fsum(_loss_of_block(weights[block], truths[block], len(logs), epsilon, loss) for block in blocks)


def _losses_by_error(truths: Ints, size: int, epsilon: float, loss: Loss) -> Floats:
    """E[ℓ(x, y) | x]: all distances to either side as if between the ends, what the ends have more, 0 counted once."""
    gaps, inner = np.arange(size), math.tanh(epsilon / 2)
    losses = np.full(len(truths), -float(loss.array(0, 0)) * inner)
    for costs, max_gaps in ((loss.array(gaps, 0), truths), (loss.array(0, gaps), size - 1 - truths)):
        terms = costs * np.exp(-epsilon * gaps)
        losses += np.cumsum(terms)[max_gaps] * inner + terms[max_gaps] * (_end_weight(epsilon) - inner)
    return losses


def _loss_of_block(weights: Floats, truths: Ints, size: int, epsilon: float, loss: Loss) -> float:
    """The sum over a few neighbouring truths, nearest answers first."""
    kappa = np.full(size, math.tanh(epsilon / 2))
    kappa[0] = kappa[-1] = _end_weight(epsilon)
    max_loss = max(float(loss.array(truths, 0).max()), float(loss.array(truths, size - 1).max())) * float(weights.sum())
    value = float(weights @ (kappa[truths] * loss.array(truths, truths)))
    for gap in range(1, size):
        factor = math.exp(-epsilon * gap)
        if size > MAX_FULL_COUNTS and 2 * factor * max_loss <= RELATIVE_REMAINDER * value:
            break
        first, last = np.searchsorted(truths, [gap, size - gap]).tolist()
        for selection, step in ((slice(first, None), -gap), (slice(0, last), gap)):
            selected_truths = truths[selection]
            answers = selected_truths + step
            value += factor * float(weights[selection] @ (kappa[answers] * loss.array(selected_truths, answers)))
    return value


def _end_weight(epsilon: float) -> float:
    """κ at the two ends, 1/(1 + α)."""
    return 1 / (1 + math.exp(-epsilon))


def face_value_losses(sums: PosteriorSums, loss: Loss, answers: Ints) -> Floats:
    """E[ℓ(x, y) | y], the loss of reading y as itself, for these answers.

    In closed form where the loss has one; for another loss one posterior is summed for each answer.
    """
    counts = np.arange(sums.size)
    rule = reading_rule(loss)
    if rule is not None:
        return rule.losses(sums, counts)[answers]
    distinct, positions = np.unique(answers, return_inverse=True)
    total = sums.log(sums.total)
    losses = np.empty(len(distinct))
    for k, y in enumerate(distinct.tolist()):
        chances = np.exp(sums.logs - sums.epsilon * np.abs(counts - y) - total[y])
        losses[k] = chances @ loss.array(counts, y)
    return losses[positions]


MAX_DIRECT_COUNTS = 1 << 14  # counts up to which a convolution is summed term by term
NEGLIGIBLE_SHARE = 2.0**-80  # of a posterior's largest weight, times the number of counts
RIVAL_READINGS = 256  # readings compared again term by term after a fast convolution
MAX_CONVOLUTION_COUNTS = 30_000  # counts of a posterior for a loss that is not of distances


def credible_interval(chances: Floats, coverage: float) -> tuple[int, int]:
    """Counts low ≤ high with at most (1 − coverage)/2 of the posterior below and above."""
    tail = (1 - coverage) / 2
    return _quantile(chances, tail), len(chances) - 1 - _quantile(chances[::-1], tail)


def _quantile(chances: Floats, theta: float) -> int:
    """The smallest count with P(x ≤ w) > θ."""
    return min(int(np.searchsorted(np.cumsum(chances), theta, side="right")), len(chances) - 1)


def best_reading(chances: Floats, loss: Loss) -> tuple[int, float]:
    """The smallest minimiser of Σ_x P(x) ℓ(x, w), and the minimum, in doubles."""
    reading = _minimiser(chances, loss)
    return reading, float(chances @ loss.array(np.arange(len(chances)), reading))


def _minimiser(chances: Floats, loss: Loss) -> int:
    rule = reading_rule(loss)
    return _search_minimiser(chances, loss) if rule is None else rule.minimiser(chances)


def _search_minimiser(chances: Floats, loss: Loss) -> int:
    """The best reading in the hull of the posterior's weights that matter: a legal loss gains nothing beyond.

    For a loss of the error that falls somewhere away from the truth the hull is that of all counts.
    """
    relevant = np.flatnonzero(chances > NEGLIGIBLE_SHARE / len(chances) * chances.max())
    low, high = int(relevant[0]), int(relevant[-1])
    window = chances[low : high + 1]
    if loss.by_error:
        return low + _convolution_minimiser(window, loss) if loss.monotone else _convolution_minimiser(chances, loss)
    if len(window) > MAX_CONVOLUTION_COUNTS:
        raise InputError(
            f"loss {loss.name} must be one of distances for a posterior of {len(window)} counts", "loss", "use power"
        )
    truths = np.arange(low, high + 1)
    return low + int(np.argmin([window @ loss.array(truths, reading) for reading in range(low, high + 1)]))


def near_ties(chances: Floats, loss: Loss, relative_error: float) -> list[int]:
    """All readings within a relative 2·doubt of the least expected loss, ascending."""
    values = _expected_losses(chances, loss)
    return np.flatnonzero(values <= values.min() * (1 + 2 * relative_error)).tolist()


def _expected_losses(chances: Floats, loss: Loss) -> Floats:
    """Σ_x P(x) ℓ(x, w) for every reading w, term by term."""
    size = len(chances)
    return np.convolve(chances, loss.array(0, np.arange(-size + 1, size)))[size - 1 : 2 * size - 1]


def _convolution_minimiser(chances: Floats, loss: Loss) -> int:
    size = len(chances)
    if size <= MAX_DIRECT_COUNTS:
        return int(np.argmin(_expected_losses(chances, loss)))
    kernel = loss.array(0, np.arange(-size + 1, size))
    from scipy.signal import fftconvolve

    values = fftconvolve(chances, kernel)[size - 1 : 2 * size - 1]
    rivals: Ints = np.sort(np.argpartition(values, RIVAL_READINGS)[:RIVAL_READINGS])
    reversed_chances = chances[::-1]
    return int(rivals[np.argmin([reversed_chances @ kernel[reading : reading + size] for reading in rivals.tolist()])])
