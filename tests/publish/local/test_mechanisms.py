"""Locations and categories: the guarantee holds for what runs, and no policy for missing values breaks it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noise.word_sources import ScriptedWords, fixed_stream
from utmost.errors import InputError
from utmost.exact import alpha, epsilon, power
from utmost.publish.local import CategoryMechanism, DegreeCoordinates, LocationMechanism, PlaneCoordinates

DOUBLE = [pa.float64(), pa.float64()]


def location_mechanism(**changes: object) -> LocationMechanism:
    defaults: dict[str, object] = {"x": "x", "y": "y", "level": epsilon("1/2"), "unit": "km", "step": Fraction(1, 10)}
    return LocationMechanism(**(defaults | {"frame": PlaneCoordinates("km")} | changes))  # type: ignore[arg-type]


COORDINATE = st.decimals(-50, 50, places=3).map(Fraction)


@given(st.lists(COORDINATE, min_size=4, max_size=4), st.booleans())
@settings(max_examples=150)
def test_rounding_and_the_box_put_two_places_at_most_s_root_2_farther_apart(c: list[Fraction], has_box: bool) -> None:
    """|lattice points| ≤ d + s√2, squared and in exact numbers: the ε·(d + r) of the note."""
    box = (Fraction(-20), Fraction(-7), Fraction(30), Fraction(11)) if has_box else None
    mechanism = location_mechanism(box=box)
    cells = [pa.array([str(float(c[0])), str(float(c[2]))]), pa.array([str(float(c[1])), str(float(c[3]))])]
    points, kept_rows = mechanism.points(cells)
    assert kept_rows is None
    squared_distance = sum((int(a) - int(b)) ** 2 for a, b in points.T) * mechanism.step**2
    square = (c[0] - c[2]) ** 2 + (c[1] - c[3]) ** 2
    bound = square + 2 * mechanism.step * power(2 * square, Fraction(1, 2)) + 2 * mechanism.step**2
    assert squared_distance <= bound


def ring_test_pvalue(mechanism: LocationMechanism, size: int, source=None) -> float:
    """Pearson's χ² of the squared length of the noise in steps over rings of equal mass, as its probability."""
    cells = [pa.array(np.full(size, 3.04)), pa.array(np.full(size, -1.26))]
    (x, y), _ = mechanism.answer(cells, DOUBLE, source)
    steps = (np.rint(x.to_numpy() * 10) - 30) ** 2 + (np.rint(y.to_numpy() * 10) + 13) ** 2
    half_side = 160
    side = np.arange(-half_side, half_side + 1)
    square = (side[:, None] ** 2 + side**2).ravel()
    mass = np.exp(-0.05 * np.sqrt(square))
    edges = np.quantile(square[square < 90**2], np.linspace(0, 1, 12)[1:-1])
    rest = (
        np.exp(-0.05 * half_side) * 2 * np.pi * (half_side / 0.05 + 400)
    )  # beyond the square: below 2 % of the last cell
    expected = np.bincount(np.searchsorted(edges, square), mass, len(edges) + 1)
    expected[-1] += rest / 2
    observed = np.bincount(np.searchsorted(edges, steps), minlength=len(expected))
    return float(stats.chisquare(observed, expected / expected.sum() * size).pvalue)


def test_the_noise_has_its_scale_and_one_five_per_cent_wrong_would_be_seen() -> None:
    """False alarm 1e-6. ε = 1/2 per km at a step of 1/10 km is 1/20 a step; 21/40 makes a χ² near 400 at 10 degrees."""
    assert ring_test_pvalue(location_mechanism(), 200_000) > 1e-6
    assert ring_test_pvalue(location_mechanism(level=epsilon("21/40")), 200_000) < 1e-6


def test_metres_and_kilometres_are_the_same_mechanism() -> None:
    """ε = 1/2 per km is 1/2000 per m: the same words move the same place by the same lattice steps."""
    metres = location_mechanism(unit="m", level=epsilon("1/2000"), step=Fraction(100), frame=PlaneCoordinates("km"))
    cells = [pa.array(["1.26", "7"]), pa.array(["-3", "0.04"])]
    first, second = (
        mechanism.answer(cells, DOUBLE, fixed_stream(5))[0] for mechanism in (location_mechanism(), metres)
    )
    assert [column.to_pylist() for column in first] == [column.to_pylist() for column in second]


