"""What bounds are made of: the inequality between columns, doubles that bound, readers of one column."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.continuous import losses, mechanisms
from utmost.continuous.bounds.best_readings import _bracket, convex_reader, step_reader, unimodal_reader
from utmost.continuous.bounds.columns import CellPartition, Column, Run, TwoSided, exponential_weights, weight
from utmost.continuous.bounds.float_intervals import dot_above, dot_below, float_intervals, lower_double, upper_double
from utmost.continuous.bounds.loss_bounds import reader_of
from utmost.continuous.densities import parse_density, uniform_density
from utmost.continuous.interval import interval
from utmost.exact import ball, ball_endpoints, epsilon, exponential

UNIT = interval(0, 1)
MECHANISM = mechanisms.mechanism_by_name("laplace", UNIT, epsilon(1))


@given(x=st.floats(-3, 3), y=st.floats(0, 1), h=st.floats(0.01, 2), rate=st.floats(0.01, 5))
def test_a_column_within_a_cell_is_at_least_its_combination_of_the_ends(x, y, h, rate):
    """e^{−ε|x−y|} ≥ a·e^{−ε|x−y₀|} + b·e^{−ε|x−y₁|}, with the difference that the docstring states."""
    answer = y * h
    a = math.sinh(rate * (h - answer)) / math.sinh(rate * h)
    b = math.sinh(rate * answer) / math.sinh(rate * h)
    gap = math.exp(-rate * abs(x - answer)) - a * math.exp(-rate * abs(x)) - b * math.exp(-rate * abs(x - h))
    stated = 0.0
    if 0 < x < h:
        before, after = min(x, answer), max(x, answer)
        stated = 2 * math.sinh(rate * before) * math.sinh(rate * (h - after)) / math.sinh(rate * h)
    assert gap == pytest.approx(stated, abs=1e-9)
    assert stated >= 0


def test_equal_cells_have_the_weights_of_the_geometric_mechanism():
    """½tanh(εh/2)·2 = (1−α)/(1+α) inside and ½ + ½tanh(εh/2) = 1/(1+α) at the ends, α = e^{−εh}."""
    grid, level = CellPartition(tuple(UNIT.grid(4))), epsilon(2)
    with ctx.workprec(128):
        exponentials = exponential_weights(uniform_density(UNIT), grid, level, 1, 128)
        stage = TwoSided(exponentials, exponentials, grid, level, 128).stage(atoms=True)
    alpha = math.exp(-0.5)
    inner, end = (1 - alpha) / (1 + alpha), 1 / (1 + alpha)
    assert [float(w) for w in stage.lower[:5]] == pytest.approx([end, inner, inner, inner, end])


@settings(max_examples=30)
@given(cells=st.integers(1, 12), level=st.sampled_from(["1/3", "2", "40"]), position=st.fractions(0, 1))
def test_the_answers_of_the_upper_columns_are_certain(cells, level, position):
    """The merged columns and the atoms sum to π: each input gives some answer with probability exactly 1."""
    grid, density = CellPartition(tuple(UNIT.grid(cells))), uniform_density(UNIT)
    with ctx.workprec(160):
        exponentials = exponential_weights(density, grid, epsilon(level), 1, 160)
        stage = TwoSided(exponentials, exponentials, grid, epsilon(level), 160).stage(atoms=True)
        edge = int(position * cells)
        masses = [w * column.moments_up_to(edge)[0] for w, column in zip(stage.upper, stage.columns, strict=True)]
        total = sum(masses, arb(0))
        assert total.contains(ball(Fraction(edge, cells), 300).mid())
        assert float(total.rad()) < 1e-30


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1e3)), min_size=1, max_size=40))
def test_dot_products_are_bounded_on_both_sides(pairs):
    left, right = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    assert Fraction(dot_below(left, right)) <= exact <= Fraction(dot_above(left, right))
    assert dot_above(left, right) <= float(exact) * (1 + 1e-12) + 1e-300


@given(value=st.fractions(-1000, 1000), bits=st.integers(4, 200))
def test_doubles_of_a_ball_enclose_it(value, bits):
    enclosure = ball(value, bits)
    assert Fraction(lower_double(enclosure)) <= value <= Fraction(upper_double(enclosure))


@given(
    st.lists(st.fractions(0, 9, max_denominator=99), min_size=2, max_size=8),
    st.fractions(0, 3),
    st.fractions(0, 1),
)
def test_sums_products_and_differences_of_bounded_numbers_enclose_the_exact_ones(values, factor, share):
    intervals = float_intervals([ball(v, 100) for v in values])
    smaller = float_intervals([ball(v * share, 100) for v in values])
    for computed, exact in (
        (intervals.plus(smaller), [v + v * share for v in values]),
        (intervals.times(ball(factor, 100)), [v * factor for v in values]),
        (intervals.minus(smaller), [v - v * share for v in values]),
    ):
        assert all(
            Fraction(low) <= e <= Fraction(high)
            for low, high, e in zip(computed.lower, computed.upper, exact, strict=True)
        )


def column_of(heights: list[Fraction], cells: int, degree: int, bits: int = 160) -> Column:
    """Constant heights on equal parts of [0, 1], against the uniform prior, on a grid of `cells` for each part."""
    count = len(heights)
    edges = UNIT.grid(count * cells)
    flat = weight(uniform_density(UNIT), edges, Fraction(0), degree, bits)
    return Column([Run(i * cells, (i + 1) * cells, (ball(h, bits),), (flat,)) for i, h in enumerate(heights)])


def brute_force_infimum(heights: list[Fraction], loss: losses.ContinuousLoss) -> float:
    """The least cost over 401 readings, by midpoints: an upper bound that is off by the loss's variation in 1/400."""
    cells = 1200
    x = (np.arange(cells) + 0.5) / cells
    mass = np.repeat([float(h) for h in heights], -(-cells // len(heights)))[:cells] / cells
    return float((loss.array(np.linspace(0, 1, 401)[:, None], x[None, :]) @ mass).min())


@settings(max_examples=60)
@given(
    heights=st.lists(st.fractions(0, 3, max_denominator=20), min_size=1, max_size=6).filter(any),
    loss_name=st.sampled_from(
        ["absolute", "squared", "asymmetric:3,1", "asymmetric:0,1", "huber:0.3", "power:1.5", "power:1/2", "step:1/4"]
    ),
    hint=st.integers(0, 400),
)
def test_every_reader_encloses_the_infimum_whatever_the_hint(heights, loss_name, hint):
    heights = heights * (1 if 1200 % len(heights) == 0 else len(heights) + 1)
    heights = heights[: max(k for k in range(1, len(heights) + 1) if 1200 % k == 0)]
    loss = losses.parse_continuous_loss(loss_name)
    cells = -(-120 // len(heights))
    grid = CellPartition(tuple(UNIT.grid(cells * len(heights))))
    with ctx.workprec(160):
        reader = reader_of(loss, grid, MECHANISM, masses_only=False)
        bounds = reader.read(column_of(heights, cells, max(reader.degree, 1)), hint)
    assert bounds.lower <= bounds.upper
    assert 0 <= bounds.reading <= 1
    value = brute_force_infimum(heights, loss)
    mass = float(sum(heights)) / len(heights)
    assert float(bounds.lower) <= value + 1e-3 * mass
    assert value - 0.06 * mass <= float(bounds.upper)
    assert float(bounds.upper - bounds.lower) <= 0.12 * mass


@given(
    cells=st.integers(1, 30), edge=st.integers(-30, 60), loss_name=st.sampled_from(["squared", "power:4", "absolute"])
)
def test_a_convex_loss_is_enclosed_at_every_edge_within_its_chords_height(cells, edge, loss_name):
    """∫₀¹ |x − w|^p dx = ∓(…)^(p+1)/(p+1) at w = edge/cells, also outside the interval."""
    edge = max(min(edge, 2 * cells), -cells)
    loss, p = losses.parse_continuous_loss(loss_name), {"absolute": 1, "squared": 2, "power:4": 4}[loss_name]
    with ctx.workprec(160):
        reader = convex_reader(loss, Fraction(1, cells), cells)
        split = column_of([Fraction(1)], cells, 1).hats()
        low, high = reader._bounds_at(split.edges, split.mass, edge)
    w = Fraction(edge, cells)
    exact = sum(abs(end - w) ** (p + 1) * (1 if (end > w) == (end == 1) else -1) for end in (0, 1)) / Fraction(p + 1)
    assert Fraction(low) <= exact <= Fraction(high)


@given(
    kinks=st.lists(st.tuples(st.fractions(0, 20), st.fractions(0, 3), st.fractions(0, 3)), min_size=1, max_size=5),
    edge=st.integers(0, 20),
)
def test_three_values_of_a_convex_function_bound_it_everywhere(kinks, edge):
    """Σ of one-sided slopes around kinks: its least value is at one of them, or 0 beyond all where a side is flat."""

    def value(t: Fraction) -> Fraction:
        return sum((a * max(k - t, 0) + b * max(t - k, 0) for k, a, b in kinks), Fraction(0))

    def bounds_at(edge: int) -> tuple[float, float]:
        exact = float(value(Fraction(edge)))
        return exact * (1 - 1e-15), exact * (1 + 1e-15)

    lower, upper = _bracket(bounds_at, edge, 20)
    minimum = min(value(t) for t in [*(k for k, _, _ in kinks), Fraction(-40), Fraction(60)])
    assert Fraction(lower) <= minimum <= Fraction(upper)


@settings(max_examples=200)
@given(
    heights=st.lists(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1), Fraction(3)]), min_size=1, max_size=8),
    cells=st.integers(1, 3),
    h=st.fractions(0, Fraction(1, 2), max_denominator=24),
    hint=st.integers(0, 24),
)
def test_a_step_loss_is_enclosed_by_both_of_its_readers(heights, cells, h, hint):
    """The mass outside [w − h, w + h] is straight in w between the points edge ± h: it is least at one of them."""
    count = len(heights)

    def mass_below(t: Fraction) -> Fraction:
        return sum(
            (g * min(max(t - Fraction(i, count), 0), Fraction(1, count)) for i, g in enumerate(heights)), Fraction(0)
        )

    candidates = [Fraction(i, count) + side * h for i in range(count + 1) for side in (-1, 1)]
    minimum = min(mass_below(Fraction(1)) - mass_below(w + h) + mass_below(w - h) for w in candidates)
    loss, width = losses.step(h), Fraction(1, count * cells)
    with ctx.workprec(160):
        column = column_of(heights, cells, 1)
        for reader in (step_reader(h, width), unimodal_reader(loss, width, count * cells)):
            bounds = reader.read(column, min(hint, count * cells))
            assert ball_endpoints(bounds.lower)[1] <= minimum <= ball_endpoints(bounds.upper)[0]


