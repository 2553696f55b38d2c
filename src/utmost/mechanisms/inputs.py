"""Inputs of a draw: checked as a whole before any word is taken."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError


def whole_numbers(inputs: npt.ArrayLike, low: int, high: int, words: str) -> npt.NDArray[np.int64]:
    """A sequence of whole numbers from low to high, of any integer type, as 64-bit ones; `words` say what they must be.

    >>> whole_numbers(np.array([3, -1], dtype=np.int8), -5, 5, "small").dtype
    dtype('int64')
    """
    values = np.asarray(inputs)
    if not values.size:
        return np.zeros(0, dtype=np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu" or int(values.min()) < low or int(values.max()) > high:
        raise InputError(f"input must be {words}")
    return values.astype(np.int64)
