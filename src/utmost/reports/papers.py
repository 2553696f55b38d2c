"""Describe a paper computed again: published values beside computed ones."""

from __future__ import annotations

from collections.abc import Iterable

from utmost import papers
from utmost.papers import SOURCE_TEXT, Item
from utmost.reports.blocks import Block, Facts, Paragraph, Report, SideBySide, Table, Verbatim

VERDICTS = {True: "agrees", False: "DIFFERS", None: "nothing published to compare with"}


def describe(paper: papers.Report) -> Report:
    """Every item with its verdict, then errata, remarks and how many items agree."""
    blocks: dict[str, Block | None] = {"title": Paragraph(f"{paper.key}  {paper.title}")}
    for number, item in enumerate(paper.items):
        blocks[f"verdict {number}"] = Paragraph(f"\n{item.name}: {VERDICTS[item.agrees]}. {item.caption}")
        blocks[f"values {number}"] = item_values(item)
        blocks[f"note {number}"] = Paragraph(item.note) if item.note else None
    blocks["source"] = Paragraph(f"\n{SOURCE_TEXT}")
    for name, lines in (("Errata", paper.errata), ("Remarks", paper.remarks)):
        if lines:
            blocks[f"{name} heading"] = Paragraph(f"\n{name}")
            blocks[name] = Facts(tuple(("-", line) for line in lines))
    blocks["score"] = Paragraph(f"\n{score_sentence(paper.items)}")
    return Report(blocks, papers.document(paper))


def describe_list() -> Report:
    """The keys and titles of the papers."""
    entries = tuple(papers.KEYS.items())
    return Report({"papers": Facts(entries)}, {"papers": [{"key": key, "title": title} for key, title in entries]})


def item_values(item: Item) -> SideBySide:
    """Published beside computed; in one table where both are lists of the same quantities."""
    computed, published = item.computed, item.published
    if published is None:
        return SideBySide((("computed", _side(computed)),))
    if (
        isinstance(computed, papers.Table)
        and isinstance(published, papers.Table)
        and computed.header == published.header
        and len(computed.header) == 2
        and [row[0] for row in computed.rows] == [row[0] for row in published.rows]
    ):
        rows = tuple((a[0], a[1], b[1]) for a, b in zip(published.rows, computed.rows, strict=True))
        return SideBySide((("", Table((computed.header[0], "published", "computed"), rows)),))
    return SideBySide((("published", _side(published)), ("computed", _side(computed))))


def _side(value: papers.Table | str) -> Table | Verbatim:
    return Verbatim(value) if isinstance(value, str) else Table(value.header, value.rows)


def score(items: Iterable[Item]) -> tuple[int, int]:
    """How many of the items with published values agree, and how many there are."""
    verdicts = [item.agrees for item in items if item.agrees is not None]
    return sum(verdicts), len(verdicts)


def score_sentence(items: Iterable[Item]) -> str:
    """How many items agree, and which do not."""
    all_items = list(items)
    agree, compared = score(all_items)
    differing_names = [item.name for item in all_items if item.agrees is False]
    exceptions = f"; not: {', '.join(differing_names)}" if differing_names else ""
    return f"{agree} of {compared} items with published values agree{exceptions}. {len(all_items)} items in all."
