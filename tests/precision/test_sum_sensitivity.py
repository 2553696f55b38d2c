"""The error of float sums, against exact sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.precision import BINARY16, BINARY32, BINARY64, fixed_point_format, implemented_sensitivity, sum_error
from utmost.precision.number_formats import depth


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=400))
@settings(max_examples=80)
def test_each_method_is_within_its_bound(values):
    exact, count = sum(map(Fraction, values)), len(values)
    naive = 0.0
    for value in values:
        naive += value
    assert abs(Fraction(naive) - exact) <= sum_error(BINARY64, count, 1, "naive")
    assert abs(Fraction(float(np.sum(np.array(values)))) - exact) <= sum_error(BINARY64, count, 1, "pairwise")
    assert abs(Fraction(math.fsum(values)) - exact) <= sum_error(BINARY64, count, 1, "fsum")


@pytest.mark.parametrize(("dtype", "number_format"), [(np.float32, BINARY32), (np.float16, BINARY16)])
def test_short_formats_too_with_sums_that_do_go_wrong(dtype, number_format):
    values = np.full(1500, 0.1, dtype=dtype)
    exact = 1500 * Fraction(float(values[0]))
    naive = dtype(0)
    for value in values:
        naive = dtype(naive + value)
    error = abs(Fraction(float(naive)) - exact)
    assert 0 < error <= sum_error(number_format, 1500, Fraction(float(values[0])), "naive")


def test_the_sensitivity_of_a_computed_sum_can_exceed_1():
    """A large term absorbs small ones: adding one record of size ≤ 1 moves the computed sum by more than 1."""
    values = [float(2**11), 1.0]
    first = float(np.float16(np.float16(values[0]) + np.float16(values[1])))
    second = float(np.float16(np.float16(first) + np.float16(1.0)))
    third = float(np.float16(np.float16(2050) + np.float16(1.0)))
    assert (first, second, third) == (2048.0, 2048.0, 2052.0)  # 2048 + 1 = 2048, but 2050 + 1 = 2052: a step of 2
    assert implemented_sensitivity(1, sum_error(BINARY16, 2051, 1, "naive")) >= 2


def test_depths():
    assert [depth("naive", m) for m in (1, 2, 5)] == [0, 1, 4]
    assert depth("pairwise", 128) == 127
    assert depth("pairwise", 10**6) < 150
    assert sum_error(fixed_point_format(8), 10**6, 5) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 1), "terms"), ((5, -1), "bound"), ((5, 1, "kahan"), "method must be one of naive")],
)
def test_bad_sums_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sum_error(BINARY64, *arguments)
    with pytest.raises(InputError, match="sensitivity"):
        implemented_sensitivity(0, Fraction(0))


def test_a_sum_without_a_correct_digit_is_refused():
    with pytest.raises(InputError, match="terms must be fewer"):
        sum_error(BINARY16, 5 * 10**9, 1, "naive")
