"""Read CSV files: the kinds of their columns and the values that their texts mean.

The first line names the columns, and every other line is one row (`csv_scan` refuses files of which that is not so).
Values are parted by commas, may be quoted by ", and a quote inside quotes is doubled. An empty value is NULL. A line
with too few values has NULL for the rest; values beyond the last column are left out.

Each column has a kind, declared or found by reading the whole file, and a value means what its kind says: `12`, `+12`
and `12.0` are integers; a number is written in decimals with or without an exponent, or is `inf`; a truth is true, t,
yes, y, 1 or false, f, no, n, 0 in any case; a date is 2020-01-31; a time is a date, which is its midnight, or a date, a
blank or T, and 12:00, 12:00:00 or 12:00:00.5, with or without Z or an offset such as +02:00, +0200 or +02. A time with
an offset is that instant in UTC, one without is taken as it stands. **What does not fit its kind is NULL**, also an
integer beyond 64 bits: a run that stopped at one row would reveal that the row is there. The rules are written in
expressions that DuckDB and Spark read alike.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from utmost.data.engines.engine import Connection
from utmost.data.engines.expressions import text_literal
from utmost.data.engines.schema import ColumnKind, format_names, separator_advice, suggestion
from utmost.errors import DataError, InputError

INTEGER_PATTERN = r"^[+-]?[0-9]+\z"
POINTED_INTEGER_PATTERN = r"^([+-]?[0-9]+)[.]0*\z"  # an integer written as a number
NUMBER_PATTERN = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\z|^[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?\z"
DATE_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
CLOCK_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
DATE_AND_CLOCK_PATTERN = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{CLOCK_PATTERN}"
LOCAL_TIME_PATTERN = rf"{DATE_PATTERN}|{DATE_AND_CLOCK_PATTERN}\z"
ZONED_TIME_PATTERN = rf"{DATE_AND_CLOCK_PATTERN}(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)\z"
MINUTE_LENGTH = 16  # characters of 2020-01-31T12:00
SECONDS_PATTERN = rf"^.{{{MINUTE_LENGTH}}}(:[0-9.]+)"
OFFSET_HOURS_PATTERN = r":[0-9.]+([+-][0-9]{2}):?[0-9]*\z"
OFFSET_MINUTES_PATTERN = r":[0-9.]+[+-][0-9]{2}:?([0-9]{2})\z"
TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
KIND_PATTERNS = {
    ColumnKind.INTEGER: (INTEGER_PATTERN, "int64"),
    ColumnKind.NUMBER: (NUMBER_PATTERN, "float64"),
    ColumnKind.DATE: (DATE_PATTERN, "date"),
    ColumnKind.TIME: (f"{LOCAL_TIME_PATTERN}|{ZONED_TIME_PATTERN}", "timestamp"),
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
TESTS_PER_SCAN = 20  # columns that are tested in one aggregate


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The names of a CSV file's columns, the declared kinds, the columns that are read, the texts that mean NULL."""

    names: tuple[str, ...]
    declared: Mapping[str, ColumnKind]
    read: tuple[str, ...]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def guessed_columns(self) -> frozenset[str]:
        """The columns whose kinds are found by reading the file."""
        return frozenset(self.names) - frozenset(self.declared)


def read_layout(
    path: Path,
    columns: Mapping[str, str],
    missing: Mapping[str, tuple[str, ...]] | None = None,
    used: Set[str] | None = None,
    new_names: Set[str] = frozenset(),
) -> CsvLayout:
    """The first line of the file, and the declared kinds of its columns.

    All columns are read where `used` is None or names one that the file has not: it may be made of any of them.
    """
    names = _read_header(path)
    lower = [name.lower() for name in names]
    if "" in lower or len(set(lower)) < len(lower):
        raise InputError(
            "location must have a first line of distinct column names, got a repeated or an empty one in "
            f"{path.name!r} (upper and lower case are the same)",
            "location",
            "name its columns",
        )
    for name, kind in columns.items():
        if name not in names:
            there_are = f"; the columns are {format_names(names)}{separator_advice(names)}"
            raise InputError(
                f"columns must name columns of the file, got {name!r}{suggestion(name, names)}{there_are}", "columns"
            )
        if kind not in (*KIND_PATTERNS, ColumnKind.TRUTH, ColumnKind.TEXT):
            raise InputError(
                f"columns must be integer, number, text, truth, date or time, got {kind!r} for {name}", "columns"
            )
    taken = {name.lower() for name in new_names}
    read = tuple(
        name for name in names if used is None or not used <= set(names) or name in used or name.lower() in taken
    )
    kinds = {name: ColumnKind(kind) for name, kind in columns.items()}
    return CsvLayout(names, kinds, read or names[:1], missing or {})


