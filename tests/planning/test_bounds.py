"""The lower bounds: singular values by numpy, and no strategy that is tried is below them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.dense import dense_variances, design_of, irregular_tree, nuclear_norm, rows_of, workload_matrix
from planning.test_variances import DESIGNS, WORKLOADS
from utmost.exact.working_precision import working_precision
from utmost.planning.bounds import (
    _matrix_bound,
    _proved_norm,
    _run_bound,
    _single_level_bound,
    _tree_bound,
    improved_weights,
    norm_bound,
)
from utmost.planning.designs import TableDesign, branched_design, crossed_design, tree_design
from utmost.planning.shares import EPSILON, RHO
from utmost.planning.strategies import Price, compare_strategies, design_model
from utmost.planning.trees import chain_of
from utmost.planning.workloads import gram_matrix, parse_workload


def equal_norms(matrix: np.ndarray) -> tuple[float, float]:
    """‖W D^½‖²_* and 2·‖W C‖²_*/(1 − Σ d²) at equal weights."""
    size = matrix.shape[1]
    centred = np.eye(size) - np.full((size, size), 1 / size)
    replaced = 2 * nuclear_norm(matrix @ centred) ** 2 / size / (1 - 1 / size)
    return nuclear_norm(matrix) ** 2 / size, replaced


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_bound_is_at_most_the_best_of_the_norms_by_singular_values(name: str, workload: str) -> None:
    """Over many weights none has a larger norm than the bound's improved one; at equal weights norms agree."""
    design = DESIGNS[name]
    wanted = parse_workload(workload, design)
    matrix = workload_matrix(wanted, design.size)
    with working_precision(192):
        bound = norm_bound(design, wanted, design_model(design, wanted))
    weights = improved_weights(matrix.T @ matrix, wanted)
    best = nuclear_norm(matrix * np.sqrt(weights)) ** 2
    assert float(bound.added.lower()) <= best * (1 + 1e-6)
    assert float(bound.added.lower()) >= equal_norms(matrix)[0] * (1 - 1e-6)


@pytest.mark.parametrize("size", [1, 2, 5, 16])
@pytest.mark.parametrize("workload", ["prefix", "ranges"])
def test_singular_values_of_runs_are_known(workload: str, size: int) -> None:
    design = branched_design(size, 2)
    wanted = parse_workload(workload, design)
    with working_precision(192):
        bound = _run_bound(wanted, size)
    matrix = workload_matrix(wanted, size)
    assert float(bound.added) == pytest.approx(nuclear_norm(matrix) ** 2 / size, rel=1e-10)
    if size > 1:
        top = np.linalg.norm(matrix.sum(axis=1)) / size
        rest = (nuclear_norm(matrix) / math.sqrt(size) - top) ** 2 * 2 / (1 - 1 / size)
        assert float(bound.replaced) == pytest.approx(rest, rel=1e-9)
        assert float(bound.replaced) <= equal_norms(matrix)[1] * (1 + 1e-9)


@pytest.mark.parametrize("workload", ["levels", "cells", "marginals:1"])
@pytest.mark.parametrize("name", ["tree", "deep tree", "crossed", "three ways"])
def test_bounds_of_regular_designs_are_their_norms(name: str, workload: str) -> None:
    design = DESIGNS[name]
    wanted = parse_workload(workload, design)
    with working_precision(192):
        bound = norm_bound(design, wanted, design_model(design, wanted))
    assert (float(bound.added), float(bound.replaced)) == pytest.approx(
        equal_norms(workload_matrix(wanted, design.size)), rel=1e-9
    )


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.booleans())
def test_bounds_of_uneven_trees_are_below_their_norms(parts: list[int], shared: bool) -> None:
    design = irregular_tree(parts)
    wanted = parse_workload("levels", design)
    chain = chain_of(wanted.partitions, design)
    assert chain is not None
    with working_precision(128):
        bound = _tree_bound(chain, wanted, shared)
        single = _single_level_bound(wanted, 0)
    weights = np.repeat([1 / len(parts) / n for n in parts], parts) if shared else np.full(sum(parts), 1 / sum(parts))
    norm = nuclear_norm(workload_matrix(wanted, design.size) * np.sqrt(weights)) ** 2
    assert float(bound.added) <= norm * (1 + 1e-9)
    assert float(bound.added) >= 0.5 * norm
    assert float(single.added) <= norm * (1 + 1e-9)


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_a_proved_norm_is_just_below_the_norm(size: int, seed: int) -> None:
    entries = np.random.default_rng(seed).integers(-9, 10, (size + 1, size))
    gram = (entries.T @ entries).tolist()
    roots = np.random.default_rng(seed + 1).integers(1, 2**20, size).tolist()
    if any(gram[i][i] == 0 for i in range(size)):
        return
    with working_precision(192):
        proved = float(_proved_norm(gram, roots).lower())
    norm = nuclear_norm(entries * np.array(roots))
    assert proved <= norm * (1 + 1e-12)
    assert proved >= norm * (1 - 1e-4)


