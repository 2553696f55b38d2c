"""The best table for a reader: whole numbers ≥ 0 that add up and have the least expected loss.

It minimises Σ_v f_v(t_v), f_v(t) = E[ℓ(t − x_v) given the answers], over tables t of whole numbers that add up. ℓ is a
convex function of the error, so each f_v is convex, and is known by its slopes f_v(t+1) − f_v(t), which do not fall.

**Up.** The least loss of a cell's parts with sum s is an infimal convolution: its slopes are the parts' slopes, merged
in order. The cell's own are added place by place. **Down.** A sum takes the least slopes first, and gives each part as
many as it has among them. *Exact*, O(n log n) for n slopes; sums of doubles decide.

Slopes are known on a range around the window of each cell. If the best table has a count at an end of its range which
is not an end of what is possible, the ranges are widened and it is found again. If it has none, it is best among all
tables: a convex function has no other local minimum.
"""

from __future__ import annotations

import numpy as np

from utmost.consumer.losses import ErrorLoss, Loss
from utmost.consumer.losses.linear import Linear
from utmost.consumer.losses.squared import Squared
from utmost.errors import InputError, UndecidedError
from utmost.joint.laws import Floats, Ints
from utmost.joint.posterior import Posterior

MAX_WIDENINGS = 40  # each doubles the ranges
MAX_CONVEX_ERROR = 4096  # up to which a loss is looked at
CONVEX_ROUNDING = 1e-9  # by which slopes in doubles may fall, relative


def best_table(posterior: Posterior, loss: Loss) -> tuple[int, ...]:
    """The best table for this loss, by cell."""
    checked = _checked_loss(loss)
    margin = 1
    for _ in range(MAX_WIDENINGS):
        search = _Search(posterior, checked, margin)
        table = search.solve()
        if search.is_inner(table):
            return tuple(table)
        margin *= 2
    raise UndecidedError("the best table must lie within finite ranges, and was not found in any: try another loss")


def _checked_loss(loss: Loss) -> ErrorLoss:
    """The loss if it is a convex function of the error; another is refused."""
    name = loss.name[:40]
    if not isinstance(loss, ErrorLoss):
        raise InputError(f"loss must be a function of the error for a table, got {name}: use absolute", "loss")
    if not isinstance(loss, Linear | Squared):
        errors = np.arange(-MAX_CONVEX_ERROR, MAX_CONVEX_ERROR + 1)
        slopes = np.diff(loss.array(np.zeros(len(errors)), errors))
        if (np.diff(slopes) < -CONVEX_ROUNDING * np.abs(slopes).max()).any():
            raise InputError(
                f"loss must be convex in the error for a table that adds up, got {name}: use absolute or squared",
                "loss",
            )
    return loss


class _Search:
    """One pass up and down with ranges of a margin around the windows."""

    def __init__(self, posterior: Posterior, loss: ErrorLoss, margin: int) -> None:
        self.posterior, self.loss, self.tree = posterior, loss, posterior.tree
        self.ranges = [self.range(node, margin) for node in range(self.tree.size)]
        self.low, self.high = [low for low, _ in self.ranges], [high for _, high in self.ranges]
        self.slopes: list[Floats] = [np.empty(0)] * self.tree.size
        self.merged: list[tuple[int, Floats]] = [(0, np.empty(0))] * self.tree.size

    def range(self, node: int, margin: int) -> tuple[int, int]:
        """Where a cell's count is looked for."""
        low = self.posterior.windows.low[node]
        high = low + len(self.posterior.laws[node]) - 1
        least, most = self.tree.bounds(node)
        return max(low - margin, least), high + margin if most is None else min(high + margin, most)

    def is_inner(self, table: list[int]) -> bool:
        """Is no count at an end of its range that another count would be possible beyond."""
        for node, count in enumerate(table):
            (low, high), (least, most) = self.ranges[node], self.tree.bounds(node)
            if (count == low and low != least) or (count == high and high != most):
                return False
        return True

    def solve(self) -> list[int]:
        """The best table within the ranges."""
        for node in reversed(range(self.tree.size)):
            self.merge(node)
        table = [0] * self.tree.size
        table[0] = self.low[0] + int(np.searchsorted(self.slopes[0], 0.0, side="left"))
        for node, parts in enumerate(self.tree.parts):
            if parts:
                self.divide(node, parts, table)
        return table

    def merge(self, node: int) -> None:
        """The slopes of a cell with all that is below it, on its range cut to what its parts can add up to."""
        parts = self.tree.parts[node]
        if not parts:
            self.slopes[node] = self.own_slopes(node, self.low[node], self.high[node])
            return
        first = sum(self.low[part] for part in parts)
        merged = np.sort(np.concatenate([self.slopes[part] for part in parts]), kind="stable")
        low, high = max(self.low[node], first), min(self.high[node], first + len(merged))
        self.low[node], self.high[node] = low, high
        self.merged[node] = (first, merged)
        self.slopes[node] = merged[low - first : high - first] + self.own_slopes(node, low, high)

    def divide(self, node: int, parts: tuple[int, ...], table: list[int]) -> None:
        """Give the parts their counts: the least slopes first, ties to the parts in turn."""
        first, merged = self.merged[node]
        steps = table[node] - first
        if not steps:
            for part in parts:
                table[part] = self.low[part]
            return
        last = merged[steps - 1]
        least = [int(np.searchsorted(self.slopes[part], last, side="left")) for part in parts]
        most = [int(np.searchsorted(self.slopes[part], last, side="right")) for part in parts]
        rest = steps - sum(least)
        for part, fewest, ties in zip(parts, least, _shares(rest, least, most), strict=True):
            table[part] = self.low[part] + fewest + ties

    def own_slopes(self, node: int, low: int, high: int) -> Floats:
        """f_v(t+1) − f_v(t) for t from low to high − 1."""
        law, start = self.posterior.laws[node], self.posterior.windows.low[node]
        readings = np.arange(low, high)
        if isinstance(self.loss, Squared):
            return np.asarray(2 * (readings - float(self.posterior.means[node])) + 1)
        if isinstance(self.loss, Linear):
            under, over = float(self.loss.under), float(self.loss.over)
            cumulative = np.concatenate([[0.0], np.minimum(np.cumsum(law), 1.0)])
            return np.asarray((under + over) * cumulative[np.clip(readings - start + 1, 0, len(law))] - under)
        return _expected_slopes(self.loss, law, readings - start)


def _expected_slopes(loss: ErrorLoss, law: Floats, readings: Ints) -> Floats:
    """Σ_x p(x)·(ℓ(t+1−x) − ℓ(t−x)) for any convex loss, made monotone where rounding is not."""
    if not len(readings):
        return np.empty(0)
    first = int(readings[0]) - len(law) + 1
    errors = np.arange(first, int(readings[-1]) + 2)
    steps = np.diff(loss.array(np.zeros(len(errors)), errors))
    return np.maximum.accumulate(np.convolve(steps, law, mode="valid"))


def _shares(rest: int, least: list[int], most: list[int]) -> list[int]:
    """How many of the tied slopes each part takes: one each in turn, so that none is far from the others."""
    room = np.array(most) - np.array(least)
    given = np.zeros(len(room), dtype=np.int64)
    while rest:
        open_parts = np.flatnonzero(room > given)
        share = max(rest // len(open_parts), 1)
        step = np.minimum(room[open_parts] - given[open_parts], share)[:rest]
        given[open_parts[: len(step)]] += step
        rest -= int(step.sum())
    return [int(count) for count in given]
