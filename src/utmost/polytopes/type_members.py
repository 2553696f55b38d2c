"""Members of a privacy type: recognised, made of kernel mechanisms (FMPD23 Thm 3), counted and listed.

Theorem 3 of FMPD23 made constructive: any private mechanism as post-processed convex sum of kernel mechanisms.

    M = (Σ_i p_i·K_i)·R      with p ≥ 0, Σ p_i = 1, K_i kernel mechanisms, R a channel.

Each column of M is a non-negative combination of vertices of the region: raise the parts of the secrets that tight
pairs do not join until all are joined (a vertex on the smallest face around the column), take off as much of that
vertex as leaves the rest private, and go on with the rest, which has one more tight pair. The vertices with their total
weights are a vertex mechanism, and R sends them back. A vertex mechanism is a convex sum of kernels (Property 2): move
along a linear dependency until a vertex drops out, until none is left; take off as much of that kernel as there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Mechanism, align_exact_inputs, merge
from utmost.channel.channel import Label, trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, ball, sign
from utmost.exact.files import replace_file
from utmost.exact.working_precision import working_precision
from utmost.polytopes.kernels import Kernel, PosteriorRegion, count_kernels, exact_sum, kernels, posterior_region
from utmost.polytopes.vertex_columns import Column
from utmost.polytopes.vertices import count_vertices, is_connected
from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces import Space

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.spaces import Space

PRECISION_BITS = (128, 512, 2048)  # bits of the balls that may prove independence


@dataclass(frozen=True, slots=True)
class MembershipVerdict:
    """Whether it holds, and why (not)."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True)
class Constraint:
    """α^d·c[high] ≤ c[low], one of the constraints that a column must obey."""

    low: int
    high: int
    factor: Number

    def slack(self, column: Sequence[Number]) -> Number:
        """How far the column is from the constraint; negative if it breaks it."""
        return column[self.low] - self.factor * column[self.high]


def constraints(space: Space, level: Level) -> list[Constraint]:
    """Those that imply all others: the pairs that generate the metric, both ways."""
    factors = [(x, y, level.power(space.distance(x, y))) for x, y in space.edges]
    return [Constraint(*pair) for x, y, f in factors for pair in ((x, y, f), (y, x, f))]


def is_vertex_mechanism(mechanism: Channel | Mechanism, space: Space, level: Level) -> MembershipVerdict:
    """Is every posterior a vertex of the region: do the tight pairs of each output connect all secrets.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(is_vertex_mechanism(channel([["1/2", "1/2"], ["2/5", "3/5"]]), line(2), alpha("1/2")).reason)
    output 0 is no vertex: no tight pairs lead from 0 to 1
    """
    source = align_exact_inputs(mechanism, space)
    bounds = constraints(space, level)
    for y, output in enumerate(source.outputs):
        column = source.rows[:, y].tolist()
        reason = _reason_not_vertex(column, bounds, space, level) if any(column) else None
        if reason is not None:
            return MembershipVerdict(False, f"output {output} is no vertex: {reason}")
    return MembershipVerdict(True, "the tight pairs of every output connect all secrets")


def _reason_not_vertex(
    column: Sequence[Number], bounds: Sequence[Constraint], space: Space, level: Level
) -> str | None:
    broken = next((bound for bound in bounds if sign(bound.slack(column)) < 0), None)
    if broken is not None:
        pair = f"{space.labels[broken.high]} and {space.labels[broken.low]}"
        return f"it is not private, it tells {pair} apart by more than the level allows"
    if level.alpha == 0:
        return None if sum(map(bool, column)) == 1 else "at alpha 0 only certainty is one, and it has several secrets"
    return _reason_disconnected(tight_neighbours(column, bounds), space.labels)


def tight_neighbours(column: Sequence[Number], bounds: Sequence[Constraint]) -> list[int]:
    """For each secret the set, as bits, of those that share a tight constraint with it."""
    neighbours = [0] * len(column)
    for bound in bounds:
        if not bound.slack(column):
            neighbours[bound.low] |= 1 << bound.high
            neighbours[bound.high] |= 1 << bound.low
    return neighbours


def _reason_disconnected(neighbours: list[int], labels: Sequence[Label]) -> str | None:
    if is_connected(neighbours):
        return None
    component = connected_component(neighbours, 0)
    other = next(x for x in range(len(neighbours)) if not component >> x & 1)
    return f"no tight pairs lead from {labels[0]} to {labels[other]}"


