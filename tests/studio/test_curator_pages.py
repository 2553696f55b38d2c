"""The curator's story over plain forms, and what no page may say."""

from __future__ import annotations

import json
import logging
import re
import threading
from html import unescape

import duckdb
import pytest

from curator_helpers import (
    NUMBER_MARK,
    SURVEY,
    TEXT_MARK,
    HtmlForm,
    count_charges,
    make_offer,
    open_budget,
    write_visits,
)
from utmost.cli import main
from utmost.publish import plans, release_file
from utmost.studio.curator import spending

PLAN, SPEND = "/curator/plan", "/curator/spend"


def post_form(studio, page, action=PLAN, **changes):
    """The page's form, with some fields changed, sent as a browser without script does."""
    fields = {**HtmlForm(page.text, action).fields, **changes}
    return studio.client.post(action, data=fields)


def press_button(studio, button, page, **changes):
    return post_form(studio, page, do=button, **changes)


def test_the_whole_story_without_script(studio, settings):
    """A table, a plan with a mistake and its repair, a budget, a confirmation, a click, a release."""
    write_visits(settings)
    assert "visits.csv" in studio.get("/curator").text
    assert "integer" in studio.get("/curator/source", params={"location": "visits.csv"}).text
    page = studio.get(PLAN, params={"location": "visits.csv"})
    page = press_button(studio, "add", page, neighbours="add-remove")
    mistakes = {
        "queries.0.where": "agee >= 65",
        "queries.1.name": "clinics",
        "queries.1.kind": "histogram",
        "queries.1.keys.0.column": "clinic",
        "queries.1.keys.0.values": "north, south",
        "queries.1.epsilon": "1/3",
    }
    page = press_button(studio, "review", page, **mistakes)
    assert page.status_code == 422
    assert re.search(
        r'id="e-queries.0.where"[^>]*>where, at character 1: there is no column agee: did you mean', page.text
    )
    page = press_button(studio, "review", page, **{"queries.0.where": "age >= 65"})
    assert "budget must be chosen" in page.text
    page = press_button(studio, "open", page, new_name="panel", new_epsilon="1")
    assert HtmlForm(page.text, PLAN).fields["budget"] == "panel"
    answer = press_button(studio, "review", page)
    assert answer.status_code == 303
    confirm = studio.get(answer.headers["location"])
    assert ">13/30</data>" in confirm.text  # 1/10 + 1/3
    assert count_charges(settings, "panel") == 0
    for _ in range(3):  # double clicks, and a reload of what was posted
        redirect = post_form(studio, confirm, SPEND)
        assert redirect.status_code == 303
    assert count_charges(settings, "panel") == 1
    second_response = studio.get(answer.headers["location"])
    assert second_response.headers["location"] == redirect.headers["location"]
    release = studio.get(redirect.headers["location"])
    assert release.status_code == 200
    assert "clinics" in release.text
    assert "17/30" in studio.get("/curator/budget", params={"name": "panel"}).text


def make_release(studio, settings, plan=SURVEY) -> str:
    offer = make_offer(studio, plan)
    return str(studio.post("/api/curator/releases", json=offer).json()["file"])


def test_the_downloaded_plan_is_the_plan_and_utmost_release_gives_the_same(studio, settings, monkeypatch, capsys):
    """With a fingerprint the ledger remembers: the command line gives the very same release and charges nothing."""
    open_budget(settings)
    page = studio.get(PLAN, params={"file": "example"})
    page = press_button(studio, "look", page, budget="survey", fingerprint="1996")
    text = press_button(studio, "download", page).text
    confirm = studio.get(press_button(studio, "review", page).headers["location"])
    file = post_form(studio, confirm, SPEND).headers["location"].rpartition("/")[2]
    assert studio.get(f"/curator/releases/{file}/plan.toml").text == text
    (settings.folder / "mine.toml").write_text(text, encoding="utf-8")
    assert plans.read_plan(settings.folder / "mine.toml").queries == plans.parse_plan(text, settings.folder).queries
    monkeypatch.chdir(settings.folder)
    with pytest.raises(SystemExit) as stop:
        main(["release", "mine.toml", "--json"])
    assert stop.value.code == 0
    cli_output = json.loads(capsys.readouterr().out)
    assert cli_output == json.loads(studio.get(f"/curator/releases/{file}/download").text)
    assert count_charges(settings) == 1


