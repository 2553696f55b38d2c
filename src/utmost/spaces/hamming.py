"""The Hamming cube: words of bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number, integer
from utmost.spaces.discrete import discrete
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    CAPACITY_ADVICE,
    Label,
    Profile,
    Shape,
    Space,
    SpaceFamily,
    SymmetryGenerators,
    parse_size,
    point_count_text,
    profile_from_counts,
    sort_pairs,
)


def hamming(bits: int) -> Space:
    """All words of so many bits, at the number of bits in which they differ.

    >>> hamming(2).labels, len(hamming(20))
    (('00', '01', '10', '11'), 1048576)
    """
    length = integer(bits, "bits of a hamming space")
    if not 1 <= length <= 62:
        raise InputError(f"bits of a hamming space must be 1 to 62, got {point_count_text(length)}", "bits")
    return Space.from_shape(f"hamming:{length}", HammingShape(length))


@dataclass(frozen=True)
class HammingShape(Shape):
    """Words of `bits` bits, the first bit leftmost."""

    bits: int
    size_advice = CAPACITY_ADVICE

    @property
    def size(self) -> int:
        """2^bits."""
        return 1 << self.bits

    def label(self, position: int) -> Label:
        """The word."""
        return f"{position:0{self.bits}b}"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The number of bits that differ."""
        differ: IntArray = np.bitwise_count(x ^ other).astype(np.int64)
        return differ

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)

    def edges(self) -> IntArray:
        """Words that differ in one bit."""
        words = np.arange(self.size)
        pairs = [np.column_stack([words, words ^ (1 << k)])[words >> k & 1 == 0] for k in range(self.bits)]
        return sort_pairs(np.concatenate([np.zeros((0, 2), dtype=np.int64), *pairs]))

    def profile(self) -> Profile:
        """Binomial coefficients."""
        return profile_from_counts([math.comb(self.bits, k) for k in range(self.bits + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """One bit flipped, neighbouring bits exchanged: of order 2^bits·bits!."""
        words = np.arange(self.size)
        swaps = [_swap_bits(words, k) for k in range(self.bits - 1)]
        return SymmetryGenerators((words ^ 1, *swaps), 2**self.bits * math.factorial(self.bits))

    def axes(self) -> list[Space]:
        """One of two points for each bit."""
        return [discrete(2)] * self.bits


def _swap_bits(words: IntArray, k: int) -> IntArray:
    """Words with bits k and k+1 exchanged."""
    differ = (words >> k ^ words >> (k + 1)) & 1
    return words ^ (differ << k | differ << (k + 1))


HAMMING = SpaceFamily(
    kind="hamming",
    example="hamming:3",
    points="words `000` … `111`",
    meaning="bits that differ",
    python="hamming(3)",
    parse=lambda text: hamming(parse_size("hamming", text)),
)
