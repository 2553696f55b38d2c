"""Many real processes on one budget, and processes that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from utmost.ledger import Budget, ReleaseCost, open_ledger

PROCESSES_SCRIPT = Path(__file__).parent / "concurrent_processes.py"


def run_processes(action, location, *arguments):
    """What each of the processes wrote, line by line."""
    process = subprocess.run(
        [sys.executable, PROCESSES_SCRIPT, action, location, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def entry_numbers(outputs, word):
    return [int(line.split()[1]) for lines in outputs for line in lines if line.startswith(word)]


def error_lines(outputs):
    return [line for lines in outputs for line in lines if line.startswith("error")]


def test_a_hundred_processes_spend_exactly_the_budget_when_their_costs_divide_it(location):
    with open_ledger(location) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
        outputs = run_processes("race", location, 100, 2, "1/100")
        state, history = ledger.state("survey"), ledger.history("survey")
    assert error_lines(outputs) == []
    assert (state.spent, state.left, state.charges) == (1, 0, 100)
    assert sorted(entry_numbers(outputs, "entry")) == [charge.number for charge in history]
    assert sum(lines.count("short") for lines in outputs) == 100


@pytest.mark.slow
def test_a_hundred_processes_with_different_costs_never_spend_more(location):
    shares = ["1/7", "1/11", "1/50", "1/13"]
    with open_ledger(location) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
        outputs = run_processes("race", location, 100, 1, *shares)
        state, history = ledger.state("survey"), ledger.history("survey")
    assert error_lines(outputs) == []
    assert state.spent == sum((charge.epsilon for charge in history), Fraction(0)) <= 1
    assert state.left < Fraction(1, 7)  # at least one was refused
    assert sorted(entry_numbers(outputs, "entry")) == [charge.number for charge in history]


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_the_server_s_default_isolation_does_not_let_them_overspend(postgres_url, isolation):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation TO '{isolation}'")
    with open_ledger(postgres_url) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
        outputs = run_processes("race", postgres_url, 30, 2, "1/20")
        assert error_lines(outputs) == []
        assert ledger.state("survey").spent == 1


@pytest.mark.slow
def test_processes_killed_while_charging_leave_a_ledger_that_has_all_they_reported(location):
    """Of each process at most one charge is there that it did not live to report, and no release without its charge."""
    processes, rounds = 12, 3
    charged_entries, kept_entries, process_count = [], [], 0
    with open_ledger(location) as ledger:
        ledger.open(Budget("survey", Fraction(1000)))
        for _ in range(rounds):
            outputs = run_processes("kill", location, processes, 1.2, "1/1000")
            assert error_lines(outputs) == []
            charged_entries += entry_numbers(outputs, "charged")
            kept_entries += entry_numbers(outputs, "kept")
            process_count += processes
        history, state = ledger.history("survey"), ledger.state("survey")
        assert charged_entries
        numbers = {charge.number: charge for charge in history}
        assert set(charged_entries) <= set(numbers)
        assert len(numbers) - len(charged_entries) <= process_count
        assert state.spent == sum((charge.epsilon for charge in history), Fraction(0)) == Fraction(len(history), 1000)
        assert {number for number, charge in numbers.items() if charge.kept} >= set(kept_entries)
        for number in kept_entries[-20:]:
            charge = numbers[number]
            release_cost = ReleaseCost("survey", "row", "replace", charge.costs, None, charge.plan, "f")
            assert ledger.find_release(release_cost)["of"] == number
        assert ledger.open(Budget("after", Fraction(1))).name == "after"
