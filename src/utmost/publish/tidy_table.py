"""A release as a tidy table: one row a number, `query, kind, <key columns>, value, low, high, error`.

`error` is the half width of the 95 % interval, and `low`, `high` are value ∓ error within the mechanism's ends. A truth
within the ends is at most as far from a value that was brought back to an end as from the one that was drawn, so
cutting the interval at the ends loses nothing. Quantiles have no interval: their error is in rows of rank. Several
quantiles together and the largest cells have neither: how far off they are is not said of each value by itself.

**A mean from a noisy total T̂ and a noisy number of rows R̂** has the interval of all T/R with |T − T̂| ≤ a and
|R − R̂| ≤ b, where each of the two fails with probability at most 1/40, so that both hold with at least 95 %. For a
fixed T the ratio T/R is monotone in R, so its ends are at ends of both ranges. With no row there is no mean, and
nothing is said.

**Cells that were found** are told only where their noisy count is large, so ± a half width of the noise would hold few
of the small ones. Their intervals hold given that the cell was told: of counts, and of the rows of a mean or a
variance, by the theorem of `noise.selection`; the noise of other answers does not depend on which cells were told. Such
an interval is not symmetric, and `error` is the distance of the value from the farther end.

Numbers are decimals: exact where they are finite, else `value` is rounded to the nearest, `low` down, `high` and
`error` up. A text in a CSV file that a spreadsheet could take for a formula gets an apostrophe in front (`csv_text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.data.selection import Key
from utmost.exact import epsilon as level_of
from utmost.exact.files import write_file
from utmost.publish.output_files import check_table_output, table_note, table_note_path
from utmost.queries.answer_mechanisms.lattice import half_width
from utmost.queries.answer_mechanisms.mechanism import MISS_PROBABILITY
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, drawn_parts, ratio_ends
from utmost.queries.grouped import GroupedQuery, join_columns
from utmost.queries.number_column import NumberQuery
from utmost.tables import Column, ResultTable, bound_text, value_text

if TYPE_CHECKING:
    import pyarrow as pa

    from utmost.publish.release_model import Answer
    from utmost.queries.query import ValueRange

FIRST_COLUMNS, NUMBER_COLUMNS = ("query", "kind"), ("value", "low", "high", "error")


@dataclass(frozen=True, slots=True)
class ValueInterval:
    """The 95 % interval of a value and its half width; None where a value has none in its own unit."""

    low: Fraction | None
    high: Fraction | None
    error: Fraction | None


@dataclass(frozen=True, slots=True)
class TidyRow:
    """One number of a release, with its interval where it has one; the texts of its numbers are decimals."""

    query: str
    kind: str
    keys: Mapping[str, Key]
    number: Fraction
    interval: ValueInterval

    @property
    def value(self) -> str:
        """The number as a decimal."""
        return value_text(self.number)

    @property
    def low(self) -> str | None:
        """The lower end of the interval, not above it."""
        return None if self.interval.low is None else bound_text(self.interval.low, is_upper=False)

    @property
    def high(self) -> str | None:
        """The upper end of the interval, not below it."""
        return None if self.interval.high is None else bound_text(self.interval.high)

    @property
    def error(self) -> str | None:
        """The half width of the interval, not below it."""
        return None if self.interval.error is None else bound_text(self.interval.error)


@dataclass(frozen=True, slots=True)
class TidyTable:
    """The rows of a release. A row has no key in the columns of other queries."""

    key_columns: tuple[str, ...]
    rows: tuple[TidyRow, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, all different: `(key)` follows that of a key column where it is taken."""
        names = join_columns(self.key_columns, (*FIRST_COLUMNS, *NUMBER_COLUMNS))
        return (*FIRST_COLUMNS, *names[: len(self.key_columns)], *NUMBER_COLUMNS)

    def cells(self, row: TidyRow) -> tuple[Key | None, ...]:
        """A row in the order of the columns; None where there is nothing."""
        keys = (row.keys.get(column) for column in self.key_columns)
        return (row.query, row.kind, *keys, row.value, row.low, row.high, row.error)

    @property
    def result_table(self) -> ResultTable:
        """The same as columns of exact numbers."""
        keys = self.columns[len(FIRST_COLUMNS) : -len(NUMBER_COLUMNS)]
        return ResultTable(
            (
                Column.labels("query", (row.query for row in self.rows)),
                Column.labels("kind", (row.kind for row in self.rows)),
                *(
                    Column.labels(name, (row.keys.get(column) for row in self.rows))
                    for name, column in zip(keys, self.key_columns, strict=True)
                ),
                Column.values("value", (row.number for row in self.rows)),
                Column.lower("low", (row.interval.low for row in self.rows)),
                Column.upper("high", (row.interval.high for row in self.rows)),
                Column.upper("error", (row.interval.error for row in self.rows)),
            )
        )

    def to_csv(self) -> str:
        """The table as CSV, in UTF-8, a line feed after each row."""
        return self.result_table.to_csv()

    def to_arrow(self) -> pa.Table:
        """The table with typed columns: keys by their kind, numbers as decimals of one scale a column."""
        return self.result_table.to_arrow()

    def to_parquet(self) -> bytes:
        """The same as a Parquet file."""
        return self.result_table.to_parquet()

    def write(self, path: Path) -> None:
        """The table in a file, by its ending, and its note beside it."""
        _write_result_table(self.result_table, path)


