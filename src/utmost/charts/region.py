"""Charts of the posteriors that a privacy type allows: the tetrahedron of four secrets, and the choice of chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.charts.export import add_title, apply_style
from utmost.charts.simplex import MIN_DOT_AREA, Point, Posterior, dot_area, dot_style, simplex_chart
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.polytopes import PosteriorRegion
    from utmost.spaces import Space

Floats: TypeAlias = npt.NDArray[np.float64]
View: TypeAlias = tuple[float, float, float, float]  # left, right, low, high
Mark: TypeAlias = tuple[str, Point, float]  # a name, the distribution that it names, the area of its dot

CORNERS: Floats = np.array(
    [
        [-1.0, -1 / math.sqrt(3), 0.0],
        [1.0, -1 / math.sqrt(3), 0.0],
        [0.0, 2 / math.sqrt(3), 0.0],
        [0.0, 0.0, 2 * math.sqrt(2 / 3)],
    ]
)
# Angles of the viewer about the upright axis, and above the ground: one edge is behind and no corner before the body.
VIEW_TURN, VIEW_TILT = math.radians(38), math.radians(12)
SIDE_PIXELS = 400  # of a panel
FULL_VIEW: View = (-1.3, 1.3, -0.6, 2.0)  # the view of the whole tetrahedron; as wide as high
VIEW_MARGIN = 0.16  # around the region in its own panel, as a share of its size
FRONT_COLOUR, BACK_COLOUR = "#2c6aa8", "#a9c3dc"
LIGHT_DIRECTION: Floats = np.array([-0.35, 0.55, 0.76])  # from above, left and before
CHAR_WIDTH_PIXELS, CHAR_HEIGHT_PIXELS = 7.4, 13.0  # of a character of a name
CROSS_AREA_PIXELS = 100  # of the prior's cross


def project(points: Sequence[Point]) -> Floats:
    """Project distributions over four secrets on the view: to the right, up, and how near to the viewer."""
    solid_points = np.array(points, dtype=np.float64) @ CORNERS
    right = math.cos(VIEW_TURN) * solid_points[:, 0] + math.sin(VIEW_TURN) * solid_points[:, 1]
    depth = math.cos(VIEW_TURN) * solid_points[:, 1] - math.sin(VIEW_TURN) * solid_points[:, 0]
    up = math.cos(VIEW_TILT) * solid_points[:, 2] + math.sin(VIEW_TILT) * depth
    nearness = math.sin(VIEW_TILT) * solid_points[:, 2] - math.cos(VIEW_TILT) * depth
    return np.column_stack([right, up, nearness])


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
        raise InputError(
            f"a tetrahedron shows four secrets, got {len(labels)}", hint="use simplex for three, or a heat map"
        )
    points = [*region, *(p.point for p in posteriors)]
    views = [FULL_VIEW, *([_view_around(project(points))] if points else [])]
    panels = []
    for view in views:
        layers = [
            *_region_layers(region, view),
            *_posterior_dots(posteriors, view),
            *([_prior_cross(prior, view)] if prior is not None else []),
        ]
        back_layers, front_layers = (
            _tetrahedron_frame(labels) if view == FULL_VIEW else ([], _name_layers(region, posteriors, prior, view))
        )
        panels.append(alt.layer(*back_layers, *layers, *front_layers).properties(width=SIDE_PIXELS, height=SIDE_PIXELS))
    return apply_style(alt.hconcat(*panels, spacing=24, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _view_around(points: Floats) -> View:
    """The square view that holds these points, with room for names."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    half = (0.5 + VIEW_MARGIN) * max(*(high - low), 1e-6)
    (x, y) = (low + high) / 2
    return float(x - half), float(x + half), float(y - half), float(y + half)


def _view_axes(view: View, **channels: Any) -> dict[str, Any]:
    import altair as alt

    x_scale, y_scale = (alt.Scale(domain=list(limits), nice=False, zero=False) for limits in (view[:2], view[2:]))
    return {"x": alt.X("x:Q", scale=x_scale, axis=None), "y": alt.Y("y:Q", scale=y_scale, axis=None), **channels}


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
    return _chart(values).mark_line(clip=True, **style).encode(**_view_axes(view, order="order:O", detail="path:N"))


