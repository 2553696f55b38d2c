"""How a table fits a plan, in exact numbers without noise: for the curator before a release, never for publication.

Nothing is charged and no ledger is opened. The numbers are secret: `utmost inspect` prints them to whoever has the
table, and neither a release nor the studio has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from utmost.data import sources
from utmost.data.lookup import PublicMisfits, find_misfits
from utmost.data.row_sums import RowSums
from utmost.data.selection import PrivacyUnit, Selection
from utmost.publish.execute import check_plan
from utmost.publish.plan_model import used_columns
from utmost.queries.found_query import FoundQuery
from utmost.queries.grouped import GroupedQuery
from utmost.queries.number_column import NumberQuery
from utmost.queries.tables import TableLevel
from utmost.queries.top import Top

if TYPE_CHECKING:
    from utmost.data.grid import Grid
    from utmost.data.table import PersonCounts, Table, ValueCounts
    from utmost.publish.plan_model import Plan, QuerySpec
    from utmost.queries.query import Query

MAX_MARKERS = 5  # texts that do not fit, of a column


@dataclass(frozen=True, slots=True)
class ColumnInspection:
    """A column that the plan uses: its kind, and how its values fit it.

    `misfits` counts values that do not fit the kind and count as missing, `markers` are the most frequent ones with
    their number; `missing` counts the others that are missing. `fitting_kinds` would fit every value of a CSV file.
    """

    name: str
    kind: str
    is_declared: bool
    missing: int
    misfits: int
    markers: tuple[tuple[str, int], ...]
    fitting_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryInspection:
    """A query: the rows that it selects and their values on its grid; its persons where the unit is a person.

    Of a query with keys, `in_cells` is how many of the rows are in a listed cell, and `empty_cells` how many of the
    listed cells have no row.
    """

    name: str
    kind: str
    grid: Grid | None
    values: ValueCounts
    persons: PersonCounts | None
    in_cells: int | None = None
    empty_cells: int | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """How a table fits a plan; `persons` are those of the part, or of the whole table, where rows are bounded.

    `lookups` are the columns of public tables with values that do not fit their kind.
    """

    engine: str
    unit: PrivacyUnit
    rows: int
    columns: tuple[ColumnInspection, ...]
    persons: PersonCounts | None
    queries: tuple[QueryInspection, ...]
    lookups: tuple[PublicMisfits, ...] = ()


def inspect_plan(plan: Plan) -> Inspection:
    """Count what a release of the plan would leave out or change. Reads the table, spends nothing."""
    used, lookups = used_columns(plan), plan.source.lookups
    with sources.open_table(plan.source, plan.folder, used) as table:
        specs = [spec for spec in check_plan(plan, table).plan.queries if spec.over is None]
        whole = Selection(None, plan.unit, plan.part)
        return Inspection(
            table.engine,
            plan.unit,
            table.count_values(whole).rows,
            _inspect_columns(table, used | table.source_columns(used)),
            None if plan.unit.rows is None else table.count_persons(whole),
            tuple(_inspect_query(spec, plan, table) for spec in specs),
            tuple(misfit for lookup in lookups for misfit in find_misfits(lookup, plan.folder, MAX_MARKERS)),
        )


def _inspect_columns(table: Table, used: set[str]) -> tuple[ColumnInspection, ...]:
    misfits, missing, fitting = table.unreadable(used), table.count_missing(used), table.fitting_kinds(used)
    guesses = table.guesses(used)
    return tuple(
        ColumnInspection(
            name,
            str(table.kinds[name]),
            name not in guesses,
            count - misfits.get(name, 0),
            misfits.get(name, 0),
            tuple(table.frequent_misfits(name, MAX_MARKERS)) if name in misfits else (),
            tuple(map(str, fitting.get(name, ()))),
        )
        for name, count in missing.items()
    )


def _inspect_query(spec: QuerySpec, plan: Plan, table: Table) -> QueryInspection:
    query = spec.query
    selection = Selection(query.where, plan.unit, plan.part)
    inner = query.inner if isinstance(query, GroupedQuery | FoundQuery) else query
    values = inner.values if isinstance(inner, NumberQuery) else None
    persons = None if plan.unit.column is None else table.count_persons(selection, query.candidates)
    grid = None if values is None else values.grid
    counts = _cell_counts(query, plan, table)
    listed = (None, None) if counts is None else (sum(counts), counts.count(0))
    return QueryInspection(spec.name, query.kind, grid, table.count_values(selection, values), persons, *listed)


def _cell_counts(query: Query, plan: Plan, table: Table) -> list[int] | None:
    """How many rows are in each listed cell, before any is left out; None where no keys are listed."""
    if isinstance(query, TableLevel):
        selection = Selection(query.where, PrivacyUnit(), plan.part)
        (sums,) = table.row_sums([RowSums(selection, grouping=query.table.grouping)])
        return query.add_up([moments.rows for moments in sums.moments])
    keys = query.keys if isinstance(query, GroupedQuery | Top) else None
    return None if keys is None else table.cell_counts(Selection(query.where, PrivacyUnit(), plan.part), keys)
