"""Formats and generators: rounding against numpy's own, δ₀ against the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.precision import BINARY16, BINARY32, BINARY64, fixed_point_format, uniform_generator
from utmost.precision.number_formats import GENERATOR_KINDS, parse_format, usual_generator

NUMPY = {BINARY16.name: np.float16, BINARY32.name: np.float32, BINARY64.name: np.float64}
FORMATS = (BINARY16, BINARY32, BINARY64)


@pytest.mark.parametrize("number_format", FORMATS, ids=lambda f: f.name)
def test_limits_are_ieee_s(number_format):
    info = np.finfo(NUMPY[number_format.name])
    assert number_format.largest == Fraction(float(info.max))
    assert Fraction(2) ** number_format.floor == Fraction(float(info.smallest_subnormal))
    assert number_format.relative == Fraction(float(info.eps)) / 2


@given(st.floats(-60000, 60000))
@settings(max_examples=150)
def test_rounding_is_numpy_s(value):
    assert BINARY16.nearest(Fraction(value)) == Fraction(float(np.float16(value)))
    assert BINARY32.nearest(Fraction(value)) == Fraction(float(np.float32(value)))
    assert BINARY64.nearest(Fraction(value)) == Fraction(value)


@given(st.sampled_from((*FORMATS, fixed_point_format(0), fixed_point_format(6))), st.fractions(-60000, 60000))
@settings(max_examples=150)
def test_one_rounding_moves_no_more_than_its_bound(number_format, value):
    nearest = number_format.nearest(value)
    assert abs(nearest - value) <= number_format.rounding(abs(value))
    assert number_format.holds(nearest)
    assert number_format.nearest(nearest) == nearest


@given(st.integers(2, 60), st.sampled_from(GENERATOR_KINDS))
def test_delta0_is_the_largest_distance_of_the_coupling(count, kind):
    generator = uniform_generator(count, kind)
    gaps = [abs(generator.value(z) - u) for z in range(count) for u in (Fraction(z, count), Fraction(z + 1, count))]
    assert generator.delta0 == max(gaps)


def test_the_usual_generators_are_what_libraries_have():
    assert usual_generator(BINARY64).count == 2**53
    assert usual_generator(BINARY32).count == 2**24
    assert usual_generator(fixed_point_format(6)).count == 64


@pytest.mark.parametrize("text", ["binary128", "fixed:", "fixed:-1", "fixed:99999", "float", ""])
def test_an_unknown_format_is_refused(text):
    with pytest.raises(InputError, match=r"^format|^fixed"):
        parse_format(text)


def test_overflow_is_refused_not_wrapped():
    with pytest.raises(InputError, match="largest"):
        BINARY16.nearest(Fraction(70000))
    with pytest.raises(InputError, match="generator"):
        uniform_generator(1)
    with pytest.raises(InputError, match="generator"):
        uniform_generator(4, "odd")
