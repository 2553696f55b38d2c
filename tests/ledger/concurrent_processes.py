"""Real processes on one ledger: run as a program, `concurrent_processes.py race|kill LOCATION …`; prints JSON.

The processes are forked here, where there are no threads, and start together when a pipe is closed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction

from utmost.errors import BudgetError
from utmost.ledger import Ledger, QueryCost, ReleaseCost, open_ledger


def release_cost(epsilon: Fraction, plan: str) -> ReleaseCost:
    return ReleaseCost("survey", "row", "replace", (QueryCost("count", epsilon, "geometric", 1),), None, plan, "f")


def run_together(count: int, work: Callable[[int, int], None], control: Callable[[list[int]], None]) -> list[list[str]]:
    """Fork, start all at once, let `control` act on the process numbers, wait; what each wrote, line by line."""
    start_pipe, start_pipe_end = os.pipe()
    pids, read_ends = [], []
    for k in range(count):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(start_pipe_end)
            os.read(start_pipe, 1)
            try:
                work(k, write_end)
            except BaseException as problem:
                os.write(write_end, f"error {type(problem).__name__}: {problem}\n".encode())
            os._exit(0)
        os.close(write_end)
        pids.append(pid)
        read_ends.append(read_end)
    os.close(start_pipe_end)
    control(pids)
    lines_written = [os.fdopen(read_end).read().splitlines() for read_end in read_ends]
    for pid in pids:
        os.waitpid(pid, 0)
    return lines_written


def race_to_charge(location: str, processes: int, tries: int, shares: list[str]) -> None:
    """Each process charges one of the shares, `tries` times."""

    def work(k: int, out: int) -> None:
        with open_ledger(location) as ledger:
            for n in range(tries):
                try:
                    entry = ledger.charge(release_cost(Fraction(shares[(k + n) % len(shares)]), f"{k}-{n}"))
                except BudgetError:
                    os.write(out, b"short\n")
                else:
                    os.write(out, f"entry {entry.id}\n".encode())

    print(json.dumps(run_together(processes, work, lambda pids: None)))


def charge_until_killed(location: str, processes: int, seconds: float, epsilon: str) -> None:
    """Each process charges and keeps without end, and is killed at a random moment."""

    def work(k: int, out: int) -> None:
        with open_ledger(location) as ledger:
            charge_forever(ledger, k, out)

    def charge_forever(ledger: Ledger, k: int, out: int) -> None:
        charge_number = 0
        while True:
            entry = ledger.charge(release_cost(Fraction(epsilon), f"{os.getpid()}-{charge_number}"))
            os.write(out, f"charged {entry.id}\n".encode())
            ledger.store_release(entry.id, json.dumps({"of": entry.id, "padding": "x" * 5000}))
            os.write(out, f"kept {entry.id}\n".encode())
            charge_number += 1

    def control(pids: list[int]) -> None:
        kill_times = sorted((random.uniform(0, seconds), pid) for pid in pids)
        start = time.monotonic()
        for kill_time, pid in kill_times:
            time.sleep(max(0, start + kill_time - time.monotonic()))
            os.kill(pid, signal.SIGKILL)

    print(json.dumps(run_together(processes, work, control)))


if __name__ == "__main__":
    action, location, *arguments = sys.argv[1:]
    if "://" in location:
        import psycopg  # noqa: F401  once for all, not in every child
    if action == "race":
        race_to_charge(location, int(arguments[0]), int(arguments[1]), arguments[2:])
    else:
        charge_until_killed(location, int(arguments[0]), float(arguments[1]), arguments[2])
