"""Is a loss legal: the verdict with its witness, and the comparison of all entries that finds it (GRS12 §2.2, §5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Number

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


def legality_by_error(cost: Callable[[int], Number], gaps: Sequence[int], size: int) -> Legality:
    """The legality of ℓ(i, j) = cost(j − i) on 0..size−1, by costs at the distances in `gaps` and as far below 0.

    `gaps` ascend from 0 to size − 1; between two of them the cost is straight on either side. Then they are enough:
    where it falls or stays level between two of them it does so everywhere between, and sides that agree there agree
    everywhere. With both sides rising it is legal if and only if they agree up to (size − 1)/2, the largest distance
    that a count has on both.
    """
    last = size - 1
    asymmetric_gap = next((gap for gap in gaps if 2 * gap <= last and cost(gap) != cost(-gap)), None)
    falling_step = flat_step = None
    for side in (1, -1):
        for start, end in pairwise(gaps):
            before, after = cost(side * start), cost(side * end)
            if flat_step is None and after <= before:
                flat_step = (side, start, end)
            if falling_step is None and after < before:
                falling_step = (side, start, end)
    witness: Triple | None = None
    if asymmetric_gap:
        witness = (asymmetric_gap, 0, 2 * asymmetric_gap)
    elif falling_step is not None:
        witness = _fall_witness(*falling_step, last)
    return Legality(witness, witness or (None if flat_step is None else _fall_witness(*flat_step, last)))


def _fall_witness(side: int, start: int, end: int, last: int) -> Triple:
    """A fall from distance `start` to `end` as a truth and two readings."""
    return (0, start, end) if side > 0 else (last, last - start, last - end)


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
