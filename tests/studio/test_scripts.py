"""What the little script does, in a real browser: sliders, errors beside their fields, jobs that are watched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from browser import chromium, serve, wait_until
from utmost.exact import number
from utmost.reports.numbers import quantity
from utmost.studio import rendering
from utmost.studio.forms import errors_for_field
from utmost.studio.rendering import FormattedNumber
from utmost.studio.server import make_app
from utmost.studio.settings import Settings
from utmost.studio.state import StateDep

PAGE = """{% extends "base.html" %}{% import "parts.html" as part with context %}
{% block title %}Form{% endblock %}
{% block content %}<h1>Form</h1>
<form id="form">{{ part.slider("epsilon", "Level", "1/2", "0.01", "5", scale="log") }}
{{ part.slider("size", "Size", "10", "0", "100", step="10") }}</form>
<section data-live="/api/third" data-form="form" data-load-now><p id="third" data-value="third">–</p></section>
{% endblock %}"""


def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/form")
    def page(request: Request) -> HTMLResponse:
        context = dict.fromkeys(("csrf", "json_address", "navigation", "current_path", "version", "team"), "")
        errors = {"epsilon": "", "size": ""}
        text = rendering.template_environment().from_string(PAGE)
        return HTMLResponse(text.render(**context, errors=errors, vega=request.state.app_state.bundle))

    @router.get("/api/third")
    def third(epsilon: str, size: str) -> dict[str, FormattedNumber]:
        with errors_for_field("epsilon"):
            return {"third": FormattedNumber.of(quantity(number(epsilon, "epsilon") / 3))}

    @router.get("/begin")
    def begin(state: StateDep, work: str, file: str) -> str:
        arguments = {"number": 21, "file": file}
        return state.jobs.begin("you", "Long work", f"job_tasks:{work}", arguments, "/papers?job={job}").id

    return router


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("studio")
    app = make_app(Settings(folder=folder, state_folder=folder / "state"))
    app.include_router(routes())
    with pytest.MonkeyPatch.context() as patch, serve(app) as url:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as chromium_browser:
        yield chromium_browser


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_a_slider_writes_a_short_decimal_and_follows_what_is_typed(address, page):
    page.goto(f"{address}/form")
    slider, field = page.locator("[data-slider-for=f-epsilon]"), page.locator("#f-epsilon")
    at_half = int(slider.input_value())
    slider.fill("1000")
    assert field.input_value() == "5"
    slider.fill("0")
    assert field.input_value() == "0.01"
    field.fill("1/2")
    assert int(slider.input_value()) == at_half
    page.locator("[data-slider-for=f-size]").fill("537")
    assert page.locator("#f-size").input_value() == "50"


def test_a_live_value_is_rounded_with_its_exact_value_on_hover(address, page):
    page.goto(f"{address}/form")
    wait_until(lambda: page.locator("#third").text_content() == "0.1667")
    assert page.locator("#third").get_attribute("title") == "exactly 1/6"
    page.fill("#f-epsilon", "2")
    wait_until(lambda: page.locator("#third").text_content() == "0.6667")


def test_a_mistake_is_told_beside_its_field_and_gone_when_it_is_mended(address, page):
    page.goto(f"{address}/form")
    page.fill("#f-epsilon", "two")
    wait_until(lambda: page.locator("#e-epsilon").text_content().startswith("epsilon must be a number"))
    assert page.locator("#f-epsilon").get_attribute("aria-invalid") == "true"
    assert "e-epsilon" in page.locator("#f-epsilon").get_attribute("aria-describedby")
    assert page.locator("#f-size").get_attribute("aria-invalid") is None
    page.fill("#f-epsilon", "2")
    wait_until(lambda: page.locator("#e-epsilon").text_content() == "")
    assert page.locator("#f-epsilon").get_attribute("aria-invalid") is None


def begin_job(page: Any, address: str, work: str, file: Path) -> str:
    return str(page.request.get(f"{address}/begin?work={work}&file={file}").json())


def test_a_job_leads_to_its_result(address, page, tmp_path):
    page.goto(f"{address}/jobs/{begin_job(page, address, 'double', tmp_path / 'beat')}")
    page.wait_for_url("**/papers?job=*")


def test_a_job_shows_its_bounds_survives_a_reload_and_is_cancelled_by_a_click(address, page, tmp_path):
    page.goto(f"{address}/jobs/{begin_job(page, address, 'endless', tmp_path / 'beat')}")
    wait_until(lambda: page.locator("[data-job-words]").text_content() == "going on")
    page.reload()
    wait_until(lambda: int(page.locator("[data-job-lower]").text_content().replace("–", "0")) > 10)
    page.get_by_role("button", name="Cancel it").click()
    page.wait_for_selector(".badge.cancelled")
    last_write = (tmp_path / "beat").read_text()
    time.sleep(0.2)
    assert (tmp_path / "beat").read_text() == last_write
