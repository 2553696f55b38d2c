"""Check that the arguments of a public function are of the kinds that its annotations name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from utmost.errors import InputError, UtmostError

Function = TypeVar("Function", bound=Callable[..., Any])
PYTHON_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # what a wrong kind leads to
ALIAS_TYPES: tuple[Any, ...] = tuple(filter(None, [getattr(typing, "TypeAliasType", None)]))  # from Python 3.12 on
KIND_NAMES = {str: "text", int: "a whole number", float: "a number"}


def check_kinds(function: Function, name: str) -> Function:
    """The function under its public name, with arguments of a wrong kind refused in one line.

    A class of utmost is asked for before the call. Other kinds (a sequence, a whole number) have many stand-ins, such
    as numpy's, so they are looked at only when the call has failed.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        values = signature.bind(*arguments, **options).arguments
        _refuse(function, values, only_ours=True)
        try:
            return function(*arguments, **options)
        except UtmostError:
            raise
        except PYTHON_ERRORS:
            _refuse(function, values, only_ours=False)
            raise

    checked.__module__, checked.__qualname__ = "utmost", name  # where pickle finds it
    return checked  # type: ignore[return-value]


def _refuse(function: Callable[..., Any], values: dict[str, Any], *, only_ours: bool) -> None:
    for name, hint in _hints(function).items():
        if name in values and (_is_ours(hint) or not only_ours) and not _matches(values[name], hint):
            expected = " or ".join(dict.fromkeys(_kind_name(kind) for kind in _alternatives(hint)))
            raise InputError(f"{name} must be {expected}, got {type(values[name]).__name__}", name)


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the arguments, evaluated."""
    return {name: hint for name, hint in get_type_hints(function).items() if name != "return"}


def _alternatives(hint: Any) -> list[Any]:
    """The annotations that a union is made of, None left out; one that is no union is the only one."""
    while isinstance(alias := get_origin(hint) or hint, ALIAS_TYPES):  # newer versions of numpy name NDArray so
        hint = alias.__value__
    if get_origin(hint) not in (Union, UnionType):
        return [hint]
    return [kind for part in get_args(hint) if part is not NoneType for kind in _alternatives(part)]


def _is_ours(hint: Any) -> bool:
    """Does it name classes of utmost alone, or text."""
    return all(
        kind is str or (isinstance(kind, type) and kind.__module__.partition(".")[0] == "utmost")
        for kind in _alternatives(hint)
    )


def _matches(value: Any, hint: Any) -> bool:
    """Is the value of the kind that an annotation names; the items of a list or tuple too."""
    if value is None and NoneType in get_args(hint):
        return True
    return any(_is_kind(value, kind) for kind in _alternatives(hint))


def _is_kind(value: Any, hint: Any) -> bool:
    kind = get_origin(hint) or hint
    if not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False) and kind.__module__.startswith("utmost"):
        return all(hasattr(type(value), name) for name in vars(kind) if not name.startswith("_"))
    if kind in (Sequence, Iterable) and isinstance(value, list | tuple):
        return all(_matches(item, argument) for item in value for argument in get_args(hint)[:1])
    return isinstance(value, float | int) if kind is float else isinstance(value, kind)


def _kind_name(hint: Any) -> str:
    kind = get_origin(hint) or hint
    return KIND_NAMES.get(kind, f"a {getattr(kind, '__name__', kind)}")
