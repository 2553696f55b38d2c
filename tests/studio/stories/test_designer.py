"""The designer's story: a question, a mistake, a long job that is cancelled, the members of a type, a refusal."""

from __future__ import annotations

import pytest

from browser import wait_until
from page_walks import WIDTHS, Walk


def corrects_a_mistake(walk: Walk) -> None:
    page = walk.page
    walk.go("/designer")
    assert "gap 0" in walk.text("#best ~ p")
    page.fill("#f-space", "lime:6")
    page.get_by_role("button", name="Design it").click()
    wait_until(lambda: "space must" in walk.text("#e-space"))
    wait_until(lambda: page.locator("#f-space").evaluate("(one) => one === document.activeElement"))
    walk.screenshot("designer-mistake")
    page.keyboard.press("Control+A")
    page.keyboard.type("discrete:3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/designer?*discrete*")
    walk.wait_for_charts()
    assert page.locator("#triangle").count() == 1
    assert "randomised response" in walk.text("table.data >> nth=-1")


def begins_a_long_job_and_cancels_it(walk: Walk) -> None:
    page = walk.page
    page.fill("#f-space", "grid:11x11")
    page.get_by_role("button", name="Design it").click()
    page.get_by_role("button", name="Look for the best mechanism").click()
    page.wait_for_url("**/jobs/*")
    wait_until(lambda: walk.text("[data-job-state]") == "running")
    page.reload()  # it goes on meanwhile
    wait_until(lambda: walk.text("[data-job-words]") != "")
    walk.screenshot("designer-job")
    page.get_by_role("button", name="Cancel it").click()
    page.wait_for_selector(".badge.cancelled")


def lists_what_a_type_is_made_of(walk: Walk) -> None:
    page = walk.page
    walk.go("/designer/type?space=discrete:3&alpha=1/2")
    assert walk.text('[data-value="multiplicative.value"]') == "1.5"
    page.locator("[data-slider-for=f-alpha]").focus()
    page.keyboard.press("Home")
    wait_until(lambda: walk.text('[data-value="multiplicative.value"]') not in ("1.5", "–"))
    page.fill("#f-alpha", "1/2")
    wait_until(lambda: walk.text('[data-value="multiplicative.value"]') == "1.5")
    page.get_by_role("button", name="Count and list").click()
    page.wait_for_url("**/designer/type?*job=*", timeout=60_000)
    assert walk.text("#members ~ dl div:nth-child(2) dd") == "5"


def compares_two_mechanisms(walk: Walk) -> None:
    page = walk.page
    walk.go("/designer/refine")
    assert "processed further" in walk.text(".notice.good")
    page.fill("#f-second", "response 4")
    page.get_by_role("button", name="Compare them").click()
    wait_until(lambda: walk.text("#e-second") != "")
    page.fill("#f-second", "response 4 1/3")
    page.get_by_role("button", name="Compare them").click()
    page.wait_for_selector(".notice.warn")
    assert "Better served by the first" in walk.text("section.card p >> nth=0")
    assert "Better served by the second" in walk.text("section.card p >> nth=1")
    walk.screenshot("designer-refine")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_designer_gets_proofs_and_can_stop_what_takes_long(walk, width):
    with walk(width) as designer:
        corrects_a_mistake(designer)
        begins_a_long_job_and_cancels_it(designer)
        lists_what_a_type_is_made_of(designer)
        compares_two_mechanisms(designer)
        designer.check("designer")
