"""Privacy profiles: the largest P(O|i₂) for each P(O|i₁) over all events, of one or several releases.

KL10's bound M says how large P(O|i₂) may be when P(O|i₁) = a. The profile f of a channel for the pair (i₁, i₂) says how
large it is: by Neyman and Pearson the best events take outputs in the order of decreasing likelihood ratio
P(y|i₂)/P(y|i₁), so f is the concave curve through the events made of the first outputs of that order. Between its
breakpoints f is attained by an event that tosses a coin, as a post-processing may. So a channel meets a concave bound M
exactly when f ≤ M at the breakpoints of f. On two secrets one channel can be processed into another exactly when its
profile is nowhere below the other's (Blackwell).

The curve f of a profile also gives δ(ε), ε(δ) and the total variation. It is concave from (0, f(0)) to (1, 1), so
f(a) − s·a is largest at the breakpoint where the slope of f falls below s, found by bisection.

The exact profile of several independent releases.

A profile determines the law of the likelihood ratio of a pair of laws: its pieces are the ratios, and the
width and the height of a piece are the probabilities of its ratio under either secret. Ratios of independent answers
multiply. So the profile of two releases is that of the products of the pieces, sorted and merged again. Mechanisms that
meet bounds M₁ and M₂, the second perhaps chosen after the first answer, together meet the composition of M₁ and M₂: the
pair of laws whose profile is M can be processed into any pair that meets M (Blackwell).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.axioms.curves import Curve, curve_from_points
from utmost.axioms.likelihood_ratio import (
    Grouping,
    PreparedLaw,
    common_unit,
    group_by_ratio,
    logarithms,
    object_array,
    prepare_law,
    profile_curve,
)
from utmost.channel import Channel, Mechanism, channel_of
from utmost.channel.channel import Label
from utmost.channel.privacy import exact_law
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, decimal, integer, number, sign
from utmost.result_values import short_repr

RELATIVE_ERROR = 1e-13  # doubles of four exact numbers and two products are off by less than a hundredth of this part
MIN_PRECISE_DOUBLE = 1e-290  # far above the doubles with fewer digits


def farthest_breakpoint(
    curve: Curve, a_weight: Number | int, f_weight: Number | int = 1, low: int = 0, high: int | None = None
) -> int:
    """The first breakpoint, from `low` to `high`, at which v·f(a) − w·a is largest: v = f_weight, w = a_weight.

    f is concave and both weights are ≥ 0, so v·f(a) − w·a rises up to there and falls after it: the largest among
    some neighbours is the nearest to it.
    Doubles decide where their errors cannot matter; the rest is decided exactly.
    """
    points, weights = curve.points, (nearest_double(f_weight), nearest_double(a_weight))

    def falls(k: int) -> bool:
        rise, run = points[k + 1][1] - points[k][1], points[k + 1][0] - points[k][0]
        gain, cost = weights[0] * nearest_double(rise), weights[1] * nearest_double(run)
        if min(gain, cost) > MIN_PRECISE_DOUBLE and abs(gain - cost) > RELATIVE_ERROR * (gain + cost):
            return gain < cost
        return sign(f_weight * rise - a_weight * run) <= 0

    last = len(points) - 1 if high is None else high
    return bisect_left(range(low, last), True, key=falls) + low


def nearest_double(value: Number | int) -> float:
    """The nearest double, ∞ if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def delta_at_epsilon(curve: Curve, level: Level) -> Number:
    """The least δ with P(O|i₂) ≤ e^ε·P(O|i₁) + δ for every event O: the largest f(a) − e^ε·a.

    That is Σ_y (P(y|i₂) − e^ε·P(y|i₁))₊, and f(0) at ε = ∞ (α = 0): the chance of an output impossible under i₁.

    >>> from utmost.axioms.curves import curve_from_points
    >>> from utmost.exact import alpha
    >>> delta_at_epsilon(curve_from_points([(0, 0), ("1/4", "3/4"), (1, 1)]), alpha("1/2"))
    Fraction(1, 4)
    """
    if not level.alpha:
        return curve.points[0][1]
    slope = 1 / level.alpha
    a, value = curve.points[farthest_breakpoint(curve, slope)]
    return value - slope * a


