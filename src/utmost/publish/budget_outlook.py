"""What a plan's budget has left before and after it, or how to open a budget that is not there."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.errors import BudgetError, InputError, LedgerError
from utmost.publish.plans import DEFAULT_LEDGER
from utmost.registry import similar_name

if TYPE_CHECKING:
    from utmost.ledger import BudgetState, Ledger
    from utmost.publish.plan_check import PlanCheck


class UnopenedBudgetError(InputError):
    """A budget that is not open; `similar` has a name like its own, and `open_call` opens it in Python."""

    def __init__(self, message: str, hint: str, similar: str | None, open_call: str) -> None:
        super().__init__(message, "budget", hint)
        self.similar, self.open_call = similar, open_call

    def in_python(self) -> InputError:
        """The same with what a program does about it."""
        hint = "open it" if self.similar is None else f"did you mean '{self.similar}'? Else open it"
        return InputError(self.message, "budget", f"{hint}: {self.open_call}")


def part_adds_up(plan_check: PlanCheck, budget_ledger: Ledger) -> str | None:
    """Why the part of a plan adds up with other charges to its budget."""
    plan, reason = plan_check.plan, plan_check.part_adds_up
    if plan.part is None or reason is not None or not budget_ledger.has_budget(plan.budget):
        return reason
    return budget_ledger.part_adds_up(plan_check.release_cost)


def budget_outlook(budget_ledger: Ledger, plan_check: PlanCheck, dry_run: bool) -> dict[str, Any]:
    """What a preview says of a budget. One that is not open or is short is refused where something is to be spent."""
    release_cost = plan_check.release_cost
    if not budget_ledger.has_budget(release_cost.budget):
        return _unopened_outlook(budget_ledger, plan_check, dry_run)
    if budget_ledger.find_release(release_cost) is not None:
        now = budget_ledger.state(release_cost.budget)
        return {**_state_amounts(now, now), "free": True}
    try:
        now, after = budget_ledger.states_around(release_cost)
    except BudgetError as refusal:
        if not dry_run:
            raise
        now = budget_ledger.state(release_cost.budget)
        return {**_state_amounts(now, None), "free": False, "refusal": refusal}
    return {**_state_amounts(now, after), "free": False}


def _state_amounts(now: BudgetState, after: BudgetState | None) -> dict[str, Any]:
    """What a budget has spent and left now, and what is left after a release; None where it cannot be made."""
    left_after = (None, None) if after is None else (after.left, after.delta_left)
    amounts = (now.spent, now.left, now.delta_left, *left_after)
    names = ("spent", "left", "delta_left", "after", "delta_after")
    return {**dict(zip(names, amounts, strict=True)), "measure": now.measure}


def _unopened_outlook(budget_ledger: Ledger, plan_check: PlanCheck, dry_run: bool) -> dict[str, Any]:
    """A budget that is not open, and the command that opens it; or one with a similar name."""
    command, call, name = _open_command(plan_check), _open_call(plan_check), plan_check.plan.budget
    if not dry_run:
        similar = similar_name(name, budget_names(budget_ledger))
        hint = f"see utmost budget list, or open it: {command}" if similar is None else f"did you mean '{similar}'?"
        raise UnopenedBudgetError(f"no budget '{name}' in this ledger", hint, similar, call)
    return {"spent": None, "left": None, "after": None, "free": False, "open_command": command, "open_call": call}


def _open_call(plan_check: PlanCheck) -> str:
    """The same in Python."""
    plan = plan_check.plan
    is_default = plan.ledger == DEFAULT_LEDGER and plan.folder.resolve() == Path.cwd()
    ledger = plan.ledger if "://" in plan.ledger else os.path.relpath(plan.folder / plan.ledger)
    return plan_check.release_cost.open_call(None if is_default else "URL" if "://" in plan.ledger else ledger)


def budget_names(budget_ledger: Ledger) -> list[str]:
    """The budgets of a ledger; none where it is not there yet."""
    try:
        return [budget.name for budget in budget_ledger.budgets()]
    except (InputError, LedgerError):
        return []


def _open_command(plan_check: PlanCheck) -> str:
    """The command that opens the plan's budget in its ledger; a URL, with its password, or a full path is not said."""
    plan, command = plan_check.plan, plan_check.release_cost.open_command()
    is_private = "://" in plan.ledger or Path(plan.ledger).is_absolute()
    ledger_path = "LEDGER" if is_private else os.path.relpath(plan.folder / plan.ledger)
    return command if ledger_path == DEFAULT_LEDGER else f"{command} --ledger {shlex.quote(ledger_path)}"
