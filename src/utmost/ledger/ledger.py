"""The ledger: budgets, charges and stored releases, the same over both stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from utmost.errors import InputError
from utmost.ledger import composition, loss_distributions
from utmost.ledger.composition import ChargeGroup
from utmost.ledger.postgres import PostgresStore
from utmost.ledger.records import (
    ROW,
    Budget,
    BudgetState,
    Charge,
    ChargeReceipt,
    QueryCost,
    ReleaseCost,
    budget_error,
    check_name,
)
from utmost.ledger.sqlite import SqliteStore
from utmost.ledger.store import Row, Session, Store, check_schema, damage_error, make_tables

SELECT_BUDGET = "SELECT id, name, epsilon, delta, composition, unit, neighbours, remember, opened FROM utmost_budgets"
INSERT_BUDGET = """INSERT INTO utmost_budgets (name, epsilon, delta, composition, unit, neighbours, remember, opened)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
SELECT_CHARGE_GROUPS = """SELECT min(q.query), q.epsilon, q.law, q.steps, c.part_column, c.part_value, count(*)
    FROM utmost_charges c JOIN utmost_costs q ON q.charge = c.id WHERE c.budget = ?
    GROUP BY q.epsilon, q.law, q.steps, c.part_column, c.part_value"""
COUNT_CHARGES = "SELECT count(*) FROM utmost_charges WHERE budget = ?"
INSERT_CHARGE = """INSERT INTO utmost_charges (budget, charged, plan, fingerprint, part_column, part_value)
    VALUES (?, ?, ?, ?, ?, ?)"""
INSERT_COST = "INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps) VALUES (?, ?, ?, ?, ?, ?)"
SELECT_HISTORY = """SELECT c.id, c.charged, c.plan, c.fingerprint, c.part_column, c.part_value, r.id,
    q.query, q.epsilon, q.law, q.steps
    FROM utmost_charges c JOIN utmost_costs q ON q.charge = c.id LEFT JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? ORDER BY c.id, q.place"""
SELECT_CHARGED_BUDGET = """\
SELECT b.id, b.remember, c.fingerprint FROM utmost_charges c JOIN utmost_budgets b ON b.id = c.budget
    WHERE c.id = ?"""
SELECT_RELEASE = """SELECT r.document FROM utmost_charges c JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? AND c.plan = ? AND c.fingerprint = ? ORDER BY r.id LIMIT 1"""
MAX_DENOMINATOR_BITS = 3000  # of what a budget has spent, so that it can be written down anywhere
INSERT_RELEASE = "INSERT INTO utmost_releases (charge, kept, document) VALUES (?, ?, ?)"


