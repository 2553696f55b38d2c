"""The grid release against the best private mechanism: the theorem in fractions, its terms, the coarsest grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import inner_alphas, weights
from utmost.continuous import grid_selection as grids
from utmost.continuous.bounds.loss_bounds import bound_expected_loss
from utmost.continuous.densities import parse_density
from utmost.continuous.grid_selection import (
    GridQuestion,
    coarsest_grid,
    coarsest_row_rounding,
    face_value,
    grid_promise,
    rows_promise,
)
from utmost.continuous.interval import Interval, parse_interval
from utmost.continuous.laplace_count import geometric_loss, laplace_loss
from utmost.continuous.losses import absolute
from utmost.continuous.losses import parse_continuous_loss as loss_of
from utmost.continuous.mechanisms import GridGeometric, Laplace
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import alpha, decimal_above, epsilon
from utmost.mechanisms.geometric import geometric
from utmost.queries import Mean, Sum
from utmost.queries.privacy_setting import PrivacySetting

quad = pytest.importorskip("scipy.integrate").quad
CONVEX_LOSSES = ["absolute", "squared", "huber:2", "power:3", "asymmetric:3,1", "asymmetric:0,1"]


def question(interval="0,100", sensitivity="0.1", rate="1", loss="absolute") -> GridQuestion:
    return GridQuestion(parse_interval(interval), Fraction(sensitivity), Fraction(rate), loss_of(loss))


def nearest_multiples(points: int, spacing: int) -> list[int]:
    """The nearest multiple of `spacing` for each fine point, ties upwards, in multiples."""
    return [(2 * i + spacing) // (2 * spacing) for i in range(points)]


def release_loss(costs: np.ndarray, grid_points: list[int], rate: Fraction) -> Fraction:
    """A: the least loss of geometric noise of α = rate a step on the rounded points."""
    rows = geometric(grid_points[-1], alpha(rate)).channel().rows
    return sum(
        min(costs[:, w] @ rows[grid_points, y] for w in range(costs.shape[1])) for y in range(grid_points[-1] + 1)
    )


def fine_costs(prior: list[Fraction], name: str) -> np.ndarray:
    loss, size = loss_of(name), len(prior)
    rows = [[loss.of_gap(Fraction(w - x, 2)) for w in range(2 * size)] for x in range(0, 2 * size, 2)]
    return np.array(rows, dtype=object) * np.array(prior, dtype=object)[:, None]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CONVEX_LOSSES), st.integers(2, 9), st.sampled_from([2, 4]), inner_alphas(), st.data())
def test_a_grid_release_loses_at_most_e_to_half_a_step_times_the_best_for_every_prior(name, size, spacing, rate, data):
    """On a fine line, where the best is known exactly; readings halfway between its points, too."""
    costs = fine_costs(data.draw(weights(size)), name)
    best_loss = geometric_loss(costs, alpha(rate))
    assert release_loss(costs, nearest_multiples(size, spacing), rate**spacing) <= best_loss / rate ** (spacing // 2)


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 9), st.sampled_from([2, 4]), st.integers(0, 3), inner_alphas(), st.data())
def test_the_same_factor_holds_for_a_step_loss_that_is_0_within_a_cell(size, spacing, more, rate, data):
    costs = fine_costs(data.draw(weights(size)), f"step:{spacing + more}")
    best_loss = geometric_loss(costs, alpha(rate))
    assert release_loss(costs, nearest_multiples(size, spacing), rate**spacing) <= best_loss / rate ** (spacing // 2)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), inner_alphas())
def test_two_numbers_at_the_outer_ends_of_their_cells_come_near_that_factor(steps, rate):
    """A/B = 2/(1 + α): 4j apart, their points 2j − 1 steps of 2; B is truncated Laplace's (FMM21 Thm 5)."""
    distance = 4 * steps
    costs = np.full((distance + 1, 2), Fraction(0), dtype=object)
    costs[0, 1] = costs[distance, 0] = Fraction(1, 2)
    best = laplace_loss(costs, alpha(rate)).exact
    grid_points = [min((i + 1) // 2, 2 * steps - 1) for i in range(distance + 1)]
    assert release_loss(costs, grid_points, rate**2) == 2 / (1 + rate**2) * best


def geometric_law(size: int, rate: float) -> np.ndarray:
    law, noise = np.exp(-rate * np.abs(np.arange(size)[:, None] - np.arange(size))), math.exp(-rate)
    law *= (1 - noise) / (1 + noise)
    law[:, [0, -1]] /= 1 - noise
    return law


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 5, 7]), st.floats(0.1, 6))
def test_noise_for_more_than_the_sensitivity_costs_no_more_than_the_stretch_says(seed, fineness, rate):
    """Steps of 1 of which the sensitivity is 1 + 1/fineness: noise for 2. In doubles, on a finer line."""
    generator = np.random.default_rng(seed)
    size = 12 * fineness + 1
    prior = generator.dirichlet(np.full(size, generator.choice([0.02, 0.2, 2])))
    x, moves = np.arange(size) / fineness, Fraction(fineness + 1, fineness)
    grid_question = GridQuestion(Interval(Fraction(0), Fraction(12)), moves, Fraction(rate) * moves, absolute)
    promise = grid_promise(grid_question, Fraction(1))
    costs = prior[:, None] * np.abs(x[:, None] - x)
    best = (costs.T @ geometric_law(size, rate / fineness)).min(axis=0).sum()
    grid = geometric_law(13, float(grid_question.epsilon) / 2)[np.floor(x + 0.5).astype(int)]
    grid_loss = (costs.T @ grid).min(axis=0).sum()
    assert promise.moves == 2
    assert grid_loss <= float(promise.factor) * best + float(promise.stretch) + 1e-9
    assert grid_loss <= best + float(promise.extra) + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0.05, 3))
