"""How far a unit moves the whole numbers of an answer, in Euclidean length: what Gaussian noise pays for.

The kinds' docstrings prove how far all numbers move together in absolute steps. In squared length the largest moves are
at the corners of what a unit may do, since the squared length is convex: k rows of one cell, and under replace k rows
that leave one cell and k that enter another, or the same one with values of the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves of a unit: at most `squared` in squared length, counted in squared steps.

    With `numbers` every move changes at most so many of the numbers, each by at most `steps`, and
    squared = numbers·steps²; without it nothing more is known.
    """

    squared: int
    steps: int = 1
    numbers: int | None = None

    @classmethod
    def each(cls, numbers: int, steps: int) -> Moves:
        """At most so many numbers, each by at most so many steps."""
        return cls(numbers * steps**2, steps, numbers)

    @classmethod
    def together(cls, squared: int) -> Moves:
        """Any number of numbers, at most so far in squared length."""
        return cls(squared)

    @classmethod
    def of_cells(cls, rows: int, row_steps: int, replacing: bool, one_cell_each: bool = False) -> Moves:
        """The moves of cells by a unit with at most so many rows, each of which moves its cell by at most `row_steps`.

        With `one_cell_each` no cell has two rows of a unit. The moves of a cell whose values have both signs are not
        these under replace: a row that changes its sign moves it by more than `row_steps`.

        >>> Moves.of_cells(3, 1, replacing=False), Moves.of_cells(3, 1, replacing=True, one_cell_each=True).squared
        (Moves(squared=9, steps=1, numbers=None), 6)
        """
        sides = 2 if replacing else 1
        if one_cell_each or rows == 1:
            return cls.each(sides * rows, row_steps)
        return cls.together(sides * (rows * row_steps) ** 2)

    @property
    def ledger_law(self) -> Literal["gaussian", "concentrated"]:
        """What a ledger may assume of Gaussian noise on these numbers."""
        return "concentrated" if self.numbers is None else "gaussian"
