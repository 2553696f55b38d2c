"""Bounds on inf_w ∫ ℓ(w, x) g(x)π(x) dx for one column g: by prefix sums, or by a table of the loss.

inf_w ∫ ℓ(w, x) g(x)π(x) dx for one column g, from both sides: losses whose infimum prefix sums give.

F(w) = ∫ ℓ(w, x) g(x)π(x) dx is what a consumer pays who reads this answer as w. A reader finds a reading, an upper
bound on F there, and a lower bound on F everywhere. Doubles may choose the reading; balls bound it.

inf_w ∫ ℓ(w, x) g(x)π(x) dx for losses that are known through a table of ℓ over multiples of the cells' width.

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
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.continuous.bounds.columns import Column
from utmost.continuous.bounds.float_intervals import (
    UNIT_IN_LAST_PLACE,
    Doubles,
    FloatIntervals,
    dot_above,
    dot_below,
    float_intervals,
    upper_double,
)
from utmost.continuous.losses import ContinuousLoss
from utmost.exact import ball
from utmost.exact.reals import midpoint
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

READING_BITS = 80  # bits that a reading between the edges keeps


@dataclass(frozen=True, slots=True)
class ReadingBounds:
    """lower ≤ inf_w F(w) ≤ F(reading) ≤ upper; `cell` is where to split x for a smaller difference."""

    lower: arb
    upper: arb
    reading: Fraction
    cell: int


class Reader(Protocol):
    """How one loss reads columns."""

    @property
    def degree(self) -> int:
        """The moments it needs."""

    @property
    def uniform(self) -> bool:
        """Does it need cells of equal width."""

    @property
    def order(self) -> int:
        """Its bounds close as cells^−order."""

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The infimum of one column; `hint` is a cell near the reading."""


@dataclass(frozen=True, slots=True)
class Squared:
    """ℓ = (w − x)²: F(w) = M₂ − 2wM₁ + w²M₀, least at the mean M₁/M₀, where it is M₂ − M₁²/M₀."""

    degree: int = 2
    uniform: bool = False
    order: int = 2

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The variance in closed form; the reading is the mean to 80 bits."""
        mass, first, second = column.total
        low = column.edges[0]
        if not mass > 0:
            return ReadingBounds(mass * 0, second.upper(), low, 0)
        mean = dyadic_midpoint(first / mass)
        w = ball(mean, 2 * READING_BITS)
        upper = (second - 2 * w * first + w * w * mass).upper()
        lower = (second - first * first / mass).lower()
        return ReadingBounds(lower if lower > 0 else mass * 0, upper, low + mean, 0)


@dataclass(frozen=True, slots=True)
class Linear:
    """ℓ = under·(x − w) for x > w and over·(w − x) for x < w: the absolute loss and its asymmetric kin.

    F is convex. At an edge e it is over·(eL₀ − L₁) + under·(R₁ − eR₀), with L and R the moments left and right of e,
    and s = over·L₀ − under·R₀ is its slope there. So for edges d < e beside the quantile and any λ from 0 to 1

        F(w) ≥ λ·(F(d) + s_d·(w − d)) + (1 − λ)·(F(e) + s_e·(w − e)),

    and λ = s_e/(s_e − s_d) makes that constant in w, up to its rounding, which is paid for over the whole interval;
    no reading outside the interval is better than all within. The bound is second order in e − d.
    """

    under: arb
    over: arb
    degree: int = 1
    uniform: bool = False
    order: int = 2

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The tangents at both ends of the quantile's cell."""
        cell = _find_crossing(lambda edge: self._slope(column, edge) < 0, hint, len(column.edges) - 1)
        left, right = self._tangent(column, cell), self._tangent(column, cell + 1)
        low, high = column.edges[0], column.edges[-1]
        lower = _bound_from_tangents(left, right, (ball(low - low, 64), ball(high - low, 256)))
        best, edge = min((left, cell), (right, cell + 1), key=lambda pair: float(pair[0].value.upper()))
        upper = best.value.upper()
        return ReadingBounds(lower if lower > 0 else upper * 0, upper, column.edges[edge], cell)

    def _slope(self, column: Column, edge: int) -> arb:
        left = column.moments_up_to(edge)[0]
        return (self.over * left - self.under * (column.total[0] - left)).mid()

    def _tangent(self, column: Column, edge: int) -> Tangent:
        left, total = column.moments_up_to(edge), column.total
        right = [a - b for a, b in zip(total, left, strict=True)]
        point = ball(column.edges[edge] - column.edges[0], 256)
        value = self.over * (point * left[0] - left[1]) + self.under * (right[1] - point * right[0])
        return Tangent(point, value, self.over * left[0] - self.under * right[0])


@dataclass(frozen=True, slots=True)
class Tangent:
    """F(point) and the slope of a line that F nowhere falls below."""

    point: arb
    value: arb
    slope: arb


