"""Pairs of sets that share all elements but one, found by sorting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.polytopes.distance_lattice import IntArray

Flags: TypeAlias = npt.NDArray[np.bool_]
Sets: TypeAlias = npt.NDArray[np.int16]  # one set a row, increasing
Scalar = TypeVar("Scalar", bound=np.generic)
PAIRS_PER_CHUNK = 1 << 17
SETS_PER_SORT = 1 << 22
MAX_KEY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class AdjacentPairs:
    """The pairs (first, second) of rows of `sets`, the first one positive and the second not, that share all but one.

    sets[first[k], first_position[k]] is the element that the second set lacks; sets[second[k], second_position[k]] the
    one that the first lacks.
    """

    first: IntArray
    second: IntArray
    first_position: IntArray
    second_position: IntArray

    def union(self, sets: Sets) -> tuple[Sets, IntArray, IntArray]:
        """The united sets, and the positions in them of the element of the first set only and of the second only."""
        first_element = sets[self.first, self.first_position]
        second_element = sets[self.second, self.second_position]
        first_index = self.first_position + (second_element < first_element)
        second_index = self.second_position + (first_element < second_element)
        united = expand_rows(sets[self.first], second_index)
        united[np.arange(len(second_index)), second_index] = second_element
        return united, first_index, second_index


def expand_rows(rows: npt.NDArray[Scalar], gaps: IntArray) -> npt.NDArray[Scalar]:
    """The rows with a 0 put in at their gaps."""
    count, size = rows.shape
    positions = np.arange(size + 1)
    result = np.zeros((count, size + 1), dtype=rows.dtype)
    for gap in range(size + 1):
        selected = np.flatnonzero(gaps == gap)
        result[np.ix_(selected, positions[positions != gap])] = rows[selected]
    return result


def adjacent_pairs(sets: Sets, positive: Flags, count: int) -> Iterator[AdjacentPairs]:
    """All pairs, `PAIRS_PER_CHUNK` at a time."""
    for low, high in smallest_element_ranges(sets, count):
        yield from _SharedSets.of(sets, positive, count, low, high).pairs()


def count_pairs(sets: Sets, positive: Flags, count: int) -> int:
    """How many pairs there are, without making them."""
    return sum(
        _SharedSets.of(sets, positive, count, low, high).pair_count
        for low, high in smallest_element_ranges(sets, count)
    )


def smallest_element_ranges(sets: Sets, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of the least element of a shared set that split the work into about `SETS_PER_SORT` sets each."""
    size = sets.shape[1]
    if size == 1:
        yield 0, count
        return
    weights = (size - 1) * np.bincount(sets[:, 0], minlength=count) + np.bincount(sets[:, 1], minlength=count)
    low, total = 0, 0
    for element, weight in enumerate(weights.tolist()):
        if total and total + weight > SETS_PER_SORT:
            yield low, element
            low, total = element, 0
        total += weight
    yield low, count


@dataclass(frozen=True, slots=True, eq=False)
class _SharedSets:
    """Rows and the positions they leave out, sorted by shared set, positive rows first; where each set starts."""

    rows: IntArray
    positions: IntArray
    starts: IntArray
    positive_counts: IntArray
    other_counts: IntArray

    @classmethod
    def of(cls, sets: Sets, positive: Flags, count: int, low: int, high: int) -> _SharedSets:
        """For the shared sets whose least element is in low … high − 1."""
        keys, rows, positions = _shared_set_keys(sets, count, low, high)
        signed_keys = 2 * keys + ~positive[rows]
        order = np.argsort(signed_keys)
        signed_keys, rows, positions = signed_keys[order], rows[order], positions[order]
        keys = signed_keys >> 1
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
        sizes = np.diff(starts, append=len(keys))
        other_counts = np.add.reduceat(signed_keys & 1, starts) if len(keys) else keys
        return cls(rows, positions, starts, sizes - other_counts, other_counts)

    @property
    def pair_count(self) -> int:
        """The number of pairs."""
        return int((self.positive_counts * self.other_counts).sum())

    def pairs(self) -> Iterator[AdjacentPairs]:
        """Each positive row with each other row of its shared set."""
        group_ends = np.cumsum(self.positive_counts * self.other_counts)
        for start in range(0, self.pair_count, PAIRS_PER_CHUNK):
            pair_numbers = np.arange(start, min(start + PAIRS_PER_CHUNK, self.pair_count))
            group = np.searchsorted(group_ends, pair_numbers, side="right")
            offsets = pair_numbers - (group_ends[group] - self.positive_counts[group] * self.other_counts[group])
            first = self.starts[group] + offsets // self.other_counts[group]
            second = self.starts[group] + self.positive_counts[group] + offsets % self.other_counts[group]
            yield AdjacentPairs(self.rows[first], self.rows[second], self.positions[first], self.positions[second])


def _shared_set_keys(sets: Sets, count: int, low: int, high: int) -> tuple[IntArray, IntArray, IntArray]:
    """A number for each set with one element left out, its row, and the position left out.

    The number is Σ x_k·count^k over what remains.
    """
    size = sets.shape[1]
    if count ** max(size - 1, 1) >= MAX_KEY // 4:
        raise InputError(f"{count} vertices in sets of {size} are too many to list: take a smaller space")
    powers = count ** np.arange(size, dtype=np.int64)
    batches = [_keys_without(sets, powers, position, low, high) for position in range(size)]
    rows = np.concatenate([batch[1] for batch in batches])
    positions = np.repeat(np.arange(size), [len(batch[1]) for batch in batches])
    return np.concatenate([batch[0] for batch in batches]), rows, positions


def _keys_without(sets: Sets, powers: IntArray, position: int, low: int, high: int) -> tuple[IntArray, IntArray]:
    size = sets.shape[1]
    if size == 1:
        return np.zeros(len(sets), dtype=np.int64), np.arange(len(sets))
    smallest = sets[:, 1 if position == 0 else 0]
    rows = np.flatnonzero((smallest >= low) & (smallest < high))
    remaining = np.delete(np.arange(size), position)
    return sets[rows][:, remaining].astype(np.int64) @ powers[: size - 1], rows
