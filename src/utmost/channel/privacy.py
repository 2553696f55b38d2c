"""The ε that a channel really has: recomputed from its entries, with the place that attains it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel.channel import Channel, Label, Mechanism, channel_of
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball, nearest, power, sign
from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class Leak:
    """Where a channel tells most: output `output` is `ratio` times likelier under `high` than under `low`.

    `ratio` is None when the output is impossible under `low`: then ε = ∞.
    """

    ratio: Number | float | None
    distance: Number
    output: Label
    high: Label
    low: Label

    @property
    def epsilon(self) -> float:
        """ln(ratio)/distance, as the nearest double."""
        if self.ratio is None:
            return math.inf
        if isinstance(self.ratio, float):
            return math.log(self.ratio) / float(self.distance)
        return nearest(ball(self.ratio, 96).log() / ball(self.distance, 96))

    @property
    def exponent(self) -> Fraction | None:
        """ε where it is rational: 0, or the q of a ratio e^q."""
        if self.ratio == 1:
            return Fraction(0)
        logarithm = self.ratio.logarithm() if isinstance(self.ratio, Real) else None
        return None if logarithm is None or isinstance(self.distance, Real) else logarithm / self.distance

    @property
    def alpha(self) -> Number | None:
        """ratio^(−1/distance) where that can be written exactly."""
        if self.ratio is None:
            return Fraction(0)
        if isinstance(self.ratio, Fraction) and isinstance(self.distance, Fraction):
            return _root(self.ratio, self.distance)
        return 1 / self.ratio if isinstance(self.ratio, Real) and self.distance == 1 else None

    def within(self, level: Level) -> bool:
        """Is the channel private at this level: decided, not estimated."""
        if self.ratio is None:
            return level.alpha == 0
        if isinstance(self.ratio, float):
            return self.epsilon <= level.epsilon
        return self.ratio * level.power(self.distance) <= 1


def _root(ratio: Fraction, distance: Fraction) -> Number | None:
    try:
        return power(ratio, -1 / distance)
    except InputError:
        return None


def least_epsilon(mechanism: Channel | Mechanism, space: Space) -> Leak:
    """The least ε for which the channel is ε·d-private, as the leak that attains it.

    max over outputs y and pairs x ≠ x′ of ln(C[x,y]/C[x′,y])/d(x,x′); the pairs that generate the metric suffice. With
    exact entries the maximum is decided exactly: a^(1/d) against b^(1/e) is a^e against b^d.

    >>> from utmost.channel import channel
    >>> from utmost.spaces import line
    >>> leak = least_epsilon(channel([["2/3", "1/3"], ["1/3", "2/3"]]), line(2))
    >>> leak.ratio, leak.output, leak.high, leak.low
    (Fraction(2, 1), 0, 0, 1)
    """
    source = channel_of(mechanism)
    if len(source.inputs) != len(space) or set(map(str, source.inputs)) != set(map(str, space.labels)):
        raise InputError(f"the channel's inputs must be the points of {space.name}: {_named(space)}, in any order")
    order = [list(map(str, source.inputs)).index(str(label)) for label in space.labels]
    best: Leak | None = None
    for x, other in space.edges:
        for leak in _leaks(source, order[x], order[other], space.distance(x, other)):
            if best is None or _larger(leak, best):
                best = leak
    first = source.inputs[order[0]]
    return best or Leak(Fraction(1), Fraction(1), source.outputs[0], first, first)


def _named(space: Space) -> str:
    labels = [str(label) for label in space.labels]
    return ", ".join(labels if len(labels) <= 4 else [*labels[:2], "…", labels[-1]])


def _leaks(source: Channel, x: int, other: int, distance: Number) -> list[Leak]:
    """The most telling output for one pair of inputs, each way."""
    ways = ((x, other), (other, x))
    return [leak for high, low in ways if (leak := _worst_output(source, high, low, distance)) is not None]


def _worst_output(source: Channel, high: int, low: int, distance: Number) -> Leak | None:
    best: Leak | None = None
    for y, (above, below) in enumerate(zip(source.rows[high], source.rows[low], strict=True)):
        if not above:
            continue
        ratio = above / below if below else None
        if best is None or _ratio_exceeds(ratio, best.ratio):
            best = Leak(_plain(ratio), distance, source.outputs[y], source.inputs[high], source.inputs[low])
    return best


def _plain(ratio: Number | np.float64 | None) -> Number | float | None:
    return float(ratio) if isinstance(ratio, float) else ratio


def _ratio_exceeds(ratio: Number | float | None, best: Number | float | None) -> bool:
    if ratio is None or best is None:
        return ratio is None and best is not None
    return bool(ratio > best)  # type: ignore[operator]


def _larger(leak: Leak, best: Leak) -> bool:
    if leak.ratio is None or best.ratio is None or leak.distance == best.distance:
        return _ratio_exceeds(leak.ratio, best.ratio)
    if isinstance(leak.ratio, float) or isinstance(best.ratio, float):
        return leak.epsilon > best.epsilon
    if abs(leak.epsilon - best.epsilon) > 1e-9:
        return leak.epsilon > best.epsilon
    ours, theirs = Fraction(leak.distance), Fraction(best.distance)  # type: ignore[arg-type]
    common = ours.denominator * theirs.denominator
    return sign(leak.ratio ** int(theirs * common) - best.ratio ** int(ours * common)) > 0


def is_private(source: Channel | Mechanism, space: Space, level: Level) -> bool:
    """Is C[x,y] ≤ e^{ε·d(x,x′)}·C[x′,y] for all x, x′, y: decided."""
    return level.alpha == 0 or least_epsilon(source, space).within(level)
