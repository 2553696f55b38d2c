"""Charts of profiles."""

from __future__ import annotations

from utmost.axioms.definition import parse_bound
from utmost.axioms.privacy_profiles import profile
from utmost.channel import channel
from utmost.charts.definition import MAX_MARKED_BREAKPOINTS, profile_chart
from utmost.exact import epsilon
from utmost.mechanisms import geometric


def layers(chart) -> list:
    """The layers of a chart, each with its values."""
    document = chart.to_dict()
    return [layer | {"values": document["datasets"][layer["data"]["name"]]} for layer in document["layer"]]


def test_the_points_drawn_are_the_breakpoints():
    pair_profile = profile(channel([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]]), (0, 1))
    chart_layers = layers(profile_chart(pair_profile))
    values = [layer["values"] for layer in chart_layers if layer["mark"]["type"] == "point"]
    assert [(value["x"], value["y"]) for value in values[0]] == [(0, 0), (0.25, 0.5), (0.5, 0.75), (1, 1)]


def test_a_bound_is_drawn_with_its_jump_and_its_mirror_image():
    pair_profile = profile(geometric(3, epsilon(1)), (1, 2))
    chart_layers = layers(profile_chart(pair_profile, parse_bound("points:0 0,0 1/4,1 1"), (0.5, 0.9)))
    region = next(layer for layer in chart_layers if layer["mark"]["type"] == "area")
    assert [(v["x"], v["y"], v["low"]) for v in region["values"]] == [(0, 0.25, 0), (1, 1, 0.75)]
    line = next(
        layer for layer in chart_layers if layer["mark"]["type"] == "line" and "allowed" in str(layer["values"])
    )
    assert [(v["x"], v["y"]) for v in line["values"]][:2] == [(0, 0), (0, 0.25)]
    assert chart_layers[-1]["values"] == [{"x": 0.5, "y": 0.9}]


def test_a_profile_of_very_many_pieces_has_no_dots():
    size = MAX_MARKED_BREAKPOINTS + 5
    weights = [[k + 1 for k in range(size)], [size**2 + (k + 1) ** 2 for k in range(size)]]
    pair_profile = profile(channel([[f"{w}/{sum(row)}" for w in row] for row in weights]), (0, 1))
    assert all(layer["mark"]["type"] != "point" for layer in layers(profile_chart(pair_profile)))
