"""The hash chain of a ledger: each budget and each charge has a hash of itself and of what came before it.

The ledger's random id, the first budget, the second … are one chain; from each budget its charges are another, whose
last hash stands beside the budget. So a row that is changed, put in, taken out or moved to another place is found when
the ledger is opened. It is a guard against accidents and careless statements, not against somebody who computes all
hashes anew; but the hash that a release's receipt has (`ChargeReceipt.chain`) can be held against the ledger later.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from utmost.ledger.stores.database import COUNT_ORPHANS, SELECT_BUDGET_CHAINS, SELECT_ENTRIES, Row, Session

COST_FIELDS = 7
OLD_COST_FIELDS = 4  # before δ

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=repr).encode

ChainEnd = tuple[int, str]  # the number of the last charge, 0 where there is none, and the hash there


class BrokenChainError(Exception):
    """A row does not have the hash that follows from it and those before it."""


def link_hash(previous: str, *content: object) -> str:
    """The hash of an entry after the one with hash `previous`: SHA-256 of both as canonical JSON.

    >>> link_hash("", "a", 1)[:16], link_hash("0", "a", 1)[:16]
    ('ab3f076ffa395c75', 'd09be249e2c0e893')
    """
    return hashlib.sha256(_encode([previous, *content]).encode()).hexdigest()


def charge_hash(previous: str, fields: Sequence[object], costs: Iterable[Sequence[object]]) -> str:
    """The hash of a charge: `fields` from its time to its table, and its costs in their order; δ, ρ and numbers last.

    Who charged, the source and δ are hashed where one of them is there, the table where there is one, and ρ and numbers
    where a cost has one: entries without them are of older ledgers, or of a source that is one table, and keep the
    hashes that their receipts have.
    """
    all_costs, (*old_fields, charged_by, source, table) = [list(cost) for cost in costs], fields
    additions = [[charged_by, source], [cost[OLD_COST_FIELDS] for cost in all_costs]]
    is_new = any(value is not None for values in additions for value in values)
    concentrated = [cost[OLD_COST_FIELDS + 1 :] for cost in all_costs]
    is_concentrated = any(value is not None for values in concentrated for value in values)
    old_content = old_fields, [cost[:OLD_COST_FIELDS] for cost in all_costs]
    new_content = [*(additions if is_new else ()), *(() if table is None else (table,))]
    return link_hash(previous, "charge", *old_content, *new_content, *([concentrated] if is_concentrated else []))


def closing_hash(previous: str, closed: str, closed_by: str | None) -> str:
    """The hash after the last charge to a budget that was closed."""
    return link_hash(previous, "close", closed, closed_by)


def follow_charges(rows: Iterable[Row], end: ChainEnd) -> ChainEnd:
    """The end of a chain of charges that starts at `end`, if each of them has its hash and at least one cost."""
    for link in _compute_hashes(rows, end[1]):
        if link.computed_hash != link.stored_hash:
            raise BrokenChainError
        end = link.number, link.computed_hash
    return end


def verify_chains(session: Session, ledger_id: str, verified: dict[int, ChainEnd]) -> None:
    """Check all hashes of a ledger in one pass, and note in `verified` how far; what is noted is not read again."""
    if not verified and session.rows(COUNT_ORPHANS)[0][0]:
        raise BrokenChainError
    previous = ledger_id
    for key, opening_hash, head_hash, closed, closed_by, *terms in session.rows(SELECT_BUDGET_CHAINS):
        if link_hash(previous, "budget", *terms) != opening_hash:
            raise BrokenChainError
        verify_charges(session, key, ChainEnds(opening_hash, head_hash, closed, closed_by), verified)
        previous = opening_hash


@dataclass(frozen=True, slots=True)
class ChainEnds:
    """The first and the last hash of a budget's chain, and when and by whom it was closed, if so."""

    opening_hash: str
    head_hash: str
    closed: str | None
    closed_by: str | None

    def is_head(self, charge_hash: str) -> bool:
        """Does the chain end after the charge with this hash, or with the closing after it."""
        if self.closed is not None:
            charge_hash = closing_hash(charge_hash, self.closed, self.closed_by)
        return charge_hash == self.head_hash


def verify_charges(session: Session, key: int, ends: ChainEnds, verified: dict[int, ChainEnd]) -> None:
    """Check the hashes of the charges to one budget, from where `verified` has them."""
    start = (0, ends.opening_hash)
    try:
        end = follow_charges(session.rows(SELECT_ENTRIES, key, verified.get(key, start)[0]), verified.get(key, start))
    except BrokenChainError:
        end = start
    if not ends.is_head(end[1]):  # another ledger may have been put in the place of this one
        end = follow_charges(session.rows(SELECT_ENTRIES, key, 0), start)
    if not ends.is_head(end[1]):
        raise BrokenChainError
    verified[key] = end


def write_chains(session: Session, ledger_id: str) -> None:
    """Give hashes to the budgets and charges of a ledger that has none yet."""
    previous = ledger_id
    for key, _, _, _, _, *terms in session.rows(SELECT_BUDGET_CHAINS):
        previous = head_hash = link_hash(previous, "budget", *terms)
        for link in list(_compute_hashes(session.rows(SELECT_ENTRIES, key, 0), previous)):
            session.run("UPDATE utmost_charges SET entry_hash = ? WHERE id = ?", link.computed_hash, link.number)
            head_hash = link.computed_hash
        session.run("UPDATE utmost_budgets SET opening_hash = ?, head_hash = ? WHERE id = ?", previous, head_hash, key)


@dataclass(frozen=True, slots=True)
class _Link:
    """A charge by its number, the hash that is stored with it, and the one that follows from it."""

    number: int
    stored_hash: str | None
    computed_hash: str


def _compute_hashes(rows: Iterable[Row], previous: str) -> Iterator[_Link]:
    """The hashes of each charge in turn."""
    for (number, stored_hash, *fields), group in groupby(rows, key=lambda row: row[:-COST_FIELDS]):
        costs = [row[-COST_FIELDS:] for row in group]
        if costs[0][0] is None:  # a charge without costs
            raise BrokenChainError
        previous = charge_hash(previous, fields, costs)
        yield _Link(number, stored_hash, previous)
