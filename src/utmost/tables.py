"""Results as tables: named columns that Arrow holds exactly, and pandas and Polars as numbers to compute with.

A column of labels (texts, whole numbers, truth values, dates, times) keeps its kind; labels of several kinds are texts.
A column of numbers is one of values, of lower bounds or of upper bounds:

| | Arrow | pandas, Polars |
| --- | --- | --- |
| whole numbers | decimals | 64-bit integers, `Int64` in pandas where some are missing |
| value | decimal, exact where it is finite, else of 15 digits | the nearest double |
| lower, upper bound | the same, rounded outward to 12 digits | the nearest double that is not above, not below it |
| floats | doubles | doubles |

So an interval in doubles holds the exact one. What is missing is null, and NaN in a pandas column of doubles.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.errors import InputError
from utmost.exact import Real, decimal, decimal_above, decimal_below
from utmost.exact.input_text import escape_control
from utmost.notebook import report_html

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Label: TypeAlias = bool | int | str | date
Entry: TypeAlias = Label | Fraction | Real | float | None

MAX_DECIMALS = 30  # of a number that is written exactly
MAX_DECIMAL_DIGITS = 38  # of a column of decimals
VALUE_DIGITS, BOUND_DIGITS = 15, 12  # of numbers that are not exact as decimals
WHOLE_END = 2**63  # whole numbers up to which a column holds as such
FORMULA_STARTS = ("=", "+", "-", "@", "'", "\t", "\r", "\n")  # of a text; the apostrophe so that it can be taken away
MAX_SHOWN_NAMES = 12  # of columns, in a line


class Role(Enum):
    """What the entries of a column are, and so which way a number is rounded."""

    LABEL = "label"
    VALUE = "value"
    LOWER = "lower bound"
    UPPER = "upper bound"


@dataclass(frozen=True, slots=True)
class Column:
    """A name and the entries below it; None where there is nothing."""

    name: str
    entries: tuple[Entry, ...]
    role: Role = Role.LABEL

    @classmethod
    def labels(cls, name: str, entries: Iterable[Entry]) -> Column:
        """Texts, whole numbers, truth values, dates or times."""
        return cls(name, tuple(entries), Role.LABEL)

    @classmethod
    def values(cls, name: str, entries: Iterable[Entry]) -> Column:
        """Numbers, rounded to the nearest."""
        return cls(name, tuple(entries), Role.VALUE)

    @classmethod
    def lower(cls, name: str, entries: Iterable[Entry]) -> Column:
        """Lower bounds, rounded down."""
        return cls(name, tuple(entries), Role.LOWER)

    @classmethod
    def upper(cls, name: str, entries: Iterable[Entry]) -> Column:
        """Upper bounds, rounded up."""
        return cls(name, tuple(entries), Role.UPPER)

    @property
    def present(self) -> list[Any]:
        """The entries that are there."""
        return [entry for entry in self.entries if entry is not None]

    @property
    def is_label(self) -> bool:
        """Is it a column of labels."""
        return self.role is Role.LABEL

    @property
    def is_whole(self) -> bool:
        """Are all entries whole numbers of 64 bits, and is there one."""
        return bool(self.present) and all(is_whole_number(entry) for entry in self.present)

    @property
    def has_floats(self) -> bool:
        """Is a float among its numbers: then all are doubles."""
        return any(isinstance(entry, float) for entry in self.entries)

    def text(self, entry: Entry) -> str | None:
        """An entry as a text: a label, or a decimal that is rounded as the column is."""
        if entry is None or self.is_label:
            return None if entry is None else label_text(entry)
        if isinstance(entry, float):
            return repr(entry)
        if self.role is Role.VALUE:
            return value_text(entry)  # type: ignore[arg-type]
        return bound_text(entry, self.role is Role.UPPER)  # type: ignore[arg-type]

    def double(self, entry: Entry) -> float | None:
        """A number as a double that is rounded as the column is."""
        rounding = {Role.LOWER: double_below, Role.UPPER: double_above}.get(self.role, nearest)
        return None if entry is None else rounding(entry)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, repr=False)
class ResultTable:
    """Columns of one length and of different names.

    >>> table = ResultTable((Column.labels("query", ["n", "m"]), Column.upper("error", [Fraction(1, 3), 2])))
    >>> table, len(table), table.rows[1]
    (<table of 2 rows: query, error>, 2, {'query': 'm', 'error': 2})
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Check the names and the lengths."""
        names = self.names
        if len(set(names)) < len(names):
            raise InputError("columns must have different names, got one twice", "columns", "rename one")
        if len({len(column.entries) for column in self.columns}) > 1:
            raise InputError("columns must be of one length, got several", "columns")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def rows(self) -> list[dict[str, Entry]]:
        """Each row by the names of its columns, exact."""
        return [
            dict(zip(self.names, row, strict=True))
            for row in zip(*(column.entries for column in self.columns), strict=True)
        ]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.columns[0].entries) if self.columns else 0

    def __repr__(self) -> str:
        """A line: how many rows, and the names of the columns."""
        more = ", …" if len(self.columns) > MAX_SHOWN_NAMES else ""
        names = escape_control(", ".join(self.names[:MAX_SHOWN_NAMES]), frozenset())
        return f"<table of {len(self)} row{'s' * (len(self) != 1)}: {names}{more}>"

    def _repr_html_(self) -> str:
        return report_html(self, "result_table")

    def to_arrow(self) -> pa.Table:
        """An Arrow table: numbers are exact decimals of one scale a column, texts where they have over 38 digits."""
        return self._arrow_table(_decimal_array)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame: whole numbers, and doubles that are rounded outward where they are bounds."""
        pandas = import_frames("pandas")
        return pandas.DataFrame({column.name: _pandas_series(column, pandas) for column in self.columns})

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame with the same numbers as the pandas one."""
        polars = import_frames("polars")
        frame: pl.DataFrame = polars.from_arrow(self._arrow_table(_double_array))
        return frame

    def to_csv(self) -> str:
        """CSV in UTF-8, a line feed after each row; no text in it begins as a formula (`csv_text`)."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_text, self.names))
        cells = [[_csv_cell(column, entry) for entry in column.entries] for column in self.columns]
        writer.writerows(zip(*cells, strict=True))
        return stream.getvalue()

    def to_parquet(self) -> bytes:
        """The Arrow table as a Parquet file."""
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(self.to_arrow(), stream)
        return stream.getvalue()

    def _arrow_table(self, number_array: Any) -> pa.Table:
        import pyarrow as pa

        arrays = [_label_array(column) if column.is_label else number_array(column) for column in self.columns]
        return pa.table(arrays, names=list(self.names))


