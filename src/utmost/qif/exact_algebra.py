"""Numbers of channels: rational functions of powers, linear systems, irrational numbers enclosed.

The entries of a mechanism are quotients of sums of products of a few powers, e^(−1/10), e^(−√2/10), 2^(−√5).
Calculating with these as if they were free variables, and dividing common factors out, keeps elimination small where
plain sums would double in length at every step. What holds of the variables holds of the numbers put for them, so a
solution that is found is a solution; that none is found proves nothing unless the powers are independent, and is not
relied on.

Exact linear systems over the numbers that channels are made of: fractions in flint, the others in their
rational functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly, fmpq_mpoly_ctx

from utmost.channel import Matrix
from utmost.channel.channel import matrix_product
from utmost.exact import Number, Real, ball, ball_endpoints, enclosure, exponential, power
from utmost.exact.surds import surd_terms
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

PRECISION_BITS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Enclosure:
    """lower ≤ number ≤ upper, proved; lower = upper where the number is known to be that fraction.

    >>> third = Enclosure(Fraction(1, 3), Fraction(1, 3))
    >>> third.value, third.error < 1e-16, (third - third).exact
    (0.3333333333333333, True, True)
    """

    lower: Fraction
    upper: Fraction

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.lower == self.upper

    @property
    def value(self) -> float:
        """The double nearest to the middle."""
        return float((self.lower + self.upper) / 2)

    @property
    def error(self) -> float:
        """A bound on |number − value|."""
        middle = Fraction(self.value)
        radius = max(self.upper - middle, middle - self.lower)
        return math.nextafter(float(radius), math.inf) if radius else 0.0

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<{self.value:.15g}{'' if self.exact else f' ± {self.error:.0e}'}>"

    def __sub__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.lower - other.upper, self.upper - other.lower)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """The quotient of numbers ≥ 0, the second one > 0."""
        return Enclosure(self.lower / other.upper, self.upper / other.lower)

    def at_least(self, bound: int) -> Enclosure:
        """The same, of a number that is known to be at least `bound`."""
        return Enclosure(max(self.lower, Fraction(bound)), max(self.upper, Fraction(bound)))


def exact_enclosure(value: Fraction | int) -> Enclosure:
    """A number that is known."""
    return Enclosure(Fraction(value), Fraction(value))


def log2_enclosure(value: Number, precision: int = PRECISION_BITS) -> Enclosure:
    """log₂ of an exact number > 0; known where that is a power of 2.

    >>> log2_enclosure(Fraction(1, 8)), log2_enclosure(Fraction(3)).value
    (<-3>, 1.584962500721156)
    """
    exponent = _binary_exponent(value)
    return ball_enclosure(_log2(value, precision)) if exponent is None else exact_enclosure(exponent)


def entropy_term(value: Number, precision: int = PRECISION_BITS) -> Enclosure:
    """−p·log₂ p, 0 for p = 0; known where p is 0 or a power of 2."""
    exponent = _binary_exponent(value) if value else 0
    if exponent is not None and isinstance(value, Fraction):
        return exact_enclosure(-value * exponent)
    with working_precision(precision + 16):
        return ball_enclosure(-ball(value, precision + 16) * _log2(value, precision))


def sum_enclosures(terms: list[Enclosure]) -> Enclosure:
    """The sum."""
    return Enclosure(sum((p.lower for p in terms), Fraction(0)), sum((p.upper for p in terms), Fraction(0)))


def ball_enclosure(value: arb) -> Enclosure:
    """The interval of a ball."""
    return Enclosure(*ball_endpoints(value))


def _log2(value: Number, precision: int) -> arb:
    from flint import arb

    with working_precision(precision + 16):
        return ball(value, precision + 16).log() / arb(2).log()


def _binary_exponent(value: Number) -> int | None:
    """k if this is 2^k, else None."""
    if not isinstance(value, Fraction) or value <= 0:
        return None
    numerator, denominator = value.numerator, value.denominator
    is_power = numerator & (numerator - 1) == 0 and denominator & (denominator - 1) == 0
    return numerator.bit_length() - denominator.bit_length() if is_power else None


Key: TypeAlias = tuple[int, int]  # (p, k) is the power p^√k of a prime p, (0, k) is e^√k
Powers: TypeAlias = dict[Key, Fraction]

HALF = Fraction(1, 2)
MAX_DEGREE = 1000  # of an entry in a variable


@dataclass(frozen=True, slots=True)
class Ratio:
    """numerator/denominator, without a common factor; the leading coefficient of `denominator` is 1."""

    numerator: fmpq_mpoly
    denominator: fmpq_mpoly

    def __add__(self, other: Ratio) -> Ratio:
        if self.denominator == other.denominator:
            return reduce_ratio(self.numerator + other.numerator, self.denominator)
        return reduce_ratio(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __sub__(self, other: Ratio) -> Ratio:
        return self + Ratio(-other.numerator, other.denominator)

    def __mul__(self, other: Ratio) -> Ratio:
        return reduce_ratio(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: Ratio) -> Ratio:
        return reduce_ratio(self.numerator * other.denominator, self.denominator * other.numerator)

    def __bool__(self) -> bool:
        return not self.numerator.is_zero()


def reduce_ratio(numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> Ratio:
    """The ratio of two polynomials."""
    if numerator.is_zero():
        return Ratio(numerator, numerator.context().constant(1))
    common = numerator.gcd(denominator)
    if not common.is_constant():
        numerator, denominator = numerator // common, denominator // common
    lead = denominator.leading_coefficient()
    return Ratio(numerator / lead, denominator / lead)


@dataclass(frozen=True, slots=True)
class Field:
    """The variables: variable i stands for key_i^step_i."""

    context: fmpq_mpoly_ctx
    steps: Powers

    def ratio(self, value: Number) -> Ratio:
        """The number as a ratio of polynomials in the variables."""
        if not isinstance(value, Real):
            constant = self.context.constant
            return Ratio(constant(fmpq(value.numerator, value.denominator)), constant(1))
        numerator, denominator = ([(self._exponents(m), c) for m, c in terms.items()] for terms in value.terms())
        low = [min(column) for column in zip(*(e for e, _ in numerator + denominator), strict=True)]
        return reduce_ratio(*(self._polynomial(terms, low) for terms in (numerator, denominator)))

    def number(self, ratio: Ratio) -> Number:
        """The number that a ratio is; ZeroDivisionError if its denominator is 0 as a number."""
        return self._value(ratio.numerator) / self._value(ratio.denominator)

    def substitute(self, values: Iterable[Number], bits: int) -> list[Fraction]:
        """The values with fractions within 2^−bits or so substituted for the variables: close, and identities are kept.

        So rows that sum to 1 by cancelling still do, and columns that depend on each other still do.
        """
        enclosures = [enclosure(_power(key, step), bits) for key, step in self.steps.items()]
        point = [fmpq((low + high).numerator, 2 * (low + high).denominator) for low, high in enclosures]
        ratios = (self.ratio(value) for value in values)
        return [_fraction(ratio.numerator(*point) / ratio.denominator(*point)) for ratio in ratios]

    def _exponents(self, monomial: Any) -> list[int]:
        powers = _powers(monomial)
        return [int(powers.get(key, Fraction(0)) / step) for key, step in self.steps.items()]

    def _polynomial(self, terms: list[tuple[list[int], Fraction]], low: list[int]) -> fmpq_mpoly:
        shifted = {
            tuple(e - lowest for e, lowest in zip(exponents, low, strict=True)): fmpq(c.numerator, c.denominator)
            for exponents, c in terms
        }
        return self.context.from_dict(shifted)

    def _value(self, polynomial: fmpq_mpoly) -> Number:
        """The sum of its terms, added in pairs so that long sums stay cheap."""
        degrees = zip(self.steps.items(), polynomial.degrees(), strict=True)
        powers = [_ladder(key, step, degree) for (key, step), degree in degrees]
        sums: list[Number] = []
        for exponents, c in polynomial.to_dict().items():
            rungs = [ladder[e] for ladder, e in zip(powers, exponents, strict=True) if e]
            sums.append(math.prod(rungs, start=_fraction(c)))
        while len(sums) > 1:
            sums = [sum(sums[k : k + 2], Fraction(0)) for k in range(0, len(sums), 2)]
        return sums[0] if sums else Fraction(0)


def common_field(values: Iterable[Number]) -> Field | None:
    """The field of all rational functions of the powers in these values; None if a degree would exceed `MAX_DEGREE`."""
    exponents: dict[Key, set[Fraction]] = {}
    for value in values:
        for terms in value.terms() if isinstance(value, Real) else ():
            for monomial in terms:
                for key, exponent in _powers(monomial).items():
                    exponents.setdefault(key, {Fraction(0)}).add(exponent)
    steps = {key: reduce(_common_divisor, used) for key, used in exponents.items()}
    if any(
        max(key_exponents) - min(key_exponents) > MAX_DEGREE * steps[key] for key, key_exponents in exponents.items()
    ):
        return None
    names = tuple(f"t{k}" for k in range(len(steps)))
    return Field(fmpq_mpoly_ctx.get(names, Ordering.lex), steps)


def add_exact(values: Iterable[Number]) -> Number:
    """The sum. Irrational ones are added in their field, where fractions of like denominators stay short."""
    nonzero = [value for value in values if value]
    if not any(isinstance(value, Real) for value in nonzero):
        return sum(nonzero, Fraction(0))
    field = common_field(nonzero)
    if field is None:
        return sum(nonzero, Fraction(0))
    ratios = [field.ratio(value) for value in nonzero]
    return field.number(sum(ratios[1:], ratios[0]))


def _powers(monomial: Any) -> Powers:
    """The exponent of each power in e^q·∏ p^r."""
    exponent, radicals = monomial
    return {(base, k): c for base, surd in ((0, exponent), *radicals) for k, c in surd_terms(surd)}


def _power(key: Key, exponent: Fraction) -> Number:
    """p^(c·√k), e for p = 0."""
    base, k = key
    return power(base, exponent * power(k, HALF)) if base else exponential(exponent * power(k, HALF))


def _ladder(key: Key, step: Fraction, degree: int) -> list[Number]:
    """The powers 0, 1, …, top of a variable."""
    return [_power(key, step * e) for e in range(degree + 1)]


def _common_divisor(left: Fraction, right: Fraction) -> Fraction:
    """The largest fraction of which both are whole multiples."""
    denominator = math.lcm(left.denominator, right.denominator)
    return Fraction(math.gcd(int(left * denominator), int(right * denominator)), denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


GUESS_BITS = 64  # bits of the fractions that stand for irrational numbers where only a guess is needed
MAX_UNKNOWNS = {0: 1 << 20, 1: 64, 2: 12, 3: 6}  # by the number of independent powers; more of them: 3


def has_irrational(*matrices: Matrix) -> bool:
    """Whether any entry is irrational."""
    return any(isinstance(value, Real) for source in matrices for value in source.flat)


def rational_approximation(bits: int, *matrices: Matrix) -> tuple[Matrix, ...]:
    """Matrices of fractions near these, of the same rank if few powers are involved; themselves if fractions."""
    if not has_irrational(*matrices):
        return matrices
    values = [value for source in matrices for value in source.flat]
    field = common_field(values)
    fractions = iter([sum(enclosure(v, bits)) / 2 for v in values] if field is None else field.substitute(values, bits))
    return tuple(object_matrix([[next(fractions) for _ in row] for row in source]) for source in matrices)


def independent_columns(source: Matrix) -> list[int]:
    """The first columns that are a basis of the column space; of irrational ones, those that seem to be."""
    (approximation,) = rational_approximation(GUESS_BITS, source)
    table, rank = fmpq_matrix(approximation).rref()
    return [next(k for k, value in enumerate(row) if value) for row in table.tolist()[:rank]]


def is_solvable(left: Matrix, right: Matrix) -> bool:
    """Whether `solve_system` handles the system left·X = right: of many unknowns only where few powers are
    involved.
    """
    field = common_field([*left.flat, *right.flat])
    return field is not None and bool(left.shape[1] <= MAX_UNKNOWNS.get(len(field.steps), 3))


def solve_system(left: Matrix, right: Matrix) -> Matrix | None:
    """The X with left·X = right, exactly, where left has independent columns; None if none is found.

    Of fractions, none is found where there is none.
    """
    if not has_irrational(left, right):
        return _solve_rational(left, right)
    augmented = np.hstack([left, right])
    field = common_field(augmented.flat)
    if field is None:
        return None
    solution = eliminate([[field.ratio(value) for value in line] for line in augmented], left.shape[1])
    try:
        return (
            None if solution is None else object_matrix([[field.number(value) for value in line] for line in solution])
        )
    except ZeroDivisionError:
        return None


def eliminate(rows: list[list[Any]], size: int) -> list[list[Any]] | None:
    """The one X with M·X = N by Gauss–Jordan on [M | N], M of `size` columns over any field; None if there is none."""
    for k in range(size):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        pivot_value = rows[k][k]
        rows[k] = [value / pivot_value for value in rows[k]]
        for r in range(len(rows)):
            factor = rows[r][k]
            if r != k and factor:
                pairs = zip(rows[r], rows[k], strict=True)
                rows[r] = [value - factor * above if above else value for value, above in pairs]
    return None if any(value for line in rows[size:] for value in line) else [line[size:] for line in rows[:size]]


def fmpq_matrix(source: Matrix) -> fmpq_mat:
    """A matrix of fractions as flint has it."""
    return fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in source])


def object_matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    """An array of objects."""
    result = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        result[k, :] = row
    return result


def _solve_rational(left: Matrix, right: Matrix) -> Matrix | None:
    rows = independent_columns(left.T)
    if len(rows) < left.shape[1]:
        return None
    table = fmpq_matrix(left[rows]).solve(fmpq_matrix(right[rows])).tolist()
    solution = object_matrix([[Fraction(int(v.p), int(v.q)) for v in row] for row in table])
    return solution if bool(np.all(matrix_product(left, solution) == right)) else None
