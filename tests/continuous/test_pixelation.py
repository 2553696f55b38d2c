"""Pixelation: U_N, π_N, M_N, ℓ_N, G_N, ᵀL; FMM21 Lemma 8 as an equality, Lemma 9 as a sandwich."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from strategies import channels, weights
from utmost.channel import channel, is_private, least_epsilon
from utmost.consumer import Consumer, losses
from utmost.continuous.densities import beta, histogram, linear_density, normal, uniform_density
from utmost.continuous.interval import interval
from utmost.continuous.pixelation import (
    Stepped,
    SteppedLoss,
    averaged_laplace,
    cell_laplace,
    grid_geometric,
    laplace_below,
    pixel_grid,
    pixelate,
)
from utmost.errors import InputError
from utmost.exact import Real, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.spaces import line, scale_space

UNIT = interval(0, 1)
FEW_EXAMPLES = settings(max_examples=30, deadline=None)
LEVELS = st.sampled_from([alpha("1/16"), alpha("1/2"), epsilon("1"), epsilon("5/2")])


@st.composite
def grids(draw, max_count: int = 6):
    low = draw(st.sampled_from([Fraction(0), Fraction(-3, 2), Fraction(7, 3)]))
    length = draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(5, 3)]))
    return pixel_grid(interval(low, low + length), draw(st.integers(1, max_count)))


@st.composite
def histograms(draw):
    """Flat between knots that need not be on any grid."""
    inner = draw(st.lists(st.integers(1, 29), min_size=0, max_size=4, unique=True))
    edges = [Fraction(0), *(Fraction(k, 30) for k in sorted(inner)), Fraction(1)]
    return histogram(edges, draw(weights(len(edges) - 1)))


@FEW_EXAMPLES
@given(grids(), st.integers(0, 60))
def test_the_floor_is_the_last_point_that_is_not_above(grid, k):
    x = grid.interval.low + grid.interval.length * Fraction(k, 60)
    floor = grid.floor(x)
    assert floor == max(p for p in grid.points if p <= x)
    assert grid.points[grid.cell(x)] == (floor if x < grid.interval.high else grid.points[-2])


def test_the_upper_end_belongs_to_the_last_cell():
    grid = pixel_grid(UNIT, 4)
    mechanism = Stepped(grid, geometric(4, alpha("1/2")).channel())
    assert list(mechanism.law(1)) == list(mechanism.law("3/4")) == list(mechanism.channel.rows[3])
    loss = SteppedLoss(grid, losses.matrix([[abs(i - w) for w in range(5)] for i in range(5)]))
    assert loss.exact(1, 4) == loss.exact("7/8", 4) == 1


@FEW_EXAMPLES
@given(histograms(), st.integers(1, 7))
def test_a_pixelated_density_has_the_masses_of_the_cells(density, count):
    masses = pixelate(density, pixel_grid(UNIT, count)).exact()
    assert sum(masses) == 1
    assert masses[-1] == 0
    for n, weight in enumerate(masses[:-1]):
        cell = [Fraction(n, count), Fraction(n + 1, count)]
        assert weight == density.exact_masses(cell)[0]


def test_polynomial_densities_pixelate_exactly_and_others_are_refused():
    assert pixelate(linear_density([(0, 0), (1, 2)]), pixel_grid(UNIT, 2)).exact() == (
        Fraction(1, 4),
        Fraction(3, 4),
        0,
    )
    ours = pixelate(beta(2, 5, UNIT), pixel_grid(UNIT, 4)).exact()
    theirs = np.diff(stats.beta(2, 5).cdf([0, 0.25, 0.5, 0.75, 1]))
    np.testing.assert_allclose([float(p) for p in ours[:-1]], theirs, rtol=1e-12)
    with pytest.raises(InputError, match="rational masses"):
        pixelate(normal("1/2", "1/10", UNIT), pixel_grid(UNIT, 4))


def by_definition_2(density, mechanism: Stepped, loss: SteppedLoss) -> Fraction:
    """Σ_y min_w ∫ ℓ_N(w, x)·π(x)·M_N(x)(y) dx, the integral over pieces of 1/420, in which only the density varies."""
    edges = [Fraction(k, 420) for k in range(421)]
    pieces = [(edge + Fraction(1, 840), mass) for edge, mass in zip(edges, density.exact_masses(edges), strict=False)]
    total = Fraction(0)
    for y in range(len(mechanism.channel.outputs)):
        total += min(
            sum(mass * mechanism.law(x)[y] * loss.exact(x, w) for x, mass in pieces if mass)
            for w in range(len(loss.table.rows[0]))
        )
    return total


@settings(max_examples=12, deadline=None)
@given(st.data(), st.integers(1, 4))
def test_lemma_8_the_losses_of_the_lifted_and_of_the_pixelated_are_equal(data, count):
    grid, density = pixel_grid(UNIT, count), data.draw(histograms())
    mechanism = data.draw(channels(inputs=count + 1))
    entries = st.lists(st.integers(0, 9), min_size=3, max_size=3)
    table = losses.matrix([data.draw(entries) for _ in range(count + 1)])
    left = by_definition_2(density, Stepped(grid, mechanism), SteppedLoss(grid, table))
    assert left == Consumer(pixelate(density, grid), table).expected_loss(mechanism)


@FEW_EXAMPLES
@given(grids(5), LEVELS)
def test_g_n_is_private_at_the_level_between_its_points_and_no_better(grid, level):
    rows, ratio = grid_geometric(grid, level).rows, level.power(grid.step)
    space = scale_space(line(grid.count + 1), grid.step)
    assert is_private(channel(rows.tolist(), space.labels), space, level)
    for x in range(grid.count):
        assert {v / u if v > u else u / v for u, v in zip(rows[x], rows[x + 1], strict=True)} == {1 / ratio}


@FEW_EXAMPLES
@given(grids(4), st.integers(1, 7), LEVELS)
def test_cells_of_laplace_answers_are_differences_of_its_distribution_function(grid, cells, level):
    cell_channel = cell_laplace(grid, cells, level)
    assert all(row.sum() == 1 for row in cell_channel.rows)
    law = stats.laplace(scale=1 / level.epsilon)
    edges = [float(e) for e in grid.interval.grid(cells)]
    edges[0], edges[-1] = -np.inf, np.inf
    for x, row in zip(grid.points, cell_channel.rows, strict=True):
        np.testing.assert_allclose(row.astype(float), np.diff(law.cdf(np.array(edges) - float(x))), atol=1e-14)


@FEW_EXAMPLES
@given(grids(4), st.integers(1, 6), LEVELS)
def test_cells_of_laplace_answers_are_private(grid, cells, level):
    rows, ratio = cell_laplace(grid, cells, level).rows, level.power(grid.step)
    for above, below in pairwise(rows):
        assert all(a * ratio <= b and b * ratio <= a for a, b in zip(above, below, strict=True))


def test_entries_are_fractions_where_the_powers_are_and_exact_reals_elsewhere():
    grid = pixel_grid(UNIT, 2)
    assert all(isinstance(v, Fraction) for v in cell_laplace(grid, 4, alpha("1/256")).rows.flat)
    assert any(isinstance(v, Real) for v in cell_laplace(grid, 4, epsilon(1)).rows.flat)
    assert grid_geometric(grid, alpha("1/16")).rows[0].tolist() == [Fraction(4, 5), Fraction(3, 20), Fraction(1, 20)]
    assert least_epsilon(geometric(2, grid.level(alpha("1/16"))), line(3)).alpha == Fraction(1, 4)


@FEW_EXAMPLES
@given(grids(3), st.integers(1, 4), st.sampled_from(["1/2", "2", "4"]))
def test_averages_over_cells_are_integrals(grid, cells, rate):
    level = epsilon(rate)
    averages = averaged_laplace(grid, cells, level)
    assert all(row.sum() == 1 for row in averages.rows)
    edges = [float(e) for e in grid.interval.grid(cells)]
    law = stats.laplace(scale=1 / float(Fraction(rate)))
    for n in range(grid.count):
        u, v = float(grid.points[n]), float(grid.points[n + 1])
        for t in range(cells - 1):
            kinks = [e for e in edges[1:-1] if u < e < v] or None
            below, _ = integrate.quad(lambda x, t=t: law.cdf(edges[t + 1] - x), u, v, points=kinks)
            assert float(averages.rows[n][: t + 1].sum()) == pytest.approx(below / (v - u), abs=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.sampled_from(["1/2", "2", "4"]))
def test_lemma_9_the_continuous_loss_is_within_e_to_the_epsilon_over_n(data, count, cells, rate):
    grid, level = pixel_grid(UNIT, count), epsilon(rate)
    density = histogram(grid.points, data.draw(weights(count)))
    readings = data.draw(st.integers(1, 3))
    entries = st.lists(st.integers(0, 9), min_size=readings, max_size=readings)
    consumer = Consumer(pixelate(density, grid), losses.matrix([data.draw(entries) for _ in range(count + 1)]))
    discrete = consumer.expected_loss(cell_laplace(grid, cells, level))
    middle = consumer.expected_loss(averaged_laplace(grid, cells, level))
    ratio = level.power(grid.step)
    assert discrete * ratio <= middle <= discrete / ratio


def test_lemma_9_needs_an_n_step_loss():
    """N = 1 puts all mass on 0, where |w − x| can be read without loss; on the interval it cannot."""
    level, grid = epsilon(1), pixel_grid(UNIT, 1)
    consumer = Consumer(pixelate(uniform_density(UNIT), grid), losses.matrix([[0, 1], [1, 0]]))
    assert consumer.expected_loss(cell_laplace(grid, 2, level)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pixel_grid(UNIT, 0), "N must be from 1"),
        (lambda: pixel_grid(UNIT, 10**8), "N must be from 1"),
        (lambda: pixel_grid(UNIT, 2).cell(2), "x must be within the interval"),
        (lambda: cell_laplace(pixel_grid(UNIT, 2), 0, alpha("1/2")), "T must be from 1"),
        (lambda: cell_laplace(pixel_grid(UNIT, 2), 2, alpha(1)), "alpha must be strictly between"),
        (lambda: grid_geometric(pixel_grid(UNIT, 5000), alpha("1/2")), "N must be at most"),
        (lambda: averaged_laplace(pixel_grid(UNIT, 2), 2, alpha("1/2")), "epsilon must be a rational number"),
        (lambda: Stepped(pixel_grid(UNIT, 2), geometric(3, alpha("1/2")).channel()), "channel must have 3 inputs"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_law_below_an_edge_is_half_at_the_secret():
    assert laplace_below(Fraction(1, 3), Fraction(1, 3), alpha("1/2")) == Fraction(1, 2)
