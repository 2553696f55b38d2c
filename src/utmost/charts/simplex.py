"""Charts of distributions over three secrets as points of a triangle: regions of privacy, posteriors, uncertainties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

Point: TypeAlias = tuple[float, ...]  # probabilities of the secrets
PlanePoint: TypeAlias = tuple[float, float]
Ratio: TypeAlias = tuple[int, int, float]  # x, x′ and r: the line p(x) = r·p(x′)

CORNERS: tuple[PlanePoint, ...] = ((0.0, 0.0), (0.5, math.sqrt(3) / 2), (1.0, 0.0))  # left, top, right
SIDE_PIXELS = 430  # of the triangle
X_RANGE, Y_RANGE = (-0.32, 1.32), (-0.14, 0.99)  # the part of the plane that is shown
MAX_DOT_AREA = 900  # pixels² of a dot of weight 1
MIN_DOT_AREA = 36
BAND_COUNT = 10
FILL_COLOUR, STROKE_COLOUR = "#eef4fa", "#2c6aa8"
CONSTRAINT_COLOURS = ("#8c4fa3", "#b03a48", "#2a9aa8")  # of the constraints on each pair, by the third secret


@dataclass(frozen=True, slots=True)
class Posterior:
    """A posterior of a channel: its name, distribution, weight (None: drawn small) and group."""

    name: str
    point: Point
    weight: float | None = None
    group: str = ""


def triangle_point(point: Sequence[float]) -> PlanePoint:
    """The point of the triangle for a distribution over three secrets: the weighted mean of the corners.

    >>> triangle_point((1, 0, 0)), triangle_point((0, 0, 1)), triangle_point((0.5, 0, 0.5))
    ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0))
    """
    x, y = (sum(p * corner[k] for p, corner in zip(point, CORNERS, strict=True)) for k in (0, 1))
    return float(x), float(y)


def clip_polygon(polygon: Sequence[Point], normal: Sequence[float], threshold: float = 0.0) -> list[Point]:
    """The part of a convex polygon where normal·p ≥ threshold (Sutherland and Hodgman)."""
    corners: list[Point] = []
    for start, end in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        a, b = (sum(n * v for n, v in zip(normal, p, strict=True)) - threshold for p in (start, end))
        if a >= 0:
            corners.append(start)
        if (a > 0 > b) or (a < 0 < b):
            share = a / (a - b)
            corners.append(tuple(u + share * (v - u) for u, v in zip(start, end, strict=True)))
    return corners


def simplex_chart(
    labels: Sequence[str],
    title: str,
    subtitle: str = "",
    *,
    region: Sequence[Point] = (),
    ratios: Sequence[Ratio] = (),
    posteriors: Sequence[Posterior] = (),
    prior: Point | None = None,
) -> alt.TopLevelMixin:
    """The triangle of all distributions over three secrets.

    `region` is the polygon that privacy leaves, its corners in any order; `ratios` the lines p(x) = r·p(x′) that bound
    it; a posterior is a dot whose area is its weight; the prior is a cross.
    """
    import altair as alt

    if len(labels) != 3:
        raise InputError(
            f"a triangle shows three secrets, got {len(labels)}", hint="use a heat map, or tetrahedron for four"
        )
    layers = [_triangle_frame(labels), *_constraint_lines(labels, ratios)]
    if region:
        layers.append(_region_layer(_order_corners(region)))
    layers += _posterior_dots(posteriors) if posteriors else []
    layers += [_prior_cross(prior)] if prior is not None else []
    return apply_style(_set_size(alt.layer(*layers), title, subtitle))  # type: ignore[no-any-return]


def uncertainty_chart(
    labels: Sequence[str],
    losses: Sequence[Sequence[float]],
    title: str,
    subtitle: str = "",
    *,
    actions: Sequence[str] = (),
) -> alt.TopLevelMixin:
    """U(p) = min_w Σ_x p(x)·losses[x][w] over the triangle: bands of equal height, and where each action is best.

    U is concave, so {U ≥ c} is convex: the triangle cut by one line an action, without a grid.
    """
    import altair as alt

    columns = [tuple(float(row[w]) for row in losses) for w in range(len(losses[0]))]
    names = list(actions) or [f"action {w}" for w in range(len(columns))]
    layers = [_uncertainty_bands(columns), *_action_cells(columns, names), _triangle_frame(labels)]
    return apply_style(_set_size(alt.layer(*layers), title, subtitle))  # type: ignore[no-any-return]


def _set_size(layer: Any, title: str, subtitle: str) -> Any:
    width, height = (SIDE_PIXELS * (high - low) for low, high in (X_RANGE, Y_RANGE))
    return layer.properties(width=round(width), height=round(height), title=add_title(title, subtitle))


def _plane_axes(**channels: Any) -> dict[str, Any]:
    """Both axes of the plane, hidden, with the same unit."""
    import altair as alt

    x_scale, y_scale = (alt.Scale(domain=list(limits), nice=False, zero=False) for limits in (X_RANGE, Y_RANGE))
    return {"x": alt.X("x:Q", scale=x_scale, axis=None), "y": alt.Y("y:Q", scale=y_scale, axis=None), **channels}


def _chart(values: Iterable[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(values)))


def _plane_row(point: Sequence[float], **fields: Any) -> dict[str, Any]:
    x, y = triangle_point(point)
    return {"x": x, "y": y, **fields}


def _triangle_frame(labels: Sequence[str]) -> Any:
    """The triangle and its corners' names."""
    import altair as alt

    corners = [{"x": x, "y": y, "order": k} for k, (x, y) in enumerate((*CORNERS, CORNERS[0]))]
    sides = _chart(corners).mark_line(color="#333", strokeWidth=1.4).encode(**_plane_axes(order="order:O"))
    offsets = ((-0.02, -0.03, "right"), (0.0, 0.045, "center"), (0.02, -0.03, "left"))
    names = [
        _chart([{"x": x + dx, "y": y + dy, "name": str(label)}])
        .mark_text(align=align, fontSize=15, fontWeight="bold", color="#222")
        .encode(**_plane_axes(text="name:N"))
        for label, (x, y), (dx, dy, align) in zip(labels, CORNERS, offsets, strict=True)
    ]
    return alt.layer(sides, *names)


