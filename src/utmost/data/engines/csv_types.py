"""Read CSV files: the kinds of their columns and the values that their texts mean.

The first line names the columns. Values are parted by commas, may be quoted by ", and a quote inside quotes is doubled.
An empty value is NULL. A line with too few values has NULL for the rest; values beyond the last column are left out.

Each column has a kind, declared or found by reading the whole file, and a value means what its kind says: `12`, `+12`
and `12.0` are integers; a number is written in decimals with or without an exponent, or is `inf`; a truth is true, t,
yes, y, 1 or false, f, no, n, 0 in any case; a date is 2020-01-31; a time is a date, a blank or T, and 12:00, 12:00:00
or 12:00:00.5. **What does not fit its kind is NULL**, also an integer beyond 64 bits: a run that stopped at one row
would reveal that the row is there. The rules are written in expressions that DuckDB and Spark read alike.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from utmost.data.column_kinds import ColumnKind
from utmost.data.engines.engine import Engine
from utmost.data.engines.table_names import suggestion
from utmost.errors import InputError

INTEGER_PATTERN = r"^[+-]?[0-9]+\z"
POINTED_INTEGER_PATTERN = r"^([+-]?[0-9]+)[.]0*\z"  # an integer written as a number
NUMBER_PATTERN = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\z|^[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?\z"
DATE_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
CLOCK_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
TIME_PATTERN = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{CLOCK_PATTERN}\z"
TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
KIND_PATTERNS = {
    ColumnKind.INTEGER: (INTEGER_PATTERN, "int64"),
    ColumnKind.NUMBER: (NUMBER_PATTERN, "float64"),
    ColumnKind.DATE: (DATE_PATTERN, "date"),
    ColumnKind.TIME: (TIME_PATTERN, "timestamp"),
}
DETECTABLE_KINDS = (  # a column is of the first that fits every value; else text
    ColumnKind.INTEGER,
    ColumnKind.NUMBER,
    ColumnKind.TRUTH,
    ColumnKind.DATE,
    ColumnKind.TIME,
)
SUGGESTION_ROWS = 10_000  # rows that kinds are suggested from
DETECTION_SAMPLE_ROWS = 1000  # rows that rule kinds out before the whole file is read for those that are left


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The names of a CSV file's columns, and the kinds that were declared."""

    names: tuple[str, ...]
    declared: Mapping[str, ColumnKind]


def read_layout(path: Path, columns: Mapping[str, str]) -> CsvLayout:
    """The first line of the file, and the declared kinds of its columns."""
    names = _read_header(path)
    lower = [name.lower() for name in names]
    if "" in lower or len(set(lower)) < len(lower):
        raise InputError(
            f"location must have a first line of distinct column names, got a repeated or an empty one in "
            f"{path.name!r} (upper and lower case are the same): name its columns"
        )
    for name, kind in columns.items():
        if name not in names:
            raise InputError(f"columns must name columns of the file, got {name!r}{suggestion(name, names)}")
        if kind not in (*KIND_PATTERNS, ColumnKind.TRUTH, ColumnKind.TEXT):
            raise InputError(f"columns must be integer, number, text, truth, date or time, got {kind!r} for {name}")
    return CsvLayout(names, {name: ColumnKind(kind) for name, kind in columns.items()})


def _read_header(path: Path) -> tuple[str, ...]:
    """The names in the first line, without a byte order mark."""
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            names = tuple(next(csv.reader(lines), ()))
        "".join(names).encode()
    except (OSError, ValueError, csv.Error):
        names = ()
    if not names:
        raise InputError(f"location must be a CSV file in UTF-8 whose first line names its columns, got {path.name!r}")
    return names


def suggest_kinds(path: Path, rows: int = SUGGESTION_ROWS) -> dict[str, ColumnKind]:
    """Kinds that the first rows of a file fit, to be declared by somebody who knows the file; its rest is not read.

    Where it has no value in them, a column is suggested to be a text.
    """
    names = read_layout(path, {}).names
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        reader = csv.reader(lines)
        next(reader, None)
        try:
            first_rows = list(islice(reader, rows))
        except csv.Error:
            first_rows = []
    columns = [{row[index] for row in first_rows if index < len(row)} - {""} for index in range(len(names))]
    return {name: _suggest_kind(texts) for name, texts in zip(names, columns, strict=True)}


