"""The ε that a channel really has: recomputed from its entries, with the entry that attains it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel.channel import Channel, Label, Matrix, Mechanism, align_inputs, trusted_channel
from utmost.errors import InputError, UndecidedError
from utmost.exact import (
    Level,
    Number,
    Real,
    ball,
    decimal_above,
    exponential,
    power,
    privacy_levels,
    refine_double,
    sign,
)
from utmost.exact.reals import prime_exponents, value_of
from utmost.exact.working_precision import working_precision
from utmost.notebook import report_html
from utmost.result_values import short_repr
from utmost.spaces import Space

if TYPE_CHECKING:
    from flint import arb

Floats: TypeAlias = npt.NDArray[np.float64]
Pairs: TypeAlias = npt.NDArray[np.int64]
EPSILON_MARGIN = 1e-10  # of an ε computed in doubles
MAX_LOG = 1e4  # of a numerator or denominator: doubles hold its logarithm within 2e-12
CELLS_PER_BLOCK = 1 << 20  # pairs times outputs that are compared at one time
TEXT_BITS = 192  # of the ball around an ε that is written as a bound
MAX_BALL_BITS = 1 << 14  # of balls, where a power of α cannot be written exactly
MAX_ROOT_BITS = 1 << 20  # of a level that is written out as a power of a ratio
MAX_DIRECT_POWER = 64  # of a ratio, up to which two of them are compared at once


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """Where a channel tells most: output `output` is `ratio` times likelier under `high` than under `low`.

    `ratio` is None when the output is impossible under `low`: then ε = ∞. The ratio of two doubles is a fraction, so a
    float channel too has an exact one.
    """

    __repr__ = short_repr

    ratio: Number | None
    distance: Number
    output: Label
    high: Label
    low: Label

    def _repr_html_(self) -> str:
        return report_html(self, "privacy_loss")

    @property
    def text(self) -> str:
        """ε as a line has it: exact where it is rational, else a bound that is not below it."""
        if self.exponent is not None:
            return f"ε {decimal_above(self.exponent)}"
        return f"ε ≤ {'inf' if self.ratio is None else decimal_above(self._epsilon_ball(TEXT_BITS))}"

    @property
    def epsilon(self) -> float:
        """ln(ratio)/distance, as the nearest double."""
        if self.ratio is None:
            return math.inf
        if self.ratio == 1:
            return 0.0
        return refine_double(self._epsilon_ball)

    def _epsilon_ball(self, bits: int) -> arb:
        with working_precision(bits):
            return ball(self.ratio, bits).log() / ball(self.distance, bits)  # type: ignore[arg-type]

    @property
    def exponent(self) -> Fraction | None:
        """ε where it is rational: 0, or q/distance for a ratio e^q."""
        if self.ratio == 1:
            return Fraction(0)
        monomial = self.ratio.monomial() if isinstance(self.ratio, Real) else None
        if monomial is None or monomial[0] != 1 or monomial[2]:
            return None
        quotient = value_of(monomial[1]) / self.distance
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

    @property
    def level(self) -> Level | None:
        """The least level of the channel where it can be written exactly."""
        if self.exponent is not None:
            return privacy_levels.epsilon(self.exponent)
        least_alpha = self.alpha
        return None if least_alpha is None else privacy_levels.alpha(least_alpha)

    def within(self, level: Level) -> bool:
        """Is the channel private at this level: decided, not estimated."""
        if self.ratio is None:
            return level.alpha == 0
        try:
            return self.ratio * level.power(self.distance) <= 1
        except InputError:  # a power that cannot be written exactly
            return _below_one(lambda bits: ball(self.ratio, bits) * level.power_ball(self.distance, bits))  # type: ignore[arg-type]


def _below_one(product: Callable[[int], arb]) -> bool:
    bits = 128
    while bits <= MAX_BALL_BITS:
        with working_precision(bits):
            interval = product(bits)
        if interval < 1 or interval > 1:
            return bool(interval < 1)
        bits *= 2
    raise UndecidedError(f"whether a ratio is within the level is not decided by {MAX_BALL_BITS} bits")


def _root(ratio: Fraction, distance: Fraction) -> Number | None:
    """ratio^(−1/distance), if that can be written in a reasonable number of digits."""
    if max(ratio.numerator.bit_length(), ratio.denominator.bit_length()) > MAX_ROOT_BITS * distance:
        return None
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


def least_epsilon(mechanism: Channel | Mechanism, space: Space) -> PrivacyLoss:
    """The least ε for which the channel is ε·d-private, as the pair that attains it.

    max over outputs y and pairs x ≠ x′ of ln(C[x,y]/C[x′,y])/d(x,x′); the pairs that generate the metric suffice. With
    exact entries the maximum is decided exactly: a^(1/d) against b^(1/e) is a^e against b^d.

    >>> from utmost.channel import channel
    >>> from utmost.spaces import line
    >>> loss = least_epsilon(channel([["2/3", "1/3"], ["1/3", "2/3"]]), line(2))
    >>> loss.ratio, loss.output, loss.high, loss.low
    (Fraction(2, 1), 0, 0, 1)
    """
    source = _with_fractions(align_inputs(mechanism, space))
    best: PrivacyLoss | None = None
    for loss in _largest_losses(source, space):
        if best is None or _is_larger(loss, best):
            best = loss
    first = source.inputs[0]
    return best or PrivacyLoss(Fraction(1), Fraction(1), source.outputs[0], first, first)


def _largest_losses(source: Channel, space: Space) -> list[PrivacyLoss]:
    """The candidates for the largest loss: for each distance the first of the largest, in the order of the pairs."""
    best: dict[int, tuple[int, PrivacyLoss]] = {}
    for order, (pair, y, forward) in enumerate(_candidates(source, space)):
        x, other = space.edges[pair]
        high, low = (x, other) if forward else (other, x)
        above, below = source.rows[high, y], source.rows[low, y]
        ratio, distance = (above / below if below else None), space.distances[x, other]
        largest = best.get(id(distance))
        if largest is None or _ratio_exceeds(ratio, largest[1].ratio):
            loss = PrivacyLoss(ratio, distance, source.outputs[y], source.inputs[high], source.inputs[low])
            best[id(distance)] = order, loss
    return [loss for _, loss in sorted(best.values(), key=lambda entry: entry[0])]


def _candidates(source: Channel, space: Space) -> list[tuple[int, int, bool]]:
    """(pair, output, is the first input the likelier one) wherever ε can be attained, in order.

    Doubles only leave out what is proved smaller: an entry's double is within 2^-52 of it, so a logarithm of a ratio is
    within 1e-12 of the truth, and MARGIN is far above that. Entries beyond the normal doubles have logarithms that are
    nearly as good, where they are fractions that are not too long; others rule nothing out.
    """
    pairs, rows = space.edge_array, source.rows
    if not len(pairs):
        return []
    zero = np.array([[not value for value in row] for row in rows], dtype=bool).reshape(rows.shape)
    doubles = np.where(zero, 1.0, rows.astype(float))
    forward, backward = (~zero[pairs[:, k]] & zero[pairs[:, 1 - k]] for k in (0, 1))
    if forward.any() or backward.any():
        return _sorted_entries(forward, backward)[:1]
    possible = ~zero[pairs[:, 0]]
    logs = np.log(doubles) if doubles.min(initial=1.0) >= np.finfo(float).tiny else _logs_of_fractions(rows)
    if logs is None:
        return _sorted_entries(possible, possible)
    gaps = np.array([float(d) for d in space.values])[space.codes[pairs[:, 0], pairs[:, 1]]]
    pairs_per_block = max(1, CELLS_PER_BLOCK // doubles.shape[1])
    blocks = [slice(start, start + pairs_per_block) for start in range(0, len(pairs), pairs_per_block)]
    floor = max(_largest_sure_slope(logs, pairs[k], gaps[k], possible[k]) for k in blocks)
    masks = [_not_smaller(logs, pairs[k], gaps[k], floor) for k in blocks]
    return _sorted_entries(*(possible & np.concatenate([mask[way] for mask in masks]) for way in (0, 1)))


def _logs_of_fractions(rows: Matrix) -> Floats | None:
    """Logarithms of rational entries that no double holds, within 1e-11; None where that is not sure."""
    if any(isinstance(value, Real) for value in rows.flat):
        return None
    parts = [(math.log(v.numerator), math.log(v.denominator)) if v else (0.0, 0.0) for v in rows.flat]
    logs = np.array(parts).reshape(*rows.shape, 2)
    return logs[:, :, 0] - logs[:, :, 1] if np.abs(logs).max() < MAX_LOG else None


def _largest_sure_slope(logs: Floats, pairs: Pairs, gaps: Floats, possible: npt.NDArray[np.bool_]) -> float:
    """A lower bound of the largest |ln ratio|/distance."""
    slopes, margins = _slopes(logs, pairs, gaps)
    return float(np.max(np.abs(slopes) - margins, initial=-np.inf, where=possible))


def _not_smaller(logs: Floats, pairs: Pairs, gaps: Floats, floor: float) -> tuple[npt.NDArray[np.bool_], ...]:
    """Where the first input, and where the second, may be likelier by as much as that."""
    slopes, margins = _slopes(logs, pairs, gaps)
    return slopes + margins >= floor, margins - slopes >= floor


def _slopes(logs: Floats, pairs: Pairs, gaps: Floats) -> tuple[Floats, Floats]:
    """ln ratio/distance of pairs and outputs, and how far each can be from the truth."""
    slopes = (logs[pairs[:, 0]] - logs[pairs[:, 1]]) / gaps[:, None]
    return slopes, EPSILON_MARGIN * (1 / gaps[:, None] + np.abs(slopes))


def _sorted_entries(forward: npt.NDArray[np.bool_], backward: npt.NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """The entries that are true, by pair, first those where the first input is the likelier one."""
    entries = [
        (int(pair), not way, int(y)) for way, mask in enumerate((forward, backward)) for pair, y in np.argwhere(mask)
    ]
    return [
        (pair, y, first) for pair, first, y in sorted(entries, key=lambda entry: (entry[0], not entry[1], entry[2]))
    ]


def _with_fractions(source: Channel) -> Channel:
    """The channel with exact entries: each double as the fraction it is."""
    if source.exact:
        return source
    rows = np.empty(source.rows.shape, dtype=object)
    rows[:] = [[Fraction(value) for value in row] for row in source.rows.tolist()]
    return trusted_channel(source.inputs, source.outputs, rows)


def exact_law(source: Channel, x: int) -> Iterable[Number]:
    """The law of one input; doubles are fractions too, and are divided by their sum."""
    law: Matrix = source.rows[x]
    if source.exact:
        return law
    entries = [Fraction(value) for value in law.tolist()]
    total = sum(entries)
    return [value / total for value in entries]


def _ratio_exceeds(ratio: Number | None, best: Number | None) -> bool:
    if ratio is None or best is None:
        return ratio is None and best is not None
    return ratio > best


def _is_larger(loss: PrivacyLoss, best: PrivacyLoss) -> bool:
    if loss.ratio is None or best.ratio is None or loss.distance == best.distance:
        return _ratio_exceeds(loss.ratio, best.ratio)
    if abs(loss.epsilon - best.epsilon) > 1e-9:
        return loss.epsilon > best.epsilon
    if isinstance(loss.distance, Real) or isinstance(best.distance, Real):
        return _is_steeper(loss, best)
    ours, theirs = Fraction(loss.distance), Fraction(best.distance)
    unit = Fraction(math.gcd(ours.numerator * theirs.denominator, theirs.numerator * ours.denominator))
    common = ours.denominator * theirs.denominator / unit
    exponents = int(theirs * common), int(ours * common)
    if max(exponents) > MAX_DIRECT_POWER:
        try:
            return _is_steeper_by_balls(loss, best)
        except UndecidedError:  # equal, or as good as: only the powers themselves can tell
            pass
    return sign(loss.ratio ** exponents[0] - best.ratio ** exponents[1]) > 0


def _is_steeper(loss: PrivacyLoss, best: PrivacyLoss) -> bool:
    """Is ln(ratio)/distance larger: by the exact levels where both can be written, else by balls."""
    ours, theirs = loss.alpha, best.alpha
    if ours is not None and theirs is not None:
        return ours < theirs
    return _is_steeper_by_balls(loss, best)


def _is_steeper_by_balls(loss: PrivacyLoss, best: PrivacyLoss) -> bool:
    def quotient(bits: int) -> arb:
        logs = [
            ball(first.ratio, bits).log() * ball(second.distance, bits)  # type: ignore[arg-type]
            for first, second in ((loss, best), (best, loss))
        ]
        return 1 + logs[1] - logs[0]

    return _below_one(quotient)


def is_private(source: Channel | Mechanism, space: Space, level: Level) -> bool:
    """Is C[x,y] ≤ e^{ε·d(x,x′)}·C[x′,y] for all x, x′, y: decided."""
    return least_epsilon(source, space).within(level)
