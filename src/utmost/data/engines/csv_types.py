"""CSV: a file of texts, and what the texts mean.

The first line names the columns. Values are parted by commas, may be quoted by ", and a quote inside quotes is doubled.
An empty value is NULL. A line with too few values has NULL for the rest; values beyond the last column are left out.

Each column has a kind, declared or found by reading the whole file, and a value means what its kind says: `12`, `+12`
and `12.0` are integers; a number is written in decimals with or without an exponent, or is `inf`; a truth is true, t,
yes, y, 1 or false, f, no, n, 0 in any case; a date is 2020-01-31; a time is a date, a blank or T, and 12:00, 12:00:00
or 12:00:00.5. **What does not fit its kind is NULL**, also an integer beyond 64 bits: a run that stopped at one row
would tell that the row is there. The rules are written in expressions that DuckDB and Spark read alike.
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

INTEGER = r"^[+-]?[0-9]+\z"
POINTED = r"^([+-]?[0-9]+)[.]0*\z"  # an integer written as a number
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\z|^[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?\z"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
TIME = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{CLOCK}\z"
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
KIND_PATTERNS = {
    ColumnKind.INTEGER: (INTEGER, "int64"),
    ColumnKind.NUMBER: (NUMBER, "float64"),
    ColumnKind.DATE: (DATE, "date"),
    ColumnKind.TIME: (TIME, "timestamp"),
}
FOUND = (
    ColumnKind.INTEGER,
    ColumnKind.NUMBER,
    ColumnKind.TRUTH,
    ColumnKind.DATE,
    ColumnKind.TIME,
)  # the first that fits every value; else text
FIRST = 10_000  # rows that kinds are suggested from
SAMPLE = 1000  # rows that rule kinds out before the whole file is read for those that are left


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The names of a CSV file's columns, and the kinds that were declared."""

    names: tuple[str, ...]
    declared: Mapping[str, ColumnKind]


def read_layout(path: Path, columns: Mapping[str, str]) -> CsvLayout:
    """The first line of the file, and the declared kinds of its columns."""
    names = _header(path)
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


def _header(path: Path) -> tuple[str, ...]:
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


def suggest_kinds(path: Path, rows: int = FIRST) -> dict[str, ColumnKind]:
    """Kinds that the first rows of a file fit, to be declared by somebody who knows the file; its rest is not read.

    Where it has no value in them, a column is suggested to be a text.
    """
    names = read_layout(path, {}).names
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        reader = csv.reader(lines)
        next(reader, None)
        try:
            found = list(islice(reader, rows))
        except csv.Error:
            found = []
    columns = [{row[place] for row in found if place < len(row)} - {""} for place in range(len(names))]
    return {name: _suggestion(texts) for name, texts in zip(names, columns, strict=True)}


def _suggestion(texts: set[str]) -> ColumnKind:
    kinds = _possible(list(texts)) if texts else []
    return next((kind for kind in kinds if kind is not ColumnKind.INTEGER or _are_small(texts)), ColumnKind.TEXT)


def _are_small(texts: set[str]) -> bool:
    """Do whole numbers fit in 64 bits."""
    return all(len(text.strip()) < 19 for text in texts)


def typed_columns(raw: Any, layout: CsvLayout, engine: Engine) -> Any:
    """The texts of the file as values of their kinds. In a file of one column an empty line is no row."""
    if len(layout.names) == 1:
        raw = raw.filter(raw[layout.names[0]].notnull())
    kinds = {**_found([name for name in layout.names if name not in layout.declared], raw, engine), **layout.declared}
    return raw.select(**{name: meaning(raw[name], kinds[name]) for name in layout.names})


def meaning(text: Any, kind: ColumnKind) -> Any:
    """What a text means as a value of a kind; NULL where it means nothing."""
    import ibis

    if kind is ColumnKind.TEXT:
        return text
    value = text.strip()
    if kind is ColumnKind.TRUTH:
        word = value.lower()
        return ibis.cases((word.isin(TRUE), True), (word.isin(FALSE), False), else_=ibis.null("boolean"))
    form, dtype = KIND_PATTERNS[kind]
    forms = [(value.re_search(form), value.try_cast(dtype))]
    if kind is ColumnKind.INTEGER:
        forms.append((value.re_search(POINTED), value.re_extract(POINTED, 1).try_cast(dtype)))
    return ibis.cases(*forms, else_=ibis.null(dtype))


def _found(names: list[str], raw: Any, engine: Engine) -> dict[str, ColumnKind]:
    """The kind of each column: the first that every value fits, which is integer for a column without a value."""
    sample = engine.rows(raw.select(*names).limit(SAMPLE)) if names else []
    left = {name: [*_possible([row[place] for row in sample]), ColumnKind.TEXT] for place, name in enumerate(names)}
    pending = names
    while pending:
        asked = {name: left[name][0] for name in pending if left[name][0] is not ColumnKind.TEXT}
        pending = _misfits(asked, raw, engine)
        for name in pending:
            left[name].pop(0)
    return {name: kinds[0] for name, kinds in left.items()}


def _possible(texts: Sequence[str | None]) -> list[ColumnKind]:
    """The kinds whose form all the texts have: those that some of the texts rule out need not be asked for."""
    words = [text.strip(" ").lower() for text in texts if text is not None]
    return [kind for kind in FOUND if all(_is_formed(word, kind) for word in words)]


def _is_formed(word: str, kind: ColumnKind) -> bool:
    if kind is ColumnKind.TRUTH or word == "nan":
        return word in ("true", "false") if kind is ColumnKind.TRUTH else kind is ColumnKind.NUMBER
    forms = [KIND_PATTERNS[kind][0], *([POINTED] if kind is ColumnKind.INTEGER else [])]
    return any(re.search(form.replace(r"\z", r"\Z"), word.upper()) for form in forms)


def _misfits(kinds: Mapping[str, ColumnKind], raw: Any, engine: Engine) -> list[str]:
    """The columns that have a value which is not of the kind given."""
    if not kinds:
        return []
    misses = {f"c{place}": (~_fits(raw[name], kind)).sum() for place, (name, kind) in enumerate(kinds.items())}
    return [name for name, number in zip(kinds, engine.numbers(raw.aggregate(**misses)), strict=True) if number]


def _fits(text: Any, kind: ColumnKind) -> Any:
    """Whether a text is missing or a value of the kind; of truths only true and false are, of numbers nan is too."""
    word = text.strip().lower()
    if kind is ColumnKind.TRUTH:
        return text.isnull() | word.isin(("true", "false"))
    fits = text.isnull() | meaning(text, kind).notnull()
    return fits | (word == "nan") if kind is ColumnKind.NUMBER else fits
