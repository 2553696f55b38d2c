"""Measures of privacy losses on a grid, in whole numbers rounded to one side: certified bounds of δ(ε) and ε(δ).

A *loss measure* μ has masses ≥ 0 at finite losses and at +∞; its profile is δ_μ(ε) = Σ_l μ(l)·(1 − e^(ε − l))₊ + μ(∞).
The privacy losses of a pair of laws are one, with total mass 1; the measures here may sum to more, or to less.
μ′ *dominates* μ if δ_μ′(ε) ≥ δ_μ(ε) for every real ε.

**Composition keeps the order.** The losses of independent answers add, so measures convolve, and
δ_(μ∗ν)(ε) = Σ_l ν(l)·δ_μ(ε − l) + ν(∞)·|μ|. The total |μ| is the limit of δ_μ(ε) as ε → −∞. So if μ′ dominates μ, then
μ′∗ν dominates μ∗ν for every ν ≥ 0; no total needs to be 1. ∎

**Every rounding keeps it.** (1 − e^(ε − l))₊ is ≥ 0, rises with l and is convex in e^(−l). So a measure is dominated by
(1) the one with larger masses; (2) the one with mass moved to larger losses, or to ∞; (3) the one in which the mass at
l is split between s ≤ l ≤ s + h, with the share w = (e^(s+h−l) − 1)/(e^h − 1) at s, which keeps Σ p·e^(−loss) (Jensen);
and by (2) also with any smaller share at s. With h = ∞ the share is e^(s−l), the rest is at ∞. In the other direction:
smaller masses, smaller losses, and the join of several masses in one place t, if Σ p·e^(−l) ≤ Σ p·e^(−t): their mean
place by Jensen, and then down to t. ∎

Masses are whole multiples of 2^−bits, products are exact (`fmpz_poly`), and what a product has beyond these bits is
rounded up in the upper measure and down in the lower one. Where tails are cut, the upper measure moves the high tail to
∞ and the low tail up to the lowest loss kept; the lower measure moves the high tail down and drops the low tail.

**The share, without exponentials.** With g = (s + h − l)/h and φ(x) = ln((e^x − 1)/x), w = g·e^(φ(gh) − φ(h)) and
φ′(x) = 1/(1 − e^(−x)) − 1/x ≤ 1/2 + x/12, so w ≥ g·(1 − (1 − g)·h·(1/2 + h/12)), which is what is used, if it is > 0.
For joining, e^(−d) − 1 ≤ −d + d²/2 where d ≥ 0, and e^c − 1 ≤ c + c²/2 + c³/3 where 0 ≤ c ≤ 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from utmost.exact import ball, ball_endpoints
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb, fmpz_poly

MAX_POINTS = 2**15  # of one measure; beyond it the spacing is doubled
GUARD_BITS = 40  # of a mass, beyond those of δ and of the number of compositions
TAIL_BITS = 24  # a cut tail is this many bits below δ and the number of compositions
SUM_BITS = 64  # more, of the sums that make a profile
EPSILON_DENOMINATOR = 10**9  # ε is rounded outward to a multiple of 1/EPSILON_DENOMINATOR
DELTA_BITS = 128  # δ is rounded outward to a multiple of 2^−DELTA_BITS


@dataclass(frozen=True, slots=True)
class LossMeasure:
    """Masses, in units of 2^−bits, at the losses offset + i·spacing and at ∞; of `times` answers together."""

    offset: Fraction
    spacing: Fraction
    masses: fmpz_poly
    infinite: int
    bits: int
    is_upper: bool
    times: int = 1

    @property
    def finite(self) -> int:
        """The mass of all finite losses."""
        return int(self.masses(1))

    def delta(self, epsilon: Fraction) -> Fraction:
        """δ(ε), rounded up if this is an upper measure, otherwise down."""
        index = max(math.floor((epsilon - self.offset) / self.spacing), -1)
        tail, weight = self._sums_above(index)
        bits = self.bits + SUM_BITS + DELTA_BITS
        with working_precision(bits):
            factor = ball(epsilon - self.offset - index * self.spacing, bits).exp()
            low, high = ball_endpoints(ball(tail, bits) - factor * ball(weight, bits))
        scale = 2**DELTA_BITS
        whole = math.ceil(high * scale) if self.is_upper else math.floor(low * scale)
        return min(max(Fraction(whole, scale), Fraction(0)), Fraction(1))

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """The least ε ≥ 0 with δ(ε) ≤ delta, rounded up or down; None if there is none.

        Between two losses δ(ε) = A − e^(ε − l)·C with A and C of the losses above l, so ε = l + ln((A − δ)/C). C is
        rounded so that δ(ε) is on the safe side at each loss. A is exact. If ε comes out beyond the next loss, it is
        still an upper bound, since δ at that loss was found to be at most delta; and a lower one, since δ(ε) is the
        largest of all lines A − e^(ε − l)·C.
        """
        limit = delta * 2 ** (self.bits + SUM_BITS)
        tail, weight = self.infinite << SUM_BITS, 0
        if tail > limit:
            return None
        coefficients, factor = self.masses.coeffs(), self._decay()
        for index in range(len(coefficients) - 2, -2, -1):
            mass = int(coefficients[index + 1]) << SUM_BITS
            tail, weight = tail + mass, self._scale(weight + mass, factor)
            if tail - weight > limit:
                return self._solve(index, tail - limit, weight)
        return Fraction(0) if tail <= limit else self._solve(-1, tail - limit, weight)

    def _solve(self, index: int, excess: Fraction, weight: int) -> Fraction | None:
        """ε = l + ln(excess/weight)."""
        if weight <= 0:
            return None
        bits = self.bits + SUM_BITS + DELTA_BITS
        with working_precision(bits):
            low, high = ball_endpoints((ball(excess, bits) / weight).log())
        start, scale = self.offset + index * self.spacing, EPSILON_DENOMINATOR
        whole = math.ceil((start + high) * scale) if self.is_upper else math.floor((start + low) * scale)
        return max(Fraction(whole, scale), Fraction(0))

    def _sums_above(self, index: int) -> tuple[Fraction, Fraction]:
        """A = the mass above a grid point, ∞ included; C = Σ mass·e^(−(loss − grid point)), rounded for δ = A − C."""
        factor = self._decay()
        tail, weight = self.infinite << SUM_BITS, 0
        for coefficient in reversed(self.masses.coeffs()[index + 1 :]):
            mass = int(coefficient) << SUM_BITS
            tail, weight = tail + mass, self._scale(weight + mass, factor)
        unit = 2 ** (self.bits + SUM_BITS)
        return Fraction(tail, unit), Fraction(weight, unit)

    def _decay(self) -> int:
        """e^(−spacing) in units of 2^−(bits + SUM_BITS), rounded down for an upper measure, otherwise up."""
        bits = 2 * (self.bits + SUM_BITS)
        with working_precision(bits):
            factor = ball(-self.spacing, bits).exp()
        return ball_integer(factor, self.bits + SUM_BITS, not self.is_upper)

    def _scale(self, value: int, factor: int) -> int:
        """value·factor, rounded down for an upper measure (less is taken off δ), otherwise up."""
        product, shift = value * factor, self.bits + SUM_BITS
        return product >> shift if self.is_upper else -(-product >> shift)


def ball_integer(interval: arb, bits: int, is_upper: bool) -> int:
    """A whole number ≥ 0 of 2^−bits that is at least, or at most if it can be, every number of the ball."""
    scaled = interval * 2**bits
    end = (scaled.upper().ceil() if is_upper else scaled.lower().floor()).unique_fmpz()
    if end is not None:
        return max(int(end), 0)
    low, high = ball_endpoints(scaled)  # an end of more bits than the working precision
    return max(math.ceil(high) if is_upper else math.floor(low), 0)


def convolve(first: LossMeasure, second: LossMeasure) -> LossMeasure:
    """The measure of the sum of both losses, on the coarser of both grids, its masses rounded and its tails cut."""
    spacing = max(first.spacing, second.spacing)
    first, second = regrid(first, spacing), regrid(second, spacing)
    bits, is_upper = first.bits, first.is_upper
    masses = _round(first.masses * second.masses, bits, is_upper)
    product = first.infinite * (second.finite + second.infinite) + second.infinite * first.finite
    infinite = -(-product >> bits) if is_upper else product >> bits
    offset, times = first.offset + second.offset, first.times + second.times
    return thin(cut_tails(LossMeasure(offset, spacing, masses, infinite, bits, is_upper, times)))


def _round(masses: fmpz_poly, bits: int, is_upper: bool) -> fmpz_poly:
    """The masses in units of 2^−bits, rounded up or down."""
    return -(-masses // (1 << bits)) if is_upper else masses // (1 << bits)


def thin(measure: LossMeasure) -> LossMeasure:
    """The same on a grid with doubled spacing, as often as it has too many points."""
    while measure.masses.length() > MAX_POINTS:
        measure = regrid(measure, 2 * measure.spacing)
    return measure


def cut_tails(measure: LossMeasure) -> LossMeasure:
    """Both tails cut: up in an upper measure, down in a lower one."""
    masses, length, infinite = measure.masses, measure.masses.length(), measure.infinite
    if not length:
        return measure
    budget = measure.times << (GUARD_BITS - TAIL_BITS)
    low, low_mass = _tail(masses, range(length - 1), budget)
    cut, high_mass = _tail(masses, range(length - 1, low, -1), budget)
    kept = masses.truncate(length - cut).right_shift(low)
    if measure.is_upper:
        kept[0] += low_mass
        infinite += high_mass
    else:
        kept[length - cut - low - 1] += high_mass
    offset = measure.offset + low * measure.spacing
    return replace(measure, offset=offset, masses=kept, infinite=infinite)


def _tail(masses: fmpz_poly, places: range, budget: int) -> tuple[int, int]:
    """How many of the masses in these places, one after the other, sum to at most the budget, and their sum."""
    mass = 0
    for count, place in enumerate(places):
        total = mass + int(masses[place])
        if total > budget:
            return count, mass
        mass = total
    return len(places), mass


def regrid(measure: LossMeasure, spacing: Fraction) -> LossMeasure:
    """The measure on a grid with another spacing from its lowest loss on; exact if that divides the old one."""
    ratio = measure.spacing / spacing
    if ratio == 1:
        return measure
    if ratio == Fraction(1, 2) and measure.is_upper:
        return replace(measure, spacing=spacing, masses=_double_spacing(measure.masses, spacing))
    numerators = range(0, measure.masses.length() * ratio.numerator, ratio.numerator)
    atoms = zip(numerators, (int(mass) for mass in measure.masses.coeffs()), strict=True)
    lowest, masses = polynomial(place_atoms(atoms, ratio.denominator, spacing, measure.is_upper))
    return replace(measure, offset=measure.offset + lowest * spacing, spacing=spacing, masses=masses)


def polynomial(masses: dict[int, int]) -> tuple[int, fmpz_poly]:
    """The lowest index and the masses from it on."""
    from flint import fmpz_poly

    if not masses:
        return 0, fmpz_poly([])
    lowest, highest = min(masses), max(masses)
    coefficients = [0] * (highest - lowest + 1)
    for index, mass in masses.items():
        coefficients[index - lowest] = mass
    return lowest, fmpz_poly(coefficients)


def place_atoms(
    atoms: Iterable[tuple[int, int]], denominator: int, spacing: Fraction, is_upper: bool
) -> dict[int, int]:
    """Masses at the losses spacing·numerator/denominator moved to multiples of the spacing: split, or joined."""
    return (_split_atoms if is_upper else _join_atoms)(atoms, denominator, spacing)


def _split_atoms(atoms: Iterable[tuple[int, int]], denominator: int, spacing: Fraction) -> dict[int, int]:
    share_of, base = _lower_shares(denominator, spacing)
    masses = dict[int, int]()
    for numerator, mass in atoms:
        index, rest = divmod(numerator, denominator)
        lower = mass * share_of(rest) // base
        masses[index] = masses.get(index, 0) + lower
        if rest:
            masses[index + 1] = masses.get(index + 1, 0) + mass - lower
    return masses


def _double_spacing(masses: fmpz_poly, spacing: Fraction) -> fmpz_poly:
    """The same on every other point: what is between is split, all of it with one share."""
    from flint import fmpz_poly

    coefficients = masses.coeffs()
    kept, between = fmpz_poly(coefficients[::2]), fmpz_poly(coefficients[1::2])
    share_of, base = _lower_shares(2, spacing)
    lower = between * share_of(1) // base
    return kept + lower + (between - lower).left_shift(1)


def _lower_shares(denominator: int, spacing: Fraction) -> tuple[Callable[[int], int], int]:
    """The share of the lower grid point of a mass rest/denominator above it: whole numbers, and what they are over."""
    slope = spacing * (Fraction(1, 2) + spacing / 12)
    over, base = slope.numerator, slope.denominator * denominator

    def share(rest: int) -> int:
        return max((denominator - rest) * (base - rest * over), 0)

    return share, denominator * base


def _join_atoms(atoms: Iterable[tuple[int, int]], denominator: int, spacing: Fraction) -> dict[int, int]:
    """From the top: each grid point takes all that is left above it, and from below as much as this makes up for.

    Amounts are in units of 2^−SUM_BITS. What is above by d gives at least d − d²/2 times its mass, what is below by c
    takes at most c + c²/2 + c³/3 times its mass.
    """
    masses, step = dict[int, int](), spacing / denominator
    gain_of, need_of = _gains(step), _needs(step)
    stack = sorted(atoms)
    while stack:
        index = stack[-1][0] // denominator
        joint, gain, place = 0, 0, index * denominator
        while stack and stack[-1][0] >= place:
            numerator, mass = stack.pop()
            joint += mass
            gain += mass * gain_of(numerator - place)
        while stack and gain > 0:
            numerator, mass = stack.pop()
            need = need_of(place - numerator)
            taken = min(mass, gain // need) if need is not None else 0
            if need is None or taken < mass:
                stack.append((numerator, mass - taken))
                joint += taken
                break
            joint, gain = joint + taken, gain - taken * need
        masses[index] = masses.get(index, 0) + joint
    return masses


def _gains(step: Fraction) -> Callable[[int], int]:
    """d − d²/2 for d so many steps, rounded down."""
    over, base = step.numerator, step.denominator

    @cache
    def gain(count: int) -> int:
        height = count * over
        return max((height * (2 * base - height) << SUM_BITS - 1) // (base * base), 0)

    return gain


def _needs(step: Fraction) -> Callable[[int], int | None]:
    """c + c²/2 + c³/3 for c so many steps, rounded up; None where c is above 1, of which the bound says nothing."""
    over, base = step.numerator, step.denominator

    @cache
    def need(count: int) -> int | None:
        depth = count * over
        if depth > base:
            return None
        amount = depth * (6 * base * base + 3 * depth * base + 2 * depth * depth) << SUM_BITS
        return max(-(-amount // (6 * base**3)), 1)

    return need
