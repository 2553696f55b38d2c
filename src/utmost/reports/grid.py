"""Describe the grid that a release of a number from an interval needs, and what it loses against the continuum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact import json_above
from utmost.reports.blocks import Cell, Paragraph, Report, Table
from utmost.reports.numbers import at_most, quantity

if TYPE_CHECKING:
    from utmost.continuous.grid_selection import GridAdvice, GridPromise, GridQuestion


def describe(
    question: GridQuestion, advice: GridAdvice, *, by_row: bool, options: Mapping[str, str | None] | None = None
) -> Report:
    """The grid, each term of its extra loss, and the guarantee. `by_row`: each row of a mean is rounded on its own.

    `options` are what was asked for; they begin the document.
    """
    promise, low = advice.promise, question.interval.low
    guarantee = guarantee_sentence(question, promise)
    return Report(
        {
            "grid": Paragraph(
                f"N = {promise.size} steps of {promise.step}, from {low} to {low + promise.size * promise.step}."
            ),
            "rounding": Paragraph(f"{_rounding_sentence(question, promise, by_row=by_row)}\n"),
            "terms": Table(("", "at most"), (*_term_rows(question, promise, by_row=by_row), *_coarser_rows(advice))),
            "guarantee": Paragraph(f"\nGuarantee: {guarantee}."),
        },
        dict(options or {}) | _document(question, advice) | {"guarantee": guarantee},
    )


def _rounding_sentence(question: GridQuestion, promise: GridPromise, *, by_row: bool) -> str:
    if by_row:
        return f'Each row is rounded before they are added up; in a plan: step = "{promise.step}", or extra_loss.'
    noise = f"ε/{promise.moves} = {question.epsilon / promise.moves} a step"
    return f"The number is rounded to the nearest point and has geometric noise of {noise}."


def guarantee_sentence(question: GridQuestion, promise: GridPromise) -> str:
    """What a release on the grid guarantees, for every prior."""
    privacy = f"the release is private at ε = {question.epsilon}"
    if promise.extra is None:
        return f"{privacy}; nothing is known of what {question.loss.name} loses on so coarse a grid"
    return (
        f"{privacy}; whatever the prior, a reader with loss {question.loss.name} loses at most "
        f"{at_most(promise.extra)} more than with the best mechanism that protects each distance d with "
        f"ε·d/{quantity(question.sensitivity, 6)}"
    )


def _term_rows(question: GridQuestion, promise: GridPromise, *, by_row: bool) -> list[tuple[Cell, Cell]]:
    exponent = quantity(question.rate * promise.step / 2, 6) if by_row else f"ε/{2 * promise.moves}"
    whole_step = ", and a whole step" if by_row else ""
    rows: list[tuple[Cell, Cell]] = [("what the best mechanism loses, for any prior", _bound(question.best))]
    rows.append((f"rounding: e^({exponent}) times that, less that{whole_step}", _bound(promise.rounding)))
    if promise.stretch != 0:
        width = quantity(promise.moves * promise.step, 6)
        distances = f"{promise.moves} steps, {width}, for {quantity(question.sensitivity, 6)}"
        rows.append((f"noise for {distances}", _bound(promise.stretch)))
    if promise.alone is not None and promise.alone == promise.extra:
        rows.append(("or else what the release loses, read as it stands", _bound(promise.alone)))
    return [*rows, ("extra loss of the release", _bound(promise.extra))]


def _coarser_rows(advice: GridAdvice) -> list[tuple[Cell, Cell]]:
    coarser = advice.coarser
    return [] if coarser is None else [(f"with {coarser.size} steps it would be", _bound(coarser.extra))]


def _bound(value: Fraction | None) -> Cell:
    return "unknown" if value is None else at_most(value)


def _document(question: GridQuestion, advice: GridAdvice) -> dict[str, Any]:
    promise, coarser = advice.promise, advice.coarser
    return {
        "sensitivity": str(question.sensitivity),
        "epsilon": str(question.epsilon),
        "loss_function": question.loss.name,
        "N": promise.size,
        "step": str(promise.step),
        "high": str(question.interval.low + promise.size * promise.step),
        "sensitivity_steps": promise.moves,
        "epsilon_a_step": str(question.epsilon / promise.moves),
        "terms": {
            "best": _json_bound(question.best),
            "factor": _json_bound(promise.factor),
            "rounding": _json_bound(promise.rounding),
            "sensitivity": _json_bound(promise.stretch),
            "alone": _json_bound(promise.alone),
        },
        "extra": _json_bound(promise.extra),
        "coarser": None
        if coarser is None
        else {"N": coarser.size, "step": str(coarser.step), "extra": _json_bound(coarser.extra)},
    }


def _json_bound(value: Fraction | None) -> float | str | None:
    """An upper bound in a document; None where it is not known."""
    return None if value is None else json_above(value)
