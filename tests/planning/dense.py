"""Second opinions on plans: dense matrices, exact rational inverses, singular values by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from utmost.planning.designs import Partition, Places, TableDesign, numbered
from utmost.planning.workloads import PREFIX, Workload


def rows_of(partition: Partition) -> np.ndarray:
    """The level as a matrix of zeros and ones."""
    return (np.arange(partition.size)[:, None] == partition.places[None, :]).astype(float)


def workload_matrix(workload: Workload, size: int) -> np.ndarray:
    """W, each row times the root of its weight."""
    if workload.runs is not None:
        ends = [(0, j) for j in range(1, size + 1)]
        if workload.runs != PREFIX:
            ends = [(i, j) for i in range(size) for j in range(i + 1, size + 1)]
        rows = np.array([[float(i <= k < j) for k in range(size)] for i, j in ends])
        return rows / np.sqrt(len(rows))
    parts = zip(workload.partitions, workload.weights, strict=True)
    return np.vstack([rows_of(part) * np.sqrt(float(weight)) for part, weight in parts])


def dense_variances(
    partitions: Sequence[Partition], precisions: Sequence[float], workload: np.ndarray
) -> tuple[list[float], float]:
    """Mean variance of each level, and the workload's, by pseudo-inverse."""
    answers = np.vstack([rows_of(part) * np.sqrt(t) for part, t in zip(partitions, precisions, strict=True)])
    inverse = np.linalg.pinv(answers)
    levels = [float((rows_of(part) @ inverse).ravel() @ (rows_of(part) @ inverse).ravel()) for part in partitions]
    return [v / part.size for v, part in zip(levels, partitions, strict=True)], float(((workload @ inverse) ** 2).sum())


def exact_variances(
    partitions: Sequence[Partition], precisions: Sequence[Fraction], gram: Sequence[Sequence[int]], unit: int
) -> tuple[list[fmpq], fmpq]:
    """The same in fractions, by one exact inverse."""
    size = len(gram)
    same = [np.equal.outer(part.places, part.places) for part in partitions]
    weights = [fmpq(t.numerator, t.denominator) for t in precisions]
    rows = [
        [sum((w for w, s in zip(weights, same, strict=True) if s[i, j]), fmpq(0)) for j in range(size)]
        for i in range(size)
    ]
    inverse = fmpq_mat(rows).inv()

    def trace(of: Any) -> fmpq:
        return sum((inverse[i, j] * int(of[i][j]) for i in range(size) for j in range(size)), fmpq(0))

    return [trace(s) / part.size for s, part in zip(same, partitions, strict=True)], trace(gram) / unit


def nuclear_norm(matrix: np.ndarray) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False).sum())


def irregular_tree(parts: Sequence[int]) -> TableDesign:
    """Regions with so many towns each: total, regions, towns."""
    regions = np.repeat(np.arange(len(parts)), parts)
    towns = np.arange(len(regions))
    return design_of([regions, towns], [[], [0], [0, 1]])


def design_of(codes: Sequence[Places], levels: Sequence[Sequence[int]]) -> TableDesign:
    size = len(codes[0])
    named = [Partition(str(level), numbered([np.asarray(codes[k]) for k in level], size)) for level in levels]
    return TableDesign(tuple(np.asarray(c, dtype=np.int64) for c in codes), tuple(named))
