"""The remapped geometric mechanism in fixed point: the optimum of a count whose level, prior or loss is irrational.

`count_mechanism` has the theory: with h_k = min_w c_w·K_k the multipliers are u = K⁻¹h, and they prove the mechanism
optimal if the surplus of c_w − u is not negative for any reading w. Here all are whole multiples of a small unit: costs
and α are rounded down, and u is then reduced by more than all the roundings, so that a surplus that is 0 stays above 0.
Whatever u is, `fixed_point_objection` decides for the true α: a credit times α is rounded down, a debt over α up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.design.interior_point.exact_bounds import power_rounded_down
from utmost.exact import Level, Number, ball_endpoints, rational

if TYPE_CHECKING:
    Floats: TypeAlias = npt.NDArray[np.float64]
    Integers: TypeAlias = npt.NDArray[np.object_]

GAP_BITS = 80  # of the loss: how far the multipliers are reduced
MARGIN_BITS = 60  # of ε: how much is left for rounding the mechanism
GUARD_BITS = 64  # of the terms of an entry, beyond its own
TIE_BITS = 40  # of a score: doubles nearer than this are compared in whole numbers
MAX_EXPONENT = 900  # of 2, for a number that is put in a double
MAX_BITS = 1 << 16  # of an entry of the mechanism


@dataclass(frozen=True, slots=True)
class FixedPointRemap:
    """The best reading of each answer of the geometric mechanism, and the multipliers, with Σ u the lower bound."""

    remap: list[int]
    multipliers: tuple[Fraction, ...]


def fixed_point_remap(level: Level, lower_costs: Matrix) -> FixedPointRemap | None:
    """The best reading of the geometric mechanism, if that is proved to be optimal but for 2^−80 of the loss.

    `lower_costs` are the costs c[i,w], or rational numbers not above them; α is inner, and there are as many readings
    as counts. None too where the numbers are beyond doubles, or nothing is lost.
    """
    costs, ratio = float_costs(lower_costs), math.exp(-level.epsilon)
    if costs is None or not 0.0 < ratio < 1.0:
        return None
    scores = costs.T @ ratio ** np.abs(np.subtract.outer(np.arange(len(costs)), np.arange(len(costs))))
    loss, amplification = math.tanh(level.epsilon / 2) * scores.min(axis=0).sum(), -1 / math.expm1(-2 * level.epsilon)
    if not loss > 0.0:
        return None
    roundings = 16 * math.ceil(amplification * len(costs) * (1 + costs.max()))  # in units, of each multiplier
    bits = GAP_BITS + math.ceil(math.log2(roundings) + math.log2(len(costs)) + max(0.0, -math.log2(loss)))
    remap, best_scores = _best_readings(level, units_below(lower_costs, bits), scores, bits)
    multipliers = [u - roundings for u in _inverse_kernel_product(level, best_scores, bits)]
    exact = tuple(Fraction(u, 1 << bits) for u in multipliers)
    return FixedPointRemap(remap, exact) if fixed_point_objection(level, lower_costs, exact) is None else None


def float_costs(costs: Matrix) -> Floats | None:
    """The costs as doubles; None where the largest is beyond them."""
    largest = max(costs.flat)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return costs.astype(np.float64) if abs(exponent) < MAX_EXPONENT else None


def units_below(values: Matrix, bits: int) -> Integers:
    """⌊value·2^bits⌋ for each."""
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = [(value.numerator << bits) // value.denominator for value in values.flat]
    return result


def _best_readings(level: Level, costs: Integers, scores: Floats, bits: int) -> tuple[list[int], list[int]]:
    """For each answer the reading of the least score, and that score: doubles that are near are computed again."""
    size = len(costs)
    powers = np.array([power_rounded_down(level, Fraction(d), bits) for d in range(size)], dtype=object)
    remap, best_scores = [], []
    for k in range(size):
        candidates = np.flatnonzero(scores[:, k] <= scores[:, k].min() * (1 + 2.0**-TIE_BITS))
        column = powers[np.abs(np.arange(size) - k)]
        exact_scores = [int((costs[:, w] * column).sum()) >> bits for w in candidates.tolist()]
        least = min(exact_scores)
        nearest = next(w for w, score in zip(candidates.tolist(), exact_scores, strict=True) if score <= least + size)
        remap.append(nearest)
        best_scores.append(least)
    return remap, best_scores


def _inverse_kernel_product(level: Level, scores: list[int], bits: int) -> list[int]:
    """K⁻¹·h in units of 2^−bits: K⁻¹ is 1/(1−α²) times 1 + α² (1 at the ends) and beside it −α."""
    size, unit = len(scores), 1 << bits
    alpha = power_rounded_down(level, Fraction(1), bits)
    square = power_rounded_down(level, Fraction(2), bits)
    padded = [0, *scores, 0]
    result = []
    for i in range(size):
        diagonal = unit if i in (0, size - 1) else unit + square
        result.append((diagonal * padded[i + 1] - alpha * (padded[i] + padded[i + 2])) // (unit - square))
    return result


def fixed_point_objection(level: Level, lower_costs: Matrix, multipliers: Sequence[Number]) -> int | None:
    """A reading w for which it is not shown that c_w − u is in the dual cone (`count_mechanism.surplus`), or None."""
    exact = [rational(u, "multiplier") for u in multipliers]
    bits = max(u.denominator.bit_length() for u in exact)
    power_bits = bits + 64
    alpha = power_rounded_down(level, Fraction(1), power_bits)
    if not alpha:
        return 0
    costs = units_below(lower_costs, bits)
    carry = np.zeros(costs.shape[1], dtype=object)
    for row, u in zip(costs, exact, strict=True):
        positive = carry > 0
        carry[positive] = carry[positive] * alpha >> power_bits
        carry[~positive] = (carry[~positive] << power_bits) // alpha  # of numbers ≤ 0: away from 0
        carry = carry + row - (-((-u.numerator << bits) // u.denominator))
    return next(iter(np.flatnonzero(carry < 0).tolist()), None)


def fixed_point_rows(level: Level, remap: list[int]) -> Matrix | None:
    """The remapped geometric mechanism for a hair less than ε, its entries whole multiples of one power of 2.

    What a row lacks goes to its largest entry; the hair pays for the rounding. None where ε is too large or too small.
    """
    size, epsilon = len(remap), level.epsilon
    smallest_bits = (size + 1) * epsilon / math.log(2) + max(0.0, -2 * math.log2(epsilon))
    if smallest_bits > MAX_BITS:
        return None
    bits = MARGIN_BITS + math.ceil(smallest_bits) + 2 * size.bit_length() + 16
    guarded = bits + GUARD_BITS
    unit, powers = 1 << guarded, [_hair_above(level, d, guarded) for d in range(size)]
    weights = [(part << guarded) // (unit + powers[1]) for part in (unit, unit - powers[1])]  # κ at the ends, inside
    table = np.array(powers, dtype=object)
    units = np.zeros((size, size), dtype=object)
    for k, w in enumerate(remap):
        units[:, w] += table[np.abs(np.arange(size) - k)] * weights[0 < k < size - 1]
    units >>= 2 * guarded - bits
    units[np.arange(size), units.argmax(axis=1)] += (1 << bits) - units.sum(axis=1)
    return _as_fractions(units, bits)


def _hair_above(level: Level, distance: int, bits: int) -> int:
    """α^(distance·(1 − 2^−60)) in units of 2^−bits."""
    if not distance:
        return 1 << bits
    low, high = ball_endpoints(level.power_ball(distance * (1 - Fraction(1, 1 << MARGIN_BITS)), bits + 16))
    middle = (low + high) / 2
    return (middle.numerator << bits) // middle.denominator


def _as_fractions(units: Integers, bits: int) -> Matrix:
    entry_of_unit = {unit: Fraction(int(unit), 1 << bits) for unit in set(units.ravel().tolist())}
    rows = np.empty(units.shape, dtype=object)
    rows.ravel()[:] = [entry_of_unit[unit] for unit in units.ravel().tolist()]
    return rows
