"""Beta densities on an interval, for any rational parameters > 0, also where the density is infinite at an end.

With t = (x − low)/length the density is t^α(1−t)^β/B(a, b), α = a − 1, β = b − 1. Inside, its product with e^(R·t) is
a Taylor series around the middle of the cell; beside an end, t^α times a Taylor series around that end. The
coefficients come from the first-order differential equation that the product solves, and what is left out is bounded by
Cauchy's estimate |c_n| ≤ max_{|z−m|=ρ}|f(z)|/ρ^n on a disc that holds no end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.continuous.densities.moments import Cell, Rate, Row, certified_moments, shift_moments
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

LARGEST = 10_000  # of either parameter
SMALLEST = Fraction(1, 10_000)
TURN = 16.0  # a series is used where the logarithm of the density changes by at most this on either side
TINY = 1e-250  # smaller distances from an end are rounded up to this where only a bound is needed
LN2 = math.log(2)
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Beta:
    """x = low + length·T with T beta-distributed, a and b rational.

    >>> from utmost.continuous.interval import interval
    >>> density = Beta(interval(0, 1), Fraction(2), Fraction(5))
    >>> [str(mass) for mass in density.exact_masses([Fraction(0), Fraction(1, 2), Fraction(1)])]
    ['57/64', '7/64']
    """

    interval: Interval
    a: Fraction
    b: Fraction

    def __post_init__(self) -> None:
        """Refuses parameters that make no density, or one too steep to be useful."""
        for name, value in (("a", self.a), ("b", self.b)):
            if not SMALLEST <= value <= LARGEST:
                raise InputError(
                    f"beta parameter {name} must be > 0, from {SMALLEST} to {LARGEST}, got {decimal(value)}"
                )

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"beta:{self.a},{self.b}"

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x); infinite at an end where the parameter is below 1."""
        from flint import arb

        t = (x - self.interval.low) / self.interval.length
        if (t == 0 and self.a < 1) or (t == 1 and self.b < 1):
            return arb.pos_inf()
        if not 0 <= t <= 1:
            return arb(0)
        with working_precision(bits):
            height = _power(ball(t, bits), self.a - 1) * _power(ball(1 - t, bits), self.b - 1)
            return height / (self._total(bits) * ball(self.interval.length, bits))

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell between edges, k = 0..degree, as balls."""
        cells = list(pairwise(check_edges(edges, self.interval)))
        return certified_moments(cells, rate, degree, bits, self._rows)

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls."""
        return [row[0] for row in self.moments(edges, 0, 0, bits)]

    def exact_masses(self, edges: Sequence[Fraction]) -> list[Fraction] | None:
        """∫ π(x) dx over each cell, exact, where both parameters are whole; else None.

        The distribution function is Σ_{j≥a} C(n, j) t^j (1−t)^(n−j) with n = a + b − 1.
        """
        checked = check_edges(edges, self.interval)
        if self.a.denominator > 1 or self.b.denominator > 1:
            return None
        low, length = self.interval.low, self.interval.length
        values = [_distribution(int(self.a), int(self.b), (edge - low) / length) for edge in checked]
        return [v - u for u, v in pairwise(values)]

    def _total(self, bits: int) -> arb:
        """B(a, b)."""
        return _complete(ball(self.a - 1, bits), ball(self.b - 1, bits))

    def _rows(self, cells: Sequence[Cell], rate: arb, degree: int, bits: int) -> list[Row]:
        low, length = self.interval.low, self.interval.length
        start, stretch = ball(low, bits), ball(length, bits)
        kernel = Kernel(self.a - 1, self.b - 1, rate * stretch, degree, bits)
        scale = (rate * start).exp() / kernel.total
        factors = [scale * stretch**k for k in range(degree + 1)]
        rows = []
        for u, v in cells:
            row = kernel.over((u - low) / length, (v - low) / length)
            scaled = [moment * factor for moment, factor in zip(row, factors, strict=True)]
            rows.append(shift_moments(scaled, start) if low else scaled)
        return rows


def _complete(alpha: arb, beta: arb) -> arb:
    """∫_0^1 t^α(1−t)^β dt = B(α+1, β+1)."""
    return ((alpha + 1).lgamma() + (beta + 1).lgamma() - (alpha + beta + 2).lgamma()).exp()


def _distribution(a: int, b: int, t: Fraction) -> Fraction:
    """Pr[T ≤ t] for whole parameters, by a common denominator."""
    n, above, below = a + b - 1, t.numerator, t.denominator
    rest = below - above
    total = sum(math.comb(n, j) * above**j * rest ** (n - j) for j in range(a, n + 1))
    return Fraction(total, below**n)


