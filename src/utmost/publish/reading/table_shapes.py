"""The shape of a table's levels: a hierarchy, or rows and columns; and its answers laid out over it.

A level is a partition of the finest cells. Levels are a hierarchy where each one, from few cells to many, splits the
cells of the one before. Their cells then have as keys those of all coarser levels too: a town that is a level by itself
has the key of its region in front. Two ways are a complete table of two columns with its rows and columns apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from utmost.data.cells import Cell
from utmost.errors import InputError
from utmost.joint import CountTree, TwoWayTable, hierarchy, two_way
from utmost.joint.tree import Key
from utmost.publish.reading.table_answers import LevelAnswers
from utmost.queries.tables import CountTable, KnownTotal, Level

TWO_WAY_KINDS = 2  # columns of a two-way table


@dataclass(frozen=True)
class Hierarchy:
    """Levels from coarse to fine: of each its columns with those of all coarser ones, and of each place its key."""

    levels: tuple[Level, ...]
    keys: tuple[tuple[Key, ...], ...]  # of each level, for each finest cell


def find_hierarchy(table: CountTable, levels: Iterable[Level]) -> Hierarchy | None:
    """The hierarchy of these levels; None where they are none."""
    named: dict[tuple[int, ...], set[str]] = {}  # levels with the same cells are one
    for level in levels:
        named.setdefault(_partition(table, level), set()).update(level)
    ordered = sorted(named, key=_size)
    if any(not _splits(coarse, fine) for coarse, fine in pairwise(ordered)):
        return None
    columns: list[str] = []
    chain: list[Level] = []
    for partition in ordered:
        columns += [column for column in table.columns if column in named[partition] and column not in columns]
        chain.append(tuple(columns))
    return Hierarchy(tuple(chain), tuple(_place_keys(table, level) for level in chain))


def _partition(table: CountTable, level: Level) -> tuple[int, ...]:
    """The number of the cell of each finest cell, in the order of first appearance."""
    return table.level_places(level)


def _size(partition: tuple[int, ...]) -> int:
    return max(partition) + 1


def _splits(coarse: tuple[int, ...], fine: tuple[int, ...]) -> bool:
    """Is every cell of the fine one in one cell of the coarse one."""
    return len(set(zip(fine, coarse, strict=True))) == _size(fine)


def _place_keys(table: CountTable, level: Level) -> tuple[Key, ...]:
    places = [table.columns.index(column) for column in level]
    return tuple(tuple(cell[place] for place in places) for cell in table.finest_cells)


def build_tree(table: CountTable, answers: Sequence[LevelAnswers], totals: Mapping[Cell, int]) -> CountTree:
    """The tree of a table with all answers; `totals` are of the whole table. Refused where levels are no hierarchy."""
    levels = [*dict.fromkeys(answer.columns for answer in answers)]
    shape = find_hierarchy(table, _with_totals(table, levels))
    if shape is None:
        raise _no_hierarchy(table)
    known = dict(totals)
    for total in table.totals:
        known |= _known_keys(table, shape, total)
    tree = hierarchy(shape.levels, dict.fromkeys(shape.keys[-1]), known)
    first = 0 if not shape.levels[0] else 1  # a total is put on top where no level is one
    for answer in answers:
        level = _level_of(table, shape, answer.columns)
        keys = _keys_of(table, answer.columns, shape.keys[level])
        values = {keys[cell]: value for cell, value in answer.values.items()}
        tree = tree.with_answers(level + first, values, answer.law, answer.source)
    return tree


def _with_totals(table: CountTable, levels: list[Level]) -> list[Level]:
    """The levels and those of known totals, where they are a hierarchy together."""
    for total in table.totals:
        if total.columns not in levels and find_hierarchy(table, [*levels, total.columns]) is not None:
            levels = [*levels, total.columns]
    return levels


def _level_of(table: CountTable, shape: Hierarchy, columns: Level) -> int:
    """Which level of the hierarchy has the cells of these columns."""
    partition = _partition(table, columns)
    return next(number for number, level in enumerate(shape.levels) if _partition(table, level) == partition)


def _keys_of(table: CountTable, columns: Level, keys: Sequence[Key]) -> dict[Cell, Key]:
    """The key in the tree of each cell of a level."""
    return dict(zip(_place_keys(table, columns), keys, strict=True))


def _known_keys(table: CountTable, shape: Hierarchy, total: KnownTotal) -> dict[Key, int]:
    """A known total by its key in the tree; nothing where it is of no cell of it."""
    partition = _partition(table, total.columns)
    for level, keys in zip(shape.levels, shape.keys, strict=True):
        if _partition(table, level) == partition:
            return {_keys_of(table, total.columns, keys)[total.cell]: total.value}
    return {} if total.columns else {(): total.value}


def unused_totals(table: CountTable, tree: CountTree) -> int:
    """How many known totals are of cells that the tree does not have."""
    levels = {frozenset(columns) for columns in tree.columns}
    return sum(frozenset(total.columns) not in levels for total in table.totals)


def _no_hierarchy(table: CountTable) -> InputError:
    named = f'levels of table "{table.name[:60]}"'
    if len(table.columns) == TWO_WAY_KINDS:
        return InputError(
            f"{named} must be a hierarchy for a posterior, got rows and columns",
            "table",
            "two-way tables are read by least squares: two_way() in Python",
        )
    return InputError(
        f"{named} must be a hierarchy, or rows and columns, got {len(table.columns)} ways: whether a whole table >= 0 "
        "of three ways or more has given marginals is NP-complete",
        "table",
        "publish levels that each have the columns of the one before",
    )


# Two ways


def is_two_way(table: CountTable, answers: Sequence[LevelAnswers]) -> bool:
    """Are the levels rows and columns of a table of two columns that are no hierarchy."""
    levels = dict.fromkeys(answer.columns for answer in answers)
    return len(table.columns) == TWO_WAY_KINDS and find_hierarchy(table, levels) is None


def build_two_way(table: CountTable, answers: Sequence[LevelAnswers]) -> TwoWayTable:
    """The two-way table with all answers; refused where it is not complete."""
    if len(table.columns) != TWO_WAY_KINDS:
        raise _no_hierarchy(table)
    grouping, name = table.grouping, table.name[:60]
    rows, columns = (grouping.keys[column] for column in table.columns)
    if grouping.other or len(table.finest_cells) != len(rows) * len(columns):
        problem = f'table "{name}" must have a cell for each row and column and no other for two ways, got others'
        raise InputError(problem, "table", "read a hierarchy of the columns instead")
    if table.totals:
        raise InputError(f'table "{name}" must have no known totals for two ways, got some', "table")
    result = replace(two_way(rows, columns), names=(table.columns[0], table.columns[1]))
    kinds = {(): "total", table.columns: "cells", table.columns[:1]: "rows", table.columns[1:]: "columns"}
    for answer in answers:
        result = result.with_answers(kinds[answer.columns], answer.values, answer.law)
    return result
