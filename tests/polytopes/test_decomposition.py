"""Theorem 3 of FMPD23, multiplied out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, rational_levels, weights
from utmost.channel import Channel, channel, identity
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon, sign
from utmost.mechanisms import geometric
from utmost.polytopes import decomposition, is_kernel_mechanism, kernels
from utmost.spaces import Space, line, parse_space

HALF = alpha("1/2")
NAMES = ["line:2", "line:3", "line:4", "discrete:3", "discrete:4", "hamming:2", "cycle:5"]


@st.composite
def private_mechanisms(draw: st.DrawFn, points: Space, level: Level) -> Channel:
    """Mechanisms of the type: any channel's columns closed under the constraints, and the rest of each row shared out.

    c′_x = min over x′ of α^−d·c_x′ is private; so is a constant; a small part of the first beside the second leaves
    rows that sum to 1.
    """
    size = len(points)
    rows = draw(channels(inputs=size, outputs=draw(st.integers(1, 4)))).rows
    closed_rows = np.array(
        [
            [min(rows[z, y] / level.power(points.distance(x, z)) for z in range(size)) for y in range(rows.shape[1])]
            for x in range(size)
        ],
        dtype=object,
    )
    sums = closed_rows.sum(axis=1)
    scale = (1 - max(level.power(d) for d in points.distances.ravel() if d)) / (1 + max(sums))
    scaled_rows = [[value * scale for value in row] for row in closed_rows]
    rest = [1 - sum(row) for row in scaled_rows]
    return channel([[*row, remainder] for row, remainder in zip(scaled_rows, rest, strict=True)], points.labels)


@given(st.data(), st.sampled_from(NAMES), rational_levels())
@settings(max_examples=60, deadline=None)
def test_any_mechanism_is_a_post_processed_convex_sum_of_kernels(data: st.DataObject, name: str, level: Level) -> None:
    points = parse_space(name)
    source = data.draw(private_mechanisms(points, level))
    result = decomposition(source, points, level)
    assert result.channel() == source
    assert sum(result.weights) == 1
    assert all(weight > 0 for weight in result.weights)
    for kernel in result.kernels:
        assert is_kernel_mechanism(kernel.channel(), points, level)
    assert all(row.sum() == 1 for row in result.post_processing.rows)
    assert all(sign(value) >= 0 for value in result.post_processing.rows.flat)


@given(st.data(), st.sampled_from(["line:3", "line:4", "discrete:3", "hamming:2"]), rational_levels())
@settings(max_examples=40, deadline=None)
def test_a_convex_sum_of_kernels_needs_no_post_processing(data: st.DataObject, name: str, level: Level) -> None:
    """FMPD23 Property 2: vertex mechanisms are convex sums of kernels, and the other way round."""
    points = parse_space(name)
    all_kernels = list(kernels(points, level))
    selection = data.draw(st.lists(st.sampled_from(all_kernels), min_size=1, max_size=3, unique=True))
    shares = data.draw(weights(len(selection), positive=True))
    columns = [w * k.channel().rows for w, k in zip(shares, selection, strict=True)]
    source = channel(np.concatenate(columns, axis=1).tolist(), points.labels)
    result = decomposition(source, points, level)
    assert result.channel() == source
    assert all(sorted(row.tolist())[-1] > 0 for row in result.post_processing.rows)
    used = {tuple(result.kernels[0].region.columns[v]) for k in result.kernels for v in k.columns}
    assert used == {tuple(k.region.columns[v]) for k in selection for v in k.columns}


def test_a_kernel_is_its_own_decomposition() -> None:
    source = geometric(3, HALF).channel()
    result = decomposition(source, line(4), HALF)
    assert result.weights == (1,)
    assert result.channel() == source
    assert result.post_processing.rows.tolist() == np.eye(4, dtype=int).tolist()


def test_an_irrational_level_is_decomposed_exactly_too() -> None:
    level = epsilon(1)
    source = channel([["1/2", "1/2"], ["2/5", "3/5"], ["3/10", "7/10"]])
    result = decomposition(source, line(3), level)
    assert result.channel() == source
    assert result.kernels[0].weights[0] > 0


@pytest.mark.parametrize("level", [alpha(0), alpha(1)])
def test_levels_zero_and_one_are_decomposed_too(level: Level) -> None:
    source = channel([["1/3", "2/3"]] * 3) if level.alpha else channel([["1/2", "1/2"], [1, 0], [0, 1]])
    result = decomposition(source, line(3), level)
    assert result.channel() == source
    assert result.weights == (1,)


def test_a_mechanism_of_another_type_is_refused() -> None:
    with pytest.raises(InputError, match="must be private"):
        decomposition(identity(range(3)), line(3), HALF)
    leaky = channel([["3/4", "1/4"], [Fraction(1, 4), Fraction(3, 4)]])
    with pytest.raises(InputError, match="must be private"):
        decomposition(leaky, line(2), HALF)
