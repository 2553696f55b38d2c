"""All posteriors at once in closed form, by linear recurrences in doubles with local exponents.

Linear recurrences over a million counts, in doubles with local exponents.

The posterior of a geometric answer y is proportional to π_x α^|x−y|. Its left mass L_y = Σ_{x≤y} π_x α^(y−x) obeys
L_y = α·L_{y−1} + π_y, and so do its right mass and its moments. All terms are ≥ 0, so nothing cancels; what could go
wrong is the range, since π_x and α^|x−y| run from 1 down to e^−50000000. So every quantity at y is kept as a multiple
of 2^{e_y}, with 2^{e_y} ≈ max_x π_x α^|x−y|: the largest term is about 1, and what underflows is below 10^−300 of it.

Where the posteriors have their mass, and which answers need a search of their own.

An answer with next to nothing at or below it is *idle*: from y to y + 1 every weight above y grows by the same 1/α, so
its posterior, best reading and loss are those of y + 1. Likewise an answer with next to nothing at or above it and
y − 1. Only the others, the *active* ones, are searched; the mass of such a posterior lies on both sides of y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.losses import Linear, Loss

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

LN2 = math.log(2)


def scan(factor: Floats, source: Floats) -> Floats:
    """The solution of v_y = factor_y·v_{y−1} + source_y with v_{−1} = 0.

    About √n blocks of √n advance side by side, one vector operation a step; then each block receives what the ones
    before it carry over. For factors and sources ≥ 0 the relative error is at most 3n units in the last place.
    """
    block = math.isqrt(len(source) - 1) + 1
    values, products = _blocks(source, block), _blocks(factor, block)
    steps = products.copy()
    for i in range(1, block):
        values[i] += steps[i] * values[i - 1]
        products[i] *= products[i - 1]
    carry, carries = 0.0, []
    for end, product in zip(values[-1].tolist(), products[-1].tolist(), strict=True):
        carries.append(carry)
        carry = end + product * carry
    values += products * np.array(carries)
    return np.ascontiguousarray(values.T).reshape(-1)[: len(source)]


def _blocks(values: Floats, block: int) -> Floats:
    """The values as columns of `block` each, padded with zeros."""
    columns = -(-len(values) // block)
    padded = np.zeros(columns * block)
    padded[: len(values)] = values
    return np.ascontiguousarray(padded.reshape(columns, block).T)


def strongest_before(logs: Floats, epsilon: float) -> Ints:
    """For each y the x ≤ y with the largest logs_x − ε(y − x), the smallest such x at a tie."""
    return _strongest(logs, epsilon, keep_old=True)


def strongest_after(logs: Floats, epsilon: float) -> Ints:
    """For each y the x ≥ y with the largest logs_x − ε(x − y), the smallest such x at a tie."""
    return np.asarray(len(logs) - 1 - _strongest(logs[::-1], epsilon, keep_old=False)[::-1])


def _strongest(logs: Floats, epsilon: float, keep_old: bool) -> Ints:
    size = len(logs)
    block = math.isqrt(size - 1) + 1
    columns = -(-size // block)
    padded = np.full(columns * block, -np.inf)
    padded[:size] = logs
    sources = np.arange(columns * block).reshape(columns, block).T.copy()
    beats = np.greater if keep_old else np.greater_equal
    for i in range(1, block):
        old = sources[i - 1]
        is_better = beats(padded[sources[i]], padded[old] - epsilon * (sources[i] - old))
        sources[i] = np.where(is_better, sources[i], old)
    result = sources.T.reshape(-1)
    for start in range(block, columns * block, block):
        old = int(result[start - 1])
        counts = np.arange(start, start + block)
        block_sources = result[start : start + block]
        is_better = beats(
            padded[block_sources] - epsilon * (counts - block_sources), padded[old] - epsilon * (counts - old)
        )
        block_sources[~is_better] = old
    return np.asarray(result[:size])


@dataclass(frozen=True, slots=True)
class Side:
    """One side of every posterior: its mass in units of 2^{e_y}, and the mean and variance of |x − y| over it."""

    mass: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class PosteriorSums:
    """Everything about the posteriors of all answers that the closed forms need.

    `left` is over x ≤ y, `right` over x > y; `weight` is π_y and `total` the normaliser, both in units of 2^{e_y};
    `mode` is the smallest x with the largest π_x α^|x−y|. What is derived over all counts is worked out once, so that a
    loop over answers may ask for it.
    """

    logs: Floats
    epsilon: float
    exponent: Ints
    weight: Floats
    left: Side
    right: Side
    mode: Ints

    @property
    def size(self) -> int:
        """The number of counts."""
        return len(self.logs)

    @cached_property
    def total(self) -> Floats:
        """The normaliser Σ_x π_x α^|x−y| in units of 2^{e_y}."""
        return self.left.mass + self.right.mass

    @cached_property
    def offset(self) -> Floats:
        """The posterior mean minus y."""
        drift = self.right.mass * self.right.mean - self.left.mass * self.left.mean
        return np.asarray(drift / self.total)

    @cached_property
    def relative_error_bound(self) -> float:
        """A bound on the relative error of every mass: 8n units in the last place for each power of e involved."""
        return rounding_error(self.logs[np.isfinite(self.logs)], self.size, self.epsilon)

    def log(self, values: Floats) -> Floats:
        """ln(values_y·2^{e_y}); −∞ of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values) + self.exponent * LN2)


