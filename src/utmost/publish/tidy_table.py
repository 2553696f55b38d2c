"""A release as a tidy table: one row a number, `query, kind, <key columns>, value, low, high, error`.

`error` is the half width of the 95 % interval, and `low`, `high` are value ∓ error within the mechanism's ends. A truth
within the ends is at most as far from a value that was brought back to an end as from the one that was drawn, so
cutting the interval at the ends loses nothing. Quantiles have no interval: their error is in rows of rank.

**A mean from a noisy total T̂ and a noisy number of rows R̂** has the interval of all T/R with |T − T̂| ≤ a and
|R − R̂| ≤ b, where each of the two fails with probability at most 1/40, so that both hold with at least 95 %. For a
fixed T the ratio T/R is monotone in R, so its ends are at ends of both ranges. With no row there is no mean, and
nothing is said.

Numbers are decimals: exact where they are finite, else `value` is rounded to the nearest, `low` down, `high` and
`error` up. A text in a CSV file that a spreadsheet could take for a formula gets an apostrophe in front (`csv_text`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.data.selection import Key
from utmost.exact import decimal, decimal_above, decimal_below
from utmost.exact import epsilon as level_of
from utmost.exact.files import write_file
from utmost.publish.output_files import table_note, table_note_path
from utmost.queries.answer_mechanisms.lattice import half_width
from utmost.queries.answer_mechanisms.mechanism import MISS_PROBABILITY
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, drawn_parts, ratio_ends
from utmost.queries.grouped import GroupedQuery
from utmost.queries.keys import key_name
from utmost.queries.number_column import NumberQuery

if TYPE_CHECKING:
    import pyarrow as pa

    from utmost.publish.release_model import Answer, Release
    from utmost.queries.query import ValueRange

MAX_DECIMALS = 30  # of a number that is written exactly
VALUE_DIGITS, BOUND_DIGITS = 15, 12  # of numbers that are not
FIRST_COLUMNS, NUMBER_COLUMNS = ("query", "kind"), ("value", "low", "high", "error")
FORMULA_STARTS = (
    "=",
    "+",
    "-",
    "@",
    "'",
    "\t",
    "\r",
    "\n",
)  # of a text; the apostrophe so that it can be taken away again
MAX_DECIMAL_DIGITS = 38  # of a column of decimals in a Parquet file


@dataclass(frozen=True, slots=True)
class TidyRow:
    """One number of a release, with its interval where it has one. Numbers are decimals."""

    query: str
    kind: str
    keys: Mapping[str, Key]
    value: str
    low: str | None
    high: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class TidyTable:
    """The rows of a release. A row has no key in the columns of other queries."""

    key_columns: tuple[str, ...]
    rows: tuple[TidyRow, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns; a key column of the name of another column is followed by `(key)`."""
        return (*FIRST_COLUMNS, *(_column_name(column) for column in self.key_columns), *NUMBER_COLUMNS)

    def cells(self, row: TidyRow) -> tuple[Key | None, ...]:
        """A row in the order of the columns; None where there is nothing."""
        keys = (row.keys.get(column) for column in self.key_columns)
        return (row.query, row.kind, *keys, row.value, row.low, row.high, row.error)

    def to_csv(self) -> str:
        """The table as CSV, in UTF-8, a line feed after each row."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([csv_text(column) for column in self.columns])
        for row in self.rows:
            first, numbers = (row.query, row.kind), (row.value, row.low, row.high, row.error)
            keys = [row.keys.get(column) for column in self.key_columns]
            writer.writerow([*map(csv_text, (*first, *keys)), *numbers])
        return stream.getvalue()

    def to_arrow(self) -> pa.Table:
        """The table with typed columns: keys by their kind, numbers as decimals of one scale a column."""
        import pyarrow as pa

        columns = list(zip(*(self.cells(row) for row in self.rows), strict=True))
        number_start = len(columns) - len(NUMBER_COLUMNS)
        arrays = [_key_array(column) for column in columns[:number_start]]
        arrays += [_number_array(column) for column in columns[number_start:]]
        return pa.table(arrays, names=list(self.columns))

    def to_parquet(self) -> bytes:
        """The same as a Parquet file."""
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(self.to_arrow(), stream)
        return stream.getvalue()

    def write(self, path: Path) -> None:
        """The table in a file, by its ending, and its note beside it; each whole or not at all.

        A table whose note could not be written is not recognised, and never replaced.
        """
        content = self.to_csv().encode("utf-8") if path.suffix.lower() == ".csv" else self.to_parquet()
        write_file(path, content)
        write_file(table_note_path(path), table_note(content))


@dataclass(frozen=True, slots=True)
class ValueInterval:
    """The 95 % interval of a value and its half width; None where a value has none in its own unit."""

    low: Fraction | None
    high: Fraction | None
    error: Fraction | None


def tidy_table(release: Release) -> TidyTable:
    """The numbers of a release, in its order; key columns in the order in which they first appear."""
    key_columns = dict.fromkeys(column for answer in release for column in _key_columns(answer))
    return TidyTable(tuple(key_columns), tuple(row for answer in release for row in _answer_rows(answer)))


def _key_columns(answer: Answer) -> tuple[str, ...]:
    """The columns of the keys of each number; none where the answer is one number."""
    if not isinstance(answer.value, tuple):
        return ()
    columns, cells = answer.query.cell_columns, _cells(answer)
    width = len(cells[0]) if cells else len(columns)
    return columns if len(columns) == width else tuple(f"cell {k}" for k in range(1, width + 1))


def _cells(answer: Answer) -> tuple[tuple[Key, ...], ...]:
    """The keys of each number; its place where its kind has none."""
    values = answer.value if isinstance(answer.value, tuple) else ()
    return answer.query.value_cells(answer.drawn) or tuple((k,) for k in range(1, len(values) + 1))


def _answer_rows(answer: Answer) -> Iterable[TidyRow]:
    if not isinstance(answer.value, tuple):
        yield _row(answer, {}, Fraction(answer.value), answer.details)
        return
    columns = _key_columns(answer)
    for place, (cell, (_, value)) in enumerate(zip(_cells(answer), answer.named_values, strict=True)):
        yield _row(answer, dict(zip(columns, cell, strict=True)), Fraction(value), answer.cell_details(place))


def _row(answer: Answer, keys: Mapping[str, Key], value: Fraction, details: Mapping[str, Any]) -> TidyRow:
    interval = value_interval(answer, value, details)
    low = None if interval.low is None else bound_text(interval.low, is_upper=False)
    high, error = (None if end is None else bound_text(end) for end in (interval.high, interval.error))
    return TidyRow(answer.name, answer.kind, keys, value_text(value), low, high, error)


def value_interval(answer: Answer, value: Fraction, details: Mapping[str, Any] | None = None) -> ValueInterval:
    """The 95 % interval of one value of an answer; `details` are those of its cell."""
    error, half = answer.error, Fraction(answer.error.half_width)
    ends = answer.query.value_range(answer.mechanism, value, details or {}, MISS_PROBABILITY)
    if ends is not None:
        return _interval_around(value, ends)
    if error.over_rows:
        return _ratio_interval(answer, value, answer.details if details is None else details)
    if error.suffix:
        return ValueInterval(None, None, half)
    low, high, lattice = value - half, value + half, answer.mechanism.lattice
    if lattice is not None and lattice.low is not None:
        low = max(low, lattice.value(lattice.low))
    if lattice is not None and lattice.high is not None:
        high = min(high, lattice.value(lattice.high))
    return ValueInterval(low, high, half)


def _ratio_interval(answer: Answer, value: Fraction, details: Mapping[str, Any]) -> ValueInterval:
    """All means that total and rows within their errors stand for, and how far the value is from them at most."""
    mechanism, query = answer.mechanism, answer.query.inner if isinstance(answer.query, GroupedQuery) else answer.query
    if not (isinstance(mechanism, RatioMechanism) and isinstance(query, NumberQuery) and "parts" in details):
        return ValueInterval(None, None, None)
    total_error, rows_error = (
        half_width(level_of(part.epsilon), MISS_PROBABILITY / 2) for part in (mechanism.total, mechanism.rows)
    )
    low, high = ratio_ends(mechanism.total, drawn_parts(details), (total_error, rows_error), query.grid)
    return _interval_around(value, (low, high))


def _interval_around(value: Fraction, ends: ValueRange) -> ValueInterval:
    """A range widened to a value, and how far the value is from its ends at most."""
    low, high = min(ends[0], value), max(ends[1], value)
    return ValueInterval(low, high, max(value - low, high - value))


def value_text(value: Fraction) -> str:
    """A number as a decimal: exact where that is finite, else of 15 digits.

    >>> value_text(Fraction(-7, 8)), value_text(Fraction(10**20)), value_text(Fraction(1, 3))
    ('-0.875', '100000000000000000000', '0.333333333333333')
    """
    return _exact_text(value) or f"{Decimal(decimal(value, VALUE_DIGITS)):f}"


def bound_text(value: Fraction, is_upper: bool = True) -> str:
    """A bound as a decimal: exact where that is finite, else rounded outward to 12 digits.

    >>> bound_text(Fraction(5, 2)), bound_text(Fraction(1, 3)), bound_text(Fraction(1, 3), is_upper=False)
    ('2.5', '0.333333333334', '0.333333333333')
    """
    write = decimal_above if is_upper else decimal_below
    return _exact_text(value) or f"{Decimal(write(value, BOUND_DIGITS)):f}"


def _exact_text(value: Fraction) -> str | None:
    """A finite decimal; None where it has too many decimals."""
    scaled = value * 10**MAX_DECIMALS
    if scaled.denominator != 1:
        return None
    whole, decimals = divmod(abs(int(scaled)), 10**MAX_DECIMALS)
    digits = f"{whole}.{str(decimals).zfill(MAX_DECIMALS)}".rstrip("0").rstrip(".")
    return f"-{digits}" if value < 0 else digits


def csv_text(key: Key | None) -> str:
    """A key or a text in a CSV file; one that a spreadsheet could take for a formula begins with an apostrophe.

    So does a text that begins with an apostrophe, so that taking one away gives every text back. Numbers stay.

    >>> [csv_text(key) for key in ("=1+1", "-", "'quoted'", "north", -3, True, None)]
    ["'=1+1", "'-", "''quoted'", 'north', '-3', 'true', '']
    """
    if key is None:
        return ""
    return f"'{key}" if isinstance(key, str) and key.startswith(FORMULA_STARTS) else key_name(key)


def _column_name(column: str) -> str:
    return f"{column} (key)" if column in (*FIRST_COLUMNS, *NUMBER_COLUMNS) else column


def _key_array(column: tuple[Any, ...]) -> pa.Array:
    """Keys of one kind in a column of that kind, of several kinds as texts."""
    import pyarrow as pa

    kinds = {type(key) for key in column if key is not None}
    by_kind: dict[type, pa.DataType] = {bool: pa.bool_(), int: pa.int64(), date: pa.date32()}
    fits = all(abs(key) < 2**63 for key in column if type(key) is int)
    if len(kinds) == 1 and fits and (kind := kinds.pop()) in by_kind:
        return pa.array(column, by_kind[kind])
    return pa.array([None if key is None else key_name(key) for key in column], pa.string())


def _number_array(column: tuple[Any, ...]) -> pa.Array:
    """Decimals of one scale; texts where they have more digits than a column can hold."""
    import pyarrow as pa

    numbers = [None if text is None else Decimal(text) for text in column]
    present = [text.lstrip("-").partition(".") for text in column if text is not None]
    scale = max((len(decimals) for _, _, decimals in present), default=0)
    digits = scale + max((len(whole) for whole, _, _ in present), default=1)
    if digits > MAX_DECIMAL_DIGITS:
        return pa.array(column, pa.string())
    return pa.array(numbers, pa.decimal128(MAX_DECIMAL_DIGITS, scale))
