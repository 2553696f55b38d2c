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


def estimate_content(estimate: Estimate) -> dict[str, Any]:
    """One answer and what was made of it: its value, its best reading, the interval, the losses, what is claimed."""
    reader, answer = estimate.reader, estimate.answer
    entry: dict[str, Any] = {"name": answer.name, "kind": answer.kind, "query_epsilon": str(answer.epsilon)}
    entry["of"] = answer.error.target
    if estimate.cells:
        cells = [
            {"cell": name} | _reading_content(r) for name, r in zip(estimate.cells, estimate.readings, strict=True)
        ]
        entry |= {key: [cell[key] for cell in cells] for key in ("value", "estimate", "interval", "unbiased")}
        entry |= {
            "cells": cells,
            "loss": {"before": _losses_content(estimate.before)},
            "total": _total_content(estimate),
        }
    else:
        entry |= _reading_content(estimate.readings[0])
        if entry["loss"] is not None:
            entry["loss"]["before"] = _losses_content(estimate.before)
    if reader is not None:
        entry |= {"prior": reader.prior.name[:200], "points": reader.axis.size}
    return entry | {"rank": _json_value(estimate.rank), "optimal": estimate.claim, "remark": estimate.remark or None}


def _reading_content(reading: Reading) -> dict[str, Any]:
    """A reading: whole numbers and irrational ones as numbers, fractions as text with their decimals beside them."""
    interval = None if reading.interval is None else [_json_value(end) for end in reading.interval]
    entry: dict[str, Any] = {
        "value": _json_value(reading.value),
        "estimate": _json_value(reading.estimate),
        "interval": interval,
    }
    if isinstance(reading.value, Fraction) or isinstance(reading.estimate, Fraction):
        entry["value_decimal"], entry["estimate_decimal"] = _json_double(reading.value), _json_double(reading.estimate)
        entry["interval_decimal"] = (
            None if reading.interval is None else [_json_double(end) for end in reading.interval]
        )
    is_integer = isinstance(reading.value, int)
    return entry | {"unbiased": _unbiased_content(reading.unbiased, is_integer), "loss": _losses_content(reading.loss)}


def _json_value(value: Number | int | float | None) -> Any:
    return value if isinstance(value, int) else json_number(value)


def _json_double(value: Number | int) -> Any:
    return _json_value(float(value))


def _unbiased_content(value: Number | None, is_integer: bool) -> Any:
    """An irrational reading is a number, a rational one as the value is written."""
    if value is None or not isinstance(value, Fraction):
        return None if value is None else _json_double(value)
    return int(value) if is_integer else str(value)


def _losses_content(losses: ExpectedLosses | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    return {
        "expected": _json_value(losses.expected),
        "face_value": _json_value(losses.face_value),
        "gain": _json_value(float(losses.gain)),
    }


def _total_content(estimate: Estimate) -> dict[str, Any] | None:
    if estimate.total is None:
        return None
    value, error = estimate.total
    return {"unbiased": _unbiased_content(value, True), "standard_error_at_most": _json_value(error)}
