"""What the standard spaces share: points that are numbered, profiles by counts, and the description of a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number, integer
from utmost.registry import Family
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import Label, Profile, Shape, Space

CAPACITY_ADVICE = "its capacity needs no table and works at any size"


@dataclass(frozen=True, kw_only=True)
class SpaceFamily(Family):
    """A family of spaces. `parse` makes a member from the text after the colon, or None where that has another form.

    In the documentation `points` says what its points are, `meaning` what their distance is, and `python` how the
    example is written in Python.
    """

    parse: Callable[[str], Space | None]
    points: str
    python: str


def parse_size(kind: str, text: str) -> int:
    """The number that a text gives after the kind of a space."""
    return integer(text, f"space {kind}:N")


def check_size(value: object, kind: str, unit: str = "points") -> int:
    """A number of points, rows or columns: a whole number from 1 on."""
    size = integer(value, f"{unit} of a {kind} space")
    if size < 1:
        raise InputError(f"{unit} of a {kind} space must be at least 1, got {size}")
    return size


@dataclass(frozen=True)
class Numbered(Shape):
    """Points called 0 … points−1 with distances that are whole numbers."""

    points: int

    @property
    def size(self) -> int:
        """As given."""
        return self.points

    def label(self, position: int) -> Label:
        """The position itself."""
        return position

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)


def profile_from_counts(counts: list[int]) -> Profile:
    """So many points at 0, 1, 2, …; distances without a point are left out."""
    return tuple((Fraction(k), count) for k, count in enumerate(counts) if count)


def sort_pairs(pairs: IntArray) -> IntArray:
    """Pairs in increasing order."""
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