def _bound_from_tangents(left: Tangent, right: Tangent, interval_ends: tuple[arb, arb]) -> arb:
    """A lower bound on F over the interval from two tangents; true for every λ in [0, 1], good for the right one."""
    slope_difference = right.slope - left.slope
    share = (right.slope / slope_difference).mid() if slope_difference > 0 else slope_difference * 0
    share = min(max(share, share * 0), share * 0 + 1)
    rest = 1 - share
    slope = share * left.slope + rest * right.slope
    intercept = share * (left.value - left.slope * left.point) + rest * (right.value - right.slope * right.point)
    return min((intercept + slope * end).lower() for end in interval_ends)


def _find_crossing(before: Callable[[int], bool], hint: int, last: int) -> int:
    """The cell whose left edge is `before` and whose right one is not, searched outwards from a hint."""
    low, high = 0, last
    guess, step = min(max(hint, 0), last), 1
    if before(guess):
        low = guess
        while low + step < last and before(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, last)
    else:
        high = guess
        while high - step > 0 and not before(high - step):
            high, step = high - step, 2 * step
        low = max(high - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return min(low, last - 1)


def dyadic_midpoint(value: arb) -> Fraction:
    """A dyadic fraction near the middle of a ball."""
    return Fraction(round(midpoint(value) * (1 << READING_BITS)), 1 << READING_BITS)


BALL_BITS = 96
SMALLEST_BEND = 1e-300  # of the loss; heights of chords are not distinguished below it
Enclosure: TypeAlias = tuple[float, float]
Indices: TypeAlias = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Tabled:
    """ℓ where the truth lies kδ above the reading, |k| ≤ reach: entry k + reach."""

    values: FloatIntervals
    reach: int

    def cut(self, start: int, stop: int) -> FloatIntervals:
        """The entries for k from start to stop, both included."""
        return self.values.part(start + self.reach, stop + self.reach + 1)


def _loss_entries(loss: ContinuousLoss, width: Fraction, reach: int) -> list[arb]:
    """ℓ(0, kδ) for k from −reach to reach, as balls."""
    return [ball(loss.of_gap(-k * width), BALL_BITS) for k in range(-reach, reach + 1)]


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
        split, last = column.hats(), len(column.edges) - 1
        edges, mass = split.edges, split.mass
        bounds_by_edge: dict[int, Enclosure] = {}

        def bounds_at(edge: int) -> Enclosure:
            if edge not in bounds_by_edge:
                bounds_by_edge[edge] = self._bounds_at(edges, mass, edge)
            return bounds_by_edge[edge]

        best = _descend(lambda edge: bounds_at(edge)[1], hint, last)
        lower, upper = _bracket(bounds_at, best, last)
        return ReadingBounds(_exact_ball(lower), _exact_ball(upper), column.edges[best], min(best, last - 1))

    def _bounds_at(self, edges: FloatIntervals, mass: FloatIntervals, edge: int) -> Enclosure:
        """F at one edge, from both sides; the edge may lie outside the interval."""
        last = len(mass)
        loss = self.table.cut(-edge, last - edge)
        start = self.table.reach - edge
        chord_excess = dot_above(mass.upper, self.heights[start : start + last])
        lower = dot_below(edges.lower, loss.lower) - chord_excess
        return max(float(np.nextafter(lower, -np.inf)), 0.0), dot_above(edges.upper, loss.upper)


def convex_reader(loss: ContinuousLoss, width: Fraction, cells: int) -> Convex:
    """The table of a convex loss for this many cells, with room for readings an interval away on either side."""
    reach = 2 * cells + 2
    with working_precision(BALL_BITS):
        entries = _loss_entries(loss, width, reach)
        bends = [a - 2 * b + c for a, b, c in zip(entries, entries[1:], entries[2:], strict=False)]
    bend = np.maximum(np.array([upper_double(value) for value in bends]), SMALLEST_BEND)
    heights = np.full(2 * reach, np.inf)
    heights[1:-1] = 1 / (1 / bend[:-1] + 1 / bend[1:]) * (1 + 1e-15)
    return Convex(Tabled(float_intervals(entries), reach), heights)


def _descend(value: Callable[[int], float], hint: int, last: int) -> int:
    """The edge from which neither neighbour is lower, found in steps that grow and shrink."""
    edge, step = min(max(hint, 0), last), 1
    while step:
        neighbours = [neighbour for neighbour in (edge - step, edge + step) if 0 <= neighbour <= last]
        best = min(neighbours, key=value, default=edge)
        if value(best) < value(edge):
            edge, step = best, 2 * step
        else:
            step //= 2
    return edge


def _bracket(bounds_at: Callable[[int], Enclosure], edge: int, last: int) -> Enclosure:
    """A lower bound of a convex function everywhere, and an upper one of its value at `edge`."""
    lower, upper = bounds_at(edge)
    reach = 1
    while reach <= last:
        left, right = bounds_at(edge - reach), bounds_at(edge + reach)
        if min(left[0], right[0]) >= upper:
            floor = float(np.nextafter(2 * lower - max(left[1], right[1]), -np.inf))
            return max(floor, 0.0), upper
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
        best = _descend(lambda edge: self._upper_value(mass, edge), hint, last)
        upper, ranges, floors = self._upper_value(mass, best), [(0, last)], [np.inf]
        while ranges:
            adjacent_cells = [(edge, edge + 1) for edge in (best - 1, best) if 0 <= edge < last]
            target = min(self._lower_value(mass, *cell) for cell in adjacent_cells)
            open_ranges = []
            for low, high in ranges:
                floor = self._lower_value(mass, low, high)
                if floor >= target or high - low <= 1:
                    floors.append(floor)
                else:
                    open_ranges.append((low, high))
            ranges = [half for low, high in open_ranges for half in _split_range(low, high)]
            best, upper = self._best_of(mass, [low for low, _ in ranges], best, upper)
        lower = min(floors)
        return ReadingBounds(
            _exact_ball(min(lower, upper)), _exact_ball(upper), column.edges[best], min(best, last - 1)
        )

    def _best_of(self, mass: FloatIntervals, edges: Iterable[int], best: int, upper: float) -> tuple[int, float]:
        """The cheapest of some edges and the best so far."""
        candidates = [(self._upper_value(mass, edge), edge) for edge in edges]
        value, edge = min([(upper, best), *candidates])
        return edge, value

    def _upper_value(self, mass: FloatIntervals, edge: int) -> float:
        """F at an edge from above: the far end of every cell."""
        last = len(mass)
        left = dot_above(mass.upper[:edge], self.table.cut(-edge, -1).upper)
        return float(np.nextafter(left + dot_above(mass.upper[edge:], self.table.cut(1, last - edge).upper), np.inf))

    def _lower_value(self, mass: FloatIntervals, low: int, high: int) -> float:
        """F over the readings from one edge to another, from below: the gap nearest to 0 that they leave every cell."""
        last = len(mass)
        left = dot_below(mass.lower[:low], self.table.cut(1 - low, 0).lower)
        right = dot_below(mass.lower[high:], self.table.cut(0, last - high - 1).lower)
        middle = dot_below(mass.lower[low:high], np.full(high - low, self.table.cut(0, 0).lower[0]))
        return float(np.nextafter(left + right + middle, -np.inf))


def _split_range(low: int, high: int) -> list[tuple[int, int]]:
    middle = (low + high) // 2
    return [(low, middle), (middle, high)]


def unimodal_reader(loss: ContinuousLoss, width: Fraction, cells: int) -> Unimodal:
    """The table of such a loss for this many cells."""
    with working_precision(BALL_BITS):
        return Unimodal(Tabled(float_intervals(_loss_entries(loss, width, cells)), cells))


@dataclass(frozen=True, slots=True)
class Window:
    """ℓ = 0 within h of the truth and 1 beyond: F(w) is the mass outside [w − h, w + h].

    From an edge the window holds `whole_cells` = ⌊h/δ⌋ whole cells to either side; readings within a cell reach no
    further than `reach_cells` = ⌈h/δ⌉ beyond its ends. Running sums give F at all edges and below it in all cells at
    once.
    """

    whole_cells: int
    reach_cells: int
    degree: int = 0
    uniform: bool = True
    order: int = 1

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The edge with the least mass outside its window; the cell with the least outside its widest."""
        mass, last = column.masses(), len(column.edges) - 1
        left, right = _running_sums(mass), _running_sums(mass.reversed())
        edges = np.arange(last + 1)
        edge_values = _mass_outside(left.upper, right.upper, edges - self.whole_cells, last - edges - self.whole_cells)
        best = int(np.argmin(edge_values))
        cell_floors = _mass_outside(
            left.lower, right.lower, edges[:-1] - self.reach_cells, last - edges[1:] - self.reach_cells
        )
        lower = max(float(np.nextafter(cell_floors.min(), -np.inf)), 0.0)
        upper = float(np.nextafter(edge_values[best], np.inf))
        return ReadingBounds(_exact_ball(lower), _exact_ball(upper), column.edges[best], min(best, last - 1))


def step_reader(h: Fraction, width: Fraction) -> Window:
    """The reader of a step loss for cells of this width."""
    return Window(h // width, -(-h // width))


def _running_sums(mass: FloatIntervals) -> FloatIntervals:
    """Σ of the first k masses, k = 0 … n."""
    rounding = (len(mass) + 4) * UNIT_IN_LAST_PLACE
    lower, upper = (np.concatenate([[0.0], np.cumsum(values)]) for values in (mass.lower, mass.upper))
    return FloatIntervals(lower * (1 - rounding), upper * (1 + rounding))


def _mass_outside(left: Doubles, right: Doubles, before: Indices, after: Indices) -> Doubles:
    """What lies before and after a window, given how many cells each of them has."""
    result: Doubles = left[np.maximum(before, 0)] + right[np.maximum(after, 0)]
    return result


def _exact_ball(value: float) -> arb:
    """A double as the number that it is."""
    from flint import arb

    return arb(value)
