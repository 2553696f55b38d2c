"""The two pictures of precision: ε′ over the rounding step, and the supports of two secrets."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from utmost.precision.enumeration import Law
from utmost.precision.supports import Supports, disclosure_probability
from utmost.studio.charts import Chart, VegaSpec, chart_spec, make_chart

NEAREST, ROUNDED = 40, 6  # results that are drawn at least, as added and as rounded
BOTH, ALONE = "either secret", "this secret only"


@cache
def _curve_shell() -> VegaSpec:
    import altair as alt

    step = alt.X(
        "step:Q",
        title="rounding step L",
        scale=alt.Scale(type="log", base=2),
        axis=alt.Axis(format=".2~g", tickCount=8),
    )
    level = alt.Y("epsilon:Q", title="ε′", scale=alt.Scale(zero=False, nice=True))
    line = alt.Chart(alt.NamedData("curve")).mark_line(point=True, color="var(--series-1)").encode(x=step, y=level)
    asked = alt.Chart(alt.NamedData("asked")).mark_rule(color="var(--quiet)", strokeDash=[4, 4]).encode(y="epsilon:Q")
    here = alt.Chart(alt.NamedData("here")).mark_point(color="var(--series-2)", size=160, filled=True, opacity=1)
    return chart_spec(alt.layer(line, asked, here.encode(x="step:Q", y="epsilon:Q")).properties(height=280))


def epsilon_chart(
    points: list[tuple[Fraction, Fraction | None]], here: tuple[Fraction, Fraction | None], asked: float
) -> Chart:
    """ε′ over L with the visitor's point; steps at which nothing is promised are left out, and counted in words."""
    finite = [(float(step), float(bound)) for step, bound in points if bound is not None]
    close = [(step, bound) for step, bound in finite if bound <= 4 * asked] or finite
    own = [] if here[1] is None else [{"step": float(here[0]), "epsilon": float(here[1])}]
    none = len(points) - len(finite)
    words = f"ε′ for {len(points)} rounding steps; the dashed line is ε = {asked:g}. "
    words += f"At {none} of them nothing is promised." if none else "At each of them something is promised."
    rows = [{"step": step, "epsilon": bound} for step, bound in close]
    return make_chart(_curve_shell(), words, curve=rows, asked=[{"epsilon": asked}], here=own)


@cache
def _supports_shell() -> VegaSpec:
    import altair as alt

    colour = alt.Color(
        "from:N",
        title="can come from",
        scale=alt.Scale(domain=[BOTH, ALONE], range=["var(--series-6)", "var(--series-2)"]),
        legend=alt.Legend(orient="top"),
    )
    ticks = alt.Chart(alt.NamedData("results")).mark_tick(thickness=1.5, size=34)
    row = alt.Y("row:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, ticks=False))
    return chart_spec(
        ticks.encode(
            x=alt.X("result:Q", title="result", scale=alt.Scale(zero=False)), y=row, color=colour, tooltip=["exact:N"]
        ).properties(height=220)
    )


def support_chart(found: Supports) -> Chart:
    """Four rows of results: as the machine adds them, and after rounding, for either secret."""
    rows: list[dict[str, Any]] = []
    low, high = _window(found)
    for words, laws in (("as added", found.raw), ("rounded", found.rounded)):
        for secret, own, other in zip(found.secrets, laws, reversed(laws), strict=True):
            inside = sorted(r for r in own if not isinstance(r, str) and low <= r <= high)
            rows += [_tick(f"{words}, from {secret}", result, other) for result in inside]
    raw, rounded = (float(100 * disclosure_probability(laws)) for laws in (found.raw, found.rounded))
    told = (
        f"{_percent(raw)} of results give their secret away as the machine adds them, {_percent(rounded)} once rounded."
    )
    return make_chart(_supports_shell(), told, results=rows)


def _percent(share: float) -> str:
    return f"{share:.3g} %"


def _window(found: Supports) -> tuple[Fraction, Fraction]:
    """What is drawn: the added results nearest to the secrets, and around them at least six rounded ones."""
    centre = sum(found.secrets, Fraction(0)) / 2
    reach = max(_distances(law, centre, NEAREST) for law in found.raw)
    reach = max(reach, *(_distances(law, centre, ROUNDED) for law in found.rounded))
    return centre - reach, centre + reach


def _distances(law: Law, centre: Fraction, count: int) -> Fraction:
    """How far from the centre the nearest `count` results reach."""
    away = sorted(abs(result - centre) for result in law if not isinstance(result, str))
    return away[min(count, len(away)) - 1] if away else Fraction(1)


def _tick(row: str, result: Fraction, other: Law) -> dict[str, Any]:
    place = float(result)
    assert math.isfinite(place)
    return {"row": row, "result": place, "exact": str(result), "from": BOTH if result in other else ALONE}
