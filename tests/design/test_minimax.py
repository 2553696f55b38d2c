"""Consumers without a prior (GRS12 §4): a randomised remap of the geometric mechanism is as good as any mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from strategies import monotone_rows, rational_levels, weights
from utmost.channel import channel, is_private
from utmost.consumer import Consumer, Minimax, losses, priors
from utmost.design.count_mechanism import remapped_channel
from utmost.design.minimax import minimax_optimal
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.spaces import Space, grid, line

HALF = alpha("1/2")


@st.composite
def minimax_consumers(draw: st.DrawFn, max_points: int = 6) -> tuple[int, Minimax]:
    """n and a loss that is monotone on each side, symmetric or not."""
    points = draw(st.integers(2, max_points))
    table = monotone_rows(points, False, draw(st.booleans())).map(losses.matrix)
    named_losses = st.sampled_from([losses.absolute, losses.squared, losses.binary])
    return points - 1, Minimax(draw(st.one_of(named_losses, table)))


@given(minimax_consumers(), rational_levels())
@settings(max_examples=40)
def test_a_randomised_remap_of_the_geometric_attains_the_minimax_optimum(
    case: tuple[int, Minimax], level: Level
) -> None:
    size, consumer = case
    best = minimax_optimal(line(size + 1), level, consumer)
    reading = consumer.reading(geometric(size, level))
    assert best.certificate.gap == 0
    assert reading.certificate.gap == 0
    assert reading.loss == best.loss


@given(minimax_consumers(), rational_levels())
@settings(max_examples=25)
def test_what_is_returned_is_private_and_has_the_loss_that_is_said(case: tuple[int, Minimax], level: Level) -> None:
    size, consumer = case
    best = minimax_optimal(line(size + 1), level, consumer)
    assert is_private(best.channel, line(size + 1), level)
    assert consumer.worst_loss(best.channel) == best.loss
    reading = consumer.reading(geometric(size, level))
    assert np.all(reading.remap.rows.sum(axis=1) == 1)
    assert min(reading.remap.rows.ravel()) >= 0
    assert consumer.worst_loss(geometric(size, level).channel().then(reading.remap)) == reading.loss


@given(minimax_consumers(4), rational_levels(), st.data())
@settings(max_examples=25)
def test_no_prior_makes_a_bayesian_lose_more(case: tuple[int, Minimax], level: Level, data: st.DataObject) -> None:
    size, consumer = case
    reader = Consumer(priors.explicit(data.draw(weights(size + 1))), consumer.loss)
    assert reader.expected_loss(geometric(size, level)) <= minimax_optimal(line(size + 1), level, consumer).loss


@given(minimax_consumers(), rational_levels())
@settings(max_examples=20)
def test_some_prior_makes_a_bayesian_lose_as_much(case: tuple[int, Minimax], level: Level) -> None:
    """The multipliers of the reading program on the rows t ≥ loss at x are that prior."""
    size, consumer = case
    reading = consumer.reading(geometric(size, level))
    prior = reading.certificate.proof.y[: size + 1]
    if sum(prior) == 1:
        assert Consumer(priors.explicit(prior), consumer.loss).expected_loss(geometric(size, level)) == reading.loss
    else:
        assert reading.loss == 0  # only then may the worst case have no weight


def best_deterministic(size: int, consumer: Minimax) -> Fraction:
    """By trying all of them."""
    return min(consumer.worst_loss(remapped_channel(HALF, list(r))) for r in product(range(size + 1), repeat=size + 1))


@pytest.mark.parametrize(
    ("size", "loss", "randomised_loss", "deterministic_loss"),
    [
        (2, losses.absolute, "4/7", "2/3"),
        (2, losses.binary, "1/2", "2/3"),
        (3, losses.absolute, "28/39", "5/6"),
        (3, losses.squared, "5/4", "5/4"),
    ],
)
def test_a_deterministic_remap_is_sometimes_not_enough(
    size: int, loss: losses.Loss, randomised_loss: str, deterministic_loss: str
) -> None:
    assert Minimax(loss).reading(geometric(size, HALF)).loss == Fraction(randomised_loss)
    assert best_deterministic(size, Minimax(loss)) == Fraction(deterministic_loss)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("loss", [losses.absolute, losses.squared, losses.binary])
def test_scipy_finds_the_same_minimax_loss(size: int, loss: losses.Loss) -> None:
    points = size + 1
    table = loss.matrix(points).astype(float)
    cells = points * points
    rows = []
    for x in range(size):
        for w in range(points):
            for a, b in ((x, x + 1), (x + 1, x)):
                row = np.zeros(cells + 1)
                row[a * points + w], row[b * points + w] = 0.5, -1
                rows.append(row)
    for x in range(points):
        row = np.zeros(cells + 1)
        row[x * points : (x + 1) * points], row[-1] = table[x], -1
        rows.append(row)
    sums = np.hstack([np.kron(np.eye(points), np.ones(points)), np.zeros((points, 1))])
    cost = np.append(np.zeros(cells), 1)
    oracle = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(points))
    assert oracle.fun == pytest.approx(float(minimax_optimal(line(points), HALF, Minimax(loss)).loss), abs=1e-7)


def test_closed_form_for_a_coin() -> None:
    for text in ("1/10", "1/2", "9/10"):
        level = alpha(text)
        assert minimax_optimal(line(2), level, Minimax(losses.binary)).loss == level.alpha / (1 + level.alpha)


def test_where_nothing_may_be_told_one_law_of_readings_is_best() -> None:
    design = minimax_optimal(line(3), alpha(1), Minimax(losses.absolute))
    assert design.loss == 1
    assert design.channel.rows[0].tolist() == design.channel.rows[2].tolist() == [0, 1, 0]
    assert minimax_optimal(line(2), alpha(1), Minimax(losses.binary)).loss == Fraction(1, 2)
    assert minimax_optimal(line(4), alpha(0), Minimax(losses.absolute)).loss == 0


@pytest.mark.parametrize(("space", "level"), [(grid(2, 3), epsilon("1/2")), (grid(3, 2), HALF), (line(5), epsilon(1))])
def test_irrational_data_are_enclosed_and_agree_with_doubles(space: Space, level: Level) -> None:
    consumer = Minimax("distance", space=space)
    design = minimax_optimal(space, level, consumer)
    assert 0 <= design.certificate.gap <= design.loss / 10**10
    design.certificate.check()
    assert design.privacy_loss.within(level)
    assert consumer.worst_loss(design.channel) <= design.loss
    assert float(design.loss) == pytest.approx(worst_loss_in_doubles(space, level), abs=1e-7)


def worst_loss_in_doubles(space: Space, level: Level) -> float:
    """By scipy: min t over channels with every pair's constraint, not only those that generate the metric."""
    size = len(space)
    distances = space.distances.astype(float)
    rows = []
    for x, other, w in product(range(size), repeat=3):
        if x != other:
            row = np.zeros(size * size + 1)
            row[x * size + w], row[other * size + w] = 1, -np.exp(level.epsilon * distances[x, other])
            rows.append(row)
    for x in range(size):
        row = np.zeros(size * size + 1)
        row[x * size : (x + 1) * size], row[-1] = distances[x], -1
        rows.append(row)
    sums = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, 1))])
    cost = np.zeros(size * size + 1)
    cost[-1] = 1
    result = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    return float(result.fun)


def test_readings_may_be_actions() -> None:
    design = minimax_optimal(line(3), HALF, Minimax([[0, 1], [1, 0], [2, "1/10"]]))
    assert design.channel.outputs == ("w0", "w1")
    assert is_private(design.channel, line(3), HALF)
    assert design.loss == Fraction(23, 59)


def test_what_is_too_large_or_not_exact_is_refused() -> None:
    with pytest.raises(InputError, match="exact loss"):
        minimax_optimal(line(2), HALF, Minimax(losses.matrix([[0, 0.1], [0.2, 0]])))
    with pytest.raises(InputError, match="at most 20000 generating pairs times readings, got 3106 x 100"):
        minimax_optimal(grid(10, 10), HALF, Minimax(losses.binary))


def test_a_float_channel_has_no_exact_reading() -> None:
    with pytest.raises(InputError, match="exact entries"):
        Minimax(losses.binary).reading(channel([[0.5, 0.5], [0.25, 0.75]]))
