"""Encode a release as the dictionaries and lists of its JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from utmost.data.selection import Partition
from utmost.publish.release_model import SCHEMA, Answer, Release
from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
from utmost.queries.keys import key_to_json
from utmost.queries.query import drawn_content


def release_content(release: Release) -> dict[str, Any]:
    """The same as plain dictionaries and lists."""
    unit, part, entry = release.unit, release.part, release.entry
    return {
        "schema": SCHEMA,
        "title": release.title,
        "library": release.library,
        "source": {
            "engine": release.source.engine,
            "name": release.source.name,
            "fingerprint": release.source.fingerprint,
        },
        "unit": {"column": unit.column, "rows": unit.rows, "groups": unit.groups, "words": str(unit)},
        "neighbours": str(release.neighbours),
        "units": release.units,
        "part": part_content(part),
        "guarantee": {"epsilon": str(release.epsilon), "words": release.guarantee},
        "ledger": {"budget": entry.budget, "entry": entry.number, "spent": str(entry.spent), "left": str(entry.left)},
        "queries": [_answer_content(answer) for answer in release],
    }


def part_content(part: Partition | None) -> dict[str, Any] | None:
    """A part as JSON has it."""
    return None if part is None else {"column": part.column, "equals": key_to_json(part.equals)}


def _answer_content(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.name,
        "kind": answer.query.kind,
        "where": answer.query.where,
        "epsilon": str(answer.epsilon),
        "sensitivity": answer.sensitivity,
        **answer.query.content(),
        "mechanism": answer.mechanism.content(),
        "optimal": answer.optimal,
        "error": error_content(answer.error),
        **drawn_content(answer.drawn),
    }


def error_content(error: ErrorLaw) -> dict[str, Any]:
    """An error law as JSON has it."""
    half = error.half_width
    width = str(half) if isinstance(half, Fraction) else half
    return {"expected": error.expected, "half_width_95": width, "over_rows": error.over_rows, "words": error.words}
