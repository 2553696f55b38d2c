"""The masses of a discrete Gaussian on a whole window of the integers, in whole numbers, for readers of answers.

**Recurrence.** f(x) = e^(−x²/(2σ²)) has f(x+1) = f(x)·u_x and u_{x+1} = u_x·c, with u_x = e^(−(2x+1)/(2σ²)) and
c = e^(−1/σ²). It runs from the x of the window that is nearest to 0 outward, so that everything falls, and the other
side is its mirror. With a = that x, p_k = f(a+k)/f(a) is kept in units of 2^−160, all products rounded down.

**Error.** All numbers are in [0, 1] and rounded down; a product of two is then too small by at most the sum of their
errors, and 1. c and u_a are too small by at most 1 unit, so u_{a+k} by at most 2k + 1 and p_k by at most
Σ_{i<k} (2i + 2) = k² + k < 2^49. Then p_k is multiplied by Pr[X = a]·2^b, known by a ball and rounded down as well,
with b such that the masses of the window add up to less than 2^62: each is too small by less than 2 units of 2^−b. ∎
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import ball, integer
from utmost.exact.reals import midpoint
from utmost.exact.working_precision import working_precision
from utmost.noise.gaussian_law import check_variance, mass_ball

if TYPE_CHECKING:
    from flint import arb

FIXED_BITS = 160  # of p_k, u and c
FACTOR_BITS = 64  # of Pr[X = a]·2^b beyond the point
MASS_BITS = 62  # of the sum of all masses of a window
MAX_WINDOW = 1 << 24  # integers in a window
MAX_WINDOW_END = 10**30


@dataclass(frozen=True, slots=True, eq=False)
class MassWindow:
    """masses[k] ≤ Pr[X = low + k]·2^unit_bits < masses[k] + 2, and they add up to less than 2^62."""

    low: int
    masses: npt.NDArray[np.int64]
    unit_bits: int

    def cumulative(self) -> npt.NDArray[np.int64]:
        """Σ_{i≤k} masses[i], which is below Pr[low ≤ X ≤ low + k]·2^unit_bits by less than 2(k + 1)."""
        return np.cumsum(self.masses)


def mass_window(variance: object, low: int, high: int) -> MassWindow:
    """The masses of low … high, at most 2^24 of them.

    >>> window = mass_window(1, -2, 2)
    >>> (window.masses / 2.0**window.unit_bits).round(6).tolist()
    [0.053991, 0.241971, 0.398942, 0.241971, 0.053991]
    """
    exact, first, last = check_variance(variance), integer(low, "low"), integer(high, "high")
    if not 0 <= last - first < MAX_WINDOW or max(abs(first), abs(last)) > MAX_WINDOW_END:
        raise InputError("low and high must be at most 2^24 integers in order, within 10^30 of 0", "low")
    nearest = max(first, -last, 0)
    sizes = np.abs(np.arange(last - first + 1) - min(max(-first, 0), last - first))  # |x| − nearest
    shares = _falling_shares(exact, nearest, int(sizes.max()) + 1)
    counts = np.bincount(sizes, minlength=len(shares))[: len(shares)].tolist()
    unit_bits, factor = _unit(exact, nearest, sum(map(operator.mul, shares, counts)))
    masses = np.zeros(int(sizes.max()) + 1, dtype=np.int64)
    masses[: len(shares)] = [share * factor >> FIXED_BITS + FACTOR_BITS for share in shares]
    return MassWindow(first, masses[sizes], unit_bits)


def _falling_shares(variance: Fraction, nearest: int, count: int) -> list[int]:
    """p_k in units of 2^−160 for k below `count`, as far as they are not 0."""
    share, ratio, factor = 1 << FIXED_BITS, _fixed((2 * nearest + 1) / (2 * variance)), _fixed(1 / variance)
    shares = []
    for _ in range(count):
        shares.append(share)
        share, ratio = share * ratio >> FIXED_BITS, ratio * factor >> FIXED_BITS
        if not share:
            break
    return shares


def _fixed(exponent: Fraction) -> int:
    """⌊e^(−exponent)·2^160⌋ or 1 less."""
    with working_precision(2 * FIXED_BITS):
        scaled = ball(-exponent, 2 * FIXED_BITS).exp() * (1 << FIXED_BITS)
        return max(_floor(scaled.lower()), 0)


def _unit(variance: Fraction, nearest: int, share_sum: int) -> tuple[int, int]:
    """b with Pr[X = a]·Σp·2^b between 2^60 and 2^62, and ⌊Pr[X = a]·2^(b + 64)⌋ or 1 less."""
    from flint import arb

    precision = 2 * FIXED_BITS + (math.ceil(nearest**2 / variance)).bit_length()
    with working_precision(precision):
        mass = mass_ball(variance, nearest, precision)
        logarithm = (mass * share_sum).log() / arb(2).log() - FIXED_BITS
        unit_bits = MASS_BITS - 1 - _floor(logarithm.upper())
        return unit_bits, _floor((mass * arb(2) ** (unit_bits + FACTOR_BITS)).lower())


def _floor(endpoint: arb) -> int:
    """The floor of an end of a ball, which is a point."""
    return int(midpoint(endpoint.floor()))
