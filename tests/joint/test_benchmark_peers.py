"""The readings that the benchmark measures against are what their names say."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear

BENCH = Path(__file__).parent.parent.parent / "bench"
PARENTS = [-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 8, 8]


@pytest.fixture(scope="module")
def peers():
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module("joint_peers")
    finally:
        sys.path.remove(str(BENCH))


def incidence(tree):
    """A column for each cell of the finest level: 1 at all that it is part of."""
    return np.array([tree.sum_up(row) for row in np.eye(len(tree.leaves))]).T


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_not_below_0_is_that_of_scipy(peers, seed):
    random = np.random.default_rng(seed)
    tree = peers.ArrayTree.of(PARENTS)
    values, variances = random.normal(1, 4, len(PARENTS)), random.uniform(0.5, 9, len(PARENTS))
    scales = 1 / np.sqrt(variances)
    expected = lsq_linear(incidence(tree) * scales[:, None], values * scales, (0, np.inf), method="bvls", tol=1e-14)
    counts = peers.nonnegative_least_squares(tree, values, variances)
    np.testing.assert_allclose(counts[tree.leaves], expected.x, atol=1e-6)
    np.testing.assert_allclose(tree.sum_up(counts[tree.leaves]), counts, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rounding_from_the_top_down_adds_up_and_projects(peers, seed):
    random = np.random.default_rng(seed)
    tree = peers.ArrayTree.of(PARENTS)
    answers = random.integers(-3, 9, len(PARENTS))
    counts = peers.round_top_down(tree, answers)
    assert counts.min() >= 0
    assert counts.tolist() == tree.sum_up(counts[tree.leaves]).tolist()
    values, total = random.normal(1, 3, 6), 7.0
    nearest = peers.project(values, total)
    shift = (values - nearest)[nearest > 0]
    assert nearest.sum() == pytest.approx(total)
    assert np.ptp(shift) < 1e-9
    assert (values[nearest == 0] <= shift.mean() + 1e-9).all()
