"""Small tables with answers, and their posterior by listing every table."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from utmost.exact import alpha, epsilon
from utmost.joint.laws import CanonicalNoise, GaussianNoise, GeometricNoise
from utmost.joint.tree import CountTree, hierarchy
from utmost.noise.tight_canonical import TightLaw

STEEP = [
    GeometricNoise(alpha("1/9"), 0),
    GeometricNoise(epsilon(2), None),
    GeometricNoise(alpha("1/20"), 0, 6),
    GaussianNoise(Fraction(1, 2)),
    GaussianNoise(Fraction(1, 3), 0, None),
    CanonicalNoise(TightLaw(alpha("1/9"), 4)),
]
SHAPES = [
    ([("r",), ("r", "t")], [("n", "a"), ("n", "b"), ("s", "c"), ("s", "d")]),
    ([("r",), ("r", "t")], [("n", "a"), ("n", "b"), ("n", "c"), ("s", "d")]),
    ([("t",)], [("a",), ("b",), ("c",)]),
    ([("t",)], [("a",)]),
    ([("r",), ("r", "t"), ("r", "t", "u")], [("n", "a", 1), ("n", "a", 2), ("n", "b", 1), ("s", "c", 1)]),
]


@st.composite
def answered_trees(draw, with_totals=True, laws=tuple(STEEP)):
    """A small tree with answers near a table: all of the finest level's, most of the others', some twice."""
    levels, cells = draw(st.sampled_from(SHAPES))
    counts = {cell: draw(st.integers(0, 3)) for cell in cells}
    totals, zeros = {}, []
    if with_totals:
        zeros = [cell for cell in cells if counts[cell] == 0 and draw(st.booleans())]
        if draw(st.booleans()):
            totals[()] = sum(counts.values())
    tree = hierarchy(levels, cells, totals, zeros)
    for level in range(len(tree.columns)):
        is_finest = level == len(tree.columns) - 1
        for _ in range(1 if is_finest and not draw(st.booleans()) else draw(st.integers(1 if is_finest else 0, 2))):
            law = draw(st.sampled_from(laws))
            values = {}
            for node in tree.level_nodes(level):
                key = tree.keys[node]
                truth = sum(count for cell, count in counts.items() if cell[: len(key)] == key)
                value = truth + draw(st.integers(-2, 2))
                low, high = (None, None) if isinstance(law, CanonicalNoise) else law.ends
                value = value if low is None else max(value, low)
                values[key] = value if high is None else min(value, high)
            tree = tree.with_answers(level, values, law)
    return tree


@dataclass
class Listed:
    """Every table within the windows, with its weight: the oracle of the posterior."""

    tables: np.ndarray  # a row for each cell
    weights: np.ndarray

    def law(self, node, low, size):
        return np.bincount(self.tables[node] - low, weights=self.weights, minlength=size)


def list_tables(windows, a) -> Listed:
    """All tables whose cells and partial sums are within the windows; weights by the formulas of the prior."""
    tree, sums = windows.sums.tree, windows.sums
    ranges = [range(windows.low[leaf], windows.high[leaf] + 1) for leaf in tree.leaves]
    leaves = np.array(list(itertools.product(*ranges))).T
    nodes = np.zeros((sums.size, leaves.shape[1]), dtype=np.int64)
    nodes[list(tree.leaves)] = leaves
    for node in sums.order:
        if sums.terms[node]:
            nodes[node] = nodes[list(sums.terms[node])].sum(axis=0)
    inside = np.all([(nodes[v] >= windows.low[v]) & (nodes[v] <= windows.high[v]) for v in range(sums.size)], axis=0)
    tables = nodes[: tree.size, inside]
    logs = sum((log_weight(tree, sums, node, tables, a) for node in range(tree.size)), np.zeros(tables.shape[1]))
    weights = np.exp(logs - logs.max())
    return Listed(tables, weights / weights.sum())


def log_weight(tree: CountTree, sums, node, tables, a):
    counts, k = tables[node], sums.part_counts[node]
    gamma = np.vectorize(math.lgamma, otypes=[float])
    logs = np.zeros(len(counts))
    if tree.known_total(node) == 0:
        return logs
    if k:
        logs += gamma(k * a) + gamma(counts + 1) - gamma(counts + k * a)
    if node:
        logs += gamma(counts + a) - gamma(counts + 1) - math.lgamma(a)
    if tree.known_total(node) is None:
        for answer in tree.answers[node]:
            logs += answer.law.log_likelihood(answer.value, counts)
    return logs