def _suggest_kind(texts: set[str]) -> ColumnKind:
    kinds = _possible_kinds(list(texts)) if texts else []
    return next((kind for kind in kinds if kind is not ColumnKind.INTEGER or _fit_int64(texts)), ColumnKind.TEXT)


def _fit_int64(texts: set[str]) -> bool:
    """Do whole numbers fit in 64 bits."""
    return all(len(text.strip()) < 19 for text in texts)


def typed_columns(raw: Any, layout: CsvLayout, engine: Engine) -> Any:
    """The texts of the file as values of their kinds. In a file of one column an empty line is no row."""
    if len(layout.names) == 1:
        raw = raw.filter(raw[layout.names[0]].notnull())
    kinds = {
        **_detect_kinds([name for name in layout.names if name not in layout.declared], raw, engine),
        **layout.declared,
    }
    return raw.select(**{name: parse_value(raw[name], kinds[name]) for name in layout.names})


def parse_value(text: Any, kind: ColumnKind) -> Any:
    """What a text means as a value of a kind; NULL where it means nothing."""
    import ibis

    if kind is ColumnKind.TEXT:
        return text
    value = text.strip()
    if kind is ColumnKind.TRUTH:
        word = value.lower()
        return ibis.cases((word.isin(TRUE_WORDS), True), (word.isin(FALSE_WORDS), False), else_=ibis.null("boolean"))
    pattern, dtype = KIND_PATTERNS[kind]
    cases = [(value.re_search(pattern), value.try_cast(dtype))]
    if kind is ColumnKind.INTEGER:
        cases.append(
            (value.re_search(POINTED_INTEGER_PATTERN), value.re_extract(POINTED_INTEGER_PATTERN, 1).try_cast(dtype))
        )
    return ibis.cases(*cases, else_=ibis.null(dtype))


def _detect_kinds(names: list[str], raw: Any, engine: Engine) -> dict[str, ColumnKind]:
    """The kind of each column: the first that every value fits, which is integer for a column without a value."""
    sample = engine.rows(raw.select(*names).limit(DETECTION_SAMPLE_ROWS)) if names else []
    candidates = {
        name: [*_possible_kinds([row[index] for row in sample]), ColumnKind.TEXT] for index, name in enumerate(names)
    }
    pending = names
    while pending:
        tested_kinds = {name: candidates[name][0] for name in pending if candidates[name][0] is not ColumnKind.TEXT}
        pending = _misfit_columns(tested_kinds, raw, engine)
        for name in pending:
            candidates[name].pop(0)
    return {name: kinds[0] for name, kinds in candidates.items()}


def _possible_kinds(texts: Sequence[str | None]) -> list[ColumnKind]:
    """The kinds whose pattern all the texts match: those that some of the texts rule out need not be tested."""
    values = [text.strip(" ").lower() for text in texts if text is not None]
    return [kind for kind in DETECTABLE_KINDS if all(_has_form(value, kind) for value in values)]


def _has_form(value: str, kind: ColumnKind) -> bool:
    if kind is ColumnKind.TRUTH or value == "nan":
        return value in ("true", "false") if kind is ColumnKind.TRUTH else kind is ColumnKind.NUMBER
    patterns = [KIND_PATTERNS[kind][0], *([POINTED_INTEGER_PATTERN] if kind is ColumnKind.INTEGER else [])]
    return any(re.search(pattern.replace(r"\z", r"\Z"), value.upper()) for pattern in patterns)


def _misfit_columns(kinds: Mapping[str, ColumnKind], raw: Any, engine: Engine) -> list[str]:
    """The columns that have a value which is not of the kind given."""
    if not kinds:
        return []
    misfit_counts = {
        f"c{index}": (~_fits_kind(raw[name], kind)).sum() for index, (name, kind) in enumerate(kinds.items())
    }
    return [name for name, count in zip(kinds, engine.numbers(raw.aggregate(**misfit_counts)), strict=True) if count]


def _fits_kind(text: Any, kind: ColumnKind) -> Any:
    """Whether a text is missing or a value of the kind; of truths only true and false are, of numbers nan is too."""
    word = text.strip().lower()
    if kind is ColumnKind.TRUTH:
        return text.isnull() | word.isin(("true", "false"))
    fits = text.isnull() | parse_value(text, kind).notnull()
    return fits | (word == "nan") if kind is ColumnKind.NUMBER else fits
