"""Describe a channel that was examined: its ε, signature, origin, type, capacity, generality and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.exact import json_number
from utmost.reports.blocks import Block, Matrix, Paragraph, Report, Verbatim
from utmost.reports.events import event_blocks, event_document
from utmost.reports.generality import generality_blocks, generality_document
from utmost.reports.mechanism import json_epsilon, privacy_paragraph, rows_document
from utmost.reports.numbers import SENTENCE_DIGITS, Rounding, quantity, short

if TYPE_CHECKING:
    from utmost.axioms.examination import EventExamination, Examination, GeneralityExamination
    from utmost.design import Derivation, LemmaFinding
    from utmost.exact import Number

MAX_SIGNATURE_OUTPUTS = 24
MAX_VALUE_CHARS = 28  # of a negative probability in a sentence


@dataclass(frozen=True, slots=True)
class ConsumerLoss:
    """What a consumer expects to lose: with the best reading of the channel, and without any answer."""

    expected: Number | float
    uninformed: float


def describe(
    examination: Examination,
    generality: GeneralityExamination,
    events: EventExamination,
    consumer_loss: ConsumerLoss | None = None,
) -> Report:
    """Everything that was decided of a channel; `consumer_loss` is that of a consumer, if one was given."""
    channel = examination.channel
    shape = f"{len(channel.inputs)} inputs, {len(channel.outputs)} outputs"
    kind = "exact" if channel.exact else "float"
    blocks: dict[str, Block | None] = {
        "title": Paragraph(f"A channel on {examination.space.name}: {shape}, {kind} entries."),
        "privacy": privacy_paragraph(examination.privacy_loss, examination.level),
        "level": _level_paragraph(examination),
        **_signature_blocks(examination),
        "obstacle": _obstacle_paragraph(examination),
        **_derivation_blocks(examination.derivation),
        "membership": _membership_paragraph(examination),
        "capacity": _capacity_paragraph(examination),
        **generality_blocks(generality),
        **event_blocks(events),
        "consumer": None if consumer_loss is None else _consumer_paragraph(consumer_loss),
    }
    return Report(blocks, lambda: _document(examination, generality, events, consumer_loss))


def _level_paragraph(examination: Examination) -> Paragraph | None:
    level = examination.level
    if examination.private is not None:
        return Paragraph(f"Private at {level}: {'yes' if examination.private else 'NO'}, decided.")
    if level is None or examination.obstacle is not None:
        return None
    return Paragraph(f"No level was given; what follows is at its own, {level}.")


def _signature_blocks(examination: Examination) -> dict[str, Block | None]:
    """The signature where it is small, and which lemmas of GRS12 it obeys."""
    from utmost.design import lemmas
    from utmost.design.tight_constraints import signature_text

    channel, signature = examination.channel, examination.signature
    if signature is None:
        return {}
    blocks: dict[str, Block | None] = {}
    if len(channel.outputs) <= MAX_SIGNATURE_OUTPUTS:
        legend = "Signature (from each input to the next: ↓ ↑ as fast as privacy allows, S slower, 0 never):"
        blocks["signature legend"] = Paragraph(legend)
        blocks["signature"] = Verbatim(signature_text(signature, channel.inputs, channel.outputs))
    findings = lemmas(signature)
    met = ", ".join(item.lemma for item in findings if item.holds) or "(none)"
    blocks["lemmas"] = Paragraph(f"It has the form of GRS12's lemmas {met}.")
    broken = [_broken_lemma_text(examination, item) for item in findings if not item.holds]
    lead = "It does not have the form that optimal mechanisms have (5.5, 5.6), or optimal vertices (5.8, 5.9):"
    blocks["broken lemmas"] = Paragraph("\n".join([lead, *broken])) if broken else None
    return blocks


def _broken_lemma_text(examination: Examination, item: LemmaFinding) -> str:
    x, y = _lemma_document(examination, item)["place"]
    return f"  Lemma {item.lemma}, input {x}, output {y}: {item.says}."


def _obstacle_paragraph(examination: Examination) -> Paragraph | None:
    if examination.obstacle is None:
        return None
    origin = "" if examination.derivation else ", nothing on its origin"
    return Paragraph(f"No signature{origin}: {examination.obstacle}.")


def _derivation_blocks(derivation: Derivation | None) -> dict[str, Block | None]:
    """How the channel comes from the geometric mechanism, or the entry that shows that it does not."""
    if derivation is None:
        return {}
    if derivation.remap is not None:
        heading = "Derivable from the geometric mechanism, whose answers (rows) are read as (columns):"
        return {"derivation": Paragraph(heading), "remap": Matrix(derivation.remap)}
    if derivation.value is None:
        return {}
    text = str(derivation.value)
    value = f"probability {text}" if len(text) <= MAX_VALUE_CHARS else "a negative probability"
    entry = f"reading {derivation.reading} of the geometric answer {derivation.answer}"
    sentence = f"Not derivable from the geometric mechanism: {entry} would need {value}."
    return {"derivation": Paragraph(sentence)}


def _membership_paragraph(examination: Examination) -> Paragraph | None:
    vertex, kernel = examination.vertex, examination.kernel
    if vertex is None or kernel is None:
        return None
    kind = "a vertex mechanism, but no kernel mechanism" if vertex else "no vertex mechanism"
    kind = "a kernel mechanism" if kernel else kind
    place = f"Of the type of {examination.space.name} at {examination.level}"
    return Paragraph(f"{place} it is {kind}: {kernel.reason}.")


def _capacity_paragraph(examination: Examination) -> Paragraph | None:
    capacity = examination.capacity
    if capacity is None:
        return None
    factor, sum_ = (short(item.value, Rounding.UP) for item in (capacity.multiplicative, capacity.additive))
    return Paragraph(
        "An answer multiplies what anybody can gain by at most ", factor, ", and adds at most ", sum_, " of 1 to it."
    )


def _consumer_paragraph(consumer_loss: ConsumerLoss) -> Paragraph:
    expected, uninformed = (
        quantity(loss, SENTENCE_DIGITS) for loss in (consumer_loss.expected, consumer_loss.uninformed)
    )
    return Paragraph(
        "With the best reading, this consumer expects to lose ", expected, "; without any answer ", uninformed, "."
    )


def _document(
    examination: Examination,
    generality: GeneralityExamination,
    events: EventExamination,
    consumer_loss: ConsumerLoss | None,
) -> dict[str, Any]:
    document = {
        **_privacy_document(examination),
        **_structure_document(examination),
        "reason": examination.obstacle,
        **generality_document(generality),
        **event_document(events),
    }
    if consumer_loss is None:
        return document
    losses = {"loss": consumer_loss.expected, "silent_loss": consumer_loss.uninformed}
    return document | {name: json_number(loss) for name, loss in losses.items()}


def _privacy_document(examination: Examination) -> dict[str, Any]:
    """The channel's labels and space, its ε and the entries that attain it, and the level."""
    channel, privacy_loss, level = examination.channel, examination.privacy_loss, examination.level
    ratio = privacy_loss.ratio if channel.exact or privacy_loss.ratio is None else float(privacy_loss.ratio)
    witness = {"output": privacy_loss.output, "high": privacy_loss.high, "low": privacy_loss.low}
    return {
        "inputs": list(channel.inputs),
        "outputs": list(channel.outputs),
        "space": examination.space.name,
        "epsilon": json_epsilon(privacy_loss, level),
        "witness": witness | {"ratio": json_number(ratio)},
        "alpha": None if level is None else json_number(level.alpha),
        "private": examination.private,
    }


