"""inf_w ∫ ℓ(w, x) g(x)π(x) dx for losses that are known through a table of ℓ over multiples of the cells' width.

The cells are equal, δ wide, and readings are edges, so every gap w − x from edge to edge is a multiple of δ.

*Convex losses.* Mass moved to the ends of its cell, mean kept, pays no less; and it pays more by at most the height of
the chord above ℓ. With slopes s₋ ≤ s ≤ s₊ of the chords of a cell and of its neighbours, ℓ stays above the neighbours'
lines, so that height is at most δ(s − s₋)(s₊ − s)/(s₊ − s₋). That encloses F at every edge. F is convex in w; so with
three edges p − d, p, p + d and F(p) ≤ F(p ± d), F is nowhere below 2F(p) − max F(p ± d): beyond p ± d it is no less
than F(p), and between p and p + d it is above the line through p − d and p. Both are second order in δ.

*Other losses* that do not fall as the gap grows on either side. Readings in a range are bounded below by the gap
nearest to 0 that the range leaves each cell, above by the farthest gap of each cell from one edge. Ranges that cannot
hold a better reading are dropped, the others are halved down to single cells. That is first order in δ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.continuous.bounds.columns import Column
from utmost.continuous.bounds.float_intervals import (
    UNIT,
    Doubles,
    FloatIntervals,
    dot_above,
    dot_below,
    float_intervals,
    upper_double,
)
from utmost.continuous.bounds.prefix_readers import ReadingBounds
from utmost.continuous.losses import ContinuousLoss
from utmost.exact import ball
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

BITS = 96
LEAST = 1e-300  # heights of chords are not told apart below it
Enclosed: TypeAlias = tuple[float, float]
Places: TypeAlias = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Tabled:
    """ℓ where the truth lies kδ above the reading, |k| ≤ reach: entry k + reach."""

    values: FloatIntervals
    reach: int

    def cut(self, start: int, stop: int) -> FloatIntervals:
        """The entries for k from start to stop, both included."""
        return self.values.part(start + self.reach, stop + self.reach + 1)


def _entries(loss: ContinuousLoss, width: Fraction, reach: int) -> list[arb]:
    """ℓ(0, kδ) for k from −reach to reach, as balls."""
    return [ball(loss.of_gap(-k * width), BITS) for k in range(-reach, reach + 1)]


@dataclass(frozen=True, slots=True)
class Convex:
    """A convex loss by its table; `heights` are those of its chords above it, of the cell from kδ to (k+1)δ."""

    table: Tabled
    heights: Doubles
    degree: int = 1
    uniform: bool = True
    order: int = 2

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """Walk down to the least edge, then open the bracket until it holds."""
        hats, last = column.hats(), len(column.edges) - 1
        edges, mass = hats.edges, hats.mass
        paid: dict[int, Enclosed] = {}

        def value(edge: int) -> Enclosed:
            if edge not in paid:
                paid[edge] = self._value(edges, mass, edge)
            return paid[edge]

        best = _descended(lambda edge: value(edge)[1], hint, last)
        lower, upper = _bracketed(value, best, last)
        return ReadingBounds(_exact(lower), _exact(upper), column.edges[best], min(best, last - 1))

    def _value(self, edges: FloatIntervals, mass: FloatIntervals, place: int) -> Enclosed:
        """F at one edge, from both sides; the edge may lie outside the interval."""
        last = len(mass)
        loss = self.table.cut(-place, last - place)
        start = self.table.reach - place
        over = dot_above(mass.upper, self.heights[start : start + last])
        lower = dot_below(edges.lower, loss.lower) - over
        return max(float(np.nextafter(lower, -np.inf)), 0.0), dot_above(edges.upper, loss.upper)


def convex_reader(loss: ContinuousLoss, width: Fraction, cells: int) -> Convex:
    """The table of a convex loss for this many cells, with room for readings an interval away on either side."""
    reach = 2 * cells + 2
    with working_precision(BITS):
        entries = _entries(loss, width, reach)
        bends = [a - 2 * b + c for a, b, c in zip(entries, entries[1:], entries[2:], strict=False)]
    bend = np.maximum(np.array([upper_double(value) for value in bends]), LEAST)
    heights = np.full(2 * reach, np.inf)
    heights[1:-1] = 1 / (1 / bend[:-1] + 1 / bend[1:]) * (1 + 1e-15)
    return Convex(Tabled(float_intervals(entries), reach), heights)


def _descended(value: Callable[[int], float], hint: int, last: int) -> int:
    """The edge from which neither neighbour is lower, found in steps that grow and shrink."""
    place, step = min(max(hint, 0), last), 1
    while step:
        near = [edge for edge in (place - step, place + step) if 0 <= edge <= last]
        best = min(near, key=value, default=place)
        if value(best) < value(place):
            place, step = best, 2 * step
        else:
            step //= 2
    return place


def _bracketed(value: Callable[[int], Enclosed], place: int, last: int) -> Enclosed:
    """A lower bound of a convex function everywhere, and an upper one of its value at `place`."""
    lower, upper = value(place)
    reach = 1
    while reach <= last:
        left, right = value(place - reach), value(place + reach)
        if min(left[0], right[0]) >= upper:
            found = float(np.nextafter(2 * lower - max(left[1], right[1]), -np.inf))
            return max(found, 0.0), upper
        reach *= 2
    return 0.0, upper


@dataclass(frozen=True, slots=True)
class Unimodal:
    """A loss that does not fall as the gap grows on either side, by its table."""

    table: Tabled
    degree: int = 0
    uniform: bool = True
    order: int = 1

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The best edge found, and the ranges of readings halved until they are no lower than the cells beside it."""
        mass, last = column.masses(), len(column.edges) - 1
        best = _descended(lambda edge: self._paid(mass, edge), hint, last)
        upper, ranges, passed = self._paid(mass, best), [(0, last)], [np.inf]
        while ranges:
            beside = [(edge, edge + 1) for edge in (best - 1, best) if 0 <= edge < last]
            enough = min(self._floor(mass, *cell) for cell in beside)
            open_ranges = []
            for low, high in ranges:
                floor = self._floor(mass, low, high)
                if floor >= enough or high - low <= 1:
                    passed.append(floor)
                else:
                    open_ranges.append((low, high))
            ranges = [half for low, high in open_ranges for half in _halves(low, high)]
            best, upper = self._better(mass, [low for low, _ in ranges], best, upper)
        lower = min(passed)
        return ReadingBounds(_exact(min(lower, upper)), _exact(upper), column.edges[best], min(best, last - 1))

    def _better(self, mass: FloatIntervals, edges: Iterable[int], best: int, upper: float) -> tuple[int, float]:
        """The cheapest of some edges and the best so far."""
        paid = [(self._paid(mass, edge), edge) for edge in edges]
        least, edge = min([(upper, best), *paid])
        return edge, least

    def _paid(self, mass: FloatIntervals, place: int) -> float:
        """F at an edge from above: the far end of every cell."""
        last = len(mass)
        left = dot_above(mass.upper[:place], self.table.cut(-place, -1).upper)
        return float(np.nextafter(left + dot_above(mass.upper[place:], self.table.cut(1, last - place).upper), np.inf))

    def _floor(self, mass: FloatIntervals, low: int, high: int) -> float:
        """F over the readings from one edge to another, from below: the gap nearest to 0 that they leave every cell."""
        last = len(mass)
        left = dot_below(mass.lower[:low], self.table.cut(1 - low, 0).lower)
        right = dot_below(mass.lower[high:], self.table.cut(0, last - high - 1).lower)
        inside = dot_below(mass.lower[low:high], np.full(high - low, self.table.cut(0, 0).lower[0]))
        return float(np.nextafter(left + right + inside, -np.inf))


