"""Kantorovich distances on any space: certificates from both sides, and the same numbers elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from design.capacity_cases import metrics
from strategies import weights
from utmost.channel import channel, identity
from utmost.errors import InputError
from utmost.exact import alpha, enclosure, epsilon
from utmost.mechanisms import channel_on
from utmost.qif import hyper, hyper_distance, hyper_distance_float, kantorovich, line_distance
from utmost.qif.kantorovich_distance import MAX_MOVED_PAIRS, KantorovichDistance
from utmost.spaces import Space, cycle, discrete, grid, line, scale_space

EUCLIDEAN = [grid(2, 3), grid(3, 3), scale_space(grid(2, 2), "1/3")]


@st.composite
def pairs(draw: st.DrawFn, spaces: st.SearchStrategy[Space]) -> tuple[Space, list[Fraction], list[Fraction]]:
    points = draw(spaces)
    return points, draw(weights(len(points))), draw(weights(len(points)))


def check_certificate(
    result: KantorovichDistance, points: Space, first: list[Fraction], second: list[Fraction]
) -> None:
    """The move has the right sums and costs no more than the upper bound; the potential proves the lower one."""
    low, high = (np.array([enclosure(d, 200)[side] for d in points.values], dtype=object) for side in (0, 1))
    assert result.masses.sum(axis=1).tolist() == first
    assert result.masses.sum(axis=0).tolist() == second
    assert all(mass >= 0 for mass in result.masses.flat)
    assert (result.masses * low[points.codes]).sum() <= result.upper
    rounding = Fraction(1, 2**120)
    for x, f in enumerate(result.potential):
        assert all(abs(f - g) <= high[points.codes[x, y]] + rounding for y, g in enumerate(result.potential))
    assert sum(f * (p - q) for f, p, q in zip(result.potential, first, second, strict=True)) >= result.lower


@settings(max_examples=40, deadline=None)
@given(pairs(metrics(6)))
def test_on_rational_distances_it_is_exact_with_a_proof_from_both_sides(case):
    points, first, second = case
    result = kantorovich(first, second, points)
    assert result.exact
    check_certificate(result, points, first, second)


@settings(max_examples=20, deadline=None)
@given(pairs(st.sampled_from(EUCLIDEAN)))
def test_on_euclidean_places_the_bounds_are_a_hair_apart(case):
    points, first, second = case
    result = kantorovich(first, second, points)
    assert 0 <= result.gap < Fraction(1, 2**110)
    check_certificate(result, points, first, second)


@settings(max_examples=20, deadline=None)
@given(pairs(st.sampled_from([*EUCLIDEAN, cycle(7), discrete(5)])))
def test_pot_and_libqif_find_the_same(case):
    ot, qif = (pytest.importorskip(name, reason=f"{name} is not installed: make oracles") for name in ("ot", "qif"))
    points, first, second = case
    distances = points.distances.astype(float)
    sides = [np.array([float(w) for w in side]) for side in (first, second)]
    result = kantorovich(first, second, points)
    assert float(result) == pytest.approx(ot.emd2(*sides, distances), abs=1e-12)
    theirs = qif.metric.kantorovich(lambda x, y: float(distances[x, y]))(*sides)
    assert float(result) == pytest.approx(theirs, abs=1e-4)  # its solver stops there


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(1, 6))
def test_on_a_line_it_is_the_area_between_the_distribution_functions(data, size):
    first, second = data.draw(weights(size)), data.draw(weights(size))
    assert kantorovich(first, second, line(size)).upper == line_distance(first, second, range(size))


def test_on_points_at_distance_one_it_is_the_total_variation():
    assert kantorovich(["1/2", "1/2", 0], ["1/6", "1/3", "1/2"], discrete(3)).upper == Fraction(1, 2)


def test_weights_in_powers_of_e_have_bounds_that_hold():
    rows = channel_on("geometric", line(4), epsilon("0.3")).rows
    result = kantorovich(rows[0].tolist(), rows[3].tolist(), line(4))
    exact = line_distance(rows[0].tolist(), rows[3].tolist(), range(4))
    assert result.lower <= exact <= result.upper
    assert 0 < result.gap < Fraction(1, 2**100)


def test_a_mapping_is_matched_by_label():
    points = grid(2, 3)
    assert kantorovich({"0,2": "1/2", "0,0": "1/2"}, {"0,1": 1}, points).upper == 1
    assert kantorovich({2: 1}, {0: 1}, line(3)).upper == 2


def test_a_hundred_places_are_moved_exactly():
    points = grid(10, 10, "manhattan")
    first = [Fraction(k, 4950) for k in range(100)]
    result = kantorovich(first, first[::-1], points)
    assert result.exact
    check_certificate(result, points, first, first[::-1])


@pytest.mark.parametrize(
    ("first", "second", "points", "message"),
    [
        ([1, 0], [1, 0, 0], line(3), "first must have 3 weights, one for each point of the space, got 2"),
        ([1, 0, 0], [1, 0], line(3), "second must have 3 weights"),
        ([1, 1, 0], [1, 0, 0], line(3), "sum to"),
        ({"9": 1}, [1, 0, 0], line(3), 'first must have points of line:3 as keys, got "9"'),
        ([1, -1, 1], [1, 0, 0], line(3), ">= 0"),
    ],
)
def test_bad_distributions_are_refused_in_one_line(first, second, points, message):
    with pytest.raises(InputError, match=message) as error:
        kantorovich(first, second, points)
    assert "\n" not in str(error.value)


def test_too_many_points_with_an_excess_are_refused(monkeypatch):
    monkeypatch.setattr("utmost.qif.kantorovich_distance.MAX_MOVED_PAIRS", 3)
    with pytest.raises(InputError, match="3 pairs are not passed, got 2 with more in the first and 2 with more in the"):
        kantorovich(["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"], line(4))
    assert MAX_MOVED_PAIRS >= 200 * 200


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_hypers_on_a_line_are_as_far_apart_on_the_space_as_at_its_positions(data):
    size = data.draw(st.integers(2, 4))
    prior = data.draw(weights(size))
    noisy, truthful = channel_on("geometric", line(size), alpha("1/2")), identity(range(size))
    first, second = hyper(prior, noisy), hyper(prior, truthful)
    assert hyper_distance(first, second, line(size)).cost == hyper_distance(first, second, range(size)).cost


def test_hypers_on_places_are_matched_by_label_and_their_distance_is_that_of_pot():
    pytest.importorskip("ot", reason="POT is not installed: make oracles")
    points, prior = grid(2, 2), ["1/4"] * 4
    noisy = channel_on("exponential", points, alpha("1/4"))
    silent = hyper(prior, channel([[1]] * 4, points.labels, ["-"]))
    first = hyper(prior, noisy)
    exact, double = hyper_distance(first, silent, points).cost, hyper_distance_float(first, silent, points)
    assert float(exact) == pytest.approx(double, abs=1e-12)
    columns = first.inners.T
    rows = sum(
        w * float(kantorovich(inner.tolist(), prior, points)) for w, inner in zip(first.outers, columns, strict=True)
    )
    assert float(exact) == pytest.approx(float(rows), abs=1e-12)  # silence has one posterior: all mass goes there
    with pytest.raises(InputError, match="hypers must be over the points of line:4, got others"):
        hyper_distance(first, silent, line(4))