def _tetrahedron_frame(labels: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """What is behind the body: the farthest edge, dashed; and before it: the other five, and the corners' names.

    The four corners are corners of the projection, so a name on the far side of the middle lies outside the solid.
    """
    corners = project([tuple(float(k == x) for k in range(4)) for x in range(4)])
    far, *others = sorted(combinations(range(4), 2), key=lambda pair: corners[list(pair), 2].sum())
    names = []
    for label, corner, (x, y) in zip(labels, corners, corners[:, :2] - corners[:, :2].mean(axis=0), strict=True):
        align = "left" if x > abs(y) / 2 else "right" if x < -abs(y) / 2 else "center"
        dx, dy = 12 / math.hypot(x, y) * np.array([x, -y]) * (1 if align != "center" else 1.3)
        name_chart = _chart([{"x": float(corner[0]), "y": float(corner[1]), "name": str(label)}])
        text = name_chart.mark_text(
            dx=float(dx), dy=float(dy), align=align, fontSize=15, fontWeight="bold", color="#222"
        )
        names.append(text.encode(**_view_axes(FULL_VIEW, text="name:N")))
    edge = {"color": "#888", "strokeWidth": 1.2}
    return [_paths(corners, [far], FULL_VIEW, strokeDash=[5, 4], **edge)], [
        _paths(corners, others, FULL_VIEW, **edge),
        *names,
    ]


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
        corners = next((corner_set for plane, corner_set in planes if np.allclose(plane, equation, atol=1e-7)), None)
        if corners is None:
            corners = set()
            planes.append((equation, corners))
        corners.update(int(k) for k in triangle)
    return [(plane[:3], _order_corners(points, sorted(corners), plane[:3])) for plane, corners in planes]


def _order_corners(points: Floats, corners: list[int], normal: Floats) -> list[int]:
    middle = points[corners].mean(axis=0)
    first = points[corners[0]] - middle
    second = np.cross(normal, first)
    angles = [math.atan2((points[k] - middle) @ second, (points[k] - middle) @ first) for k in corners]
    return [corners[k] for k in np.argsort(angles)]


def _region_layers(region: Sequence[Point], view: View) -> list[Any]:
    """Faces towards the viewer shaded by their slope; edges of theirs strong, the others pale."""
    if not region:
        return []
    points = project(region)
    front_edges, back_edges = edges_by_visibility(points)
    dots = _chart([{"x": float(x), "y": float(y)} for x, y, _ in points])
    size = MIN_DOT_AREA / 3 if view == FULL_VIEW else MIN_DOT_AREA
    return [
        _paths(points, back_edges, view, color=BACK_COLOUR, strokeWidth=1.1, strokeDash=[3, 3]),
        *(_shaded_face(points, corners, normal, view) for normal, corners in facets(points) if normal[2] > 0),
        _paths(points, front_edges, view, color=FRONT_COLOUR, strokeWidth=1.6),
        dots.mark_point(filled=True, size=size, color=FRONT_COLOUR, opacity=1).encode(**_view_axes(view)),
    ]


def edges_by_visibility(points: Floats) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The edges of a convex body that belong to a face towards the viewer, and the others."""
    faces = facets(points)
    front, back = (
        _face_edges([corners for normal, corners in faces if (normal[2] > 0) == facing]) for facing in (True, False)
    )
    return sorted(front), sorted(back - front)


def _face_edges(faces: Sequence[list[int]]) -> set[tuple[int, int]]:
    pairs = (pair for face in faces for pair in zip(face, [*face[1:], face[0]], strict=True))
    return {(min(pair), max(pair)) for pair in pairs}


def _shaded_face(points: Floats, corners: list[int], normal: Floats, view: View) -> Any:
    style = {"fill": FRONT_COLOUR, "fillOpacity": 0.34 - 0.22 * float(normal @ LIGHT_DIRECTION), "strokeWidth": 0}
    return _paths(points, [corners], view, filled=True, interpolate="linear-closed", **style)


def _posterior_dots(posteriors: Sequence[Posterior], view: View) -> list[Any]:
    if not posteriors:
        return []
    values = [
        {"x": float(x), "y": float(y), "group": p.group, "size": dot_area(p) * (0.25 if view == FULL_VIEW else 1)}
        for p, (x, y, _) in zip(posteriors, project([p.point for p in posteriors]), strict=True)
    ]
    dots = _chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    return [dots.encode(**_view_axes(view, **dot_style(posteriors, "top-left")))]


def _prior_cross(prior: Point, view: View) -> Any:
    ((x, y, _),) = project([prior])
    size = CROSS_AREA_PIXELS / 2 if view == FULL_VIEW else CROSS_AREA_PIXELS
    cross = _chart([{"x": float(x), "y": float(y)}])
    return cross.mark_point(shape="cross", filled=True, size=size, color="#222", opacity=1).encode(**_view_axes(view))


def _name_layers(
    region: Sequence[Point], posteriors: Sequence[Posterior], prior: Point | None, view: View
) -> list[Any]:
    """The names of the posteriors and of the prior, each beside its dot, clear of edges, dots and other names."""
    marks = [(p.name, p.point, dot_area(p)) for p in posteriors]
    marks += [("prior", prior, float(CROSS_AREA_PIXELS))] if prior is not None else []
    if not marks:
        return []
    points = project([point for _, point, _ in marks])
    layers = []
    for (name, _, _), (x, y, _), (dx, dy) in zip(marks, points, _name_offsets(marks, region, view), strict=True):
        name_chart = _chart([{"x": float(x), "y": float(y), "name": name}]).mark_text(
            dx=dx, dy=dy, align="center", baseline="middle", fontSize=12, color="#222"
        )
        layers.append(name_chart.encode(**_view_axes(view, text="name:N")))
    return layers


def _name_offsets(marks: Sequence[Mark], region: Sequence[Point], view: View) -> list[tuple[float, float]]:
    """Pixels from each dot to the middle of its name, down being positive: the offset that covers least of the ink.

    Ink is points along the edges and over the dots; a name that has its offset is ink to the next. Among equals a name
    stands near its dot and on the far side of the region's middle.
    """
    scale = SIDE_PIXELS / (view[1] - view[0]) * np.array([1, -1])
    dots = scale * project([point for _, point, _ in marks])[:, :2]
    body = scale * project(region)[:, :2] if region else dots
    lines = [pair for pairs in edges_by_visibility(project(region)) for pair in pairs] if region else []
    ink = [np.linspace(body[a], body[b], SIDE_PIXELS // 2) for a, b in lines]
    ink += [_box_points(dot, np.full(2, math.sqrt(size) / 2)) for dot, (_, _, size) in zip(dots, marks, strict=True)]
    offsets = []
    for dot, (name, _, size) in zip(dots, marks, strict=True):
        half = np.array([CHAR_WIDTH_PIXELS * len(name), CHAR_HEIGHT_PIXELS]) / 2
        candidates, costs = _offset_candidates(dot - body.mean(axis=0), math.sqrt(size / math.pi), half)
        covered = np.abs(np.vstack(ink) - dot - candidates[:, None]) < half + 1.5
        offset = candidates[np.argmin(costs + 5 * covered.all(axis=2).sum(axis=1))]
        ink.append(_box_points(dot + offset, half))
        offsets.append((float(offset[0]), float(offset[1])))
    return offsets


def _box_points(middle: Floats, half: Floats) -> Floats:
    """Points all over a box."""
    steps = np.linspace(-1, 1, 9)
    return np.array([middle + half * (x, y) for x in steps for y in steps])


def _offset_candidates(outward: Floats, radius: float, half: Floats) -> tuple[Floats, Floats]:
    """Middles of a box around a dot, in all directions, nearer and farther; and how much each is to be avoided."""
    angles, gaps = (
        grid.ravel() for grid in np.meshgrid(np.linspace(0, 2 * math.pi, 48, endpoint=False), (3, 6, 10, 15))
    )
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    box_radius = (half / np.maximum(np.abs(directions), 1e-9)).min(axis=1)  # from a box's middle to its side
    outwardness = directions @ outward / max(float(np.hypot(*outward)), 1e-9)
    return directions * (radius + gaps + box_radius)[:, None], gaps / 3 - 2 * outwardness


def region_chart(
    points: Space, level: Level, channel: Channel | None, title: str, subtitle: str = ""
) -> alt.TopLevelMixin:
    """Three secrets' simplex, or four's tetrahedron, with the type's region and a channel's posteriors.

    The prior is uniform. Without a channel the dots are the region's vertices.
    """
    from utmost import polytopes

    if len(points) not in (3, 4):
        raise InputError(f"a region can be drawn for 3 secrets (a triangle) or 4 (a tetrahedron), got {len(points)}")
    region = polytopes.posterior_region(points, level)
    corners = [tuple(float(p) for p in region.posterior(k)) for k in range(len(region.columns))]
    uniform = (1 / len(points),) * len(points)
    drawn_points: dict[str, Any] = {
        "region": corners,
        "posteriors": _posterior_points(region, channel),
        "prior": uniform,
    }
    labels = [str(label) for label in points.labels]
    if len(points) == 3:
        return simplex_chart(labels, title, subtitle, ratios=_ratio_lines(points, level), **drawn_points)
    return tetrahedron_chart(labels, title, subtitle, **drawn_points)


def _ratio_lines(points: Space, level: Level) -> list[tuple[int, int, float]]:
    if not level.is_inner:
        return []
    forward = [(x, z, 1 / float(level.power(points.distance(x, z)))) for x, z in points.edges]
    return forward + [(z, x, ratio) for x, z, ratio in forward]


def _posterior_points(region: PosteriorRegion, channel: Channel | None) -> list[Posterior]:
    """The channel's posteriors, sized by their weights; without a channel the region's vertices."""
    from utmost.channel import align_inputs

    if channel is None:
        return [
            Posterior(str(k), tuple(float(p) for p in region.posterior(k)), None, "vertices")
            for k in range(len(region.columns))
        ]
    source = align_inputs(channel, region.space)
    totals = source.floats().sum(axis=0)
    return [
        Posterior(str(y), tuple(column / total), total / len(region.space), "the channel's posteriors")
        for y, column, total in zip(source.outputs, source.floats().T, totals, strict=True)
        if total
    ]
