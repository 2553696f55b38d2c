"""Exact numbers: their sums, balls around them, and how they are read from text and written as text.

Reading and writing exact numbers.

The grammar is that of a pocket calculator, nothing more: numbers (`3`, `0.1`, `1e-6`), `+ - * /`, `^` with an exponent
that is rational or a sum of square roots, parentheses, `exp(…)` and `sqrt(…)`. What `str` writes, `number` reads back.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact.reals import (
    Monomial,
    Number,
    Real,
    Terms,
    collect_terms,
    exponential,
    midpoint,
    numerator_and_denominator,
    power,
    simplify_quotient,
)
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb


def exact_sum(values: Sequence[Number]) -> Number:
    """The sum. Numbers over the same denominator are added term by term, and one quotient is simplified for all.

    >>> from utmost.exact import exponential
    >>> weight = exponential(-1) / (1 + exponential(-1))
    >>> exact_sum([weight, 1 - weight, Fraction(1, 2)])
    Fraction(3, 2)
    """
    groups: dict[tuple[tuple[Monomial, Fraction], ...], tuple[Terms, list[Terms]]] = {}
    for value in values:
        numerator, denominator = numerator_and_denominator(value)
        _, numerators = groups.setdefault(tuple(denominator.items()), (denominator, []))
        numerators.append(numerator)
    total: Number = Fraction(0)
    for denominator, numerators in groups.values():
        terms = chain.from_iterable(numerator.items() for numerator in numerators)
        total = total + simplify_quotient(collect_terms(terms), denominator)
    return total


def ball(value: Number | int, bits: int) -> arb:
    """An `arb` that contains `value`, computed with `bits` bits."""
    from flint import arb, fmpq

    if isinstance(value, Real):
        return value.ball(bits)
    with working_precision(bits):
        return arb(fmpq(value.numerator, value.denominator))


def enclosure(value: Number | int, bits: int) -> tuple[Fraction, Fraction]:
    """Rational endpoints lower ≤ value ≤ upper, about 2^−bits apart relative to the value; equal if it is rational.

    >>> from utmost.exact import power
    >>> low, high = enclosure(power(2, Fraction(1, 2)), 20)
    >>> low < high, high - low < Fraction(1, 2**17), low**2 < 2 < high**2
    (True, True, True)
    """
    if not isinstance(value, Real):
        return Fraction(value), Fraction(value)
    return ball_endpoints(value.ball(bits + 8))


def ball_endpoints(interval: arb) -> tuple[Fraction, Fraction]:
    """The rational endpoints of a ball."""
    middle, radius = midpoint(interval), midpoint(interval.rad())
    return middle - radius, middle + radius


MAX_PLAIN_NUMBER = 10**15  # below it every digit before the point is written
BOUND_BITS = 192  # of the ball around an irrational number that is rounded outward
JSON_FLOAT_DIGITS = 12  # of a float in a document
MAX_NUMBER_CHARS = 100_000  # characters of one number
MAX_NUMBER_TOKENS = 1000  # numbers and signs in one number
MAX_POWER_BITS = 200_000  # bits of a power
MAX_NUMBER_NESTING = 50  # nested parentheses
MAX_EXPONENT = 10_000
TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(exp|sqrt)\b|([-+*/^()]))")


def number(value: object, name: str = "number") -> Number:
    """The exact number that `value` means; a binary float is refused, since 0.1 is not one tenth.

    >>> number("0.1"), number("2/3"), number(5), number("1e-6")
    (Fraction(1, 10), Fraction(2, 3), Fraction(5, 1), Fraction(1, 1000000))
    """
    if isinstance(value, Real):
        return value
    if hasattr(type(value), "__index__") and not isinstance(value, bool):
        return Fraction(operator.index(value))  # type: ignore[arg-type]
    if isinstance(value, bool) or not isinstance(value, Fraction | Decimal | str):
        raise _wrong_type_error(value, name)
    if isinstance(value, str):
        return _NumberParser(value, name).parse()
    if isinstance(value, Decimal) and not value.is_finite():
        raise InputError(f"{name} must be a finite number, got {value}", name)
    return Fraction(value)


def rational(value: object, name: str = "number") -> Fraction:
    """`number`, where only a rational will do."""
    result = number(value, name)
    if isinstance(result, Real):
        raise InputError(f"{name} must be a rational number such as 1/10 or 0.1, got an irrational one", name)
    return result


def integer(value: object, name: str = "number") -> int:
    """`number`, where only an integer will do."""
    result = rational(value, name)
    if result.denominator != 1:
        raise InputError(f"{name} must be a whole number, got {decimal(result)}", name)
    return int(result)


def is_exact(value: object) -> bool:
    """Is it a number that is not a float."""
    return isinstance(value, int | Fraction | Real) and not isinstance(value, bool)


def json_number(value: Number | float | None) -> str | float | None:
    """A number as a JSON document has it: exact ones are text, floats have 12 digits, ∞ is "inf".

    >>> json_number(Fraction(2, 3)), json_number(0.1 + 0.2), json_number(math.inf), json_number(None)
    ('2/3', 0.3, 'inf', None)
    """
    if value is None or not isinstance(value, float):
        return None if value is None else str(value)
    return float(f"{value:.{JSON_FLOAT_DIGITS}g}") if math.isfinite(value) else str(value)


def decimal(value: Number | float, digits: int = 6) -> str:
    """A decimal of at most `digits` significant digits, without trailing zeros.

    >>> decimal(Fraction(1, 3)), decimal(Fraction(3, 4)), decimal(0.1 + 0.2), decimal(Fraction(1, 2**2000))
    ('0.333333', '0.75', '0.3', '8.70981e-603')
    """
    if isinstance(value, Real) and not 1e-300 < abs(float(value)) < 1e300:
        value = close_fraction(value)
    if isinstance(value, Fraction) and value and not 1e-300 < abs(value) < 1e300:
        return _scientific_text(value, digits)
    text = f"{float(value):.{digits}g}"
    return "0" if text == "-0" else text


def decimal_above(value: Number | int | float | arb, digits: int = 6) -> str:
    """An upper bound as text: a decimal of at most `digits` significant digits that is not below the value.

    A float is read as the fraction that it is, a ball by its upper end.
    Every upper bound that is shown is written by it.

    >>> decimal_above(Fraction(1, 3)), decimal_above(Fraction("223.04"), 3), decimal_above(2.12e-15, 1)
    ('0.333334', '224', '3e-15')
    >>> decimal_above(Fraction(2, 3 * 10**401), 3), decimal_above(power(2, Fraction(1, 2)), 3), decimal_above(math.inf)
    ('6.67e-402', '1.42', 'inf')
    """
    return _outward_text(value, digits, ROUND_CEILING)


def decimal_below(value: Number | int | float | arb, digits: int = 6) -> str:
    """A lower bound as text: a decimal of at most `digits` significant digits that is not above the value.

    >>> decimal_below(Fraction(2, 3)), decimal_below(Fraction(-1, 3), 2), decimal_below(1 - Fraction(1, 10**30), 3)
    ('0.666666', '-0.34', '0.999')
    """
    return _outward_text(value, digits, ROUND_FLOOR)


def plain_decimal(value: Number | float, digits: int, write: Callable[[Number | float, int], str] = decimal) -> str:
    """A decimal of so many digits, and of all those before the point; only from 10^15 on with an exponent.

    `write` is `decimal`, `decimal_above` or `decimal_below`.

    >>> plain_decimal(10500.2, 3), plain_decimal(10500.2, 3, decimal_above), plain_decimal(9999.9, 4)
    ('10500', '10501', '10000')
    """
    if not -MAX_PLAIN_NUMBER < value < MAX_PLAIN_NUMBER:
        return write(value, digits)
    text = write(value, max(digits, len(str(int(abs(float(value)))))))
    return f"{Decimal(text):f}" if "e+" in text else text


def json_above(value: Number | int | float | arb | None, digits: int = JSON_FLOAT_DIGITS) -> float | str:
    """An upper bound in a JSON document: not below the value as it is written; text beyond the doubles; None is "inf".

    >>> json_above(Fraction(1, 3)), json_above(Fraction(0)), json_above(Fraction(10) ** 400), json_above(None)
    (0.333333333334, 0.0, '1e+400', 'inf')
    """
    return _json_bound("inf" if value is None else decimal_above(value, digits))


def json_below(value: Number | int | float | arb | None, digits: int = JSON_FLOAT_DIGITS) -> float | str:
    """A lower bound in a JSON document: not above the value as it is written; text beyond the doubles.

    >>> json_below(2 / 3), json_below(0.5), json_below(1 - Fraction(1, 10**30))
    (0.666666666666, 0.5, 0.999999999999)
    """
    return _json_bound("inf" if value is None else decimal_below(value, digits))


def _json_bound(text: str) -> float | str:
    """The double whose shortest text is this one, if there is one."""
    double = float(text)
    is_faithful = math.isfinite(double) and Fraction(repr(double)) == Fraction(text)
    return double if is_faithful else text


def _outward_text(value: Number | int | float | arb, digits: int, rounding: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    bound = _ends(value)[rounding == ROUND_CEILING]
    context = Context(prec=digits, rounding=rounding, Emin=-(10**9), Emax=10**9)
    quotient = context.divide(Decimal(bound.numerator), Decimal(bound.denominator)).normalize(context)
    if -5 < quotient.adjusted() < digits:
        return f"{quotient:f}"
    mantissa, _, exponent = f"{quotient:e}".partition("e")
    return f"{mantissa}e{int(exponent):+03d}"


def _ends(value: Number | int | float | arb) -> tuple[Fraction, Fraction]:
    """Fractions below and above the value: equal unless it is irrational, or a ball."""
    if isinstance(value, Real | int | Fraction):
        return enclosure(value, BOUND_BITS)
    return ball_endpoints(value) if hasattr(value, "rad") else (Fraction(value),) * 2  # type: ignore[arg-type]


def close_fraction(value: Number) -> Fraction:
    """A fraction within 2^−60 of a number, relative to it."""
    bits = 96
    while True:
        low, high = enclosure(value, bits)
        if (high - low) * (1 << 60) <= abs(low):
            return low
        bits *= 2


def _scientific_text(value: Fraction, digits: int) -> str:
    logarithm = math.log10(abs(value.numerator)) - math.log10(value.denominator)
    exponent = math.floor(logarithm)
    mantissa = 10 ** (logarithm - exponent)
    return f"{'-' if value < 0 else ''}{mantissa:.{digits - 1}f}e{exponent:+d}"


def _wrong_type_error(value: object, name: str) -> InputError:
    if isinstance(value, float):
        hint = 'write it as text, for instance "0.1" or "1/10"'
        return InputError(f"{name} must be exact, got the float {value!r}", name, hint)
    return InputError(f'{name} must be a number such as "1/2" or "0.1", got {type(value).__name__}', name)


class _NumberParser:
    """A recursive-descent reader of one number."""

    def __init__(self, text: str, name: str) -> None:
        self.name, self.quoted_text = name, text if len(text) <= 40 else text[:37] + "..."
        if len(text) > MAX_NUMBER_CHARS:
            raise InputError(f"{name} must have at most {MAX_NUMBER_CHARS} characters, got {len(text)}", name)
        self.tokens, self.position, self.depth = self._tokenize(text), 0, 0

    def _tokenize(self, text: str) -> list[str]:
        tokens, position, text = [], 0, text.strip().replace("−", "-")
        while position < len(text):
            match = TOKEN.match(text, position)
            if match is None:
                raise self._syntax_error()
            tokens.append(match.group().strip())
            position = match.end()
            if len(tokens) > MAX_NUMBER_TOKENS:
                raise self._syntax_error()
        return tokens

    def _syntax_error(self) -> InputError:
        return InputError(f'{self.name} must be a number such as 1/2 or 0.1, got "{self.quoted_text}"', self.name)

    def parse(self) -> Number:
        try:
            result = self._expression()
        except (ZeroDivisionError, RecursionError, OverflowError):
            raise self._syntax_error() from None
        if self.position != len(self.tokens):
            raise self._syntax_error()
        return result

    def _peek_token(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _next_token(self) -> str:
        token = self._peek_token()
        self.position += 1
        return token

    def _expression(self) -> Number:
        result = self._term()
        while self._peek_token() in ("+", "-"):
            result = result + self._term() if self._next_token() == "+" else result - self._term()
        return result

    def _term(self) -> Number:
        result = self._signed_power()
        while self._peek_token() in ("*", "/"):
            result = result * self._signed_power() if self._next_token() == "*" else result / self._signed_power()
        return result

    def _signed_power(self) -> Number:
        if self._peek_token() in ("+", "-"):
            return self._signed_power() if self._next_token() == "+" else -self._signed_power()
        base = self._atom()
        if self._peek_token() != "^":
            return base
        self._next_token()
        return self._checked_power(base, self._signed_power())

    def _checked_power(self, base: Number, exponent: Number) -> Number:
        if isinstance(exponent, Real):
            if not isinstance(base, Fraction) or exponent.surd() is None or abs(exponent) > MAX_EXPONENT:
                raise self._syntax_error()
            return power(base, exponent)
        if abs(exponent) > MAX_EXPONENT or exponent.denominator > MAX_EXPONENT:
            raise self._syntax_error()
        if isinstance(base, Fraction):
            base_bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if base_bits * abs(exponent) > MAX_POWER_BITS:
                raise self._syntax_error()
            return power(base, exponent)
        if exponent.denominator != 1 or abs(exponent) > MAX_NUMBER_NESTING:
            raise self._syntax_error()
        return base**exponent.numerator

    def _atom(self) -> Number:
        token = self._next_token()
        if token in ("exp", "sqrt"):
            if self._peek_token() != "(":
                raise self._syntax_error()
            return self._function(token, self._atom())
        if token == "(":
            return self._parenthesis()
        return self._literal(token)

    def _function(self, function: str, argument: Number) -> Number:
        if isinstance(argument, Real) and (function == "sqrt" or argument.surd() is None):
            raise self._syntax_error()
        if function == "exp" and (argument > MAX_POWER_BITS or argument < -MAX_POWER_BITS):
            raise self._syntax_error()
        return exponential(argument) if function == "exp" else power(rational(argument), Fraction(1, 2))

    def _parenthesis(self) -> Number:
        self.depth += 1
        if self.depth > MAX_NUMBER_NESTING:
            raise self._syntax_error()
        value = self._expression()
        if self._next_token() != ")":
            raise self._syntax_error()
        self.depth -= 1
        return value

    def _literal(self, token: str) -> Number:
        _, _, exponent = token.lower().partition("e")
        try:
            if exponent and abs(int(exponent)) > MAX_EXPONENT:
                raise self._syntax_error()
            return Fraction(token)
        except ValueError:
            raise self._syntax_error() from None
