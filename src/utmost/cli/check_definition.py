"""The part of `utmost check` that knows events: the profile of a pair, a definition, an attacker's odds."""

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

MOST_POINTS = 12  # breakpoints that the terminal shows
MOST_LABELS = 12  # outputs of an event that the terminal shows
MAX_DEFINITION_CHARS = 60  # characters of a definition in words that are repeated
SLOW = 2_000_000  # outputs of related pairs above which a reader is told that it takes a while
LEAST = 50  # a pair with fewer outputs takes as long as one with these


@dataclass(frozen=True, slots=True)
class EventRequest:
    """What was asked of events: a definition in words, a pair, a file for the picture."""

    definition: str | None = None
    pair: str | None = None
    plot: str | None = None


@dataclass(frozen=True, slots=True)
class EventReport:
    """The profile of a pair, whether the definition is met, its bound for that pair, how far odds move at a level."""

    words: str | None
    profile: Profile | None
    verdict: Satisfaction | None
    bound: Curve | None
    level: Level | None
    true: Odds | None
    allowed: Odds | None


def examine_events(
    source: Channel, space: Space, leak: PrivacyLoss, level: Level | None, asked: EventRequest
) -> EventReport:
    """What is said of events. The pair is the one asked for, else the definition's worst, else the one that ε is of."""
    from utmost.axioms import posterior_odds
    from utmost.axioms.profile import profile
    from utmost.axioms.satisfaction import satisfaction

    pair = None if asked.pair is None else _pair(asked.pair, source.inputs)
    definition = None if asked.definition is None else _definition(asked.definition, space, source)
    verdict = None if definition is None else satisfaction(source, definition)
    if pair is None:
        pair = verdict.witness.pair if verdict is not None and verdict.witness is not None else (leak.low, leak.high)
    found = None if pair[0] == pair[1] else profile(source, pair)
    bound = None if definition is None else _bound(definition, pair)
    moves = level if found is not None and level is not None and level.is_inner else None
    true = None if moves is None or found is None else posterior_odds.odds_tails(found.curve, moves)
    allowed = None if moves is None or bound is None else posterior_odds.odds_bounds(bound, moves)
    return EventReport(asked.definition, found, verdict, bound, moves, true, allowed)


def _pair(words: str, inputs: Sequence[Label]) -> tuple[Label, Label]:
    """The two inputs that are written with a comma between them; a label may have commas of its own."""
    names = {str(label): label for label in inputs}
    parts = words.split(",")
    for k in range(1, len(parts)):
        first, second = (",".join(some).strip() for some in (parts[:k], parts[k:]))
        if first in names and second in names and first != second:
            return names[first], names[second]
    raise InputError(
        f"--pair must be two different inputs of the channel with a comma between, such as {inputs[0]},{inputs[-1]}, "
        f'got "{words[:40]}"'
    )


def _definition(words: str, space: Space, source: Channel) -> Definition:
    """The definition in words or in a file, which may have a relation of its own; else the space's neighbours."""
    from utmost.axioms.definition_files import parse_definition
    from utmost.axioms.relation import relation_from_space
    from utmost.cli.output import print_remark

    definition = parse_definition(words, relation_from_space(space))
    if len(definition.relation.edges) * max(len(source.outputs), LEAST) > SLOW:
        print_remark(f"{len(definition.relation.edges)} pairs in exact arithmetic: this can take a minute")
    return definition


def _bound(definition: Definition, pair: tuple[Label, Label]) -> Curve | None:
    """M of a pair, and what the reversed pair's adds to it; None if the definition does not relate it."""
    from utmost.axioms.rules import AllowedPairs

    places, related = {str(label): k for k, label in enumerate(definition.relation.labels)}, definition.relation.pairs
    x, other = places[str(pair[0])], places[str(pair[1])]
    if (x, other) not in related:
        return None
    own = definition.bound(x, other)
    back = definition.bound(other, x) if (other, x) in related else None
    return AllowedPairs(own, back).bound or own


def event_document(found: EventReport) -> dict[str, Any]:
    """`profile`, `definition`, `odds`: None where they do not apply."""
    return {"profile": _profile(found), "definition": _verdict(found), "odds": _odds(found)}


def _profile(found: EventReport) -> dict[str, Any] | None:
    if found.profile is None:
        return None
    exact, made = found.profile.exact, found.profile
    return {
        "pair": [made.first, made.second],
        "points": [[_plain(a, exact), _plain(b, exact)] for a, b in made.curve.points],
        "order": [list(group) for group in made.order],
        "variation": _plain(made.variation, exact),
        "delta": None if found.level is None else _plain(made.delta(found.level), exact),
    }


def _verdict(found: EventReport) -> dict[str, Any] | None:
    if found.verdict is None:
        return None
    worst, exact = found.verdict.witness, found.verdict.exact
    said = {"bound": found.words, "satisfied": found.verdict.holds, "witness": None}
    if worst is None:
        return said
    numbers = {"first": worst.first, "second": worst.second, "allowed": worst.bound, "excess": worst.excess}
    where = {"pair": list(worst.pair), "event": list(worst.event), "complement": list(worst.complement)}
    return said | {"witness": where | {name: _plain(value, exact) for name, value in numbers.items()}}


