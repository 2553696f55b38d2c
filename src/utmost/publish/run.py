"""From a plan to a release: look, ask the ledger, answer exactly, charge, draw, write down; in this order.

Everything that can fail by the plan's fault fails before the charge; noise is drawn after it. The ledger keeps the
release before the file is written, so a crash can lose budget but leaves no noise unpaid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__, ledger
from utmost.data import sources
from utmost.data.asked import Mean, Query, Sum
from utmost.errors import InputError, UndecidedError
from utmost.publish import accuracy, answering, document, laws, plans, written
from utmost.publish.answering import Exact
from utmost.publish.plans import Asked, Plan
from utmost.publish.record import Answer, Entry, Error, Origin, Release

if TYPE_CHECKING:
    from utmost.data.table import Table
    from utmost.ledger import Ask, Ledger

Progress = Callable[[str, int, int], None]  # what is done, how many queries are through, of how many
Given = Plan | Mapping[str, Any] | str | Path


@dataclass(frozen=True, slots=True)
class Intended:
    """A query with the law it will be answered by and how far off the answer will be."""

    asked: Asked
    law: laws.Law
    error: Error


@dataclass(frozen=True, slots=True)
class Looked:
    """A plan that a table can answer: what its sensitivities rest on, and how each query will be answered.

    Every sum and mean of the plan has its step, also where the plan says what extra loss is accepted instead.
    """

    plan: Plan
    setting: laws.Setting
    intended: tuple[Intended, ...]

    @property
    def ask(self) -> Ask:
        """What the ledger is asked for."""
        costs = tuple(
            ledger.Cost(one.asked.name, one.asked.epsilon, one.law.telling, one.law.sensitivity)
            for one in self.intended
        )
        plan, part = self.plan, self.plan.part
        where = None if part is None else (part.column, plans.spelt(part.equals))
        unit, digest = plan.unit.column or "row", plans.digest(plan)
        return ledger.Ask(plan.budget, unit, str(plan.neighbours), costs, where, digest, plan.fingerprint)


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a plan will cost and how good its answers will be: nothing is spent, no answer is computed.

    `spent` and `left` are the budget's before the release, `after` is what will be left; None where the budget is not
    open yet. `free` tells that the ledger remembers this very release. `cost` is what the plan tells by itself; what it
    takes from the budget, left − after, can be less where parts or privacy-loss distributions compose. `guesses` are
    columns of a CSV file whose kinds must be declared before anything is released.
    """

    plan: Plan
    engine: str
    setting: laws.Setting
    intended: tuple[Intended, ...]
    cost: Fraction
    spent: Fraction | None
    left: Fraction | None
    after: Fraction | None
    free: bool
    guesses: Mapping[str, str]

    def __repr__(self) -> str:
        """What it costs, and how far off each answer will be."""
        lines = [f"{one.asked.name}: {one.error.words}" for one in self.intended]
        return "\n".join([f"<Preview of ε {self.cost}, ε {self.left} left>", *lines])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that can run: source and ledger open, everything checked, nothing spent yet."""

    preview: Preview
    table: Table
    books: Ledger
    ask: Ask

    def spend(self, progress: Progress = lambda words, done, total: None) -> Release:
        """Charge, draw, remember and write the release; what was remembered is given again for free."""
        output = self.preview.plan.output
        with nullcontext() if output is None else document.Place(output) as place:
            kept = self.books.remembered(self.ask)
            made = self._paid(progress) if kept is None else document.of_content(kept)
            if place is not None:
                place.fill(document.text(made))
        return made

    def _paid(self, progress: Progress) -> Release:
        intended, setting = self.preview.intended, self.preview.setting
        truths: list[Exact] = []
        for k, one in enumerate(intended):
            progress(f"counting {one.asked.name}", k, len(intended))
            truths.append(answering.exact(one.asked.query, self.table, setting))
        entry = self.books.charge(self.ask)
        answers = []
        for k, (one, truth) in enumerate(zip(intended, truths, strict=True)):
            progress(f"drawing {one.asked.name}", k, len(intended))
            answers.append(_answer(one, truth, setting))
        progress("done", len(intended), len(intended))
        made = self._release(tuple(answers), Entry(self.ask.budget, entry.id, entry.spent, entry.left))
        self.books.keep(entry.id, document.text(made))
        return made

    def _release(self, answers: tuple[Answer, ...], entry: Entry) -> Release:
        plan, setting = self.preview.plan, self.preview.setting
        total = sum((answer.epsilon for answer in answers), Fraction(0))
        return Release(
            title=plan.title,
            library=f"utmost {__version__}",
            source=Origin(self.table.engine, plan.source.name, plan.fingerprint),
            unit=setting.unit,
            neighbours=setting.neighbours,
            units=setting.units,
            part=setting.part,
            epsilon=total,
            guarantee=laws.promise(total, setting),
            entry=entry,
            answers=answers,
        )


def release(plan: Given, progress: Progress | None = None) -> Release:
    """Answer a plan under its budget, and write the release to the plan's output, if it has one."""
    with prepared(plan) as ready:
        return ready.spend(progress) if progress else ready.spend()


