"""Numbers for people: bounds are outward in every form, and what is typeset is what is printed."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import power
from utmost.reports.numbers import MINUS, THIN_SPACE, at_least, at_most, quantity, typeset

VALUES = st.one_of(
    st.fractions(-(10**18), 10**18),
    st.floats(-1e18, 1e18, allow_nan=False),
    st.integers(-(10**17), 10**17),
    st.builds(lambda k, e: Fraction(k) * Fraction(10) ** e, st.integers(-999, 999), st.integers(-40, 10)),
)
DIGITS = st.integers(1, 9)


@given(VALUES, DIGITS)
def test_upper_bounds_are_not_below_and_lower_bounds_not_above(value: int | float | Fraction, digits: int) -> None:
    assert Fraction(at_least(value, digits).rounded) <= Fraction(value) <= Fraction(at_most(value, digits).rounded)


@given(VALUES, DIGITS)
def test_the_typeset_text_is_the_rounded_number(value: int | float | Fraction, digits: int) -> None:
    text = quantity(value, digits)
    assert text.typeset.replace(THIN_SPACE, "").replace(MINUS, "-") == text.rounded == str(text)


@given(st.fractions(-(10**15), 10**15), DIGITS)
def test_rounding_is_within_one_unit_of_the_last_digit(value: Fraction, digits: int) -> None:
    below, above = (Fraction(bound(value, digits).rounded) for bound in (at_least, at_most))
    assert below <= value <= above
    assert above - below <= max(1, abs(value)) * Fraction(10) ** (2 - digits) or above - below <= 1


def test_digits_are_grouped_in_threes() -> None:
    assert typeset("123") == "123"
    assert typeset("1234") == f"1{THIN_SPACE}234"
    assert typeset("-12345.5") == f"{MINUS}12{THIN_SPACE}345.5"
    assert typeset("1e-05") == f"1e{MINUS}05"


def test_a_suffix_follows_the_number() -> None:
    assert str(quantity(Fraction(21, 2), suffix=" rows")) == "10.5 rows"


@given(st.integers(1, 10**28), DIGITS)
def test_irrational_numbers_are_rounded_outward_however_large(square: int, digits: int) -> None:
    root = power(square, Fraction(1, 2))
    below, above = (Fraction(bound(root, digits).rounded) for bound in (at_least, at_most))
    assert below**2 <= square <= above**2
    assert below <= Fraction(quantity(root, digits).rounded) + 1


def test_a_number_that_rounding_makes_longer_keeps_its_digits() -> None:
    assert [str(bound(Fraction("9999.7"))) for bound in (at_most, quantity)] == ["10000", "10000"]