def rounding_error(finite: Floats, size: int, epsilon: float) -> float:
    """A bound on the relative error of a sum over so many counts of weights with these logarithms."""
    return float(8 * np.finfo(float).eps * size * (1 + np.abs(finite).max() + epsilon))


def posterior_sums(logs: Floats, epsilon: float) -> PosteriorSums:
    """The sums of a prior (normalised logarithms) for the rate ε, in O(n)."""
    size, counts = len(logs), np.arange(len(logs))
    before, after = strongest_before(logs, epsilon), strongest_after(logs, epsilon)
    low, high = logs[before] - epsilon * (counts - before), logs[after] - epsilon * (after - counts)
    exponent = np.rint(np.maximum(low, high) / LN2).astype(np.int64)
    weight = np.exp(logs - exponent * LN2)
    alpha, rise = math.exp(-epsilon), np.diff(exponent)
    up_factor, down_factor = np.zeros(size), np.zeros(size)
    up_factor[1:], down_factor[:-1] = np.ldexp(alpha, -rise), np.ldexp(alpha, rise)
    right = _reverse(_side(down_factor[::-1], weight[::-1]))
    mode = np.where(low >= high, before, after)
    return PosteriorSums(
        logs, epsilon, exponent, weight, _side(up_factor, weight), _exclude_answer(right, down_factor), mode
    )


def _side(factor: Floats, weight: Floats) -> Side:
    """Mass, mean and variance of the distance back from y, over x ≤ y.

    With ρ = α·L_{y−1}/L_y the share of the older mass: mean_y = ρ(mean_{y−1} + 1) and
    variance_y = ρ·variance_{y−1} + ρ(1−ρ)(mean_{y−1} + 1)², sums of terms ≥ 0.
    """
    mass = scan(factor, weight)
    older = np.zeros_like(mass)
    older[1:] = factor[1:] * mass[:-1]
    divisor = np.where(mass > 0, mass, 1.0)
    older_share, new_share = older / divisor, weight / divisor
    mean = scan(older_share, older_share)
    older_distance = np.ones_like(mass)
    older_distance[1:] += mean[:-1]
    return Side(mass, mean, scan(older_share, older_share * new_share * older_distance**2))


def _reverse(side: Side) -> Side:
    return Side(side.mass[::-1], side.mean[::-1], side.variance[::-1])


def _exclude_answer(side: Side, factor: Floats) -> Side:
    """From x ≥ y to x > y: the side of y + 1, one step further away."""
    mass, mean, variance = np.zeros_like(factor), np.zeros_like(factor), np.zeros_like(factor)
    mass[:-1] = factor[:-1] * side.mass[1:]
    mean[:-1] = side.mean[1:] + 1
    variance[:-1] = side.variance[1:]
    return Side(mass, mean, variance)


CANCELLATION_SHARE = 1e-3  # of the distance between answer and reading: below that, digits were lost
MIN_LOG_CHANCE = -750.0  # the logarithm of less than the smallest double


def mass_up_to(sums: PosteriorSums, answers: Ints, readings: Ints) -> Floats:
    """P(x ≤ w | y) for pairs (y, w): α^(y−w)·L_w/Z_y, or 1 − α^(w−y)·R_w/Z_y beyond y."""
    total = sums.log(sums.total)[answers]
    gap = sums.epsilon * np.abs(answers - readings)
    below = sums.log(sums.left.mass)[readings] - gap - total
    above = sums.log(sums.right.mass)[readings] - gap - total
    is_left = readings <= answers
    return np.asarray(np.where(is_left, np.exp(np.minimum(below, 0)), -np.expm1(np.minimum(above, 0))))


