"""From a plan to a release: look, ask the ledger, answer exactly, charge, draw, write down; in this order.

Everything that can fail by the plan's fault fails before the charge; noise is drawn after it. The ledger keeps the
release before the file is written, so a crash can lose budget but leaves no noise unpaid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__, ledger
from utmost.data import sources
from utmost.errors import InputError, UndecidedError
from utmost.publish import accuracy, answering, document, laws, plans
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
class Preview:
    """What a plan will cost and how good its answers will be: nothing is spent, no answer is computed.

    `spent` and `left` are the budget's before the release. `free` tells that the ledger remembers this very release.
    """

    plan: Plan
    engine: str
    setting: laws.Setting
    intended: tuple[Intended, ...]
    cost: Fraction
    spent: Fraction
    left: Fraction
    free: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that can run: source and ledger open, everything checked, nothing spent yet."""

    preview: Preview
    table: Table
    books: Ledger
    ask: Ask

    def spend(self, progress: Progress = lambda words, done, total: None) -> Release:
        """Charge, draw, remember and write the release; what was remembered is given again for free."""
        kept = self.books.remembered(self.ask)
        made = self._paid(progress) if kept is None else document.of_content(kept)
        if self.preview.plan.output is not None:
            document.write(made, self.preview.plan.output)
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
    with prepared(plan) as ready:
        return ready.preview


@contextmanager
def prepared(given: Given) -> Iterator[Prepared]:
    """A plan with its source and its ledger open and everything checked that can be without spending."""
    plan = plans.planned(given)
    _writable(plan.output)
    with sources.opened(plan.source, plan.folder) as table:
        setting = _setting(plan, table)
        intended = tuple(_intended(asked, setting, table) for asked in plan.queries)
        with ledger.opened(plan.ledger, plan.folder) as books:
            ask = _ask(plan, intended)
            free = books.remembered(ask) is not None
            if not free:
                books.afford(ask)
            state = books.state(plan.budget)
            seen = Preview(plan, table.engine, setting, intended, plan.epsilon, state.spent, state.left, free)
            yield Prepared(seen, table, books, ask)


def _writable(path: Path | None) -> None:
    """Refuse an output that cannot be written, before anything is spent."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise InputError(f"output must be a file in a folder that exists, got {path.name}: make the folder first")


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


def _intended(asked: Asked, setting: laws.Setting, table: Table) -> Intended:
    with plans.naming(asked.name):
        law = laws.law(asked.query, asked.epsilon, setting)
        return Intended(asked, law, accuracy.error(law.mechanism, asked.query))


def _ask(plan: Plan, intended: tuple[Intended, ...]) -> Ask:
    costs = tuple(
        ledger.Cost(one.asked.name, one.asked.epsilon, one.law.telling, one.law.sensitivity) for one in intended
    )
    part = None if plan.part is None else (plan.part.column, plans.spelt(plan.part.equals))
    unit = plan.unit.column or "row"
    return ledger.Ask(plan.budget, unit, str(plan.neighbours), costs, part, plans.digest(plan), plan.fingerprint)


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
