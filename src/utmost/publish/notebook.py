"""A release in a notebook: one table, every text escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from utmost.exact import decimal

if TYPE_CHECKING:
    from utmost.publish.record import Answer, Release

MOST_CELLS = 50


def release_html(release: Release) -> str:
    """The answers as a table, with the guarantee below it."""
    rows = "".join(_row(answer) for answer in release)
    head = "".join(f"<th>{escape(word)}</th>" for word in ("query", "value", "± (95 %)", "ε", "best"))
    title = f"<caption>{escape(release.title)}</caption>" if release.title else ""
    return (
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{escape(release.guarantee)}</p>"
    )


def _row(answer: Answer) -> str:
    half = f"{decimal(answer.error.half_width, 4)}{'/rows' if answer.error.over_rows else ''}"
    cells = (answer.name, _value(answer), half, str(answer.epsilon), answer.optimal.partition(":")[0])
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _value(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        shown = ", ".join(str(value) for value in answer.value[:MOST_CELLS])
        return shown + (", …" if len(answer.value) > MOST_CELLS else "")
    return str(answer.value) if isinstance(answer.value, int) else decimal(answer.value)
