"""Describe a mechanism: its matrix, and the ε recomputed from its entries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact import json_above, json_number
from utmost.reports.blocks import Matrix, Paragraph, Report, Verbatim
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, Quantity, Rounding, short

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level
    from utmost.mechanisms.mechanism_kind import BuiltMechanism

MAX_ALPHA_CHARS = 28  # of an α that stands in a sentence
MAX_EPSILON_CHARS = 60  # of a rational ε that stands in a sentence


def describe(mechanism: BuiltMechanism, channel: Channel, privacy_loss: PrivacyLoss) -> Report:
    """The matrix, the ε recomputed from it, and the level the mechanism was made for where that is another."""
    level = mechanism.level
    is_other = level is not None and level.is_inner and not attains_level(privacy_loss, level)
    remarks = [mechanism.neighbours_remark, f"It was made for {level}." if is_other else ""]
    privacy = (*privacy_paragraph(privacy_loss, level).parts, *(f" {remark}" for remark in remarks if remark))
    return Report(
        {
            "title": Paragraph(f"{mechanism.title}. Rows: {mechanism.rows}. Columns: answers."),
            "matrix": Matrix(channel),
            "privacy": Paragraph(*privacy),
        },
        lambda: _document(mechanism, channel, privacy_loss),
    )


def _document(mechanism: BuiltMechanism, channel: Channel, privacy_loss: PrivacyLoss) -> dict[str, Any]:
    content = channel_document(channel)
    content |= {"epsilon": json_epsilon(privacy_loss, mechanism.level), "alpha": json_number(privacy_loss.alpha)}
    content |= {} if mechanism.level is None else {"level": level_document(mechanism.level)}
    content |= {} if mechanism.space is None else {"space": mechanism.space}
    return content | mechanism.facts


def describe_samples(mechanism: BuiltMechanism, samples: list[Any]) -> Report:
    """Samples, one a line."""
    level = {} if mechanism.level is None else level_document(mechanism.level)
    lines = "\n".join(",".join(y) if isinstance(y, list) else str(y) for y in samples)
    return Report({"samples": Verbatim(lines)}, {"samples": samples, **level, **mechanism.facts})


def figure(mechanism: BuiltMechanism, channel: Channel) -> alt.TopLevelMixin:
    """A heat map of the matrix; between the places of a grid, maps."""
    from utmost import charts

    title = mechanism.title if mechanism.level is None else f"{mechanism.title}, {mechanism.level}"
    claim = "Neighbouring inputs give every answer within a factor 1/α: that is the privacy."
    size = mechanism.facts.get("grid")
    if size is not None:
        rows, columns = map(int, size.split("x"))
        return charts.location_maps(channel, (rows, columns), title, claim.rstrip("."))
    return charts.channel_chart(channel, title, claim)


def channel_document(channel: Channel) -> dict[str, Any]:
    """`inputs`, `outputs`, `rows`."""
    return {"inputs": list(channel.inputs), "outputs": list(channel.outputs), "rows": rows_document(channel.rows)}


def rows_document(rows: Any) -> list[list[str | float | None]]:
    """The entries of a matrix: exact ones as text."""
    return [[json_number(float(value) if isinstance(value, float) else value) for value in row] for row in rows]


def level_document(level: Level) -> dict[str, Any]:
    """`epsilon` and `alpha`."""
    epsilon = level.epsilon if level.exponent is None else level.exponent
    return {"epsilon": json_number(epsilon), "alpha": json_number(level.alpha)}


def level_adjective(level: Level) -> str:
    """A level as an adjective: `1/2-private` reads α, `(ε = 1/10)-private` reads ε."""
    return f"(ε = {level.exponent})" if level.exponent is not None else f"{level.alpha}"


def attains_level(privacy_loss: PrivacyLoss, level: Level) -> bool:
    """Is the ε of a privacy loss exactly that of the level: decided."""
    if privacy_loss.ratio is None:
        return False
    return bool(privacy_loss.ratio * level.power(privacy_loss.distance) == 1)


def json_epsilon(privacy_loss: PrivacyLoss, level: Level | None = None) -> str | float:
    """The ε of a privacy loss in a document: text where it is rational, else 12 digits not below it, or `inf`."""
    value = _epsilon(privacy_loss, level)
    if isinstance(value, Fraction) or not math.isfinite(value):
        return json_number(value) or "inf"
    return json_above(math.nextafter(value, math.inf), JSON_DIGITS)


def _epsilon(privacy_loss: PrivacyLoss, level: Level | None) -> Fraction | float:
    """ε, exact where it is known to be rational or attains a rational level."""
    exponent = privacy_loss.exponent
    if exponent is None and level is not None and level.exponent is not None and attains_level(privacy_loss, level):
        exponent = level.exponent
    return privacy_loss.epsilon if exponent is None else exponent


def privacy_paragraph(privacy_loss: PrivacyLoss, level: Level | None = None) -> Paragraph:
    """The ε of a channel and the entries that attain it."""
    start, answer = "Recomputed from the entries: ε", privacy_loss.output
    high, low = privacy_loss.high, privacy_loss.low
    if privacy_loss.ratio is None:
        return Paragraph(f"{start} = ∞, since answer {answer} can come from input {high} but not from {low}.")
    if privacy_loss.ratio == 1:
        return Paragraph(f"{start} = 0, the answer says nothing about the input.")
    epsilon = Quantity(
        _epsilon(privacy_loss, level), SENTENCE_DIGITS, Rounding.NEAREST, max_exact_chars=MAX_EPSILON_CHARS
    )
    alpha_text = str(privacy_loss.alpha or "")
    alpha = f" (α = {alpha_text})" if 0 < len(alpha_text) <= MAX_ALPHA_CHARS else ""
    witness = (f"answer {answer} is ", short(privacy_loss.ratio), f" times as likely under input {high} as under {low}")
    return Paragraph(f"{start} {epsilon.sign} ", epsilon, f"{alpha}; ", *witness, ".")
