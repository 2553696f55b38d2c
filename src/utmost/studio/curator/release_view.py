"""A release as the curator sees it: its answers as a table and as pictures."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from pydantic import BaseModel, Field

from utmost.charts.export import VALUE_FORMAT
from utmost.errors import InputError
from utmost.exact import number
from utmost.publish import release_file
from utmost.publish.release_model import Answer, Release
from utmost.publish.tidy_table import answer_rows, key_columns
from utmost.queries.answer_error import noise_remark
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism
from utmost.queries.keys import key_name
from utmost.reports.numbers import at_least, at_most, quantity
from utmost.reports.release import VALUE_DIGITS, error_remarks
from utmost.studio import charts, data_folder
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.forms import errors_for_field
from utmost.studio.rendering import FormattedNumber
from utmost.studio.settings import Settings

MAX_BARS = 60
MAX_LISTED_CELLS = 500  # that the page lists
CURVE_POINTS = 241  # of a law that is drawn


class CellView(BaseModel):
    """A cell of an answer, listed or found, with its noisy number and the 95 % interval of it, rounded outward."""

    keys: str
    key_values: list[str] = Field(description="The key of each of the answer's key columns")
    value: int | str = Field(description="A whole number, or a fraction as text")
    low: str | None = Field(description="None where the number has no interval in its own unit, as a quantile")
    high: str | None

    @property
    def shown_value(self) -> FormattedNumber:
        """The number as a page shows it."""
        return FormattedNumber.of(quantity(number(self.value)))

    @property
    def shown_interval(self) -> tuple[FormattedNumber | None, FormattedNumber | None]:
        """The ends of the interval as a page shows them."""
        low = None if self.low is None else FormattedNumber.of(at_least(number(self.low)))
        high = None if self.high is None else FormattedNumber.of(at_most(number(self.high)))
        return low, high


class AnswerView(BaseModel):
    """One answer, how far off it may be, and a picture where there is one."""

    name: str
    kind: str
    where: str | None
    epsilon: str
    delta: str
    value: str | None = Field(description="Exact; None for an answer in cells")
    key_columns: list[str] = Field(description="What tells its cells apart")
    noun: str = Field(description="What its values are: cells, or quantiles")
    cells: list[CellView]
    more: int = Field(description="Cells that are not listed here; they are in the file")
    half_width: str
    behind: str
    optimal: str
    picture: Chart | None

    @property
    def shown_value(self) -> FormattedNumber | None:
        """The number as a page shows it; None for an answer in cells."""
        return None if self.value is None else FormattedNumber.of(quantity(number(self.value), VALUE_DIGITS))

    @property
    def shown_half_width(self) -> FormattedNumber:
        """Half of the 95 % interval, rounded up, with what it is divided by."""
        return FormattedNumber.of(at_most(number(self.half_width), suffix=self.behind))


class ReleaseView(BaseModel):
    """A release, and what it guarantees."""

    file: str
    title: str | None
    source: str
    derived: dict[str, str] = Field(description="The expressions of the columns that the plan made")
    public_tables: list[str] = Field(description="The public tables that columns were looked up in")
    epsilon: str
    delta: str
    guarantee: str
    budget: str
    entry: int
    spent: str
    left: str
    unit: str
    neighbours: str
    units: int | None
    answers: list[AnswerView]
    remark: str | None = Field(description="What the errors leave out: rows of a person that were not kept, clamping")
    remarks: list[str] = Field(description="All that must be known to read the errors")
    plan: str | None = Field(description="The plan it was made by, if it was made here")


def release_view(settings: Settings, file: str, plan: str | None) -> ReleaseView:
    """The release in a file of the studio's."""
    release = release_file.read_release(data_folder.release_path(settings, file))
    return ReleaseView(
        file=file,
        title=release.title,
        source=release.source.name,
        derived=dict(release.source.derive),
        public_tables=[lookup.name for lookup in release.source.lookups],
        epsilon=str(release.epsilon),
        delta=str(release.delta),
        guarantee=release.guarantee,
        **_entry_fields(release),
        unit=str(release.unit),
        neighbours=str(release.neighbours),
        units=release.units,
        answers=[_answer_view(answer) for answer in release],
        remark=noise_remark((answer.query for answer in release), release.unit, release.part),
        remarks=error_remarks(release),
        plan=plan,
    )


def answer_chart(settings: Settings, file: str, number: int) -> Chart:
    """The chart of the answer at this index of a release."""
    with errors_for_field("file"):
        release = release_file.read_release(data_folder.release_path(settings, file))
    chart = _answer_chart(release.answers[number]) if number < len(release) else None
    if chart is None:
        raise InputError("number must be the place of an answer with a picture, got another", "number")
    return chart


def _entry_fields(release: Release) -> dict[str, Any]:
    entry = release.entry
    return {"budget": entry.budget, "entry": entry.number, "spent": str(entry.spent), "left": str(entry.left)}


