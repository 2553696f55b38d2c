"""Real processes on one ledger: run as a program, `racers.py race|kill LOCATION …`; prints JSON.

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


def ask(epsilon: Fraction, plan: str) -> ReleaseCost:
    return ReleaseCost("survey", "row", "replace", (QueryCost("count", epsilon, "geometric", 1),), None, plan, "f")


def together(count: int, work: Callable[[int, int], None], conduct: Callable[[list[int]], None]) -> list[list[str]]:
    """Fork, start all at once, let `conduct` act on the process numbers, wait; what each wrote, line by line."""
    gate, opener = os.pipe()
    pids, ends = [], []
    for k in range(count):
        end, out = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(opener)
            os.read(gate, 1)
            try:
                work(k, out)
            except BaseException as problem:
                os.write(out, f"error {type(problem).__name__}: {problem}\n".encode())
            os._exit(0)
        os.close(out)
        pids.append(pid)
        ends.append(end)
    os.close(opener)
    conduct(pids)
    said = [os.fdopen(end).read().splitlines() for end in ends]
    for pid in pids:
        os.waitpid(pid, 0)
    return said


def race(location: str, processes: int, tries: int, shares: list[str]) -> None:
    """Each process charges one of the shares, `tries` times."""

    def work(k: int, out: int) -> None:
        with open_ledger(location) as books:
            for n in range(tries):
                try:
                    entry = books.charge(ask(Fraction(shares[(k + n) % len(shares)]), f"{k}-{n}"))
                except BudgetError:
                    os.write(out, b"short\n")
                else:
                    os.write(out, f"entry {entry.id}\n".encode())

    print(json.dumps(together(processes, work, lambda pids: None)))


def kill(location: str, processes: int, seconds: float, epsilon: str) -> None:
    """Each process charges and keeps without end, and is killed at a random moment."""

    def work(k: int, out: int) -> None:
        with open_ledger(location) as books:
            forever(books, k, out)

    def forever(books: Ledger, k: int, out: int) -> None:
        n = 0
        while True:
            entry = books.charge(ask(Fraction(epsilon), f"{os.getpid()}-{n}"))
            os.write(out, f"charged {entry.id}\n".encode())
            books.keep(entry.id, json.dumps({"of": entry.id, "padding": "x" * 5000}))
            os.write(out, f"kept {entry.id}\n".encode())
            n += 1

    def conduct(pids: list[int]) -> None:
        ends = sorted((random.uniform(0, seconds), pid) for pid in pids)
        start = time.monotonic()
        for end, pid in ends:
            time.sleep(max(0, start + end - time.monotonic()))
            os.kill(pid, signal.SIGKILL)

    print(json.dumps(together(processes, work, conduct)))


if __name__ == "__main__":
    what, where, *others = sys.argv[1:]
    if "://" in where:
        import psycopg  # noqa: F401  once for all, not in every child
    if what == "race":
        race(where, int(others[0]), int(others[1]), others[2:])
    else:
        kill(where, int(others[0]), float(others[1]), others[2])
