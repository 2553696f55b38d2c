"""Exact numbers against fractions, high-precision balls and known identities."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import fractions, numbers
from utmost.errors import InputError
from utmost.exact import Number, Real, ball, decimal, enclosure, exponential, integer, number, power, rational, sign
from utmost.exact.reals import midpoint

HALF = Fraction(1, 2)


def balls_overlap(value: Number, other: object) -> bool:
    """Two balls of 200 bits that meet."""
    return bool(ball(value, 200).overlaps(other))


@given(numbers(), numbers(), numbers())
@settings(max_examples=60)
def test_exact_numbers_form_a_commutative_ring(a: Number, b: Number, c: Number) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0


@given(numbers(), numbers())
@settings(max_examples=60)
def test_division_undoes_multiplication(a: Number, b: Number) -> None:
    if b:
        assert a * b / b == a
        assert (a / b) * b == a


@given(numbers(), numbers())
@settings(max_examples=60)
def test_operations_agree_with_ball_arithmetic(a: Number, b: Number) -> None:
    left, right = ball(a, 200), ball(b, 200)
    assert balls_overlap(a + b, left + right)
    assert balls_overlap(a * b, left * right)
    assert (a < b) == bool(left < right) or a == b


@given(numbers(), numbers())
@settings(max_examples=60)
def test_comparison_is_decided_even_when_the_difference_is_tiny(a: Number, b: Number) -> None:
    tiny = Fraction(1, 10**60) * exponential(1)
    assert a < a + tiny
    assert not a + tiny < a
    assert (a < b) + (a == b) + (a > b) == 1


def test_equal_numbers_written_differently_are_equal() -> None:
    alpha = exponential(Fraction(-1, 10))
    assert (1 - alpha * alpha) / (1 + alpha) == 1 - alpha
    assert power(8, HALF) == 2 * power(2, HALF)
    assert power(2, Fraction(1, 3)) * power(4, Fraction(1, 3)) == 2
    assert power(6, HALF) == power(2, HALF) * power(3, HALF)
    assert exponential(1) * exponential(-1) == 1
    assert 1 / power(2, HALF) == power(2, HALF) / 2


def test_rational_results_come_out_as_fractions() -> None:
    alpha = exponential(Fraction(-1, 10))
    for value in (power(4, HALF), power(2, HALF) ** 2, alpha / alpha, (1 + alpha) / (1 + alpha), exponential(0)):
        assert type(value) is Fraction


def test_an_enclosure_of_300_bits_brackets_the_root() -> None:
    """√2 against rational bounds less than 2^−298 apart."""
    root = power(2, HALF)
    low, high = enclosure(root, 300)
    assert low < root < high
    assert high - low < Fraction(1, 2**298)
    assert low**2 < 2 < high**2


@given(fractions(-30, 30))
def test_float_is_the_nearest_double_of_the_exponential(q: Fraction) -> None:
    middle = midpoint(ball(exponential(q), 300))
    assert float(exponential(q)) == pytest.approx(float(middle), rel=1e-15)


@given(numbers())
@settings(max_examples=60)
def test_what_is_written_is_read_back(value: Number) -> None:
    assert number(str(value)) == value
    if value:
        quotient = (1 + exponential(Fraction(1, 7))) / value
        assert number(str(quotient)) == quotient


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/2", HALF),
        ("0.1", Fraction(1, 10)),
        ("-3", Fraction(-3)),
        ("1e-6", Fraction(1, 10**6)),
        (" 2 / 4 ", HALF),
        (".5", HALF),
        ("2^3", Fraction(8)),
        ("-2^2", Fraction(-4)),
        ("(1+1/3)*3", Fraction(4)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("−1", Fraction(-1)),
    ],
)
def test_number_texts_are_parsed(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "bad",
    ["", "nan", "inf", "1/0", "1//2", "0x10", "1e99999999", "__import__('os')", "1 2", "((1)", "2^2^99999",
     "exp(exp(1))", "2^exp(1)", "sqrt(sqrt(2)+1)",
         "1" * 200_000, "(" * 1000 + "1" + ")" * 1000, "9^9^9", "1,5", "²", "True", 0.5, float("nan"), None,
     True, Decimal("nan"), [1], "1/(2^10000)^10000", "exp(-1e9999)", "+".join(["sqrt(2)"] * 2000)],
)  # fmt: skip
def test_what_is_not_a_number_is_refused_in_one_line(bad: object) -> None:
    with pytest.raises(InputError) as caught:
        number(bad, "alpha")
    assert "alpha must" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_float_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="write it as text"):
        number(0.1)
    with pytest.raises(TypeError):
        power(2, HALF) + 0.5  # type: ignore[operator]


def test_rational_and_integer_refuse_other_numbers() -> None:
    assert rational("3/4") == Fraction(3, 4)
    assert integer("12") == 12
    with pytest.raises(InputError):
        rational("sqrt(2)")
    with pytest.raises(InputError):
        integer("1/2")


def test_a_root_that_cannot_be_factored_is_refused() -> None:
    with pytest.raises(InputError, match="at most 128 bits"):
        power(2**200 + 1, HALF)


@given(st.integers(1, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_powers_obey_the_law_of_exponents(base: int, top: int, bottom: int) -> None:
    root = power(base, Fraction(top, bottom))
    product: Number = Fraction(1)
    for _ in range(bottom):
        product = product * root
    assert product == base**top


def test_sign_of_zero_and_of_reals() -> None:
    assert [sign(v) for v in (Fraction(0), Fraction(-2), power(2, HALF) - 2, power(5, HALF) - 2)] == [0, -1, -1, 1]


def test_numbers_beyond_the_range_of_doubles_become_infinite_or_zero() -> None:
    assert float(exponential(1000)) == float("inf")
    assert float(-exponential(1000)) == float("-inf")
    assert float(exponential(-1000)) == 0.0


def test_decimals_are_free_of_float_artefacts() -> None:
    assert decimal(0.1 + 0.2) == "0.3"
    assert decimal(Fraction(1, 3), 3) == "0.333"
    assert decimal(number("exp(-999)"), 4) == "1.380e-434"  # 10^(−999/ln 10), no 0
    assert decimal(-number("exp(999)"), 4) == "-7.247e+433"
    assert decimal(-0.0) == "0"
    assert isinstance(power(2, HALF), Real)


def test_numpy_integers_are_numbers() -> None:
    import numpy as np

    assert number(np.int64(7)) == 7
    assert integer(np.uint8(200)) == 200
