"""The curator's story: a budget, a table, a plan with mistakes that are mended, one click to spend."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from browser import wait_until
from page_walks import WIDTHS, Walk
from utmost import ledger
from utmost.publish import release_file


def charged_epsilons(app: Any, budget: str) -> list[Fraction]:
    settings = app.state.app_state.settings
    with ledger.open_ledger(settings.ledger, settings.folder) as budget_ledger:
        return [Fraction(charge.epsilon) for charge in budget_ledger.history(budget)]


def opens_a_budget_by_keyboard(walk: Walk, name: str) -> None:
    walk.go("/curator")
    walk.tab_to("a.button[href='/curator/budgets']")
    walk.page.keyboard.press("Enter")
    walk.page.wait_for_url("**/curator/budgets")
    walk.tab_to("#f-name")
    walk.page.keyboard.type(name)
    walk.page.keyboard.press("Tab")
    walk.page.keyboard.press("Control+A")
    walk.page.keyboard.type("0")
    walk.page.keyboard.press("Enter")
    wait_until(lambda: "epsilon must be" in walk.text("#e-epsilon"))
    wait_until(lambda: walk.page.locator("#f-epsilon").evaluate("(one) => one === document.activeElement"))
    walk.screenshot("curator-budgets-mistake")
    walk.page.keyboard.press("Control+A")
    walk.page.keyboard.type("1")
    walk.page.keyboard.press("Enter")
    walk.page.wait_for_url(f"**/curator/budget?name={name}")


def chooses_the_bundled_table(walk: Walk) -> None:
    walk.go("/curator")
    walk.page.get_by_role("link", name="bundled:anes96").click()
    walk.page.get_by_role("link", name="Ask about this table").click()
    walk.page.locator("#plan").wait_for()


def field(name: str, k: int = 0) -> str:
    return f'[name="queries.{k}.{name}"]'


def error(name: str, k: int = 0) -> str:
    return f'[data-error="queries.{k}.{name}"]'


def corrects_mistakes(walk: Walk, budget: str) -> None:
    page = walk.page
    page.fill(field("name"), "dole")
    page.fill(field("where"), "vote == Dole")
    wait_until(lambda: walk.text(error("where")) != "")
    assert page.locator(field("where")).get_attribute("aria-invalid") == "true"
    page.fill(field("epsilon"), "0")
    wait_until(lambda: "epsilon" in walk.text(error("epsilon")))
    walk.screenshot("curator-plan-mistakes")
    page.fill(field("where"), "vote = 1")
    page.fill(field("epsilon"), "3")
    page.select_option("#f-budget", budget)
    wait_until(lambda: walk.text(error("where")) == walk.text(error("epsilon")) == "")
    wait_until(lambda: "budget" in walk.text("#e-budget"))  # 3 is more than it has
    walk.screenshot("curator-plan-short")
    page.fill(field("epsilon"), "0.1")
    wait_until(lambda: walk.text("#e-budget") == "")


def watches_the_error_follow_the_cost(walk: Walk) -> None:
    wait_until(lambda: walk.text("[data-query-value=half_width]") == "30")  # as `utmost release --dry-run` says it
    wait_until(lambda: walk.text("[data-draft-value=after]") == "0.9")
    slider = '[data-slider-for="f-queries.0.epsilon"]'
    walk.drag(slider, "#curve-0", list(range(300, 700, 25)))
    before = float(walk.text("[data-query-value=expected]"))
    walk.page.locator(slider).focus()
    for _ in range(60):
        walk.page.keyboard.press("ArrowRight")
    wait_until(lambda: float(walk.text("[data-query-value=expected]")) < before)
    walk.page.fill(field("epsilon"), "0.1")
    wait_until(lambda: walk.text("[data-draft-value=after]") == "0.9")
    walk.screenshot("curator-plan")


def spends_once(walk: Walk, app: Any, budget: str) -> str:
    page = walk.page
    page.get_by_role("button", name="Review and spend").click()
    page.wait_for_url("**/curator/confirm/*")
    assert charged_epsilons(app, budget) == []
    confirm_url = page.url
    walk.screenshot("curator-confirm")
    page.locator("#spend").dblclick()
    page.wait_for_url("**/curator/releases/*")
    walk.wait_for_charts()
    release_url = page.url
    page.reload()
    page.goto(confirm_url)  # the same click from a page that was open before leads to the same release
    page.wait_for_url("**/curator/releases/*")
    assert page.url == release_url
    walk.wait_for_charts()
    assert charged_epsilons(app, budget) == [Fraction(1, 10)]
    walk.screenshot("curator-release")
    return str(release_url)


def downloads(walk: Walk, name: str, path: Path) -> Path:
    with walk.page.expect_download() as download:
        walk.page.get_by_role("link", name=name).click()
    download.value.save_as(path)
    return path


def without_noise(release: Path) -> Any:
    """The answers of a release file but for what the noise decides."""
    return [
        (answer.name, answer.kind, answer.where, answer.epsilon, answer.mechanism, answer.error)
        for answer in release_file.read_release(release)
    ]


def runs_the_same_plan(app: Any, plan: Path, release: Path, budget: str) -> None:
    """`utmost release` on the downloaded plan, saved beside the studio's ledger, asks and costs the same."""
    command = [sys.executable, "-m", "utmost", "release", str(plan)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    assert without_noise(plan.with_suffix(".release.json")) == without_noise(release)
    assert charged_epsilons(app, budget) == [Fraction(1, 10)] * 2


def test_mistakes_typed_before_the_scripts_run_are_shown_too(walk):
    waiting: list[Any] = []
    with walk(1440) as curator:
        curator.go("/curator")
        curator.page.get_by_role("link", name="bundled:anes96").click()
        curator.page.get_by_role("link", name="Ask about this table").wait_for()
        curator.page.route("**/curator.js*", lambda route: waiting.append(route))
        curator.page.get_by_role("link", name="Ask about this table").click()
        curator.page.fill(field("where"), "vote == Dole")
        wait_until(lambda: curator.page.url and waiting)
        for route in waiting:
            route.continue_()
        wait_until(lambda: curator.text(error("where")) != "")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_curator_spends_knowingly_and_once(walk, app, width, tmp_path):
    budget = f"survey{width}"
    with walk(width) as curator:
        opens_a_budget_by_keyboard(curator, budget)
        chooses_the_bundled_table(curator)
        corrects_mistakes(curator, budget)
        watches_the_error_follow_the_cost(curator)
        spends_once(curator, app, budget)
        release = downloads(curator, "Download release.json", tmp_path / "release.json")
        plan = downloads(curator, "Download the plan", app.state.app_state.settings.folder / f"plan{width}.toml")
        runs_the_same_plan(app, plan, release, budget)
        curator.go(f"/curator/budget?name={budget}")
        assert "0.8" in curator.text(".figures div:nth-child(3) dd")
        curator.check("curator")


def write_places(app: Any) -> None:
    """A table of visits that is long enough for cells to be found, and a public table of clinics."""
    settings = app.state.app_state.settings
    settings.public.mkdir(exist_ok=True)
    rows = "".join(f"{k},{20 + k % 60},{'NA' if k % 9 else k},{'north' if k % 3 else 'south'}\n" for k in range(900))
    (settings.folder / "stays.csv").write_text(f"person,age,nights,clinic\n{rows}")
    (settings.public / "clinics.csv").write_text("name,town\nnorth,Oslo\nsouth,Bergen\n")


def derives_a_column_by_keyboard(walk: Walk) -> None:
    """The new column has the keyboard's focus, its mistake is told beside it, and queries can choose it at once."""
    page = walk.page
    walk.go("/curator/plan?location=stays.csv")
    page.select_option("[name=neighbours]", "add-remove")
    page.locator("#new-columns summary").first.click()
    page.get_by_role("button", name="Derive a column").click()
    wait_until(lambda: page.locator('[name="derived.0.name"]').evaluate("(one) => one === document.activeElement"))
    page.keyboard.type("decade")
    page.keyboard.press("Tab")
    page.keyboard.type("bin(agee, 10)")
    wait_until(lambda: "there is no column agee" in walk.text('[data-error="derived.0.expression"]'))
    assert page.locator('[name="derived.0.expression"]').get_attribute("aria-invalid") == "true"
    walk.screenshot("curator-derive-mistake")
    page.fill('[name="derived.0.expression"]', "bin(age, 10)")
    wait_until(lambda: walk.text('[data-error="derived.0.expression"]') == "")
    wait_until(lambda: page.locator('select[name="queries.0.by.0"] option[value=decade]').count() == 1)


def looks_a_column_up(walk: Walk) -> None:
    page = walk.page
    page.get_by_role("button", name="Look columns up").click()
    page.locator('[name="lookups.0.location"]').select_option("public/clinics.csv")
    wait_until(lambda: page.locator('[name="lookups.0.on.0.equals"] option[value=name]').count() == 1)
    page.select_option('[name="lookups.0.on.0.column"]', "age")
    page.select_option('[name="lookups.0.on.0.equals"]', "name")
    page.select_option('[name="lookups.0.take.0.column"]', "town")
    wait_until(lambda: "of one kind" in walk.text('[data-error="lookups.0.on"]'))
    page.select_option('[name="lookups.0.on.0.column"]', "clinic")
    wait_until(lambda: walk.text('[data-error="lookups.0.on"]') == "")


def asks_for_cells(walk: Walk, budget: str) -> None:
    """Cells that are found need δ, of the query or of the plan; a kind without that way does not offer it."""
    page = walk.page
    page.select_option(field("cells"), "by")
    page.select_option(field("by.0"), "town")
    page.select_option(field("by.1"), "decade")
    wait_until(lambda: "delta must be given" in walk.text(error("delta")))
    page.select_option(field("price"), "error")
    page.fill(field("error"), "6")
    page.fill(field("delta"), "1e-6")
    page.select_option("#f-budget", budget)
    wait_until(lambda: walk.text("[data-draft-value=delta_after]") == "0.000009")
    wait_until(lambda: walk.text("[data-query-value=half_width]") == "6")
    page.select_option(field("kind"), "histogram")
    assert not page.locator(field("cells")).is_visible()
    assert page.locator(field("keys.0.values")).is_visible()
    page.select_option(field("kind"), "count")
    page.select_option(field("cells"), "by")
    wait_until(lambda: walk.text("[data-draft-value=delta_after]") == "0.000009")
    walk.screenshot("curator-plan-found")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_curator_makes_columns_and_finds_cells(walk, app, width):
    budget, settings = f"stays{width}", app.state.app_state.settings
    write_places(app)
    with ledger.open_ledger(settings.ledger, settings.folder) as budget_ledger:
        budget_ledger.open(ledger.Budget(budget, Fraction(9), Fraction("1e-5"), neighbours="add-remove"))
    with walk(width) as curator:
        derives_a_column_by_keyboard(curator)
        looks_a_column_up(curator)
        asks_for_cells(curator, budget)
        curator.page.get_by_role("button", name="Review and spend").click()
        curator.page.wait_for_url("**/curator/confirm/*")
        curator.page.locator("#spend").click()
        curator.page.wait_for_url("**/curator/releases/*")
        curator.wait_for_charts()
        assert "Oslo" in curator.text(".cells table")
        curator.screenshot("curator-release-found")
        assert curator.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        curator.check("curator with new columns")
