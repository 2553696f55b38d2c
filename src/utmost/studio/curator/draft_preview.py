"""Preview a draft: its cost, the errors of its answers and their chart over ε, from public information."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from pydantic import BaseModel, Field

from utmost.charts.export import VALUE_FORMAT
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.ledger import open_ledger
from utmost.publish import execute, plan_writer
from utmost.publish.execute import PlanCheck, PlannedAnswer
from utmost.publish.plans import Plan, QuerySpec
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import Query
from utmost.reports.numbers import Rounding, amount
from utmost.reports.preview import (
    BudgetOutlook,
    cost_paragraph,
    grid_step,
    part_remarks,
    plan_remarks,
    shown_error,
    units_paragraph,
)
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.curator import plan_builder, tables
from utmost.studio.curator.forms import PlanDraft
from utmost.studio.curator.plan_builder import PLAN_FIELDS, problem_from_plan_error
from utmost.studio.forms import Problem, one_line
from utmost.studio.rendering import FormattedNumber
from utmost.studio.settings import Settings

EPSILONS = (*(Fraction(digit, 1000) * 10**power for power in range(4) for digit in (1, 2, 5)), Fraction(10))
CHART_HEIGHT = 120
LINE_NAMES = ("on average", "± 95 %")
Curve = tuple[tuple[float, float, float], ...]  # ε, expected error, half of the 95 % interval


def error_chart(query_spec: QuerySpec, answer: PlannedAnswer, setting: PrivacySetting) -> Chart:
    """The error over ε, and where this query is; `query_spec` has no step yet where one is found for an extra loss."""
    error, point = shown_error(answer.error), _point(answer)
    lines = [
        {"epsilon": epsilon, "error": error, "line": name}
        for epsilon, *errors in sorted({*curve(query_spec, setting), point})
        for name, error in zip(LINE_NAMES, errors, strict=True)
        if error > 0  # the axis is logarithmic
    ]
    epsilon = amount(answer.spec.epsilon, Rounding.UP).typeset
    caption = (
        f"At ε = {epsilon} the noise is {error.expected.typeset} on average (line), and "
        f"within ±{error.half_width.typeset} in 95 % of cases (dashes), around {answer.error.target}. "
        f"{answer.error.note}"
    ).rstrip()
    return charts.make_chart(
        _error_chart_spec(), caption, curve=lines, point=[{"epsilon": point[0], "error": point[1]}]
    )


def curve(query_spec: QuerySpec, setting: PrivacySetting) -> Curve:
    """The errors at the ε of the axis; those at which there is no such law are left out."""
    return _cached_curve(query_spec.query.same_error(), setting)


@lru_cache(maxsize=512)
def _cached_curve(query: Query, setting: PrivacySetting) -> Curve:
    points = []
    for epsilon in EPSILONS:
        try:
            points.append(_point(execute.plan_answer(QuerySpec("", epsilon, query), setting)))
        except InputError:
            continue
    return tuple(points)


def _point(answer: PlannedAnswer) -> tuple[float, float, float]:
    return float(answer.spec.epsilon), float(answer.error.expected), float(answer.error.half_width)


@cache
def _error_chart_spec() -> VegaSpec:
    import altair as alt

    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False), axis=_log_axis())
    y = alt.Y("error:Q", title="error", scale=alt.Scale(type="log", nice=False), axis=_log_axis())
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=LINE_NAMES, range=[[1, 0], [4, 3]]), legend=None)
    lines = alt.Chart(alt.NamedData("curve")).mark_line(aria=False, color="var(--series-1)", strokeWidth=2)
    point = alt.Chart(alt.NamedData("point")).mark_point(
        aria=False, color="var(--series-2)", filled=True, size=110, opacity=1, stroke="var(--ground)", strokeWidth=1.5
    )
    rule = alt.Chart(alt.NamedData("point")).mark_rule(aria=False, color="var(--series-2)", strokeDash=[2, 3])
    layers = [lines.encode(x=x, y=y, strokeDash=dash), rule.encode(x=x), point.encode(x=x, y=y)]
    return charts.chart_spec(alt.layer(*layers).properties(height=CHART_HEIGHT))


def _log_axis() -> Any:
    import altair as alt

    return alt.Axis(grid=True, gridColor="var(--grid)", domain=False, ticks=False, tickCount=4, format=VALUE_FORMAT)


class QueryPreview(BaseModel):
    """How one query will be answered."""

    name: str
    kind: str
    epsilon: FormattedNumber
    sensitivity: int = Field(description="How far one unit can move the answer, in steps of its lattice")
    expected: FormattedNumber = Field(description="Expected absolute error of the noise alone")
    half_width: FormattedNumber = Field(description="The noise is within ± this in 95 % of cases")
    behind: str = Field(description="/ rows: to be divided by the number of rows; rows: of rank")
    optimal: str = Field(description="In which sense no mechanism is better")
    step: str | None
    picture: Chart


class PlanPreview(BaseModel):
    """The preview of a draft: its plan, its cost, its budget, the error of each query, and all that is wrong."""

    plan: str | None = Field(description="The plan as TOML, once nothing is wrong with it")
    problems: list[Problem]
    protects: str = Field(default="", description="Whom it protects, in words")
    units: int | None = Field(default=None, description="How many units there are, where that is public")
    budget: str
    cost: FormattedNumber | None = Field(default=None, description="ε of the plan by itself")
    takes: FormattedNumber | None = Field(default=None, description="What it would take from the budget")
    price: FormattedNumber | None = Field(default=None, description="The same, or the cost where no budget says")
    limit: FormattedNumber | None = Field(default=None, description="The budget's ε")
    spent: FormattedNumber | None = None
    left: FormattedNumber | None = Field(default=None, description="What the budget has left now")
    after: FormattedNumber | None = Field(default=None, description="and after this release")
    free: bool = Field(default=False, description="The ledger remembers this very release")
    short: bool = Field(default=False, description="The budget does not have that much")
    words: str = Field(description="The cost in words")
    counting: bool = Field(default=False, description="The units are being counted: ask again in a moment")
    remarks: list[str] = []
    queries: list[QueryPreview | None]


@dataclass(frozen=True, slots=True)
class _LedgerOutlook:
    """The state of a plan's budget, before and after the release."""

    limit: Fraction | None = None
    spent: Fraction | None = None
    left: Fraction | None = None
    after: Fraction | None = None
    free: bool = False
    short: bool = False

    @property
    def takes(self) -> Fraction | None:
        """What a release would take from the budget."""
        return None if self.left is None or self.after is None else self.left - self.after


