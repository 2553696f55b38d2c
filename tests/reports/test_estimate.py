"""A reading is described once: the terminal, the page and the notebook show the same numbers."""

from __future__ import annotations

import math
from typing import Any

from example_releases import CLOSED, answer, count
from utmost.publish.reading.estimates import ExpectedLosses
from utmost.queries import Histogram
from utmost.reports.estimate import describe, shown_losses, shown_readings
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.consumer.results import read_answer


def test_page_terminal_and_notebook_show_the_same_reading() -> None:
    released = count(16_635, "0.1", 20_000)
    estimate = released.estimate("binomial:0.8", "absolute")
    report = describe(estimate)
    page = read_answer(released, "r.json", ReadingForm(prior="binomial", p="0.8", query=released.name), None)
    (reading,) = shown_readings(estimate)
    assert page.readings[0].value.text == reading.value.typeset == "16\u202f635"
    assert page.readings[0].estimate.text == reading.estimate.typeset
    assert page.claim == report.text("claim")
    assert page.entry == report.json
    html = estimate._repr_html_()
    assert f">{reading.estimate.typeset}</data>" in html
    assert page.claim.split("(")[0] in html
    terminal = str(dict(report.blocks["facts"].pairs)["best reading"])  # type: ignore[union-attr]
    assert terminal.startswith(f"{reading.estimate}; from {reading.low} to {reading.high} with probability 95 %")


def test_the_cells_of_a_page_are_those_of_the_table() -> None:
    released = answer(Histogram({"k": (1, 2, 3)}), "1/2", CLOSED, "cells", value=(0, 57, 248))
    estimate = released.estimate("zipf:1/2", "squared")
    rows: Any = describe(estimate).blocks["cells"].rows  # type: ignore[union-attr]
    page = read_answer(released, "r.json", ReadingForm(prior="zipf", s="1/2", loss="squared"), None)
    for row, reading in zip(rows, page.readings, strict=True):
        assert row[0] == reading.cell
        assert [cell.typeset for cell in row[3:6]] == [reading.estimate.text, reading.low.text, reading.high.text]  # type: ignore[union-attr]
    assert page.total is not None
    assert page.total.text in describe(estimate).blocks["total"].typeset  # type: ignore[union-attr]


def test_a_gain_without_end_is_infinite_in_every_front_end() -> None:
    losses = shown_losses(ExpectedLosses(0.0, 1.0))
    assert losses is not None
    assert math.isinf(losses.gain.value)
    assert (str(losses.gain), losses.gain.typeset) == ("∞", "∞")


def test_the_face_value_of_an_answer_beyond_the_prior_says_which_value_it_is_the_loss_of() -> None:
    beyond = count(120, "0.1", None).estimate("uniform", "absolute", at_most=99)
    assert beyond.value == 120
    assert "(of 99, within the prior's range)" in repr(describe(beyond).blocks["losses"])
    assert "(of 99, within the prior&#x27;s range)" in beyond._repr_html_()
    within = count(90, "0.1", None).estimate("uniform", "absolute", at_most=99)
    assert "within the prior" not in within._repr_html_()


def test_an_answer_that_is_unlikely_under_the_prior_is_remarked_upon_wherever_it_is_read() -> None:
    unlikely = count(404, "0.1", 944).estimate("binomial:0.9", "absolute")
    for text in (repr(unlikely), unlikely._repr_html_(), str(describe(unlikely).blocks["remark"])):
        assert "very unlikely under your prior" in text
    assert "\n" not in repr(count(404, "0.1", 944).estimate("binomial:0.45", "absolute"))
