"""Distributions over three secrets as points of a triangle: regions of privacy, posteriors, entropies."""

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
Plane: TypeAlias = tuple[float, float]
Ratio: TypeAlias = tuple[int, int, float]  # x, x′ and r: the line p(x) = r·p(x′)

CORNERS: tuple[Plane, ...] = ((0.0, 0.0), (0.5, math.sqrt(3) / 2), (1.0, 0.0))  # left, top, right
UNIT = 430  # pixels of a side of the triangle
ACROSS, UP = (-0.32, 1.32), (-0.14, 0.99)  # what is shown of the plane
MAX_DOT_AREA = 900  # pixels² of a dot of weight 1
MIN_DOT_AREA = 36
BANDS = 10
LIGHT, DARK = "#eef4fa", "#2c6aa8"
LINES = ("#8c4fa3", "#b03a48", "#2a9aa8")  # of the constraints on each pair, by the third secret


@dataclass(frozen=True, slots=True)
class Posterior:
    """A distribution that a channel leads to: its name, place, weight (None: drawn small) and what it belongs to."""

    name: str
    point: Point
    weight: float | None = None
    group: str = ""


def flat(point: Sequence[float]) -> Plane:
    """Where a distribution over three secrets lies: the mean of the corners, weighted.

    >>> flat((1, 0, 0)), flat((0, 0, 1)), flat((0.5, 0, 0.5))
    ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0))
    """
    x, y = (sum(p * corner[k] for p, corner in zip(point, CORNERS, strict=True)) for k in (0, 1))
    return float(x), float(y)


def clipped(polygon: Sequence[Point], normal: Sequence[float], least: float = 0.0) -> list[Point]:
    """The part of a convex polygon where normal·p ≥ least (Sutherland and Hodgman)."""
    kept: list[Point] = []
    for here, there in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        a, b = (sum(n * v for n, v in zip(normal, p, strict=True)) - least for p in (here, there))
        if a >= 0:
            kept.append(here)
        if (a > 0 > b) or (a < 0 < b):
            share = a / (a - b)
            kept.append(tuple(u + share * (v - u) for u, v in zip(here, there, strict=True)))
    return kept


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
        raise InputError(f"a triangle shows three secrets, got {len(labels)}: use a heat map, or tetrahedron for four")
    layers = [_frame(labels), *_lines(labels, ratios)]
    if region:
        layers.append(_polygon(_ordered(region)))
    layers += _dots(posteriors) if posteriors else []
    layers += [_cross(prior)] if prior is not None else []
    return apply_style(_sized(alt.layer(*layers), title, subtitle))  # type: ignore[no-any-return]


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
    layers = [_bands(columns), *_cells(columns, names), _frame(labels)]
    return apply_style(_sized(alt.layer(*layers), title, subtitle))  # type: ignore[no-any-return]


def _sized(layer: Any, title: str, subtitle: str) -> Any:
    width, height = (UNIT * (high - low) for low, high in (ACROSS, UP))
    return layer.properties(width=round(width), height=round(height), title=add_title(title, subtitle))


def _place(**more: Any) -> dict[str, Any]:
    """Both axes of the plane, unseen, with the same unit."""
    import altair as alt

    across, up = (alt.Scale(domain=list(ends), nice=False, zero=False) for ends in (ACROSS, UP))
    return {"x": alt.X("x:Q", scale=across, axis=None), "y": alt.Y("y:Q", scale=up, axis=None), **more}


def _chart(values: Iterable[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(values)))


def _spot(point: Sequence[float], **more: Any) -> dict[str, Any]:
    x, y = flat(point)
    return {"x": x, "y": y, **more}


