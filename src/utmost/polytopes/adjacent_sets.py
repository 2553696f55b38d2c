"""Pairs of sets that share all elements but one, found by sorting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.polytopes.distance_lattice import Whole

Flags: TypeAlias = npt.NDArray[np.bool_]
Sets: TypeAlias = npt.NDArray[np.int16]  # one set a row, increasing
Scalar = TypeVar("Scalar", bound=np.generic)
CHUNK = 1 << 17  # pairs at a time
KEYS = 1 << 22  # shared sets sorted at a time
LARGEST_KEY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class AdjacentPairs:
    """The pairs (first, second) of rows of `sets`, the first one positive and the second not, that share all but one.

    `out[k]` is where the element stands in sets[first[k]] that the other lacks; `into[k]` the same in sets[second[k]].
    """

    first: Whole
    second: Whole
    out: Whole
    into: Whole

    def union(self, sets: Sets) -> tuple[Sets, Whole, Whole]:
        """The united sets, and where the first one's and the second one's own elements stand in them."""
        own = sets[self.first, self.out]
        other = sets[self.second, self.into]
        gap, place = self.out + (other < own), self.into + (own < other)
        united = expand_rows(sets[self.first], place)
        united[np.arange(len(place)), place] = other
        return united, gap, place


def expand_rows(rows: npt.NDArray[Scalar], gaps: Whole) -> npt.NDArray[Scalar]:
    """The rows with a 0 put in at their gaps."""
    count, size = rows.shape
    places = np.arange(size + 1)
    result = np.zeros((count, size + 1), dtype=rows.dtype)
    for gap in range(size + 1):
        chosen = np.flatnonzero(gaps == gap)
        result[np.ix_(chosen, places[places != gap])] = rows[chosen]
    return result


def adjacent_pairs(sets: Sets, positive: Flags, count: int) -> Iterator[AdjacentPairs]:
    """All pairs, `CHUNK` at a time."""
    for low, high in spans(sets, count):
        yield from _Sorted.of(sets, positive, count, low, high).pairs()


def count_pairs(sets: Sets, positive: Flags, count: int) -> int:
    """How many pairs there are, without making them."""
    return sum(_Sorted.of(sets, positive, count, low, high).total for low, high in spans(sets, count))


def spans(sets: Sets, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of the least element of a shared set that part the work into about `KEYS` sets each."""
    size = sets.shape[1]
    if size == 1:
        yield 0, count
        return
    weights = (size - 1) * np.bincount(sets[:, 0], minlength=count) + np.bincount(sets[:, 1], minlength=count)
    low, total = 0, 0
    for least, weight in enumerate(weights.tolist()):
        if total and total + weight > KEYS:
            yield low, least
            low, total = least, 0
        total += weight
    yield low, count


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Rows and left-out places, sorted by what is shared, positive rows first; where each shared set starts."""

    rows: Whole
    places: Whole
    starts: Whole
    above: Whole
    below: Whole

    @classmethod
    def of(cls, sets: Sets, positive: Flags, count: int, low: int, high: int) -> _Sorted:
        """For the shared sets whose least element is in low … high − 1."""
        keys, rows, places = _keys(sets, count, low, high)
        signed = 2 * keys + ~positive[rows]
        order = np.argsort(signed)
        signed, rows, places = signed[order], rows[order], places[order]
        keys = signed >> 1
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
        sizes = np.diff(starts, append=len(keys))
        below = np.add.reduceat(signed & 1, starts) if len(keys) else keys
        return cls(rows, places, starts, sizes - below, below)

    @property
    def total(self) -> int:
        """The number of pairs."""
        return int((self.above * self.below).sum())

    def pairs(self) -> Iterator[AdjacentPairs]:
        """Each positive row with each other row of its shared set."""
        ends = np.cumsum(self.above * self.below)
        for begin in range(0, self.total, CHUNK):
            numbers = np.arange(begin, min(begin + CHUNK, self.total))
            group = np.searchsorted(ends, numbers, side="right")
            inside = numbers - (ends[group] - self.above[group] * self.below[group])
            first = self.starts[group] + inside // self.below[group]
            second = self.starts[group] + self.above[group] + inside % self.below[group]
            yield AdjacentPairs(self.rows[first], self.rows[second], self.places[first], self.places[second])


def _keys(sets: Sets, count: int, low: int, high: int) -> tuple[Whole, Whole, Whole]:
    """A number for each set with one element left out, its row, and the place left out.

    The number is Σ x_k·count^k over what remains.
    """
    size = sets.shape[1]
    if count ** max(size - 1, 1) >= LARGEST_KEY // 4:
        raise InputError(f"{count} vertices in sets of {size} are too many to list: take a smaller space")
    powers = count ** np.arange(size, dtype=np.int64)
    found = [_without(sets, powers, place, low, high) for place in range(size)]
    rows = np.concatenate([part[1] for part in found])
    places = np.repeat(np.arange(size), [len(part[1]) for part in found])
    return np.concatenate([part[0] for part in found]), rows, places


def _without(sets: Sets, powers: Whole, place: int, low: int, high: int) -> tuple[Whole, Whole]:
    size = sets.shape[1]
    if size == 1:
        return np.zeros(len(sets), dtype=np.int64), np.arange(len(sets))
    least = sets[:, 1 if place == 0 else 0]
    rows = np.flatnonzero((least >= low) & (least < high))
    rest = np.delete(np.arange(size), place)
    return sets[rows][:, rest].astype(np.int64) @ powers[: size - 1], rows
