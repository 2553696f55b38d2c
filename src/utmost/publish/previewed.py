"""What a preview says: as JSON, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.data.asked import Unit
from utmost.exact import decimal
from utmost.publish import plans, written
from utmost.publish.encode import error_content, mechanism_content, part_content
from utmost.publish.laws import Setting
from utmost.publish.record import Error
from utmost.publish.run import Intended, Preview


def content(seen: Preview) -> dict[str, Any]:
    """The preview as JSON: what `utmost release --dry-run --json` prints."""
    setting = seen.setting
    amounts = {"spent": seen.spent, "left": seen.left, "after": seen.after}
    books = {name: None if value is None else str(value) for name, value in amounts.items()}
    return {
        "dry_run": True,
        "engine": seen.engine,
        "unit": str(setting.unit),
        "neighbours": str(setting.neighbours),
        "units": setting.units,
        "part": part_content(setting.part),
        "cost": str(seen.cost),
        "free": seen.free,
        "guesses": dict(seen.guesses),
        "ledger": {"budget": seen.plan.budget, **books},
        "queries": [_intended(one) for one in seen.intended],
    }


def _intended(one: Intended) -> dict[str, Any]:
    extra = one.asked.extra_loss
    found = {} if extra is None else {"extra_loss": str(extra), "step": step(one)}
    return {
        "name": one.asked.name,
        "kind": plans.KIND_OF[type(one.asked.query)],
        **found,
        "epsilon": str(one.asked.epsilon),
        "sensitivity": one.law.sensitivity,
        "mechanism": mechanism_content(one.law.mechanism),
        "optimal": one.law.optimal,
        "error": error_content(one.error),
    }


def step(one: Intended) -> str | None:
    """The step of a query's grid, if it has one."""
    found: str | None = plans.described(one.asked.query).get("step")
    return found


def cost(seen: Preview) -> str:
    """What the plan costs, and what that leaves of its budget."""
    if seen.left is None or seen.after is None or seen.spent is None:
        return f"ε {amount(seen.cost)}; budget {seen.plan.budget} is not open yet: see utmost budget open"
    now = f"budget {seen.plan.budget}: ε {amount(seen.spent)} spent, ε {amount(seen.left)} left"
    if seen.free:
        return f"nothing: the ledger remembers this release; {now}"
    takes = seen.left - seen.after
    less = "" if takes == seen.cost else f", of which ε {amount(takes)} is taken from the budget"
    return f"ε {amount(seen.cost)}{less}; {now}, ε {amount(seen.after)} after it"


def amount(value: Fraction) -> str:
    """An amount of ε: exactly where that is short, else as a decimal."""
    return str(value) if len(str(value)) <= 12 else decimal(value, 9)


def remarks(intended: Sequence[Intended], setting: Setting, guesses: Mapping[str, str]) -> Iterator[str]:
    """What must be known to read the errors."""
    kinds = {plans.KIND_OF[type(one.asked.query)] for one in intended}
    if any(one.error.over_rows for one in intended):
        yield "/r: at most, divided by the number of rows in the mean, which is not public."
    if "quantile" in kinds:
        yield "rows: at most so many lie on the wrong side of the quantile."
    for one in intended:
        if one.asked.extra_loss is not None:
            yield stepped(one)
    if guesses:
        yield f"Kinds were found in the rows; to release, declare them: {written.columns(guesses)}"
    about = [] if setting.unit.column is None else [f"at most {_kept(setting.unit)} of each person"]
    about += ["values within their bounds"] if kinds & {"sum", "mean", "quantile"} else []
    if about:
        yield f"Errors are of the noise alone, around what is asked of {' and '.join(about)}."


def stepped(one: Intended) -> str:
    """The step that an accepted extra loss led to."""
    extra = one.asked.extra_loss
    return f"{one.asked.name}: step {step(one)}, the coarsest that adds at most {extra} to any reader's absolute loss."


def _kept(unit: Unit) -> str:
    return f"{unit.rows} rows" if unit.rows else f"{unit.groups} groups"


def behind(error: Error, kind: str) -> str:
    """What stands behind the number of an error: /r where it is divided by the rows, rows where it is of rank."""
    return "/r" if error.over_rows else " rows" if kind == "quantile" else ""
