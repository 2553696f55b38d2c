"""Rank of many small matrices of whole numbers at once, proved by residues.

A minor of t columns is at most the product of their Euclidean lengths (Hadamard). If all minors of size t vanish modulo
primes whose product is larger than that, they vanish. If one does not vanish modulo one prime, it does not vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpz

from utmost.polytopes.distance_lattice import IntArray

MAX_PRIME = (1 << 31) - 1  # products of two residues fit


def are_dependent(columns: Sequence[Sequence[int]], column_sets: IntArray) -> npt.NDArray[np.bool_]:
    """Which rows of `column_sets`, each naming t columns, name linearly dependent ones.

    >>> are_dependent([(1, 0), (0, 1), (2, 2), (3, 3)], np.array([[0, 1], [2, 3], [0, 2]])).tolist()
    [False, True, False]
    """
    bound = _largest_minor(columns, column_sets.shape[1])
    result, product = np.ones(len(column_sets), dtype=bool), 1
    for prime in primes():
        if product > bound or not result.any():
            return result
        residues = np.array([[v % prime for v in column] for column in columns], dtype=np.int64)
        undecided = np.flatnonzero(result)
        result[undecided] = _dependent_modulo(residues[column_sets[undecided]].transpose(0, 2, 1).copy(), prime)
        product *= prime
    raise AssertionError("the primes do not end")


def primes() -> Iterator[int]:
    """Primes below 2^31, from the largest on."""
    return (p for p in range(MAX_PRIME, 2, -2) if fmpz(p).is_prime())


def _largest_minor(columns: Sequence[Sequence[int]], size: int) -> int:
    squares = sorted((sum(v * v for v in column) for column in columns), reverse=True)
    return math.isqrt(math.prod(squares[:size])) + 1


def _dependent_modulo(matrices: IntArray, prime: int) -> npt.NDArray[np.bool_]:
    """Which of the matrices (one a leading index; they are changed) have dependent columns modulo a prime."""
    count, height, width = matrices.shape
    if width > height:
        return np.ones(count, dtype=bool)
    matrix_numbers, dependent = np.arange(count), np.zeros(count, dtype=bool)
    for c in range(width):
        pivot = c + (matrices[:, c:, c] != 0).argmax(axis=1)
        matrices[matrix_numbers, pivot], matrices[:, c] = matrices[:, c].copy(), matrices[matrix_numbers, pivot]
        lead = matrices[:, c, c]
        dependent |= lead == 0
        below = matrices[:, c + 1 :, c + 1 :]
        products = below * lead[:, None, None] % prime
        below[:] = (products - matrices[:, c + 1 :, c, None] * matrices[:, c, None, c + 1 :] % prime) % prime
    return dependent
