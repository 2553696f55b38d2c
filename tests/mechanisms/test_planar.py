"""The planar Laplace mechanism: its law by balls, its privacy, its box."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, fixed_stream
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms.planar import normaliser, planar

LEVELS = st.sampled_from([epsilon(1), epsilon("5/2"), alpha("1/2")])
POINTS = st.tuples(st.integers(-5, 5), st.integers(-5, 5))


@given(LEVELS, POINTS, POINTS, POINTS)
@settings(max_examples=60, deadline=None)
def test_the_law_is_metric_private_for_the_euclidean_distance(level: Level, x, other, y) -> None:
    """ln Pr[y|x] − ln Pr[y|x′] ≤ ε·s·|x − x′|, up to the width of the balls (2^−60)."""
    mechanism = planar("1/2", level)
    (probability,), (other_probability,) = mechanism.law(x, [y]), mechanism.law(other, [y])
    with ctx.workprec(128):
        distance = arb((x[0] - other[0]) ** 2 + (x[1] - other[1]) ** 2).sqrt() / 2
        assert probability.log() - other_probability.log() <= level.epsilon_ball(128) * distance + arb(2) ** -50


@pytest.mark.parametrize("level", [epsilon(1), alpha("1/3")], ids=str)
def test_the_law_sums_to_one(level: Level) -> None:
    """Over |i|, |j| ≤ 45 the missing mass is below e^−40."""
    lattice = list(product(range(-45, 46), repeat=2))
    with ctx.workprec(128):
        total = sum(planar(1, level).law((0, 0), lattice), arb(0))
    assert float(total) == pytest.approx(1, abs=1e-14)


def test_the_normaliser_has_the_integral_s_size_for_a_fine_step() -> None:
    """θ²·Z → 2π, by Poisson's sum with a correction of order θ³."""
    theta = Fraction(1, 10)
    total = float(normaliser(epsilon(1), theta, 40))
    assert total * float(theta) ** 2 == pytest.approx(2 * np.pi, rel=2e-3)
    assert normaliser(epsilon(1), theta, 40).rel_accuracy_bits() >= 38


def test_the_law_is_that_of_another_library() -> None:
    """Its matrix for a grid of 7 × 7 cells, from the middle to the cells that are not at the border."""
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    reference = np.array(qif.mechanism.geo_ind.planar_geometric_grid(7, 7, 1.0, 1.0))[24].reshape(7, 7)[1:6, 1:6]
    law = planar(1, epsilon(1)).law((0, 0), list(product(range(-2, 3), repeat=2)))
    assert np.allclose(np.array([float(p) for p in law]).reshape(5, 5), reference, rtol=1e-4)


def test_the_mean_distance_is_that_of_the_law() -> None:
    """θ = 1/5: 2/θ up to the lattice's correction; 100 000 draws of deviation √2/θ, false alarm 2e-9 at 6 of them."""
    points = planar(1, epsilon("1/5")).draw(np.zeros((100_000, 2), dtype=int)).astype(float)
    assert abs(np.hypot(points[:, 0], points[:, 1]).mean() - 10) < 6 * 7.08 / np.sqrt(100_000) + 0.02


def test_noise_is_drawn_before_inputs_are_added_so_words_do_not_depend_on_them() -> None:
    mechanism, first, second = planar("1/4", epsilon(1)), CountedWords(fixed_stream(6)), CountedWords(fixed_stream(6))
    offsets = np.stack([np.arange(400) * 1000, -np.arange(400)], axis=1)
    answers_at_origin, answers_at_offsets = (
        mechanism.draw(np.zeros((400, 2), dtype=int), first),
        mechanism.draw(offsets, second),
    )
    assert first.taken == second.taken
    assert np.array_equal(answers_at_origin + offsets, answers_at_offsets)


def test_a_box_gives_its_nearest_point() -> None:
    open_plane, boxed = planar(1, epsilon("0.2")), planar(1, epsilon("0.2"), box=(-3, 0, 2, 5))
    unclamped = open_plane.draw([[0, 1]] * 500, fixed_stream(2))
    clamped = boxed.draw([[0, 1]] * 500, fixed_stream(2))
    box_points = np.array(list(product(range(-3, 3), range(6))))
    for point, answer in zip(unclamped.tolist(), clamped.tolist(), strict=True):
        distances = ((box_points - point) ** 2).sum(axis=1)
        assert ((np.array(answer) - point) ** 2).sum() == distances.min()
        assert answer in box_points.tolist()


@pytest.mark.parametrize(
    ("location", "point"), [(("0", "0"), (0, 0)), (("1/20", "-1/20"), (1, 0)), (("0.32", "-0.77"), (3, -8))]
)
def test_locations_go_to_the_nearest_lattice_point_and_ties_go_up(location, point) -> None:
    mechanism = planar("1/10", epsilon(1))
    assert mechanism.position(location) == point
    assert mechanism.coordinates(point) == tuple(Fraction(c, 10) for c in point)


@pytest.mark.parametrize(
    ("step", "level", "box"),
    [
        (0, epsilon(1), None),
        ("-1", epsilon(1), None),
        ("1e-9", epsilon(1), None),
        (1, epsilon(0), None),
        (1, alpha(0), None),
        ("nan", epsilon(1), None),
        (1, epsilon(1), (1, 0, 0, 1)),
    ],
)
def test_invalid_mechanisms_are_refused(step, level: Level, box) -> None:
    with pytest.raises(InputError):
        planar(step, level, box)


@pytest.mark.parametrize("inputs", [[[0.5, 1]], [[2**60, 0]], [["a", "b"]], [1, 2, 3, 4], [[1, 2, 3, 4]]])
def test_invalid_lattice_points_are_refused_before_any_word(inputs) -> None:
    source = CountedWords(fixed_stream(0))
    with pytest.raises(InputError, match="input"):
        planar(1, epsilon(1)).draw(inputs, source)
    assert source.taken == 0


def test_a_law_too_long_to_sum_is_refused() -> None:
    with pytest.raises(InputError, match="law"):
        planar("1e-4", epsilon(1)).law((0, 0), [(0, 0)])
    with pytest.raises(InputError, match="input"):
        planar("1e-6", epsilon(1)).position((10**12, 0))
