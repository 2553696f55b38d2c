"""The ledger: budgets, charges and stored releases, the same over every store."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from utmost.errors import InputError
from utmost.exact.input_text import check_plain_text
from utmost.ledger import chain
from utmost.ledger.costs import ROW, ChargeGroup, Part, QueryCost
from utmost.ledger.records import (
    CHAIN_CHARS,
    Budget,
    BudgetState,
    Charge,
    ChargeReceipt,
    ReleaseCost,
    budget_error,
    check_name,
    delta_error,
)
from utmost.ledger.stores import database, registry
from utmost.ledger.stores.database import (
    TABLES_VERSION,
    NoLedgerError,
    OlderSession,
    Row,
    Session,
    Store,
    damage_error,
    make_tables,
    tables_version,
)
from utmost.registry import similar_name

MAX_USER_CHARS = 100  # of a user's name
MAX_DENOMINATOR_BITS = 3000  # of what a budget has spent, so that it can be written down anywhere


@dataclass(frozen=True, slots=True)
class StoredBudget:
    """A budget, its key in the tables, and the ends of its chain of charges."""

    key: int
    ends: chain.ChainEnds
    budget: Budget

    @property
    def head_hash(self) -> str:
        """The last hash of its chain."""
        return self.ends.head_hash


class Ledger:
    """Budgets and what was charged to them. Every method is one transaction, or reads and then one.

    Nothing is ever taken back: there is no way to delete a budget or a charge.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._verified: dict[int, chain.ChainEnd] = {}  # how far the chain of each budget was checked

    def __repr__(self) -> str:
        return f"<Ledger: {self._store.name}>"

    def open(self, budget: Budget) -> Budget:
        """Open a budget, in a new ledger where there is none; a name is given once. The budget with its time."""
        check_plain_text(budget.unit, "unit")
        budget.rule.prepare()
        opened_budget = replace(budget, opened=_utc_now())
        with self._making() as session:
            if session.rows(f"{database.SELECT_BUDGET} WHERE name = ?", budget.name):
                raise InputError(
                    f"budget '{budget.name}' must have a new name, got one that is taken", "name", "choose another"
                )
            rules = (budget.composition, budget.unit, budget.neighbours, int(budget.remember))
            terms = (budget.name, str(budget.epsilon), str(budget.delta), *rules, opened_budget.opened)
            last = session.rows(database.SELECT_LAST_OPENING)
            opening_hash = chain.link_hash(last[0][0] if last else self._ledger_id(session), "budget", *terms)
            session.add(database.INSERT_BUDGET, *terms, opening_hash, opening_hash)
        return opened_budget

    def close_budget(self, name: str, closed_by: str | None = None) -> Budget:
        """Close a budget for good: it takes no further charge, and stays readable. The budget with its time."""
        with self._reading() as session:
            self._find_budget(session, name)
        self._upgrade_tables()
        with self._writing() as session:
            stored_budget = self._find_budget(session, name, self._store.locked)
            self._verify_charges(session, stored_budget)
            _check_open(stored_budget.budget)
            closed, user = _utc_now(), closed_by or user_name()
            head_hash = chain.closing_hash(stored_budget.head_hash, closed, user)
            session.run(database.CLOSE_BUDGET, closed, user, head_hash, stored_budget.key)
        return replace(stored_budget.budget, closed=closed)

    def budget(self, name: str) -> Budget:
        """The budget of this name."""
        with self._reading() as session:
            return self._find_budget(session, name).budget

    def has_budget(self, name: str) -> bool:
        """Is there a ledger, and such a budget in it. What can never be a ledger is refused, as by a charge."""
        try:
            return any(budget.name == name for budget in self.budgets())
        except NoLedgerError:
            return False

    def budgets(self) -> list[Budget]:
        """All budgets, in the order they were opened."""
        with self._reading() as session:
            return [self._parse_budget(row).budget for row in session.rows(f"{database.SELECT_BUDGET} ORDER BY id")]

    def state(self, name: str) -> BudgetState:
        """What the charges to a budget have spent together."""
        with self._reading() as session:
            stored_budget = self._find_budget(session, name)
            return self._budget_state(session, stored_budget, self._charge_groups(session, stored_budget.key))

    def history(self, name: str) -> list[Charge]:
        """The charges to a budget, in the order they were made."""
        with self._reading() as session:
            rows = session.rows(database.SELECT_HISTORY, self._find_budget(session, name).key)
        return [self._parse_charge(list(group)) for _, group in groupby(rows, key=lambda row: row[0])]

    def past_states(self, name: str, most: int) -> list[tuple[Charge, BudgetState]]:
        """The state of a budget after its charges: after the last, and of many after `most` evenly spaced ones."""
        with self._reading() as session:
            stored_budget = self._find_budget(session, name)
            rows = session.rows(database.SELECT_HISTORY, stored_budget.key)
        charges = [self._parse_charge(list(group)) for _, group in groupby(rows, key=lambda row: row[0])]
        counts = sorted({-(-len(charges) * k // most) for k in range(1, most + 1)} - {0})
        return [
            (charges[count - 1], _budget_state(stored_budget.budget, _equal_groups(charges[:count]), count))
            for count in counts
        ]

    def find_release(self, release_cost: ReleaseCost) -> dict[str, Any] | None:
        """The first release stored for the same plan and fingerprint, if the budget remembers releases and has one."""
        with self._reading() as session:
            stored_budget = self._matching_budget(session, release_cost)
            if not stored_budget.budget.remember or release_cost.fingerprint is None:
                return None
            rows = session.rows(database.SELECT_RELEASE, stored_budget.key, release_cost.plan, release_cost.fingerprint)
        if not rows:
            return None
        document = _parse_document(rows[0][0])
        if document is None:
            raise damage_error(self._store)
        return document

    def find_charge(self, release_cost: ReleaseCost) -> int | None:
        """The first charge for the same plan and fingerprint, or for the plan where neither has one."""
        with self._reading() as session:
            stored_budget = self._matching_budget(session, release_cost)
            rows = session.rows(database.SELECT_PLAN_CHARGES, stored_budget.key, release_cost.plan)
        return next((int(entry) for entry, fingerprint in rows if fingerprint == release_cost.fingerprint), None)

    def state_after(self, release_cost: ReleaseCost) -> BudgetState:
        """The state that a charge would lead to; `BudgetError` if the budget is short. Changes nothing."""
        return self.states_around(release_cost)[1]

    def states_around(self, release_cost: ReleaseCost) -> tuple[BudgetState, BudgetState]:
        """The state now and the one that a charge would lead to, of one moment: their difference is what it takes.

        `BudgetError` if the budget is short. Changes nothing.
        """
        with self._reading() as session:
            stored_budget = self._matching_budget(session, release_cost)
            groups = self._charge_groups(session, stored_budget.key)
            now = self._budget_state(session, stored_budget, groups)
            asked_groups = release_cost.groups(self._stored_part(session, release_cost.part))
        return now, _state_after(stored_budget.budget, groups, asked_groups, now.charges)

    def part_adds_up(self, release_cost: ReleaseCost) -> str | None:
        """Why the part of a release adds up with earlier charges on its column; None where it does not."""
        with self._reading() as session:
            stored_budget = self._matching_budget(session, release_cost)
            part = self._stored_part(session, release_cost.part)
            groups = self._charge_groups(session, stored_budget.key)
        return None if part is None else stored_budget.budget.rule.why_part_adds_up(part, groups)

    def charge(self, release_cost: ReleaseCost) -> ChargeReceipt:
        """Charge a budget: durable when it returns. `BudgetError` if the budget is short, and then nothing is charged.

        No two charges to a budget overlap, so the one that is checked second sees the first.
        """
        with self._reading() as session:
            budget = self._matching_budget(session, release_cost).budget
        budget.rule.prepare()  # not while others wait
        self._upgrade_tables()
        with self._writing() as session:
            stored_budget = self._matching_budget(session, release_cost, self._store.locked)
            self._verify_charges(session, stored_budget)
            part = self._stored_part(session, release_cost.part)
            groups = self._charge_groups(session, stored_budget.key)
            state = _state_after(stored_budget.budget, groups, release_cost.groups(part), 0)
            release_cost = replace(release_cost, source=self._stored_source(session, release_cost.source))
            number, entry_hash = _add_charge(session, stored_budget, release_cost, part)
        amounts = state.spent, state.left, entry_hash[:CHAIN_CHARS], state.delta_spent, state.delta_left
        return ChargeReceipt(number, *amounts, state.measure)

    def store_release(self, entry: int, document: str) -> None:
        """Store the release of a charge, once.

        Nothing is done if the budget does not remember or the charge has no fingerprint. Of two releases of the same
        plan on the same fingerprint the one kept first is remembered.
        """
        if _parse_document(document) is None:
            raise InputError("document must be the JSON of a release, got something else", "document")
        with self._writing() as session:
            rows = session.rows(database.SELECT_CHARGED_BUDGET, entry) if 0 < entry < 2**63 else []
            if not rows:
                raise InputError(f"entry must be the number of a charge in the ledger, got {entry}", "entry")
            key, remember, fingerprint = rows[0]
            session.rows(f"SELECT id FROM utmost_budgets WHERE id = ?{self._store.locked}", key)
            if session.rows("SELECT id FROM utmost_releases WHERE charge = ?", entry):
                raise InputError(
                    f"entry must be without a release, got {entry}, which has one: a release is kept once", "entry"
                )
            if remember and fingerprint is not None:
                session.add(database.INSERT_RELEASE, entry, _utc_now(), document)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        """A transaction that has checked the hashes of all entries."""
        with self._store.reading() as store_session:
            version = tables_version(store_session, self._store)
            session = store_session if version == TABLES_VERSION else OlderSession(store_session, version)
            if version == 1:  # which has no hashes
                yield session
                return
            with self._damage_if_broken():
                chain.verify_chains(session, self._ledger_id(session), self._verified)
            yield session

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._store.writing() as session:
            tables_version(session, self._store)
            yield session

    @contextmanager
    def _making(self) -> Iterator[Session]:
        """A transaction after which there are tables of this version, and hashes of all that was in older ones."""
        with self._store.making() as session:
            if make_tables(session, self._store):
                with self._damage_if_broken():
                    chain.write_chains(session, self._ledger_id(session))
            yield session

    def _upgrade_tables(self) -> None:
        """Add the columns that the tables of an older version lack."""
        with self._store.reading() as session:
            is_old = tables_version(session, self._store) < TABLES_VERSION
        if is_old:
            with self._making():
                pass

    @contextmanager
    def _damage_if_broken(self) -> Iterator[None]:
        try:
            yield
        except chain.BrokenChainError:
            raise damage_error(self._store) from None

    def _verify_charges(self, session: Session, stored_budget: StoredBudget) -> None:
        """Check the hashes of the charges to a budget that is locked."""
        with self._damage_if_broken():
            chain.verify_charges(session, stored_budget.key, stored_budget.ends, self._verified)

    def _ledger_id(self, session: Session) -> str:
        return str(session.rows("SELECT l.id FROM utmost_ledger l")[0][0])

    def _stored_part(self, session: Session, part: Part | None) -> Part | None:
        """A part as it is stored: a hash with the ledger's id stands for its source, which may name a file."""
        if part is None or part.source is None:
            return part
        return replace(part, source=chain.link_hash(self._ledger_id(session), "source", part.source))

    def _stored_source(self, session: Session, source: str | None) -> str | None:
        """A source as it is stored: the start of a hash with the ledger's id, since its name may be a file's."""
        return None if source is None else chain.link_hash(self._ledger_id(session), "source", source)[:CHAIN_CHARS]

    def _find_budget(
        self, session: Session, name: str, lock_clause: str = "", hint: str = "see utmost budget list, or open it"
    ) -> StoredBudget:
        """A budget, locked for the rest of the transaction if `lock_clause` says so."""
        rows = session.rows(f"{database.SELECT_BUDGET} WHERE name = ?{lock_clause}", check_name(name))
        if not rows:
            similar = similar_name(
                name, [self._parse_budget(row).budget.name for row in session.rows(database.SELECT_BUDGET)]
            )
            hint = hint if similar is None else f"did you mean '{similar}'?"
            raise InputError(f"no budget '{name}' in this ledger", "budget", hint)
        return self._parse_budget(rows[0])

    def _matching_budget(self, session: Session, release_cost: ReleaseCost, lock_clause: str = "") -> StoredBudget:
        """The budget of a release, if it protects the same units against the same neighbours."""
        hint = f"see utmost budget list, or open it: {release_cost.open_command()}"
        stored_budget = self._find_budget(session, release_cost.budget, lock_clause, hint)
        budget = stored_budget.budget
        if (budget.unit, budget.neighbours) != (release_cost.unit, release_cost.neighbours):
            raise InputError(
                f"budget '{budget.name}' protects {_describe_unit(budget.unit)} under {budget.neighbours}"
                f", this plan asks for {_describe_unit(release_cost.unit)} under {release_cost.neighbours}, "
                "and what they tell does not add up",
                "budget",
                _unit_advice(budget, release_cost) + f"open another budget: {release_cost.open_command('NAME')}",
            )
        self._check_unit_kind(session, stored_budget, release_cost.unit_kind)
        return stored_budget

    def _check_unit_kind(self, session: Session, stored_budget: StoredBudget, kind: str | None) -> None:
        """Refuse another kind of the unit's column than the first charge had: 01 and 1 are two texts, one integer."""
        rows = [] if kind is None else session.rows(database.SELECT_UNIT_KIND, stored_budget.key)
        if rows and rows[0][0] != kind:
            budget = stored_budget.budget
            raise InputError(
                f"column {budget.unit} must be of kind {rows[0][0]}, as in the first charge to budget '{budget.name}', "
                f"got {kind}: 01 and 1 are one person as integers and two as texts",
                "unit.column",
                "declare the same kind",
            )

    def _budget_state(self, session: Session, stored_budget: StoredBudget, groups: list[ChargeGroup]) -> BudgetState:
        state = _budget_state(
            stored_budget.budget, groups, session.rows(database.COUNT_CHARGES, stored_budget.key)[0][0]
        )
        return replace(state, chain=_short_hash(stored_budget.head_hash))

    def _charge_groups(self, session: Session, key: int) -> list[ChargeGroup]:
        """The charges to a budget, those of the same cost on the same part counted together."""
        return [self._parse_group(row) for row in session.rows(database.SELECT_CHARGE_GROUPS, key)]

    def _parse_group(self, row: Row) -> ChargeGroup:
        *cost_row, column, value, kind, table, source, times = row
        cost, part = self._parse_cost(tuple(cost_row)), self._parse_part((column, value, kind, table, source))
        return cost.group(part, times)

    def _parse_part(self, row: Row) -> Part | None:
        if row == (None,) * len(row):
            return None
        try:
            return Part(*row)
        except InputError:
            raise damage_error(self._store) from None

    def _parse_cost(self, row: Row) -> QueryCost:
        try:
            query, epsilon, law, steps, delta, rho, numbers = row
            return QueryCost(query, epsilon, law, steps, delta or Fraction(0), rho, numbers or 1)
        except InputError:
            raise damage_error(self._store) from None

    def _parse_budget(self, row: Row) -> StoredBudget:
        key, *ends, name, epsilon, delta, rule, unit, neighbours, remember, opened = row
        chain_ends = chain.ChainEnds(*ends)
        try:
            closed = chain_ends.closed or ""
            budget = Budget(name, epsilon, delta, rule or " ", unit, neighbours, bool(remember), opened, closed)
        except InputError:
            raise damage_error(self._store) from None
        return StoredBudget(int(key), chain_ends, budget)

    def _parse_charge(self, rows: list[Row]) -> Charge:
        fields, cost_fields = rows[0][: -chain.COST_FIELDS], chain.COST_FIELDS
        number, charged, plan, fingerprint, *part_row, unit_kind, entry_hash, release_id = fields[:-3]
        costs = tuple(self._parse_cost(row[-cost_fields:]) for row in rows)
        part, is_kept = self._parse_part(tuple(part_row)), release_id is not None
        asked = (charged, plan, fingerprint, part, costs, is_kept, unit_kind)
        return Charge(int(number), *asked, _short_hash(entry_hash), *fields[-3:])


@contextmanager
def open_ledger(location: str, folder: Path | None = None) -> Iterator[Ledger]:
    """The ledger in a file, relative to `folder`, or at a URL (`stores.registry`).

    Nothing is made or looked at yet; the first budget that is opened makes it.
    """
    store = registry.make_store(location, folder)
    try:
        yield Ledger(store)
    finally:
        store.close()


def _equal_groups(charges: list[Charge]) -> list[ChargeGroup]:
    """The costs of charges, those of the same cost on the same part counted together."""
    times = Counter(group for charge in charges for group in charge.groups())
    return [replace(group, times=count) for group, count in times.items()]


def _budget_state(budget: Budget, groups: list[ChargeGroup], charges: int) -> BudgetState:
    spent, delta_spent = budget.rule.spent(groups, budget), budget.rule.delta_spent(groups, budget)
    left, delta_left = budget.rule.limit(budget) - spent, budget.rule.delta_limit(budget) - delta_spent
    amounts = (delta_spent, max(delta_left, Fraction(0)))
    return BudgetState(spent, max(left, Fraction(0)), charges, None, *amounts, budget.rule.measure)


def _state_after(
    budget: Budget, groups: list[ChargeGroup], asked_groups: list[ChargeGroup], charges: int
) -> BudgetState:
    """The state with the release; refused if it costs more than is left."""
    rule, all_groups = budget.rule, [*groups, *asked_groups]
    _check_open(budget)
    rule.check_charges(asked_groups, budget)
    delta_after, delta_limit = rule.delta_spent(all_groups, budget), rule.delta_limit(budget)
    if delta_after > delta_limit:
        before = _budget_state(budget, groups, charges)
        raise delta_error(budget, before.delta_left, delta_after - before.delta_spent)
    after, limit = rule.spent(all_groups, budget), rule.limit(budget)
    for amount, name in ((after, "epsilon"), (delta_after, "delta")):
        _check_denominator(budget, amount, name)
    if after > limit:
        before = _budget_state(budget, groups, charges)
        raise budget_error(budget, before.left, after - before.spent)
    return BudgetState(after, limit - after, charges + 1, None, delta_after, delta_limit - delta_after, rule.measure)


def _check_denominator(budget: Budget, amount: Fraction, name: str) -> None:
    if amount.denominator.bit_length() > MAX_DENOMINATOR_BITS:
        raise InputError(
            f"{name}s of budget '{budget.name}' must have denominators that stay short when they are "
            "added up, got some that do not",
            name,
            "write them as decimals",
        )


def _check_open(budget: Budget) -> None:
    """Refuse a budget that was closed."""
    if budget.closed:
        raise InputError(f"budget '{budget.name}' was closed at {budget.closed}", "budget", "open another budget")


def _add_charge(
    session: Session, stored_budget: StoredBudget, release_cost: ReleaseCost, part: Part | None
) -> tuple[int, str]:
    """Write a charge with its costs; its number and its hash, which is the new end of the budget's chain."""
    part_row = (None,) * 5 if part is None else (part.column, part.value, part.kind, part.table, part.source)
    origin = (release_cost.charged_by or user_name(), release_cost.source, release_cost.table)
    fields = (_utc_now(), release_cost.plan, release_cost.fingerprint, *part_row, release_cost.unit_kind, *origin)
    costs = [_cost_row(cost) for cost in release_cost.costs]
    entry_hash = chain.charge_hash(stored_budget.head_hash, fields, costs)
    number = session.add(database.INSERT_CHARGE, stored_budget.key, entry_hash, *fields)
    session.add_all(database.INSERT_COST, [(number, place, *cost) for place, cost in enumerate(costs)])
    session.run(database.UPDATE_HEAD, entry_hash, stored_budget.key)
    return number, entry_hash


def _cost_row(cost: QueryCost) -> Row:
    """A cost as the tables have it; nothing stands for one number, as in entries of older ledgers."""
    rho, numbers = None if cost.rho is None else str(cost.rho), None if cost.numbers == 1 else cost.numbers
    return cost.query, str(cost.epsilon), cost.law, cost.steps, str(cost.delta), rho, numbers


def _short_hash(entry_hash: str | None) -> str | None:
    return None if entry_hash is None else entry_hash[:CHAIN_CHARS]


def _parse_document(text: str) -> dict[str, Any] | None:
    """A JSON object, or None if the text is none that a database can hold."""
    try:
        text.encode()
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _unit_advice(budget: Budget, release_cost: ReleaseCost) -> str:
    """Where a plan without a unit meets a budget of persons: what was most likely forgotten."""
    if release_cost.unit != ROW or budget.unit == ROW or budget.neighbours != release_cost.neighbours:
        return ""
    column = json.dumps(budget.unit, ensure_ascii=False)
    return f"did you forget unit={column} in ut.table, or [unit] with column = {column} in the plan's file? Else "


def _describe_unit(unit: str) -> str:
    return "each row" if unit == ROW else f"each {unit}"


def user_name() -> str:
    """The operating system's name for who runs this process; its number where it has no name."""
    if not hasattr(os, "geteuid"):
        return os.environ.get("USERNAME", "unknown")[:MAX_USER_CHARS]
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name[:MAX_USER_CHARS]
    except KeyError:
        return f"user {os.geteuid()}"


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