def test_a_singular_gram_matrix_has_a_bound_too() -> None:
    design = design_of([[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]], [[0], [1], [0, 1]])
    wanted = parse_workload("marginals:1", design)
    with working_precision(192):
        bound = _matrix_bound(wanted, design.size)
    matrix = workload_matrix(wanted, design.size)
    weights = improved_weights(matrix.T @ matrix, wanted)
    assert float(bound.added) == pytest.approx(nuclear_norm(matrix * np.sqrt(weights)) ** 2, rel=1e-5)


@settings(max_examples=60)
@given(st.sampled_from(sorted(DESIGNS)), st.sampled_from(WORKLOADS), st.integers(0, 10**6), st.booleans())
def test_no_strategy_that_is_tried_has_less_variance(name: str, workload: str, seed: int, replaced: bool) -> None:
    """Any real matrix of answers, scaled so that a row moves them by at most 1/V in squared length."""
    design = DESIGNS[name]
    wanted = parse_workload(workload, design)
    matrix = workload_matrix(wanted, design.size)
    random = np.random.default_rng(seed)
    parts = [rows_of(level) * random.uniform(0.1, 2) for level in design.levels] + [np.eye(design.size) * 0.1]
    answers = np.vstack([*parts, random.normal(size=(2, design.size)) * random.choice([0, 1])])
    columns = answers.T
    moved = columns[:, None] - columns[None] if replaced else columns
    reach = (moved**2).sum(axis=-1).max()
    if not reach:
        return
    variance = ((matrix @ np.linalg.pinv(answers)) ** 2).sum() * reach
    with working_precision(192):
        bound = norm_bound(design, wanted, design_model(design, wanted))
    assert float((bound.replaced if replaced else bound.added).lower()) <= variance * (1 + 1e-8)


# Prices


@pytest.mark.parametrize("measure", [EPSILON, RHO])
@pytest.mark.parametrize("rows", [1, 3])
def test_levels_never_have_more_precision_than_a_price_allows(measure: str, rows: int) -> None:
    """The inverse variances of the levels that a row is in add up to at most 1/V, times the rows of a unit."""
    for amount in (Fraction(1, 10), Fraction(2), Fraction(9)):
        price = Price(measure, amount, rows)
        move = rows**2 if measure == RHO else rows
        with working_precision(128):
            for shares in ([Fraction(1)], [Fraction(1, 2)] * 2, [Fraction(1, 5), Fraction(4, 5)]):
                total = sum(price.precision(share, move) for share in shares)
                assert float(total) <= float(price.unit_precision) * (1 + 1e-12)
            assert float(price.score_square * rows**2) >= float(price.unit_precision)


def test_geometric_noise_has_the_variance_that_is_used() -> None:
    with working_precision(128):
        precision = float(Price(EPSILON, Fraction(3, 2)).precision(Fraction(1, 3), 1))
    alpha = math.exp(-0.5)
    assert 1 / precision == pytest.approx(2 * alpha / (1 - alpha) ** 2, rel=1e-12)


