"""Describe one answer of a release, and draw answers with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from utmost.exact.input_text import escape_control
from utmost.publish.tidy_table import TidyRow, answer_rows, key_columns
from utmost.queries.keys import key_name
from utmost.queries.top import Top
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import at_least, at_most, quantity
from utmost.reports.preview import shown_error
from utmost.tables import double_above, double_below, nearest

if TYPE_CHECKING:
    import altair as alt

    from utmost.charts.intervals import IntervalLine, IntervalPanel
    from utmost.publish.release_model import Answer

MAX_SHOWN_ROWS = 20
MAX_COMPARED_CELLS = 1000  # of an answer whose widest interval is looked for
MAX_CHART_LINES = 60  # of a query
MAX_CHART_QUERIES = 20
VALUE_DIGITS = 8
VALUE_COLUMNS = ("value", "low", "high")
PROBABILITY_TEXT = "with probability at least 95 %"
TOLD_REMARK = "The bar of a cell that was found holds given that the cell was told."
NO_BAR_REMARK = "Numbers without a bar have no interval of their own."
PLACES_REMARK = "The numbers of a top are places."


def describe(answer: Answer) -> Report:
    """What was asked and at what price, and its numbers, the first of many."""
    rows = list(answer_rows(answer))
    facts = Facts(
        (
            ("query", f"{answer.name}: {answer.kind}{_condition(answer)}, {answer.price_text}"),
            ("of", answer.error.target),
            ("± (95 %)", shown_half_width(answer)),
            ("best", answer.optimal),
        )
    )
    cut = f"The first {MAX_SHOWN_ROWS} of {len(rows)} numbers; to_pandas() has them all."
    blocks: dict[str, Block | None] = {
        "facts": facts,
        "values": values_table(answer, rows[:MAX_SHOWN_ROWS]),
        "cut": Paragraph(cut) if len(rows) > MAX_SHOWN_ROWS else None,
    }
    return Report(blocks, lambda: {"name": answer.name, "kind": answer.kind, "rows": [_entry(row) for row in rows]})


def shown_half_width(answer: Answer) -> Cell:
    """The half width of the 95 % interval, as far as the release itself says it; of cells that differ, the largest."""
    if not has_cell_intervals(answer):
        return shown_error(answer.released_error).half_width
    if len(answer.named_values) > MAX_COMPARED_CELLS:
        return "by cell"
    return at_most(max(row.interval.error or Fraction(0) for row in answer_rows(answer)), suffix=" or less")


def has_cell_intervals(answer: Answer) -> bool:
    """Has each cell an interval of its own: a mean with its noisy number of rows, a cell that was found."""
    if not (answer.query.needs_delta or answer.error.over_rows) or not isinstance(answer.value, tuple):
        return False
    return any(_has_bar(row) for row in islice(answer_rows(answer), 1))


def values_table(answer: Answer, rows: Sequence[TidyRow]) -> Table:
    """Some numbers of an answer with their keys and intervals."""
    columns = key_columns(answer)
    return Table((*columns, *VALUE_COLUMNS), tuple(_shown_row(row, columns) for row in rows), len(columns))


def _condition(answer: Answer) -> str:
    return f" where {' '.join(answer.where.split())}" if answer.where else ""


def _shown_row(row: TidyRow, columns: Sequence[str]) -> tuple[Cell, ...]:
    low, high = row.interval.low, row.interval.high
    ends = ("" if low is None else at_least(low, VALUE_DIGITS), "" if high is None else at_most(high, VALUE_DIGITS))
    return (*(_key_text(row, column) for column in columns), quantity(row.number, VALUE_DIGITS), *ends)


def _key_text(row: TidyRow, column: str) -> str:
    return key_name(row.keys[column]) if column in row.keys else ""


def _entry(row: TidyRow) -> dict[str, object]:
    keys = {column: key_name(key) for column, key in row.keys.items()}
    return {"keys": keys, "value": row.value, "low": row.low, "high": row.high, "error": row.error}


def figure(answer: Answer) -> alt.TopLevelMixin:
    """Each number of the answer as a dot on its interval."""
    return answers_figure((answer,), f"{answer.name}: {answer.kind}", answer.error.target)


def answers_figure(answers: Iterable[Answer], title: str, target: str) -> alt.TopLevelMixin:
    """A panel for each answer, the first of many; `target` is what the intervals hold, in words."""
    from utmost.charts.intervals import interval_chart

    listed = list(answers)
    shown = listed[:MAX_CHART_QUERIES]
    cut = f"The first {MAX_CHART_QUERIES} of {len(listed)} queries." if len(listed) > MAX_CHART_QUERIES else ""
    remarks = [*bar_remarks(shown, target), *([cut] if cut else [])]
    return interval_chart([_panel(answer) for answer in shown], title, " ".join(remarks))


def bar_remarks(answers: Sequence[Answer], target: str) -> list[str]:
    """What the bars of these answers hold, and which numbers have none."""
    barred = [answer for answer in answers if any(_has_bar(row) for row in answer_rows(answer))]
    is_bare = any(not _has_bar(row) for answer in answers for row in answer_rows(answer))
    remarks = {
        f"Each bar holds {target} {PROBABILITY_TEXT}.": bool(barred),
        TOLD_REMARK: any(answer.query.needs_delta for answer in barred),
        NO_BAR_REMARK: is_bare,
        PLACES_REMARK: any(answer.kind == Top.kind for answer in answers),
    }
    return [remark for remark, holds in remarks.items() if holds]


def _has_bar(row: TidyRow) -> bool:
    return row.interval.low is not None and row.interval.high is not None


def _panel(answer: Answer) -> IntervalPanel:
    from utmost.charts.intervals import IntervalPanel

    rows = list(answer_rows(answer))
    cut = f", the first {MAX_CHART_LINES} of {len(rows)} cells" if len(rows) > MAX_CHART_LINES else ""
    empty = "" if rows else ", no cell"
    lines = tuple(_line(answer, row) for row in rows[:MAX_CHART_LINES])
    heading = f"{answer.name}{cut}{empty}" if isinstance(answer.value, tuple) else ""
    return IntervalPanel(heading, lines, answer_unit(answer))


def _line(answer: Answer, row: TidyRow) -> IntervalLine:
    from utmost.charts.intervals import IntervalLine

    low, high = row.interval.low, row.interval.high
    return IntervalLine(
        ", ".join(map(key_name, row.keys.values())) or answer.name,
        nearest(row.number),
        None if low is None else double_below(low),
        None if high is None else double_above(high),
        quantity(row.number, VALUE_DIGITS).typeset,
    )


def answer_unit(answer: Answer) -> str:
    """What the numbers of an answer are: its kind, of which column, of which rows."""
    column = answer.query_content.get("column")
    of_column = f" of {column}" if isinstance(column, str) else ""
    kind = "count" if answer.kind == "histogram" else answer.kind
    return escape_control(f"{kind}{of_column}{_condition(answer)}")
