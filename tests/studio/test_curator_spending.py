"""Spending: what was shown is what is spent, once, whoever asks, however often, and whatever is stopped in between."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from curator_helpers import SURVEY, count_charges, make_offer, open_budget
from utmost import ledger
from utmost.cli import main
from utmost.ledger.ledger import user_name
from utmost.publish import execute, plans, release_file
from utmost.studio.curator import spending

SPEND = "/api/curator/releases"


@pytest.fixture(autouse=True)
def budget(settings):
    open_budget(settings)


def remaining_epsilon(settings) -> Fraction:
    with ledger.open_ledger(settings.ledger, settings.folder) as budget_ledger:
        return budget_ledger.state("survey").left


def test_what_was_shown_is_charged_and_released(studio, settings):
    offer = make_offer(studio)
    assert (offer["cost"], offer["takes"], count_charges(settings)) == ("13/30", "13/30", 0)
    outcome = studio.post(SPEND, json=offer).json()
    assert (outcome["state"], outcome["entry"], outcome["repeated"]) == ("done", 1, False)
    assert remaining_epsilon(settings) == Fraction(17, 30)
    release = release_file.read_release(settings.releases / outcome["file"])
    assert [answer.name for answer in release] == ["dole", "schooling"]
    assert release.epsilon == Fraction(13, 30)


def test_repeats_give_the_same_release_and_charge_once(studio, settings):
    offer = make_offer(studio)
    first = studio.post(SPEND, json=offer).json()
    repeated_outcomes = [studio.post(SPEND, json=offer).json() for _ in range(3)]
    assert count_charges(settings) == 1
    assert all(outcome == {**first, "repeated": True} for outcome in repeated_outcomes)
    assert len(list(settings.releases.iterdir())) == 1


def test_many_clicks_at_once_charge_once(studio, settings):
    offer, csrf = make_offer(studio), studio.csrf
    barrier = threading.Barrier(8)

    def click(_):
        barrier.wait()
        return studio.client.post(SPEND, json=offer, headers={"X-CSRF-Token": csrf}).json()

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(click, range(8)))
    assert count_charges(settings) == 1
    assert {outcome["file"] for outcome in outcomes} == {outcomes[0]["file"]}
    assert len(list(settings.releases.iterdir())) == 1


def test_two_studios_on_one_folder_charge_a_key_once(studio, settings):
    """Two processes share the state folder: only one may begin, the other is refused or sees the outcome."""
    offer = make_offer(studio)
    owner = json.loads((settings.state_folder / "offers" / offer["key"] / "offer.json").read_text())["owner"]
    confirmation, barrier = spending.AcceptedOffer(**offer), threading.Barrier(4)

    def accept(_):
        service = spending.SpendingService(settings, studio.state.metrics)
        barrier.wait()
        try:
            return service.accept(owner, confirmation).state
        except spending.Refusal as refusal:
            return refusal.status

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(accept, range(4)))
    assert count_charges(settings) == 1
    assert results.count("done") >= 1
    assert set(results) <= {"done", "going", 409}


def test_a_restarted_studio_gives_the_same_release(studio, settings):
    offer = make_offer(studio)
    first = studio.post(SPEND, json=offer).json()
    studio.client.app.state.spending = spending.SpendingService(settings, studio.state.metrics)
    assert studio.post(SPEND, json=offer).json() == {**first, "repeated": True}
    assert count_charges(settings) == 1


@pytest.mark.slow
@pytest.mark.parametrize("stop_point", ["before the charge", "after the charge", "after the release"])
def test_a_studio_that_is_stopped_in_the_middle_charges_at_most_once(studio, settings, monkeypatch, stop_point):
    """Stopped: no outcome is written. What was charged is told, what was released is given, nothing runs twice."""
    offer = make_offer(studio)
    stopped_function = {
        "before the charge": "utmost.ledger.ledger.Ledger.charge",
        "after the charge": "utmost.ledger.ledger.Ledger.store_release",
        "after the release": "utmost.studio.curator.release_offers.Offers.save_outcome",
    }[stop_point]
    with monkeypatch.context() as patch:
        patch.setattr(stopped_function, _raise_stopped)
        # a process that is gone cleans nothing up
        patch.setattr(spending.SpendingService, "_outcome_after_failure", _raise_stopped)
        assert studio.post(SPEND, json=offer).status_code == 500
    charge_count = count_charges(settings)
    assert charge_count == (0 if stop_point == "before the charge" else 1)
    studio.client.app.state.spending = spending.SpendingService(settings, studio.state.metrics)
    if stop_point != "after the release":
        assert studio.post(SPEND, json=offer).json()["state"] == "going"  # another studio may be at it
        monkeypatch.setattr(spending, "RECENT_RUN_SECONDS", 0.0)
    outcome = studio.post(SPEND, json=offer).json()
    assert outcome["state"] == ("done" if stop_point == "after the release" else "lost")
    assert outcome["entry"] == (1 if charge_count else None)
    assert studio.post(SPEND, json=offer).json()["state"] == outcome["state"]
    assert count_charges(settings) == charge_count


def _raise_stopped(*_args, **_options):
    raise RuntimeError("stopped")


def test_a_failure_before_the_charge_leaves_the_offer_as_it_was(studio, settings, monkeypatch):
    offer = make_offer(studio)
    with monkeypatch.context() as patch:
        patch.setattr("utmost.ledger.ledger.Ledger.charge", _raise_stopped)
        assert studio.post(SPEND, json=offer).status_code == 500
    assert count_charges(settings) == 0
    assert studio.post(SPEND, json=offer).json()["state"] == "done"
    assert count_charges(settings) == 1


def test_a_failure_after_the_charge_says_what_was_paid(studio, settings, monkeypatch):
    offer = make_offer(studio)
    monkeypatch.setattr("utmost.ledger.ledger.Ledger.store_release", _raise_stopped)
    outcome = studio.post(SPEND, json=offer).json()
    assert (outcome["state"], outcome["entry"]) == ("lost", 1)
    assert "entry 1" in outcome["words"]
    assert studio.post(SPEND, json=offer).json()["state"] == "lost"
    assert count_charges(settings) == 1


def test_a_forged_cost_or_plan_is_refused(studio, settings):
    offer = make_offer(studio)
    for forged in (
        {"cost": "1/100"},
        {"takes": "0"},
        {"cost": "26/60"},
        {"plan": SURVEY.replace("0.1", "0.2")},
        {"plan": ""},
    ):
        answer = studio.post(SPEND, json={**offer, **forged})
        assert (answer.status_code, count_charges(settings)) == (409, 0), forged
    assert studio.post(SPEND, json=offer).json()["state"] == "done"


def test_a_cost_that_changed_since_it_was_shown_is_refused(studio, settings):
    """Under a part, what a plan takes depends on what was charged meanwhile."""
    part = SURVEY.replace("[[query]]", '[part]\ncolumn = "vote"\nequals = {}\n\n[[query]]', 1).replace(
        "where", "# where"
    )
    offer = make_offer(studio, part.replace("{}", "0"))
    assert offer["takes"] == "13/30"
    for value in (1, 2):
        execute.release(replace(plans.parse_plan(part.replace("{}", str(value)), settings.folder), output=None))
    answer = studio.post(SPEND, json=offer)
    assert answer.status_code == 409
    assert "nothing was spent" in answer.json()["message"]
    assert count_charges(settings) == 2


def test_a_budget_that_is_short_is_refused_before_and_at_the_click(studio, settings):
    offers = [make_offer(studio) for _ in range(3)]
    codes = [studio.post(SPEND, json=offer).status_code for offer in offers]
    assert (codes, count_charges(settings)) == ([200, 200, 409], 2)
    assert studio.post("/api/curator/offers", json={"plan": SURVEY}).status_code == 409


def test_a_key_that_was_never_given_is_refused(studio, settings):
    offer = make_offer(studio)
    for key in ("", "x", "../../x", "A" * 43, "/etc/passwd", "a" * 42 + "/", "\0" * 43):
        assert studio.post(SPEND, json={**offer, "key": key}).status_code == 404
    assert count_charges(settings) == 0


def test_the_key_of_another_session_is_refused_like_one_that_never_was(team, settings):
    ann = {"Authorization": f"Bearer {team.tokens['ann']}"}
    offer = team.client.post("/api/curator/offers", json={"plan": SURVEY}, headers=ann).json()
    confirmation = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    team.client.post("/login", data={"token": team.tokens["ann"], "then": "/", "csrf": _csrf(team)})
    stolen_offer_response = team.post(
        SPEND, json=confirmation
    )  # ann's browser, not the program that was given the offer
    unknown = team.post(SPEND, json={**confirmation, "key": "A" * 43})
    assert (stolen_offer_response.status_code, stolen_offer_response.json()) == (404, unknown.json())
    assert team.get(f"/api/curator/offers/{offer['key']}").status_code == 404
    assert count_charges(settings) == 0
    assert team.client.post(SPEND, json=confirmation, headers=ann).json()["state"] == "done"


def _csrf(team) -> str:
    from curator_helpers import HtmlForm

    return HtmlForm(team.get("/login").text, "/login").fields["csrf"]


def test_a_charge_of_a_team_has_the_name_of_the_token_by_browser_and_by_program(team, settings, monkeypatch, capsys):
    """The ledger, the studio's history and the command line say who charged, not who runs the server."""
    team.client.post("/login", data={"token": team.tokens["ann"], "then": "/", "csrf": _csrf(team)})
    assert team.post("/curator/spend", data=make_offer(team)).status_code == 303
    team.client.cookies.clear()
    ann = {"Authorization": f"Bearer {team.tokens['ann']}"}
    offer = team.client.post("/api/curator/offers", json={"plan": SURVEY}, headers=ann).json()
    confirmation = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    assert team.client.post(SPEND, json=confirmation, headers=ann).json()["state"] == "done"
    history = team.client.get("/api/curator/budget?name=survey", headers=ann).json()
    assert [charge["charged_by"] for charge in history["charges"]] == ["ann", "ann"]
    assert "<td>ann</td>" in team.client.get("/curator/budget?name=survey", headers=ann).text
    monkeypatch.chdir(settings.folder)
    with pytest.raises(SystemExit):
        main(["budget", "history", "survey", "--json"])
    assert [charge["charged_by"] for charge in json.loads(capsys.readouterr().out)["charges"]] == ["ann", "ann"]


