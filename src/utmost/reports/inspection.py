"""Describe how a table fits a plan: exact numbers, so every line says that it is not for publication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Report, Verbatim
from utmost.reports.numbers import quantity

if TYPE_CHECKING:
    from utmost.data.lookup import PublicMisfits
    from utmost.data.selection import PrivacyUnit
    from utmost.data.table import PersonCounts
    from utmost.publish.inspection import ColumnInspection, Inspection, QueryInspection

PREFIX = "not for publication: "
MAX_MARKER_CHARS = 20
SHARE_DIGITS = 3


def describe(inspection: Inspection) -> Report:
    """Columns, unit and queries, a line for each fact; the JSON says `"publish": false`."""
    lines = [f"exact numbers of {_number(inspection.rows, 'row')}, without noise, for the curator only"]
    lines += [line for column in inspection.columns for line in _column_lines(column)]
    lines += [line for misfits in inspection.lookups for line in _lookup_lines(misfits)]
    if inspection.persons is not None:
        lines += _person_lines(f"unit {inspection.unit.column}", inspection.persons, inspection.unit)
    lines += [line for query in inspection.queries for line in _query_lines(query, inspection.unit)]
    text = "\n".join(PREFIX + escape_control(line, frozenset()) for line in lines)
    return Report({"lines": Verbatim(text)}, _document(inspection))


def _column_lines(column: ColumnInspection) -> Iterator[str]:
    found = "" if column.is_declared else " (found in the file, not declared)"
    yield f"column {column.name}: {column.kind}{found}, {_number(column.missing, 'value')} missing"
    if column.misfits:
        yield from _misfit_lines(f"column {column.name}", "its kind", column.misfits, column.markers)
    if column.fitting_kinds:
        yield f"column {column.name}: kinds that fit every value: {', '.join(column.fitting_kinds)}"


def _lookup_lines(misfits: PublicMisfits) -> Iterator[str]:
    label = f"lookup {misfits.lookup}: column {misfits.column}"
    yield from _misfit_lines(label, f"kind {misfits.kind}", misfits.count, misfits.markers)


def _misfit_lines(label: str, kind: str, number: int, markers: Sequence[tuple[str, int]]) -> Iterator[str]:
    do_not_fit = f"does not fit {kind} and counts" if number == 1 else f"do not fit {kind} and count"
    yield f"{label}: {_number(number, 'value')} {do_not_fit} as missing"
    shown = ", ".join(f"{_shorten(text)!r} ({count})" for text, count in markers)
    yield f"{label}: most frequent of these: {shown}"


def _person_lines(label: str, persons: PersonCounts, unit: PrivacyUnit) -> Iterator[str]:
    noun = "group" if unit.groups is not None else "row"
    people, have = _number(persons.persons, "person"), "has" if persons.over == 1 else "have"
    yield (
        f"{label}: {persons.over} of {people} {have} more than {_number(unit.bound, noun)}, "
        f"which leaves out {_number(persons.left_out, noun)}; the most is {_number(persons.largest, noun)}"
    )


def _query_lines(query: QueryInspection, unit: PrivacyUnit) -> Iterator[str]:
    values, label = query.values, f"query {query.name}"
    yield f"{label}: selects {_number(values.rows, 'row')}"
    if query.in_cells is not None and query.empty_cells is not None:
        empty = f"; {_number(query.empty_cells, 'listed cell')} without a row" if query.empty_cells else ""
        yield f"{label}: {query.in_cells} of them in a listed cell{empty}"
    if query.grid is not None:
        present = values.rows - values.missing
        low, high = f"below {query.grid.low}", f"above {query.grid.high}"
        beyond = f"{_part(values.below, present)} {low}, {_part(values.above, present)} {high}"
        yield f"{label}: {_number(values.missing, 'value')} missing; of the others {beyond}"
    if query.persons is not None:
        yield from _person_lines(label, query.persons, unit)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _part(count: int, total: int) -> str:
    """A count with its share in per cent."""
    return f"{count} ({quantity(100 * _share(count, total), SHARE_DIGITS).rounded} %)"


def _share(count: int, total: int) -> Fraction:
    return Fraction(count, total) if total else Fraction(0)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_MARKER_CHARS else text[: MAX_MARKER_CHARS - 1] + "…"


def _document(inspection: Inspection) -> dict[str, Any]:
    return {
        "publish": False,
        "note": "exact numbers without noise, for the curator only: not for publication",
        "engine": inspection.engine,
        "rows": inspection.rows,
        "columns": [_column_document(column) for column in inspection.columns],
        "lookups": [_lookup_document(misfits) for misfits in inspection.lookups],
        "unit": None if inspection.unit.column is None else _unit_document(inspection),
        "queries": [_query_document(query) for query in inspection.queries],
    }


def _column_document(column: ColumnInspection) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "declared": column.is_declared,
        "missing": column.missing,
        "misfits": column.misfits,
        "markers": _marker_documents(column.markers),
        "fitting_kinds": list(column.fitting_kinds),
    }


def _lookup_document(misfits: PublicMisfits) -> dict[str, Any]:
    """A column of a public table with values that do not fit its kind; a lookup without such values has no entry."""
    return {
        "lookup": misfits.lookup,
        "column": misfits.column,
        "kind": str(misfits.kind),
        "misfits": misfits.count,
        "markers": _marker_documents(misfits.markers),
    }


def _marker_documents(markers: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"text": _shorten(text), "count": count} for text, count in markers]


def _unit_document(inspection: Inspection) -> dict[str, Any]:
    unit, persons = inspection.unit, inspection.persons
    bounds = {"column": unit.column, "rows": unit.rows, "groups": unit.groups}
    return bounds | ({} if persons is None else asdict(persons))


def _query_document(query: QueryInspection) -> dict[str, Any]:
    values, present = query.values, query.values.rows - query.values.missing
    document: dict[str, Any] = {"name": query.name, "kind": query.kind, "rows": values.rows}
    if query.grid is not None:
        shares = {"below": str(_share(values.below, present)), "above": str(_share(values.above, present))}
        document |= {"missing": values.missing, "below": values.below, "above": values.above, "shares": shares}
    if query.in_cells is not None:
        document |= {"in_cells": query.in_cells, "empty_cells": query.empty_cells}
    return document | ({} if query.persons is None else {"persons": asdict(query.persons)})
