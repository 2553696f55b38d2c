"""The curator's form knows the plan language: new columns, listed and found cells, prices; its release shows them."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from html import unescape
from typing import Any

import pytest

from curator_helpers import HtmlForm, make_offer, open_budget
from utmost.publish import plans, release_file
from utmost.queries import registry

PLAN, SPEND = "/curator/plan", "/curator/spend"
PEOPLE = "person,age,city\n" + "".join(
    f"{k % 90},{20 + k % 50},{('oslo', 'bergen', 'rare')[k % 31 // 15]}\n" for k in range(600)
)
CITIES = "name,county,founded\noslo,east,1048\nbergen,west,1070\n"
GRID = 'column = "age"\nlow = 0\nhigh = 100\nstep = 1\nnulls = "drop"\n'
LISTED = 'keys = { city = ["oslo"] }\n'
ASKED = {  # of cells that are listed or found, and of persons over their bound
    "sum": f'kind = "sum"\n{GRID}by = ["city"]\n',
    "mean": f'kind = "mean"\n{GRID}by = ["city"]\n',
    "variance": f'kind = "variance"\n{GRID}by = ["city"]\n',
    "quantile": f'kind = "quantile"\n{GRID}probability = 0.5\nby = ["city"]\n',
    "quartiles": f'kind = "quantile"\n{GRID}probabilities = [0.25, 0.75]\nby = ["city"]\n',
    "listed quartiles": f'kind = "quantile"\n{GRID}probabilities = [0.25, 0.75]\n{LISTED}other = true\n',
    "min": f'kind = "min"\n{GRID}by = ["city"]\n',
    "max": f'kind = "max"\n{GRID}{LISTED}',
    "distinct": 'kind = "distinct"\ncolumn = "age"\nby = ["city"]\n',
    "over": 'kind = "over"\nby = ["city"]\n',
    "over listed": 'kind = "over"\ncolumn = "age"\ndomain = [20, 21]\nkeys = { city = ["oslo"] }\nother = true\n',
    "over beside": 'kind = "count"\nby = ["city"]\nover = true\n',
}


def write_files(settings: Any) -> None:
    settings.public.mkdir()
    (settings.folder / "people.csv").write_text(PEOPLE)
    (settings.public / "cities.csv").write_text(CITIES)


def press_button(studio: Any, button: str, page: Any, **changes: str) -> Any:
    """The page's form, with some fields changed, sent as a browser without script does."""
    fields = {name.replace("__", "."): text for name, text in changes.items()}
    return studio.client.post(PLAN, data={**HtmlForm(page.text, PLAN).fields, **fields, "do": button})


def spend(studio: Any, response: Any) -> Any:
    """The release of a plan that was reviewed."""
    assert response.status_code == 303, response.text
    confirm = studio.get(response.headers["location"])
    redirect = studio.client.post(SPEND, data=HtmlForm(confirm.text, SPEND).fields)
    return confirm, redirect.headers["location"]