def test_a_charge_of_a_studio_of_one_has_the_name_of_the_systems_user(studio):
    studio.post(SPEND, json=make_offer(studio))
    (charge,) = studio.get("/api/curator/budget?name=survey").json()["charges"]
    assert charge["charged_by"] == user_name()


def test_a_consumer_reaches_no_source_plan_budget_or_offer(team):
    bob = {"Authorization": f"Bearer {team.tokens['bob']}"}
    for path in ("", "/source", "/draft", "/budgets", "/budget?name=survey", "/releases/x.release.json"):
        assert team.client.get(f"/api/curator{path}", headers=bob).status_code == 403
        assert team.client.get(f"/curator{path}", headers=bob).status_code == 403
    for path in ("draft", "preview", "budgets", "offers", "releases"):
        assert team.client.post(f"/api/curator/{path}", json={}, headers=bob).status_code == 403


def test_no_change_without_the_csrf_token(studio, settings):
    offer = make_offer(studio)
    for path, content in ((SPEND, offer), ("/api/curator/budgets", {"name": "b", "epsilon": "1"})):
        assert studio.client.post(path, json=content).status_code == 403
    assert studio.client.post("/curator/spend", data=offer).status_code == 403
    assert count_charges(settings) == 0


FORBIDDEN_CHANGES = [
    ('location = "bundled:anes96"', 'location = "../../etc/passwd"'),
    ('location = "bundled:anes96"', 'location = "/etc/passwd"'),
    ('location = "bundled:anes96"', 'location = "../other/people.csv"'),
    ('location = "bundled:anes96"', 'location = "postgresql://db.example/x"'),
    ('location = "bundled:anes96"', 'location = ""\nengine = "spark"'),
    ('location = "bundled:anes96"', 'location = "bundled:anes96"\nengine = "spark"'),
    ('location = "bundled:anes96"', 'location = "link.csv"'),
    ("neighbours", 'ledger = "other.sqlite"\nneighbours'),
    ("neighbours", 'ledger = "postgresql://db.example/books"\nneighbours'),
    ("neighbours", 'output = "stolen.json"\nneighbours'),
    ("neighbours", 'output = "/etc/stolen.json"\nneighbours'),
    ("vote = 1", "vote = 1; DROP TABLE data"),
    ("vote = 1", "1 = 1) OR (SELECT 1"),
    ("vote = 1", "vote IN (SELECT vote FROM data)"),
]


