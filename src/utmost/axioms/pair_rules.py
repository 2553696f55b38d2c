"""Rules for an ordered pair of secrets: bounds, predicates, Python functions; what a rule and its reverse allow.

Predicates that are Python functions, evaluated on a grid of fractions.

A failure found on the grid is a proof: its three points are checked by the function itself. No failure proves nothing
beyond the grid, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TypeAlias

from utmost.axioms import regions
from utmost.axioms.curves import Curve, Point, curve_from_points, pointwise_minimum
from utmost.axioms.definition import bound_fault
from utmost.axioms.predicate import Predicate
from utmost.axioms.regions import Column, ConvexityGap, End, Region, region
from utmost.errors import InputError, UtmostError
from utmost.exact import Number

DEFAULT_GRID_STEPS = 24
MAX_GRID_STEPS = 200
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class SampledPredicate:
    """A predicate q(a, b) given by a function of two exact numbers, and the fineness of the grid it is looked at on.

    >>> SampledPredicate(lambda a, b: b <= 2 * a)(Fraction(1, 4), Fraction(1, 2))
    True
    """

    function: Callable[[Number, Number], object]
    steps: int = DEFAULT_GRID_STEPS

    def __post_init__(self) -> None:
        """Refuse a grid that is none or takes for ever."""
        if not 2 <= self.steps <= MAX_GRID_STEPS:
            raise InputError(f"steps of a grid must be from 2 to {MAX_GRID_STEPS}, got {self.steps}", "steps")

    def __call__(self, a: Number, b: Number) -> bool:
        """q(a, b) as the function answers."""
        try:
            answer = self.function(a, b)
        except UtmostError:
            raise
        except Exception as problem:
            kind = type(problem).__name__
            raise InputError(
                f"predicate must answer for all fractions in [0, 1], it raised {kind}", "predicate"
            ) from None
        if answer is not True and answer is not False:
            raise InputError(f"predicate must answer True or False, got {type(answer).__name__}", "predicate")
        return answer


@dataclass(frozen=True, slots=True)
class PredicateGrid:
    """A symmetrised predicate `holds` on the points (j/steps, k/steps)."""

    holds: Callable[[Number, Number], bool]
    steps: int

    def __call__(self, a: Number, b: Number) -> bool:
        """Is (a, b) allowed."""
        return self.holds(a, b)

    @property
    def marks(self) -> list[Fraction]:
        """0, 1/steps, …, 1."""
        return [Fraction(k, self.steps) for k in range(self.steps + 1)]

    @property
    def tops(self) -> list[Point]:
        """The highest allowed point of the grid at each of its arguments."""
        columns = [(a, [b for b in self.marks if self(a, b)]) for a in self.marks]
        return [(a, heights[-1]) for a, heights in columns if heights]

    def gap(self) -> ConvexityGap | None:
        """Two allowed points with one between them that is not: on the diagonal, upright, or along chords of tops."""
        return next((gap for gap in self._triples() if not self(*gap.missing)), None)

    def _triples(self) -> Iterator[ConvexityGap]:
        for mark in self.marks:
            yield ConvexityGap((ZERO, ZERO), (ONE, ONE), (mark, mark))
        tops = self.tops
        for a, top in tops:
            yield from (ConvexityGap((a, a), (a, top), (a, b)) for b in self.marks if a < b < top)
        for left, right in combinations(tops, 2):
            for middle, _ in tops:
                if left[0] < middle < right[0]:
                    share = (middle - left[0]) / (right[0] - left[0])
                    yield ConvexityGap(left, right, (middle, left[1] + share * (right[1] - left[1])))

    def closure(self) -> Curve:
        """The least bound above what the grid shows to be allowed: a lower bound on the closure."""
        heights = dict(self.tops)
        return curve_from_points([(a, max(a, heights.get(a, ZERO))) for a in self.marks]).hull


Rule: TypeAlias = Curve | Predicate | SampledPredicate
DIAGONAL = curve_from_points([(0, 0), (1, 1)])
TRIVIAL_BOUND = curve_from_points([(0, 1), (1, 1)])


def permits(rule: Rule, a: Number, b: Number) -> bool:
    """Does a rule allow (a, b) for an event and (1−a, 1−b) for its complement; a curve M allows b ≤ M(a)."""
    if isinstance(rule, Curve):
        return bool(b <= rule(a) and 1 - b <= rule(1 - a))
    return rule(a, b) and rule(1 - a, 1 - b)


@dataclass(frozen=True, slots=True)
class AllowedPairs:
    """The pairs (a, b) that `rule` allows for (i₁, i₂) and `reverse_rule`, if there is one, for (i₂, i₁)."""

    rule: Rule
    reverse_rule: Rule | None = None

    def __call__(self, a: Number, b: Number) -> bool:
        """Is (a, b) allowed, and (1−a, 1−b)."""
        return permits(self.rule, a, b) and (self.reverse_rule is None or permits(self.reverse_rule, b, a))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The one or two rules."""
        return (self.rule,) if self.reverse_rule is None else (self.rule, self.reverse_rule)

    @property
    def certain(self) -> bool:
        """Is it known everywhere, and not on a grid alone."""
        return not any(isinstance(rule, SampledPredicate) for rule in self.rules)

    @property
    def bounds(self) -> bool:
        """Are the rules bounds in the sense of KL10 Def. 2.1.3: then what they allow is convex."""
        return all(isinstance(rule, Curve) and bound_fault(rule) is None for rule in self.rules)

    @property
    def bound(self) -> Curve | None:
        """The one bound that says the same, where the rules are bounds; None if they are not, or jump and are two.

        The reversed bound of the reversed pair is one for the pair itself, and the least of two bounds is a bound.
        """
        if not self.bounds or not isinstance(self.rule, Curve) or not isinstance(self.reverse_rule, Curve | None):
            return None
        if self.reverse_rule is None:
            return self.rule
        return (
            None
            if self.rule.jumps or self.reverse_rule.jumps
            else pointwise_minimum([self.rule, self.reverse_rule.reversed])
        )

    @property
    def grid(self) -> PredicateGrid:
        """The same on the finest of the grids of its functions."""
        return PredicateGrid(self, max(rule.steps for rule in self.rules if isinstance(rule, SampledPredicate)))

    @property
    def region(self) -> Region:
        """The same, cut by lines; of exact rules."""
        exact_rules = [rule for rule in self.rules if not isinstance(rule, SampledPredicate)]
        return region(*exact_rules)

    def gap(self) -> ConvexityGap | None:
        """Two allowed points with one between them that is not; None if the allowed are convex, or the grid shows none.

        Of rules that allow (0, 0), and hence (1, 1).
        """
        if not self.certain:
            return self.grid.gap()
        if self.bounds:
            return None
        if isinstance(self.rule, Curve) and self.reverse_rule is None:
            return _curve_gap(self.rule)
        return regions.convexity_gap(self.region)


