"""Numbers with their intervals: one panel a question, one line a number, a dot on a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import VALUE_FORMAT, add_title, apply_style
from utmost.exact.input_text import escape_control

if TYPE_CHECKING:
    import altair as alt

PANEL_WIDTH, LINE_HEIGHT = 480, 22
NAME_WIDTH = 180  # pixels for the names at the left, the same in all panels
MAX_TEXT_CHARS = 90  # of a heading or an axis
MAX_NAMED_VALUES = 12  # lines of a panel up to which each has its number in words


@dataclass(frozen=True, slots=True)
class IntervalLine:
    """A named number; its interval, where it has one, its text, and what was released of it if that is another."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    released: float | None = None


@dataclass(frozen=True, slots=True)
class IntervalPanel:
    """Lines of one unit, which is written below them."""

    heading: str
    lines: tuple[IntervalLine, ...]
    unit: str = ""


def interval_chart(panels: Sequence[IntervalPanel], title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """The panels one below the other, each with a scale of its own and the names at the left."""
    import altair as alt

    charts = [panel_chart(panel) for panel in panels]
    stacked = alt.vconcat(*charts, spacing=16, title=add_title(shown_text(title), escape_control(subtitle)))
    return apply_style(stacked.resolve_scale(x="independent", y="independent"))  # type: ignore[no-any-return]


def panel_chart(panel: IntervalPanel) -> Any:
    """One panel, without a style of its own."""
    import altair as alt

    names = unique_names([line.name for line in panel.lines])
    values = [
        {
            "name": name,
            "value": line.value,
            "low": line.low,
            "high": line.high,
            "text": shown_text(line.text),
            **({} if line.released is None else {"released": line.released}),
        }
        for name, line in zip(names, panel.lines, strict=True)
    ]
    widths: dict[str, Any] = {"labelLimit": NAME_WIDTH - 16, "minExtent": NAME_WIDTH, "maxExtent": NAME_WIDTH}
    axis = alt.Axis(domain=False, ticks=False, labelPadding=8, **widths)
    base = alt.Chart(alt.InlineData(values=values)).encode(y=alt.Y("name:N", sort=None, title=None, axis=axis))
    heading = alt.TitleParams(
        shown_text(panel.heading), anchor="start", frame="group", fontSize=12, fontWeight="normal", offset=6
    )
    unit = shown_text(panel.unit)
    chart = alt.layer(*_bars(base, values, unit), *_strokes(base, values, unit), *_dots(base, values, unit))
    sized = chart.properties(width=PANEL_WIDTH, height=LINE_HEIGHT * max(len(values), 1))
    return sized.properties(title=heading) if panel.heading else sized


def _number_axis(name: str, unit: str, values: Sequence[Mapping[str, Any]]) -> alt.X:
    """The common axis of numbers for one of their columns, with whole ticks where all numbers are whole."""
    import altair as alt

    keys = ("value", "low", "high", "released")
    numbers = [value[key] for value in values for key in keys if value.get(key) is not None]
    whole_step = 1 if all(float(number).is_integer() for number in numbers) else alt.Undefined
    axis = alt.Axis(
        gridColor="#eee",
        domain=False,
        ticks=False,
        tickCount=6,
        tickMinStep=whole_step,
        format=VALUE_FORMAT,
        labelOverlap=True,
    )
    return alt.X(f"{name}:Q", title=unit or None, scale=alt.Scale(zero=False, nice=True), axis=axis)


def _bars(base: Any, values: Sequence[dict[str, Any]], unit: str) -> list[Any]:
    """The intervals of the lines that have one."""
    if all(value["low"] is None or value["high"] is None for value in values):
        return []
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    bar = bars.mark_bar(color=PALETTE[0], opacity=0.25, height=9, cornerRadius=4)
    return [bar.encode(x=_number_axis("low", unit, values), x2="high:Q")]


def _strokes(base: Any, values: Sequence[dict[str, Any]], unit: str) -> list[Any]:
    """What was released, of the lines that have it."""
    if not any("released" in value for value in values):
        return []
    strokes = base.transform_filter("isValid(datum.released)").mark_tick(color="#222", thickness=2, size=15)
    return [strokes.encode(x=_number_axis("released", unit, values))]


def _dots(base: Any, values: Sequence[dict[str, Any]], unit: str) -> list[Any]:
    """The numbers, with their texts where there are few."""
    import altair as alt

    tooltip = [alt.Tooltip("name:N", title="of"), *(alt.Tooltip(f"{k}:Q") for k in ("value", "low", "high"))]
    dots = base.mark_point(filled=True, size=60, color=PALETTE[0], opacity=1)
    layers = [dots.encode(x=_number_axis("value", unit, values), tooltip=tooltip)]
    if len(values) <= MAX_NAMED_VALUES and any(value["text"] for value in values):
        words = base.mark_text(align="left", color="#555", fontSize=11)
        layers.append(words.encode(x=alt.value(PANEL_WIDTH + 10), text="text:N"))
    return layers


def unique_names(names: Sequence[str]) -> list[str]:
    """The names as a chart shows them, told apart by a number where several are alike.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    counts: Counter[str] = Counter()
    unique: list[str] = []
    for name in map(shown_text, names):
        counts[name] += 1
        candidate = name if counts[name] == 1 else f"{name} ({counts[name]})"
        while candidate in unique:
            candidate = f"{candidate} ·"
        unique.append(candidate)
    return unique


def shown_text(text: str) -> str:
    """A text on one line, without control characters, cut where it is long."""
    line = escape_control(text, frozenset())
    return line if len(line) <= MAX_TEXT_CHARS else f"{line[: MAX_TEXT_CHARS - 1]}…"
