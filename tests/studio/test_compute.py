"""Computing for requests: in processes that can be ended, a share of CPU for each visitor, curators first."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from compute_tasks import busy, exit_process, raise_field_error, raise_unexpected_error
from curator_helpers import SURVEY, count_charges, open_budget
from utmost.errors import InputError
from utmost.studio import background
from utmost.studio.background import CpuShares
from utmost.studio.forms import Refusal
from utmost.studio.server import make_app
from utmost.studio.settings import Limits

FLOOD_REQUESTS = 45
MAX_CURATOR_SECONDS = 5.0  # of one of the curator's requests, on a busy machine


def test_a_share_is_refilled_in_a_minute_and_what_is_owed_is_waited_for():
    shares = CpuShares(30)
    assert shares.wait_seconds("bob", now=0.0) == 0
    shares.use("bob", 45, now=0.0)
    assert shares.wait_seconds("bob", now=0.0) == 30
    assert shares.wait_seconds("ann", now=0.0) == 0
    assert shares.wait_seconds("bob", now=30.0) == 0


@pytest.mark.parametrize("error", [InputError("message", "space"), Refusal(429, "message", wait=3)])
def test_errors_pass_between_processes_whole(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.fixture
def pool(settings, monkeypatch):
    """A pool for a team, whose workers find compute_tasks."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    monkeypatch.setattr(background, "start_worker", background.Worker)
    limits = Limits(compute_seconds=60, cpu_seconds_per_minute=1, calls_per_visitor=2)
    pool = background.ComputePool(replace(settings, limits=limits, tokens=settings.folder / "tokens"))
    yield pool
    pool.close()


@pytest.mark.slow
def test_errors_of_the_user_are_raised_and_others_are_told_by_type_alone(pool):
    with pytest.raises(InputError, match="space must be smaller"):
        pool.run("bob", raise_field_error)
    with pytest.raises(background.ComputeBug, match=r"^RuntimeError$"):
        pool.run("bob", raise_unexpected_error)
    with pytest.raises(InputError, match="without a result"):
        pool.run("bob", exit_process)


@pytest.mark.slow
def test_who_has_used_a_share_is_refused_until_it_is_refilled_and_others_are_not(pool):
    assert pool.run("bob", busy, 1.5) == "done"
    with pytest.raises(Refusal, match="used your share") as refusal:
        pool.run("bob", busy, 0.0)
    assert refusal.value.status == 429
    assert refusal.value.wait >= 1
    assert pool.run("eve", busy, 0.0) == "done"


@pytest.mark.slow
def test_what_takes_too_long_is_stopped_with_its_process_and_the_end_of_the_pool_ends_all(pool):
    pool._limits = replace(pool._limits, compute_seconds=2)
    with pytest.raises(InputError, match="more than 2 seconds and was stopped"):
        pool.run("bob", busy, 600.0)
    assert (pool._idle, pool._busy) == ([], [])
    pool.prepare()
    process = pool._idle[0].process
    pool.close()
    assert process.poll() is not None
    with pytest.raises(Refusal, match="ending"):
        pool.run("eve", busy, 0.0)


@pytest.mark.slow
def test_a_consumer_who_floods_is_refused_while_a_curator_previews_and_spends(settings, tokens_file):
    from utmost.studio import visitors

    headers = {
        name: {"Authorization": f"Bearer {visitors.add_token(tokens_file, name, role)}"}
        for name, role in (("ann", "curator"), ("bob", "consumer"))
    }
    open_budget(settings)
    limits = replace(settings.limits, cpu_seconds_per_minute=2, compute_seconds=10)
    app = make_app(replace(settings, tokens=tokens_file, limits=limits))
    with TestClient(app, base_url="http://127.0.0.1") as client, ThreadPoolExecutor(FLOOD_REQUESTS) as threads:
        client.post("/api/curator/offers", json={"plan": SURVEY}, headers=headers["ann"])  # engines are loaded
        question = {"space": "grid:3x4", "loss": "squared"}
        flood = [
            threads.submit(client.get, "/api/designer/curve", params=question, headers=headers["bob"])
            for _ in range(FLOOD_REQUESTS)
        ]
        seconds = [_spend_once(client, headers["ann"]) for _ in range(2)]
        answers = [future.result() for future in flood]
    assert max(seconds) < MAX_CURATOR_SECONDS
    assert count_charges(settings) == 2
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) >= FLOOD_REQUESTS - limits.calls_per_visitor - 10
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    assert {answer.status_code for answer in answers} <= {200, 422, 429, 503}


def _spend_once(client, headers) -> float:
    """Seconds of the slower of an offer and its acceptance."""
    started = time.monotonic()
    offer = client.post("/api/curator/offers", json={"plan": SURVEY}, headers=headers).json()
    offered = time.monotonic()
    confirmation = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    assert client.post("/api/curator/releases", json=confirmation, headers=headers).json()["state"] == "done"
    return max(offered - started, time.monotonic() - offered)
