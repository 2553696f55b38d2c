"""Grids that numbers are clamped and rounded to, and columns on them. Plain data: `quantize` has the arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import InputError

MAX_GRID_STEPS = 10**12


@dataclass(frozen=True, slots=True)
class Grid:
    """The values low, low + step, …, high that a number is clamped and rounded to, inside the engine.

    Position k stands for low + k·step. `low` is a whole number of steps, so that sums are whole numbers of steps too.
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        """Check that the grid is one."""
        if not self.low < self.high:
            raise InputError(
                f"low must be below high, got {self.low} and {self.high}", "low", "swap or widen the bounds"
            )
        if self.step <= 0:
            raise InputError(f"step must be > 0, got {self.step}", "step")
        if (self.low / self.step).denominator != 1 or (self.high / self.step).denominator != 1:
            raise InputError(
                f"low and high must be whole numbers of steps of {self.step}, got {self.low} and {self.high}", "low"
            )
        if max(self.high - self.low, abs(self.low), abs(self.high)) / self.step > MAX_GRID_STEPS:
            raise InputError(
                "step must leave at most 10^12 steps from 0 and between the bounds", "step", "take a coarser one"
            )

    @property
    def size(self) -> int:
        """N, the number of steps from low to high."""
        return int((self.high - self.low) / self.step)

    def value(self, position: int) -> Fraction:
        """What a position stands for."""
        return self.low + position * self.step


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column whose numbers are placed on a grid.

    `nulls` says what a missing value (NULL or NaN) is: a number of the grid's range, or None to drop the row.
    """

    column: str
    grid: Grid
    nulls: Fraction | None = None

    def __post_init__(self) -> None:
        """Check the number that stands in for a missing one."""
        low, high = self.grid.low, self.grid.high
        if self.nulls is not None and not low <= self.nulls <= high:
            raise InputError(f'nulls must be "drop" or a number from {low} to {high}, got {self.nulls}', "nulls")
