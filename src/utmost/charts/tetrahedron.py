"""Distributions over four secrets as points of a tetrahedron, seen from a fixed place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.charts.export import add_title, apply_style
from utmost.charts.simplex import MIN_DOT_AREA, Point, Posterior, dot_area, dot_style
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

Floats: TypeAlias = npt.NDArray[np.float64]
View: TypeAlias = tuple[float, float, float, float]  # left, right, low, high
Mark: TypeAlias = tuple[str, Point, float]  # a name, what it names, the area of its dot

CORNERS: Floats = np.array(
    [
        [-1.0, -1 / math.sqrt(3), 0.0],
        [1.0, -1 / math.sqrt(3), 0.0],
        [0.0, 2 / math.sqrt(3), 0.0],
        [0.0, 0.0, 2 * math.sqrt(2 / 3)],
    ]
)
# Of the viewer about the upright axis, and above the ground: so one edge is behind and no corner before the body.
TURN, TILT = math.radians(38), math.radians(12)
SIDE = 400  # pixels of a panel
WHOLE: View = (-1.3, 1.3, -0.6, 2.0)  # the view of the whole tetrahedron; as wide as high
ROOM = 0.16  # around the region in its own panel, in parts of its size
FRONT, BACK = "#2c6aa8", "#a9c3dc"
LIGHT: Floats = np.array([-0.35, 0.55, 0.76])  # where it comes from: above, left, before
LETTER, TALL = 7.4, 13.0  # pixels that a letter of a name takes, across and up
CROSS = 100  # the area of the prior's cross


def seen(points: Sequence[Point]) -> Floats:
    """Where distributions over four secrets are seen: across, up, and how near to the viewer."""
    place = np.array(points, dtype=np.float64) @ CORNERS
    across = math.cos(TURN) * place[:, 0] + math.sin(TURN) * place[:, 1]
    away = math.cos(TURN) * place[:, 1] - math.sin(TURN) * place[:, 0]
    up = math.cos(TILT) * place[:, 2] + math.sin(TILT) * away
    near = math.sin(TILT) * place[:, 2] - math.cos(TILT) * away
    return np.column_stack([across, up, near])


def tetrahedron_chart(
    labels: Sequence[str],
    title: str,
    subtitle: str = "",
    *,
    region: Sequence[Point] = (),
    posteriors: Sequence[Posterior] = (),
    prior: Point | None = None,
) -> alt.TopLevelMixin:
    """The tetrahedron of all distributions over four secrets, and beside it the region that privacy leaves, enlarged.

    The region's faces towards the viewer are shaded, edges behind it are pale; posteriors are dots whose areas are
    their weights.
    """
    import altair as alt

    if len(labels) != 4:
        raise InputError(f"a tetrahedron shows four secrets, got {len(labels)}: use simplex for three, or a heat map")
    inner = [*region, *(p.point for p in posteriors)]
    views = [WHOLE, *([_around_all(seen(inner))] if inner else [])]
    panels = []
    for view in views:
        layers = [*_body(region, view), *_dots(posteriors, view), *([_cross(prior, view)] if prior is not None else [])]
        behind, before = _frame(labels) if view == WHOLE else ([], _names(region, posteriors, prior, view))
        panels.append(alt.layer(*behind, *layers, *before).properties(width=SIDE, height=SIDE))
    return apply_style(alt.hconcat(*panels, spacing=24, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _around_all(spots: Floats) -> View:
    """The square view that holds these points, with room for names."""
    low, high = spots[:, :2].min(axis=0), spots[:, :2].max(axis=0)
    half = (0.5 + ROOM) * max(*(high - low), 1e-6)
    (x, y) = (low + high) / 2
    return float(x - half), float(x + half), float(y - half), float(y + half)


def _place(view: View, **more: Any) -> dict[str, Any]:
    import altair as alt

    across, up = (alt.Scale(domain=list(ends), nice=False, zero=False) for ends in (view[:2], view[2:]))
    return {"x": alt.X("x:Q", scale=across, axis=None), "y": alt.Y("y:Q", scale=up, axis=None), **more}


def _chart(values: Sequence[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(values)))


def _paths(points: Floats, paths: Sequence[Sequence[int]], view: View, **style: Any) -> Any:
    """Lines through points, each path by their numbers, all of one style."""
    values = [
        {"path": k, "order": i, "x": float(points[p, 0]), "y": float(points[p, 1])}
        for k, path in enumerate(paths)
        for i, p in enumerate(path)
    ]
    return _chart(values).mark_line(clip=True, **style).encode(**_place(view, order="order:O", detail="path:N"))


def _frame(labels: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """What is behind the body: the farthest edge, dashed; and before it: the other five, and the corners' names.

    The four corners are corners of what is seen, so a name on the far side of the middle lies outside the solid.
    """
    corners = seen([tuple(float(k == x) for k in range(4)) for x in range(4)])
    far, *others = sorted(combinations(range(4), 2), key=lambda pair: corners[list(pair), 2].sum())
    names = []
    for label, corner, (x, y) in zip(labels, corners, corners[:, :2] - corners[:, :2].mean(axis=0), strict=True):
        side = "left" if x > abs(y) / 2 else "right" if x < -abs(y) / 2 else "center"
        dx, dy = 12 / math.hypot(x, y) * np.array([x, -y]) * (1 if side != "center" else 1.3)
        word = _chart([{"x": float(corner[0]), "y": float(corner[1]), "name": str(label)}])
        text = word.mark_text(dx=float(dx), dy=float(dy), align=side, fontSize=15, fontWeight="bold", color="#222")
        names.append(text.encode(**_place(WHOLE, text="name:N")))
    edge = {"color": "#888", "strokeWidth": 1.2}
    return [_paths(corners, [far], WHOLE, strokeDash=[5, 4], **edge)], [_paths(corners, others, WHOLE, **edge), *names]


def facets(points: Floats) -> list[tuple[Floats, list[int]]]:
    """The faces of a convex body in space: each with its outer normal and its corners, in order around it.

    There are none where the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return []
    planes: list[tuple[Floats, set[int]]] = []
    for triangle, equation in zip(hull.simplices, hull.equations, strict=True):
        corners = next((known for plane, known in planes if np.allclose(plane, equation, atol=1e-7)), None)
        if corners is None:
            corners = set()
            planes.append((equation, corners))
        corners.update(int(k) for k in triangle)
    return [(plane[:3], _around(points, sorted(corners), plane[:3])) for plane, corners in planes]