def _constraint_lines(labels: Sequence[str], ratios: Sequence[Ratio]) -> list[Any]:
    """Each constraint from the third corner to its side, named beyond that end."""
    layers = []
    for x, other, ratio in ratios:
        side_point = [0.0, 0.0, 0.0]
        side_point[x], side_point[other] = ratio / (1 + ratio), 1 / (1 + ratio)
        third = 3 - x - other
        corner = [float(k == third) for k in range(3)]
        colour = CONSTRAINT_COLOURS[third]
        endpoints = [_plane_row(corner, order=0), _plane_row(side_point, order=1)]
        line = _chart(endpoints).mark_line(color=colour, strokeWidth=1.2, strokeDash=[6, 3], opacity=0.9)
        layers += [
            line.encode(**_plane_axes(order="order:O")),
            _constraint_name(labels, (x, other, ratio), side_point, colour),
        ]
    return layers


def _constraint_name(labels: Sequence[str], ratio: Ratio, side_point: Sequence[float], colour: str) -> Any:
    x, other, factor = ratio
    text = f"p({labels[x]}) = {factor:.4g}·p({labels[other]})"
    align, dx, dy = {0: ("left", 8, 0), 1: ("center", 0, 16), 2: ("right", -8, 0)}[3 - x - other]
    name_chart = _chart([_plane_row(side_point, name=text)])
    return name_chart.mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=colour).encode(
        **_plane_axes(text="name:N")
    )


def _order_corners(region: Sequence[Point]) -> list[Point]:
    """The corners of a convex polygon, around it."""
    positions = [triangle_point(point) for point in region]
    middle = tuple(sum(position[k] for position in positions) / len(positions) for k in (0, 1))
    angles = [math.atan2(y - middle[1], x - middle[0]) for x, y in positions]
    return [region[k] for k in sorted(range(len(region)), key=angles.__getitem__)]


def _region_layer(corners: Sequence[Point], fill: str = FILL_COLOUR, stroke: str = STROKE_COLOUR) -> Any:
    import altair as alt

    rows = [_plane_row(point, order=k) for k, point in enumerate((*corners, corners[0]))]
    shape = _chart(rows).mark_line(
        filled=True, fill=fill, fillOpacity=0.75, stroke=stroke, strokeWidth=1.8, interpolate="linear-closed"
    )
    dots = _chart(rows[:-1]).mark_point(filled=True, size=MIN_DOT_AREA, color=stroke, opacity=1)
    return alt.layer(shape.encode(**_plane_axes(order="order:O")), dots.encode(**_plane_axes()))


def dot_area(posterior: Posterior) -> float:
    """The area of its dot, in proportion to its weight."""
    return MIN_DOT_AREA if posterior.weight is None else MAX_DOT_AREA * posterior.weight


def dot_style(posteriors: Sequence[Posterior], orient: Any) -> dict[str, Any]:
    """Areas from the data; a colour for each group, with a legend where groups have names."""
    import altair as alt

    groups = list(dict.fromkeys(p.group for p in posteriors))
    colours = alt.Scale(domain=groups, range=[PALETTE[(k + 1) % len(PALETTE)] for k in range(len(groups))])
    legend = alt.Legend(title=None, orient=orient, symbolOpacity=1) if any(groups) else None
    colour = alt.Color("group:N", sort=None, scale=colours, legend=legend)
    return {"color": colour, "size": alt.Size("size:Q", scale=None), "tooltip": "name:N"}


