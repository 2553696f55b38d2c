"""The charts' script is made once, beside the pages, and never holds one up."""

from __future__ import annotations

import subprocess
import sys

import pytest

from utmost.studio.vega_bundle import VegaBundle


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """A cache that no other test has filled, and whose script no other test draws with."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_pages_are_answered_while_there_is_no_script_yet(studio):
    version = studio.state.bundle.version
    assert not studio.state.bundle.is_ready()
    assert 'data-ready="yes"' not in studio.get("/").text
    assert studio.get("/vega/ready").json() == {"ready": False}
    answer = studio.get(f"/vega/{version}.js")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_the_script_is_kept_forever_under_its_version(studio):
    bundle = studio.state.bundle
    bundle.path.parent.mkdir(parents=True, exist_ok=True)
    bundle.path.write_text("// a script")
    try:
        answer = studio.get(f"/vega/{bundle.version}.js")
        assert answer.text == "// a script"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith("text/javascript")
        assert 'data-ready="yes"' in studio.get("/").text
        assert studio.get("/vega/0123.js").status_code == 404
    finally:
        bundle.path.unlink()


@pytest.mark.slow
def test_one_process_makes_it_however_many_ask_and_ends_with_the_studio(tmp_path, monkeypatch):
    processes = []

    def start_sleeper(path):
        processes.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return processes[-1]

    monkeypatch.setattr("utmost.studio.vega_bundle.start_build", start_sleeper)
    bundle = VegaBundle(tmp_path)
    for _ in range(3):
        bundle.prepare()
    bundle.stop()
    assert [process.returncode is not None for process in processes] == [True]
