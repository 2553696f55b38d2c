"""Whole releases killed at random points, for real: no release without its charge, no charge lost, the ledger intact.

`UTMOST_KILLS=1000 pytest -s tests/publish/test_process_kill.py` (or `make kills`) prints what it saw.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from utmost import ledger
from utmost.publish import execute, release_file
from utmost.publish.plans import Plan, parse_plan

KILLS = int(os.environ.get("UTMOST_KILLS", "40"))
PLAN = """
neighbours = "replace"
budget = "b"
ledger = "ledger.sqlite"
output = "{number}.json"
source = {{ location = "people.csv", columns = {{ x = "integer" }} }}
[[query]]
name = "q"
kind = "count"
where = "x > 3"
epsilon = "1/7"
[[query]]
name = "m"
kind = "mean"
column = "x"
low = 0
high = 9
step = 1
nulls = "drop"
epsilon = "1/11"
"""
COST = Fraction(1, 7) + Fraction(1, 11)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_release_killed_anywhere_leaves_no_answer_without_its_charge(tmp_path: Path) -> None:
    plans = _prepared(tmp_path)
    usual = _usual_time(plans.pop())
    ends = [_killed(plan, random.uniform(0, 1.3 * usual)) for plan in plans]
    with ledger.open_ledger("ledger.sqlite", tmp_path) as books:
        charged = {charge.number for charge in books.history("b")}
        spent = books.state("b").spent
    written = [release_file.read_release(path) for path in tmp_path.glob("*.json")]
    assert {made.entry.number for made in written} <= charged
    assert spent == COST * len(charged)
    assert len(charged) >= ends.count("ended") + 1
    print(
        f"{len(plans)} killed: {ends.count('ended')} had ended, {len(charged)} charged, {len(written)} released",
        file=sys.stderr,
    )
    assert ends.count("killed") > len(plans) // 10


def _prepared(folder: Path) -> list[Plan]:
    (folder / "people.csv").write_text("x\n" + "\n".join(str(k % 10) for k in range(500)) + "\n")
    with ledger.open_ledger("ledger.sqlite", folder) as books:
        books.open(ledger.Budget("b", Fraction(1000), unit="row", neighbours="replace"))
    return [parse_plan(PLAN.format(number=k), folder) for k in range(KILLS + 1)]


def _usual_time(plan: Plan) -> float:
    """How long a release takes in a child that was forked from a parent which has loaded everything."""
    import ibis  # noqa: F401

    start = time.perf_counter()
    assert _waited(_forked(plan)) == "ended"
    return time.perf_counter() - start


def _killed(plan: Plan, after: float) -> str:
    child = _forked(plan)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return _waited(child)


def _forked(plan: Plan) -> int:
    child = os.fork()
    if child == 0:
        try:
            execute.release(plan)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def _waited(child: int) -> str:
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return "killed" if os.WIFSIGNALED(status) else "ended"
