"""Check inputs and options before any random word is taken.

An input of a draw is data: errors never repeat it. Options come as text, under their names on the command line.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, Real, integer, rational, sign

MAX_MATRIX_COUNT = 500  # upper end of a count whose matrix is written out by name
MAX_IRRATIONAL_COUNT = 100  # the same, where its entries are irrational
MAX_SLOW_COUNT = 50  # the same, where they are roots or every pair within a sensitivity is compared
MAX_SAMPLED_COUNT = 10**12  # upper end of a count that is drawn from


def check_exact_number(value: object, name: str = "input") -> Fraction:
    """An exact rational number out of the data; an error names its kind and never its value.

    >>> check_exact_number("41.5"), check_exact_number(np.int8(3))
    (Fraction(83, 2), Fraction(3, 1))
    """
    exact = _rational_or_none(value)
    if exact is None:
        raise InputError(f'{name} must be an exact number such as 3, "1/2" or "41.5", got {_kind_text(value)}', name)
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
        raise InputError(f"input must be {requirement}", "input")
    return values.astype(np.int64)


def require_inner_level(level: Level) -> None:
    """Refuse the two ends of privacy, where there is nothing to draw."""
    if level.alpha == 1:
        raise InputError("epsilon must be > 0 for this, got 0 (alpha 1): noise without end tells nothing", "epsilon")
    if sign(level.alpha) == 0:
        raise InputError("alpha must be > 0 for this, got 0: that would tell the input itself", "alpha")


def parse_upper_end(text: str) -> int:
    """The --size of counts that are drawn from."""
    size = integer(text, "--size")
    if not 0 <= size <= MAX_SAMPLED_COUNT:
        size_text = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the count's upper end, from 0 to 10^12, got {size_text}", "--size")
    return size


def check_matrix_size(
    size: int, level: Level | None, requirement: str = "--size must be", max_count: int = MAX_MATRIX_COUNT
) -> int:
    """A size whose matrix can be written out; a level that is irrational, or None, has the smaller limit."""
    irrational = level is None or isinstance(level.alpha, Real)
    limit = min(max_count, MAX_IRRATIONAL_COUNT if irrational else MAX_MATRIX_COUNT)
    if size > limit:
        advice = (
            "a rational --alpha goes further" if irrational and max_count == MAX_MATRIX_COUNT else "show a smaller one"
        )
        raise InputError(
            f"{requirement} from 0 to {limit} to write the matrix out at this level, got {size}",
            requirement.split(maxsplit=1)[0],
            f"{advice}, and --sample needs no matrix",
        )
    return size


def parse_numbers(text: str, name: str, count: int) -> list[Fraction]:
    """So many exact numbers with commas between them."""
    numbers = [rational(number, name) for number in text.split(",")]
    if len(numbers) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(numbers)}", name)
    return numbers


def parse_position(text: str, last: int | None) -> int:
    """An --input that is a whole number from 0 to `last`, or any where there is none."""
    requirement = "a whole number" if last is None else f"a whole number from 0 to {last}"
    try:
        x = integer(text, "--input")
    except InputError:
        raise InputError(f"--input must be {requirement}, got something else", "--input") from None
    if abs(x) > MAX_SAMPLED_COUNT or (last is not None and not 0 <= x <= last):
        raise InputError(f"--input must be {requirement}, got one outside", "--input")
    return x


def parse_exact_input(text: str, count: int) -> list[Fraction]:
    """The numbers of an --input."""
    try:
        return parse_numbers(text, "--input", count)
    except InputError:
        requirement = "an exact number such as 41.5" if count == 1 else f"{count} exact numbers such as 0.3,1.7"
        raise InputError(f"--input must be {requirement}, got something else", "--input") from None