class Ledger:
    """Budgets and what was charged to them. Every method is one transaction, or reads and then one.

    Nothing is ever taken back: there is no way to delete a budget or a charge.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"<Ledger: {self._store.name}>"

    def open(self, budget: Budget) -> Budget:
        """Open a budget, in a new ledger where there is none; a name is given once. The budget with its time."""
        if budget.composition == "pld":
            loss_distributions.require_dp_accounting()
        opened_budget = replace(budget, opened=_utc_now())
        with self._store.making() as session:
            make_tables(session, self._store)
            if session.rows(f"{SELECT_BUDGET} WHERE name = ?", budget.name):
                raise InputError(f"budget '{budget.name}' must have a new name, got one that is taken: choose another")
            rules = (budget.composition, budget.unit, budget.neighbours, int(budget.remember))
            session.add(
                INSERT_BUDGET, budget.name, str(budget.epsilon), str(budget.delta), *rules, opened_budget.opened
            )
        return opened_budget

    def budget(self, name: str) -> Budget:
        """The budget of this name."""
        with self._reading() as session:
            return self._find_budget(session, name)[1]

    def has_budget(self, name: str) -> bool:
        """Is there a ledger, and such a budget in it."""
        try:
            return any(budget.name == name for budget in self.budgets())
        except InputError:  # no ledger yet
            return False

    def budgets(self) -> list[Budget]:
        """All budgets, in the order they were opened."""
        with self._reading() as session:
            return [self._parse_budget(row) for row in session.rows(f"{SELECT_BUDGET} ORDER BY id")]

    def state(self, name: str) -> BudgetState:
        """What the charges to a budget have spent together."""
        with self._reading() as session:
            key, budget = self._find_budget(session, name)
            groups, charges = self._charge_groups(session, key), session.rows(COUNT_CHARGES, key)[0][0]
        return _budget_state(budget, groups, charges)

    def history(self, name: str) -> list[Charge]:
        """The charges to a budget, in the order they were made."""
        with self._reading() as session:
            key, _ = self._find_budget(session, name)
            rows = session.rows(SELECT_HISTORY, key)
        return [self._parse_charge(list(group)) for _, group in groupby(rows, key=lambda row: row[0])]

    def find_release(self, release_cost: ReleaseCost) -> dict[str, Any] | None:
        """The first release stored for the same plan and fingerprint, if the budget remembers releases and has one."""
        with self._reading() as session:
            key, budget = self._matching_budget(session, release_cost)
            if not budget.remember or release_cost.fingerprint is None:
                return None
            rows = session.rows(SELECT_RELEASE, key, release_cost.plan, release_cost.fingerprint)
        if not rows:
            return None
        document = _parse_document(rows[0][0])
        if document is None:
            raise damage_error(self._store)
        return document

    def state_after(self, release_cost: ReleaseCost) -> BudgetState:
        """The state that a charge would lead to; `BudgetError` if the budget is short. Changes nothing."""
        return self.states_around(release_cost)[1]

    def states_around(self, release_cost: ReleaseCost) -> tuple[BudgetState, BudgetState]:
        """The state now and the one that a charge would lead to, of one moment: their difference is what it takes.

        `BudgetError` if the budget is short. Changes nothing.
        """
        with self._reading() as session:
            key, budget = self._matching_budget(session, release_cost)
            groups, charges = self._charge_groups(session, key), session.rows(COUNT_CHARGES, key)[0][0]
        return _budget_state(budget, groups, charges), _state_after(budget, groups, release_cost, charges)

    def charge(self, release_cost: ReleaseCost) -> ChargeReceipt:
        """Charge a budget: durable when it returns. `BudgetError` if the budget is short, and then nothing is charged.

        No two charges to a budget overlap, so the one that is checked second sees the first.
        """
        with self._reading() as session:
            _, budget = self._matching_budget(session, release_cost)
        if budget.composition == "pld":
            loss_distributions.require_dp_accounting()  # not while others wait
        with self._writing() as session:
            key, budget = self._matching_budget(session, release_cost, self._store.locked)
            state = _state_after(budget, self._charge_groups(session, key), release_cost, 0)
            request = (release_cost.plan, release_cost.fingerprint, *(release_cost.part or (None, None)))
            number = session.add(INSERT_CHARGE, key, _utc_now(), *request)
            costs = [
                (number, index, cost.query, str(cost.epsilon), cost.law, cost.steps)
                for index, cost in enumerate(release_cost.costs)
            ]
            session.add_all(INSERT_COST, costs)
        return ChargeReceipt(number, state.spent, state.left)

    def store_release(self, entry: int, document: str) -> None:
        """Store the release of a charge, once.

        Nothing is done if the budget does not remember or the charge has no fingerprint. Of two releases of the same
        plan on the same fingerprint the one kept first is remembered.
        """
        if _parse_document(document) is None:
            raise InputError("document must be the JSON of a release, got something else")
        with self._writing() as session:
            rows = session.rows(SELECT_CHARGED_BUDGET, entry) if 0 < entry < 2**63 else []
            if not rows:
                raise InputError(f"entry must be the number of a charge in the ledger, got {entry}")
            key, remember, fingerprint = rows[0]
            session.rows(f"SELECT id FROM utmost_budgets WHERE id = ?{self._store.locked}", key)
            if session.rows("SELECT id FROM utmost_releases WHERE charge = ?", entry):
                raise InputError(f"entry must be without a release, got {entry}, which has one: a release is kept once")
            if remember and fingerprint is not None:
                session.add(INSERT_RELEASE, entry, _utc_now(), document)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._store.reading() as session:
            check_schema(session, self._store)
            yield session

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._store.writing() as session:
            check_schema(session, self._store)
            yield session

    def _find_budget(self, session: Session, name: str, lock_clause: str = "") -> tuple[int, Budget]:
        """A budget and its key, locked for the rest of the transaction if `lock_clause` says so."""
        rows = session.rows(f"{SELECT_BUDGET} WHERE name = ?{lock_clause}", check_name(name))
        if not rows:
            raise InputError(
                f"budget '{name}' must be in the ledger, got one that is not: see utmost budget list, or open it"
            )
        return int(rows[0][0]), self._parse_budget(rows[0])

    def _matching_budget(
        self, session: Session, release_cost: ReleaseCost, lock_clause: str = ""
    ) -> tuple[int, Budget]:
        """The budget of a release, if it protects the same units against the same neighbours."""
        key, budget = self._find_budget(session, release_cost.budget, lock_clause)
        if (budget.unit, budget.neighbours) != (release_cost.unit, release_cost.neighbours):
            raise InputError(
                f"budget '{budget.name}' protects {_describe_unit(budget.unit)} under {budget.neighbours}, this plan "
                f"asks for {_describe_unit(release_cost.unit)} under {release_cost.neighbours}, and what they tell "
                "does not add up: open another budget"
            )
        return key, budget

    def _charge_groups(self, session: Session, key: int) -> list[ChargeGroup]:
        """The charges to a budget, those of the same cost on the same part counted together."""
        return [self._parse_group(row) for row in session.rows(SELECT_CHARGE_GROUPS, key)]

    def _parse_group(self, row: Row) -> ChargeGroup:
        query, epsilon, law, steps, column, value, times = row
        if (column is None) != (value is None):
            raise damage_error(self._store)
        cost = self._parse_cost((query, epsilon, law, steps))
        return ChargeGroup(cost.epsilon, law, steps, None if column is None else (column, value), times)

    def _parse_cost(self, row: Row) -> QueryCost:
        try:
            return QueryCost(*row)
        except InputError:
            raise damage_error(self._store) from None

    def _parse_budget(self, row: Row) -> Budget:
        _, name, epsilon, delta, composition_name, unit, neighbours, remember, opened = row
        try:
            return Budget(name, epsilon, delta, composition_name, unit, neighbours, bool(remember), opened)
        except InputError:
            raise damage_error(self._store) from None

    def _parse_charge(self, rows: list[Row]) -> Charge:
        number, charged, plan, fingerprint, column, value, release_id, *_ = rows[0]
        costs = tuple(self._parse_cost(row[-4:]) for row in rows)
        part = None if column is None else (column, value)
        return Charge(int(number), charged, plan, fingerprint, part, costs, release_id is not None)


@contextmanager
def open_ledger(location: str, folder: Path | None = None) -> Iterator[Ledger]:
    """The ledger in an SQLite file (relative to `folder`) or at a postgresql:// URL.

    Nothing is made or looked at yet; the first budget that is opened makes it.
    """
    store = _make_store(location, folder)
    try:
        yield Ledger(store)
    finally:
        store.close()


def _make_store(location: str, folder: Path | None) -> Store:
    scheme, separator, _ = location.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return PostgresStore(location)
    if separator or not location.strip() or "\0" in location:
        raise InputError("ledger must be a file such as ledger.sqlite or a URL that starts with postgresql://")
    return SqliteStore((folder or Path()).joinpath(location).absolute())


def _budget_state(budget: Budget, groups: list[ChargeGroup], charges: int) -> BudgetState:
    spent = composition.composed_epsilon(budget, groups)
    return BudgetState(spent, max(budget.epsilon - spent, Fraction(0)), charges)


def _state_after(budget: Budget, groups: list[ChargeGroup], release_cost: ReleaseCost, charges: int) -> BudgetState:
    """The state with the release; refused if it costs more than is left."""
    after = composition.composed_epsilon(budget, [*groups, *composition.ask_groups(release_cost)])
    if after.denominator.bit_length() > MAX_DENOMINATOR_BITS:
        raise InputError(
            f"epsilons of budget '{budget.name}' must have denominators that stay short when they are added up, got "
            "some that do not: write them as decimals"
        )
    if after > budget.epsilon:
        before = _budget_state(budget, groups, charges)
        raise budget_error(budget, before.left, after - before.spent)
    return BudgetState(after, budget.epsilon - after, charges + 1)


def _parse_document(text: str) -> dict[str, Any] | None:
    """A JSON object, or None if the text is none that a database can hold."""
    try:
        text.encode()
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _describe_unit(unit: str) -> str:
    return "each row" if unit == ROW else f"each {unit}"


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
