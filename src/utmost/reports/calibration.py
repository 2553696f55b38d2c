"""Describe a calibration: the least ε with which an answer is as good as asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utmost.exact import json_number
from utmost.publish.calibration import LOSS_TARGET
from utmost.publish.calibration_search import exact_decimal
from utmost.reports.blocks import Paragraph, Report, Table
from utmost.reports.numbers import Rounding, amount, quantity

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.publish.calibration_search import Calibration

REACHED_DIGITS = 10  # of what is reached, beside a target it may be close to


def describe(calibration: Calibration, subject: str, request: Mapping[str, Any]) -> Report:
    """The least ε, and that the next smaller one misses the target; `subject` is what meets it.

    `request` is what was asked for; it begins the document.
    """
    document = dict(request) | _document(calibration)
    target = _target_sentence(calibration)
    if calibration.below is None or calibration.achieved_below is None:
        start = f"ε = 0: {subject} {target} without any answer, from the prior alone ("
        return Report({"least": Paragraph(start, quantity(calibration.achieved, 6), ").")}, document)
    least = f"ε = {calibration.text} is the least of {calibration.digits} digits with which {subject} {target}.\n"
    remark = f"; {calibration.remark}" if calibration.remark else ""
    return Report(
        {
            "least": Paragraph(least),
            "comparison": _comparison_table(calibration, calibration.below, calibration.achieved_below),
            "proof": Paragraph(f"\nBoth are {calibration.decided_by}{remark}."),
        },
        document,
    )


def _comparison_table(calibration: Calibration, below: Fraction, achieved_below: float) -> Table:
    """What the least ε reaches, and what the next smaller one does."""
    rows = (
        (calibration.text, quantity(calibration.achieved, REACHED_DIGITS), "meets it"),
        (exact_decimal(below), quantity(achieved_below, REACHED_DIGITS), "misses it"),
    )
    what = LOSS_TARGET if calibration.what == LOSS_TARGET else "probability"
    return Table(("ε", what, ""), rows, text_columns=0)


def _target_sentence(calibration: Calibration) -> str:
    if calibration.what == LOSS_TARGET:
        return f"has an {LOSS_TARGET} of at most {amount(calibration.target, Rounding.UP)}"
    return f"is {calibration.what} with probability {amount(calibration.target, Rounding.DOWN)} or more"


def _document(calibration: Calibration) -> dict[str, Any]:
    below = calibration.below
    return {
        "target": str(calibration.target),
        "what": calibration.what,
        "epsilon": calibration.text,
        "reached": json_number(calibration.achieved),
        "below": None
        if below is None
        else {"epsilon": exact_decimal(below), "reached": json_number(calibration.achieved_below)},
        "digits": calibration.digits,
        "decided": calibration.decided_by,
        "remark": calibration.remark or None,
    }
