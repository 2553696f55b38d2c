"""Numbers from numpy, pandas and Python, read exactly: a double is the binary fraction that it is, not a decimal."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex

from utmost.errors import InputError
from utmost.exact.exact_numbers import number
from utmost.exact.reals import Number, Real

MAX_QUOTED_CHARS = 40  # of a text that is no number
MAX_DIGITS = 100  # after the decimal point, to which numbers are rounded


def exact_value(value: object, name: str = "number") -> Number:
    """The number that a value is: doubles (numpy's too) and decimals exactly, other kinds as `number` reads them.

    >>> exact_value(0.5), exact_value(0.1) == Fraction(0.1), exact_value("0.1"), exact_value(3)
    (Fraction(1, 2), True, Fraction(1, 10), Fraction(3, 1))
    """
    if is_double(value):
        double = float(value)  # type: ignore[arg-type]
        if not math.isfinite(double):
            raise InputError(f"{name} must be a finite number, got {double}", name)
        return Fraction(double)
    if isinstance(value, str | Decimal):
        return number(value, name)
    if isinstance(value, Fraction | Real):
        return value
    if _is_truth_value(value) or not isinstance(value, SupportsIndex):
        raise InputError(f"{name} must be a number, got {kind_text(value)}", name)
    return Fraction(operator.index(value))


def exact_rational(value: object, name: str = "number") -> Fraction:
    """`exact_value`, where only a rational number will do."""
    result = exact_value(value, name)
    if isinstance(result, Real):
        raise InputError(f"{name} must be a rational number such as 1/10 or 0.1, got an irrational one", name)
    return result


def is_double(value: object) -> bool:
    """Is it a binary floating-point number, of Python or numpy."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return isinstance(value, float) or (kind == "f" and getattr(value, "ndim", None) == 0)


def has_doubles(values: Iterable[object]) -> bool:
    """Is one of the values a double."""
    return any(is_double(value) for value in values)


def _is_truth_value(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def kind_text(value: object) -> str:
    """What a value is, in words that quote at most a text that is short."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "nothing"
    return "True or False" if _is_truth_value(value) else type(value).__name__


def check_digits(digits: Any) -> int | None:
    """A number of decimals to round to, or None."""
    if digits is None:
        return None
    if isinstance(digits, bool) or not hasattr(type(digits), "__index__") or not 0 <= digits <= MAX_DIGITS:
        text = digits if isinstance(digits, int) else kind_text(digits)
        raise InputError(f"digits must be a whole number from 0 to {MAX_DIGITS}, got {text}", "digits")
    return operator.index(digits)


def round_number(value: Fraction, digits: int | None) -> Fraction:
    """A fraction rounded to so many decimals, a tie to the even one; itself where there are none.

    >>> round_number(Fraction(0.1), 3), round_number(Fraction(0.1), None) == Fraction(0.1)
    (Fraction(1, 10), True)
    """
    return value if digits is None else round(value * 10**digits) / Fraction(10**digits)
