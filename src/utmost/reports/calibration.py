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
    least = f"{calibration.measure} = {calibration.text} is the least of {calibration.digits} digits"
    least += f" with which {subject} {target}.\n"
    remark = f"; {calibration.remark}" if calibration.remark else ""
    return Report(
        {
            "least": Paragraph(least),
            "told": _told_paragraph(calibration),
            "comparison": _comparison_table(calibration, calibration.below, calibration.achieved_below),
            "proof": Paragraph(f"\nBoth are {calibration.decided_by}{remark}."),
        },
        document,
    )


def describe_result(calibration: Calibration) -> Report:
    """The same in a notebook, which does not repeat what was asked for."""
    return describe(calibration, "the answer", {})


def _told_paragraph(calibration: Calibration) -> Paragraph | None:
    """What ρ is told as, where a δ was given; the δ of canonical noise."""
    if calibration.told_delta is None:
        return None
    delta = amount(calibration.told_delta, Rounding.UP)
    if calibration.told_epsilon is None:
        return Paragraph("Its δ is at most ", delta, ".\n")
    told = amount(calibration.told_epsilon, Rounding.UP)
    return Paragraph("By itself it is told as ε ", told, " at δ = ", delta, ".\n")


def _comparison_table(calibration: Calibration, below: Fraction, achieved_below: float) -> Table:
    """What the least ε reaches, and what the next smaller one does."""
    rows = (
        (calibration.text, quantity(calibration.achieved, REACHED_DIGITS), "meets it"),
        (exact_decimal(below), quantity(achieved_below, REACHED_DIGITS), "misses it"),
    )
    what = LOSS_TARGET if calibration.what == LOSS_TARGET else "probability"
    return Table((calibration.measure, what, ""), rows, text_columns=0)


def _target_sentence(calibration: Calibration) -> str:
    if calibration.what == LOSS_TARGET:
        return f"has an {LOSS_TARGET} of at most {amount(calibration.target, Rounding.UP)}"
    return f"is {calibration.what} with probability {amount(calibration.target, Rounding.DOWN)} or more"


def _document(calibration: Calibration) -> dict[str, Any]:
    below, is_rho = calibration.below, calibration.measure != "ε"
    name = "rho" if is_rho else "epsilon"
    return {
        "target": str(calibration.target),
        "what": calibration.what,
        "epsilon": _told_text(calibration) if is_rho else calibration.text,
        **({"measure": calibration.measure, "rho": calibration.text} if is_rho else {}),
        "reached": json_number(calibration.achieved),
        "below": None
        if below is None
        else {name: exact_decimal(below), "reached": json_number(calibration.achieved_below)},
        "digits": calibration.digits,
        "decided": calibration.decided_by,
        "remark": calibration.remark or None,
    }


def _told_text(calibration: Calibration) -> str | None:
    """The ε that ρ is told as; None where no δ was given."""
    return None if calibration.told_epsilon is None else str(calibration.told_epsilon)