def connected_component(neighbours: list[int], start: int) -> int:
    """The set, as bits, of the points connected to `start`."""
    component, pending = 1 << start, [start]
    while pending:
        new_points = neighbours[pending.pop()] & ~component
        component |= new_points
        pending += [x for x in range(len(neighbours)) if new_points >> x & 1]
    return component


def is_kernel_mechanism(mechanism: Channel | Mechanism, space: Space, level: Level) -> MembershipVerdict:
    """Is it a vertex mechanism with linearly independent posteriors; outputs with the same posterior count as one.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.spaces import line
    >>> bool(is_kernel_mechanism(geometric(3, alpha("1/2")), line(4), alpha("1/2")))  # FMPD23 Lemma 19
    True
    """
    source = align_exact_inputs(mechanism, space)
    verdict = is_vertex_mechanism(source, space, level)
    if not verdict:
        return verdict
    merged = merge(trusted_channel(source.inputs, tuple(map(str, source.outputs)), source.rows))
    columns = [tuple(column) for column in merged.rows.T.tolist()]
    dependency = None if are_provably_independent(columns) else null_vector(columns)
    if dependency is None:
        return MembershipVerdict(True, "every posterior is a vertex, and they are linearly independent")
    names = ", ".join(y for y, value in zip(merged.outputs, dependency, strict=True) if value)  # type: ignore[misc]
    return MembershipVerdict(False, f"the posteriors of outputs {names} are linearly dependent")


def are_provably_independent(columns: Sequence[Column]) -> bool:
    """Do balls prove that the columns are independent: a minor as large as they are many that is not 0.

    False decides nothing. The rows of the minor are those that elimination in doubles takes as pivots.
    """
    from flint import arb_mat

    pivot_rows = _pivot_positions(np.array([[float(value) for value in column] for column in columns]))
    if pivot_rows is None:
        return False
    for bits in PRECISION_BITS:
        with working_precision(bits):
            minor = arb_mat([[ball(column[row], bits) for row in pivot_rows] for column in columns])
            if not minor.det().contains(0):
                return True
    return False


def _pivot_positions(rows: npt.NDArray[np.float64]) -> list[int] | None:
    """The positions at which doubles find independent columns of a matrix; None where they find too few."""
    remaining, positions = rows.copy(), []
    for k in range(len(remaining)):
        best = int(np.abs(remaining[k]).argmax())
        if not remaining[k, best]:
            return None
        positions.append(best)
        remaining[k + 1 :] -= np.outer(remaining[k + 1 :, best] / remaining[k, best], remaining[k])
        remaining[k + 1 :, best] = 0
    return positions


def null_vector(columns: Sequence[Column]) -> list[Number] | None:
    """Coefficients, not all 0, with Σ z_v·column_v = 0; None if the columns are independent. Exact elimination.

    >>> one, two = Fraction(1), Fraction(2)
    >>> [int(z) for z in null_vector([(one, two), (one - one, one), (two, one)])]
    [-2, 3, 1]
    """
    rows = [list(row) for row in zip(*columns, strict=True)]
    pivots: list[int] = []
    for c in range(len(columns)):
        pivot_row = next((r for r in range(len(pivots), len(rows)) if rows[r][c]), None)
        if pivot_row is None:
            solution: list[Number] = [Fraction(0)] * len(columns)
            solution[c] = Fraction(1)
            for r, pivot in enumerate(pivots):
                solution[pivot] = -rows[r][c]
            return solution
        rows[len(pivots)], rows[pivot_row] = rows[pivot_row], rows[len(pivots)]
        _reduce(rows, len(pivots), c)
        pivots.append(c)
    return None


