"""A studio ends what it began: no thread outlives it, and its process ends with code 0 and says nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from curator_helpers import SURVEY, count_charges, open_budget, write_visits
from studio_server import MAX_WAIT_SECONDS, run_server
from utmost.studio.background import ThreadGroup, end_timer, start_timer
from utmost.studio.curator import api, tables
from utmost.studio.server import make_app

LARGE_TABLE_ROWS = 400_000
EMBEDDED_STUDIO = """
import sys, threading
from pathlib import Path
from starlette.testclient import TestClient
from utmost.studio import vega_bundle
from utmost.studio.server import make_app
from utmost.studio.curator import tables
from utmost.studio.settings import Settings

vega_bundle.start_build = lambda path: None
tables.COUNT_SECONDS = 0.01
root = Path(sys.argv[1])
(root / "folder").mkdir()
(root / "folder" / "large.csv").write_text("a,b\\n" + "".join(f"{k},x\\n" for k in range(int(sys.argv[2]))))
app = make_app(Settings(folder=root / "folder", state_folder=root / "state"))
with TestClient(app, base_url="http://127.0.0.1") as client:  # its event loop is in a daemonic thread
    csrf = client.get("/api/session").json()["csrf"]
    draft = client.get("/api/curator/draft?location=large.csv").json()
    draft["queries"][0]["name"] = "all"
    preview = client.post("/api/curator/draft", json=draft, headers={"X-CSRF-Token": csrf}).json()
    assert preview["counting"], preview
"""


def _our_threads() -> list[threading.Thread]:
    """All threads but those of anyio, which idle in Python."""
    return [thread for thread in threading.enumerate() if not thread.name.startswith("AnyIO")]


def test_no_thread_outlives_the_studio_that_began_it(settings, monkeypatch):
    from starlette.testclient import TestClient

    before, count_units = _our_threads(), tables._count_units
    monkeypatch.setattr(tables, "COUNT_SECONDS", 0.01)
    monkeypatch.setattr(tables, "_count_units", lambda *arguments: (time.sleep(0.5), count_units(*arguments)))
    monkeypatch.setattr(api, "WARM_UP_DELAY_SECONDS", 0.0)
    write_visits(settings)
    with TestClient(make_app(settings), base_url="http://127.0.0.1") as client:
        _ask_for_a_count(client, "visits.csv")
    assert [thread for thread in _our_threads() if thread not in before] == []


def test_an_application_that_is_served_again_computes_and_spends_again(settings):
    from starlette.testclient import TestClient

    open_budget(settings, epsilon="10")
    app = make_app(settings)
    for _ in range(2):
        with TestClient(app, base_url="http://127.0.0.1") as client:
            assert client.get("/api/designer/best").status_code == 200
            headers = {"X-CSRF-Token": client.get("/api/session").json()["csrf"]}
            offer = client.post("/api/curator/offers", json={"plan": SURVEY}, headers=headers).json()
            confirmation = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
            assert client.post("/api/curator/releases", json=confirmation, headers=headers).json()["state"] == "done"
    assert count_charges(settings) == 2


def test_a_thread_is_not_daemonic_whoever_begins_it():
    """Such a thread is cut off inside a library, and the process aborts with code 134."""
    seen = []

    def begin() -> None:
        group = ThreadGroup("test")
        group.start(lambda: seen.append(threading.current_thread().daemon))
        group.wait()
        timer = start_timer(60, seen.append, "called")
        seen.append(timer.daemon)
        end_timer(timer)

    thread = threading.Thread(target=begin, daemon=True)
    thread.start()
    thread.join()
    assert seen == [False, False]


@pytest.mark.slow
@pytest.mark.parametrize("run", range(3))
def test_a_process_with_a_studio_in_it_ends_with_code_0_while_units_are_counted(tmp_path, run):
    command = [sys.executable, "-W", "ignore", "-c", EMBEDDED_STUDIO, str(tmp_path), str(LARGE_TABLE_ROWS)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=MAX_WAIT_SECONDS, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_ends_with_code_0_while_units_are_counted(tmp_path, signal_number):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "large.csv").write_text("a,b\n" + "".join(f"{k},x\n" for k in range(LARGE_TABLE_ROWS)))
    with run_server("studio", folder, "--port", "0", "--no-browser", cwd=tmp_path) as (process, address):
        with httpx.Client(base_url=address, timeout=MAX_WAIT_SECONDS) as client:
            _ask_for_a_count(client, "large.csv")
        process.send_signal(signal_number)
        assert process.wait(MAX_WAIT_SECONDS) == 0
        assert process.stderr.read() == ""


def _ask_for_a_count(client: httpx.Client, file: str) -> None:
    csrf = client.get("/api/session").json()["csrf"]
    draft = client.get(f"/api/curator/draft?location={file}").json()
    draft["queries"][0]["name"] = "all"
    assert client.post("/api/curator/draft", json=draft, headers={"X-CSRF-Token": csrf}).status_code == 200


def test_a_studio_names_no_path_to_begin_a_thread_but_its_own():
    """Threads are begun in background.py, which says how they end; pools are closed by their owners."""
    folder = Path(api.__file__).parent.parent
    owners = {"background.py", "job_worker.py", "compute_worker.py", "server.py"}
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.name in owners or ("Thread(" not in text and "Timer(" not in text), path.name
