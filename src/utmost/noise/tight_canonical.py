"""Canonical noise that uses its δ up: two-sided geometric noise kept within ±R, for moves of one step and of several.

Let α = e^−ε for one step, and Pr[X = x] = α^|x|/Z for |x| ≤ R, with Z = (1 + α − 2·α^(R+1))/(1 − α).

**It is canonical.** Let δ = Pr[X = R]. With L = R this is the δ of `canonical` at which q(L−1) = δ, and there Pr[X = L]
= q(L−1) = δ and Pr[X = L−1] = (e^ε − 1)·q(L−1) + δ = e^ε·δ, so the law of `canonical` at (ε, δ) is this one. So these
are the tight ones (`CanonicalLaw.is_tight`): what is proved there of the least noise, and in
`utmost.design.approximate_counts` of every reader, holds for them *as integer noise*. A rational ε > 0 has none at a
rational δ > 0, since e^ε is then transcendental. So δ is not stated: it follows from ε and R, and is told rounded up.
Of the same (ε, δ), this law at the largest δ_R ≤ δ and the canonical law at δ have the same L: it falls as δ rises, by
1 at each δ_R.

**Theorem.** Let a unit move several whole numbers by k_1, k_2, … with Σ|k_c| ≤ Δ ≤ R, each with its own noise X. All
numbers together are (Δ·ε, T(Δ))-private, T(k) = Pr[X > R − k] = α^(R−k+1)·(1 − α^k)/(1 + α − 2·α^(R+1)). Where one
number moves by Δ, no smaller δ will do. *Proof.* Let each answer y_c be within R of both x_c and x_c + k_c. Then it is
at most ∏ α^−|k_c| ≤ e^(Δε) times as likely under one as under the other. All other y have probability 1 − ∏(1 −
T(|k_c|)) under x. T(k) = c·(α^−k − 1), c > 0, is convex in k, and rises; so is f(k) = −ln(1 − T(k)), since −ln(1 − t)
rises and is convex. f(0) = 0, so Σ f(|k_c|) ≤ f(Σ|k_c|) ≤ f(Δ), which is to say 1 − ∏(1 − T(|k_c|)) ≤ T(Δ). One number
that moves by Δ: Pr[X = x] ≤ e^(Δε)·Pr[X = x + Δ] for x ≤ R − Δ, and the other x have probability T(Δ) and 0. ∎

Compare k units of one step each, every one of them (ε, δ): T(k)/δ = (e^(kε) − 1)/(e^ε − 1), what group privacy gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.errors import InputError
from utmost.exact import Level, Number, ball, decimal_above, decimal_below
from utmost.exact.working_precision import working_precision
from utmost.noise.geometric import Lattice, check_level, draw_lattice_noise, lattice
from utmost.noise.selection import EXTRA_BITS, FIRST_BITS, whole_logarithm
from utmost.noise.table_sampling import (
    SamplingTable,
    Threshold,
    ball_threshold,
    complement_threshold,
    draw_samples,
    table_from_thresholds,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from flint import arb

    from utmost.noise.entropy import EntropySource

MAX_REACH = 2**60  # R, so that the noise is in 64 bits
MAX_TABLE_REACH = 10**5  # R, where geometric noise would hardly ever be within it: then the law is tabulated
DELTA_DIGITS = 12  # of a δ that is told
MIN_TOLD_DELTA = Fraction(1, 10**27)  # a smaller one is told as this, so that a ledger can hold it
PRECISION = 4 * FIRST_BITS


@dataclass(frozen=True, slots=True)
class TightLaw:
    """The law of X at ε of one step, exactly; `reach` is R.

    >>> from utmost.exact import alpha
    >>> law = TightLaw(alpha("1/2"), 2)
    >>> [str(law.mass(n)) for n in range(-3, 3)], str(law.delta(1)), str(law.delta(2))
    (['0', '1/10', '1/5', '2/5', '1/5', '1/10'], '1/10', '3/10')
    """

    level: Level
    reach: int

    def mass(self, value: int) -> Number:
        """Pr[X = value]."""
        if abs(value) > self.reach:
            return Fraction(0)
        alpha = self.level.alpha
        return self.level.power(abs(value)) * (1 - alpha) / self._total()

    def tail(self, value: int) -> Number:
        """Pr[X > value], value ≥ 0."""
        if value >= self.reach:
            return Fraction(0)
        return (self.level.power(value + 1) - self.level.power(self.reach + 1)) / self._total()

    def tail_ball(self, value: int, bits: int) -> arb:
        """An interval that contains Pr[X > value], value ≥ 0."""
        from flint import arb

        if value >= self.reach:
            return arb(0)
        with working_precision(bits + EXTRA_BITS):
            alpha, near, end = (self._power_ball(n, bits) for n in (1, value + 1, self.reach + 1))
            return (near - end) / (1 + alpha - 2 * end)

    def delta(self, steps: int) -> Number:
        """T(Δ): the δ at Δ·ε where a unit moves numbers by Δ ≤ R steps in all."""
        first = self.level.power(self.reach - steps + 1)
        return (first - self.level.power(self.reach + 1)) / self._total()

    def told_delta(self, steps: int) -> Fraction:
        """T(Δ) rounded up to 12 digits, and to at least 10^−27."""
        return _told_delta(self, steps)

    def half_width(self, miss: Fraction) -> int:
        """The least width that |X| is above with probability at most `miss`, decided exactly."""
        low, high = -1, self.reach
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._misses_at_most(middle, miss) else (middle, high)
        return high

    def expected_error(self) -> float:
        """E|X| = 2·Σ x·α^x/Z = 2α·(1 − (R+1)·α^R + R·α^(R+1))/((1 − α)·(1 + α − 2·α^(R+1))), as the nearest double."""
        bits = PRECISION + self.reach.bit_length()
        with working_precision(bits + EXTRA_BITS):
            alpha, last, end = (self._power_ball(n, bits) for n in (1, self.reach, self.reach + 1))
            sum_ball = alpha * (1 - (self.reach + 1) * last + self.reach * end)
            return float((2 * sum_ball / ((1 - alpha) * (1 + alpha - 2 * end))).mid())

    def _total(self) -> Number:
        """(1 − α)·Z."""
        return 1 + self.level.alpha - 2 * self.level.power(self.reach + 1)

    def _power_ball(self, exponent: int, bits: int) -> arb:
        return (-self.level.epsilon_ball(bits + EXTRA_BITS) * exponent).exp()

    def _misses_at_most(self, width: int, miss: Fraction) -> bool:
        """Is |X| above a width with probability at most `miss`: decided exactly."""
        for bits in (FIRST_BITS, PRECISION):
            with working_precision(bits + EXTRA_BITS):
                difference = 2 * self.tail_ball(width, bits) - ball(miss, bits)
            if not difference.contains(0):
                return bool(difference < 0)
        return bool(2 * self.tail(width) <= miss)


@lru_cache(maxsize=4096)
def _told_delta(law: TightLaw, steps: int) -> Fraction:
    first, end = (law.level.power_ball(exponent, PRECISION) for exponent in (law.reach - steps + 1, law.reach + 1))
    with working_precision(PRECISION):
        if (first - end) / (1 + law.level.power_ball(1, PRECISION) - 2 * end) < ball(MIN_TOLD_DELTA, PRECISION):
            return MIN_TOLD_DELTA
    return Fraction(decimal_above(law.delta(steps), DELTA_DIGITS))


@lru_cache(maxsize=4096)  # asked of each cell, and again and again while somebody thinks
def least_reach(level: Level, steps: int, delta: Fraction) -> int:
    """The least reach R ≥ Δ with which the δ that is told for Δ steps is at most this one.

    T(Δ) ≤ δ says α^(R+1) ≤ δ·(1 + α)/(α^−Δ − 1 + 2δ), for the δ of 12 digits below the one that is asked for: no other
    is told. So the δ that a reach tells leads back to it.

    >>> from utmost.exact import alpha
    >>> [least_reach(alpha("1/2"), 1, delta) for delta in (Fraction(1, 10), Fraction(1, 11), Fraction(1, 23))]
    [2, 3, 4]
    """
    if not check_level(level).is_inner or not 0 < delta < 1 or steps < 1:
        problem = "canonical noise must have a finite epsilon > 0 and 0 < delta < 1, got others"
        raise InputError(problem, "delta", "say for instance 1e-6; without a delta it is geometric noise")
    if delta < MIN_TOLD_DELTA:
        raise InputError("delta must be at least 1e-27 with canonical noise, got less", "delta", "raise it")
    growth, delta = 1 / level.power(steps) - 1, Fraction(decimal_below(delta, DELTA_DIGITS))
    return max(-whole_logarithm(delta * (1 + level.alpha) / (growth + 2 * delta), level) - 1, steps)


def tight_law(level: Level, steps: int, delta: Fraction) -> TightLaw:
    """The law of the least reach whose δ, told for moves of so many steps, is at most this one.

    Refused where it cannot be drawn.

    >>> from utmost.exact import epsilon
    >>> tight_law(epsilon(1), 1, Fraction("1e-6")).reach
    14
    """
    law = TightLaw(level, least_reach(level, steps, delta))
    _check_reach(law)
    return law


def _check_reach(law: TightLaw) -> None:
    """Refuse noise that cannot be drawn."""
    limit = MAX_REACH if _is_often_within(law) else MAX_TABLE_REACH
    if law.reach > limit:
        raise InputError(
            f"epsilon must be larger: canonical noise may reach {limit} steps here, and at this delta it reaches more",
            "epsilon",
            "raise epsilon, or use geometric noise, which needs no delta",
        )


def _is_often_within(law: TightLaw) -> bool:
    """Is R·ε ≥ 1: then geometric noise is within ±R with probability 1 − 2·α^(R+1)/(1 + α) ≥ 1 − 1/e."""
    return law.reach * law.level.epsilon >= 1


@dataclass(frozen=True, slots=True, eq=False)
class TightTables:
    """What draws of a law need: the tables of geometric noise, which is drawn again until it is within ±R, or of X."""

    tables: Lattice | SamplingTable
    reach: int


@lru_cache(maxsize=32)
def tight_tables(law: TightLaw) -> TightTables:
    """The tables of a law."""
    if _is_often_within(law):
        return TightTables(lattice(law.level), law.reach)
    return TightTables(table_from_thresholds(partial(_threshold, law), 2 * law.reach + 1, -law.reach), law.reach)


def draw_tight_noise(tables: TightTables, draw_count: int, stream: EntropySource) -> npt.NDArray[np.int64]:
    """`draw_count` draws of X. Nothing here can fail.

    X is geometric noise given that it is within ±R, so what is beyond is drawn again; how often depends on noise alone.
    """
    if isinstance(tables.tables, SamplingTable):
        return draw_samples(tables.tables, draw_count, stream)
    noise = _cut(draw_lattice_noise(tables.tables, draw_count, stream), tables.reach)
    while True:
        (beyond,) = np.nonzero(np.abs(noise) > tables.reach)
        if not len(beyond):
            return noise
        noise[beyond] = _cut(draw_lattice_noise(tables.tables, len(beyond), stream), tables.reach)


def _cut(noise: npt.NDArray[Any], reach: int) -> npt.NDArray[np.int64]:
    """What is beyond R brought to R + 1 or −R − 1, so that all fits into 64 bits."""
    cut: npt.NDArray[np.int64] = np.clip(noise, -reach - 1, reach + 1).astype(np.int64)
    return cut


def _threshold(law: TightLaw, value: int, bits: int) -> Threshold:
    """The threshold of Pr[X ≤ value]."""
    if value >= 0:
        return complement_threshold(_threshold(law, -1 - value, bits), bits)
    return ball_threshold(partial(law.tail_ball, -1 - value), partial(law.tail, -1 - value), bits)