def _reduce(rows: list[list[Number]], lead: int, c: int) -> None:
    """Make column c a unit column, with its 1 in row `lead`."""
    pivot = rows[lead][c]
    rows[lead] = [value / pivot for value in rows[lead]]
    for r, row in enumerate(rows):
        if r != lead and row[c]:
            factor = row[c]
            rows[r] = [a - factor * b for a, b in zip(row, rows[lead], strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """M = (Σ weights_i·kernels_i)·post_processing.

    Vertices are numbered as they were met, not as `vertices` lists them.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    weights: tuple[Number, ...]
    kernels: tuple[Kernel, ...]
    post_processing: Channel

    def convex_sum(self) -> Channel:
        """Σ weights_i·kernels_i: draw a kernel, then its output; equal vertices are one output."""
        region, vertex_numbers = self.kernels[0].region, self.post_processing.inputs
        rows = np.full((len(region.space), len(vertex_numbers)), Fraction(0), dtype=object)
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            rows[:, [vertex_numbers.index(v) for v in kernel.columns]] += weight * kernel.channel().rows
        return trusted_channel(region.space.labels, vertex_numbers, rows)

    def channel(self) -> Channel:
        """The mechanism again, multiplied out."""
        return self.convex_sum().then(self.post_processing)


def decomposition(mechanism: Channel | Mechanism, space: Space, level: Level) -> Decomposition:
    """Kernels, weights and a post-processing that make the mechanism, exactly.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> source = channel([["1/2", "1/2"], ["2/5", "3/5"]])
    >>> result = decomposition(source, line(2), alpha("1/2"))
    >>> len(result.kernels), result.channel() == source
    (1, True)
    """
    source = align_exact_inputs(mechanism, space)
    bounds = constraints(space, level)
    vertices: list[Column] = []
    column_shares = [
        _shares_by_vertex(split_column(source.rows[:, y].tolist(), bounds, level), vertices)
        for y in range(len(source.outputs))
    ]
    masses = [exact_sum([shares.get(v, Fraction(0)) for shares in column_shares]) for v in range(len(vertices))]
    rows = np.full((len(vertices), len(column_shares)), Fraction(0), dtype=object)
    for y, shares in enumerate(column_shares):
        for v, share in shares.items():
            rows[v, y] = share / masses[v]
    terms = convex_terms(vertices, masses)
    region = PosteriorRegion(space, level, tuple(vertices))
    kernels = tuple(_kernel(region, vertex_shares) for _, vertex_shares in terms)
    post_processing = trusted_channel(range(len(vertices)), source.outputs, rows)
    return Decomposition(tuple(w for w, _ in terms), kernels, post_processing)


def _shares_by_vertex(pieces: list[tuple[Number, Column]], vertices: list[Column]) -> dict[int, Number]:
    """The pieces by the number of their vertex; new vertices are added to `vertices`."""
    shares: dict[int, Number] = {}
    for share, vertex in pieces:
        if vertex not in vertices:
            vertices.append(vertex)
        index = vertices.index(vertex)
        shares[index] = shares.get(index, Fraction(0)) + share
    return shares


def split_column(column: Sequence[Number], bounds: Sequence[Constraint], level: Level) -> list[tuple[Number, Column]]:
    """A private column as Σ share·vertex, shares > 0, vertices with largest entry 1; at most n of them."""
    if any(sign(value) < 0 for value in (*column, *(bound.slack(column) for bound in bounds))):
        raise InputError(
            "the mechanism must be private at this level to be of its type", hint="check it with least_epsilon"
        )
    if level.alpha == 0:
        size = len(column)
        units = [tuple(Fraction(x == v) for x in range(size)) for v in range(size)]
        return [(value, unit) for value, unit in zip(column, units, strict=True) if value]
    pieces, rest = [], list(column)
    while any(rest):
        vertex = _vertex_around(rest, bounds)
        share = _largest_share(rest, vertex, bounds)
        pieces.append((share, vertex))
        rest = [a - share * b for a, b in zip(rest, vertex, strict=True)]
    return pieces


def _vertex_around(column: Sequence[Number], bounds: Sequence[Constraint]) -> Column:
    """A vertex whose tight pairs include the column's."""
    point = list(column)
    while True:
        neighbours = tight_neighbours(point, bounds)
        component = connected_component(neighbours, 0)
        if component == (1 << len(point)) - 1:
            largest = max(point)
            return tuple(value / largest for value in point)
        outgoing = [b for b in bounds if component >> b.high & 1 and not component >> b.low & 1]
        factor = min(point[b.low] / (b.factor * point[b.high]) for b in outgoing)
        point = [value * factor if component >> x & 1 else value for x, value in enumerate(point)]


def _largest_share(column: Sequence[Number], vertex: Column, bounds: Sequence[Constraint]) -> Number:
    """The largest multiple of the vertex that can be taken off a private column, so that the rest is private."""
    limits = [bound.slack(column) / slack for bound in bounds if (slack := bound.slack(vertex))]
    return min(limits) if limits else column[0] / vertex[0]


def convex_terms(columns: Sequence[Column], masses: Sequence[Number]) -> list[tuple[Number, dict[int, Number]]]:
    """Σ masses_v·column_v = 1 as a convex sum of such sums over independent columns: (weight, shares) pairs."""
    remaining = {v: mass for v, mass in enumerate(masses) if mass}
    weight: Number = Fraction(1)
    terms = []
    while remaining:
        shares = {v: share / weight for v, share in _independent_masses(columns, remaining).items()}
        term_weight = min(remaining[v] / share for v, share in shares.items())
        terms.append((term_weight, shares))
        remaining = {
            v: rest for v, mass in remaining.items() if (rest := mass - term_weight * shares.get(v, Fraction(0)))
        }
        weight = weight - term_weight
    return terms


def _independent_masses(columns: Sequence[Column], masses: dict[int, Number]) -> dict[int, Number]:
    """Masses on independent ones of the columns with the same sum."""
    while True:
        used = list(masses)
        dependency = null_vector([columns[v] for v in used])
        if dependency is None:
            return masses
        if not any(sign(z) > 0 for z in dependency):
            dependency = [-z for z in dependency]
        step = min(masses[v] / z for v, z in zip(used, dependency, strict=True) if sign(z) > 0)
        shifted = {v: masses[v] - step * z for v, z in zip(used, dependency, strict=True)}
        masses = {v: mass for v, mass in shifted.items() if mass}


def _kernel(region: PosteriorRegion, shares: dict[int, Number]) -> Kernel:
    size = len(region.space)
    columns = tuple(sorted(shares))
    return Kernel(columns, tuple(shares[v] * exact_sum(region.columns[v]) / size for v in columns), region)


MAX_LISTED_KERNELS = 100_000  # kernel mechanisms that one document may hold
Entry: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MemberKinds:
    """Which members are asked for."""

    vertices: bool
    kernels: bool


@dataclass(frozen=True, slots=True)
class Members:
    """How many vertices and kernel mechanisms a type has, or all of them; None where they were not asked for.

    A vertex is the posterior under a uniform prior; a kernel mechanism is the numbers of its vertices and the
    probability of each under a uniform prior.
    """

    vertices: int | list[Entry] | None
    kernels: int | list[Entry] | None


def count_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress) -> Members:
    """How many there are."""
    trivial_count = 1 if level.alpha else len(points)  # the answer tells nothing, or everything
    vertex_count = None
    if kinds.vertices:
        vertex_count = count_vertices(points, progress) if level.is_inner else trivial_count
    return Members(vertex_count, count_kernels(points, level, progress) if kinds.kernels else None)


def list_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress) -> Members:
    """All of them; more kernel mechanisms than a document can hold are refused."""
    region = posterior_region(points, level, progress) if kinds.vertices else None
    vertex_entries = None if region is None else [_vertex_entry(region, k) for k in range(len(region.columns))]
    if not kinds.kernels:
        return Members(vertex_entries, None)
    kernel_entries = list(islice(map(_kernel_entry, kernels(points, level, progress)), MAX_LISTED_KERNELS + 1))
    if len(kernel_entries) > MAX_LISTED_KERNELS:
        raise InputError(
            f"{points.name} has more than {MAX_LISTED_KERNELS} kernel mechanisms",
            hint="say --count, or --save FILE.jsonl",
        )
    return Members(vertex_entries, kernel_entries)