def _frame(labels: Sequence[str]) -> Any:
    """The triangle and its corners' names."""
    import altair as alt

    around = [{"x": x, "y": y, "order": k} for k, (x, y) in enumerate((*CORNERS, CORNERS[0]))]
    sides = _chart(around).mark_line(color="#333", strokeWidth=1.4).encode(**_place(order="order:O"))
    aside = ((-0.02, -0.03, "right"), (0.0, 0.045, "center"), (0.02, -0.03, "left"))
    words = [
        _chart([{"x": x + dx, "y": y + dy, "name": str(label)}])
        .mark_text(align=align, fontSize=15, fontWeight="bold", color="#222")
        .encode(**_place(text="name:N"))
        for label, (x, y), (dx, dy, align) in zip(labels, CORNERS, aside, strict=True)
    ]
    return alt.layer(sides, *words)


def _lines(labels: Sequence[str], ratios: Sequence[Ratio]) -> list[Any]:
    """Each constraint from the third corner to its side, named beyond that end."""
    drawn = []
    for x, other, ratio in ratios:
        end = [0.0, 0.0, 0.0]
        end[x], end[other] = ratio / (1 + ratio), 1 / (1 + ratio)
        third = 3 - x - other
        start = [float(k == third) for k in range(3)]
        colour = LINES[third]
        ends = [_spot(start, order=0), _spot(end, order=1)]
        line = _chart(ends).mark_line(color=colour, strokeWidth=1.2, strokeDash=[6, 3], opacity=0.9)
        drawn += [line.encode(**_place(order="order:O")), _line_name(labels, (x, other, ratio), end, colour)]
    return drawn


def _line_name(labels: Sequence[str], ratio: Ratio, end: Sequence[float], colour: str) -> Any:
    x, other, times = ratio
    text = f"p({labels[x]}) = {times:.4g}·p({labels[other]})"
    align, dx, dy = {0: ("left", 8, 0), 1: ("center", 0, 16), 2: ("right", -8, 0)}[3 - x - other]
    word = _chart([_spot(end, name=text)])
    return word.mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=colour).encode(**_place(text="name:N"))


def _ordered(region: Sequence[Point]) -> list[Point]:
    """The corners of a convex polygon, around it."""
    spots = [flat(point) for point in region]
    middle = tuple(sum(spot[k] for spot in spots) / len(spots) for k in (0, 1))
    turns = [math.atan2(y - middle[1], x - middle[0]) for x, y in spots]
    return [region[k] for k in sorted(range(len(region)), key=turns.__getitem__)]


def _polygon(around: Sequence[Point], fill: str = LIGHT, stroke: str = DARK) -> Any:
    import altair as alt

    spots = [_spot(point, order=k) for k, point in enumerate((*around, around[0]))]
    shape = _chart(spots).mark_line(
        filled=True, fill=fill, fillOpacity=0.75, stroke=stroke, strokeWidth=1.8, interpolate="linear-closed"
    )
    dots = _chart(spots[:-1]).mark_point(filled=True, size=MIN_DOT_AREA, color=stroke, opacity=1)
    return alt.layer(shape.encode(**_place(order="order:O")), dots.encode(**_place()))


def dot_area(posterior: Posterior) -> float:
    """The area of its dot, in proportion to its weight."""
    return MIN_DOT_AREA if posterior.weight is None else MAX_DOT_AREA * posterior.weight


def dot_style(posteriors: Sequence[Posterior], orient: Any) -> dict[str, Any]:
    """Areas as given; a colour a group, with a legend where groups have names."""
    import altair as alt

    groups = list(dict.fromkeys(p.group for p in posteriors))
    colours = alt.Scale(domain=groups, range=[PALETTE[(k + 1) % len(PALETTE)] for k in range(len(groups))])
    legend = alt.Legend(title=None, orient=orient, symbolOpacity=1) if any(groups) else None
    colour = alt.Color("group:N", sort=None, scale=colours, legend=legend)
    return {"color": colour, "size": alt.Size("size:Q", scale=None), "tooltip": "name:N"}


def name_aside(x: float, y: float, area: float) -> tuple[float, float, Any]:
    """Pixels from a dot to its name, on the far side of the middle, which lies (x, y) away; and its alignment."""
    away = math.hypot(x, y)
    radius = 9 + math.sqrt(area / math.pi)
    if away < 1e-9:
        return 0.0, -radius, "center"
    dx, dy = radius * x / away, -radius * y / away
    return dx, dy, "left" if dx > radius / 3 else "right" if dx < -radius / 3 else "center"


