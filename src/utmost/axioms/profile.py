"""Profiles: the largest P(O|i₂) for each P(O|i₁), over all events O of a channel, exact and piecewise linear.

KL10's bound M says how large P(O|i₂) may be when P(O|i₁) = a. The profile f of a channel for the pair (i₁, i₂) says how
large it is: by Neyman and Pearson the best events take outputs in the order of decreasing likelihood ratio
P(y|i₂)/P(y|i₁), so f is the concave curve through the events made of the first outputs of that order. Between its
breakpoints f is attained by an event that tosses a coin, as a post-processing may. So a channel meets a concave bound M
exactly when f ≤ M at the breakpoints of f. On two secrets one channel can be processed into another exactly when its
profile is nowhere below the other's (Blackwell).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from utmost.axioms import divergence
from utmost.axioms.curves import Curve
from utmost.axioms.laws_in_powers_of_e import common_unit
from utmost.axioms.likelihood_ratio import PreparedLaw, group_by_ratio, prepare_law, profile_curve
from utmost.channel import Channel, Matrix, Mechanism, channel_of
from utmost.channel.channel import Label
from utmost.errors import InputError
from utmost.exact import Level, Number, decimal, number, sign

Pair = tuple[Label, Label]


@dataclass(frozen=True, slots=True)
class Test:
    """An event, perhaps with a coin: `surely` belongs to it, of `sometimes` each output with probability `share`.

    Under the first secret it has probability `first`, under the second `second`, the largest there is for that.
    """

    __test__ = False  # no test of pytest's

    surely: tuple[Label, ...]
    sometimes: tuple[Label, ...]
    share: Number
    first: Number
    second: Number


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a pair of secrets (first, second): `curve` is f, `order` the outputs in groups of equal ratio.

    The groups come by decreasing likelihood ratio P(y|second)/P(y|first); outputs impossible under both are left out.
    Breakpoint k of the curve is the event of `event(k)`. `exact` is False where the channel has float entries: then its
    doubles were taken as the fractions they are, each row divided by its sum.
    """

    first: Label
    second: Label
    curve: Curve
    order: tuple[tuple[Label, ...], ...]
    exact: bool

    @property
    def leaps(self) -> bool:
        """Is some output possible under the second secret alone: f(0) > 0, and ε = ∞ for this pair."""
        return bool(self.curve.at_zero)

    def event(self, breakpoint: int) -> tuple[Label, ...]:
        """The event at a breakpoint of the curve: P(O|first) and P(O|second) are its argument and its value."""
        return tuple(y for group in self.order[: breakpoint + self.leaps] for y in group)

    def best(self, probability: object) -> Test:
        """The event with this probability under `first` that has the largest one under `second` (Neyman–Pearson).

        >>> from utmost.channel import channel
        >>> test = profile(channel([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]]), (0, 1)).best("1/3")
        >>> test.surely, test.sometimes, test.share, test.second
        ((2,), (1,), Fraction(1, 3), Fraction(7, 12))
        """
        a = number(probability, "probability of an event")
        if sign(a) < 0 or a > 1:
            raise InputError(f"probability of an event must be in [0, 1], got {decimal(a)}")
        k = bisect_left(self.curve.points, a, key=lambda point: point[0])
        value = self.curve(a)
        if self.curve.points[k][0] == a:
            return Test(self.event(k), (), Fraction(0), a, value)
        (low, _), (high, _) = self.curve.points[k - 1 : k + 1]
        return Test(self.event(k - 1), self.order[k - 1 + self.leaps], (a - low) / (high - low), a, value)

    def delta(self, level: Level) -> Number:
        """The least δ with P(O|second) ≤ e^ε·P(O|first) + δ for every event O."""
        return divergence.delta_at_epsilon(self.curve, level)

    def least_level(self, delta: object = 0) -> Level:
        """The least ε with P(O|second) ≤ e^ε·P(O|first) + δ for every event O."""
        return divergence.epsilon_at_delta(self.curve, delta)

    @property
    def variation(self) -> Number:
        """The total variation distance of the two laws."""
        return divergence.total_variation(self.curve)

    @property
    def reversed(self) -> Profile:
        """The profile of (second, first): its best events are the complements, so points (a, b) become (1−b, 1−a)."""
        points = [(1 - b, 1 - a) for a, b in reversed(self.curve.points)]
        mirror_points = [
            point for k, point in enumerate(points) if k + 1 == len(points) or points[k + 1][0] != point[0]
        ]
        if mirror_points[-1][0] != 1:
            mirror_points.append((Fraction(1), Fraction(1)))
        mirror_curve = Curve.trusted(tuple(mirror_points), mirror_points[0][1], mirror_points[-1][1])
        return Profile(self.second, self.first, mirror_curve, self.order[::-1], self.exact)


def profile(mechanism: Channel | Mechanism, pair: Sequence[Label]) -> Profile:
    """The profile of a channel for an ordered pair of its inputs (i₁, i₂).

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> geometric_profile = profile(geometric(3, alpha("1/2")), (1, 2))
    >>> [(str(a), str(b)) for a, b in geometric_profile.curve.points], geometric_profile.order
    ([('0', '0'), ('1/3', '2/3'), ('1', '1')], ((2, 3), (0, 1)))
    """
    return next(profiles(mechanism, [pair]))


def profiles(mechanism: Channel | Mechanism, pairs: Iterable[Sequence[Label]]) -> Iterator[Profile]:
    """The profiles of a channel for some ordered pairs of its inputs, one after another; each row is read once."""
    source = channel_of(mechanism)
    positions = {label: k for k, label in enumerate(source.inputs)}
    unit = common_unit(source.rows.flat) if source.exact else None
    laws: dict[int, PreparedLaw] = {}
    for pair in pairs:
        first, second = _pair_positions(pair, positions)
        for x in (first, second):
            if x not in laws:
                laws[x] = prepare_law(exact_law(source, x), unit)
        yield _profile(source, (first, second), laws)


def _pair_positions(pair: Sequence[Label], positions: dict[Label, int]) -> tuple[int, int]:
    if len(pair) != 2 or pair[0] == pair[1] or not all(label in positions for label in pair):
        raise InputError("pair must be two different inputs of the channel, the first is the one that is true")
    return positions[pair[0]], positions[pair[1]]


def exact_law(source: Channel, x: int) -> Iterable[Number]:
    """The law of one input; doubles are fractions too, and are divided by their sum."""
    law: Matrix = source.rows[x]
    if source.exact:
        return law
    entries = [Fraction(value) for value in law.tolist()]
    total = sum(entries)
    return [value / total for value in entries]


def _profile(source: Channel, pair: tuple[int, int], laws: dict[int, PreparedLaw]) -> Profile:
    first, second = (laws[x] for x in pair)
    grouping = group_by_ratio(first, second)
    order = tuple(tuple(source.outputs[y] for y in group) for group in grouping.parts())
    labels = [source.inputs[x] for x in pair]
    return Profile(labels[0], labels[1], profile_curve(first, second, grouping), order, source.exact)
