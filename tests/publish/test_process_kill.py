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
from utmost.publish.plan_model import Plan
from utmost.publish.plans import parse_plan

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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_release_killed_anywhere_leaves_no_answer_without_its_charge(tmp_path: Path) -> None:
    plans = _prepare_plans(tmp_path)
    usual = _usual_time(plans.pop())
    outcomes = [_kill_release(plan, random.uniform(0, 1.3 * usual)) for plan in plans]
    with ledger.open_ledger("ledger.sqlite", tmp_path) as budget_ledger:
        charge_numbers = {charge.number for charge in budget_ledger.history("b")}
        spent = budget_ledger.state("b").spent
    releases = [release_file.read_release(path) for path in tmp_path.glob("*.json")]
    assert {release.entry.number for release in releases} <= charge_numbers
    assert spent == COST * len(charge_numbers)
    assert len(charge_numbers) >= outcomes.count("ended") + 1
    print(
        f"{len(plans)} killed: {outcomes.count('ended')} had ended, {len(charge_numbers)} charged, "
        f"{len(releases)} released",
        file=sys.stderr,
    )
    assert outcomes.count("killed") > len(plans) // 10


def _prepare_plans(folder: Path) -> list[Plan]:
    (folder / "people.csv").write_text("x\n" + "\n".join(str(k % 10) for k in range(500)) + "\n")
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        budget_ledger.open(ledger.Budget("b", Fraction(1000), unit="row", neighbours="replace"))
    return [parse_plan(PLAN.format(number=k), folder) for k in range(KILLS + 1)]


def _usual_time(plan: Plan) -> float:
    """How long a release takes in a child that was forked from a parent which has loaded everything."""
    import ibis  # noqa: F401

    start = time.perf_counter()
    assert _wait_for(_fork_release(plan)) == "ended"
    return time.perf_counter() - start


def _kill_release(plan: Plan, after: float) -> str:
    child = _fork_release(plan)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return _wait_for(child)


def _fork_release(plan: Plan) -> int:
    child = os.fork()
    if child == 0:
        try:
            execute.release(plan)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def _wait_for(child: int) -> str:
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return "killed" if os.WIFSIGNALED(status) else "ended"
