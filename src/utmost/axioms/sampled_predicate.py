"""Predicates that are Python functions, evaluated on a grid of fractions.

A failure found on the grid is a proof: its three points are checked by the function itself. No failure proves nothing
beyond the grid, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from utmost.axioms.curves import Curve, Point, curve_from_points
from utmost.axioms.region_convexity import ConvexityGap
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