def save_members(points: Space, level: Level, kinds: MemberKinds, progress: Progress, path: str) -> Members:
    """All of them, one a line of a file, which is replaced when the last is found; returns how many there are.

    The vertices are written in any case, since kernel mechanisms are named by them.
    """
    kernel_count = 0
    with replace_file(path) as stream:
        region = posterior_region(points, level, progress)
        for k in range(len(region.columns)):
            stream.write(_encode_line({"vertex": k} | _vertex_entry(region, k)))
        for kernel in kernels(points, level, progress) if kinds.kernels else ():
            stream.write(_encode_line({"kernel": kernel_count} | _kernel_entry(kernel)))
            kernel_count += 1
    return Members(len(region.columns) if kinds.vertices else None, kernel_count if kinds.kernels else None)


def kernel_by_number(points: Space, level: Level, number: int, progress: Progress) -> Channel:
    """One kernel mechanism, by its number in the list."""
    kernel = next(islice(kernels(points, level, progress), max(number, 0), None), None)
    if kernel is None or number < 0:
        raise InputError(
            f"--kernel must be the number of a kernel mechanism of {points.name}, from 0, got {number}", "kernel"
        )
    return kernel.channel()


def _vertex_entry(region: PosteriorRegion, number: int) -> Entry:
    return {"posterior": [str(p) for p in region.posterior(number)]}


def _kernel_entry(kernel: Kernel) -> Entry:
    return {"vertices": list(kernel.columns), "weights": [str(w) for w in kernel.weights]}


def _encode_line(entry: Entry) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8")
