"""The ε that a channel really has: recomputed from its entries, with the place that attains it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from utmost.channel.channel import Channel, Label, Mechanism, channel_of, trusted
from utmost.errors import InputError, UndecidedError
from utmost.exact import Level, Number, Real, ball, exponential, power, refined, sign
from utmost.exact.reals import prime_exponents, value_of
from utmost.spaces import Space

if TYPE_CHECKING:
    from flint import arb

MOST_BITS = 1 << 14  # of balls, where a power of α cannot be written exactly


@dataclass(frozen=True, slots=True)
class Leak:
    """Where a channel tells most: output `output` is `ratio` times likelier under `high` than under `low`.

    `ratio` is None when the output is impossible under `low`: then ε = ∞. The ratio of two doubles is a fraction, so a
    float channel too has an exact one.
    """

    ratio: Number | None
    distance: Number
    output: Label
    high: Label
    low: Label

    @property
    def epsilon(self) -> float:
        """ln(ratio)/distance, as the nearest double."""
        if self.ratio is None:
            return math.inf
        if self.ratio == 1:
            return 0.0
        return refined(lambda bits: ball(self.ratio, bits).log() / ball(self.distance, bits))  # type: ignore[arg-type]

    @property
    def exponent(self) -> Fraction | None:
        """ε where it is rational: 0, or q/distance for a ratio e^q."""
        if self.ratio == 1:
            return Fraction(0)
        found = self.ratio.monomial() if isinstance(self.ratio, Real) else None
        if found is None or found[0] != 1 or found[2]:
            return None
        quotient = value_of(found[1]) / self.distance
        return quotient if isinstance(quotient, Fraction) else None

    @property
    def alpha(self) -> Number | None:
        """ratio^(−1/distance) where that can be written exactly."""
        if self.ratio is None:
            return Fraction(0)
        if isinstance(self.ratio, Fraction) and isinstance(self.distance, Fraction):
            return _root(self.ratio, self.distance)
        if self.exponent is not None:
            return exponential(-self.exponent)
        if isinstance(self.distance, Real):
            return _product_of_roots(self.ratio, self.distance)
        return 1 / self.ratio if isinstance(self.ratio, Real) and self.distance == 1 else None

    def within(self, level: Level) -> bool:
        """Is the channel private at this level: decided, not estimated."""
        if self.ratio is None:
            return level.alpha == 0
        try:
            return self.ratio * level.power(self.distance) <= 1
        except InputError:  # a power that cannot be written exactly
            return _below_one(lambda bits: ball(self.ratio, bits) * level.power_ball(self.distance, bits))  # type: ignore[arg-type]


def _below_one(product: Callable[[int], arb]) -> bool:
    from flint import ctx

    bits = 128
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            interval = product(bits)
        if interval < 1 or interval > 1:
            return bool(interval < 1)
        bits *= 2
    raise UndecidedError(f"whether a ratio is within the level is not decided by {MOST_BITS} bits")


def _root(ratio: Fraction, distance: Fraction) -> Number | None:
    try:
        return power(ratio, -1 / distance)
    except InputError:
        return None


def _product_of_roots(ratio: Number, distance: Real) -> Number | None:
    """ratio^(−1/distance) for a ratio ∏ p^r whose exponents are rational multiples of the distance."""
    exponents = prime_exponents(ratio)
    if exponents is None:
        return None
    result: Number = Fraction(1)
    for prime, exponent in exponents.items():
        quotient = value_of(exponent) / distance
        if isinstance(quotient, Real):
            return None
        result = result * power(prime, -quotient)
    return result


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
    source = _on(channel_of(mechanism), space)
    order = [list(map(str, source.inputs)).index(str(label)) for label in space.labels]
    best: Leak | None = None
    for x, other in space.edges:
        for leak in _leaks(source, order[x], order[other], space.distance(x, other)):
            if best is None or _larger(leak, best):
                best = leak
    first = source.inputs[order[0]]
    return best or Leak(Fraction(1), Fraction(1), source.outputs[0], first, first)


def _on(source: Channel, space: Space) -> Channel:
    """The channel with exact entries, if its inputs are the points of the space; doubles are fractions too."""
    if len(source.inputs) != len(space) or set(map(str, source.inputs)) != set(map(str, space.labels)):
        raise InputError(f"the channel's inputs must be the points of {space.name}: {_named(space)}, in any order")
    if source.exact:
        return source
    rows = np.empty(source.rows.shape, dtype=object)
    rows[:] = [[Fraction(value) for value in row] for row in source.rows.tolist()]
    return trusted(source.inputs, source.outputs, rows)


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
            best = Leak(ratio, distance, source.outputs[y], source.inputs[high], source.inputs[low])
    return best


def _ratio_exceeds(ratio: Number | None, best: Number | None) -> bool:
    if ratio is None or best is None:
        return ratio is None and best is not None
    return ratio > best


def _larger(leak: Leak, best: Leak) -> bool:
    if leak.ratio is None or best.ratio is None or leak.distance == best.distance:
        return _ratio_exceeds(leak.ratio, best.ratio)
    if abs(leak.epsilon - best.epsilon) > 1e-9:
        return leak.epsilon > best.epsilon
    if isinstance(leak.distance, Real) or isinstance(best.distance, Real):
        return _steeper(leak, best)
    ours, theirs = Fraction(leak.distance), Fraction(best.distance)
    common = ours.denominator * theirs.denominator
    return sign(leak.ratio ** int(theirs * common) - best.ratio ** int(ours * common)) > 0


def _steeper(leak: Leak, best: Leak) -> bool:
    """Is ln(ratio)/distance larger: by the exact levels where both can be written, else by balls."""
    ours, theirs = leak.alpha, best.alpha
    if ours is not None and theirs is not None:
        return ours < theirs

    def quotient(bits: int) -> arb:
        logs = [ball(one.ratio, bits).log() * ball(other.distance, bits) for one, other in ((leak, best), (best, leak))]  # type: ignore[arg-type]
        return 1 + logs[1] - logs[0]

    return _below_one(quotient)


def is_private(source: Channel | Mechanism, space: Space, level: Level) -> bool:
    """Is C[x,y] ≤ e^{ε·d(x,x′)}·C[x′,y] for all x, x′, y: decided."""
    return least_epsilon(source, space).within(level)
