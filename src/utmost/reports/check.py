"""Describe a channel that was examined: its ε, signature, origin, type, capacity, generality and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact import json_number
from utmost.reports.blocks import Block, Cell, Matrix, Paragraph, Report, Table, Verbatim
from utmost.reports.concentration import concentration_blocks, concentration_document
from utmost.reports.generality import generality_blocks, generality_document
from utmost.reports.mechanism import json_epsilon, privacy_paragraph, rows_document
from utmost.reports.numbers import SENTENCE_DIGITS, Rounding, quantity, short

if TYPE_CHECKING:
    import altair as alt

    from utmost.axioms.examination import EventExamination, Examination, GeneralityExamination
    from utmost.axioms.likelihood_ratio import Odds
    from utmost.axioms.privacy_profiles import Profile
    from utmost.axioms.satisfaction import Satisfaction, Witness
    from utmost.channel.channel import Label
    from utmost.design import Derivation, LemmaFinding
    from utmost.exact import Number

MAX_SHOWN_POINTS = 12  # breakpoints of a profile
MAX_SHOWN_LABELS = 12  # outputs of an event
MAX_DEFINITION_CHARS = 60  # of a definition that are repeated in a sentence


def event_blocks(events: EventExamination) -> dict[str, Block | None]:
    """Whether the definition is met and the event that decides it, the profile, and the odds."""
    blocks: dict[str, Block | None] = {}
    if events.verdict is not None:
        blocks |= _verdict_blocks(events, events.verdict)
    if events.concentration is not None:
        blocks |= concentration_blocks(events.concentration, _definition_label(events))
    if events.profile is not None:
        blocks |= _profile_blocks(events, events.profile)
    if events.odds is not None and events.profile is not None:
        blocks["odds"] = _odds_paragraph(events, events.profile, events.odds)
    return blocks


def _verdict_blocks(events: EventExamination, verdict: Satisfaction) -> dict[str, Block | None]:
    kind = "decided" if verdict.exact else "decided for its doubles, each row divided by its sum"
    answer = f"Meets {_definition_label(events)} for every event: {'yes' if verdict.holds else 'NO'}, {kind}."
    worst = verdict.witness
    if worst is None:
        event = Paragraph("No two secrets that it relates can be told apart at all.")
    else:
        lead = "The nearest event" if verdict.holds else "The worst event"
        event = Paragraph(f"{lead}, {_pair_text(worst)}: O = {_event_text(worst.event)}, with ", *_witness_parts(worst))
    return {"definition": Paragraph(answer), "event": event}


def _pair_text(worst: Witness) -> str:
    return f"for i₁ = {worst.pair[0]} and i₂ = {worst.pair[1]}"


def _witness_parts(worst: Witness) -> list[Cell]:
    """The probabilities of the event and what is allowed; where that is exceeded, its complement too."""
    parts: list[Cell] = ["P(O|i₁) = ", short(worst.first), " and P(O|i₂) = ", short(worst.second)]
    parts += [", where at most ", short(worst.bound, Rounding.UP), " is allowed"]
    if worst.excess <= 0:
        return [*parts, "."]
    parts += [": ", short(worst.excess), f" too much. Its complement {_event_text(worst.complement)} has "]
    parts += [short(1 - worst.first), " and ", short(1 - worst.second)]
    return [*parts, ", where at least ", short(1 - worst.bound, Rounding.DOWN), " is asked."]


def _profile_blocks(events: EventExamination, profile: Profile) -> dict[str, Block | None]:
    first, second = profile.first, profile.second
    legend = f"Profile: the largest P(O|{second}) that an event O with a given P(O|{first}) can have."
    table = None
    if len(profile.curve.points) <= MAX_SHOWN_POINTS:
        points = enumerate(profile.curve.points)
        rows = tuple((_event_text(profile.event(k)), short(a), short(b)) for k, (a, b) in points)
        table = Table(("O", f"P(O|{first})", f"P(O|{second})"), rows)
    variation: list[Cell] = ["Total variation ", short(profile.variation)]
    if events.level is not None:
        variation += ["; δ = ", short(profile.delta(events.level), Rounding.UP), f" at {events.level}"]
    return {"profile legend": Paragraph(legend), "profile": table, "variation": Paragraph(*variation, ".")}


def _odds_paragraph(events: EventExamination, profile: Profile, odds: Odds) -> Paragraph:
    rise: list[Cell] = [short(odds.rise)]
    fall: list[Cell] = [short(odds.fall)]
    if events.allowed_odds is not None:
        rise += [" (allowed: ", short(events.allowed_odds.rise), ")"]
        fall += [" (allowed: ", short(events.allowed_odds.fall), ")"]
    start = f"Where {profile.first} is true, an attacker's odds of {profile.second} against it grow e^ε-fold or more "
    parts = ("with probability ", *rise, " and shrink as much with probability ", *fall, f", at {events.level}.")
    return Paragraph(start, *parts)


def _definition_label(events: EventExamination) -> str:
    """The definition as it was given, shortened where it is long."""
    text = events.definition_text or ""
    return text if len(text) <= MAX_DEFINITION_CHARS else text[: MAX_DEFINITION_CHARS - 1] + "…"


def _event_text(event: Sequence[Label]) -> str:
    names = [str(label) for label in event]
    hidden = len(names) - MAX_SHOWN_LABELS
    shown = names if hidden <= 0 else [*names[:MAX_SHOWN_LABELS], f"… {hidden} more"]
    return "{" + ", ".join(shown) + "}"


def event_document(events: EventExamination) -> dict[str, Any]:
    """`profile`, `definition`, `odds`: None where they do not apply."""
    return {
        "profile": _profile_document(events),
        "definition": _verdict_document(events) or _rho_document(events),
        "odds": _odds_document(events),
    }


def _profile_document(events: EventExamination) -> dict[str, Any] | None:
    profile = events.profile
    if profile is None:
        return None
    return {
        "pair": [profile.first, profile.second],
        "points": [[_json_number(a, profile.exact), _json_number(b, profile.exact)] for a, b in profile.curve.points],
        "order": [list(group) for group in profile.order],
        "variation": _json_number(profile.variation, profile.exact),
        "delta": None if events.level is None else _json_number(profile.delta(events.level), profile.exact),
    }


def _verdict_document(events: EventExamination) -> dict[str, Any] | None:
    verdict = events.verdict
    if verdict is None:
        return None
    worst = verdict.witness
    content = {"bound": events.definition_text, "satisfied": verdict.holds, "witness": None}
    if worst is None:
        return content
    numbers = {"first": worst.first, "second": worst.second, "allowed": worst.bound, "excess": worst.excess}
    event = {"pair": list(worst.pair), "event": list(worst.event), "complement": list(worst.complement)}
    return content | {"witness": event | {name: _json_number(x, verdict.exact) for name, x in numbers.items()}}


def _rho_document(events: EventExamination) -> dict[str, Any] | None:
    result = events.concentration
    if result is None:
        return None
    return {"bound": events.definition_text, "satisfied": result.holds, **concentration_document(result)}


def _odds_document(events: EventExamination) -> dict[str, Any] | None:
    if events.odds is None or events.profile is None:
        return None
    exact, allowed = events.profile.exact, events.allowed_odds
    return {
        "rise": _json_number(events.odds.rise, exact),
        "fall": _json_number(events.odds.fall, exact),
        "rise_allowed": None if allowed is None else _json_number(allowed.rise, exact),
        "fall_allowed": None if allowed is None else _json_number(allowed.fall, exact),
    }


def _json_number(value: Number, exact: bool) -> str | float | None:
    return json_number(value if exact else float(value))


def figure(events: EventExamination) -> alt.TopLevelMixin:
    """The profile, with the bound of the definition above it and the worst event on it."""
    from utmost.charts.definition import profile_chart

    profile, verdict = events.profile, events.verdict
    if profile is None:
        raise InputError("--plot must have a pair of secrets to draw, got a channel with one input", "plot")
    worst = None if verdict is None or verdict.holds else verdict.witness
    is_marked = worst is not None and worst.pair == (profile.first, profile.second)
    point = (float(worst.first), float(worst.second)) if worst is not None and is_marked else ()
    return profile_chart(profile, events.bound, point, subtitle=_subtitle(events, profile))


def _subtitle(events: EventExamination, profile: Profile) -> str:
    variation = f"Total variation {short(profile.variation)}."
    if events.verdict is None:
        return variation
    if events.verdict.holds or events.verdict.witness is None:
        return f"{_definition_label(events)} is met for every event. {variation}"
    return (
        f"{_definition_label(events)} is not met; the worst event is {_pair_text(events.verdict.witness)}. {variation}"
    )


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
    from utmost.design.count_mechanism import signature_text

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
