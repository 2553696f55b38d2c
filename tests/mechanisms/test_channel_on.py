"""Channels of mechanisms on a space, by name."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.channel import Channel, channel, identity, is_private, least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import channel_on, geometric, response, staircase, staircase_space
from utmost.mechanisms.registry import space_names
from utmost.mechanisms.space_channels import SLACK_BITS, rounded_rows
from utmost.spaces import (
    Space,
    cycle,
    discrete,
    grid,
    hamming,
    line,
    product_space,
    scale_space,
    sub_space,
)

SPACES = [line(4), cycle(5), discrete(4), hamming(3), grid(2, 3), grid(2, 2, "manhattan"), grid(1, 4), line(1)]
LEVELS = [alpha("1/2"), epsilon("1/3"), epsilon(3)]


def brute_force_planar(rows: int, columns: int, theta: float, reach: int = 90) -> np.ndarray:
    """Each lattice point's noise to the nearest place, added up in doubles."""
    offsets = np.arange(-reach, reach + 1)
    law = np.exp(-theta * np.hypot(offsets[:, None], offsets[None, :]))
    law /= law.sum()
    result = np.zeros((rows * columns, rows * columns))
    for x in range(rows * columns):
        i, j = divmod(x, columns)
        row, column = np.clip(offsets + i, 0, rows - 1), np.clip(offsets + j, 0, columns - 1)
        np.add.at(result[x], (row[:, None] * columns + column[None, :]).ravel(), law.ravel())
    return result


@pytest.mark.parametrize("points", SPACES, ids=lambda points: points.name)
@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.few
def test_every_mechanism_on_a_space_is_private_at_the_level_there_or_refused_in_one_line(
    points: Space, level: Level
) -> None:
    made, refusals = [], list[str]()
    for name in space_names():
        try:
            source = channel_on(name, points, level)
        except InputError as error:
            refusals.append(f"{name}: {error}")
            continue
        made.append(name)
        assert source.inputs == source.outputs == points.labels
        assert source == Channel(source.inputs, source.outputs, source.rows)  # rows that sum to exactly 1
        assert is_private(source, points, level)
    assert {"response", "response-dual", "exponential"} <= set(made)
    assert all(re.fullmatch(r"([a-z-]+): \1 needs .*", refusal) for refusal in refusals)


def test_mechanisms_on_their_own_space_are_their_own_channels() -> None:
    level = epsilon("1/2")
    assert channel_on("geometric", line(5), level) == geometric(4, level).channel()
    assert channel_on("laplace", line(5), level) == geometric(4, level).channel()
    assert channel_on("response", discrete(4), level) == response(4, level).channel()
    steps = staircase_space(6, 3)
    assert channel_on("staircase", steps, level) == staircase(3, level).truncate(6).channel()


def test_a_line_of_longer_steps_has_the_level_of_its_step() -> None:
    long_line = scale_space(line(4), "3/2")
    source = channel_on("geometric", long_line, alpha("1/4"))
    assert source.rows.tolist() == geometric(3, alpha("1/8")).channel().rows.tolist()
    assert least_epsilon(source, long_line).alpha == Fraction(1, 4)


def test_response_has_the_level_of_the_nearest_two_points() -> None:
    points = scale_space(discrete(3), 2)
    assert least_epsilon(channel_on("response", points, alpha("1/2")), points).alpha == Fraction(1, 2)


@pytest.mark.parametrize("points", [grid(3, 4), cycle(5), line(6)], ids=lambda points: points.name)
@pytest.mark.parametrize("level", [epsilon("0.7"), alpha("1/3")], ids=str)
def test_the_exponential_mechanism_on_a_space_is_as_defined(points: Space, level: Level) -> None:
    distances = np.array([[float(d) for d in row] for row in points.distances])
    weights = np.exp(-level.epsilon * distances / 2)
    expected = weights / weights.sum(axis=1, keepdims=True)
    assert np.abs(channel_on("exponential", points, level).floats() / expected - 1).max() < 1e-10


def test_exponential_entries_are_closed_fractions_where_the_roots_of_alpha_are() -> None:
    source = channel_on("exponential", line(3), alpha("1/4"))
    assert source == channel(
        [["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"], ["1/7", "2/7", "4/7"]], [0, 1, 2], [0, 1, 2]
    )


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 4), (1, 3), (4, 1)])
def test_planar_on_a_grid_is_lattice_noise_moved_to_the_nearest_place(rows: int, columns: int) -> None:
    source = channel_on("planar", grid(rows, columns), epsilon("0.8")).floats()
    assert np.abs(source / brute_force_planar(rows, columns, 0.8) - 1).max() < 1e-10