def _write_result_table(table: ResultTable, path: Path) -> None:
    """A table in a file, by its ending, and its note beside it; each whole or not at all.

    A table whose note could not be written is not recognised, and never replaced.
    """
    content = table.to_csv().encode("utf-8") if path.suffix.lower() == ".csv" else table.to_parquet()
    write_file(path, content)
    write_file(table_note_path(path), table_note(content))


def write_result_table(table: ResultTable, path: str | Path) -> None:
    """A table in a new .csv or .parquet file, or in place of one that utmost wrote."""
    file = Path(path)
    check_table_output(file, "path")
    _write_result_table(table, file)


def write_table(answers: Iterable[Answer], path: str | Path) -> None:
    """The tidy table of a release in a new .csv or .parquet file, or in place of one that utmost wrote."""
    write_result_table(tidy_table(answers).result_table, path)


def tidy_table(answers: Iterable[Answer]) -> TidyTable:
    """The numbers of a release, or of some answers, in their order; key columns in that in which they first appear."""
    listed = tuple(answers)
    columns = dict.fromkeys(column for answer in listed for column in key_columns(answer))
    return TidyTable(tuple(columns), tuple(row for answer in listed for row in answer_rows(answer)))


def key_columns(answer: Answer) -> tuple[str, ...]:
    """The columns of the keys of each number; none where the answer is one number."""
    if not isinstance(answer.value, tuple):
        return ()
    columns, cells = answer.query.cell_columns, answer_cells(answer)
    width = len(cells[0]) if cells else len(columns)
    return columns if len(columns) == width else tuple(f"cell {k}" for k in range(1, width + 1))


def answer_cells(answer: Answer) -> tuple[tuple[Key, ...], ...]:
    """The keys of each number; its place where its kind has none."""
    values = answer.value if isinstance(answer.value, tuple) else ()
    return answer.query.value_cells(answer.drawn) or tuple((k,) for k in range(1, len(values) + 1))


def answer_rows(answer: Answer) -> Iterable[TidyRow]:
    """The numbers of one answer, in the order of its cells."""
    if not isinstance(answer.value, tuple):
        yield _row(answer, {}, Fraction(answer.value), answer.details)
        return
    columns = key_columns(answer)
    for place, (cell, (_, value)) in enumerate(zip(answer_cells(answer), answer.named_values, strict=True)):
        yield _row(answer, dict(zip(columns, cell, strict=True)), Fraction(value), answer.cell_details(place))


def _row(answer: Answer, keys: Mapping[str, Key], value: Fraction, details: Mapping[str, Any]) -> TidyRow:
    return TidyRow(answer.name, answer.kind, keys, value, value_interval(answer, value, details))


def value_interval(answer: Answer, value: Fraction, details: Mapping[str, Any] | None = None) -> ValueInterval:
    """The 95 % interval of one value of an answer; `details` are those of its cell."""
    error, half = answer.error, Fraction(answer.error.half_width)
    ends = answer.query.value_range(answer.mechanism, value, details or {}, MISS_PROBABILITY)
    if ends is not None:
        return _interval_around(value, ends)
    if error.over_rows:
        return _ratio_interval(answer, value, answer.details if details is None else details)
    if error.suffix:
        return ValueInterval(None, None, half if error.is_of_values else None)
    low, high, lattice = value - half, value + half, answer.mechanism.lattice
    if lattice is not None and lattice.low is not None:
        low, high = (max(end, lattice.value(lattice.low)) for end in (low, high))
    if lattice is not None and lattice.high is not None:
        low, high = (min(end, lattice.value(lattice.high)) for end in (low, high))
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
