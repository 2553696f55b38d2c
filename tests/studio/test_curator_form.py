"""The form of a plan, after a mistake: what was said stays to be read, and what is shown is about this form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from browser import chromium, serve, wait_until
from curator_helpers import HtmlForm, write_visits
from utmost.studio.server import make_app

PLAN = "/curator/plan"
HISTOGRAM = {
    "queries.0.kind": "histogram",
    "queries.0.keys.0.column": "clinic",
    "queries.0.keys.0.values": "north, south",
}


def test_a_histogram_has_room_for_one_more_column_however_often_it_is_sent(studio, settings):
    write_visits(settings)
    page = studio.get(PLAN, params={"location": "visits.csv"})
    for _ in range(4):
        page = studio.client.post(PLAN, data={**HtmlForm(page.text, PLAN).fields, **HISTOGRAM, "do": "look"})
        names = [name for name in HtmlForm(page.text, PLAN).fields if name.startswith("queries.0.keys.")]
        assert names == [f"queries.0.keys.{j}.{field}" for j in range(2) for field in ("column", "values")]


@pytest.fixture
def browser() -> Iterator[Any]:
    with chromium() as chromium_browser:
        yield chromium_browser


@pytest.fixture
def page(browser, settings) -> Iterator[Any]:
    write_visits(settings)
    with serve(make_app(settings)) as address:
        page = browser.new_page()
        page.goto(f"{address}{PLAN}?location=visits.csv")
        yield page


def wait_for_preview(page: Any) -> None:
    """Wait until the live draft was answered since the page was loaded."""
    wait_until(lambda: page.locator("#plan").get_attribute("data-previews"))


def test_what_a_button_found_wrong_stays_until_something_changes(page):
    page.fill("[name='queries.0.where']", "age >= 65")
    with page.expect_navigation():
        page.get_by_role("button", name="Review and spend").click()
    wait_for_preview(page)
    assert "budget must be chosen" in page.inner_text("#e-budget")
    page.fill("[name=new_name]", "panel")
    page.fill("[name=new_epsilon]", "zwei")
    with page.expect_navigation():
        page.get_by_role("button", name="Open it").click()
    wait_for_preview(page)
    assert "epsilon must be a number" in page.inner_text("#e-new_epsilon")


def test_words_about_rows_do_not_stay_when_persons_are_protected(page):
    page.fill("[name='queries.0.where']", "age >= 65")
    wait_until(lambda: "each row" in page.inner_text("[data-draft-value=protects]"))
    page.select_option("[name=protects]", "person")
    wait_until(lambda: page.inner_text("[data-draft-value=protects]") == "")
