"""Describe the losses of the optimum and of its rivals against ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.compare import MAX_NAME_CHARS, TABLE_DIGITS, QuestionTexts, refusals_paragraph
from utmost.reports.mechanism import json_epsilon, level_document
from utmost.reports.numbers import JSON_DIGITS, at_least, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.comparison import CurvePoint, MeasuredMechanism, PrivacyCurve
    from utmost.exact import Level


def describe(curve: PrivacyCurve, texts: QuestionTexts | None = None) -> Report:
    """A row for each ε, a column for each mechanism."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_level_text(point.level), *(_loss_cell(point, name) for name in curve.names)) for point in curve.points
    )
    refused = {r.name: r.reason for point in curve.points for r in point.refused if r.name not in curve.names}
    blocks: dict[str, Block | None] = {
        "title": Paragraph(_title(curve, texts)),
        "losses": Table(("ε", *map(escape_control, curve.names)), rows),
        "proof": Paragraph("Expected losses with every answer read in the best way, rounded up."),
        "refused": refusals_paragraph(refused.values()),
    }
    return Report(blocks, lambda: _document(curve, texts))


def _title(curve: PrivacyCurve, texts: QuestionTexts | None) -> str:
    names = (curve.space.name, curve.consumer.prior.name, curve.consumer.loss.name)
    space, prior, loss = (
        escape_control(name[:MAX_NAME_CHARS])
        for name in (names if texts is None else (texts.space, texts.prior, texts.loss))
    )
    return f"Expected loss against ε on {space}, for prior {prior}, loss {loss}."


def _level_text(level: Level) -> str:
    return str(quantity(level.epsilon if level.exponent is None else level.exponent, TABLE_DIGITS))


def _loss_cell(point: CurvePoint, name: str) -> Cell:
    row = next((row for row in point.mechanisms if row.name == name), None)
    return "–" if row is None else at_most(row.loss.upper, TABLE_DIGITS)


def _document(curve: PrivacyCurve, texts: QuestionTexts | None) -> dict[str, Any]:
    """The document that `utmost curve --json` prints."""
    question = {} if texts is None else {"space": texts.space, "prior": texts.prior, "loss_function": texts.loss}
    points = [
        level_document(point.level)
        | {
            "mechanisms": [_loss_document(row) for row in point.mechanisms],
            "refused": [{"mechanism": r.name, "reason": r.reason} for r in point.refused],
        }
        for point in curve.points
    ]
    return {**question, "points": points}


def _loss_document(row: MeasuredMechanism) -> dict[str, Any]:
    document = {
        "mechanism": row.name,
        "loss_lower": at_least(row.loss.lower, JSON_DIGITS),
        "loss_upper": at_most(row.loss.upper, JSON_DIGITS),
        "epsilon": json_epsilon(row.privacy_loss, row.question.level),
        "private": row.private,
    }
    return document | (
        {} if row.design is None else {"least_loss": at_least(row.design.certificate.lower, JSON_DIGITS)}
    )


def figure(curve: PrivacyCurve) -> alt.TopLevelMixin:
    """A line for each mechanism."""
    from utmost.charts import ChartLine, line_chart

    lines = []
    for name in curve.names:
        rows = [(point.level, row) for point in curve.points for row in point.mechanisms if row.name == name]
        epsilons = tuple(level.epsilon for level, _ in rows)
        losses = tuple(float(at_most(row.loss.upper, JSON_DIGITS).rounded) for _, row in rows)
        lines.append(ChartLine(escape_control(name), epsilons, losses, stems=len(rows) == 1))
    claim = f"{_title(curve, None)} Every answer is read in the best way."
    return line_chart(lines, "What privacy costs", claim, x="ε", y="expected loss", legend="mechanism")
