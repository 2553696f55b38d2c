"""Check the inputs of a draw before any random word is taken; errors never repeat them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import rational


def check_exact_number(value: object, name: str = "input") -> Fraction:
    """An exact rational number out of the data; an error names its kind and never its value.

    >>> check_exact_number("41.5"), check_exact_number(np.int8(3))
    (Fraction(83, 2), Fraction(3, 1))
    """
    exact = _rational_or_none(value)
    if exact is None:
        raise InputError(f'{name} must be an exact number such as 3, "1/2" or "41.5", got {_kind_text(value)}')
    return exact


def _rational_or_none(value: object) -> Fraction | None:
    """The number, or None: the error that repeats the value is dropped, and is not even the context of the next."""
    try:
        return rational(value)
    except ValueError:
        return None


def _kind_text(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "a float: write it as text"
    return "text that is not one" if isinstance(value, str) else type(value).__name__


def check_integers(inputs: npt.ArrayLike, low: int, high: int, requirement: str) -> npt.NDArray[np.int64]:
    """A sequence of whole numbers from low to high, of any integer type, as 64-bit ones.

    `requirement` ends the error message "input must be …".

    >>> check_integers(np.array([3, -1], dtype=np.int8), -5, 5, "small").dtype
    dtype('int64')
    """
    values = np.asarray(inputs)
    if not values.size:
        return np.zeros(0, dtype=np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu" or int(values.min()) < low or int(values.max()) > high:
        raise InputError(f"input must be {requirement}")
    return values.astype(np.int64)
