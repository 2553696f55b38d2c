"""Numbers for people, exact underneath."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import number as read
from utmost.exact import power
from utmost.reports.numbers import quantity
from utmost.studio.rendering import FormattedNumber, number_html, rounded_text

EXACT = st.one_of(st.integers(), st.fractions(), st.integers().map(lambda k: Fraction(10) ** (k % 700 - 350)))


@given(EXACT, st.integers(2, 8))
def test_the_exact_value_is_kept_and_the_text_is_as_near_as_its_digits(value, digits):
    formatted = FormattedNumber.of(quantity(value, digits))
    assert read(formatted.exact) == value
    text = Fraction(formatted.text.replace("−", "-").replace(chr(0x202F), ""))
    assert abs(text - value) <= abs(value) * Fraction(6, 10**digits)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.1 + 0.2, "0.3"), (-Fraction(1, 3), "−0.3333"), (9999, "9\u202f999"), (Fraction(1, 10**9), "1e−09")],
)
def test_what_is_read_has_no_artefact(value, text):
    assert rounded_text(value) == text


def test_html_tells_the_exact_value_on_hover_only_where_it_differs():
    assert number_html(Fraction(1, 3)) == '<data class="number" value="1/3" title="exactly 1/3">0.3333</data>'
    assert number_html(7) == '<data class="number" value="7">7</data>'
    assert number_html("1/3") == number_html(Fraction(1, 3))
    assert (
        number_html(power(2, Fraction(1, 2)))
        == '<data class="number" value="2^(1/2)" title="exactly 2^(1/2)">1.414</data>'
    )
    assert number_html(None) == '<span class="none">–</span>'


def test_a_long_exact_value_is_cut_where_it_is_shown_and_whole_in_json():
    value = Fraction(1, 3**400)
    assert len(number_html(value)) < 500
    assert FormattedNumber.of(quantity(value)).exact == str(value)
