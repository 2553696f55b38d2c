"""Attacks on the guard, each of which must fail, and what every response must carry."""

from __future__ import annotations

import logging
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import APIRouter
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import utmost.studio
from utmost.studio import middleware
from utmost.studio.forms import Refusal
from utmost.studio.server import make_app
from utmost.studio.settings import LOOPBACK, Limits
from utmost.studio.state import RateLimiter
from utmost.studio.visitors import Sessions

TEMPLATES = sorted(Path(utmost.studio.__file__).parent.joinpath("templates").rglob("*.html"))
JOB_ID = "A" * 43


def test_every_response_has_the_policy_whatever_its_status(studio):
    answers = [
        studio.get("/"),
        studio.get("/nothing"),
        studio.get("/api/nothing"),
        studio.get("/static/studio.css"),
        studio.get("/health"),
        studio.get("/openapi.json"),
        studio.get("/login"),
        studio.get("/", headers={"Host": "evil.example"}),
        studio.client.post("/logout"),
        studio.client.put("/health"),
    ]
    assert {answer.status_code for answer in answers} >= {200, 303, 403, 404, 421}
    for answer in answers:
        assert answer.headers["content-security-policy"] == middleware.CONTENT_SECURITY_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_the_policy_allows_no_inline_script_nor_style_nor_eval_nor_framing():
    assert "unsafe" not in middleware.CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in middleware.CONTENT_SECURITY_POLICY
    assert "frame-ancestors 'none'" in middleware.CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_template_has_an_inline_script_style_or_handler_or_an_address_elsewhere(template):
    text = template.read_text(encoding="utf-8")
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"\|\s*safe\b|autoescape", text)
    markup = re.sub(r"\{[%#].*?[%#]\}", "", text, flags=re.DOTALL)
    assert not re.search(r"<style|\sstyle\s*=|\son\w+\s*=|javascript:|https?://", markup)


def test_an_unexpected_error_says_nothing_of_what_went_wrong(settings, caplog):
    app = make_app(settings)
    router = APIRouter()

    @router.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("row 17: Ann, 42")

    app.include_router(router)
    caplog.set_level(logging.DEBUG)
    answer = TestClient(app, base_url="http://127.0.0.1").get("/api/broken")
    assert answer.status_code == 500
    assert set(answer.json()) == {"field", "message"}
    assert answer.headers["content-security-policy"] == middleware.CONTENT_SECURITY_POLICY
    assert "Ann" not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text


# names and sites


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "localhost.", ""])
def test_a_foreign_host_is_turned_away(studio, host):
    assert studio.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8650", "localhost", "LOCALHOST:1", "[::1]:8650"])
def test_our_own_names_are_let_in(studio, host):
    assert studio.get("/", headers={"Host": host}).status_code == 200


@given(st.text(max_size=40))
def test_no_text_of_a_host_breaks_the_check(host):
    headers = Headers(raw=[(b"host", host.encode("latin-1", "replace"))])
    is_ours = middleware._host_name(headers["host"]) in LOOPBACK
    with nullcontext() if is_ours else pytest.raises(Refusal):
        middleware.check_host(headers, LOOPBACK)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "http://[", "x"])
def test_a_change_from_another_origin_is_turned_away_even_with_the_token(studio, origin):
    assert studio.post(f"/api/jobs/{JOB_ID}/cancel", headers={"Origin": origin}).status_code == 403


def test_a_change_from_our_own_origin_passes_the_guard(studio):
    assert studio.post(f"/api/jobs/{JOB_ID}/cancel", headers={"Origin": "http://127.0.0.1"}).status_code == 404