def shown_text(page: Any) -> str:
    """The text of a page without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split()).replace(" ,", ",")


@pytest.mark.slow
def test_the_whole_story_of_new_columns_and_found_cells_without_script(studio, settings):
    """A derived column, a public table, cells listed and found, a budget with δ, a release; and the history."""
    write_files(settings)
    page = studio.get(PLAN, params={"location": "people.csv"})
    page = press_button(studio, "add-derived", page, neighbours="add-remove")
    assert "autofocus" in re.search(r'<input id="f-derived.0.name"[^>]*>', page.text)[0]
    page = press_button(studio, "add-lookup", page, derived__0__name="decade", derived__0__expression="bin(age, 10)")
    page = press_button(studio, "look", page, lookups__0__location="public/cities.csv")
    assert '<option value="county">county</option>' in page.text
    lookup = {"lookups__0__on__0__column": "city", "lookups__0__on__0__equals": "name"}
    page = press_button(studio, "add", page, **lookup, lookups__0__take__0__column="county")
    cells = {"queries__0__cells": "by", "queries__0__by__0": "county", "queries__0__by__1": "decade"}
    listed = {"queries__1__cells": "keys", "queries__1__keys__0__column": "decade", "queries__1__other": "true"}
    page = press_button(studio, "look", page, **cells, **listed, queries__1__keys__0__values="20, 30")
    assert "delta must be given" in page.text
    page = press_button(studio, "open", page, delta="1e-6", new_name="panel", new_epsilon="20", new_delta="1e-5")
    page = press_button(studio, "look", page, queries__0__epsilon="9", queries__1__epsilon="1")
    confirm, address = spend(studio, press_button(studio, "review", page))
    assert "Spend ε 10, δ 0.000001 of panel?" in shown_text(confirm)
    assert "cities.csv" in confirm.text
    release = release_file.read_release(settings.releases / address.rpartition("/")[2])
    assert [answer.query.kind for answer in release] == ["count", "count"]
    assert 0 < release.delta <= Fraction("1e-6")
    text = shown_text(studio.get(address))
    assert "decade = bin(age, 10)" in text
    history = shown_text(studio.get("/curator/budget", params={"name": "panel"}))
    assert "δ left 0.000009" in history
    assert studio.get("/curator/budgets").text.count("0.000009") >= 1


def test_new_columns_and_queries_are_removed_again(studio, settings):
    write_files(settings)
    page = studio.get(PLAN, params={"location": "people.csv"})
    for button in ("add-derived", "add-derived", "add-lookup"):
        page = press_button(studio, button, page)
    page = press_button(studio, "remove-derived 0", page, derived__1__name="kept", derived__1__expression="1")
    page = press_button(studio, "remove-lookup 0", page)
    fields = HtmlForm(page.text, PLAN).fields
    assert fields["derived.0.name"] == "kept"
    assert not [name for name in fields if name.startswith(("derived.1", "lookups"))]
    for button in ("remove-derived 7", "remove-derived x", "remove-lookup -1", "remove ²"):
        assert press_button(studio, button, page).status_code == 200


def test_a_column_that_is_chosen_stays_chosen_while_its_expression_is_wrong(studio, settings):
    write_files(settings)
    page = press_button(studio, "add-derived", studio.get(PLAN, params={"location": "people.csv"}))
    changes = {"derived__0__name": "decade", "derived__0__expression": "bin(age, 10)", "queries__0__cells": "by"}
    page = press_button(studio, "look", page, **changes)
    page = press_button(studio, "look", page, queries__0__by__0="decade", derived__0__expression="bin(age,")
    assert HtmlForm(page.text, PLAN).fields["queries.0.by.0"] == "decade"
    page = press_button(studio, "look", page, derived__0__expression="bin(age, 5)")
    assert 'data-error="queries.0.by"></p>' in page.text


@pytest.fixture
def found_release(studio, settings) -> str:
    """A release of a thousand listed cells, and of cells that were found: some, and none."""
    write_files(settings)
    open_budget(settings, epsilon="50", delta="1e-3", neighbours="add-remove")
    plan = """neighbours = "add-remove"
