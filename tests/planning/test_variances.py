"""Variances of plans: three algorithms agree with dense matrices, with exact fractions, and with joint readings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.dense import dense_variances, design_of, exact_variances, irregular_tree, workload_matrix
from utmost.exact import epsilon
from utmost.exact.working_precision import working_precision
from utmost.joint import GeometricNoise, hierarchy, least_squares
from utmost.planning import compare_strategies
from utmost.planning.designs import TableDesign, branched_design, crossed_design, tree_design
from utmost.planning.matrices import MatrixModel
from utmost.planning.regular import RegularModel, regular_model, run_squares
from utmost.planning.strategies import design_model
from utmost.planning.trees import TreeModel, chain_of, tree_model
from utmost.planning.workloads import gram_matrix, parse_workload

DESIGNS: dict[str, TableDesign] = {
    "tree": tree_design([2, 3]),
    "deep tree": tree_design([2, 2, 2]),
    "crossed": crossed_design([2, 3], 2),
    "three ways": crossed_design([2, 2, 3], 3),
    "blocks": branched_design(8, 2),
    "uneven blocks": branched_design(7, 3),
    "uneven tree": irregular_tree([1, 3, 2]),
    "no shape": design_of([[0, 0, 0, 1, 1], [0, 1, 2, 0, 1]], [[0], [1], [0, 1]]),
    "order mixed up": design_of([[1, 0, 1, 0], [3, 1, 2, 0]], [[], [0], [0, 1]]),
}
WORKLOADS = ("levels", "cells", "prefix", "ranges", "marginals:1")
REGULAR = {"tree", "deep tree", "crossed", "three ways", "blocks", "order mixed up"}
TREES = {"tree", "deep tree", "blocks", "uneven blocks", "uneven tree", "order mixed up"}


def models_of(design: TableDesign, workload: str) -> dict[str, Any]:
    wanted = parse_workload(workload, design)
    models: dict[str, Any] = {
        "regular": regular_model(design.factors, design.levels, wanted),
        "tree": tree_model(design, design.levels, wanted),
        "matrix": MatrixModel(design.levels, wanted, design.size),
    }
    return {name: model for name, model in models.items() if model is not None}


def run_order(design: TableDesign) -> list[int]:
    """The cells as prefix sums and ranges take them: the parts of a cell stay together."""
    chain = chain_of(design.levels, design)
    return list(range(design.size)) if chain is None else chain.order.tolist()


def test_shapes_are_recognised() -> None:
    for name, design in DESIGNS.items():
        wanted = parse_workload("levels", design)
        assert isinstance(regular_model(design.factors, design.levels, wanted), RegularModel) == (name in REGULAR)
        assert isinstance(tree_model(design, design.levels, wanted), TreeModel) == (name in TREES)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", DESIGNS)
def test_every_model_encloses_the_exact_variances(name: str, workload: str) -> None:
    design = DESIGNS[name]
    wanted, order = parse_workload(workload, design), run_order(design)
    precisions = [Fraction(place + 2, 3 * place + 5) for place in range(len(design.levels))]
    gram, unit = gram_matrix(wanted, order, design.size)
    levels, total = exact_variances(design.levels, precisions, gram, unit)
    rows = workload_matrix(wanted, design.size)
    if wanted.runs is not None:
        rows[:, order] = rows.copy()
    dense = dense_variances(design.levels, [float(t) for t in precisions], rows)
    assert float(total) == pytest.approx(dense[1], rel=1e-9)
    is_mixed = wanted.runs is not None and order != sorted(order)  # then only trees keep the cells of a part together
    models = {"chosen": design_model(design, wanted)} if is_mixed else models_of(design, workload)
    assert models
    for model in models.values():
        with working_precision(128):
            found, value = model.variances([arb(fmpq(t.numerator, t.denominator)) for t in precisions])
            assert value is not None
            assert value.overlaps(arb(total))
            assert value.rel_accuracy_bits() > 100
            assert all(one.overlaps(arb(exact)) for one, exact in zip(found, levels, strict=True))
        assert model.objective(np.array([float(t) for t in precisions]))[0] == pytest.approx(float(total), rel=1e-9)


@pytest.mark.parametrize("name", DESIGNS)
def test_derivatives_are_those_of_the_variance(name: str) -> None:
    precisions = np.linspace(0.5, 1.5, len(DESIGNS[name].levels))
    for model in models_of(DESIGNS[name], "levels").values():
        _, slopes = model.objective(precisions)
        for place in range(len(precisions)):
            step = np.zeros(len(precisions))
            step[place] = 1e-5
            change = model.objective(precisions + step)[0] - model.objective(precisions - step)[0]
            assert slopes[place] == pytest.approx(change / 2e-5, rel=1e-3)


def test_without_the_finest_cells_what_cannot_be_told_has_no_variance() -> None:
    design = crossed_design([3, 3, 3], 2)
    for workload, told in (("marginals:2", True), ("cells", False), ("prefix", False)):
        model = regular_model(design.factors, design.levels, parse_workload(workload, design))
        assert model is not None
        with working_precision(128):
            levels, value = model.variances([arb(1)] * len(design.levels))
        assert (value is not None) == told
        assert None not in levels
    comparison = compare_strategies("marginals:2", rho=1, columns=[3, 3, 3])
    assert all(one.variance is not None for one in comparison.strategies)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.booleans())
def test_squares_of_runs_are_those_of_all_runs(codes: list[int], is_prefix: bool) -> None:
    places = np.unique(codes, return_inverse=True)[1]
    size = len(places)
    runs = [(0, j) for j in range(1, size + 1)]
    if not is_prefix:
        runs = [(i, j) for i in range(size) for j in range(i + 1, size + 1)]
    squares = sum(int((places[i:j] == part).sum()) ** 2 for i, j in runs for part in range(places.max() + 1))
    assert run_squares(places, is_prefix) == squares


@settings(max_examples=40)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.sampled_from(WORKLOADS), st.data())
def test_trees_of_any_shape_have_the_variances_of_their_matrices(parts: list[int], workload: str, data: Any) -> None:
    design = irregular_tree(parts)
    weights = data.draw(st.lists(st.floats(0.1, 4), min_size=3, max_size=3))
    wanted = parse_workload(workload, design)
    model = tree_model(design, design.levels, wanted)
    assert model is not None
    levels, total = dense_variances(design.levels, weights, workload_matrix(wanted, design.size))
    with working_precision(96):
        found, value = model.variances([arb(t) for t in weights])
    assert value is not None
    assert float(value) == pytest.approx(total, rel=1e-7)
    assert [float(one) for one in found if one is not None] == pytest.approx(levels, rel=1e-7)


def test_variances_are_those_of_joint_readings() -> None:
    """The exact two passes of the joint reading, with geometric noise, on a tree of 3 regions with 2 towns each."""
    comparison = compare_strategies("levels", epsilon=1, tree=[3, 2])
    equal = comparison.strategies[1]
    cells = [(region, town) for region in range(3) for town in range(2)]
    tree = hierarchy([["r"], ["r", "t"]], cells)
    law = GeometricNoise(epsilon("1/3"), None)
    for level, keys in enumerate(([()], [(r,) for r in range(3)], cells)):
        tree = tree.with_answers(level, dict.fromkeys(keys, 5), law)
    variances = least_squares(tree).variances
    for level, variance in enumerate(equal.level_variances):
        nodes = tree.level_nodes(level)
        mean = sum((variances[node] or Fraction(0) for node in nodes), Fraction(0)) / len(nodes)
        assert float(variance or 0) == pytest.approx(float(mean), rel=1e-14)
