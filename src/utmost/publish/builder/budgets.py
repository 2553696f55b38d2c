"""A budget in one line: opened where it is not there yet, and asked for what is left."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Literal

from utmost import ledger as ledgers
from utmost.errors import InputError
from utmost.exact import decimal_above, decimal_below, rational
from utmost.exact.input_text import escape_control
from utmost.ledger import Budget, BudgetState, Charge, Ledger
from utmost.ledger.costs import ROW
from utmost.notebook import Figure, draw_figure, report_html
from utmost.publish.builder.values import Neighbours, Number, plain
from utmost.publish.plans import DEFAULT_LEDGER
from utmost.tables import Column, ResultTable

CompositionName = Literal["pure", "approximate", "zcdp", "pld"]
TERMS = ("epsilon", "delta", "composition", "unit", "neighbours", "remember")
SHOWN_DIGITS = 6


@dataclass(frozen=True, slots=True, repr=False)
class NamedBudget:
    """A budget of a ledger, under its name. Its amounts are read from the ledger whenever they are asked for."""

    name: str
    location: str
    is_new_ledger: bool = field(default=False, compare=False)  # the call that returned it made the ledger's file

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        with ledgers.open_ledger(self.location) as ledger:
            yield ledger

    @property
    def terms(self) -> Budget:
        """Its total, whom it protects, and how charges add up."""
        with self._ledger() as ledger:
            return ledger.budget(self.name)

    @property
    def state(self) -> BudgetState:
        """What its charges have spent together, and what is left."""
        with self._ledger() as ledger:
            return ledger.state(self.name)

    @property
    def spent(self) -> Fraction:
        """What was spent of ε, or of ρ where the budget counts that."""
        return self.state.spent

    @property
    def left(self) -> Fraction:
        """What is left of it."""
        return self.state.left

    @property
    def delta_spent(self) -> Fraction:
        """What was spent of δ."""
        return self.state.delta_spent

    @property
    def delta_left(self) -> Fraction:
        """What is left of δ."""
        return self.state.delta_left

    def history(self) -> ResultTable:
        """What was charged to it, a row a charge, the earliest first: `history().to_pandas()`."""
        with self._ledger() as ledger:
            charges = ledger.history(self.name)
        return ResultTable(tuple(_history_columns(charges)))

    def past_states(self, most: int) -> list[tuple[Charge, BudgetState]]:
        """Each charge with the state after it; of many charges `most` evenly spaced ones, the last among them."""
        with self._ledger() as ledger:
            return ledger.past_states(self.name, most)

    def plot(self) -> Figure:
        """A chart of what is spent and left after each charge."""
        return draw_figure(self, "named_budget")

    def close(self) -> Budget:
        """Close it for good: it takes no further charge, and can still be looked at."""
        with self._ledger() as ledger:
            return ledger.close_budget(self.name)

    def __repr__(self) -> str:
        """Its name, and what it has spent and left."""
        terms, state = self.terms, self.state
        spent, left = decimal_above(state.spent, SHOWN_DIGITS), decimal_below(state.left, SHOWN_DIGITS)
        delta = f", δ {decimal_below(state.delta_left, SHOWN_DIGITS)} left" if terms.delta else ""
        closed = ", closed" if terms.closed else ""
        place = f"; new ledger at {self.location}" if self.is_new_ledger and not state.charges else ""
        text = f"<NamedBudget {self.name}: {state.measure} {spent} spent, {left} left{delta}{closed}{place}>"
        return escape_control(text, frozenset())

    def _repr_html_(self) -> str:
        return report_html(self, "named_budget")


def budget(
    name: str,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    composition: CompositionName | None = None,
    unit: str | None = None,
    neighbours: Neighbours = "add-remove",
    remember: bool = True,
    ledger: str | os.PathLike[str] = DEFAULT_LEDGER,
) -> NamedBudget:
    """Open a budget, or return the one of this name that is open with the same terms.

    With the name alone it is the one that is there, whatever its terms; other terms than it has are refused.

    - ``epsilon``, ``delta``: the total of all releases. ``rho`` in place of ε makes a zcdp budget.
    - ``composition``: how charges add up; by default "pure", or "approximate" with a δ.
    - ``unit``: the column that names persons; by default each row is protected.
    - ``neighbours``: "add-remove" or "replace"; plans that are charged to it must have the same.
    - ``remember``: repeat the same release of the same fingerprint for free.
    - ``ledger``: a file, relative to the working folder, which is made with the first budget; or a URL of PostgreSQL.
    """
    location = os.fspath(ledger)
    named = NamedBudget(name, location if "://" in location else str(Path.cwd() / location))
    is_new_ledger = "://" not in location and not Path(named.location).exists()
    rule = composition or ("" if rho is None else "zcdp")
    with ledgers.open_ledger(named.location) as opened_ledger:
        is_there = opened_ledger.has_budget(name)
        if is_there and epsilon is None and delta is None and rho is None and composition is None and unit is None:
            _check_protection(opened_ledger.budget(name), neighbours, remember)
            return named
        total, total_delta = _amounts(name, plain(epsilon), plain(delta), plain(rho), composition)
        terms = Budget(name, total, total_delta, rule, unit or ROW, neighbours, remember)
        if not is_there:
            _open(opened_ledger, terms)
        _check_terms(opened_ledger.budget(name), terms)
    return replace(named, is_new_ledger=is_new_ledger)


def _history_columns(charges: Sequence[Charge]) -> Iterator[Column]:
    """What a ledger keeps of charges; amounts are those of each charge by itself."""
    yield Column.labels("entry", [charge.number for charge in charges])
    yield Column.labels("charged", [datetime.fromisoformat(charge.charged) for charge in charges])
    for name in ("charged_by", "source", "table", "plan", "fingerprint"):
        yield Column.labels(name, [getattr(charge, name) for charge in charges])
    yield Column.labels("queries", [", ".join(cost.query for cost in charge.costs) for charge in charges])
    parts = [charge.part for charge in charges]
    yield Column.labels("part", [None if part is None else f"{part.column} = {part.value}" for part in parts])
    for name in ("epsilon", "delta", "rho"):
        yield Column.upper(name, [getattr(charge, name) for charge in charges])


def _amounts(
    name: str, epsilon: object, delta: object, rho: object, composition: str | None
) -> tuple[Fraction, Fraction]:
    """The ε and δ of a budget; ε from ρ where that is given."""
    from utmost.ledger.compositions.zcdp import epsilon_for_rho

    total_delta = Fraction(0) if delta is None else rational(delta, "delta")
    if rho is None and epsilon is None:
        raise InputError(f"epsilon must be given to open budget '{name}'", "epsilon", "say for instance epsilon=1")
    if rho is None:
        return rational(epsilon, "epsilon"), total_delta
    if epsilon is not None:
        raise InputError("rho must be given in place of epsilon, got both", "rho", "leave one out")
    if composition not in (None, "zcdp"):
        raise InputError(f"rho must be of a zcdp budget, got composition {composition}", "rho", "leave one out")
    return epsilon_for_rho(rational(rho, "rho"), total_delta), total_delta


def _open(ledger: Ledger, terms: Budget) -> None:
    """Open a budget, unless somebody else has just done so."""
    try:
        ledger.open(terms)
    except InputError:
        if not ledger.has_budget(terms.name):
            raise


def _check_protection(known: Budget, neighbours: str, remember: bool) -> None:
    """Refuse what was not left at its default and is not as the budget has it."""
    asked = replace(known, neighbours=neighbours if neighbours != "add-remove" else known.neighbours)
    _check_same(known, replace(asked, remember=known.remember if remember is True else remember))


def _check_terms(known: Budget, terms: Budget) -> None:
    """Refuse a closed budget, and other terms than it has."""
    if known.closed:
        raise InputError(f"budget '{known.name}' was closed at {known.closed}", "name", "open one of another name")
    _check_same(known, terms)


def _check_same(known: Budget, terms: Budget) -> None:
    """Refuse terms that the budget has not."""
    for term in TERMS:
        ours, theirs = getattr(terms, term), getattr(known, term)
        if ours != theirs:
            problem = f"{term} must be {theirs}, as budget '{known.name}' was opened with, got {ours}"
            raise InputError(problem, term, "a budget's terms are fixed: open one of another name")
