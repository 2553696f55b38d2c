"""Powers of α between rationals, and channels whose entries are rounded to dyadic numbers without losing privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.errors import SolverError
from utmost.exact import Level, Number, Real, ball_endpoints, enclosure
from utmost.spaces import Space

Ints = npt.NDArray[np.int64]
TARGET_MARGIN_BITS = 52  # the target is an ε smaller by one part in 2^52 …
PRECISION_BITS = 112  # … so that numbers of 112 bits can be rounded and stay private


@dataclass(frozen=True, slots=True, eq=False)
class AlphaPowers:
    """low ≤ α^v ≤ high for each distinct distance v of a space, all rational; equal where α^v is rational for all v.

    `target` is what a channel is made for: α^v itself if that is rational, else about α^(v·(1 − 2^−52)), a little more
    private, so that entries may be rounded.
    """

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    target: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Is every power rational."""
        return self.low == self.high


def alpha_powers(space: Space, level: Level) -> AlphaPowers:
    """The powers of α at the distances of a space (0 < α < 1)."""
    powers = [level.power(value) for value in space.values]
    if not any(isinstance(power, Real) for power in powers):
        exact: tuple[Fraction, ...] = tuple(powers)  # type: ignore[arg-type]
        return AlphaPowers(exact, exact, exact)
    intervals = [enclosure(power, PRECISION_BITS) for power in powers]
    low, high = (tuple(pair[side] for pair in intervals) for side in (0, 1))
    return AlphaPowers(low, high, tuple(_target_power(level, value) for value in space.values))


def _target_power(level: Level, distance: Number) -> Fraction:
    if not distance:
        return Fraction(1)
    shorter_distance = distance * (1 - Fraction(1, 1 << TARGET_MARGIN_BITS))
    return sum(ball_endpoints(level.power_ball(shorter_distance, PRECISION_BITS)), Fraction(0)) / 2


def round_channel(space: Space, bounds: AlphaPowers, entries: Matrix, remainder_columns: Ints, columns: Ints) -> Matrix:
    """Entries rounded down to multiples of a power of 2, what row x lacks given to its column remainder_columns[x].

    `entries` are rationals with rows that sum to 1, about private for `bounds.target`. Privacy is decided afterwards,
    in whole numbers against `bounds.high`, for every generating pair and the columns `columns`; the others must
    be images of them under symmetries of the space. It takes an ε·d below 2^−50 to fail.
    """
    distinct = {id(entry): entry for entry in entries.ravel()}
    smallest_entry = min(entry for entry in distinct.values() if entry)
    bits = PRECISION_BITS + max(0, smallest_entry.denominator.bit_length() - smallest_entry.numerator.bit_length())
    floors = {key: (entry.numerator << bits) // entry.denominator for key, entry in distinct.items()}
    units = np.empty(entries.shape, dtype=object)
    units.ravel()[:] = [floors[id(entry)] for entry in entries.ravel()]
    units[np.arange(len(units)), remainder_columns] += (1 << bits) - units.sum(axis=1)
    if not units_are_private(space, bounds, units[:, columns]):
        raise SolverError("the channel found did not stay private when it was rounded: take a larger epsilon")
    entry_of_unit = {unit: Fraction(unit, 1 << bits) for unit in set(units.ravel())}
    rows = np.empty(entries.shape, dtype=object)
    rows.ravel()[:] = [entry_of_unit[unit] for unit in units.ravel()]
    return rows


def units_are_private(space: Space, bounds: AlphaPowers, units: Matrix) -> bool:
    """Is units[x] ≥ α^d(x,x′)·units[x′], both ways, for every generating pair: decided with α^d rounded up."""
    first, second = space.edge_array[:, 0], space.edge_array[:, 1]
    codes = space.codes[first, second]
    for code in np.unique(codes).tolist():
        numerator, denominator = bounds.high[code].numerator, bounds.high[code].denominator
        left, right = units[first[codes == code]], units[second[codes == code]]
        if (left * denominator < right * numerator).any() or (right * denominator < left * numerator).any():
            return False
    return True