def preview_draft(draft: PlanDraft, settings: Settings) -> PlanPreview:
    """Preview a draft. No row is read, but the units are counted once where their number is public."""
    try:
        table = tables.table_schema(settings, plan_builder.draft_source(draft))
    except InputError as error:
        return _blank_preview(draft, [problem_from_plan_error(error, PLAN_FIELDS, "location")])
    built_plan = plan_builder.build_plan(draft, table, settings)
    problems = list(built_plan.problems)
    checks = [_check_query_plan(k, plan, table, problems) for k, plan in enumerate(built_plan.query_plans)]
    valid_checks = [check for check in checks if check is not None]
    queries = [_query_preview(plan, check) for plan, check in zip(built_plan.query_plans, checks, strict=True)]
    counting = any(problem.message == tables.COUNTING_MESSAGE for problem in problems)
    plan_preview = _blank_preview(draft, problems).model_copy(update={"queries": queries, "counting": counting})
    if valid_checks:
        setting = valid_checks[0].setting
        plan_preview = plan_preview.model_copy(
            update={"protects": _protection_sentence(setting), "units": setting.units}
        )
    plan_check = (
        _combine_checks(built_plan.plan, valid_checks)
        if built_plan.plan is not None and len(valid_checks) == len(checks)
        else None
    )
    return _add_costs(plan_preview, built_plan.plan, plan_check, settings)


def _combine_checks(plan: Plan, checks: list[PlanCheck]) -> PlanCheck:
    """The checks of single queries as one check of the plan."""
    planned_answers = tuple(check.planned_answers[0] for check in checks)
    whole_plan = replace(plan, queries=tuple(check.spec for check in planned_answers))
    return replace(checks[0], plan=whole_plan, planned_answers=planned_answers)


def _blank_preview(draft: PlanDraft, problems: list[Problem]) -> PlanPreview:
    """The preview before anything is known."""
    return PlanPreview(
        plan=None,
        problems=problems,
        budget=draft.budget.strip(),
        words="What it costs is known when every field is right.",
        queries=[None] * len(draft.queries),
    )


def _check_query_plan(k: int, plan: Plan | None, table: Table, problems: list[Problem]) -> PlanCheck | None:
    if plan is None:
        return None
    try:
        return execute.check_plan(plan, table)
    except InputError as error:
        form_fields = PLAN_FIELDS | plan_builder.query_form_fields(k)
        problem = problem_from_plan_error(error, form_fields, f"queries.{k}.name")
        problems += [] if problem in problems else [problem]
        return None


