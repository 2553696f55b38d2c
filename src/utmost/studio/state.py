"""What the pages of one studio share: settings, pools, rate limits, metrics; and how a page gets at it."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from utmost.studio.background import ComputePool
from utmost.studio.jobs import Jobs
from utmost.studio.settings import Limits, Settings, private_folder
from utmost.studio.vega_bundle import VegaBundle
from utmost.studio.visitors import Sessions, TokenRegister, Visitor

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    """Counts requests by route, status and time, and releases that were paid for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._bucket_counts: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._charges: Counter[str] = Counter()

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered; its route is the pattern, never the path that was asked for."""
        with self._lock:
            self._requests[method if method in METHODS else "other", route, status] += 1
            self._bucket_counts[route, next((bound for bound in BUCKETS if seconds <= bound), float("inf"))] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def count_charge(self, outcome: str) -> None:
        """A spending was asked for: `charged`, `repeated` (the same one again, not charged) or `refused`."""
        with self._lock:
            self._charges[outcome] += 1

    def prometheus_text(self, jobs: Mapping[str, int]) -> str:
        """All figures, in Prometheus' text format."""
        with self._lock:
            return "\n".join([*self._request_lines(), *self._time_lines(), *self._charge_and_job_lines(jobs)]) + "\n"

    def _request_lines(self) -> Iterator[str]:
        yield "# HELP utmost_requests_total Requests answered."
        yield "# TYPE utmost_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'utmost_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'

    def _time_lines(self) -> Iterator[str]:
        yield "# HELP utmost_request_seconds Time to answer."
        yield "# TYPE utmost_request_seconds histogram"
        for route, seconds in sorted(self._seconds.items()):
            total = 0
            for bound in (*BUCKETS, float("inf")):
                total += self._bucket_counts[route, bound]
                edge = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield f'utmost_request_seconds_bucket{{route="{route}",le="{edge}"}} {total}'
            yield f'utmost_request_seconds_sum{{route="{route}"}} {seconds:.6f}'
            yield f'utmost_request_seconds_count{{route="{route}"}} {total}'

    def _charge_and_job_lines(self, jobs: Mapping[str, int]) -> Iterator[str]:
        yield "# HELP utmost_charges_total Spendings asked for, by what became of them."
        yield "# TYPE utmost_charges_total counter"
        for outcome in ("charged", "repeated", "refused"):
            yield f'utmost_charges_total{{outcome="{outcome}"}} {self._charges[outcome]}'
        yield "# HELP utmost_jobs Jobs, by their state."
        yield "# TYPE utmost_jobs gauge"
        for state, count in sorted(jobs.items()):
            yield f'utmost_jobs{{state="{state}"}} {count}'


MAX_CLIENTS = 10_000


class RateLimiter:
    """Token buckets by client: `take` takes from one and returns the seconds to wait if it is empty, else 0."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is in it, when that was so

    def take(self, client: str, amount: float = 1, now: float | None = None) -> float:
        """Seconds until `amount` requests are free for this client; they are taken if it is 0."""
        rate, capacity = self._limits.loopback_rate if _is_loopback(client) else self._limits.rate
        with self._lock:
            clock = time.monotonic() if now is None else now
            level, updated = self._buckets.pop(client, (float(capacity), clock))
            level = min(float(capacity), level + (clock - updated) * rate)
            shortfall = min(amount, capacity) - level
            self._buckets[client] = (level - amount if shortfall <= 0 else level, clock)
            while len(self._buckets) > MAX_CLIENTS:
                self._buckets.popitem(last=False)
        return max(0.0, shortfall / rate)

    def penalize(self, client: str, amount: float) -> None:
        """Take so many requests from a client; what it does not have it owes, and waits for."""
        with self._lock:
            if client in self._buckets:
                level, updated = self._buckets[client]
                self._buckets[client] = (max(-amount, level - amount), updated)


def _is_loopback(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AppState:
    """Settings, sessions, tokens, rates, jobs, metrics and the Vega bundle of a studio.

    `cleanup` holds how to end what was begun for this studio; it is closed after the last request, the latest first.
    """

    settings: Settings
    sessions: Sessions
    register: TokenRegister | None
    rates: RateLimiter
    jobs: Jobs
    consumer_pool: ComputePool
    curator_pool: ComputePool
    metrics: Metrics
    bundle: VegaBundle
    cleanup: ExitStack = field(default_factory=ExitStack)


def build_state(settings: Settings) -> AppState:
    """The state for these settings; its folder is made where it is missing."""
    return AppState(
        settings=settings,
        sessions=Sessions(settings.state_folder),
        register=None if settings.tokens is None else TokenRegister(settings.tokens),
        rates=RateLimiter(settings.limits),
        jobs=Jobs(private_folder(settings.state_folder / "jobs"), settings.limits),
        consumer_pool=ComputePool(settings),
        curator_pool=ComputePool(settings),
        metrics=Metrics(),
        bundle=VegaBundle(),
    )


async def _app_state(request: Request) -> AppState:
    state: AppState = request.state.app_state
    return state


async def _settings(request: Request) -> Settings:
    state: AppState = request.state.app_state
    return state.settings


async def _visitor(request: Request) -> Visitor:
    visitor: Visitor = request.state.visitor
    return visitor


# coroutines, so that no thread is asked for what is at hand
StateDep = Annotated[AppState, Depends(_app_state)]
SettingsDep = Annotated[Settings, Depends(_settings)]
VisitorDep = Annotated[Visitor, Depends(_visitor)]