def _structure_document(examination: Examination) -> dict[str, Any]:
    """Signature and lemmas, origin, membership of the type, capacities."""
    from utmost.design import lemmas

    signature, derivation, capacity = examination.signature, examination.derivation, examination.capacity
    findings = None if signature is None else [_lemma_document(examination, item) for item in lemmas(signature)]
    remap = None if derivation is None or derivation.remap is None else rows_document(derivation.remap.rows)
    capacities = None
    if capacity is not None:
        pair = {"multiplicative": capacity.multiplicative, "additive": capacity.additive}
        capacities = {name: json_number(item.value) for name, item in pair.items()}
    return {
        "signature": None if signature is None else list(signature),
        "lemmas": findings,
        "derivable": None if derivation is None else derivation.derivable,
        "remap": remap,
        "negative": _negative_document(derivation),
        "vertex": None if examination.vertex is None else examination.vertex.holds,
        "kernel": None if examination.kernel is None else examination.kernel.holds,
        "capacity": capacities,
    }


def _lemma_document(examination: Examination, item: LemmaFinding) -> dict[str, Any]:
    channel, place = examination.channel, None
    if item.index is not None:
        place = [channel.inputs[item.index[0]], channel.outputs[item.index[1]]]
    return {"lemma": item.lemma, "holds": item.holds, "place": place, "says": item.says}


def _negative_document(derivation: Derivation | None) -> dict[str, Any] | None:
    if derivation is None or derivation.derivable:
        return None
    return {"answer": derivation.answer, "reading": derivation.reading, "value": str(derivation.value)}
