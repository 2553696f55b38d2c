"""The report on a paper: items with a published and a computed side, errata and remarks.

Whether the two sides agree is decided from the numbers, before they are text: see `matrix_item` and `claims_item`.

The picture of an item is what it draws itself, its curves, or the heat map of the mechanism in its table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.errors import InputError
from utmost.exact import Number
from utmost.result_values import short_repr

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel


Value: TypeAlias = Number | int | bool | str
Claim: TypeAlias = tuple[str, Value, Value]  # what, published, computed
FLOAT_DIGITS = 12  # significant digits of a float in a document
SOURCE_TEXT = (
    "The text followed here was taken from the paper's pages by machine: a sign, a prime or a row that is missing may "
    "be missing in the copy alone. An erratum is a statement that fails as printed and that its own context does not "
    "repair."
)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text under a header; every row is as long as the header."""

    __repr__ = short_repr

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot: y over x, with the names of both; `stems`, `colour`, `filled` as in `charts.ChartLine`."""

    __repr__ = short_repr

    name: str
    x_name: str
    y_name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    stems: bool = False
    colour: int | None = None
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One figure, example or claim: what was published, what comes out here.

    `published` is None where the paper gives no value. `agrees` is decided exactly; None where there is nothing to
    compare with. `claim` is the title of its picture, the name if there is none. `draw` makes the picture, where it is
    neither curves (`series`) nor the heat map of a mechanism (`computed`).
    """

    __repr__ = short_repr

    name: str
    caption: str
    published: Table | str | None
    computed: Table | str
    agrees: bool | None
    note: str = ""
    series: tuple[Series, ...] = ()
    claim: str = ""
    draw: Callable[[], Any] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """One paper, checked: its items, errata, and remarks on what it leaves open."""

    __repr__ = short_repr

    key: str
    title: str
    items: tuple[Item, ...]
    errata: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledMatrix:
    """A matrix of values with the labels of its rows and columns: a table before its values become text."""

    corner: str
    columns: Sequence[object]
    labels: Sequence[object]
    cells: Sequence[Sequence[Value]]

    def table(self) -> Table:
        """The same as text."""
        body = zip(self.labels, self.cells, strict=True)
        rows = tuple((str(label), *(value_text(cell) for cell in row)) for label, row in body)
        return Table((self.corner, *(str(column) for column in self.columns)), rows)


def matrix_item(
    name: str, caption: str, published: LabelledMatrix, computed: Sequence[Sequence[Value]], note: str = ""
) -> Item:
    """An item of two matrices of the same labels; they agree when every cell is the same number.

    >>> from fractions import Fraction
    >>> grid = LabelledMatrix("", (0, 1), (0,), ((Fraction("0.5"), Fraction(1, 2)),))
    >>> matrix_item("Table 1", "", grid, ((Fraction(1, 2), Fraction(2, 4)),)).agrees
    True
    """
    computed_grid = LabelledMatrix(
        published.corner, published.columns, published.labels, [list(row) for row in computed]
    )
    agrees = len(computed_grid.cells) == len(published.cells) and all(
        len(ours) == len(theirs) and all(a == b for a, b in zip(ours, theirs, strict=True))
        for ours, theirs in zip(computed_grid.cells, published.cells, strict=True)
    )
    return Item(name, caption, published.table(), computed_grid.table(), agrees, note)


def claims_item(name: str, caption: str, claims: Iterable[Claim], note: str = "") -> Item:
    """An item of single values (what, published, computed); they agree when each is the same number or word."""
    claims = list(claims)
    header = ("quantity", "value")
    published = Table(header, tuple((what, value_text(value)) for what, value, _ in claims))
    computed = Table(header, tuple((what, value_text(value)) for what, _, value in claims))
    return Item(name, caption, published, computed, all(a == b for _, a, b in claims), note)


def statement_item(
    name: str, caption: str, published_text: str, grid: LabelledMatrix, holds: bool, note: str = ""
) -> Item:
    """An item whose published side is a sentence; `holds` was decided on the numbers of the computed side."""
    return Item(name, caption, published_text, grid.table(), holds, note)


def computed_item(
    name: str, caption: str, grid: LabelledMatrix, note: str = "", series: tuple[Series, ...] = ()
) -> Item:
    """An item that the paper gives no values for."""
    return Item(name, caption, None, grid.table(), None, note, series)


def value_text(value: Value) -> str:
    """A value as text: yes and no for truth, exact text for numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def require_exact(value: Number | float) -> Number:
    """The same number, refused if it is a float: nothing published is compared with one."""
    if isinstance(value, float):
        raise InputError("a published value must be compared with an exact number, got a float", hint="give exact data")
    return value


def rounds_to(value: Number, decimal: Number, places: int) -> bool:
    """Is `decimal` the value rounded to so many places: |value − decimal| ≤ 10^−places/2, decided.

    >>> from fractions import Fraction
    >>> rounds_to(Fraction(1, 3), Fraction("0.33"), 2), rounds_to(Fraction(1, 3), Fraction("0.34"), 2)
    (True, False)
    """
    scaled_difference = (value - decimal) * (2 * 10**places)
    return bool(scaled_difference >= -1 and scaled_difference <= 1)


def document(report: Report) -> dict[str, Any]:
    """The report as JSON takes it: tables as {header, rows}, floats to 12 significant digits."""
    return {
        "key": report.key,
        "title": report.title,
        "items": [_item_document(item) for item in report.items],
        "source": SOURCE_TEXT,
        "errata": list(report.errata),
        "remarks": list(report.remarks),
    }


def _item_document(item: Item) -> dict[str, Any]:
    return {
        "name": item.name,
        "caption": item.caption,
        "published": _side_document(item.published),
        "computed": _side_document(item.computed),
        "agrees": item.agrees,
        "note": item.note,
        "series": [_series_document(line) for line in item.series],
    }


def _side_document(side: Table | str | None) -> Any:
    if not isinstance(side, Table):
        return side
    return {"header": list(side.header), "rows": [list(row) for row in side.rows]}


def _series_document(line: Series) -> dict[str, Any]:
    x, y = ([float(f"{value:.{FLOAT_DIGITS}g}") for value in values] for values in (line.x, line.y))
    return {"name": line.name, "x_name": line.x_name, "y_name": line.y_name, "x": x, "y": y}


def figure(item: Item) -> alt.TopLevelMixin | None:
    """The picture of an item, None where it has none."""
    from utmost import charts

    if item.draw is not None:
        chart: alt.TopLevelMixin = item.draw()
        return chart
    if item.series:
        lines = [charts.ChartLine(s.name, s.x, s.y, s.stems, s.colour, s.filled) for s in item.series]
        title, subtitle = (item.claim, f"{item.name}: {item.caption}") if item.claim else (item.name, item.caption)
        return charts.line_chart(lines, title, subtitle, x=item.series[0].x_name, y=item.series[0].y_name)
    channel = _table_channel(item.computed)
    return None if channel is None else charts.channel_chart(channel, item.name, item.caption)


def file_name(report: Report, item: Item) -> str:
    """The name of an item's picture as a file, without its ending: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", f"{report.key} {item.name}".lower()).strip("-")


def _table_channel(table: Table | str) -> Channel | None:
    """The channel that a table contains, if it is one."""
    from utmost.channel import channel

    if isinstance(table, str):
        return None
    try:
        return channel([row[1:] for row in table.rows], [row[0] for row in table.rows], table.header[1:])
    except InputError:
        return None
