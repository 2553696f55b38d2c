"""Channels from numpy, pandas, scipy and text, and back: doubles stay doubles, exact entries exact, labels stay."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import utmost as ut
from strategies import channels
from utmost.channel import Channel, channel, normalise, parse_channel
from utmost.channel.entries import ROW_SUM_TOLERANCE
from utmost.consumer import Minimax
from utmost.errors import ChannelError, InputError

Weights = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(2**-20, 2**20, width=64)
)


@given(Weights)
def test_rows_of_doubles_that_sum_to_one_up_to_rounding_are_taken_as_they_are(weights: Any) -> None:
    rows = weights / weights.sum(axis=1, keepdims=True)
    source = Channel(rows)
    assert not source.exact
    assert np.asarray(source) is source.rows
    assert np.array_equal(source.rows, rows)
    rows[0, 0] = 7
    assert source.rows[0, 0] != 7
    assert np.all(np.abs(source.rows.sum(axis=1) - 1) <= ROW_SUM_TOLERANCE)


@given(Weights)
def test_normalised_rows_are_the_exact_shares_of_the_doubles(weights: Any) -> None:
    source = normalise(weights)
    assert source.exact
    for row, given_row in zip(source.rows, weights.tolist(), strict=True):
        total = sum(map(Fraction, given_row))
        assert list(row) == [Fraction(value) / total for value in given_row]
        assert sum(row) == 1
    assert normalise(source) == source


def test_a_float_channel_that_is_normalised_answers_what_floats_cannot() -> None:
    floats = Channel(np.array([[0.2, 0.8], [0.6, 0.4]]), inputs=["a", "b"])
    exact = normalise(floats)
    assert (exact.inputs, exact.outputs) == (("a", "b"), (0, 1))
    assert ut.refinement(exact, exact).refines
    with pytest.raises(InputError, match=r"exact entries, got floats.*channel\.normalise"):
        ut.refinement(floats, exact)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.int8, np.uint64, object])
def test_arrays_of_every_kind_of_number_are_read(kind: Any) -> None:
    source = Channel(np.array([[1, 0], [0, 1]], dtype=kind))
    assert source.exact == (np.dtype(kind).kind != "f")
    assert source == channel([[1, 0], [0, 1]])
    assert source.rows.dtype in (np.dtype(float), np.dtype(object))


def test_lists_of_arrays_and_of_numbers_of_numpy_are_read() -> None:
    assert Channel([np.array([0.5, 0.5]), np.array([0.25, 0.75])]).rows.dtype == float
    assert Channel([[np.float32(0.5), np.float32(0.5)]]).rows.dtype == float
    assert Channel([[np.int64(1), np.int64(0)]]).exact
    assert Channel(np.array([["1/3", "2/3"]])) == channel([["1/3", "2/3"]])


def test_both_ways_to_make_a_channel_agree() -> None:
    rows = [["1/3", "2/3"], ["1/2", "1/2"]]
    made = [
        Channel(["a", "b"], ["c", "d"], rows),
        Channel(rows, inputs=["a", "b"], outputs=["c", "d"]),
        Channel(inputs=["a", "b"], outputs=["c", "d"], rows=rows),
        channel(rows, ["a", "b"], ["c", "d"]),
    ]
    assert all(source == made[0] for source in made)
    for arguments, options in (((), {}), ((rows, rows), {}), ((rows,), {"rows": rows}), ((rows,), {"names": "ab"})):
        with pytest.raises(TypeError, match=r"Channel\(\)"):
            Channel(*arguments, **options)  # type: ignore[call-overload]


def test_numpy_takes_a_channel_by_its_protocol() -> None:
    exact, floats = channel([["1/4", "3/4"]]), Channel(np.array([[0.25, 0.75]]))
    assert np.asarray(exact).dtype == float
    assert np.array_equal(np.asarray(exact), [[0.25, 0.75]])
    assert np.asarray(exact, dtype=object)[0, 0] == Fraction(1, 4)
    assert np.asarray(floats, dtype=np.float32).dtype == np.float32
    assert np.array(floats) is not floats.rows
    np.array(floats)[0, 0] = 3
    assert floats.rows[0, 0] == 0.25
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(floats)[0, 0] = 3
    assert np.allclose(np.eye(1) @ exact, [[0.25, 0.75]])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.array(floats, copy=False) is floats.rows
        with pytest.raises(ValueError, match="without a copy"):
            np.array(exact, copy=False)


def test_a_data_frame_keeps_its_labels_both_ways() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.25, 0.75], [0.5, 0.5]], index=["low", "high"], columns=[1, 2])
    source = Channel(frame)
    assert (source.inputs, source.outputs) == (("low", "high"), (1, 2))
    assert type(source.outputs[0]) is int
    again = source.to_pandas()
    assert again.index.name == "input"
    assert again.columns.name == "output"
    assert again.loc["low", 2] == 0.75
    assert Channel(again) == source
    exact = channel([["1/3", "2/3"]], ["x"], ["<b>", "c"])
    assert exact.to_pandas().dtypes.tolist() == [float, float]
    assert Channel(frame, inputs=["a", "b"]).inputs == ("a", "b")
    with pytest.raises(ChannelError, match="2 distinct outputs, got 1, 'c' twice"):
        Channel(pandas.DataFrame([[0.25, 0.75]], columns=["c", "c"]))
    with pytest.raises(ChannelError, match="array of 2 dimensions, got 1"):
        Channel(frame["low" if "low" in frame else 1])


def test_a_sparse_matrix_is_read() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    assert np.array_equal(Channel(sparse.eye(3, format="csr")).rows, np.eye(3))


@given(channels())
@settings(max_examples=40)
def test_text_and_pickles_give_an_exact_channel_back(source: Channel) -> None:
    for again in (parse_channel(source.to_csv()), parse_channel(source.to_json())):
        assert again == source
        assert again.exact
    for again in (pickle.loads(pickle.dumps(source)), copy.deepcopy(source), copy.copy(source)):
        assert again == source
        assert not again.rows.flags.writeable


@given(Weights)
@settings(max_examples=40)
def test_text_and_pickles_give_a_float_channel_back_to_the_last_bit(weights: Any) -> None:
    source = Channel(weights / weights.sum(axis=1, keepdims=True))
    for again in (parse_channel(source.to_csv()), parse_channel(source.to_json()), pickle.loads(pickle.dumps(source))):
        assert again == source
        assert not again.exact


def test_a_pickle_is_as_large_as_its_numbers() -> None:
    size = 40
    floats = Channel(np.full((size, size), 1 / size))
    assert len(pickle.dumps(floats)) < 8 * size * size + 1000
    part = floats.restrict(range(2))
    assert len(pickle.dumps(part)) < 8 * 2 * size + 1000
    exact = ut.geometric(size - 1, ut.alpha("1/2")).channel()
    digits = sum(len(str(value)) for value in exact.rows.flat)
    assert len(pickle.dumps(exact)) < 40 * size * size + digits


REFUSED: dict[str, tuple[Any, str]] = {
    "not a number": (np.array([[np.nan, 1.0]]), r"entry \(0, 0\) must be a probability, got nan"),
    "infinite": (np.array([[np.inf, 0.0]]), r"entry \(0, 0\) must be a probability, got inf"),
    "negative": (np.array([[1.5, -0.5]]), r"entry \(0, 1\) must be a probability, got -0.5"),
    "a sum": (np.array([[0.5, 0.5], [0.5, 0.4]]), r"row 1 must sum to 1, got 0.9: channel.normalise"),
    "ragged": ([[0.5, 0.5], [1.0]], "row 1 must have 2 entries as the first one, got 1"),
    "empty": (np.zeros((0, 3)), "at least one input and one output"),
    "no columns": (np.zeros((3, 0)), "at least one input and one output"),
    "three dimensions": (np.zeros((2, 2, 2)), "array of 2 dimensions, got 3"),
    "nested lists": ([[[1, 0]]], "must be a number"),
    "one dimension": (np.array([0.5, 0.5]), "array of 2 dimensions, got 1"),
    "objects": (np.array([[object()]]), "must be a number"),
    "complex": (np.array([[1 + 0j]]), "must be numbers, got an array of complex128"),
    "truth": (np.array([[True]]), "must be numbers, got an array of bool"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "must be numbers, got an array of datetime64"),
    "masked": (np.ma.masked_equal([[0.0, 1.0]], 0), "some that are masked"),
    "text": ("0.5", "must be a list of rows or an array, got str"),
    "nothing": (None, "must be a list of rows or an array, got NoneType"),
    "a dictionary": ({"a": [1]}, "must be a list of rows or an array, got dict"),
    "rows of text": (["ab"], "lists of entries"),
    "a number": (3, "must be a list of rows or an array, got int"),
    "a channel": (channel([[1]]), "got Channel"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_channel_is_refused_in_one_line(name: str) -> None:
    rows, says = REFUSED[name]
    with pytest.raises(InputError, match=says) as caught:
        Channel(rows)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[0.0, 0.0]], "row 0 must have an entry above 0"),
        ([[1.0, -1.0]], r"entry \(0, 1\) must be a weight, a number >= 0, got -1.0"),
        ([["1", "-1/2"]], r"entry \(0, 1\) must be a weight"),
        ([[float("nan"), 1.0]], "must be a weight"),
        ([[float("inf"), 1.0]], "must be a weight"),
    ],
)
def test_weights_that_make_no_row_are_refused(rows: Any, says: str) -> None:
    with pytest.raises(ChannelError, match=says):
        normalise(rows)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"inputs": [0], "outputs": [0, 1], "rows": [["1/2", "1',
            "could not be parsed at line 1: it must be one whole",
        ),
        ('{"outputs": ["a", "a"], "rows": [["1/2", "1/2"]]}', "2 distinct outputs, got 1, 'a' twice"),
        ("in,a,a\n0,1/2,1/2\n", "2 distinct outputs, got 1, 'a' twice"),
        ("in,a,b\n0,1/2,1/2\n1,1/2\n", "line 3 must have 3 cells as the header, got 2"),
        ("in,a,b\nx,1,0\nx,1,0\n", "2 distinct inputs, got 1, 'x' twice"),
        ("in (floats),a,b\n0,1/2,1/2\n", "line 2 must have decimals below floats, got '1/2'"),
        ("in (floats),a,b\n0,nan,1\n", "must be a probability, got nan"),
    ],
)
def test_texts_that_are_cut_or_name_a_label_twice_are_refused(text: str, says: str) -> None:
    with pytest.raises(ChannelError, match=says) as caught:
        parse_channel(text)
    assert "\n" not in str(caught.value)


def test_json_keeps_labels_that_a_csv_cannot() -> None:
    source = channel([[1], ["1"]], inputs=["1", 1])
    assert parse_channel(source.to_json()) == source
    with pytest.raises(ChannelError, match="'1' twice"):
        parse_channel(source.to_csv())


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_a_float_channel_has_float_losses_that_are_those_of_its_exact_one(seed: int) -> None:
    places = ut.grid(2, 2)
    loss = ut.losses.over(ut.losses.absolute, places)  # Euclidean: irrational
    reader = ut.Consumer(ut.priors.explicit(["1/2", "1/4", "1/8", "1/8"]), loss)
    weights = np.random.default_rng(seed).random((4, 4)) + 0.01
    floats = Channel(weights / weights.sum(axis=1, keepdims=True), inputs=places.labels, outputs=places.labels)
    exact = normalise(floats)
    for value in (
        (reader.expected_loss(floats), reader.expected_loss(exact)),
        (reader.face_value_loss(floats), reader.face_value_loss(exact)),
        (Minimax(loss).worst_loss(floats), Minimax(loss).worst_loss(exact)),
    ):
        assert isinstance(value[0], float)
        assert value[0] == pytest.approx(float(value[1]), rel=1e-12)
    posterior = reader.posterior(floats, "0,0")
    assert posterior.dtype == float
    assert np.allclose(posterior, reader.posterior(exact, "0,0").astype(float))


def test_the_epsilon_of_a_float_channel_is_that_of_its_doubles() -> None:
    rows = np.array([[0.2, 0.8], [0.6, 0.4]])
    loss = ut.least_epsilon(Channel(rows), ut.line(2))
    assert loss.ratio == Fraction(0.6) / Fraction(0.2)
    assert loss.epsilon == pytest.approx(np.log(3))


def test_a_large_channel_prints_its_first_rows_and_columns() -> None:
    source = ut.geometric(99, ut.alpha("1/2")).channel()
    lines = str(source).splitlines()
    assert len(lines) <= 20
    assert lines[-1] == "… of 100 rows and 100 columns"
    assert len(str(source)) < 5000
    assert len(source._repr_html_()) < 60_000


def test_a_notebook_shows_labels_as_text() -> None:
    html = channel([[1]], inputs=["<script>alert(1)</script>"], outputs=["a\x1b[31m"])._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html
