"""Precision and papers: a machine's real ε followed by slider and by keyboard; a paper computed, and read."""

from __future__ import annotations

import pytest

from browser import wait_until
from page_walks import WIDTHS


@pytest.mark.parametrize("width", WIDTHS)
def test_what_a_number_format_promises_follows_the_slider(walk, width):
    with walk(width) as reader:
        reader.go("/precision")
        page = reader.page
        reader.drag(
            "[data-slider-for=f-epsilon]", 'figure[data-chart="/api/precision/curve"]', list(range(500, 800, 25))
        )
        page.fill("#f-epsilon", "1")
        wait_until(lambda: reader.text("[data-value=epsilon_prime]").startswith("1 + 2.01e"))
        page.fill("#f-round", "none")
        wait_until(lambda: "round must" in reader.text("#e-round"))
        reader.screenshot("precision-mistake")
        page.fill("#f-round", "1/1024")
        wait_until(lambda: reader.text("#e-round") == "")
        page.locator("[data-slider-for=f-bits]").focus()
        before = reader.text("[data-words] >> nth=1")
        page.keyboard.press("Home")
        wait_until(
            lambda: page.locator("#f-bits").input_value() == "3" and reader.text("[data-words] >> nth=1") != before
        )
        reader.check("precision")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_paper_is_computed_by_a_job_and_read(walk, width):
    with walk(width) as reader:
        reader.go("/papers")
        reader.page.get_by_role("link", name="GRS12").click()
        reader.page.get_by_role("button", name="Compute").click()
        reader.page.wait_for_url("**/jobs/*")
        reader.page.wait_for_url("**/papers/GRS12", timeout=90_000)
        reader.wait_for_charts()
        assert reader.page.locator(".badge.good").count() > 1
        assert reader.page.locator("figure svg").count() >= 1
        reader.check("papers")
