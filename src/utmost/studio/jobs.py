"""Long work off the request: a process for each job, its progress and its result in files.

A job is a folder of the state folder: `task.json` says what to do, the process writes `progress.json` and at the end
`result.json` or `error.json`, the studio writes `stopped` when it ends one. A job's state is what its files say, so a
reload finds it, and a restart finds what was done; what was going on then is `interrupted`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from utmost.studio.forms import Refusal
from utmost.studio.settings import Limits
from utmost.studio.visitors import random_token

JOB_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")
State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
END_FILES = ("result.json", "error.json", "stopped")
FINAL_STATES = ("done", "failed", "cancelled", "interrupted")
STOP_SECONDS = 3  # seconds for a process to end when it is told to


class Job(BaseModel):
    """A piece of long work: how far it is, the bounds it has so far, and its result once it is done."""

    id: str
    title: str = Field(examples=["Kernel mechanisms of grid:3x3"])
    page: str = Field(description="The page that began it, and that shows its result")
    state: State
    begun: str
    words: str = Field(default="", description="What it is doing")
    done: int | None = None
    total: int | None = None
    lower: str | None = Field(default=None, description="What is sought is at least this")
    upper: str | None = Field(default=None, description="and at most this")
    error: str | None = None
    result: dict[str, Any] | None = None

    @property
    def is_over(self) -> bool:
        """Will nothing change any more."""
        return self.state in FINAL_STATES


class Jobs:
    """The jobs in a folder. At most `limits.jobs` run at a time; an owner sees only their own."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(limits.jobs, thread_name_prefix="job")
        self._active: dict[str, subprocess.Popen[bytes] | None] = {}  # None while it waits
        self._closed = False

    def begin(self, owner: str, title: str, work: str, arguments: Mapping[str, Any], page: str) -> Job:
        """Begin work, and give its job. The same work of the same owner that is still going on is not begun twice.

        `work` names a function, "utmost.studio.designer.tasks:kernels", that takes the arguments and a report and
        returns a dict; arguments and result are JSON. `page` is where its result is shown; {job} in it is the job's id.
        """
        assert page.startswith("/")
        task = {"owner": owner, "title": title, "work": work, "arguments": dict(arguments), "page": page}
        with self._lock:
            own_jobs = [name for name in self._active if self._read_task(name)["owner"] == owner]
            for name in own_jobs:
                if {key: self._read_task(name)[key] for key in task} == json.loads(json.dumps(task)):
                    return self._read_job(name)
            if len(own_jobs) >= self._limits.jobs_per_visitor:
                raise Refusal(429, "you have as many jobs as one may: wait for one to end, or cancel one", wait=30)
            if self._closed or len(self._active) >= self._limits.jobs + self._limits.waiting_jobs:
                raise Refusal(429, "too much is being computed already: wait for a job to end, or cancel one", wait=30)
            name = random_token()
            folder = self._folder / name
            folder.mkdir(mode=0o700)
            write_json(folder / "task.json", {**task, "begun": _now()})
            self._active[name] = None
            self._threads.submit(self._run, name)
        self._remove_old_jobs()
        return self._read_job(name)

    def find(self, owner: str, name: str) -> Job:
        """A job of this owner's; refused with 404 where the owner has none of that name."""
        if JOB_ID_PATTERN.fullmatch(name) is None or not (self._folder / name / "task.json").is_file():
            raise Refusal(404, "job must be one of yours, got another: see the list of jobs")
        if self._read_task(name)["owner"] != owner:
            raise Refusal(404, "job must be one of yours, got another: see the list of jobs")
        return self._read_job(name)

    def all(self, owner: str) -> list[Job]:
        """The jobs of an owner, the latest first, without their results."""
        jobs = [self._read_job(name) for name in self._names_latest_first() if self._read_task(name)["owner"] == owner]
        return [job.model_copy(update={"result": None}) for job in jobs]

    def cancel(self, owner: str, name: str) -> Job:
        """End a job's process, or keep it from being begun; what is over stays as it is."""
        if not self.find(owner, name).is_over:
            self._stop(name, "cancelled")
        return self._read_job(name)

    def counts(self) -> Mapping[str, int]:
        """How many jobs wait and run now."""
        with self._lock:
            running = sum(process is not None for process in self._active.values())
            return {"running": running, "waiting": len(self._active) - running}

    def close(self) -> None:
        """End all that goes on; afterwards nothing can be begun."""
        with self._lock:
            self._closed, active = True, list(self._active)
        for name in active:
            self._stop(name, "interrupted")
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, name: str) -> None:
        """One job, from its process' beginning to its end."""
        folder = self._folder / name
        try:
            process = self._start_process(name)
            if process is not None:
                with process:  # its pipe is closed at the end
                    self._wait_for_end(process, folder)
        finally:
            if not any((folder / file).exists() for file in END_FILES):
                _write_error(folder, "it ended without a result, perhaps for want of memory: ask for less")
            with self._lock:
                self._active.pop(name, None)

    def _wait_for_end(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        try:
            process.wait(self._limits.job_seconds)
        except subprocess.TimeoutExpired:
            _write_error(folder, f"it took more than {self._limits.job_seconds} seconds: ask for less")
            end_process(process)

    def _start_process(self, name: str) -> subprocess.Popen[bytes] | None:
        folder = self._folder / name
        with self._lock:
            if self._closed or (folder / "stopped").exists():
                return None
            devnull = subprocess.DEVNULL  # a library may print what it was given
            command = [sys.executable, "-P", "-m", "utmost.studio.job_worker", str(folder)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=devnull, stderr=devnull)
            self._active[name] = process
        return process

    def _stop(self, name: str, reason: str) -> None:
        with self._lock:
            (self._folder / name / "stopped").write_text(reason, encoding="ascii")
            process = self._active.get(name)
        if process is not None:
            end_process(process)

    def _read_job(self, name: str) -> Job:
        folder, task = self._folder / name, self._read_task(name)
        is_active = name in self._active
        is_running = self._active.get(name) is not None
        progress = read_json(folder / "progress.json") or {}
        result, error = read_json(folder / "result.json"), read_json(folder / "error.json")
        state = _job_state(folder, result, error, is_active, is_running)
        return Job(
            id=name,
            title=task["title"],
            page=task["page"].replace("{job}", name),
            begun=task["begun"],
            state=state,
            error=None if error is None or state != "failed" else error["message"],
            result=result if state == "done" else None,
            **progress,
        )

    def _read_task(self, name: str) -> dict[str, Any]:
        return read_json(self._folder / name / "task.json") or {"owner": None}

    def _names_latest_first(self) -> list[str]:
        """All jobs, the latest first."""
        folders = [folder for folder in self._folder.iterdir() if (folder / "task.json").is_file()]
        return [
            folder.name for folder in sorted(folders, key=lambda folder: (folder / "task.json").stat().st_mtime_ns)
        ][::-1]

    def _remove_old_jobs(self) -> None:
        """Forget the oldest jobs that are over."""
        for name in self._names_latest_first()[self._limits.kept_jobs :]:
            if name not in self._active:
                shutil.rmtree(self._folder / name, ignore_errors=True)


def _job_state(folder: Path, result: object, error: object, is_active: bool, is_running: bool) -> State:
    if result is not None:
        return "done"
    if error is not None:
        return "failed"
    if (folder / "stopped").exists():
        return "cancelled" if (folder / "stopped").read_text(encoding="ascii") == "cancelled" else "interrupted"
    return "running" if is_running else "waiting" if is_active else "interrupted"


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Tell a process to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _write_error(folder: Path, message: str) -> None:
    write_json(folder / "error.json", {"message": message})


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """JSON in a file, whole or not at all."""
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON in a file; None where there is no file."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return None
    return content


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
