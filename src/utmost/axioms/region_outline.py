"""The region that a rule allows, as shapes for a chart: cells with vertical sides, and M and m as polygonal lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from utmost.axioms.curves import Curve, Point
from utmost.axioms.pair_rules import AllowedPairs
from utmost.axioms.regions import Column, End, Region
from utmost.exact import Number

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
