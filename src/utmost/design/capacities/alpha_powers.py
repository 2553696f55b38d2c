"""Powers of α between rationals, and channels whose entries are rounded to dyadic numbers without losing privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.errors import SolverError
from utmost.exact import Level, Number, Real, ball_ends, enclosure
from utmost.spaces import Space

Whole = npt.NDArray[np.int64]
MARGIN = 52  # the aim is an ε smaller by one part in 2^52 …
BITS = 112  # … so that numbers of 112 bits can be rounded and stay private


@dataclass(frozen=True, slots=True, eq=False)
class AlphaPowers:
    """low ≤ α^v ≤ high for each distinct distance v of a space, all rational; equal where α^v is rational for all v.

    `aim` is what a channel is made for: α^v itself if that is rational, else about α^(v·(1 − 2^−52)), a little more
    private, so that entries may be rounded.
    """

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    aim: tuple[Fraction, ...]

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
    both = [enclosure(power, BITS) for power in powers]
    low, high = (tuple(pair[side] for pair in both) for side in (0, 1))
    return AlphaPowers(low, high, tuple(_aim(level, value) for value in space.values))


def _aim(level: Level, distance: Number) -> Fraction:
    if not distance:
        return Fraction(1)
    smaller = distance * (1 - Fraction(1, 1 << MARGIN))
    return sum(ball_ends(level.power_ball(smaller, BITS)), Fraction(0)) / 2


def round_channel(space: Space, bounds: AlphaPowers, entries: Matrix, own: Whole, columns: Whole) -> Matrix:
    """Entries rounded down to multiples of a power of 2, what a row lacks given to its column `own`.

    `entries` are rationals with rows that sum to 1, about private for `bounds.aim`. Privacy is decided afterwards, in
    whole numbers against `bounds.high`, for every generating pair and the columns numbered `columns`; the others must
    be images of them under symmetries of the space. It takes an ε·d below 2^−50 to fail.
    """
    distinct = {id(entry): entry for entry in entries.ravel()}
    least = min(entry for entry in distinct.values() if entry)
    bits = BITS + max(0, least.denominator.bit_length() - least.numerator.bit_length())
    floors = {key: (entry.numerator << bits) // entry.denominator for key, entry in distinct.items()}
    units = np.empty(entries.shape, dtype=object)
    units.ravel()[:] = [floors[id(entry)] for entry in entries.ravel()]
    units[np.arange(len(units)), own] += (1 << bits) - units.sum(axis=1)
    if not private(space, bounds, units[:, columns]):
        raise SolverError("the channel found did not stay private when it was rounded: take a larger epsilon")
    dyadic = {unit: Fraction(unit, 1 << bits) for unit in set(units.ravel())}
    rows = np.empty(entries.shape, dtype=object)
    rows.ravel()[:] = [dyadic[unit] for unit in units.ravel()]
    return rows


def private(space: Space, bounds: AlphaPowers, units: Matrix) -> bool:
    """Is units[x] ≥ α^d(x,x′)·units[x′], both ways, for every generating pair: decided with α^d rounded up."""
    first, second = space.tight[:, 0], space.tight[:, 1]
    codes = space.codes[first, second]
    for code in np.unique(codes).tolist():
        above, below = bounds.high[code].numerator, bounds.high[code].denominator
        here, there = units[first[codes == code]], units[second[codes == code]]
        if (here * below < there * above).any() or (there * below < here * above).any():
            return False
    return True
