"""How the error of an answer falls as ε grows: a small picture with the curator's point on it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from utmost.data.queries import Histogram
from utmost.errors import InputError
from utmost.publish import execute
from utmost.publish.execute import PlannedAnswer
from utmost.publish.mechanism_selection import PrivacySetting
from utmost.publish.plans import QuerySpec
from utmost.publish.preview import error_suffix
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.number_format import format_rounded

EPSILONS = (*(Fraction(digit, 1000) * 10**power for power in range(4) for digit in (1, 2, 5)), Fraction(10))
HEIGHT = 120
LINES = ("on average", "± 95 %")
Curve = tuple[tuple[float, float, float], ...]  # ε, expected error, half of the 95 % interval


def error_chart(asked: QuerySpec, one: PlannedAnswer, kind: str, setting: PrivacySetting) -> Chart:
    """The error over ε, and where this query is; `asked` has no step yet where one is found for an extra loss."""
    mark, here = error_suffix(one.error, kind), _point(one)
    lines = [
        {"epsilon": epsilon, "error": error, "line": name}
        for epsilon, *errors in sorted({*curve(asked, setting), here})
        for name, error in zip(LINES, errors, strict=True)
        if error > 0  # the axis is logarithmic
    ]
    words = (
        f"At ε = {format_rounded(one.asked.epsilon)} the noise is "
        f"{format_rounded(one.error.expected)}{mark} on average (line), and "
        f"within ±{format_rounded(one.error.half_width)}{mark} in 95 % of cases (dashes)."
    )
    if mark == "/r":
        words += " Here r is the number of rows in the mean, which is not public."
    return charts.make_chart(_shell(), words, curve=lines, point=[{"epsilon": here[0], "error": here[1]}])


def curve(asked: QuerySpec, setting: PrivacySetting) -> Curve:
    """The errors at the ε of the axis; those at which there is no such law are left out."""
    return _curve(_Bare(asked), setting)


class _Bare:
    """What a query asks, whatever its name and its ε; of a histogram not its keys, on which its law does not depend."""

    __slots__ = ("asked", "mark")

    def __init__(self, asked: QuerySpec) -> None:
        query = asked.query
        self.mark: Hashable = (query, asked.extra_loss)
        if isinstance(query, Histogram):
            query, self.mark = Histogram({"": ("",)}, query.where), ("histogram", query.where)
        self.asked = replace(asked, query=query)

    def __hash__(self) -> int:
        return hash(self.mark)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bare) and self.mark == other.mark


@lru_cache(maxsize=512)
def _curve(bare: _Bare, setting: PrivacySetting) -> Curve:
    found = []
    for epsilon in EPSILONS:
        try:
            found.append(_point(execute.plan_answer(replace(bare.asked, epsilon=epsilon), setting)))
        except InputError:
            continue
    return tuple(found)


def _point(one: PlannedAnswer) -> tuple[float, float, float]:
    return float(one.asked.epsilon), float(one.error.expected), float(one.error.half_width)


@cache
def _shell() -> VegaSpec:
    import altair as alt

    across = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False), axis=_axis())
    up = alt.Y("error:Q", title="error", scale=alt.Scale(type="log", nice=False), axis=_axis())
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=LINES, range=[[1, 0], [4, 3]]), legend=None)
    lines = alt.Chart(alt.NamedData("curve")).mark_line(aria=False, color="var(--series-1)", strokeWidth=2)
    point = alt.Chart(alt.NamedData("point")).mark_point(
        aria=False, color="var(--series-2)", filled=True, size=110, opacity=1, stroke="var(--ground)", strokeWidth=1.5
    )
    rule = alt.Chart(alt.NamedData("point")).mark_rule(aria=False, color="var(--series-2)", strokeDash=[2, 3])
    layers = [lines.encode(x=across, y=up, strokeDash=dash), rule.encode(x=across), point.encode(x=across, y=up)]
    return charts.chart_spec(alt.layer(*layers).properties(height=HEIGHT))


def _axis() -> Any:
    import altair as alt

    return alt.Axis(grid=True, gridColor="var(--grid)", domain=False, ticks=False, tickCount=4, format="~g")
