"""The consumer's story: a release, a prior by slider and by keys, a loss that is drawn, and an address to pass on."""

from __future__ import annotations

from typing import Any

import pytest

from browser import wait_until
from curator_helpers import SURVEY, open_budget
from page_walks import WIDTHS, Walk

ESTIMATE, GAIN = '[data-value="readings.0.estimate"]', '[data-value="readings.0.loss.gain"]'
LOW, HIGH = '[data-value="readings.0.low"]', '[data-value="readings.0.high"]'


@pytest.fixture(scope="module")
def release(app: Any) -> str:
    """A release that a curator made."""
    from dataclasses import replace

    from utmost.publish import execute
    from utmost.studio.curator import plan_builder

    settings = app.state.app_state.settings
    open_budget(settings)
    settings.releases.mkdir(exist_ok=True)
    path = settings.releases / "voters.release.json"
    with execute.prepare_release(
        replace(plan_builder.accept_plan(SURVEY, settings), ledger=settings.ledger, output=path)
    ) as prepared_release:
        prepared_release.spend(lambda stage, done, total: None)
    return path.name


def read_values(walk: Walk) -> tuple[str, ...]:
    """What the page says now."""
    return tuple(walk.text(selector) for selector in (ESTIMATE, LOW, HIGH, GAIN))


def wait_for_change(walk: Walk, before: tuple[str, ...]) -> tuple[str, ...]:
    wait_until(lambda: read_values(walk) != before)
    return read_values(walk)


def opens_the_release(walk: Walk) -> None:
    walk.go("/consumer")
    walk.tab_to("a[href='/consumer/releases/voters.release.json']")
    walk.page.keyboard.press("Enter")
    walk.page.wait_for_url("**/consumer/releases/voters.release.json*")
    wait_until(lambda: walk.page.locator("#beliefs svg").count() == 1)
    assert walk.text(GAIN) != "–"


def sets_the_prior_by_slider(walk: Walk) -> None:
    before = read_values(walk)
    walk.page.select_option("#f-prior", "binomial")
    wait_for_change(walk, before)
    walk.drag('[data-slider-for="f-p"]', "#beliefs", list(range(380, 480, 5)))
    walk.page.fill("#f-p", "0.3")
    wait_until(lambda: "binomial:3/10" in walk.text("[data-reader]"))


def corrects_a_mistake(walk: Walk) -> None:
    walk.page.fill("#f-p", "3")
    wait_until(lambda: "probability" in walk.text("#e-p"))
    assert walk.page.locator("#f-p").get_attribute("aria-invalid") == "true"
    walk.page.fill("#f-p", "0.4")
    wait_until(lambda: walk.text("#e-p") == "" and "binomial:2/5" in walk.text("[data-reader]"))


def sets_the_prior_by_keys(walk: Walk) -> None:
    """The bars are sliders: one is reached by Tab, left and right go along, up and down change it."""
    before = read_values(walk)
    bars = walk.page.locator('[data-editor="bars"] [role="slider"]')
    wait_until(lambda: bars.count() >= 10)
    bars.nth(0).focus()
    for _ in range(3):
        walk.page.keyboard.press("ArrowRight")
    walk.page.keyboard.press("End")
    assert walk.page.input_value("#f-prior") == "steps"
    assert bars.nth(3).get_attribute("aria-valuenow") == "100"
    wait_until(lambda: "steps:0,0,0,100" in walk.text("[data-reader]"))
    wait_for_change(walk, before)


def draws_a_loss(walk: Walk) -> None:
    before = read_values(walk)
    points = walk.page.locator('[data-editor="points"] [role="slider"]')
    wait_until(lambda: points.count() >= 3)
    points.last.focus()
    walk.page.keyboard.press("End")
    assert walk.page.input_value("#f-loss") == "drawn"
    wait_until(lambda: "loss drawn:" in walk.text("[data-reader]"))
    wait_for_change(walk, before)


def shares_the_address(walk: Walk) -> None:
    """The address is the reading: opened anew it says the same."""
    wait_until(lambda: "drawn=" in walk.page.url and "bars=" in walk.page.url)
    walk.page.wait_for_timeout(1000)
    reading, address = read_values(walk), walk.page.url
    walk.screenshot("consumer-story")
    walk.page.reload()
    wait_until(lambda: read_values(walk) == reading)
    wait_until(lambda: walk.page.locator("#beliefs svg").count() == 1)
    assert walk.page.url == address


@pytest.mark.parametrize("width", WIDTHS)
def test_a_consumer_reads_a_release_with_the_best_remap(walk, release, width):
    with walk(width) as consumer:
        opens_the_release(consumer)
        sets_the_prior_by_slider(consumer)
        corrects_a_mistake(consumer)
        sets_the_prior_by_keys(consumer)
        draws_a_loss(consumer)
        shares_the_address(consumer)
        consumer.check("consumer")