def total_variation(curve: Curve) -> Number:
    """The total variation distance of the two laws: δ at ε = 0, the largest f(a) − a."""
    a, value = curve.points[farthest_breakpoint(curve, 1)]
    return value - a


def epsilon_at_delta(curve: Curve, delta: object) -> Level:
    """The least ε with P(O|i₂) ≤ e^ε·P(O|i₁) + δ for every event O, as an exact level.

    e^ε is the slope of the steepest line from (0, δ) to the curve: the largest (f(a) − δ)/a over breakpoints, at least
    1, and ∞ (α = 0) where f(0) > δ.

    >>> from utmost.axioms.curves import curve_from_points
    >>> bend = curve_from_points([(0, 0), ("1/4", "3/4"), (1, 1)])
    >>> epsilon_at_delta(bend, 0).alpha, epsilon_at_delta(bend, "1/4").alpha, epsilon_at_delta(bend, "1/2").alpha
    (Fraction(1, 3), Fraction(1, 2), Fraction(1, 1))
    """
    exact_delta = number(delta, "delta")
    if sign(exact_delta) < 0 or exact_delta > 1:
        raise InputError(f"delta must be in [0, 1], got {decimal(exact_delta)}", "delta")
    if curve.points[0][1] > exact_delta:
        return Level(Fraction(0))
    slopes = [(value - exact_delta) / a for a, value in curve.points[1:]]
    return _level(1 / max([Fraction(1), *slopes]))


def _level(alpha: Number) -> Level:
    """The level with this α, that remembers ε where it is rational."""
    if not isinstance(alpha, Real):
        return Level(alpha, Fraction(0) if alpha == 1 else None)
    exponent = alpha.logarithm()
    return Level(alpha, None if exponent is None else -exponent)


Pair = tuple[Label, Label]


@dataclass(frozen=True, slots=True)
class Test:
    """An event, perhaps with a coin: `surely` belongs to it, of `sometimes` each output with probability `share`.

    Under the first secret it has probability `first`, under the second `second`, the largest there is for that.
    """

    __repr__ = short_repr

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

    __repr__ = short_repr

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
            raise InputError(f"probability of an event must be in [0, 1], got {decimal(a)}", "probability")
        k = bisect_left(self.curve.points, a, key=lambda point: point[0])
        value = self.curve(a)
        if self.curve.points[k][0] == a:
            return Test(self.event(k), (), Fraction(0), a, value)
        (low, _), (high, _) = self.curve.points[k - 1 : k + 1]
        return Test(self.event(k - 1), self.order[k - 1 + self.leaps], (a - low) / (high - low), a, value)

    def delta(self, level: Level) -> Number:
        """The least δ with P(O|second) ≤ e^ε·P(O|first) + δ for every event O."""
        return delta_at_epsilon(self.curve, level)

    def least_level(self, delta: object = 0) -> Level:
        """The least ε with P(O|second) ≤ e^ε·P(O|first) + δ for every event O."""
        return epsilon_at_delta(self.curve, delta)

    @property
    def variation(self) -> Number:
        """The total variation distance of the two laws."""
        return total_variation(self.curve)

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
        raise InputError("pair must be two different inputs of the channel, the first is the one that is true", "pair")
    return positions[pair[0]], positions[pair[1]]


def _profile(source: Channel, pair: tuple[int, int], laws: dict[int, PreparedLaw]) -> Profile:
    first, second = (laws[x] for x in pair)
    grouping = group_by_ratio(first, second)
    order = tuple(tuple(source.outputs[y] for y in group) for group in grouping.parts())
    labels = [source.inputs[x] for x in pair]
    return Profile(labels[0], labels[1], profile_curve(first, second, grouping), order, source.exact)