budget = "survey"
[source]
location = "people.csv"
columns = { age = "integer", city = "text" }
[[query]]
name = "ages"
kind = "count"
keys = { age = "1..700" }
epsilon = 1
[[query]]
name = "found"
kind = "count"
by = ["city", "age"]
epsilon = 9
delta = 1e-4
[[query]]
name = "none"
kind = "count"
by = ["city"]
where = "age < 0"
epsilon = 1
delta = 1e-4
"""
    return str(studio.post("/api/curator/releases", json=make_offer(studio, plan)).json()["file"])


def test_cells_are_shown_with_their_intervals_and_cut_with_a_statement(studio, settings, found_release):
    release = release_file.read_release(settings.releases / found_release)
    view = studio.get(f"/api/curator/releases/{found_release}").json()
    ages, found, none = view["answers"]
    assert (len(ages["cells"]), ages["more"], none["cells"]) == (500, 200, [])
    assert found["key_columns"] == ["city", "age"]
    assert [cell["keys"] for cell in found["cells"]] == list(release["found"].cell_names)
    for cell in found["cells"]:
        assert Fraction(cell["low"]) <= cell["value"] <= Fraction(cell["high"])
    page = studio.get(f"/curator/releases/{found_release}")
    text = shown_text(page)
    assert "The first 500 are listed; 200 more are in the table and in the file." in text
    assert "No cell passed the selection." in text
    table = list(csv.DictReader(io.StringIO(studio.get(f"/curator/releases/{found_release}/table.csv").text)))
    assert sum(row["query"] == "ages" for row in table) == 700
    assert studio.get("/curator/releases/none.release.json/table.csv").status_code == 422


@pytest.mark.parametrize("query", [pytest.param("ages", marks=pytest.mark.slow), "found", "none"])
def test_readers_see_the_cells_of_every_answer(studio, settings, found_release, query):
    release = release_file.read_release(settings.releases / found_release)
    page = studio.get(f"/consumer/releases/{found_release}", params={"query": query, "at_most": "1000"})
    assert page.status_code == 200
    names = release[query].cell_names[:3]
    assert all(f">{name}</a></th>" in page.text for name in names)
    assert ("No cell passed the selection." in page.text) == (query == "none")
    assert ("δ = " in page.text.partition("answer-details")[2].partition("</p>")[0]) == (query != "ages")


def test_what_is_left_of_delta_is_checked_at_the_click(studio, settings, found_release):
    """δ that another release took meanwhile is refused, not overdrawn."""
    (settings.folder / "ledger.sqlite").unlink()
    open_budget(settings, epsilon="50", delta="1e-4", neighbours="add-remove")
    plan = studio.get(f"/curator/releases/{found_release}/plan.toml").text.replace("0.0001", "0.00003")
    offers = [make_offer(studio, plan) for _ in range(2)]
    codes = [studio.post("/api/curator/releases", json=offer).status_code for offer in offers]
    assert codes == [200, 409]


def test_a_new_found_kind_is_offered_in_the_form(studio, settings, monkeypatch):
    """What `FOUND_KINDS` lists is offered with by and δ, without a change in the studio."""
    write_files(settings)
    found_kinds = [kind for kind in registry.QUERY_KINDS if kind in registry.FOUND_KINDS]
    page = studio.get(PLAN, params={"location": "people.csv"}).text
    assert f'value="by" data-kinds="{" ".join(found_kinds)}"' in page
    monkeypatch.setattr(registry, "FOUND_KINDS", ("count", "top"))
    page = studio.get(PLAN, params={"location": "people.csv"}).text
    assert 'value="by" data-kinds="count top"' in page
    assert 'data-kinds="count/by top/by"' in page


def test_a_plan_with_everything_is_opened_and_offered_as_it_stands(studio, settings):
    """A plan of the folder goes through the form unchanged."""
    write_files(settings)
    open_budget(settings, delta="1e-5", neighbours="add-remove", unit="person")
    text = """neighbours = "add-remove"
budget = "survey"
epsilon = 1
delta = 1e-6
[source]
location = "people.csv"
columns = { person = "integer", age = { kind = "integer", missing = ["NA"] }, city = "text" }
[derive]
decade = "bin(age, 10)"
[[lookup]]
location = "public/cities.csv"
on = { city = "name" }
take = { county = "region", founded = "founded" }
columns = { founded = "integer" }
[unit]
column = "person"
rows = 3
[[query]]
name = "ages"
kind = "mean"
column = "age"
low = 0
high = 100
step = 1
nulls = "drop"
keys = { region = ["east", "west"] }
other = true
share = 2
[[query]]
name = "found"
kind = "count"
by = ["decade"]
[[query]]
name = "old towns"
kind = "count"
where = "founded < 1050"
epsilon = 0.5
"""
    (settings.folder / "mine.toml").write_text(text)
    page = studio.get(PLAN, params={"file": "mine.toml"})
    confirm, _ = spend(studio, press_button(studio, "review", page))
    offered = HtmlForm(confirm.text, SPEND).fields["plan"].replace("\r\n", "\n")
    assert plans.parse_plan(offered, settings.folder) == plans.parse_plan(text, settings.folder)


@pytest.mark.slow
def test_every_kind_over_cells_goes_through_the_form_unchanged_and_is_shown(studio, settings):
    write_files(settings)
    open_budget(settings, epsilon="100", delta="1e-4", neighbours="add-remove", unit="person")
    head = """neighbours = "add-remove"
budget = "survey"
epsilon = 60
delta = 1e-5
source = { location = "people.csv", columns = { person = "integer", age = "integer", city = "text" } }
unit = { column = "person", rows = 3 }
"""
    text = head + "".join(f'[[query]]\nname = "{name}"\n{asked}' for name, asked in ASKED.items())
    (settings.folder / "mine.toml").write_text(text)
    page = studio.get(PLAN, params={"file": "mine.toml"})
    confirm, address = spend(studio, press_button(studio, "review", page))
    offered = HtmlForm(confirm.text, SPEND).fields["plan"].replace("\r\n", "\n")
    assert plans.parse_plan(offered, settings.folder) == plans.parse_plan(text, settings.folder)
    assert studio.get(address).status_code == 200
    for name in (*ASKED, "over beside: over the bound"):
        file = address.rpartition("/")[2]
        reading = studio.get(f"/consumer/releases/{file}", params={"query": name, "at_most": "1000"})
        assert reading.status_code == 200, reading.text