@pytest.mark.parametrize("amount", ["0.01", "1", "3"])
def test_no_unbiased_mechanism_beats_the_second_bound_on_one_count(amount: str) -> None:
    """Geometric noise on one count: c is 1, and c of any is 2 for every ε; for ρ it is (e^2ρ − 1)/(2ρ)."""
    one = compare_strategies("cells", epsilon=amount, cells=1).strategies[0]
    assert (float(one.c or 0), float(one.c_any or 0)) == pytest.approx((1, 2), rel=1e-9)
    other = compare_strategies("cells", rho=amount, cells=1).strategies[0]
    expected = math.expm1(2 * float(amount)) / (2 * float(amount))
    assert (float(other.c or 0), float(other.c_any or 0)) == pytest.approx((1, expected), rel=1e-9)


# What must hold


@pytest.mark.parametrize("tree", [[2], [8, 8], [8, 8, 8], [16, 16, 16], [2] * 9, [3, 5, 7, 11], [100, 100]])
def test_planned_shares_are_the_best_on_regular_trees_under_zcdp(tree: list[int]) -> None:
    planned = compare_strategies("levels", rho="0.05", tree=tree).strategies[-1]
    assert planned.name == "planned shares"
    assert planned.c is not None
    assert 1 <= planned.c <= Fraction(1001, 1000)


@pytest.mark.parametrize("columns", [[4, 4, 4], [8, 8], [8, 8, 8], [8, 8, 8, 8], [5, 12, 7], [64, 64]])
def test_planned_shares_are_the_best_on_marginals_of_up_to_two_columns_under_zcdp(columns: list[int]) -> None:
    planned = compare_strategies("marginals:2", rho="0.05", columns=columns).strategies[-1]
    assert planned.c is not None
    assert 1 <= planned.c <= Fraction(1001, 1000)


@pytest.mark.parametrize(
    ("shape", "workload", "price", "gain", "c"),
    [
        pytest.param({"cells": 64}, "prefix", {"rho": "0.005"}, 5.6, 1.32, marks=pytest.mark.slow),
        pytest.param({"cells": 64}, "prefix", {"epsilon": "0.1"}, 1.8, 4.1, marks=pytest.mark.slow),
        ({"tree": [8, 8]}, "levels", {"rho": "0.005"}, 9.5, 1.001),
        ({"tree": [8, 8]}, "levels", {"epsilon": "0.1"}, 3.0, 3.2),
        ({"tree": [16, 16, 16]}, "levels", {"rho": "0.005"}, 299, 1.001),
        ({"tree": [16, 16, 16]}, "levels", {"epsilon": "0.1"}, 69, 4.3),
        ({"columns": [4, 4, 4]}, "marginals:2", {"rho": "0.005"}, 2.4, 1.001),
        ({"columns": [8, 8, 8, 8]}, "marginals:2", {"rho": "0.005"}, 18, 1.001),
    ],
)
def test_gains_and_distances_from_the_bound(
    shape: Any, workload: str, price: dict[str, str], gain: float, c: float
) -> None:
    best = compare_strategies(workload, **shape, **price).best
    assert best.gain is not None
    assert best.c is not None
    assert best.gain >= gain
    assert 1 <= best.c <= c


def check_plain(design: TableDesign) -> None:
    wanted = parse_workload("levels", design)
    gram, unit = gram_matrix(wanted, range(design.size), design.size)
    matrix = workload_matrix(wanted, design.size)
    assert np.allclose(np.array(gram, dtype=float) / unit, matrix.T @ matrix)


@pytest.mark.parametrize("name", DESIGNS)
def test_gram_matrices_are_those_of_the_workload(name: str) -> None:
    check_plain(DESIGNS[name])


@pytest.mark.parametrize("shape", [{"tree": [4, 4]}, {"columns": [3, 4]}, {"cells": 12}])
def test_printed_variances_are_above_and_bounds_below_those_of_matrices(shape: Any) -> None:
    workload = "cells" if "cells" in shape else "levels"
    comparison = compare_strategies(workload, rho="1/2", **shape)
    design = tree_design([4, 4]) if "tree" in shape else crossed_design([3, 4], 2)
    if "cells" in shape:
        design = branched_design(12, 2)
    one = comparison.strategies[1]
    matrix = workload_matrix(parse_workload(workload, design), design.size)
    total = dense_variances(design.levels, [float(share) for share in one.shares], matrix)[1]
    assert float(one.variance or 0) == pytest.approx(total, rel=1e-9)
    assert comparison.least_any <= comparison.least_variance <= min(s.variance or 0 for s in comparison.strategies)
