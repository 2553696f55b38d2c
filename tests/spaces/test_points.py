"""Places by coordinates: distances against scipy and mpmath, exact where they can be; what is no place is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import number, sign
from utmost.spaces import Space, points, scale_space, space, sub_space
from utmost.spaces.great_circles import EARTH_RADIUS

COORDINATES = st.one_of(st.integers(-50, 50), st.integers(-500, 500).map(lambda k: k / 8), st.floats(-9, 9, width=16))
PLACES = st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=7, unique=True)
DEGREES = st.lists(
    st.tuples(st.floats(-90, 90, width=32), st.floats(-180, 179, width=32)), min_size=2, max_size=5, unique=True
)


@given(PLACES)
@settings(max_examples=60, deadline=None)
def test_euclidean_distances_squared_are_the_sums_of_squares(places: list[tuple[float, float]]) -> None:
    town = points(places)
    for x, y in combinations(range(len(places)), 2):
        squared = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(places[x], places[y], strict=True))
        assert town.distance(x, y) * town.distance(x, y) == squared
        assert sign(town.distance(x, y)) > 0
    assert town.coordinates == tuple((Fraction(a), Fraction(b)) for a, b in places)


@given(PLACES, st.sampled_from(["euclidean", "manhattan"]))
@settings(max_examples=60, deadline=None)
def test_distances_agree_with_scipy(places: list[tuple[float, float]], metric: Any) -> None:
    from scipy.spatial.distance import cdist

    expected = cdist(places, places, {"manhattan": "cityblock"}.get(metric, metric))
    town = points(np.array(places, dtype=float), metric=metric)
    assert np.allclose(town.distances.astype(float), expected, rtol=1e-12, atol=0)


@given(PLACES, st.sampled_from(["euclidean", "manhattan"]))
@settings(max_examples=30, deadline=None)
def test_a_table_of_the_exact_distances_makes_the_same_space(places: list[tuple[float, float]], metric: Any) -> None:
    town = points(places, metric=metric)
    again = space(town.distances.tolist(), town.labels)
    assert (again, again.edges, hash(again)) == (town, town.edges, hash(town))


@given(DEGREES)
@settings(max_examples=60, deadline=None)
def test_distances_on_the_globe_are_below_the_great_circle_and_near_it(places: list[tuple[float, float]]) -> None:
    """Against mpmath, by the formula with the arc cosine, in 60 digits."""
    from mpmath import mp, mpf

    mp.dps = 60

    def arc(first: tuple[float, float], second: tuple[float, float]) -> Any:
        (a, b), (c, d) = (tuple(mp.radians(mpf(value)) for value in place) for place in (first, second))
        cosine = mp.sin(a) * mp.sin(c) + mp.cos(a) * mp.cos(c) * mp.cos(b - d)
        return mpf(EARTH_RADIUS.numerator) / EARTH_RADIUS.denominator * mp.acos(min(mpf(1), max(mpf(-1), cosine)))

    arcs = {(x, y): arc(places[x], places[y]) for x, y in combinations(range(len(places)), 2)}
    if min(arcs.values()) < mpf("1e-6"):  # the poles have all longitudes
        with pytest.raises(InputError, match="different places"):
            points(places, metric="haversine")
        return
    globe = points(places, metric="haversine")
    allowance = int(globe.remark.split("at most ")[1].split(" mm")[0])
    assert allowance <= len(places) + 1
    for (x, y), true in arcs.items():
        distance = globe.distance(x, y)
        assert isinstance(distance, Fraction)
        below = true - mpf(distance.numerator) / distance.denominator
        assert -mpf("1e-40") <= below <= mpf(allowance) / 10**6
    assert space(globe.distances.tolist(), globe.labels) == globe  # it is a metric


def test_known_cities_are_as_far_apart_as_they_are() -> None:
    cities = points({"Paris": (48.8566, 2.3522), "Berlin": (52.52, 13.405)}, metric="haversine")
    assert float(cities.distance(0, 1)) == pytest.approx(877.46, abs=0.01)  # 878 km in atlases
    assert cities.map_positions is not None
    (paris_x, paris_y), (berlin_x, berlin_y) = cities.map_positions
    assert (paris_y, berlin_y) == (48.8566, 52.52)
    assert 0 < paris_x < berlin_x < 13.405


def test_points_that_stand_in_a_row_have_nothing_between_neighbours_only() -> None:
    row = points([[0.1 * k, 0.25 * k] for k in range(5)], digits=2)
    assert row.edges == ((0, 1), (1, 2), (2, 3), (3, 4))
    inexact = points([[0.1 * k, 0.25 * k] for k in range(5)])  # 3·0.1 is no multiple of 0.1 as a double
    assert len(inexact.edges) > 4


def test_coordinates_are_read_from_whatever_holds_them() -> None:
    import pandas as pd
    import polars as pl

    rows = [[0.5, 1.0], [2.0, 3.25], [4.0, 0.0]]
    expected = points(rows, list("abc"))
    columns = {"x": [0.5, 2.0, 4.0], "y": [1.0, 3.25, 0.0]}
    named = {"town": ["a", "b", "c"], **columns}
    sources: list[tuple[Any, Any]] = [
        (np.array(rows), ["a", "b", "c"]),
        (np.array(rows, dtype=np.float32), np.array(["a", "b", "c"])),
        ([np.array(row) for row in rows], iter("abc")),
        ([["1/2", 1], [2, "3.25"], [4, 0]], list("abc")),
        (dict(zip("abc", rows, strict=True)), None),
        (pd.DataFrame(columns, index=list("abc")), None),
        (pd.DataFrame(columns), list("abc")),
        (pd.DataFrame(named), "town"),
        (pl.DataFrame(named), "town"),
        (pl.DataFrame(columns), pl.Series(["a", "b", "c"])),
    ]
    for source, names in sources:
        town = points(source, names)
        assert (town, town.coordinates) == (expected, expected.coordinates)
    assert points(pl.DataFrame(columns)).labels == points(pd.DataFrame(columns)).labels == (0, 1, 2)
    globe = points({"a": (1.0, 0.5), "b": (3.25, 2.0)}, metric="haversine")
    swapped = pd.DataFrame({"Lon": [0.5, 2.0], "population": [7, 8], "Lat": [1.0, 3.25]}, index=["a", "b"])
    assert points(swapped, metric="haversine") == globe


def test_points_may_have_one_coordinate_or_many() -> None:
    line = points([3, 1, 2])
    assert (line.edges, line.coordinates) == (((0, 2), (1, 2)), None)
    assert points([[0, 0, 0], [1, 2, 2]]).distance(0, 1) == 3
    assert points([[0, 0, 0], [1, 2, 2]], metric="manhattan").distance(0, 1) == 5


def test_parts_and_multiples_keep_places_and_remarks() -> None:
    town = points([[0.5, 0], [1, 1], [2, 2]], ["a", "b", "c"])
    part = sub_space(scale_space(town, 2), ["c", "a"])
    assert part.coordinates == ((4, 4), (1, 0))
    assert part.map_positions == ((2.0, 2.0), (0.5, 0.0))
    assert part.remark == "coordinates are doubles, read exactly; then multiplied by 2"
    globe = scale_space(points({"a": (1, 0), "b": (3, 2)}, metric="haversine"), "1/1000")
    assert globe.coordinates == ((1, 0), (3, 2))
    assert globe.map_positions is not None


def test_the_remark_is_shown() -> None:
    town = points([[0.5, 0], [1, 1]])
    assert repr(town) == "<Space points: 2 points; coordinates are doubles, read exactly>"
    assert repr(points([[0, 0], [1, 1]])) == "<Space points: 2 points>"
    assert "Coordinates are doubles, read exactly." in town._repr_html_()


def same_place() -> Space:
    return points([[0, 1], [2, 3], [0, 1]], ["Ay", "Bee", "Cee"])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: points([[0, float("nan")], [1, 1]]), "coordinate of 0 must be a finite number, got nan"),
        (lambda: points(np.array([[0, 1], [np.inf, 1]])), "coordinate of 1 must be a finite number, got inf"),
        (same_place, "at different places, got Ay and Cee at one: drop one of them"),
        (lambda: points([[0.121, 0], [0.123, 0]], digits=2), "got 0 and 1 at one rounded to 2 decimals"),
        (lambda: points([[90, 0], [90, 10]], "ab", metric="haversine"), "names must be a list"),
        (lambda: points([[90, 0], [90, 10]], metric="haversine"), "got 0 and 1 at one to the millimetre"),
        (lambda: points([[1, 180], [1, -180]], metric="haversine"), "got 0 and 1 at one to the millimetre"),
        (
            lambda: points([[148.8, 2]], metric="haversine"),
            "-90",
        ),
        (lambda: points([[48, 1000]], metric="haversine"), "from -360 to 360 degrees, got 1000"),
        (lambda: points([[48]], metric="haversine"), "a latitude and a longitude, got 1 for 0"),
        (lambda: points(np.zeros((5000, 2))), "1 to 4096 points, got 5000: a table has n² distances"),
        (lambda: points([]), "1 to 4096 points, got 0"),
        (lambda: points([[0, 1], [2]]), "2 coordinates as the first, got 1 for 1"),
        (lambda: points([[0, 1], 2]), "a number beside a row"),
        (lambda: points([[0, 1j], [2, 0]]), "coordinate of 0 must be a number, got complex"),
        (lambda: points(np.array([[0, 1j]])), "real numbers, got complex ones"),
        (lambda: points(np.zeros((2, 2, 2))), "one or two axes, got 3"),
        (lambda: points([["north", 1], [2, 0]]), 'must be a number such as 1/2 or 0.1, got "north"'),
        (lambda: points([[None, 1], [2, 0]]), "must be a number, got nothing"),
        (lambda: points([[True, 1], [2, 0]]), "must be a number, got True or False"),
        (lambda: points([["sqrt(2)", 1], [2, 0]]), "must be a rational number"),
        (lambda: points("abc"), "must be an array, a frame or a list, got str"),
        (lambda: points(7), "must be an array, a frame or a list, got int"),
        (lambda: points([[0, 1], [2, 3]], ["a"]), "names must be 2, one for each point, got 1"),
        (lambda: points([[0, 1], [2, 3]], ["a", "a"]), "2 distinct labels, got 1"),
        (lambda: points({"a": (0, 1)}, ["a"]), "names must not be given beside a dict"),
        (lambda: points([[0, 1]], metric="taxi"), "euclidean, manhattan, haversine, got 'taxi'"),  # type: ignore[arg-type]
        (lambda: points([[0, 1]], digits=-1), "digits must be a whole number from 0 to 100, got -1"),
        (lambda: points([[0, 1]], digits=0.5), "digits must be a whole number"),  # type: ignore[arg-type]
        (lambda: points([[1e-20, 1], [0, 0]]), "squares have 2"),
        (lambda: points(np.random.default_rng(0).random((201, 2))), "more than 200 points"),
    ],
)
def test_what_is_no_place_is_refused_in_one_line(make: Callable[[], Space], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_frame_with_words_says_how_to_name_points() -> None:
    import pandas as pd

    frame = pd.DataFrame({"town": ["a", "b"], "x": [1, 2], "y": [1, 2]})
    with pytest.raises(InputError, match='column town must hold coordinates, got str: say names="town"'):
        points(frame)
    with pytest.raises(InputError, match="none called 'city'"):
        points(frame, "city")
    with pytest.raises(InputError, match="finite number, got nan"):
        points(pd.DataFrame({"x": [1, None], "y": [1.0, 2.0]}))


@pytest.mark.slow
def test_thirty_points_of_full_doubles_take_seconds() -> None:
    town = points(np.random.default_rng(7).random((30, 2)))
    assert len(town.values) == 1 + 30 * 29 // 2
    assert town.distance(0, 1) == number(str(town.distance(0, 1)))
