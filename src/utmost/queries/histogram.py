"""Histograms: how many rows are in each of the cells that a plan lists.

Of a unit at most k rows are kept, in all cells together. A unit that comes or goes moves the counts by at most k in
all; one that is replaced leaves k cells and enters k others, which moves them by at most 2k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data import cells as key_cells
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism, PreparedNoise, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.calibration_form import CalibrationExample, CalibrationForm, CalibrationOption
from utmost.queries.keys import KEY_SCHEMA, check_key, key_from_json, key_to_json
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.query import ALTERED, NO_CLAIM, AnswerDraw, ExactAnswer, Query, QueryField, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.selection import Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

PER_CELL_CLAIM = (
    "per cell: each cell alone is answered as well as privacy allows, for every reader of that cell (GRS12 Thm 3.2); "
    "for all cells at once nothing is claimed, since no mechanism is the best for every reader of a histogram"
)


@dataclass(frozen=True, slots=True)
class Histogram(LatticeQuery):
    """How many rows are in each cell: one cell for every combination of the public `keys` of each column.

    Rows whose keys are not listed are not counted.
    """

    kind: ClassVar[str] = "histogram"
    noun: ClassVar[str] = "count in each cell"
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for the cells of a histogram.",
        (
            CalibrationOption("cells", "Number of cells.", "M", int),
            CalibrationOption("together", "All cells at once, not each by itself.", type=bool, default=False),
        ),
    )
    fields: ClassVar[tuple[QueryField, ...]] = (
        QueryField(
            "keys",
            "Its public values",
            "keys",
            "As in 1..7, or north, south. Type what is known to everybody: values taken from the table would tell who "
            "is in it.",
        ),
    )
    counts_rows: ClassVar[bool] = True

    keys: Mapping[str, tuple[Key, ...]]
    where: str | None = None

    def __post_init__(self) -> None:
        """Check that the cells are some, and apart."""
        key_cells.check_cells(self.keys)

    def __hash__(self) -> int:
        """Equal histograms have the same hash, whatever the order of their columns."""
        return hash((frozenset(self.keys.items()), self.where))

    @property
    def cells(self) -> tuple[tuple[Key, ...], ...]:
        """The cells, the last column's keys running fastest."""
        return key_cells.cells(self.keys)

    @classmethod
    def parse(cls, fields: Fields) -> Histogram:
        """The histogram in a table of a plan."""
        key_fields = fields.table("keys")
        keys = {
            column: tuple(check_key(value, f"keys of {column}", f"keys.{column}") for value in key_fields.items(column))
            for column in key_fields.columns()
        }
        return cls(keys, fields.text("where", None))

    @classmethod
    def parse_content(cls, fields: Fields) -> Histogram:
        """The histogram in a table of a release file, whose cells must be those of its keys."""
        where, key_fields = fields.text("where", None), fields.table("keys")
        keys = {column: tuple(map(key_from_json, key_fields.items(column))) for column in key_fields.columns()}
        if not _are_combinations(fields.items("cells"), [key_fields.items(column) for column in keys]):
            raise fields.error("cells", "must be the combinations of its keys, got others", ALTERED)
        return cls(keys, where)

    def plan_entries(self) -> dict[str, Any]:
        """The keys."""
        return {"keys": {column: list(values) for column, values in self.keys.items()}}

    def content(self) -> dict[str, Any]:
        """The keys, and the cells that they make."""
        keys = {column: [key_to_json(value) for value in values] for column, values in self.keys.items()}
        return {"keys": keys, "cells": [[key_to_json(value) for value in cell] for cell in self.cells]}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Keys by column, cells, and a whole number for each cell."""
        key_list = {"type": "array", "items": KEY_SCHEMA}
        return {
            "keys": {"type": "object", "additionalProperties": key_list},
            "cells": {"type": "array", "items": key_list},
            "value": {"type": "array", "items": {"type": "integer"}},
        }

    @property
    def columns(self) -> frozenset[str]:
        """The columns of its keys."""
        return frozenset(self.keys)

    @property
    def group_keys(self) -> Mapping[str, tuple[Key, ...]]:
        """Its keys."""
        return self.keys

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse keys that no value of their column can equal."""
        Query.check(self, table, unit, part)
        for column, keys in self.keys.items():
            table.check_keys(column, keys)

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows in each cell."""
        return table.cell_counts(setting.selection(self), self.keys)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε/k, or ε/2k under replace, on each cell."""
        unit_bound = setting.unit.bound
        sensitivity = 2 * unit_bound if setting.replacing else unit_bound
        high = None if setting.units is None else setting.units * (setting.unit.rows or 1)
        single = sensitivity == 1
        return SelectedMechanism(
            LatticeMechanism(epsilon / sensitivity, 0, high),
            sensitivity,
            PER_CELL_CLAIM if single else NO_CLAIM,
            "geometric" if single else "any",
        )

    def prepare_draw(self, mechanism: LatticeMechanism) -> AnswerDraw:
        """Each cell with its own noise."""
        return partial(_draw_cells, prepare_noise(mechanism))

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

    def check_drawn(self, mechanism: LatticeMechanism, drawn: Drawn) -> None:
        """Refuse a number beyond the ends, and more or fewer numbers than cells."""
        assert isinstance(drawn.value, tuple)
        if len(self.cells) != len(drawn.value):
            wrong_number = f"value must have a number for each of {len(self.cells)} cells, got {len(drawn.value)}"
            raise InputError(wrong_number, "value")
        for number in drawn.value:
            mechanism.check_number(mechanism.number(Fraction(number)))


def _draw_cells(noise: PreparedNoise, truth: ExactAnswer) -> Drawn:
    return Drawn(tuple(noise.add_noise(truth)), {})


def _are_combinations(cells: list[Any], keys: list[list[Any]]) -> bool:
    """Are cells the combinations of the keys of each column. As soon as they are not, no further one is made."""
    number = 1
    for values in keys:
        number *= len(values)
        if number > len(cells):
            return False
    return number == len(cells) and all(cell == list(keys) for cell, keys in zip(cells, product(*keys), strict=True))