def name_offset(x: float, y: float, area: float) -> tuple[float, float, Any]:
    """Pixels from a dot to its name, in the direction (x, y), which points away from the middle; and its alignment."""
    distance = math.hypot(x, y)
    radius = 9 + math.sqrt(area / math.pi)
    if distance < 1e-9:
        return 0.0, -radius, "center"
    dx, dy = radius * x / distance, -radius * y / distance
    return dx, dy, "left" if dx > radius / 3 else "right" if dx < -radius / 3 else "center"


def _posterior_dots(posteriors: Sequence[Posterior]) -> list[Any]:
    """The dots, and their names on the outer side, away from the middle of all of them."""
    values = [_plane_row(p.point, group=p.group, name=p.name, size=dot_area(p)) for p in posteriors]
    dots = _chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    layers = [dots.encode(**_plane_axes(**dot_style(posteriors, "top-right")))]
    middle = [sum(value[axis] for value in values) / len(values) for axis in ("x", "y")]
    for value in values:
        dx, dy, align = name_offset(value["x"] - middle[0], value["y"] - middle[1], value["size"])
        text = _chart([value]).mark_text(dx=dx, dy=dy, align=align, fontSize=12, color="#222")
        layers.append(text.encode(**_plane_axes(text="name:N")))
    return layers


def _prior_cross(prior: Point) -> Any:
    import altair as alt

    prior_chart = _chart([_plane_row(prior, name="prior")])
    cross = prior_chart.mark_point(shape="cross", filled=True, size=110, color="#222", opacity=1)
    name = prior_chart.mark_text(dy=-14, fontSize=12, color="#222")
    return alt.layer(cross.encode(**_plane_axes()), name.encode(**_plane_axes(text="name:N")))


def _band_heights(columns: Sequence[Sequence[float]]) -> list[float]:
    """Where the bands begin: from the least to the greatest value of U."""
    low = min(min(column) for column in columns)
    high = _max_uncertainty(columns)
    return [low + (high - low) * k / BAND_COUNT for k in range(BAND_COUNT)]


def _max_uncertainty(columns: Sequence[Sequence[float]]) -> float:
    """The greatest value of U over the simplex: the value of the game with these losses, by bisection on its bands."""
    low, high = min(map(min, columns)), max(map(max, columns))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _superlevel_set(columns, middle) else (low, middle)
    return low


def _superlevel_set(columns: Sequence[Sequence[float]], height: float) -> list[Point]:
    """{p : U(p) ≥ height}."""
    polygon: list[Point] = [tuple(float(k == x) for k in range(3)) for x in range(3)]
    for column in columns:
        polygon = clip_polygon(polygon, column, height)
    return polygon


def _uncertainty_bands(columns: Sequence[Sequence[float]]) -> Any:
    """Nested convex polygons, darker as U grows."""
    import altair as alt

    values = [
        _plane_row(point, order=k, height=height)
        for height in _band_heights(columns)
        for k, point in enumerate(_superlevel_set(columns, height))
    ]
    low, high = _band_heights(columns)[0], _max_uncertainty(columns)
    shades = alt.Scale(domain=[low, (low + high) / 2, high], range=["#ffffff", "#93bfe3", "#08488f"], interpolate="lab")
    legend = alt.Legend(title="U(p), at least", format=".2~f", orient="top-right", gradientLength=130)
    fill = alt.Fill("height:Q", scale=shades, legend=legend)
    shape = _chart(values).mark_line(filled=True, stroke="white", strokeWidth=0.6, interpolate="linear-closed")
    return shape.encode(**_plane_axes(order="order:O", fill=fill))


def _action_cells(columns: Sequence[Sequence[float]], names: Sequence[str]) -> list[Any]:
    """The region in which each action is best, bounded and named."""
    layers = []
    for w, column in enumerate(columns):
        cell: list[Point] = [tuple(float(k == x) for k in range(3)) for x in range(3)]
        for other in [*columns[:w], *columns[w + 1 :]]:
            cell = clip_polygon(cell, [b - a for a, b in zip(column, other, strict=True)])
        if len(cell) < 3:
            continue
        outline = [_plane_row(point, order=k) for k, point in enumerate((*cell, cell[0]))]
        edge = _chart(outline).mark_line(color="#222", strokeWidth=1.6).encode(**_plane_axes(order="order:O"))
        middle = [sum(p[k] for p in cell) / len(cell) for k in range(3)]
        name_chart = _chart([_plane_row(middle, name=names[w])]).mark_text(fontSize=12, color="#222", fontWeight="bold")
        layers += [edge, name_chart.encode(**_plane_axes(text="name:N"))]
    return layers