class Kernel:
    """Moments ∫ t^k·t^α(1−t)^β·e^(R·t) dt over cells of [0, 1], at one precision; series are kept and reused."""

    def __init__(self, alpha: Fraction, beta: Fraction, rate: arb, degree: int, bits: int) -> None:
        self.alpha, self.beta, self.rate, self.degree, self.bits = alpha, beta, rate, degree, bits
        self.balls = (ball(alpha, bits), ball(beta, bits))
        self.total = _complete(*self.balls)
        self.powers = (float(alpha), float(beta), float(rate.abs_upper()))
        self._weights: dict[Fraction, tuple[arb, Row]] = {}
        self._ends: Row = [rate**0]

    @cached_property
    def mirror(self) -> Kernel:
        """The same seen from the other end: t′ = 1 − t."""
        return Kernel(self.beta, self.alpha, -self.rate, self.degree, self.bits)

    def over(self, s: Fraction, e: Fraction) -> Row:
        """The moments over [s, e], cut where one series does not reach."""
        low, high, gap, half = float(s), float(e), float(1 - e), max(float((e - s) / 2), TINY)
        reaches = 2 * half <= min(low, gap) and half * self._slope(low, gap) <= TURN
        if low > TINY and gap > TINY and reaches:
            return self._inside(s, e, low + half, gap + half, half)
        is_end = high <= 0.25 and (low <= high / 3 or high <= TINY)
        if is_end and high * (self.powers[2] + 2 * abs(self.powers[1])) <= TURN:
            whole = self._beside(e)
            return [a - b for a, b in zip(whole, self._beside(s), strict=True)] if s else whole
        if s >= HALF:
            return self._reflected(s, e)
        return self._cut(s, HALF if s < HALF < e else (s + e) / 2, e, high - low)

    def _cut(self, s: Fraction, cut: Fraction, e: Fraction, width: float) -> Row:
        """Both parts of a cell, first the one where e^(Rt) is larger: the other may not matter beside it.

        t^k ≤ 1 and ∫ t^α(1−t)^β dt ≤ B(a, b), so no moment of the other is above e^(R·cut)·B(a, b).
        """
        from flint import arb

        first, second = ((cut, e), (s, cut)) if self.rate > 0 else ((s, cut), (cut, e))
        row = self.over(*first)
        if self.powers[2] * width > self.bits / 2:
            most = (self.rate * ball(cut, self.bits)).exp() * self.total
            if most < row[0].abs_lower() / (1 << self.bits):
                return [moment + arb(0).union(most) for moment in row]
        return [a + b for a, b in zip(row, self.over(*second), strict=True)]

    def _slope(self, low: float, gap: float) -> float:
        """The steepest that the logarithm of the product is on a cell so far from the ends."""
        alpha, beta, rate = self.powers
        return abs(alpha) / max(low, TINY) + abs(beta) / max(gap, TINY) + rate

    def _reflected(self, s: Fraction, e: Fraction) -> Row:
        """From the mirror: t^k = (1 − t′)^k, e^(Rt) = e^R·e^(−Rt′)."""
        scale = self.rate.exp()
        row = self.mirror.over(1 - e, 1 - s)
        signed = [-moment if k % 2 else moment for k, moment in enumerate(row)]
        return [scale * moment for moment in shift_moments(signed, scale**0)]

    def _inside(self, s: Fraction, e: Fraction, middle: float, beyond: float, half: float) -> Row:
        """Σ_n c_n·∫ τ^n over |τ| ≤ half, around the cell's middle; `beyond` is 1 − middle."""
        from flint import arb

        room = min(middle, beyond)
        wide = [0.75 * room, 0.5 * room, room / 8]
        steep = half * self._slope(middle - half, beyond - half) > 1
        radii = [r for r in wide + [f * half for f in (2, 4, 16) if steep] if 2 * half <= r <= wide[0]]
        terms, tail = self._shortest(half, radii, lambda r: self._log_inside(r, middle, beyond))
        centre = ball((s + e) / 2, self.bits)
        size, weights = self._even_weights((e - s) / 2, terms + self.degree)
        series = self._inner_series(centre, terms)
        rest, row = arb(0, _two_to(tail)) * weights[0], []
        for i in range(self.degree + 1):
            terms_of = (series[n] * weights[n + i] for n in range(i % 2, terms, 2))
            row.append(sum(terms_of, rest))
            rest = rest * size
        scale = _power(centre, self.alpha) * _power(1 - centre, self.beta) * (self.rate * centre).exp()
        return [scale * moment for moment in shift_moments(row, centre)]

    def _inner_series(self, m: arb, terms: int) -> Row:
        """c_n of f(m+τ)/f(m), f = t^α(1−t)^β·e^(Rt), from t(1−t)·f′ = (α(1−t) − βt + R·t(1−t))·f."""
        from flint import arb

        (alpha, beta), rate = self.balls, self.rate
        p0, p1 = m * (1 - m), 1 - 2 * m
        q0, q1 = alpha * (1 - m) - beta * m + rate * p0, rate * p1 - alpha - beta
        found, zero = [arb(1)], arb(0)
        c, before, older, inverse = found[0], zero, zero, 1 / p0
        for n in range(terms - 1):
            c, before, older = (
                ((q0 - n * p1) * c + (q1 + (n - 1)) * before - rate * older) * inverse / (n + 1),
                c,
                before,
            )
            found.append(c)
        return found

    def _even_weights(self, half: Fraction, terms: int) -> tuple[arb, Row]:
        """half as a ball, and ∫ τ^j over |τ| ≤ half: 2·half^(j+1)/(j+1) for even j (odd j are not used)."""
        if half not in self._weights:
            self._weights[half] = ball(half, self.bits), []
        size, found = self._weights[half]
        while len(found) < terms:
            found.append(2 * size ** (len(found) + 1) / (len(found) + 1))
        return size, found

    def _beside(self, e: Fraction) -> Row:
        """∫_0^e, e ≤ 1/4: Σ_n g_n·e^(α+1+k+n)/(α+1+k+n), g the series of (1−t)^β·e^(Rt) around 0."""
        from flint import arb

        end = max(float(e), TINY)
        terms, tail = self._shortest(end, [min(0.5, end * f) for f in (2, 4, 16, 256)], self._log_end)
        point, shifted = ball(e, self.bits), self.balls[0] + 1
        series, lead = self._end_series(terms), _power(point, self.alpha + 1)
        powers = [point**0]
        while len(powers) < terms + self.degree:
            powers.append(powers[-1] * point)
        rest = arb(0, _two_to(tail)) / shifted
        row = []
        for k in range(self.degree + 1):
            terms_of = (series[n] * powers[n + k] / (shifted + (k + n)) for n in range(terms))
            row.append(lead * sum(terms_of, rest * powers[k]))
        return row

    def _end_series(self, terms: int) -> Row:
        """g_(n+1) = ((n + R − β)·g_n − R·g_(n−1))/(n + 1), g_0 = 1, from (1−t)·g′ = (R(1−t) − β)·g."""
        from flint import arb

        beta, found = self.balls[1], self._ends
        while len(found) < terms:
            n = len(found) - 1
            before = found[n - 1] if n > 0 else arb(0)
            found.append(((n + self.rate - beta) * found[n] - self.rate * before) / (n + 1))
        return found

    def _log_inside(self, radius: float, middle: float, beyond: float) -> float:
        """The logarithm of max |f(z)/f(m)| over |z − m| ≤ radius, or more."""
        alpha, beta, rate = self.powers
        sides = _log_power(alpha, radius / middle) + _log_power(beta, radius / beyond)
        return sides + rate * radius

    def _log_end(self, radius: float) -> float:
        """The logarithm of max |(1−z)^β·e^(Rz)| over |z| ≤ radius, or more."""
        return _log_power(self.powers[1], radius) + self.powers[2] * radius

    def _shortest(self, size: float, radii: Sequence[float], log_bound: Callable[[float], float]) -> tuple[int, int]:
        """(N, x): Σ_{n≥N} |c_n|·size^n ≤ 2^x, of all radii with the fewest terms for about `bits` bits.

        Cauchy: |c_n| ≤ e^L/radius^n, so the sum is ≤ 2·e^L·(size/radius)^N for radius ≥ 2·size. L is found in doubles,
        and a millionth of it and 1 are added: far more than they can be wrong by.
        """
        bounds = [(log_bound(radius), math.log(radius / size)) for radius in radii]
        terms, bound, gain = min(
            (max(math.ceil((self.bits * LN2 + bound) / gain), 1), bound, gain) for bound, gain in bounds
        )
        logarithm = bound * (1 + 1e-6) + 1 - terms * gain * (1 - 1e-6)
        return terms, math.ceil(logarithm / LN2) + 1


def _log_power(exponent: float, ratio: float) -> float:
    """The logarithm of max |1 + z|^exponent over |z| ≤ ratio < 1."""
    return exponent * (math.log1p(ratio) if exponent > 0 else math.log1p(-ratio))


def _power(base: arb, exponent: Fraction) -> arb:
    if exponent.denominator == 1:
        return base ** int(exponent)
    from flint import ctx

    return base ** ball(exponent, ctx.prec)


def _two_to(exponent: int) -> arb:
    from flint import arb

    return arb((1, exponent))
