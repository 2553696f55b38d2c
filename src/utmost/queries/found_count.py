"""Counts of found cells: how many rows have each combination of values that some columns have in the data.

Which cells are told is decided by the optimal selection, whose noisy number is the count (`noise.selection`). The
theorem of `queries.found_cells` says what a unit can move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from utmost.data.candidates import Candidates
from utmost.data.found_cells import FoundKeys
from utmost.data.row_sums import RowSums
from utmost.errors import InputError
from utmost.queries import found_cells
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.answer_mechanisms.selection import PreparedSelection, SelectionMechanism, prepare_selection
from utmost.queries.found_cells import FoundAnswers
from utmost.queries.query import AnswerDraw, ExactAnswer, FaceValue, Query, SelectedMechanism, ValueRange

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.row_sums import CellSums
    from utmost.data.selection import Key, Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

FACE_VALUE_REMARK = (
    "A found cell is read at face value. Its interval holds its count with probability {coverage}, given that the cell "
    "is told. Cells are told from a noisy count of {threshold} on, so small cells that are told look larger than they "
    "are."
)


@dataclass(frozen=True, slots=True)
class FoundCount(Query):
    """How many rows satisfy `where` in each cell of the columns `by` that passes the selection.

    `delta` is what the query may spend; in a release, what its mechanism has.
    """

    kind: ClassVar[str] = "count"
    noun: ClassVar[str] = "count in each cell"
    counts_rows: ClassVar[bool] = True
    needs_delta: ClassVar[bool] = True

    by: tuple[str, ...]
    where: str | None = None
    delta: Fraction = Fraction(0)

    @classmethod
    def parse(cls, fields: Fields) -> FoundCount:
        """The query in a table of a plan, or of a release file: found cells are drawn, not part of it."""
        return cls(found_cells.parse_by(fields), fields.text("where", None), found_cells.parse_delta(fields))

    def plan_entries(self) -> dict[str, Any]:
        """The columns, and δ."""
        return {"by": list(self.by), "delta": self.delta}

    def content(self) -> dict[str, Any]:
        """The columns, and δ."""
        return {"by": list(self.by), "delta": str(self.delta)}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Columns, cells, and a whole number for each cell."""
        value = {"type": "array", "items": {"type": "integer"}}
        return {**found_cells.cells_schema(), "delta": {"$ref": "#/$defs/exact"}, "value": value}

    def with_delta(self, delta: Fraction) -> FoundCount:
        """The same query with another δ."""
        return replace(self, delta=delta)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of its keys."""
        return frozenset(self.by)

    @property
    def drops_rows(self) -> bool:
        """Rows without a key, or with one that is not plain, are left out."""
        return True

    @property
    def candidates(self) -> Candidates:
        """The rows whose keys a found cell can have."""
        return Candidates(by=self.by)

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse columns that have no cells."""
        Query.check(self, table, unit, part)
        found_cells.check_by(table, self.by)

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The number of rows in each cell that has some."""
        return RowSums(setting.selection(self), grouping=FoundKeys(self.by))

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows in each cell that has some."""
        return FoundAnswers((moments.rows for moments in sums.moments), sums.cells)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """The optimal selection at this ε and the query's δ."""
        mechanism = found_cells.select_cells(epsilon, self.delta, setting)
        moves = found_cells.unit_moves(setting).total
        claim = found_cells.SELECTION_CLAIM if moves == 1 else found_cells.SPLIT_SELECTION_CLAIM
        return SelectedMechanism(mechanism, moves, claim, "any")

    def selection_sentence(self, mechanism: SelectionMechanism) -> str:
        """From which noisy count on cells are told."""
        return found_cells.selection_sentence(mechanism)

    def actual_epsilon(self, mechanism: SelectionMechanism, setting: PrivacySetting) -> Fraction:
        """The ε of a unit in all cells together."""
        return found_cells.told_epsilon(mechanism, setting)

    def actual_delta(self, mechanism: SelectionMechanism, setting: PrivacySetting) -> Fraction:
        """The δ of a unit in all cells together, rounded up."""
        return found_cells.told_delta(mechanism, setting)

    def prepare_draw(self, mechanism: SelectionMechanism) -> AnswerDraw:
        """The cells that are told, with their noisy counts.

        One word is drawn for each cell that has rows, so their number shows in the time that a draw takes; the release
        and its file have nothing of it.
        """
        return partial(_draw, prepare_selection(mechanism))

    def value_room(self, mechanism: SelectionMechanism) -> int:
        """Room for as many cells as can be told."""
        return found_cells.cells_room(len(self.by))

    def error_law(self, mechanism: SelectionMechanism) -> ErrorLaw:
        """That of each noisy count."""
        return mechanism.error_law()

    def confidence_law(self, mechanism: SelectionMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """Not searched for: at another ε the cells that are told are others."""
        raise found_cells.error_target_error()

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The columns of its keys."""
        return self.by

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The cells that were told."""
        return found_cells.drawn_cells(drawn)

    def value_names(self, drawn: Drawn) -> tuple[str, ...]:
        """Their names."""
        return tuple(map(found_cells.cell_name, found_cells.drawn_cells(drawn)))

    def face_value(self, mechanism: SelectionMechanism, coverage: float) -> FaceValue:
        """The noisy count, and what its interval holds."""
        return FaceValue(FACE_VALUE_REMARK.format(coverage=f"{coverage:g}", threshold=mechanism.threshold))

    def value_range(
        self, mechanism: SelectionMechanism, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange:
        """The counts that a cell has, given that it is told with this noisy count, which lies between them too.

        It is of the rows that are kept of each unit: the noise does not depend on which they are.
        """
        low, high = mechanism.told_range(int(value), miss)
        return min(Fraction(low), value), max(Fraction(high), value)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The cells and their noisy counts."""
        numbers = fields.items("value")
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
            raise fields.error("value", "must be a list of whole numbers")
        found_cells.read_cells(fields, len(self.by))
        return Drawn(tuple(numbers), {"cells": fields.items("cells")})

    def check_drawn(self, mechanism: SelectionMechanism, drawn: Drawn) -> None:
        """Refuse a number below the threshold, and more or fewer numbers than cells."""
        assert isinstance(drawn.value, tuple)
        if len(drawn.details["cells"]) != len(drawn.value):
            raise InputError(f"value must have a number for each of {len(drawn.details['cells'])} cells", "value")
        for number in drawn.value:
            mechanism.check_number(int(number))


def _draw(selection: PreparedSelection, truth: ExactAnswer) -> Drawn:
    return found_cells.draw_found_counts(selection, cast("FoundAnswers", truth))
