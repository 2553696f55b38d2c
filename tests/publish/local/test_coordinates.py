"""Units, lattices over coordinates, and what a projection distorts."""

from __future__ import annotations

from fractions import Fraction
from math import asin, cos, hypot, radians, sin, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.publish.local.coordinates import (
    METRES_PER_DEGREE,
    Axis,
    DegreeCoordinates,
    PlaneCoordinates,
    check_box,
    check_unit,
    lattice_axes,
)

TENTHS = 10


def great_circle(p: tuple[float, float], q: tuple[float, float]) -> float:
    """Metres by the haversine formula, on the sphere whose degree of arc is METRES_PER_DEGREE long."""
    (l1, f1), (l2, f2) = [tuple(map(radians, point)) for point in (p, q)]
    h = sin((f2 - f1) / 2) ** 2 + cos(f1) * cos(f2) * sin((l2 - l1) / 2) ** 2
    return float(METRES_PER_DEGREE) * 2 * asin(min(1.0, sqrt(h))) / radians(1)


@st.composite
def boxes(draw: st.DrawFn) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    def tenth(low: int, high: int) -> Fraction:
        return Fraction(draw(st.integers(low * TENTHS, high * TENTHS)), TENTHS)

    left, width = tenth(-180, 100), tenth(0, 80) * draw(st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(2)]))
    bottom, height = tenth(-85, 60), tenth(0, 25)
    assume(left + width <= 180 and width < 180)
    return left, bottom, left + width, bottom + height


@given(boxes(), st.data())
@settings(max_examples=300)
def test_the_plane_and_the_sphere_agree_within_the_bounds_in_the_box(box, data) -> None:
    left, bottom, right, top = map(float, box)
    origin = data.draw(
        st.sampled_from([((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), (box[0], box[3]), (box[2], box[1])])
    )
    coordinates = DegreeCoordinates(origin)
    stretch, shrink = float(coordinates.stretch(box)), float(coordinates.shrink(box))
    share = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
    p, q = ((left + data.draw(share) * (right - left), bottom + data.draw(share) * (top - bottom)) for _ in range(2))
    plane = float(METRES_PER_DEGREE) * hypot(float(coordinates.cosine) * (p[0] - q[0]), p[1] - q[1])
    sphere = great_circle(p, q)
    assert plane <= stretch * sphere * (1 + 1e-9) + 1e-3
    assert sphere <= shrink * plane * (1 + 1e-9) + 1e-3


def test_the_bounds_are_attained_where_they_are_simple() -> None:
    """Close together on the northern edge the plane is c/cos φ times too long; on the southern, too short."""
    box = (Fraction(2), Fraction(40), Fraction("2.001"), Fraction(50))
    coordinates = DegreeCoordinates((Fraction(2), Fraction(45)))
    assert float(coordinates.stretch(box)) == pytest.approx(cos(radians(45)) / cos(radians(50)), rel=1e-8)
    assert float(coordinates.shrink(box)) == pytest.approx(cos(radians(40)) / cos(radians(45)), rel=1e-8)
    north = great_circle((2.0, 50.0), (2.001, 50.0))
    assert float(METRES_PER_DEGREE * coordinates.cosine) * 0.001 == pytest.approx(
        float(coordinates.stretch(box)) * north, rel=1e-6
    )
    assert DegreeCoordinates((Fraction(2), Fraction(50))).stretch(box) < Fraction(1000001, 1000000)


def test_the_cosine_and_the_sphere_are_those_written_down() -> None:
    assert DegreeCoordinates((Fraction(0), Fraction(60))).cosine in (
        Fraction(1, 2),
        Fraction(1, 2) - Fraction(1, 10**12),
    )
    assert float(METRES_PER_DEGREE) * 180 / np.pi == pytest.approx(6371008.8, abs=0.05)


@pytest.mark.parametrize(
    ("unit", "coordinates", "size"),
    [
        ("km", "m", Fraction(10)),
        ("m", "km", Fraction(1, 100_000)),
        ("mi", "m", Fraction("16.09344")),
        ("ft", "ft", Fraction(1, 100)),
    ],
)
def test_units_convert_exactly(unit: str, coordinates: str, size: Fraction) -> None:
    x, y = lattice_axes(PlaneCoordinates(coordinates), Fraction(1, 100), unit, None)
    assert x == y == Axis(Fraction(0), size)


@given(st.integers(-(2**40), 2**40), st.sampled_from(["1/100", "1/3", "7/5", "0.0001", "25"]))
def test_lattice_numbers_become_the_nearest_doubles(k: int, size: str) -> None:
    axis = Axis(Fraction(0), Fraction(size))
    assert axis.coordinates(np.array([k]))[0] == float(k * Fraction(size))


@given(st.integers(-(10**7), 10**7))
def test_degrees_come_back_to_their_lattice_number(k: int) -> None:
    for axis in lattice_axes(DegreeCoordinates((Fraction("2.35"), Fraction("48.85"))), Fraction(1), "m", None):
        value = float(axis.coordinates(np.array([k], dtype=object))[0])
        assert axis.position(Fraction(value)) == k


def test_a_box_is_kept_to_the_lattice_points_inside() -> None:
    x, y = lattice_axes(PlaneCoordinates("m"), Fraction(3), "m", (Fraction(-1), Fraction(2), Fraction(10), Fraction(9)))
    assert (x.low, x.high, y.low, y.high) == (0, 3, 1, 3)
    assert [x.position(Fraction(c)) for c in (-100, 4, 5, 100)] == [0, 1, 2, 3]
    with pytest.raises(InputError, match="--box must contain a point of the lattice"):
        lattice_axes(PlaneCoordinates("m"), Fraction(3), "m", (Fraction(1), Fraction(0), Fraction(2), Fraction(9)))
    with pytest.raises(InputError, match=r"within 2\^53 steps"):
        lattice_axes(PlaneCoordinates("m"), Fraction(1), "m", (Fraction(0), Fraction(0), Fraction(10**17), Fraction(9)))


def test_bad_boxes_origins_and_units_are_refused() -> None:
    def box(*corners: int) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, corners))

    for corners, degrees, message in (
        (box(1, 0, 0, 1), False, "empty"),
        (box(0, 0, 10, 90), True, "between -90 and 90"),
        (box(-181, 0, 10, 1), True, "from -180 to 180"),
        (box(-90, 0, 90, 1), True, "less than 180 degrees wide, got 180"),
    ):
        with pytest.raises(InputError, match=message):
            check_box(corners, degrees)
    for origin in ((0, 90), (0, -90), (181, 0)):
        with pytest.raises(InputError, match="--origin"):
            DegreeCoordinates((Fraction(origin[0]), Fraction(origin[1])))
    with pytest.raises(InputError, match="--origin must be farther from the pole"):
        DegreeCoordinates((Fraction(0), 90 - Fraction(1, 10**12)))
    with pytest.raises(InputError, match="--unit must be one of m, km, ft, mi"):
        check_unit("parsec", "--unit")
