"""The geometric mechanism in closed form (GRS12 Ex. 2.1, 2.2, §2.2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import levels
from utmost.channel import identity
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import folded, geometric, inverse, truncation, untruncated
from utmost.mechanisms.geometric import tail

FIGURE_1B = [
    "2/3 1/6 1/12 1/24 1/48 1/48",
    "1/3 1/3 1/6 1/12 1/24 1/24",
    "1/6 1/6 1/3 1/6 1/12 1/12",
    "1/12 1/12 1/6 1/3 1/6 1/6",
    "1/24 1/24 1/12 1/6 1/3 1/3",
    "1/48 1/48 1/24 1/12 1/6 2/3",
]


def test_figure_1b_of_the_paper() -> None:
    rows = geometric(5, alpha("1/2")).channel().rows
    assert [" ".join(map(str, row)) for row in rows] == FIGURE_1B


@given(levels(), st.integers(0, 6), st.integers(1, 4))
@settings(max_examples=40)
def test_the_truncated_mechanism_is_a_remap_of_the_untruncated_one(level: Level, size: int, reach: int) -> None:
    assert folded(size, reach, level).then(truncation(size, reach)) == geometric(size, level).channel()


@given(levels(), st.integers(0, 6))
@settings(max_examples=40)
def test_rows_sum_to_one_and_the_inverse_inverts(level: Level, size: int) -> None:
    rows = geometric(size, level).channel().rows
    assert all(row.sum() == 1 for row in rows)
    assert np.all(rows @ inverse(size, level) == identity(range(size + 1)).rows)


@given(levels(), st.integers(-3, 3), st.integers(1, 6))
def test_the_untruncated_law_is_two_sided_geometric_and_its_tail_closed(level: Level, x: int, reach: int) -> None:
    law = untruncated(x, range(x - reach, x + reach + 1), level)
    assert law[reach] == (1 - level.alpha) / (1 + level.alpha)
    assert all(law[reach + k] == law[reach - k] == law[reach] * level.power(k) for k in range(reach + 1))
    assert sum(law, Fraction(0)) + 2 * tail(reach + 1, level) == 1


def test_the_two_ends_of_the_level() -> None:
    assert geometric(3, alpha(0)).channel() == identity(range(4))
    assert all(list(row) == [1, 0, 0, 0] for row in geometric(3, alpha(1)).channel().rows)
    assert geometric(3, alpha(1)).draw([2, 3]) == [0, 0]
    assert geometric(3, alpha(0)).draw([2, 3]) == [2, 3]
    assert list(untruncated(1, range(-1, 3), alpha(1))) == [0, 1, 0, 0]


@pytest.mark.parametrize("size", [-1, 10**13, "1/2", "nan", 2.0])
def test_a_foolish_size_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="size must"):
        geometric(size, alpha("1/2"))  # type: ignore[arg-type]


def test_a_matrix_that_would_not_fit_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match="need no matrix"):
        geometric(10**6, epsilon("0.1")).channel()
    with pytest.raises(InputError):
        geometric(10**12, epsilon("0.1")).draw([5])
    with pytest.raises(InputError):
        inverse(3, alpha(1))
    with pytest.raises(InputError, match="reach"):
        folded(3, 0, alpha("1/2"))


def test_a_draw_for_a_large_count_needs_no_row() -> None:
    """Noise beyond 2000 at ε = 0.1 has probability below 2e-87."""
    answers = geometric(10**6, epsilon("0.1")).draw([500_000] * 20)
    assert all(abs(answer - 500_000) < 2000 for answer in answers)
