"""Laplace answers as post-processed geometric ones: R in closed form, and the bounds of FMM21 Thm 13 and 14."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from strategies import weights
from utmost.channel import channel
from utmost.consumer import Consumer, losses, priors
from utmost.continuous import geometric_loss, laplace_loss
from utmost.continuous.interval import interval
from utmost.continuous.laplace_optimality import (
    loss_margin,
    mixture_spans,
    move_margin,
    post_processing,
    posterior_gaps,
    printed_margin,
)
from utmost.continuous.pixelation import cell_laplace, grid_geometric, pixel_grid
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.qif import line_distance, refinement, refining_move

UNIT = interval(0, 1)
LEVELS = st.sampled_from([alpha("1/16"), alpha("1/2"), alpha("9/10"), epsilon("1"), epsilon("5/2")])
INTERVALS = st.sampled_from([UNIT, interval(-1, "3/2"), interval(0, 7)])
TWELFTH_POWER_LEVEL = alpha(Fraction(7, 8) ** 12)  # α^(k/12) is a fraction


@settings(max_examples=25, deadline=None)
@given(INTERVALS, st.integers(1, 4), st.integers(1, 7), LEVELS)
def test_lemma_11_r_is_a_channel_that_makes_laplace_cells_of_geometric_answers(inputs, count, cells, level):
    grid = pixel_grid(inputs, count)
    post_matrix = post_processing(grid, cells, level)
    assert all(row.sum() == 1 for row in post_matrix.rows)
    assert all(value >= 0 for value in post_matrix.rows.flat)
    assert grid_geometric(grid, level).then(post_matrix) == cell_laplace(grid, cells, level)


@pytest.mark.parametrize(("count", "cells"), [(1, 1), (2, 3), (3, 2), (3, 4), (4, 3), (4, 12), (6, 4)])
def test_the_refinement_program_finds_the_same_r(count, cells):
    grid = pixel_grid(UNIT, count)
    verdict = refinement(grid_geometric(grid, TWELFTH_POWER_LEVEL), cell_laplace(grid, cells, TWELFTH_POWER_LEVEL))
    assert verdict.refines
    assert np.all(verdict.post_processing.rows == post_processing(grid, cells, TWELFTH_POWER_LEVEL).rows)


def test_r_is_the_integral_of_its_sinh_density():
    grid, level, cells = pixel_grid(UNIT, 3), epsilon(2), 5
    post_rows = post_processing(grid, cells, level).rows.astype(float)
    step, end_atom = 1 / 3, 0.5 * (1 + np.exp(-2 / 3))
    edges = np.linspace(0, 1, cells + 1)
    for k, point in enumerate(np.linspace(0, 1, 4)):
        kappa = (1 - np.exp(-2 / 3)) / (1 + np.exp(-2 / 3)) if 0 < k < 3 else 1 / (1 + np.exp(-2 / 3))

        def density(y, point=point, kappa=kappa):
            return np.sinh(2 * max(step - abs(y - point), 0)) / np.sinh(2 * step) / kappa

        for t, (u, v) in enumerate(pairwise(edges)):
            kinks = [p for p in (point - step, point, point + step) if u < p < v]
            mass, _ = integrate.quad(density, u, v, points=kinks or None)
            atom = end_atom * ((k == 0 and t == 0) or (k == 3 and t == cells - 1))
            assert post_rows[k, t] == pytest.approx(mass + atom, abs=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("cells", [1, 2, 3, 4, 6, 12])
def test_laplace_posteriors_lie_between_neighbours_where_n_divides_t(count, cells):
    widths = [span[-1] - span[0] for span in mixture_spans(pixel_grid(UNIT, count), cells, TWELFTH_POWER_LEVEL)]
    if cells % count == 0:
        assert max(widths) <= 1
    else:
        assert max(widths) > 1


@pytest.mark.parametrize(("fine", "coarse"), [(12, 6), (12, 4), (6, 3), (6, 2), (4, 2), (4, 1)])
def test_theorem_12_finer_cells_are_refined_by_coarser_ones_that_they_make_up(fine, coarse):
    grid = pixel_grid(UNIT, 3)
    verdict = refinement(cell_laplace(grid, fine, TWELFTH_POWER_LEVEL), cell_laplace(grid, coarse, TWELFTH_POWER_LEVEL))
    assert verdict.refines
    assert not refinement(
        cell_laplace(grid, coarse, TWELFTH_POWER_LEVEL), cell_laplace(grid, fine, TWELFTH_POWER_LEVEL)
    ).refines


def test_cells_that_do_not_make_up_others_are_not_refined_by_them():
    grid = pixel_grid(UNIT, 3)
    assert not refinement(
        cell_laplace(grid, 3, TWELFTH_POWER_LEVEL), cell_laplace(grid, 2, TWELFTH_POWER_LEVEL)
    ).refines


@settings(max_examples=20, deadline=None)
@given(st.data(), INTERVALS, st.integers(1, 4), LEVELS)
def test_neighbouring_posteriors_are_their_means_apart_and_within_tanh(data, inputs, count, level):
    grid = pixel_grid(inputs, count)
    prior = priors.explicit(data.draw(weights(count + 1)))
    gaps = posterior_gaps(prior, grid, level)
    columns = (np.array(prior.exact(), dtype=object)[:, None] * grid_geometric(grid, level).rows).T
    posteriors = [column / column.sum() for column in columns]
    assert gaps == [line_distance(a, b, grid.points) for a, b in pairwise(posteriors)]
    ratio = level.power(grid.step)
    assert all(gap <= inputs.length * (1 - ratio) / (1 + ratio) for gap in gaps)


def post_processing_with_separate_atoms(grid, cells: int, level: Level):
    """R to Laplace answers told by their cell, the two atoms apart from their cells."""
    post_matrix, end_atom = post_processing(grid, cells, level), (1 + level.power(grid.step)) / 2
    rows = [[Fraction(0), *row, Fraction(0)] for row in post_matrix.rows]
    for k, atom, cell in ((0, 0, 1), (-1, -1, -2)):
        rows[k][atom], rows[k][cell] = end_atom, rows[k][cell] - end_atom
    return channel(rows, post_matrix.inputs)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["1/2", "9/10", "1/10"]))
def test_r_s_earth_move_costs_no_more_than_its_bound_for_any_prior(data, count, cells_per_step, ratio):
    level = alpha(Fraction(ratio) ** (count * cells_per_step))
    grid = pixel_grid(UNIT, count)
    prior, source = data.draw(weights(count + 1)), grid_geometric(grid, level)
    separate = refining_move(
        prior, source, post_processing_with_separate_atoms(grid, count * cells_per_step, level), grid.points
    )
    assert separate.cost <= move_margin(grid, level) < printed_margin(grid, level)
    move = refining_move(prior, source, post_processing(grid, count * cells_per_step, level), grid.points)
    step = grid.level(level).alpha
    assert move.cost <= (1 - step) / (1 + step) / 2


def test_the_bound_of_the_earth_move_is_attained_by_two_points_told_apart_by_nothing():
    grid, level = pixel_grid(UNIT, 1), alpha("1/3")
    move = refining_move(["1/2", "1/2"], grid_geometric(grid, level), post_processing(grid, 1, level), grid.points)
    assert move.cost == move_margin(grid, level) == Fraction(1, 4)


@st.composite
def lipschitz_losses(draw, grid, readings: int):
    """Losses ≥ 0 on U_N with |ℓ(w, x) − ℓ(w, x′)| ≤ |x − x′|."""
    columns = []
    for _ in range(readings):
        steps = draw(st.lists(st.integers(-3, 3), min_size=grid.count, max_size=grid.count))
        heights = np.cumsum([0, *steps])
        low = int(heights.min()) - draw(st.integers(0, 2))
        columns.append([Fraction(int(height) - low, 3) * grid.step for height in heights])
    return losses.matrix([list(row) for row in zip(*columns, strict=True)])


@settings(max_examples=60, deadline=None)
@given(st.data(), INTERVALS, st.integers(1, 6), st.sampled_from(["1/2", "9/10", "1/10", "99/100"]))
def test_theorem_14_the_losses_differ_by_no_more_than_the_margin_for_any_prior(data, inputs, count, ratio):
    grid, step = pixel_grid(inputs, count), alpha(ratio)
    prior = priors.explicit(data.draw(weights(count + 1)))
    consumer = Consumer(prior, data.draw(lipschitz_losses(grid, data.draw(st.integers(2, 4)))))
    laplace, geometric = laplace_loss(consumer.costs(), step), geometric_loss(consumer.costs(), step)
    # h·tanh(εh/4)/cosh(εh/2), with the level given a step apart
    root = float(step.alpha) ** 0.5
    margin = float(grid.step) * 2 * root * (1 - root) / ((1 + root) * (1 + root * root))
    assert laplace.upper >= geometric
    assert float(laplace.lower - geometric) <= margin * (1 + 1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), LEVELS)
def test_the_margins_are_ordered_and_of_the_orders_claimed(count, level):
    grid = pixel_grid(UNIT, count)
    assert 0 < loss_margin(grid, level) < move_margin(grid, level) < printed_margin(grid, level)
    assert float(loss_margin(grid, level)) <= level.epsilon / (4 * count**2)
    assert float(move_margin(grid, level)) <= min(1, level.epsilon / 4) / count
    h, rate = 1 / count, level.epsilon
    assert float(loss_margin(grid, level)) == pytest.approx(h * np.tanh(rate * h / 4) / np.cosh(rate * h / 2))


def test_half_the_margin_is_approached_by_the_absolute_loss_on_long_intervals():
    def share(length: int) -> float:
        grid, level = pixel_grid(interval(0, length), length), alpha("1/2")
        table = losses.matrix([[abs(x - w) for w in grid.points] for x in grid.points])
        costs = Consumer(priors.uniform(length + 1), table).costs()
        gap = float(laplace_loss(costs, level)) - float(geometric_loss(costs, level))
        return gap / (float(loss_margin(grid, level)) / 2)

    shares = [share(length) for length in (4, 16, 48)]
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1


@pytest.mark.parametrize("level", [alpha(0), alpha(1)])
@pytest.mark.parametrize(
    "function", [loss_margin, move_margin, printed_margin, lambda grid, level: post_processing(grid, 2, level)]
)
def test_levels_without_laplace_noise_are_refused(function, level):
    with pytest.raises(InputError, match="alpha must be strictly between"):
        function(pixel_grid(UNIT, 2), level)
