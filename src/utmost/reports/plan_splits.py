"""Describe proposals for splitting an ε over the queries of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.publish.plan_writer import toml_number
from utmost.publish.pricing import pair_queries
from utmost.publish.release_file import error_content
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table, Verbatim
from utmost.reports.numbers import Rounding, amount, at_most
from utmost.reports.preview import shown_error

if TYPE_CHECKING:
    from utmost.publish.plan_splits import PlanSplits, Split


def describe(proposals: PlanSplits) -> Report:
    """A table with ε and half width of each query under each proposal, and the lines to paste into the plan."""
    names = [pair.query.name for pair in pair_queries(proposals.plan.queries)]
    measure = proposals.measure
    header = ("query", *(text for split in proposals.splits for text in (f"{measure} {split.name}", "± (95 %)")))
    rows = [
        (name, *(cell for split in proposals.splits for cell in _query_cells(split, place)))
        for place, name in enumerate(names)
    ]
    blocks: dict[str, Block | None] = {
        "title": Paragraph(f"Ways to split {measure} ", amount(proposals.total, Rounding.UP), "; nothing is spent."),
        "proposals": Table(header, (*rows, _largest_row(proposals))),
        "meaning": Paragraph("Relative to the error that a query wants, or to the equal split."),
    }
    notes = sorted({error.note for split in proposals.splits for error in split.errors} - {""})
    blocks |= {f"note {number}": Paragraph(note) for number, note in enumerate(notes)}
    blocks |= {f"lines {split.name}": Verbatim(_toml_lines(split, proposals)) for split in proposals.splits}
    return Report(blocks, _document(proposals, names))


def _query_cells(split: Split, place: int) -> tuple[Cell, Cell]:
    return amount(split.epsilons[place], Rounding.UP), shown_error(split.errors[place]).half_width


def _largest_row(proposals: PlanSplits) -> tuple[Cell, ...]:
    cells: list[Cell] = ["largest, relative"]
    for split in proposals.splits:
        cells += ["", "" if split.largest is None else at_most(split.largest)]
    return tuple(cells)


def _toml_lines(split: Split, proposals: PlanSplits) -> str:
    """The lines of a plan, each behind the name of its query: its ε, or its share of the plan's ρ."""
    lines = [f"\n# {split.name}: {split.words}"]
    for pair, price in zip(pair_queries(proposals.plan.queries), split.epsilons, strict=True):
        key = "share" if proposals.measure == "ρ" else "epsilon"
        lines.append(f"{key} = {toml_number(price)}  # {pair.query.name}")
    return "\n".join(lines)


def _document(proposals: PlanSplits, names: list[str]) -> dict[str, Any]:
    return {
        _measure_key(proposals): str(proposals.total),
        "proposals": [_split_document(split, names, _measure_key(proposals)) for split in proposals.splits],
    }


def _measure_key(proposals: PlanSplits) -> str:
    return "rho" if proposals.measure == "ρ" else "epsilon"


def _split_document(split: Split, names: list[str], key: str) -> dict[str, Any]:
    queries = [
        {"name": name, key: str(epsilon), "error": error_content(error) | {"suffix": error.suffix}}
        for name, epsilon, error in zip(names, split.epsilons, split.errors, strict=True)
    ]
    largest = None if split.largest is None else at_most(split.largest, 12)
    return {"name": split.name, "total": str(split.total), "largest_relative_error": largest, "queries": queries}
