"""Mechanisms between the points of a space, and channels under other labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import utmost as ut

HALF = ut.alpha("1/2")


def test_a_mechanism_on_a_space_has_its_labels_and_keeps_its_level() -> None:
    towns = ut.space([[0, 1, 2], [1, 0, 1], [2, 1, 0]], ["hall", "mill", "port"])
    placed = ut.geometric(2, HALF).on(towns)
    assert placed == ut.geometric(2, HALF).channel().relabel(towns, towns)
    assert ut.least_epsilon(placed, towns).within(HALF)
    for mechanism in (ut.response(3, HALF), ut.response_dual(3, HALF), ut.staircase(1, HALF).truncate(2)):
        channel = mechanism.on(towns)
        assert channel.inputs == towns.labels
        assert ut.is_private(channel, towns, HALF)
    scores = ut.exponential([[2, 1], [1, 1], [0, 1]], HALF).on(towns)
    assert (scores.inputs, scores.outputs) == (towns.labels, (0, 1))
    values = ut.laplace(0, 2, 1, 1, HALF).on(towns)
    assert values.inputs == towns.labels


def test_a_mechanism_is_refused_where_its_level_does_not_hold() -> None:
    near = ut.spaces.scale_space(ut.line(3), "1/2")
    with pytest.raises(ut.InputError, match="must keep its level on"):
        ut.geometric(2, HALF).on(near)
    with pytest.raises(ut.InputError, match="3 points, one for each input of the mechanism, got 4"):
        ut.geometric(2, HALF).on(ut.line(4))
    with pytest.raises(ut.InputError, match="must keep its level"):  # in another order, ends are neighbours
        ut.geometric(2, HALF).on(ut.space([[0, 2, 1], [2, 0, 1], [1, 1, 0]]))


def test_planar_noise_has_a_channel_on_places_of_its_step() -> None:
    places, level = ut.grid(3, 4), ut.epsilon(1)
    assert ut.planar(1, level).on(places) == ut.mechanisms.channel_on("planar", places, level)
    assert ut.planar(1, level, box=(0, 0, 2, 3)).on(places) == ut.planar(1, level).on(places)
    for mechanism, space in (
        (ut.planar("1/2", level), places),
        (ut.planar(1, level, box=(0, 0, 3, 3)), places),
        (ut.planar(1, level), ut.line(3)),
    ):
        with pytest.raises(ut.InputError, match="planar"):
            mechanism.on(space)


def test_relabel_takes_lists_dicts_functions_and_spaces() -> None:
    channel = ut.Channel([["1/2", "1/2"], [0, 1]], inputs=["a", "b"], outputs=[0, 1])
    renamed = [
        channel.relabel(["x", "b"]),
        channel.relabel({"a": "x"}),
        channel.relabel(lambda label: "x" if label == "a" else label),
        channel.relabel(ut.space([[0, 1], [1, 0]], ["x", "b"])),
        channel.relabel(np.array(["x", "b"])),
    ]
    assert all(other.inputs == ("x", "b") and np.array_equal(other.rows, channel.rows) for other in renamed)
    assert channel.relabel(outputs=["no", "yes"]).outputs == ("no", "yes")
    assert channel.relabel() == channel


@pytest.mark.parametrize("change", [["x"], ["x", "x"], {"c": "x"}, "xy", {"a": "b"}, lambda label: "same"])
def test_labels_that_are_too_few_unknown_or_equal_are_refused(change: Any) -> None:
    channel = ut.Channel([["1/2", "1/2"], [0, 1]], inputs=["a", "b"])
    with pytest.raises(ut.InputError):
        channel.relabel(change)


def test_a_count_is_as_large_as_its_points() -> None:
    assert ut.geometric(ut.line(6), HALF) == ut.geometric(5, HALF)
    assert ut.geometric(ut.line(6), HALF).channel().inputs == ut.line(6).labels
    assert ut.staircase(1, HALF).truncate(ut.line(4)) == ut.staircase(1, HALF).truncate(3)
    assert ut.geometric(ut.line(10**6), HALF).size == 10**6 - 1
    assert len(ut.response(6, HALF).channel().inputs) == len(ut.line(6)) == ut.priors.uniform(6).size
    for space in (ut.grid(2, 2), ut.spaces.scale_space(ut.line(3), 2), ut.space([[0, 1], [1, 0]], ["a", "b"])):
        with pytest.raises(ut.InputError, match="line of counts"):
            ut.geometric(space, HALF)
