"""Preview and release from Python, of a plan in any form, with what a program must be told beside the numbers.

A notebook's cell is run again without much thought, so a plan that was charged before is named, and so is a release
that the ledger remembers. Values that do not fit their kind are counted as by the command line's dry run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.data.engines.schema import ColumnKind
from utmost.publish import execute
from utmost.publish.budget_outlook import UnopenedBudgetError
from utmost.publish.builder.plan_builder import PlanBuilder
from utmost.publish.execute import PreparedRelease, Preview, Progress
from utmost.publish.plan_model import Plan
from utmost.publish.release_model import Release
from utmost.publish.unreadable_values import count_unreadable

if TYPE_CHECKING:
    from utmost.data.table import Table

AnyPlan = PlanBuilder | Plan | Mapping[str, Any] | str | Path


def release(plan: AnyPlan, progress: Progress | None = None, *, data: object = None) -> Release:
    """Answer a plan under its budget, and write the release to the plan's output, if it has one.

    `plan` is what `table.plan` started, a mapping, or the path of a plan's file. `data` is a data frame for a plan that
    names no location.
    """
    with _prepare_release(plan, data) as prepared_release:
        charged_before = _charged_before(prepared_release)
        new_release = prepared_release.spend(progress) if progress else prepared_release.spend()
        if prepared_release.preview.free:
            return replace(new_release, remark=f"repeated from entry {new_release.entry.number}, nothing charged")
        return replace(new_release, remark=charged_before)


def preview(plan: AnyPlan, *, data: object = None) -> Preview:
    """What `release` would spend and how far off it would be; raises what it would raise before the charge.

    `data` is that of `release`. What it says of values that do not fit their kind is for the curator alone.
    """
    with execute.prepare_release(_plain_plan(plan), dry_run=True, data=data) as prepared_release:
        if prepared_release.preview.refusal is not None:
            raise prepared_release.preview.refusal
        return replace(
            prepared_release.preview,
            open_command=prepared_release.preview.open_call,
            charged_before=_charged_before(prepared_release),
            default_steps=_default_steps(plan, prepared_release.table),
            unreadable=count_unreadable(prepared_release.preview.plan, prepared_release.table),
        )


@contextmanager
def _prepare_release(plan: AnyPlan, data: object) -> Iterator[PreparedRelease]:
    """As `execute.prepare_release`; a budget that is not open is refused with the call that opens it."""
    try:
        with execute.prepare_release(_plain_plan(plan), data=data) as prepared_release:
            yield prepared_release
    except UnopenedBudgetError as problem:
        raise problem.in_python() from None


def _plain_plan(plan: AnyPlan) -> execute.PlanSource:
    return plan.to_plan() if isinstance(plan, PlanBuilder) else plan


def _charged_before(prepared_release: PreparedRelease) -> str | None:
    """Which entry charged the same plan, where the ledger does not repeat its release for free."""
    cost, budget_ledger = prepared_release.release_cost, prepared_release.budget_ledger
    if prepared_release.preview.free or not budget_ledger.has_budget(cost.budget):
        return None
    entry = budget_ledger.find_charge(cost)
    if entry is None:
        return None
    is_repeatable = cost.fingerprint is None and budget_ledger.budget(cost.budget).remember
    advice = "; with a fingerprint it would be repeated for free" if is_repeatable else ""
    return f"the same plan was charged before (entry {entry}){advice}"


def _default_steps(plan: AnyPlan, table: Table) -> tuple[str, ...]:
    """The queries whose values are rounded to a step that nobody gave: not those of a column of whole numbers."""
    if not isinstance(plan, PlanBuilder):
        return ()
    columns = {name: plan.queries[name].content()["column"] for name in plan.default_steps}
    return tuple(name for name, column in columns.items() if table.kinds[column] is not ColumnKind.INTEGER)
