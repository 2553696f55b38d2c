"""Tables and columns as all engines name them: the table that a name means, the kinds of columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING

from utmost.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.datatypes import DataType


class ColumnKind(StrEnum):
    """A column's kind. `number` is a float or a decimal, `time` a date with a time of day, `other` all the rest."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    DATE = "date"
    TIME = "time"
    OTHER = "other"


def column_kind(dtype: DataType) -> ColumnKind:
    """The kind of an ibis type.

    >>> import ibis
    >>> [str(column_kind(dtype)) for dtype in ibis.schema({"a": "uint8", "b": "decimal(9, 2)", "c": "time"}).values()]
    ['integer', 'number', 'other']
    """
    if dtype.is_integer():
        return ColumnKind.INTEGER
    if dtype.is_float32() or dtype.is_float64() or dtype.is_decimal():
        return ColumnKind.NUMBER
    if dtype.is_string():
        return ColumnKind.TEXT
    if dtype.is_boolean():
        return ColumnKind.TRUTH
    if dtype.is_date():
        return ColumnKind.DATE
    return ColumnKind.TIME if dtype.is_timestamp() else ColumnKind.OTHER


MAX_LISTED_NAMES = 20
MAX_SHOWN_CHARS = 60  # of a name in a message
SEPARATORS = {";": ";", "\t": "a tab", "|": "|"}  # of values in files that are not CSV, and how they are called


def find_table(table: str | None, tables: Sequence[tuple[str, str]], default_schema: str) -> tuple[str, str]:
    """(schema, name) of `table` among the (schema, name) there are: a name of the default schema, or schema.name.

    A name that fits several is refused: whoever may make a table "old.people" would else take the place of old.people.

    >>> find_table("people", [("main", "people"), ("old", "people")], "main")
    ('main', 'people')
    >>> find_table("old.people", [("main", "people"), ("old", "people")], "main")
    ('old', 'people')
    """
    fits = sorted(
        {
            (schema, name)
            for schema, name in tables
            if table == f"{schema}.{name}" or (schema, name) == (default_schema, table)
        }
    )
    if len(fits) > 1:
        tables_in_words = " and ".join(f"{show_name(name)} of schema {show_name(schema)}" for schema, name in fits)
        raise InputError(
            f"table must name one table, got {table!r}, which can be {tables_in_words}", "table", "rename one of them"
        )
    if fits:
        return fits[0]
    names = listed_names(tables, default_schema)
    got = "got none" if table is None else f"got {table!r}"
    raise InputError(f"table must be one of {format_names(names)}, {got}{suggestion(table, names)}", "table")


def listed_names(tables: Sequence[tuple[str, str]], default_schema: str) -> list[str]:
    """The tables' names, in order, those of other schemas with them.

    >>> listed_names([("main", "people"), ("old", "people")], "main")
    ['old.people', 'people']
    """
    return sorted(name if schema == default_schema else f"{schema}.{name}" for schema, name in tables)


def format_names(names: Sequence[str]) -> str:
    """The names, at most twenty of them.

    >>> format_names([])
    'none (there are none)'
    """
    if not names:
        return "none (there are none)"
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return ", ".join(map(show_name, names[:MAX_LISTED_NAMES])) + more


def show_name(name: str) -> str:
    r"""A name on one line: in quotes, shortened and escaped where it is long or does not print.

    >>> show_name("age"), show_name("a\tb")
    ('age', "'a\\tb'")
    """
    return name if name.isprintable() and len(name) <= MAX_SHOWN_CHARS else repr(name[:MAX_SHOWN_CHARS])


def separator_advice(names: Collection[str]) -> str:
    r"""What to do where the one name that a table has is probably a whole line of a CSV file.

    >>> separator_advice(["id;region"]), separator_advice(["id", "a;b"])
    ('; the values of a CSV file must be separated by commas, and its one column has ; in its name', '')
    """
    separator = next((sign for sign in SEPARATORS if len(names) == 1 and sign in next(iter(names))), None)
    if separator is None:
        return ""
    problem = f"and its one column has {SEPARATORS[separator]} in its name"
    return f"; the values of a CSV file must be separated by commas, {problem}"


def suggestion(name: str | None, names: Sequence[str]) -> str:
    """A question after the nearest name, or what to do.

    >>> suggestion("agge", ["age", "vote"])
    ': did you mean age?'
    """
    names_by_lowercase = {candidate.lower(): candidate for candidate in names}
    matches = get_close_matches((name or "").lower(), list(names_by_lowercase), n=1)
    return f": did you mean {show_name(names_by_lowercase[matches[0]])}?" if matches else ": name one of those"
