"""The part of `utmost check` about events: the profile of a pair, a definition, an attacker's odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utmost.axioms.curves import Curve
    from utmost.axioms.definition import Definition
    from utmost.axioms.posterior_odds import Odds
    from utmost.axioms.profile import Profile
    from utmost.axioms.satisfaction import Satisfaction, Witness
    from utmost.channel import Channel, PrivacyLoss
    from utmost.channel.channel import Label
    from utmost.exact import Level, Number
    from utmost.spaces import Space

MAX_SHOWN_POINTS = 12  # breakpoints that the terminal shows
MAX_SHOWN_LABELS = 12  # outputs of an event that the terminal shows
MAX_DEFINITION_CHARS = 60  # of a definition that are repeated in a sentence
SLOW_OUTPUT_COUNT = 2_000_000  # outputs of related pairs above which a remark says that it takes a while
MIN_PAIR_OUTPUTS = 50  # a pair with fewer outputs takes as long as one with these


@dataclass(frozen=True, slots=True)
class EventRequest:
    """What the options ask about events: a definition as text, a pair, a file for the chart."""

    definition: str | None = None
    pair: str | None = None
    plot: str | None = None


@dataclass(frozen=True, slots=True)
class EventReport:
    """The profile of a pair, whether the definition is met, its bound for that pair, how far odds move at a level."""

    definition_text: str | None
    profile: Profile | None
    verdict: Satisfaction | None
    bound: Curve | None
    level: Level | None
    odds: Odds | None
    allowed_odds: Odds | None


def examine_events(
    source: Channel, space: Space, privacy_loss: PrivacyLoss, level: Level | None, request: EventRequest
) -> EventReport:
    """The report on events. The pair is the one asked for, else the definition's worst, else the one that attains ε."""
    from utmost.axioms import posterior_odds
    from utmost.axioms.profile import profile
    from utmost.axioms.satisfaction import satisfaction

    pair = None if request.pair is None else _parse_pair(request.pair, source.inputs)
    definition = None if request.definition is None else _load_definition(request.definition, space, source)
    verdict = None if definition is None else satisfaction(source, definition)
    if pair is None:
        pair = (
            verdict.witness.pair
            if verdict is not None and verdict.witness is not None
            else (privacy_loss.low, privacy_loss.high)
        )
    pair_profile = None if pair[0] == pair[1] else profile(source, pair)
    bound = None if definition is None else _pair_bound(definition, pair)
    odds_level = level if pair_profile is not None and level is not None and level.is_inner else None
    odds = (
        None
        if odds_level is None or pair_profile is None
        else posterior_odds.odds_tails(pair_profile.curve, odds_level)
    )
    allowed_odds = None if odds_level is None or bound is None else posterior_odds.odds_bounds(bound, odds_level)
    return EventReport(request.definition, pair_profile, verdict, bound, odds_level, odds, allowed_odds)


def _parse_pair(text: str, inputs: Sequence[Label]) -> tuple[Label, Label]:
    """The two inputs that are written with a comma between them; a label may have commas of its own."""
    names = {str(label): label for label in inputs}
    pieces = text.split(",")
    for k in range(1, len(pieces)):
        first, second = (",".join(labels).strip() for labels in (pieces[:k], pieces[k:]))
        if first in names and second in names and first != second:
            return names[first], names[second]
    raise InputError(
        f"--pair must be two different inputs of the channel with a comma between, such as {inputs[0]},{inputs[-1]}, "
        f'got "{text[:40]}"'
    )


def _load_definition(text: str, space: Space, source: Channel) -> Definition:
    """The definition as text or in a file, which may have a relation of its own; else the space's neighbours."""
    from utmost.axioms.definition_files import parse_definition
    from utmost.axioms.relation import relation_from_space
    from utmost.cli.output import print_remark

    definition = parse_definition(text, relation_from_space(space))
    if len(definition.relation.edges) * max(len(source.outputs), MIN_PAIR_OUTPUTS) > SLOW_OUTPUT_COUNT:
        print_remark(f"{len(definition.relation.edges)} pairs in exact arithmetic: this can take a minute")
    return definition


