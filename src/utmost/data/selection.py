"""Which rows of a table are asked about, and whom privacy protects. Plain data: no engine, no noise, no kind of query.

A *unit* is what privacy protects: each row, or each person named by a column. *Neighbours* are tables that differ in
one unit: `replace` changes one and keeps their number, which is then public; `add-remove` adds or removes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from utmost.data.predicates.parser import parse_predicate
from utmost.errors import InputError

MAX_CONTRIBUTION = 10**6  # rows or groups a person
ROW_WORD = "row"  # a ledger's word for the unit that is each row

Key = bool | int | str | date  # a public value of a column


class NeighbourRelation(StrEnum):
    """Which tables are neighbours."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Whom privacy protects: each row (`column` None), or each person, one value of `column`.

    Of a person at most `rows` rows are kept, or at most one row in each of at most `groups` cells; which ones is random
    and does not depend on anybody else. A row without a person (NULL) is not kept. Exactly one of the two bounds is
    given with a column, none without. A column called row is refused: it is a ledger's word for each row, so persons
    would be charged as rows.
    """

    column: str | None = None
    rows: int | None = None
    groups: int | None = None

    def __post_init__(self) -> None:
        """Check that the bounds fit the unit."""
        if self.column == ROW_WORD:
            raise InputError(
                f"unit column must not be called {ROW_WORD}, which in a ledger means each row",
                "unit.column",
                "rename it in a view",
            )
        bounds = [bound for bound in (self.rows, self.groups) if bound is not None]
        if self.column is None and bounds:
            raise InputError(
                "unit must name a column where rows or groups are bounded", "unit.column", 'add column = "..."'
            )
        if self.column is not None and len(bounds) != 1:
            hint = "give rows = k or groups = k, one of the two"
            raise InputError("unit must bound what a person contributes", "unit", hint)
        if any(not 1 <= bound <= MAX_CONTRIBUTION for bound in bounds):
            field = "unit.rows" if self.groups is None else "unit.groups"
            raise InputError(f"unit must keep from 1 to {MAX_CONTRIBUTION} rows or groups a person", field)

    @property
    def ledger_word(self) -> str:
        """What a ledger calls the unit: its column, or the word for each row."""
        return ROW_WORD if self.column is None else self.column

    @property
    def bound(self) -> int:
        """How many kept rows a unit can have, at most."""
        return self.rows or self.groups or 1

    def __str__(self) -> str:
        """The unit in words."""
        if self.column is None:
            return "each row"
        contribution = f"{self.rows} rows" if self.rows else f"one row in each of {self.groups} groups"
        return f"each value of column {self.column}, at most {contribution} of it kept at random"


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows where `column` = `equals`. Parts of one column with different values share no row."""

    column: str
    equals: Key

    def __str__(self) -> str:
        """The part in words."""
        return f"{self.column} = {self.equals}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of a part that satisfy `where`, at most so many of each person as the unit says."""

    where: str | None = None
    unit: PrivacyUnit = PrivacyUnit()
    part: Partition | None = None

    @property
    def columns(self) -> set[str]:
        """The columns that the selection looks at.

        >>> sorted(Selection("age > 3", PrivacyUnit("person", rows=1), Partition("region", "north")).columns)
        ['age', 'person', 'region']
        """
        columns = set() if self.where is None else set(parse_predicate(self.where).columns)
        columns |= set() if self.unit.column is None else {self.unit.column}
        return columns | (set() if self.part is None else {self.part.column})
