"""The job that computes a paper again, and its reports kept as files until the library changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from utmost import __version__, papers
from utmost.papers.items import figure
from utmost.reports import Block
from utmost.reports import papers as describe_paper
from utmost.studio import charts
from utmost.studio.charts import Chart
from utmost.studio.job_worker import ProgressReport
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
    def values(self) -> Block:
        """Published beside computed, as a report shows them."""
        return describe_paper.item_values(self.as_paper_item())

    @property
    def verdict(self) -> str:
        """Do the two sides agree, in words."""
        return describe_paper.VERDICTS[self.agrees]

    def as_paper_item(self) -> papers.Item:
        """The item that was kept."""
        published, computed = (_paper_table(side) for side in (self.published, self.computed))
        assert computed is not None
        return papers.Item(self.name, self.caption, published, computed, self.agrees, self.note)


def _paper_table(side: Table | str | None) -> papers.Table | str | None:
    return papers.Table(tuple(side.header), tuple(map(tuple, side.rows))) if isinstance(side, Table) else side


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
        return describe_paper.score(item.as_paper_item() for item in self.items)

    @property
    def score_sentence(self) -> str:
        """How many items agree, and which do not."""
        return describe_paper.score_sentence(item.as_paper_item() for item in self.items)


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


def compute(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """Every table and figure of a paper, computed now and kept as a file."""
    report("computing its tables")
    paper = papers.report(arguments["key"])
    document, figures = papers.document(paper), {}
    for number, (item, entry) in enumerate(zip(paper.items, document["items"], strict=True)):
        report(f"drawing {item.name}", done=number, total=len(paper.items))
        chart = figure(item)
        entry["figure"] = chart is not None
        if chart is not None:
            figures[str(number)] = charts.chart_from_altair(chart, f"{item.name}: {item.caption}").model_dump()
    save_report(Path(arguments["place"]), Report(**document), figures)
    return {"key": paper.key}
