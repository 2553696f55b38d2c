"""Exact expected losses where only the losses are irrational, against the sum of all products."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.consumer.consumer import best_readings


def plain_loss(consumer: ut.Consumer, channel: ut.Channel) -> object:
    costs = consumer.costs()
    return sum(costs[:, w] @ channel.rows[:, y] for y, w in enumerate(best_readings(costs, channel.rows)))


@pytest.mark.parametrize("kind", ["exponential", "planar", "response"])
@pytest.mark.parametrize("weights", [[1] * 9, [1, 0, 2, 0, 3, 0, 1, 1, 5]])
def test_the_grouped_sum_is_the_sum_of_all_products(kind: str, weights: list[int]) -> None:
    places = ut.grid(3, 3)
    channel = ut.mechanisms.channel_on(kind, places, ut.alpha("1/2"))
    for loss in ("distance", lambda distance: distance**3 + distance):
        consumer = ut.Consumer(weights, loss, space=places)
        exact = consumer.expected_loss(channel)
        assert exact == plain_loss(consumer, channel)
        bounds = consumer.loss_bounds(channel)
        assert bounds.lower <= exact <= bounds.upper
        assert bounds.upper - bounds.lower < Fraction(1, 10**35)


def test_readings_that_tie_are_compared_exactly() -> None:
    places = ut.grid(2, 2)
    silent = ut.Channel([[1]] * 4, inputs=places.labels)
    consumer = ut.Consumer([1, 1, 1, 1], "distance", space=places)
    assert consumer.expected_loss(silent) == (2 + ut.number("sqrt(2)")) / 4


@pytest.mark.slow
def test_four_hundred_places_take_seconds() -> None:
    places = ut.grid(20, 20)
    consumer = ut.Consumer(np.arange(1, 401), "distance", space=places)
    channel = ut.mechanisms.channel_on("exponential", places, ut.epsilon(1))
    exact, bounds = consumer.expected_loss(channel), consumer.loss_bounds(channel)
    assert bounds.lower <= exact <= bounds.upper
    costs, rows = consumer.costs().astype(float), channel.floats()
    assert float(exact) == pytest.approx(float((costs.T @ rows).min(axis=0).sum()), rel=1e-9)
