"""Certify doubles: a mechanism in fractions, and a lower bound that holds for any multipliers.

*Lower bound.* Let y ≥ 0 be multipliers of the constraints C[a,w] ≥ α^d(a,b)·C[b,w]. For a private C the sum
Σ y·(C[a,w] − α^d·C[b,w]) is ≥ 0, so the loss is at least Σ_x Σ_w C[x,w]·r[x,w] with

    r[x,w] = c[x,w] − Σ_{a=x} y + Σ_{b=x} α^d·y,

and, rows summing to 1, at least Σ_x u_x with u_x = min_w r[x,w]. Here y are whole multiples of 2^−bits and α^d and c
are rounded down, so every sum is of integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.exact import Level, Number, ball_endpoints
from utmost.result_values import equal_fields, hash_of_kind
from utmost.spaces import Space

if TYPE_CHECKING:
    from utmost.design.interior_point.orbits import Floats, Ints

MULTIPLIER_BITS = 112  # of the integers, beyond what the loss is smaller than the largest cost, or than 1
BLOCK_MULTIPLIERS = 1 << 18  # multipliers that are integers at one time
SHRINK_BITS = (
    0,
    52,
    46,
    40,
    34,
    28,
)  # 2^−k of the multipliers is given up for the zero ones, which have slack; 0: none


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """Multipliers y ≥ 0 of the constraints C[low, reading] ≥ α^d(low, high)·C[high, reading].

    y = ⌊values·2^bits⌋/2^bits, less 2^−reduction_bits of it where `reduction_bits` is not 0.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    reading: Ints
    low: Ints
    high: Ints
    values: Floats
    bits: int
    reduction_bits: int = 0

    def __len__(self) -> int:
        return len(self.reading)

    def __iter__(self) -> Iterator[tuple[int, int, int, Fraction]]:
        """(reading, low, high, y), by position."""
        factor = (
            Fraction((1 << self.reduction_bits) - 1, 1 << self.reduction_bits) if self.reduction_bits else Fraction(1)
        )
        unit = factor / (1 << self.bits)
        for block in self.blocks():
            digits = to_integers(self.values[block], self.bits)
            for w, a, b, y in zip(self.reading[block], self.low[block], self.high[block], digits, strict=True):
                yield int(w), int(a), int(b), y * unit

    def blocks(self) -> Iterator[slice]:
        """All of them, some at a time, since integers take more room than doubles."""
        return (slice(start, start + BLOCK_MULTIPLIERS) for start in range(0, len(self), BLOCK_MULTIPLIERS))


def exact_multipliers(reading: Ints, low: Ints, high: Ints, multipliers: Floats, bits: int) -> Multipliers:
    """The multipliers that are positive numbers, to be rounded down to multiples of 2^−bits."""
    positive = np.flatnonzero(np.isfinite(multipliers) & (multipliers > 0) & (multipliers >= 2.0**-bits))
    return Multipliers(reading[positive], low[positive], high[positive], multipliers[positive], bits)


