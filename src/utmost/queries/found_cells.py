"""Cells that are found in the data: their keys, their (ε, δ) for a unit, and which of them are told.

A row belongs to the cell of its keys, if none of them is NULL and every text among them is plain (`is_plain_key`): a
total rule, row by row. Of a unit at most k rows are kept in all cells together (`rows`, or 1 where rows are units), or
one row in each of at most k cells (`groups`).

**Theorem.** Let each unit of each cell be (ε′, δ′)-private (`noise.selection`), and let a unit come or go. With `rows`
the cells move by at most k in all, so all cells together are (k·ε′, δ′·(e^(kε′) − 1)/(e^ε′ − 1))-private. With `groups`
at most k cells move, by 1 each: (k·ε′, k·δ′). A replaced unit goes and another comes: twice these. A cell without rows
is never told, so which cells the table has needs no protection of its own. Keeping the largest noisy counts of those
that are told, and putting them in the order of their keys, is post-processing. ∎

Another answer over the cells that are told, such as a sum in each, is a second mechanism (`queries.found_query`).

So ε′ = ε/(s·k) with s = 1, or 2 under replace, and δ′ = δ/s·(e^ε′ − 1)/(e^(kε′) − 1), or δ/(s·k), rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from utmost.data.found_cells import MAX_TEXT_CHARS, is_plain_key
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.exact import ball, ball_endpoints
from utmost.exact import epsilon as level_of
from utmost.exact.working_precision import working_precision
from utmost.noise.selection import delta_of_units
from utmost.queries.answer_mechanisms.mechanism import NUMBER_ROOM, Drawn
from utmost.queries.answer_mechanisms.selection import PreparedSelection, SelectionMechanism
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_name, key_to_json
from utmost.queries.query import QueryField

if TYPE_CHECKING:
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

MAX_FOUND_CELLS = 10_000  # that are written; the largest noisy counts are kept
MAX_BY_COLUMNS = 8
KEY_ROOM = 8 * MAX_TEXT_CHARS  # bytes of a key in a file: escaped, with its line
MIN_DELTA = Fraction(1, 10**50)  # far below what the 40 digits of a ledger hold
DELTA_DIGITS = 15  # of δ′, rounded down
TOLD_DELTA_DIGITS = 30  # of δ as it is told, rounded up
BITS = 512  # of balls around factors of δ
BY_FIELD = QueryField(
    "by", "Cells of", "columns", "The values are found in the data, and only those that enough units have are told."
)
DELTA_FIELD = QueryField("delta", "δ", "number", "What finding cells costs: for instance 1e-6.")
MAX_STEP_EXPONENT = 600  # kε′, beyond which δ′ would be no number that a ledger holds
SELECTION_CLAIM = (
    "optimal selection: no (epsilon, delta)-private mechanism tells a cell of any number of units with a higher "
    "probability (Desfontaines et al., arXiv:2006.03684), and the noisy count comes at no further cost"
)
SPLIT_SELECTION_CLAIM = (
    "none claimed: among mechanisms that protect each unit of each cell with its share of epsilon and delta the "
    "selection is the best there is (arXiv:2006.03684); nothing is claimed among all others"
)


class FoundAnswers(list[int]):
    """The numbers of kept rows of found cells, the cells, and what else is asked of each, in the same order: secret."""

    def __init__(self, counts: Iterable[int], cells: Sequence[tuple[Any, ...]], answers: Sequence[Any] = ()) -> None:
        super().__init__(counts)
        self.cells, self.answers = tuple(cells), answers


def cell_details(details: Mapping[str, Any], index: int) -> dict[str, Any]:
    """What else was drawn for one cell."""
    return {key: entries[index] for key, entries in details.items()}


def selection_sentence(selection: SelectionMechanism) -> str:
    """From which noisy count on cells are told."""
    return f"cells are told from a noisy count of {selection.threshold} on, about half of those that have so many rows."


def error_target_error() -> InputError:
    """The refusal of a wanted error over found cells."""
    return InputError("error must not be a target of a query with by, got one", "error", "give epsilon and delta")


@dataclass(frozen=True, slots=True)
class UnitMoves:
    """How the cells move when a unit changes: `sides` times, up to `units` in one cell, `units`·`cells` in all."""

    sides: int
    units: int
    cells: int

    @property
    def total(self) -> int:
        """By how much the cells move in all, at most."""
        return self.sides * self.units * self.cells


def unit_moves(setting: PrivacySetting) -> UnitMoves:
    """The moves of the cells for a unit of this setting."""
    sides = 2 if setting.replacing else 1
    return UnitMoves(sides, 1, setting.unit.groups) if setting.unit.groups else UnitMoves(sides, setting.unit.bound, 1)


def select_cells(epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> SelectionMechanism:
    """The selection whose ε′ and δ′ of one unit of one cell make (ε, δ) for a unit of this setting."""
    if not 0 < delta < 1:
        raise InputError(
            "by needs delta: which cells there are is told with a probability of delta", "delta", "say 1e-6"
        )
    if delta < MIN_DELTA:
        raise InputError(f"delta must be at least {float(MIN_DELTA)}, got less", "delta", "say 1e-6")
    moves = unit_moves(setting)
    if epsilon / moves.sides > MAX_STEP_EXPONENT:
        raise InputError(f"epsilon must be at most {MAX_STEP_EXPONENT} with by, got more", "epsilon")
    step, share = epsilon / moves.total, delta / (moves.sides * moves.cells)
    return SelectionMechanism.of(step, _unit_delta(step, share, moves.units))


def told_epsilon(mechanism: SelectionMechanism, setting: PrivacySetting) -> Fraction:
    """The ε of all cells together for a unit: exact."""
    return mechanism.epsilon * unit_moves(setting).total


def told_delta(mechanism: SelectionMechanism, setting: PrivacySetting) -> Fraction:
    """The δ of all cells together for a unit, from the δ′ that is drawn, rounded up."""
    moves = unit_moves(setting)
    delta = mechanism.delta * moves.sides * moves.cells
    if moves.units == 1:
        return delta
    with working_precision(BITS):
        high = ball_endpoints(ball(delta, BITS) * delta_of_units(level_of(mechanism.epsilon), moves.units))[1]
    return _round_digits(high, TOLD_DELTA_DIGITS, math.ceil)


def _unit_delta(step: Fraction, share: Fraction, units: int) -> Fraction:
    """δ·(e^ε′ − 1)/(e^(kε′) − 1), rounded down."""
    if units == 1:
        return share
    with working_precision(BITS):
        low = ball_endpoints(ball(share, BITS) / delta_of_units(level_of(step), units))[0]
    return _round_digits(low, DELTA_DIGITS, math.floor)


def _round_digits(value: Fraction, digits: int, rounding: Any) -> Fraction:
    """A positive number rounded to a decimal of so many digits."""
    exponent = digits - math.floor(math.log10(value.numerator) - math.log10(value.denominator)) - 1
    scale = Fraction(10) ** exponent
    return Fraction(rounding(value * scale)) / scale


# Plans and releases


def parse_by(fields: Fields) -> tuple[str, ...]:
    """The columns of `by` in a table of a plan or a release."""
    columns = fields.items("by")
    if not all(isinstance(column, str) for column in columns) or not 1 <= len(columns) <= MAX_BY_COLUMNS:
        raise fields.error("by", f'must be a list of 1 to {MAX_BY_COLUMNS} columns, as in ["dest"]')
    if len(set(columns)) < len(columns):
        raise fields.error("by", "must name each column once")
    if fields.raw("keys", None) is not None:
        raise fields.error("by", "must not be together with keys", "give keys that are known, or by for those found")
    return tuple(columns)


def parse_delta(fields: Fields) -> Fraction:
    """The δ of a query; 0 where it is left out."""
    delta = Fraction(0) if fields.raw("delta", None) is None else fields.number("delta")
    if not 0 <= delta < 1:
        shown = delta if len(str(delta)) < 40 else "another"
        raise fields.error("delta", f"must be from 0 to below 1, got {shown}", "say for instance delta = 1e-6")
    return delta


def check_by(table: Table, by: Sequence[str]) -> None:
    """Refuse columns that have no cells: unknown, or of numbers with a point or times."""
    for column in by:
        table.check_found_column(column)


def cells_schema() -> dict[str, Any]:
    """The JSON schema of `by` and of the found cells."""
    return {
        "by": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "cells": {"type": "array", "items": {"type": "array", "items": KEY_SCHEMA}},
    }


def read_cells(fields: Fields, columns: int) -> tuple[tuple[Key, ...], ...]:
    """The found cells in a table of a release file: keys that a cell can have, in order, each cell once."""
    rows = fields.items("cells")
    if not all(isinstance(row, list) and len(row) == columns for row in rows):
        raise fields.error("cells", f"must be lists of {columns} keys")
    cells = tuple(tuple(key_from_json(key) for key in row) for row in rows)
    kinds_of_columns = (set(map(type, column)) for column in zip(*cells, strict=True))
    if any(len(kinds) > 1 for kinds in kinds_of_columns) or not all(is_plain_key(key) for row in cells for key in row):
        problem = f"must have keys of one kind in each column, texts of at most {MAX_TEXT_CHARS} characters"
        raise fields.error("cells", problem)
    orders = [cell_order(cell) for cell in cells]
    if len(cells) > MAX_FOUND_CELLS or any(not before < after for before, after in pairwise(orders)):
        raise fields.error("cells", f"must be at most {MAX_FOUND_CELLS}, in order, each once")
    return cells


def cell_order(cell: Iterable[Key]) -> tuple[tuple[str, Any], ...]:
    """What cells are sorted by: their keys, which are of one type in each column."""
    return tuple((type(key).__name__, key) for key in cell)


def cell_name(cell: Iterable[Key]) -> str:
    """The keys of a cell with commas between them."""
    return ",".join(key_name(key) for key in cell)


def drawn_cells(drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
    """The cells that were told."""
    return tuple(tuple(map(key_from_json, cell)) for cell in drawn.details["cells"])


def cells_room(columns: int, value_room: int = NUMBER_ROOM, max_cells: int = MAX_FOUND_CELLS) -> int:
    """More bytes than all cells that can be told take in a release file, with their values."""
    return max_cells * (NUMBER_ROOM + value_room + columns * KEY_ROOM)


# After the charge: nothing here can fail


def draw_found_counts(selection: PreparedSelection, truth: FoundAnswers) -> Drawn:
    """The cells that are told, in the order of their keys, with their noisy counts."""
    told = told_cells(selection, truth)
    return Drawn(tuple(number for _, number in told), told_details(truth, told))


def told_cells(
    selection: PreparedSelection, truth: FoundAnswers, max_cells: int = MAX_FOUND_CELLS
) -> list[tuple[int, int]]:
    """The places and noisy counts of cells that reach the threshold, the largest if there are too many, by key."""
    numbers = selection.noisy_counts(truth)
    told = [(place, number) for place, number in enumerate(numbers) if number >= selection.threshold]
    if len(told) > max_cells:
        told = sorted(told, key=lambda pair: (-pair[1], cell_order(truth.cells[pair[0]])))[:max_cells]
    return sorted(told, key=lambda pair: cell_order(truth.cells[pair[0]]))


def told_details(truth: FoundAnswers, told: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """The keys of the cells that are told, as a release file has them."""
    return {"cells": [[key_to_json(key) for key in truth.cells[place]] for place, _ in told]}
