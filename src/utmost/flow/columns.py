"""Columns that say the same: two outputs whose columns are proportional lead to the same posterior."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.channel import Matrix
from utmost.exact import Number


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """Columns with one direction: which they are, the share each has of their sum, that sum, and its total."""

    members: tuple[int, ...]
    shares: tuple[Number, ...]
    column: Matrix
    total: Number


def bundles(matrix: Matrix) -> list[Bundle]:
    """The columns of a non-negative matrix by direction, in order of first appearance; zero columns are dropped."""
    groups: dict[tuple[Number, ...], list[int]] = {}
    totals: list[Number] = [matrix[:, y].sum() for y in range(matrix.shape[1])]
    for y, total in enumerate(totals):
        if total:
            groups.setdefault(tuple(matrix[:, y] / total), []).append(y)
    return [_bundle(matrix, totals, members) for members in groups.values()]


def _bundle(matrix: Matrix, totals: list[Number], members: list[int]) -> Bundle:
    column = matrix[:, members].sum(axis=1)
    total: Number = column.sum()
    return Bundle(tuple(members), tuple(totals[y] / total for y in members), column, total)
