"""Positive circuits: the minimal sets of vectors of which a positive combination vanishes.

The cone {λ ≥ 0 : rows·Wλ = 0} is cut by one hyperplane after another (double description, Motzkin et al. 1953). Its
extreme rays at first are single vectors. A hyperplane keeps the rays inside it and adds, for each two-dimensional face
that it crosses, the point where it does. The hyperplanes are chosen in general position, which is checked: a ray may
lie in the next one only if its combination vanishes altogether. Then

* a ray that vanishes is a circuit, and lies in all hyperplanes to come: it is put aside as an answer;
* any other ray after k cuts has k + 1 vectors, linearly independent; two of them share a face exactly when they share k
  vectors, for then their k + 2 vectors have two dependencies, and with more vectors there are more;
* so each new ray comes from exactly one pair, and pairs are found by sorting the rays by the sets of k that they hold.

After the last cut everything vanishes: the number of circuits is known from the sorted sets before one is written down.

Rays are doubles with a bound on their relative error. Weights are positive and only added, so they keep their accuracy;
the sign of a value is taken from doubles only where the bound proves it, and by `Columns` elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, fields
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.polytopes.vertex_columns import MIN_DOUBLE, Columns, Doubles, Row
from utmost.polytopes.vertices import IntArray

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


Step: TypeAlias = Callable[[int, int], None]  # how many cuts are made, and how many rays there are after them
ROUNDING_UNIT = 2.0**-53
MAX_RELATIVE_ERROR = 2.0**-8  # a value with a larger one is decided exactly
MAX_RAY_BYTES = 3 << 30  # of the rays after one cut
MAX_VECTORS = np.iinfo(np.int16).max


@dataclass(frozen=True, slots=True, eq=False)
class Rays:
    """Rays with equally many vectors: `weights` are within `weight_errors` of the truth, relatively.

    `values` are those at the next hyperplane, never 0, within `value_errors` of the truth, relatively.
    """

    sets: Sets
    weights: Doubles
    weight_errors: Doubles
    values: Doubles
    value_errors: Doubles

    @property
    def nbytes(self) -> int:
        """In bytes."""
        return int(sum(getattr(self, field.name).nbytes for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The rays before the last cut, and which of them are on its positive side."""

    sets: Sets
    positive: Flags


class NotGeneric(Exception):
    """A hyperplane holds a ray that does not vanish: another one must be taken."""


def positive_circuits(columns: Columns, step: Step = lambda cuts, rays: None) -> Iterator[IntArray]:
    """All positive circuits, in arrays of sets of the same size, one set a row, each circuit once."""
    sides = yield from _cuts(columns, step)
    for pairs in adjacent_pairs(sides.sets, sides.positive, columns.count):
        yield pairs.union(sides.sets)[0].astype(np.int64)


def count_circuits(columns: Columns, step: Step = lambda cuts, rays: None) -> int:
    """How many positive circuits there are; those of full size are counted, not made."""
    cuts, count = _cuts(columns, step), 0
    while True:
        try:
            count += len(next(cuts))
        except StopIteration as stop:
            return count + count_pairs(stop.value.sets, stop.value.positive, columns.count)


def _cuts(columns: Columns, step: Step) -> Generator[IntArray, None, Sides]:
    """Yields the circuits that vanish early; returns the rays before the last cut."""
    if columns.count > MAX_VECTORS:
        raise InputError(f"kernels can be asked for with at most {MAX_VECTORS} vertices, got {columns.count}")
    rows: list[Row] = []
    rays: Rays | None = None
    for _ in range(columns.dimension):
        rays, vanished, row = _cut(columns, rows, rays, step)
        rows.append(row)
        yield from vanished
    if rays is None:  # dimension 0: every vector vanishes
        yield np.arange(columns.count)[:, None]
        return Sides(np.zeros((0, 1), dtype=np.int16), np.zeros(0, dtype=bool))
    return Sides(rays.sets, rays.values > 0)


def _cut(columns: Columns, rows: list[Row], rays: Rays | None, step: Step) -> tuple[Rays, list[IntArray], Row]:
    """The rays after the cuts so far, with their values at a new hyperplane in general position."""
    attempt = 0
    while True:
        row = generic_row(columns.dimension, len(rows), attempt)
        try:
            return *_rays_with_values(columns, [*rows, row], rays, step), row
        except NotGeneric:
            attempt += 1


def generic_row(size: int, step: int, attempt: int) -> Row:
    """Whole coefficients below 2^15 that follow no pattern: the high bits of a linear congruential sequence."""
    state = (size << 20) + (step << 10) + attempt
    row = []
    for _ in range(size + 3):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        row.append((state >> 48) - (1 << 15))
    return tuple(row[3:])


