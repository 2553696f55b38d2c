"""Linear recurrences over a million counts, in doubles with local exponents.

The posterior of a geometric answer y is proportional to π_x α^|x−y|. Its left mass L_y = Σ_{x≤y} π_x α^(y−x) obeys
L_y = α·L_{y−1} + π_y, and so do its right mass and its moments. All terms are ≥ 0, so nothing cancels; what could go
wrong is the range, since π_x and α^|x−y| run from 1 down to e^−50000000. So every quantity at y is kept as a multiple
of 2^{e_y}, with 2^{e_y} ≈ max_x π_x α^|x−y|: the largest term is about 1, and what underflows is below 10^−300 of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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


def scan_back(factor: Floats, source: Floats) -> Floats:
    """The solution of v_y = factor_y·v_{y+1} + source_y with v_n+1 = 0."""
    return scan(factor[::-1], source[::-1])[::-1]


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
