"""ibis expressions that all engines read alike: constants, and functions that ibis does not have.

Constants reach an engine as ibis literals only, never as pieces of a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from inspect import Parameter, Signature
from typing import Any


def floor(number: Any) -> Any:
    """The largest integer that is not above a decimal or a double; it must fit an int64."""
    return builtin_function("floor", (number.type(),), "decimal(38, 0)")(number).cast("int64")


def decimal_product(left: Any, right: Any) -> Any:
    """left·right of two decimals, in the type that the engine gives it: ibis has none where their scales differ.

    ibis is told that the right one is of the left one's type; coalesce, with one argument, leaves it as it is.
    """
    return left * builtin_function("coalesce", (right.type(),), left.type())(right)


@cache
def builtin_function(name: str, types: tuple[Any, ...], result_type: Any) -> Callable[..., Any]:
    """The engine's own function of that name, with arguments of these types."""
    import ibis

    builtin: Callable[..., Any] = ibis.udf.scalar.builtin(
        _function_of(len(types)), name=name, signature=(types, result_type)
    )
    return builtin


@cache
def builtin_aggregate(name: str, types: tuple[Any, ...], result_type: Any) -> Callable[..., Any]:
    """The engine's own aggregate of that name, with arguments of these types."""
    import ibis

    builtin: Callable[..., Any] = ibis.udf.agg.builtin(
        _function_of(len(types)), name=name, signature=(types, result_type)
    )
    return builtin


def _function_of(arguments: int) -> Callable[[], None]:
    """A function with so many arguments, as ibis takes one for the signature of a function of the engine."""

    def function() -> None: ...

    parameters = [Parameter(f"x{index}", Parameter.POSITIONAL_OR_KEYWORD) for index in range(arguments)]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


def text_literal(value: str) -> Any:
    """A text. Spark replaces ${…} wherever it stands in a statement, so the two signs are kept apart."""
    import ibis

    literal, *other_pieces = (ibis.literal(piece) for piece in re.split(r"(?<=\$)(?=\{)", value))
    for piece in other_pieces:
        literal = literal + piece
    return literal


def integer_literal(value: int, dtype: Any) -> Any:
    """A whole number as an integer type, or as decimal(38, 0)."""
    import ibis

    return ibis.literal(value, dtype) if dtype.is_integer() else decimal_literal(value, 0, dtype)


def decimal_literal(value: int, scale: int, dtype: Any) -> Any:
    """value·10^−scale as a decimal type: read from its digits, which is exact in every engine."""
    import ibis

    return ibis.literal(digits(value, scale)).cast(dtype)


def digits(value: int, scale: int) -> str:
    """value·10^−scale written out, however long it is: Python itself writes no integer of more than 4300 digits.

    >>> digits(-125, 2), digits(5, 3), digits(7, 0)
    ('-1.25', '0.005', '7')
    """
    all_digits = format(Decimal(abs(value)), "f").rjust(scale + 1, "0")
    point = len(all_digits) - scale
    return ("-" if value < 0 else "") + all_digits[:point] + ("." + all_digits[point:] if scale else "")


def double_literal(value: float) -> Any:
    """A finite double: read from its shortest digits, which every engine rounds to the nearest."""
    import ibis

    return ibis.literal(repr(value)).cast("float64")


def time_literal(value: str, dtype: Any) -> Any:
    """A time of the column's type; one with a time zone is read in UTC."""
    import ibis

    return ibis.literal(value + ("+00:00" if dtype.timezone and value[-1].isdigit() else "")).cast(dtype)
