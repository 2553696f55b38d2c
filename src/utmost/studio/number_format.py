"""Format numbers for pages: rounded in the text, exact on hover."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from markupsafe import Markup, escape
from pydantic import BaseModel, Field

from utmost.exact import Number, decimal, decimal_above, decimal_below

DEFAULT_DIGITS = 4
MAX_EXACT_CHARS = 120  # characters of an exact value that is shown
GROUP_BOUNDARY = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")


class FormattedNumber(BaseModel):
    """A number: `text` is for reading, `exact` is what it is."""

    text: str = Field(examples=["0.3333"])
    exact: str = Field(examples=["1/3"])


def format_number(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> FormattedNumber:
    """A number rounded to so many digits, all those before its point kept, with what it is exactly.

    >>> from fractions import Fraction
    >>> format_number(Fraction(1, 3)), format_number(Fraction(1, 10))
    (FormattedNumber(text='0.3333', exact='1/3'), FormattedNumber(text='0.1', exact='1/10'))
    """
    return FormattedNumber(text=format_rounded(value, digits), exact=str(value))


def format_rounded(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> str:
    """The text alone: a minus sign, thin groups of three, no artefact of floats.

    >>> format_rounded(1234567).replace(chr(0x202F), " "), format_rounded(-0.12345), format_rounded(10**20)
    ('1 234 567', '−0.1235', '1e+20')
    """
    exact = Fraction(value) if isinstance(value, int) else value
    return _typeset(f"{float(exact):.0f}" if _is_large(exact, digits) else decimal(exact, digits))


def format_above(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> FormattedNumber:
    """An upper bound: the text is not below the value.

    >>> format_above(Fraction(1, 3)).text, format_above(12345.2).text.replace(chr(0x202F), " ")
    ('0.3334', '12 346')
    """
    text = str(math.ceil(value)) if _is_large(value, digits) else decimal_above(value, digits)
    return FormattedNumber(text=_typeset(text), exact=str(value))


def format_below(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> FormattedNumber:
    """A lower bound: the text is not above the value.

    >>> format_below(Fraction(2, 3)).text
    '0.6666'
    """
    text = str(math.floor(value)) if _is_large(value, digits) else decimal_below(value, digits)
    return FormattedNumber(text=_typeset(text), exact=str(value))


def _is_large(value: Number | int | float, digits: int) -> bool:
    """Is it a number whose digits before the point are all shown."""
    return bool(10**digits <= value < 10**15 or -(10**15) < value <= -(10**digits))


def _typeset(text: str) -> str:
    """A decimal with a minus sign and thin groups of three."""
    if "e" in text:
        return text.replace("-", "−")
    integer_part, point, decimals = text.removeprefix("-").partition(".")
    sign = "−" if text.startswith("-") else ""
    grouped = GROUP_BOUNDARY.sub(chr(0x202F), integer_part) if len(integer_part) > 4 else integer_part
    return f"{sign}{grouped}{point}{decimals}"


def number_html(value: Number | int | float | FormattedNumber | str | None, digits: int = DEFAULT_DIGITS) -> Markup:
    """The number as HTML: <data> with the exact value in it, shown on hover. An exact text such as "1/3" is parsed."""
    from utmost.exact import number as parse_number

    if value is None:
        return Markup('<span class="none">–</span>')
    formatted = (
        value
        if isinstance(value, FormattedNumber)
        else format_number(parse_number(value) if isinstance(value, str) else value, digits)
    )
    exact = (
        formatted.exact
        if len(formatted.exact) <= MAX_EXACT_CHARS
        else f"{formatted.exact[:MAX_EXACT_CHARS]}… (whole in this page's JSON)"
    )
    title = Markup(' title="exactly {}"').format(exact) if _ascii_text(formatted) != formatted.exact else ""
    return Markup('<data class="number" value="{}"{}>{}</data>').format(exact, title, escape(formatted.text))


def _ascii_text(formatted: FormattedNumber) -> str:
    return formatted.text.replace(chr(0x202F), "").replace("−", "-")