def _rays_with_values(columns: Columns, rows: list[Row], rays: Rays | None, step: Step) -> tuple[Rays, list[IntArray]]:
    is_last = len(rows) == columns.dimension
    vector_values = columns.doubles(rows[-1])
    batches, vanished, count, bytes_left = [], [], 0, MAX_RAY_BYTES
    for sets, weights, weight_errors in _ray_batches(columns.count, rays):
        batch, zero_sets = _decide_signs(columns, rows, vector_values, sets, weights, weight_errors)
        batches.append(_signs_only(batch) if is_last else batch)
        if len(zero_sets):
            vanished.append(zero_sets)
        count, bytes_left = count + len(sets), bytes_left - batches[-1].nbytes
        step(len(rows) - 1, count)
        if bytes_left < 0:
            raise InputError(
                f"kernels of this type are too many to list: more than {count} rays after {len(rows) - 1} "
                f"of {columns.dimension} cuts; take a space with fewer points",
                "kernels",
            )
    return _concatenate_rays(batches, len(rows)), vanished


def _ray_batches(count: int, rays: Rays | None) -> Iterator[tuple[Sets, Doubles, Doubles]]:
    """The rays before the first cut, or those that the next cut makes."""
    if rays is None:
        yield np.arange(count, dtype=np.int16)[:, None], np.ones((count, 1)), np.zeros(count)
        return
    for pairs in adjacent_pairs(rays.sets, rays.values > 0, count):
        yield _crossing_points(rays, pairs)


def _crossing_points(rays: Rays, pairs: AdjacentPairs) -> tuple[Sets, Doubles, Doubles]:
    """Where the segments between two rays meet the hyperplane: first/|value| + second/|value|, with the error."""
    sets, first_index, second_index = pairs.union(rays.sets)
    scaled = rays.weights / np.abs(rays.values)[:, None]
    weights = expand_rows(scaled[pairs.first], second_index) + expand_rows(scaled[pairs.second], first_index)
    weights /= weights.max(axis=1, keepdims=True)
    weights[weights.min(axis=1) < MIN_DOUBLE] = np.nan  # never certain: decided by the columns each time
    total_errors = rays.weight_errors + rays.value_errors
    return sets, weights, np.maximum(total_errors[pairs.first], total_errors[pairs.second]) * 1.02 + 8 * ROUNDING_UNIT


def _decide_signs(
    columns: Columns, rows: list[Row], vector_values: Doubles, sets: Sets, weights: Doubles, weight_errors: Doubles
) -> tuple[Rays, IntArray]:
    """Values at the last row, certain in sign; and the sets that vanish.

    |computed − true| ≤ Σ|terms|·(error of the weights + roundings), since each term is right up to the weight's error
    and three units, and a sum of t terms up to t more.
    """
    terms = weights * vector_values[sets]
    values, sizes = terms.sum(axis=1), np.abs(terms).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value_errors = 1.02 * sizes * (weight_errors + (sets.shape[1] + 8) * ROUNDING_UNIT) / np.abs(values)
    unclear = np.flatnonzero(~(value_errors < MAX_RELATIVE_ERROR))
    is_nonzero = np.ones(len(sets), dtype=bool)
    if len(unclear):
        is_nonzero[unclear] = ~columns.dependent_sets(sets[unclear].astype(np.int64))
        for index in unclear[is_nonzero[unclear]].tolist():
            weights[index], values[index] = columns.resolve(rows, sets[index].tolist())
            weight_errors[index] = value_errors[index] = 4 * ROUNDING_UNIT
            if not values[index]:
                raise NotGeneric
    rays = _select_rays(Rays(sets, weights, weight_errors, values, value_errors), is_nonzero)
    return rays, sets[~is_nonzero].astype(np.int64)


def _select_rays(rays: Rays, flags: Flags) -> Rays:
    if flags.all():
        return rays
    return Rays(
        rays.sets[flags], rays.weights[flags], rays.weight_errors[flags], rays.values[flags], rays.value_errors[flags]
    )


def _signs_only(rays: Rays) -> Rays:
    """The sets and the signs of the values, which are all that the last cut needs."""
    empty = np.zeros(0)
    return Rays(rays.sets, empty, empty, np.sign(rays.values).astype(np.float32), empty)


def _concatenate_rays(batches: list[Rays], size: int) -> Rays:
    if not batches:
        empty = np.zeros(0)
        return Rays(np.zeros((0, size), dtype=np.int16), np.zeros((0, size)), empty, empty, empty)
    if len(batches) == 1:
        return batches[0]
    return Rays(*(np.concatenate([getattr(batch, field.name) for batch in batches]) for field in fields(Rays)))
