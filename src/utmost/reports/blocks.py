"""A report: its blocks as plain data, and the same as escaped HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape as escape_markup
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.exact.input_text import escape_control
from utmost.reports.numbers import Quantity, plain_json, quantity

if TYPE_CHECKING:
    from utmost.channel import Channel

Cell: TypeAlias = str | Quantity
MAX_MATRIX_LABELS = 30  # rows and columns of a matrix that are shown


@dataclass(frozen=True, slots=True, init=False)
class Paragraph:
    """One or more sentences; an empty one is a blank line in the terminal and nothing on a page.

    It is made of texts and quantities, so that a page can show what each number is exactly.

    >>> Paragraph("Expected loss ", Quantity(0.25), ".").text
    'Expected loss 0.25.'
    """

    parts: tuple[Cell, ...]

    def __init__(self, *parts: Cell) -> None:
        """Join texts and quantities, which follow each other without a space."""
        object.__setattr__(self, "parts", parts)

    @property
    def text(self) -> str:
        """The sentences as a terminal shows them."""
        return "".join(map(str, self.parts))

    @property
    def typeset(self) -> str:
        """The sentences as a page shows them."""
        return "".join(part if isinstance(part, str) else part.typeset for part in self.parts)

    def __str__(self) -> str:
        """The sentences as a terminal shows them."""
        return self.text


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are, one pair a line."""

    pairs: tuple[tuple[str, Cell | Paragraph], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. The first `text_columns` columns are text, the rest are numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    text_columns: int = 1
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A channel. Where it is large, only its first rows and columns are shown."""

    channel: Channel
    caption: str = ""
    max_labels: int = MAX_MATRIX_LABELS
    is_shaded: bool = False  # on a page of ours no style may stand in an element; in a notebook it may


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines to be shown as they are: a formula, a signature, a plan to copy."""

    text: str


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Named tables or lines: beside each other where there is room, else one below the other."""

    columns: tuple[tuple[str, Table | Verbatim], ...]


Block: TypeAlias = Paragraph | Facts | Table | Matrix | Verbatim | SideBySide


@dataclass(frozen=True, slots=True)
class Report:
    """A result, described once: named blocks in reading order, and the document that `--json` prints.

    A document may hold quantities; `json` writes them out. One that takes long to make is given as a function.
    `numbers` are the main numbers of the result by name, for pages that show them beside the sentences.

    >>> report = Report({"loss": Paragraph("Expected loss 1/3."), "proof": None}, {"loss": "1/3"})
    >>> report.text("loss"), report.text("proof"), report.json
    ('Expected loss 1/3.', '', {'loss': '1/3'})
    """

    blocks: Mapping[str, Block | None]
    document: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)
    numbers: Mapping[str, Quantity] = field(default_factory=dict)

    @property
    def content(self) -> Mapping[str, Any]:
        """The document, quantities in it."""
        return self.document() if callable(self.document) else self.document

    @property
    def json(self) -> dict[str, Any]:
        """The document, every number written out."""
        document: dict[str, Any] = plain_json(dict(self.content))
        return document

    def __iter__(self) -> Iterator[Block]:
        """The blocks that there are, in order."""
        return (block for block in self.blocks.values() if block is not None)

    def text(self, name: str) -> str:
        """The sentences of a paragraph; empty where the report has none of this name."""
        block = self.blocks.get(name)
        return block.text if isinstance(block, Paragraph | Verbatim) else ""


MAX_EXACT_CHARS = 120  # characters of an exact value that are shown on hover
EMPTY_HEAD = '<span class="visually-hidden">from</span>'


def escape(text: str) -> str:
    """A text as a page shows it: no markup, and no control character that would turn what stands beside it."""
    return escape_markup(escape_control(text))


def report_html(report: Report) -> str:
    """The blocks of a report, in order."""
    return "".join(block_html(block) for block in report)


def block_html(block: Block) -> str:
    """One block."""
    if isinstance(block, Paragraph):
        return f"<p>{cell_html(block)}</p>" if block.text.strip() else ""
    if isinstance(block, Verbatim):
        return f"<pre>{escape(block.text)}</pre>"
    if isinstance(block, Facts):
        pairs = "".join(f"<dt>{escape(name)}</dt><dd>{cell_html(cell)}</dd>" for name, cell in block.pairs)
        return f"<dl>{pairs}</dl>"
    if isinstance(block, SideBySide):
        return _columns_html(block)
    if isinstance(block, Matrix):
        return _matrix_html(block)
    return _table_html(block)


def _columns_html(block: SideBySide) -> str:
    """Columns beside each other; equal ones once."""
    columns = list(block.columns)
    if len(columns) > 1 and all(column == columns[0][1] for _, column in columns):
        columns = [(f"{' = '.join(name for name, _ in columns)}, in every cell", columns[0][1])]
    content = "".join(f"<div>{_column_html(name, column)}</div>" for name, column in columns)
    return f'<div class="side-by-side">{content}</div>'


def _column_html(name: str, column: Table | Verbatim) -> str:
    if isinstance(column, Table):
        return _table_html(replace(column, caption=column.caption or name))
    return (f"<p>{escape(name)}</p>" if name else "") + block_html(column)


def cell_html(cell: Cell | Paragraph) -> str:
    """A text, a number with its exact value, or several of them."""
    if isinstance(cell, Paragraph):
        return "".join(map(cell_html, cell.parts))
    return escape(cell) if isinstance(cell, str) else number_html(cell)


def number_html(number: Quantity) -> str:
    """A number: typeset and rounded in the text, exact in `value` and, where they differ, on hover.

    >>> from fractions import Fraction
    >>> number_html(quantity(Fraction(1, 3)))
    '<data class="number" value="1/3" title="exactly 1/3">0.3333</data>'
    """
    return data_html(number.typeset, number.exact, is_exact=number.rounded == number.exact)


def data_html(text: str, exact: str, *, is_exact: bool) -> str:
    """A text that stands for a number; the number on hover, unless the text is it."""
    shortened = exact if len(exact) <= MAX_EXACT_CHARS else f"{exact[:MAX_EXACT_CHARS]}… (whole in the JSON)"
    title = "" if is_exact else f' title="exactly {escape(shortened)}"'
    return f'<data class="number" value="{escape(shortened)}"{title}>{escape(text)}</data>'


def _table_html(table: Table) -> str:
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{escape(name) or EMPTY_HEAD}</th>' for name in table.header)
    rows = "".join(_row_html(row, table.text_columns) for row in table.rows)
    label = escape(table.caption or "Table")
    content = f'<table class="data">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{content}</div>'


def _row_html(row: Sequence[Cell], text_columns: int) -> str:
    cells = "".join(_table_cell_html(cell, k, text_columns) for k, cell in enumerate(row))
    return f"<tr>{cells}</tr>"


def _table_cell_html(cell: Cell, column: int, text_columns: int) -> str:
    if column >= text_columns:
        return f'<td class="number">{cell_html(cell)}</td>'
    return f"<td>{cell_html(cell)}</td>" if column else f'<th scope="row">{cell_html(cell)}</th>'


def _matrix_html(block: Matrix) -> str:
    channel = block.channel
    height, width = (min(len(labels), block.max_labels) for labels in (channel.inputs, channel.outputs))
    header = ("", *map(str, channel.outputs[:width]))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(label), *(quantity(float(entry) if isinstance(entry, float) else entry) for entry in row[:width]))
        for label, row in zip(channel.inputs[:height], channel.rows[:height], strict=True)
    )
    is_whole = height == len(channel.inputs) and width == len(channel.outputs)
    shown = f"The first {height} of {len(channel.inputs)} rows and {width} of {len(channel.outputs)} columns."
    captions = [block.caption, "" if is_whole else shown]
    table = _table_html(Table(header, rows, 1, " ".join(filter(None, captions))))
    return _shade_cells(table, rows) if block.is_shaded else table


def _shade_cells(table: str, rows: Sequence[Sequence[Cell]]) -> str:
    """The cells of numbers with a ground that is the darker the larger the number (shade ∝ √probability)."""
    shades = iter(math.sqrt(max(float(cell.value), 0)) for row in rows for cell in row if isinstance(cell, Quantity))
    cell = '<td class="number">'
    first, *rest = table.split(cell)
    styles = (f'<td class="number" style="background: rgba(31, 95, 168, {0.55 * shade:.3f})">' for shade in shades)
    return first + "".join(f"{style}{part}" for style, part in zip(styles, rest, strict=True))