class Quantiles:
    """The smallest w with P(x ≤ w | y) ≥ θ, for every y; θ by the logarithms of θ and 1 − θ, so that both may be tiny.

    L_w·α^−w does not decrease in w and R_w·α^w does not increase, so one sorted search finds each w up to the rounding
    of ε·w; each is then checked with local magnitudes, and the few that fail are found again by bisection.
    """

    def __init__(self, sums: PosteriorSums) -> None:
        self.epsilon, self.size = sums.epsilon, sums.size
        self.left, self.right = sums.log(sums.left.mass), sums.log(sums.right.mass)
        self.total = sums.log(sums.total)
        self.support = np.flatnonzero(np.isfinite(sums.logs))

    def of_level(self, log_theta: float, log_rest: float) -> Ints:
        """The quantiles of all answers, for θ = e^log_theta and 1 − θ = e^log_rest."""
        answers = np.arange(self.size)
        is_left = self._reaches(answers, answers, log_theta, log_rest)
        guess = np.empty(self.size, dtype=np.int64)
        guess[is_left] = self._from_left(answers[is_left], log_theta)
        guess[~is_left] = self._from_right(answers[~is_left], log_rest)
        wrong = np.flatnonzero(~self._is_quantile(answers, guess, log_theta, log_rest))
        guess[wrong] = self._bisect(wrong, log_theta, log_rest)
        return np.asarray(self.support[guess])

    def _from_left(self, answers: Ints, log_theta: float) -> Ints:
        keys = np.maximum.accumulate(self.left[self.support] + self.epsilon * self.support)
        thresholds = self.total[answers] + log_theta + self.epsilon * answers
        return np.minimum(np.searchsorted(keys, thresholds), len(self.support) - 1)

    def _from_right(self, answers: Ints, log_rest: float) -> Ints:
        keys = np.maximum.accumulate(self.epsilon * self.support - self.right[self.support])
        thresholds = self.epsilon * answers - self.total[answers] - log_rest
        return np.minimum(np.searchsorted(keys, thresholds), len(self.support) - 1)

    def _reaches(self, answers: Ints, readings: Ints, log_theta: float, log_rest: float) -> Flags:
        """P(x ≤ w | y) ≥ θ, by the side of y on which w lies."""
        gap, total = self.epsilon * np.abs(answers - readings), self.total[answers]
        below = self.left[readings] - gap >= total + log_theta
        above = self.right[readings] - gap <= total + log_rest
        return np.asarray(np.where(readings <= answers, below, above))

    def _is_quantile(self, answers: Ints, guess: Ints, log_theta: float, log_rest: float) -> Flags:
        """The guess reaches θ and the support point before it does not."""
        reaches = self._reaches(answers, self.support[guess], log_theta, log_rest)
        previous_reaches = self._reaches(answers, self.support[np.maximum(guess - 1, 0)], log_theta, log_rest)
        return np.asarray(reaches & (~previous_reaches | (guess == 0)))

    def _bisect(self, answers: Ints, log_theta: float, log_rest: float) -> Ints:
        low, high = np.zeros(len(answers), dtype=np.int64), np.full(len(answers), len(self.support) - 1)
        while np.any(low < high):
            middle = (low + high) // 2
            reaches = self._reaches(answers, self.support[middle], log_theta, log_rest)
            low, high = np.where(reaches, low, middle + 1), np.where(reaches, middle, high)
            low = np.minimum(low, high)
        return low


def credible_intervals(sums: PosteriorSums, coverage: float) -> tuple[Ints, Ints]:
    """For every answer the counts low ≤ high with at most (1 − coverage)/2 of its posterior below and above. O(n).

    low is the smallest count with P(x ≤ low | y) ≥ (1 − coverage)/2 and high the smallest with
    P(x ≤ high | y) ≥ (1 + coverage)/2.
    """
    tail = (1 - coverage) / 2
    quantiles = Quantiles(sums)
    return quantiles.of_level(math.log(tail), math.log1p(-tail)), quantiles.of_level(math.log1p(-tail), math.log(tail))


