"""Reports of a best mechanism and of capacities, as a notebook shows them."""

from __future__ import annotations

import pytest

import utmost as ut
from utmost.reports.blocks import number_html
from utmost.reports.optimum import describe
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
