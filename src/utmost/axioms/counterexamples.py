"""Counterexamples to a definition: mechanisms that meet it, and a post-processing or a mixture that does not.

From one gap in the region Q of a predicate (u and u′ allowed, p between them not) both axioms are refuted.

*Choice* (KL10 Axiom 2.1.2), with two outputs. The mechanism M_u gives its first output with probabilities u = (a, b);
its events have probabilities (0, 0), u, 1−u and (1, 1), all in Q. M_u with weight λ and M_u′ with weight 1−λ is a
mechanism with the event p.

*Transformation invariance* (KL10 Axiom 2.1.1), with three outputs at most, and two are not always enough. What
post-processing makes of M_u is exactly the parallelogram of 0, u, 1 and 1−u; if p, or a point needed below, is in the
parallelogram of an allowed u and not in Q, M_u is the mechanism. Otherwise cut the gap at the diagonal, turn it so that
p, u and u′ are above it, u to the left. Then u′ is above the line from u to 1, else p were in the parallelogram of u,
and u is above the line from 0 to u′. With d = u′ − u = (x, y) this says (1−b)/(1−a) < y/x < b′/a′: at its place x, d is
between a point of the segment from 0 to 1−u and a point of the segment from 0 to u′, both in parallelograms. Points at
the same place between an allowed one and the diagonal are in its parallelogram. Hence d is in Q, and the mechanism with
outputs u, d and 1−u′ has all its events in Q: 0, u, d, u′ and the complements. Passing on its first output always and
its second with probability 1−λ makes the event p.

So for one pair of secrets and a predicate that some mechanism meets each axiom alone is equivalent to Q being convex,
and each implies the other (KL10 Thm 2.2.5 (iv) asks for both). Convexity suffices: an event of a post-processed
mechanism is an average of events, and so is one of a mixture. That two outputs are not always enough: the union of the
parallelograms of two points contains the parallelogram of each of its points, and need not be convex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

from utmost.axioms.curves import Point
from utmost.axioms.regions import ConvexityGap
from utmost.channel import Channel, channel
from utmost.errors import InputError
from utmost.exact import Number, sign
from utmost.spaces.space import Label

Holds: TypeAlias = Callable[[Number, Number], bool]
Names: TypeAlias = tuple[Label, Label]
ZERO, ONE = Fraction(0), Fraction(1)
CERTAIN_EVENT: Point = (ONE, ONE)
INCONSISTENT_PREDICATE = "predicate must give one answer for each (a, b), got another one when asked again"
FailureT = TypeVar("FailureT", "Processing", "Mixture")


@dataclass(frozen=True, slots=True)
class Processing:
    """A mechanism that meets the definition, and a post-processing after which it does not: KL10 Axiom 2.1.1 fails."""

    mechanism: Channel
    post_processing: Channel

    @property
    def result(self) -> Channel:
        """The mechanism, post-processed."""
        return self.mechanism.then(self.post_processing)

    @property
    def mechanisms(self) -> tuple[Channel, ...]:
        """The mechanisms that meet the definition."""
        return (self.mechanism,)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Two mechanisms that meet the definition, and a mixture of them that does not: KL10 Axiom 2.1.2 fails.

    `weight` is the probability of the first.
    """

    first: Channel
    second: Channel
    weight: Number

    @property
    def result(self) -> Channel:
        """The mixture: the first with probability `weight`, else the second, without an output that names which."""
        rows = self.first.rows * self.weight + self.second.rows * (1 - self.weight)
        return Channel(self.first.inputs, self.first.outputs, rows)

    @property
    def mechanisms(self) -> tuple[Channel, ...]:
        """The mechanisms that meet the definition."""
        return (self.first, self.second)


Failure: TypeAlias = Processing | Mixture


def mixture_counterexample(gap: ConvexityGap, holds: Holds, names: Names = ("i1", "i2")) -> Mixture:
    """Two mechanisms with two outputs and their mixture, whose first output has the missing probabilities."""
    first, second = (_two_output_mechanism(point, names) for point in (gap.first, gap.second))
    return _verify_failure(Mixture(first, second, gap.weight), holds)


def _two_output_mechanism(point: Point, names: Names) -> Channel:
    """The mechanism whose outputs o1 and o2 have probabilities `point` and the rest, be it none."""
    return channel([[share, 1 - share] for share in point], names, ["o1", "o2"])


def processing_counterexample(gap: ConvexityGap, holds: Holds, names: Names = ("i1", "i2")) -> Processing:
    """A mechanism with one to three outputs and a post-processing to two, whose first has probabilities not allowed."""
    for steps, target in _candidates(gap):
        probabilities = _pass_probabilities(steps, target)
        if probabilities is not None and not holds(*target) and _is_allowed(steps, holds):
            return _verify_failure(Processing(_mechanism(steps, names), _post_processing(probabilities)), holds)
    raise InputError(INCONSISTENT_PREDICATE)


def forbidden_event(mechanism: Channel, first: int, second: int, holds: Holds) -> tuple[Label, ...] | None:
    """An event whose probabilities under two inputs are not allowed; None if all 2^outputs are."""
    for subset in _subsets(len(mechanism.outputs)):
        a, b = (sum((mechanism.rows[k, y] for y in subset), ZERO) for k in (first, second))
        if not holds(a, b):
            return tuple(mechanism.outputs[y] for y in subset)
    return None