def test_degrees_are_moved_on_the_projected_lattice() -> None:
    box = tuple(map(Fraction, ("2.2", "48.8", "2.5", "48.95")))
    mechanism = location_mechanism(
        frame=DegreeCoordinates((Fraction("2.35"), Fraction("48.85"))), box=box, step=Fraction(1, 100)
    )
    cells = [pa.array([2.3522, 10.0]), pa.array([48.8566, -10.0])]
    points, _ = mechanism.points(cells)
    x_axis, y_axis = mechanism.axes()
    assert points.tolist() == [
        [x_axis.position(Fraction(2.3522)), y_axis.position(Fraction(48.8566))],
        [x_axis.high, y_axis.low],
    ]
    assert abs(points[0][0] * 10 - (2.3522 - 2.35) * 111195.08 * 0.658) < 10
    guarantee = mechanism.guarantee()
    assert set(guarantee) == {"per", "rounding", "stretch", "shrink", "words"}
    assert 1 < Fraction(guarantee["stretch"]) < Fraction("1.003")
    assert "great-circle" in guarantee["words"]


CELL = st.sampled_from(["1.5", "-2", "x", "", "nan", None])


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12))
@settings(max_examples=80)
def test_each_policy_for_missing_places_treats_a_row_by_itself(rows) -> None:
    cells = [pa.array([row[k] for row in rows], type=pa.string()) for k in (0, 1)]
    is_complete = [row[0] in ("1.5", "-2") and row[1] in ("1.5", "-2") for row in rows]
    if all(is_complete):
        assert location_mechanism().points(cells)[1] is None
    else:
        with pytest.raises(InputError) as problem:
            location_mechanism().points(cells)
        assert not any(text in str(problem.value) for text in ("1.5", "-2", "nan"))
    kept_points, kept_rows = location_mechanism(missing="drop").points(cells)
    assert (kept_rows is None) == all(is_complete)
    assert len(kept_points) == sum(is_complete)
    filled, no_mask = location_mechanism(missing=(Fraction(3), Fraction(4))).points(cells)
    assert no_mask is None
    expected = [
        [int(float(a) * 10), int(float(b) * 10)] if ok else [30, 40]
        for (a, b), ok in zip(rows, is_complete, strict=True)
    ]
    assert filled.tolist() == expected


def test_places_too_far_are_kept_to_the_box_or_to_two_to_the_53_steps() -> None:
    cells = [pa.array([1e300, -1e300]), pa.array([0.0, 1e17])]
    assert location_mechanism().points(cells)[0].tolist() == [[2**53, 0], [-(2**53), 2**53]]
    box = (Fraction(-1), Fraction(-1), Fraction(2), Fraction(2))
    assert location_mechanism(box=box).points(cells)[0].tolist() == [[20, 0], [-10, 20]]


def enumerated_law(mechanism: CategoryMechanism, x: int, tops: tuple[int, int]) -> list[Fraction]:
    """The law of the answer to value x: every choice of the leading bits of the two words, each with its measure."""
    probabilities = [Fraction(0)] * len(mechanism.values)
    for lie_bits, shift_bits in product(range(1 << tops[0]), range(1 << tops[1])):
        source = ScriptedWords([lie_bits << (64 - tops[0]), shift_bits << (64 - tops[1])])
        (answer,), _ = mechanism.answer([pa.array([mechanism.values[x]])], [pa.string()], source)
        probabilities[mechanism.values.index(answer[0].as_py())] += Fraction(1, 1 << sum(tops))
    return probabilities


