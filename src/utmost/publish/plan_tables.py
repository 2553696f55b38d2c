"""Tables in plans: `[[table]]` is read here and checked; `table_specs` makes a query of each level.

Whether the levels fit together is decided from the declared keys alone: no row can change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod
from typing import TYPE_CHECKING, Any

from utmost.data.cells import MAX_CELLS, Grouping
from utmost.errors import InputError
from utmost.exact.input_text import Fields
from utmost.publish.key_files import CELLS, COLUMNS, lists_combinations
from utmost.queries.keys import check_key, key_name, parse_keys
from utmost.queries.tables import CountTable, KnownTotal, Level
from utmost.registry import similar_name

if TYPE_CHECKING:
    from utmost.data.selection import Key

MAX_LEVELS = 100
MAX_TOTAL = 10**18  # rows of a known total
MARGINALS = "marginals"  # all levels of up to so many columns
DEFAULT_WORKLOAD = "levels"
WORKLOADS = ("levels", "cells", "prefix", "ranges", MARGINALS)
MAX_SHARE = 10**6

Combinations = tuple[tuple["Key", ...], ...]


def parse_count_table(name: str, fields: Fields) -> tuple[CountTable, dict[str, Any], tuple[Fraction, ...] | None, str]:
    """A table, the plan's entries for it, the shares of its levels if they are given, and its workload."""
    key_fields, other = fields.table("keys"), fields.truth("other", False)
    keys, listed, key_entries = _parse_combinations(key_fields, fields)
    zeros = _parse_zeros(fields, keys)
    grouping = _grouping(keys, listed, zeros, other, fields)
    levels = _parse_levels(fields, grouping, key_entries.get(COLUMNS, ()))
    table = CountTable(name, grouping, levels, fields.text("where", None))
    table = replace(table, totals=_parse_totals(fields, table))
    shares, workload = _parse_shares(fields, len(levels)), _parse_workload(fields, table)
    entries = {
        "keys": key_entries,
        "levels": [list(level) for level in levels],
        "other": True if other else None,
        "zeros": [dict(zero) for zero in zeros] or None,
        "totals": [_total_entry(total) for total in table.totals] or None,
        "where": table.where,
        "workload": None if workload == DEFAULT_WORKLOAD else workload,
        "shares": None if shares is None else list(shares),
    }
    return table, entries, shares, workload


# Keys


def _parse_combinations(
    key_fields: Fields, fields: Fields
) -> tuple[dict[str, tuple[Key, ...]], Combinations | None, dict[str, Any]]:
    """The keys of each column, the combinations that are listed if some are, and both as a plan has them."""
    if not lists_combinations({column: key_fields.raw(column) for column in key_fields.columns()}):
        crossed = {column: parse_keys(key_fields, column) for column in key_fields.columns()}
        return crossed, None, {column: list(values) for column, values in crossed.items()}
    columns, rows = _combined_columns(key_fields), _combination_rows(key_fields)
    crossed = {c: parse_keys(key_fields, c) for c in key_fields.columns() if c not in (COLUMNS, CELLS)}
    if set(columns) & set(crossed):
        raise fields.error("keys", "must have each column once", "take it out of columns, or of the others")
    keys = {column: tuple(dict.fromkeys(row[k] for row in rows)) for k, column in enumerate(columns)} | crossed
    size = len(rows) * prod(map(len, crossed.values()))
    if size > MAX_CELLS:
        raise fields.error("keys", f"must make at most {MAX_CELLS} cells, got {size}", "list fewer values")
    listed = tuple((*row, *rest) for row in rows for rest in product(*crossed.values()))
    entries = {COLUMNS: list(columns), CELLS: [list(row) for row in rows]}
    return keys, listed, entries | {column: list(values) for column, values in crossed.items()}


def _combined_columns(key_fields: Fields) -> tuple[str, ...]:
    columns = key_fields.items(COLUMNS)
    if not columns or not all(isinstance(c, str) for c in columns) or len(set(columns)) < len(columns):
        raise key_fields.error(COLUMNS, "must be a list of different columns, the coarsest first")
    return tuple(columns)


