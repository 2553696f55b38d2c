"""A preview as JSON and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.exact import decimal
from utmost.publish import plan_writer, plans
from utmost.publish.answer_error import noise_remark
from utmost.publish.execute import PlannedAnswer, Preview
from utmost.publish.mechanism_selection import PrivacySetting
from utmost.publish.release_encoder import error_content, mechanism_content, part_content
from utmost.publish.release_model import ErrorLaw

NONE_DECLARED: Mapping[str, str] = {}


def preview_content(preview: Preview) -> dict[str, Any]:
    """The preview as JSON: what `utmost release --dry-run --json` prints."""
    setting = preview.setting
    amounts = {"spent": preview.spent, "left": preview.left, "after": preview.after}
    balances = {name: None if value is None else str(value) for name, value in amounts.items()}
    return {
        "dry_run": True,
        "engine": preview.engine,
        "unit": str(setting.unit),
        "neighbours": str(setting.neighbours),
        "units": setting.units,
        "part": part_content(setting.part),
        "part_adds_up": preview.part_adds_up,
        "cost": str(preview.cost),
        "free": preview.free,
        "guesses": dict(preview.guesses),
        "ledger": {"budget": preview.plan.budget, **balances},
        "queries": [_planned_content(planned_answer) for planned_answer in preview.planned_answers],
    }


def _planned_content(planned_answer: PlannedAnswer) -> dict[str, Any]:
    extra = planned_answer.spec.extra_loss
    step_entries = {} if extra is None else {"extra_loss": str(extra), "step": grid_step(planned_answer)}
    return {
        "name": planned_answer.spec.name,
        "kind": plans.QUERY_KINDS[type(planned_answer.spec.query)],
        **step_entries,
        "epsilon": str(planned_answer.spec.epsilon),
        "sensitivity": planned_answer.law.sensitivity,
        "mechanism": mechanism_content(planned_answer.law.mechanism),
        "optimal": planned_answer.law.optimal,
        "error": error_content(planned_answer.error),
    }


def grid_step(planned_answer: PlannedAnswer) -> str | None:
    """The step of a query's grid, if it has one."""
    step: str | None = plans.query_content(planned_answer.spec.query).get("step")
    return step


def cost_sentence(preview: Preview) -> str:
    """What the plan costs, and what that leaves of its budget."""
    if preview.left is None or preview.after is None or preview.spent is None:
        return f"ε {format_epsilon(preview.cost)}; budget {preview.plan.budget} is not open yet: see utmost budget open"
    now = (
        f"budget {preview.plan.budget}: ε {format_epsilon(preview.spent)} spent, ε {format_epsilon(preview.left)} left"
    )
    if preview.free:
        return f"nothing: the ledger remembers this release; {now}"
    charge = preview.left - preview.after
    charge_text = "" if charge == preview.cost else f", of which ε {format_epsilon(charge)} is taken from the budget"
    return f"ε {format_epsilon(preview.cost)}{charge_text}; {now}, ε {format_epsilon(preview.after)} after it"


def format_epsilon(value: Fraction) -> str:
    """An amount of ε: exactly where that is short, else as a decimal."""
    return str(value) if len(str(value)) <= 12 else decimal(value, 9)


def error_remarks(
    planned_answers: Sequence[PlannedAnswer],
    setting: PrivacySetting,
    guesses: Mapping[str, str],
    declared: Mapping[str, str] = NONE_DECLARED,
) -> Iterator[str]:
    """What must be known to read the errors; `guesses` are kinds found in the rows, beside those `declared`."""
    kinds = {plans.QUERY_KINDS[type(planned_answer.spec.query)] for planned_answer in planned_answers}
    if any(planned_answer.error.over_rows for planned_answer in planned_answers):
        yield "/r: at most, divided by the number of rows in the mean, which is not public."
    if "quantile" in kinds:
        yield "rows: at most so many lie on the wrong side of the quantile."
    for planned_answer in planned_answers:
        if planned_answer.spec.extra_loss is not None:
            yield grid_step_sentence(planned_answer)
    if guesses:
        kinds_line = plan_writer.column_kinds({**declared, **guesses})
        yield f"Kinds were found in the rows; to release, declare them: {kinds_line}"
    remark = noise_remark(kinds, setting.unit, setting.part)
    if remark is not None:
        yield remark


def part_remarks(part_adds_up: str | None) -> Iterator[str]:
    """Where a part costs as much as the whole table: why."""
    if part_adds_up is not None:
        yield f"The part adds up with other charges to its budget: {part_adds_up}."


def grid_step_sentence(planned_answer: PlannedAnswer) -> str:
    """The step that an accepted extra loss led to."""
    extra = planned_answer.spec.extra_loss
    return (
        f"{planned_answer.spec.name}: step {grid_step(planned_answer)}, the coarsest that adds at most {extra} to any "
        "reader's absolute loss."
    )


def error_suffix(error: ErrorLaw, kind: str) -> str:
    """What stands behind the number of an error: /r where it is divided by the rows, rows where it is of rank."""
    return "/r" if error.over_rows else " rows" if kind == "quantile" else ""
