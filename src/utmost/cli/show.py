"""How things look: numbers, documents, tables."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from utmost.channel import Channel, Leak
    from utmost.exact import Level, Number

DIGITS = 12  # of a float in a document
SHORT = 7  # characters of a fraction that a table shows as it is
MOST_ROWS = 24  # of a matrix in the terminal


def remark(text: str) -> None:
    """Progress and remarks, on stderr."""
    print(text, file=sys.stderr)


def document(content: dict[str, Any]) -> None:
    """One JSON document on stdout."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(content, indent=1, ensure_ascii=not unicode, allow_nan=False))


def plain(value: Number | float | None) -> str | float | None:
    """A number as a document has it: exact ones are text, floats have 12 digits, ∞ is "inf".

    >>> plain(Fraction(2, 3)), plain(0.1 + 0.2), plain(math.inf), plain(None)
    ('2/3', 0.3, 'inf', None)
    """
    if value is None or not isinstance(value, float):
        return None if value is None else str(value)
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


def epsilon_of(leak: Leak) -> str | float:
    """The ε of a leak: text where it is rational, else a float."""
    value = plain(leak.epsilon if leak.exponent is None else leak.exponent)
    assert value is not None
    return value


def matrix(rows: Any) -> list[list[str | float | None]]:
    """The entries of a channel as a document has them."""
    return [[plain(float(value) if isinstance(value, float) else value) for value in row] for row in rows]


def channel_document(channel: Channel) -> dict[str, Any]:
    """`inputs`, `outputs`, `rows`."""
    return {"inputs": list(channel.inputs), "outputs": list(channel.outputs), "rows": matrix(channel.rows)}


def level_words(level: Level) -> str:
    """A level as an adjective: `1/2-private` reads α, `(ε = 1/10)-private` reads ε."""
    return f"(ε = {level.exponent})" if level.exponent is not None else f"{level.alpha}"


def leak_sentence(leak: Leak) -> str:
    """The ε of a channel and the entries that attain it, in words."""
    from utmost.exact import decimal

    place = f"answer {leak.output} under input {leak.high} and under input {leak.low}"
    if leak.ratio is None:
        return f"Recomputed from the entries: ε = ∞, since the answer {leak.output} can come from {leak.high}, not from {leak.low}."
    alpha = "" if leak.alpha is None or len(str(leak.alpha)) > 4 * SHORT else f" (α = {leak.alpha})"
    value = f"= {leak.exponent}" if leak.exponent is not None else f"≈ {decimal(leak.epsilon)}"
    ratio = str(leak.ratio) if len(str(leak.ratio)) <= 2 * SHORT else decimal(leak.ratio)
    return f"Recomputed from the entries: ε {value}{alpha}, attained by {place}: {ratio} to 1."


def console() -> Console:
    """The terminal: as wide as it is, 80 columns where that is not known, no colours in a pipe."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)


def say(text: str = "") -> None:
    """A paragraph on stdout, wrapped at the terminal's width."""
    console().print(text)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A table on stdout; the first `left` columns are words, the rest are numbers."""
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for k, name in enumerate(header):
        shown.add_column(name, justify="left" if k < left else "right", overflow="fold", no_wrap=k >= left)
    for row in rows:
        shown.add_row(*row)
    console().print(shown)


def channel_table(channel: Channel) -> None:
    """A channel as a table: fractions where all that is shown is short, else decimals; of a large one the corner."""
    height = min(len(channel.inputs), MOST_ROWS)
    write, width = _writing(channel, height)
    cut = width < len(channel.outputs)
    header = ["", *map(str, channel.outputs[:width]), *["…"] * cut]
    rows = [
        [str(x), *map(write, row[:width]), *["…"] * cut]
        for x, row in zip(channel.inputs[:height], channel.rows[:height], strict=True)
    ]
    table(header, rows)
    if cut or height < len(channel.inputs):
        shape = f"{len(channel.inputs)} inputs and {len(channel.outputs)} outputs"
        say(f"The first {height} rows and {width} columns of {shape}; --output FILE.csv saves them all.\n")


def _writing(channel: Channel, height: int) -> tuple[Callable[[Any], str], int]:
    """How entries are written, and how many columns of them fit."""
    width = _fitting(channel, height, _fraction)
    shown = [value for row in channel.rows[:height] for value in row[:width]]
    if all(isinstance(v, Fraction) and len(str(v)) <= SHORT for v in shown):
        return _fraction, width
    return _short, _fitting(channel, height, _short)


def _fitting(channel: Channel, height: int, write: Callable[[Any], str]) -> int:
    """The largest number of columns, at least one, whose widths fit beside the labels."""
    spare = console().width - max(len(str(x)) for x in channel.inputs) - 5
    for k, label in enumerate(channel.outputs):
        spare -= 2 + max(len(str(label)), *(len(write(row[k])) for row in channel.rows[:height]))
        if spare < 0:
            return max(k, 1)
    return len(channel.outputs)


def _fraction(value: Any) -> str:
    return str(value) if isinstance(value, Fraction) and len(str(value)) <= SHORT else _short(value)


def _short(value: Any) -> str:
    from utmost.exact import decimal

    return decimal(value, 4)
