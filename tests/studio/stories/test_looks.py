"""Every page as a picture, light and dark, narrow and wide; and axe-core finds nothing against WCAG 2 A and AA."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from browser import wait_until
from curator_helpers import write_visits
from page_walks import HEIGHTS, Walk, open_walk
from utmost.studio.settings import Settings

WCAG_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
AXE_OPTIONS = {"runOnly": {"type": "tag", "values": WCAG_TAGS}, "resultTypes": ["violations"]}
ALL_SCREENS = bool(os.environ.get("UTMOST_SHOTS"))  # pictures are asked for: of all four screens, not of two
SCREENS = [(1440, "light"), (1440, "dark"), (360, "dark"), (360, "light")][:: 1 if ALL_SCREENS else 2]
PAGES = {
    "home": "/",
    "curator": "/curator",
    "budgets": "/curator/budgets",
    "budget": "/curator/budget?name=survey",
    "source": "/curator/source?location=visits.csv",
    "plan": "/curator/plan?file=example",
    "plan-csv": "/curator/plan?location=visits.csv",
    "plan-columns": "/curator/plan?file=columns.toml",
    "confirm": "/curator/confirm/{key}",
    "release": "/curator/releases/{file}",
    "confirm-cells": "/curator/confirm/{cells_key}",
    "release-cells": "/curator/releases/{cells}",
    "budget-delta": "/curator/budget?name=panel",
    "consumer": "/consumer",
    "reading": "/consumer/releases/{file}?query=dole+voters&prior=binomial&p=0.45&loss=squared",
    "reading-steps": "/consumer/releases/{file}?query=dole+voters&prior=steps&bars=1,2,5,9,5,2,1&loss=asymmetric",
    "reading-mistake": "/consumer/releases/{file}?query=dole+voters&prior=binomial&p=2",
    "reading-cells": "/consumer/releases/{file}?query=schooling",
    "reading-found": "/consumer/releases/{cells}?query=found",
    "reading-top": "/consumer/releases/{cells}?query=largest",
    "reading-mean": "/consumer/releases/{file}?query=mean+age",
    "tailored": "/consumer/releases/{file}/tailored?query=dole+voters&at_most=20",
    "designer": "/designer",
    "designer-grid": "/designer?space=grid:3x3",
    "designer-simplex": "/designer?space=discrete:3&prior=1/2,1/4,1/4&loss=binary",
    "designer-mistake": "/designer?space=lime:3",
    "designer-large": "/designer?space=grid:7x7",
    "type": "/designer/type?space=discrete:3",
    "members": "/designer/type?space=discrete:3&job={members}",
    "refine": "/designer/refine?first=geometric+3+1/3&second=response+4+1/3",
    "precision": "/precision",
    "papers": "/papers",
    "paper": "/papers/GRS12",
    "paper-blank": "/papers/FMPD23",
    "jobs": "/jobs",
    "job": "/jobs/{members}",
    "reference": "/reference",
    "nothing": "/curator/releases/none.release.json",
}


def post_json(walk: Walk, path: str, content: Any = None) -> dict[str, Any]:
    """A change through the API, in the prepared_walk's own session."""
    client = walk.page.request
    token = client.get(f"{walk.address}/api/session").json()["csrf"]
    response = client.post(f"{walk.address}{path}", data=content, headers={"X-CSRF-Token": token})
    assert response.ok, response.text()
    reply: dict[str, Any] = response.json()
    return reply


COLUMNS_PLAN = """neighbours = "add-remove"
budget = "panel"
epsilon = 20
delta = 1e-6
[source]
location = "visits.csv"
columns = { person = "integer", age = { kind = "integer", missing = ["NA"] }, pay = "number", clinic = "text" }
[derive]
decade = "bin(age, 10)"
old = "case when age >= 65 then 'old' else 'young' end"
[[lookup]]
location = "public/clinics.csv"
on = { clinic = "name" }
take = { beds = "beds", town = "town of the clinic" }
[[query]]
name = "found"
kind = "count"
by = ["old", "decade"]
epsilon = 15
[[query]]
name = "pay"
kind = "mean"
column = "pay"
low = 0
high = 100
step = 1
nulls = "drop"
keys = { "town of the clinic" = ["Oslo", "Bergen"], old = ["old", "young"] }
other = true
share = 2
[[query]]
name = "largest"
kind = "top"
keys = { decade = [20, 30, 40, 50, 60, 70] }
k = 4
[[query]]
name = "decades"
kind = "count"
keys = { decade = "0..700" }
"""


