"""A table of a release, and the joint readings of all that releases tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact.input_text import escape_control
from utmost.joint import (
    CountTree,
    Divisions,
    LeastSquares,
    TableEstimate,
    TwoWayEstimate,
    estimate_table,
    least_squares,
    two_way_least_squares,
)
from utmost.joint.tree import Key
from utmost.joint.windows import MISS_PROBABILITY
from utmost.publish.reading.cell_predicates import matching_keys, select_cells
from utmost.publish.reading.table_answers import LevelAnswers, collect_answers
from utmost.publish.reading.table_shapes import build_tree, build_two_way, is_two_way
from utmost.queries.privacy_setting import PrivacySetting

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.data.cells import Cell
    from utmost.publish.release_model import Release
    from utmost.queries.tables import CountTable, Level


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedTable:
    """A table of a release. `others` are releases of the same rows that are read together with it."""

    release: Release
    table: CountTable
    others: tuple[Release, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.table.name

    @property
    def levels(self) -> tuple[Level, ...]:
        """The columns of each of its levels."""
        return self.table.levels

    def together(self, *others: Release) -> ReleasedTable:
        """The table with what other releases tell of its cells; that no row changed between them is yours to know."""
        return ReleasedTable(self.release, self.table, (*self.others, *others))

    @cached_property
    def answers(self) -> Sequence[LevelAnswers]:
        """The noisy counts of its cells."""
        return tuple(collect_answers((self.release, *self.others), self.table))

    def cells(self, where: str) -> list[Key]:
        """The keys of the finest cells that satisfy a predicate over their columns, in the language of `where`."""
        if self.is_two_way:
            table = self.two_way().table
            return matching_keys(table.names, table.keys("cells"), where)
        return select_cells(self.tree, where)

    @property
    def is_two_way(self) -> bool:
        """Has it rows and columns that are no hierarchy."""
        return is_two_way(self.table, self.answers)

    @cached_property
    def tree(self) -> CountTree:
        """Its cells as a tree with all answers; refused where its levels are no hierarchy."""
        return build_tree(self.table, self.answers, self._public_totals)

    @property
    def _public_totals(self) -> Mapping[Cell, int]:
        """The number of units where that is the number of rows of the whole table."""
        release, table = self.release, self.table
        setting = PrivacySetting(release.neighbours, release.unit, release.part, release.units)
        is_everyone = setting.replacing and table.where is None and release.part is None and table.grouping.other
        if is_everyone and release.unit.column is None and release.units is not None:
            return {(): release.units}
        return {}

    def estimate(
        self,
        prior: Divisions | str = "divisions",
        loss: Loss | str = "absolute",
        *,
        coverage: object = 0.95,
        left_out: object = MISS_PROBABILITY,
    ) -> TableEstimate:
        """All its counts for a reader with this prior and loss: means, intervals, the best table, draws."""
        return estimate_table(self.tree, prior, loss, coverage=coverage, left_out=left_out)

    def least_squares(self) -> LeastSquares:
        """The best linear unbiased estimates of a hierarchy, which need no prior and no windows."""
        return least_squares(self.tree)

    def two_way(self) -> TwoWayEstimate:
        """Least squares of a two-way table, with the nearest whole table."""
        return two_way_least_squares(build_two_way(self.table, self.answers))

    def __repr__(self) -> str:
        """A line: its name, its levels, and with how many releases it is read."""
        levels = "; ".join(", ".join(level) or "total" for level in self.levels)
        more = f", with {len(self.others)} other releases" if self.others else ""
        return f"<ReleasedTable {escape_control(self.name[:60])}: {escape_control(levels[:200])}{more}>"


def find_table(release: Release, name: str) -> ReleasedTable:
    """The table of a release with this name."""
    for table in release.tables:
        if table.name == name:
            return ReleasedTable(release, table)
    names = ", ".join(table.name[:60] for table in release.tables)
    problem = f"one of {names[:400]}, got {name[:60]}" if names else "of a release that has tables, got none"
    raise InputError(f"table must be {problem}", "table")
