"""Is a loss legal: the verdict with its witness, and the comparison of all entries that finds it (GRS12 §2.2, §5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Exacts: TypeAlias = npt.NDArray[np.object_]
Triple: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Legality:
    """Is a loss legal, and strictly so; where not, entries (i, j, j′) with |j−i| ≤ |j′−i| that break it.

    `witness`: ℓ(i, j) > ℓ(i, j′), or the distances are equal and the losses differ. `strict_witness`: the same, or the
    distances differ and the losses do not.
    """

    witness: Triple | None
    strict_witness: Triple | None

    @property
    def legal(self) -> bool:
        """No entry breaks it."""
        return self.witness is None

    @property
    def strict(self) -> bool:
        """No entry breaks it strictly."""
        return self.strict_witness is None


def check_legality(entries: Exacts) -> Legality:
    """Compares, for each truth, every entry with the ones one step nearer: enough, since ≤ is transitive."""
    strict_witness: Triple | None = None
    for i, row in enumerate(entries):
        for nearer, farther in _ordering_pairs(i, len(row)):
            equidistant = abs(nearer - i) == abs(farther - i)
            if row[nearer] > row[farther] or (equidistant and row[nearer] != row[farther]):
                return Legality((i, nearer, farther), (i, nearer, farther))
            if strict_witness is None and not equidistant and row[nearer] == row[farther]:
                strict_witness = (i, nearer, farther)
    return Legality(None, strict_witness)


def _ordering_pairs(i: int, size: int) -> list[tuple[int, int]]:
    """Pairs of readings at distances (d, d) and (d, d+1) from i that together order all the distances."""
    pairs = []
    for gap in range(max(i, size - 1 - i) + 1):
        at_gap = [j for j in {i - gap, i + gap} if 0 <= j < size]
        at_next_gap = [j for j in {i - gap - 1, i + gap + 1} if 0 <= j < size]
        if len(at_gap) == 2:
            pairs.append((min(at_gap), max(at_gap)))
        pairs.extend((min(at_gap), j) for j in sorted(at_next_gap))
    return pairs
