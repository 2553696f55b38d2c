"""Cells become lattice numbers exactly, each by itself."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, inf, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.publish.local import coordinates
from utmost.publish.local.coordinates import Axis, lattice_positions

HALF = Fraction(1, 2)
SIZES = st.sampled_from(
    [Fraction(1, 100), Fraction(1, 3), Fraction(7, 5), Fraction(10), Fraction("123.456"), Fraction(1)]
)
ZEROS = st.sampled_from([Fraction(0), Fraction("2.35"), Fraction(-1, 3)])


def exact_position(value: Fraction, axis: Axis) -> int:
    """The claim, in fractions."""
    return min(max(floor((value - axis.zero) / axis.size + HALF), axis.low), axis.high)


@st.composite
def near_borders(draw: st.DrawFn) -> tuple[Axis, Decimal]:
    """An axis, and a decimal that is often a tie or a hair off one."""
    axis = Axis(draw(ZEROS), draw(SIZES), -(10**6), 10**6)
    border = axis.zero + (draw(st.integers(-(10**4), 10**4)) - HALF) * axis.size
    decimals = draw(st.integers(0, 20))
    offset = draw(st.sampled_from([0, 0, 1, -1])) * Fraction(1, 10 ** draw(st.integers(1, 25)))
    scaled = floor((border + offset) * 10**decimals)
    return axis, Decimal(scaled).scaleb(-decimals)


@given(st.lists(near_borders(), min_size=1, max_size=5))
@settings(max_examples=150)
def test_text_is_rounded_as_the_decimal_it_is(cases) -> None:
    axis = cases[0][0]
    texts = [format(number, "f") for _, number in cases]
    positions, missing = lattice_positions(pa.array(texts), axis)
    assert not missing.any()
    assert positions.tolist() == [exact_position(Fraction(text), axis) for text in texts]


@given(near_borders(), st.integers(-2, 2), st.sampled_from([pa.float64(), pa.float32()]))
@settings(max_examples=200)
def test_a_float_is_rounded_as_the_dyadic_fraction_it_is(case, ulps: int, kind) -> None:
    axis, number = case
    width = np.float64 if kind == pa.float64() else np.float32
    value = width(float(number))
    for _ in range(abs(ulps)):
        value = np.nextafter(value, width(inf if ulps > 0 else -inf))
    positions, _ = lattice_positions(pa.array([float(value)], type=kind), axis)
    assert positions.tolist() == [exact_position(Fraction(float(value)), axis)]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50), min_size=1), SIZES, ZEROS)
@example([2**63 - 1, 5, -5, 15], Fraction(10), Fraction(0))
def test_whole_numbers_and_decimals_are_exact_too(values: list[int], size: Fraction, zero: Fraction) -> None:
    axis = Axis(zero, size)
    assert lattice_positions(pa.array(values, type=pa.int64()), axis)[0].tolist() == [
        exact_position(Fraction(v), axis) for v in values
    ]
    cells = pa.array([Decimal(v).scaleb(-2) for v in values], type=pa.decimal128(38, 2))
    assert lattice_positions(cells, axis)[0].tolist() == [exact_position(Fraction(v, 100), axis) for v in values]


@given(near_borders(), st.integers(-3, 3))
@settings(max_examples=200)
def test_the_array_path_says_what_whole_numbers_say(case, ulps: int) -> None:
    """The error-free product and the 64-bit decimals against Python's integers, on ties and their neighbours."""
    axis, number = case
    line = coordinates.integer_line(1 / axis.size, HALF - axis.zero / axis.size, axis.low, axis.high)
    value = float(number)
    for _ in range(abs(ulps)):
        value = np.nextafter(value, inf if ulps > 0 else -inf)
    nearest = np.rint(np.array([value]) * float(1 / axis.size) + float(HALF - axis.zero / axis.size))
    floors = np.zeros(1, dtype=np.int64)
    if abs(value * float(1 / axis.size) + float(HALF - axis.zero / axis.size) - nearest[0]) < 1e-9:
        assert coordinates._floor_doubles(np.array([value]), nearest, line, floors)
        assert floors.tolist() == line.floors([float(value)])
    text = format(number, "f")
    if coordinates._floor_decimals(pa.array([text]), np.array([float(number)]), line, floors)[0]:
        assert floors.tolist() == line.floors([text])


NUMBER_TEXTS = ["1.5", " 2 ", "+3", "-.5", "4.", "1e2", "1E-2", "-0", "\t7"]
OTHER_TEXTS = [
    "",
    "x",
    "1,5",
    "1_0",
    "0x10",
    "nan",
    "inf",
    "-Infinity",
    "1e999",
    "1 2",
    "１",
    "--1",
    "e5",
    "9" * 400,
    None,
]


def test_what_is_a_number_and_what_is_missing() -> None:
    axis = Axis(Fraction(0), Fraction(1, 100))
    positions, missing = lattice_positions(pa.array(NUMBER_TEXTS), axis)
    assert not missing.any()
    assert positions.tolist() == [exact_position(Fraction(text.strip()), axis) for text in NUMBER_TEXTS]
    assert lattice_positions(pa.array(OTHER_TEXTS), axis)[1].all()
    assert lattice_positions(pa.array([nan, inf, -inf, None]), axis)[1].all()
    assert lattice_positions(pa.array([None, None]), axis)[1].all()


@given(st.lists(st.sampled_from(NUMBER_TEXTS + OTHER_TEXTS), min_size=1, max_size=30))
@settings(max_examples=60)
def test_what_becomes_of_a_cell_does_not_depend_on_the_rows_around_it(cells: list[str | None]) -> None:
    axis = Axis(Fraction(0), Fraction(1, 3))
    positions, missing = lattice_positions(pa.array(cells, type=pa.string()), axis)
    for k, cell in enumerate(cells):
        position, is_missing = lattice_positions(pa.array([cell], type=pa.string()), axis)
        assert missing[k] == is_missing[0]
        assert is_missing[0] or positions[k] == position[0]


@pytest.mark.parametrize(
    "text", ["1e308", "-1e308", "9" * 300, "1e-320", "1e-999999999", "0." + "0" * 500 + "1", "1e18"]
)
def test_numbers_beyond_all_use_are_kept_to_the_axis_without_a_warning(text: str) -> None:
    axis = Axis(Fraction(0), Fraction(1, 100), -500, 500)
    expected = 500 if not text.startswith(("-", "0.", "1e-")) else (-500 if text[0] == "-" else 0)
    assert lattice_positions(pa.array([text]), axis)[0].tolist() == [expected]
    assert lattice_positions(pa.array([float(text)]), axis)[0].tolist() == [expected]
    assert abs(lattice_positions(pa.array([text]), Axis(Fraction(0), Fraction(1, 100)))[0][0]) <= 2**53


def test_other_types_are_refused() -> None:
    for cells in (pa.array([True]), pa.array([[1.0]]), pa.array([b"1"])):
        with pytest.raises(InputError, match="must hold numbers"):
            lattice_positions(cells, Axis(Fraction(0), Fraction(1)))
