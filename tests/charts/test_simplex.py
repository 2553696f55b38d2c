"""Distributions over three and four secrets, drawn: what stands where, read back from the charts."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.charts import Posterior, save_chart, simplex_chart, tetrahedron_chart, uncertainty_chart
from utmost.charts.simplex import MAX_DOT_AREA, MIN_DOT_AREA, _above, _top, clipped, flat
from utmost.charts.tetrahedron import BACK, CORNERS, FRONT, LETTER, SIDE, TALL, facets, seen
from utmost.errors import InputError

LABELS = ("a", "b", "c")
ALL: list[tuple[float, ...]] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
MIDDLE = (1 / 3, 1 / 3, 1 / 3)
AROUND = ((-1, -1), (-1, 1), (1, -1), (1, 1))
LINE = [(4 / 7, 2 / 7, 1 / 7), (1 / 4, 1 / 2, 1 / 4), (1 / 7, 2 / 7, 4 / 7), (2 / 5, 1 / 5, 2 / 5)]


def distributions(size: int) -> st.SearchStrategy[tuple[float, ...]]:
    weights = st.lists(st.integers(1, 50), min_size=size, max_size=size)
    return weights.map(lambda ws: tuple(w / sum(ws) for w in ws))


def leaves(chart: dict, data: dict | None = None) -> list[dict]:
    """All layers of a chart that hold marks, in order, each with the data that it has or that it inherits."""
    inner, data = chart.get("layer") or chart.get("hconcat"), chart.get("data") or data
    return [leaf for part in inner for leaf in leaves(part, data)] if inner else [{**chart, "data": data}]


def drawn(chart, kind: str) -> list[tuple[dict, list[dict]]]:
    """(mark, data) of each layer of one kind."""
    document = chart.to_dict()
    return [
        (leaf["mark"], document["datasets"][leaf["data"]["name"]])
        for leaf in leaves(document)
        if leaf["mark"]["type"] == kind
    ]


def words(chart) -> list[str]:
    return [row["name"] for _, rows in drawn(chart, "text") for row in rows]


@given(distributions(3), distributions(3))
@settings(max_examples=50, deadline=None)
def test_the_triangle_is_equilateral_and_keeps_means(one: tuple[float, ...], two: tuple[float, ...]) -> None:
    sides = {round(math.dist(flat(a), flat(b)), 12) for a in ALL for b in ALL if a != b}
    assert sides == {1.0}
    mean = tuple((a + b) / 2 for a, b in zip(one, two, strict=True))
    assert flat(mean) == pytest.approx([(a + b) / 2 for a, b in zip(flat(one), flat(two), strict=True)])


@given(distributions(4), distributions(4))
@settings(max_examples=50, deadline=None)
def test_the_tetrahedron_is_regular_and_seen_without_bending(one: tuple[float, ...], two: tuple[float, ...]) -> None:
    sides = {round(math.dist(CORNERS[a], CORNERS[b]), 12) for a in range(4) for b in range(a)}
    assert sides == {2.0}
    lengths = np.linalg.norm(np.array(one) @ CORNERS - np.array(two) @ CORNERS)
    assert np.linalg.norm(seen([one])[0] - seen([two])[0]) == pytest.approx(lengths)  # a turn keeps all three lengths
    assert seen([tuple((a + b) / 2 for a, b in zip(one, two, strict=True))])[0] == pytest.approx(
        seen([one, two]).mean(axis=0)
    )


def test_cutting_the_triangle_by_the_constraints_leaves_the_region_of_a_line_of_three() -> None:
    polygon = ALL
    for x, other in ((0, 1), (1, 0), (1, 2), (2, 1)):
        normal = [0.0, 0.0, 0.0]
        normal[x], normal[other] = -1.0, 2.0  # p(x) ≤ 2·p(other)
        polygon = clipped(polygon, normal)
    assert sorted(tuple(round(v, 12) for v in p) for p in polygon) == sorted(
        tuple(round(v, 12) for v in p) for p in LINE
    )


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4), distributions(3))
@settings(max_examples=60, deadline=None)
def test_the_bands_are_the_places_where_the_entropy_is_at_least_their_height(
    columns: list[list[int]], point: tuple[float, ...]
) -> None:
    value = min(sum(p * c for p, c in zip(point, column, strict=True)) for column in columns)
    assert value <= _top(columns) + 1e-9
    for corner in _above(columns, value - 1e-9):
        assert min(sum(p * c for p, c in zip(corner, column, strict=True)) for column in columns) >= value - 1e-6
    assert _above(columns, value - 1e-9)  # not empty: the point is in it


def test_the_entropy_of_naming_what_it_is_not_is_highest_in_the_middle() -> None:
    losses = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    chart = uncertainty_chart(LABELS, losses, "t", actions=("not a", "not b", "not c"))
    assert _top([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) == pytest.approx(1 / 3)
    assert set(words(chart)) == {*LABELS, "not a", "not b", "not c"}


def test_an_action_that_is_never_best_has_no_cell() -> None:
    chart = uncertainty_chart(LABELS, [[0, 1, 2], [1, 0, 2], [1, 1, 2]], "t", actions=("u", "v", "never"))
    assert "u" in words(chart)
    assert "never" not in words(chart)


def test_each_constraint_is_a_line_from_a_corner_to_the_opposite_side_with_its_name() -> None:
    chart = simplex_chart(LABELS, "t", ratios=[(0, 1, 2), (2, 1, 3)])
    lines = [rows for mark, rows in drawn(chart, "line") if mark.get("strokeDash")]
    assert [(line[0]["x"], line[0]["y"]) for line in lines] == [flat(ALL[2]), flat(ALL[0])]
    assert (lines[0][1]["x"], lines[0][1]["y"]) == pytest.approx(flat((2 / 3, 1 / 3, 0)))
    assert (lines[1][1]["x"], lines[1][1]["y"]) == pytest.approx(flat((0, 1 / 4, 3 / 4)))
    assert {"p(a) = 2·p(b)", "p(c) = 3·p(b)"} <= set(words(chart))


def test_posteriors_are_dots_of_the_area_of_their_weight_with_their_names() -> None:
    found = [Posterior("y0", LINE[0], 0.25, "one"), Posterior("y1", LINE[1], 0.75, "one"), Posterior("v", LINE[3])]
    chart = simplex_chart(LABELS, "t", region=LINE, posteriors=found, prior=MIDDLE)
    (dots,) = [rows for _, rows in drawn(chart, "point") if "size" in rows[0]]
    assert [dot["size"] for dot in dots] == [MAX_DOT_AREA / 4, 3 * MAX_DOT_AREA / 4, MIN_DOT_AREA]
    assert (dots[0]["x"], dots[0]["y"]) == flat(LINE[0])
    assert words(chart) == [*LABELS, "y0", "y1", "v", "prior"]


def test_the_region_is_drawn_around_whatever_the_order_of_its_corners() -> None:
    shapes = []
    for corners in (LINE, LINE[::-1], [LINE[k] for k in (2, 0, 3, 1)]):
        (shape,) = [
            rows for mark, rows in drawn(simplex_chart(LABELS, "t", region=corners), "line") if mark.get("filled")
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
    dots = [rows for _, rows in drawn(chart, "point") if len(rows) == 14]
    assert len(dots) == 2
    assert [(dot["x"], dot["y"]) for dot in dots[0]] == [tuple(spot[:2]) for spot in seen(region).tolist()]
    assert words(chart).count("y") == 2  # the corner, and the posterior in the larger panel
    edges = [{row["path"] for row in rows} for mark, rows in drawn(chart, "line") if mark.get("color") in (FRONT, BACK)]
    assert [len(one) + len(two) for one, two in ((edges[0], edges[1]), (edges[2], edges[3]))] == [
        24,
        24,
    ]  # 14 − 24 + 12 = 2


def boxes(panel: dict, data: dict) -> list[tuple[np.ndarray, np.ndarray]]:
    """(middle, half the sides) in pixels of each name of the enlarged region, from its mark and its scales."""
    made = []
    for leaf in leaves(panel):
        if leaf["mark"]["type"] == "text":
            (row,) = data[leaf["data"]["name"]]
            low, high = leaf["encoding"]["x"]["scale"]["domain"]
            at = np.array([row["x"], -row["y"]]) * SIDE / (high - low) + (leaf["mark"]["dx"], leaf["mark"]["dy"])
            made.append((at, np.array([LETTER * len(row["name"]), TALL]) / 2))
    return made


def lines_and_dots(panel: dict, data: dict) -> np.ndarray:
    """Points in pixels along all lines of a panel, a thousand each, and at all its dots."""
    found = []
    for leaf in leaves(panel):
        if leaf["mark"]["type"] == "text" or (leaf["mark"].get("filled") and leaf["mark"]["type"] == "line"):
            continue
        low, high = leaf["encoding"]["x"]["scale"]["domain"]
        paths: dict[object, list[np.ndarray]] = {}
        for k, row in enumerate(data[leaf["data"]["name"]]):
            paths.setdefault(row.get("path", k), []).append(np.array([row["x"], -row["y"]]) * SIDE / (high - low))
        found += [np.linspace(path[0], path[-1], 1000) for path in paths.values()]
    return np.vstack(found)


def region_of(distances: list[list[int]], level: str) -> list[tuple[float, ...]]:
    from utmost import alpha, polytopes
    from utmost.spaces import space

    made = polytopes.posterior_region(space(distances), alpha(level))
    return [tuple(float(p) for p in made.posterior(k)) for k in range(len(made.columns))]


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
    named = [Posterior(str(k), point, None, "vertices") for k, point in enumerate(region)]
    document = tetrahedron_chart("wxyz", "t", region=region, posteriors=named, prior=(0.25,) * 4).to_dict()
    panel, data = document["hconcat"][1], document["datasets"]
    names = boxes(panel, data)
    assert len(names) == len(region) + 1
    ink = lines_and_dots(panel, data)
    for middle, half in names:
        assert not (np.abs(ink - middle) < half).all(axis=1).any()
    for k, (one, half) in enumerate(names):
        assert not any((np.abs(one - other) < half + wide).all() for other, wide in names[:k])


def test_the_names_of_the_corners_lie_outside_the_tetrahedron() -> None:
    corners = seen([tuple(float(k == x) for k in range(4)) for x in range(4)])[:, :2]
    labels = ("covid", "flu", "cold", "none")
    sides = {"left": 1, "right": -1, "center": 0}
    texts = drawn(tetrahedron_chart(labels, "t", prior=(0.25,) * 4), "text")
    assert [rows[0]["name"] for _, rows in texts] == list(labels)
    for mark, (row,) in texts:
        width = 10 * len(row["name"])
        middle = np.array([mark["dx"] + sides[mark["align"]] * width / 2, -mark["dy"]])
        spot, half = np.array([row["x"], row["y"]]), np.array([width / 2, 7])
        box = [spot + (middle + half * around) * 2.6 / SIDE for around in AROUND]
        way = spot - corners.mean(axis=0)
        assert min(corner @ way for corner in box) > max(corners @ way) - 0.02  # beyond the line through its corner


def test_points_of_a_plane_have_no_faces() -> None:
    assert facets(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])) == []
    assert facets(np.array([[0.0, 0, 0]])) == []


@pytest.mark.parametrize(("draw", "size"), [(simplex_chart, 4), (tetrahedron_chart, 3)])
def test_a_wrong_number_of_secrets_is_refused(draw, size: int) -> None:
    with pytest.raises(InputError, match=f"got {size}"):
        draw(range(size), "t")


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_simplex_and_tetrahedron_are_written_in_every_format(tmp_path, ending: str) -> None:
    save_chart(simplex_chart(LABELS, "A claim", region=LINE, prior=MIDDLE), tmp_path / f"s.{ending}")
    save_chart(tetrahedron_chart("wxyz", "A claim", prior=(0.25,) * 4), tmp_path / f"t.{ending}")
    for name in "st":
        body = (tmp_path / f"{name}.{ending}").read_bytes()
        assert len(body) > 1000
        assert ending == "png" or b"A claim" in body