def _combination_rows(key_fields: Fields) -> list[tuple[Key, ...]]:
    """The combinations, each once; refused where a key is missing: its rows would be in no finest cell."""
    columns, rows = key_fields.items(COLUMNS), key_fields.items(CELLS)
    combined = []
    for row in rows:
        if not isinstance(row, list) or len(row) != len(columns):
            raise key_fields.error(CELLS, f"must be lists of {len(columns)} keys each, one for each of columns")
        combined.append(tuple(check_key(key, f"keys of {c}", f"keys.{c}") for key, c in zip(row, columns, strict=True)))
    if not combined:
        raise key_fields.error(CELLS, "must be at least one combination, got none")
    if len(set(combined)) < len(combined):
        repeated = Counter(combined).most_common(1)[0][0]
        names = ", ".join(key_name(key)[:40] for key in repeated)
        raise key_fields.error(CELLS, f"must be different combinations, got {names} twice", "take one out")
    return combined


def _grouping(
    keys: dict[str, tuple[Key, ...]],
    listed: Combinations | None,
    zeros: Sequence[Mapping[str, Key]],
    other: bool,
    fields: Fields,
) -> Grouping:
    """The finest cells: the listed combinations, or all, but for structural zeros."""
    try:
        grouping = Grouping(keys, other, listed)
    except InputError as problem:
        raise fields.locate(problem) from None
    if not zeros:
        return grouping
    cells, columns = grouping.cells[: len(grouping.cells) - other], list(keys)
    forbidden = _zero_tests(zeros, columns)
    left = tuple(cell for cell in cells if not any(_project(cell, places) in names for places, names in forbidden))
    if not left:
        raise fields.error("zeros", "must leave at least one cell, got none left", "take some out")
    kept = {column: tuple(dict.fromkeys(cell[k] for cell in left)) for k, column in enumerate(columns)}
    return Grouping(kept, other, left)  # type: ignore[arg-type]


def _zero_tests(
    zeros: Sequence[Mapping[str, Key]], columns: list[str]
) -> list[tuple[tuple[int, ...], set[tuple[Any, ...]]]]:
    """The places of the columns of zeros, and their keys there."""
    tests: dict[tuple[int, ...], set[tuple[Any, ...]]] = {}
    for zero in zeros:
        places = tuple(k for k, column in enumerate(columns) if column in zero)
        tests.setdefault(places, set()).add(tuple(zero[columns[k]] for k in places))
    return list(tests.items())


