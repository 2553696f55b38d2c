"""Best readings for a loss without a closed form, by trying all that could be best; their expected losses.

The expected losses of many readings for answers close together.

For the answers a ≤ y < b the truths x < a have weights π_x α^(a−x) times a factor of y alone, and so have those x ≥ b:
each side costs one weighted sum. Only the truths between take a matrix, and that is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from utmost.consumer.counts.posteriors import (
    MAX_FULL_COUNTS,
    Floats,
    Ints,
    PosteriorSums,
    linear_losses,
    linear_remap,
    posterior_bulk,
)
from utmost.consumer.losses import Loss, absolute
from utmost.errors import InputError

PRODUCT_COLUMNS = 64  # of a matrix product at a time: above, threads are started that wait for one another


class LossLookup:
    """ℓ(x, w) for lists of truths and ranges of readings; looked up by w − x where it is of that alone."""

    def __init__(self, loss: Loss, size: int) -> None:
        self.loss, self.origin = loss, size - 1
        self.gaps = loss.array(0, np.arange(1 - size, size)) if loss.by_error else None
        self.monotone = loss.by_error and loss.monotone
        self._windows = lru_cache(maxsize=16)(self._error_windows)

    def table(self, truths: Ints, start: int, stop: int) -> Floats:
        """A row for each truth and a column for each reading start..stop−1."""
        if self.gaps is None:
            return self.loss.array(truths[:, None], np.arange(start, stop)[None, :])
        if _is_consecutive(truths):
            first = self.origin + start - int(truths[-1])
            return np.asarray(self._windows(stop - start)[first : first + len(truths)][::-1])
        return np.asarray(self.gaps[self.origin + np.arange(start, stop)[None, :] - truths[:, None]])

    def column(self, truths: Ints, reading: int) -> Floats:
        """ℓ(x, w) of each truth for one reading."""
        if self.gaps is None or not _is_consecutive(truths):
            return self.loss.array(truths, reading)
        return self._error_slice(truths, reading, reading + 1)[::-1]

    def weighted_sum(self, weights: Floats, truths: Ints, start: int, stop: int) -> Floats:
        """Σ_x weights_x ℓ(x, w) for each reading w; for a loss of the error and a run of truths by a convolution."""
        if self.gaps is not None and _is_consecutive(truths):
            return np.convolve(self._error_slice(truths, start, stop), weights, mode="valid")
        return np.asarray(np.einsum("x,xw->w", weights, self.table(truths, start, stop)))

    def _error_windows(self, width: int) -> Floats:
        """A view: for each error the losses of so many from it on. One serves all groups of answers."""
        assert self.gaps is not None
        return np.asarray(sliding_window_view(self.gaps, width))

    def _error_slice(self, truths: Ints, start: int, stop: int) -> Floats:
        """ℓ by w − x, from its least to its greatest value."""
        assert self.gaps is not None
        return self.gaps[self.origin + start - int(truths[-1]) : self.origin + stop - int(truths[0])]


def _is_consecutive(truths: Ints) -> bool:
    """At least one, and one count after the other without a gap."""
    return bool(len(truths)) and int(truths[-1] - truths[0]) == len(truths) - 1


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """Answers, the truths that matter to them, and P(x | y) in three parts.

    It is scale[y]·weight[x] for the truths `below` and `above` the answers, and an entry of `matrix` for those between.
    """

    answers: Ints
    below: Ints
    middle: Ints
    above: Ints
    matrix: Floats
    below_factors: tuple[Floats, Floats]
    above_factors: tuple[Floats, Floats]

    @property
    def truth_count(self) -> int:
        """How many truths matter."""
        return len(self.below) + len(self.middle) + len(self.above)

    def expected_losses(self, costs: LossLookup, start: int, stop: int) -> Floats:
        """E[ℓ(x, w) | y] with a row for each answer and a column for each reading start..stop−1."""
        result = _blockwise_product(self.matrix, costs.table(self.middle, start, stop))
        for (scale, weights), truths in ((self.below_factors, self.below), (self.above_factors, self.above)):
            if len(truths):
                result += scale[:, None] * costs.weighted_sum(weights, truths, start, stop)
        return result

    def partial_losses(self, costs: LossLookup, reading: int, first: int, last: int) -> Floats:
        """Σ P(x | y) ℓ(x, w) over the truths x from `first` to `last`, for each answer and one reading w."""
        chosen = _slice_between(self.middle, first, last)
        result = self.matrix[:, chosen] @ costs.column(self.middle[chosen], reading)
        for (scale, weights), truths in ((self.below_factors, self.below), (self.above_factors, self.above)):
            chosen = _slice_between(truths, first, last)
            result += scale * float(weights[chosen] @ costs.column(truths[chosen], reading))
        return np.asarray(result)


def answer_block(answers: Ints, truths: Ints, logs: Floats, epsilon: float, total: Floats) -> AnswerBlock:
    """The block of these answers and truths, both ascending; `total` has the answers' ln Z."""
    first, last = np.searchsorted(truths, [answers[0], answers[-1] + 1]).tolist()
    below, middle, above = truths[:first], truths[first:last], truths[last:]
    matrix = np.exp(logs[middle] - epsilon * np.abs(middle - answers[:, None]) - total[:, None])
    below_factors = _scale_and_weights(
        logs[below] - epsilon * (answers[0] - below), -epsilon * (answers - answers[0]) - total
    )
    above_factors = _scale_and_weights(
        logs[above] - epsilon * (above - answers[-1]), -epsilon * (answers[-1] - answers) - total
    )
    return AnswerBlock(answers, below, middle, above, matrix, below_factors, above_factors)