def _odds(found: EventReport) -> dict[str, Any] | None:
    if found.true is None or found.profile is None:
        return None
    exact, allowed = found.profile.exact, found.allowed
    return {
        "rise": _plain(found.true.rise, exact),
        "fall": _plain(found.true.fall, exact),
        "rise_allowed": None if allowed is None else _plain(allowed.rise, exact),
        "fall_allowed": None if allowed is None else _plain(allowed.fall, exact),
    }


def _plain(value: Number, exact: bool) -> str | float | None:
    from utmost.cli import output

    return output.json_value(value if exact else float(value))


def print_events(found: EventReport) -> None:
    """The same in words."""
    if found.verdict is not None:
        _say_verdict(found, found.verdict)
    if found.profile is not None:
        _say_profile(found, found.profile)
    if found.true is not None and found.profile is not None:
        _say_odds(found, found.profile, found.true)


def _say_verdict(found: EventReport, verdict: Satisfaction) -> None:
    from utmost.cli import output

    kind = "decided" if verdict.exact else "decided for its doubles, each row divided by its sum"
    output.print_text(f"Meets {_called(found)} for every event: {'yes' if verdict.holds else 'NO'}, {kind}.")
    worst = verdict.witness
    if worst is None:
        output.print_text("No two secrets that it relates can be told apart at all.")
        return
    lead = "The nearest event" if verdict.holds else "The worst event"
    output.print_text(
        f"{lead}, for i₁ = {worst.pair[0]} and i₂ = {worst.pair[1]}: O = {_named(worst.event)}, with {_sides(worst)}"
    )


def _sides(worst: Witness) -> str:
    first, second, bound = (_short(value) for value in (worst.first, worst.second, worst.bound))
    start = f"P(O|i₁) = {first} and P(O|i₂) = {second}, where at most {bound} is allowed"
    if worst.excess <= 0:
        return f"{start}."
    rest = [_short(1 - value) for value in (worst.first, worst.second, worst.bound)]
    return (
        f"{start}: {_short(worst.excess)} too much. Its complement {_named(worst.complement)} has {rest[0]} and "
        f"{rest[1]}, where at least {rest[2]} is asked."
    )


def _say_profile(found: EventReport, made: Profile) -> None:
    from utmost.cli import output

    first, second = made.first, made.second
    output.print_text(f"Profile: the largest P(O|{second}) that an event O with a given P(O|{first}) can have.")
    if len(made.curve.points) <= MOST_POINTS:
        rows = [[_named(made.event(k)), _short(a), _short(b)] for k, (a, b) in enumerate(made.curve.points)]
        output.print_table(["O", f"P(O|{first})", f"P(O|{second})"], rows)
    share = "" if found.level is None else f"; δ = {_short(made.delta(found.level))} at {found.level}"
    output.print_text(f"Total variation {_short(made.variation)}{share}.")


def _say_odds(found: EventReport, made: Profile, true: Odds) -> None:
    from utmost.cli import output

    bounds = ["", ""]
    if found.allowed is not None:
        bounds = [f" (allowed: {_short(value)})" for value in (found.allowed.rise, found.allowed.fall)]
    rise, fall = f"{_short(true.rise)}{bounds[0]}", f"{_short(true.fall)}{bounds[1]}"
    output.print_text(
        f"Where {made.first} is true, an attacker's odds of {made.second} against it grow e^ε-fold or more with "
        f"probability {rise} and shrink as much with probability {fall}, at {found.level}."
    )


def _called(found: EventReport) -> str:
    """The definition as it was asked for, unless that is long."""
    words = found.words or ""
    return words if len(words) <= MAX_DEFINITION_CHARS else words[: MAX_DEFINITION_CHARS - 1] + "…"


def _named(event: Sequence[Label]) -> str:
    names = [str(label) for label in event]
    shown = names if len(names) <= MOST_LABELS else [*names[:MOST_LABELS], f"… {len(names) - MOST_LABELS} more"]
    return "{" + ", ".join(shown) + "}"


def _short(value: Number) -> str:
    from utmost.cli import output
    from utmost.exact import decimal

    words = str(value)
    return words if len(words) <= 2 * output.MAX_FRACTION_CHARS else decimal(value)


def draw_profile(found: EventReport, path: str | None) -> None:
    """The profile as a picture, M above it."""
    from utmost.charts import save_chart
    from utmost.charts.profile import profile_chart
    from utmost.cli.output import print_remark

    if path is None:
        return
    if found.profile is None:
        raise InputError("--plot must have a pair of secrets to draw, got a channel with one input")
    worst = None if found.verdict is None or found.verdict.holds else found.verdict.witness
    marked = worst if worst is not None and worst.pair == (found.profile.first, found.profile.second) else None
    point = () if marked is None else (float(marked.first), float(marked.second))
    save_chart(profile_chart(found.profile, found.bound, point, subtitle=_caption(found)), path)
    print_remark(f"drew {path}")


def _caption(found: EventReport) -> str:
    if found.profile is None:
        return ""
    told = f"Total variation {_short(found.profile.variation)}."
    if found.verdict is None:
        return told
    if found.verdict.holds or found.verdict.witness is None:
        return f"{_called(found)} is met for every event. {told}"
    first, second = found.verdict.witness.pair
    return f"{_called(found)} is not met; the worst event is for i₁ = {first} and i₂ = {second}. {told}"
