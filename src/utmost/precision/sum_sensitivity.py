"""The sensitivity of a sum as a machine computes it (GMP13 §3.3, Remark 1).

f′ is within δ_f of f, so two neighbouring databases can be Δ + 2δ_f apart. In a tree of additions with depth h every
term takes part in at most h roundings, each a factor 1 + θ with |θ| ≤ u; so the result is Σ xᵢ(1 + θᵢ) with |θᵢ| ≤
(1+u)^h − 1, and δ_f = ((1+u)^h − 1)·m·B for m terms of at most B. (Underflow does no harm: a sum that is subnormal is
exact.) In fixed point sums are exact: δ_f = 0.
"""

from __future__ import annotations

from fractions import Fraction

from utmost.errors import InputError
from utmost.exact import integer, rational
from utmost.precision.number_formats import NumberFormat

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
