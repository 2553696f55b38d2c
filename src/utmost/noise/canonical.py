"""Canonical noise on the integers for an (ε, δ) bound: its law, and exact draws from it.

Let q(0) = (1−δ)/(e^ε+1) and q(n+1) = max(e^−ε·(q(n) − δ), 0). The noise X is symmetric about 0 with Pr[X > n] = q(n)
for n ≥ 0. In terms of its cdf F this is F(n+1) = min(e^ε·F(n) + δ, 1 − e^−ε·(1 − F(n) − δ), 1) for every n with
F(n) > 0: the largest step that the two inequalities of privacy allow. It is Awan and Slavković's Tulap noise rounded to
integers (arXiv:1904.00459; discrete canonical noise: arXiv:2308.08343).

**The centre.** Symmetry wants F(−1) = 1 − F(0) =: q(0), and the step from F(−1) must give F(0). The first term gives
1 − q(0) = e^ε·q(0) + δ, the second q(0) = e^−ε·(1 − q(0) − δ): the same equation. So q(0) is as above for every ε and
every δ < 1, the two terms meet exactly there, and *no condition on (ε, δ) is needed*: no shift, no asymmetry.

**Closed form.** Let α = e^−ε, s = δα/(1−α) and L the least n with q(n) = 0. For 0 ≤ n < L q(n) = α^n·(q(0) + s) − s. So
for |n| < L Pr[X = n] = α^|n|·(1 − α + 2αδ)/(1 + α), a geometric law, and what is left, q(L−1), lies at L and at −L.
With δ = 0 there is no L, and X is two-sided geometric noise. With δ > 0 no draw is ever beyond ±L.

**Theorem.** For 0 ≤ δ < 1, count + X is (ε, δ)-private where neighbours differ by one unit, and no smaller δ will do.
*Proof* for δ > 0. Let g(n) = Pr[X = n]. By symmetry one direction is enough: Σ_n (g(n) − e^ε·g(n+1))₊ = δ. Put
q(−1) = 1 − q(0). Then q(n−1) = e^ε·q(n) + δ for 0 ≤ n < L: at 0 this is the equation of the centre. With
g(n) = q(n−1) − q(n) for n ≥ 0:
(1) 0 ≤ n ≤ L−2: g(n) = (e^ε·q(n) + δ) − (e^ε·q(n+1) + δ) = e^ε·g(n+1), which gives 0.
(2) n = L−1: g(L−1) = (e^ε − 1)·q(L−1) + δ and g(L) = q(L−1), which gives δ − q(L−1) ≥ 0, since q(L) = 0.
(3) n = L: g(L+1) = 0, which gives q(L−1).
(4) n < 0: g(n) ≤ g(n+1), which gives 0: g falls by e^ε from 0 to L−1, and g(L) = q(L−1) ≤ δ ≤ g(L−1).
The sum is δ. For δ = 0 all are of (1) or (4). ∎

**Least noise.** No integer noise N with count + N (ε, δ)-private is nearer to any integer t than X is to 0:
Pr[|N − t| > n] ≥ Pr[|X| > n] for every n ≥ 0 (compare arXiv:2308.08343). *Proof.* Let a(n) = Pr[N < t − n] and
b(n) = Pr[N > t + n]. Privacy says 1 − b(0) ≤ e^ε·a(0) + δ and 1 − a(0) ≤ e^ε·b(0) + δ, so a(0) + b(0) ≥ 2·q(0). It
also says a(n+1) ≥ h(a(n)) and b(n+1) ≥ h(b(n)) with h(p) = max(e^−ε·(p − δ), 0), which is convex and never falls. So if
a(n) + b(n) ≥ 2·q(n), then a(n+1) + b(n+1) ≥ 2·h((a(n) + b(n))/2) ≥ 2·h(q(n)) = 2·q(n+1). ∎

**What is not used up.** The event {X ≥ L} of (3) is impossible under the neighbour and has probability q(L−1) ≤ δ,
where privacy allows δ. It is δ exactly where δ = α^L·(1 − α)/(1 + α − 2·α^(L+1)). Elsewhere somebody gains from the
rest, which `fine_canonical` uses up; who gains is decided in `utmost.design.approximate_counts`.

**Several units.** If a count moves by k units, it is (k·ε, δ·(e^(kε) − 1)/(e^ε − 1))-private
(`selection.delta_of_units`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.errors import InputError
from utmost.exact import Level, Number, ball, rational
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.geometric import Lattice, check_level, draw_lattice_noise, lattice
from utmost.noise.selection import EXTRA_BITS, FIRST_BITS, whole_logarithm
from utmost.noise.table_sampling import (
    SamplingTable,
    Threshold,
    ball_threshold,
    check_draw_count,
    complement_threshold,
    draw_samples,
    table_from_thresholds,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from flint import arb

MAX_REACH = 10**5  # L, the largest value of the noise where δ > 0


@dataclass(frozen=True, slots=True)
class CanonicalLaw:
    """The law of X at (ε, δ), exactly. `last` is L; None where δ = 0 and the law is the geometric.

    >>> from utmost.exact import alpha
    >>> law = canonical_law(alpha("1/2"), "1/10")
    >>> law.last, [str(law.mass(n)) for n in range(-3, 4)]
    (2, ['0', '1/10', '1/5', '2/5', '1/5', '1/10', '0'])
    """

    level: Level
    delta: Fraction
    last: int | None

    @property
    def is_tight(self) -> bool:
        """Is q(L−1) = δ: then no reader of a count gains from another mechanism. It is where δ = 0."""
        return self.last is None or self.tail(self.last - 1) == self.delta

    def mass(self, value: int) -> Number:
        """Pr[X = value]."""
        distance = abs(value)
        if self.last is not None and distance >= self.last:
            return self.tail(self.last - 1) if distance == self.last else Fraction(0)
        alpha = self.level.alpha
        return self.level.power(distance) * (1 - alpha + 2 * alpha * self.delta) / (1 + alpha)

    def cdf(self, value: int) -> Number:
        """F(value) = Pr[X ≤ value]."""
        return 1 - self.tail(value) if value >= 0 else self.tail(-1 - value)

    def cdf_ball(self, value: int, bits: int) -> arb:
        """An interval that contains F(value)."""
        if value < 0:
            return self.tail_ball(-1 - value, bits)
        with working_precision(bits + EXTRA_BITS):
            return 1 - self.tail_ball(value, bits)

    def tail(self, value: int) -> Number:
        """q(value) = Pr[X > value] for value ≥ 0."""
        if self.last is not None and value >= self.last:
            return Fraction(0)
        alpha = self.level.alpha
        scale = self.delta * alpha / (1 - alpha)
        return self.level.power(value) * (alpha * (1 - self.delta) / (1 + alpha) + scale) - scale

    def tail_ball(self, value: int, bits: int) -> arb:
        """An interval that contains q(value), value ≥ 0."""
        from flint import arb

        if self.last is not None and value >= self.last:
            return arb(0)
        with working_precision(bits + EXTRA_BITS):
            epsilon, delta = self.level.epsilon_ball(bits + EXTRA_BITS), ball(self.delta, bits + EXTRA_BITS)
            scale = delta / epsilon.expm1()
            return (-epsilon * value).exp() * ((1 - delta) / (1 + epsilon.exp()) + scale) - scale

    def half_width(self, miss: Fraction) -> int:
        """The least width that |X| is above with probability at most `miss` > 0, decided exactly."""
        low, high = -1, 1
        while not self.misses_at_most(high, miss):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.misses_at_most(middle, miss) else (middle, high)
        return high

    def misses_at_most(self, width: int, miss: Fraction) -> bool:
        """Is |X| above a width with probability at most `miss`: decided exactly."""
        for bits in (FIRST_BITS, 4 * FIRST_BITS):
            with working_precision(bits + EXTRA_BITS):
                difference = 2 * self.tail_ball(width, bits) - ball(miss, bits)
            if not difference.contains(0):
                return bool(difference < 0)
        return bool(2 * self.tail(width) <= miss)

    def expected_error(self) -> Number:
        """E|X| = 2·Σ_{n ≥ 0} q(n), exactly: 2·((q(0) + s)·(1 − α^L)/(1 − α) − L·s)."""
        alpha = self.level.alpha
        scale = self.delta * alpha / (1 - alpha)
        total = (self.tail(0) + scale) / (1 - alpha)
        return 2 * total if self.last is None else 2 * (total * (1 - self.level.power(self.last)) - self.last * scale)

    def error_masses(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The values of X and their probabilities, as doubles; δ > 0."""
        last = _finite_reach(self)
        values = np.arange(-last, last + 1)
        masses = float(self.mass(0)) * np.exp(-self.level.epsilon * np.abs(values))
        masses[[0, -1]] = float(self.tail_ball(last - 1, FIRST_BITS).mid())
        return values, masses