MAX_PRODUCTS = 1_000_000  # of likelihood ratios that are multiplied in one step


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of the likelihood ratio under either secret: atom k has probabilities first[k] and second[k].

    The atoms have distinct ratios second/first, decreasing.
    """

    first: PreparedLaw
    second: PreparedLaw

    def __len__(self) -> int:
        return len(self.first.values)

    def curve(self) -> Curve:
        """The profile that has this law."""
        positions = np.arange(len(self))
        return profile_curve(self.first, self.second, Grouping(positions, positions))


def law(profile: Curve) -> Law:
    """The law of the likelihood ratio of a profile, or of a bound M: for each piece its width and its height.

    >>> ratio_law = law(curve_from_points([(0, "1/4"), ("1/2", "3/4"), (1, 1)]))
    >>> ratio_law.first.values.tolist(), ratio_law.second.values.tolist()
    ([0, 1, 1], [1, 2, 1])
    """
    if profile.jumps or not profile.concave or profile.at_one != 1 or sign(profile.at_zero) < 0:
        raise InputError(
            "a curve that is composed must be a profile: concave, without a jump, at least 0 at 0 and equal to 1 at 1"
        )
    points = ((Fraction(0), Fraction(0)), *profile.points) if profile.at_zero else profile.points
    steps = [(right[0] - left[0], right[1] - left[1]) for left, right in pairwise(points)]
    return Law(prepare_law([step for step, _ in steps]), prepare_law([rise for _, rise in steps]))


def compose_profiles(profiles: Iterable[Curve]) -> Curve:
    """The profile of independent releases with these profiles together; of none, that of an answer that says nothing.

    >>> response = curve_from_points([(0, 0), ("1/3", "2/3"), (1, 1)])
    >>> [(str(a), str(b)) for a, b in compose_profiles([response, response]).points]
    [('0', '0'), ('1/9', '4/9'), ('5/9', '8/9'), ('1', '1')]
    """
    product_law: Law | None = None
    for profile in profiles:
        product_law = law(profile) if product_law is None else _product(product_law, law(profile))
    return _constant_profile() if product_law is None else product_law.curve()


def compose_repeated(profile: Curve, times: object) -> Curve:
    """The profile of `times` independent releases with one profile, by squaring.

    >>> response = curve_from_points([(0, 0), ("1/3", "2/3"), (1, 1)])
    >>> compose_repeated(response, 100).points[1] == (Fraction(1, 3)**100, Fraction(2, 3)**100)
    True
    """
    count, base_law = integer(times, "times"), law(profile)
    if count < 0:
        raise InputError(f"times must be a whole number >= 0, got {count}", "times")
    product_law: Law | None = None
    for digit in f"{count:b}":
        product_law = None if product_law is None else _product(product_law, product_law)
        if digit == "1":
            product_law = base_law if product_law is None else _product(product_law, base_law)
    return _constant_profile() if product_law is None else product_law.curve()


def _constant_profile() -> Curve:
    return curve_from_points([(0, 0), (1, 1)])


def _product(left: Law, right: Law) -> Law:
    """The law of the product of two independent ratios, equal ratios merged."""
    if len(left) * len(right) > MAX_PRODUCTS:
        raise InputError(
            f"a composition must have at most {MAX_PRODUCTS} products of likelihood ratios in a step, got "
            f"{len(left) * len(right)}",
            hint="compose fewer releases, or merge outputs whose ratios are near first",
        )
    first, second = _multiply_probabilities(left.first, right.first), _multiply_probabilities(left.second, right.second)
    grouping = group_by_ratio(first, second)
    return Law(_merge_groups(first, grouping), _merge_groups(second, grouping))


def _multiply_probabilities(left: PreparedLaw, right: PreparedLaw) -> PreparedLaw:
    both_rational = left.rational and right.rational
    factors = [
        side.values if both_rational else object_array([side.probability(value) for value in side.values])
        for side in (left, right)
    ]
    logs = np.add.outer(left.logs, right.logs)
    return PreparedLaw(
        np.multiply.outer(*factors).ravel(), left.scale * right.scale if both_rational else 1, logs.ravel()
    )


def _merge_groups(law: PreparedLaw, grouping: Grouping) -> PreparedLaw:
    totals = law.totals(grouping)
    return PreparedLaw(object_array(totals), law.scale, logarithms(totals))
