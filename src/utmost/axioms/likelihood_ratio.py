"""The likelihood ratio of two laws on the same outputs: sorted exactly, and how far it moves an attacker's odds.

Two laws on the same outputs, distinguished by the likelihood ratio: sorted and merged exactly, fast for whole rows.

Doubles order what they prove to be apart; what they leave open is settled by cross-multiplication of whole numbers over
one denominator a row, of polynomials in a power of e, or of exact reals. No ratio is ever divided out.

A mechanism at a level ε has entries such as (e^(−1/5) − e^(−3/10))/(1 + e^(−1/10)). With x = e^(1/d) for a common
denominator d of the exponents they are quotients of polynomials in x with rational coefficients, and x is
transcendental: products, sums and equality of polynomials are those of the numbers, and common factors cancel.

How much an attacker's odds can change: bounds from a definition, exact values of a channel (KL10 Prop. 2.1.4).

i₁ is true, and an attacker weighs i₂ against it. An answer o moves the log-odds by Δ = ln(P(o|i₂)/P(o|i₁)), whatever
the prior, if it gives both some weight. A definition bounds how often Δ is large in either direction; the probability
is that of the mechanism's coins alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.axioms.curves import Curve, Point
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball, exponential, refine_double, sign
from utmost.exact.reals import ONE, Monomial

if TYPE_CHECKING:
    from flint import fmpq_poly

Terms: TypeAlias = "Mapping[Monomial, Fraction]"
MAX_DEGREE = 20_000  # degree of a polynomial


@dataclass(frozen=True, slots=True)
class Unit:
    """x = e^(1/steps); `min_exponent` is the smallest power of x that occurs, so x^−min_exponent makes all ≥ 0."""

    steps: int
    min_exponent: int

    def polynomial(self, terms: Terms) -> fmpq_poly:
        """A sum of powers of e as a polynomial in x, times x^−min_exponent."""
        from flint import fmpq, fmpq_poly

        coefficient_by_power = {
            int(Fraction(exponent) * self.steps) - self.min_exponent: c  # type: ignore[arg-type]
            for (exponent, _), c in terms.items()
        }
        coefficients = [fmpq(0)] * (max(coefficient_by_power, default=-1) + 1)
        for power, c in coefficient_by_power.items():
            coefficients[power] = fmpq(c.numerator, c.denominator)
        return fmpq_poly(coefficients)

    def number(self, numerator: fmpq_poly, denominator: fmpq_poly) -> Number:
        """The quotient of two polynomials at x, in lowest terms."""
        common = numerator.gcd(denominator)
        return self._evaluate(numerator // common) / self._evaluate(denominator // common)

    def _evaluate(self, polynomial: fmpq_poly) -> Number:
        terms = [
            Fraction(int(c.p), int(c.q)) * exponential(Fraction(k, self.steps))
            for k, c in enumerate(polynomial.coeffs())
            if c
        ]
        return pairwise_sum(terms)


def pairwise_sum(terms: Sequence[Number]) -> Number:
    """The sum, by halves, so that most sums are short."""
    if len(terms) <= 4:
        return sum(terms, Fraction(0))
    half = len(terms) // 2
    return pairwise_sum(terms[:half]) + pairwise_sum(terms[half:])


def common_unit(numbers: Iterable[Number]) -> Unit | None:
    """A unit in which all these numbers are quotients of polynomials; None if there is none, or all are rational.

    >>> common_unit([exponential(Fraction(-1, 10)), exponential(Fraction(1, 4))])
    Unit(steps=20, min_exponent=-2)
    """
    exponents: set[Fraction] = set()
    for value in numbers:
        for terms in value.terms() if isinstance(value, Real) else ():
            for exponent, radicals in terms:
                if radicals or not isinstance(exponent, Fraction):
                    return None
                exponents.add(exponent)
    steps = math.lcm(*(exponent.denominator for exponent in exponents))
    powers = {0, *(int(exponent * steps) for exponent in exponents)}
    return Unit(steps, min(powers)) if exponents and max(powers) - min(powers) <= MAX_DEGREE else None


def lowest_terms(value: Number) -> Number:
    """The same number in lowest terms, where it is rational in a power of e; others as they are.

    >>> e = exponential(1)
    >>> (
    ...     str((e + 2) * (e - 1) / ((e + 2) * (e + 1))),
    ...     str(lowest_terms((e + 2) / ((e + 2) * e))),
    ... )
    ('(1 + exp(-1) - 2*exp(-2))/(1 + 3*exp(-1) + 2*exp(-2))', 'exp(-1)')
    """
    unit = common_unit([value])
    if unit is None or not isinstance(value, Real):
        return value
    numerator, denominator = (unit.polynomial(terms) for terms in value.terms())
    return unit.number(numerator, denominator)


def over_common_denominator(numbers: Sequence[Number], unit: Unit) -> tuple[list[fmpq_poly], fmpq_poly]:
    """Polynomials whose quotients by one polynomial are these numbers."""
    one_terms: Terms = {ONE: Fraction(1)}
    quotients = [value.terms() if isinstance(value, Real) else ({ONE: value}, one_terms) for value in numbers]
    denominators: dict[frozenset[tuple[Monomial, Fraction]], fmpq_poly] = {}
    keys = [frozenset(terms.items()) for _, terms in quotients]
    for key, (_, terms) in zip(keys, quotients, strict=True):
        if key not in denominators:
            denominators[key] = unit.polynomial(terms)
    scale = math.prod(denominators.values(), start=unit.polynomial(one_terms) // unit.polynomial(one_terms))
    cofactors = {key: scale // denominator for key, denominator in denominators.items()}
    return [
        unit.polynomial(numerator) * cofactors[key] for key, (numerator, _) in zip(keys, quotients, strict=True)
    ], scale


Positions: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[Any]
LOG_MARGIN = 1e-12  # of a difference of logarithms, for each unit of their size; their errors are a few 1e-16 of it


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Outputs in order, cut into groups: group k is positions[starts[k]] up to the next start."""

    positions: Positions
    starts: Positions

    def parts(self) -> list[list[int]]:
        """The groups, each as positions of outputs."""
        positions, limits = self.positions.tolist(), [*self.starts.tolist(), len(self.positions)]
        return [positions[start:end] for start, end in pairwise(limits)]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedLaw:
    """A law: the probability of output y is values[y]/scale, and `logs` are the logarithms of the values in doubles.

    The values are whole numbers where the law is rational; polynomials in a power of e, the `unit`, where it is
    rational in that; else exact numbers over scale 1. An impossible output has value 0 and logarithm −∞. Logarithms are
    right up to a constant of the row.
    """

    values: Values
    scale: Any
    logs: npt.NDArray[np.float64]
    unit: Unit | None = None

    @property
    def rational(self) -> bool:
        """Are the values whole numbers."""
        return isinstance(self.values[0], int)

    def probability(self, total: Any) -> Number:
        """A sum of values as a probability."""
        if self.unit is not None:
            return self.unit.number(total, self.scale)
        return Fraction(total, self.scale) if self.rational else total

    def totals(self, grouping: Grouping) -> list[Any]:
        """The sum of the values of each group, undivided; reals are added by halves, so that their sums stay short."""
        if self.rational:
            sums: list[Any] = np.add.reduceat(self.values[grouping.positions], grouping.starts).tolist()
            return sums
        add = sum if self.unit is not None else pairwise_sum
        return [add(self.values[group].tolist()) for group in grouping.parts()]

    def running(self, grouping: Grouping) -> list[Number]:
        """The probability of the first k groups together, for k = 1, 2, …"""
        return [self.probability(total) for total in accumulate(self.totals(grouping))]


