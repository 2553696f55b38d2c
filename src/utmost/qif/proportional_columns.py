"""Group proportional columns: two outputs whose columns are proportional lead to the same posterior."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.exact import Number, Real

MAX_EQUAL_DIRECTION_GAP = 1e-9  # directions whose doubles differ by more are different


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBundle:
    """Columns with one direction: which they are, the share each has of their sum, and that sum."""

    members: tuple[int, ...]
    shares: tuple[Number, ...]
    column: Matrix


def bundle_columns(matrix: Matrix) -> list[ColumnBundle]:
    """The columns of a non-negative matrix by direction, in order of first appearance; zero columns are dropped.

    Doubles distinguish most columns; the others are compared exactly.
    """
    groups: list[list[int]] = []
    directions: list[npt.NDArray[np.float64]] = []
    for y, column in enumerate(matrix.T):
        if not any(column):
            continue
        direction = _direction(column)
        for members, group_direction in zip(groups, directions, strict=True):
            is_close = np.abs(group_direction - direction).max() <= MAX_EQUAL_DIRECTION_GAP
            if is_close and _is_proportional(matrix[:, members[0]], column):
                members.append(y)
                break
        else:
            groups.append([y])
            directions.append(direction)
    return [_bundle(matrix, members) for members in groups]


def _direction(column: Matrix) -> npt.NDArray[np.float64]:
    """The column divided by its largest entry, in doubles; fractions are divided first, since they may be tiny."""
    if any(isinstance(value, Real) for value in column):
        floats = column.astype(float)
        return np.asarray(floats / floats.max())
    return np.asarray((column / column.max()).astype(float))


def _is_proportional(left: Matrix, right: Matrix) -> bool:
    pivot = next(x for x, value in enumerate(left) if value)
    return all(a * right[pivot] == b * left[pivot] for a, b in zip(left, right, strict=True))


def _bundle(matrix: Matrix, members: list[int]) -> ColumnBundle:
    if len(members) == 1:
        return ColumnBundle(tuple(members), (Fraction(1),), matrix[:, members[0]])
    column = matrix[:, members].sum(axis=1)
    pivot = next(x for x, value in enumerate(column) if value)
    return ColumnBundle(tuple(members), tuple(matrix[pivot, y] / column[pivot] for y in members), column)
