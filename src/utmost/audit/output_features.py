"""Make the values of a black box comparable, and compute numeric features of them."""

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
VALUE_ITSELF = -1  # the position of a value that is itself a number
MAX_COORDINATES = 8  # of a tuple that are looked at one by one
MAX_VALUE_NESTING = 8  # tuples inside tuples
MAX_VALUE_PARTS = 1000  # numbers or texts inside one value
MODULI = (2, 3, 4, 5, 7, 8, 9, 10, 16, 32, 64, 128)
MAX_EXACT_INTEGER = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values in the order drawn, and the float of each at each position (nan where there is no number)."""

    values: Sequence[Hashable]
    columns: dict[int, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A number computed from a value: `name` in a condition, `suffix` after it.

    `compute` takes the column at `position`; `complexity` is 1 if it is not the number itself.
    """

    name: str
    suffix: str
    position: int
    compute: Callable[[Numbers], Numbers]
    complexity: int = 1

    def values_in(self, sample: Sample) -> Numbers:
        """The feature of each value; nan where it has none."""
        return self.compute(sample.columns[self.position])


def to_comparable(value: object, depth: int = 0) -> Hashable:
    """A value as a number, text or a tuple of such. Any map of results is sound: it can only lower ε.

    >>> to_comparable(np.float32(0.5)), to_comparable(float("nan")), to_comparable([1, None])
    (0.5, 'nan', (1, 'None'))
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _comparable_tuple(value, depth)
    if isinstance(value, complex):
        return (to_comparable(value.real), to_comparable(value.imag))
    if isinstance(value, Decimal):
        return _comparable_decimal(value)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if value is None:
        return "None"
    plain_type: type[Any]
    for plain_type in (bool, int, float, Fraction, str, bytes):
        if isinstance(value, plain_type):
            # a subclass may define its own comparison
            result: Hashable = value if type(value) is plain_type else plain_type(value)
            return result
    kind = type(value).__name__[:40]
    raise InputError(
        f"an audited value must be a number, text or a tuple of such, got {kind}", hint="wrap the function"
    )


def _comparable_tuple(value: Sequence[object], depth: int) -> Hashable:
    if depth > MAX_VALUE_NESTING:
        raise InputError(f"an audited value must be nested at most {MAX_VALUE_NESTING} deep", hint="summarise it")
    if len(value) > MAX_VALUE_PARTS:
        raise InputError(
            f"an audited value must have at most {MAX_VALUE_PARTS} parts, got {len(value)}", hint="summarise it"
        )
    return tuple(to_comparable(part, depth + 1) for part in value)


def _comparable_decimal(value: Decimal) -> Hashable:
    if value.is_nan():
        return "nan"
    return float(value) if value.is_infinite() or abs(value.adjusted()) > MAX_VALUE_PARTS else Fraction(value)


def make_sample(values: Sequence[Hashable], positions: Iterable[int]) -> Sample:
    """The values with their columns."""
    return Sample(
        values, {position: np.array([_to_float(_coordinate(v, position)) for v in values]) for position in positions}
    )


def number_positions(values: Iterable[Hashable]) -> list[int]:
    """Positions of numbers: the value itself, the first coordinates of tuples."""
    positions = {VALUE_ITSELF}
    for value in values:
        if isinstance(value, tuple):
            positions.update(range(min(len(value), MAX_COORDINATES)))
    return sorted(positions)


def _coordinate(value: Hashable, position: int) -> Hashable:
    if isinstance(value, tuple):
        return value[position] if 0 <= position < len(value) else None
    return value if position == VALUE_ITSELF else None


def _to_float(value: Hashable) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, int | Fraction):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def make_features(first: Sample) -> list[Feature]:
    """What is computed from the values, given the first draws: themselves, their low bits, their residues."""
    features = []
    for position in first.columns:
        column = first.columns[position]
        if np.all(np.isnan(column)):
            continue
        name = "value" if position == VALUE_ITSELF else f"coordinate {position + 1}"
        features += [
            Feature(name, "", position, lambda numbers: numbers, 0),
            *_bit_features(name, position),
            *_residue_features(name, position, column),
        ]
    return features


def _bit_features(name: str, position: int) -> list[Feature]:
    return [
        Feature("k", f", where 2^k is the lowest bit of {name}", position, lowest_bit),
        Feature("k", f", where k zeros end the 53 bits of {name}", position, trailing_zeros),
        Feature("s", f", where s is 1 if {name} is a zero with a minus sign", position, _is_minus_zero),
    ]


def _residue_features(name: str, position: int, column: Numbers) -> list[Feature]:
    step = grid_step(column)
    if step is None:
        return []
    label = name if step == 1 else f"({name}·{1 / step:g})"
    return [Feature(f"{label} mod {m}", "", position, lambda c, m=m: _residue(c, step, m)) for m in MODULI]  # type: ignore[misc]


def lowest_bit(numbers: Numbers) -> Numbers:
    """k for a double that is an odd multiple of 2^k; nan for 0 and what is not finite.

    >>> lowest_bit(np.array([1.0, 12.0, 0.75, 0.0])).tolist()
    [0.0, 2.0, -2.0, nan]
    """
    return np.asarray(np.frexp(_finite_nonzero(numbers))[1] - 53 + trailing_zeros(numbers))


def trailing_zeros(numbers: Numbers) -> Numbers:
    """How many zeros end the 53-bit significand of a double; nan for 0 and what is not finite."""
    usable = _finite_nonzero(numbers)
    bits = np.where(np.isnan(usable), 0.0, np.frexp(usable)[0] * MAX_EXACT_INTEGER).astype(np.int64)
    lowest = (bits & -bits).astype(float)
    return np.where(lowest > 0, np.log2(np.maximum(lowest, 1.0)), np.nan)


def _finite_nonzero(numbers: Numbers) -> Numbers:
    return np.where(np.isfinite(numbers) & (numbers != 0), numbers, np.nan)


def _is_minus_zero(numbers: Numbers) -> Numbers:
    return np.where(np.isnan(numbers), np.nan, (numbers == 0) & np.signbit(numbers))


def grid_step(numbers: Numbers) -> float | None:
    """The first of 1, 0.1 … 1e-6, 1/2, 1/4 … 2^-40 of which all finite numbers are multiples, if any is.

    >>> grid_step(np.array([3.0, 8.0])), grid_step(np.array([0.25, 0.1])), grid_step(np.array([0.1 + 0.2, 1 / 3]))
    (1.0, 0.01, None)
    """
    finite = numbers[np.isfinite(numbers)]
    steps = [10.0**-d for d in range(7)] + [2.0**-k for k in range(1, 41)]
    return next((step for step in steps if len(finite) and not np.any(np.isnan(_grid_index(finite, step)))), None)


def _grid_index(numbers: Numbers, step: float) -> Numbers:
    """n for the double nearest to n·step with |n| < 2^53; nan for the rest."""
    factor = round(1 / step)
    usable = np.where(np.abs(numbers) < MAX_EXACT_INTEGER / factor, numbers, np.nan)
    index = np.rint(usable * factor)
    return np.where(index / factor == usable, index, np.nan)


def _residue(numbers: Numbers, step: float, modulus: int) -> Numbers:
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    return np.asarray(np.mod(_grid_index(finite, step), modulus))
