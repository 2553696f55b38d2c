"""Find the table of a database that a name means."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from utmost.errors import InputError

MAX_LISTED_NAMES = 20


def find_table(table: str | None, tables: Sequence[tuple[str, str]], default_schema: str) -> tuple[str, str]:
    """(schema, name) of `table` among the (schema, name) there are: a name of the default schema, or schema.name.

    >>> find_table("people", [("main", "people"), ("old", "people")], "main")
    ('main', 'people')
    >>> find_table("old.people", [("main", "people"), ("old", "people")], "main")
    ('old', 'people')
    """
    tables_by_name = {
        name if schema == default_schema else f"{schema}.{name}": (schema, name) for schema, name in tables
    }
    tables_by_name |= {
        f"{schema}.{name}": (schema, name) for schema, name in tables if f"{schema}.{name}" not in tables_by_name
    }
    if table is not None and table in tables_by_name:
        return tables_by_name[table]
    names = listed_names(tables, default_schema)
    got = "got none" if table is None else f"got {table!r}"
    raise InputError(f"table must be one of {format_names(names)}, {got}{suggestion(table, names)}")


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
    return ", ".join(names[:MAX_LISTED_NAMES]) + more


def suggestion(name: str | None, names: Sequence[str]) -> str:
    """A question after the nearest name, or what to do.

    >>> suggestion("agge", ["age", "vote"])
    ': did you mean age?'
    """
    names_by_lowercase = {candidate.lower(): candidate for candidate in names}
    matches = get_close_matches((name or "").lower(), list(names_by_lowercase), n=1)
    return f": did you mean {names_by_lowercase[matches[0]]}?" if matches else ": name one of those"
