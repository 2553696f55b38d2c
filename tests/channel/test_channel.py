"""Channels: validation, post-processing, mixing, restriction, merging; files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, levels
from utmost.channel import Channel, channel, deterministic, identity, merge, mix
from utmost.channel.files import from_csv, from_json, read_channel, to_csv, to_json, write_channel
from utmost.errors import ChannelError, InputError
from utmost.exact import Level, exponential
from utmost.mechanisms import geometric


@given(channels(outputs=3), channels(inputs=3), st.data())
def test_post_processing_is_matrix_multiplication(first: Channel, second: Channel, data: st.DataObject) -> None:
    both = first.then(second)
    x = data.draw(st.integers(0, len(first.inputs) - 1))
    y = data.draw(st.integers(0, len(second.outputs) - 1))
    assert both.rows[x, y] == sum(first.rows[x, k] * second.rows[k, y] for k in range(3))
    assert all(row.sum() == 1 for row in both.rows)


@given(channels())
def test_identity_changes_nothing(source: Channel) -> None:
    assert source.then(identity(source.outputs)) == source
    assert identity(source.inputs).then(source) == source


@given(channels(inputs=3), channels(inputs=3), st.fractions(0, 1, max_denominator=20))
def test_a_mixture_is_a_channel_and_weighs_its_parts(first: Channel, second: Channel, weight: Fraction) -> None:
    mixed = mix(first, second, weight)
    assert all(row.sum() == 1 for row in mixed.rows)
    expected = weight * first.rows[0, 0] + (1 - weight) * second.rows[0, 0]
    assert mixed.column(0)[0] == expected


@given(channels())
def test_merged_columns_are_not_proportional_and_nothing_is_lost(source: Channel) -> None:
    merged = merge(source)
    shapes = [tuple(merged.rows[:, y] / merged.rows[:, y].sum()) for y in range(len(merged.outputs))]
    assert len(set(shapes)) == len(shapes)
    assert all(row.sum() == 1 for row in merged.rows)
    assert sum(len(str(y).split("+")) for y in merged.outputs) == sum(bool(c.sum()) for c in source.rows.T)


def test_merge_joins_proportional_columns() -> None:
    source = channel([["1/2", "1/4", "1/4", 0], ["1/4", "5/8", "1/8", 0]])
    assert merge(source) == channel([["3/4", "1/4"], ["3/8", "5/8"]], outputs=["0+2", 1])


def test_float_channels_stay_float_and_exact_ones_exact() -> None:
    floats, exact = channel([[0.5, 0.5], [0.25, 0.75]]), channel([["1/2", "1/2"], ["1/4", "3/4"]])
    assert exact.then(exact).exact
    assert not floats.then(exact).exact
    assert not mix(floats, exact, "1/2").exact
    assert np.allclose(floats.then(exact).floats(), exact.then(exact).floats())
    with pytest.raises(ChannelError, match="all exact or all floats"):
        channel([[0.5, Fraction(1, 2)]])


def test_irrational_rows_that_sum_to_one_are_accepted_and_others_not() -> None:
    tenth = exponential(Fraction(-1, 10))
    assert channel([[1 / (1 + tenth), tenth / (1 + tenth)]]).exact
    with pytest.raises(ChannelError, match="sum to 1"):
        channel([[1 / (1 + tenth), tenth]])


def test_restriction_keeps_the_order_given() -> None:
    source = geometric(3, Level(Fraction(1, 2))).channel()
    assert source.restrict([2, 0]).inputs == (2, 0)
    assert list(source.restrict([2, 0]).row(0)) == list(source.row(0))
    for bad in ([7], []):
        with pytest.raises(InputError):
            source.restrict(bad)


def test_channels_that_do_not_meet_are_refused() -> None:
    two, three = identity("ab"), identity("abc")
    with pytest.raises(ChannelError):
        two.then(three)
    with pytest.raises(ChannelError):
        mix(two, three, "1/2")
    with pytest.raises(InputError):
        mix(two, two, "3/2")
    with pytest.raises(InputError):
        deterministic(["z"], ["a"], ["b"])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "at least one"),
        ([[]], "at least one"),
        ([["1/2", "1/2"], ["1"]], "row 1 must have 2 entries"),
        ([["3/2", "-1/2"]], "must be a probability"),
        ([["1/2", "1/3"]], "row 0 must sum to 1, got 5/6"),
        ([[0.5, 0.6]], "row 0 must sum to 1"),
        ([[float("nan"), 1.0]], "must be a probability"),
        ([["nan", "1"]], "must be a number"),
    ],
)
def test_what_is_not_a_channel_is_refused_with_the_place(rows: list[list[object]], says: str) -> None:
    with pytest.raises(InputError, match=says.replace("[", r"\[")):
        channel(rows)


def test_labels_must_fit() -> None:
    with pytest.raises(ChannelError, match="2 distinct outputs"):
        channel([["1/2", "1/2"]], outputs=["a", "a"])
    with pytest.raises(ChannelError, match="1 distinct inputs"):
        channel([["1/2", "1/2"]], inputs=["a", "b"])


@given(channels())
@settings(max_examples=50)
def test_exact_channels_survive_both_file_formats(source: Channel) -> None:
    assert from_csv(to_csv(source)) == source
    assert from_json(json.dumps(to_json(source))) == source


@given(levels(), st.integers(0, 4))
@settings(max_examples=40)
def test_irrational_entries_survive_both_file_formats(level: Level, size: int) -> None:
    source = geometric(size, level).channel()
    assert from_csv(to_csv(source)) == source
    assert from_json(json.dumps(to_json(source))) == source


def test_files_by_their_ending(tmp_path: Path) -> None:
    source = channel([["1/3", "2/3"], ["1/2", "1/2"]], ["low", "high"], [0, 1])
    floats = channel([[0.25, 0.75]])
    for name in ("c.csv", "c.json"):
        write_channel(source, tmp_path / name)
        assert read_channel(tmp_path / name) == source
    write_channel(floats, tmp_path / "f.json")
    assert not read_channel(tmp_path / "f.json").exact


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "in\n0\n",
        "in,a,b\n0,1/2\n",
        "in,a,b\n0,x,y\n",
        "in,a,b\n0,nan,1\n",
        "in,a,a\n0,1/2,1/2\n",
        "in,a,b\n",
        "a\x00,b,c\n",
    ],
)
def test_a_csv_that_is_no_channel_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_channel(path)
    assert "\n" not in str(caught.value)
    assert "bad.csv" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"rows": []}', '{"rows": [1]}', '{"rows": [["1/2"], "x"]}',
             '{"rows": [["1"]], "inputs": "a"}', '{"rows": [[NaN, 1]]}', '{"rows": [[null]]}', "[" * 100_000]
)  # fmt: skip
def test_a_json_that_is_no_channel_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read_channel(path)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_channel(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot write"):
        write_channel(channel([["1"]]), tmp_path / "no" / "such.csv")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="UTF-8"):
        read_channel(tmp_path / "binary.csv")


def test_a_channel_made_by_hand_is_checked_too() -> None:
    half = Fraction(1, 2)
    assert Channel((0, 1), ("a", "b"), [["1/2", "1/2"], [0, 1]]).rows[0, 0] == half
    with pytest.raises(ChannelError, match="row 0 must sum to 1"):
        Channel((0,), (0, 1), np.array([[Fraction(1), half]], dtype=object))
    with pytest.raises(ChannelError, match="distinct inputs"):
        Channel((0, 0), (0,), [[1], [1]])


def test_channels_show_themselves_shortly_and_print_as_a_table() -> None:
    source = channel([["1/3", "2/3"], ["1/2", "1/2"]])
    assert repr(source) == "<Channel: 2 inputs, 2 outputs, exact entries>"
    assert str(source).splitlines() == ["     0    1", "0  1/3  2/3", "1  1/2  1/2"]


def test_labels_that_would_upset_a_terminal_and_endless_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "escape.csv").write_text("in,a\x1b[31m,b\n0,1/2,1/2\n")
    with pytest.raises(InputError, match="printable"):
        read_channel(tmp_path / "escape.csv")
    (tmp_path / "long.csv").write_text("in,a\n0," + "1" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"long\.csv"):
        read_channel(tmp_path / "long.csv")
    (tmp_path / "digits.json").write_text('{"rows": [[' + "1" * 5000 + "]]}")
    with pytest.raises(InputError):
        read_channel(tmp_path / "digits.json")
    if Path("/dev/zero").exists():
        with pytest.raises(InputError, match="MiB"):
            read_channel("/dev/zero")


def test_a_merged_label_that_is_taken_is_refused_and_mappings_must_fit() -> None:
    with pytest.raises(ChannelError, match="share a label"):
        merge(channel([["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]], outputs=["a", "b", "a+b"]))
    with pytest.raises(InputError, match="one output for each"):
        deterministic([0, 1, 0], range(2), range(2))
