"""What commands print: numbers, JSON documents, tables, and a line of progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.exact.input_text import escape_control, escape_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from utmost.channel import Channel
    from utmost.reports import Block, Report, SideBySide
    from utmost.reports import Table as ReportTable

MAX_FRACTION_CHARS = 7  # characters of a fraction that a table shows as it is
COLUMN_GAP = 2  # characters between two columns of a table
MAX_UNBROKEN_CHARS = 24  # characters of a word in a column of text, beyond which it may be broken
MAX_TABLE_ROWS = 24  # rows of a matrix up to which the terminal shows all
CORNER_ROWS = 10  # rows of a larger one


def print_remark(text: str) -> None:
    """Progress and remarks, on stderr."""
    print(escape_control(text), file=sys.stderr)


def print_lines(text: str) -> None:
    """Lines on stdout as they are, however wide: what is to be copied."""
    print(escape_control(text), flush=True)


def print_json(content: dict[str, Any]) -> None:
    """One JSON document on stdout."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print("{\n" + ",\n".join(_json_line(key, value, not unicode) for key, value in content.items()) + "\n}")


def _json_line(key: str, value: Any, ascii_only: bool) -> str:
    """One key of a document on a line; a list of lists or of objects, and an object, one item a line."""

    def encode(item: Any) -> str:
        return escape_json(json.dumps(item, ensure_ascii=ascii_only, allow_nan=False))

    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return f" {encode(key)}: [\n" + ",\n".join(f"  {encode(item)}" for item in value) + "\n ]"
    return f" {encode(key)}: {encode(value)}"


def console() -> Console:
    """The terminal: as wide as it is, 80 columns where that is not known, no colours in a pipe."""
    from utmost.cli.safe_console import SafeConsole

    return SafeConsole(highlight=False, markup=False, emoji=False, soft_wrap=False)


def print_text(text: str = "") -> None:
    """A paragraph on stdout, wrapped at the terminal's width."""
    console().print(text)


def print_facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and what they are, in two columns on stdout."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for name, description in pairs:
        grid.add_row(name, description)
    console().print(grid)


