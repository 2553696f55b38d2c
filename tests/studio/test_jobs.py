"""Jobs: off the request, with progress, cancelled on demand, found again after a reload and after a restart."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from utmost.studio.forms import Refusal
from utmost.studio.jobs import Job, Jobs
from utmost.studio.settings import Limits

MAX_WAIT_SECONDS = 30  # seconds


@pytest.fixture(autouse=True)
def import_path_of_job_tasks(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))


@pytest.fixture
def jobs(tmp_path):
    job_queue = Jobs(tmp_path, Limits(jobs=1, waiting_jobs=2))
    yield job_queue
    job_queue.close()


def wait_for_state(jobs: Jobs, job: Job, *states: str) -> Job:
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < deadline:
        current = jobs.find("ann", job.id)
        if current.state in states:
            return current
        time.sleep(0.02)
    raise AssertionError(current)


def begin_job(jobs: Jobs, name: str, **arguments: object) -> Job:
    return jobs.begin("ann", name, f"job_tasks:{name}", arguments, "/page?job={job}")


def begin_endless_job(jobs: Jobs, file: Path) -> Job:
    return begin_job(jobs, "endless", file=str(file))


def test_work_is_done_in_its_own_process_and_its_result_is_kept_over_a_restart(jobs, tmp_path):
    job = wait_for_state(jobs, begin_job(jobs, "double", number=21), "done")
    assert job.result == {"twice": 42}
    assert (job.words, job.done, job.total, job.lower, job.upper) == ("doubling", 1, 2, "1/2", "3/4")
    assert job.page == f"/page?job={job.id}"
    assert Jobs(tmp_path, Limits()).find("ann", job.id) == job


def test_a_job_tells_how_far_it_is_and_stops_when_it_is_cancelled(jobs, tmp_path):
    job = begin_endless_job(jobs, tmp_path / "beat")
    wait_for_state(jobs, job, "running")
    while jobs.find("ann", job.id).lower is None:
        time.sleep(0.02)
    assert jobs.find("ann", job.id).words == "going on"
    assert jobs.cancel("ann", job.id).state == "cancelled"
    last_write = (tmp_path / "beat").read_text()
    time.sleep(0.2)
    assert (tmp_path / "beat").read_text() == last_write
    assert jobs.cancel("ann", job.id).state == "cancelled"


def test_a_job_that_waits_is_begun_when_there_is_room_and_one_cancelled_before_that_never(jobs, tmp_path):
    first, second = begin_endless_job(jobs, tmp_path / "a"), begin_endless_job(jobs, tmp_path / "b")
    third = begin_job(jobs, "double", number=1)
    wait_for_state(jobs, first, "running")
    assert [jobs.find("ann", job.id).state for job in (second, third)] == ["waiting", "waiting"]
    assert jobs.counts() == {"running": 1, "waiting": 2}
    with pytest.raises(Refusal, match="too much"):
        begin_job(jobs, "double", number=2)
    jobs.cancel("ann", second.id)
    jobs.cancel("ann", first.id)
    assert wait_for_state(jobs, third, "done").result == {"twice": 2}
    assert not (tmp_path / "b").exists()


def test_the_same_work_asked_for_twice_is_one_job(jobs, tmp_path):
    assert begin_endless_job(jobs, tmp_path / "a").id == begin_endless_job(jobs, tmp_path / "a").id
    assert len(jobs.all("ann")) == 1


def test_what_went_on_when_the_studio_ended_is_interrupted(tmp_path):
    jobs = Jobs(tmp_path, Limits(jobs=1))
    job = begin_endless_job(jobs, tmp_path / "beat")
    wait_for_state(jobs, job, "running")
    jobs.close()
    assert Jobs(tmp_path, Limits()).find("ann", job.id).state == "interrupted"
    with pytest.raises(Refusal):
        begin_job(jobs, "double", number=1)


def test_a_process_ends_with_the_studio_however_that_ends(jobs, tmp_path):
    job = begin_endless_job(jobs, tmp_path / "beat")
    wait_for_state(jobs, job, "running")
    process = jobs._active[job.id]
    process.stdin.close()  # what the end of the studio does to the pipe
    assert process.wait(MAX_WAIT_SECONDS) == 1
    assert wait_for_state(jobs, job, "failed").error.startswith("it ended without a result")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("raise_input_error", "epsilon must be > 0, got 0"),
        ("raise_unexpected_error", "internal error (RuntimeError): this is a bug in utmost"),
        ("exit_without_result", "it ended without a result, perhaps for want of memory: ask for less"),
    ],
)
def test_a_job_that_fails_says_why_in_one_line_and_quotes_no_data(jobs, name, error, capfd):
    assert wait_for_state(jobs, begin_job(jobs, name), "failed").error == error
    assert "Ann" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended(tmp_path):
    jobs = Jobs(tmp_path, Limits(job_seconds=1))
    assert "more than 1 seconds" in wait_for_state(jobs, begin_endless_job(jobs, tmp_path / "beat"), "failed").error
    jobs.close()


@pytest.mark.parametrize("name", ["..", "../../key", "", "x" * 43, "/etc/passwd"])
def test_a_name_that_is_no_jobs_finds_nothing(jobs, name):
    with pytest.raises(Refusal, match="one of yours"):
        jobs.find("ann", name)


def test_the_oldest_jobs_are_forgotten(tmp_path):
    jobs = Jobs(tmp_path, Limits(kept_jobs=2))
    finished_jobs = [wait_for_state(jobs, begin_job(jobs, "double", number=k), "done") for k in range(4)]
    kept_ids = {job.id for job in jobs.all("ann")}
    assert finished_jobs[0].id not in kept_ids
    assert finished_jobs[3].id in kept_ids
    jobs.close()


def test_a_reload_finds_the_job_and_its_page_cancels_it(studio, tmp_path):
    job = studio.state.jobs.begin("you", "Long", "job_tasks:endless", {"file": str(tmp_path / "beat")}, "/designer")
    text = studio.get(f"/jobs/{job.id}").text
    assert "Cancel it" in text
    assert f'data-job="/api/jobs/{job.id}"' in text
    assert studio.client.post(f"/jobs/{job.id}/cancel", data={"csrf": studio.csrf}).status_code == 303
    assert studio.get(f"/api/jobs/{job.id}").json()["state"] == "cancelled"
    assert "Cancel it" not in studio.get(f"/jobs/{job.id}").text
    assert "Long" in studio.get("/jobs").text
