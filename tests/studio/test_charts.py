"""Charts, in a real browser: drawn under the content security policy, and following a slider."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from browser import chromium, serve, wait_until
from utmost import charts as pictures
from utmost.exact import alpha
from utmost.mechanisms import geometric
from utmost.studio import charts, rendering, vega_bundle
from utmost.studio.charts import Chart
from utmost.studio.server import make_app
from utmost.studio.settings import Settings

PAGE = """{% extends "base.html" %}{% import "parts.html" as part with context %}
{% block title %}Charts{% endblock %}
{% block content %}<h1>Charts</h1>
<form id="level">{{ part.slider("epsilon", "ε", "1", "0.01", "5", scale="log") }}</form>
{{ part.chart("/api/curve", "A curve", form="level", id="curve") }}
{{ part.chart("/api/heat", "A heat map", size="l", id="heat") }}{% endblock %}"""


@cache
def bar_spec() -> charts.VegaSpec:
    chart = alt.Chart(alt.NamedData("points")).mark_bar().encode(x="x:Q", y="y:Q", tooltip="y:Q")
    return charts.chart_spec(chart.properties(height=280))


def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/charts")
    def page(request: Request) -> HTMLResponse:
        context = dict.fromkeys(("csrf", "json_address", "navigation", "current_path", "version", "team"), "")
        text = rendering.template_environment().from_string(PAGE)
        return HTMLResponse(text.render(**context, errors={"epsilon": ""}, vega=request.state.app_state.bundle))

    @router.get("/api/curve")
    def curve(epsilon: float) -> Chart:
        rows = [{"x": x, "y": epsilon * x} for x in range(100)]
        return charts.make_chart(bar_spec(), f"A bar for each count at ε = {epsilon:g}", points=rows)

    @router.get("/api/heat")
    def heat() -> Chart:
        chart = pictures.channel_chart(geometric(5, alpha("1/2")).channel(), "The geometric mechanism")
        return charts.chart_from_altair(chart, "The geometric mechanism", wide=False)

    return router


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("studio")
    app = make_app(Settings(folder=folder, state_folder=folder / "state"))
    app.include_router(routes())
    bundle_path = app.state.app_state.bundle.path
    if not bundle_path.exists():
        vega_bundle.build_bundle(bundle_path)
    with serve(app) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as chromium_browser:
        yield chromium_browser


def open_page(browser: Any, scheme: str = "light") -> tuple[Any, list[str]]:
    page = browser.new_context(color_scheme=scheme, viewport={"width": 1000, "height": 900}).new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    return page, messages


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn_under_the_policy_without_a_word_in_the_console(address, browser, scheme):
    page, messages = open_page(browser, scheme)
    page.goto(f"{address}/charts")
    page.wait_for_selector("#curve svg .mark-rect path", state="attached")
    page.wait_for_selector("#heat svg .mark-rect path", state="attached")
    page.hover("#curve svg .mark-rect path >> nth=90")
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert messages == []
    assert page.locator("#curve .drawing").get_attribute("aria-label") == "A bar for each count at ε = 1"


def test_a_picture_follows_its_slider_by_its_rows_alone(address, browser):
    page, messages = open_page(browser)
    page.goto(f"{address}/charts")
    page.wait_for_selector("#curve[data-drawn='1'] svg")
    page.evaluate("document.querySelector('#curve svg').dataset.same = 'yes'")
    page.fill("#f-epsilon", "2")
    page.wait_for_selector("#curve[data-drawn='2']")
    assert page.locator("#curve .drawing").get_attribute("aria-label") == "A bar for each count at ε = 2"
    assert page.evaluate("document.querySelector('#curve svg').dataset.same") == "yes"
    assert messages == []


def test_a_picture_of_a_hundred_counts_follows_within_a_tenth_of_a_second(address, browser):
    page, _ = open_page(browser)
    page.goto(f"{address}/charts")
    page.wait_for_selector("#curve[data-drawn='1'] svg")
    times = page.evaluate(
        """async () => {
            const figure = document.getElementById("curve"), field = document.getElementById("f-epsilon"), times = [];
            for (const value of ["2", "3", "4", "1", "2", "3", "4", "1", "2"]) {
                const before = figure.dataset.drawn, start = performance.now();
                field.value = value;
                field.dispatchEvent(new Event("input", { bubbles: true }));
                while (figure.dataset.drawn === before) await new Promise((done) => setTimeout(done, 1));
                times.push(performance.now() - start);
            }
            return times;
        }"""
    )
    assert sorted(times)[len(times) // 2] < 250, times  # 100 ms on a machine of its own; the gate's are shared


def test_a_picture_follows_a_slider_while_it_moves_and_ends_where_it_ends(address, browser):
    page, _ = open_page(browser)
    page.goto(f"{address}/charts")
    page.wait_for_selector("#curve[data-drawn='1'] svg")
    draw_count = page.evaluate(
        """async () => {
            const figure = document.getElementById("curve");
            const slider = document.querySelector("[data-slider-for=f-epsilon]");
            for (let step = 1; step <= 100; step++) {
                slider.value = String(10 * step);
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise((done) => setTimeout(done, 10));
            }
            return Number(figure.dataset.drawn);
        }"""
    )
    assert draw_count >= 4
    wait_until(lambda: page.locator("#curve .drawing").get_attribute("aria-label") == "A bar for each count at ε = 5")


def test_the_page_is_as_tall_before_its_charts_as_with_them(address, browser):
    page, _ = open_page(browser)
    page.goto(f"{address}/charts", wait_until="commit")
    page.wait_for_selector("#heat")
    before = page.locator("main").bounding_box()["height"]
    page.wait_for_selector("#heat svg .mark-rect path", state="attached")
    assert page.locator("main").bounding_box()["height"] == before
