"""Reports of a best mechanism and of capacities, as a notebook shows them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import utmost as ut
from utmost.reports.blocks import number_html
from utmost.reports.optimum import describe
from utmost.reports.place_layout import scaled_positions, shown_places
from utmost.studio.designer.forms import DesignInput

PROBLEMS = [("line:5", "1/3", "squared"), ("cycle:5", "1/2", "absolute")]


def design_of(space: str, alpha: str, loss: str) -> ut.Design:
    question = DesignInput(space, alpha, "", "uniform", loss)
    return ut.optimal(question.points(), question.level(), question.consumer())


@pytest.mark.parametrize(("space", "alpha", "loss"), PROBLEMS)
def test_a_notebook_shows_the_matrix_the_loss_and_the_proof(space: str, alpha: str, loss: str) -> None:
    design = design_of(space, alpha, loss)
    page = design._repr_html_()
    assert "<table" in page
    assert "No private mechanism gives this consumer" in page
    assert number_html(describe(design).numbers["loss"]) in page


def test_bounds_that_do_not_meet_are_rounded_outward() -> None:
    question = DesignInput("line:25", "", "1/3", "uniform", "power:1.5")
    design = ut.optimal(question.points(), question.level(), question.consumer())
    report = describe(design)
    assert design.certificate.gap
    assert report.text("loss").startswith("Expected loss at most ")
    assert float(str(report.numbers["lower"])) <= float(design.certificate.lower)
    assert float(str(report.numbers["gap"])) >= float(design.certificate.gap)


def test_a_notebook_shows_capacities_with_what_proves_them() -> None:
    page = ut.capacity(ut.discrete(3), ut.alpha("1/2"))._repr_html_()
    assert "Multiplicative capacity 3/2 = " in page
    assert page.count("<p>") == 4


def reported(chart: dict[str, Any]) -> list[dict[str, float]]:
    """For each panel Pr[place | true place] by the position of the place."""
    panels = chart["concat"]
    rows = [chart["datasets"][panel["data"]["name"]] for panel in panels]
    return [{(row["x"], row["y"]): row["chance"] for row in panel} for panel in rows]


@pytest.mark.parametrize(
    "places",
    [
        ut.points({"west": (0, 0), "mid": (3, 1), "east": (6, 0), "north": (3, 5)}),
        ut.graph([("a", "b", 2), ("b", "c", 1), ("c", "d", 4), ("d", "a", 3)]),
        ut.space([[0, 1, 2], [1, 0, 2], [2, 2, 0]]),
    ],
    ids=["coordinates", "roads", "table"],
)
def test_places_that_are_no_grid_have_maps(places: ut.Space) -> None:
    reader = ut.Consumer(ut.priors.uniform(len(places)), ut.losses.over(ut.losses.absolute, places))
    design = ut.optimal(places, ut.epsilon("1/2"), reader)
    panels = reported(design.plot().chart.to_dict())
    assert len(panels) == len(places)
    for truth, panel in enumerate(panels):
        assert len(panel) == len(places)
        assert sum(panel.values()) == pytest.approx(1)
        assert max(panel.values()) == pytest.approx(float(max(design.channel.rows[truth])))


def test_scaled_positions_keep_the_distances_of_points_in_the_plane() -> None:
    places = ut.points([(0, 0), (3, 4), (10, -2), (5, 9), (7, 7)])
    drawn = scaled_positions(places)
    for x, other in itertools.combinations(range(5), 2):
        assert math.dist(drawn[x], drawn[other]) == pytest.approx(float(places.distance(x, other)))


def test_of_many_places_three_are_shown_that_are_far_from_each_other() -> None:
    places = ut.points([(k, 0) for k in range(20)])
    centre, far, other = shown_places(places)
    assert centre in (9, 10)
    assert {far, other} == {0, 19}
