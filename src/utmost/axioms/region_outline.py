"""What a rule allows, as shapes to be drawn: cells with upright sides, and the bounds M and m as broken lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from utmost.axioms.curves import Curve, Point
from utmost.axioms.regions import Column, End, Region
from utmost.axioms.rules import AllowedPairs
from utmost.exact import Number

Side: TypeAlias = tuple[Number, Number, Number]  # a place, the lower and the upper height there
Cell: TypeAlias = tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Outline:
    """Cells that are allowed, pieces of M and of m (pairs of points), and single allowed points."""

    cells: tuple[Cell, ...]
    upper: tuple[tuple[Point, Point], ...]
    lower: tuple[tuple[Point, Point], ...]
    spots: tuple[Point, ...]


def region_outline(allowed: AllowedPairs) -> Outline:
    """The cells of a region between its lines, or the allowed points of a grid."""
    if not allowed.certain:
        marks = allowed.grid.marks
        return Outline((), (), (), tuple((a, b) for a in marks for b in marks if allowed(a, b)))
    bound = allowed.bound
    if bound is not None:
        return _between(bound)
    return _cut(allowed.region)


def _between(curve: Curve) -> Outline:
    """Between m and M."""
    lower = curve.reflected
    ordered = sorted({a for a, _ in (*curve.points, *lower.points)})
    cells = [
        ((a, lower.inside(a), curve.inside(a)), (b, lower.inside(b), curve.inside(b))) for a, b in pairwise(ordered)
    ]
    return Outline(tuple(cells), tuple(pairwise(curve.points)), tuple(pairwise(lower.points)), ())


def _cut(region: Region) -> Outline:
    """The open cells that are allowed, the ends in each strip, and ends at single places that no strip leads to."""
    strips = range(1, len(region.columns), 2)
    cells = tuple(cell for k in strips for cell in _cells(region, k))
    upper = _ends(region, [(k, end) for k in strips if (end := region.columns[k].top) is not None])
    lower = _ends(region, [(k, end) for k in strips if (end := region.columns[k].bottom) is not None])
    columns = region.columns[::2]
    spots = [(c.place, end.value) for c in columns for end in (c.top, c.bottom) if end is not None and end.attained]
    known = [point for line in (*upper, *lower) for point in line]
    return Outline(cells, upper, lower, tuple(spot for spot in spots if spot not in known))


def _sides(region: Region, k: int) -> tuple[Number, Number]:
    return region.columns[k - 1].place, region.columns[k + 1].place


def _cells(region: Region, k: int) -> list[Cell]:
    column, (left, right) = region.columns[k], _sides(region, k)
    ends = [(region.along(column, b, left), region.along(column, b, right)) for b in column.heights]
    open_faces = [face for face in range(1, len(column.allowed), 2) if column.allowed[face]]
    pairs = [(ends[face // 2], ends[face // 2 + 1]) for face in open_faces]
    return [((left, low[0], high[0]), (right, low[1], high[1])) for low, high in pairs]


def _ends(region: Region, ends: list[tuple[int, End]]) -> tuple[tuple[Point, Point], ...]:
    found: list[tuple[Point, Point]] = []
    for k, end in ends:
        left, right = ((side, region.along(region.columns[k], end.value, side)) for side in _sides(region, k))
        found.append((left, right))
    return tuple(found)


def bound_ends(allowed: AllowedPairs) -> list[tuple[Number, Number | None, Number | None]]:
    """(a, m(a), M(a)) wherever one of the two bends or jumps, exact; of a function, at the places of its grid.

    None where nothing is allowed at a. KL10 Prop. 2.2.3's M_q and m_q: they say all where sections are intervals.
    """
    upper = allowed.bound
    if upper is not None:
        lower = upper.reflected
        return [(a, lower(a), upper(a)) for a in sorted({a for a, _ in (*upper.points, *lower.points)})]
    if not allowed.certain:
        tops = dict(allowed.grid.tops)
        known = {1 - a: 1 - b for a, b in tops.items()}
        return [(a, known.get(a), tops.get(a)) for a in allowed.grid.marks]
    columns = allowed.region.columns
    kept = [
        k for k in range(0, len(columns), 2) if not (0 < k < len(columns) - 1 and _straight(columns[k - 1 : k + 2]))
    ]
    return [(columns[k].place, _value(columns[k].bottom), _value(columns[k].top)) for k in kept]


def _value(end: End | None) -> Number | None:
    return None if end is None else end.value


def _straight(columns: Sequence[Column]) -> bool:
    """Are both ends of three columns, side by side, each on one line."""
    left, middle, right = columns
    share = (middle.place - left.place) / (right.place - left.place)
    for some in ([c.top for c in columns], [c.bottom for c in columns]):
        low, here, high = (_value(end) for end in some)
        if low is None or here is None or high is None:
            if not low is here is high:
                return False
        elif here != low + share * (high - low):
            return False
    return True
