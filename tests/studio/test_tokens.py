"""Tokens and roles of a team."""

from __future__ import annotations

import hmac

import pytest

from utmost.errors import InputError
from utmost.studio import visitors
from utmost.studio.visitors import Visitor


@pytest.fixture
def file(tokens_file):
    return tokens_file


def bearer_headers(token):
    return {"Authorization": f"Bearer {token}"}


def log_in(team, name):
    team.client.cookies.clear()
    team.get("/login")
    answer = team.client.post(
        "/login", data={"token": team.tokens[name], "csrf": csrf_token(team), "then": "/consumer"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/consumer")


def csrf_token(team):
    return team.get("/login").text.partition('name="csrf" content="')[2].partition('"')[0]


def test_only_hashes_are_kept_and_only_the_owner_can_read_them(file):
    token = visitors.add_token(file, "ann", "curator")
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert visitors.find_holder(token, visitors.read_tokens(file)).name == "ann"
    assert visitors.find_holder(token[:-1], visitors.read_tokens(file)) is None


def test_every_hash_is_compared_in_constant_time(file, monkeypatch):
    issued_tokens = [visitors.add_token(file, name, "consumer") for name in ("ann", "bob", "eve")]
    compared_digests = []

    def recording_compare(a, b):
        compared_digests.append(a)
        return compare_digest(a, b)

    compare_digest = hmac.compare_digest
    monkeypatch.setattr("utmost.studio.visitors.hmac.compare_digest", recording_compare)
    holders = visitors.read_tokens(file)
    for token in (*issued_tokens, "wrong", ""):
        compared_digests.clear()
        visitors.find_holder(token, holders)
        assert compared_digests == [holder.digest for holder in holders]


@pytest.mark.parametrize("line", ["root:ann:" + "0" * 64, "curator:ann:abc", "curator:a b:" + "0" * 64, "x"])
def test_a_line_that_is_no_token_is_refused_by_its_number_and_not_repeated(file, line):
    file.write_text(f"# ours\n\n{line}\n")
    with pytest.raises(InputError, match="line 3") as caught:
        visitors.read_tokens(file)
    assert line not in str(caught.value)


@pytest.mark.parametrize(("name", "role"), [("a:b", "curator"), ("", "curator"), ("ann", "root"), ("a\nb", "consumer")])
def test_a_name_or_role_that_would_break_the_file_is_refused(file, name, role):
    with pytest.raises(InputError):
        visitors.add_token(file, name, role)
    assert not file.exists()


def test_a_name_has_one_token(file):
    visitors.add_token(file, "ann", "curator")
    with pytest.raises(InputError, match="new"):
        visitors.add_token(file, "ann", "consumer")


def test_without_a_token_pages_lead_to_the_login_and_the_api_says_401(team):
    answer = team.get("/papers")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?then=%2Fpapers")
    for path in ("/api/home", "/api/curator", "/openapi.json", "/metrics"):
        answer = team.get(path, headers={"Accept": "application/json"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert team.get("/health").status_code == 200


@pytest.mark.parametrize("path", ["/api/curator", "/curator", "/metrics", "/curator/", "/api/curator/x", "/unknown"])
def test_a_consumer_is_denied_what_is_the_curators(team, path):
    assert team.get(path, headers=bearer_headers(team.tokens["bob"])).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/", "/consumer", "/api/consumer", "/designer", "/precision", "/papers", "/reference"]
)
def test_a_consumer_reaches_what_needs_no_data(team, path):
    assert team.get(path, headers=bearer_headers(team.tokens["bob"])).status_code == 200


@pytest.mark.slow
def test_a_consumer_sees_no_way_to_the_curators_pages(team):
    assert "/curator" not in team.get("/", headers=bearer_headers(team.tokens["bob"])).text
    assert "/api/curator" not in team.get("/reference", headers=bearer_headers(team.tokens["bob"])).text
    assert "/curator" in team.get("/", headers=bearer_headers(team.tokens["ann"])).text


def test_a_curator_reaches_everything(team):
    for path in ("/curator", "/api/curator", "/metrics", "/consumer"):
        assert team.get(path, headers=bearer_headers(team.tokens["ann"])).status_code == 200


def test_a_wrong_token_is_refused_and_slows_its_client_down(team):
    assert team.get("/health").status_code == 200
    before = team.state.rates._buckets["testclient"][0]
    assert team.get("/api/home", headers=bearer_headers("x" * 43)).status_code == 401
    assert team.state.rates._buckets["testclient"][0] <= before - 20


def test_a_login_begins_a_new_session_that_ends_with_the_token(team, file):
    team.get("/login")
    before = dict(team.client.cookies)
    log_in(team, "bob")
    assert dict(team.client.cookies) != before
    assert team.get("/api/session").json()["name"] == "bob"
    assert team.get("/curator").status_code == 403
    file.write_text("".join(line for line in file.read_text().splitlines(True) if ":bob:" not in line))
    assert team.get("/api/session").status_code == 401


def test_a_login_with_a_wrong_token_says_so_beside_the_field_and_does_not_repeat_it(team):
    answer = team.client.post("/login", data={"token": "<wrong>", "csrf": csrf_token(team)})
    assert answer.status_code == 422
    assert "token must be one that stands" in answer.text
    assert "wrong&gt;" not in answer.text
    assert 'aria-invalid="true"' in answer.text


def test_a_login_needs_the_csrf_token_too(team):
    team.get("/login")
    assert team.client.post("/login", data={"token": team.tokens["ann"]}).status_code == 403


def test_a_login_leads_nowhere_else(team):
    data = {"token": team.tokens["ann"], "csrf": csrf_token(team), "then": "//evil.example/"}
    assert team.client.post("/login", data=data).headers["location"] == "/"


def test_a_logout_ends_the_session(team):
    log_in(team, "ann")
    assert team.post("/logout").status_code == 303
    assert team.get("/api/session").status_code == 401


def test_a_bearer_needs_no_csrf_token_since_no_browser_sends_it(team):
    answer = team.client.post(f"/api/jobs/{'A' * 43}/cancel", headers=bearer_headers(team.tokens["bob"]))
    assert answer.status_code == 404


def test_jobs_are_their_owners_alone(team, monkeypatch):
    monkeypatch.setattr("utmost.studio.jobs.Jobs._run", lambda self, name: None)
    job = team.state.jobs.begin("ann", "Work", "nothing:here", {}, "/")
    assert team.get(f"/api/jobs/{job.id}", headers=bearer_headers(team.tokens["ann"])).status_code == 200
    assert team.get(f"/api/jobs/{job.id}", headers=bearer_headers(team.tokens["bob"])).status_code == 404
    assert team.client.post(f"/api/jobs/{job.id}/cancel", headers=bearer_headers(team.tokens["bob"])).status_code == 404
    assert team.get("/api/jobs", headers=bearer_headers(team.tokens["bob"])).json() == {"jobs": []}


def test_a_tokens_file_that_went_bad_lets_nobody_in(team, file):
    file.write_text("nonsense\n")
    assert team.get("/api/home", headers=bearer_headers(team.tokens["ann"])).status_code == 401


@pytest.mark.parametrize("path", ["/consumerx", "/api/consumerx", "/api", "/apix/consumer", "/ledger", "/api/jobsx"])
def test_what_only_begins_like_an_open_place_is_the_curators(path):
    assert not visitors.is_allowed(Visitor("bob", "consumer", ""), path)
