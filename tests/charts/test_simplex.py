"""Charts of distributions over three and four secrets: positions read back from the charts."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.charts import Posterior, save_chart, simplex_chart, tetrahedron_chart, uncertainty_chart
from utmost.charts.region import (
    BACK_COLOUR,
    CHAR_HEIGHT_PIXELS,
    CHAR_WIDTH_PIXELS,
    CORNERS,
    FRONT_COLOUR,
    SIDE_PIXELS,
    facets,
    project,
)
from utmost.charts.simplex import (
    MAX_DOT_AREA,
    MIN_DOT_AREA,
    _max_uncertainty,
    _superlevel_set,
    clip_polygon,
    triangle_point,
)
from utmost.errors import InputError

LABELS = ("a", "b", "c")
UNIT_DISTRIBUTIONS: list[tuple[float, ...]] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
UNIFORM = (1 / 3, 1 / 3, 1 / 3)
BOX_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
LINE_REGION = [(4 / 7, 2 / 7, 1 / 7), (1 / 4, 1 / 2, 1 / 4), (1 / 7, 2 / 7, 4 / 7), (2 / 5, 1 / 5, 2 / 5)]


def distributions(size: int) -> st.SearchStrategy[tuple[float, ...]]:
    weights = st.lists(st.integers(1, 50), min_size=size, max_size=size)
    return weights.map(lambda ws: tuple(w / sum(ws) for w in ws))


def leaves(chart: dict, data: dict | None = None) -> list[dict]:
    """All layers of a chart that hold marks, in order, each with the data that it has or that it inherits."""
    inner, data = chart.get("layer") or chart.get("hconcat"), chart.get("data") or data
    return [leaf for child in inner for leaf in leaves(child, data)] if inner else [{**chart, "data": data}]


def marks_of_kind(chart, kind: str) -> list[tuple[dict, list[dict]]]:
    """(mark, data) of each layer of one kind."""
    document = chart.to_dict()
    return [
        (leaf["mark"], document["datasets"][leaf["data"]["name"]])
        for leaf in leaves(document)
        if leaf["mark"]["type"] == kind
    ]


def names_in(chart) -> list[str]:
    return [row["name"] for _, rows in marks_of_kind(chart, "text") for row in rows]


@given(distributions(3), distributions(3))
@settings(max_examples=50, deadline=None)
def test_the_triangle_is_equilateral_and_keeps_means(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    sides = {
        round(math.dist(triangle_point(a), triangle_point(b)), 12)
        for a in UNIT_DISTRIBUTIONS
        for b in UNIT_DISTRIBUTIONS
        if a != b
    }
    assert sides == {1.0}
    mean = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    assert triangle_point(mean) == pytest.approx(
        [(a + b) / 2 for a, b in zip(triangle_point(first), triangle_point(second), strict=True)]
    )


@given(distributions(4), distributions(4))
@settings(max_examples=50, deadline=None)
def test_the_tetrahedron_is_regular_and_its_projection_is_a_rotation(
    first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    sides = {round(math.dist(CORNERS[a], CORNERS[b]), 12) for a in range(4) for b in range(a)}
    assert sides == {2.0}
    lengths = np.linalg.norm(np.array(first) @ CORNERS - np.array(second) @ CORNERS)
    assert np.linalg.norm(project([first])[0] - project([second])[0]) == pytest.approx(
        lengths
    )  # a turn keeps all three lengths
    assert project([tuple((a + b) / 2 for a, b in zip(first, second, strict=True))])[0] == pytest.approx(
        project([first, second]).mean(axis=0)
    )


def test_cutting_the_triangle_by_the_constraints_leaves_the_region_of_a_line_of_three() -> None:
    polygon = UNIT_DISTRIBUTIONS
    for x, other in ((0, 1), (1, 0), (1, 2), (2, 1)):
        normal = [0.0, 0.0, 0.0]
        normal[x], normal[other] = -1.0, 2.0  # p(x) ≤ 2·p(other)
        polygon = clip_polygon(polygon, normal)
    assert sorted(tuple(round(v, 12) for v in p) for p in polygon) == sorted(
        tuple(round(v, 12) for v in p) for p in LINE_REGION
    )


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4), distributions(3))
@settings(max_examples=60, deadline=None)
def test_the_bands_are_the_points_where_the_uncertainty_is_at_least_their_height(
    columns: list[list[int]], point: tuple[float, ...]
) -> None:
    value = min(sum(p * c for p, c in zip(point, column, strict=True)) for column in columns)
    assert value <= _max_uncertainty(columns) + 1e-9
    for corner in _superlevel_set(columns, value - 1e-9):
        assert min(sum(p * c for p, c in zip(corner, column, strict=True)) for column in columns) >= value - 1e-6
    assert _superlevel_set(columns, value - 1e-9)  # not empty: the point is in it


def test_the_uncertainty_of_naming_a_wrong_secret_is_highest_in_the_middle() -> None:
    losses = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    chart = uncertainty_chart(LABELS, losses, "t", actions=("not a", "not b", "not c"))
    assert _max_uncertainty([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) == pytest.approx(1 / 3)
    assert set(names_in(chart)) == {*LABELS, "not a", "not b", "not c"}


def test_an_action_that_is_never_best_has_no_cell() -> None:
    chart = uncertainty_chart(LABELS, [[0, 1, 2], [1, 0, 2], [1, 1, 2]], "t", actions=("u", "v", "never"))
    assert "u" in names_in(chart)
    assert "never" not in names_in(chart)


def test_each_constraint_is_a_line_from_a_corner_to_the_opposite_side_with_its_name() -> None:
    chart = simplex_chart(LABELS, "t", ratios=[(0, 1, 2), (2, 1, 3)])
    lines = [rows for mark, rows in marks_of_kind(chart, "line") if mark.get("strokeDash")]
    assert [(line[0]["x"], line[0]["y"]) for line in lines] == [
        triangle_point(UNIT_DISTRIBUTIONS[2]),
        triangle_point(UNIT_DISTRIBUTIONS[0]),
    ]
    assert (lines[0][1]["x"], lines[0][1]["y"]) == pytest.approx(triangle_point((2 / 3, 1 / 3, 0)))
    assert (lines[1][1]["x"], lines[1][1]["y"]) == pytest.approx(triangle_point((0, 1 / 4, 3 / 4)))
    assert {"p(a) = 2·p(b)", "p(c) = 3·p(b)"} <= set(names_in(chart))


def test_posteriors_are_dots_of_the_area_of_their_weight_with_their_names() -> None:
    posteriors = [
        Posterior("y0", LINE_REGION[0], 0.25, "one"),
        Posterior("y1", LINE_REGION[1], 0.75, "one"),
        Posterior("v", LINE_REGION[3]),
    ]
    chart = simplex_chart(LABELS, "t", region=LINE_REGION, posteriors=posteriors, prior=UNIFORM)
    (dots,) = [rows for _, rows in marks_of_kind(chart, "point") if "size" in rows[0]]
    assert [dot["size"] for dot in dots] == [MAX_DOT_AREA / 4, 3 * MAX_DOT_AREA / 4, MIN_DOT_AREA]
    assert (dots[0]["x"], dots[0]["y"]) == triangle_point(LINE_REGION[0])
    assert names_in(chart) == [*LABELS, "y0", "y1", "v", "prior"]


def test_the_region_is_drawn_whatever_the_order_of_its_corners() -> None:
    shapes = []
    for corners in (LINE_REGION, LINE_REGION[::-1], [LINE_REGION[k] for k in (2, 0, 3, 1)]):
        (shape,) = [
            rows
            for mark, rows in marks_of_kind(simplex_chart(LABELS, "t", region=corners), "line")
            if mark.get("filled")
        ]
        area = sum(a["x"] * b["y"] - b["x"] * a["y"] for a, b in pairwise(shape)) / 2
        shapes.append(area)
    assert shapes == pytest.approx([shapes[0]] * 3)
    assert shapes[0] > 0


def test_faces_of_a_cube_are_its_six_squares() -> None:
    cube = np.array(list(product((0.0, 1.0), repeat=3)))
    faces = facets(cube)
    assert len(faces) == 6
    for normal, corners in faces:
        assert len(corners) == 4
        steps = [np.abs(cube[a] - cube[b]).sum() for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
        assert steps == [1.0] * 4  # around it, not across
        assert np.allclose([(cube[k] - 0.5) @ normal for k in corners], 0.5)


def test_the_tetrahedron_shows_all_vertices_of_the_region_and_enlarges_it() -> None:
    region = [tuple(v / sum(vs) for v in vs) for vs in product((1, 2), repeat=4) if len(set(vs)) > 1]
    chart = tetrahedron_chart(
        "wxyz", "t", region=region, posteriors=[Posterior("y", region[0], 1.0, "g")], prior=(0.25,) * 4
    )
    assert len(chart.to_dict()["hconcat"]) == 2
    dots = [rows for _, rows in marks_of_kind(chart, "point") if len(rows) == 14]
    assert len(dots) == 2
    assert [(dot["x"], dot["y"]) for dot in dots[0]] == [tuple(point[:2]) for point in project(region).tolist()]
    assert names_in(chart).count("y") == 2  # the corner, and the posterior in the larger panel
    edges = [
        {row["path"] for row in rows}
        for mark, rows in marks_of_kind(chart, "line")
        if mark.get("color") in (FRONT_COLOUR, BACK_COLOUR)
    ]
    assert [len(front) + len(back) for front, back in ((edges[0], edges[1]), (edges[2], edges[3]))] == [
        24,
        24,
    ]  # 14 − 24 + 12 = 2


def text_boxes(panel: dict, data: dict) -> list[tuple[np.ndarray, np.ndarray]]:
    """(middle, half the sides) in pixels of each name of the enlarged region, from its mark and its scales."""
    name_boxes = []
    for leaf in leaves(panel):
        if leaf["mark"]["type"] == "text":
            (row,) = data[leaf["data"]["name"]]
            low, high = leaf["encoding"]["x"]["scale"]["domain"]
            middle = np.array([row["x"], -row["y"]]) * SIDE_PIXELS / (high - low) + (
                leaf["mark"]["dx"],
                leaf["mark"]["dy"],
            )
            name_boxes.append((middle, np.array([CHAR_WIDTH_PIXELS * len(row["name"]), CHAR_HEIGHT_PIXELS]) / 2))
    return name_boxes


def lines_and_dots(panel: dict, data: dict) -> np.ndarray:
    """Points in pixels along all lines of a panel, a thousand each, and at all its dots."""
    points = []
    for leaf in leaves(panel):
        if leaf["mark"]["type"] == "text" or (leaf["mark"].get("filled") and leaf["mark"]["type"] == "line"):
            continue
        low, high = leaf["encoding"]["x"]["scale"]["domain"]
        paths: dict[object, list[np.ndarray]] = {}
        for k, row in enumerate(data[leaf["data"]["name"]]):
            paths.setdefault(row.get("path", k), []).append(
                np.array([row["x"], -row["y"]]) * SIDE_PIXELS / (high - low)
            )
        points += [np.linspace(path[0], path[-1], 1000) for path in paths.values()]
    return np.vstack(points)


def region_of(distances: list[list[int]], level: str) -> list[tuple[float, ...]]:
    from utmost import alpha, polytopes
    from utmost.spaces import space

    region = polytopes.posterior_region(space(distances), alpha(level))
    return [tuple(float(p) for p in region.posterior(k)) for k in range(len(region.columns))]


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("level", ["1/3", "1/2", "2/3"])
@pytest.mark.parametrize(
    "distances",
    [
        [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 2], [3, 2, 2, 0]],
        [[0, 5, 5, 7], [5, 0, 7, 5], [5, 7, 0, 5], [7, 5, 5, 0]],
        [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]],
        [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]],
    ],
    ids=["uneven", "square", "discrete", "line"],
)
def test_no_name_in_the_enlarged_region_lies_on_a_line_a_dot_or_another_name(
    distances: list[list[int]], level: str
) -> None:
    region = region_of(distances, level)
    posteriors = [Posterior(str(k), point, None, "vertices") for k, point in enumerate(region)]
    document = tetrahedron_chart("wxyz", "t", region=region, posteriors=posteriors, prior=(0.25,) * 4).to_dict()
    panel, data = document["hconcat"][1], document["datasets"]
    boxes = text_boxes(panel, data)
    assert len(boxes) == len(region) + 1
    ink = lines_and_dots(panel, data)
    for middle, half in boxes:
        assert not (np.abs(ink - middle) < half).all(axis=1).any()
    for k, (middle, half) in enumerate(boxes):
        assert not any((np.abs(middle - other) < half + other_half).all() for other, other_half in boxes[:k])


def test_the_names_of_the_corners_lie_outside_the_tetrahedron() -> None:
    corners = project([tuple(float(k == x) for k in range(4)) for x in range(4)])[:, :2]
    labels = ("covid", "flu", "cold", "none")
    sides = {"left": 1, "right": -1, "center": 0}
    texts = marks_of_kind(tetrahedron_chart(labels, "t", prior=(0.25,) * 4), "text")
    assert [rows[0]["name"] for _, rows in texts] == list(labels)
    for mark, (row,) in texts:
        width = 10 * len(row["name"])
        middle = np.array([mark["dx"] + sides[mark["align"]] * width / 2, -mark["dy"]])
        corner_point, half = np.array([row["x"], row["y"]]), np.array([width / 2, 7])
        box = [corner_point + (middle + half * box_corner) * 2.6 / SIDE_PIXELS for box_corner in BOX_CORNERS]
        outward = corner_point - corners.mean(axis=0)
        assert (
            min(corner @ outward for corner in box) > max(corners @ outward) - 0.02
        )  # beyond the line through its corner


def test_points_of_a_plane_have_no_faces() -> None:
    assert facets(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])) == []
    assert facets(np.array([[0.0, 0, 0]])) == []


@pytest.mark.parametrize(("draw", "size"), [(simplex_chart, 4), (tetrahedron_chart, 3)])
def test_a_wrong_number_of_secrets_is_refused(draw, size: int) -> None:
    with pytest.raises(InputError, match=f"got {size}"):
        draw(range(size), "t")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_simplex_and_tetrahedron_are_written_in_every_format(tmp_path, ending: str) -> None:
    save_chart(simplex_chart(LABELS, "A claim", region=LINE_REGION, prior=UNIFORM), tmp_path / f"s.{ending}")
    save_chart(tetrahedron_chart("wxyz", "A claim", prior=(0.25,) * 4), tmp_path / f"t.{ending}")
    for name in "st":
        body = (tmp_path / f"{name}.{ending}").read_bytes()
        assert len(body) > 1000
        assert ending == "png" or b"A claim" in body
