"""Theorem 3 of FMPD23 made constructive: any private mechanism as post-processed convex sum of kernel mechanisms.

    M = (Σ_i p_i·K_i)·R      with p ≥ 0, Σ p_i = 1, K_i kernel mechanisms, R a channel.

Each column of M is a non-negative combination of vertices of the region: raise the parts of the secrets that tight
pairs do not join until all are joined (a vertex on the smallest face around the column), take off as much of that
vertex as leaves the rest private, and go on with the rest, which has one more tight pair. The vertices with their total
weights are a vertex mechanism, and R sends them back. A vertex mechanism is a convex sum of kernels (Property 2): move
along a linear dependency until a vertex drops out, until none is left; take off as much of that kernel as there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Mechanism, align_exact_inputs
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, sign
from utmost.polytopes.kernels import Kernel, PosteriorRegion, exact_sum
from utmost.polytopes.membership import Constraint, connected_component, constraints, null_vector, tight_neighbours
from utmost.polytopes.vertex_columns import Column
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """M = (Σ weights_i·kernels_i)·post_processing.

    Vertices are numbered as they were met, not as `vertices` lists them.
    """

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