def prepare_law(law: Iterable[Number], unit: Unit | None = None) -> PreparedLaw:
    """A law made ready: over one denominator, with logarithms; in powers of a unit if one is given.

    >>> prepared = prepare_law([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    >>> prepared.values.tolist(), prepared.scale
    ([3, 2, 1], 6)
    """
    numbers = list(law)
    if unit is not None:
        values, scale = over_common_denominator(numbers, unit)
        return PreparedLaw(object_array(values), scale, logarithms(numbers), unit)
    entries = [value for value in numbers if not isinstance(value, Real)]
    if len(entries) < len(numbers):
        return PreparedLaw(object_array(numbers), 1, logarithms(numbers))
    return _integer_law(entries)


def _integer_law(entries: list[Fraction]) -> PreparedLaw:
    """A rational law in whole numbers."""
    common = 1
    for denominator in sorted({value.denominator for value in entries}, reverse=True):
        if common % denominator:
            common = math.lcm(common, denominator)
    numerators = [value.numerator * (common // value.denominator) for value in entries]
    return PreparedLaw(object_array(numerators), common, logarithms(numerators))


def logarithms(values: Sequence[Number | int]) -> npt.NDArray[np.float64]:
    """Natural logarithms of exact numbers ≥ 0 of any size, as doubles within a few units of the last place."""
    return np.array([_logarithm(value) if value else -math.inf for value in values])


def _logarithm(value: Number | int) -> float:
    if isinstance(value, int):
        return math.log(value)
    if isinstance(value, Fraction) and value == 1:
        return 0.0
    return refine_double(lambda bits: ball(value, bits).log())


def object_array(values: Sequence[Any]) -> Values:
    """An array of objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        array[k] = value
    return array


def group_by_ratio(first: PreparedLaw, second: PreparedLaw) -> Grouping:
    """The outputs by their likelihood ratio second/first, decreasing; equal ratios are one group, decided exactly.

    The first group has ratio ∞ if some output is impossible under `first`; outputs impossible under both are left out.

    >>> rows = [prepare_law(map(Fraction, law)) for law in (["1/2", "1/4", "1/4", 0], ["1/4", "1/2", "1/8", "1/8"])]
    >>> group_by_ratio(*rows).parts()
    [[3], [1], [0, 2]]
    """
    first_possible, second_possible = first.logs > -math.inf, second.logs > -math.inf
    only_second = np.flatnonzero(second_possible & ~first_possible)
    only_first = np.flatnonzero(first_possible & ~second_possible)
    both = np.flatnonzero(first_possible & second_possible)
    positions, starts = _sort_by_ratio(both, first, second) if both.size else (both, both)
    heads = [
        np.zeros(min(only_second.size, 1), dtype=np.int64), starts + only_second.size,
        np.full(min(only_first.size, 1), only_second.size + both.size, dtype=np.int64),
    ]  # fmt: skip
    return Grouping(np.concatenate([only_second, positions, only_first]), np.concatenate(heads))


def _sort_by_ratio(both: Positions, first: PreparedLaw, second: PreparedLaw) -> tuple[Positions, Positions]:
    """Outputs that are possible under both, by ratio: as doubles order them, and exactly where those are too near."""
    keys = second.logs[both] - first.logs[both]
    max_log = max(np.abs(law.logs[both]).max() for law in (first, second))
    order = np.argsort(-keys, kind="stable")
    positions = both[order]
    cuts = np.flatnonzero(-np.diff(keys[order]) > LOG_MARGIN * (1 + max_log)) + 1
    starts = np.concatenate([[0], cuts]).astype(np.int64)
    stops = np.append(cuts, both.size)
    extra_starts: list[int] = []
    for k in np.flatnonzero(stops - starts > 1):
        groups = _group_tied(positions[starts[k] : stops[k]].tolist(), first, second)
        positions[starts[k] : stops[k]] = [y for group in groups for y in group]
        extra_starts += [int(starts[k]) + offset for offset in accumulate(len(group) for group in groups[:-1])]
    return positions, np.sort(np.concatenate([starts, np.array(extra_starts, dtype=np.int64)]))


def _group_tied(run: list[int], first: PreparedLaw, second: PreparedLaw) -> list[list[int]]:
    """Outputs whose ratios doubles cannot tell apart, in groups of equal ratio, decreasing."""
    below, above = first.values, second.values
    p, q = below[run[0]], above[run[0]]
    if all(above[y] * p == q * below[y] for y in run[1:]):
        return [sorted(run)]

    def order(y: int, z: int) -> int:
        gap = above[z] * below[y] - above[y] * below[z]
        return sign(gap) if first.unit is None else sign(first.unit.number(gap, gap * 0 + 1)) if gap else 0

    key = cmp_to_key(order)
    return [sorted(group) for _, group in groupby(sorted(run, key=key), key=key)]


def profile_curve(first: PreparedLaw, second: PreparedLaw, grouping: Grouping) -> Curve:
    """The curve through the probabilities of the events that take the groups one after another.

    Concave from (0, P(impossible under first)) to (1, 1), since the slopes are the ratios, decreasing; no three points
    are on a line, since ratios of different groups differ.
    """
    points: list[Point] = list(zip(first.running(grouping), second.running(grouping), strict=True))
    if points[0][0]:
        points.insert(0, (Fraction(0), Fraction(0)))
    return Curve.trusted(tuple(points), points[0][1], points[-1][1])


@dataclass(frozen=True, slots=True)
class Odds:
    """P(Δ ≥ ε | i₁) and P(Δ ≤ −ε | i₁), or bounds on them: `rise` and `fall`.

    A bound is `attained` by some mechanism of the definition; one that is not is approached by mechanisms of it.
    """

    rise: Number
    fall: Number
    attained: tuple[bool, bool] = (True, True)


def odds_bounds(bound: Curve, level: Level) -> Odds:
    """What a bound M allows: a′ = sup{a > 0 : M(a)/a ≥ e^ε} and a″ = sup{a > 0 : m(a)/a ≤ e^−ε}, m(a) = 1 − M(1−a).

    KL10 Prop. 2.1.4; sup ∅ = 0. M is concave, so α·M(a) − a and α·a − m(a) are ≥ 0 up to one crossing, found on the
    piece where the sign changes. Both are the best possible: the mechanism with two outputs that gives one of them the
    probabilities (a′, M(a′)), or (a″, m(a″)), meets the bound, and has Δ ≥ ε, or Δ ≤ −ε, on that output. The one
    exception is a″ = 1 where M jumps at 0 and m(1) > e^−ε: then Δ ≤ −ε is possible with every probability below 1, but
    not surely.

    >>> from utmost.axioms.curves import curve_from_lines
    >>> from utmost.exact import alpha
    >>> bounds = odds_bounds(curve_from_lines([(2, 0), ("1/2", "1/2")]), alpha("1/2"))
    >>> bounds.rise, bounds.fall
    (Fraction(1, 3), Fraction(2, 3))
    """
    _check_curve(bound, level)
    lower = bound.reflected
    rise = lowest_terms(_last_nonnegative([(a, level.alpha * value - a) for a, value in bound.points]))
    fall = lowest_terms(_last_nonnegative([(a, level.alpha * a - value) for a, value in lower.points]))
    return Odds(rise, fall, (True, bool(fall != 1 or lower.at_one <= level.alpha)))


def odds_law(profile: Curve) -> tuple[tuple[Number, Number], ...]:
    """The law of e^Δ for a channel and a pair, i₁ being true: (ratio, probability), decreasing; 0 is Δ = −∞.

    >>> from utmost.axioms.privacy_profiles import profile
    >>> from utmost.channel import channel
    >>> odds_law(profile(channel([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]]), (0, 1)).curve)[0]
    (Fraction(2, 1), Fraction(1, 4))
    """
    return tuple(((b - d) / (a - c), a - c) for (c, d), (a, b) in pairwise(profile.points))


def odds_tails(profile: Curve, level: Level) -> Odds:
    """P(Δ ≥ ε | i₁) and P(Δ ≤ −ε | i₁) for a channel and a pair, from its profile."""
    _check_curve(profile, level)
    ratios = odds_law(profile)
    rise = sum((chance for ratio, chance in ratios if level.alpha * ratio >= 1), Fraction(0))
    fall = sum((chance for ratio, chance in ratios if ratio <= level.alpha), Fraction(0))
    return Odds(rise, fall)


def _check_curve(curve: Curve, level: Level) -> None:
    if level.alpha == 1:
        raise InputError(
            "epsilon of a move of the odds must be > 0, got 0: every answer moves them by 0 or more", "epsilon"
        )
    if not curve.concave or curve.points[-1][1] != 1 or curve.at_one != 1 or sign(curve.at_zero) < 0:
        raise InputError("a bound on events must be concave, at least 0 at 0 and equal to 1 at 1")


def _last_nonnegative(points: list[Point]) -> Number:
    """The largest argument where a concave function that starts at or above 0 is not below 0."""
    k = max(k for k, (_, value) in enumerate(points) if sign(value) >= 0)
    if k + 1 == len(points):
        return points[k][0]
    (low, above), (high, below) = points[k : k + 2]
    return low + (high - low) * above / (above - below)
