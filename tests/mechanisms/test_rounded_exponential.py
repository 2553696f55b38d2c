"""The exponential mechanism with irrational scores: fractions that keep the level."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.mechanisms.rounded_exponential import RoundedExponential


def scores_of(space: ut.Space) -> list[list[object]]:
    return [[-distance for distance in row] for row in space.distances.tolist()]


def test_scores_that_are_distances_give_the_channel_on_places() -> None:
    places, level = ut.grid(3, 3), ut.epsilon(1)
    mechanism = ut.exponential(scores_of(places), level)
    channel = mechanism.on(places)
    known = ut.mechanisms.channel_on("exponential", places, level)
    assert channel.inputs == channel.outputs == places.labels
    assert np.abs(channel.floats() - known.floats()).max() < 1e-11
    assert all(isinstance(value, Fraction) for value in channel.rows.flat)
    assert all(row.sum() == 1 for row in channel.rows)
    assert ut.least_epsilon(channel, places).within(level)


@pytest.mark.parametrize(("text", "monotone"), [("1/1000", False), ("1", True), ("8", False)])
def test_neighbours_differ_by_at_most_epsilon(text: str, monotone: bool) -> None:
    root, level = ut.number("sqrt(2)"), ut.epsilon(text)
    scores = [[0, root, 1], [1, root - 1 if not monotone else root + 1, 2]]
    channel = ut.exponential(scores, level, monotone=monotone).channel()
    assert ut.least_epsilon(channel, ut.line(2)).within(level)
    weights = np.exp(float(Fraction(text)) * np.array(scores, dtype=float) / (1 if monotone else 2))
    assert channel.floats() == pytest.approx(weights / weights.sum(axis=1, keepdims=True), abs=1e-9)


def test_draws_follow_the_law_and_text_is_read() -> None:
    mechanism = ut.exponential([["sqrt(2)", 0]], ut.epsilon(2))
    assert isinstance(mechanism, RoundedExponential)
    assert float(mechanism.law(0)[1]) == pytest.approx(1 / (1 + math.exp(math.sqrt(2))), abs=1e-9)
    share = mechanism.draw([0] * 20000).mean()
    assert abs(share - float(mechanism.law(0)[1])) < 0.02


def test_what_is_wrong_is_refused() -> None:
    root = ut.number("sqrt(2)")
    with pytest.raises(ut.InputError, match="0 < alpha < 1"):
        ut.exponential([root, 0], ut.alpha(1)).channel()
    with pytest.raises(ut.InputError, match="within"):
        ut.exponential([root * 10**7, 0], ut.epsilon(1))
    with pytest.raises(ut.InputError, match="score must be an exact number"):
        ut.exponential(["sqrt(x)", 0], ut.epsilon(1))
    mechanism = ut.exponential([root, 0], ut.epsilon(1))
    for call in (mechanism.law, mechanism.draw):
        with pytest.raises(ut.InputError, match="input"):
            call(7 if call == mechanism.law else [7])