def _halves(low: int, high: int) -> list[tuple[int, int]]:
    middle = (low + high) // 2
    return [(low, middle), (middle, high)]


def unimodal_reader(loss: ContinuousLoss, width: Fraction, cells: int) -> Unimodal:
    """The table of such a loss for this many cells."""
    with working_precision(BITS):
        return Unimodal(Tabled(float_intervals(_entries(loss, width, cells)), cells))


@dataclass(frozen=True, slots=True)
class Window:
    """ℓ = 0 within h of the truth and 1 beyond: F(w) is the mass outside [w − h, w + h].

    From an edge the window holds `inside` = ⌊h/δ⌋ whole cells to either side; readings within a cell reach no further
    than `outside` = ⌈h/δ⌉ beyond its ends. Running sums give F at all edges and below it in all cells at once.
    """

    inside: int
    outside: int
    degree: int = 0
    uniform: bool = True
    order: int = 1

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The edge with the least mass outside its window; the cell with the least outside its widest."""
        mass, last = column.masses(), len(column.edges) - 1
        left, right = _running(mass), _running(mass.reversed())
        edges = np.arange(last + 1)
        paid = _outside(left.upper, right.upper, edges - self.inside, last - edges - self.inside)
        best = int(np.argmin(paid))
        floor = _outside(left.lower, right.lower, edges[:-1] - self.outside, last - edges[1:] - self.outside)
        lower = max(float(np.nextafter(floor.min(), -np.inf)), 0.0)
        upper = float(np.nextafter(paid[best], np.inf))
        return ReadingBounds(_exact(lower), _exact(upper), column.edges[best], min(best, last - 1))


def step_reader(h: Fraction, width: Fraction) -> Window:
    """The reader of a step loss for cells of this width."""
    return Window(h // width, -(-h // width))


def _running(mass: FloatIntervals) -> FloatIntervals:
    """Σ of the first k places, k = 0 … n."""
    doubt = (len(mass) + 4) * UNIT
    lower, upper = (np.concatenate([[0.0], np.cumsum(values)]) for values in (mass.lower, mass.upper))
    return FloatIntervals(lower * (1 - doubt), upper * (1 + doubt))


def _outside(left: Doubles, right: Doubles, before: Places, after: Places) -> Doubles:
    """What lies before and after a window, given how many cells each of them has."""
    result: Doubles = left[np.maximum(before, 0)] + right[np.maximum(after, 0)]
    return result


def _exact(value: float) -> arb:
    """A double as the number that it is."""
    from flint import arb

    return arb(value)