def write_columns_plan(settings: Settings) -> None:
    """A plan of the folder with new columns of both sorts, on a table that is long enough for cells to be found."""
    visits = write_visits(settings)
    visits.write_text(visits.read_text() + "".join(f"{k},{20 + k % 60},{k},south,\n" for k in range(4, 900)))
    settings.public.mkdir()
    (settings.public / "clinics.csv").write_text("name,beds,town\nnorth,40,Oslo\nsouth,70,Bergen\n")
    (settings.folder / "columns.toml").write_text(COLUMNS_PLAN)


def accept(walk: Walk, plan: str) -> str:
    """The release of a plan."""
    offer = post_json(walk, "/api/curator/offers", {"plan": plan})
    accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    return str(post_json(walk, "/api/curator/releases", accepted)["file"])


def wait_for_job(walk: Walk, job: str) -> str:
    client = walk.page.request
    wait_until(lambda: client.get(f"{walk.address}/api/jobs/{job}").json()["state"] == "done", 120)
    return job


def example_plan(walk: Walk) -> str:
    """The example plan, charged to a budget of ours."""
    draft = walk.page.request.get(f"{walk.address}/api/curator/draft?file=example").json()
    form = {**draft, "budget": "survey", "title": "Voters of 1996"}
    for _ in range(60):  # a draft has no plan while its units are still being counted
        plan = post_json(walk, "/api/curator/draft", form)["plan"]
        if plan is not None:
            return str(plan)
        time.sleep(1)
    pytest.fail("the example's draft has no plan after a minute")


@pytest.fixture(scope="module")
def prepared_walk(
    browser: Any, app: Any, address: str, screenshot_folder: Any
) -> Iterator[tuple[Walk, dict[str, str]]]:
    """A session with something on every page."""
    write_columns_plan(app.state.app_state.settings)
    with open_walk(browser, address, 1440, screenshot_folder) as walk:
        post_json(walk, "/api/curator/budgets", {"name": "survey", "epsilon": "2"})
        paper = post_json(walk, "/api/papers/GRS12/compute")["id"]
        members = post_json(walk, "/api/designer/members/job", {"space": "discrete:3"})["id"]
        plan = example_plan(walk)
        budget = {"name": "panel", "epsilon": "50", "delta": "1e-5", "neighbours": "add-remove"}
        post_json(walk, "/api/curator/budgets", budget)
        names = {"file": accept(walk, plan), "cells": accept(walk, COLUMNS_PLAN)}
        names["cells_key"] = post_json(walk, "/api/curator/offers", {"plan": COLUMNS_PLAN})["key"]
        names["key"] = post_json(walk, "/api/curator/offers", {"plan": plan})["key"]
        names["members"] = wait_for_job(walk, members)
        wait_for_job(walk, paper)
        yield walk, names


def set_screen(walk: Walk, width: int, scheme: str) -> None:
    """The same page, on another screen."""
    walk.page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    walk.page.emulate_media(color_scheme=scheme)
    walk.page.wait_for_timeout(250)


def violations(walk: Walk) -> list[str]:
    """What axe-core finds: rule, place, and why."""
    from axe_playwright_python.sync_playwright import Axe

    rules_broken = Axe().run(walk.page, options=AXE_OPTIONS).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}" for rule in rules_broken for node in rule["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_seen_and_heard_by_everybody(prepared_walk, name):
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed: make browser")
    walk, names = prepared_walk
    problems: list[str] = []
    walk.page.set_viewport_size({"width": 1440, "height": HEIGHTS[1440]})
    walk.page.emulate_media(color_scheme="light")
    walk.go(PAGES[name].format(**names))
    for width, scheme in SCREENS:
        set_screen(walk, width, scheme)
        assert walk.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"too wide at {width}"
        problems += [f"{width} {scheme}: {line}" for line in violations(walk)]
        walk.screenshot(name)
    assert not problems, "\n".join(problems)
    missing = [line for line in walk.problems if "404" not in line and "422" not in line]
    walk.problems.clear()
    assert not missing, missing
