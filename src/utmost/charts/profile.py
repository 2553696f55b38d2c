"""Chart of the profile of a pair of secrets in the unit square, with the bound M of a definition above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.axioms.curves import Curve
from utmost.axioms.profile import Profile
from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

SIDE_PIXELS = 360
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
    axes = _unit_axes(profile)
    lines = [(names[0], _curve_points(profile.curve)), (names[-1], [(0.0, 0.0), (1.0, 1.0)])]
    layers: list[Any] = []
    if bound is not None:
        layers.append(_allowed_area(bound, axes))
        lines.insert(1, (names[1], _curve_points(bound)))
    layers += [_named_line(*line, axes, colours) for line in reversed(lines)]
    if len(profile.curve.points) <= MAX_MARKED_BREAKPOINTS:
        layers.append(_dot_layer(_curve_points(profile.curve), axes, PROFILE_COLOUR, 36))
    if len(worst) == 2:
        layers.append(_dot_layer([(float(worst[0]), float(worst[1]))], axes, WORST_COLOUR, 150))
    chart = alt.layer(*layers).properties(
        width=SIDE_PIXELS, height=SIDE_PIXELS, title=add_title(title or _default_title(profile), subtitle)
    )
    return apply_style(chart)  # type: ignore[no-any-return]


def _default_title(profile: Profile) -> str:
    return f"How well {profile.second} is told from {profile.first}"


def _unit_axes(profile: Profile) -> dict[str, Any]:
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


def _dot_layer(points: Sequence[tuple[float, float]], axes: dict[str, Any], colour: str, area: int) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    dots = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, opacity=1, color=colour, size=area)
    return dots.encode(**axes)
