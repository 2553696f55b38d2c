"""A printed bound holds: upper bounds are rounded up, lower bounds down, whatever kind of number they are."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import (
    decimal_above,
    decimal_below,
    enclosure,
    exponential,
    json_above,
    json_below,
    power,
)
from utmost.exact.working_precision import working_precision

fractions = st.builds(
    lambda n, d, e: Fraction(n, d) * Fraction(10) ** e,
    st.integers(-(10**20), 10**20),
    st.integers(1, 10**20),
    st.integers(-330, 330),
)
digit_counts = st.integers(1, 30)


def unit(value: Fraction, digits: int) -> Fraction:
    """What the last of so many digits is worth, at most."""
    return 10 * abs(value) / Fraction(10) ** (digits - 1)


@given(fractions, digit_counts)
def test_an_upper_bound_is_not_below_the_number_and_no_further_than_its_last_digit(
    value: Fraction, digits: int
) -> None:
    assert value <= Fraction(decimal_above(value, digits)) <= value + unit(value, digits)


@given(fractions, digit_counts)
def test_a_lower_bound_is_not_above_the_number_and_no_further_than_its_last_digit(value: Fraction, digits: int) -> None:
    assert value - unit(value, digits) <= Fraction(decimal_below(value, digits)) <= value


@given(st.floats(allow_nan=False, allow_infinity=False), digit_counts)
def test_a_float_is_read_as_the_fraction_it_is(value: float, digits: int) -> None:
    assert Fraction(decimal_below(value, digits)) <= Fraction(value) <= Fraction(decimal_above(value, digits))


@pytest.mark.parametrize("value", [power(2, Fraction(1, 2)), exponential(-700), -exponential(Fraction(1, 3))])
@pytest.mark.parametrize("digits", [1, 2, 6, 12, 25])
def test_an_irrational_number_lies_between_its_bounds(value: object, digits: int) -> None:
    low, high = enclosure(value, 400)  # type: ignore[arg-type]
    assert Fraction(decimal_below(value, digits)) < low < high < Fraction(decimal_above(value, digits))  # type: ignore[arg-type]


def test_a_ball_is_written_by_its_ends() -> None:
    with working_precision(64):
        ball = arb(1, 0.25)
    assert Fraction(decimal_below(ball, 2)) <= Fraction(3, 4)
    assert Fraction(5, 4) <= Fraction(decimal_above(ball, 2))


@given(fractions)
def test_a_bound_in_a_document_holds_as_it_is_written(value: Fraction) -> None:
    upper, lower = (json.loads(json.dumps(bound(value)), parse_float=str) for bound in (json_above, json_below))
    assert Fraction(lower) <= value <= Fraction(upper)


def test_what_has_no_bound_is_infinite() -> None:
    assert (json_above(None), json_below(None), decimal_above(math.inf)) == ("inf", "inf", "inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [("2.12e-15", "2.2e-15"), ("0.5", "0.5"), ("1e-4", "0.0001"), ("1e-5", "1e-05"), ("99.5", "1e+02"), ("0", "0")],
)
def test_two_digits_upward(value: str, text: str) -> None:
    assert decimal_above(Fraction(value), 2) == text
