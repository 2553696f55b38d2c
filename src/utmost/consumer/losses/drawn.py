"""Losses drawn by hand: what an error costs, through a few points, on a line between them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.family import Parameter
from utmost.consumer.losses.loss import ErrorLoss, Floats, Legality, LossFamily, legality_by_error
from utmost.errors import InputError
from utmost.exact import rational
from utmost.result_values import short_repr

Point: TypeAlias = tuple[Fraction, Fraction]

MAX_LOSS_POINTS = 200  # points
MAX_ERROR, MAX_COST = 10**30, 10**12  # an error, a cost
SIDE_POINTS = 4  # points of a suggested loss on each side of the truth


@dataclass(frozen=True, slots=True)
class PiecewiseLoss(ErrorLoss):
    """ℓ(i, j) = f(j − i): f goes through the points (error, cost) in straight lines, and is level beyond the last ones.

    A negative error is a reading below the truth.

    >>> loss = drawn([(-20, 8), (0, 0), (20, 4)])
    >>> loss.exact(5, 4), loss.exact(5, 6), loss.exact(5, 99)
    (Fraction(2, 5), Fraction(1, 5), Fraction(4, 1))
    """

    __repr__ = short_repr

    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "drawn:" + ",".join(f"{error}:{cost}" for error, cost in self.points)

    def at(self, error: Fraction | int) -> Fraction:
        """f(error), exact."""
        after = bisect_right(self.points, error, key=lambda point: point[0])
        if after in (0, len(self.points)):
            return self.points[after - 1 if after else 0][1]
        (left, low), (right, high) = self.points[after - 1 : after + 1]
        return low + (high - low) * (error - left) / (right - left)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        errors, costs = (np.array([float(point[k]) for point in self.points]) for k in (0, 1))
        return np.asarray(np.interp(np.subtract(reading, truth, dtype=np.float64), errors, costs))

    @property
    def monotone(self) -> bool:
        """Does f nowhere fall as the error grows, to either side."""
        errors = sorted({Fraction(0), *(error for error, _ in self.points)})
        costs = [(error, self.at(error)) for error in errors]
        return all((low <= high) if left >= 0 else (low >= high) for (left, low), (_, high) in pairwise(costs))

    def stretch(self, unit: Fraction) -> PiecewiseLoss:
        """The same loss where an error of one step counts for `unit`.

        >>> drawn([(0, 0), (10, 4)]).stretch(Fraction(5)).name
        'drawn:0:0,2:4'
        """
        return PiecewiseLoss(tuple((error / unit, cost) for error, cost in self.points))

    @property
    def has_plateaus(self) -> bool:
        """It is level beyond its last points."""
        return True

    def legality(self, size: int) -> Legality:
        """Is it legal on the counts 0..size−1: its points and the whole numbers next to them decide."""
        return legality_by_error(self.at, self._gaps(size - 1), size)

    def _gaps(self, last: int) -> list[int]:
        """0, `last`, and the whole distances next to the points, ascending."""
        distances = {abs(error) for error, _ in self.points}
        neighbours = {
            neighbour for distance in distances for floor in (math.floor(distance),) for neighbour in (floor, floor + 1)
        }
        return sorted({0, min(1, last), last, *(gap for gap in neighbours if 0 <= gap <= last)})


def drawn(points: Sequence[tuple[object, object]]) -> PiecewiseLoss:
    """What an error j − i costs, through points (error, cost), straight between them and level beyond.

    There are 1 to 200 points; costs are ≥ 0 and not all 0; no error stands twice.

    >>> drawn([(-2, 4), (0, 0), (1, 1)]).exact(5, 4)
    Fraction(2, 1)
    """
    if not 1 <= len(points) <= MAX_LOSS_POINTS:
        raise InputError(f"drawn must have 1 to {MAX_LOSS_POINTS} points, got {len(points)}", "drawn")
    exact_points = sorted((rational(error, "drawn"), rational(cost, "drawn")) for error, cost in points)
    if any(left == right for (left, _), (right, _) in pairwise(exact_points)):
        raise InputError("drawn must have each error once, got one twice", "drawn", "leave one of them out")
    if any(abs(error) > MAX_ERROR or not 0 <= cost <= MAX_COST for error, cost in exact_points):
        raise InputError("drawn must have errors within ±10^30 and costs from 0 to 10^12, got others", "drawn")
    if not any(cost for _, cost in exact_points):
        raise InputError("drawn must have a cost above 0, got none", "drawn", "raise a point")
    return PiecewiseLoss(tuple(exact_points))


def _parse_points(text: str) -> PiecewiseLoss:
    """The loss that `-20:8,0:0,20:4` writes.

    >>> _parse_points("-20:8,0:0,20:1/2").points[2]
    (Fraction(20, 1), Fraction(1, 2))
    """
    pairs = [tuple(pair.split(":")) for pair in text.split(",", MAX_LOSS_POINTS + 1)]
    if any(len(pair) != 2 for pair in pairs):
        raise InputError(
            f"loss must be {DRAWN.example}, an error and its cost for each point, got text that is not", "loss"
        )
    return drawn([(pair[0], pair[1]) for pair in pairs])


def number_text(value: Fraction) -> str:
    """An exact number as a decimal where that is short, else as a fraction.

    >>> number_text(Fraction(1, 20)), number_text(Fraction(1, 3))
    ('0.05', '1/3')
    """
    text = f"{float(value):.12g}"
    return text if Fraction(text) == value and "e" not in text else str(value)


def _suggested_points(step: Fraction) -> str:
    """The absolute loss at a few errors, `step` apart, costs in steps."""
    return ",".join(f"{number_text(step * k)}:{abs(k)}" for k in range(-SIDE_POINTS, SIDE_POINTS + 1))


DRAWN = LossFamily(
    kind="drawn",
    example="drawn:-20:8,0:0,20:4",
    meaning="f(j − i), straight between these points (error:cost), level beyond",
    choice="one that I draw",
    parameters=(
        Parameter(
            name="drawn",
            label="Points, error:cost",
            description="error:cost pairs, between commas",
            content="pairs",
            hint="Straight between them, level beyond; an error below 0 is a reading below the truth",
            suggest=lambda _, step: _suggested_points(step),
        ),
    ),
    parse=_parse_points,
)
