"""Designs without a shape: a few hundred cells, as a matrix, in doubles and in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.planning.designs import Partition
from utmost.planning.workloads import Workload, gram_matrix

if TYPE_CHECKING:
    from flint import arb, arb_mat
    from numpy.typing import NDArray

MAX_MATRIX_CELLS = 256


@dataclass(frozen=True, eq=False)
class MatrixModel:
    """Variances by the inverse of Σ τ·AᵀA, which must be regular: None where it is not."""

    partitions: tuple[Partition, ...]
    workload: Workload
    size: int

    @cached_property
    def _same_part(self) -> list[NDArray[np.int64]]:
        return [np.equal.outer(part.places, part.places).astype(np.int64) for part in self.partitions]

    @cached_property
    def _gram(self) -> tuple[list[list[int]], int]:
        return gram_matrix(self.workload, range(self.size), self.size)

    @property
    def max_steps(self) -> int:
        """How often shares are improved."""
        return 100

    def objective(self, precisions: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The workload's variance and its derivatives, in doubles."""
        information = sum(t * same for t, same in zip(precisions, self._same_part, strict=True))
        try:
            covariance = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            return float("inf"), np.zeros(len(precisions))
        gram = np.array(self._gram[0], dtype=float) / self._gram[1]
        change = covariance @ gram @ covariance
        return float((gram * covariance).sum()), -np.array([(change * same).sum() for same in self._same_part])

    def variances(self, precisions: Sequence[arb]) -> tuple[list[arb | None], arb | None]:
        """The mean variance of each partition's parts, and of the workload; None where there is no unbiased one."""
        from flint import arb, arb_mat

        size = self.size
        entries = [arb(0)] * (size * size)
        for precision, same in zip(precisions, self._same_part, strict=True):
            flat = same.ravel().tolist()
            entries = [entry + precision if one else entry for entry, one in zip(entries, flat, strict=True)]
        try:
            covariance = arb_mat(size, size, entries).inv()
        except ZeroDivisionError:
            return [None] * len(self.partitions), None
        levels: list[arb | None] = [
            _weighted_sum(covariance, same.tolist()) / part.size
            for part, same in zip(self.partitions, self._same_part, strict=True)
        ]
        return levels, _weighted_sum(covariance, self._gram[0]) / self._gram[1]


def _weighted_sum(matrix: arb_mat, weights: Sequence[Sequence[int]]) -> Any:
    from flint import arb

    terms = (
        matrix[row, column] * weight for row, line in enumerate(weights) for column, weight in enumerate(line) if weight
    )
    return sum(terms, arb(0))