def test_a_plan_that_reaches_further_is_refused(studio, settings):
    other = settings.folder.parent / "other"
    other.mkdir()
    (other / "people.csv").write_text("vote,educ\n1,1\n")
    (settings.folder / "link.csv").symlink_to(other / "people.csv")
    for path, change in product(("preview", "offers"), FORBIDDEN_CHANGES):
        answer = studio.post(f"/api/curator/{path}", json={"plan": SURVEY.replace(*change)})
        assert (answer.status_code, answer.json()["field"]) == (422, "plan"), change
    assert count_charges(settings) == 0
    assert not [*settings.folder.parent.rglob("stolen*"), *settings.folder.glob("other.sqlite")]


def test_a_plan_that_is_too_large_is_refused(studio):
    answer = studio.post("/api/curator/preview", json={"plan": "#" * (plans.MAX_PLAN_BYTES + 1)})
    assert (answer.status_code, answer.json()["field"]) == (422, "plan")


@limits(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.recursive(st.integers() | st.text(max_size=5), st.lists, max_leaves=5).map(repr))
def test_no_text_for_a_plan_is_more_than_refused(studio, text):
    for path in ("preview", "offers"):
        assert studio.post(f"/api/curator/{path}", json={"plan": text}).status_code == 422


def test_two_releases_of_one_name_get_files_of_their_own(studio, settings):
    plan = 'title = "A/../B: résumé"\n' + SURVEY
    names = {studio.post(SPEND, json=make_offer(studio, plan)).json()["file"] for _ in range(2)}
    assert names == {"a-b-r-sum-1.release.json", "a-b-r-sum-2.release.json"}
    assert {path.name for path in settings.releases.iterdir()} == names


