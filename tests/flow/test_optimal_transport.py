"""Distances between hypers: W₁ on a line, the cheapest move, the move of a refinement."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from strategies import channels, weights
from utmost.channel import channel, identity
from utmost.errors import InputError
from utmost.exact import epsilon, exponential
from utmost.mechanisms import geometric
from utmost.qif import (
    hyper,
    hyper_distance,
    hyper_distance_float,
    line_distance,
    posterior_uncertainty,
    refining_move,
)
from utmost.qif.transport import posterior_distances

FEW_EXAMPLES = settings(max_examples=30, deadline=None)
IRRATIONAL = geometric(1, epsilon(1))


@st.composite
def positions(draw, size: int):
    steps = draw(st.lists(st.integers(1, 5), min_size=size, max_size=size))
    return [Fraction(sum(steps[:k]), 4) for k in range(size)]


@st.composite
def transport_cases(draw, max_secrets: int = 4):
    """A prior, two channels on the same secrets, and where these stand."""
    size = draw(st.integers(2, max_secrets))
    prior = draw(weights(size))
    return prior, draw(channels(inputs=size)), draw(channels(inputs=size)), draw(positions(size))


@FEW_EXAMPLES
@given(st.data(), st.integers(1, 6))
def test_the_distance_on_a_line_is_scipy_s(data, size):
    left, right = data.draw(weights(size)), data.draw(weights(size))
    points = data.draw(positions(size))
    ours = line_distance(left, right, points)
    floats = [[float(v) for v in values] for values in (points, points, left, right)]
    assert float(ours) == pytest.approx(wasserstein_distance(*floats), abs=1e-12)


def linprog_cost(costs, supply, demand) -> float:
    """The transport program, solved by SciPy."""
    height, width = costs.shape
    rows = np.zeros((height + width, height * width))
    for i in range(height):
        rows[i, i * width : (i + 1) * width] = 1
    for j in range(width):
        rows[height + j, j::width] = 1
    target = [float(w) for w in (*supply, *demand)]
    return linprog(costs.astype(float).ravel(), A_eq=rows, b_eq=target, method="highs").fun


@FEW_EXAMPLES
@given(transport_cases())
def test_the_cheapest_move_has_the_right_sums_and_the_cost_that_scipy_finds(case):
    prior, a, b, points = case
    first, second = hyper(prior, a), hyper(prior, b)
    move = hyper_distance(first, second, points)
    assert tuple(move.masses.sum(axis=1)) == first.outers
    assert tuple(move.masses.sum(axis=0)) == second.outers
    assert all(mass >= 0 for mass in move.masses.flat)
    assert move.cost == (move.masses * move.distances).sum()
    assert float(move.cost) == pytest.approx(
        linprog_cost(posterior_distances(first, second, points), first.outers, second.outers)
    )


@FEW_EXAMPLES
@given(transport_cases())
def test_pot_finds_the_same_distance(case):
    pytest.importorskip("ot", reason="POT is not installed")
    prior, a, b, points = case
    first, second = hyper(prior, a), hyper(prior, b)
    exact = hyper_distance(first, second, points).cost
    assert hyper_distance_float(first, second, points) == pytest.approx(float(exact), abs=1e-9)


def test_pot_takes_irrational_hypers():
    pytest.importorskip("ot", reason="POT is not installed")
    noisy = hyper(["1/2", "1/2"], geometric(1, epsilon(1)))
    constant = hyper(["1/2", "1/2"], channel([[1], [1]]))
    tanh = (1 - exponential(-1)) / (1 + exponential(-1))
    assert hyper_distance_float(noisy, constant, [0, 1]) == pytest.approx(float(tanh) / 2)


def test_without_pot_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    truthful = hyper(["1/2", "1/2"], identity(range(2)))
    with pytest.raises(InputError, match=r"install utmost\[transport\]"):
        hyper_distance_float(truthful, truthful, [0, 1])


@FEW_EXAMPLES
@given(transport_cases(), st.data())
def test_the_distance_is_a_metric_on_hypers(case, data):
    prior, a, b, points = case
    c = data.draw(channels(inputs=len(prior)))
    x, y, z = (hyper(prior, source) for source in (a, b, c))
    distances = [hyper_distance(p, q, points).cost for p, q in ((x, y), (y, z), (x, z), (y, x))]
    assert distances[2] <= distances[0] + distances[1]
    assert distances[0] == distances[3]
    assert (distances[0] == 0) == (x == y)


@FEW_EXAMPLES
@given(transport_cases(), st.data())
def test_losses_of_lipschitz_consumers_differ_by_no_more_than_the_distance(case, data):
    """Kantorovich and Rubinstein, for |w − x| and readings anywhere."""
    prior, a, b, points = case
    readings = data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=4))
    table = [[abs(x - Fraction(w, 4)) for w in readings] for x in points]
    gap = abs(posterior_uncertainty(prior, table, a) - posterior_uncertainty(prior, table, b))
    assert gap <= hyper_distance(hyper(prior, a), hyper(prior, b), points).cost


@FEW_EXAMPLES
@given(transport_cases(), st.data())
def test_a_refinement_s_move_keeps_the_means_and_costs_at_least_the_distance(case, data):
    prior, a, _, points = case
    post_processing = channel(data.draw(channels(inputs=len(a.outputs))).rows.tolist(), a.outputs)
    move = refining_move(prior, a, post_processing, points)
    after = a.then(post_processing)
    joint = np.array(prior, dtype=object)[:, None] * a.rows
    assert np.all(move.masses.sum(axis=1) == joint.sum(axis=0))
    for j, total in enumerate(move.masses.sum(axis=0)):
        arriving = sum(
            (move.masses[i, j] / mass * joint[:, i] for i, mass in enumerate(joint.sum(axis=0)) if mass),
            np.full(len(prior), Fraction(0), dtype=object),
        )
        assert np.all(arriving == np.array(prior, dtype=object) * after.rows[:, j])
        assert total == arriving.sum()
    assert move.cost >= hyper_distance(hyper(prior, a), hyper(prior, after), points).cost


def test_irrational_moves_are_exact():
    noisy, constant = geometric(1, epsilon(1)), channel([[1], [1]])
    tanh = (1 - exponential(-1)) / (1 + exponential(-1))
    assert refining_move(["1/2", "1/2"], noisy, constant, [0, 1]).cost == tanh / 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line_distance([1, 0], [0, 1], [1, 0]), "positions must increase"),
        (lambda: line_distance([1, 0], [0, 1], [0, 1, 2]), "positions must be 2 numbers"),
        (lambda: line_distance([1, 0], [0, 1, 0], [0, 1]), "over the same points"),
        (lambda: hyper_distance(identity_hyper(2), identity_hyper(3), [0, 1]), "over the same secrets"),
        (
            lambda: hyper_distance(hyper(["1/2", "1/2"], geometric(1, epsilon(1))), identity_hyper(2), [0, 1]),
            "rational",
        ),
    ],
)
def test_mismatched_arguments_are_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def identity_hyper(size: int):
    return hyper([Fraction(1, size)] * size, identity(range(size)))
