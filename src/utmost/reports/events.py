"""Describe the events of a channel: the profile of a pair, a definition met or not, and an attacker's odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact import json_number
from utmost.reports.blocks import Block, Cell, Paragraph, Table
from utmost.reports.numbers import Rounding, short

if TYPE_CHECKING:
    import altair as alt

    from utmost.axioms.examination import EventExamination
    from utmost.axioms.posterior_odds import Odds
    from utmost.axioms.profile import Profile
    from utmost.axioms.satisfaction import Satisfaction, Witness
    from utmost.channel.channel import Label
    from utmost.exact import Number

MAX_SHOWN_POINTS = 12  # breakpoints of a profile
MAX_SHOWN_LABELS = 12  # outputs of an event
MAX_DEFINITION_CHARS = 60  # of a definition that are repeated in a sentence


def event_blocks(events: EventExamination) -> dict[str, Block | None]:
    """Whether the definition is met and the event that decides it, the profile, and the odds."""
    blocks: dict[str, Block | None] = {}
    if events.verdict is not None:
        blocks |= _verdict_blocks(events, events.verdict)
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
        "definition": _verdict_document(events),
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
    from utmost.charts.profile import profile_chart

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
