"""Tables of plans as designs that can be planned: their cells and levels as numbers, and how far a unit moves each."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.errors import InputError
from utmost.planning.designs import MAX_FACTORS, MAX_PLANNED_CELLS, Partition, Places, TableDesign
from utmost.planning.shares import RHO, planned_shares
from utmost.planning.strategies import design_model
from utmost.planning.workloads import parse_workload
from utmost.queries.tables import TOTAL_NAME

if TYPE_CHECKING:
    from utmost.queries.privacy_setting import PrivacySetting
    from utmost.queries.tables import CountTable


def table_design(table: CountTable) -> TableDesign:
    """The finest cells and the levels of a table; the cell of all other rows is a value of its own in each column."""
    codes = tuple(_codes(column) for column in zip(*table.finest_cells, strict=True))
    levels = [
        Partition(", ".join(level) or TOTAL_NAME, np.array(table.level_places(level), dtype=np.int64))
        for level in table.levels
    ]
    return TableDesign(codes, tuple(levels))


def _codes(values: Sequence[Any]) -> Places:
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault((type(value), value), len(numbers)) for value in values], dtype=np.int64)


def level_moves(table: CountTable, setting: PrivacySetting, measure: str) -> tuple[int, ...]:
    """How far a unit moves each level: in all, or squared for ρ."""
    if measure == RHO:
        return tuple(level.moves(setting).squared for level in table.queries)
    return tuple(level.moved_rows(setting) for level in table.queries)


def planned_table_shares(
    table: CountTable, workload: str, setting: PrivacySetting, measure: str
) -> tuple[Fraction, ...]:
    """The shares of its levels that suit a workload.

    A large table without a shape is planned as if zeros and the cell of all other rows were not there.
    """
    number = len(table.levels)
    if number == 1:
        return (Fraction(1),)
    design = table_design(table)
    try:
        model = design_model(design, parse_workload(workload, design))
    except InputError:
        completed = _completed_design(table)
        if completed is None:
            return (Fraction(1, number),) * number
        model = design_model(completed, parse_workload(workload, completed))
    return planned_shares(model, level_moves(table, setting, measure), measure)


def _completed_design(table: CountTable) -> TableDesign | None:
    """All combinations of the keys of a table; None where they are too many."""
    sizes = [len(keys) for keys in table.grouping.keys.values()]
    if prod(sizes) > MAX_PLANNED_CELLS or sum(size > 1 for size in sizes) > MAX_FACTORS:
        return None
    grid = np.indices(tuple(sizes)).reshape(len(sizes), prod(sizes)).astype(np.int64)
    levels = []
    for level in table.levels:
        places = np.zeros(prod(sizes), dtype=np.int64)
        for column in level:
            k = table.columns.index(column)
            places = places * sizes[k] + grid[k]
        levels.append(Partition(", ".join(level) or TOTAL_NAME, places))
    return TableDesign(tuple(grid), tuple(levels))