def _read_header(path: Path) -> tuple[str, ...]:
    """The names in the first line, without a byte order mark."""
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            names = tuple(next(csv.reader(lines), ()))
        "".join(names).encode()
    except (OSError, ValueError, csv.Error):
        names = ()
    if not names:
        raise InputError(
            f"location must be a CSV file in UTF-8 whose first line names its columns, got {path.name!r}", "location"
        )
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


def mask_missing(raw: Any, layout: CsvLayout) -> Any:
    """The texts of the file, with NULL for those that mean that a value is missing; blanks at the ends do not count."""
    import ibis

    masked = [
        ibis.cases(
            (raw[name].strip().isin([text_literal(marker.strip()) for marker in markers]), ibis.null("string")),
            else_=raw[name],
        ).name(name)
        for name, markers in layout.missing.items()
        if markers and name in layout.read
    ]
    return raw.mutate(*masked) if masked else raw


def typed_columns(raw: Any, layout: CsvLayout, connection: Connection) -> Any:
    """The texts of the file as values of their kinds, of the columns that are read."""
    kinds = {
        **_detect_kinds([name for name in layout.read if name not in layout.declared], raw, connection),
        **layout.declared,
    }
    return raw.select(*(parse_value(raw[name], kinds[name]).name(name) for name in layout.read))


def parse_value(text: Any, kind: ColumnKind) -> Any:
    """What a text means as a value of a kind; NULL where it means nothing.

    A text in its usual form is read as it stands, which saves most of the time: blanks around it are only looked for
    where it is not, and without blanks both ways are the same.
    """
    import ibis

    if kind is ColumnKind.TEXT:
        return text
    is_usual, value = _usual_form(text, kind)
    return ibis.cases((is_usual, value), else_=_parse_stripped(text.strip(), kind))


def _usual_form(text: Any, kind: ColumnKind) -> tuple[Any, Any]:
    """Whether a text has the usual form of its kind, without blanks around it, and its value if so.

    An integer has it that is written as the engine writes it, which engines test faster than a pattern.
    """
    if kind is ColumnKind.TRUTH:
        return text.isin((*TRUE_WORDS, *FALSE_WORDS)), text.isin(TRUE_WORDS)
    dtype = KIND_PATTERNS[kind][1]
    value = text.try_cast(dtype)
    if kind is ColumnKind.INTEGER:
        return value.cast("string") == text, value
    return text.re_search(LOCAL_TIME_PATTERN if kind is ColumnKind.TIME else KIND_PATTERNS[kind][0]), value


def _parse_stripped(value: Any, kind: ColumnKind) -> Any:
    """What a text without blanks around it means."""
    import ibis

    if kind is ColumnKind.TRUTH:
        word = value.lower()
        return ibis.cases((word.isin(TRUE_WORDS), True), (word.isin(FALSE_WORDS), False), else_=ibis.null("boolean"))
    pattern, dtype = KIND_PATTERNS[kind]
    if kind is ColumnKind.TIME:
        return _parse_time(value)
    cases = [(value.re_search(pattern), value.try_cast(dtype))]
    if kind is ColumnKind.INTEGER:
        cases.append(
            (value.re_search(POINTED_INTEGER_PATTERN), value.re_extract(POINTED_INTEGER_PATTERN, 1).try_cast(dtype))
        )
    return ibis.cases(*cases, else_=ibis.null(dtype))


def _parse_time(value: Any) -> Any:
    """A time as it stands, or the instant in UTC of one with an offset, which is first written as ±HH:MM."""
    import ibis

    def extract(pattern: str, default: str) -> Any:
        return value.re_extract(pattern, 1).nullif("").fill_null(default)

    minute, seconds = value.substr(0, MINUTE_LENGTH), extract(SECONDS_PATTERN, ":00")
    offset = extract(OFFSET_HOURS_PATTERN, "+00") + ":" + extract(OFFSET_MINUTES_PATTERN, "00")
    instant = (minute + seconds + offset).try_cast("timestamp('UTC')").cast("timestamp")
    return ibis.cases(
        (value.re_search(LOCAL_TIME_PATTERN), value.try_cast("timestamp")),
        (value.re_search(ZONED_TIME_PATTERN), instant),
        else_=ibis.null("timestamp"),
    )


