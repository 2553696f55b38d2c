"""A release in a notebook: one table, every text escaped."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from utmost.exact import decimal

if TYPE_CHECKING:
    from utmost.publish.reading.estimates import Estimate, Reading
    from utmost.publish.release_model import Answer, Release

MAX_CELL_ROWS = 50


def release_html(release: Release) -> str:
    """The answers as a table, with the guarantee below it."""
    rows = "".join(_row(answer) for answer in release)
    head = "".join(f"<th>{escape(word)}</th>" for word in ("query", "value", "± (95 %)", "ε", "best"))
    title = f"<caption>{escape(release.title)}</caption>" if release.title else ""
    return (
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{escape(release.guarantee)}</p>"
    )


def estimate_html(found: Estimate) -> str:
    """The readings as a table, with the claim below it."""
    names = found.cells or (found.answer.name,)
    rows = "".join(_reading(name, one) for name, one in zip(names[:MAX_CELL_ROWS], found.readings, strict=False))
    head = "".join(f"<th>{escape(word)}</th>" for word in ("", "released", "best reading", "interval", "expected loss"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{escape(found.claim)}</p>"


def _reading(name: str, one: Reading) -> str:
    interval = "" if one.interval is None else f"{_short(one.interval[0])} – {_short(one.interval[1])}"
    loss = "" if one.loss is None else decimal(one.loss.expected, 4)
    cells = (name, _short(one.value), _short(one.estimate), interval, loss)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _short(value: int | Fraction | float) -> str:
    return str(value) if isinstance(value, int) else decimal(value)


def _row(answer: Answer) -> str:
    half = f"{decimal(answer.error.half_width, 4)}{'/rows' if answer.error.over_rows else ''}"
    cells = (answer.name, _value(answer), half, str(answer.epsilon), answer.optimal.partition(":")[0])
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _value(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        from utmost.publish.estimate import cell_names

        pairs = [f"{name}: {value}" for name, value in zip(cell_names(answer), answer.value, strict=True)]
        return ", ".join(pairs[:MAX_CELL_ROWS]) + (", …" if len(pairs) > MAX_CELL_ROWS else "")
    return str(answer.value) if isinstance(answer.value, int) else decimal(answer.value)
