"""A query that is asked of each cell of a grouping: one answer for each combination of public keys.

Each cell has the inner query's mechanism, with noise of its own. How far all cells together move when one unit changes
is the inner query's own business: `select_mechanism` with a setting that is `grouped` (the docstring of each kind has
the proof). What the proofs share: a row is in at most one cell, and at most k rows of a unit are kept in all cells
together; so a unit that comes or goes brings or takes at most k rows, and one that is replaced takes at most k rows
from some cells and brings at most k to others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from utmost.data.candidates import Candidates
from utmost.data.cells import Cell, Grouping, cells
from utmost.errors import InputError
from utmost.exact.input_text import Fields
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, AnswerValue, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.found_cells import cell_details
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_name, key_to_json, parse_keys
from utmost.queries.query import (
    ALTERED,
    AnswerDraw,
    ExactAnswer,
    FaceValue,
    Query,
    QueryField,
    SelectedMechanism,
    ValueRange,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import CellSums, RowSums
    from utmost.data.selection import Key, Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.queries.privacy_setting import PrivacySetting

OTHER_NAME = "other"  # of the cell of all rows that are in no listed one
EACH_CELL_REMARK = "This is said of each cell by itself, not of all cells at once."
ONE_CELL = Grouping({"": ("",)})
KEYS_SCHEMA = {"type": "object", "additionalProperties": {"type": "array", "items": KEY_SCHEMA}}
KEYS_FIELD = QueryField(
    "keys",
    "Its public values",
    "keys",
    "As in 1..7, or north, south. Type what everybody knows: values taken from the table would tell who is in it.",
)
OTHER_FIELD = QueryField("other", "One more cell for all other rows", "truth", "Those with other values, or with none.")


@dataclass(frozen=True, slots=True)
class GroupedQuery(Query):
    """The `inner` query of the rows in each cell of `grouping`."""

    inner: Query
    grouping: Grouping

    def __post_init__(self) -> None:
        """Check that the inner query can be asked of so many cells."""
        self.inner.check_cells(self.grouping.size)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """That of the inner query."""
        return self.inner.kind

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What is asked for in each cell."""
        return f"{self.inner.noun} in each cell"

    @property
    def counts_rows(self) -> bool:  # type: ignore[override]
        """Are answers numbers of rows."""
        return self.inner.counts_rows

    @property
    def clamps_values(self) -> bool:  # type: ignore[override]
        """Are values changed before they are used."""
        return self.inner.clamps_values

    @property
    def where(self) -> str | None:  # type: ignore[override]
        """The predicate of the inner query."""
        return self.inner.where

    @property
    def keys(self) -> Mapping[str, tuple[Key, ...]]:
        """The public keys of each column."""
        return self.grouping.keys

    # Plans and releases

    def plan_entries(self) -> dict[str, Any]:
        """Those of the inner query, then the keys."""
        keys = {column: list(values) for column, values in self.keys.items()}
        return self.inner.plan_entries() | {"keys": keys} | ({"other": True} if self.grouping.other else {})

    def content(self) -> dict[str, Any]:
        """That of the inner query, the keys, and the cells that they make; null stands in the place of other keys."""
        keys = {column: [key_to_json(value) for value in values] for column, values in self.keys.items()}
        other = {"other": True} if self.grouping.other else {}
        return self.inner.content() | {"keys": keys} | other | {"cells": _cells_content(self.grouping)}

    def as_released(self) -> Query:
        """The inner query without what only a plan says of it."""
        inner = self.inner.as_released()
        return self if inner == self.inner else replace(self, inner=inner)

    # Tables

    @property
    def candidates(self) -> Candidates:
        """The rows that the inner query can keep, if they have a cell."""
        return replace(self.inner.candidates, grouping=self.grouping)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the inner query, and of the keys."""
        return self.inner.columns | frozenset(self.keys)

    @property
    def drops_rows(self) -> bool:
        """Are rows left out for what they hold: those without a listed key are."""
        return self.inner.drops_rows or not self.grouping.other

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse what the inner query refuses, and keys that no value of their column can equal."""
        self.inner.check(table, unit, part)
        for column, keys in self.keys.items():
            table.check_keys(column, keys)

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums | None:
        """What the inner query asks, of each cell."""
        return self.inner.request(replace(setting, grouped=True), self.grouping)

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The answers of the cells, one after the other."""
        grouped = replace(setting, grouped=True)
        return [number for moments in sums.moments for number in self.inner.answer_from(moments, grouped)]

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The answers of the cells, one after the other."""
        if self.request(setting) is not None:
            return Query.exact_answer(self, table, setting)
        answers = self.inner.cell_answers(table, replace(setting, grouped=True), self.grouping)
        return [number for answer in answers for number in answer]

    # Privacy

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse a unit that the inner query is not defined for."""
        self.inner.check_unit(unit)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """The mechanism of each cell, and how far all cells together move."""
        return self.inner.select_mechanism(epsilon, replace(setting, grouped=True))

    def select_gaussian(self, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Gaussian noise in each cell."""
        return self.inner.select_gaussian(rho, replace(setting, grouped=True))

    def select_canonical(self, epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Canonical noise in each cell."""
        return self.inner.select_canonical(epsilon, delta, replace(setting, grouped=True))

    def actual_rho(self, mechanism: Any, setting: PrivacySetting) -> Fraction:
        """The ρ of all cells together."""
        return self.inner.actual_rho(mechanism, replace(setting, grouped=True))

    def actual_epsilon(self, mechanism: Any, setting: PrivacySetting) -> Fraction:
        """The ε of all cells together."""
        return self.inner.actual_epsilon(mechanism, replace(setting, grouped=True))

    def prepare_draw(self, mechanism: Any) -> AnswerDraw:
        """Each cell with its own noise."""
        return self.inner.prepare_cells_draw(mechanism, self.grouping.size)

    def value_room(self, mechanism: Any) -> int:
        """Room for what is published of each cell."""
        return self.grouping.size * self.inner.value_room(mechanism)

    # Accuracy

    def error_law(self, mechanism: Any) -> ErrorLaw:
        """That of each cell."""
        return self.inner.error_law(mechanism)

    def confidence_law(self, mechanism: Any, target: AccuracyTarget) -> ConfidenceLaw:
        """That of each cell; of all cells at once where their numbers are lattice numbers."""
        if not target.together:
            return self.inner.confidence_law(mechanism, target)
        if not isinstance(mechanism, LatticeMechanism):
            raise InputError(f"together must be left out for a {self.kind} in each cell", "together")
        return mechanism.confidence_law(target, self.grouping.size)

    def check_error(self, error: Fraction) -> None:
        """Refuse an error that every answer meets."""
        self.inner.check_error(error)

    def target_noun(self, unit: PrivacyUnit) -> str:
        """What an error is the distance from: the answer of a cell."""
        return self.noun

    def value_limits(self) -> list[str]:
        """What the inner query does to values."""
        return self.inner.value_limits()

    def same_error(self) -> Query:
        """Its error does not depend on its keys."""
        return GroupedQuery(self.inner.same_error(), ONE_CELL)

    # Released values

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, that of all other rows at the end; each of them with the cells of the inner query's answer."""
        return tuple((*cell, *inner) for cell, inner in product(self.grouping.cells, self.inner.cells or ((),)))

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Their names; that of all other rows is other, in parentheses where a key is called so."""
        names = product(self._key_cell_names(), self.inner.cell_names or ("",))
        return tuple(f"{name},{inner}" if inner else name for name, inner in names)

    def _key_cell_names(self) -> tuple[str, ...]:
        """The names of the cells of the keys."""
        names = tuple(",".join(map(key_name, cell)) for cell in cells(self.keys))
        if not self.grouping.other:
            return names
        other, listed = OTHER_NAME, set(names)
        while other in listed:
            other = f"({other})"
        return (*names, other)

    @property
    def values_noun(self) -> str:
        """What the numbers are."""
        return self.inner.values_noun

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The columns of the keys, and of the inner query's cells, whose names no key column keeps."""
        return join_columns(tuple(self.keys), self.inner.cell_columns)

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The keys of each number; the name of the cell of all other rows in the place of each of its keys."""
        other = self._key_cell_names()[-1]
        return tuple(tuple(other if key is None else key for key in cell) for cell in self.cells)

    def named_values(self, value: AnswerValue) -> list[tuple[str, Any]]:
        """The numbers of all cells; one for each cell, or as many as the inner query's answer has."""
        assert isinstance(value, tuple)
        numbers = chain.from_iterable(value) if self.inner.cells else value
        return list(zip(self.cell_names, numbers, strict=True))

    def face_value(self, mechanism: Any, coverage: float) -> FaceValue:
        """What is said of the values of each cell by itself."""
        face_value = self.inner.face_value(mechanism, coverage)
        return replace(face_value, remark=f"{face_value.remark} {EACH_CELL_REMARK}")

    def value_range(
        self, mechanism: Any, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange | None:
        """That of each cell."""
        return self.inner.value_range(mechanism, value, details, miss)

    def read_drawn(self, fields: Fields) -> Drawn:
        """What was drawn for each cell: lists of one entry a cell."""
        lists = {key: fields.items(key) for key in self.inner.drawn_keys if key == "value" or fields.raw(key, None)}
        for key, entries in lists.items():
            if len(entries) != self.grouping.size:
                problem = f"must have an entry for each of {self.grouping.size} cells, got {len(entries)}"
                raise fields.error(key, problem)
        rows = zip(*lists.values(), strict=True)
        return _combine([self._read_cell(dict(zip(lists, row, strict=True)), fields.label) for row in rows])

    def _read_cell(self, entries: dict[str, Any], label: str) -> Drawn:
        return self.inner.read_drawn(Fields(entries, label))

    def check_drawn(self, mechanism: Any, drawn: Drawn) -> None:
        """Refuse more or fewer values than cells, and what the mechanism cannot have given in one."""
        values = drawn.value if isinstance(drawn.value, tuple) else (drawn.value,)
        if len(values) != self.grouping.size:
            problem = f"value must have a number for each of {self.grouping.size} cells, got {len(values)}"
            raise InputError(problem, "value")
        for index, value in enumerate(values):
            self.inner.check_drawn(mechanism, Drawn(value, cell_details(drawn.details, index)))


def group_query(query: Query, fields: Fields) -> Query:
    """A query of a plan, in each cell where its table has keys."""
    if not query.takes_keys or fields.raw("keys", None) is None:
        return query
    return GroupedQuery(query, parse_grouping(fields))


def group_content(query: Query, fields: Fields) -> Query:
    """The same in a release file."""
    if not query.takes_keys or fields.raw("keys", None) is None:
        return query
    return GroupedQuery(query, grouping_from_content(fields))


def parse_grouping(fields: Fields) -> Grouping:
    """The keys in a table of a plan, and whether all other rows have a cell."""
    key_fields = fields.table("keys")
    keys = {column: parse_keys(key_fields, column) for column in key_fields.columns()}
    return Grouping(keys, fields.truth("other", False))


def grouping_from_content(fields: Fields) -> Grouping:
    """The keys in a table of a release file, whose cells must be those of its keys."""
    key_fields, other = fields.table("keys"), fields.truth("other", False)
    keys, cells = keys_from_content(fields), fields.items("cells")
    listed = cells[:-1] if other and cells and cells[-1] == [None] * len(keys) else cells
    is_complete = len(listed) == len(cells) - other
    if not is_complete or not _are_combinations(listed, [key_fields.items(column) for column in keys]):
        raise fields.error("cells", "must be the combinations of its keys, got others", ALTERED)
    return Grouping(keys, other)


def keys_from_content(fields: Fields) -> dict[str, tuple[Key, ...]]:
    """The keys of each column in a table of a release file."""
    key_fields = fields.table("keys")
    return {column: tuple(map(key_from_json, key_fields.items(column))) for column in key_fields.columns()}


def grouping_schemas(kind: type[Query]) -> dict[str, Any]:
    """The JSON schemas of keys and cells, and of what is drawn for each cell."""
    key_or_null = {"type": "array", "items": {"anyOf": [KEY_SCHEMA, {"type": "null"}]}}
    schemas = kind.schema()
    return {
        "keys": KEYS_SCHEMA,
        "other": {"type": "boolean"},
        "cells": {"type": "array", "items": key_or_null},
        **{key: {"type": "array", "items": schemas[key]} for key in kind.drawn_keys},
    }


def _cells_content(grouping: Grouping) -> list[list[Any]]:
    return [[None if key is None else key_to_json(key) for key in cell] for cell in grouping.cells]


def join_columns(keys: tuple[str, ...], inner: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of keys, and of an inner query's cells, whose names no key column keeps."""
    taken = list(inner)
    for column in keys:
        taken.append(_free_name(column, taken))
    return (*taken[len(inner) :], *inner)


def _free_name(column: str, taken: list[str]) -> str:
    """The name of a key column that is none of those taken.

    >>> _free_name("origin", ["probability"]), _free_name("probability", ["probability"])
    ('origin', 'probability (key)')
    """
    return column if column not in taken else _free_name(f"{column} (key)", taken)


def _combine(drawn: list[Drawn]) -> Drawn:
    """What was drawn for the cells; an entry that only some have is refused by `check_drawn`."""
    keys = dict.fromkeys(key for cell in drawn for key in cell.details)
    details = {key: [cell.details.get(key) for cell in drawn] for key in keys}
    return Drawn(tuple(cell.value for cell in drawn), details)


def _are_combinations(cells: list[Any], keys: list[list[Any]]) -> bool:
    """Are cells the combinations of the keys of each column. As soon as they are not, no further one is made."""
    number = 1
    for values in keys:
        number *= len(values)
        if number > len(cells):
            return False
    return number == len(cells) and all(cell == list(keys) for cell, keys in zip(cells, product(*keys), strict=True))