@pytest.mark.parametrize(
    ("level", "size", "dual", "tops"),
    [
        ("1/2", 3, False, (1, 1)),
        ("1/3", 2, False, (2, 0)),
        ("1/4", 5, False, (1, 2)),
        ("1/3", 2, True, (2, 0)),
        ("2/3", 3, True, (2, 1)),
    ],
)
def test_the_answers_have_exactly_the_law_of_the_channel(level: str, size: int, dual: bool, tops) -> None:
    """Levels whose probabilities are multiples of the words' leading bits, so that enumeration is exact."""
    mechanism = CategoryMechanism("vote", alpha(level), tuple("abcde"[:size]), dual=dual)
    channel = mechanism.noise.channel()
    for x in range(size):
        assert enumerated_law(mechanism, x, tops) == channel.row(x).tolist()
        assert max(channel.row(x)) / min(channel.row(x)) == 1 / Fraction(level)


VALUES = st.sampled_from(["a", "b", "c", "z", " a", "", None])


@given(st.lists(VALUES, min_size=1, max_size=15))
@settings(max_examples=80)
def test_a_value_that_is_not_listed_counts_as_the_stand_in_or_stops_everything(rows) -> None:
    cells = pa.array(rows, type=pa.string())
    is_listed = [value is not None and value.strip() in ("a", "b", "c") for value in rows]
    mechanism = CategoryMechanism("vote", epsilon(1), ("a", "b", "c"), others="c")
    expected = ["abc".index(v.strip()) if ok else 2 for v, ok in zip(rows, is_listed, strict=True)]
    assert mechanism.numbers(cells).tolist() == expected
    strict = CategoryMechanism("vote", epsilon(1), ("a", "b", "c"))
    if all(is_listed):
        assert strict.numbers(cells).tolist() == expected
    else:
        with pytest.raises(InputError, match=r"^vote must be one of --values in every row, got a row where it is not"):
            strict.numbers(cells)


@pytest.mark.parametrize(
    ("cells", "values", "expected"),
    [
        (pa.array([1, 0, None]), ("0", "1"), [1, 0, -1]),
        (pa.array([1.0, 0.0, nan]), ("0", "1"), [1, 0, -1]),
        (pa.array([True, False, None]), ("true", "false"), [0, 1, -1]),
        (pa.array(["0", "1", "01"], type=pa.large_string()), ("0", "1"), [0, 1, -1]),
        (pa.array([0, 19000], type=pa.date32()), ("1970-01-01", "1970-01-02"), [0, -1]),
    ],
    ids=["integers", "floats", "truths", "texts", "dates"],
)
def test_values_are_matched_by_the_type_of_the_column(cells, values, expected) -> None:
    assert CategoryMechanism("v", epsilon(1), values).value_indices(cells).tolist() == expected


def test_values_that_do_not_fit_the_column_are_refused() -> None:
    for kind, values, message in (
        (pa.int64(), ("0", "x"), "must be of the type"),
        (pa.float64(), ("1", "1.0"), "must be distinct as values"),
        (pa.list_(pa.int64()), ("0", "1"), "texts, numbers, truths or dates"),
    ):
        with pytest.raises(InputError, match=message):
            CategoryMechanism("v", epsilon(1), values).value_cells(kind)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "parsec"}, "--unit"),
        ({"frame": PlaneCoordinates("parsec")}, "--coordinates"),
        ({"y": "x"}, "two columns"),
        ({"missing": "guess"}, "--missing"),
        ({"step": Fraction(0)}, "step must be > 0"),
        ({"level": epsilon(0)}, "0 < alpha < 1"),
        ({"level": epsilon("1e-9")}, "epsilon times step"),
        ({"frame": DegreeCoordinates((Fraction(0), Fraction(0)))}, "--box must be given with --degrees"),
    ],
)
def test_places_that_cannot_be_drawn_are_refused_at_once(changes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        location_mechanism(**changes)


@pytest.mark.parametrize(
    ("values", "level", "others", "message"),
    [
        (("a",), epsilon(1), None, "from 2 to"),
        (("a", "a"), epsilon(1), None, "distinct"),
        (("a", ""), epsilon(1), None, "empty"),
        (("a", " b"), epsilon(1), None, "white space"),
        (("a", "b"), epsilon(1), "c", "--others must be one of --values"),
        (("a", "b"), epsilon(0), None, "epsilon must be > 0"),
        (("a", "b"), alpha(0), None, "finite"),
    ],
)
def test_answers_that_cannot_be_drawn_are_refused_at_once(values, level, others, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CategoryMechanism("v", level, values, others)
