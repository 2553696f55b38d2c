"""The profile of a pair of secrets in the unit square, the bound M of a definition above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.axioms.curves import Curve
from utmost.axioms.profile import Profile
from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

SIDE = 360  # pixels
MOST_DOTS = 60  # breakpoints that are marked
FOUND, ALLOWED, SILENT, WORST = PALETTE[0], PALETTE[2], "#9aa5ad", PALETTE[4]


def profile_chart(
    found: Profile, bound: Curve | None = None, worst: Sequence[float] = (), title: str = "", subtitle: str = ""
) -> alt.TopLevelMixin:
    """f with dots at its breakpoints, the diagonal of an answer that says nothing, and M.

    Between M and its mirror image m a definition allows every event (shaded); `worst`, a point (P(O|i₁), P(O|i₂)),
    stands out.
    """
    import altair as alt

    names = [f"largest P(O|{found.second})", *(["allowed: M"] if bound else []), "says nothing"]
    colours = alt.Scale(domain=names, range=[FOUND, *([ALLOWED] if bound else []), SILENT])
    place = _axes(found)
    lines = [(names[0], _points(found.curve)), (names[-1], [(0.0, 0.0), (1.0, 1.0)])]
    layers: list[Any] = []
    if bound is not None:
        layers.append(_region(bound, place))
        lines.insert(1, (names[1], _points(bound)))
    layers += [_line(*line, place, colours) for line in reversed(lines)]
    if len(found.curve.points) <= MOST_DOTS:
        layers.append(_dots(_points(found.curve), place, FOUND, 36))
    if len(worst) == 2:
        layers.append(_dots([(float(worst[0]), float(worst[1]))], place, WORST, 150))
    chart = alt.layer(*layers).properties(width=SIDE, height=SIDE, title=add_title(title or _title(found), subtitle))
    return apply_style(chart)  # type: ignore[no-any-return]


def _title(found: Profile) -> str:
    return f"How well {found.second} is told from {found.first}"


def _axes(found: Profile) -> dict[str, Any]:
    import altair as alt

    unit = alt.Scale(domain=[0, 1], nice=False)
    quiet = alt.Axis(gridColor="#eeeeee", tickCount=5)
    return {
        "x": alt.X("x:Q", title=f"P(O|{found.first})", scale=unit, axis=quiet),
        "y": alt.Y("y:Q", title=f"P(O|{found.second})", scale=unit, axis=quiet),
    }


def _points(curve: Curve) -> list[tuple[float, float]]:
    """The points of a curve as doubles, its jumps at the ends included."""
    inner = [(float(a), float(value)) for a, value in curve.points]
    return list(dict.fromkeys([(0.0, float(curve.at_zero)), *inner, (1.0, float(curve.at_one))]))


def _line(name: str, points: Sequence[tuple[float, float]], place: dict[str, Any], colours: Any) -> Any:
    import altair as alt

    values = [{"k": k, "x": x, "y": y, "name": name} for k, (x, y) in enumerate(points)]
    dash = [4, 4] if name == "says nothing" else [1, 0]
    drawn = alt.Chart(alt.InlineData(values=values)).mark_line(strokeWidth=2.2, strokeDash=dash, clip=True)
    return drawn.encode(
        **place, order="k:Q", color=alt.Color("name:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    )


def _region(bound: Curve, place: dict[str, Any]) -> Any:
    """What lies between m and M."""
    import altair as alt

    lower = bound.reflected
    places = sorted({a for curve in (bound, lower) for a, _ in curve.points})
    values = [{"x": float(a), "y": float(bound.inside(a)), "low": float(lower.inside(a))} for a in places]
    shade = alt.Chart(alt.InlineData(values=values)).mark_area(color=ALLOWED, opacity=0.12, clip=True)
    return shade.encode(**place, y2="low:Q")


def _dots(points: Sequence[tuple[float, float]], place: dict[str, Any], colour: str, area: int) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    drawn = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, opacity=1, color=colour, size=area)
    return drawn.encode(**place)
