"""What joint readings are measured against: rounding from the top down, least squares ≥ 0, and HiGHS on the same tree.

A tree is its list of parents, the top first, with answers and variances of all cells in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_RESIDUAL = 1e-9  # by which a condition of least squares ≥ 0 may fail
MAX_PIVOTS = 200


@dataclass(frozen=True)
class ArrayTree:
    """A tree in arrays; `levels` are the cells of each depth, `leaves` those without parts."""

    parents: Any
    levels: list[Any]
    parts: list[Any]
    leaves: Any

    @classmethod
    def of(cls, parents: Any) -> ArrayTree:
        """The tree of these parents."""
        parents = np.asarray(parents)
        depths = np.zeros(len(parents), dtype=np.int64)
        lists: list[list[int]] = [[] for _ in parents]
        for node in range(1, len(parents)):
            depths[node] = depths[parents[node]] + 1
            lists[parents[node]].append(node)
        levels = [np.flatnonzero(depths == depth) for depth in range(depths.max() + 1)]
        parts = [np.array(one, dtype=np.int64) for one in lists]
        return cls(parents, levels, parts, np.array([node for node, one in enumerate(lists) if not one]))

    def sum_up(self, leaf_counts: Any) -> Any:
        """The counts of all cells from those of the finest."""
        counts = np.zeros(len(self.parents), dtype=np.asarray(leaf_counts).dtype)
        counts[self.leaves] = leaf_counts
        for level in self.levels[:0:-1]:
            np.add.at(counts, self.parents[level], counts[level])
        return counts

    def pass_down(self, values: Any) -> Any:
        """Of each cell the sum of the values of it and of all that it is part of."""
        sums = np.array(values, dtype=float)
        for level in self.levels[1:]:
            sums[level] += sums[self.parents[level]]
        return sums


def project(values: Any, total: float) -> Any:
    """The nearest point to `values` with coordinates ≥ 0 that add up to the total."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)
    return np.maximum(values - excess[last[-1]], 0.0) if len(last) else np.full(len(values), total / len(values))


def round_to_sum(values: Any, total: int) -> Any:
    """Whole numbers with this sum nearest to values ≥ 0 that have it: largest remainders."""
    floors = np.floor(values + 1e-9).astype(np.int64)
    order = np.argsort(floors - values, kind="stable")
    floors[order[: int(total - floors.sum())]] += 1
    return floors


def round_top_down(tree: ArrayTree, answers: Any) -> Any:
    """As TopDown does: a level's answers, least squares ≥ 0 given the level above, then whole numbers that add up."""
    counts = np.zeros(len(tree.parents), dtype=np.int64)
    counts[0] = max(round(float(answers[0])), 0)
    for node, parts in enumerate(tree.parts):
        if len(parts):
            counts[parts] = round_to_sum(project(answers[parts], float(counts[node])), int(counts[node]))
    return counts


def least_squares(tree: ArrayTree, values: Any, variances: Any, zero: Any) -> Any:
    """min Σ (x − value)²/variance over tables that add up, with cells of the finest level kept at 0 where `zero` is."""
    estimates, spreads = np.array(values, dtype=float), np.array(variances, dtype=float)
    estimates[zero] = spreads[zero] = 0.0
    sums, sum_spreads = np.zeros(len(estimates)), np.zeros(len(estimates))
    for level in tree.levels[::-1]:
        inner = level[[len(tree.parts[node]) > 0 for node in level]]
        shares = sum_spreads[inner] / (sum_spreads[inner] + spreads[inner])
        estimates[inner] = sums[inner] + shares * (estimates[inner] - sums[inner])
        spreads[inner] = shares * spreads[inner]
        if level[0]:
            np.add.at(sums, tree.parents[level], estimates[level])
            np.add.at(sum_spreads, tree.parents[level], spreads[level])
    for level in tree.levels[1:]:
        above = tree.parents[level]
        shares = np.divide(spreads[level], sum_spreads[above], out=np.zeros(len(level)), where=sum_spreads[above] > 0)
        estimates[level] += shares * (estimates[above] - sums[above])
    return estimates


def nonnegative_least_squares(tree: ArrayTree, values: Any, variances: Any) -> Any:
    """The same over tables ≥ 0, by block pivoting: cells that are negative are kept at 0, those that would rise freed.

    What is returned meets the conditions of optimality: x ≥ 0, gradient ≥ 0 where x = 0, and 0 elsewhere.
    """
    zero, leaves = np.zeros(len(tree.parents), dtype=bool), tree.leaves
    for _ in range(MAX_PIVOTS):
        counts = least_squares(tree, values, variances, zero)
        gradient = tree.pass_down((counts - values) / variances)
        wrong = leaves[np.where(zero[leaves], gradient[leaves] < -MAX_RESIDUAL, counts[leaves] < -MAX_RESIDUAL)]
        if not len(wrong):
            return counts
        zero[wrong] = ~zero[wrong]
    raise ArithmeticError("least squares >= 0 must end, and pivots did not")


def solve_program(tree: ArrayTree, answers: Any, weights: Any, clock: Callable[[], float]) -> float:
    """Seconds of HiGHS for the most likely table: min Σ weight·|x − answer| over x ≥ 0 that add up."""
    import highspy
    from scipy.sparse import csc_matrix

    size = len(tree.parents)
    inner = [node for node, parts in enumerate(tree.parts) if len(parts)]
    entries = [(row, node, 1.0) for row, node in enumerate(inner)]
    entries += [(row, int(part), -1.0) for row, node in enumerate(inner) for part in tree.parts[node]]
    for node in range(size):
        row = len(inner) + node
        entries += [(row, node, 1.0), (row, size + node, -1.0), (row, 2 * size + node, 1.0)]
    rows, columns, values = zip(*entries, strict=True)
    matrix = csc_matrix((values, (rows, columns)), shape=(len(inner) + size, 3 * size))
    sides = np.concatenate([np.zeros(len(inner)), np.asarray(answers, dtype=float)])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = 3 * size, len(sides)
    program.col_cost_ = np.concatenate([np.zeros(size), weights, weights])
    program.col_lower_, program.col_upper_ = np.zeros(3 * size), np.full(3 * size, highspy.kHighsInf)
    program.row_lower_ = program.row_upper_ = sides
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(program)
    start = clock()
    solver.run()
    seconds = clock() - start
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError("HiGHS did not solve the program")
    return seconds
