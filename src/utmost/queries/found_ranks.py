"""Quantiles, least and greatest values over found cells.

A cell has how many of its rows are at which position of the grid, as pairs, until it is told: only then are losses of
all positions worked out. So many cells are told at most that all of their positions together are no more than those of
listed cells may be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from utmost.queries import found_cells
from utmost.queries.answer_mechanisms.found import FoundMechanism
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.found_query import CellDraw, FoundQuery
from utmost.queries.number_column import NumberQuery
from utmost.queries.quantiles import MAX_CELL_CANDIDATES, Quantiles
from utmost.queries.query import AnswerDraw, ExactAnswer

Losses = Callable[[list[int]], ExactAnswer]


class FoundRanks(FoundQuery):
    """A quantile, or several, or an end, of a column's values in each cell that is told."""

    __slots__ = ()

    inner: NumberQuery

    @property
    def max_cells(self) -> int:
        """As many as all of their grid values together allow, and at least one."""
        levels = self.inner.levels if isinstance(self.inner, Quantiles) else 1
        allowed = MAX_CELL_CANDIDATES // (levels * (self.inner.grid.size + 1))
        return max(min(found_cells.MAX_FOUND_CELLS, allowed), 1)

    def prepare_cell(self, mechanism: FoundMechanism) -> CellDraw:
        """The draw from the losses of all positions."""
        draw, size = self.inner.prepare_draw(mechanism.parts["answer"]), self.inner.grid.size
        return partial(_draw_rank, draw, self.inner.rank_answer, size)


def _draw_rank(draw: AnswerDraw, losses: Losses, size: int, pairs: ExactAnswer, count: int) -> Drawn:
    counts = [0] * (size + 1)
    for position, rows in cast("list[tuple[int, int]]", pairs):
        counts[position] += rows
    return draw(losses(counts))
