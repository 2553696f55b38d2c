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

RACERS = Path(__file__).parent / "racers.py"


def racers(what, location, *arguments):
    """What each of the processes wrote, line by line."""
    done = subprocess.run(
        [sys.executable, RACERS, what, location, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def entries(said, word):
    return [int(line.split()[1]) for lines in said for line in lines if line.startswith(word)]


def errors(said):
    return [line for lines in said for line in lines if line.startswith("error")]


def test_a_hundred_processes_spend_exactly_the_budget_when_their_asks_divide_it(location):
    with open_ledger(location) as books:
        books.open(Budget("survey", Fraction(1)))
        said = racers("race", location, 100, 2, "1/100")
        state, history = books.state("survey"), books.history("survey")
    assert errors(said) == []
    assert (state.spent, state.left, state.charges) == (1, 0, 100)
    assert sorted(entries(said, "entry")) == [charge.number for charge in history]
    assert sum(lines.count("short") for lines in said) == 100


def test_a_hundred_processes_with_different_asks_never_spend_more(location):
    shares = ["1/7", "1/11", "1/50", "1/13"]
    with open_ledger(location) as books:
        books.open(Budget("survey", Fraction(1)))
        said = racers("race", location, 100, 1, *shares)
        state, history = books.state("survey"), books.history("survey")
    assert errors(said) == []
    assert state.spent == sum((charge.epsilon for charge in history), Fraction(0)) <= 1
    assert state.left < Fraction(1, 7)  # at least one was refused
    assert sorted(entries(said, "entry")) == [charge.number for charge in history]


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_the_server_s_default_isolation_does_not_let_them_overspend(postgres_url, isolation):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation TO '{isolation}'")
    with open_ledger(postgres_url) as books:
        books.open(Budget("survey", Fraction(1)))
        said = racers("race", postgres_url, 30, 2, "1/20")
        assert errors(said) == []
        assert books.state("survey").spent == 1


def test_processes_killed_while_charging_leave_a_ledger_that_has_all_they_reported(location):
    """Of each process at most one charge is there that it did not live to report, and no release without its charge."""
    processes, rounds = 12, 3
    charged, kept, killed = [], [], 0
    with open_ledger(location) as books:
        books.open(Budget("survey", Fraction(1000)))
        for _ in range(rounds):
            said = racers("kill", location, processes, 1.2, "1/1000")
            assert errors(said) == []
            charged += entries(said, "charged")
            kept += entries(said, "kept")
            killed += processes
        history, state = books.history("survey"), books.state("survey")
        assert charged
        numbers = {charge.number: charge for charge in history}
        assert set(charged) <= set(numbers)
        assert len(numbers) - len(charged) <= killed
        assert state.spent == sum((charge.epsilon for charge in history), Fraction(0)) == Fraction(len(history), 1000)
        assert {number for number, charge in numbers.items() if charge.kept} >= set(kept)
        for number in kept[-20:]:
            charge = numbers[number]
            asked = ReleaseCost("survey", "row", "replace", charge.costs, None, charge.plan, "f")
            assert books.remembered(asked)["of"] == number
        assert books.open(Budget("after", Fraction(1))).name == "after"
