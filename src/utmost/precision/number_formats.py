"""Number formats and uniform generators, as data; the error of a sum in a format and its sensitivity.

A format is known by the error of one rounding, |fl(x) − x| ≤ relative·|x| + absolute; a generator by its values. That
is all the guarantees need, so a new machine is one more constant.

The sensitivity of a sum as a machine computes it (GMP13 §3.3, Remark 1).

f′ is within δ_f of f, so two neighbouring databases can be Δ + 2δ_f apart. In a tree of additions with depth h every
term takes part in at most h roundings, each a factor 1 + θ with |θ| ≤ u; so the result is Σ xᵢ(1 + θᵢ) with |θᵢ| ≤
(1+u)^h − 1, and δ_f = ((1+u)^h − 1)·m·B for m terms of at most B. (Underflow does no harm: a sum that is subnormal is
exact.) In fixed point sums are exact: δ_f = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import ball_endpoints, integer, rational

if TYPE_CHECKING:
    from flint import arb

MAX_BITS = 4096  # of a fixed-point format or a generator


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """Representable numbers with rounding to nearest, ties to even.

    A number in [2^e, 2^(e+1)) is a multiple of 2^(e−precision+1), but never of less than 2^floor; fixed point has
    precision None, so that 2^floor is its only step. `largest` is the largest finite number, None if there is none.
    """

    name: str
    precision: int | None
    floor: int
    largest: Fraction | None = None

    @property
    def relative(self) -> Fraction:
        """Unit roundoff: 2^−precision, 0 for fixed point."""
        return Fraction(0) if self.precision is None else Fraction(1, 2**self.precision)

    @property
    def absolute(self) -> Fraction:
        """Half of the smallest step."""
        return Fraction(2) ** (self.floor - 1)

    def rounding(self, magnitude: Fraction | int) -> Fraction:
        """The most that one rounding moves a number of at most this magnitude.

        >>> BINARY64.rounding(1) == Fraction(1, 2**53) + Fraction(1, 2**1075), fixed_point_format(6).rounding(100)
        (True, Fraction(1, 128))
        """
        return self.relative * magnitude + self.absolute

    def step(self, value: Fraction) -> Fraction:
        """The distance of neighbouring numbers of the format around `value`."""
        if self.precision is None or not value:
            return Fraction(2) ** self.floor
        return Fraction(2) ** max(_exponent(abs(value)) - self.precision + 1, self.floor)

    def nearest(self, value: Fraction) -> Fraction:
        """The number of the format nearest to `value`, ties to even.

        >>> fixed_point_format(2).nearest(Fraction(3, 8)), BINARY16.nearest(Fraction(1, 3))
        (Fraction(1, 2), Fraction(1365, 4096))
        """
        step = self.step(value)
        result = round(value / step) * step
        if self.largest is not None and abs(result) > self.largest:
            raise InputError(
                f"the numbers must stay below the largest of {self.name}", hint="take a smaller range or scale"
            )
        return result

    def nearest_real(self, value: Callable[[int], arb]) -> Fraction:
        """The same for a number known by balls: more bits are taken until the rounding is decided."""
        bits = 64
        while True:
            low, high = ball_endpoints(value(bits))
            if (nearest := self.nearest(low)) == self.nearest(high):
                return nearest
            bits *= 2

    def holds(self, value: Fraction) -> bool:
        """Is it a number of the format."""
        in_range = self.largest is None or abs(value) <= self.largest
        return in_range and (value / self.step(value)).denominator == 1


@dataclass(frozen=True, slots=True)
class UniformGenerator:
    """A uniform generator: the values first + step·z for z = 0 … count−1, each with probability 1/count."""

    count: int
    first: Fraction
    step: Fraction

    @property
    def delta0(self) -> Fraction:
        """δ₀ of GMP13 (1): the value drawn and a true uniform number, coupled by z = ⌊count·u⌋, differ by at most this.

        The distance from value z to [z/count, (z+1)/count] is largest at the first or at the last z, being linear in z.

        >>> uniform_generator(8).delta0, uniform_generator(8, "centred").delta0, uniform_generator(9, "closed").delta0
        (Fraction(1, 8), Fraction(1, 16), Fraction(1, 9))
        """
        end_indices = {0, self.count - 1}
        cell = Fraction(1, self.count)
        return max(max(abs(self.value(z) - z * cell), abs(self.value(z) - (z + 1) * cell)) for z in end_indices)

    def value(self, z: int) -> Fraction:
        """The z-th value."""
        return self.first + z * self.step

    def dyadic(self, bits: int) -> bool:
        """Are all its values multiples of 2^−bits in [0, 1]."""
        unit = 2**bits
        in_range = self.first >= 0 and self.value(self.count - 1) <= 1
        return in_range and (self.first * unit).denominator == 1 and (self.step * unit).denominator == 1


GENERATOR_KINDS = ("open", "centred", "closed")


def uniform_generator(count: object, kind: str = "open") -> UniformGenerator:
    """`open`: z/N, z < N. `centred`: (z + ½)/N. `closed`: N values from 0 to 1, as GMP13 Ex. 4.1 has it."""
    size = integer(count, "generator")
    if size < 2 or size > 2**MAX_BITS:
        raise InputError(f"generator must have from 2 to 2^{MAX_BITS} values, got {min(size, 2)}", "generator")
    if kind == "closed":
        return UniformGenerator(size, Fraction(0), Fraction(1, size - 1))
    if kind not in GENERATOR_KINDS:
        raise InputError(f'generator must be one of {", ".join(GENERATOR_KINDS)}, got "{kind[:20]}"', "generator")
    return UniformGenerator(size, Fraction(kind == "centred", 2 * size), Fraction(1, size))


def fixed_point_format(digits: int) -> NumberFormat:
    """Fixed point with so many binary digits after the point: the multiples of 2^−digits."""
    if not 0 <= digits <= MAX_BITS:
        raise InputError(f"fixed must have from 0 to {MAX_BITS} binary digits after the point", "fixed")
    return NumberFormat(f"fixed:{digits}", None, -digits)


def _ieee_format(name: str, precision: int, max_exponent: int) -> NumberFormat:
    """The IEEE 754 format with this precision and largest exponent."""
    largest = Fraction(2) ** max_exponent * (2 - Fraction(2) ** (1 - precision))
    return NumberFormat(name, precision, 2 - max_exponent - precision, largest)


BINARY16 = _ieee_format("binary16", 11, 15)
BINARY32 = _ieee_format("binary32", 24, 127)
BINARY64 = _ieee_format("binary64", 53, 1023)
FORMATS_BY_NAME = {fmt.name: fmt for fmt in (BINARY16, BINARY32, BINARY64)}


def parse_format(text: str) -> NumberFormat:
    """`binary16`, `binary32`, `binary64` or `fixed:D`.

    >>> parse_format("fixed:6").rounding(1), parse_format("binary32").relative == Fraction(1, 2**24)
    (Fraction(1, 128), True)
    """
    kind, _, digits = text.partition(":")
    if kind == "fixed" and digits.isascii() and digits.isdigit() and len(digits) <= 4:
        return fixed_point_format(int(digits))
    if text not in FORMATS_BY_NAME:
        raise InputError(f'format must be {", ".join(FORMATS_BY_NAME)} or fixed:D, got "{text[:40]}"', "format")
    return FORMATS_BY_NAME[text]


def usual_generator(number_format: NumberFormat) -> UniformGenerator:
    """The generator that goes with a format: multiples of 2^−precision in [0, 1) (of 2^−digits for fixed point).

    >>> usual_generator(BINARY64).count == 2**53
    True
    """
    bits = -number_format.floor if number_format.precision is None else number_format.precision
    return uniform_generator(2 ** max(bits, 1))


def _exponent(value: Fraction) -> int:
    """⌊log₂ value⌋ for value > 0."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


