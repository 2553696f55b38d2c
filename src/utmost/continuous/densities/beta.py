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

from utmost.continuous.densities.density import Cell, DensityFamily, Rate, Row, certified_moments, shift_moments
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal, rational
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

MAX_PARAMETER = 10_000  # of either parameter
MIN_PARAMETER = Fraction(1, 10_000)
MAX_LOG_CHANGE = 16.0  # a series is used where the logarithm of the density changes by at most this on either side
MIN_END_DISTANCE = 1e-250  # smaller distances from an end are rounded up to this where only a bound is needed
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
            if not MIN_PARAMETER <= value <= MAX_PARAMETER:
                raise InputError(
                    f"beta parameter {name} must be > 0, from {MIN_PARAMETER} to {MAX_PARAMETER}, got {decimal(value)}"
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
        cell_edges = check_edges(edges, self.interval)
        if self.a.denominator > 1 or self.b.denominator > 1:
            return None
        low, length = self.interval.low, self.interval.length
        values = [_distribution_function(int(self.a), int(self.b), (edge - low) / length) for edge in cell_edges]
        return [v - u for u, v in pairwise(values)]

    def _total(self, bits: int) -> arb:
        """B(a, b)."""
        return _beta_function(ball(self.a - 1, bits), ball(self.b - 1, bits))

    def _rows(self, cells: Sequence[Cell], rate: arb, degree: int, bits: int) -> list[Row]:
        low, length = self.interval.low, self.interval.length
        low_ball, length_ball = ball(low, bits), ball(length, bits)
        kernel = Kernel(self.a - 1, self.b - 1, rate * length_ball, degree, bits)
        scale = (rate * low_ball).exp() / kernel.total
        factors = [scale * length_ball**k for k in range(degree + 1)]
        rows = []
        for u, v in cells:
            row = kernel.over((u - low) / length, (v - low) / length)
            scaled_row = [moment * factor for moment, factor in zip(row, factors, strict=True)]
            rows.append(shift_moments(scaled_row, low_ball) if low else scaled_row)
        return rows


def _beta_function(alpha: arb, beta: arb) -> arb:
    """∫_0^1 t^α(1−t)^β dt = B(α+1, β+1)."""
    return ((alpha + 1).lgamma() + (beta + 1).lgamma() - (alpha + beta + 2).lgamma()).exp()


def _distribution_function(a: int, b: int, t: Fraction) -> Fraction:
    """Pr[T ≤ t] for whole parameters, by a common denominator."""
    n, numerator, denominator = a + b - 1, t.numerator, t.denominator
    complement = denominator - numerator
    total = sum(math.comb(n, j) * numerator**j * complement ** (n - j) for j in range(a, n + 1))
    return Fraction(total, denominator**n)


class Kernel:
    """Moments ∫ t^k·t^α(1−t)^β·e^(R·t) dt over cells of [0, 1], at one precision; series are kept and reused."""

    def __init__(self, alpha: Fraction, beta: Fraction, rate: arb, degree: int, bits: int) -> None:
        self.alpha, self.beta, self.rate, self.degree, self.bits = alpha, beta, rate, degree, bits
        self.balls = (ball(alpha, bits), ball(beta, bits))
        self.total = _beta_function(*self.balls)
        self.powers = (float(alpha), float(beta), float(rate.abs_upper()))
        self._weights: dict[Fraction, tuple[arb, Row]] = {}
        self._end_coefficients: Row = [rate**0]

    @cached_property
    def mirror(self) -> Kernel:
        """The same seen from the other end: t′ = 1 − t."""
        return Kernel(self.beta, self.alpha, -self.rate, self.degree, self.bits)

    def over(self, s: Fraction, e: Fraction) -> Row:
        """The moments over [s, e], cut where one series does not reach."""
        low, high, gap, half = float(s), float(e), float(1 - e), max(float((e - s) / 2), MIN_END_DISTANCE)
        reaches = 2 * half <= min(low, gap) and half * self._slope(low, gap) <= MAX_LOG_CHANGE
        if low > MIN_END_DISTANCE and gap > MIN_END_DISTANCE and reaches:
            return self._inner_moments(s, e, low + half, gap + half, half)
        is_end = high <= 0.25 and (low <= high / 3 or high <= MIN_END_DISTANCE)
        if is_end and high * (self.powers[2] + 2 * abs(self.powers[1])) <= MAX_LOG_CHANGE:
            row = self._end_moments(e)
            return [a - b for a, b in zip(row, self._end_moments(s), strict=True)] if s else row
        if s >= HALF:
            return self._mirror_moments(s, e)
        return self._split_moments(s, HALF if s < HALF < e else (s + e) / 2, e, high - low)

    def _split_moments(self, s: Fraction, middle: Fraction, e: Fraction, width: float) -> Row:
        """Both parts of a cell, first the one where e^(Rt) is larger: the other may not matter beside it.

        t^k ≤ 1 and ∫ t^α(1−t)^β dt ≤ B(a, b), so no moment of the other is above e^(R·middle)·B(a, b).
        """
        from flint import arb

        first, second = ((middle, e), (s, middle)) if self.rate > 0 else ((s, middle), (middle, e))
        row = self.over(*first)
        if self.powers[2] * width > self.bits / 2:
            bound = (self.rate * ball(middle, self.bits)).exp() * self.total
            if bound < row[0].abs_lower() / (1 << self.bits):
                return [moment + arb(0).union(bound) for moment in row]
        return [a + b for a, b in zip(row, self.over(*second), strict=True)]

    def _slope(self, low: float, gap: float) -> float:
        """The steepest that the logarithm of the product is on a cell so far from the ends."""
        alpha, beta, rate = self.powers
        return abs(alpha) / max(low, MIN_END_DISTANCE) + abs(beta) / max(gap, MIN_END_DISTANCE) + rate

    def _mirror_moments(self, s: Fraction, e: Fraction) -> Row:
        """From the mirror: t^k = (1 − t′)^k, e^(Rt) = e^R·e^(−Rt′)."""
        scale = self.rate.exp()
        row = self.mirror.over(1 - e, 1 - s)
        signed = [-moment if k % 2 else moment for k, moment in enumerate(row)]
        return [scale * moment for moment in shift_moments(signed, scale**0)]

    def _inner_moments(self, s: Fraction, e: Fraction, middle: float, gap: float, half: float) -> Row:
        """Σ_n c_n·∫ τ^n over |τ| ≤ half, around the cell's middle; `gap` is 1 − middle."""
        from flint import arb

        room = min(middle, gap)
        wide_radii = [0.75 * room, 0.5 * room, room / 8]
        steep = half * self._slope(middle - half, gap - half) > 1
        radii = [r for r in wide_radii + [f * half for f in (2, 4, 16) if steep] if 2 * half <= r <= wide_radii[0]]
        terms, tail = self._fewest_terms(half, radii, lambda r: self._log_bound_inside(r, middle, gap))
        centre = ball((s + e) / 2, self.bits)
        size, weights = self._even_weights((e - s) / 2, terms + self.degree)
        series = self._inner_series(centre, terms)
        remainder, row = arb(0, _power_of_two(tail)) * weights[0], []
        for i in range(self.degree + 1):
            summands = (series[n] * weights[n + i] for n in range(i % 2, terms, 2))
            row.append(sum(summands, remainder))
            remainder = remainder * size
        scale = _power(centre, self.alpha) * _power(1 - centre, self.beta) * (self.rate * centre).exp()
        return [scale * moment for moment in shift_moments(row, centre)]

    def _inner_series(self, m: arb, terms: int) -> Row:
        """c_n of f(m+τ)/f(m), f = t^α(1−t)^β·e^(Rt), from t(1−t)·f′ = (α(1−t) − βt + R·t(1−t))·f."""
        from flint import arb

        (alpha, beta), rate = self.balls, self.rate
        p0, p1 = m * (1 - m), 1 - 2 * m
        q0, q1 = alpha * (1 - m) - beta * m + rate * p0, rate * p1 - alpha - beta
        series, zero = [arb(1)], arb(0)
        c, before, older, inverse = series[0], zero, zero, 1 / p0
        for n in range(terms - 1):
            c, before, older = (
                ((q0 - n * p1) * c + (q1 + (n - 1)) * before - rate * older) * inverse / (n + 1),
                c,
                before,
            )
            series.append(c)
        return series

    def _even_weights(self, half: Fraction, terms: int) -> tuple[arb, Row]:
        """half as a ball, and ∫ τ^j over |τ| ≤ half: 2·half^(j+1)/(j+1) for even j (odd j are not used)."""
        if half not in self._weights:
            self._weights[half] = ball(half, self.bits), []
        size, weights = self._weights[half]
        while len(weights) < terms:
            weights.append(2 * size ** (len(weights) + 1) / (len(weights) + 1))
        return size, weights

    def _end_moments(self, e: Fraction) -> Row:
        """∫_0^e, e ≤ 1/4: Σ_n g_n·e^(α+1+k+n)/(α+1+k+n), g the series of (1−t)^β·e^(Rt) around 0."""
        from flint import arb

        end = max(float(e), MIN_END_DISTANCE)
        terms, tail = self._fewest_terms(end, [min(0.5, end * f) for f in (2, 4, 16, 256)], self._log_bound_at_end)
        point, exponent = ball(e, self.bits), self.balls[0] + 1
        series, lead = self._end_series(terms), _power(point, self.alpha + 1)
        powers = [point**0]
        while len(powers) < terms + self.degree:
            powers.append(powers[-1] * point)
        remainder = arb(0, _power_of_two(tail)) / exponent
        row = []
        for k in range(self.degree + 1):
            summands = (series[n] * powers[n + k] / (exponent + (k + n)) for n in range(terms))
            row.append(lead * sum(summands, remainder * powers[k]))
        return row

    def _end_series(self, terms: int) -> Row:
        """g_(n+1) = ((n + R − β)·g_n − R·g_(n−1))/(n + 1), g_0 = 1, from (1−t)·g′ = (R(1−t) − β)·g."""
        from flint import arb

        beta, series = self.balls[1], self._end_coefficients
        while len(series) < terms:
            n = len(series) - 1
            before = series[n - 1] if n > 0 else arb(0)
            series.append(((n + self.rate - beta) * series[n] - self.rate * before) / (n + 1))
        return series

    def _log_bound_inside(self, radius: float, middle: float, gap: float) -> float:
        """The logarithm of max |f(z)/f(m)| over |z − m| ≤ radius, or more."""
        alpha, beta, rate = self.powers
        sides = _log_power(alpha, radius / middle) + _log_power(beta, radius / gap)
        return sides + rate * radius

    def _log_bound_at_end(self, radius: float) -> float:
        """The logarithm of max |(1−z)^β·e^(Rz)| over |z| ≤ radius, or more."""
        return _log_power(self.powers[1], radius) + self.powers[2] * radius

    def _fewest_terms(
        self, size: float, radii: Sequence[float], log_bound: Callable[[float], float]
    ) -> tuple[int, int]:
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


def _power_of_two(exponent: int) -> arb:
    from flint import arb

    return arb((1, exponent))


def beta(a: object, b: object, interval: Interval) -> Beta:
    """The beta density with rational parameters a, b > 0, scaled to the interval.

    >>> from utmost.continuous.interval import interval
    >>> beta(2, "1/2", interval(0, 100)).name
    'beta:2,1/2'
    """
    return Beta(interval, rational(a, "beta parameter a"), rational(b, "beta parameter b"))


def _parse_beta(text: str, interval: Interval) -> Beta | None:
    first, comma, second = text.partition(",")
    return beta(first, second, interval) if comma and "," not in second else None


BETA = DensityFamily(
    kind="beta",
    example="beta:2,5",
    meaning="beta with rational parameters > 0, stretched over the interval; below 1 it is infinite at an end",
    parse=_parse_beta,
)