def test_another_site_can_link_to_a_page_but_not_embed_or_fetch_it(studio):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert studio.get("/", headers={**foreign, "Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert studio.get("/api/home", headers={**foreign, "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert studio.post("/logout", headers={**foreign, "Sec-Fetch-Mode": "navigate"}).status_code == 403


# CSRF


def test_a_change_without_the_token_is_turned_away(studio):
    studio.get("/")
    assert studio.client.post(f"/api/jobs/{JOB_ID}/cancel").status_code == 403
    assert studio.client.post(f"/jobs/{JOB_ID}/cancel", data={"csrf": ""}).status_code == 403


def test_a_change_with_another_sessions_token_is_turned_away(studio, settings):
    visitor = Sessions(settings.state_folder).begin("you", "curator")
    token = studio.state.sessions.csrf_token(visitor)
    assert studio.client.post(f"/api/jobs/{JOB_ID}/cancel", headers={"X-CSRF-Token": token}).status_code == 403


def test_a_change_with_the_token_but_no_cookie_is_turned_away(studio):
    token = studio.csrf
    studio.client.cookies.clear()
    assert studio.client.post(f"/api/jobs/{JOB_ID}/cancel", headers={"X-CSRF-Token": token}).status_code == 403


@pytest.mark.parametrize("form", [{"data": {"csrf": "TOKEN"}}, {"data": {"csrf": "TOKEN"}, "files": {"f": b"x"}}])
def test_the_token_is_found_in_a_form_of_either_kind(studio, form):
    content = {**form, "data": {"csrf": studio.csrf}}
    assert studio.client.post(f"/jobs/{JOB_ID}/cancel", **content).status_code == 404


def test_a_form_that_is_none_is_turned_away_without_a_fault(studio):
    studio.get("/")
    headers = {"content-type": "multipart/form-data; boundary=x"}
    assert studio.client.post("/logout", content=b"\x00--x\xff", headers=headers).status_code == 400


def test_the_cookie_is_strict_http_only_and_cannot_be_forged(studio):
    cookie = studio.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    name, _, value = cookie.partition(";")[0].partition("=")
    body, _, signature = value.partition(".")
    forged_body = body[:-2] + ("AA" if body[-2:] != "AA" else "BB")
    sessions = studio.state.sessions
    assert sessions.read_cookie(value) is not None
    assert all(
        sessions.read_cookie(bad) is None
        for bad in (f"{forged_body}.{signature}", body, "", f"{body}.", f".{signature}")
    )
    assert name.startswith("utmost-")


def test_a_session_ends(studio, monkeypatch):
    sessions = studio.state.sessions
    text = sessions.cookie_value(sessions.begin("you", "curator"))
    monkeypatch.setattr("utmost.studio.visitors.time.time", lambda: 10**11)
    assert sessions.read_cookie(text) is None


# sizes and rates


@pytest.fixture
def limited_client(settings):
    limits = Limits(body_bytes=1000, rate=(1, 5), loopback_rate=(1, 5))
    app = make_app(replace(settings, limits=limits))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def test_a_body_that_announces_too_much_is_refused(limited_client):
    assert limited_client.post("/logout", content=b"x" * 1001).status_code == 413


def test_a_body_that_grows_too_large_is_refused(limited_client):
    def chunks():
        for _ in range(20):
            yield b"x" * 100

    assert limited_client.post("/logout", content=chunks()).status_code == 413


def test_a_length_that_is_no_number_is_refused():
    for length in ("-1", "1e3", "٣", " 1", "9" * 30):
        with pytest.raises(Refusal):
            middleware.check_content_length(Headers(raw=[(b"content-length", length.encode())]), 1000)


def test_too_many_requests_are_told_to_wait(limited_client):
    answers = [limited_client.get("/health") for _ in range(7)]
    assert answers[0].status_code == 200
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=60))
def test_a_bucket_never_gives_more_than_it_holds_and_its_rate_brings(pauses):
    rates, now, granted = RateLimiter(Limits(rate=(3, 5))), 0.0, 0
    for pause in pauses:
        now += pause
        granted += rates.take("192.0.2.1", now=now) == 0
    assert granted <= 5 + 3 * now + 1e-6


def test_clients_do_not_empty_each_others_buckets():
    rates = RateLimiter(Limits(rate=(1, 2)))
    assert [rates.take("192.0.2.1", now=0.0) > 0 for _ in range(3)] == [False, False, True]
    assert rates.take("192.0.2.2", now=0.0) == 0
    assert rates.take("192.0.2.1", now=1.0) == 0