def _around(points: Floats, corners: list[int], normal: Floats) -> list[int]:
    middle = points[corners].mean(axis=0)
    first = points[corners[0]] - middle
    second = np.cross(normal, first)
    turns = [math.atan2((points[k] - middle) @ second, (points[k] - middle) @ first) for k in corners]
    return [corners[k] for k in np.argsort(turns)]


def _body(region: Sequence[Point], view: View) -> list[Any]:
    """Faces towards the viewer shaded by their slope; edges of theirs strong, the others pale."""
    if not region:
        return []
    points = seen(region)
    strong, weak = edges(points)
    dots = _chart([{"x": float(x), "y": float(y)} for x, y, _ in points])
    size = MIN_DOT_AREA / 3 if view == WHOLE else MIN_DOT_AREA
    return [
        _paths(points, weak, view, color=BACK, strokeWidth=1.1, strokeDash=[3, 3]),
        *(_face(points, corners, normal, view) for normal, corners in facets(points) if normal[2] > 0),
        _paths(points, strong, view, color=FRONT, strokeWidth=1.6),
        dots.mark_point(filled=True, size=size, color=FRONT, opacity=1).encode(**_place(view)),
    ]


def edges(points: Floats) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The edges of a body that belong to a face towards the viewer, and the others."""
    faces = facets(points)
    strong, weak = (_sides([corners for normal, corners in faces if (normal[2] > 0) == near]) for near in (True, False))
    return sorted(strong), sorted(weak - strong)


def _sides(faces: Sequence[list[int]]) -> set[tuple[int, int]]:
    pairs = (pair for face in faces for pair in zip(face, [*face[1:], face[0]], strict=True))
    return {(min(pair), max(pair)) for pair in pairs}


def _face(points: Floats, corners: list[int], normal: Floats, view: View) -> Any:
    style = {"fill": FRONT, "fillOpacity": 0.34 - 0.22 * float(normal @ LIGHT), "strokeWidth": 0}
    return _paths(points, [corners], view, filled=True, interpolate="linear-closed", **style)


def _dots(posteriors: Sequence[Posterior], view: View) -> list[Any]:
    if not posteriors:
        return []
    values = [
        {"x": float(x), "y": float(y), "group": p.group, "size": dot_area(p) * (0.25 if view == WHOLE else 1)}
        for p, (x, y, _) in zip(posteriors, seen([p.point for p in posteriors]), strict=True)
    ]
    dots = _chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    return [dots.encode(**_place(view, **dot_style(posteriors, "top-left")))]


def _cross(prior: Point, view: View) -> Any:
    ((x, y, _),) = seen([prior])
    size = CROSS / 2 if view == WHOLE else CROSS
    cross = _chart([{"x": float(x), "y": float(y)}])
    return cross.mark_point(shape="cross", filled=True, size=size, color="#222", opacity=1).encode(**_place(view))


def _names(region: Sequence[Point], posteriors: Sequence[Posterior], prior: Point | None, view: View) -> list[Any]:
    """The names of the posteriors and of the prior, each beside its dot, clear of edges, dots and other names."""
    marks = [(p.name, p.point, dot_area(p)) for p in posteriors]
    marks += [("prior", prior, float(CROSS))] if prior is not None else []
    if not marks:
        return []
    spots = seen([point for _, point, _ in marks])
    drawn = []
    for (name, _, _), (x, y, _), (dx, dy) in zip(marks, spots, _asides(marks, region, view), strict=True):
        word = _chart([{"x": float(x), "y": float(y), "name": name}]).mark_text(
            dx=dx, dy=dy, align="center", baseline="middle", fontSize=12, color="#222"
        )
        drawn.append(word.encode(**_place(view, text="name:N")))
    return drawn


def _asides(marks: Sequence[Mark], region: Sequence[Point], view: View) -> list[tuple[float, float]]:
    """Pixels from each dot to the middle of its name, down being positive: the place that covers least of the ink.

    Ink is points along the edges and over the dots; a name that has its place is ink to the next. Among equals a name
    stands near its dot and on the far side of the region's middle.
    """
    scale = SIDE / (view[1] - view[0]) * np.array([1, -1])
    spots = scale * seen([point for _, point, _ in marks])[:, :2]
    body = scale * seen(region)[:, :2] if region else spots
    lines = [pair for pairs in edges(seen(region)) for pair in pairs] if region else []
    ink = [np.linspace(body[a], body[b], SIDE // 2) for a, b in lines]
    ink += [_over(spot, np.full(2, math.sqrt(size) / 2)) for spot, (_, _, size) in zip(spots, marks, strict=True)]
    chosen = []
    for spot, (name, _, size) in zip(spots, marks, strict=True):
        half = np.array([LETTER * len(name), TALL]) / 2
        places, costs = _places(spot - body.mean(axis=0), math.sqrt(size / math.pi), half)
        covered = np.abs(np.vstack(ink) - spot - places[:, None]) < half + 1.5
        place = places[np.argmin(costs + 5 * covered.all(axis=2).sum(axis=1))]
        ink.append(_over(spot + place, half))
        chosen.append((float(place[0]), float(place[1])))
    return chosen


def _over(middle: Floats, half: Floats) -> Floats:
    """Points all over a box."""
    steps = np.linspace(-1, 1, 9)
    return np.array([middle + half * (x, y) for x in steps for y in steps])


def _places(outward: Floats, radius: float, half: Floats) -> tuple[Floats, Floats]:
    """Middles of a box around a dot, in all directions, nearer and farther; and how much each is to be avoided."""
    turns, gaps = (
        grid.ravel() for grid in np.meshgrid(np.linspace(0, 2 * math.pi, 48, endpoint=False), (3, 6, 10, 15))
    )
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    reach = (half / np.maximum(np.abs(ways), 1e-9)).min(axis=1)  # from a box's middle to its side
    out = ways @ outward / max(float(np.hypot(*outward)), 1e-9)
    return ways * (radius + gaps + reach)[:, None], gaps / 3 - 2 * out