def _project(cell: Sequence[Any], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(cell[k] for k in places)


def _parse_zeros(fields: Fields, keys: Mapping[str, tuple[Key, ...]]) -> list[dict[str, Key]]:
    """Cells that can have no row: a key for each of some columns."""
    zeros = fields.items("zeros") if fields.raw("zeros", None) is not None else []
    return [_parse_cell(zero, keys, fields, "zeros") for zero in zeros]


def _parse_cell(value: object, keys: Mapping[str, tuple[Key, ...]], fields: Fields, name: str) -> dict[str, Key]:
    """A listed key for each of some columns."""
    if not isinstance(value, Mapping) or not value:
        raise fields.error(name, "must be a list of tables with a key for each column", 'write [{ region = "north" }]')
    for column, key in value.items():
        if column not in keys:
            raise fields.error(name, f"must name columns of keys, got {str(column)[:40]}", _column_hint(column, keys))
        if not any(type(key) is type(known) and key == known for known in keys[column]):
            raise fields.error(name, f"must have keys of {column} that are listed, got {key_name(key)[:40]}")
    return {column: value[column] for column in keys if column in value}


def _column_hint(column: object, keys: Mapping[str, Any]) -> str:
    similar = similar_name(str(column), list(keys))
    return f"the columns are {', '.join(keys)}" if similar is None else f"did you mean {similar}?"


# Levels


def _parse_levels(fields: Fields, grouping: Grouping, ordered: Sequence[str]) -> tuple[Level, ...]:
    """The levels, each a set of columns in the table's order; all levels of up to k columns for `marginals:k`."""
    value, columns = fields.raw("levels"), tuple(grouping.keys)
    if isinstance(value, str):
        return _marginals(value, columns, "levels", fields)
    entries = fields.items("levels")
    if not 1 <= len(entries) <= MAX_LEVELS:
        raise fields.error("levels", f"must be 1 to {MAX_LEVELS} lists of columns, got {len(entries)}")
    levels = [_parse_level(entry, columns, fields) for entry in entries]
    for level in levels:
        if levels.count(level) > 1:
            raise fields.error("levels", f"must differ, got [{', '.join(level)}] twice", "take one out")
        _check_nested(level, grouping, ordered, fields)
    _check_all_used(levels, columns, fields)
    return tuple(levels)


def _check_all_used(levels: Sequence[Level], columns: Level, fields: Fields) -> None:
    unused = [column for column in columns if not any(column in level for level in levels)]
    if unused:
        problem = f"must use every column of keys, got none with {unused[0]}"
        raise fields.error("levels", problem, "add a level with it, or take it out of keys")


def _parse_level(entry: object, columns: Level, fields: Fields) -> Level:
    if not isinstance(entry, list) or not all(isinstance(column, str) for column in entry):
        hint = 'write [[], ["region"], ["region", "town"]]'
        raise fields.error("levels", "must be a list of lists of columns, or marginals:2", hint)
    for column in entry:
        if column not in columns:
            hint = _column_hint(column, dict.fromkeys(columns))
            raise fields.error("levels", f"must have columns that keys has, got {column[:40]}", hint)
        if entry.count(column) > 1:
            raise fields.error("levels", f"must have each column of a level once, got {column[:40]} twice")
    return tuple(column for column in columns if column in entry)


def _marginals(text: str, columns: Level, name: str, fields: Fields) -> tuple[Level, ...]:
    """All levels of up to k columns, the coarsest first.

    >>> _marginals("marginals:1", ("a", "b"), "levels", Fields({}, "table"))
    ((), ('a',), ('b',))
    """
    word, _, digits = text.partition(":")
    if word != MARGINALS or not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:4]) <= len(columns)):
        problem = f'must be lists of columns, or marginals:1 to marginals:{len(columns)}, got "{text[:40]}"'
        raise fields.error(name, problem)
    levels = tuple(level for size in range(int(digits) + 1) for level in combinations(columns, size))
    if len(levels) > MAX_LEVELS:
        raise fields.error(name, f"must be at most {MAX_LEVELS}, got {len(levels)}", "take fewer columns")
    return levels


def _check_nested(level: Level, grouping: Grouping, ordered: Sequence[str], fields: Fields) -> None:
    """Refuse a level that leaves out a coarser column whose keys do not follow: its cells would not partition those."""
    columns = tuple(grouping.keys)
    for k, fine in enumerate(ordered):
        for coarse in ordered[:k]:
            if fine in level and coarse not in level:
                broken = _key_in_two(grouping, columns.index(fine), columns.index(coarse))
                if broken is not None:
                    key, first, second = (key_name(part)[:40] for part in broken)
                    problem = f"must partition {coarse}: {fine} {key} is in {coarse} {first} and in {coarse} {second}"
                    raise fields.error("levels", problem, f'write ["{coarse}", "{fine}"]')


def _key_in_two(grouping: Grouping, fine: int, coarse: int) -> tuple[Key, Key, Key] | None:
    """A key of one column that is combined with two keys of another; None where there is none."""
    parents: dict[Any, Any] = {}
    for cell in grouping.listed or ():
        parent = parents.setdefault(cell[fine], cell[coarse])
        if parent != cell[coarse]:
            return cell[fine], parent, cell[coarse]
    return None


# What is known


def _parse_totals(fields: Fields, table: CountTable) -> tuple[KnownTotal, ...]:
    """Known numbers of rows; refused where they contradict each other or the zeros."""
    if fields.raw("totals", None) is None:
        return ()
    totals = []
    for number, entry in enumerate(fields.items("totals"), 1):
        if not isinstance(entry, Mapping):
            hint = 'write [{ keys = { region = "north" }, rows = 1200 }]'
            raise fields.error("totals", "must be a list of tables with keys and rows", hint)
        total_fields = Fields(entry, f"{fields.label}, total {number}")
        keys, rows = total_fields.raw("keys", {}), total_fields.integer("rows")
        total_fields.finish()
        cell = {} if keys == {} else _parse_cell(keys, table.grouping.keys, fields, "totals")
        if not 0 <= rows <= MAX_TOTAL:
            raise fields.error("totals", f"must have rows from 0 to 10^18, got {rows}")
        totals.append(KnownTotal(tuple(cell), tuple(cell.values()), rows))
    check_totals(totals, table, fields)
    return tuple(totals)