def _curve_gap(curve: Curve) -> ConvexityGap | None:
    """For b ≤ M(a) and its complement: an a with M(a) < a, or else a dent of min(M, 1)."""
    excess = DIAGONAL.below(curve)
    if excess.amount > 0:
        a = excess.argument if excess.attained else _find_below_diagonal(curve, excess.argument)
        return ConvexityGap((ZERO, ZERO), (ONE, ONE), (a, a))
    dent = pointwise_minimum([curve, TRIVIAL_BOUND]).dent
    if dent is None:
        return None
    return ConvexityGap(dent.left, dent.right, (dent.middle[0], dent.middle[1] + dent.depth))


def _find_below_diagonal(curve: Curve, end: Number) -> Number:
    """An a with M(a) < a near an end where the limit of M is below the end itself."""
    step = Fraction(1, 2)
    while True:
        a = step if end == 0 else 1 - step
        if curve(a) < a:
            return a
        step /= 2


Side: TypeAlias = tuple[Number, Number, Number]  # an argument, the lower and the upper height there
Cell: TypeAlias = tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Outline:
    """Cells that are allowed, pieces of M and of m (pairs of points), and single allowed points."""

    cells: tuple[Cell, ...]
    upper: tuple[tuple[Point, Point], ...]
    lower: tuple[tuple[Point, Point], ...]
    isolated_points: tuple[Point, ...]


def region_outline(allowed_pairs: AllowedPairs) -> Outline:
    """The cells of a region between its lines, or the allowed points of a grid."""
    if not allowed_pairs.certain:
        marks = allowed_pairs.grid.marks
        return Outline((), (), (), tuple((a, b) for a in marks for b in marks if allowed_pairs(a, b)))
    bound = allowed_pairs.bound
    if bound is not None:
        return _bound_outline(bound)
    return _cell_outline(allowed_pairs.region)


