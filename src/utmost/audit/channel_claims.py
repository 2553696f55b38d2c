"""Claims of (ε, δ) about a channel, decided exactly over all neighbours, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from utmost.audit.result import ApproximateLoss
from utmost.axioms.privacy_profiles import Profile, epsilon_at_delta, farthest_breakpoint, profiles
from utmost.channel import Channel
from utmost.channel.channel import Label
from utmost.exact import Level, Number

NO_LOSS = Level(Fraction(1), Fraction(0))  # ε = 0


def approximate_loss(
    source: Channel, pairs: Iterable[tuple[Label, Label]], delta: Fraction, claimed: Level | None
) -> ApproximateLoss:
    """The least δ at a claimed ε, and the least ε at a stated δ, over these pairs both ways, with the worst event.

    The least δ of an ordered pair is the largest Pr[O|high] − e^ε·Pr[O|low] over all events O (the hockey-stick
    divergence), attained by the outputs that are more than e^ε times as likely under `high`.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> response = channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> loss = approximate_loss(response, [(0, 1)], Fraction(1, 10), alpha("1/2"))
    >>> loss.least_delta, loss.event, loss.least_level.alpha
    (Fraction(1, 4), (1,), Fraction(5, 13))
    """
    ways = _both_ways(source, pairs)
    first = next(ways)
    least_level, steepest = epsilon_at_delta(first.curve, delta), first
    worst = None if claimed is None else _worst_event(first, claimed)
    for way in ways:
        own_level = epsilon_at_delta(way.curve, delta)
        if own_level.alpha < least_level.alpha:
            least_level, steepest = own_level, way
        own_event = None if claimed is None else _worst_event(way, claimed)
        if worst is None or (own_event is not None and own_event.excess > worst.excess):
            worst = own_event
    event = worst or _worst_event(steepest, least_level)
    least_delta = None if worst is None else worst.excess
    outputs = event.outputs if worst is not None or event.excess >= delta else ()  # at ε = 0 none may attain δ
    return ApproximateLoss(
        delta, least_level, least_delta, outputs, event.way.second, event.way.first, event.high, event.low
    )


def _both_ways(source: Channel, pairs: Iterable[tuple[Label, Label]]) -> Iterator[Profile]:
    for profile in profiles(source, pairs):
        yield profile
        yield profile.reversed


@dataclass(frozen=True, slots=True)
class _Event:
    """Outputs with probabilities `high` and `low`, and excess = high − e^ε·low; none where that is not > 0."""

    way: Profile
    outputs: tuple[Label, ...]
    high: Number
    low: Number
    excess: Number


def _worst_event(way: Profile, level: Level) -> _Event:
    """The event with the largest excess at a level; at ε = ∞ the outputs that are impossible under the other input.

    Where that is no output at all, the outputs with the largest ratio are taken if their excess is 0 too and they tell
    the inputs apart: they attain ε.
    """
    k = farthest_breakpoint(way.curve, 1 / level.alpha) if level.alpha else 0
    event = _event_at(way, level, k)
    if not k and level.alpha and not event.outputs:
        first = _event_at(way, level, 1)
        return first if first.excess == event.excess and first.high != first.low else event
    return event


def _event_at(way: Profile, level: Level, breakpoint: int) -> _Event:
    low, high = way.curve.points[breakpoint]
    return _Event(way, way.event(breakpoint), high, low, high - low / level.alpha if low else high)
