"""Vertex and kernel mechanisms recognised; the lemmas and figures of FMPD23 that say what is one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import levels
from utmost.channel import Channel, channel, identity, mix
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.polytopes import is_kernel_mechanism, is_vertex_mechanism, kernels
from utmost.polytopes.type_members import are_provably_independent, null_vector
from utmost.spaces import line, parse_space

HALF = alpha("1/2")


def response(size: int, level: Level) -> Channel:
    """Random response: the truth 1/α times as likely as each other answer."""
    denominator = 1 + (size - 1) * level.alpha
    return channel([[(1 if x == y else level.alpha) / denominator for y in range(size)] for x in range(size)])


def dual_response(size: int, level: Level) -> Channel:
    """R° of FMPD23 §VI-B: the truth α times as likely as each other answer."""
    denominator = level.alpha + (size - 1)
    return channel([[(level.alpha if x == y else Fraction(1)) / denominator for y in range(size)] for x in range(size)])


@given(st.integers(2, 6), levels())
@settings(max_examples=12, deadline=None)
def test_the_geometric_mechanism_is_a_kernel_of_the_line(size: int, level: Level) -> None:
    """FMPD23 Lemma 19."""
    assert is_kernel_mechanism(geometric(size - 1, level), line(size), level)


@given(st.integers(2, 6), levels())
@settings(max_examples=12, deadline=None)
def test_random_response_and_its_dual_are_kernels_of_the_discrete_space(size: int, level: Level) -> None:
    """FMPD23 Lemma 21."""
    points = parse_space(f"discrete:{size}")
    for mechanism in (response(size, level), dual_response(size, level)):
        assert is_kernel_mechanism(mechanism.restrict(range(size)), points, level)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_the_pair_of_section_six_b_are_kernels(size: int) -> None:
    """K_A tells the last secret apart, K_B the first (FMPD23 §VI-B). The printed columns sum to 1 for n = 3 only."""
    points = parse_space(f"discrete:{size}")
    for special in (size - 1, 0):
        rows = [["2/3", "1/3"] if x == special else ["1/3", "2/3"] for x in range(size)]
        mechanism = channel(rows)
        assert is_kernel_mechanism(mechanism, points, HALF)
        if size == 3:
            assert mechanism.rows[:, 0].sum() / 3 == Fraction(4, 9)  # the printed outer probability
            posterior = mechanism.rows[:, 0] / mechanism.rows[:, 0].sum()
            assert sorted(posterior.tolist()) == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]


def test_the_mechanism_of_figure_eight_is_the_geometric_one_of_the_number_of_ones() -> None:
    """On the path 000, 100, 110, 111 it is geometric; vertices of the cube's region then leave no choice elsewhere.

    So every secret of weight 2 has the row of 110, in the hyper 2/27, 2/21, 4/21, 4/27. A row that ends in 2/27
    instead, as some are printed, is wrong (the next test).
    """
    cube, law = parse_space("hamming:3"), geometric(3, HALF).channel()
    rows = [law.rows[str(x).count("1")].tolist() for x in cube.labels]
    mechanism = channel(rows, cube.labels)
    assert is_kernel_mechanism(mechanism, cube, HALF)
    masses = mechanism.rows.sum(axis=0) / 8
    assert masses.tolist() == [Fraction(9, 32), Fraction(7, 32), Fraction(7, 32), Fraction(9, 32)]  # as printed
    posteriors = mechanism.rows / mechanism.rows.sum(axis=0)
    assert posteriors[cube.labels.index("011")].tolist() == [
        Fraction(2, 27), Fraction(2, 21), Fraction(4, 21), Fraction(4, 27)
    ]  # fmt: skip
    path = [cube.labels.index(x) for x in ("000", "100", "110", "111")]
    matching = [
        kernel
        for kernel in kernels(parse_space("hamming:3"), HALF)
        if len(kernel.columns) == 4 and columns_of_path(kernel.channel(), path) == columns_of_path(mechanism, path)
    ]
    assert len(matching) == 1


def columns_of_path(mechanism: Channel, path: list[int]) -> set[tuple[Fraction, ...]]:
    return {tuple(mechanism.rows[path, y].tolist()) for y in range(len(mechanism.outputs))}


def test_the_row_that_figure_eight_prints_for_some_secrets_is_not_a_row_of_a_channel() -> None:
    printed = [Fraction(2, 27), Fraction(2, 21), Fraction(4, 21), Fraction(2, 27)]
    outer = [Fraction(9, 32), Fraction(7, 32), Fraction(7, 32), Fraction(9, 32)]
    assert sum(8 * p * mass for p, mass in zip(printed, outer, strict=True)) == Fraction(5, 6)


def test_a_mixture_of_kernels_is_a_vertex_mechanism_and_no_kernel() -> None:
    first, second = (
        trusted_channel(k.channel().inputs, [f"{i}/{v}" for v in k.columns], k.channel().rows)
        for i, k in enumerate(kernels(line(3), HALF))
    )
    mixture = mix(first, second, "1/3")
    assert is_vertex_mechanism(mixture, line(3), HALF)
    verdict = is_kernel_mechanism(mixture, line(3), HALF)
    assert not verdict
    assert verdict.reason == "the posteriors of outputs 0/1, 0/3+1/3, 1/0, 1/2 are linearly dependent"


def test_outputs_with_one_posterior_count_as_one() -> None:
    """FMPD23 Lemma 19 for the infinite geometric mechanism: its tails say what its ends say."""
    mechanism = geometric(2, HALF).channel()
    halves = np.concatenate([mechanism.rows[:, :1] / 2, mechanism.rows[:, :1] / 2, mechanism.rows[:, 1:]], axis=1)
    assert is_kernel_mechanism(channel(halves.tolist()), line(3), HALF)


def test_reasons_name_the_output_and_the_secrets() -> None:
    uniform = channel([["1/2", "1/2"]] * 3)
    assert is_vertex_mechanism(uniform, line(3), HALF).reason == (
        "output 0 is no vertex: no tight pairs lead from 0 to 1"
    )
    too_much = channel([["4/5", "1/5"], ["1/5", "4/5"], ["1/5", "4/5"]])
    assert "tells 0 and 1 apart by more than the level allows" in is_vertex_mechanism(too_much, line(3), HALF).reason
    assert "by more than" in is_kernel_mechanism(identity(range(3)), line(3), HALF).reason


def test_levels_zero_and_one_have_their_own_vertices() -> None:
    assert is_kernel_mechanism(identity(range(3)), line(3), alpha(0))
    assert "at alpha 0" in is_vertex_mechanism(channel([["1/2", "1/2"]] * 3), line(3), alpha(0)).reason
    assert is_kernel_mechanism(channel([[1]] * 3), line(3), alpha(1))
    assert is_kernel_mechanism(channel([["1/3", "2/3"]] * 3), line(3), alpha(1))
    assert "by more than" in is_vertex_mechanism(identity(range(3)), line(3), alpha(1)).reason


def test_inputs_may_stand_in_any_order_and_must_be_the_points() -> None:
    mechanism = geometric(2, HALF).channel()
    assert is_kernel_mechanism(mechanism.restrict([2, 0, 1]), line(3), HALF)
    with pytest.raises(InputError, match="must be the points of line:4"):
        is_kernel_mechanism(mechanism, line(4), HALF)
    with pytest.raises(InputError, match="exact entries"):
        is_vertex_mechanism(channel([[0.5, 0.5]] * 3), line(3), HALF)


@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_null_vector_is_in_the_null_space(columns: list[list[int]]) -> None:
    exact = [tuple(map(Fraction, column)) for column in columns]
    vector = null_vector(exact)
    rank = np.linalg.matrix_rank(np.array(columns, dtype=float).T)
    assert (vector is None) == (rank == len(columns))
    if vector is not None:
        assert any(vector)
        assert all(sum(z * column[x] for z, column in zip(vector, exact, strict=True)) == 0 for x in range(3))


@given(st.lists(st.lists(st.fractions(-3, 3, max_denominator=6), min_size=3, max_size=3), min_size=1, max_size=4))
def test_balls_prove_independence_only_where_elimination_finds_no_dependency(columns: list[list[Fraction]]) -> None:
    exact_columns = [tuple(column) for column in columns]
    if are_provably_independent(exact_columns):
        assert null_vector(exact_columns) is None


def test_a_geometric_mechanism_with_irrational_entries_is_known_for_a_kernel_without_elimination() -> None:
    level = epsilon("1/10")
    source = geometric(12, level).channel()
    assert are_provably_independent([tuple(column) for column in source.rows.T.tolist()])
    assert is_kernel_mechanism(source, line(13), level)  # FMPD23 Lemma 19
