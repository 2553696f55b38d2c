"""Charts of a privacy definition: the pairs of probabilities it allows, and the profile of a pair of secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.axioms.curves import Curve
from utmost.axioms.privacy_profiles import Profile
from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

SIDE_PIXELS = 380
ALLOWED_COLOUR, UPPER_COLOUR, LOWER_COLOUR, FORBIDDEN_COLOUR = "#dbe6f2", PALETTE[0], PALETTE[2], PALETTE[4]


def allowed_region_chart(
    cells: Sequence[Sequence[Sequence[float]]],
    lines: Sequence[tuple[str, Sequence[Sequence[float]]]],
    points: Sequence[Sequence[float]],
    title: str,
    subtitle: str = "",
    *,
    gap: Sequence[Sequence[float]] = (),
    names: tuple[str, str] = ("i1", "i2"),
) -> alt.TopLevelMixin:
    """Cells (two sides: x, low, high), named lines (M or m) through points, single points, all in [0, 1]².

    `gap` is two allowed points and one between them that is not: the segment is drawn and the third point marked.
    """
    import altair as alt

    encoding = _unit_axes(names)
    areas = [{"cell": k, "x": side[0], "y": side[1], "top": side[2]} for k, cell in enumerate(cells) for side in cell]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color="#aaa", strokeDash=[3, 3], strokeWidth=1)
        .encode(**encoding)
    ]
    if areas:
        area = alt.Chart(alt.InlineData(values=areas)).mark_area(
            color=ALLOWED_COLOUR, stroke=ALLOWED_COLOUR, strokeWidth=1
        )
        layers.insert(0, area.encode(y2="top:Q", detail="cell:N", **encoding))
    layers += [_boundary_line(k, name, line_points, encoding) for k, (name, line_points) in enumerate(lines)]
    layers += [_dot_layer(points, UPPER_COLOUR, 30, encoding)] if points else []
    layers += _gap_layers(gap, encoding) if gap else []
    chart = alt.layer(*layers).properties(width=SIDE_PIXELS, height=SIDE_PIXELS, title=add_title(title, subtitle))
    return apply_style(chart)  # type: ignore[no-any-return]


def _unit_axes(names: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    return {
        "x": alt.X("x:Q", title=f"P(O | {names[0]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
        "y": alt.Y("y:Q", title=f"P(O | {names[1]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
    }


def _boundary_line(line_index: int, name: str, points: Sequence[Sequence[float]], encoding: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    colour = UPPER_COLOUR if name == "M" else LOWER_COLOUR
    return (
        alt.Chart(alt.InlineData(values=values, name=f"line{line_index}"))
        .mark_line(color=colour, strokeWidth=2.4)
        .encode(**encoding)
    )


def _dot_layer(points: Sequence[Sequence[float]], colour: str, size: int, encoding: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=size, opacity=1, color=colour)
        .encode(**encoding)
    )


def _gap_layers(gap: Sequence[Sequence[float]], encoding: dict[str, Any]) -> list[Any]:
    """The chord between two allowed points, and the point on it that is not allowed."""
    import altair as alt

    chord = alt.Chart(alt.InlineData(values=[{"x": x, "y": y} for x, y in gap[:2]]))
    return [
        chord.mark_line(color=FORBIDDEN_COLOUR, strokeDash=[5, 4], strokeWidth=1.6).encode(**encoding),
        _dot_layer(gap[:2], UPPER_COLOUR, 60, encoding),
        _dot_layer(gap[2:], FORBIDDEN_COLOUR, 90, encoding),
    ]


PROFILE_SIDE_PIXELS = 360
MAX_MARKED_BREAKPOINTS = 60  # up to which each breakpoint has a dot
PROFILE_COLOUR, BOUND_COLOUR, DIAGONAL_COLOUR, WORST_COLOUR = PALETTE[0], PALETTE[2], "#9aa5ad", PALETTE[4]


def profile_chart(
    profile: Profile, bound: Curve | None = None, worst: Sequence[float] = (), title: str = "", subtitle: str = ""
) -> alt.TopLevelMixin:
    """f with dots at its breakpoints, the diagonal of an answer that is independent of the secret, and M.

    Between M and its mirror image m a definition allows every event (shaded); `worst`, a point (P(O|i₁), P(O|i₂)),
    stands out.
    """
    import altair as alt

    names = [f"largest P(O|{profile.second})", *(["allowed: M"] if bound else []), "says nothing"]
    colours = alt.Scale(domain=names, range=[PROFILE_COLOUR, *([BOUND_COLOUR] if bound else []), DIAGONAL_COLOUR])
    axes = _profile_axes(profile)
    lines = [(names[0], _curve_points(profile.curve)), (names[-1], [(0.0, 0.0), (1.0, 1.0)])]
    layers: list[Any] = []
    if bound is not None:
        layers.append(_allowed_area(bound, axes))
        lines.insert(1, (names[1], _curve_points(bound)))
    layers += [_named_line(*line, axes, colours) for line in reversed(lines)]
    if len(profile.curve.points) <= MAX_MARKED_BREAKPOINTS:
        layers.append(_profile_dots(_curve_points(profile.curve), axes, PROFILE_COLOUR, 36))
    if len(worst) == 2:
        layers.append(_profile_dots([(float(worst[0]), float(worst[1]))], axes, WORST_COLOUR, 150))
    chart = alt.layer(*layers).properties(
        width=PROFILE_SIDE_PIXELS,
        height=PROFILE_SIDE_PIXELS,
        title=add_title(title or _default_title(profile), subtitle),
    )
    return apply_style(chart)  # type: ignore[no-any-return]


def _default_title(profile: Profile) -> str:
    return f"How well {profile.second} is told from {profile.first}"


def _profile_axes(profile: Profile) -> dict[str, Any]:
    import altair as alt

    unit_scale = alt.Scale(domain=[0, 1], nice=False)
    light_axis = alt.Axis(gridColor="#eeeeee", tickCount=5)
    return {
        "x": alt.X("x:Q", title=f"P(O|{profile.first})", scale=unit_scale, axis=light_axis),
        "y": alt.Y("y:Q", title=f"P(O|{profile.second})", scale=unit_scale, axis=light_axis),
    }


def _curve_points(curve: Curve) -> list[tuple[float, float]]:
    """The points of a curve as doubles, its jumps at the ends included."""
    inner = [(float(a), float(value)) for a, value in curve.points]
    return list(dict.fromkeys([(0.0, float(curve.at_zero)), *inner, (1.0, float(curve.at_one))]))


def _named_line(name: str, points: Sequence[tuple[float, float]], axes: dict[str, Any], colours: Any) -> Any:
    import altair as alt

    values = [{"k": k, "x": x, "y": y, "name": name} for k, (x, y) in enumerate(points)]
    dash = [4, 4] if name == "says nothing" else [1, 0]
    line = alt.Chart(alt.InlineData(values=values)).mark_line(strokeWidth=2.2, strokeDash=dash, clip=True)
    return line.encode(
        **axes, order="k:Q", color=alt.Color("name:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    )


def _allowed_area(bound: Curve, axes: dict[str, Any]) -> Any:
    """The area between m and M."""
    import altair as alt

    lower = bound.reflected
    breakpoints = sorted({a for curve in (bound, lower) for a, _ in curve.points})
    values = [{"x": float(a), "y": float(bound.inside(a)), "low": float(lower.inside(a))} for a in breakpoints]
    shade = alt.Chart(alt.InlineData(values=values)).mark_area(color=BOUND_COLOUR, opacity=0.12, clip=True)
    return shade.encode(**axes, y2="low:Q")


def _profile_dots(points: Sequence[tuple[float, float]], axes: dict[str, Any], colour: str, area: int) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    dots = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, opacity=1, color=colour, size=area)
    return dots.encode(**axes)
