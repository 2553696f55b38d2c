"""Regular designs: all levels and workloads of levels have the same eigenspaces, so every number is a short sum.

The cells are the combinations of factors of sizes n_k. A level told by the factors S is a matrix A_S with
A_SᵀA_S = N_S·Q_S, N_S = ∏_{k∉S} n_k and Q_S the projection on functions of the factors in S. Q_S = Σ_{T⊆S} P_T, where
P_T has rank ∏_{k∈T}(n_k − 1). With precisions τ_S of the answers the best linear unbiased estimates have the covariance
Σ_T P_T/λ_T, λ_T = Σ_{S⊇T} N_S·τ_S. So a workload of Gram matrix G has the total variance Σ_T tr(G·P_T)/λ_T, whether or
not G has these eigenspaces; tr(G·P_T) follows from tr(G·Q_S) by inclusion and exclusion. ∎
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.planning.designs import Factors, Partition, Places
from utmost.planning.workloads import PREFIX, Workload

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

MAX_RUN_WORK = 5 * 10**7  # subsets of factors times cells, of prefix sums and ranges


@dataclass(frozen=True, eq=False)
class RegularModel:
    """Variances of a regular design; `subsets` are the factors that tell each partition."""

    factors: Factors
    partitions: tuple[Partition, ...]
    subsets: tuple[frozenset[int], ...]
    workload: Workload
    workload_subsets: tuple[frozenset[int], ...]

    @cached_property
    def size(self) -> int:
        """How many cells."""
        return prod(self.factors.sizes)

    @cached_property
    def ranks(self) -> list[int]:
        """The rank of P_T for each set T of factors, as the bits of its place."""
        ranks = [1]
        for size in self.factors.sizes:
            ranks += [rank * (size - 1) for rank in ranks]
        return ranks

    @cached_property
    def traces(self) -> tuple[list[int], int]:
        """tr(G·P_T) for each T, as whole numbers over a common denominator."""
        if self.workload.runs is not None:
            return self._run_traces()
        weights = self.workload.weights
        unit = math.lcm(*(weight.denominator for weight in weights))
        sums = [0] * len(self.ranks)
        for subset, weight in zip(self.workload_subsets, weights, strict=True):
            sums[_bits(subset)] += int(weight * unit) * self._outside(subset)
        for bit in range(len(self.factors.sizes)):
            for place in range(len(sums)):
                if not place >> bit & 1:
                    sums[place] += sums[place | 1 << bit]
        return [rank * value for rank, value in zip(self.ranks, sums, strict=True)], unit

    def _run_traces(self) -> tuple[list[int], int]:
        count, size, is_prefix = len(self.factors.sizes), self.size, self.workload.runs == PREFIX
        traces = []
        for bits in range(1 << count):
            subset = [k for k in range(count) if bits >> k & 1]
            squares = run_squares(self.factors.partition(subset), is_prefix)
            traces.append(squares * (size // self._outside(subset)))
        for bit in range(count):
            for place in range(len(traces)):
                if place >> bit & 1:
                    traces[place] -= traces[place ^ 1 << bit]
        return traces, size * (size if is_prefix else size * (size + 1) // 2)

    def _outside(self, subset: Any) -> int:
        return prod(size for k, size in enumerate(self.factors.sizes) if k not in subset)

    @cached_property
    def _spaces(self) -> tuple[NDArray[np.bool_], list[int], list[Fraction]]:
        """Eigenspaces with the same partitions above them, together: those partitions, ranks and traces."""
        masks = np.array([_bits(subset) for subset in self.subsets])
        places = np.arange(len(self.ranks))[:, None]
        above, numbers = np.unique((places & masks) == places, axis=0, return_inverse=True)
        (traces, unit), ranks, sums = self.traces, [0] * len(above), [0] * len(above)
        for number, rank, trace in zip(numbers.reshape(-1).tolist(), self.ranks, traces, strict=True):
            ranks[number] += rank
            sums[number] += trace
        return above, ranks, [Fraction(trace, unit) for trace in sums]

    @cached_property
    def _outsides(self) -> list[int]:
        return [self._outside(subset) for subset in self.subsets]

    @property
    def max_steps(self) -> int:
        """How often shares are improved."""
        return 400

    def objective(self, precisions: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The workload's variance and its derivatives, in doubles."""
        above, _, traces = self._spaces
        weights, wanted = np.array(self._outsides, dtype=float), np.array([float(trace) for trace in traces])
        above, wanted = above[wanted > 0], wanted[wanted > 0]
        values = above @ (weights * precisions)
        with np.errstate(divide="ignore"):
            return float((wanted / values).sum()), -weights * (above.T @ (wanted / values**2))

    def variances(self, precisions: Sequence[arb]) -> tuple[list[arb | None], arb | None]:
        """The mean variance of each partition's parts, and of the workload; None where there is no unbiased one."""
        from flint import arb, fmpq

        above, ranks, traces = self._spaces
        values = [
            sum((t * n for t, n, a in zip(precisions, self._outsides, row, strict=True) if a), arb(0)) for row in above
        ]
        levels: list[arb | None] = []
        for place, outside in enumerate(self._outsides):
            chosen = [(rank, value) for rank, value, row in zip(ranks, values, above, strict=True) if row[place]]
            known = all(value > 0 for _, value in chosen)
            scale = fmpq(outside**2, self.size)
            levels.append(sum((arb(rank) / value for rank, value in chosen), arb(0)) * scale if known else None)
        wanted = [(trace, value) for trace, value in zip(traces, values, strict=True) if trace]
        if not all(value > 0 for _, value in wanted):
            return levels, None
        return levels, sum((arb(fmpq(t.numerator, t.denominator)) / value for t, value in wanted), arb(0))


def run_squares(places: Places, is_prefix: bool) -> int:
    """Σ over all prefix sums, or all ranges, and over the parts of a partition, of (cells of the part in it)²."""
    size = len(places)
    order = np.argsort(places, kind="stable")
    sorted_parts = places[order]
    starts = np.flatnonzero(np.r_[True, sorted_parts[1:] != sorted_parts[:-1]])
    lengths = np.diff(np.r_[starts, size])
    counts = np.arange(size) - np.repeat(starts, lengths) + 1  # of the part's cells up to this one
    following = np.r_[order[1:], 0]
    following[np.r_[starts[1:], size] - 1] = size
    gaps = following - order
    squares = int((counts.astype(object) ** 2 * gaps).sum())
    if is_prefix:
        return squares
    sums = np.add.reduceat((counts * gaps).astype(object), starts)
    return (size + 1) * squares - int((sums**2).sum())


def _bits(subset: frozenset[int]) -> int:
    return sum(1 << k for k in subset)


def regular_model(
    factors: Factors | None, partitions: tuple[Partition, ...], workload: Workload
) -> RegularModel | None:
    """The model of a regular design; None where it is none."""
    if factors is None or not factors.sizes:
        return None
    if workload.runs is not None and (prod(factors.sizes) << len(factors.sizes)) > MAX_RUN_WORK:
        return None
    found = {id(part): factors.subset(part) for part in (*partitions, *workload.partitions)}
    subsets = [found[id(part)] for part in partitions]
    wanted = [found[id(part)] for part in workload.partitions]
    if any(subset is None for subset in (*subsets, *wanted)):
        return None
    return RegularModel(factors, partitions, tuple(subsets), workload, tuple(wanted))  # type: ignore[arg-type]
