"""Encode a release as the dictionaries and lists of its JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from utmost.data.partitions import Partition
from utmost.publish.plans import key_to_json
from utmost.publish.release_model import SCHEMA, Answer, ChoiceMechanism, ErrorLaw, Mechanism, RatioMechanism, Release


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
    content = {
        "name": answer.name,
        "kind": answer.kind,
        "where": answer.where,
        "epsilon": str(answer.epsilon),
        "sensitivity": answer.sensitivity,
        **answer.query_content,
        "mechanism": mechanism_content(answer.mechanism),
        "optimal": answer.optimal,
        "error": error_content(answer.error),
        "value": _value_content(answer),
    }
    if answer.parts is not None:
        content["parts"] = {"total": answer.parts[0], "rows": answer.parts[1]}
    if answer.position is not None:
        content["position"] = answer.position
    return content


def _value_content(answer: Answer) -> Any:
    if isinstance(answer.value, tuple):
        return list(answer.value)
    return answer.value if isinstance(answer.value, int) else str(answer.value)


def error_content(error: ErrorLaw) -> dict[str, Any]:
    """An error law as JSON has it."""
    half = error.half_width
    width = str(half) if isinstance(half, Fraction) else half
    return {"expected": error.expected, "half_width_95": width, "over_rows": error.over_rows, "words": error.words}


def mechanism_content(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism as JSON has it."""
    if isinstance(mechanism, ChoiceMechanism):
        return {"name": "exponential", "rate": str(mechanism.rate), "candidates": mechanism.candidates}
    if isinstance(mechanism, RatioMechanism):
        return {"name": "ratio", "total": mechanism_content(mechanism.total), "rows": mechanism_content(mechanism.rows)}
    bounds = {"low": mechanism.low, "high": mechanism.high}
    return {
        "name": "geometric",
        "epsilon": str(mechanism.epsilon),
        **bounds,
        "origin": str(mechanism.origin),
        "unit": str(mechanism.unit),
    }
