"""The two pictures of precision: ε′ over the rounding step, and the supports of two secrets."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from utmost.precision.enumeration import Law, Supports, disclosure_probability
from utmost.reports.numbers import quantity
from utmost.studio.charts import Chart, VegaSpec, chart_spec, make_chart

MIN_RAW_RESULTS, MIN_ROUNDED_RESULTS = 40, 6  # results that are drawn at least, as added and as rounded
EITHER_SECRET, ONE_SECRET = "either secret", "this secret only"


@cache
def _curve_spec() -> VegaSpec:
    import altair as alt

    step = alt.X(
        "step:Q",
        title="rounding step L",
        scale=alt.Scale(type="log", base=2),
        axis=alt.Axis(format=".2~g", tickCount=8),
    )
    level = alt.Y("epsilon:Q", title="ε′", scale=alt.Scale(zero=False, nice=True))
    line = alt.Chart(alt.NamedData("curve")).mark_line(point=True, color="var(--series-1)").encode(x=step, y=level)
    level_line = (
        alt.Chart(alt.NamedData("asked")).mark_rule(color="var(--quiet)", strokeDash=[4, 4]).encode(y="epsilon:Q")
    )
    point = alt.Chart(alt.NamedData("here")).mark_point(color="var(--series-2)", size=160, filled=True, opacity=1)
    return chart_spec(alt.layer(line, level_line, point.encode(x="step:Q", y="epsilon:Q")).properties(height=280))


def epsilon_chart(
    points: list[tuple[Fraction, Fraction | None]], point: tuple[Fraction, Fraction | None], level: float
) -> Chart:
    """ε′ over L with the visitor's point; steps at which nothing is promised are left out, and counted in words."""
    finite = [(float(step), float(bound)) for step, bound in points if bound is not None]
    near_level = [(step, bound) for step, bound in finite if bound <= 4 * level] or finite
    point_rows = [] if point[1] is None else [{"step": float(point[0]), "epsilon": float(point[1])}]
    unbounded = len(points) - len(finite)
    description = f"ε′ for {len(points)} rounding steps; the dashed line is ε = {quantity(level, 6).typeset}. "
    description += (
        f"At {unbounded} of them nothing is promised." if unbounded else "At each of them something is promised."
    )
    rows = [{"step": step, "epsilon": bound} for step, bound in near_level]
    return make_chart(_curve_spec(), description, curve=rows, asked=[{"epsilon": level}], here=point_rows)


@cache
def _supports_spec() -> VegaSpec:
    import altair as alt

    colour = alt.Color(
        "from:N",
        title="can come from",
        scale=alt.Scale(domain=[EITHER_SECRET, ONE_SECRET], range=["var(--series-6)", "var(--series-2)"]),
        legend=alt.Legend(orient="top"),
    )
    ticks = alt.Chart(alt.NamedData("results")).mark_tick(thickness=1.5, size=34)
    row = alt.Y("row:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, ticks=False))
    return chart_spec(
        ticks.encode(
            x=alt.X("result:Q", title="result", scale=alt.Scale(zero=False)), y=row, color=colour, tooltip=["exact:N"]
        ).properties(height=220)
    )


def support_chart(supports: Supports) -> Chart:
    """Four rows of results: as the machine adds them, and after rounding, for either secret."""
    rows: list[dict[str, Any]] = []
    low, high = _window(supports)
    for label, laws in (("as added", supports.raw), ("rounded", supports.rounded)):
        for secret, law, other_law in zip(supports.secrets, laws, reversed(laws), strict=True):
            results = sorted(r for r in law if not isinstance(r, str) and low <= r <= high)
            rows += [_tick(f"{label}, from {secret}", result, other_law) for result in results]
    raw, rounded = (float(100 * disclosure_probability(laws)) for laws in (supports.raw, supports.rounded))
    description = (
        f"{_percent(raw)} of results give their secret away as the machine adds them, {_percent(rounded)} once rounded."
    )
    return make_chart(_supports_spec(), description, results=rows)


def _percent(share: float) -> str:
    return f"{quantity(share, 3).typeset} %"


def _window(supports: Supports) -> tuple[Fraction, Fraction]:
    """What is drawn: the added results nearest to the secrets, and around them at least six rounded ones."""
    centre = sum(supports.secrets, Fraction(0)) / 2
    reach = max(_reach(law, centre, MIN_RAW_RESULTS) for law in supports.raw)
    reach = max(reach, *(_reach(law, centre, MIN_ROUNDED_RESULTS) for law in supports.rounded))
    return centre - reach, centre + reach


def _reach(law: Law, centre: Fraction, count: int) -> Fraction:
    """How far from the centre the nearest `count` results reach."""
    distances = sorted(abs(result - centre) for result in law if not isinstance(result, str))
    return distances[min(count, len(distances)) - 1] if distances else Fraction(1)


def _tick(row: str, result: Fraction, other_law: Law) -> dict[str, Any]:
    position = float(result)
    assert math.isfinite(position)
    return {
        "row": row,
        "result": position,
        "exact": str(result),
        "from": EITHER_SECRET if result in other_law else ONE_SECRET,
    }
