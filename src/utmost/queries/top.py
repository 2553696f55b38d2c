"""The cells with the most rows, in order, among the cells that a plan lists.

The first cell is drawn by permute-and-flip with the number of rows as its score, the next among those that are left,
and so on: k picks (`RepeatedChoice`). Let d be the most by which a unit moves one score: its kept rows, or 1 where one
row in each group is kept.

* add-remove: all scores move the same way, each by 0 … d. Whatever was picked before, two of the scores move by amounts
  that differ by at most d, so a pick has ε = rate·d.
* replace: a unit leaves some cells and enters others. A score may fall by d and another rise by d, so a pick has
  ε = 2·rate·d.

**Error.** If each pick has fewer than t rows less than the largest cell that was left, the i-th has fewer than t rows
less than the true i-th: of the i largest cells at least one was left when it was picked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data import cells as key_cells
from utmost.data.candidates import Candidates
from utmost.data.cells import Grouping
from utmost.data.row_sums import RowSums
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, plain_decimal
from utmost.noise import system_source
from utmost.noise.row_sampling import PreparedChoice, draw_permute_and_flip, prepare_choice
from utmost.queries.answer_mechanisms.choice import RepeatedChoice
from utmost.queries.answer_mechanisms.mechanism import NUMBER_ROOM, AccuracyTarget, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.histogram import Histogram
from utmost.queries.keys import KEY_SCHEMA, check_key, key_from_json, key_name, key_to_json
from utmost.queries.query import (
    ALTERED,
    NO_CLAIM,
    AnswerDraw,
    ExactAnswer,
    FaceValue,
    Query,
    QueryField,
    SelectedMechanism,
)

if TYPE_CHECKING:
    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import CellSums
    from utmost.data.selection import Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.mechanism import AnswerValue
    from utmost.queries.privacy_setting import PrivacySetting

MAX_VISITS = 10**5  # picks times cells
LINE_ROOM = 40  # bytes for the indentation and the brackets of a line of a release file
TOP_NOUN = "rows fewer than the true cell of its place"
TOP_NOTE = "rows of a cell: at most so many fewer than the true cell of its place has."
TOP_REMARK = (
    "The largest cells are drawn by a law that depends on all counts, so there is no posterior for any prior: they are "
    "read at face value. With probability {0} % each of them has fewer than {1} rows less than the true cell of its "
    "place."
)


@dataclass(frozen=True, slots=True)
class Top(Query):
    """The `k` cells with the most rows, in order, among the combinations of the public `keys` of each column."""

    kind: ClassVar[str] = "top"
    noun: ClassVar[str] = "order of the cells"
    fields: ClassVar[tuple[QueryField, ...]] = (
        *Histogram.fields,
        QueryField("k", "How many cells", "number", "The cells with the most rows, in order.", default="1"),
    )

    keys: Mapping[str, tuple[Key, ...]]
    k: int
    where: str | None = None

    def __post_init__(self) -> None:
        """Check that the cells are some, and apart, and that so many of them can be picked."""
        key_cells.check_cells(self.keys)
        size = len(self.listed_cells)
        if not 1 <= self.k < size:
            raise InputError(
                f"k must be from 1 to one less than the {size} cells, got {self.k}", "k", "list more cells"
            )
        if self.k * size > MAX_VISITS:
            raise InputError(f"k times the number of cells must be at most {MAX_VISITS}, got {self.k * size}", "k")

    def __hash__(self) -> int:
        """Equal queries have the same hash, whatever the order of their columns."""
        return hash((frozenset(self.keys.items()), self.k, self.where))

    @property
    def listed_cells(self) -> tuple[tuple[Key, ...], ...]:
        """The cells to choose from, the last column's keys running fastest."""
        return key_cells.cells(self.keys)

    @classmethod
    def parse(cls, fields: Fields) -> Top:
        """The query in a table of a plan."""
        key_fields = fields.table("keys")
        keys = {
            column: tuple(check_key(value, f"keys of {column}", f"keys.{column}") for value in key_fields.items(column))
            for column in key_fields.columns()
        }
        return cls(keys, _parse_k(fields), fields.text("where", None))

    @classmethod
    def parse_content(cls, fields: Fields) -> Top:
        """The query in a table of a release file."""
        key_fields = fields.table("keys")
        keys = {column: tuple(map(key_from_json, key_fields.items(column))) for column in key_fields.columns()}
        return cls(keys, fields.integer("k"), fields.text("where", None))

    def plan_entries(self) -> dict[str, Any]:
        """The keys, and how many cells."""
        return {"keys": {column: list(values) for column, values in self.keys.items()}, "k": self.k}

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        keys = {column: [key_to_json(value) for value in values] for column, values in self.keys.items()}
        return {"keys": keys, "k": self.k}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Keys by column, how many cells, and the cells in order."""
        key_list = {"type": "array", "items": KEY_SCHEMA}
        return {
            "keys": {"type": "object", "additionalProperties": key_list},
            "k": {"type": "integer", "minimum": 1},
            "value": {"type": "array", "items": key_list},
        }

    @property
    def columns(self) -> frozenset[str]:
        """The columns of its keys."""
        return frozenset(self.keys)

    @property
    def candidates(self) -> Candidates:
        """The rows that are in a listed cell."""
        return Candidates(Grouping(self.keys))

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse keys that no value of their column can equal."""
        Query.check(self, table, unit, part)
        for column, keys in self.keys.items():
            table.check_keys(column, keys)

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The number of rows of each cell."""
        return RowSums(setting.selection(self), grouping=Grouping(self.keys))

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The loss of each cell: its number of rows, negative."""
        return [-moments.rows for moments in sums.moments]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """k picks, each at ε/k."""
        sensitivity = setting.unit.rows or 1
        rate = epsilon / (self.k * _moves(setting) * sensitivity)
        mechanism = RepeatedChoice(rate, len(self.listed_cells), self.k)
        return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "any")

    def actual_epsilon(self, mechanism: RepeatedChoice, setting: PrivacySetting) -> Fraction:
        """That of a pick times their number."""
        return mechanism.picks * _moves(setting) * mechanism.rate * (setting.unit.rows or 1)

    def prepare_draw(self, mechanism: RepeatedChoice) -> AnswerDraw:
        """The cells, one after the other."""
        return partial(_draw_top, self.listed_cells, mechanism.picks, prepare_choice(mechanism.rate))

    def value_room(self, mechanism: RepeatedChoice) -> int:
        """Room for the longest cells; a date takes three lines."""
        longest = max(len(json.dumps([key_to_json(key) for key in cell])) for cell in self.listed_cells)
        return NUMBER_ROOM + self.k * (longest + LINE_ROOM * (3 * len(self.keys) + 2))

    def error_law(self, mechanism: RepeatedChoice) -> ErrorLaw:
        """How many rows fewer than the true cell of its place a cell has."""
        return mechanism.error_law(1, TOP_NOUN, TOP_NOTE)

    def confidence_law(self, mechanism: RepeatedChoice, target: AccuracyTarget) -> ConfidenceLaw:
        """The probability, at least, that each cell has few rows fewer than the true one of its place."""
        return mechanism.confidence_law(target, 1)

    @property
    def cells(self) -> tuple[tuple[Key, ...], ...]:
        """The places of the answer."""
        return tuple((place,) for place in range(1, self.k + 1))

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The columns of its keys."""
        return tuple(self.keys)

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The cells that were drawn."""
        assert isinstance(drawn.value, tuple)
        return drawn.value

    def named_values(self, value: AnswerValue) -> list[tuple[str, Any]]:
        """The cells with their places."""
        assert isinstance(value, tuple)
        names = [",".join(key_name(key) for key in cell) for cell in value]
        return list(zip(names, range(1, self.k + 1), strict=True))

    def face_value(self, mechanism: RepeatedChoice, coverage: float) -> FaceValue:
        """How many rows fewer a cell has, at most, with this probability."""
        rows = mechanism.rank_bound(1, coverage)
        return FaceValue(TOP_REMARK.format(decimal(100 * coverage, 4), plain_decimal(rows, 4, decimal_above)), rows)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The cells in order."""
        cells = fields.items("value")
        if not all(isinstance(cell, list) for cell in cells):
            raise InputError("the value of a top must be a list of cells", "value", context="release")
        return Drawn(tuple(tuple(map(key_from_json, cell)) for cell in cells), {})

    def check_drawn(self, mechanism: RepeatedChoice, drawn: Drawn) -> None:
        """Refuse cells that are not listed, more or fewer than k, and one that is there twice."""
        assert isinstance(drawn.value, tuple)
        typed = [[(type(key), key) for key in cell] for cell in drawn.value]
        listed = [[(type(key), key) for key in cell] for cell in self.listed_cells]
        distinct = all(cell not in typed[:place] for place, cell in enumerate(typed))
        if not (len(typed) == self.k and distinct and all(cell in listed for cell in typed)):
            raise InputError(f"value must be {self.k} different cells of its keys, got others", "value", ALTERED)


def _moves(setting: PrivacySetting) -> int:
    """How many times the sensitivity two scores can move apart: once where all move the same way."""
    return 2 if setting.replacing else 1


def _parse_k(fields: Fields) -> int:
    number = fields.number("k")
    if number.denominator != 1:
        raise fields.error("k", f"must be a whole number, got {number}")
    return int(number)


def _draw_top(cells: tuple[tuple[Key, ...], ...], picks: int, choice: PreparedChoice, truth: ExactAnswer) -> Drawn:
    left, picked, source = list(range(len(truth))), [], system_source()
    for _ in range(picks):
        place = draw_permute_and_flip([truth[cell] for cell in left], choice, source)
        picked.append(cells[left.pop(place)])
    return Drawn(tuple(picked), {})
