"""Linear programs with exact rational data: `Fraction` for callers, flint's faster `fmpq` inside.

A linear program with exact rational data.

    minimise cost·x   subject to   (A x)_r = rhs_r  where equality[r],   (A x)_r >= rhs_r  elsewhere,   x >= 0.

Everything a certificate is checked against is here, and none of it is a float.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz

from utmost.errors import InputError
from utmost.result_values import equal_fields, hash_of_kind

Rational: TypeAlias = fmpq

ZERO = fmpq(0)
ONE = fmpq(1)


def to_fmpq(value: Fraction) -> Rational:
    """The same number as a flint rational."""
    return fmpq(value.numerator, value.denominator)


def to_fmpqs(values: Iterable[Fraction]) -> list[Rational]:
    """The same numbers as flint rationals."""
    return [fmpq(value.numerator, value.denominator) for value in values]


def to_fraction(value: Rational) -> Fraction:
    """The same number as a `Fraction`.

    >>> to_fraction(fmpq(6, 4))
    Fraction(3, 2)
    """
    return Fraction(int(value.p), int(value.q))


def to_fractions(values: Iterable[Rational]) -> tuple[Fraction, ...]:
    """The same numbers as `Fraction`s."""
    return tuple(to_fraction(value) for value in values)


def nearest_float(value: Rational) -> float:
    """The double nearest to `value`; ±inf beyond the doubles' range."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def from_double(value: float) -> Rational:
    """The rational a finite double stands for, exactly.

    >>> from_double(0.375)
    3/8
    """
    return fmpq(*value.as_integer_ratio())


def round_dyadic(value: Rational, bits: int) -> Rational:
    """The nearest multiple of 2^-bits: an error of at most 2^-(bits+1).

    >>> round_dyadic(fmpq(1, 3), 4)
    5/16
    """
    unit = fmpz(1) << bits
    return fmpq((2 * value.p * unit + value.q) // (2 * value.q), unit)


def dot_product(left: Iterable[Rational], right: Iterable[Rational]) -> Rational:
    """Σ left_i·right_i, exactly."""
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), ZERO)