def test_without_a_fingerprint_the_downloaded_plan_is_charged_at_the_same_cost(studio, settings, monkeypatch, capsys):
    open_budget(settings)
    offer = make_offer(studio)
    (settings.folder / "mine.toml").write_text(studio.get(f"/curator/offers/{offer['key']}/plan.toml").text)
    monkeypatch.chdir(settings.folder)
    with pytest.raises(SystemExit):
        main(["release", "mine.toml", "--dry-run", "--json"])
    dry_run = json.loads(capsys.readouterr().out)
    assert dry_run.pop("unreadable") == {}  # for the eyes of who holds the file, not for everybody who may write plans
    assert dry_run == studio.get(f"/api/curator/offers/{offer['key']}").json()["preview"]
    assert dry_run == studio.post("/api/curator/preview", json={"plan": offer["plan"]}).json()
    with pytest.raises(SystemExit) as exit_info:
        main(["release", "mine.toml", "--json"])
    assert (exit_info.value.code, count_charges(settings)) == (0, 1)
    assert (
        release_file.read_release(settings.folder / "mine.release.json").epsilon
        == release_file.parse_release(capsys.readouterr().out).epsilon
    )


def test_every_kind_of_source_is_listed_with_columns_and_kinds(studio, settings):
    write_visits(settings)
    with duckdb.connect(settings.folder / "base.duckdb") as connection:
        connection.execute("CREATE TABLE people (age INT, name TEXT); CREATE TABLE more (x DOUBLE)")
        connection.execute(f"COPY people TO '{settings.folder / 'people.parquet'}' (FORMAT parquet)")
    sources = studio.get("/api/curator").json()["sources"]
    assert sources == ["bundled:anes96", "base.duckdb", "people.parquet", "visits.csv"]
    base = studio.get("/api/curator/source", params={"location": "base.duckdb"}).json()
    assert (base["tables"], base["columns"]) == (["more", "people"], [])
    people = studio.get("/api/curator/source", params={"location": "base.duckdb", "table": "people"}).json()
    parquet = studio.get("/api/curator/source", params={"location": "people.parquet"}).json()
    assert people["columns"] == parquet["columns"]
    assert [(column["name"], column["kind"]) for column in people["columns"]] == [("age", "integer"), ("name", "text")]
    for params in ({"location": "base.duckdb"}, {"location": "base.duckdb", "table": "people"}):
        assert studio.get("/curator/source", params=params).status_code == 200
    page = studio.get(PLAN, params={"location": "base.duckdb", "table": "people"})
    page = press_button(studio, "look", page, **{"queries.0.where": "age > 1", "neighbours": "add-remove"})
    assert 'table = "people"' in unescape(page.text)
    assert studio.get(PLAN, params={"location": "base.duckdb"}).status_code == 422


def test_a_plan_of_the_folder_is_opened_and_one_elsewhere_is_not(studio, settings):
    (settings.folder / "mine.toml").write_text(SURVEY)
    (settings.folder.parent / "other.toml").write_text(SURVEY)
    assert studio.get("/api/curator").json()["plans"] == ["mine.toml"]
    draft = studio.get("/api/curator/draft", params={"file": "mine.toml"}).json()
    assert [query["name"] for query in draft["queries"]] == ["dole", "schooling"]
    assert draft["queries"][1]["keys"] == [{"column": "educ", "values": "1..7"}]
    for file in ("../other.toml", "/etc/passwd", "ledger.sqlite"):
        assert studio.get("/api/curator/draft", params={"file": file}).status_code == 422


def test_queries_are_added_and_removed(studio):
    page = studio.get(PLAN)
    for _ in range(2):
        page = press_button(studio, "add", page)
    assert sum(name.endswith(".kind") for name in HtmlForm(page.text, PLAN).fields) == 3
    page = press_button(studio, "remove 1", page, **{"queries.2.name": "the third"})
    fields = HtmlForm(page.text, PLAN).fields
    assert fields["queries.1.name"] == "the third"
    assert "queries.2.name" not in fields


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "one"}, "epsilon"),
        ({"name": "  "}, "name"),
        ({"composition": "pld", "delta": "0"}, "delta"),
        ({"composition": "pure", "delta": "0.1"}, "delta"),
        ({"name": "survey"}, "name"),
    ],
    ids=str,
)
def test_a_budget_that_cannot_be_is_refused_beside_its_field(studio, settings, changes, field):
    open_budget(settings)
    page = studio.get("/curator/budgets")
    answer = post_form(studio, page, "/curator/budgets", **{"name": "new", "epsilon": "1", **changes})
    assert answer.status_code == 422
    assert re.search(rf'id="e-{field}"[^>]*>[^<]{{10}}', answer.text)


