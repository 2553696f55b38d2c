"""An estimate as JSON: what `utmost estimate --json` prints for each answer, and what the studio's twin answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from utmost.exact import Number, json_number
from utmost.publish.reading.estimates import Estimate, ExpectedLosses, Reading
from utmost.publish.release_model import Answer


def refusal_content(answer: Answer, problem: str) -> dict[str, Any]:
    """An answer that was not read, and why."""
    return {"name": answer.name, "kind": answer.kind, "problem": problem}


def estimate_content(found: Estimate) -> dict[str, Any]:
    """One answer and what was made of it: its value, its best reading, the interval, the losses, what is claimed."""
    reader, answer = found.reader, found.answer
    entry: dict[str, Any] = {"name": answer.name, "kind": answer.kind, "query_epsilon": str(answer.epsilon)}
    if found.cells:
        cells = [{"cell": name} | _numbers(r) for name, r in zip(found.cells, found.readings, strict=True)]
        entry |= {key: [cell[key] for cell in cells] for key in ("value", "estimate", "interval", "unbiased")}
        entry |= {"cells": cells, "loss": {"before": _losses(found.before)}, "total": _total(found)}
    else:
        entry |= _numbers(found.readings[0])
        if entry["loss"] is not None:
            entry["loss"]["before"] = _losses(found.before)
    if reader is not None:
        entry |= {"prior": reader.prior.name[:200], "points": reader.axis.size}
    return entry | {"rank": _plain(found.rank), "optimal": found.claim, "remark": found.remark or None}


def _numbers(reading: Reading) -> dict[str, Any]:
    """A reading: whole numbers and irrational ones as numbers, fractions as text with their decimals beside them."""
    interval = None if reading.interval is None else [_plain(end) for end in reading.interval]
    entry: dict[str, Any] = {"value": _plain(reading.value), "estimate": _plain(reading.estimate), "interval": interval}
    if isinstance(reading.value, Fraction) or isinstance(reading.estimate, Fraction):
        entry["value_decimal"], entry["estimate_decimal"] = _double(reading.value), _double(reading.estimate)
        entry["interval_decimal"] = None if reading.interval is None else [_double(end) for end in reading.interval]
    whole = isinstance(reading.value, int)
    return entry | {"unbiased": _unbiased(reading.unbiased, whole), "loss": _losses(reading.loss)}


def _plain(value: Number | int | float | None) -> Any:
    return value if isinstance(value, int) else json_number(value)


def _double(value: Number | int) -> Any:
    return _plain(float(value))


def _unbiased(value: Number | None, whole: bool) -> Any:
    """An irrational reading is a number, a rational one as the value is written."""
    if value is None or not isinstance(value, Fraction):
        return None if value is None else _double(value)
    return int(value) if whole else str(value)


def _losses(losses: ExpectedLosses | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    return {
        "expected": _plain(losses.expected),
        "face_value": _plain(losses.face_value),
        "gain": _plain(float(losses.gain)),
    }


def _total(found: Estimate) -> dict[str, Any] | None:
    if found.total is None:
        return None
    value, error = found.total
    return {"unbiased": _unbiased(value, True), "standard_error_at_most": _plain(error)}
