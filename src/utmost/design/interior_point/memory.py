"""What an optimal mechanism needs of memory, and what fits."""

from __future__ import annotations

import math

from utmost.errors import InputError
from utmost.spaces import Space

MAX_BYTES = 4 << 30  # bytes
MATRIX_BYTES = 8  # of a pair of points and a reading, in the inverse of the reading's matrix
PAIR_BYTES = 200  # of a working pair, with what is computed of it and its multiplier in the certificate
WORKING_PAIRS = 30  # of a point and reading, at most as a rule
CELL_BYTES = 1500  # of a point and reading, with its costs and probability as fractions


def required_bytes(points: int, readings: int, columns: int, pairs: int) -> int:
    """About what is needed where `columns` of the readings stand for all, and there are so many generating pairs."""
    working_pairs = min(pairs, WORKING_PAIRS * points)
    return columns * (MATRIX_BYTES * points**2 + PAIR_BYTES * working_pairs) + CELL_BYTES * readings * points


def largest_size() -> int:
    """The number of points that fits, with a reading for each and no symmetry."""
    points = 1
    while required_bytes(points + 1, points + 1, points + 1, points * (points + 1)) <= MAX_BYTES:
        points += 1
    return points


def check_memory(space: Space, readings: int, columns: int) -> None:
    """Refuse what memory has no room for, and say what there is room for."""
    size = len(space)
    needed = required_bytes(size, readings, columns, 2 * len(space.edge_array))
    if needed > MAX_BYTES:
        fitting_points = min(int(size * (MAX_BYTES / needed) ** (1 / 3)), size - 1)
        raise InputError(
            f"an optimal mechanism on {space.name} for {readings} readings needs about {math.ceil(needed / 2**30)} GB, "
            f"and at most {MAX_BYTES >> 30} are taken",
            hint=f"take about {fitting_points} points, or a prior and a loss with its symmetries",
        )
