"""Constants folded into a column's own type: against brute force and Python's own rounding."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.predicates import reference
from data.predicates.strategies import single
from utmost.data.engines.expressions import digits
from utmost.data.predicates.arithmetic import decimal_shift
from utmost.data.predicates.typed_values import (
    DOUBLE,
    MIRRORED_SIGNS,
    SIGNS,
    SINGLE,
    compare_on_floats,
    compare_on_integers,
    nearest_float,
)

SIGN = st.sampled_from(sorted(SIGNS))
NUMBERS = st.one_of(
    st.fractions(max_denominator=8),
    st.integers(-20, 20).map(Fraction),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.builds(lambda k, e: Fraction(k) * Fraction(10) ** e, st.integers(-(10**30), 10**30), st.integers(-400, 400)),
)


def test_a_number_against_whole_values_is_folded_without_changing_any_answer() -> None:
    for low, high in [(-3, 4), (0, 0), (0, 5)]:
        for sign, compare in SIGNS.items():
            for number in [Fraction(n, 4) for n in range(-40, 41)]:
                fold = compare_on_integers(sign, number, low, high)
                for x in range(low, high + 1):
                    answer = fold if isinstance(fold, bool) else SIGNS[fold[0]](x, fold[1])
                    assert answer == compare(x, number)
                assert isinstance(fold, bool) or low <= fold[1] <= high


@given(SIGN, NUMBERS, st.integers(-(10**40), 10**40))
def test_a_number_against_unbounded_whole_values_is_folded_without_changing_any_answer(
    sign: str, number: Fraction, x: int
) -> None:
    fold = compare_on_integers(sign, number)
    assert (fold if isinstance(fold, bool) else SIGNS[fold[0]](x, fold[1])) == SIGNS[sign](x, number)


@settings(max_examples=500)
@given(NUMBERS)
@example(Fraction(0))
@example(Fraction(1.7976931348623157e308) + Fraction(2) ** 970)
@example(Fraction(1.7976931348623157e308) + Fraction(2) ** 970 - 1)
@example(Fraction(1, 2**1075))
@example(Fraction(3, 2**1075))
def test_the_nearest_double_is_pythons(number: Fraction) -> None:
    try:
        expected: float | None = float(number)
    except OverflowError:
        expected = None
    nearest = nearest_float(number, DOUBLE)
    assert (None if nearest is None else float(nearest)) == expected


@settings(max_examples=500)
@given(NUMBERS | st.floats(width=32, allow_nan=False, allow_infinity=False).map(Fraction))
@example(Fraction(16777217))
@example(Fraction(16777219))
@example(Fraction(16777217) + Fraction(1, 10**30))  # rounding twice, by way of a double, goes wrong here
@example(Fraction(2) ** 128 - Fraction(2) ** 103)
@example(Fraction(1, 2**150))
def test_the_nearest_single_is_the_closest_of_all_ties_to_even(number: Fraction) -> None:
    nearest, expected = nearest_float(number, SINGLE), reference.nearest_float(number, "single")
    assert (number if nearest is None else nearest) == expected
    assert nearest is None or single(float(nearest)) == float(nearest)


@given(SIGN, NUMBERS, st.floats(allow_nan=False))
@example(">", Fraction(10) ** 400, math.inf)
@example("<", -(Fraction(10) ** 400), -math.inf)
@example("!=", Fraction(10) ** 400, math.inf)
def test_a_number_against_floats_is_read_as_the_nearest_and_beyond_the_largest_as_itself(
    sign: str, number: Fraction, x: float
) -> None:
    fold = compare_on_floats(sign, number, DOUBLE)
    answer = fold if isinstance(fold, bool) else SIGNS[fold[0]](x, fold[1])
    assert answer == SIGNS[sign](x, reference.nearest_float(number, "double"))


@given(SIGN, st.integers(), st.integers())
def test_a_mirrored_sign_compares_from_the_other_side(sign: str, left: int, right: int) -> None:
    assert SIGNS[sign](left, right) == SIGNS[MIRRORED_SIGNS[sign]](right, left)


@given(st.integers(), st.integers(0, 60))
def test_digits_and_scales_are_exact(value: int, scale: int) -> None:
    number = Fraction(value, 10**scale)
    assert Fraction(digits(value, scale)) == number
    numerator, least_scale = decimal_shift(number)
    assert Fraction(numerator, 10**least_scale) == number
    assert least_scale == 0 or numerator % 10