SUM_METHODS = ("naive", "pairwise", "fsum")
PAIRWISE_LEAF_TERMS = 128  # terms that numpy's pairwise sum adds one after the other, at most

MAX_ROUNDING_UNITS = 32  # h·u beyond which a sum has no correct digit, and its bound none worth writing


def depth(method: str, terms: int) -> int:
    """The most roundings that one term goes through.

    `naive` adds one after the other, the first term to nothing: m − 1. `pairwise` halves until at most 128 terms are
    left, and adds those one after the other: 127 at most, and one for each halving (numpy halves to multiples of 8,
    which costs one more). `fsum` is exact and rounds once.

    >>> depth("naive", 1000), depth("pairwise", 1000), depth("fsum", 1000)
    (999, 131, 1)
    """
    if method not in SUM_METHODS:
        raise InputError(f'method must be one of {", ".join(SUM_METHODS)}, got "{method[:20]}"', "method")
    if method == "fsum":
        return 1
    if method == "naive" or terms <= PAIRWISE_LEAF_TERMS:
        return max(terms - 1, 0)
    return PAIRWISE_LEAF_TERMS - 1 + (-(-terms // PAIRWISE_LEAF_TERMS) - 1).bit_length() + 1


def sum_error(number_format: NumberFormat, terms: object, bound: object, method: str = "naive") -> Fraction:
    """δ_f: the most that the computed sum of `terms` numbers of at most `bound` in magnitude is wrong by.

    >>> from utmost.precision.number_formats import BINARY64, fixed_point_format
    >>> sum_error(BINARY64, 1000, 1, "fsum") == Fraction(1000, 2**53), sum_error(fixed_point_format(6), 1000, 1)
    (True, Fraction(0, 1))
    """
    count, size = integer(terms, "terms"), rational(bound, "bound")
    if not 1 <= count <= 2**40:
        raise InputError("terms must be from 1 to 2^40", "terms")
    if size < 0:
        raise InputError("bound must be >= 0: it is a bound on each term's magnitude", "bound")
    if number_format.precision is None:
        return Fraction(0)
    return growth(number_format.relative, depth(method, count)) * count * size


def growth(unit: Fraction, steps: int) -> Fraction:
    """An upper bound of (1+u)^h − 1: hu/(1 − hu) where hu < 1, 2^{2hu} up to hu = 32; exactly u for h = 1."""
    if steps <= 1:
        return unit * steps
    product = unit * steps
    if product > MAX_ROUNDING_UNITS:
        raise InputError(
            "terms must be fewer for this format: so many rounding errors leave nothing of the sum", "terms"
        )
    return product / (1 - product) if product < 1 else Fraction(2) ** -int(-2 * product // 1)


def implemented_sensitivity(sensitivity: object, error: Fraction) -> Fraction:
    """Δ + 2δ_f.

    >>> implemented_sensitivity(1, Fraction(1, 8))
    Fraction(5, 4)
    """
    value = rational(sensitivity, "sensitivity")
    if value <= 0:
        raise InputError("sensitivity must be > 0", "sensitivity")
    return value + 2 * error