def allowed_range(a: Number, b: Number) -> tuple[Number, Number]:
    """The lowest and highest b′ that Axiom 2.1.1 allows at a once (a, b) is allowed: its parallelogram's section.

    For a ≤ 1/2 between b and (1−b)·a/(1−a), for a ≥ 1/2 between b and 1 − b·(1−a)/a: KL10 Prop. 2.2.2 with its second
    and third items exchanged, as in its proof.

    >>> allowed_range(Fraction(1, 4), Fraction(3, 4))
    (Fraction(1, 12), Fraction(3, 4))
    """
    opposite = (1 - b) * a / (1 - a) if 2 * a <= 1 else 1 - b * (1 - a) / a
    return min(b, opposite), max(b, opposite)


def _candidates(gap: ConvexityGap) -> Iterator[tuple[list[Point], Point]]:
    """Mechanisms, by the steps from one event to the next, and the point that a post-processing of each should make."""
    left, right, missing = _orient_gap(gap)
    yield from (([CERTAIN_EVENT], point) for point in (missing, left, right) if point[0] == point[1])
    yield from (([point], missing) for point in (left, right))
    (a, b), (right_a, right_b) = left, right
    x, y = right_a - a, right_b - b
    if x:
        high, low = (x, x * right_b / right_a), (x, x * (1 - b) / (1 - a))
        yield [left, (x, y)], missing
        yield from (([right], high), ([left], low), ([high], (x, y)), ([low], (x, y)))


def _orient_gap(gap: ConvexityGap) -> tuple[Point, Point, Point]:
    """The gap reflected so that its missing point is above the diagonal, cut off there, its ends from left to right."""
    points = [gap.first, gap.second, gap.missing]
    if gap.missing[1] < gap.missing[0]:
        points = [(1 - a, 1 - b) for a, b in points]
    first, second, missing = points
    first, second = _clip_to_diagonal(first, missing), _clip_to_diagonal(second, missing)
    return (first, second, missing) if first[0] <= second[0] else (second, first, missing)


def _clip_to_diagonal(end: Point, inner: Point) -> Point:
    """The end, or if it is below the diagonal the point where the segment from it to `inner` crosses that."""
    below, above = end[0] - end[1], inner[1] - inner[0]
    if sign(below) <= 0:
        return end
    share = below / (below + above)
    crossing = end[0] + share * (inner[0] - end[0])
    return crossing, crossing


def _pass_probabilities(steps: Sequence[Point], target: Point) -> list[Number] | None:
    """With what probability each output is passed on as the first one, so that it gets the target's probabilities.

    None if there are no such probabilities, or if a mechanism with fewer outputs has them.
    """
    (a, b), area = steps[0], steps[0][0] - steps[0][1]
    if len(steps) == 2:
        probabilities: list[Number] = [ONE, (target[0] - a) / steps[1][0], ZERO]
    elif area:
        probabilities = [(target[0] * (1 - b) - target[1] * (1 - a)) / area, (a * target[1] - b * target[0]) / area]
    else:
        probabilities = [target[0]]
    event = [
        sum((k * output[axis] for k, output in zip(probabilities, _outputs(steps), strict=False)), ZERO)
        for axis in (0, 1)
    ]
    return (
        probabilities
        if (event[0], event[1]) == target and all(sign(k) >= 0 and k <= 1 for k in probabilities)
        else None
    )


def _outputs(steps: Sequence[Point]) -> list[Point]:
    """The probabilities of every output: the steps, and the rest if there is any."""
    rest = ONE - sum((a for a, _ in steps), ZERO), ONE - sum((b for _, b in steps), ZERO)
    return [*steps, rest] if any(rest) else [*steps]


def _is_allowed(steps: Sequence[Point], holds: Holds) -> bool:
    """Are the outputs' probabilities probabilities, and those of all events allowed."""
    outputs = _outputs(steps)
    possible = all(sign(value) >= 0 for output in outputs for value in output)
    return possible and forbidden_event(_mechanism(steps, ("i1", "i2")), 0, 1, holds) is None


def _subsets(size: int) -> Iterator[list[int]]:
    return ([y for y in range(size) if bits >> y & 1] for bits in range(1 << size))


def _mechanism(steps: Sequence[Point], names: Names) -> Channel:
    """The channel of two secrets whose outputs o1, o2, … have these probabilities, and the last one the rest."""
    outputs = _outputs(steps)
    rows = [[output[axis] for output in outputs] for axis in (0, 1)]
    return channel(rows, names, [f"o{k + 1}" for k in range(len(outputs))])


def _post_processing(probabilities: Sequence[Number]) -> Channel:
    rows = [[share, 1 - share] for share in probabilities]
    return channel(rows, [f"o{k + 1}" for k in range(len(rows))], ["yes", "no"])


def _verify_failure(failure: FailureT, holds: Holds) -> FailureT:
    """The failure, tried on all events: its parts meet the predicate, its result does not."""
    mechanisms_allowed = all(forbidden_event(mechanism, 0, 1, holds) is None for mechanism in failure.mechanisms)
    if not mechanisms_allowed or forbidden_event(failure.result, 0, 1, holds) is None:
        raise InputError(INCONSISTENT_PREDICATE)
    return failure
