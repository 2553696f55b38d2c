"""The ledger itself: one logic over both stores."""

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

BUDGET = "SELECT id, name, epsilon, delta, composition, unit, neighbours, remember, opened FROM utmost_budgets"
OPEN = """INSERT INTO utmost_budgets (name, epsilon, delta, composition, unit, neighbours, remember, opened)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
TALLY = """SELECT min(q.query), q.epsilon, q.law, q.steps, c.part_column, c.part_value, count(*)
    FROM utmost_charges c JOIN utmost_costs q ON q.charge = c.id WHERE c.budget = ?
    GROUP BY q.epsilon, q.law, q.steps, c.part_column, c.part_value"""
CHARGES = "SELECT count(*) FROM utmost_charges WHERE budget = ?"
CHARGE = """INSERT INTO utmost_charges (budget, charged, plan, fingerprint, part_column, part_value)
    VALUES (?, ?, ?, ?, ?, ?)"""
COST = "INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps) VALUES (?, ?, ?, ?, ?, ?)"
HISTORY = """SELECT c.id, c.charged, c.plan, c.fingerprint, c.part_column, c.part_value, r.id,
    q.query, q.epsilon, q.law, q.steps
    FROM utmost_charges c JOIN utmost_costs q ON q.charge = c.id LEFT JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? ORDER BY c.id, q.place"""
CHARGED = """SELECT b.id, b.remember, c.fingerprint FROM utmost_charges c JOIN utmost_budgets b ON b.id = c.budget
    WHERE c.id = ?"""
SELECT_RELEASE = """SELECT r.document FROM utmost_charges c JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? AND c.plan = ? AND c.fingerprint = ? ORDER BY r.id LIMIT 1"""
LONGEST_SUM = 3000  # bits of what a budget has spent, so that it can be written down anywhere
KEEP = "INSERT INTO utmost_releases (charge, kept, document) VALUES (?, ?, ?)"


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
        opened = replace(budget, opened=_now())
        with self._store.making() as session:
            make_tables(session, self._store)
            if session.rows(f"{BUDGET} WHERE name = ?", budget.name):
                raise InputError(f"budget '{budget.name}' must have a new name, got one that is taken: choose another")
            rules = (budget.composition, budget.unit, budget.neighbours, int(budget.remember))
            session.add(OPEN, budget.name, str(budget.epsilon), str(budget.delta), *rules, opened.opened)
        return opened

    def budget(self, name: str) -> Budget:
        """The budget of this name."""
        with self._reading() as session:
            return self._found(session, name)[1]

    def has(self, name: str) -> bool:
        """Is there a ledger, and such a budget in it."""
        try:
            return any(budget.name == name for budget in self.budgets())
        except InputError:  # no ledger yet
            return False

    def budgets(self) -> list[Budget]:
        """All budgets, in the order they were opened."""
        with self._reading() as session:
            return [self._budget(row) for row in session.rows(f"{BUDGET} ORDER BY id")]

    def state(self, name: str) -> BudgetState:
        """What the charges to a budget have spent together."""
        with self._reading() as session:
            key, budget = self._found(session, name)
            items, charges = self._tally(session, key), session.rows(CHARGES, key)[0][0]
        return _state(budget, items, charges)

    def history(self, name: str) -> list[Charge]:
        """The charges to a budget, in the order they were made."""
        with self._reading() as session:
            key, _ = self._found(session, name)
            rows = session.rows(HISTORY, key)
        return [self._charge(list(group)) for _, group in groupby(rows, key=lambda row: row[0])]

    def remembered(self, ask: ReleaseCost) -> dict[str, Any] | None:
        """The first release kept for the same plan and fingerprint, if the budget remembers and there is one."""
        with self._reading() as session:
            key, budget = self._fitting(session, ask)
            if not budget.remember or ask.fingerprint is None:
                return None
            kept = session.rows(SELECT_RELEASE, key, ask.plan, ask.fingerprint)
        if not kept:
            return None
        document = _parsed(kept[0][0])
        if document is None:
            raise damage_error(self._store)
        return document

    def afford(self, ask: ReleaseCost) -> BudgetState:
        """The state that a charge would lead to; `BudgetError` if the budget is short. Changes nothing."""
        return self.outlook(ask)[1]

    def outlook(self, ask: ReleaseCost) -> tuple[BudgetState, BudgetState]:
        """The state now and the one that a charge would lead to, of one moment: their difference is what it takes.

        `BudgetError` if the budget is short. Changes nothing.
        """
        with self._reading() as session:
            key, budget = self._fitting(session, ask)
            items, charges = self._tally(session, key), session.rows(CHARGES, key)[0][0]
        return _state(budget, items, charges), _afforded(budget, items, ask, charges)

    def charge(self, ask: ReleaseCost) -> ChargeReceipt:
        """Charge a budget: durable when it returns. `BudgetError` if the budget is short, and then nothing is charged.

        No two charges to a budget overlap, so the one that is checked second sees the first.
        """
        with self._reading() as session:
            _, budget = self._fitting(session, ask)
        if budget.composition == "pld":
            loss_distributions.require_dp_accounting()  # not while others wait
        with self._writing() as session:
            key, budget = self._fitting(session, ask, self._store.locked)
            state = _afforded(budget, self._tally(session, key), ask, 0)
            number = session.add(CHARGE, key, _now(), ask.plan, ask.fingerprint, *(ask.part or (None, None)))
            costs = [
                (number, k, cost.query, str(cost.epsilon), cost.law, cost.steps) for k, cost in enumerate(ask.costs)
            ]
            session.add_all(COST, costs)
        return ChargeReceipt(number, state.spent, state.left)

    def keep(self, entry: int, document: str) -> None:
        """Remember the release of a charge, once.

        Nothing is done if the budget does not remember or the charge has no fingerprint. Of two releases of the same
        plan on the same fingerprint the one kept first is remembered.
        """
        if _parsed(document) is None:
            raise InputError("document must be the JSON of a release, got something else")
        with self._writing() as session:
            found = session.rows(CHARGED, entry) if 0 < entry < 2**63 else []
            if not found:
                raise InputError(f"entry must be the number of a charge in the ledger, got {entry}")
            key, remember, fingerprint = found[0]
            session.rows(f"SELECT id FROM utmost_budgets WHERE id = ?{self._store.locked}", key)
            if session.rows("SELECT id FROM utmost_releases WHERE charge = ?", entry):
                raise InputError(f"entry must be without a release, got {entry}, which has one: a release is kept once")
            if remember and fingerprint is not None:
                session.add(KEEP, entry, _now(), document)

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

    def _found(self, session: Session, name: str, locked: str = "") -> tuple[int, Budget]:
        """A budget and its key, locked for the rest of the transaction if `locked` says so."""
        rows = session.rows(f"{BUDGET} WHERE name = ?{locked}", check_name(name))
        if not rows:
            raise InputError(
                f"budget '{name}' must be in the ledger, got one that is not: see utmost budget list, or open it"
            )
        return int(rows[0][0]), self._budget(rows[0])

    def _fitting(self, session: Session, ask: ReleaseCost, locked: str = "") -> tuple[int, Budget]:
        """The budget of an ask, if it protects the same units against the same neighbours."""
        key, budget = self._found(session, ask.budget, locked)
        if (budget.unit, budget.neighbours) != (ask.unit, ask.neighbours):
            raise InputError(
                f"budget '{budget.name}' protects {_whom(budget.unit)} under {budget.neighbours}, this plan asks for "
                f"{_whom(ask.unit)} under {ask.neighbours}, and what they tell does not add up: open another budget"
            )
        return key, budget

    def _tally(self, session: Session, key: int) -> list[ChargeGroup]:
        """The charges to a budget, those of the same cost on the same part counted together."""
        return [self._item(row) for row in session.rows(TALLY, key)]

    def _item(self, row: Row) -> ChargeGroup:
        query, epsilon, law, steps, column, value, times = row
        if (column is None) != (value is None):
            raise damage_error(self._store)
        cost = self._cost((query, epsilon, law, steps))
        return ChargeGroup(cost.epsilon, law, steps, None if column is None else (column, value), times)

    def _cost(self, row: Row) -> QueryCost:
        try:
            return QueryCost(*row)
        except InputError:
            raise damage_error(self._store) from None

    def _budget(self, row: Row) -> Budget:
        _, name, epsilon, delta, kind, unit, neighbours, remember, opened = row
        try:
            return Budget(name, epsilon, delta, kind, unit, neighbours, bool(remember), opened)
        except InputError:
            raise damage_error(self._store) from None

    def _charge(self, rows: list[Row]) -> Charge:
        number, charged, plan, fingerprint, column, value, kept, *_ = rows[0]
        costs = tuple(self._cost(row[-4:]) for row in rows)
        part = None if column is None else (column, value)
        return Charge(int(number), charged, plan, fingerprint, part, costs, kept is not None)


@contextmanager
def open_ledger(location: str, folder: Path | None = None) -> Iterator[Ledger]:
    """The ledger in an SQLite file (relative to `folder`) or at a postgresql:// URL.

    Nothing is made or looked at yet; the first budget that is opened makes it.
    """
    store = _store(location, folder)
    try:
        yield Ledger(store)
    finally:
        store.close()


def _store(location: str, folder: Path | None) -> Store:
    scheme, separator, _ = location.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return PostgresStore(location)
    if separator or not location.strip() or "\0" in location:
        raise InputError("ledger must be a file such as ledger.sqlite or a URL that starts with postgresql://")
    return SqliteStore((folder or Path()).joinpath(location).absolute())


def _state(budget: Budget, items: list[ChargeGroup], charges: int) -> BudgetState:
    spent = composition.composed_epsilon(budget, items)
    return BudgetState(spent, max(budget.epsilon - spent, Fraction(0)), charges)


def _afforded(budget: Budget, items: list[ChargeGroup], ask: ReleaseCost, charges: int) -> BudgetState:
    """The state with the ask; refused if it is more than the budget."""
    after = composition.composed_epsilon(budget, [*items, *composition.ask_groups(ask)])
    if after.denominator.bit_length() > LONGEST_SUM:
        raise InputError(
            f"epsilons of budget '{budget.name}' must have denominators that stay short when they are added up, got "
            "some that do not: write them as decimals"
        )
    if after > budget.epsilon:
        before = _state(budget, items, charges)
        raise budget_error(budget, before.left, after - before.spent)
    return BudgetState(after, budget.epsilon - after, charges + 1)


def _parsed(text: str) -> dict[str, Any] | None:
    """A JSON object, or None if the text is none that a database can hold."""
    try:
        text.encode()
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _whom(unit: str) -> str:
    return "each row" if unit == ROW else f"each {unit}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
