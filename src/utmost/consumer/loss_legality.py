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
        for near, far in _neighbours(i, len(row)):
            level = abs(near - i) == abs(far - i)
            if row[near] > row[far] or (level and row[near] != row[far]):
                return Legality((i, near, far), (i, near, far))
            if strict_witness is None and not level and row[near] == row[far]:
                strict_witness = (i, near, far)
    return Legality(None, strict_witness)


def _neighbours(i: int, size: int) -> list[tuple[int, int]]:
    """Pairs of readings at distances (d, d) and (d, d+1) from i that together order all the distances."""
    pairs = []
    for gap in range(max(i, size - 1 - i) + 1):
        here = [j for j in {i - gap, i + gap} if 0 <= j < size]
        beyond = [j for j in {i - gap - 1, i + gap + 1} if 0 <= j < size]
        if len(here) == 2:
            pairs.append((min(here), max(here)))
        pairs.extend((min(here), j) for j in sorted(beyond))
    return pairs
