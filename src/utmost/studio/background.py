"""Work beside requests: threads, worker processes with a time limit, and CPU shares of visitors.

Threads that a studio begins and ends: none of them outlives it.

A thread is daemonic if the one that begins it is, as under a server in a thread. The interpreter does not wait for such
a thread: it is cut off inside whatever library it is in, and a library of C++ then ends the process by abort. So each
thread here is not daemonic, and whoever begins one registers in `AppState.cleanup` how it is waited for.

What a visitor's numbers make long runs here, so that no request can hold up the pages and spendings of others. Curators
have workers of their own. A call that passes the limit is ended with its process; a visitor whose share is used up, or
who has too many calls under way, is refused with 429.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import Request

from utmost.errors import InputError
from utmost.studio.compute_worker import CallResult
from utmost.studio.forms import Refusal
from utmost.studio.jobs import end_process
from utmost.studio.settings import Settings
from utmost.studio.visitors import Visitor


def start_timer(seconds: float, function: Callable[..., Any], *arguments: Any) -> threading.Timer:
    """Call the function in a thread of its own, so many seconds from now."""
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = False
    timer.start()
    return timer


def end_timer(timer: threading.Timer) -> None:
    """Keep the function from being called, or wait for its end."""
    timer.cancel()
    timer.join()


class ThreadGroup:
    """Threads of one purpose that are waited for together."""

    def __init__(self, name: str) -> None:
        self._name, self._lock = name, threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call the function in a thread of its own."""
        thread = threading.Thread(target=function, args=arguments, name=self._name, daemon=False)
        with self._lock:
            self._threads = [*(other for other in self._threads if other.is_alive()), thread]
            thread.start()

    def wait(self) -> None:
        """Wait for all that were started before."""
        with self._lock:
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()


MAX_VISITORS = 10_000
MINUTE_SECONDS = 60


class CpuShares:
    """A bucket of CPU seconds for each visitor, refilled in a minute; what was used beyond it is owed."""

    def __init__(self, seconds_per_minute: float) -> None:
        self._capacity = float(seconds_per_minute)
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # seconds left, when that was so

    def wait_seconds(self, visitor: str, now: float | None = None) -> float:
        """Seconds until this visitor may compute again; 0 if at once."""
        with self._lock:
            level, _ = self._level(visitor, now)
        return max(0.0, -level * MINUTE_SECONDS / self._capacity)

    def use(self, visitor: str, cpu_seconds: float, now: float | None = None) -> None:
        """Take what a visitor has used."""
        with self._lock:
            level, clock = self._level(visitor, now)
            self._levels[visitor] = (level - cpu_seconds, clock)
            self._levels.move_to_end(visitor)
            while len(self._levels) > MAX_VISITORS:
                self._levels.popitem(last=False)

    def _level(self, visitor: str, now: float | None) -> tuple[float, float]:
        clock = time.monotonic() if now is None else now
        level, updated = self._levels.get(visitor, (self._capacity, clock))
        return min(self._capacity, level + (clock - updated) * self._capacity / MINUTE_SECONDS), clock


T = TypeVar("T")
BUSY_RETRY_SECONDS = 5


class ComputeBug(Exception):
    """An unexpected error of a worker; its type is all that is told."""


class WorkerLostError(Exception):
    """A worker process ended before it answered."""


class Worker:
    """A worker process; it answers one call at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "utmost.studio.compute_worker"]
        pipe, devnull = subprocess.PIPE, subprocess.DEVNULL  # a library may print what it was given
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=devnull)

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> CallResult:
        """The result of a call. A worker that takes longer than so many seconds is ended, and so lost."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        content = pickle.dumps((function, arguments))
        timer = start_timer(seconds, self.process.kill)
        try:
            self.process.stdin.write(len(content).to_bytes(8, "big") + content)
            self.process.stdin.flush()
            result: CallResult = pickle.load(self.process.stdout)
        except Exception:  # it ended, or what it wrote cannot be read
            raise WorkerLostError from None
        finally:
            end_timer(timer)
        return result

    def end(self) -> None:
        """End the process."""
        with self.process:  # its pipes are closed at the end
            end_process(self.process)


def start_worker() -> Worker:
    """A new worker process."""
    return Worker()


