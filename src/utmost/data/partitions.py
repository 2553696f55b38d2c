"""A part of a table: the rows with one value in one column."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.data.queries import Key


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows where `column` = `equals`. Parts of one column with different values share no row."""

    column: str
    equals: Key

    def __str__(self) -> str:
        """The part in words."""
        return f"{self.column} = {self.equals}"