def preview(plan: Given) -> Preview:
    """What `release` would spend and how far off it would be; raises what it would raise before the charge."""
    with prepared(plan, only_look=True) as ready:
        return ready.preview


@contextmanager
def prepared(given: Given, only_look: bool = False) -> Iterator[Prepared]:
    """A plan with its source and its ledger open and everything checked that can be without spending.

    Who only wants to look needs no open budget.
    """
    plan = plans.planned(given)
    if plan.output is not None:
        with document.Place(plan.output):
            pass  # it can be written
    with sources.opened(plan.source, plan.folder) as table:
        found = looked(plan, table)
        plan, ask = found.plan, found.ask
        with ledger.opened(plan.ledger, plan.folder) as books:
            guesses = _guesses(plan, table, only_look)
            state = _state(books, ask, only_look)
            seen = Preview(plan, table.engine, found.setting, found.intended, plan.epsilon, *state, guesses)
            yield Prepared(seen, table, books, ask)


def looked(plan: Plan, table: Table) -> Looked:
    """How a table would answer a plan: its columns are checked, its units counted where they are public; no ledger."""
    setting = _setting(plan, table)
    settled = tuple(intended(asked, setting) for asked in plan.queries)
    for one in settled:
        if one.asked.extra_loss is not None:
            with plans.naming(one.asked.name):
                table.check(one.asked.query, plan.unit, plan.part)
    return Looked(replace(plan, queries=tuple(one.asked for one in settled)), setting, settled)


def intended(asked: Asked, setting: laws.Setting) -> Intended:
    """How a query will be answered, its step found where an extra loss is accepted; from public things alone."""
    query: Query = asked.query
    with plans.naming(asked.name):
        if asked.extra_loss is not None and isinstance(query, Sum | Mean):
            query = laws.refined(query, asked.epsilon, asked.extra_loss, setting)
        law = laws.law(query, asked.epsilon, setting)
        return Intended(replace(asked, query=query), law, accuracy.error(law.mechanism, query))


Amount = Fraction | None


def _state(books: Ledger, ask: Ask, only_look: bool) -> tuple[Amount, Amount, Amount, bool]:
    """What a budget has spent and left, and what it will have left; and whether it remembers the release."""
    if only_look and not books.has(ask.budget):
        return None, None, None, False
    if books.remembered(ask) is not None:
        now = books.state(ask.budget)
        return now.spent, now.left, now.left, True
    now, after = books.outlook(ask)
    return now.spent, now.left, after.left, False


def _setting(plan: Plan, table: Table) -> laws.Setting:
    for asked in plan.queries:
        with plans.naming(asked.name):
            table.check(asked.query, plan.unit, plan.part)
    units = table.units(plan.unit) if plan.neighbours == "replace" else None
    if units == 0:
        raise InputError(
            "source must have rows under replace, where their number is public, got none: is it the right table?"
        )
    return laws.Setting(plan.neighbours, plan.unit, plan.part, units)


def _guesses(plan: Plan, table: Table, only_look: bool) -> dict[str, str]:
    """The kinds that were found in the rows: refused where something is to be released.

    One row could make all others mean something else, and no sensitivity would hold.
    """
    found: dict[str, str] = {}
    for asked in plan.queries:
        found |= {name: str(kind) for name, kind in table.guesses(asked.query, plan.unit, plan.part).items()}
    if found and not only_look:
        raise InputError(
            "columns must be declared for a CSV file, or one row could decide what all others mean: "
            f"add {written.columns(found)} to [source]"
        )
    return found


def _answer(one: Intended, truth: Exact, setting: laws.Setting) -> Answer:
    """The noisy answer, with the ε that the mechanism which ran is found to have."""
    asked, mechanism = one.asked, one.law.mechanism
    told = laws.told(mechanism, asked.query, setting, answering.step_epsilon)
    if told > asked.epsilon:
        raise UndecidedError(f"query {asked.name} must not tell more than was paid for, and would: a bug in utmost")
    return Answer(
        name=asked.name,
        kind=plans.KIND_OF[type(asked.query)],
        where=asked.query.where,
        epsilon=told,
        sensitivity=one.law.sensitivity,
        mechanism=mechanism,
        optimal=one.law.optimal,
        error=one.error,
        asked=plans.described(asked.query),
        **answering.drawn(asked.query, truth, one.law),
    )
