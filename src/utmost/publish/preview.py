"""What a preview says: as JSON, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.data.queries import PrivacyUnit
from utmost.exact import decimal
from utmost.publish import plan_writer, plans
from utmost.publish.execute import PlannedAnswer, Preview
from utmost.publish.mechanism_selection import PrivacySetting
from utmost.publish.release_encoder import error_content, mechanism_content, part_content
from utmost.publish.release_model import ErrorLaw


def preview_content(seen: Preview) -> dict[str, Any]:
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


def _intended(one: PlannedAnswer) -> dict[str, Any]:
    extra = one.asked.extra_loss
    found = {} if extra is None else {"extra_loss": str(extra), "step": grid_step(one)}
    return {
        "name": one.asked.name,
        "kind": plans.QUERY_KINDS[type(one.asked.query)],
        **found,
        "epsilon": str(one.asked.epsilon),
        "sensitivity": one.law.sensitivity,
        "mechanism": mechanism_content(one.law.mechanism),
        "optimal": one.law.optimal,
        "error": error_content(one.error),
    }


def grid_step(one: PlannedAnswer) -> str | None:
    """The step of a query's grid, if it has one."""
    found: str | None = plans.query_content(one.asked.query).get("step")
    return found


def cost_sentence(seen: Preview) -> str:
    """What the plan costs, and what that leaves of its budget."""
    if seen.left is None or seen.after is None or seen.spent is None:
        return f"ε {format_epsilon(seen.cost)}; budget {seen.plan.budget} is not open yet: see utmost budget open"
    now = f"budget {seen.plan.budget}: ε {format_epsilon(seen.spent)} spent, ε {format_epsilon(seen.left)} left"
    if seen.free:
        return f"nothing: the ledger remembers this release; {now}"
    takes = seen.left - seen.after
    less = "" if takes == seen.cost else f", of which ε {format_epsilon(takes)} is taken from the budget"
    return f"ε {format_epsilon(seen.cost)}{less}; {now}, ε {format_epsilon(seen.after)} after it"


def format_epsilon(value: Fraction) -> str:
    """An amount of ε: exactly where that is short, else as a decimal."""
    return str(value) if len(str(value)) <= 12 else decimal(value, 9)


def error_remarks(
    intended: Sequence[PlannedAnswer], setting: PrivacySetting, guesses: Mapping[str, str]
) -> Iterator[str]:
    """What must be known to read the errors."""
    kinds = {plans.QUERY_KINDS[type(one.asked.query)] for one in intended}
    if any(one.error.over_rows for one in intended):
        yield "/r: at most, divided by the number of rows in the mean, which is not public."
    if "quantile" in kinds:
        yield "rows: at most so many lie on the wrong side of the quantile."
    for one in intended:
        if one.asked.extra_loss is not None:
            yield has_grid_step(one)
    if guesses:
        yield f"Kinds were found in the rows; to release, declare them: {plan_writer.column_kinds(guesses)}"
    about = [] if setting.unit.column is None else [f"at most {_kept(setting.unit)} of each person"]
    about += ["values within their bounds"] if kinds & {"sum", "mean", "quantile"} else []
    if about:
        yield f"Errors are of the noise alone, around what is asked of {' and '.join(about)}."


def has_grid_step(one: PlannedAnswer) -> str:
    """The step that an accepted extra loss led to."""
    extra = one.asked.extra_loss
    return (
        f"{one.asked.name}: step {grid_step(one)}, the coarsest that adds at most {extra} to any "
        "reader's absolute loss."
    )


def _kept(unit: PrivacyUnit) -> str:
    return f"{unit.rows} rows" if unit.rows else f"{unit.groups} groups"


def error_suffix(error: ErrorLaw, kind: str) -> str:
    """What stands behind the number of an error: /r where it is divided by the rows, rows where it is of rank."""
    return "/r" if error.over_rows else " rows" if kind == "quantile" else ""
