"""The truncated Laplace law on an interval: FMM21 Def. 4, with its end masses corrected.

Given x in [a, b] the answer y has density (ε/2)·e^(−ε|x−y|) strictly between the ends; what would fall below a is
answered by a, with mass e^(−ε(x−a))/2, and what would fall above b by b, with mass e^(−ε(b−x))/2. (The paper prints
e^(εx)/2 and e^(ε(1−x))/2 for [0, 1], whose signs are wrong: the total would not be 1.) It is ε-private for the distance
on the line: densities and end masses of x and x′ have ratio at most e^(ε|x−x′|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball, number, rational, sign
from utmost.exact.reals import prime_exponents
from utmost.exact.surds import Exponent
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

HALF = Fraction(1, 2)
BALL_BITS = 128  # of balls, where nothing else is said


@dataclass(frozen=True, slots=True)
class TruncatedLaplace:
    """The mechanism x ↦ law(x) on [a, b], with ε a unit of distance.

    >>> from utmost.continuous.interval import interval
    >>> from utmost.exact import alpha
    >>> law = TruncatedLaplace(interval(0, 1), alpha("1/4")).law("1/2")
    >>> str(law.low_atom), str(law.high_atom), str(law.cdf("1/2"))
    ('1/4', '1/4', '1/2')
    """

    interval: Interval
    level: Level

    def __post_init__(self) -> None:
        """Refuses levels without a law."""
        if not self.level.is_inner:
            raise InputError(
                "level must have 0 < alpha < 1, that is 0 < epsilon < infinity, for Laplace noise", "level"
            )

    def law(self, x: object) -> Law:
        """The law of the answer when the truth is x."""
        truth = rational(x, "x")
        if truth not in self.interval:
            raise InputError(f"x must be in the interval {self.interval}", "x", "clamp it first")
        return Law(self.interval, self.level, truth)


@dataclass(frozen=True, slots=True)
class Law:
    """The law of the answer at one truth. Exact where α^distance is, else a ball of the bits asked for."""

    interval: Interval
    level: Level
    x: Fraction

    @property
    def low_atom(self) -> Number:
        """Pr[Y = a] = e^(−ε(x−a))/2."""
        return HALF * self.level.power(self.x - self.interval.low)

    @property
    def high_atom(self) -> Number:
        """Pr[Y = b] = e^(−ε(b−x))/2."""
        return HALF * self.level.power(self.interval.high - self.x)

    def density(self, y: object, bits: int = BALL_BITS) -> Number | arb:
        """(ε/2)·e^(−ε|x−y|) strictly between the ends, 0 elsewhere; exact where ε is rational."""
        answer = rational(y, "y")
        if not self.interval.low < answer < self.interval.high:
            return Fraction(0)
        share = HALF * self.level.power(abs(self.x - answer))
        if self.level.exponent is not None:
            return self.level.exponent * share
        with working_precision(bits):
            return self.level.epsilon_ball(bits) * ball(share, bits)

    def cdf(self, y: object) -> Number:
        """Pr[Y ≤ y]: e^(−ε(x−y))/2 from a to x, 1 − e^(−ε(y−x))/2 from x to before b, and 1 from b."""
        answer = rational(y, "y")
        if answer < self.interval.low:
            return Fraction(0)
        if answer >= self.interval.high:
            return Fraction(1)
        tail = HALF * self.level.power(abs(self.x - answer))
        return tail if answer < self.x else 1 - tail

    def between(self, low: object, high: object) -> Number:
        """Pr[low < Y < high] for low ≤ high within the interval: no end mass is counted."""
        u, v = rational(low, "low"), rational(high, "high")
        if not self.interval.low <= u <= v <= self.interval.high:
            raise InputError(f"low and high must be in this order within the interval {self.interval}", "low")
        if u == v:
            return Fraction(0)
        below = self.cdf(u) if u < self.interval.high else 1 - self.high_atom
        above = self.cdf(v) if v < self.interval.high else 1 - self.high_atom
        return above - below

    def masses(self, edges: Sequence[Fraction]) -> list[Number]:
        """Pr[Y in the cell] of each cell; cells hold their left edge, and the last one its right one if that is b.

        Over the edges from a to b they sum to exactly 1: the partition of FMM21 eq. 12.
        """
        cell_edges = check_edges(edges, self.interval)
        distribution = [self._below(edge) for edge in cell_edges[:-1]]
        distribution.append(Fraction(1) if cell_edges[-1] == self.interval.high else self._below(cell_edges[-1]))
        return [v - u for u, v in pairwise(distribution)]

    def _below(self, y: Fraction) -> Number:
        """Pr[Y < y] for y before b."""
        return Fraction(0) if y == self.interval.low else self.cdf(y)

    def quantile(self, p: object, bits: int = BALL_BITS) -> Number | arb:
        """The least y with Pr[Y ≤ y] ≥ p, for 0 < p ≤ 1: x + ln(2p)/ε up to 1/2, x − ln(2−2p)/ε above, kept to [a, b].

        Exact where it is an end or x, and where 2p or 2 − 2p is a rational power of α; else a ball.
        """
        share = number(p, "p")
        if sign(share) <= 0 or share > 1:
            raise InputError("p must be in (0, 1]: it is a probability", "p")
        if share <= self.low_atom:
            return self.interval.low
        if share > 1 - self.high_atom:
            return self.interval.high
        if share <= HALF:
            return self._quantile_at(2 * share, -1, bits)
        return self._quantile_at(2 - 2 * share, 1, bits)

    def _quantile_at(self, ratio: Number, side: int, bits: int) -> Number | arb:
        """x + side·t with α^t = ratio."""
        if ratio == 1:
            return self.x
        exponent = _alpha_exponent(ratio, self.level)
        if exponent is not None:
            return self.x + side * exponent
        with working_precision(bits):
            return ball(self.x, bits) - side * ball(ratio, bits).log() / self.level.epsilon_ball(bits)

    def moments(self, degree: int, bits: int = BALL_BITS) -> list[Number | arb]:
        """E[Y^k] for k = 0..degree; exact where ε is rational.

        By parts: the part below x with a's mass has L_k = x^k/2 − (k/ε)·L°_(k−1), where L° leaves that mass out, and
        the part above x has the same with the other sign and b. So each is a polynomial in 1/ε, its coefficients exact.
        """
        below = self._side_coefficients(self.interval.low, self.low_atom, -1, degree)
        above = self._side_coefficients(self.interval.high, self.high_atom, 1, degree)
        return [
            self._evaluate([u + v for u, v in zip(*pair, strict=True)], bits) for pair in zip(below, above, strict=True)
        ]

    def _side_coefficients(self, end: Fraction, atom: Number, side: int, degree: int) -> list[list[Number]]:
        """For each k the coefficients of 1, 1/ε, 1/ε², … of the moment of one side of x, with the end's mass."""
        coefficients: list[list[Number]] = []
        without_atom: list[Number] = []
        for k in range(degree + 1):
            coefficients.append([HALF * self.x**k, *(side * k * c for c in without_atom)])
            without_atom = [coefficients[k][0] - atom * end**k, *coefficients[k][1:]]
        return coefficients

    def _evaluate(self, coefficients: Sequence[Number], bits: int) -> Number | arb:
        """Σ_j coefficients[j]/ε^j."""
        from flint import arb

        if self.level.exponent is not None:
            rate = self.level.exponent
            return sum((c / rate**j for j, c in enumerate(coefficients)), Fraction(0))
        with working_precision(bits):
            inverse, total = 1 / self.level.epsilon_ball(bits), arb(0)
            for coefficient in reversed(coefficients):
                total = total * inverse + ball(coefficient, bits)
            return total


def _alpha_exponent(ratio: Number, level: Level) -> Fraction | None:
    """The rational t with α^t = ratio, where it is seen: powers of e for a rational ε, of primes for a rational α."""
    if level.exponent is not None:
        logarithm = ratio.logarithm() if isinstance(ratio, Real) else None
        return None if logarithm is None else -logarithm / level.exponent
    base, exponents = prime_exponents(level.alpha), prime_exponents(ratio)
    if not base or not exponents or base.keys() != exponents.keys():
        return None
    powers = {_quotient(exponents[prime], base[prime]) for prime in base}
    return powers.pop() if len(powers) == 1 else None


def _quotient(numerator: Exponent, denominator: Exponent) -> Fraction | None:
    return numerator / denominator if isinstance(numerator, Fraction) and isinstance(denominator, Fraction) else None
