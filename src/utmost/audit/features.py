"""What a black box returns, made comparable; and the numbers that can be read off it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError

Numbers: TypeAlias = npt.NDArray[np.float64]
WHOLE = -1  # the place of a value that is itself a number
MOST_PLACES = 8  # coordinates of a tuple that are looked at one by one
MAX_VALUE_NESTING = 8  # tuples inside tuples
LARGEST_VALUE = 1000  # numbers or texts inside one value
MODULI = (2, 3, 4, 5, 7, 8, 9, 10, 16, 32, 64, 128)
EXACT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values in the order drawn, and the float of each at each place (nan where there is no number)."""

    values: Sequence[Hashable]
    columns: dict[int, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A number read off a value: `name` in a condition, `note` after it, `read` from the column at `place`.

    `fancy` is 1 if it is not the number itself.
    """

    name: str
    note: str
    place: int
    read: Callable[[Numbers], Numbers]
    fancy: int = 1

    def of(self, sample: Sample) -> Numbers:
        """The feature of each value; nan where it has none."""
        return self.read(sample.columns[self.place])


def to_comparable(value: object, depth: int = 0) -> Hashable:
    """A value as a number, text or a tuple of such. Any map of results is sound: it can only lower ε.

    >>> to_comparable(np.float32(0.5)), to_comparable(float("nan")), to_comparable([1, None])
    (0.5, 'nan', (1, 'None'))
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _tuple(value, depth)
    if isinstance(value, complex):
        return (to_comparable(value.real), to_comparable(value.imag))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if value is None:
        return "None"
    plain: type[Any]
    for plain in (bool, int, float, Fraction, str, bytes):
        if isinstance(value, plain):
            result: Hashable = value if type(value) is plain else plain(value)  # a subclass may compare as it likes
            return result
    kind = type(value).__name__[:40]
    raise InputError(f"an audited value must be a number, text or a tuple of such, got {kind}: wrap the function")


def _tuple(value: Sequence[object], depth: int) -> Hashable:
    if depth > MAX_VALUE_NESTING:
        raise InputError(f"an audited value must be nested at most {MAX_VALUE_NESTING} deep: summarise it")
    if len(value) > LARGEST_VALUE:
        raise InputError(f"an audited value must have at most {LARGEST_VALUE} parts, got {len(value)}: summarise it")
    return tuple(to_comparable(part, depth + 1) for part in value)


def _decimal(value: Decimal) -> Hashable:
    if value.is_nan():
        return "nan"
    return float(value) if value.is_infinite() or abs(value.adjusted()) > LARGEST_VALUE else Fraction(value)


def make_sample(values: Sequence[Hashable], places: Iterable[int]) -> Sample:
    """The values with their columns."""
    return Sample(values, {place: np.array([_float(_part(v, place)) for v in values]) for place in places})


def number_places(values: Iterable[Hashable]) -> list[int]:
    """Where numbers stand: the value itself, the first coordinates of tuples."""
    found = {WHOLE}
    for value in values:
        if isinstance(value, tuple):
            found.update(range(min(len(value), MOST_PLACES)))
    return sorted(found)


def _part(value: Hashable, place: int) -> Hashable:
    if isinstance(value, tuple):
        return value[place] if 0 <= place < len(value) else None
    return value if place == WHOLE else None


def _float(value: Hashable) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, int | Fraction):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def make_features(first: Sample) -> list[Feature]:
    """What is read off the values, given the first draws: themselves, their low bits, their residues."""
    found = []
    for place in first.columns:
        column = first.columns[place]
        if np.all(np.isnan(column)):
            continue
        name = "value" if place == WHOLE else f"coordinate {place + 1}"
        found += [
            Feature(name, "", place, lambda numbers: numbers, 0),
            *_bits(name, place),
            *_residues(name, place, column),
        ]
    return found


def _bits(name: str, place: int) -> list[Feature]:
    return [
        Feature("k", f", where 2^k is the lowest bit of {name}", place, lowest_bit),
        Feature("k", f", where k zeros end the 53 bits of {name}", place, trailing_zeros),
        Feature("s", f", where s is 1 if {name} is a zero with a minus sign", place, _minus_zero),
    ]


def _residues(name: str, place: int, column: Numbers) -> list[Feature]:
    step = grid_step(column)
    if step is None:
        return []
    shown = name if step == 1 else f"({name}·{1 / step:g})"
    return [Feature(f"{shown} mod {m}", "", place, lambda c, m=m: _residue(c, step, m)) for m in MODULI]  # type: ignore[misc]


def lowest_bit(numbers: Numbers) -> Numbers:
    """k for a double that is an odd multiple of 2^k; nan for 0 and what is not finite.

    >>> lowest_bit(np.array([1.0, 12.0, 0.75, 0.0])).tolist()
    [0.0, 2.0, -2.0, nan]
    """
    return np.asarray(np.frexp(_finite(numbers))[1] - 53 + trailing_zeros(numbers))


def trailing_zeros(numbers: Numbers) -> Numbers:
    """How many zeros end the 53-bit significand of a double; nan for 0 and what is not finite."""
    usable = _finite(numbers)
    bits = np.where(np.isnan(usable), 0.0, np.frexp(usable)[0] * EXACT).astype(np.int64)
    last = (bits & -bits).astype(float)
    return np.where(last > 0, np.log2(np.maximum(last, 1.0)), np.nan)


def _finite(numbers: Numbers) -> Numbers:
    return np.where(np.isfinite(numbers) & (numbers != 0), numbers, np.nan)


def _minus_zero(numbers: Numbers) -> Numbers:
    return np.where(np.isnan(numbers), np.nan, (numbers == 0) & np.signbit(numbers))


def grid_step(numbers: Numbers) -> float | None:
    """The first of 1, 0.1 … 1e-6, 1/2, 1/4 … 2^-40 of which all finite numbers are multiples, if any is.

    >>> grid_step(np.array([3.0, 8.0])), grid_step(np.array([0.25, 0.1])), grid_step(np.array([0.1 + 0.2, 1 / 3]))
    (1.0, 0.01, None)
    """
    finite = numbers[np.isfinite(numbers)]
    steps = [10.0**-d for d in range(7)] + [2.0**-k for k in range(1, 41)]
    return next((step for step in steps if len(finite) and not np.any(np.isnan(_index(finite, step)))), None)


def _index(numbers: Numbers, step: float) -> Numbers:
    """n for the double nearest to n·step with |n| < 2^53; nan for the rest."""
    factor = round(1 / step)
    usable = np.where(np.abs(numbers) < EXACT / factor, numbers, np.nan)
    index = np.rint(usable * factor)
    return np.where(index / factor == usable, index, np.nan)


def _residue(numbers: Numbers, step: float, modulus: int) -> Numbers:
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    return np.asarray(np.mod(_index(finite, step), modulus))