def test_old_offers_are_forgotten_and_can_no_longer_be_accepted(studio, settings, monkeypatch):
    monkeypatch.setattr("utmost.studio.curator.release_offers.MAX_OFFERS", 2)
    offers = [make_offer(studio) for _ in range(3)]
    assert [studio.post(SPEND, json=offer).status_code for offer in offers] == [404, 200, 200]


@pytest.mark.slow
def test_spendings_are_counted(studio):
    offer = make_offer(studio)
    for confirmation in (offer, offer, {**offer, "cost": "1"}):
        studio.post(SPEND, json=confirmation)
    text = studio.get("/metrics").text
    for outcome, times in (("charged", 1), ("repeated", 1), ("refused", 1)):
        assert f'utmost_charges_total{{outcome="{outcome}"}} {times}' in text


def test_a_plan_whose_epsilon_is_split_is_previewed_offered_and_charged_at_its_total(studio, settings):
    queries = SURVEY.replace("epsilon = 0.1", "error = 12").replace('epsilon = "1/3"', "share = 2")
    plan = f"epsilon = 0.5\n{queries}"
    document = studio.post("/api/curator/preview", json={"plan": plan}).json()
    assert document["split"] == {"epsilon": "1/2", "unused": "0"}
    offer = make_offer(studio, plan)
    assert offer["cost"] == document["cost"] == "1/2"
    shown_offer = studio.get(f"/api/curator/offers/{offer['key']}").json()
    assert any("share 2 of 2" in remark for remark in shown_offer["remarks"])
    assert studio.post(SPEND, json=offer).json()["state"] == "done"
    assert remaining_epsilon(settings) == Fraction(1, 2)
