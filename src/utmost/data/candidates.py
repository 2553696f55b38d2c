"""The rows that a query can keep of a person, and which of them are one group. Plain data: no engine, no noise."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.data.cells import Grouping
from utmost.data.selection import Key


@dataclass(frozen=True, slots=True)
class Candidates:
    """Those of the selected rows that can be kept: which row is one depends on that row alone.

    A candidate has a cell of `grouping` (with `other` every row has one), a key that a found cell can have in each
    column of `by`, and a value in `column`, one of the `domain` if that is given. Rows that agree in cell, keys and
    value are one group.
    """

    grouping: Grouping | None = None
    by: tuple[str, ...] = ()
    column: str | None = None
    domain: tuple[Key, ...] | None = None

    @property
    def columns(self) -> frozenset[str]:
        """The columns that decide it.

        >>> sorted(Candidates(Grouping({"region": ("n",)}), column="age").columns)
        ['age', 'region']
        """
        keys = () if self.grouping is None else self.grouping.keys
        return frozenset([*keys, *self.by, *(() if self.column is None else (self.column,))])

    @property
    def listed_size(self) -> int:
        """How many cells and values are listed.

        >>> Candidates(Grouping({"g": (1, 2)}, other=True), column="x", domain=(1, 2, 3, 4)).listed_size
        7
        """
        return (0 if self.grouping is None else self.grouping.size) + len(self.domain or ())

    @property
    def max_groups(self) -> int | None:
        """The most groups that a person can have rows in, from public things; None where they set no end.

        >>> Candidates().max_groups, Candidates(Grouping({"g": (1, 2)}, other=True)).max_groups
        (1, 3)
        """
        if self.by or (self.column is not None and self.domain is None):
            return None
        return (1 if self.grouping is None else self.grouping.size) * (1 if self.domain is None else len(self.domain))


ALL_ROWS = Candidates()