def linear_remap(sums: PosteriorSums, loss: Linear) -> Ints:
    """The smallest w with P(x ≤ w | y) ≥ under/(under + over).

    The expected loss rises from w to w + 1 by over·P(x ≤ w) − under·P(x > w), so this is its smallest minimiser. With
    `under` 0 that is 0, with `over` 0 the largest count that the prior allows.
    """
    under, over = float(loss.under), float(loss.over)
    if not loss.under:
        return np.zeros(sums.size, dtype=np.int64)
    if not loss.over:
        return np.full(sums.size, np.flatnonzero(np.isfinite(sums.logs))[-1])
    return Quantiles(sums).of_level(-math.log1p(over / under), -math.log1p(under / over))


def linear_losses(sums: PosteriorSums, loss: Linear, remap: Ints) -> Floats:
    """E[under·(x − w)⁺ + over·(w − x)⁺ | y] at w = remap_y, from the moments at w and the mean at y."""
    answers = np.arange(sums.size)
    gap = sums.epsilon * np.abs(answers - remap)
    tail_logs = np.where(remap <= answers, sums.log(sums.left.mass)[remap], sums.log(sums.right.mass)[remap])
    tail_share = np.exp(np.minimum(tail_logs - gap - sums.log(sums.total), 0))
    mean_gap = (answers - remap) + sums.offset  # the mean minus w
    below = tail_share * sums.left.mean[remap]
    above = tail_share * sums.right.mean[remap]
    is_left = remap <= answers
    over = np.where(is_left, below, np.maximum(above - mean_gap, 0))
    under = np.where(is_left, np.maximum(below + mean_gap, 0), above)
    return np.asarray(float(loss.under) * under + float(loss.over) * over)


def squared_remap(sums: PosteriorSums) -> Ints:
    """The posterior mean rounded to the nearest count, a half downwards: the smallest minimiser of E(x − w)²."""
    return np.clip(np.arange(sums.size) + np.ceil(sums.offset - 0.5).astype(np.int64), 0, sums.size - 1)


def squared_losses(sums: PosteriorSums, remap: Ints) -> Floats:
    """E[(x − w)² | y] = the posterior variance + (mean − w)².

    The variance is that within the two sides plus that between them, a sum of terms ≥ 0.
    """
    left, right, total = sums.left, sums.right, sums.total
    within_sides = (left.mass * left.variance + right.mass * right.variance) / total
    between_sides = (left.mass / total) * (right.mass / total) * (left.mean + right.mean) ** 2
    return np.asarray(within_sides + between_sides + (np.arange(sums.size) - remap + sums.offset) ** 2)


def binary_losses(sums: PosteriorSums, remap: Ints) -> Floats:
    """P(x ≠ w | y) at w = remap_y; where w = y it is summed, not subtracted from 1, so that it may be tiny."""
    answers, total = np.arange(sums.size), sums.log(sums.total)
    hit_chances = np.exp(np.minimum(sums.logs[remap] - sums.epsilon * np.abs(answers - remap) - total, 0))
    log_mass_before = np.full(sums.size, -np.inf)
    log_mass_before[1:] = sums.log(sums.left.mass)[:-1] - sums.epsilon
    miss_chances = np.exp(np.minimum(log_mass_before - total, 0)) + sums.right.mass / sums.total
    return np.asarray(np.where(remap == answers, miss_chances, 1 - hit_chances))


def sharpen_losses(sums: PosteriorSums, loss: Loss, remap: Ints, losses: Floats) -> Floats:
    """The losses, those that came out of a subtraction summed anew term by term: O(n) for each such answer.

    Where almost all of a posterior lies on its reading, the loss is what is left of 1 (or of a distance) after taking
    nearly all of it away. A sum of its terms, each ≥ 0 and in log space, has no such weakness. A truth x with
    π_x·α^−|x−m| below the smallest double times π_m, m the prior's mode, is nothing in any posterior.
    """
    answers, mode = np.arange(sums.size), int(sums.logs.argmax())
    imprecise = np.flatnonzero(losses < CANCELLATION_SHARE * (1 + np.abs(answers - remap)))
    truths = np.flatnonzero(sums.logs + sums.epsilon * np.abs(answers - mode) > sums.logs[mode] + MIN_LOG_CHANCE)
    total, result, logs = sums.log(sums.total), losses.copy(), sums.logs[truths]
    for y in imprecise.tolist():
        chances = np.exp(logs - sums.epsilon * np.abs(truths - y) - total[y])
        result[y] = float(chances @ loss.array(truths, remap[y]))
    return result


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
