"""Distributions over four secrets as points of a tetrahedron, seen from a fixed place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.pictures.simplex import LEAST, Point, Posterior, area, dot_style, name_aside
from utmost.pictures.write import styled, titled

if TYPE_CHECKING:
    import altair as alt

Floats: TypeAlias = npt.NDArray[np.float64]
View: TypeAlias = tuple[float, float, float, float]  # left, right, low, high

CORNERS: Floats = np.array(
    [
        [-1.0, -1 / math.sqrt(3), 0.0],
        [1.0, -1 / math.sqrt(3), 0.0],
        [0.0, 2 / math.sqrt(3), 0.0],
        [0.0, 0.0, 2 * math.sqrt(2 / 3)],
    ]
)
TURN, TILT = math.radians(17), math.radians(14)  # of the viewer about the upright axis, and above the ground
SIDE = 400  # pixels of a panel
WHOLE: View = (-1.3, 1.3, -0.6, 2.0)  # the view of the whole tetrahedron; as wide as high
ROOM = 0.16  # around the region in its own panel, in parts of its size
FRONT, BACK = "#2c6aa8", "#a9c3dc"
LIGHT: Floats = np.array([-0.35, 0.55, 0.76])  # where it comes from: above, left, before


def seen(points: Sequence[Point]) -> Floats:
    """Where distributions over four secrets are seen: across, up, and how near to the viewer."""
    place = np.array(points, dtype=np.float64) @ CORNERS
    across = math.cos(TURN) * place[:, 0] + math.sin(TURN) * place[:, 1]
    away = math.cos(TURN) * place[:, 1] - math.sin(TURN) * place[:, 0]
    up = math.cos(TILT) * place[:, 2] + math.sin(TILT) * away
    near = math.sin(TILT) * place[:, 2] - math.cos(TILT) * away
    return np.column_stack([across, up, near])


def tetrahedron(
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
        layers = [*_body(region, view), *_dots(posteriors, view, named=view != WHOLE)]
        layers += [_cross(prior, view, named=view != WHOLE)] if prior is not None else []
        layers = [*_frame(labels), *layers] if view == WHOLE else layers
        panels.append(alt.layer(*layers).properties(width=SIDE, height=SIDE))
    return styled(alt.hconcat(*panels, spacing=24, title=titled(title, subtitle)))  # type: ignore[no-any-return]


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


def _frame(labels: Sequence[str]) -> list[Any]:
    """Six edges, those to the corner behind dashed, and the corners' names beyond them."""
    corners = seen([tuple(float(k == x) for k in range(4)) for x in range(4)])
    behind = int(corners[:, 2].argmin())
    hidden = [pair for pair in combinations(range(4), 2) if behind in pair and 3 not in pair]
    plain = [pair for pair in combinations(range(4), 2) if pair not in hidden]
    drawn = [_paths(corners, plain, WHOLE, color="#888", strokeWidth=1.2)]
    drawn.append(_paths(corners, hidden, WHOLE, color="#888", strokeWidth=1.2, strokeDash=[5, 4]))
    aside: dict[int, Any] = {0: (-8, 12, "right"), 1: (8, 12, "left"), 3: (0, -14, "center"), behind: (2, 18, "right")}
    for k, (x, y, _) in enumerate(corners):
        dx, dy, align = aside[k]
        word = _chart([{"x": float(x), "y": float(y), "name": str(labels[k])}])
        text = word.mark_text(dx=dx, dy=dy, align=align, fontSize=15, fontWeight="bold", color="#222")
        drawn.append(text.encode(**_place(WHOLE, text="name:N")))
    return drawn


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
    faces = facets(points)
    strong, weak = (_edges([corners for normal, corners in faces if (normal[2] > 0) == near]) for near in (True, False))
    dots = _chart([{"x": float(x), "y": float(y)} for x, y, _ in points])
    size = LEAST / 3 if view == WHOLE else LEAST
    return [
        _paths(points, sorted(weak - strong), view, color=BACK, strokeWidth=1.1, strokeDash=[3, 3]),
        *(_face(points, corners, normal, view) for normal, corners in faces if normal[2] > 0),
        _paths(points, sorted(strong), view, color=FRONT, strokeWidth=1.6),
        dots.mark_point(filled=True, size=size, color=FRONT, opacity=1).encode(**_place(view)),
    ]


def _edges(faces: Sequence[list[int]]) -> set[tuple[int, int]]:
    pairs = (pair for face in faces for pair in zip(face, [*face[1:], face[0]], strict=True))
    return {(min(pair), max(pair)) for pair in pairs}


def _face(points: Floats, corners: list[int], normal: Floats, view: View) -> Any:
    style = {"fill": FRONT, "fillOpacity": 0.34 - 0.22 * float(normal @ LIGHT), "strokeWidth": 0}
    return _paths(points, [corners], view, filled=True, interpolate="linear-closed", **style)


def _dots(posteriors: Sequence[Posterior], view: View, *, named: bool) -> list[Any]:
    if not posteriors:
        return []
    spots = seen([p.point for p in posteriors])
    values = [
        {"x": float(x), "y": float(y), "name": p.name, "group": p.group, "size": area(p) * (1 if named else 0.25)}
        for p, (x, y, _) in zip(posteriors, spots, strict=True)
    ]
    dots = _chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    drawn = [dots.encode(**_place(view, **dot_style(posteriors, "top-left")))]
    middle = spots[:, :2].mean(axis=0)
    for p, (x, y, _) in zip(posteriors, spots, strict=True):
        dx, dy, align = name_aside(x - middle[0], y - middle[1], area(p))
        word = _chart([{"x": float(x), "y": float(y), "name": p.name}])
        text = word.mark_text(dx=dx, dy=dy, align=align, fontSize=12, color="#222")
        drawn += [text.encode(**_place(view, text="name:N"))] if named else []
    return drawn


def _cross(prior: Point, view: View, *, named: bool) -> Any:
    import altair as alt

    ((x, y, _),) = seen([prior])
    here = _chart([{"x": float(x), "y": float(y), "name": "prior" if named else ""}])
    cross = here.mark_point(shape="cross", filled=True, size=100 if named else 50, color="#222", opacity=1)
    word = here.mark_text(dy=-13, fontSize=12, color="#222").encode(**_place(view, text="name:N"))
    return alt.layer(cross.encode(**_place(view)), word)
