"""The blocks of a report, and the report: plain data, no terminal and no page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.reports.numbers import Quantity, plain_json

if TYPE_CHECKING:
    from utmost.channel import Channel

Cell: TypeAlias = str | Quantity


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
