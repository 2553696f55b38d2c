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

from utmost.errors import InputError
from utmost.exact import Number, rational

Floats: TypeAlias = npt.NDArray[np.float64]
Exacts: TypeAlias = npt.NDArray[np.object_]
Triple: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[Fraction, Fraction]

MAX_LOSS_POINTS = 200  # points
MAX_ERROR, MAX_COST = 10**30, 10**12  # an error, a cost
POINTS_FORM = "drawn:-20:8,0:0,20:4, an error and its cost for each point"


@dataclass(frozen=True, slots=True)
class PiecewiseLoss:
    """ℓ(i, j) = f(j − i): f goes through the points (error, cost) in straight lines, and is level beyond the last ones.

    A negative error is a reading below the truth.

    >>> loss = piecewise_loss([(-20, 8), (0, 0), (20, 4)])
    >>> loss.exact(5, 4), loss.exact(5, 6), loss.exact(5, 99)
    (Fraction(2, 5), Fraction(1, 5), Fraction(4, 1))
    """

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

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return self.at(j - i)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        errors, costs = (np.array([float(point[k]) for point in self.points]) for k in (0, 1))
        return np.asarray(np.interp(np.subtract(reading, truth, dtype=np.float64), errors, costs))

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.at(gap) for gap in range(size)], [self.at(-gap) for gap in range(size)])

    @property
    def monotone(self) -> bool:
        """Does f nowhere fall as the error grows, to either side."""
        errors = sorted({Fraction(0), *(error for error, _ in self.points)})
        costs = [(error, self.at(error)) for error in errors]
        return all((low <= high) if left >= 0 else (low >= high) for (left, low), (_, high) in pairwise(costs))

    def stretched(self, unit: Fraction) -> PiecewiseLoss:
        """The same loss where an error of one step counts for `unit`.

        >>> piecewise_loss([(0, 0), (10, 4)]).stretched(Fraction(5)).name
        'drawn:0:0,2:4'
        """
        return PiecewiseLoss(tuple((error / unit, cost) for error, cost in self.points))

    def witnesses(self, size: int) -> tuple[Triple | None, Triple | None]:
        """Counts (i, j, j′) that show that it is not legal, and that it is not strictly so, on 0..size−1.

        f is straight between the whole numbers next to its points, so these are enough: where it falls or stays level
        between two of them it does so everywhere between, and sides that agree there agree everywhere. With both sides
        rising it is legal if and only if they agree up to (size − 1)/2, the largest distance that a count has on both.
        """
        last, middle = size - 1, (size - 1) // 2
        asymmetric_gap = next((gap for gap in self._gaps(middle) if self.at(gap) != self.at(-gap)), None)
        steps = [(side, start, end) for side in (1, -1) for start, end in pairwise(self._gaps(last))]
        falling_step = next((step for step in steps if self._rise(*step) < 0), None)
        flat_step = next((step for step in steps if self._rise(*step) <= 0), None)
        witness: Triple | None = None
        if asymmetric_gap:
            witness = (asymmetric_gap, 0, 2 * asymmetric_gap)
        elif falling_step is not None:
            witness = _fall_witness(*falling_step, last)
        return witness, witness or (None if flat_step is None else _fall_witness(*flat_step, last))

    def _rise(self, side: int, start: int, end: int) -> Fraction:
        return self.at(side * end) - self.at(side * start)

    def _gaps(self, last: int) -> list[int]:
        """0, `last`, and the whole distances next to the points, ascending."""
        distances = {abs(error) for error, _ in self.points}
        neighbours = {
            neighbour for distance in distances for floor in (math.floor(distance),) for neighbour in (floor, floor + 1)
        }
        return sorted({0, min(1, last), last, *(gap for gap in neighbours if 0 <= gap <= last)})


def _fall_witness(side: int, start: int, end: int, last: int) -> Triple:
    """A fall from distance `start` to `end` as a truth and two readings."""
    return (0, start, end) if side > 0 else (last, last - start, last - end)


def piecewise_loss(points: Sequence[tuple[object, object]]) -> PiecewiseLoss:
    """The loss through these points (error, cost): 1 to 200, costs ≥ 0 and not all 0, no error twice."""
    if not 1 <= len(points) <= MAX_LOSS_POINTS:
        raise InputError(f"drawn must have 1 to {MAX_LOSS_POINTS} points, got {len(points)}")
    exact_points = sorted((rational(error, "drawn"), rational(cost, "drawn")) for error, cost in points)
    if any(left == right for (left, _), (right, _) in pairwise(exact_points)):
        raise InputError("drawn must have each error once, got one twice: leave one of them out")
    if any(abs(error) > MAX_ERROR or not 0 <= cost <= MAX_COST for error, cost in exact_points):
        raise InputError("drawn must have errors within ±10^30 and costs from 0 to 10^12, got others")
    if not any(cost for _, cost in exact_points):
        raise InputError("drawn must have a cost above 0, got none: raise a point")
    return PiecewiseLoss(tuple(exact_points))


def parse_points(text: str) -> PiecewiseLoss:
    """The loss that `-20:8,0:0,20:4` writes.

    >>> parse_points("-20:8,0:0,20:1/2").points[2]
    (Fraction(20, 1), Fraction(1, 2))
    """
    pairs = [tuple(pair.split(":")) for pair in text.split(",", MAX_LOSS_POINTS + 1)]
    if any(len(pair) != 2 for pair in pairs):
        raise InputError(f"loss must be {POINTS_FORM}, got text that is not")
    return piecewise_loss([(pair[0], pair[1]) for pair in pairs])


def matrix_by_error(above: Sequence[Number], below: Sequence[Number] | None = None) -> Exacts:
    """The matrix whose entry (i, j) is above[j − i], or below[i − j] where j < i."""
    size = len(above)
    values = np.empty(2 * size - 1, dtype=object)
    values[size - 1 :] = above
    values[: size - 1] = list(above if below is None else below)[:0:-1]
    counts = np.arange(size)
    return np.asarray(values[counts[None, :] - counts[:, None] + size - 1])
