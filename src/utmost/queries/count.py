"""Counts: how many rows satisfy a predicate.

Of a unit at most k rows are kept, k = 1 where rows are units, so it has from 0 to k rows in the count before and after
it changes: the count moves by at most k under both relations. With a unit of groups each person counts once: k = 1.

**Counts in cells.** Of a unit at most k rows are kept, in all cells together. A unit that comes or goes moves the
counts by at most k in all; one that is replaced leaves k cells and enters k others, which moves them by at most 2k.
With a unit of groups these are at most k rows too, one in each of k cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from utmost.data.row_sums import RowSums
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.moves import Moves
from utmost.queries.query import METRIC_CLAIM, NO_CLAIM, ExactAnswer, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import Moments
    from utmost.data.selection import PrivacyUnit
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

UNIVERSAL_CLAIM = (
    "universal: every reader of this count, with the remap that fits the reader's prior and legal loss, loses as "
    "little as with any mechanism of this epsilon made for that reader alone (GRS12 Thm 3.2)"
)
UNBOUNDED_COUNT_CLAIM = (
    "universal: every reader who knows an upper end for this count, whatever the prior on it and the legal loss, loses "
    "as little as with any mechanism of this epsilon made for that reader alone (GRS12 Thm 3.2 for the answer cut at "
    "that end)"
)
PER_CELL_CLAIM = (
    "per cell: each cell alone is answered as well as privacy allows, for every reader of that cell (GRS12 Thm 3.2); "
    "for all cells at once nothing is claimed, since no mechanism is the best for every reader of a histogram"
)


@dataclass(frozen=True, slots=True)
class Count(LatticeQuery):
    """How many rows satisfy `where`; with a unit of groups, how many persons have such a row."""

    kind: ClassVar[str] = "count"
    noun: ClassVar[str] = "count"
    counts_rows: ClassVar[bool] = True
    takes_keys: ClassVar[bool] = True

    where: str | None = None

    @classmethod
    def parse(cls, fields: Fields) -> Count:
        """The count in a table of a plan."""
        return cls(fields.text("where", None))

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The number of rows, or of persons."""
        return RowSums(setting.selection(self), grouping=grouping)

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows, or of persons."""
        return [moments.rows]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε/k a row, between 0 and the most rows there can be; for cells ε/2k under replace."""
        if setting.grouped:
            return _select_for_cells(epsilon, setting)
        by_person = setting.unit.groups is not None
        everyone = setting.replacing and self.where is None and setting.part is None
        if everyone and (by_person or setting.unit.column is None):
            raise InputError(
                f"where must be given: under replace the number of {'persons' if by_person else 'rows'} is public, so "
                "a count of all of them needs no noise; it is in the release anyway",
                "where",
            )
        sensitivity = 1 if by_person else setting.unit.bound
        high = None if setting.units is None else setting.units * sensitivity
        optimal = METRIC_CLAIM if sensitivity > 1 else UNIVERSAL_CLAIM if setting.replacing else UNBOUNDED_COUNT_CLAIM
        return SelectedMechanism(GeometricLattice(epsilon / sensitivity, 0, high), sensitivity, optimal, "geometric")

    def moves(self, setting: PrivacySetting) -> Moves:
        """k rows of one cell; with a unit of groups one row of each of k cells."""
        if not setting.grouped:
            return LatticeQuery.moves(self, setting)
        return Moves.of_cells(setting.unit.bound, 1, setting.replacing, one_cell_each=setting.unit.groups is not None)

    def target_noun(self, unit: PrivacyUnit) -> str:
        """The count, of persons where they are counted."""
        return self.noun if unit.groups is None else "count of persons"

    def bounds_contributions(self, unit: PrivacyUnit) -> bool:
        """With a unit of groups each person is counted once, whatever the bound: nothing is left out."""
        return unit.column is not None and unit.groups is None


def _select_for_cells(epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
    sensitivity = setting.unit.bound * (2 if setting.replacing else 1)
    high = None if setting.units is None else setting.units * (setting.unit.rows or 1)
    mechanism = GeometricLattice(epsilon / sensitivity, 0, high)
    if sensitivity == 1:
        return SelectedMechanism(mechanism, sensitivity, PER_CELL_CLAIM, "geometric")
    return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "any")