def _dots(posteriors: Sequence[Posterior]) -> list[Any]:
    """The dots, and their names on the outer side, away from the middle of all of them."""
    values = [_spot(p.point, group=p.group, name=p.name, size=dot_area(p)) for p in posteriors]
    dots = _chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    drawn = [dots.encode(**_place(**dot_style(posteriors, "top-right")))]
    middle = [sum(value[axis] for value in values) / len(values) for axis in ("x", "y")]
    for value in values:
        dx, dy, align = name_aside(value["x"] - middle[0], value["y"] - middle[1], value["size"])
        text = _chart([value]).mark_text(dx=dx, dy=dy, align=align, fontSize=12, color="#222")
        drawn.append(text.encode(**_place(text="name:N")))
    return drawn


def _cross(prior: Point) -> Any:
    import altair as alt

    here = _chart([_spot(prior, name="prior")])
    cross = here.mark_point(shape="cross", filled=True, size=110, color="#222", opacity=1)
    word = here.mark_text(dy=-14, fontSize=12, color="#222")
    return alt.layer(cross.encode(**_place()), word.encode(**_place(text="name:N")))


def _heights(columns: Sequence[Sequence[float]]) -> list[float]:
    """Where the bands begin: from the least to the greatest value of U."""
    low = min(min(column) for column in columns)
    high = _top(columns)
    return [low + (high - low) * k / BANDS for k in range(BANDS)]


def _top(columns: Sequence[Sequence[float]]) -> float:
    """The greatest value of U over the simplex: the value of the game with these losses, by bisection on its bands."""
    low, high = min(map(min, columns)), max(map(max, columns))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _above(columns, middle) else (low, middle)
    return low


def _above(columns: Sequence[Sequence[float]], height: float) -> list[Point]:
    """{p : U(p) ≥ height}."""
    polygon: list[Point] = [tuple(float(k == x) for k in range(3)) for x in range(3)]
    for column in columns:
        polygon = clipped(polygon, column, height)
    return polygon


def _bands(columns: Sequence[Sequence[float]]) -> Any:
    """Nested convex polygons, darker as U grows."""
    import altair as alt

    values = [
        _spot(point, order=k, height=height)
        for height in _heights(columns)
        for k, point in enumerate(_above(columns, height))
    ]
    low, high = _heights(columns)[0], _top(columns)
    shades = alt.Scale(domain=[low, (low + high) / 2, high], range=["#ffffff", "#93bfe3", "#08488f"], interpolate="lab")
    legend = alt.Legend(title="U(p), at least", format=".2~f", orient="top-right", gradientLength=130)
    fill = alt.Fill("height:Q", scale=shades, legend=legend)
    shape = _chart(values).mark_line(filled=True, stroke="white", strokeWidth=0.6, interpolate="linear-closed")
    return shape.encode(**_place(order="order:O", fill=fill))


def _cells(columns: Sequence[Sequence[float]], names: Sequence[str]) -> list[Any]:
    """The region in which each action is best, bounded and named."""
    drawn = []
    for w, column in enumerate(columns):
        cell: list[Point] = [tuple(float(k == x) for k in range(3)) for x in range(3)]
        for other in [*columns[:w], *columns[w + 1 :]]:
            cell = clipped(cell, [b - a for a, b in zip(column, other, strict=True)])
        if len(cell) < 3:
            continue
        around = [_spot(point, order=k) for k, point in enumerate((*cell, cell[0]))]
        edge = _chart(around).mark_line(color="#222", strokeWidth=1.6).encode(**_place(order="order:O"))
        middle = [sum(p[k] for p in cell) / len(cell) for k in range(3)]
        word = _chart([_spot(middle, name=names[w])]).mark_text(fontSize=12, color="#222", fontWeight="bold")
        drawn += [edge, word.encode(**_place(text="name:N"))]
    return drawn