def check_row_count(raw: Any, connection: Connection, rows: int, path: Path) -> None:
    """Refuse a file of which the engine makes more or fewer rows than it has lines after the first."""
    if connection.numbers(raw.aggregate(rows=raw.count())) != (rows,):
        raise DataError(
            f"location must be a CSV file of which {connection.engine.name} makes one row of each line, got "
            f"{path.name!r}, of which it does not: convert it to Parquet"
        )


def count_unreadable(kinds: Mapping[str, ColumnKind], raw: Any, connection: Connection) -> dict[str, int]:
    """How many texts of each column are neither blank nor a value of its kind, nor `nan` in one of numbers."""
    tests = {name: _is_readable(raw[name], kind) for name, kind in kinds.items() if kind is not ColumnKind.TEXT}
    return {name: count for name, count in _count_false(tests, raw, connection).items() if count}


def fitting_kinds(names: Sequence[str], raw: Any, connection: Connection) -> dict[str, list[ColumnKind]]:
    """The kinds that every text of a column fits which is neither missing nor blank; text is always one."""
    tests = {f"{kind} {name}": _is_readable(raw[name], kind) for name in names for kind in DETECTABLE_KINDS}
    counts = _count_false(tests, raw, connection)
    kinds = {name: [kind for kind in DETECTABLE_KINDS if not counts[f"{kind} {name}"]] for name in names}
    return {name: [*fitting, ColumnKind.TEXT] for name, fitting in kinds.items()}


def frequent_misfits(
    name: str, kind: ColumnKind, raw: Any, connection: Connection, limit: int
) -> list[tuple[str, int]]:
    """The texts of a column that are most often no value of its kind, and how often, the most frequent first."""
    import ibis

    texts = raw.filter(~_is_readable(raw[name], kind)).select(text=raw[name])
    counts = texts.group_by("text").aggregate(size=texts.count())
    ordered_counts = counts.order_by([ibis.desc("size"), "text"]).limit(limit)
    return [(str(text), int(size)) for text, size in connection.rows(ordered_counts)]


def _count_false(tests: Mapping[str, Any], raw: Any, connection: Connection) -> dict[str, int]:
    """How often each test fails; an engine's time to plan one aggregate grows with the square of its tests."""
    names = list(tests)
    counts: list[int] = []
    for start in range(0, len(names), TESTS_PER_SCAN):
        batch = names[start : start + TESTS_PER_SCAN]
        failures = {f"c{index}": (~tests[name]).sum() for index, name in enumerate(batch)}
        counts += connection.numbers(raw.aggregate(**failures))
    return dict(zip(names, counts, strict=True))


def _detect_kinds(names: list[str], raw: Any, connection: Connection) -> dict[str, ColumnKind]:
    """The kind of each column: the first that every value fits, which is integer for a column without a value."""
    sample = connection.rows(raw.select(*names).limit(DETECTION_SAMPLE_ROWS)) if names else []
    candidates = {
        name: [*_possible_kinds([row[index] for row in sample]), ColumnKind.TEXT] for index, name in enumerate(names)
    }
    pending = names
    while pending:
        tested_kinds = {name: candidates[name][0] for name in pending if candidates[name][0] is not ColumnKind.TEXT}
        pending = _misfit_columns(tested_kinds, raw, connection)
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


def _misfit_columns(kinds: Mapping[str, ColumnKind], raw: Any, connection: Connection) -> list[str]:
    """The columns that have a value which is not of the kind given."""
    tests = {name: _is_typical(raw[name], kind) for name, kind in kinds.items()}
    return [name for name, count in _count_false(tests, raw, connection).items() if count]


def _is_typical(text: Any, kind: ColumnKind) -> Any:
    """Whether a text may be in a column that is found to be of the kind: of truths, only true and false may."""
    if kind is ColumnKind.TRUTH:
        return text.isnull() | text.strip().lower().isin(("true", "false"))
    return _is_readable(text, kind) & (text.isnull() | (text.strip() != ""))


def _is_readable(text: Any, kind: ColumnKind) -> Any:
    """Whether a text is missing, blank or a value of the kind; of numbers nan is one."""
    import ibis

    words = ("", "nan") if kind is ColumnKind.NUMBER else ("",)
    is_known = text.isnull() | parse_value(text, kind).notnull()
    return ibis.cases((is_known, True), else_=text.strip().lower().isin(words))