def canonical_law(level: Level, delta: object) -> CanonicalLaw:
    """The law at (ε, δ), 0 < ε < ∞, 0 ≤ δ < 1; refused where it has more values than are tabulated."""
    exact_delta = rational(delta, "delta")
    if not check_level(level).is_inner or not 0 <= exact_delta < 1:
        problem = "canonical noise must have a finite epsilon > 0 and 0 <= delta < 1, got others"
        raise InputError(problem, "delta", "say for instance epsilon 1 and delta 1e-6")
    return _law(level, exact_delta) if exact_delta else CanonicalLaw(level, exact_delta, None)


@lru_cache(maxsize=256)
def _law(level: Level, delta: Fraction) -> CanonicalLaw:
    """The law where δ > 0: q(L−1) ≤ δ says α^(L−1) ≤ (δ + s)/(q(0) + s) = δ·(1 + α)/(α·(1 − α + 2αδ))."""
    alpha = level.alpha
    steps = -whole_logarithm(delta * (1 + alpha) / (alpha * (1 - alpha + 2 * alpha * delta)), level)
    last = max(steps, 0) + 1
    if last > MAX_REACH:
        raise InputError(
            f"epsilon must be larger: canonical noise may reach {MAX_REACH}, and at this delta it reaches more",
            "epsilon",
            "raise epsilon or delta, or use geometric noise, which needs no delta",
        )
    return CanonicalLaw(level, delta, last)


