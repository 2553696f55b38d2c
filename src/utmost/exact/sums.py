"""Exact sums of many numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

from utmost.exact.reals import Monomial, Number, Terms, collect_terms, numerator_and_denominator, simplify_quotient


def exact_sum(values: Sequence[Number]) -> Number:
    """The sum. Numbers over the same denominator are added term by term, and one quotient is simplified for all.

    >>> from utmost.exact import exponential
    >>> weight = exponential(-1) / (1 + exponential(-1))
    >>> exact_sum([weight, 1 - weight, Fraction(1, 2)])
    Fraction(3, 2)
    """
    groups: dict[tuple[tuple[Monomial, Fraction], ...], tuple[Terms, list[Terms]]] = {}
    for value in values:
        numerator, denominator = numerator_and_denominator(value)
        _, numerators = groups.setdefault(tuple(denominator.items()), (denominator, []))
        numerators.append(numerator)
    total: Number = Fraction(0)
    for denominator, numerators in groups.values():
        terms = chain.from_iterable(numerator.items() for numerator in numerators)
        total = total + simplify_quotient(collect_terms(terms), denominator)
    return total
