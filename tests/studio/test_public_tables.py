"""Lookups read public tables of the folder and nothing else; whoever writes a plan learns nothing of other files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from curator_helpers import NUMBER_MARK, SURVEY, TEXT_MARK, count_charges, make_offer, open_budget, write_visits
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.studio import data_folder

PATIENTS = f"person,illness\n1,{TEXT_MARK}\n1,{NUMBER_MARK}\n"  # its key is not unique: an error would show a value
PLAN = """neighbours = "add-remove"
budget = "survey"
[source]
location = "visits.csv"
columns = { person = "integer" }
[[lookup]]
location = "LOCATION"
on = { person = "person" }
take = ["illness"]
[[query]]
name = "ill"
kind = "count"
where = "illness is not null"
epsilon = 1
"""
REFUSED_LOCATIONS = [
    "patients.csv",
    "./patients.csv",
    "visits.csv",
    "public/../patients.csv",
    "public/link.csv",
    "public/out.csv",
    "public/.hidden.csv",
    "public",
    "public/",
    "public/nothing.csv",
    "Public/illnesses.csv",
    "../outside/secret.csv",
    "/etc/passwd",
    "ledger.sqlite",
    "public/base.duckdb",
    "https://example.org/x.csv",
    "",
]


def curator(team: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {team.tokens['ann']}"}


def write_files(settings: Any) -> None:
    """Private tables in the folder and outside, a public table, and links from the public folder to the others."""
    write_visits(settings)
    outside = settings.folder.parent / "outside"
    outside.mkdir()
    settings.public.mkdir()
    (outside / "secret.csv").write_text(PATIENTS)
    (settings.folder / "patients.csv").write_text(PATIENTS)
    (settings.public / ".hidden.csv").write_text(PATIENTS)
    (settings.public / "base.duckdb").write_text(PATIENTS)
    (settings.public / "illnesses.csv").write_text("person,illness\n1,cold\n2,flu\n")
    (settings.public / "link.csv").symlink_to(settings.folder / "patients.csv")
    (settings.public / "out.csv").symlink_to(outside / "secret.csv")
    open_budget(settings, epsilon="9", neighbours="add-remove")


def draft(location: str) -> dict[str, Any]:
    lookup = {"location": location, "on": [{"column": "person", "equals": "person"}], "take": [{"column": "illness"}]}
    columns = [{"name": "person", "kind": "integer"}]
    query = {"name": "ill", "where": "illness is not null"}
    form = {"location": "visits.csv", "neighbours": "add-remove", "columns": columns, "budget": "survey"}
    return {**form, "lookups": [lookup], "queries": [query]}


def test_a_team_looks_up_nothing_but_public_tables(team, settings):
    """Refused alike by a plan, by an offer and by a draft, whatever is there."""
    write_files(settings)
    for location in REFUSED_LOCATIONS:
        plan = PLAN.replace("LOCATION", location)
        answers = [
            team.client.post(f"/api/curator/{path}", json={"plan": plan}, headers=curator(team))
            for path in ("preview", "offers")
        ]
        assert [answer.status_code for answer in answers] == [422, 422], location
        answers.append(team.client.post("/api/curator/draft", json=draft(location), headers=curator(team)))
        preview = answers[-1].json()
        assert "lookups.0.location" in {problem["field"] for problem in preview["problems"]}, location
        assert (preview["plan"], preview["public_columns"]) == (None, [[]])
        for answer in answers:
            assert "must be a CSV or Parquet file in the folder public" in answer.text, location
            assert not re.search(f"{TEXT_MARK}|{NUMBER_MARK}", answer.text), location
    assert count_charges(settings) == 0


@pytest.mark.slow
def test_a_team_looks_up_what_is_public(team, settings):
    write_files(settings)
    header, plan = curator(team), PLAN.replace("LOCATION", "public/illnesses.csv")
    offer = team.client.post("/api/curator/offers", json={"plan": plan}, headers=header).json()
    assert "illnesses.csv" in " ".join(offer["remarks"])
    confirmation = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    outcome = team.client.post("/api/curator/releases", json=confirmation, headers=header).json()
    release = release_file.read_release(settings.releases / outcome["file"])
    assert release.source.lookups[0].name == "illnesses.csv"
    overview = team.client.get("/api/curator", headers=header).json()
    assert overview["public"] == ["public/illnesses.csv"]


def test_a_single_visitor_looks_up_tables_of_the_folder_but_the_table_itself(studio, settings):
    write_files(settings)
    (settings.folder / "beside.csv").write_text("person,illness\n1,cold\n")
    (settings.folder / "again.csv").symlink_to(settings.folder / "visits.csv")
    listed = studio.get("/api/curator").json()["public"]
    assert set(listed) >= {"public/illnesses.csv", "beside.csv"}
    assert make_offer(studio, PLAN.replace("LOCATION", "beside.csv"))["takes"] == "1"
    for location in ("visits.csv", "again.csv", "../outside/secret.csv", "public/out.csv", "/etc/passwd"):
        answer = studio.post("/api/curator/preview", json={"plan": PLAN.replace("LOCATION", location)})
        assert (answer.status_code, answer.json()["field"]) == (422, "plan")
        preview = studio.post("/api/curator/draft", json=draft(location)).json()
        assert preview["problems"][0]["field"] == "lookups.0.location"


def test_whatever_the_mode_a_public_table_lies_in_the_folder(studio, team, settings):
    write_files(settings)
    for one_studio in (studio, team):
        for location in ("../outside/secret.csv", "public/out.csv", "/etc/passwd"):
            with pytest.raises(InputError, match="must be a CSV or Parquet file"):
                data_folder.public_table_path(one_studio.settings, location)


def test_a_plan_names_no_file_of_keys(studio, settings):
    """The values of a key file are in the release as they are, so no visitor's plan reads one."""
    write_files(settings)
    (settings.folder / "keys.csv").write_text(PATIENTS)
    for location in ("keys.csv", "public/illnesses.csv", "../outside/secret.csv", "visits.csv"):
        keys = f'keys = {{ educ = {{ location = "{location}", column = "illness" }} }}'
        plan = SURVEY.replace("keys = { educ = [1, 2, 3, 4, 5, 6, 7] }", keys)
        (settings.folder / "mine.toml").write_text(plan)
        answers = [studio.post(f"/api/curator/{path}", json={"plan": plan}) for path in ("preview", "offers")]
        answers.append(studio.get("/api/curator/draft", params={"file": "mine.toml"}))
        for answer in answers:
            assert answer.status_code == 422
            assert "keys must be listed here" in answer.json()["message"]
