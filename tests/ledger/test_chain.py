"""The hash chain: changes behind the ledger's back are found, old ledgers get one, forks can be told apart."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machine_speed import slowness
from utmost.errors import LedgerError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost, chain, open_ledger
from utmost.ledger.stores import database
from utmost.ledger.stores.database import TABLES, OlderSession, tables_version
from utmost.ledger.stores.registry import make_store

TENTH = Fraction(1, 10)
NORTH, SOUTH = (Part("region", value, "text", None, "people.csv") for value in ("north", "south"))


def release_cost(part=None, plan="digest", fingerprint="f", budget="survey"):
    costs = (QueryCost("count", TENTH, "geometric", 1), QueryCost("sum", TENTH))
    return ReleaseCost(budget, "row", "replace", costs, part, plan, fingerprint)


def run_statements(location, *statements):
    """Statements on the ledger's tables, behind its back."""
    store = make_store(location, None)
    with store.writing() as session:
        for statement in statements:
            session.run(statement)
    store.close()


def fill(location):
    with open_ledger(location) as ledger:
        for name in ("other", "survey"):
            ledger.open(Budget(name, Fraction(9)))
        return [ledger.charge(release_cost(part, str(k))) for k, part in enumerate((None, NORTH, SOUTH, None))]


CHANGES = [
    "UPDATE utmost_budgets SET epsilon = '900' WHERE name = 'survey'",
    "UPDATE utmost_budgets SET neighbours = 'add-remove' WHERE name = 'survey'",
    "UPDATE utmost_budgets SET unit = 'person' WHERE name = 'survey'",
    "UPDATE utmost_budgets SET name = 'survey ' WHERE name = 'survey'",
    "UPDATE utmost_budgets SET head_hash = opening_hash WHERE name = 'survey'",
    "UPDATE utmost_costs SET epsilon = '1/100' WHERE charge = 2",
    "UPDATE utmost_costs SET law = 'any', steps = 7 WHERE charge = 2 AND place = 0",
    "UPDATE utmost_charges SET part_column = 'region', part_value = '\"w\"' WHERE id = 1",
    "UPDATE utmost_charges SET part_value = 'west' WHERE id = 2",
    "UPDATE utmost_charges SET part_kind = 'truth' WHERE id = 2",
    "UPDATE utmost_charges SET part_source = 'x' WHERE id = 2",
    "UPDATE utmost_charges SET unit_kind = 'text' WHERE id = 2",
    "UPDATE utmost_charges SET plan = 'another' WHERE id = 2",
    "UPDATE utmost_charges SET fingerprint = NULL WHERE id = 2",
    "UPDATE utmost_charges SET entry_hash = NULL WHERE id = 4",
    "UPDATE utmost_charges SET budget = 1 WHERE id = 4",
    "UPDATE utmost_charges SET id = 9 WHERE id = 2",
    "DELETE FROM utmost_costs WHERE charge = 3",
    "DELETE FROM utmost_costs WHERE charge = 3 AND place = 1",
    "DELETE FROM utmost_charges WHERE id = 2",
    "DELETE FROM utmost_charges WHERE id = 4",
    "DELETE FROM utmost_charges",
    "DELETE FROM utmost_budgets WHERE name = 'other'",
    "DELETE FROM utmost_budgets WHERE name = 'survey'",
    "INSERT INTO utmost_costs VALUES (4, 2, 'q', '1/100', 'any', 1, '0', NULL, NULL)",
    "INSERT INTO utmost_charges (budget, charged, plan) VALUES (2, '', 'a charge without costs')",
    "UPDATE utmost_ledger SET id = 'another'",
    "UPDATE utmost_costs SET delta = '1/100' WHERE charge = 2",
    "UPDATE utmost_costs SET delta = NULL WHERE charge = 2 AND place = 0",
    "UPDATE utmost_costs SET rho = '1/10000' WHERE charge = 2",
    "UPDATE utmost_costs SET numbers = 2 WHERE charge = 2 AND place = 0",
    "UPDATE utmost_charges SET charged_by = 'somebody else' WHERE id = 2",
    "UPDATE utmost_charges SET source = 'other.csv' WHERE id = 2",
    "UPDATE utmost_charges SET source_table = 'other' WHERE id = 2",
    "UPDATE utmost_budgets SET closed = '2026-01-01T00:00:00Z' WHERE name = 'survey'",
]


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "ledger.sqlite"
    fill(str(path))
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_behind_the_ledgers_back_is_found_when_it_is_opened(tmp_path, filled_file, change):
    path = str(shutil.copy(filled_file, tmp_path / "ledger.sqlite"))
    run_statements(path, change)
    for use in (
        lambda ledger: ledger.budgets(),
        lambda ledger: ledger.state("survey"),
        lambda ledger: ledger.history("survey"),
        lambda ledger: ledger.find_release(release_cost()),
        lambda ledger: ledger.state_after(release_cost()),
        lambda ledger: ledger.charge(release_cost()),
    ):
        with open_ledger(path) as ledger, pytest.raises(LedgerError, match=r"ledger ledger\.sqlite is damaged"):
            use(ledger)