def round_up_dyadic(value: Rational, bits: int = 32) -> Rational:
    """A dyadic number >= value >= 0 with a relative error of at most 2^-bits and about as few digits.

    >>> round_up_dyadic(fmpq(1, 3), 3)
    11/32
    """
    if not value:
        return ZERO
    shift = bits + max(0, int(value.q).bit_length() - int(value.p).bit_length() + 1)
    unit = fmpz(1) << shift
    return fmpq(-((-value.p * unit) // value.q), unit)


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """minimise cost·x subject to A x = rhs on rows with `equality`, A x >= rhs elsewhere, and x >= 0.

    A is given by its non-zeros: A[rows[k], columns[k]] = values[k]; entries of equal position add up. Numbers are
    `Fraction`s or integers, never floats.

    scale     positive, one a column: the solver works on z with x = scale·z. It changes how good a guess is, never
              what is certified; ratios beyond the range of doubles are cut down to it.
    upper     one a column, or None where nothing is known: bounds x_j <= upper_j that EVERY feasible x obeys. They
              are trusted, not imposed: a lower bound of a certificate may rest on them.
    interior  a point that meets the equalities exactly and the inequalities (x >= 0 too) strictly, wherever it
              can. A repair mixes a little of it into an almost feasible point.

    >>> LinearProgram([1, 2], [0, 0], [0, 1], [1, 1], [1], [True]).shape
    (1, 2)
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    cost: Sequence[Fraction]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: npt.NDArray[np.object_]
    rhs: Sequence[Fraction]
    equality: npt.NDArray[np.bool_]
    scale: Sequence[Fraction] | None = None
    upper: Sequence[Fraction | None] | None = None
    interior: Sequence[Fraction] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "cost", _rationals("cost", self.cost))
        set_field(self, "rhs", _rationals("rhs", self.rhs))
        set_field(self, "equality", _flag_array(self.equality, len(self.rhs)))
        set_field(self, "rows", _index_array("rows", self.rows, len(self.rhs)))
        set_field(self, "columns", _index_array("columns", self.columns, len(self.cost)))
        set_field(self, "values", _object_array(_rationals("values", self.values)))
        _check_equal_lengths(self.rows, self.columns, self.values)
        for name in ("scale", "upper", "interior"):
            if getattr(self, name) is not None:
                set_field(self, name, _per_column(name, getattr(self, name), len(self.cost)))
        if self.scale is not None and any(factor <= 0 for factor in self.scale):
            raise InputError(
                "scale must be > 0 in every column, got one that is not", "scale", "leave it out, or give |scale|"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, number of columns) of A."""
        return len(self.rhs), len(self.cost)

    @cached_property
    def entries(self) -> list[tuple[int, int, Rational]]:
        """The non-zeros (row, column, value), in flint's rationals."""
        return list(zip(self.rows.tolist(), self.columns.tolist(), to_fmpqs(self.values), strict=True))

    @cached_property
    def costs(self) -> list[Rational]:
        """`cost` in flint's rationals."""
        return to_fmpqs(self.cost)

    @cached_property
    def targets(self) -> list[Rational]:
        """`rhs` in flint's rationals."""
        return to_fmpqs(self.rhs)


def row_products(program: LinearProgram, x: Sequence[Rational]) -> list[Rational]:
    """A x in flint's rationals."""
    products = [ZERO] * program.shape[0]
    for row, column, value in program.entries:
        if x[column]:
            products[row] += value * x[column]
    return products


def flint_reduced_costs(program: LinearProgram, y: Sequence[Rational]) -> list[Rational]:
    """The reduced costs cost − Aᵀ y in flint's rationals."""
    reduced = list(program.costs)
    for row, column, value in program.entries:
        if y[row]:
            reduced[column] -= value * y[row]
    return reduced


def activity(program: LinearProgram, x: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """A x, exactly: one number a row.

    >>> activity(LinearProgram([1, 2], [0, 0], [0, 1], [1, 3], [1], [True]), [Fraction(1, 2), Fraction(1, 6)])
    (Fraction(1, 1),)
    """
    return to_fractions(row_products(program, flint_vector("x", x, program.shape[1])))


def flint_vector(name: str, values: Sequence[Fraction], size: int) -> list[Rational]:
    """`values` in flint's rationals, refused unless there are `size` of them."""
    if len(values) != size:
        raise InputError(
            f"{name} must have {size} numbers, got {len(values)}", name, "give one for each of the program's"
        )
    return to_fmpqs(_rationals(name, values))


def _rationals(name: str, values: Any) -> tuple[Fraction, ...]:
    return tuple(value if type(value) is Fraction else _rational(name, value) for value in values)


def _rational(name: str, value: Any) -> Fraction:
    if isinstance(value, (Fraction, int, np.integer)) and not isinstance(value, bool):
        return Fraction(value) if isinstance(value, Fraction) else Fraction(int(value))
    raise InputError(
        f"{name} must hold fractions or integers, got a {type(value).__name__}", name, "make it a Fraction"
    )


def _object_array(values: Sequence[Fraction]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _flag_array(values: Any, size: int) -> npt.NDArray[np.bool_]:
    array = np.asarray(values, dtype=bool).reshape(-1)
    if len(array) != size:
        raise InputError(f"equality must have {size} flags, got {len(array)}", "equality", "give one a row, as in rhs")
    return array


def _index_array(name: str, values: Any, size: int) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InputError(f"{name} must be a flat list of integers, got {array.ndim}-dimensional {array.dtype}", name)
    if array.size and not (array.min() >= 0 and array.max() < size):
        raise InputError(
            f"{name} must lie in 0..{size - 1}, got {array.min()}..{array.max()}", name, "check the indices"
        )
    return array.astype(np.int64)


def _check_equal_lengths(*arrays: npt.NDArray[Any]) -> None:
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) != 1:
        raise InputError(f"rows, columns and values must be equally long, got {lengths}: one of each a non-zero")


def _per_column(name: str, values: Any, size: int) -> tuple[Fraction | None, ...]:
    if len(values) != size:
        raise InputError(
            f"{name} must have {size} numbers, got {len(values)}", name, "give one a column, or leave it out"
        )
    may_be_missing = name == "upper"
    return tuple(None if may_be_missing and value is None else _rational(name, value) for value in values)
