"""Derived columns: new columns that are computed row by row, each by an expression of the language of predicates.

Each row of the table becomes one row, by a function of that row alone which is total: so a table with derived columns
is 1-stable in rows, and every sensitivity stays what it is. A derived column may use others, in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from utmost.data.engines.engine import Engine
from utmost.data.engines.schema import column_kind, show_name
from utmost.data.predicates import Predicate, compile_expression, parse_expression
from utmost.data.predicates.syntax import ExpressionError
from utmost.errors import InputError

MAX_DERIVED_COLUMNS = 100
MAX_NAME_CHARS = 100


def parse_derivations(derive: Mapping[str, str]) -> dict[str, Predicate]:
    """The expressions of derived columns, by their names, each after those that it uses.

    >>> list(parse_derivations({"late": "delay > 15", "delay": "left - planned"}))
    ['delay', 'late']
    """
    if len(derive) > MAX_DERIVED_COLUMNS:
        raise InputError(f"derive must have at most {MAX_DERIVED_COLUMNS} columns, got {len(derive)}", "derive")
    expressions = {}
    for name, text in derive.items():
        _check_name(name)
        with name_column_in_errors(name):
            expressions[name] = parse_expression(text)
    return {name: expressions[name] for name in _sort_names(expressions)}


def add_columns(rows: Any, derivations: Mapping[str, Predicate], engine: Engine) -> Any:
    """The table with its derived columns, in the order that `parse_derivations` gives. Looks at no row.

    Columns that do not use each other are added at one go: the time that ibis takes grows with how deep tables nest.
    """
    pending = dict(derivations)
    while pending:
        kinds = {column: column_kind(dtype) for column, dtype in rows.schema().items()}
        new_columns: dict[str, Any] = {}
        for name, expression in [entry for entry in pending.items() if not entry[1].columns & pending.keys()]:
            check_new_name(name, [*rows.columns, *new_columns], f"derive.{name}")
            with name_column_in_errors(name):
                new_columns[name] = compile_expression(expression, rows, kinds, engine)
            del pending[name]
        rows = rows.mutate(*(column.name(name) for name, column in new_columns.items()))
    return rows


def check_new_name(name: str, columns: Any, field: str) -> None:
    """Refuse a new column that a table has already, by a name that engines may take for the same."""
    if name.lower() in {column.lower() for column in columns}:
        problem = f"{field} must be a new name, got that of a column (upper and lower case are the same)"
        raise InputError(problem, field, "rename it")


def needed_columns(derivations: Mapping[str, Predicate], columns: Collection[str]) -> dict[str, Predicate]:
    """Those derived columns that some columns are, or depend on, in the same order."""
    needed, size = set(columns), -1
    while size < len(needed):
        size = len(needed)
        needed |= {column for name in needed & derivations.keys() for column in derivations[name].columns}
    return {name: expression for name, expression in derivations.items() if name in needed}


def base_columns(
    derivations: Mapping[str, Predicate], known_bases: Mapping[str, frozenset[str]] | None = None
) -> dict[str, frozenset[str]]:
    """The columns of the table that each derived column depends on, given those of other new columns.

    >>> sorted(base_columns(parse_derivations({"a": "b + 1", "b": "x + y"}))["a"])
    ['x', 'y']
    """
    bases: dict[str, frozenset[str]] = dict(known_bases or {})
    for name, expression in derivations.items():
        bases[name] = frozenset().union(*(bases.get(column, {column}) for column in expression.columns))
    return bases


@contextmanager
def name_column_in_errors(name: str) -> Iterator[None]:
    """Say in errors of an expression which derived column it is of."""
    try:
        yield
    except ExpressionError as problem:
        raise problem.named(f"derive.{name}") from None
    except InputError as problem:
        raise problem.about(f"derive.{name}") from None


def _check_name(name: str) -> None:
    if not name.isprintable() or not name.strip() or len(name) > MAX_NAME_CHARS or "${" in name:
        problem = f"derive must have names of 1 to {MAX_NAME_CHARS} printable characters without ${{"
        raise InputError(problem, "derive", "rename the column")


def _sort_names(expressions: Mapping[str, Predicate]) -> list[str]:
    """The names, each after those that its expression uses; a cycle is refused with its names."""
    names: list[str] = []
    pending = dict(expressions)
    while pending:
        ready = [name for name, expression in pending.items() if not expression.columns & pending.keys()]
        if not ready:
            names_in_cycle = _find_cycle(pending)
            cycle = ", ".join(show_name(name) for name in names_in_cycle)
            hint = "give the new column another name" if len(names_in_cycle) == 1 else "break it"
            raise InputError(f"derive must not go round in a circle, got {cycle}", "derive", hint)
        names += ready
        for name in ready:
            del pending[name]
    return names


def _find_cycle(pending: Mapping[str, Predicate]) -> list[str]:
    """The names of one cycle: whoever goes on to a column that is pending returns at last."""
    path = [next(iter(pending))]
    while path[-1] not in path[:-1]:
        path.append(min(pending[path[-1]].columns & pending.keys()))
    return path[path.index(path[-1]) :]
