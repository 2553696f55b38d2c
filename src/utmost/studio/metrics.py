"""Metrics of the studio for Prometheus. None is about data."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping

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