def test_a_budget_is_opened_and_seen_with_its_history(studio, settings):
    page = studio.get("/curator/budgets")
    fields = {"name": "a/b ä?&", "epsilon": "1/3", "unit": "person", "neighbours": "add-remove"}
    answer = post_form(studio, page, "/curator/budgets", **fields)
    assert answer.status_code == 303
    assert studio.get(answer.headers["location"]).status_code == 200
    history = studio.get("/api/curator/budget", params={"name": fields["name"]}).json()
    assert (history["budget"]["left"], history["budget"]["unit"], history["charges"]) == ("1/3", "person", [])
    open_budget(settings)
    make_release(studio, settings)
    charge = studio.get("/api/curator/budget", params={"name": "survey"}).json()["charges"][0]
    assert (charge["entry"], charge["epsilon"]) == (1, "13/30")
    assert [cost["query"] for cost in charge["costs"]] == ["dole", "schooling"]
    assert studio.get("/curator/budget", params={"name": "nobody's"}).status_code == 422


@pytest.mark.slow
def test_a_release_is_shown_with_its_answers_and_pictures(studio, settings):
    open_budget(settings)
    file = make_release(studio, settings)
    release = release_file.read_release(settings.releases / file)
    view = studio.get(f"/api/curator/releases/{file}").json()
    assert [answer_view["value"] for answer_view in view["answers"]] == [str(release["dole"].value), None]
    assert tuple(cell["value"] for cell in view["answers"][1]["cells"]) == release["schooling"].value
    for number, data in enumerate(("law", "cells")):
        picture = studio.get(f"/api/curator/releases/{file}/pictures/{number}").json()
        assert picture["data"][data]
    assert studio.get(f"/api/curator/releases/{file}/pictures/2").status_code == 422
    answer = studio.get(f"/curator/releases/{file}/download")
    assert "attachment" in answer.headers["content-disposition"]
    assert release_file.parse_release(answer.text) == release


@pytest.mark.parametrize("file", ["../ledger.sqlite", "nope.release.json", "%2e%2e%2fx.release.json", "mine.toml"])
def test_no_other_file_is_given_for_a_release(studio, settings, file):
    for path in ("", "/download", "/plan.toml"):
        assert studio.get(f"/curator/releases/{file}{path}").status_code in (404, 422)


CHANGES = [
    {"queries.0.where": f"clinic = '{TEXT_MARK}'"},
    {"queries.0.where": "pay / 0"},
    {"queries.0.kind": "histogram", "queries.0.keys.0.column": "clinic", "queries.0.keys.0.values": "north"},
    {
        "queries.0.kind": "mean",
        "queries.0.column": "pay",
        "queries.0.low": "0",
        "queries.0.high": "9",
        "queries.0.step": "1",
    },
    {"queries.0.kind": "quantile", "queries.0.column": "clinic", "queries.0.low": "0", "queries.0.high": "9"},
    {"columns.3.kind": "integer", "queries.0.where": "clinic > 3"},
    {"protects": "person", "person": "clinic", "bound": "1"},
    {"part_column": "clinic", "part_equals": "north"},
]


def test_no_value_of_the_table_is_in_any_response_or_log(studio, settings, caplog, monkeypatch):
    """The table has a marker value; no response or log repeats it, except where the visitor typed it."""
    caplog.set_level(logging.DEBUG)
    write_visits(settings)
    open_budget(settings, epsilon="100", neighbours="add-remove")
    page = studio.get(PLAN, params={"location": "visits.csv"})
    responses = [studio.get("/curator"), studio.get("/curator/source", params={"location": "visits.csv"}), page]
    for changes in CHANGES[1:]:
        fields = {"neighbours": "add-remove", "budget": "survey", "queries.0.where": "age > 1", **changes}
        for button in ("look", "review", "download"):
            responses.append(press_button(studio, button, page, **fields))
            if "location" in responses[-1].headers:
                responses.append(studio.get(responses[-1].headers["location"]))
    (settings.folder / "broken.parquet").write_bytes(f"PAR1{TEXT_MARK}{NUMBER_MARK}PAR1".encode())
    (settings.folder / "broken.duckdb").write_text(f"{TEXT_MARK}{NUMBER_MARK}")
    (settings.folder / "headless.csv").write_text("")
    for location in ("broken.parquet", "broken.duckdb", "headless.csv"):
        responses += [studio.get(path, params={"location": location}) for path in ("/curator/source", PLAN)]
        responses.append(studio.get("/api/curator/source", params={"location": location}))
        assert responses[-1].status_code == 422
    monkeypatch.setattr("utmost.data.table.Table.row_sums", _fail_with_values)
    plan = SURVEY.replace("bundled:anes96", "visits.csv").replace("replace", "add-remove").partition("[[query]]")[0]
    plan = plan.replace('.csv"', '.csv"\ncolumns = { age = "integer" }')
    plan += '[[query]]\nname = "old"\nkind = "count"\nwhere = "age > 65"\nepsilon = 1\n'
    responses.append(studio.post("/api/curator/releases", json=make_offer(studio, plan)))
    assert responses[-1].status_code == 500
    for text in [*(answer.text for answer in responses), caplog.text, *(str(answer.headers) for answer in responses)]:
        assert TEXT_MARK not in text
        assert NUMBER_MARK not in text


