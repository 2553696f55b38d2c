"""Charts of spaces as points and lines."""

from __future__ import annotations

import pytest

from utmost.charts import network_chart, save_chart
from utmost.errors import InputError

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
SQUARE_EDGES = [(0, 1), (1, 2), (2, 3), (0, 3)]


def layers(chart) -> list[tuple[str, dict, list[dict]]]:
    document = chart.to_dict()
    return [
        (layer["mark"]["type"], layer["mark"], document["datasets"][layer["data"]["name"]])
        for layer in document["layer"]
    ]


def test_every_edge_is_a_line_between_its_points_and_the_path_stands_out() -> None:
    lines = [
        rows
        for kind, _, rows in layers(network_chart("abcd", SQUARE, SQUARE_EDGES, "t", path=[0, 1, 2]))
        if kind == "line"
    ]
    assert len(lines) == 2
    line_ends = {(row["edge"], row["x"], row["y"]) for row in lines[0]}
    assert line_ends == {(k, *SQUARE[p]) for k, pair in enumerate(SQUARE_EDGES) for p in pair}
    assert [(row["x"], row["y"]) for row in lines[1]] == [SQUARE[p] for p in (0, 1, 1, 2)]


def test_names_stand_where_a_point_s_lines_leave_room() -> None:
    marks = {
        rows[0]["name"]: mark
        for kind, mark, rows in layers(network_chart("abcd", SQUARE, SQUARE_EDGES, "t"))
        if kind == "text"
    }
    assert marks["a"]["dx"] < 0 < marks["a"]["dy"]  # left and below the lower left corner
    assert marks["c"]["dx"] > 0 > marks["c"]["dy"]  # right and above the upper right one
    lone_marks = {
        rows[0]["name"]: mark for kind, mark, rows in layers(network_chart("ab", SQUARE[:2], [], "t")) if kind == "text"
    }
    assert lone_marks["a"]["dy"] < 0  # above, where nothing joins it


def test_each_point_needs_its_position() -> None:
    with pytest.raises(InputError, match="got 3 points and 4 places"):
        network_chart("abc", SQUARE, SQUARE_EDGES, "t")


def test_a_network_is_written(tmp_path) -> None:
    save_chart(network_chart("abcd", SQUARE, SQUARE_EDGES, "A claim"), tmp_path / "n.svg")
    assert "A claim" in (tmp_path / "n.svg").read_text()
