"""Health and metrics."""

from __future__ import annotations

from dataclasses import replace

from starlette.testclient import TestClient

from utmost import ledger
from utmost.studio.server import make_app


def test_health_tells_of_the_ledger(studio, settings, monkeypatch):
    assert studio.get("/health").json()["ledger"] == "empty"
    monkeypatch.setattr("utmost.studio.core.health.LEDGER_CHECK_SECONDS", 10**9)
    with ledger.open_ledger(settings.ledger, settings.folder) as connection:
        connection.open(ledger.Budget("survey", "1"))
    assert studio.get("/health").json() == {"status": "ok", "version": "0.1.0", "ledger": "ok"}


def test_health_is_503_where_the_ledger_is_out_of_reach(settings):
    url = "postgresql://ann:secret@127.0.0.1:1/none?connect_timeout=1"
    client = TestClient(make_app(replace(settings, ledger=url)), base_url="http://127.0.0.1")
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["ledger"]) == (503, "unreachable")
    assert "secret" not in answer.text


def test_metrics_count_by_route_and_never_by_what_was_asked(studio):
    studio.get("/api/jobs/secret-name")
    studio.get("/secret-page")
    studio.get("/health")
    studio.state.metrics.count_charge("charged")
    text = studio.get("/metrics").text
    assert 'utmost_requests_total{method="GET",route="/api/jobs/{job}",status="404"} 1' in text
    assert 'utmost_requests_total{method="GET",route="other",status="404"} 1' in text
    assert 'utmost_request_seconds_count{route="/health"} 1' in text
    assert 'utmost_charges_total{outcome="charged"} 1' in text
    assert 'utmost_jobs{state="running"} 0' in text
    assert "secret" not in text


def test_a_histogram_of_times_is_cumulative(studio):
    for _ in range(5):
        studio.get("/health")
    lines = [line for line in studio.get("/metrics").text.splitlines() if 'seconds_bucket{route="/health"' in line]
    counts = [int(line.rpartition(" ")[2]) for line in lines]
    assert counts == sorted(counts)
    assert counts[-1] == 5