def _pair_bound(definition: Definition, pair: tuple[Label, Label]) -> Curve | None:
    """M of a pair, and what the reversed pair's adds to it; None if the definition does not relate it."""
    from utmost.axioms.pair_rules import AllowedPairs

    position_by_label, related_pairs = (
        {str(label): k for k, label in enumerate(definition.relation.labels)},
        definition.relation.pairs,
    )
    first, second = position_by_label[str(pair[0])], position_by_label[str(pair[1])]
    if (first, second) not in related_pairs:
        return None
    bound = definition.bound(first, second)
    reverse_bound = definition.bound(second, first) if (second, first) in related_pairs else None
    return AllowedPairs(bound, reverse_bound).bound or bound


def event_document(report: EventReport) -> dict[str, Any]:
    """`profile`, `definition`, `odds`: None where they do not apply."""
    return {
        "profile": _profile_document(report),
        "definition": _verdict_document(report),
        "odds": _odds_document(report),
    }


def _profile_document(report: EventReport) -> dict[str, Any] | None:
    if report.profile is None:
        return None
    exact, profile = report.profile.exact, report.profile
    return {
        "pair": [profile.first, profile.second],
        "points": [[_json_number(a, exact), _json_number(b, exact)] for a, b in profile.curve.points],
        "order": [list(group) for group in profile.order],
        "variation": _json_number(profile.variation, exact),
        "delta": None if report.level is None else _json_number(profile.delta(report.level), exact),
    }


def _verdict_document(report: EventReport) -> dict[str, Any] | None:
    if report.verdict is None:
        return None
    worst, exact = report.verdict.witness, report.verdict.exact
    content = {"bound": report.definition_text, "satisfied": report.verdict.holds, "witness": None}
    if worst is None:
        return content
    numbers = {"first": worst.first, "second": worst.second, "allowed": worst.bound, "excess": worst.excess}
    event_content = {"pair": list(worst.pair), "event": list(worst.event), "complement": list(worst.complement)}
    return content | {"witness": event_content | {name: _json_number(value, exact) for name, value in numbers.items()}}


def _odds_document(report: EventReport) -> dict[str, Any] | None:
    if report.odds is None or report.profile is None:
        return None
    exact, allowed_odds = report.profile.exact, report.allowed_odds
    return {
        "rise": _json_number(report.odds.rise, exact),
        "fall": _json_number(report.odds.fall, exact),
        "rise_allowed": None if allowed_odds is None else _json_number(allowed_odds.rise, exact),
        "fall_allowed": None if allowed_odds is None else _json_number(allowed_odds.fall, exact),
    }


def _json_number(value: Number, exact: bool) -> str | float | None:
    from utmost.cli import output

    return output.json_value(value if exact else float(value))


def print_events(report: EventReport) -> None:
    """Print the report as sentences and tables."""
    if report.verdict is not None:
        _print_verdict(report, report.verdict)
    if report.profile is not None:
        _print_profile(report, report.profile)
    if report.odds is not None and report.profile is not None:
        _print_odds(report, report.profile, report.odds)


def _print_verdict(report: EventReport, verdict: Satisfaction) -> None:
    from utmost.cli import output

    kind = "decided" if verdict.exact else "decided for its doubles, each row divided by its sum"
    output.print_text(f"Meets {_definition_label(report)} for every event: {'yes' if verdict.holds else 'NO'}, {kind}.")
    worst = verdict.witness
    if worst is None:
        output.print_text("No two secrets that it relates can be told apart at all.")
        return
    lead = "The nearest event" if verdict.holds else "The worst event"
    output.print_text(
        f"{lead}, for i₁ = {worst.pair[0]} and i₂ = {worst.pair[1]}: O = {_event_text(worst.event)}, with "
        f"{_witness_sentence(worst)}"
    )


