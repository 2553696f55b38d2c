"""Trees that are not regular: variances by two passes over the levels, in doubles or in balls, by the same lines.

**Up.** p_v is the variance of the best estimate of x_v from the answers at v and below: 1/p_v = τ_v + 1/V_v, where V_v
is the sum over the parts of v. **Down.** var x_u = p_u + (p_u/V_p)²·(var x_p − V_p) for a part u of p: the update of
`joint.least_squares`, without values.

**A sum of cells** F is, given x_v and the answers below v, a·x_v plus what is uncorrelated with x_v, of variance b. Of
the parts u, with h = Σ a_u²·p_u and g = Σ a_u·p_u: b = Σ b_u + h − g²/V_v and a = g/V_v, since given their sum the
parts are a Gaussian vector conditioned on it. At the top var F = b + a²·p. A prefix sum takes all parts before one,
and a piece of that one. With prefix sums q_0 = 0, q_1, …, q_n: Σ_{i<j} var(q_j − q_i) = (n+1)·Σ var q_i − var Σ q_i. ∎
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.planning.designs import Partition, Places, TableDesign, refines
from utmost.planning.workloads import PREFIX, Workload

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

RELATIVE_STEP = 1e-5  # of a precision, for a derivative


@dataclass(frozen=True, eq=False)
class Chain:
    """Partitions from coarse to fine: the whole first, the single cells last, and each cell's place in the order."""

    parts: tuple[Partition, ...]
    order: Places  # the cells, those of each part of each level together

    @property
    def has_cells_in_order(self) -> bool:
        """Do the cells of each part already stand together."""
        return bool((np.diff(self.order) > 0).all())

    @cached_property
    def parents(self) -> list[Places]:
        """Of each level but the first: the part of the level above that each part is in, in the order."""
        return [self.renumbered(k)[self._first(k + 1)] for k in range(len(self.parts) - 1)]

    def renumbered(self, level: int) -> Places:
        """Of the cells in the order: the part of a level that each is in, numbered in the order."""
        places = self.parts[level].places[self.order]
        return np.cumsum(np.r_[0, places[1:] != places[:-1]])

    def _first(self, level: int) -> Places:
        """Where in the order each part of a level begins."""
        numbers = self.renumbered(level)
        return np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])

    @cached_property
    def starts(self) -> list[Places]:
        """Of each level but the last: at which part of the next level each part begins."""
        return [np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]]) for parents in self.parents]


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Variances of a tree; `levels` has each partition's place in the chain, `weighted` those of the workload's."""

    chain: Chain
    levels: tuple[int, ...]
    workload: Workload
    weighted: tuple[int, ...]

    @property
    def max_steps(self) -> int:
        """How often shares are improved: less often for many cells."""
        return max(25, min(200, 10**6 // len(self.chain.order)))

    def objective(self, precisions: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The workload's variance and its derivatives, by differences, in doubles."""
        value = self._total(precisions)
        steps = precisions * RELATIVE_STEP
        slopes = [
            (self._total(precisions + step * unit) - value) / step if step else 0.0
            for step, unit in zip(steps, np.eye(len(precisions)), strict=True)
        ]
        return value, np.array(slopes)

    def _total(self, precisions: NDArray[np.float64]) -> float:
        total = self._solve(list(precisions), 0.0)[1]
        return float("inf") if total is None else float(total)

    def variances(self, precisions: Sequence[arb]) -> tuple[list[arb | None], arb | None]:
        """The mean variance of each partition's parts, and of the workload; None where there is no unbiased one."""
        from flint import arb

        return self._solve(precisions, arb(0))

    def _solve(self, precisions: Sequence[Any], zero: Any) -> tuple[list[Any], Any]:
        by_level = [zero] * len(self.chain.parts)
        for level, precision in zip(self.levels, precisions, strict=True):
            by_level[level] = by_level[level] + precision
        if not by_level[-1] > 0:
            return [None] * len(self.levels), None
        below, sums = self._pass_up(by_level)
        means = [_mean(values) for values in self._pass_down(below, sums)]
        levels = [means[level] for level in self.levels]
        if self.workload.runs is not None:
            return levels, self._run_variance(below, sums)
        weights = zip(self.workload.weights, self.workload.partitions, self.weighted, strict=True)
        total = zero
        for weight, part, level in weights:
            share = weight * part.size
            total = total + means[level] * share.numerator / share.denominator
        return levels, total

    def _pass_up(self, precisions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """p and V of every part of every level."""
        one = precisions[-1] / precisions[-1]
        below = [np.full(self.chain.parts[-1].size, one / precisions[-1], dtype=_kind(one))]
        sums: list[Any] = []
        for starts, precision in zip(reversed(self.chain.starts), reversed(precisions[:-1]), strict=True):
            sums.append(np.add.reduceat(below[-1], starts))
            below.append(one / (precision + one / sums[-1]))
        return below[::-1], sums[::-1]

    def _pass_down(self, below: list[Any], sums: list[Any]) -> list[Any]:
        found = [below[0]]
        for parents, variance, together in zip(self.chain.parents, below[1:], sums, strict=True):
            excess = (found[-1] - together) / together / together
            found.append(variance + variance * variance * excess[parents])
        return found

    def _run_variance(self, below: list[Any], sums: list[Any]) -> Any:
        """The mean variance of all prefix sums, or of all ranges."""
        size = len(self.chain.order)
        prefixes = self._prefix_variances(below, sums).sum()
        if self.workload.runs == PREFIX:
            return prefixes / size
        return ((size + 1) * prefixes - self._sum_variance(below, sums)) / (size * (size + 1) // 2)

    def _prefix_variances(self, below: list[Any], sums: list[Any]) -> Any:
        """The variance of the sum of the first cells up to each."""
        size = len(self.chain.order)
        kind = below[-1].dtype
        one = below[-1][0] / below[-1][0]
        pieces, rest = np.full(size, one, dtype=kind), np.full(size, one - one, dtype=kind)
        ancestors = np.arange(size)
        for level in reversed(range(len(sums))):
            variance, parents, starts = below[level + 1], self.chain.parents[level], self.chain.starts[level]
            before = np.add.accumulate(variance) - variance
            before = (before - before[starts][parents])[ancestors]
            own, together = variance[ancestors], sums[level][parents][ancestors]
            covariance = before + pieces * own
            rest = rest + before + pieces * pieces * own - covariance * covariance / together
            pieces = covariance / together
            ancestors = parents[ancestors]
        return rest + pieces * pieces * below[0][0]

    def _sum_variance(self, below: list[Any], sums: list[Any]) -> Any:
        """The variance of the sum of all prefix sums."""
        size = len(self.chain.order)
        one = below[-1][0] / below[-1][0]
        pieces = np.arange(size, 0, -1).astype(below[-1].dtype) * one
        rest = np.full(size, one - one, dtype=below[-1].dtype)
        for level in reversed(range(len(sums))):
            starts, weighted = self.chain.starts[level], pieces * below[level + 1]
            covariance = np.add.reduceat(weighted, starts)
            spread = np.add.reduceat(weighted * pieces, starts)
            rest = np.add.reduceat(rest, starts) + spread - covariance * covariance / sums[level]
            pieces = covariance / sums[level]
        return rest[0] + pieces[0] * pieces[0] * below[0][0]


def _kind(one: Any) -> Any:
    return float if isinstance(one, float) else object


def _mean(values: Any) -> Any:
    return values.sum() / len(values)


def chain_of(partitions: Sequence[Partition], design: TableDesign) -> Chain | None:
    """The partitions in a chain, with the whole and the single cells; None where one does not refine the one before."""
    whole = Partition("", np.zeros(design.size, dtype=np.int64))
    parts = sorted([whole, *partitions, design.cells], key=lambda part: part.size)
    distinct: list[Partition] = []
    for part in parts:
        if distinct and not refines(part.places, distinct[-1].places):
            return None
        if not distinct or part.size > distinct[-1].size:
            distinct.append(part)
    order = np.lexsort([np.arange(design.size), *(part.places for part in reversed(distinct[:-1]))])
    return Chain(tuple(distinct), order)


def tree_model(design: TableDesign, partitions: tuple[Partition, ...], workload: Workload) -> TreeModel | None:
    """The model of a tree; None where the partitions are none."""
    chain = chain_of([*partitions, *workload.partitions], design)
    if chain is None:
        return None
    place = {part.size: level for level, part in enumerate(chain.parts)}
    levels = tuple(place[part.size] for part in partitions)
    return TreeModel(chain, levels, workload, tuple(place[part.size] for part in workload.partitions))
