"""An estimate as a table: one row a reading, `query, kind, <key columns>` and its numbers.

`value` is what was released, `estimate` the best reading, `low` and `high` the credible interval, rounded outward, and
`unbiased` the reading that is right on average. `expected_loss` is the loss of the best reading given the answer,
`face_value_loss` that of the value itself, and `gain` how many times less the first is: floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.publish.tidy_table import FIRST_COLUMNS, answer_cells, key_columns
from utmost.queries.grouped import join_columns
from utmost.tables import Column, ResultTable

if TYPE_CHECKING:
    from utmost.data.selection import Key
    from utmost.publish.reading.estimates import Estimate

ESTIMATE_COLUMNS = ("value", "estimate", "low", "high", "unbiased", "expected_loss", "face_value_loss", "gain")


def estimate_table(estimate: Estimate) -> ResultTable:
    """The readings of an estimate, in the order of its cells; what a reading does not have is null."""
    answer, readings, cells = estimate.answer, estimate.readings, reading_cells(estimate)
    columns = key_columns(answer) if estimate.has_cells else ()
    names = join_columns(columns, (*FIRST_COLUMNS, *ESTIMATE_COLUMNS))[: len(columns)]
    intervals = [reading.interval or (None, None) for reading in readings]
    losses = [reading.loss for reading in readings]
    return ResultTable(
        (
            Column.labels("query", [answer.name] * len(readings)),
            Column.labels("kind", [answer.kind] * len(readings)),
            *(Column.labels(name, (cell[place] for cell in cells)) for place, name in enumerate(names)),
            Column.values("value", (reading.value for reading in readings)),
            Column.values("estimate", (reading.estimate for reading in readings)),
            Column.lower("low", (low for low, _ in intervals)),
            Column.upper("high", (high for _, high in intervals)),
            Column.values("unbiased", (reading.unbiased for reading in readings)),
            Column.values("expected_loss", (None if loss is None else loss.expected for loss in losses)),
            Column.values("face_value_loss", (None if loss is None else loss.face_value for loss in losses)),
            Column.values("gain", (None if loss is None else float(loss.gain) for loss in losses)),
        )
    )


def reading_cells(estimate: Estimate) -> tuple[tuple[Key, ...], ...]:
    """The keys of each reading: those of all cells, or of the one that was picked by its name."""
    cells, names = answer_cells(estimate.answer), [name for name, _ in estimate.answer.named_values]
    if len(estimate.cells) == len(cells):
        return cells
    return tuple(cells[names.index(name)] for name in estimate.cells)
