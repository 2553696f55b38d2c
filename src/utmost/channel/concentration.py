"""The ρ of zero-concentrated privacy (ρ-zCDP) that a channel really has: Rényi divergences in balls, at all orders.

A channel is ρ-zCDP (Bun and Steinke, arXiv:1605.02065) if D_a(P‖Q) ≤ a·ρ for the laws P, Q of every ordered pair of
neighbours and every order a > 1, where D_a(P‖Q) = ln Σ_y P(y)^a·Q(y)^(1−a) / (a−1).

Orders are a continuum, covered by finitely many intervals. Write u = a − 1 and f(u) = u·D_{1+u} = ln Σ P·e^(u·L) with
the loss L = ln(P/Q). What must be shown is f(u) ≤ ρ·u·(1+u) for all u > 0.

**Claims.** (1) For u ≥ max L/ρ − 1 it holds, since D_a ≤ max L ≤ a·ρ. (2) f is convex (Hölder) with f(0) = 0, so on
[0, v] it lies below its chord u·D_{1+v}: D_{1+v} ≤ ρ shows it there. (3) On [v, w] it lies below its chord c + s·u, and
c + s·u − ρ·u·(1+u) is concave in u, with the maximum c + (s−ρ)²/(4ρ) at u* = (s−ρ)/(2ρ): that this is ≤ 0 shows it on
[v, w]; if u* is outside, the value at the nearer end does. (4) If |L| ≤ ε everywhere, ρ = ε²/2 holds (Bun and Steinke,
Prop. 3.3). What (2) and (3) leave open is halved; a point with f(u) > ρ·u·(1+u) refutes. The chord of a short interval
is above f by a multiple of its squared length, so the search ends whenever there is slack; a tie is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from utmost.channel.channel import Channel, Label, Mechanism, channel_of
from utmost.channel.privacy import exact_law
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, ball, ball_endpoints, decimal_above, decimal_below, nearest_double, rational
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

LabelPair: TypeAlias = tuple[Label, Label]
BITS = 192  # of the balls
DIGITS = 15  # of a result
MIN_EXCESS = Fraction(1, 2**40)  # of the orders that intervals reach down to
MIN_RELATIVE_LENGTH = Fraction(1, 2**30)  # of an interval that is halved
MAX_EVALUATIONS = 3000  # of the divergence of one pair
SLACKS = (Fraction(1, 2**20), Fraction(1, 2**10), Fraction(1, 2**4))  # relative, of the enclosure of the least ρ
SEARCH_OCTAVES = 20  # below 1, of the orders that doubles look at
MAX_LOG_EXCESS = 14.0  # of ln(a − 1) that doubles look at
SEARCH_STEPS = 60


@dataclass(frozen=True, slots=True)
class RenyiWitness:
    """The pair and the order with about the largest D_a/a, and rational bounds of D_a there.

    Where an `output` is possible under the first input and impossible under the second, D_a is infinite at every order:
    `order` and the bounds are None.
    """

    pair: LabelPair
    order: Fraction | None
    lower: Fraction | None
    upper: Fraction | None
    output: Label | None = None


@dataclass(frozen=True, slots=True)
class Concentration:
    """lower ≤ the least ρ of a channel ≤ upper, None for ∞, and where it is attained; None if all rows are equal.

    `claimed` is a ρ that was asked about: `holds` says whether the channel has it, None where a tie is undecided.
    """

    lower: Fraction | None
    upper: Fraction | None
    witness: RenyiWitness | None
    claimed: Fraction | None = None
    holds: bool | None = None


def concentration(
    mechanism: Channel | Mechanism, pairs: Iterable[LabelPair], claimed: object | None = None
) -> Concentration:
    """The least ρ of a channel for these ordered pairs of inputs, enclosed; with a claim, whether that ρ holds.

    >>> from utmost.channel import channel
    >>> response = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> result = concentration(response, [(0, 1), (1, 0)], "1/4")
    >>> result.holds, round(float(result.lower), 6), round(float(result.upper), 6)
    (True, 0.231049, 0.231049)
    """
    rho = None if claimed is None else check_rho(claimed)
    laws = _pair_laws(channel_of(mechanism), pairs)
    infinite = next((law for law in laws if law.impossible is not None), None)
    if infinite is not None:
        witness = RenyiWitness(infinite.pair, None, None, None, infinite.impossible)
        return Concentration(None, None, witness, rho, None if rho is None else False)
    if not laws:
        return Concentration(Fraction(0), Fraction(0), None, rho, None if rho is None else True)
    lower, upper, witness = _least_rho(laws)
    holds = None
    if rho is not None:
        holds, refutation = _decide_all(laws, rho, lower, upper)
        witness = refutation or witness
    return Concentration(lower, upper, witness, rho, holds)


def check_rho(value: object) -> Fraction:
    """A ρ > 0, a rational number."""
    rho = rational(value, "rho")
    if rho <= 0:
        raise InputError("rho must be > 0, got another number", "rho", "say for instance 1/8")
    return rho


@dataclass(frozen=True, eq=False)
class _PairLaw:
    """The laws of two inputs where the first is possible: P and L = ln(P/Q) as balls and as doubles.

    `largest` is a bound of L from above, `largest_size` of |L|, which is None where Q has outputs that P has not.
    """

    pair: LabelPair
    impossible: Label | None
    probabilities: tuple[arb, ...] = ()
    losses: tuple[arb, ...] = ()
    largest: Fraction = Fraction(0)
    largest_size: Fraction | None = None

    def log_moment(self, excess: Fraction) -> arb:
        """f(u) = ln Σ P·e^(u·L), a ball."""
        from flint import arb

        with working_precision(BITS):
            factor = ball(excess, BITS)
            total = arb(0)
            for probability, loss in zip(self.probabilities, self.losses, strict=True):
                total += probability * (factor * loss).exp()
            return total.log()

    def divergence(self, excess: Fraction) -> tuple[Fraction, Fraction]:
        """Rational bounds of D_{1+u}."""
        with working_precision(BITS):
            value = self.log_moment(excess) / ball(excess, BITS)
        return Fraction(decimal_below(value, DIGITS)), Fraction(decimal_above(value, DIGITS))

    def witness(self, excess: Fraction) -> RenyiWitness:
        """The divergence at an order."""
        return RenyiWitness(self.pair, 1 + excess, *self.divergence(excess))

    def rho_below(self, excess: Fraction) -> Fraction:
        """A lower bound of D_a/a at a = 1 + u."""
        with working_precision(BITS):
            value = self.log_moment(excess) / ball(excess * (1 + excess), BITS)
        return Fraction(decimal_below(value, DIGITS))


def _pair_laws(source: Channel, pairs: Iterable[LabelPair]) -> list[_PairLaw]:
    """The laws of the pairs whose rows differ."""
    positions = {label: k for k, label in enumerate(source.inputs)}
    rows = lru_cache(maxsize=None)(lambda label: tuple(exact_law(source, positions[label])))
    return [
        _pair_law(pair, rows(pair[0]), rows(pair[1]), source.outputs) for pair in pairs if _differ(*map(rows, pair))
    ]


def _differ(first: Sequence[object], second: Sequence[object]) -> bool:
    return any(p != q for p, q in zip(first, second, strict=True))


def _pair_law(pair: LabelPair, first: Sequence[Number], second: Sequence[Number], outputs: Sequence[Label]) -> _PairLaw:
    """The law of a pair whose rows differ, or its output that is possible under the first input only."""
    entries = [(p, q) for p, q in zip(first, second, strict=True) if p]
    impossible = next((y for y, p, q in zip(outputs, first, second, strict=True) if p and not q), None)
    if impossible is not None:
        return _PairLaw(pair, impossible)
    probabilities = tuple(ball(p, BITS) for p, _ in entries)
    with working_precision(BITS):
        losses = tuple(ball(p / q, BITS).log() for p, q in entries)
    ends = [ball_endpoints(loss) for loss in losses]
    largest, least = max(high for _, high in ends), min(low for low, _ in ends)
    is_one_sided = any(q and not p for p, q in zip(first, second, strict=True))
    return _PairLaw(pair, None, probabilities, losses, largest, None if is_one_sided else max(largest, -least))


def _least_rho(laws: Sequence[_PairLaw]) -> tuple[Fraction, Fraction, RenyiWitness]:
    """An enclosure of the largest D_a/a of all pairs, and where it is attained.

    Doubles propose a pair and an order, which give a lower bound; a little more is then proved to hold for all pairs.
    A point that refutes it is a better proposal. What holds for a pair holds at every larger ρ: none is taken twice.
    """
    proposals = [_proposal(law) for law in laws]
    best = max(range(len(laws)), key=lambda k: proposals[k][0])
    law, excess = laws[best], proposals[best][1]
    lower, witness = law.rho_below(excess), law.witness(excess)
    slack = 0
    for law in laws:
        while True:
            holds, refuting = _decide(law, lower * (1 + SLACKS[slack]))
            if holds:
                break
            if refuting is not None:
                lower, witness = law.rho_below(refuting), law.witness(refuting)
            elif slack + 1 < len(SLACKS):
                slack += 1
            else:
                raise UndecidedError("the least rho of this channel is not decided by the orders tried")
    return lower, Fraction(decimal_above(lower * (1 + SLACKS[slack]), DIGITS)), witness


def _decide_all(
    laws: Sequence[_PairLaw], rho: Fraction, lower: Fraction, upper: Fraction
) -> tuple[bool | None, RenyiWitness | None]:
    """Does ρ hold for all pairs: by the enclosure of the least ρ, else pair by pair; and what refutes it."""
    if rho >= upper:
        return True, None
    verdicts = [_decide(law, rho) for law in laws] if rho >= lower else []
    for law, (_, refuting) in zip(laws, verdicts, strict=False):
        if refuting is not None:
            return False, law.witness(refuting)
    if rho < lower:
        return False, None
    return (True if all(holds for holds, _ in verdicts) else None), None


def _decide(law: _PairLaw, rho: Fraction) -> tuple[bool | None, Fraction | None]:
    """Does f(u) ≤ ρ·u·(1+u) hold for all u > 0: (True, None), (False, a u that refutes it) or (None, None)."""
    if law.largest <= rho or (law.largest_size is not None and law.largest_size**2 <= 2 * rho):
        return True, None
    moments: dict[Fraction, arb] = {}
    intervals = [(Fraction(0), _short_above(law.largest / rho - 1))]
    while intervals:
        low, high = intervals.pop()
        for excess in (low, high):
            if excess and excess not in moments:
                moments[excess] = law.log_moment(excess)
                if moments[excess] > _allowed(excess, rho):
                    return False, excess
        if _covers(moments, low, high, rho):
            continue
        if high < MIN_EXCESS or high - low < MIN_RELATIVE_LENGTH * low or len(moments) > MAX_EVALUATIONS:
            return None, None
        middle = _middle(low, high)
        intervals += [(low, middle), (middle, high)]
    return True, None


def _covers(moments: Mapping[Fraction, arb], low: Fraction, high: Fraction, rho: Fraction) -> bool:
    """Do claims (2) and (3) show that f(u) ≤ ρ·u·(1+u) on [low, high]."""
    with working_precision(BITS):
        bound, top = ball(rho, BITS), ball(high, BITS)
        if not low:
            return bool(moments[high] <= bound * top)
        bottom = ball(low, BITS)
        slope = (moments[high] - moments[low]) / (top - bottom)
        constant = moments[low] - slope * bottom
        best = (slope - bound) / (2 * bound)
        if best < bottom:
            return bool(moments[low] <= _allowed(low, rho))
        if best > top:
            return bool(moments[high] <= _allowed(high, rho))
        return bool(constant + (slope - bound) ** 2 / (4 * bound) <= 0)


def _allowed(excess: Fraction, rho: Fraction) -> arb:
    """ρ·u·(1+u)."""
    return ball(rho * excess * (1 + excess), BITS)


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """A point between: of a long interval a power of two about its geometric mean, of a short one the middle."""
    if not low:
        return high / 16
    if high <= 4 * low:
        return (low + high) / 2
    return Fraction(2) ** ((_log2_below(low) + 1 + _log2_below(high)) // 2)


def _log2_below(value: Fraction) -> int:
    """The largest k with 2^k ≤ value."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if Fraction(2) ** k <= value else k - 1


