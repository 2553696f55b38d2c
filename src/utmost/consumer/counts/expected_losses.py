"""The expected losses of many readings for answers close together.

For the answers a ≤ y < b the truths x < a have weights π_x α^(a−x) times a factor of y alone, and so have those x ≥ b:
each side costs one weighted sum. Only the truths between take a matrix, and that is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from utmost.consumer.counts.recurrences import Floats, Ints
from utmost.consumer.losses import Loss

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