@given(
    heights=st.lists(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(3)]), min_size=1, max_size=8),
    low=st.integers(0, 8),
    span=st.integers(0, 8),
    edge=st.integers(0, 8),
)
def test_ranges_of_readings_are_bounded_by_the_nearest_gap_and_edges_by_the_farthest(heights, low, span, edge):
    """F(w) = Σ height·∫|x − w| dx over the cells, exact, for the absolute loss read as one that is not known convex."""
    count = len(heights)
    low, edge = min(low, count), min(edge, count)
    high = min(low + span, count)

    def expected_loss(w: int) -> Fraction:
        middles = [abs(Fraction(2 * i + 1 - 2 * w, 2 * count)) for i in range(count)]
        return sum((g * m for g, m in zip(heights, middles, strict=True)), Fraction(0)) / count

    with ctx.workprec(160):
        reader = unimodal_reader(losses.absolute, Fraction(1, count), count)
        mass = column_of(heights, 1, 1).masses()
    assert Fraction(reader._lower_value(mass, low, high)) <= min(expected_loss(w) for w in range(low, high + 1))
    assert expected_loss(edge) <= Fraction(reader._upper_value(mass, edge))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(7)])
def test_the_reading_of_the_lower_end_has_its_closed_form(rate):
    """H(0) for the uniform prior: the median m has e^{−εm} = (1 + e^{−ε})/2.

    With A(t) = ∫₀ᵗ e^{−εx} and B(t) = ∫₀ᵗ x·e^{−εx}, H(0) = 2(mA(m) − B(m)) + B(1) − mA(1).
    """
    r = float(rate)
    m = -math.log((1 + math.exp(-r)) / 2) / r

    def masses(t: float) -> tuple[float, float]:
        return (1 - math.exp(-r * t)) / r, (1 - (1 + r * t) * math.exp(-r * t)) / r**2

    (a, b), (total, first) = masses(m), masses(1)
    closed = 2 * (m * a - b) + first - m * total
    level, grid = epsilon(rate), CellPartition(tuple(UNIT.grid(2000)))
    with ctx.workprec(128):
        exponentials = exponential_weights(uniform_density(UNIT), grid, level, 1, 128)
        column = TwoSided(exponentials, exponentials, grid, level, 128).node_column(0)
        reading = reader_of(losses.absolute, grid, MECHANISM, masses_only=False).read(column, 0)
    assert float(reading.lower) - 1e-13 <= closed <= float(reading.upper) + 1e-13
    assert float(reading.upper - reading.lower) < 1e-6
    assert float(reading.reading) == pytest.approx(m, abs=1e-3)


def test_moments_about_the_lower_end_do_not_depend_on_where_the_interval_lies():
    first, second = interval(0, 2), interval(1000, 1002)
    with ctx.workprec(200):
        moments = [
            weight(parse_density("beta:2,5", inputs), inputs.grid(4), Fraction(3), 2, 200).sums[-1]
            for inputs in (first, second)
        ]
    for a, b in zip(*moments, strict=True):
        assert a.overlaps(b)
        assert float(b.rad()) < 1e-30


def test_exact_exponentials_agree_with_the_columns():
    """A node's column holds e^{−ε|x−y|}: its mass for the uniform prior is (2 − e^{−εy} − e^{−ε(1−y)})/ε."""
    grid, level = CellPartition(tuple(UNIT.grid(4))), epsilon(3)
    with ctx.workprec(128):
        exponentials = exponential_weights(uniform_density(UNIT), grid, level, 1, 128)
        column = TwoSided(exponentials, exponentials, grid, level, 128).node_column(1)
        exact = (2 - exponential(Fraction(-3, 4)) - exponential(Fraction(-9, 4))) / 3
        assert column.total[0].overlaps(ball(exact, 200))
