"""Every page as a picture, light and dark, narrow and wide; and axe-core finds nothing against WCAG 2 A and AA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from browser import until
from curating import write_visits
from walking import HEIGHTS, Walk, walking

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
RULES = {"runOnly": {"type": "tag", "values": LEVELS}, "resultTypes": ["violations"]}
SHOWN = bool(os.environ.get("UTMOST_SHOTS"))  # pictures are asked for: of all four screens, not of two
SCREENS = [(1440, "light"), (1440, "dark"), (360, "dark"), (360, "light")][:: 1 if SHOWN else 2]
PAGES = {
    "home": "/",
    "curator": "/curator",
    "budgets": "/curator/budgets",
    "budget": "/curator/budget?name=survey",
    "source": "/curator/source?location=visits.csv",
    "plan": "/curator/plan?file=example",
    "plan-csv": "/curator/plan?location=visits.csv",
    "confirm": "/curator/confirm/{key}",
    "release": "/curator/releases/{file}",
    "consumer": "/consumer",
    "reading": "/consumer/releases/{file}?query=dole+voters&prior=binomial&p=0.45&loss=squared",
    "reading-steps": "/consumer/releases/{file}?query=dole+voters&prior=steps&bars=1,2,5,9,5,2,1&loss=asymmetric",
    "reading-mistake": "/consumer/releases/{file}?query=dole+voters&prior=binomial&p=2",
    "reading-cells": "/consumer/releases/{file}?query=schooling",
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


def sent(walk: Walk, path: str, content: Any = None) -> dict[str, Any]:
    """A change through the API, in the walker's own session."""
    asks = walk.page.request
    token = asks.get(f"{walk.address}/api/session").json()["csrf"]
    answer = asks.post(f"{walk.address}{path}", data=content, headers={"X-CSRF-Token": token})
    assert answer.ok, answer.text()
    found: dict[str, Any] = answer.json()
    return found


def finished(walk: Walk, job: str) -> str:
    asks = walk.page.request
    until(lambda: asks.get(f"{walk.address}/api/jobs/{job}").json()["state"] == "done", 120)
    return job


def example(walk: Walk) -> str:
    """The example plan, charged to a budget of ours."""
    draft = walk.page.request.get(f"{walk.address}/api/curator/draft?file=example").json()
    return str(sent(walk, "/api/curator/draft", {**draft, "budget": "survey", "title": "Voters of 1996"})["plan"])


@pytest.fixture(scope="module")
def walker(browser: Any, house: Any, address: str, shots: Any) -> Iterator[tuple[Walk, dict[str, str]]]:
    """A session with something on every page."""
    write_visits(house.state.house.settings)
    with walking(browser, address, 1440, shots) as walk:
        sent(walk, "/api/curator/budgets", {"name": "survey", "epsilon": "2"})
        paper = sent(walk, "/api/papers/GRS12/compute")["id"]
        members = sent(walk, "/api/designer/members/job", {"space": "discrete:3"})["id"]
        plan = example(walk)
        offer = sent(walk, "/api/curator/offers", {"plan": plan})
        accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
        names = {"file": sent(walk, "/api/curator/releases", accepted)["file"]}
        names["key"] = sent(walk, "/api/curator/offers", {"plan": plan})["key"]
        names["members"] = finished(walk, members)
        finished(walk, paper)
        yield walk, names


def turned(walk: Walk, width: int, scheme: str) -> None:
    """The same page, on another screen."""
    walk.page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    walk.page.emulate_media(color_scheme=scheme)
    walk.page.wait_for_timeout(250)


def violations(walk: Walk) -> list[str]:
    """What axe-core finds: rule, place, and why."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(walk.page, options=RULES).response["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_seen_and_heard_by_everybody(walker, name):
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed: make browser")
    walk, names = walker
    wrong: list[str] = []
    walk.page.set_viewport_size({"width": 1440, "height": HEIGHTS[1440]})
    walk.page.emulate_media(color_scheme="light")
    walk.go(PAGES[name].format(**names))
    for width, scheme in SCREENS:
        turned(walk, width, scheme)
        assert walk.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"too wide at {width}"
        wrong += [f"{width} {scheme}: {one}" for one in violations(walk)]
        walk.shot(name)
    assert not wrong, "\n".join(wrong)
    missing = [one for one in walk.troubles if "404" not in one and "422" not in one]
    walk.troubles.clear()
    assert not missing, missing
