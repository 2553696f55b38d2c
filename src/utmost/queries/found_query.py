"""Sums, means, quantiles and others over found cells: the selection first, then the answer of each cell that is told.

**Privacy.** The selection spends ε₁ and all of δ on the numbers of kept rows (`queries.found_cells`). Once it has drawn
which cells are told, they are as public as cells that a plan lists: the answers of any fixed cells are ε₂-private by
the proof of their kind for cells, and an answer drawn after another one that is public composes with it. So all of it
is (ε₁ + ε₂, δ)-private. Both parts look at the same kept rows of a unit. ∎

**The count comes with it.** The noisy number of rows of each cell is the selection's, so a mean or a variance spends
nothing more on it: with ε₁ = ε₂ a mean over found cells has a total as exact as that of a mean over listed cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, cast

from utmost.data.found_cells import FoundKeys
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.exact.input_text import Fields
from utmost.queries import found_cells
from utmost.queries.answer_mechanisms.found import FoundMechanism
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, half_width
from utmost.queries.answer_mechanisms.mechanism import (
    NUMBER_ROOM,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
)
from utmost.queries.answer_mechanisms.selection import PreparedSelection, prepare_selection
from utmost.queries.found_cells import FoundAnswers, cell_details
from utmost.queries.grouped import join_columns
from utmost.queries.query import AnswerDraw, ExactAnswer, FaceValue, Query, SelectedMechanism, ValueRange

if TYPE_CHECKING:
    from utmost.data.candidates import Candidates
    from utmost.data.cells import Grouping
    from utmost.data.row_sums import CellSums, RowSums
    from utmost.data.selection import Key, Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.queries.privacy_setting import PrivacySetting

FOUND_CLAIM = (
    "none claimed: the cells are told by the best selection there is for its share of epsilon and delta "
    "(Desfontaines et al., arXiv:2006.03684); of what is told of each cell nothing is claimed"
)
FACE_VALUE_REMARK = (
    "An answer over found cells is read at face value: no prior on it alone explains which cells are told. Cells are "
    "told from a noisy count of {threshold} on."
)
CellDraw = Callable[[ExactAnswer, int], Drawn]  # from the exact answer of a cell and its noisy number of rows


@dataclass(frozen=True, slots=True)
class FoundQuery(Query):
    """The `inner` query of the rows in each cell of the columns `by` that passes the selection.

    `delta` is what the query may spend; in a release, what its mechanism has.
    """

    needs_delta: ClassVar[bool] = True
    selection_share: ClassVar[Fraction] = Fraction(1, 2)  # of ε

    inner: Query
    by: tuple[str, ...]
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Check that the inner query can be asked of cells."""
        self.inner.check_cells(1)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """That of the inner query."""
        return self.inner.kind

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What is asked for in each cell."""
        return f"{self.inner.noun} in each cell"

    @property
    def clamps_values(self) -> bool:  # type: ignore[override]
        """Are values changed before they are used."""
        return self.inner.clamps_values

    @property
    def where(self) -> str | None:  # type: ignore[override]
        """The predicate of the inner query."""
        return self.inner.where

    # Plans and releases

    def plan_entries(self) -> dict[str, Any]:
        """Those of the inner query, the columns, and δ."""
        return self.inner.plan_entries() | {"by": list(self.by), "delta": self.delta}

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        return self.inner.content() | {"by": list(self.by), "delta": str(self.delta)}

    def as_released(self) -> Query:
        """The inner query without what only a plan says of it."""
        inner = self.inner.as_released()
        return self if inner == self.inner else replace(self, inner=inner)

    def with_delta(self, delta: Fraction) -> FoundQuery:
        """The same query with another δ."""
        return replace(self, delta=delta)

    # Tables

    @property
    def candidates(self) -> Candidates:
        """The rows that the inner query can keep, if they can be in a found cell."""
        return replace(self.inner.candidates, by=self.by)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the inner query, and of the keys."""
        return self.inner.columns | frozenset(self.by)

    @property
    def drops_rows(self) -> bool:
        """Rows without a key, or with one that is not plain, are left out."""
        return True

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse what the inner query refuses, and columns that have no cells."""
        self.inner.check(table, unit, part)
        self.check_unit(unit)
        found_cells.check_by(table, self.by)

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse groups: a person could have several values in one cell."""
        self.inner.check_unit(unit)
        if unit.groups is not None:
            raise InputError(f"unit must bound rows for a {self.kind} with by, got groups", "unit", "give rows = k")

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums | None:
        """What the inner query asks, of each cell that has rows."""
        return self.inner.request(replace(setting, grouped=True), FoundKeys(self.by))

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows and the answer of each cell that has rows."""
        grouped = replace(setting, grouped=True)
        answers = [self.inner.answer_from(moments, grouped) for moments in sums.moments]
        return FoundAnswers((moments.rows for moments in sums.moments), sums.cells, answers)

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows and the answer of each cell that has rows."""
        if self.request(setting) is not None:
            return Query.exact_answer(self, table, setting)
        return FoundAnswers(*self.inner.found_answers(table, replace(setting, grouped=True), FoundKeys(self.by)))

    # Privacy

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """The optimal selection at its share of ε and all of δ; the answer at the rest of ε."""
        share = epsilon * self.selection_share
        selection = found_cells.select_cells(share, self.delta, setting)
        parts, sensitivity = self.select_parts(epsilon - share, replace(setting, grouped=True))
        return SelectedMechanism(FoundMechanism(selection, parts), sensitivity, FOUND_CLAIM, "any")

    def select_parts(self, epsilon: Fraction, setting: PrivacySetting) -> tuple[dict[str, AnswerMechanism], int]:
        """The mechanisms of what is drawn for each cell beside its count, and the sensitivity that ε is divided by."""
        selected = self.inner.select_mechanism(epsilon, setting)
        return {"answer": selected.mechanism}, selected.sensitivity

    def selection_sentence(self, mechanism: FoundMechanism) -> str:
        """From which noisy count on cells are told."""
        return found_cells.selection_sentence(mechanism.selection)

    def actual_epsilon(self, mechanism: FoundMechanism, setting: PrivacySetting) -> Fraction:
        """The ε of a unit in the selection and in the answers of all cells together."""
        parts = self.parts_epsilon(mechanism, replace(setting, grouped=True))
        return found_cells.told_epsilon(mechanism.selection, setting) + parts

    def parts_epsilon(self, mechanism: FoundMechanism, setting: PrivacySetting) -> Fraction:
        """The ε of the answers of all cells together."""
        return self.inner.actual_epsilon(mechanism.parts["answer"], setting)

    def actual_delta(self, mechanism: FoundMechanism, setting: PrivacySetting) -> Fraction:
        """The δ of a unit in the selection, rounded up."""
        return found_cells.told_delta(mechanism.selection, setting)

    def prepare_draw(self, mechanism: FoundMechanism) -> AnswerDraw:
        """The cells that are told, their noisy counts and their answers. See `FoundCount.prepare_draw` for its time."""
        selection, keys = prepare_selection(mechanism.selection), tuple(self.inner.drawn_keys[1:])
        return partial(_draw, selection, self.prepare_cell(mechanism), keys, self.max_cells)

    def prepare_cell(self, mechanism: FoundMechanism) -> CellDraw:
        """The draw of one cell's answer; it cannot fail."""
        return partial(_draw_without_count, self.inner.prepare_draw(mechanism.parts["answer"]))

    @property
    def max_cells(self) -> int:
        """How many cells are told at most: those with the largest noisy counts."""
        return found_cells.MAX_FOUND_CELLS

    def value_room(self, mechanism: FoundMechanism) -> int:
        """Room for as many cells as can be told."""
        return found_cells.cells_room(len(self.by), NUMBER_ROOM + self.cell_room(mechanism), self.max_cells)

    def cell_room(self, mechanism: FoundMechanism) -> int:
        """Room for the answer of one cell."""
        return self.inner.value_room(mechanism.parts["answer"])

    # Accuracy

    def error_law(self, mechanism: FoundMechanism) -> ErrorLaw:
        """That of each answer, and from which noisy count on cells are told."""
        law, threshold = self.parts_error(mechanism), mechanism.selection.threshold
        return replace(law, words=f"{law.words}; cells are told from a noisy count of {threshold} on")

    def parts_error(self, mechanism: FoundMechanism) -> ErrorLaw:
        """How far off the answer of a cell is."""
        return self.inner.error_law(mechanism.parts["answer"])

    def confidence_law(self, mechanism: FoundMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """Not searched for: at another ε the cells that are told are others."""
        raise found_cells.error_target_error()

    def check_error(self, error: Fraction) -> None:
        """Refuse an error that every answer meets."""
        self.inner.check_error(error)

    def target_noun(self, unit: PrivacyUnit) -> str:
        """What an error is the distance from: the answer of a cell."""
        return self.noun

    def value_limits(self) -> list[str]:
        """What the inner query does to values."""
        return self.inner.value_limits()

    # Released values

    @property
    def values_noun(self) -> str:
        """What the numbers are."""
        return self.inner.values_noun

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The columns of the keys, and of the inner query's cells."""
        return join_columns(self.by, self.inner.cell_columns)

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The keys of each number: those of a cell that was told, and of the inner query's cell."""
        told, inner = found_cells.drawn_cells(drawn), self.inner.cells or ((),)
        return tuple((*cell, *(key for key in own if key is not None)) for cell, own in product(told, inner))

    def value_names(self, drawn: Drawn) -> tuple[str, ...]:
        """The names of the cells that were told, each with those of the inner query's cells."""
        told, inner = map(found_cells.cell_name, found_cells.drawn_cells(drawn)), self.inner.cell_names or ("",)
        return tuple(f"{name},{own}" if own else name for name, own in product(told, inner))

    def face_value(self, mechanism: FoundMechanism, coverage: float) -> FaceValue:
        """What the inner query says of a value without a posterior, and which cells are told."""
        remark = FACE_VALUE_REMARK.format(threshold=mechanism.selection.threshold)
        answer = mechanism.parts.get("answer")
        if answer is None or answer.has_posterior:
            return FaceValue(remark)
        inner = self.inner.face_value(answer, coverage)
        return FaceValue(f"{inner.remark} {remark}", inner.rank)

    def value_range(
        self, mechanism: FoundMechanism, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange | None:
        """The values that an answer on a lattice is within its noise of; None for others.

        Its noise does not depend on the selection, so this holds given that the cell is told.
        """
        answer = mechanism.parts["answer"]
        if not isinstance(answer, GeometricLattice):
            return None
        width = half_width(level_of(answer.epsilon), miss) * answer.unit
        low, high = value - width, value + width
        low = low if answer.low is None else max(low, answer.value(answer.low))
        return low, high if answer.high is None else min(high, answer.value(answer.high))

    def read_drawn(self, fields: Fields) -> Drawn:
        """The cells, their noisy counts and their answers: lists of one entry a cell."""
        number, counts = len(found_cells.read_cells(fields, len(self.by))), fields.items("counts")
        if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts):
            raise fields.error("counts", "must be a list of whole numbers")
        lists = {key: fields.items(key) for key in self.inner.drawn_keys}
        for key, entries in (lists | {"counts": counts}).items():
            if len(entries) != number:
                raise fields.error(key, f"must have an entry for each of {number} cells, got {len(entries)}")
        rows = zip(*lists.values(), strict=True)
        drawn = [self.inner.read_drawn(Fields(dict(zip(lists, row, strict=True)), fields.label)) for row in rows]
        for key in self.inner.drawn_keys[1:]:
            if any(key not in cell.details for cell in drawn):
                raise fields.error(key, "must be given for each cell, got none for some")
        details = {key: [cell.details[key] for cell in drawn] for key in self.inner.drawn_keys[1:]}
        return Drawn(tuple(cell.value for cell in drawn), {"cells": fields.items("cells"), "counts": counts, **details})

    def check_drawn(self, mechanism: FoundMechanism, drawn: Drawn) -> None:
        """Refuse a count below the threshold, and what the mechanism cannot have given in one cell."""
        assert isinstance(drawn.value, tuple)
        if len(drawn.value) > self.max_cells:
            raise InputError(f"value must have at most {self.max_cells} cells, got {len(drawn.value)}", "value")
        for index, value in enumerate(drawn.value):
            mechanism.selection.check_number(drawn.details["counts"][index])
            self.check_cell(mechanism, Drawn(value, cell_details(drawn.details, index)))

    def check_cell(self, mechanism: FoundMechanism, drawn: Drawn) -> None:
        """Refuse what the mechanism cannot have given in a cell."""
        self.inner.check_drawn(mechanism.parts["answer"], drawn)


def find_cells(query: Query, form: type[FoundQuery], fields: Fields) -> FoundQuery:
    """The query over found cells whose table, of a plan or a release, has `by`."""
    return form(query, found_cells.parse_by(fields), found_cells.parse_delta(fields))


# After the charge: nothing here can fail


def _draw(
    selection: PreparedSelection, draw_cell: CellDraw, keys: tuple[str, ...], max_cells: int, truth: ExactAnswer
) -> Drawn:
    found = cast("FoundAnswers", truth)
    told = found_cells.told_cells(selection, found, max_cells)
    drawn = [draw_cell(found.answers[place], count) for place, count in told]
    details = found_cells.told_details(found, told) | {"counts": [count for _, count in told]}
    details |= {key: [cell.details[key] for cell in drawn] for key in keys}
    return Drawn(tuple(cell.value for cell in drawn), details)


def _draw_without_count(draw: AnswerDraw, answer: ExactAnswer, count: int) -> Drawn:
    return draw(answer)