def test_rows_rounded_one_by_one_cost_no_more_than_promised_however_they_are_rounded(seed, radius, rate):
    """Any joint law of the number and of what noise is added to, at most r apart; in doubles on integers."""
    generator = np.random.default_rng(seed)
    size = 30
    x, z = np.arange(size)[:, None], np.arange(size)
    joint = generator.dirichlet(np.full(size * size, generator.choice([0.005, 0.1]))).reshape(size, size)
    joint = np.where(np.abs(x - z) <= radius, joint, 0) + np.eye(size) * 1e-9
    joint /= joint.sum()
    gaps = np.abs(x - z)
    law = geometric_law(size, rate)
    rounded_loss = np.einsum("xz,xw,zy->wy", joint, gaps, law).min(axis=0).sum()
    best = ((joint.sum(axis=1)[:, None] * gaps).T @ law).min(axis=0).sum()
    grid_question = GridQuestion(Interval(Fraction(0), Fraction(size - 1)), Fraction(1), Fraction(rate), absolute)
    promise = rows_promise(grid_question, Fraction(2 * radius))
    assert rounded_loss <= best + float(promise.extra) + 1e-9
    assert promise.factor is None or rounded_loss <= float(promise.factor) * best + 2 * radius + 1e-9


@pytest.mark.parametrize("name", [*CONVEX_LOSSES, "step:1/2", "step:3", "power:1.5"])
@pytest.mark.parametrize(("length", "rate"), [("1", "1/2"), ("4", "3"), ("50", "1/3"), ("1000", "7")])
def test_no_number_makes_truncated_laplace_at_face_value_lose_more_than_the_bound(name, length, rate):
    loss, interval, scale = loss_of(name), parse_interval(f"0,{length}"), float(Fraction(rate))
    bound = float(face_value(loss, interval, Fraction(rate)))
    width = float(interval.length)
    means = []
    for x in (0.0, 0.3 * width, width / 2):

        def density_of_cost(noise, x=x):
            return scale / 2 * math.exp(-scale * abs(noise)) * float(loss.array(x + noise, x))

        kinks = sorted({k for k in (-3, -2, -0.5, 0, 0.5, 2, 3) if -x < k < width - x})
        inner = quad(density_of_cost, max(-x, -60 / scale), min(width - x, 60 / scale), points=kinks, limit=500)[0]
        tails = [
            math.exp(-scale * x) * float(loss.array(0.0, x)),
            math.exp(-scale * (width - x)) * float(loss.array(width, x)),
        ]
        means.append(inner + sum(tails) / 2)
    assert max(means) <= bound + 1e-9
    if scale * width > 40:
        assert bound <= 1.04 * max(means) + 1e-9


@pytest.mark.parametrize("name", ["absolute", "squared", "huber:5", "step:2"])
@pytest.mark.parametrize(
    ("interval", "sensitivity", "rate"), [("0,100", "0.1", "1"), ("-3,7", "1/3", "2"), ("0,1", "1", "1/2")]
)
@settings(max_examples=10, deadline=None)
@given(share=st.fractions(Fraction(1, 1000), 1))
def test_the_coarsest_grid_meets_the_limit_and_the_next_coarser_does_not(name, interval, sensitivity, rate, share):
    grid_question = question(interval, sensitivity, rate, name)
    extra = max(share * grid_question.best, Fraction(1, 10**9))
    advice = coarsest_grid(grid_question, extra)
    assert advice.promise.extra <= extra
    assert advice.promise.step * advice.promise.moves == grid_question.sensitivity
    assert (advice.promise.size - 1) * advice.promise.step < grid_question.interval.length
    assert advice.promise.size * advice.promise.step >= grid_question.interval.length
    if advice.coarser is None:
        assert advice.promise.step == grid_question.sensitivity
    else:
        assert not advice.coarser.meets(extra)
        assert advice.coarser.moves == advice.promise.moves - 1


def test_the_number_of_steps_is_what_the_formula_says():
    """m = ⌈ε/(2·ln(1 + extra/M))⌉ with M = κ·Δ/ε where the interval is long."""
    for extra in ("0.05", "0.01", "0.0001"):
        steps_per_move = math.ceil(1 / (2 * math.log1p(float(extra) / 0.1)))
        assert coarsest_grid(question(), Fraction(extra)).promise.size == 1000 * steps_per_move
    assert coarsest_grid(question(), Fraction(10**6)).promise.step == Fraction(1, 10)


