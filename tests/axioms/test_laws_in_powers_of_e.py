"""Numbers that are rational in a power of e, as polynomials."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from strategies import fractions
from utmost.axioms.likelihood_ratio import (
    MAX_DEGREE,
    Unit,
    common_unit,
    group_by_ratio,
    lowest_terms,
    over_common_denominator,
    prepare_law,
    profile_curve,
)
from utmost.exact import Number, Real, epsilon, exponential, power
from utmost.mechanisms import geometric


@st.composite
def quotients(draw: st.DrawFn) -> Number:
    """Quotients of short sums of powers of e."""

    def sums() -> Number:
        total: Number = Fraction(draw(st.integers(1, 5)))
        for _ in range(draw(st.integers(0, 3))):
            total = total + draw(st.integers(1, 4)) * exponential(draw(fractions(-2, 2)))
        return total

    return sums() / sums()


@given(quotients())
def test_a_number_in_lowest_terms_is_the_same_number(value):
    assert lowest_terms(value) == value


@given(quotients(), quotients())
def test_common_factors_cancel(value, factor):
    longer = (value * factor) / factor
    assert lowest_terms(longer) == value
    assert len(str(lowest_terms(longer))) <= len(str(longer)) + 8  # a denominator that starts with 1 may be written out


@given(st.lists(quotients(), min_size=1, max_size=6))
def test_numbers_over_one_polynomial_are_what_they_were(values):
    unit = common_unit(values)
    if unit is None:
        return
    numerators, denominator = over_common_denominator(values, unit)
    assert [unit.number(numerator, denominator) for numerator in numerators] == values


def test_profiles_by_polynomials_are_those_by_reals():
    source = geometric(4, epsilon("1/3")).channel()
    unit = common_unit(source.rows.flat)
    curves = []
    for law_unit in (None, unit):
        rows = [prepare_law(source.rows[x], law_unit) for x in (1, 2)]
        curves.append(profile_curve(*rows, group_by_ratio(*rows)))
    assert curves[0] == curves[1]
    assert group_by_ratio(*rows).parts() == [[2, 3, 4], [0, 1]]


def test_ratios_too_near_for_doubles_are_ordered_in_powers_too():
    e_seventh = exponential(Fraction(1, 7))
    first = [e_seventh / 4, e_seventh / 4, 1 - e_seventh / 2]
    second = [e_seventh / 4 + Fraction(1, 10**30), e_seventh / 4 - Fraction(1, 10**30), 1 - e_seventh / 2]
    unit = common_unit(first)
    assert group_by_ratio(prepare_law(first, unit), prepare_law(second, unit)).parts() == [[0], [2], [1]]


def test_numbers_that_are_no_such_quotients_have_no_unit():
    assert common_unit([Fraction(1, 2)]) is None
    assert common_unit([power(2, Fraction(1, 2))]) is None
    assert common_unit([exponential(Fraction(1, 2)), exponential(power(2, Fraction(1, 2)))]) is None
    assert common_unit([exponential(MAX_DEGREE), exponential(Fraction(1, 2))]) is None
    root = power(2, Fraction(1, 2))
    assert lowest_terms(root) is root


def test_the_unit_is_the_least_common_one():
    assert common_unit([exponential(Fraction(-1, 6)), exponential(Fraction(1, 4))]) == Unit(12, -2)
    assert isinstance(exponential(Fraction(1, 4)), Real)
