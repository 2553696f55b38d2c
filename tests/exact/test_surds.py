"""Powers whose exponents are sums of square roots: exact, decided, written and read back."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import fractions
from utmost.errors import InputError
from utmost.exact import Number, Real, alpha, ball, epsilon, exponential, number, power, sign
from utmost.exact.reals import exponent_of, value_of
from utmost.exact.surds import Surd

HALF = Fraction(1, 2)
ROOT2, ROOT5 = power(2, HALF), power(5, HALF)


@st.composite
def surds(draw: st.DrawFn) -> Number:
    """a + b·√2 + c·√5, small."""
    a, b, c = (draw(fractions(-3, 3)) for _ in range(3))
    return a + b * ROOT2 + c * ROOT5


@st.composite
def powers(draw: st.DrawFn) -> Number:
    """Sums of terms c·e^surd, or of terms c·(2/3)^(a+b·√2): the two cases that are proved to be decided."""
    use_exponentials = draw(st.booleans())
    total: Number = draw(fractions(-3, 3))
    for _ in range(draw(st.integers(1, 3))):
        if use_exponentials:
            total = total + draw(fractions(-3, 3)) * exponential(draw(surds()))
        else:
            exponent = draw(fractions(-2, 2)) + draw(fractions(-2, 2)) * ROOT2
            total = total + draw(fractions(-3, 3)) * power(Fraction(2, 3), exponent)
    return total


@given(surds(), surds())
@settings(max_examples=80)
def test_powers_turn_sums_into_products(a: Number, b: Number) -> None:
    assert exponential(a) * exponential(b) == exponential(a + b)
    base = Fraction(6, 5)
    assert power(base, a) * power(base, b) == power(base, a + b)
    assert power(base, a) / power(base, a) == 1
    assert power(base, a) * power(1 / base, a) == 1


@given(surds())
@settings(max_examples=80)
def test_an_exponent_converts_to_a_number_and_back(a: Number) -> None:
    assert value_of(exponent_of(a)) == a
    assert isinstance(exponent_of(a), Surd) == isinstance(a, Real)


@given(powers(), powers(), powers())
@settings(max_examples=60, deadline=None)
def test_sums_of_such_powers_form_a_ring_and_agree_with_balls(a: Number, b: Number, c: Number) -> None:
    assert (a + b) * c == a * c + b * c
    assert (a - b) + b == a
    assert ball(a * b + c, 200).overlaps(ball(a, 200) * ball(b, 200) + ball(c, 200))
    if b:
        assert a / b * b == a


@given(powers())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(value: Number) -> None:
    assert number(str(value)) == value


def test_equal_powers_compare_equal_and_close_ones_do_not() -> None:
    assert power(2, number("sqrt(8)")) == power(4, ROOT2)
    assert power(4, ROOT2 / 2) == power(2, ROOT2)
    assert exponential(ROOT2 + ROOT2) == exponential(number("sqrt(8)"))
    assert power(2, 3 + ROOT2) == 8 * power(2, ROOT2)
    truncated_decimal = Fraction(
        2665144142690225188650297249873139848274211313714659, 10**51
    )  # 2^√2, 51 decimals, cut off
    assert sign(power(2, ROOT2) - truncated_decimal) > 0
    assert sign(power(2, ROOT2) - truncated_decimal - Fraction(1, 10**51)) < 0


def test_a_level_takes_distances_of_the_plane() -> None:
    half, tenth = alpha(HALF), epsilon("0.1")
    assert half.power(ROOT2) * half.power(1 - ROOT2) == HALF
    assert tenth.power(ROOT5) == exponential(-ROOT5 / 10)
    assert alpha(0).power(ROOT2) == 0
    assert alpha(1).power(ROOT2) == 1
    for level in (half, tenth):
        assert ball(level.power(ROOT2), 200).overlaps(level.power_ball(ROOT2, 200))


@pytest.mark.parametrize("bad", [exponential(1), power(2, Fraction(1, 3)), power(2, ROOT2)])
def test_other_irrational_exponents_are_refused(bad: Number) -> None:
    for call in (exponential, lambda e: power(2, e)):
        with pytest.raises(InputError, match="sum of square roots"):
            call(bad)
