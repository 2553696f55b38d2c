"""Describe the best private mechanism for a consumer, and what proves that none is better."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from utmost.exact import Real, json_number
from utmost.reports.blocks import Block, Cell, Matrix, Paragraph, Report, Verbatim
from utmost.reports.channel import MAX_SHOWN_LABELS
from utmost.reports.mechanism import channel_document, json_epsilon, level_adjective, privacy_paragraph
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, Quantity, at_least, at_most, quantity, with_exact

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.consumer import Consumer
    from utmost.design import Design
    from utmost.design.minimax import MinimaxDesign
    from utmost.exact import Level, Number
    from utmost.spaces import Space

GAP_DIGITS = 3
MAX_LOSS_CHARS = 60  # of an exact loss that stands in a sentence
MAX_NAME_CHARS = 40  # of a prior or loss that are repeated
MAX_WHOLE_COLUMNS = 24  # answers up to which those that never occur are shown too
MAX_REMAP_CHANGES = 12
SIGNATURE_LEGEND = (
    "Signature: from each input to the next, an answer's probability falls (↓) or rises (↑) as fast as privacy allows, "
    "or slower (S); 0 if it never comes."
)


@dataclass(frozen=True, slots=True)
class DesignProblem:
    """Secrets, a level and a consumer; `space_text`, `prior_text` and `loss_text` are as the user wrote them."""

    space: Space
    level: Level
    consumer: Consumer
    space_text: str
    prior_text: str
    loss_text: str

    @property
    def consumer_text(self) -> str:
        """Prior and loss, shortened where they are long."""
        is_short = len(self.prior_text) <= MAX_NAME_CHARS
        prior = self.prior_text if is_short else self.consumer.prior.name
        return f"prior {prior}, loss {self.loss_text[:MAX_NAME_CHARS]}"


def describe(
    design: Design, problem: DesignProblem | None = None, uninformed_loss: Number | float | None = None
) -> Report:
    """The mechanism, the consumer's loss with it, how it is made, the proof, and the ε recomputed from its entries.

    `uninformed_loss` is what the consumer expects to lose without any answer. Without a problem, as in a notebook, the
    sentences name neither the level nor the consumer.
    """
    numbers = _numbers(design, uninformed_loss)
    level = None if problem is None else problem.level
    signature = None if problem is None else design_signature(design, problem.space, problem.level)
    is_large = len(design.channel.outputs) > MAX_WHOLE_COLUMNS
    blocks: dict[str, Block | None] = {
        "title": Paragraph(_title(design, problem)),
        "mechanism": _mechanism_block(_used_answers(design.channel) if is_large else design.channel, problem),
        "omission": _omission_paragraph(design.channel) if is_large else None,
        "signature legend": None if signature is None or is_large else Paragraph(SIGNATURE_LEGEND),
        "signature": None if signature is None or is_large else _signature_block(design, signature),
        "loss": _loss_paragraph(design, numbers),
        "remap": None if design.remap is None else Paragraph(_remap_sentence(design.remap)),
        "proof": _proof_paragraph(design, problem, numbers),
        "privacy": privacy_paragraph(design.privacy_loss, level),
    }
    return Report(blocks, lambda: _document(design, problem, signature, numbers), numbers)


def _mechanism_block(channel: Channel, problem: DesignProblem | None) -> Matrix:
    """The entries; in a notebook the first of many, each cell the darker the likelier."""
    return Matrix(channel) if problem is not None else Matrix(channel, max_labels=MAX_SHOWN_LABELS, is_shaded=True)


def describe_minimax(design: MinimaxDesign) -> Report:
    """The mechanism with the least loss of the worst secret, its loss, and the ε recomputed from its entries."""
    certificate = design.certificate
    if certificate.gap:
        lower, upper = at_least(certificate.lower, SENTENCE_DIGITS), at_most(certificate.upper, SENTENCE_DIGITS)
        loss = Paragraph("Worst expected loss at most ", upper, "; every private mechanism has at least ", lower, ".")
    else:
        exact_loss = quantity(design.loss, SENTENCE_DIGITS)
        loss = Paragraph("Worst expected loss ", exact_loss, ", and no private mechanism has less.")
    return Report(
        {
            "mechanism": Matrix(design.channel, max_labels=MAX_SHOWN_LABELS, is_shaded=True),
            "loss": loss,
            "privacy": privacy_paragraph(design.privacy_loss, None),
        }
    )


def uninformed_loss(consumer: Consumer) -> float:
    """The loss that the consumer expects without any answer, in doubles."""
    import numpy as np

    weights = np.array([float(weight) for weight in consumer.prior.exact()])
    return float((weights @ consumer.loss.matrix(consumer.prior.size).astype(float)).min())


def _numbers(design: Design, uninformed_loss: Number | float | None) -> dict[str, Quantity]:
    certificate = design.certificate
    numbers = {
        "loss": (at_most if certificate.gap else quantity)(design.loss, SENTENCE_DIGITS),
        "lower": at_least(certificate.lower, SENTENCE_DIGITS),
        "upper": at_most(certificate.upper, SENTENCE_DIGITS),
        "gap": at_most(certificate.gap, GAP_DIGITS),
    }
    return numbers if uninformed_loss is None else numbers | {"silent": quantity(uninformed_loss, SENTENCE_DIGITS)}


def design_signature(design: Design, space: Space, level: Level) -> tuple[str, ...] | None:
    """Which privacy constraints are tight, on a line; a mechanism between rational levels is tight at its own.

    A remap of the geometric mechanism that was put into fractions is private with a hair to spare: its signature is
    that of the remap.
    """
    from utmost.design import signature
    from utmost.design.count_mechanism import signature_of_remap
    from utmost.design.optimal import is_line

    if not level.is_inner or not is_line(space):
        return None
    if design.remap is not None:
        return signature_of_remap(design.remap)
    own_level = design.privacy_loss.level if isinstance(level.alpha, Real) else None
    if own_level is not None and own_level.is_inner and not isinstance(own_level.alpha, Real):
        level = own_level
    return signature(design.channel, level)


def _title(design: Design, problem: DesignProblem | None) -> str:
    start = "The best mechanism so far" if design.stopped else "The best mechanism"
    if problem is None:
        return f"{start} for this consumer."
    return f"{start} on {problem.space_text} at {problem.level} for {problem.consumer_text}."


def _used_answers(channel: Channel) -> Channel:
    """The channel without the answers that never occur."""
    from utmost.channel.channel import trusted_channel

    used = [y for y in range(len(channel.outputs)) if any(channel.rows[:, y])]
    return trusted_channel(channel.inputs, [channel.outputs[y] for y in used], channel.rows[:, used])


def _omission_paragraph(channel: Channel) -> Paragraph | None:
    total = len(channel.outputs)
    unused = total - len(_used_answers(channel).outputs)
    return Paragraph(f"{unused} of {total} answers never occur and are left out.") if unused else None


def _signature_block(design: Design, signature: tuple[str, ...]) -> Verbatim:
    from utmost.design.count_mechanism import signature_text

    return Verbatim(signature_text(signature, design.channel.inputs, design.channel.outputs) + "\n")


def _loss_paragraph(design: Design, numbers: dict[str, Quantity]) -> Paragraph:
    """The exact loss with a decimal beside it; where the bounds do not meet, the upper one."""
    loss, parts = numbers["loss"], list[Cell]()
    parts += ["at most ", loss] if design.certificate.gap else with_exact(loss, MAX_LOSS_CHARS)
    if "silent" in numbers:
        parts += [". Without any answer it would be ", numbers["silent"]]
    return Paragraph("Expected loss ", *parts, ".")


def _remap_sentence(remap: list[int]) -> str:
    runs = [(reading, [k for k, _ in run]) for reading, run in groupby(enumerate(remap), key=lambda pair: pair[1])]
    changes = [
        f"{answers[0]}{f'–{answers[-1]}' if len(answers) > 1 else ''} as {reading}"
        for reading, answers in runs
        if answers != [reading]
    ]
    if not changes:
        return "It is the geometric mechanism, read at face value."
    hidden = len(changes) - MAX_REMAP_CHANGES
    changes_text = ", ".join(changes[:MAX_REMAP_CHANGES]) + (f", and {hidden} more" if hidden > 0 else "")
    return f"It is the geometric mechanism with some answers read differently: {changes_text}; the others as they are."


def _proof_paragraph(design: Design, problem: DesignProblem | None, numbers: dict[str, Quantity]) -> Paragraph:
    certificate, level = design.certificate, None if problem is None else problem.level
    if level is not None and not level.is_inner:
        return Paragraph(f"At {level} nothing is left to choose, so nothing is better: gap ", numbers["gap"], ".")
    subject = f"No {'' if level is None else f'{level_adjective(level)}-'}private mechanism gives this consumer "
    if not certificate.gap:
        return Paragraph(f"{subject}less: proved by {certificate.proof.method}, gap 0.")
    return Paragraph(f"{subject}more than ", numbers["gap"], f" less: proved by {certificate.proof.method}.")


def _document(
    design: Design, problem: DesignProblem | None, signature: tuple[str, ...] | None, numbers: dict[str, Quantity]
) -> dict[str, Any]:
    """The document that `utmost optimal --json` prints."""
    question: dict[str, Any] = {}
    if problem is not None:
        question = {"space": problem.space_text, "alpha": json_number(problem.level.alpha)}
        question |= {"prior": problem.prior_text, "loss_function": problem.loss_text}
    if "silent" in numbers:
        question["silent_loss"] = json_number(float(numbers["silent"].value))
    return {
        **question,
        **channel_document(design.channel),
        "signature": None if signature is None else list(signature),
        **_loss_document(design),
        "remap": design.remap,
        "certificate": _certificate_document(design, None if problem is None else problem.level),
        **({"stopped": True} if design.stopped else {}),
    }


def _loss_document(design: Design) -> dict[str, Any]:
    """The expected loss as text, what kind of number that is, and decimals that it lies between."""
    certificate = design.certificate
    return {
        "loss": str(design.loss),
        "loss_is": "upper bound" if certificate.gap else "exact",
        "loss_lower": at_least(certificate.lower, JSON_DIGITS),
        "loss_upper": at_most(certificate.upper, JSON_DIGITS),
        "loss_decimal": json_number(float(design.loss)),
    }


def _certificate_document(design: Design, level: Level | None) -> dict[str, Any]:
    certificate, multipliers = design.certificate, design.certificate.proof.multipliers
    return {
        "private": design.private,
        "epsilon": json_epsilon(design.privacy_loss, level),
        "gap": at_most(certificate.gap, GAP_DIGITS) if certificate.gap else "0",
        "lower": str(certificate.lower),
        "upper": str(certificate.upper),
        "multipliers": None if multipliers is None else [str(multiplier) for multiplier in multipliers],
    }


def figure(design: Design, problem: DesignProblem | None = None) -> alt.TopLevelMixin:
    """A heat map; of places, a map for each of some. Without a problem the title names no consumer and no level."""
    from utmost import charts
    from utmost.charts.places import place_maps
    from utmost.reports.place_layout import map_for, place_layout, reports_places, shown_places

    start = "The best mechanism so far" if design.stopped else "The best mechanism"
    title = f"{start} for {'this consumer' if problem is None else problem.consumer_text}"
    least_loss = at_least(design.certificate.lower, SENTENCE_DIGITS)
    level = "the same level" if problem is None else problem.level
    claim = f"No mechanism private at {level} gives this consumer an expected loss below {least_loss}."
    space = design.certificate.proof.space if problem is None else problem.space
    shape = space.shape.grid_size
    if shape is not None and set(design.channel.outputs) <= set(design.channel.inputs):
        return charts.location_maps(design.channel, shape, title, claim.rstrip("."))
    layout = place_layout(space)
    if shape is None and layout is not None and len(space) > 1 and reports_places(design.channel, space):
        maps = [map_for(design.channel, space, truth) for truth in shown_places(space)]
        return place_maps(maps, layout.positions, title, f"{claim} {layout.note}".strip())
    return charts.channel_chart(design.channel, title, claim)