def build_table(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> Table:
    """A table; its first `text_columns` columns are text, the rest are numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for k, name in enumerate(header):
        table.add_column(name, justify="left" if k < text_columns else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> None:
    """Print a table on stdout; in parts, one below the other, where the terminal is too narrow for all its columns.

    The first part has all columns of text, each other those that tell the rows apart. No number is broken in two.
    """
    screen = console()
    least = [_least_width(header[k], [row[k] for row in rows], k < text_columns) for k in range(len(header))]
    names = _naming_columns(rows, min(text_columns, len(header)))
    for number, columns in enumerate(_parts_of_columns(least, text_columns, names, screen.width)):
        part_header, part = [header[k] for k in columns], [[row[k] for k in columns] for row in rows]
        table = build_table(part_header, part, names if number else text_columns)
        widths = _fitting_widths(part_header, part, [least[k] for k in columns], screen.width)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = width
        screen.print(*[""] if number else [], table, sep="\n")


def _naming_columns(rows: Sequence[Sequence[str]], text_columns: int) -> int:
    """How many of the columns of text tell the rows apart; all, where none do."""
    for count in range(1, text_columns):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return text_columns


def _parts_of_columns(least: Sequence[int], text_columns: int, names: int, width: int) -> list[list[int]]:
    """The columns of each part of a table: those of text, then as many others as fit beside them."""
    parts = [list(range(min(text_columns, len(least))))]
    left = width - sum(least[k] + COLUMN_GAP for k in parts[0])
    for k in range(len(parts[0]), len(least)):
        if left < least[k] and (len(parts) > 1 or k > text_columns):
            parts.append(list(range(names)))
            left = width - sum(least[name] + COLUMN_GAP for name in parts[-1])
        parts[-1].append(k)
        left -= least[k] + COLUMN_GAP
    return parts


def _least_width(heading: str, cells: Sequence[str], is_text: bool) -> int:
    """Where a column cannot be narrower: headings and texts are broken at blanks, long words anywhere, numbers not."""
    from rich.cells import cell_len

    words = max(map(cell_len, heading.split()), default=0)
    if not is_text:
        return max([words, *map(cell_len, cells)])
    return min(max([words, *(cell_len(word) for cell in cells for word in cell.split())]), MAX_UNBROKEN_CHARS)


def _fitting_widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[int], width: int
) -> list[int | None]:
    """The widths of columns beside each other; those that can be narrower are, where they would not fit."""
    from rich.cells import cell_len

    widths = [
        max(cell_len(line) for cell in column for line in cell.split("\n"))
        for column in zip(header, *rows, strict=True)
    ]
    excess = sum(widths) + COLUMN_GAP * (len(widths) - 1) - width
    if excess <= 0:
        return [None] * len(widths)
    for _ in range(excess):
        widest = max(range(len(widths)), key=lambda k: widths[k] - least[k])
        if widths[widest] <= least[widest]:
            return [None] * len(widths)  # too narrow for a column by itself: what is too long is broken
        widths[widest] -= 1
    return [*widths]


def fits_terminal(renderables: Sequence[Table | str]) -> bool:
    """Is the terminal wide enough for these side by side."""
    from rich.measure import Measurement

    screen = console()
    options = screen.options.update(max_width=10_000)
    return sum(Measurement.get(screen, options, renderable).maximum + 4 for renderable in renderables) <= screen.width


def print_side_by_side(columns: Sequence[tuple[str, Table | str]]) -> None:
    """Named tables or texts on stdout: side by side where the terminal is wide enough, else one below the other."""
    from rich.table import Table

    screen = console()
    if fits_terminal([renderable for _, renderable in columns]):
        grid = Table.grid(padding=(0, 4, 0, 0))
        if any(name for name, _ in columns):
            grid.add_row(*(name for name, _ in columns))
        grid.add_row(*(renderable for _, renderable in columns))
        screen.print(grid)
        return
    for name, renderable in columns:
        screen.print(*[name] if name else [], renderable, sep="\n")


def print_report(report: Report, json: bool = False) -> None:
    """Print a report: its document, or its blocks one after the other."""
    if json:
        print_json(report.json)
        return
    for block in report:
        print_block(block)


def print_block(block: Block) -> None:
    """Print one block of a report."""
    from utmost.reports import Facts, Matrix, SideBySide, Verbatim
    from utmost.reports import Table as ReportTable

    if isinstance(block, Facts):
        print_facts([(name, str(cell)) for name, cell in block.pairs])
    elif isinstance(block, Matrix):
        print_channel(block.channel)
    elif isinstance(block, ReportTable):
        print_table(block.header, _cell_texts(block), block.text_columns)
    elif isinstance(block, SideBySide):
        _print_columns(block)
    elif isinstance(block, Verbatim):
        print_lines(block.text)
    else:
        print_text(block.text)


def _print_columns(block: SideBySide) -> None:
    """Print columns side by side; of equal ones that do not fit, one for all."""
    from utmost.reports import Verbatim

    columns = [
        (name, column.text if isinstance(column, Verbatim) else _report_table(column)) for name, column in block.columns
    ]
    is_same = len(columns) > 1 and all(column == block.columns[0][1] for _, column in block.columns)
    if is_same and not fits_terminal([column for _, column in columns]):
        heading = f"{' = '.join(name for name, _ in columns)}, in every cell"
        columns = [(heading, columns[0][1])]
    print_side_by_side(columns)


def _report_table(table: ReportTable) -> Table:
    return build_table(table.header, _cell_texts(table), table.text_columns)


def _cell_texts(table: ReportTable) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in table.rows]


def print_channel(channel: Channel) -> None:
    """Print a channel: fractions where all that is shown is short, else decimals; of a large one the corner."""
    height = len(channel.inputs) if len(channel.inputs) <= MAX_TABLE_ROWS else CORNER_ROWS
    format_entry, width = _choose_entry_format(channel, height)
    has_more_columns = width < len(channel.outputs)
    header = ["", *map(str, channel.outputs[:width]), *["…"] * has_more_columns]
    rows = [
        [str(x), *map(format_entry, row[:width]), *["…"] * has_more_columns]
        for x, row in zip(channel.inputs[:height], channel.rows[:height], strict=True)
    ]
    print_table(header, rows)
    if has_more_columns or height < len(channel.inputs):
        shape = f"{len(channel.inputs)} inputs and {len(channel.outputs)} outputs"
        print_text(f"The first {height} rows and {width} columns of {shape}; --output FILE.csv saves them all.")
    print_text()


def _choose_entry_format(channel: Channel, height: int) -> tuple[Callable[[Any], str], int]:
    """The function that formats entries, and the number of columns that fit."""
    width = _count_fitting_columns(channel, height, _format_fraction)
    entries = [value for row in channel.rows[:height] for value in row[:width]]
    if all(isinstance(v, Fraction) and len(str(v)) <= MAX_FRACTION_CHARS for v in entries):
        return _format_fraction, width
    return _format_decimal, _count_fitting_columns(channel, height, _format_decimal)


def _count_fitting_columns(channel: Channel, height: int, format_entry: Callable[[Any], str]) -> int:
    """The largest number of columns, at least one, whose widths fit beside the labels."""
    spare = console().width - max(len(str(x)) for x in channel.inputs) - 5
    for k, label in enumerate(channel.outputs):
        spare -= 2 + max(len(str(label)), *(len(format_entry(row[k])) for row in channel.rows[:height]))
        if spare < 0:
            return max(k, 1)
    return len(channel.outputs)


def _format_fraction(value: Any) -> str:
    return (
        str(value) if isinstance(value, Fraction) and len(str(value)) <= MAX_FRACTION_CHARS else _format_decimal(value)
    )


def _format_decimal(value: Any) -> str:
    from utmost.exact import decimal

    return decimal(value, 4)


ProgressReport: TypeAlias = Callable[[str], None]


@contextmanager
def progress_line(label: str) -> Iterator[ProgressReport]:
    """Shows `label`, then whatever is reported, as one changing line; it is gone when the work is done."""
    from rich.console import Console

    screen = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status(_plain(label)) as status:
        yield lambda text: status.update(_plain(f"{label}: {text}"))


def _plain(text: str) -> Text:
    """A text that neither steers the terminal nor is taken for markup."""
    from rich.text import Text

    from utmost.exact.input_text import escape_control

    return Text(escape_control(text, frozenset()))