def _bound_outline(curve: Curve) -> Outline:
    """Between m and M."""
    lower = curve.reflected
    breakpoints = sorted({a for a, _ in (*curve.points, *lower.points)})
    cells = [
        ((a, lower.inside(a), curve.inside(a)), (b, lower.inside(b), curve.inside(b))) for a, b in pairwise(breakpoints)
    ]
    return Outline(tuple(cells), tuple(pairwise(curve.points)), tuple(pairwise(lower.points)), ())


def _cell_outline(region: Region) -> Outline:
    """The open cells that are allowed, the ends in each strip, and ends at single arguments that no strip leads to."""
    strips = range(1, len(region.columns), 2)
    cells = tuple(cell for k in strips for cell in _strip_cells(region, k))
    upper = _end_lines(region, [(k, end) for k in strips if (end := region.columns[k].top) is not None])
    lower = _end_lines(region, [(k, end) for k in strips if (end := region.columns[k].bottom) is not None])
    columns = region.columns[::2]
    attained_points = [
        (c.argument, end.value) for c in columns for end in (c.top, c.bottom) if end is not None and end.attained
    ]
    line_points = [point for line in (*upper, *lower) for point in line]
    return Outline(
        cells, upper, lower, tuple(end_point for end_point in attained_points if end_point not in line_points)
    )


def _sides(region: Region, k: int) -> tuple[Number, Number]:
    return region.columns[k - 1].argument, region.columns[k + 1].argument


def _strip_cells(region: Region, k: int) -> list[Cell]:
    column, (left, right) = region.columns[k], _sides(region, k)
    side_heights = [(region.along(column, b, left), region.along(column, b, right)) for b in column.heights]
    open_faces = [face for face in range(1, len(column.allowed), 2) if column.allowed[face]]
    pairs = [(side_heights[face // 2], side_heights[face // 2 + 1]) for face in open_faces]
    return [((left, low[0], high[0]), (right, low[1], high[1])) for low, high in pairs]


def _end_lines(region: Region, strip_ends: list[tuple[int, End]]) -> tuple[tuple[Point, Point], ...]:
    lines: list[tuple[Point, Point]] = []
    for k, end in strip_ends:
        left, right = ((side, region.along(region.columns[k], end.value, side)) for side in _sides(region, k))
        lines.append((left, right))
    return tuple(lines)


def bound_ends(allowed_pairs: AllowedPairs) -> list[tuple[Number, Number | None, Number | None]]:
    """(a, m(a), M(a)) wherever one of the two bends or jumps, exact; of a function, at the arguments of its grid.

    None where nothing is allowed at a. KL10 Prop. 2.2.3's M_q and m_q: they say all where sections are intervals.
    """
    upper = allowed_pairs.bound
    if upper is not None:
        lower = upper.reflected
        return [(a, lower(a), upper(a)) for a in sorted({a for a, _ in (*upper.points, *lower.points)})]
    if not allowed_pairs.certain:
        tops = dict(allowed_pairs.grid.tops)
        bottoms = {1 - a: 1 - b for a, b in tops.items()}
        return [(a, bottoms.get(a), tops.get(a)) for a in allowed_pairs.grid.marks]
    columns = allowed_pairs.region.columns
    bend_indices = [
        k for k in range(0, len(columns), 2) if not (0 < k < len(columns) - 1 and _is_straight(columns[k - 1 : k + 2]))
    ]
    return [(columns[k].argument, _end_value(columns[k].bottom), _end_value(columns[k].top)) for k in bend_indices]


def _end_value(end: End | None) -> Number | None:
    return None if end is None else end.value


def _is_straight(columns: Sequence[Column]) -> bool:
    """Are both ends of three columns, side by side, each on one line."""
    left, middle, right = columns
    share = (middle.argument - left.argument) / (right.argument - left.argument)
    for ends in ([c.top for c in columns], [c.bottom for c in columns]):
        low, middle_value, high = (_end_value(end) for end in ends)
        if low is None or middle_value is None or high is None:
            if not low is middle_value is high:
                return False
        elif middle_value != low + share * (high - low):
            return False
    return True
