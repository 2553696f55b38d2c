"""A release as the curator sees it: its answers as a table and as pictures."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from pydantic import BaseModel, Field

from utmost.exact import epsilon as level_of
from utmost.publish import preview, release_file
from utmost.publish.estimate import cell_names
from utmost.publish.release_model import Answer, LatticeMechanism, Release
from utmost.studio import charts, data_folder
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import format_rounded
from utmost.studio.settings import Settings

MOST_BARS = 60
MOST_CELLS = 500  # that the page lists
POINTS = 241  # of a law that is drawn


class CellView(BaseModel):
    """A cell of a histogram."""

    keys: str
    value: int


class AnswerView(BaseModel):
    """One answer, how far off it may be, and a picture where there is one."""

    name: str
    kind: str
    where: str | None
    epsilon: str
    value: str | None = Field(description="Exact; None for a histogram")
    cells: list[CellView]
    more: int = Field(description="Cells that are not listed here; they are in the file")
    half_width: str
    behind: str
    optimal: str
    picture: Chart | None


class ReleaseView(BaseModel):
    """A release, and what it guarantees."""

    file: str
    title: str | None
    source: str
    epsilon: str
    guarantee: str
    budget: str
    entry: int
    spent: str
    left: str
    unit: str
    neighbours: str
    units: int | None
    answers: list[AnswerView]
    plan: str | None = Field(description="The plan it was made by, if it was made here")


def release_view(settings: Settings, file: str, plan: str | None) -> ReleaseView:
    """The release in a file of the studio's."""
    made = release_file.read_release(data_folder.release_path(settings, file))
    return ReleaseView(
        file=file,
        title=made.title,
        source=made.source.name,
        epsilon=str(made.epsilon),
        guarantee=made.guarantee,
        **_entry(made),
        unit=str(made.unit),
        neighbours=str(made.neighbours),
        units=made.units,
        answers=[_answer(one) for one in made],
        plan=plan,
    )


def answer_chart(settings: Settings, file: str, number: int) -> Chart:
    """The picture of the answer at a place of a release."""
    made = release_file.read_release(data_folder.release_path(settings, file))
    found = _picture(made.answers[number]) if number < len(made) else None
    if found is None:
        raise FieldError("number", "number must be the place of an answer with a picture, got another")
    return found


def _entry(made: Release) -> dict[str, Any]:
    entry = made.entry
    return {"budget": entry.budget, "entry": entry.number, "spent": str(entry.spent), "left": str(entry.left)}


def _answer(one: Answer) -> AnswerView:
    listed = list(zip(cell_names(one), one.value, strict=True)) if isinstance(one.value, tuple) else []
    return AnswerView(
        name=one.name,
        kind=one.kind,
        where=one.where,
        epsilon=str(one.epsilon),
        value=None if isinstance(one.value, tuple) else str(one.value),
        cells=[CellView(keys=keys, value=value) for keys, value in listed[:MOST_CELLS]],
        more=max(len(listed) - MOST_CELLS, 0),
        half_width=str(one.error.half_width),
        behind=preview.error_suffix(one.error, one.kind),
        optimal=one.optimal,
        picture=_picture(one),
    )


def _picture(one: Answer) -> Chart | None:
    law = one.mechanism
    if not isinstance(law, LatticeMechanism):
        return None
    return _bars(one) if isinstance(one.value, tuple) else _bell(one, law)


def _bars(one: Answer) -> Chart | None:
    """A histogram's cells, each with its 95 % interval."""
    assert isinstance(one.value, tuple)
    if len(one.value) > MOST_BARS:
        return None
    half = float(one.error.half_width)
    rows = [
        {"cell": keys, "value": value, "low": value - half, "high": value + half}
        for keys, value in zip(cell_names(one), one.value, strict=True)
    ]
    words = (
        f"Each of these noisy numbers is within ±{format_rounded(one.error.half_width)} of the true "
        "one in 95 % of cases."
    )
    return charts.make_chart(_bars_shell(), words, cells=rows)


@cache
def _bars_shell() -> VegaSpec:
    import altair as alt

    across = alt.X("cell:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False))
    quiet = alt.Axis(gridColor="var(--grid)", domain=False, ticks=False, tickCount=5)
    base = alt.Chart(alt.NamedData("cells"))
    bars = base.mark_bar(aria=False, color="var(--series-1)", opacity=0.75).encode(
        x=across, y=alt.Y("value:Q", title=None, axis=quiet), tooltip=["cell:N", "value:Q"]
    )
    spans = base.mark_rule(aria=False, color="var(--ink)", strokeWidth=1.6).encode(x=across, y="low:Q", y2="high:Q")
    return charts.chart_spec(alt.layer(bars, spans).properties(height=150))


def _bell(one: Answer, law: LatticeMechanism) -> Chart:
    """How well each true value would explain the answer: the noise's law, seen from the answer."""
    assert not isinstance(one.value, tuple)
    value, half = float(one.value), float(one.error.half_width)
    level = float(level_of(law.epsilon).epsilon) / float(law.unit)
    reach = max(half * 1.6, float(law.unit) * 3)
    places = [value + reach * (2 * k / (POINTS - 1) - 1) for k in range(POINTS)]
    rows = [{"value": x, "weight": math.exp(-level * abs(x - value)), "inside": abs(x - value) <= half} for x in places]
    ends = [{"value": value, "low": value - half, "high": value + half}]
    told, off = format_rounded(Fraction(one.value)), format_rounded(one.error.half_width)
    words = f"The answer {told} is within ±{off} of the true one in 95 % of cases; the height is how well a truth fits."
    return charts.make_chart(_bell_shell(), words, law=rows, answer=ends)


@cache
def _bell_shell() -> VegaSpec:
    import altair as alt

    across = alt.X(
        "value:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False, tickCount=6)
    )
    up = alt.Y("weight:Q", axis=None, scale=alt.Scale(domain=[0, 1.05]))
    law = alt.Chart(alt.NamedData("law"))
    wide = law.mark_area(aria=False, color="var(--series-1)", opacity=0.18).encode(x=across, y=up)
    near = (
        law.transform_filter("datum.inside")
        .mark_area(aria=False, color="var(--series-1)", opacity=0.45)
        .encode(x=across, y=up)
    )
    line = (
        alt.Chart(alt.NamedData("answer"))
        .mark_rule(aria=False, color="var(--series-2)", strokeWidth=2.5)
        .encode(x=across)
    )
    return charts.chart_spec(alt.layer(wide, near, line).properties(height=150))
