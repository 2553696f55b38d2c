"""The chart of an answer's error over ε, with the curator's point on it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from utmost.charts.export import VALUE_FORMAT
from utmost.errors import InputError
from utmost.publish import execute
from utmost.publish.execute import PlannedAnswer
from utmost.publish.plans import QuerySpec
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import Query
from utmost.reports.numbers import amount
from utmost.reports.preview import shown_error
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec

EPSILONS = (*(Fraction(digit, 1000) * 10**power for power in range(4) for digit in (1, 2, 5)), Fraction(10))
CHART_HEIGHT = 120
LINE_NAMES = ("on average", "± 95 %")
Curve = tuple[tuple[float, float, float], ...]  # ε, expected error, half of the 95 % interval


def error_chart(query_spec: QuerySpec, answer: PlannedAnswer, setting: PrivacySetting) -> Chart:
    """The error over ε, and where this query is; `query_spec` has no step yet where one is found for an extra loss."""
    error, point = shown_error(answer.error), _point(answer)
    lines = [
        {"epsilon": epsilon, "error": error, "line": name}
        for epsilon, *errors in sorted({*curve(query_spec, setting), point})
        for name, error in zip(LINE_NAMES, errors, strict=True)
        if error > 0  # the axis is logarithmic
    ]
    caption = (
        f"At ε = {amount(answer.spec.epsilon).typeset} the noise is {error.expected.typeset} on average (line), and "
        f"within ±{error.half_width.typeset} in 95 % of cases (dashes), around {answer.error.target}. "
        f"{answer.error.note}"
    ).rstrip()
    return charts.make_chart(
        _error_chart_spec(), caption, curve=lines, point=[{"epsilon": point[0], "error": point[1]}]
    )


def curve(query_spec: QuerySpec, setting: PrivacySetting) -> Curve:
    """The errors at the ε of the axis; those at which there is no such law are left out."""
    return _cached_curve(query_spec.query.same_error(), setting)


@lru_cache(maxsize=512)
def _cached_curve(query: Query, setting: PrivacySetting) -> Curve:
    points = []
    for epsilon in EPSILONS:
        try:
            points.append(_point(execute.plan_answer(QuerySpec("", epsilon, query), setting)))
        except InputError:
            continue
    return tuple(points)


def _point(answer: PlannedAnswer) -> tuple[float, float, float]:
    return float(answer.spec.epsilon), float(answer.error.expected), float(answer.error.half_width)


@cache
def _error_chart_spec() -> VegaSpec:
    import altair as alt

    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False), axis=_log_axis())
    y = alt.Y("error:Q", title="error", scale=alt.Scale(type="log", nice=False), axis=_log_axis())
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=LINE_NAMES, range=[[1, 0], [4, 3]]), legend=None)
    lines = alt.Chart(alt.NamedData("curve")).mark_line(aria=False, color="var(--series-1)", strokeWidth=2)
    point = alt.Chart(alt.NamedData("point")).mark_point(
        aria=False, color="var(--series-2)", filled=True, size=110, opacity=1, stroke="var(--ground)", strokeWidth=1.5
    )
    rule = alt.Chart(alt.NamedData("point")).mark_rule(aria=False, color="var(--series-2)", strokeDash=[2, 3])
    layers = [lines.encode(x=x, y=y, strokeDash=dash), rule.encode(x=x), point.encode(x=x, y=y)]
    return charts.chart_spec(alt.layer(*layers).properties(height=CHART_HEIGHT))


def _log_axis() -> Any:
    import altair as alt

    return alt.Axis(grid=True, gridColor="var(--grid)", domain=False, ticks=False, tickCount=4, format=VALUE_FORMAT)
