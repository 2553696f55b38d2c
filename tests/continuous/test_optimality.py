"""FMM21 Theorem 5 at finite grids: truncated Laplace against certified programs, private channels, and a band."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import inner_alphas, weights
from utmost.channel import channel
from utmost.consumer import Consumer, losses, priors
from utmost.continuous.interval import Interval
from utmost.continuous.laplace_count import geometric_loss, laplace_factor, laplace_loss
from utmost.continuous.laplace_optimality import Band, best_readings, least_loss, lemma9, margin
from utmost.continuous.losses import parse_continuous_loss
from utmost.design import by_program, optimal
from utmost.design.count_mechanism import remapped_geometric
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.spaces import line, scale_space

quad = pytest.importorskip("scipy.integrate").quad
HALF = Fraction(1, 2)
LOSSES = ["absolute", "squared", "huber:1/5", "power:3", "asymmetric:3,1", "step:1/6", "step:1/3"]


def points(cells: int) -> list[Fraction]:
    return [Fraction(2 * k + 1, 2 * cells) for k in range(cells)]


def table(name: str, cells: int, readings: int) -> list[list[Fraction]]:
    loss, reading_points = parse_continuous_loss(name), Interval(Fraction(0), Fraction(1)).grid(readings)
    return [[loss.exact(w, x) for w in reading_points] for x in points(cells)]


def costs(prior: list[Fraction], rows: list[list[Fraction]]) -> np.ndarray:
    table_array = np.array(rows, dtype=object)
    return table_array * np.array(prior, dtype=object)[:, None]


@st.composite
def ordered_tables(draw: st.DrawFn) -> list[list[Fraction]]:
    """Rows that fall to a best reading and rise after it, the best readings in order; any number of readings."""
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    best = sorted(draw(st.lists(st.integers(0, width - 1), min_size=height, max_size=height)))
    rows = []
    for middle in best:
        steps = draw(st.lists(st.integers(0, 5), min_size=width, max_size=width))
        rows.append([Fraction(sum(steps[min(w, middle) : max(w, middle)])) for w in range(width)])
    return rows


@settings(max_examples=60, deadline=None)
@given(ordered_tables(), inner_alphas(), st.data())
def test_for_losses_in_order_nothing_private_on_a_grid_beats_the_geometric_however_many_readings(rows, rate, data):
    assert best_readings(rows) is not None
    prior = data.draw(weights(len(rows)))
    assert remapped_geometric(alpha(rate), costs(prior, rows)).objection is None


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(LOSSES), st.integers(2, 6), st.integers(1, 7), inner_alphas(), st.data())
def test_no_certified_private_mechanism_beats_truncated_laplace_beyond_the_margin(name, cells, readings, rate, data):
    """On cells of width 1/N with α^(1/N) a step; `by_program` knows nothing of either mechanism."""
    prior, rows = data.draw(weights(cells)), table(name, cells, readings)
    level, step = alpha(rate**cells), Fraction(1, cells)
    reader = Consumer(priors.explicit(prior), losses.matrix(rows))
    program = by_program(scale_space(line(cells), step), level, reader)
    laplace = laplace_loss(costs(prior, rows), alpha(rate))
    assert program.private
    assert program.certificate.gap <= program.loss / 10**9
    assert program.certificate.lower <= laplace.upper
    assert laplace.lower <= laplace_factor(alpha(rate)) * program.loss
    assert laplace.lower <= margin(level, step) * least_loss(program.loss, level, step)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["absolute", "squared", "step:1/4"]), st.integers(2, 5), inner_alphas(), st.data())
def test_mechanisms_private_on_finer_and_finer_grids_come_down_to_truncated_laplace(name, size, rate, data):
    """The prior stays on size points; privacy is asked of what lies between them, too."""
    prior, loss = data.draw(weights(size)), parse_continuous_loss(name)
    grid_points = [Fraction(k, size) for k in range(size)]
    rows = [[loss.exact(w, x) for w in grid_points] for x in grid_points]
    laplace = laplace_loss(costs(prior, rows), alpha(rate**4))
    optima = []
    for factor in (1, 2, 4):
        fine = np.full(((size - 1) * factor + 1, size), Fraction(0), dtype=object)
        fine[::factor] = costs(prior, rows)
        step = alpha(rate ** (4 // factor))
        optima.append(geometric_loss(fine, step))
        assert optima[-1] <= laplace.upper
        assert laplace.lower <= laplace_factor(step) * optima[-1]
    assert all(coarse <= fine for coarse, fine in pairwise(optima))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(LOSSES), st.integers(2, 6), inner_alphas(), st.data())
def test_random_private_channels_do_not_beat_truncated_laplace(name, cells, rate, data):
    """Columns closed under privacy, scaled so that what is missing to 1 is a private column as well."""
    raw = data.draw(st.lists(weights(cells, positive=True), min_size=1, max_size=4))
    private_columns = [[min(c[z] / rate ** abs(x - z) for z in range(cells)) for x in range(cells)] for c in raw]
    largest = max(map(sum, zip(*private_columns, strict=True)))
    columns = [[(1 - rate) * value / largest for value in column] for column in private_columns]
    rest = [1 - sum(row) for row in zip(*columns, strict=True)]
    mechanism = channel([list(row) for row in zip(*columns, rest, strict=True)])
    assert all(rate * u <= v <= u / rate for c in [*columns, rest] for u, v in pairwise(c))
    prior, rows = data.draw(weights(cells)), table(name, cells, 6)
    reader = Consumer(priors.explicit(prior), losses.matrix(rows))
    laplace = laplace_loss(costs(prior, rows), alpha(rate))
    assert laplace.lower <= laplace_factor(alpha(rate)) * reader.expected_loss(mechanism)


@pytest.mark.parametrize("steps", [2, 3, 5])
@pytest.mark.parametrize("name", ["absolute", "squared", "step:1/6"])
def test_n_step_losses_are_in_order_so_laplace_is_not_beaten_for_them_on_the_continuum(name, steps):
    """FMM21 §X says that it is: by G_N, which is not private within the cells. Readings at U_N."""
    loss, cells = parse_continuous_loss(name), 30
    floors = [Fraction(k * steps // cells, steps) for k in range(cells)]
    rows = [[loss.exact(Fraction(w, steps), x) for w in range(steps)] for x in floors]
    assert best_readings(rows) is not None
    even, rate = [Fraction(1, cells)] * cells, Fraction(9, 10)
    fine_costs = costs(even, rows)
    laplace = laplace_loss(fine_costs, alpha(rate))
    assert remapped_geometric(alpha(rate), fine_costs).objection is None
    assert laplace.lower <= laplace_factor(alpha(rate)) * geometric_loss(fine_costs, alpha(rate))
    coarse = costs([Fraction(1, steps)] * steps, rows[:: cells // steps])
    assert geometric_loss(coarse, alpha(rate ** (cells // steps))) < laplace.lower  # G_N, which is not private


@settings(max_examples=30, deadline=None)
@given(st.fractions(0, 1, max_denominator=40), st.fractions(0, 1, max_denominator=40), st.sampled_from([1, 3, 12]))
def test_the_band_s_own_mechanism_is_private_between_all_numbers(x, z, rate):
    f, g = (Band(Fraction(rate)).outside(point) for point in (x, z))
    slack = epsilon(rate).power(abs(x - z))
    assert slack * f <= g
    assert slack * (1 - f) <= 1 - g


def laplace_by_quadrature(rate: float) -> float:
    def mass_inside(y: float) -> float:
        larger, smaller = sorted((abs(y - 0.25), abs(y - 0.75)))[::-1]
        if 0.25 <= y <= 0.75:
            return (2 - np.exp(-rate * smaller) - np.exp(-rate * larger)) / rate
        return (np.exp(-rate * smaller) - np.exp(-rate * larger)) / rate

    def least_cost(y: float) -> float:
        total_mass = (2 - np.exp(-rate * y) - np.exp(-rate * (1 - y))) / rate
        return min(mass_inside(y), total_mass - mass_inside(y))

    middle = quad(least_cost, 0, 0.5, points=[0.25], limit=400)[0]
    return rate * middle + least_cost(0.0)


@pytest.mark.parametrize("rate", ["1/2", "1", "3", "8", "25"])
def test_truncated_laplace_loses_more_on_a_band_than_the_mechanism_made_for_it(rate):
    band = Band(Fraction(rate))
    low, high = band.laplace()
    half_loss = quad(
        lambda x: float(band.outside(Fraction(x))) if x > 0.25 else 1 - float(band.outside(Fraction(x))), 0, 0.5
    )
    assert abs(2 * half_loss[0] - float(band.best())) < 1e-6
    assert abs(laplace_by_quadrature(float(Fraction(rate))) - float(low)) < 1e-6
    assert high - low < Fraction(1, 10**30)
    assert band.best() < low


def test_the_band_is_not_in_order_and_a_certified_program_bounds_the_best_from_below():
    """e^−λ = 1/16: Laplace loses 11.7 % more than the best, and the best at most 5 % more than what 32 cells allow."""
    cells, level = 32, alpha("1/16")
    rows = [[Fraction(is_inside), Fraction(not is_inside)] for is_inside in (8 <= k < 24 for k in range(cells))]
    assert best_readings(rows) is None
    step = Fraction(1, cells)
    reader = Consumer(priors.uniform(cells), losses.matrix(rows))
    program = optimal(scale_space(line(cells), step), level, reader)
    below = float(least_loss(program.certificate.lower, level, step))
    band = Band(Fraction(2772588722239781237668928485833, 10**30))  # 4·ln 2
    best, laplace = float(band.best()), float(band.laplace()[0])
    assert 0.95 * best <= below <= best
    assert laplace / best == pytest.approx(1.117483, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["absolute", "squared", "step:1/8", "step:1/4"])
@pytest.mark.parametrize("rate", [1, 4])
def test_a_grid_s_certified_optimum_encloses_truncated_laplace_on_the_continuum(name, rate):
    """Uniform prior on [0, 1], readings at multiples of 1/16, 16 cells; the continuum side by quadrature."""
    cells, readings, loss = 16, 16, parse_continuous_loss(name)
    reading_points = Interval(Fraction(0), Fraction(1)).grid(readings)
    mean = {
        gap: sum(loss.of_gap(gap + Fraction(2 * k + 1, 2 * 64 * cells) - Fraction(1, 2 * cells)) for k in range(64))
        / 64
        for gap in {w - x for w in reading_points for x in points(cells)}
    }
    rows = [[mean[w - x] for w in reading_points] for x in points(cells)]
    assert best_readings(rows) is not None
    grid = geometric_loss(costs([Fraction(1, cells)] * cells, rows), epsilon(Fraction(rate, cells)))
    low, step = float(least_loss(grid, epsilon(rate), Fraction(1, cells))), Fraction(1, cells)
    x = (np.arange(4000) + 0.5) / 4000
    costs_by_reading = loss.array(np.array([[float(w)] for w in reading_points]), x[None, :])

    def least_cost(y: float) -> float:
        return float((costs_by_reading @ np.exp(-rate * np.abs(x - y))).min()) / 4000

    laplace = (
        rate / 2 * np.mean([least_cost(y) for y in (np.arange(800) + 0.5) / 800])
        + (least_cost(0.0) + least_cost(1.0)) / 2
    )
    assert low * 0.999 <= laplace <= low * float(margin(epsilon(rate), step)) * 1.001


@pytest.mark.parametrize(("call", "message"), [
    (lambda: lemma9(epsilon(1), Fraction(0)), "distance must be > 0"),
    (lambda: margin(alpha(1), Fraction(1)), "alpha inside"),
    (lambda: Band(Fraction(0)), "rate must be > 0"),
    (lambda: Band(Fraction(1)).outside(Fraction(2)), "x must be from 0 to 1"),
])  # fmt: skip
def test_bad_input_is_one_line(call, message):
    with pytest.raises(InputError, match=message):
        call()
