"""Best readings for a loss without a closed form: for a block of answers every reading that could be best is tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from utmost.consumer.counts.closed_form import linear_losses, linear_remap
from utmost.consumer.counts.expected_losses import AnswerBlock, LossLookup, answer_block
from utmost.consumer.counts.posterior_mass import MAX_FULL_COUNTS, posterior_bulk
from utmost.consumer.counts.recurrences import Floats, Ints, PosteriorSums
from utmost.consumer.losses import Loss, absolute
from utmost.errors import InputError

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
