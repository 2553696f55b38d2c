"""Maps of mechanisms on grids; heat maps of channels with names."""

from __future__ import annotations

import math

import pytest

from utmost.channel import Channel, channel
from utmost.charts import channel_chart, location_maps, save_chart
from utmost.errors import InputError


def grid_channel(rows: int, columns: int) -> Channel:
    """A channel on a grid that reports each place with a probability that falls with its distance."""
    places = [(r, c) for r in range(rows) for c in range(columns)]
    weights = [[0.5 ** math.dist(a, b) for b in places] for a in places]
    labels = [f"{r},{c}" for r, c in places]
    return channel([[w / sum(row) for w in row] for row in weights], labels, labels)


def cell_rows(chart) -> list[dict]:
    document = chart.to_dict()
    return document["datasets"][document["data"]["name"]]


def test_every_place_of_a_small_grid_has_its_map_where_it_lies() -> None:
    source = grid_channel(2, 3)
    cells = cell_rows(location_maps(source, (2, 3), "t"))
    assert len(cells) == 36
    assert all(f"{cell['panel_row']},{cell['panel_column']}" == cell["true"] for cell in cells)
    assert all(f"{cell['row']},{cell['column']}" == cell["reported"] for cell in cells)
    assert all(cell["here"] == (cell["true"] == cell["reported"]) for cell in cells)
    for cell in cells:
        x, y = source.inputs.index(cell["true"]), source.outputs.index(cell["reported"])
        assert cell["chance"] == source.rows[x, y]


def test_outputs_find_their_places_by_name_in_any_order() -> None:
    source = grid_channel(2, 2)
    reversed_outputs = Channel(source.inputs, source.outputs[::-1], source.rows[:, ::-1])
    expected, reversed_cells = (
        sorted(cell_rows(location_maps(mechanism, (2, 2), "t")), key=lambda cell: (cell["true"], cell["reported"]))
        for mechanism in (source, reversed_outputs)
    )
    assert expected == reversed_cells


def test_places_that_are_never_reported_are_shown_with_chance_0() -> None:
    source = grid_channel(2, 2)
    rows = [[row[0] + row[1], row[2] + row[3]] for row in source.rows]
    cells = cell_rows(location_maps(channel(rows, source.inputs, ("0,0", "1,0")), (2, 2), "t"))
    assert {cell["reported"] for cell in cells if not cell["chance"]} == {"0,1", "1,1"}
    assert sum(cell["here"] for cell in cells) == 4


def test_a_larger_grid_shows_a_corner_a_side_and_the_centre_or_the_requested_places() -> None:
    source = grid_channel(6, 7)
    assert {cell["true"] for cell in cell_rows(location_maps(source, (6, 7), "t"))} == {"0,0", "0,3", "3,3"}
    assert {cell["true"] for cell in cell_rows(location_maps(source, (6, 7), "t", inputs=["5,6"]))} == {"5,6"}


def test_a_channel_that_does_not_fit_the_grid_is_refused() -> None:
    source = grid_channel(2, 2)
    with pytest.raises(InputError, match="needs a channel of 6 inputs, got 4"):
        location_maps(source, (2, 3), "t")
    with pytest.raises(InputError, match="outputs that are places, got 1"):
        location_maps(Channel(source.inputs, ("x", *source.outputs[1:]), source.rows), (2, 2), "t")
    with pytest.raises(InputError, match="inputs of a map must be inputs of the channel"):
        location_maps(source, (2, 2), "t", inputs=["9,9"])


@pytest.mark.few
@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_maps_are_written_in_every_format(tmp_path, ending: str) -> None:
    save_chart(location_maps(grid_channel(3, 3), (3, 3), "A claim"), tmp_path / f"m.{ending}")
    body = (tmp_path / f"m.{ending}").read_bytes()
    assert len(body) > 1000
    assert ending == "png" or b"ringed: the true place" in body


@pytest.mark.slow
def test_a_hundred_names_make_a_heat_map_not_curves() -> None:
    chart = channel_chart(grid_channel(10, 10), "t").to_dict()
    (rows,) = chart["datasets"].values()
    assert len(rows) == 10_000
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["rect"]
    assert len(chart["layer"][0]["encoding"]["x"]["axis"]["values"]) <= 24


def test_long_names_above_a_heat_map_stand_upright_and_short_ones_do_not() -> None:
    def angle(labels: list[str]) -> int:
        mechanism = channel([["1/2", "1/2"], ["1/2", "1/2"]], labels, labels)
        return channel_chart(mechanism, "t").to_dict()["layer"][0]["encoding"]["x"]["axis"]["labelAngle"]

    assert angle(["Copenhagen", "Amsterdam"]) == -90
    assert angle(["00", "01"]) == 0


def test_a_very_long_entry_is_shown_as_a_decimal() -> None:
    share = f"1/{3**120}"
    mechanism = channel([[share, f"{3**120 - 1}/{3**120}"]], ["a"], ["u", "v"])
    chart = channel_chart(mechanism, "t").to_dict()
    (rows,) = chart["datasets"].values()
    assert all(len(row["entry"]) < 30 for row in rows)
