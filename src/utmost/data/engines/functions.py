"""The few functions that the engines have under different names, as ibis expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import Any

HASH_SEPARATOR = "|"


def hash_values(engine: str, values: Sequence[Any]) -> Any:
    """64 bits that depend on all the values, as an integer to sort by; the values are not NULL.

    DuckDB's hash of several values leaves the last one unmixed, so its result is hashed once more.
    """
    if engine == "postgres":
        text, *other_texts = [value.cast("string") for value in values]
        for value in other_texts:
            text = text + HASH_SEPARATOR + value
        return text.hash()
    types = tuple(value.type() for value in values)
    if engine == "spark":
        return builtin_function("xxhash64", types, "int64")(*values)
    return builtin_function("hash", ("uint64",), "uint64")(builtin_function("hash", types, "uint64")(*values))


def floor_quotient(engine: str, number: Any, divisor: int) -> Any:
    """⌊number/divisor⌋ of an int64 that is ≥ 0, exactly; of a negative one, some integer ≤ 0. The divisor is ≥ 1."""
    if divisor == 1:
        return number
    name, result_type = {"duckdb": ("divide", "int64"), "postgres": ("div", "decimal"), "spark": ("div", "int64")}[
        engine
    ]
    return builtin_function(name, ("int64", "int64"), result_type)(number, divisor).cast("int64")


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

    def function() -> None: ...

    parameters = [Parameter(f"x{index}", Parameter.POSITIONAL_OR_KEYWORD) for index in range(len(types))]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    builtin: Callable[..., Any] = ibis.udf.scalar.builtin(function, name=name, signature=(types, result_type))
    return builtin
