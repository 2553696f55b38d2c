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
from utmost.polytopes.kernel_weights import exact_sum
from utmost.polytopes.kernels import Kernel, PosteriorRegion
from utmost.polytopes.membership import Constraint, connected_component, constraints, null_vector, tight_neighbours
from utmost.polytopes.vertex_columns import Column
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """M = (Σ weights_i·kernels_i)·post. Vertices are numbered as they were met, not as `vertices` lists them."""

    weights: tuple[Number, ...]
    kernels: tuple[Kernel, ...]
    post: Channel

    def convex_sum(self) -> Channel:
        """Σ weights_i·kernels_i: a kernel is drawn and its output told; equal vertices are one output."""
        made, numbers = self.kernels[0].region, self.post.inputs
        rows = np.full((len(made.space), len(numbers)), Fraction(0), dtype=object)
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            rows[:, [numbers.index(v) for v in kernel.columns]] += weight * kernel.channel().rows
        return trusted_channel(made.space.labels, numbers, rows)

    def channel(self) -> Channel:
        """The mechanism again, multiplied out."""
        return self.convex_sum().then(self.post)


def decomposition(mechanism: Channel | Mechanism, space: Space, level: Level) -> Decomposition:
    """Kernels, weights and a post-processing that make the mechanism, exactly.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> source = channel([["1/2", "1/2"], ["2/5", "3/5"]])
    >>> found = decomposition(source, line(2), alpha("1/2"))
    >>> len(found.kernels), found.channel() == source
    (1, True)
    """
    source = align_exact_inputs(mechanism, space)
    bounds = constraints(space, level)
    met: list[Column] = []
    parts = [_placed(split(source.rows[:, y].tolist(), bounds, level), met) for y in range(len(source.outputs))]
    masses = [exact_sum([part.get(v, Fraction(0)) for part in parts]) for v in range(len(met))]
    post = np.full((len(met), len(parts)), Fraction(0), dtype=object)
    for y, part in enumerate(parts):
        for v, share in part.items():
            post[v, y] = share / masses[v]
    found = peeled(met, masses)
    made = PosteriorRegion(space, level, tuple(met))
    kernels = tuple(_kernel(made, shares) for _, shares in found)
    return Decomposition(tuple(w for w, _ in found), kernels, trusted_channel(range(len(met)), source.outputs, post))


def _placed(pieces: list[tuple[Number, Column]], met: list[Column]) -> dict[int, Number]:
    """The pieces by the number of their vertex; new vertices are added to `met`."""
    shares: dict[int, Number] = {}
    for share, vertex in pieces:
        if vertex not in met:
            met.append(vertex)
        place = met.index(vertex)
        shares[place] = shares.get(place, Fraction(0)) + share
    return shares


def split(column: Sequence[Number], bounds: Sequence[Constraint], level: Level) -> list[tuple[Number, Column]]:
    """A private column as Σ share·vertex, shares > 0, vertices with largest entry 1; at most n of them."""
    if any(sign(value) < 0 for value in (*column, *(bound.slack(column) for bound in bounds))):
        raise InputError("the mechanism must be private at this level to be of its type: check it with least_epsilon")
    if level.alpha == 0:
        size = len(column)
        units = [tuple(Fraction(x == v) for x in range(size)) for v in range(size)]
        return [(value, unit) for value, unit in zip(column, units, strict=True) if value]
    pieces, rest = [], list(column)
    while any(rest):
        vertex = _vertex_around(rest, bounds)
        share = _share(rest, vertex, bounds)
        pieces.append((share, vertex))
        rest = [a - share * b for a, b in zip(rest, vertex, strict=True)]
    return pieces


def _vertex_around(column: Sequence[Number], bounds: Sequence[Constraint]) -> Column:
    """A vertex whose tight pairs include the column's."""
    point = list(column)
    while True:
        near = tight_neighbours(point, bounds)
        joined = connected_component(near, 0)
        if joined == (1 << len(point)) - 1:
            top = max(point)
            return tuple(value / top for value in point)
        leaving = [b for b in bounds if joined >> b.high & 1 and not joined >> b.low & 1]
        factor = min(point[b.low] / (b.factor * point[b.high]) for b in leaving)
        point = [value * factor if joined >> x & 1 else value for x, value in enumerate(point)]


def _share(column: Sequence[Number], vertex: Column, bounds: Sequence[Constraint]) -> Number:
    """The most of the vertex that can be taken off a private column, so that the rest is private."""
    limits = [bound.slack(column) / slack for bound in bounds if (slack := bound.slack(vertex))]
    return min(limits) if limits else column[0] / vertex[0]


def peeled(columns: Sequence[Column], masses: Sequence[Number]) -> list[tuple[Number, dict[int, Number]]]:
    """Σ masses_v·column_v = 1 as a convex sum of such sums over independent columns: (weight, shares) pairs."""
    left = {v: mass for v, mass in enumerate(masses) if mass}
    weight: Number = Fraction(1)
    found = []
    while left:
        shares = {v: share / weight for v, share in _independent(columns, left).items()}
        taken = min(left[v] / share for v, share in shares.items())
        found.append((taken, shares))
        left = {v: rest for v, mass in left.items() if (rest := mass - taken * shares.get(v, Fraction(0)))}
        weight = weight - taken
    return found


def _independent(columns: Sequence[Column], masses: dict[int, Number]) -> dict[int, Number]:
    """Masses on independent ones of the columns with the same sum."""
    while True:
        used = list(masses)
        dependency = null_vector([columns[v] for v in used])
        if dependency is None:
            return masses
        if not any(sign(z) > 0 for z in dependency):
            dependency = [-z for z in dependency]
        step = min(masses[v] / z for v, z in zip(used, dependency, strict=True) if sign(z) > 0)
        moved = {v: masses[v] - step * z for v, z in zip(used, dependency, strict=True)}
        masses = {v: mass for v, mass in moved.items() if mass}


def _kernel(made: PosteriorRegion, shares: dict[int, Number]) -> Kernel:
    size = len(made.space)
    chosen = tuple(sorted(shares))
    return Kernel(chosen, tuple(shares[v] * exact_sum(made.columns[v]) / size for v in chosen), made)