@lru_cache(maxsize=16)
def canonical_tables(law: CanonicalLaw) -> SamplingTable | Lattice:
    """The law as a table to draw from, X from −L to L; where δ = 0 the tables of geometric noise."""
    if law.last is None:
        return lattice(law.level)
    return table_from_thresholds(partial(_threshold, law), 2 * law.last + 1, -law.last)


def draw_canonical_noise(tables: SamplingTable | Lattice, draw_count: int, stream: EntropySource) -> npt.NDArray[Any]:
    """`draw_count` draws of X, from 0 to 2^40 of them. Nothing here can fail."""
    if isinstance(tables, Lattice):
        return draw_lattice_noise(tables, draw_count, stream)
    return draw_samples(tables, draw_count, stream)


def canonical_noise(level: Level, delta: object, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
    """`count` independent draws of X.

    >>> from utmost.exact import epsilon
    >>> int(abs(canonical_noise(epsilon(1), "1e-6", 1000)).max()) <= canonical_law(epsilon(1), "1e-6").last
    True
    """
    law = canonical_law(level, delta)
    draw_count, stream = check_draw_count(count), entropy_source(source)
    return draw_canonical_noise(canonical_tables(law), draw_count, stream)


def _threshold(law: CanonicalLaw, value: int, bits: int) -> Threshold:
    if value >= 0:
        return complement_threshold(_threshold(law, -1 - value, bits), bits)
    return ball_threshold(partial(law.cdf_ball, value), partial(law.cdf, value), bits)


def _finite_reach(law: CanonicalLaw) -> int:
    if law.last is None:
        raise InputError("delta must be > 0 to list the values of canonical noise, got 0: they have no end", "delta")
    return law.last
