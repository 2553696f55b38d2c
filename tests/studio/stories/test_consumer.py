"""The consumer's story: a release, a prior by slider and by keys, a loss that is drawn, and an address to pass on."""

from __future__ import annotations

from typing import Any

import pytest

from browser import until
from curating import SURVEY, open_budget
from walking import WIDTHS, Walk

ESTIMATE, GAIN = '[data-value="readings.0.estimate"]', '[data-value="readings.0.loss.gain"]'
LOW, HIGH = '[data-value="readings.0.low"]', '[data-value="readings.0.high"]'


@pytest.fixture(scope="module")
def release(house: Any) -> str:
    """A release that a curator made."""
    from dataclasses import replace

    from utmost.publish import execute
    from utmost.studio.curator import plan_builder

    settings = house.state.house.settings
    open_budget(settings)
    settings.releases.mkdir(exist_ok=True)
    place = settings.releases / "voters.release.json"
    with execute.prepare_release(
        replace(plan_builder.accept_plan(SURVEY, settings), ledger=settings.ledger, output=place)
    ) as ready:
        ready.spend(lambda words, done, total: None)
    return place.name


def read(walk: Walk) -> tuple[str, ...]:
    """What the page says now."""
    return tuple(walk.text(place) for place in (ESTIMATE, LOW, HIGH, GAIN))


def changes(walk: Walk, before: tuple[str, ...]) -> tuple[str, ...]:
    until(lambda: read(walk) != before)
    return read(walk)


def opens_the_release(walk: Walk) -> None:
    walk.go("/consumer")
    walk.tab_to("a[href='/consumer/releases/voters.release.json']")
    walk.page.keyboard.press("Enter")
    walk.page.wait_for_url("**/consumer/releases/voters.release.json*")
    until(lambda: walk.page.locator("#beliefs svg").count() == 1)
    assert walk.text(GAIN) != "–"


def believes_by_slider(walk: Walk) -> None:
    before = read(walk)
    walk.page.select_option("#f-prior", "binomial")
    changes(walk, before)
    walk.drag('[data-slides="f-p"]', "#beliefs", list(range(380, 480, 5)))
    walk.page.fill("#f-p", "0.3")
    until(lambda: "binomial:3/10" in walk.text("[data-reader]"))


def errs_and_mends(walk: Walk) -> None:
    walk.page.fill("#f-p", "3")
    until(lambda: "probability" in walk.text("#e-p"))
    assert walk.page.locator("#f-p").get_attribute("aria-invalid") == "true"
    walk.page.fill("#f-p", "0.4")
    until(lambda: walk.text("#e-p") == "" and "binomial:2/5" in walk.text("[data-reader]"))


def believes_by_keys(walk: Walk) -> None:
    """The bars are sliders: one is reached by Tab, left and right go along, up and down change it."""
    before = read(walk)
    bars = walk.page.locator('[data-board="bars"] [role="slider"]')
    until(lambda: bars.count() >= 10)
    bars.nth(0).focus()
    for _ in range(3):
        walk.page.keyboard.press("ArrowRight")
    walk.page.keyboard.press("End")
    assert walk.page.input_value("#f-prior") == "steps"
    assert bars.nth(3).get_attribute("aria-valuenow") == "100"
    changes(walk, before)


def fears_what_she_draws(walk: Walk) -> None:
    before = read(walk)
    points = walk.page.locator('[data-board="points"] [role="slider"]')
    until(lambda: points.count() >= 3)
    points.last.focus()
    walk.page.keyboard.press("End")
    assert walk.page.input_value("#f-loss") == "drawn"
    changes(walk, before)


def passes_it_on(walk: Walk) -> None:
    """The address is the reading: opened anew it says the same."""
    until(lambda: "drawn=" in walk.page.url and "bars=" in walk.page.url)
    walk.page.wait_for_timeout(500)
    said, address = read(walk), walk.page.url
    walk.shot("consumer-story")
    walk.page.reload()
    until(lambda: read(walk) == said)
    until(lambda: walk.page.locator("#beliefs svg").count() == 1)
    assert walk.page.url == address


@pytest.mark.parametrize("width", WIDTHS)
def test_a_consumer_reads_a_release_in_her_own_best_way(walk, release, width):
    with walk(width) as consumer:
        opens_the_release(consumer)
        believes_by_slider(consumer)
        errs_and_mends(consumer)
        believes_by_keys(consumer)
        fears_what_she_draws(consumer)
        passes_it_on(consumer)
        consumer.well("consumer")
