"""Histograms: how many rows are in each of the cells that a plan lists. Another name for `count` with keys.

The sensitivity is that of counts in cells (`queries.count`): k rows of a unit in all cells together, 2k under replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data import cells as key_cells
from utmost.data.cells import Grouping
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.calibration_form import CalibrationExample, CalibrationForm, CalibrationOption
from utmost.queries.count import Count
from utmost.queries.grouped import (
    KEYS_FIELD,
    OTHER_FIELD,
    GroupedQuery,
    grouping_from_content,
    grouping_schemas,
    parse_grouping,
)
from utmost.queries.query import Query, QueryField

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields


class Histogram(GroupedQuery):
    """How many rows are in each cell: one cell for every combination of the public `keys` of each column.

    Rows whose keys are not listed are not counted, or in one more cell with `other`.
    """

    __slots__ = ()

    kind: ClassVar[str] = "histogram"
    noun: ClassVar[str] = "count in each cell"
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for the cells of a histogram.",
        (
            CalibrationOption("cells", "Number of cells.", "M", int),
            CalibrationOption("together", "All cells at once, not each by itself.", type=bool, default=False),
        ),
    )
    fields: ClassVar[tuple[QueryField, ...]] = (KEYS_FIELD, OTHER_FIELD)
    counts_rows: ClassVar[bool] = True
    clamps_values: ClassVar[bool] = False

    def __init__(self, keys: Mapping[str, tuple[Key, ...]], where: str | None = None, other: bool = False) -> None:
        super().__init__(Count(where), Grouping(keys, other))

    def __repr__(self) -> str:
        """Its keys and its predicate."""
        other = ", other=True" if self.grouping.other else ""
        return f"Histogram(keys={dict(self.keys)!r}, where={self.where!r}{other})"

    @classmethod
    def parse(cls, fields: Fields) -> Histogram:
        """The histogram in a table of a plan."""
        grouping = parse_grouping(fields)
        return cls(grouping.keys, fields.text("where", None), grouping.other)

    @classmethod
    def parse_content(cls, fields: Fields) -> Histogram:
        """The histogram in a table of a release file."""
        where, grouping = fields.text("where", None), grouping_from_content(fields)
        return cls(grouping.keys, where, grouping.other)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Keys by column, cells, and a whole number for each cell."""
        return grouping_schemas(Count)

    def same_error(self) -> Query:
        """Its error does not depend on its keys."""
        return Histogram({"": ("",)}, self.where)

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of the command describe."""
        cells, together = options["cells"], options["together"]
        if not 1 <= cells <= key_cells.MAX_CELLS:
            raise InputError(f"--cells must be from 1 to {key_cells.MAX_CELLS}, got {cells}", "cells")
        query, subject = cls({"cell": tuple(range(cells))}), "every cell" if together else "each cell"
        return CalibrationExample(query, subject, {"cells": cells, "together": together}, together=together)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy counts."""
        numbers = fields.items("value")
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
            raise InputError("the value of a histogram must be a list of whole numbers", "value", context="release")
        return Drawn(tuple(numbers), {})