def _witness_sentence(worst: Witness) -> str:
    first, second, bound = (_format_number(value) for value in (worst.first, worst.second, worst.bound))
    start = f"P(O|i₁) = {first} and P(O|i₂) = {second}, where at most {bound} is allowed"
    if worst.excess <= 0:
        return f"{start}."
    complements = [_format_number(1 - value) for value in (worst.first, worst.second, worst.bound)]
    return (
        f"{start}: {_format_number(worst.excess)} too much. Its complement {_event_text(worst.complement)} has "
        f"{complements[0]} and "
        f"{complements[1]}, where at least {complements[2]} is asked."
    )


def _print_profile(report: EventReport, profile: Profile) -> None:
    from utmost.cli import output

    first, second = profile.first, profile.second
    output.print_text(f"Profile: the largest P(O|{second}) that an event O with a given P(O|{first}) can have.")
    if len(profile.curve.points) <= MAX_SHOWN_POINTS:
        rows = [
            [_event_text(profile.event(k)), _format_number(a), _format_number(b)]
            for k, (a, b) in enumerate(profile.curve.points)
        ]
        output.print_table(["O", f"P(O|{first})", f"P(O|{second})"], rows)
    delta_text = (
        "" if report.level is None else f"; δ = {_format_number(profile.delta(report.level))} at {report.level}"
    )
    output.print_text(f"Total variation {_format_number(profile.variation)}{delta_text}.")


def _print_odds(report: EventReport, profile: Profile, odds: Odds) -> None:
    from utmost.cli import output

    bounds = ["", ""]
    if report.allowed_odds is not None:
        bounds = [
            f" (allowed: {_format_number(value)})" for value in (report.allowed_odds.rise, report.allowed_odds.fall)
        ]
    rise, fall = f"{_format_number(odds.rise)}{bounds[0]}", f"{_format_number(odds.fall)}{bounds[1]}"
    output.print_text(
        f"Where {profile.first} is true, an attacker's odds of {profile.second} against it grow e^ε-fold or more with "
        f"probability {rise} and shrink as much with probability {fall}, at {report.level}."
    )


def _definition_label(report: EventReport) -> str:
    """The definition as it was given, shortened where it is long."""
    text = report.definition_text or ""
    return text if len(text) <= MAX_DEFINITION_CHARS else text[: MAX_DEFINITION_CHARS - 1] + "…"


def _event_text(event: Sequence[Label]) -> str:
    names = [str(label) for label in event]
    visible_names = (
        names
        if len(names) <= MAX_SHOWN_LABELS
        else [*names[:MAX_SHOWN_LABELS], f"… {len(names) - MAX_SHOWN_LABELS} more"]
    )
    return "{" + ", ".join(visible_names) + "}"


def _format_number(value: Number) -> str:
    from utmost.cli import output
    from utmost.exact import decimal

    text = str(value)
    return text if len(text) <= 2 * output.MAX_FRACTION_CHARS else decimal(value)


def draw_profile(report: EventReport, path: str | None) -> None:
    """Draw the profile, with the bound M above it."""
    from utmost.charts import save_chart
    from utmost.charts.profile import profile_chart
    from utmost.cli.output import print_remark

    if path is None:
        return
    if report.profile is None:
        raise InputError("--plot must have a pair of secrets to draw, got a channel with one input")
    worst = None if report.verdict is None or report.verdict.holds else report.verdict.witness
    marked_witness = (
        worst if worst is not None and worst.pair == (report.profile.first, report.profile.second) else None
    )
    point = () if marked_witness is None else (float(marked_witness.first), float(marked_witness.second))
    save_chart(profile_chart(report.profile, report.bound, point, subtitle=_chart_subtitle(report)), path)
    print_remark(f"drew {path}")


def _chart_subtitle(report: EventReport) -> str:
    if report.profile is None:
        return ""
    variation = f"Total variation {_format_number(report.profile.variation)}."
    if report.verdict is None:
        return variation
    if report.verdict.holds or report.verdict.witness is None:
        return f"{_definition_label(report)} is met for every event. {variation}"
    first, second = report.verdict.witness.pair
    return f"{_definition_label(report)} is not met; the worst event is for i₁ = {first} and i₂ = {second}. {variation}"