def check_totals(totals: Sequence[KnownTotal], table: CountTable, fields: Fields) -> None:
    """Refuse totals of cells that zeros leave nothing of, of one cell twice, and those that cannot add up."""
    by_level: dict[Level, dict[Any, KnownTotal]] = {}
    cells = {columns: set(table.level_cells(columns)) for columns in {total.columns for total in totals}}
    for total in totals:
        if total.cell not in cells[total.columns]:
            problem = f"must be of cells that zeros and keys leave, got {_cell_words(total)}"
            raise fields.error("totals", problem, "take the total out, or the zeros")
        level = by_level.setdefault(total.columns, {})
        if total.cell in level:
            raise fields.error("totals", f"must be of different cells, got {_cell_words(total)} twice")
        level[total.cell] = total
    for coarse, fine in permutations(by_level, 2):
        if set(coarse) < set(fine):
            _check_parts(by_level[coarse], by_level[fine], table, fields)


def _check_parts(
    coarse: Mapping[Any, KnownTotal], fine: Mapping[Any, KnownTotal], table: CountTable, fields: Fields
) -> None:
    """Refuse totals whose known parts are more, or, where all parts are known, are not as many."""
    columns, level = (next(iter(totals.values())).columns for totals in (coarse, fine))
    places = tuple(level.index(column) for column in columns)
    known, unknown = Counter[Any](), set()
    for cell in table.level_cells(level):
        parent = _project(cell, places)
        known[parent] += fine[cell].value if cell in fine else 0
        unknown |= set() if cell in fine else {parent}
    for parent, total in coarse.items():
        if known[parent] > total.value or (parent not in unknown and known[parent] != total.value):
            problem = f"must add up: {_cell_words(total)} has {total.value} rows, and its parts {known[parent]}"
            raise fields.error("totals", problem, "correct one of them")


def _cell_words(total: KnownTotal) -> str:
    keys = zip(total.columns, total.cell, strict=True)
    words = ", ".join(f"{column} {key_name(key)[:40]}" for column, key in keys if key is not None)
    return words or "the whole table"


def _total_entry(total: KnownTotal) -> dict[str, Any]:
    keys = dict(zip(total.columns, total.cell, strict=True))
    return {**({"keys": keys} if keys else {}), "rows": total.value}


# Shares


def _parse_shares(fields: Fields, number: int) -> tuple[Fraction, ...] | None:
    """The shares of the levels in its price, made to add up to 1; None where they are left to the planner."""
    if fields.raw("shares", None) is None:
        return None
    if fields.raw("shares") == "equal":
        return (Fraction(1, number),) * number
    shares = fields.numbers("shares")
    if len(shares) != number:
        raise fields.error("shares", f"must be a number for each of {number} levels, got {len(shares)}")
    for share in shares:
        if not 0 < share <= MAX_SHARE:
            raise fields.error("shares", f"must be > 0 and at most {MAX_SHARE}, got {share}", "take the level out")
    whole = sum(shares, Fraction(0))
    return tuple(share / whole for share in shares)


def _parse_workload(fields: Fields, table: CountTable) -> str:
    """What the table is for: a name of `WORKLOADS`."""
    text = fields.text("workload", DEFAULT_WORKLOAD)
    word = text.partition(":")[0]
    if word not in WORKLOADS or (word != MARGINALS and word != text):
        similar = similar_name(word, WORKLOADS)
        hint = None if similar is None else f"did you mean {similar}{':2' if similar == MARGINALS else ''}?"
        names = "levels, cells, prefix, ranges or marginals:2"
        raise fields.error("workload", f'must be {names}, got "{text[:40]}"', hint)
    if word == MARGINALS:
        _marginals(text, table.columns, "workload", fields)
    return str(text)