def _short_above(value: Fraction) -> Fraction:
    """A fraction of few digits that is not below the value."""
    return Fraction(decimal_above(value, DIGITS))


def _proposal(law: _PairLaw) -> tuple[float, Fraction]:
    """About the largest D_a/a and its u, by doubles: no claim, a place to evaluate."""
    probabilities, losses = (np.array([nearest_double(x) for x in part]) for part in (law.probabilities, law.losses))

    def rho_at(log_excess: float) -> float:
        excess = math.exp(log_excess)
        exponents = excess * losses
        shift = float(exponents.max())
        total = float(np.sum(probabilities * np.expm1(exponents))) if shift < 1 else math.nan
        moment = math.log1p(total) if shift < 1 else shift + math.log(np.sum(probabilities * np.exp(exponents - shift)))
        return moment / (excess * (1 + excess))

    start = -SEARCH_OCTAVES * math.log(2)
    places = np.linspace(start, MAX_LOG_EXCESS, SEARCH_STEPS)
    best = int(np.argmax([rho_at(place) for place in places]))
    left, right = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    for _ in range(SEARCH_STEPS):
        thirds = left + (right - left) / 3, right - (right - left) / 3
        left, right = (thirds[0], right) if rho_at(thirds[0]) < rho_at(thirds[1]) else (left, thirds[1])
    return rho_at((left + right) / 2), Fraction(math.exp((left + right) / 2))