def _fail_with_values(*_args):
    raise RuntimeError(f"conversion failed on {TEXT_MARK} {NUMBER_MARK}")


def test_typed_text_comes_back_and_reveals_nothing(studio, settings):
    """A predicate with the mark is answered alike whether the table has it or not: nothing is read for it."""
    path = write_visits(settings)
    texts = []
    for text in (path.read_text(), path.read_text().replace(TEXT_MARK, "Socrates")):
        path.write_text(text)
        page = studio.get(PLAN, params={"location": "visits.csv"})
        answer = press_button(studio, "look", page, neighbours="add-remove", **CHANGES[0])
        texts.append(re.sub(r'name="csrf"[^>]*>', "", answer.text))
    assert texts[0] == texts[1]


def test_a_true_answer_is_in_no_response_file_or_log(studio, settings, caplog):
    """The true sum is a number of twelve digits, its noise of the size of 10^12: it would not be there by chance."""
    caplog.set_level(logging.DEBUG)
    write_visits(settings)
    open_budget(settings, neighbours="add-remove")
    plan = SURVEY.replace("bundled:anes96", "visits.csv").replace("replace", "add-remove").partition("[[query]]")[0]
    plan = plan.replace('.csv"', '.csv"\ncolumns = { person = "integer", pay = "number" }')
    plan += '[[query]]\nname = "pay"\nkind = "sum"\ncolumn = "pay"\nlow = 0\nhigh = 1000000000000\nstep = 1\n'
    plan += 'nulls = "drop"\nwhere = "person = 2"\nepsilon = 1\n'
    offer = make_offer(studio, plan)
    outcome = studio.post("/api/curator/releases", json=offer)
    file = outcome.json()["file"]
    pages = [f"/curator/releases/{file}", f"/api/curator/releases/{file}", f"/curator/releases/{file}/download"]
    pages += ["/curator/budget?name=survey", "/api/curator/budget?name=survey", "/metrics", "/curator", "/"]
    texts = [outcome.text, caplog.text, *(studio.get(page).text for page in pages)]
    files = [path for root in (settings.state_folder, settings.folder) for path in root.rglob("*") if path.is_file()]
    texts += [path.read_bytes().decode("latin-1") for path in files if path.name not in ("key", "visits.csv")]
    assert len(files) > 5
    assert all(NUMBER_MARK not in text for text in texts)
    assert studio.get(pages[0]).status_code == 200


def test_a_long_release_is_waited_for_on_a_page_that_looks_again(studio, settings, monkeypatch):
    open_budget(settings)
    offer, may_release, release = make_offer(studio), threading.Event(), spending.SpendingService._charge_and_release
    monkeypatch.setattr(spending, "RELEASE_SECONDS", 0.01)
    monkeypatch.setattr(
        spending.SpendingService,
        "_charge_and_release",
        lambda *arguments: (may_release.wait(10), release(*arguments))[1],
    )
    answer = studio.post(SPEND, data=offer)
    assert answer.headers["location"] == f"/curator/confirm/{offer['key']}"
    page = studio.get(answer.headers["location"])
    assert "is being made" in page.text
    assert 'http-equiv="refresh"' in page.text
    second_response = studio.post("/api/curator/releases", json=offer).json()
    assert (second_response["state"], count_charges(settings)) == ("going", 0)
    may_release.set()
    monkeypatch.setattr(spending, "RELEASE_SECONDS", 20.0)
    outcome = studio.post("/api/curator/releases", json=offer).json()
    assert (outcome["state"], count_charges(settings)) == ("done", 1)
    assert studio.get(answer.headers["location"]).headers["location"].endswith(outcome["file"])


def test_a_release_that_was_paid_for_and_lost_says_so(studio, settings, monkeypatch):
    open_budget(settings)
    offer = make_offer(studio)
    monkeypatch.setattr("utmost.ledger.ledger.Ledger.store_release", lambda *_: 1 / 0)
    page = studio.get(studio.post(SPEND, data=offer).headers["location"])
    assert "Paid, and not delivered" in page.text
    assert "entry 1" in page.text
    assert 'id="spend"' not in page.text
