"""Numbers so close to the border of two lattice cells that doubles cannot tell the side: told exactly, in whole arrays.

The question is ⌊(a·c + b)/u⌋ for a number c and whole numbers a > 0, b, u > 0, where a whole number m is known to be
near (a·c + b)/u. What does not fit in 53 or 62 bits is told one by one in Python's integers, with the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

LONGEST = 400  # characters, or places behind the point, of a number in text that is read exactly
SHORT = r"^[-+]?[0-9]{1,9}([.][0-9]{1,6})?$"  # at most 15 digits: the nearest double tells the decimal
SPLITTER = float(2**27 + 1)
EXACT, SAFE = 1 << 53, 1 << 62


@dataclass(frozen=True, slots=True)
class Line:
    """c ↦ (a·c + b)/u, kept from low to high."""

    a: int
    b: int
    u: int
    low: int
    high: int

    def floors(self, cells: list[Any]) -> list[int]:
        """⌊(a·c + b)/u⌋ for each cell, one by one."""
        found = []
        for cell in cells:
            n, d = number(cell).as_integer_ratio()
            found.append(min(max((n * self.a + d * self.b) // (d * self.u), self.low), self.high))
        return found


def integer_line(slope: Fraction, offset: Fraction, low: int, high: int) -> Line:
    """slope·c + offset with whole coefficients."""
    u = lcm(slope.denominator, offset.denominator)
    return Line(int(slope * u), int(offset * u), u, low, high)


def number(cell: Any) -> Any:
    """What a cell says, exactly; of a text beyond all use its nearest double."""
    if not isinstance(cell, str):
        return cell
    if len(cell) > LONGEST:
        return float(cell)
    found = Decimal(cell)
    return float(cell) if abs(found.adjusted()) > LONGEST else found


def exact_floors(cells: pa.Array, values: Doubles, near: Doubles, law: Line) -> Numbers:
    """The floors of cells whose nearest doubles are `values`, with the whole numbers m in `near`."""
    import pyarrow as pa

    found, told = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.bool_)
    if not pa.types.is_floating(cells.type) and not pa.types.is_integer(cells.type):
        told = _decimals(cells, values, law, found)
    elif pa.types.is_floating(cells.type) or np.abs(values).max() < EXACT:
        told[:] = _doubles(values, near, law, found)
    rest = np.flatnonzero(~told)
    if len(rest):
        found[rest] = law.floors(cells.take(pa.array(rest)).to_pylist())
    return found


def _doubles(values: Doubles, near: Doubles, law: Line, found: Numbers) -> bool:
    """m if a·c ≥ u·m − b, else m − 1, for doubles c, by an error-free product; returns whether that could be told.

    a·c = p + e without error (Dekker 1971). If p and t = u·m − b are within a factor 2 of each other, p − t has no
    error either (Sterbenz 1974); if not, it is more than 2^50 times as large as e. So the sign of (p − t) + e is right.
    """
    reach = law.u * int(np.abs(near).max()) + abs(law.b) if np.abs(near).max() < EXACT else EXACT
    if max(law.a, reach) >= EXACT:
        return False
    a = float(law.a)
    product = values * a
    border = near * float(law.u) - float(law.b)
    left = (product - border) + _rest(values, a, product)
    found[:] = np.clip(near - (left < 0), law.low, law.high).astype(np.int64)
    return True


def _rest(values: Doubles, a: float, product: Doubles) -> Doubles:
    """values·a − product, without error."""
    high, low = _halves(values)
    top, bottom = _halves(np.full(1, a))
    result: Doubles = ((high * top - product) + high * bottom + low * top) + low * bottom
    return result


def _halves(values: Doubles) -> tuple[Doubles, Doubles]:
    """Two doubles of 26 bits each that sum to each value (Veltkamp)."""
    wide = values * SPLITTER
    high: Doubles = wide - (wide - values)
    return high, values - high


def _decimals(cells: pa.Array, values: Doubles, law: Line, found: Numbers) -> Mask:
    """⌊(n·a + 10^d·b)/(10^d·u)⌋ in 64 bits for decimals n/10^d of at most 15 digits; returns where that is told."""
    import pyarrow.compute as pc

    told: Mask = pc.match_substring_regex(cells, SHORT).to_numpy(zero_copy_only=False)
    point = pc.find_substring(cells, ".").to_numpy(zero_copy_only=False)
    length = pc.binary_length(cells).to_numpy(zero_copy_only=False)
    places = np.where(told & (point >= 0), length - point - 1, 0).astype(np.int64)
    power = 10**places
    n = np.rint(np.where(told, values, 0.0) * power).astype(np.int64)
    if not len(n) or int(np.abs(n).max()) * law.a + 10**6 * (abs(law.b) + law.u) >= SAFE:
        return np.zeros(len(values), dtype=np.bool_)
    found[:] = np.clip((n * law.a + power * law.b) // (power * law.u), law.low, law.high)
    return told