def _scale_and_weights(logs: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """(u, v) with u_y·v_x = exp(logs_x + scale_y), v at most 1."""
    top = float(logs.max(initial=-np.inf))
    return (np.exp(scale + top), np.exp(logs - top)) if len(logs) else (np.zeros(len(scale)), np.zeros(0))


def _slice_between(truths: Ints, first: int, last: int) -> slice:
    """Where the truths from `first` to `last` lie among these."""
    begin, end = truths.searchsorted((first, last + 1)).tolist()
    return slice(begin, end)


def _blockwise_product(matrix: Floats, table: Floats) -> Floats:
    result = np.zeros((matrix.shape[0], table.shape[1]))
    if matrix.shape[1]:
        for start in range(0, table.shape[1], PRODUCT_COLUMNS):
            columns = slice(start, start + PRODUCT_COLUMNS)
            result[:, columns] = matrix @ np.ascontiguousarray(table[:, columns])
    return result


GROUP_COUNTS = 64  # counts whose answers are searched together
MAX_SEARCH_WORK = 2e11  # multiplications
MAX_TABLE_DOUBLES = 1 << 22  # doubles in one table


class ReadingSearch:
    """The best readings of the active answers (see `posterior_bulk`), copied to the idle ones.

    Up to 4096 counts every reading of a table is tried. Above, and for every loss of the error alone that is known to
    be, the loss is taken to be monotone on both sides of every truth, as every legal one is. Then no reading beyond the
    bulk gains more than is neglected, and none beyond h is better than Σ_{x≤h} P(x | y) ℓ(x, h): a window around the
    median grows until that bound, and its mirror image, exclude the rest by more than the rounding of the sums.
    """

    def __init__(self, sums: PosteriorSums, loss: Loss, effort: float = MAX_SEARCH_WORK) -> None:
        self.effort = effort
        self.sums, self.costs, self.bulk, self.work = sums, LossLookup(loss, sums.size), posterior_bulk(sums, loss), 0.0
        self.total = sums.log(sums.total)
        self.support = np.flatnonzero(np.isfinite(sums.logs))
        self.centre = linear_remap(sums, absolute)
        self.radius = linear_losses(sums, absolute, self.centre).astype(np.int64) + 2
        active = self.bulk.active
        self.groups = np.split(active, np.flatnonzero(np.diff(active // GROUP_COUNTS)) + 1)
        self.windows: list[tuple[int, int]] = []

    def best(self) -> tuple[Ints, Floats]:
        """For each y the smallest minimiser w of E[ℓ(x, w) | y] in doubles, and its expected loss.

        `windows` then has the readings, for each group of answers, that no bound excludes.
        """
        remap, min_losses = np.zeros(self.sums.size, dtype=np.int64), np.zeros(self.sums.size)
        self._check_work(self._min_work())
        for answers in self.groups:
            remap[answers], min_losses[answers] = self._minimum(answers)
        return remap[self.bulk.source], min_losses[self.bulk.source]

    def rivals(
        self, min_losses: Floats, relative_error: float, requested: frozenset[int] | None
    ) -> dict[int, list[int]]:
        """The readings within a relative 2·doubt of the least loss, for the answers that have more than one.

        For up to 4096 counts; where answers are `requested` for, for them and their neighbours only.
        """
        near_ties: dict[int, list[int]] = {}
        for answers, (start, stop) in zip(self.groups, self.windows, strict=True):
            if requested is not None and requested.isdisjoint(answers.tolist()):
                continue
            values = self._block(answers).expected_losses(self.costs, start, stop)
            is_near_tie = values <= min_losses[answers, None] * (1 + 2 * relative_error)
            for k in np.flatnonzero(is_near_tie.sum(axis=1) > 1).tolist():
                near_ties[int(answers[k])] = (start + np.flatnonzero(is_near_tie[k])).tolist()
        return near_ties

    def _block(self, answers: Ints) -> AnswerBlock:
        low, high = self._hull(answers)
        begin, end = np.searchsorted(self.support, [low, high + 1]).tolist()
        return answer_block(answers, self.support[begin:end], self.sums.logs, self.sums.epsilon, self.total[answers])

    def _hull(self, answers: Ints) -> tuple[int, int]:
        """From the first to the last count that matters to one of the answers: both do not decrease along them."""
        return int(self.bulk.low[answers[0]]), int(self.bulk.high[answers[-1]])

    def _minimum(self, answers: Ints) -> tuple[Ints, Floats]:
        """The smallest minimiser for each of the answers, and the minimum."""
        block, (low, high) = self._block(answers), self._hull(answers)
        centre, reach = self.centre[answers], int(self.radius[answers].max())
        reach = self.sums.size if self.sums.size <= MAX_FULL_COUNTS and not self.costs.monotone else reach
        while True:
            start, stop = max(int(centre.min()) - reach, low), min(int(centre.max()) + reach, high) + 1
            readings, min_losses = self._minimum_within(block, start, stop)
            ceiling = min_losses * (1 + 4 * self.sums.relative_error_bound)
            left_excluded = start == low or (block.partial_losses(self.costs, start, start, high) > ceiling).all()
            if left_excluded and (
                stop > high or (block.partial_losses(self.costs, stop - 1, low, stop - 1) >= ceiling).all()
            ):
                self.windows.append((start, stop))
                return readings, min_losses
            reach *= 2

    def _minimum_within(self, block: AnswerBlock, start: int, stop: int) -> tuple[Ints, Floats]:
        """The same among the readings start..stop−1."""
        rows = np.arange(len(block.answers))
        readings, min_losses = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), np.inf)
        for first, last in self._slices(block, start, stop):
            values = block.expected_losses(self.costs, first, last)
            positions = values.argmin(axis=1)
            slice_losses = values[rows, positions]
            better = slice_losses < min_losses
            readings[better], min_losses[better] = first + positions[better], slice_losses[better]
        return readings, min_losses

    def _slices(self, block: AnswerBlock, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Parts of the readings with tables that can be kept, as long as the work is bearable."""
        step = max(MAX_TABLE_DOUBLES // max(len(block.answers), block.truth_count), 1)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            self.work += (block.matrix.size + 4.0 * block.truth_count) * (last - first)
            self._check_work(self.work)
            yield first, last

    def _min_work(self) -> float:
        """The work if every window stayed as it begins."""
        first, last = np.array([g[0] for g in self.groups]), np.array([g[-1] for g in self.groups])
        low, high = self.bulk.low[first], self.bulk.high[last]
        truths = np.searchsorted(self.support, high + 1) - np.searchsorted(self.support, low)
        return float(4.0 * truths @ np.minimum(2 * self.radius[first], high - low + 1))

    def _check_work(self, work: float) -> None:
        if work > self.effort:
            raise InputError(
                f"loss {self.costs.loss.name[:60]} needs more than {self.effort:.0e} operations for all "
                f"{self.sums.size} answers at this epsilon",
                "loss",
                "read one answer at a time, or use absolute, squared or binary",
            )
