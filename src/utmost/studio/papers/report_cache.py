"""Papers computed again, kept as files: a report is the same for everybody until the library changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from utmost import __version__
from utmost.studio.charts import Chart
from utmost.studio.jobs import read_json, write_json


class Table(BaseModel):
    """A table: its header and its rows, exact numbers as text."""

    header: list[str]
    rows: list[list[str]]


class Item(BaseModel):
    """One figure, example or claim: what was published, and what comes out here."""

    name: str
    caption: str
    published: Table | str | None = Field(description="None where the paper gives no value")
    computed: Table | str
    agrees: bool | None = Field(description="Decided exactly; None where there is nothing to compare with")
    note: str
    figure: bool = Field(description="Has it a picture, at …/figures/ and its place in the list, from 0")

    @property
    def is_same(self) -> bool:
        """Are both sides one table, cell for cell."""
        return self.published == self.computed

    @property
    def paired_rows(self) -> list[tuple[str, str, str]] | None:
        """(quantity, published, computed) where both sides are lists of the same quantities."""
        computed, published = self.computed, self.published
        if (
            not isinstance(computed, Table)
            or not isinstance(published, Table)
            or {len(computed.header), len(published.header)} != {2}
        ):
            return None
        if [row[0] for row in computed.rows] != [row[0] for row in published.rows]:
            return None
        return [(b[0], b[1], a[1]) for a, b in zip(computed.rows, published.rows, strict=True)]


class Report(BaseModel):
    """A paper, computed again: its items, what it has wrong, and what it leaves open and is settled here."""

    key: str
    title: str
    items: list[Item]
    errata: list[str]
    remarks: list[str]

    @property
    def score(self) -> tuple[int, int]:
        """How many of the items with published values agree, and how many there are."""
        compared_items = [item for item in self.items if item.agrees is not None]
        return sum(bool(item.agrees) for item in compared_items), len(compared_items)


def report_path(state_folder: Path, key: str) -> Path:
    """The file of a paper's report of this version of the library."""
    return state_folder / "papers" / f"{key.lower()}-{__version__}.json"


def read_report(path: Path) -> Report | None:
    """The report in a file; None where it was not computed yet."""
    content = read_json(path)
    return None if content is None else Report(**content["report"])


def item_chart(path: Path, number: int) -> Chart | None:
    """The picture of an item; None where it has none."""
    content = read_json(path) or {"figures": {}}
    chart = content["figures"].get(str(number))
    return None if chart is None else Chart(**chart)


def save_report(path: Path, report: Report, figures: dict[str, Any]) -> None:
    """Write a report and its pictures, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(path, {"report": report.model_dump(), "figures": figures})