def test_with_a_large_epsilon_the_release_s_own_error_is_the_better_bound():
    promise = grid_promise(question(rate="20"), Fraction(1, 10))
    assert promise.extra == promise.alone < promise.rounding
    assert float(promise.alone) == pytest.approx(0.05 + 0.1 / math.sinh(20), rel=1e-12)


def test_a_step_that_does_not_divide_the_sensitivity_says_what_that_costs():
    even, odd = grid_promise(question(), Fraction(1, 100)), grid_promise(question(), Fraction(11, 1000))
    assert (even.moves, even.stretch, odd.moves) == (10, 0, 10)
    assert odd.factor == even.factor
    assert float(odd.stretch) == pytest.approx(math.exp(0.05) * 6 * 0.01, rel=1e-12)
    assert odd.extra > even.extra


def test_rows_are_rounded_to_a_step_that_both_ends_are_whole_numbers_of():
    grid_question = question("18,91", "73/944", "0.1")
    advice = coarsest_row_rounding(grid_question, Fraction(1, 10))
    step = advice.promise.step
    assert (18 / step).denominator == (91 / step).denominator == 1
    assert advice.promise.extra <= Fraction(1, 10) < advice.coarser.extra
    assert coarsest_row_rounding(question("0.25,1", "0.01", "1"), Fraction(1, 50)).promise.step.numerator == 1


@pytest.mark.parametrize("name", ["absolute", "squared", "huber:1/4"])
@pytest.mark.parametrize("prior", ["uniform", "beta:2,5", "normal:0.4,0.1"])
def test_certified_losses_over_densities_keep_the_promise(name, prior):
    """[0, 1], Δ = 1/2, ε = 2: the release on 8 steps against truncated Laplace, both certified."""
    grid_question = question("0,1", "1/2", "2", name)
    promise = grid_promise(grid_question, Fraction(1, 8))
    density, level = parse_density(prior, grid_question.interval), epsilon(grid_question.rate)
    best = bound_expected_loss(density, Laplace(grid_question.interval, level), grid_question.loss, "1e-3")
    grid = bound_expected_loss(
        density, GridGeometric(grid_question.interval, level, promise.size), grid_question.loss, "1e-3"
    )
    assert grid.upper <= promise.factor * best.lower
    assert grid.upper - best.lower <= promise.extra
    assert best.upper <= grid_question.best


@pytest.mark.parametrize(("call", "message"), [
    (lambda: question(sensitivity="0"), "sensitivity must be > 0"),
    (lambda: question(sensitivity="101"), "at most the interval's length 100, got 101"),
    (lambda: question(rate="0"), "epsilon must be > 0"),
    (lambda: question(loss="power:1/2"), "loss must be convex, or 0 for small gaps, got power:1/2"),
    (lambda: question(loss="step:0"), "loss must be convex"),
    (lambda: coarsest_grid(question(), Fraction(0)), "extra loss must be > 0"),
    (lambda: coarsest_grid(question(), Fraction(1, 10**30)), "10\\^12 steps can guarantee, got 1e-30: with them it is"),
    (lambda: coarsest_grid(question(sensitivity="1e-20"), Fraction(1)), "step must leave at most 10\\^12 steps"),
    (lambda: grid_promise(question(), Fraction(0)), "step must be > 0"),
    (lambda: grid_promise(question(), Fraction(200)), "at most the interval's length"),
    (lambda: rows_promise(question(loss="step:1"), Fraction(1)), "loss must be Lipschitz where rows are rounded"),
])  # fmt: skip
def test_bad_input_is_one_line(call, message):
    with pytest.raises(InputError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_a_release_of_a_mean_states_what_rounding_its_rows_may_cost_and_one_without_a_public_number_does_not():
    grid, stand_in = Grid(Fraction(18), Fraction(91), Fraction(1)), Fraction(18)
    known = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944)
    unknown = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)
    public = Mean("age", grid, stand_in).select_mechanism(Fraction(1, 10), known)
    extra = rows_promise(question("18,91", "73/944", "0.1"), Fraction(1)).extra
    assert public.optimal.startswith("metric: ")
    assert f"at most {decimal_above(extra, 4)} above the best" in public.optimal
    summed = Sum("age", grid, stand_in).select_mechanism(Fraction(1, 10), known)
    assert f"at most {decimal_above(944 * extra, 4)} above the best" in summed.optimal
    hidden = Sum("age", grid, stand_in).select_mechanism(Fraction(1, 10), unknown)
    assert "above the best" not in hidden.optimal


def test_nothing_is_promised_where_nothing_is_known():
    unknown = grid_promise(question(loss="step:1/100"), Fraction(1, 20))
    assert (unknown.extra, unknown.meets(Fraction(10**9))) == (None, False)
    assert grids.MAX_STEPS == 10**12