@pytest.mark.parametrize("change", CHANGES[:6])
def test_a_change_is_found_in_either_database(location, change):
    fill(location)
    with open_ledger(location) as ledger:
        assert ledger.state("survey").charges == 4
    run_statements(location, change)
    with open_ledger(location) as ledger, pytest.raises(LedgerError, match="is damaged"):
        ledger.charge(release_cost())


def test_the_receipt_the_state_and_the_history_have_the_same_end_of_the_chain(location):
    receipts = fill(location)
    with open_ledger(location) as ledger:
        history = ledger.history("survey")
        assert [receipt.chain for receipt in receipts] == [charge.chain for charge in history]
        assert ledger.state("survey").chain == receipts[-1].chain != ledger.state("other").chain
    assert len({receipt.chain for receipt in receipts}) == 4
    assert all(len(receipt.chain) == 16 for receipt in receipts)


def test_two_copies_that_were_both_charged_can_be_told_apart(tmp_path):
    fill(str(tmp_path / "ledger.sqlite"))
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "copy.sqlite")
    ends = []
    for name, plan in (("ledger.sqlite", "p"), ("copy.sqlite", "q")):
        with open_ledger(name, tmp_path) as ledger:
            receipt = ledger.charge(release_cost(plan=plan))
            ends.append((receipt.id, receipt.chain))
    assert ends[0][0] == ends[1][0]
    assert ends[0][1] != ends[1][1]


def test_equal_budgets_of_two_ledgers_have_different_chains(tmp_path):
    for name in ("a.sqlite", "b.sqlite"):
        with open_ledger(name, tmp_path) as ledger:
            ledger.open(Budget("survey", Fraction(1)))
    with open_ledger("a.sqlite", tmp_path) as first, open_ledger("b.sqlite", tmp_path) as second:
        assert first.state("survey").chain != second.state("survey").chain


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.none() | st.text(max_size=4) | st.integers(0, 9), min_size=2, max_size=4),
    st.lists(st.none() | st.text(max_size=4) | st.integers(0, 9), min_size=2, max_size=4),
)
def test_different_content_has_different_text_before_it_is_hashed(left, right):
    assert (chain.link_hash("p", *left) == chain.link_hash("p", *right)) == (
        json.dumps(left, ensure_ascii=False) == json.dumps(right, ensure_ascii=False)
    )


def test_ten_thousand_charges_are_checked_in_a_third_of_a_second_of_work(tmp_path):
    path = str(tmp_path / "ledger.sqlite")
    with open_ledger(path) as ledger:
        ledger.open(Budget("survey", Fraction(1000)))
    store = make_store(path, None)
    with store.writing() as session:
        ((previous,),) = session.rows("SELECT opening_hash FROM utmost_budgets")
        charges, costs = [], []
        for number in range(1, 10_001):
            previous = chain.charge_hash(previous, ["", "p", *[None] * 10], [["q", "1/1000", "any", 1, None]])
            charges.append((number, 1, "", "p", previous))
            costs.append((number, 0, "q", "1/1000", "any", 1))
        session.add_all(
            "INSERT INTO utmost_charges (id, budget, charged, plan, entry_hash) VALUES (?,?,?,?,?)", charges
        )
        session.add_all("INSERT INTO utmost_costs VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)", costs)
        session.run("UPDATE utmost_budgets SET head_hash = ?", previous)
    with open_ledger(path) as ledger:
        start = time.process_time()
        assert ledger.state("survey").charges == 10_000
        first = time.process_time() - start
        assert ledger.state("survey").spent == 10
        assert first < slowness() / 3, "0.09 s where it was written"
        assert time.process_time() - start - first < max(first, 0.1)  # what was checked is not read again


# ledgers of version 1


def make_version_1(location):
    """A ledger as version 1 of the tables had it: two charges on parts, one on the whole, one person's."""
    store = make_store(location, None)
    if not location.startswith("postgresql"):
        sqlite3.connect(location).close()
    with store.making() as session:
        for statement in TABLES:
            session.run(statement.format(**store.types))
        session.run("INSERT INTO utmost_ledger (version) VALUES (1)")
        insert = "INSERT INTO utmost_budgets (name, epsilon, delta, composition, unit, neighbours, remember, opened)"
        session.run(f"{insert} VALUES ('survey', '1', '0', 'pure', 'row', 'add-remove', 1, '2026-01-01T00:00:00Z')")
        for number, value in enumerate(("'\"north\"'", "'\"south\"'", "NULL"), 1):
            column = "NULL" if value == "NULL" else "'region'"
            session.run(
                "INSERT INTO utmost_charges (budget, charged, plan, fingerprint, part_column, part_value) "
                f"VALUES (1, '2026-01-02T00:00:00Z', 'p{number}', 'f', {column}, {value})"
            )
            session.run(f"INSERT INTO utmost_costs VALUES ({number}, 0, 'q', '1/10', 'any', 1)")
        session.run("INSERT INTO utmost_releases (charge, kept, document) VALUES (1, '', '{\"old\": 1}')")
    store.close()


