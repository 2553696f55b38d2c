"""A release in a notebook: one table, every text escaped."""

from __future__ import annotations

from fractions import Fraction
from html import escape as escape_markup
from typing import TYPE_CHECKING

from utmost.exact import decimal, decimal_above
from utmost.exact.plain_text import escape_control
from utmost.publish.answer_error import noise_remark

if TYPE_CHECKING:
    from utmost.publish.reading.estimates import Estimate, Reading
    from utmost.publish.release_model import Answer, Release

MAX_CELL_ROWS = 50


def escape(text: str) -> str:
    """A text as HTML shows it: no markup, and no control character that would turn what stands beside it."""
    return escape_markup(escape_control(text))


def release_html(release: Release) -> str:
    """The answers as a table, with the guarantee below it."""
    rows = "".join(_answer_row(answer) for answer in release)
    head = "".join(f"<th>{escape(word)}</th>" for word in ("query", "value", "± (95 %)", "ε", "best"))
    title = f"<caption>{escape(release.title)}</caption>" if release.title else ""
    remark = noise_remark({answer.kind for answer in release}, release.unit, release.part)
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in (remark, release.guarantee) if text)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{paragraphs}"


def estimate_html(estimate: Estimate) -> str:
    """The readings as a table, with the claim below it."""
    names = estimate.cells or (estimate.answer.name,)
    rows = "".join(
        _reading_row(name, reading) for name, reading in zip(names[:MAX_CELL_ROWS], estimate.readings, strict=False)
    )
    head = "".join(f"<th>{escape(word)}</th>" for word in ("", "released", "best reading", "interval", "expected loss"))
    about = f"<p>{escape(f'Readings are of {estimate.answer.error.target}.')}</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{about}<p>{escape(estimate.claim)}</p>"


def _reading_row(name: str, reading: Reading) -> str:
    interval = (
        ""
        if reading.interval is None
        else f"{_format_number(reading.interval[0])} – {_format_number(reading.interval[1])}"
    )
    loss = "" if reading.loss is None else decimal(reading.loss.expected, 4)
    cells = (name, _format_number(reading.value), _format_number(reading.estimate), interval, loss)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _format_number(value: int | Fraction | float) -> str:
    return str(value) if isinstance(value, int) else decimal(value)


def _answer_row(answer: Answer) -> str:
    half_width = f"{decimal_above(answer.error.half_width, 4)}{'/rows' if answer.error.over_rows else ''}"
    cells = (answer.name, _format_value(answer), half_width, str(answer.epsilon), answer.optimal.partition(":")[0])
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _format_value(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        from utmost.publish.estimate import cell_names

        pairs = [f"{name}: {value}" for name, value in zip(cell_names(answer), answer.value, strict=True)]
        return ", ".join(pairs[:MAX_CELL_ROWS]) + (", …" if len(pairs) > MAX_CELL_ROWS else "")
    return str(answer.value) if isinstance(answer.value, int) else decimal(answer.value)