class Tabular:
    """A result that is a table: `to_pandas`, `to_polars` and `to_arrow`."""

    __slots__ = ()

    def _result_table(self) -> ResultTable:
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """As an Arrow table: numbers are exact decimals."""
        return self._result_table().to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """As a pandas frame: values are the nearest doubles, bounds are rounded outward, whole columns are whole."""
        return self._result_table().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """As a Polars frame, with the same numbers as the pandas frame."""
        return self._result_table().to_polars()


def unique_columns(columns: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names for columns of keys that no other column of a table has.

    >>> unique_columns(("town", "mean"), ("mean", "low"))
    ['town', 'mean_key']
    """
    names: list[str] = []
    others = set(taken)
    for column in columns:
        name = column
        while name in others or name in names:
            name += "_key"
        names.append(name)
    return names


def is_whole_number(entry: Entry) -> bool:
    """Is an entry a whole number of 64 bits.

    >>> [is_whole_number(entry) for entry in (3, Fraction(4, 2), Fraction(1, 2), 2.0, True, 2**63)]
    [True, True, False, False, False, False]
    """
    is_rational = isinstance(entry, int | Fraction) and not isinstance(entry, bool)
    return is_rational and entry.denominator == 1 and -WHOLE_END <= entry < WHOLE_END  # type: ignore[union-attr,operator]


def nearest(value: int | Fraction | Real | float) -> float:
    """The nearest double; ±∞ beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def double_below(value: int | Fraction | Real | float) -> float:
    """The largest double that is not above a rational number; of another real one, a double not above it.

    >>> double_below(Fraction(1, 10)) < Fraction(1, 10) < double_above(Fraction(1, 10)), double_below(3)
    (True, 3.0)
    """
    if isinstance(value, float):
        return value
    exact = Fraction(decimal_below(value, 18)) if isinstance(value, Real) else value
    double = nearest(exact)
    return double if double <= exact else math.nextafter(double, -math.inf)


def double_above(value: int | Fraction | Real | float) -> float:
    """The smallest double that is not below a rational number; of another real one, a double not below it."""
    return -double_below(-value)


def value_text(value: int | Fraction | Real) -> str:
    """A number as a decimal: exact where that is finite, else of 15 digits.

    >>> value_text(Fraction(-7, 8)), value_text(Fraction(10**20)), value_text(Fraction(1, 3))
    ('-0.875', '100000000000000000000', '0.333333333333333')
    """
    return _exact_text(value) or f"{Decimal(decimal(value, VALUE_DIGITS)):f}"


def bound_text(value: int | Fraction | Real, is_upper: bool = True) -> str:
    """A bound as a decimal: exact where that is finite, else rounded outward to 12 digits.

    >>> bound_text(Fraction(5, 2)), bound_text(Fraction(1, 3)), bound_text(Fraction(1, 3), is_upper=False)
    ('2.5', '0.333333333334', '0.333333333333')
    """
    write = decimal_above if is_upper else decimal_below
    return _exact_text(value) or f"{Decimal(write(value, BOUND_DIGITS)):f}"


def _exact_text(value: int | Fraction | Real) -> str | None:
    """A finite decimal; None where it has too many decimals."""
    scaled = value * 10**MAX_DECIMALS
    if isinstance(scaled, Real) or scaled.denominator != 1:
        return None
    whole, decimals = divmod(abs(int(scaled)), 10**MAX_DECIMALS)
    digits = f"{whole}.{str(decimals).zfill(MAX_DECIMALS)}".rstrip("0").rstrip(".")
    return f"-{digits}" if value < 0 else digits


def label_text(label: Any) -> str:
    """A label as a text.

    >>> [label_text(label) for label in (True, 3, "north", date(2020, 1, 31))]
    ['true', '3', 'north', '2020-01-31']
    """
    return str(label).lower() if isinstance(label, bool) else str(label)


def csv_text(label: Any) -> str:
    """A label in a CSV file; a text that a spreadsheet could take for a formula begins with an apostrophe.

    So does a text that begins with an apostrophe, so that taking one away gives every text back. Numbers stay.

    >>> [csv_text(label) for label in ("=1+1", "-", "'quoted'", "north", -3, True, None)]
    ["'=1+1", "'-", "''quoted'", 'north', '-3', 'true', '']
    """
    if label is None:
        return ""
    return f"'{label}" if isinstance(label, str) and label.startswith(FORMULA_STARTS) else label_text(label)


def _csv_cell(column: Column, entry: Entry) -> str | None:
    return csv_text(entry) if column.is_label else column.text(entry)


def _one_kind(column: Column) -> type | None:
    """The kind of all labels but texts; None for texts, for several kinds, and for whole numbers of over 64 bits."""
    kinds = {type(entry) for entry in column.present}
    if len(kinds) != 1 or kinds == {str} or (kinds == {int} and not column.is_whole):
        return None
    return kinds.pop()


def _label_array(column: Column) -> pa.Array:
    """Labels of one kind in a column of that kind, of several kinds as texts."""
    import pyarrow as pa

    by_kind = {bool: pa.bool_(), int: pa.int64(), date: pa.date32(), datetime: pa.timestamp("us", "UTC")}
    kind = _one_kind(column)
    if kind in by_kind:
        return pa.array(column.entries, by_kind[kind])
    return pa.array([column.text(entry) for entry in column.entries], pa.string())


def _decimal_array(column: Column) -> pa.Array:
    """Decimals of one scale; doubles where a float is among them, texts where they have too many digits."""
    import pyarrow as pa

    if column.has_floats:
        return _double_array(column)
    texts = [column.text(entry) for entry in column.entries]
    present = [text.lstrip("-").partition(".") for text in texts if text is not None]
    scale = max((len(decimals) for _, _, decimals in present), default=0)
    digits = scale + max((len(whole) for whole, _, _ in present), default=1)
    if digits > MAX_DECIMAL_DIGITS:
        return pa.array(texts, pa.string())
    numbers = [None if text is None else Decimal(text) for text in texts]
    return pa.array(numbers, pa.decimal128(MAX_DECIMAL_DIGITS, scale))


def _double_array(column: Column) -> pa.Array:
    import pyarrow as pa

    if column.is_whole:
        return pa.array([None if entry is None else int(entry) for entry in column.entries], pa.int64())  # type: ignore[arg-type]
    return pa.array([column.double(entry) for entry in column.entries], pa.float64())


def _pandas_series(column: Column, pandas: Any) -> Any:
    """The column in the dtype that pandas computes with; nullable where whole numbers or truth values are missing."""
    entries, kind = list(column.entries), _one_kind(column) if column.is_label else None
    has_gap = None in entries
    if column.is_whole and (kind is int or not column.is_label):
        whole = [None if entry is None else int(entry) for entry in entries]  # type: ignore[arg-type]
        return pandas.Series(whole, dtype="Int64" if has_gap else "int64")
    if not column.is_label:
        return pandas.Series([column.double(entry) for entry in entries], dtype="float64")
    if kind is bool:
        return pandas.Series(entries, dtype="boolean" if has_gap else "bool")
    if kind in (date, datetime):
        return pandas.Series(entries, dtype="datetime64[s]" if kind is date else "datetime64[us, UTC]")
    texts = [column.text(entry) for entry in entries]
    return pandas.Series(texts, dtype=None if texts else "str")


def import_frames(name: str) -> Any:
    """A package of data frames; where it is not installed, what to install."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"to_{name} must have the package {name}, got an environment without it", hint=f"pip install {name}"
        ) from None