def old_cost(part=None, plan="p"):
    return ReleaseCost("survey", "row", "add-remove", (QueryCost("q", TENTH),), part, plan, "f")


def versions(location):
    store = make_store(location, None)
    with store.reading() as session:
        rows = session.rows("SELECT version FROM utmost_ledger")
    store.close()
    return rows


def test_a_ledger_of_version_1_is_read_as_it_is_and_its_parts_add_up(location):
    make_version_1(location)
    with open_ledger(location) as ledger:
        assert ledger.state("survey").spent == 3 * TENTH
        assert [charge.part for charge in ledger.history("survey")] == [
            Part("region", '"north"'),
            Part("region", '"south"'),
            None,
        ]
        assert ledger.find_release(old_cost(plan="p1")) == {"old": 1}
        assert ledger.state_after(old_cost(NORTH)).spent == 4 * TENTH
        assert ledger.state("survey").chain is None
    assert versions(location) == [(1,)]


def test_a_ledger_of_version_1_is_upgraded_when_it_is_charged(location):
    make_version_1(location)
    with open_ledger(location) as ledger:
        assert ledger.charge(old_cost(NORTH)).spent == 4 * TENTH  # adds up with the old part of the same name
        assert ledger.charge(old_cost(SOUTH)).spent == 4 * TENTH  # composes with the new one
    assert versions(location) == [(database.TABLES_VERSION,)]
    with open_ledger(location) as ledger:
        assert [charge.plan for charge in ledger.history("survey")] == ["p1", "p2", "p3", "p", "p"]
        assert all(charge.chain for charge in ledger.history("survey"))
        ledger.open(Budget("other", Fraction(1)))
        assert ledger.find_release(old_cost(plan="p1")) == {"old": 1}
    run_statements(location, "UPDATE utmost_costs SET epsilon = '1/100' WHERE charge = 1")
    with open_ledger(location) as ledger, pytest.raises(LedgerError, match="is damaged"):
        ledger.state("survey")


def test_a_charge_without_costs_in_a_ledger_of_version_1_is_damage(location):
    make_version_1(location)
    run_statements(location, "DELETE FROM utmost_costs WHERE charge = 2")
    for use in (
        lambda ledger: ledger.state("survey"),
        lambda ledger: ledger.history("survey"),
        lambda ledger: ledger.charge(old_cost()),
        lambda ledger: ledger.open(Budget("other", Fraction(1))),
    ):
        with open_ledger(location) as ledger, pytest.raises(LedgerError, match="is damaged"):
            use(ledger)
    assert versions(location) == [(1,)]


def test_several_who_upgrade_at_once_upgrade_once(location):
    from concurrent.futures import ThreadPoolExecutor

    make_version_1(location)

    def charge(_):
        with open_ledger(location) as ledger:
            return ledger.charge(old_cost()).id

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(charge, range(4))) == [4, 5, 6, 7]
    with open_ledger(location) as ledger:
        assert ledger.state("survey").spent == 7 * TENTH


def test_parts_that_differ_in_anything_but_the_value_add_up(location):
    with open_ledger(location) as ledger:
        ledger.open(Budget("survey", Fraction(9), neighbours="add-remove"))
        kinds, tables, sources = ("text", "truth"), (None, "a"), ("x.csv", "y.csv", None)
        spent = Fraction(0)
        for kind, table, source in product(kinds, tables, sources):
            for value in ("yes", "no"):
                spent += TENTH if value == "yes" or source is None else 0
                assert ledger.charge(old_cost(Part("region", value, kind, table, source))).spent == spent


def test_who_reads_an_older_state_while_others_upgrade_reads_it_to_the_end(postgres_url):
    """PostgreSQL shows new columns at once, and new rows only to who begins later."""
    make_version_1(postgres_url)
    store = make_store(postgres_url, None)
    with store.reading() as session:
        session.rows("SELECT 1")  # from here on this state is seen
        with open_ledger(postgres_url) as ledger:
            ledger.charge(old_cost())
        assert tables_version(session, store) == 1
        old_session = OlderSession(session, 1)
        assert len(old_session.rows(database.SELECT_BUDGET)) == 1
        assert len(old_session.rows(database.SELECT_HISTORY, 1)) == 3
        assert len(old_session.rows(database.SELECT_CHARGE_GROUPS, 1)) == 3
    store.close()
