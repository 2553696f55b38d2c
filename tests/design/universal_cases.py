"""Kernel mechanisms by brute force, and what the tests of universal optimality draw."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from utmost.channel import Channel, channel, deterministic
from utmost.exact import Level, alpha
from utmost.spaces import Space, cycle, discrete, graph, grid, hamming, line, space

HALF = alpha("1/2")
SHAPES = {
    "line": line,
    "discrete": discrete,
    "cycle": cycle,
    "star": lambda points: graph([("c", leaf) for leaf in range(points - 1)]),
}


def vertices(metric: Space) -> list[tuple[int, ...]]:
    """Exponents of the vertices: every spanning tree of tight pairs, each way, that keeps all other constraints."""
    size = len(metric)
    exponent_vectors = set()
    for tree in combinations(combinations(range(size), 2), size - 1):
        for signs in product((1, -1), repeat=size - 1):
            exponents = _exponents_along(metric, tree, signs)
            if exponents and all(
                abs(exponents[x] - exponents[z]) <= metric.distance(x, z) for x, z in combinations(range(size), 2)
            ):
                exponent_vectors.add(tuple(int(k - min(exponents.values())) for _, k in sorted(exponents.items())))
    return sorted(exponent_vectors)


def _exponents_along(metric: Space, tree: object, signs: object) -> dict[int, Fraction] | None:
    exponents = {0: Fraction(0)}
    for _ in range(len(metric)):
        for (x, z), direction in zip(tree, signs, strict=True):  # type: ignore[call-overload]
            gap = direction * metric.distance(x, z)
            if x in exponents:
                exponents.setdefault(z, exponents[x] + gap)
            elif z in exponents:
                exponents[x] = exponents[z] - gap
    return exponents if len(exponents) == len(metric) else None


@lru_cache(maxsize=32)
def kernels(kind: str, size: int, level: Level) -> tuple[Channel, ...]:
    """All kernel mechanisms: independent vertices that average to the uniform distribution with positive weights."""
    metric = SHAPES[kind](size)
    columns = [[level.alpha**k for k in exponents] for exponents in vertices(metric)]
    channels = []
    for count in range(1, size + 1):
        for support in combinations(columns, count):
            weights = _positive_weights(support, size)
            if weights is not None:
                rows = [[w * column[x] for w, column in zip(weights, support, strict=True)] for x in range(size)]
                channels.append(channel(rows, inputs=metric.labels))
    return tuple(channels)


def _positive_weights(support: object, size: int) -> list[Fraction] | None:
    columns = list(support)  # type: ignore[call-overload]
    table = [[fmpq(c[x].numerator, c[x].denominator) for c in columns] + [fmpq(1)] for x in range(size)]
    echelon, rank = fmpq_mat(table).rref()
    width = len(columns)
    pivots = all(echelon[k, k] == 1 for k in range(min(width, size)))
    if rank != width or not pivots or any(echelon[k, width] <= 0 for k in range(width)):
        return None
    return [Fraction(int(echelon[k, width].p), int(echelon[k, width].q)) for k in range(width)]


def loss_tables(points: int, actions: int | None = None, max_entry: int = 4) -> st.SearchStrategy[list[list[int]]]:
    """Losses with small whole entries, rectangular unless a width is given."""
    widths = st.integers(1, 4) if actions is None else st.just(actions)
    return widths.flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, max_entry), min_size=k, max_size=k), min_size=points, max_size=points
        )
    )


@st.composite
def mechanisms(draw: st.DrawFn, kind: str, size: int, level: Level) -> Channel:
    """Mechanisms of a type: a kernel, or one followed by a remap, deterministic or not."""
    kernel = draw(st.sampled_from(kernels(kind, size, level)))
    remap = draw(remaps(kernel))
    return draw(st.sampled_from([kernel, kernel, kernel.then(remap)]))


@st.composite
def remaps(draw: st.DrawFn, source: Channel) -> Channel:
    """Channels that may follow: deterministic remaps and random ones."""
    count = len(source.outputs)
    if draw(st.booleans()):
        targets = draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
        return deterministic(targets, source.outputs, range(count))
    weights = st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any)
    rows = [[Fraction(w, sum(row)) for w in row] for row in draw(st.lists(weights, min_size=count, max_size=count))]
    return channel(rows, inputs=source.outputs)


@st.composite
def metrics(draw: st.DrawFn, min_points: int = 2, max_points: int = 5) -> Space:
    """Named spaces with whole distances, and random ones: distances between 2 and 4 always make a metric."""
    named_spaces = [
        line(3),
        line(5),
        discrete(4),
        cycle(5),
        hamming(2),
        grid(2, 2, "manhattan"),
        grid(2, 3, "manhattan"),
    ]
    size = draw(st.integers(min_points, max_points))
    table = np.zeros((size, size), dtype=int)
    for x, z in combinations(range(size), 2):
        table[x, z] = table[z, x] = draw(st.integers(2, 4))
    random_space = space(table.tolist())
    return draw(
        st.sampled_from(
            [random_space, random_space, *(s for s in named_spaces if min_points <= len(s) <= max(max_points, 6))]
        )
    )