class ComputePool:
    """Worker processes that are started when they are first needed, and replaced when they are lost."""

    def __init__(self, settings: Settings) -> None:
        self._limits, self._is_team = settings.limits, settings.tokens is not None
        self._shares = CpuShares(self._limits.cpu_seconds_per_minute)
        self._changed = threading.Condition()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._calls: Counter[str] = Counter()  # by visitor, waiting or running
        self._is_closed = False

    def run(self, visitor: str, function: Callable[..., T], *arguments: Any) -> T:
        """The value of a function of a module, computed by a worker; its errors are raised here."""
        self._check_share(visitor)
        with self._admit(visitor), self._take_worker() as worker:
            result = self._call(visitor, worker, function, arguments)
        if result.error is not None:
            raise result.error
        if result.bug:
            raise ComputeBug(result.bug)
        value: T = result.value
        return value

    def open(self) -> None:
        """Take calls, also after `close`: an application may be served again."""
        with self._changed:
            self._is_closed = False

    def prepare(self) -> None:
        """Start a worker before it is needed."""
        with self._changed:
            if not self._is_closed and not self._idle and not self._busy:
                self._idle.append(start_worker())

    def close(self) -> None:
        """End all workers; the calls under way fail, and no other is taken."""
        with self._changed:
            self._is_closed = True
            idle_workers, self._idle, busy_workers = self._idle, [], list(self._busy)
            self._changed.notify_all()
        for worker in busy_workers:  # its call fails, and closes its pipes
            worker.process.kill()
            worker.process.wait()
        for worker in idle_workers:
            worker.end()

    def _check_share(self, visitor: str) -> None:
        wait = self._shares.wait_seconds(visitor) if self._is_team else 0.0
        if wait > 0:
            share = self._limits.cpu_seconds_per_minute
            message = f"you have used your share, {share} seconds of computing in a minute: wait, or ask for less"
            raise Refusal(429, message, wait=math.ceil(wait))

    @contextmanager
    def _admit(self, visitor: str) -> Iterator[None]:
        """Count a call; one too many is refused, so that those who wait never fill the server's threads."""
        with self._changed:
            if self._calls[visitor] >= self._limits.calls_per_visitor or self._calls.total() >= self._limits.calls:
                message = "too much is being computed already: wait for it to end"
                raise Refusal(429, message, wait=BUSY_RETRY_SECONDS)
            self._calls[visitor] += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls[visitor] -= 1
                self._calls += Counter()  # forget those who have none

    @contextmanager
    def _take_worker(self) -> Iterator[Worker]:
        """A worker for one call; what was lost is not given back."""
        worker = self._wait_for_worker()
        try:
            yield worker
        finally:
            with self._changed:
                self._busy.remove(worker)
                is_alive = worker.process.poll() is None and not self._is_closed
                if is_alive:
                    self._idle.append(worker)
                self._changed.notify()
            if not is_alive:
                worker.end()

    def _wait_for_worker(self) -> Worker:
        deadline = time.monotonic() + self._limits.compute_seconds
        with self._changed:
            while not self._is_closed and not self._idle and len(self._busy) >= self._limits.workers:
                if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() >= deadline:
                    raise Refusal(503, "all workers are busy: try again in a moment", wait=BUSY_RETRY_SECONDS)
            if self._is_closed:
                raise Refusal(503, "the studio is ending: try again when it is back", wait=BUSY_RETRY_SECONDS)
            worker = self._idle.pop() if self._idle else start_worker()
            self._busy.append(worker)
        return worker

    def _call(
        self, visitor: str, worker: Worker, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> CallResult:
        started, limit = time.monotonic(), self._limits.compute_seconds
        try:
            result = worker.call(function, arguments, limit)
        except WorkerLostError:
            seconds = time.monotonic() - started
            self._shares.use(visitor, seconds)
            worker.process.kill()
            worker.process.wait()
            raise self._lost_error(seconds) from None
        self._shares.use(visitor, result.cpu_seconds)
        return result

    def _lost_error(self, seconds: float) -> InputError | Refusal:
        if self._is_closed:
            return Refusal(503, "the studio is ending: try again when it is back", wait=BUSY_RETRY_SECONDS)
        if seconds >= self._limits.compute_seconds:
            limit = self._limits.compute_seconds
            return InputError(
                f"this took more than {limit} seconds and was stopped", hint="ask for less, or begin a job"
            )
        return InputError("this ended without a result, perhaps for want of memory", hint="ask for less")


@dataclass(frozen=True, slots=True)
class VisitorCompute:
    """Computes for one visitor: `compute(function, argument, …)`, all of which can be pickled."""

    pool: ComputePool
    visitor: Visitor

    def __call__(self, function: Callable[..., T], *arguments: Any) -> T:
        """The value of a function of a module, computed by a worker."""
        return self.pool.run(self.visitor.name, function, *arguments)


async def _visitor_compute(request: Request) -> VisitorCompute:
    state, visitor = request.state.app_state, request.state.visitor
    return VisitorCompute(state.curator_pool if visitor.role == "curator" else state.consumer_pool, visitor)


ComputeDep = Annotated[VisitorCompute, Depends(_visitor_compute)]
