"""Intervals of real values with rational ends, for the secrets, readings and answers of FMM21."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal, rational

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utmost.continuous.interval_loss import Convergence, IntervalLoss
    from utmost.continuous.mechanisms import Mechanism
    from utmost.exact import Level


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval [low, high], low < high, both rational; its text is `low,high`.

    >>> str(Interval(Fraction(0), Fraction(1, 2))), Interval(Fraction(0), Fraction(1, 2)).length
    ('0,1/2', Fraction(1, 2))
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        """Refuses an interval that is reversed or a point."""
        if not self.low < self.high:
            raise InputError(
                f"interval must run from low to a larger high, got {decimal(self.low)},{decimal(self.high)}",
                "interval",
                "write the smaller end first",
            )

    def __str__(self) -> str:
        return f"{self.low},{self.high}"

    def __contains__(self, x: Fraction) -> bool:
        return self.low <= x <= self.high

    @property
    def length(self) -> Fraction:
        """high − low > 0."""
        return self.high - self.low

    def grid(self, cells: int) -> list[Fraction]:
        """The cells + 1 edges of equal cells.

        >>> [str(edge) for edge in interval(0, 1).grid(4)]
        ['0', '1/4', '1/2', '3/4', '1']
        """
        if cells < 1:
            raise InputError(f"cells must be at least 1, got {cells}", "cells")
        return [self.low + self.length * Fraction(k, cells) for k in range(cells + 1)]

    def loss(
        self,
        mechanism: str | Mechanism,
        level: Level | None = None,
        *,
        prior: object = "uniform",
        loss: object = "absolute",
        width: object | None = None,
        steps: int = 10,
    ) -> IntervalLoss:
        """The expected loss of a mechanism (FMM21 Def. 2) for a reader with this prior and loss, between two bounds.

        `mechanism` is the name of one, with its level, or one of `continuous.mechanisms`; `steps` are of its grid.
        Prior and loss are by name, of `continuous.densities` and `continuous.losses`, or functions of the value and of
        the gap (reading − truth). The bounds are at most `width` apart; without it, a thousandth of the loss.

        >>> from utmost.exact import epsilon
        >>> interval(0, 1).loss("laplace", epsilon(2), prior="beta:2,5", loss="absolute")
        <IntervalLoss: laplace at ε = 2 costs between 0.123542 and 0.123616>
        """
        from utmost.continuous.interval_loss import interval_loss

        return interval_loss(self, mechanism, level, prior, loss, width, steps)

    def convergence(
        self,
        level: Level,
        steps: Iterable[int] = (1, 2, 4, 8, 16, 32),
        *,
        prior: object = "uniform",
        loss: object = "absolute",
        width: object | None = None,
    ) -> Convergence:
        """The loss of the geometric mechanism on grids of so many steps beside that of Laplace noise (FMM21 Thm 5)."""
        from utmost.continuous.interval_loss import convergence

        return convergence(self, level, steps, prior, loss, width)


def interval(low: object, high: object) -> Interval:
    """[low, high] from exact numbers or their texts.

    >>> interval("0", "0.5") == Interval(Fraction(0), Fraction(1, 2))
    True
    """
    return Interval(rational(low, "interval"), rational(high, "interval"))


def parse_interval(text: str) -> Interval:
    """The interval that the command line writes `low,high`.

    >>> parse_interval("-1, 2.5").length
    Fraction(7, 2)
    """
    numbers = text.split(",")
    if len(numbers) != 2:
        raise InputError(f"interval must be two numbers such as 0,1, got {text[:40]!r}", "interval")
    return interval(*numbers)


def check_edges(edges: Sequence[Fraction], within: Interval) -> list[Fraction]:
    """The edges of at least one cell, if they are exact, increase strictly and stay within the interval."""
    if len(edges) < 2:
        raise InputError(f"edges must be at least two, the two ends of a cell, got {len(edges)}", "edges")
    if not all(isinstance(edge, int | Fraction) for edge in edges):
        raise InputError("edges must be fractions, got another kind of number", "edges", "write decimals as text")
    if any(not u < v for u, v in pairwise(edges)):
        raise InputError("edges must increase strictly, got two in the wrong order or equal", "edges", "sort them")
    if edges[0] < within.low or edges[-1] > within.high:
        raise InputError(f"edges must stay within the interval {within}", "edges", "cut them off at its ends")
    return [Fraction(edge) for edge in edges]