def _query_preview(plan: Plan | None, check: PlanCheck | None) -> QueryPreview | None:
    """The one query of a plan, and how it will be answered."""
    if plan is None or check is None:
        return None
    answer = check.planned_answers[0]
    error = shown_error(answer.error)
    return QueryPreview(
        name=answer.spec.name,
        kind=answer.spec.query.kind,
        epsilon=FormattedNumber.of(amount(answer.spec.epsilon, Rounding.UP)),
        sensitivity=answer.law.sensitivity,
        expected=FormattedNumber.of(replace(error.expected, suffix="")),
        half_width=FormattedNumber.of(replace(error.half_width, suffix="")),
        behind=answer.error.suffix,
        optimal=answer.law.optimal,
        step=grid_step(answer),
        picture=error_chart(plan.queries[0], answer, check.setting),
    )


def _add_costs(
    plan_preview: PlanPreview, plan: Plan | None, plan_check: PlanCheck | None, settings: Settings
) -> PlanPreview:
    """The same with what its budget has left; and with the cost, if the plan is complete."""
    problems = list(plan_preview.problems)
    outlook = (
        _ledger_outlook(plan_preview.budget, plan_check, settings, problems)
        if plan_preview.budget
        else _LedgerOutlook()
    )
    formatted = _format_amounts(None if plan_check is None else plan_check.plan.epsilon, outlook)
    plan_preview = plan_preview.model_copy(
        update={**formatted, "problems": problems, "free": outlook.free, "short": outlook.short}
    )
    if plan is None or plan_check is None:
        return plan_preview
    remarks = [
        *plan_remarks(plan_check.planned_answers, plan_check.setting, {}, total=plan_check.plan.price.epsilon),
        *part_remarks(plan_check.part_adds_up),
    ]
    cost_sentence = _cost_sentence(plan_check.plan.epsilon, outlook, plan_preview.budget)
    return plan_preview.model_copy(
        update={"plan": plan_writer.write_plan(plan), "words": cost_sentence, "remarks": remarks}
    )


def _format_amounts(cost: Fraction | None, outlook: _LedgerOutlook) -> dict[str, FormattedNumber | None]:
    """The cost of a plan and the amounts of its budget, by their names in a preview."""
    amounts = {
        "cost": cost,
        "takes": outlook.takes,
        "price": cost if outlook.takes is None else outlook.takes,
        "limit": outlook.limit,
        "spent": outlook.spent,
        "left": outlook.left,
        "after": outlook.after,
    }
    return {
        name: None
        if value is None
        else FormattedNumber.of(amount(value, Rounding.DOWN if name in ("limit", "left", "after") else Rounding.UP))
        for name, value in amounts.items()
    }


def _ledger_outlook(
    name: str, plan_check: PlanCheck | None, settings: Settings, problems: list[Problem]
) -> _LedgerOutlook:
    """What the ledger has for the plan. A budget that is not there yet, or is short, is a problem of its field."""
    with open_ledger(settings.ledger, settings.folder) as ledger:
        if not ledger.has_budget(name):
            problems.append(Problem(field="budget", message=f"budget must be open, got '{name[:60]}': open it below"))
            return _LedgerOutlook()
        state = ledger.state(name)
        outlook = _LedgerOutlook(ledger.budget(name).epsilon, state.spent, state.left)
        if plan_check is None:
            return outlook
        try:
            charge = plan_check.release_cost
            free = ledger.find_release(charge) is not None
            if free:
                return replace(outlook, after=state.left, free=True)
            before, after = ledger.states_around(charge)
            return replace(outlook, spent=before.spent, left=before.left, after=after.left)
        except InputError as error:
            problems.append(Problem(field="budget", message=one_line(str(error))))
            return replace(outlook, short=isinstance(error, BudgetError))


def _protection_sentence(setting: PrivacySetting) -> str:
    return f"Protects {setting.unit}. Number of units: {units_paragraph(setting).typeset}."


def _cost_sentence(cost: Fraction, outlook: _LedgerOutlook, budget: str) -> str:
    if not budget:
        return f"ε {amount(cost, Rounding.UP).typeset}. Choose a budget to charge."
    words = cost_paragraph(
        BudgetOutlook(cost, budget, outlook.spent, outlook.left, outlook.after, outlook.free)
    ).typeset
    return f"{words[:1].upper()}{words[1:]}." if outlook.free else f"{words}."