def lower_bound(
    space: Space, level: Level, lower_costs: Matrix, multipliers: Multipliers
) -> tuple[tuple[Fraction, ...], Multipliers]:
    """u with Σ u ≤ the loss of every private mechanism, and the multipliers that prove it.

    `lower_costs` are costs, or lower bounds of them. The multipliers are as found, a little smaller, or none at all,
    whichever is best.
    """
    unit = 1 << multipliers.bits
    costs = np.array([cost.numerator * unit // cost.denominator for cost in lower_costs.ravel()], dtype=object)
    costs = costs.reshape(lower_costs.shape) * unit
    reduced_costs = _reduced_costs(space, level, costs, multipliers)
    best = max(SHRINK_BITS, key=lambda k: Fraction(int(_row_minima(costs, reduced_costs, k).sum()), 1 << k))
    u = [Fraction(int(value), unit * unit << best) for value in _row_minima(costs, reduced_costs, best)]
    row_minima = [min(row) for row in lower_costs]
    if sum(row_minima) >= sum(u):
        return tuple(row_minima), Multipliers(*(multipliers.reading[:0],) * 3, multipliers.values[:0], multipliers.bits)
    return tuple(u), replace(multipliers, reduction_bits=best)


def _reduced_costs(
    space: Space, level: Level, costs: npt.NDArray[np.object_], multipliers: Multipliers
) -> npt.NDArray[np.object_]:
    """r in units of 2^−2·bits."""
    width, unit = costs.shape[1], 1 << multipliers.bits
    ratios = np.empty(len(space.values), dtype=object)
    ratios[:] = [power_rounded_down(level, d, multipliers.bits) for d in space.values]
    reduced_costs = costs.ravel().copy()
    for block in multipliers.blocks():
        low, high, reading = multipliers.low[block], multipliers.high[block], multipliers.reading[block]
        digits = to_integers(multipliers.values[block], multipliers.bits)
        np.subtract.at(reduced_costs, low * width + reading, digits * unit)
        np.add.at(reduced_costs, high * width + reading, digits * ratios[space.codes[low, high]])
    return reduced_costs.reshape(costs.shape)


def power_rounded_down(level: Level, distance: Number, bits: int) -> int:
    """α^d in units of 2^−bits, rounded down."""
    if not distance:
        return 1 << bits
    low = max(ball_endpoints(level.power_ball(distance, bits + 16))[0], Fraction(0))
    return low.numerator * (1 << bits) // low.denominator


def _row_minima(
    costs: npt.NDArray[np.object_], reduced_costs: npt.NDArray[np.object_], k: int
) -> npt.NDArray[np.object_]:
    """min_w of (1 − 2^−k)·r + 2^−k·c, times 2^k; r itself for k = 0."""
    return np.asarray((costs + reduced_costs * ((1 << k) - 1) if k else reduced_costs).min(axis=1))


def exact_rows(entries: Floats) -> npt.NDArray[np.object_]:
    """The mechanism with these entries as fractions of one power of 2; what a row lacks goes to its largest entry."""
    exponents = np.frexp(entries)[1]
    bits = 53 - int(exponents.min())
    exact = to_integers(entries, bits)
    largest = entries.argmax(axis=1)
    exact[np.arange(len(exact)), largest] += (1 << bits) - exact.sum(axis=1)
    unit = 1 << bits
    result = np.empty(exact.shape, dtype=object)
    result.ravel()[:] = [Fraction(int(value), unit) for value in exact.ravel()]
    return result


def make_private(entries: Floats, low: Ints, high: Ints, ratios: Floats, reading: int) -> Floats:
    """The mechanism times 1 − K, and what its rows then lack given to one reading, K just large enough for privacy.

    A row lacks K + (1 − K)·r, r = 1 − its sum; as a column that is private if K·(1 − α^d) ≥ α^d·r[high] − r[low] for
    every pair. So rows that are off by r cost a few r, whatever slack the mechanism has. Where α^d is 1 in doubles no K
    is large enough, and the mechanism stays as it is.
    """
    deficits = 1 - entries.sum(axis=1)
    shortfalls = ratios * deficits[high] - deficits[low]
    room = 1 - ratios
    if np.any(shortfalls[room <= 0] > 0):
        return entries
    min_share = np.max(shortfalls[room > 0] / room[room > 0], initial=0.0)
    share = 2 * float(min_share)
    result = (1 - share) * entries
    result[:, reading] += share + (1 - share) * deficits
    return np.asarray(result)


def to_integers(values: Floats, bits: int) -> npt.NDArray[np.object_]:
    """⌊values·2^bits⌋ as integers of any size.

    >>> to_integers(np.array([0.75, 2.0**-70]), 70).tolist()
    [885443715538058477568, 1]
    """
    fractions, exponents = np.frexp(values)
    digits = np.ldexp(fractions, 53).astype(np.int64).astype(object)
    shifts = exponents.astype(np.int64) + (bits - 53)
    left_shifts, right_shifts = np.maximum(shifts, 0).astype(object), np.maximum(-shifts, 0).astype(object)
    return np.asarray((digits << left_shifts) >> right_shifts, dtype=object)