def _answer_view(answer: Answer) -> AnswerView:
    cells = _cell_views(answer)
    return AnswerView(
        name=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        delta=str(answer.delta),
        value=None if isinstance(answer.value, tuple) else str(answer.value),
        key_columns=list(key_columns(answer)),
        noun=answer.query.values_noun,
        cells=cells[:MAX_LISTED_CELLS],
        more=max(len(cells) - MAX_LISTED_CELLS, 0),
        half_width=str(answer.released_error.half_width),
        behind=answer.released_error.suffix,
        optimal=answer.optimal,
        picture=_answer_chart(answer),
    )


def _cell_views(answer: Answer) -> list[CellView]:
    """The cells of an answer; none where it is one number."""
    if not isinstance(answer.value, tuple):
        return []
    return [
        CellView(
            keys=name,
            key_values=[key_name(key) for key in row.keys.values()],
            value=value if isinstance(value, int) else str(value),
            low=row.low,
            high=row.high,
        )
        for (name, value), row in zip(answer.named_values, answer_rows(answer), strict=True)
    ]


def _answer_chart(answer: Answer) -> Chart | None:
    if isinstance(answer.value, tuple):
        return _cell_chart(answer)
    lattice = answer.mechanism.lattice
    return None if lattice is None else _noise_chart(answer, lattice)


def _cell_chart(answer: Answer) -> Chart | None:
    """The cells of an answer, each with its 95 % interval; none where they have no intervals, or are too many."""
    assert isinstance(answer.value, tuple)
    cells = _cell_views(answer) if 0 < len(answer.value) <= MAX_BARS else []
    if not cells or any(cell.low is None or cell.high is None for cell in cells):
        return None
    rows = [
        {"cell": cell.keys, "value": _chart_number(cell.value), "low": float(cell.low), "high": float(cell.high)}
        for cell in cells
        if cell.low is not None and cell.high is not None
    ]
    caption = (
        f"Each of these noisy numbers is within ±{at_most(answer.error.half_width).typeset} of "
        f"{answer.error.target} in 95 % of cases."
        if not answer.error.over_rows and not answer.query.needs_delta
        else f"These noisy numbers with their 95 % intervals, around {answer.error.target}."
    )
    return charts.make_chart(_cell_spec(), caption, cells=rows)


def _chart_number(value: int | str) -> int | float:
    return value if isinstance(value, int) else float(Fraction(value))


@cache
def _cell_spec() -> VegaSpec:
    import altair as alt

    x = alt.X("cell:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False))
    value_axis = alt.Axis(gridColor="var(--grid)", domain=False, ticks=False, tickCount=5)
    base = alt.Chart(alt.NamedData("cells"))
    bars = base.mark_bar(aria=False, color="var(--series-1)", opacity=0.75).encode(
        x=x,
        y=alt.Y("value:Q", title=None, axis=value_axis),
        tooltip=["cell:N", alt.Tooltip("value:Q", format=VALUE_FORMAT)],
    )
    intervals = base.mark_rule(aria=False, color="var(--ink)", strokeWidth=1.6).encode(x=x, y="low:Q", y2="high:Q")
    return charts.chart_spec(alt.layer(bars, intervals).properties(height=150))


def _noise_chart(answer: Answer, mechanism: LatticeMechanism) -> Chart:
    """How well each true value would explain the answer: the noise's law, seen from the answer."""
    assert not isinstance(answer.value, tuple)
    value, half_width = float(answer.value), float(answer.error.half_width)
    radius = max(half_width * 1.6, float(mechanism.unit) * 3)
    points = [value + radius * (2 * k / (CURVE_POINTS - 1) - 1) for k in range(CURVE_POINTS)]
    rows = [
        {"value": x, "weight": mechanism.relative_likelihood(abs(x - value)), "inside": abs(x - value) <= half_width}
        for x in points
    ]
    interval = [{"value": value, "low": value - half_width, "high": value + half_width}]
    value_text = quantity(answer.value, VALUE_DIGITS).typeset
    half_width_text = at_most(answer.error.half_width).typeset
    caption = (
        f"The answer {value_text} is within ±{half_width_text} of {answer.error.target} in 95 % of cases; "
        "the height is how well each possible number fits."
    )
    return charts.make_chart(_noise_spec(), caption, law=rows, answer=interval)


@cache
def _noise_spec() -> VegaSpec:
    import altair as alt

    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False, tickCount=6))
    y = alt.Y("weight:Q", axis=None, scale=alt.Scale(domain=[0, 1.05]))
    law = alt.Chart(alt.NamedData("law"))
    whole_area = law.mark_area(aria=False, color="var(--series-1)", opacity=0.18).encode(x=x, y=y)
    interval_area = (
        law.transform_filter("datum.inside")
        .mark_area(aria=False, color="var(--series-1)", opacity=0.45)
        .encode(x=x, y=y)
    )
    answer_line = (
        alt.Chart(alt.NamedData("answer")).mark_rule(aria=False, color="var(--series-2)", strokeWidth=2.5).encode(x=x)
    )
    return charts.chart_spec(alt.layer(whole_area, interval_area, answer_line).properties(height=150))
