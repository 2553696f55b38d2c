"""Which table of a database is meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from utmost.errors import InputError

MOST_NAMES = 20


def find_table(table: str | None, tables: Sequence[tuple[str, str]], default: str) -> tuple[str, str]:
    """(schema, name) of `table` among the (schema, name) there are: a name of the default schema, or schema.name.

    >>> find_table("people", [("main", "people"), ("old", "people")], "main")
    ('main', 'people')
    >>> find_table("old.people", [("main", "people"), ("old", "people")], "main")
    ('old', 'people')
    """
    places = {name if schema == default else f"{schema}.{name}": (schema, name) for schema, name in tables}
    places |= {f"{schema}.{name}": (schema, name) for schema, name in tables if f"{schema}.{name}" not in places}
    if table is not None and table in places:
        return places[table]
    short = listed_names(tables, default)
    got = "got none" if table is None else f"got {table!r}"
    raise InputError(f"table must be one of {listed(short)}, {got}{suggestion(table, short)}")


def listed_names(tables: Sequence[tuple[str, str]], default: str) -> list[str]:
    """The tables' names, in order, those of other schemas with them.

    >>> listed_names([("main", "people"), ("old", "people")], "main")
    ['old.people', 'people']
    """
    return sorted(name if schema == default else f"{schema}.{name}" for schema, name in tables)


def listed(names: Sequence[str]) -> str:
    """The names, at most twenty of them.

    >>> listed([])
    'none (there are none)'
    """
    if not names:
        return "none (there are none)"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def suggestion(name: str | None, names: Sequence[str]) -> str:
    """A question after the nearest name, or what to do.

    >>> suggestion("agge", ["age", "vote"])
    ': did you mean age?'
    """
    lower = {known.lower(): known for known in names}
    near = get_close_matches((name or "").lower(), list(lower), n=1)
    return f": did you mean {lower[near[0]]}?" if near else ": name one of those"
