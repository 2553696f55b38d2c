"""Planned shares: near the least variance by closed form, by a grid, and by a general optimiser."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from planning.dense import irregular_tree
from planning.test_variances import DESIGNS
from utmost.planning.designs import TableDesign, crossed_design, tree_design
from utmost.planning.shares import EPSILON, LEAST_SHARE, RHO, SHARE_UNIT, planned_shares, round_shares
from utmost.planning.strategies import design_model
from utmost.planning.workloads import parse_workload


def variance_at(model: Any, shares: Any, power: int) -> float:
    return float(model.objective(np.array([float(share) for share in shares]) ** power)[0])


@pytest.mark.parametrize("tree", [[8, 8], [4, 4, 4], [3, 5, 7]])
def test_shares_of_rho_on_regular_trees_are_the_closed_form(tree: list[int]) -> None:
    """ρ_l ∝ (√g_l − √g_{l+1})/s_l with the workload's eigenvalues g_l and blocks of s_l cells."""
    design = tree_design(tree)
    blocks = [design.size // level.size for level in design.levels]
    weights = [1 / len(blocks) / level.size for level in design.levels]
    roots = [math.sqrt(sum(b * w for b, w in list(zip(blocks, weights, strict=True))[k:])) for k in range(len(blocks))]
    expected = [(root - after) / block for root, after, block in zip(roots, [*roots[1:], 0], blocks, strict=True)]
    model = design_model(design, parse_workload("levels", design))
    shares = planned_shares(model, [1] * len(blocks), RHO)
    assert [float(share) for share in shares] == pytest.approx([one / sum(expected) for one in expected], abs=2e-3)


@pytest.mark.parametrize("measure", [EPSILON, RHO])
@pytest.mark.parametrize("workload", ["levels", "prefix", "cells", "ranges"])
@pytest.mark.parametrize("name", ["tree", "crossed", "uneven tree", "no shape"])
def test_no_shares_of_a_grid_are_better(name: str, workload: str, measure: str) -> None:
    design, power = DESIGNS[name], 2 if measure == EPSILON else 1
    model = design_model(design, parse_workload(workload, design))
    count = len(design.levels)
    shares = planned_shares(model, [1] * count, measure)
    found = variance_at(model, shares, power)
    random = np.random.default_rng(5)
    grid = [*random.dirichlet(np.ones(count), 150), *random.dirichlet(np.full(count, 0.3), 150)]
    grid = [np.maximum(one, 1e-6) for one in grid]
    assert found <= min(variance_at(model, one / one.sum(), power) for one in grid) * 1.01


@pytest.mark.parametrize("design", [crossed_design([3, 4, 2], 2), irregular_tree([2, 5, 1, 3])], ids=["cross", "tree"])
def test_a_general_optimiser_finds_nothing_better_for_rho(design: TableDesign) -> None:
    workload = "marginals:2" if len(design.codes) == 3 else "levels"
    model = design_model(design, parse_workload(workload, design))
    moves = [1 + place for place in range(len(design.levels))]

    def variance(logs: Any) -> float:
        shares = np.exp(logs) / np.exp(logs).sum()
        return float(model.objective(shares / np.array(moves))[0])

    best = minimize(variance, np.zeros(len(moves)), method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-6})
    shares = np.array([float(share) for share in planned_shares(model, moves, RHO)])
    assert float(model.objective(shares / np.array(moves))[0]) <= best.fun * 1.002


def test_shares_add_up_and_none_is_nothing() -> None:
    for weights in ([1.0], [0.999999, 1e-6], [0.25] * 4, [1e-9] * 99 + [1 - 99e-9]):
        shares = round_shares(np.array(weights))
        assert sum(shares) == 1
        assert min(shares) >= Fraction(LEAST_SHARE, SHARE_UNIT)
        assert all(share.denominator <= SHARE_UNIT for share in shares)
