"""Format numbers for people: rounded to a few digits, bounds rounded outward, every digit before the point kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact import decimal, decimal_above, decimal_below, json_above, json_below, json_number, plain_decimal

if TYPE_CHECKING:
    from utmost.exact import Number

DEFAULT_DIGITS = 4
SENTENCE_DIGITS = 6  # of a number in a sentence
JSON_DIGITS = 12  # of a bound in a document
MAX_SHORT_CHARS = 14  # of an exact number that stands in a sentence as it is
MAX_AMOUNT_DECIMALS = 9  # of an amount that is written as a decimal
THIN_SPACE = "\u202f"
MINUS = "−"
GROUP_BOUNDARY = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
PLAIN_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")


class Rounding(StrEnum):
    """Where a text may lie: nearest to the value, not below it, or not above it."""

    NEAREST = "nearest"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number to be shown: its value, how many digits, which way it is rounded, and what follows it.

    An exact number whose text has at most `max_exact_chars` characters is shown as it is, for instance as 2/3.
    A small number that `is_plain` has no exponent: 0.000001.
    """

    value: Number | int | float
    digits: int = DEFAULT_DIGITS
    rounding: Rounding = Rounding.NEAREST
    suffix: str = ""
    max_exact_chars: int = 0
    is_plain: bool = False

    @property
    def rounded(self) -> str:
        """The rounded number in ASCII, without its suffix.

        >>> [quantity(x).rounded for x in (Fraction(1, 3), 35632000.4, -0.12345, 10**20)]
        ['0.3333', '35632000', '-0.1235', '1e+20']
        >>> at_most(35632000.4).rounded, at_least(Fraction(2, 3)).rounded, short(Fraction(2, 3)).rounded
        ('35632001', '0.6666', '2/3')
        >>> at_most(9999.9).rounded
        '10000'
        """
        if self.max_exact_chars and not isinstance(self.value, float) and len(self.exact) <= self.max_exact_chars:
            return self.exact
        value: Number | float = Fraction(self.value) if isinstance(self.value, int) else self.value
        text = plain_decimal(value, self.digits, _TO_DECIMAL[self.rounding])
        return f"{Decimal(text):f}" if self.is_plain else text

    @property
    def exact(self) -> str:
        """The number itself, as `exact.number` reads it; a float as Python writes it."""
        return str(self.value)

    @property
    def sign(self) -> str:
        """`=` where the text is the number itself, else `≈`; also for a float, which is rounded already.

        >>> [short(x).sign for x in (Fraction(2, 3), Fraction(1, 3**40), Fraction(1, 8), 0.5)]
        ['=', '≈', '=', '≈']
        """
        if isinstance(self.value, float):
            return "≈"
        is_equal = self.rounded == self.exact or (
            isinstance(self.value, Fraction) and Fraction(self.rounded) == self.value
        )
        return "=" if is_equal else "≈"

    @property
    def typeset(self) -> str:
        """The text for a page: a minus sign, and thin spaces between groups of three digits.

        >>> quantity(1234567).typeset.replace(THIN_SPACE, " "), quantity(-12.5).typeset
        ('1 234 567', '−12.5')
        """
        return typeset(self.rounded) + self.suffix

    @property
    def json(self) -> str | float | None:
        """The number in a document: exact numbers as text; a bound as a decimal of so many digits, outward.

        >>> quantity(Fraction(1, 3)).json, at_most(Fraction(1, 3), 3).json
        ('1/3', 0.334)
        """
        if self.rounding is Rounding.NEAREST:
            return json_number(Fraction(self.value) if isinstance(self.value, int) else self.value)
        return (json_above if self.rounding is Rounding.UP else json_below)(self.value, self.digits)

    def __str__(self) -> str:
        """The text for a terminal: digits that can be copied."""
        return self.rounded.replace("inf", "∞") + self.suffix


def quantity(value: Number | int | float, digits: int = DEFAULT_DIGITS, suffix: str = "") -> Quantity:
    """A number rounded to the nearest text."""
    return Quantity(value, digits, Rounding.NEAREST, suffix)


def at_most(value: Number | int | float, digits: int = DEFAULT_DIGITS, suffix: str = "") -> Quantity:
    """An upper bound: no text of it is below the value."""
    return Quantity(value, digits, Rounding.UP, suffix)


def at_least(value: Number | int | float, digits: int = DEFAULT_DIGITS, suffix: str = "") -> Quantity:
    """A lower bound: no text of it is above the value."""
    return Quantity(value, digits, Rounding.DOWN, suffix)


def short(value: Number | int | float, rounding: Rounding = Rounding.NEAREST) -> Quantity:
    """A number in a sentence: exact where that is short, else six digits."""
    return Quantity(value, SENTENCE_DIGITS, rounding, max_exact_chars=MAX_SHORT_CHARS)


def amount(value: Fraction, rounding: Rounding) -> Quantity:
    """An amount of ε or δ: a decimal where that is exact, else a short fraction, else six digits.

    What is spent is rounded up, what is left is rounded down.

    >>> [str(amount(Fraction(text), Rounding.UP)) for text in ("7/10", "1e-6", "19/30")]
    ['0.7', '0.000001', '19/30']
    """
    if (value * 10**MAX_AMOUNT_DECIMALS).denominator == 1:
        return Quantity(value, JSON_DIGITS, rounding, is_plain=True)
    return short(value, rounding)


def with_exact(number: Quantity, max_chars: int) -> tuple[str | Quantity, ...]:
    """A number after its exact text, where that has at most so many characters and is another one.

    >>> "".join(map(str, with_exact(quantity(Fraction(1, 3)), 60))), "".join(map(str, with_exact(quantity(3), 60)))
    ('1/3 ≈ 0.3333', '3')
    """
    if len(number.exact) > max_chars or number.exact == number.rounded:
        return (number,)
    return f"{number.exact} {number.sign} ", number


def plain_json(content: Any) -> Any:
    """A document with every quantity in it written out.

    >>> plain_json({"loss": at_most(Fraction(2, 3), 2), "rows": [[quantity(Fraction(1, 2))]]})
    {'loss': 0.67, 'rows': [['1/2']]}
    """
    if isinstance(content, Quantity):
        return content.json
    if isinstance(content, dict):
        return {key: plain_json(value) for key, value in content.items()}
    if not isinstance(content, list | tuple) or not any(isinstance(item, _NESTED) for item in content):
        return content
    return [plain_json(item) for item in content]


def typeset(text: str) -> str:
    """A decimal in ASCII with a minus sign and thin spaces between groups of three digits."""
    if not PLAIN_DECIMAL.fullmatch(text):  # scientific, a fraction, a formula, inf
        return text.replace("-", MINUS).replace("inf", "∞")
    integer_part, point, decimals = text.removeprefix("-").partition(".")
    sign = MINUS if text.startswith("-") else ""
    return f"{sign}{GROUP_BOUNDARY.sub(THIN_SPACE, integer_part)}{point}{decimals}"


_NESTED = (Quantity, dict, list, tuple)
_TO_DECIMAL: dict[Rounding, Callable[[Number | float, int], str]] = {
    Rounding.NEAREST: decimal,
    Rounding.UP: decimal_above,
    Rounding.DOWN: decimal_below,
}
