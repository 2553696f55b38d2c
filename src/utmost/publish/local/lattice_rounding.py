"""From the cells of a column to lattice numbers: ⌊(c − zero)/size + 1/2⌋ of the number c that a cell says, exactly.

Text is read as the decimal it is, a double as the dyadic fraction it is. For whole arrays the number is first found in
doubles, with a bound on what they can be off; where a whole number lies within that bound (ties, as a rule) the cell is
looked at again in whole numbers. So a place moves by half a step along each axis at most, with nothing to add for the
precision of a machine (`ties`), and its lattice number depends on its own cells alone, not on the rows around it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.publish.local.coordinates import Axis
from utmost.publish.local.ties import exact_floors, integer_line

if TYPE_CHECKING:
    import pyarrow as pa

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SLACK = 2.0**-49  # of |c|·slope + |offset| + 1: six roundings are off by less than 6·2^−53 of it


def lattice_positions(cells: pa.Array, axis: Axis) -> tuple[npt.NDArray[np.int64], Mask]:
    """The lattice numbers of a column of coordinates, kept from axis.low to axis.high, and which cells are missing.

    A cell is missing if it is NULL, NaN, infinite or no number; its lattice number means nothing.

    >>> import pyarrow as pa
    >>> found, missing = lattice_positions(
    ...     pa.array(["0.015", "-0.015", "nowhere"]), Axis(Fraction(0), Fraction(1, 100))
    ... )
    >>> found[:2].tolist(), missing.tolist()
    ([2, -1], [False, False, True])
    """
    import pyarrow as pa

    cells = normalise_cells(cells)
    values = cell_doubles(cells)
    missing: Mask = ~np.isfinite(values)
    values = np.where(missing, float(axis.zero), values)
    slope, offset = 1 / axis.size, Fraction(1, 2) - axis.zero / axis.size
    with np.errstate(over="ignore", invalid="ignore"):
        guess = values * float(slope) + float(offset)
        slack = (np.abs(values) * float(slope) + abs(float(offset)) + 1) * SLACK
        found = np.clip(np.floor(guess), axis.low, axis.high).astype(np.int64)
        near = np.rint(guess)
        unsure = (np.abs(guess - near) <= slack) & (guess >= axis.low - 1 - slack) & (guess <= axis.high + 2 + slack)
    where = np.flatnonzero(unsure & ~missing)
    if len(where):
        law = integer_line(slope, offset, axis.low, axis.high)
        found[where] = exact_floors(cells.take(pa.array(where)), values[where], near[where], law)
    return found, missing


def normalise_cells(cells: pa.Array) -> pa.Array:
    """Numbers as they are, text without the white space around it; decimals are text, other types are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return cells
    if pa.types.is_decimal(kind):
        return cells.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return pc.ascii_trim_whitespace(cells.cast(pa.large_string()))
    raise InputError("a column of coordinates must hold numbers, or text that is one, got another type: convert it")


def cell_doubles(cells: pa.Array) -> Doubles:
    """The double nearest to what each cell says, NaN where it is missing.

    Text is a number where Arrow's own conversion takes it: -1.5, 1e3, .5. A column where it refuses one is halved until
    the refused cells are alone, so that what becomes of a cell does not depend on its neighbours.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(cells.type) and not pa.types.is_string(cells.type):
        return _plain(cells.cast(pa.float64(), safe=False))
    try:
        return _plain(cells.cast(pa.float64()))
    except pa.ArrowInvalid:
        pass
    result, candidates = np.full(len(cells), np.nan), pc.match_substring_regex(cells, "[0-9]")
    where = np.flatnonzero(candidates.fill_null(False).to_numpy(zero_copy_only=False))
    result[where] = _halved(cells.take(pa.array(where)))
    return result


def _halved(cells: pa.Array) -> Doubles:
    import pyarrow as pa

    try:
        return _plain(cells.cast(pa.float64()))
    except pa.ArrowInvalid:
        if len(cells) == 1:
            return np.full(1, np.nan)
    middle = len(cells) // 2
    return np.concatenate([_halved(cells[:middle]), _halved(cells[middle:])])


def _plain(cells: pa.Array) -> Doubles:
    found: Doubles = cells.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return found