def test_planar_on_a_grid_is_the_planar_geometric_mechanism_of_libqif() -> None:
    qif = pytest.importorskip("qif", reason="qif is not installed: make oracles")
    for size, rate in ((3, 1.0), (5, 0.5)):
        expected = qif.mechanism.geo_ind.planar_geometric_grid(size, size, 1.0, rate)
        source = channel_on("planar", grid(size, size), epsilon(Fraction(rate))).floats()
        assert np.abs(source - expected).max() < 2e-7  # libqif cuts its sums there


def test_planar_leaves_a_trillionth_of_epsilon_to_rounding() -> None:
    points = grid(4, 3)
    loss = least_epsilon(channel_on("planar", points, epsilon(1)), points)
    assert 1 - Fraction(2, 1 << SLACK_BITS) < Fraction(loss.epsilon) < 1


def test_planar_takes_the_places_of_a_grid_in_any_order_and_at_any_scale() -> None:
    order = [5, 0, 3, 1, 4, 2]
    labels = [grid(2, 3).labels[k] for k in order]
    shuffled = scale_space(sub_space(grid(2, 3), labels), 2)
    whole = channel_on("planar", scale_space(grid(2, 3), 2), epsilon("1/2"))
    assert channel_on("planar", shuffled, epsilon("1/2")).rows.tolist() == whole.rows[np.ix_(order, order)].tolist()
    assert np.abs(whole.floats() - channel_on("planar", grid(2, 3), epsilon(1)).floats()).max() < 1e-11


def test_what_planar_cannot_fill_is_refused() -> None:
    corner = sub_space(grid(2, 2), ["0,0", "0,1", "1,0"])
    for points in (corner, grid(2, 2, "manhattan"), cycle(4), product_space(line(2), line(2))):
        with pytest.raises(InputError, match="planar needs places that fill a grid"):
            channel_on("planar", points, epsilon(1))


def test_the_ends_of_privacy_tell_all_or_are_refused() -> None:
    points = grid(2, 2)
    for name in ("planar", "exponential", "response"):
        assert channel_on(name, points, alpha(0)) == identity(points.labels)
    for name in ("exponential", "response"):
        assert set(channel_on(name, points, alpha(1)).rows.ravel()) == {Fraction(1, 4)}
    with pytest.raises(InputError, match="planar needs a level with 0 < alpha < 1, got alpha 1"):
        channel_on("planar", points, alpha(1))


@pytest.mark.parametrize(
    ("name", "points", "level", "message"),
    [
        ("plannar", line(3), alpha("1/2"), "mechanism must be geometric, .* did you mean planar"),
        ("x\x1b", line(3), alpha("1/2"), "mechanism must be"),
        ("geometric", cycle(5), alpha("1/2"), "geometric needs a line with equal steps, got cycle:5"),
        ("laplace", grid(2, 2), alpha("1/2"), "laplace needs a line"),
        ("staircase", cycle(5), alpha("1/2"), "staircase needs counts"),
        ("planar", grid(3, 3), epsilon("1/10000"), "epsilon times the step of the grid must be larger"),
        ("exponential", grid(20, 20), epsilon(999), "epsilon times the largest distance must be smaller"),
        ("response", line(10**6), alpha("1/2"), "at most 4096 can be written out"),
    ],
)
def test_what_has_no_channel_on_a_space_is_refused_in_one_line(
    name: str, points: Space, level: Level, message: str
) -> None:
    with pytest.raises(InputError) as error:
        channel_on(name, points, level)
    text = f"{error.value} {error.value.hint or ''}"
    assert "\n" not in text
    assert re.search(message, text), text


@settings(max_examples=20)
@given(st.fractions("1/1000", 8), st.integers(2, 4), st.integers(2, 4))
def test_rounding_never_costs_privacy(rate: Fraction, rows: int, columns: int) -> None:
    points, level = grid(rows, columns), epsilon(rate)
    assert is_private(channel_on("exponential", points, level), points, level)
    if rate > Fraction(1, 5):
        assert is_private(channel_on("planar", points, level), points, level)


def test_a_small_epsilon_between_neighbours_takes_more_bits() -> None:
    points, level = scale_space(grid(2, 2), Fraction(1, 10**12)), epsilon(1)
    assert is_private(channel_on("exponential", points, level), points, level)


def test_rounded_rows_sum_to_one() -> None:
    from flint import arb

    rows = rounded_rows([[arb("0.25"), arb("0.5"), arb("0.25")], [arb(1) / 3] * 3], 40)
    assert [sum(row) for row in rows] == [1, 1]
    assert rows[0].tolist() == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar", "exponential"])
def test_four_hundred_places_take_seconds(name: str) -> None:
    points, level = grid(20, 20), epsilon("1/2")
    assert is_private(channel_on(name, points, level), points, level)
