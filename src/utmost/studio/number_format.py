"""Numbers on pages and in the API: the text that is read, and what it is exactly. Rounding is `reports.numbers`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from markupsafe import Markup
from pydantic import BaseModel, Field

from utmost.exact import decimal
from utmost.exact import number as parse_number
from utmost.exact import rational as parse_rational
from utmost.reports.html import data_html
from utmost.reports.numbers import DEFAULT_DIGITS, MINUS, THIN_SPACE, Quantity, amount, quantity

if TYPE_CHECKING:
    from utmost.exact import Number

MAX_EXACT_CHARS = 1500  # characters of an exact number
MAX_EXACT_BITS = 6000  # of numerator and denominator of a fraction that is written out


class FormattedNumber(BaseModel):
    """A number: `text` is for reading, `exact` is what it is."""

    text: str = Field(examples=["0.3333"])
    exact: str = Field(examples=["1/3"])

    @classmethod
    def of(cls, number: Quantity) -> FormattedNumber:
        """A number as a report has it.

        >>> from fractions import Fraction
        >>> FormattedNumber.of(quantity(Fraction(1, 3)))
        FormattedNumber(text='0.3333', exact='1/3')
        """
        return cls(text=number.typeset, exact=number.exact)


def format_exact(number: Quantity) -> FormattedNumber:
    """A number and what it is exactly; of a double, and of what is too long to be read, what it is to some digits."""
    value, text = number.value, number.typeset
    if isinstance(value, float):
        return FormattedNumber(text=text, exact=f"{value:.12g} (in double precision)")
    if isinstance(value, Fraction) and value.denominator.bit_length() + value.numerator.bit_length() > MAX_EXACT_BITS:
        return FormattedNumber(text=text, exact=f"{decimal(value, 15)} (the first digits of a long fraction)")
    exact = number.exact
    return FormattedNumber(text=text, exact=exact if len(exact) <= MAX_EXACT_CHARS else f"{exact[:MAX_EXACT_CHARS]}…")


def number_html(value: Number | int | float | FormattedNumber | str | None, digits: int = DEFAULT_DIGITS) -> Markup:
    """The number as HTML: <data> with the exact value in it, shown on hover. An exact text such as "1/3" is parsed."""
    if value is None:
        return Markup('<span class="none">–</span>')
    if not isinstance(value, FormattedNumber):
        value = FormattedNumber.of(quantity(parse_number(value) if isinstance(value, str) else value, digits))
    plain_text = value.text.replace(THIN_SPACE, "").replace(MINUS, "-")
    return Markup(data_html(value.text, value.exact, is_exact=plain_text == value.exact))


def amount_html(value: str | Fraction) -> Markup:
    """An amount of ε or δ as HTML: as a decimal where that is exact, else a short fraction."""
    return number_html(FormattedNumber.of(amount(parse_rational(value))))


def rounded_text(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> str:
    """The rounded number alone, as a page shows it."""
    return quantity(value, digits).typeset
