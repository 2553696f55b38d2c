"""Preview a draft: its cost, the errors of its answers and their chart over ε, from public information."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from pydantic import BaseModel, Field

from utmost.charts.export import VALUE_FORMAT
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.ledger import Budget, BudgetState, open_ledger
from utmost.publish import execute, plan_writer
from utmost.publish.plan_check import PlanCheck, PlannedAnswer
from utmost.publish.plan_model import Plan, QuerySpec
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import Query
from utmost.reports.numbers import Rounding, amount
from utmost.reports.preview import (
    BudgetOutlook,
    cost_paragraph,
    grid_step,
    lookup_remarks,
    part_remarks,
    plan_remarks,
    shown_error,
    units_paragraph,
)
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.curator import draft_columns, plan_builder, tables
from utmost.studio.curator.draft_columns import DraftTable
from utmost.studio.curator.forms import PlanDraft, QueryDraft
from utmost.studio.curator.plan_builder import PLAN_FIELDS, problem_from_plan_error
from utmost.studio.curator.tables import Column
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
    delta: FormattedNumber | None = Field(description="None where it needs none")
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
    columns: list[Column] = Field(default=[], description="All columns that queries may use, with those that are new")
    public_columns: list[list[Column]] = Field(default=[], description="The columns of each lookup's public table")
    cost: FormattedNumber | None = Field(default=None, description="ε of the plan by itself")
    takes: FormattedNumber | None = Field(default=None, description="What it would take from the budget")
    price: FormattedNumber | None = Field(default=None, description="The same, or the cost where no budget says")
    limit: FormattedNumber | None = Field(default=None, description="The budget's ε")
    spent: FormattedNumber | None = None
    left: FormattedNumber | None = Field(default=None, description="What the budget has left now")
    after: FormattedNumber | None = Field(default=None, description="and after this release")
    delta: FormattedNumber | None = Field(default=None, description="δ of the plan; None where it needs none")
    delta_limit: FormattedNumber | None = Field(default=None, description="The budget's δ; None where it has none")
    delta_spent: FormattedNumber | None = None
    delta_left: FormattedNumber | None = None
    delta_after: FormattedNumber | None = None
    free: bool = Field(default=False, description="The ledger remembers this very release")
    short: bool = Field(default=False, description="The budget does not have that much")
    words: str = Field(description="The cost in words")
    counting: bool = Field(default=False, description="The units are being counted: ask again in a moment")
    remarks: list[str] = []
    queries: list[QueryPreview | None]


@dataclass(frozen=True, slots=True)
class _LedgerOutlook:
    """The budget of a plan, and its state before and after the release."""

    budget: Budget | None = None
    before: BudgetState | None = None
    after: BudgetState | None = None
    free: bool = False
    short: bool = False

    @property
    def takes(self) -> Fraction | None:
        """What a release would take from the budget."""
        return None if self.before is None or self.after is None else self.before.left - self.after.left


def preview_draft(draft: PlanDraft, settings: Settings) -> PlanPreview:
    """Preview a draft. No row is read, but the units are counted once where their number is public."""
    try:
        draft_table = draft_columns.draft_table(draft, settings)
    except InputError as error:
        return _blank_preview(draft, [problem_from_plan_error(error, PLAN_FIELDS, "location")])
    table, built_plan = draft_table.schema, plan_builder.build_plan(draft, draft_table, settings)
    problems = list(built_plan.problems)
    checks = [
        _check_query_plan(k, draft.queries[k], plan, table, problems) for k, plan in enumerate(built_plan.query_plans)
    ]
    valid_checks = [check for check in checks if check is not None]
    queries = [_query_preview(plan, check) for plan, check in zip(built_plan.query_plans, checks, strict=True)]
    plan_preview = _blank_preview(draft, problems).model_copy(
        update={"queries": queries, **_table_fields(draft, draft_table, settings, problems)}
    )
    if valid_checks:
        setting = valid_checks[0].setting
        plan_preview = plan_preview.model_copy(
            update={"protects": _protection_sentence(setting), "units": setting.units}
        )
    is_whole = built_plan.plan is not None and len(valid_checks) == len(checks)
    plan_check = _combine_checks(built_plan.plan, valid_checks) if built_plan.plan is not None and is_whole else None
    return _add_costs(plan_preview, built_plan.plan, plan_check, settings)


def _table_fields(
    draft: PlanDraft, draft_table: DraftTable, settings: Settings, problems: list[Problem]
) -> dict[str, Any]:
    """What a preview says of the draft's table: its columns, and whether its units are still being counted."""
    return {
        "counting": any(problem.message == tables.COUNTING_MESSAGE for problem in problems),
        "columns": tables.schema_columns(draft_table.schema),
        "public_columns": [tables.public_columns(settings, lookup.location) for lookup in draft.lookups],
    }


def _combine_checks(plan: Plan, checks: list[PlanCheck]) -> PlanCheck:
    """The checks of single queries as one check of the plan, which says what their prices are shares of."""
    single_answers = chain.from_iterable(check.planned_answers for check in checks)
    planned_answers = tuple(
        replace(answer, spec=replace(answer.spec, share=query_spec.share, splits_delta=query_spec.splits_delta))
        for answer, query_spec in zip(single_answers, plan.queries, strict=True)
    )
    whole_plan = replace(plan, queries=tuple(answer.spec for answer in planned_answers))
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


def _check_query_plan(
    k: int, query: QueryDraft, plan: Plan | None, table: Table, problems: list[Problem]
) -> PlanCheck | None:
    if plan is None:
        return None
    try:
        return execute.check_plan(plan, table)
    except InputError as error:
        form_fields = PLAN_FIELDS | plan_builder.query_form_fields(k, query)
        problem = problem_from_plan_error(error, form_fields, f"queries.{k}.name")
        problems += [] if problem in problems else [problem]
        return None


def _query_preview(plan: Plan | None, check: PlanCheck | None) -> QueryPreview | None:
    """The first query of a plan, and how it will be answered; another counts the persons over its bound."""
    if plan is None or check is None:
        return None
    answer = check.planned_answers[0]
    error = shown_error(answer.error)
    return QueryPreview(
        name=answer.spec.name,
        kind=answer.spec.query.kind,
        epsilon=FormattedNumber.of(amount(answer.spec.epsilon, Rounding.UP)),
        delta=_formatted(answer.spec.delta or None, Rounding.UP),
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
    cost, delta = (None, None) if plan_check is None else (plan_check.plan.epsilon, plan_check.plan.delta)
    formatted = {**_epsilon_amounts(cost, outlook), **_delta_amounts(delta, outlook)}
    plan_preview = plan_preview.model_copy(
        update={**formatted, "problems": problems, "free": outlook.free, "short": outlook.short}
    )
    if plan is None or plan_check is None:
        return plan_preview
    remarks = [
        *plan_remarks(plan_check.planned_answers, plan_check.setting, {}, total=plan_check.plan.price.epsilon),
        *lookup_remarks(plan.source),
        *part_remarks(plan_check.part_adds_up),
    ]
    cost_sentence = _cost_sentence(plan_check.plan, outlook, plan_preview.budget)
    return plan_preview.model_copy(
        update={"plan": plan_writer.write_plan(plan), "words": cost_sentence, "remarks": remarks}
    )


def _formatted(value: Fraction | None, rounding: Rounding) -> FormattedNumber | None:
    return None if value is None else FormattedNumber.of(amount(value, rounding))


def _epsilon_amounts(cost: Fraction | None, outlook: _LedgerOutlook) -> dict[str, FormattedNumber | None]:
    """The cost of a plan and the amounts of its budget, by their names in a preview."""
    budget, before, after = outlook.budget, outlook.before, outlook.after
    return {
        "cost": _formatted(cost, Rounding.UP),
        "takes": _formatted(outlook.takes, Rounding.UP),
        "price": _formatted(cost if outlook.takes is None else outlook.takes, Rounding.UP),
        "limit": _formatted(None if budget is None else budget.rule.limit(budget), Rounding.DOWN),
        "spent": _formatted(None if before is None else before.spent, Rounding.UP),
        "left": _formatted(None if before is None else before.left, Rounding.DOWN),
        "after": _formatted(None if after is None else after.left, Rounding.DOWN),
    }


def _delta_amounts(delta: Fraction | None, outlook: _LedgerOutlook) -> dict[str, FormattedNumber | None]:
    """The same of δ; none where neither the plan nor the budget has one."""
    budget, before, after = outlook.budget, outlook.before, outlook.after
    amounts = {"delta": _formatted(delta or None, Rounding.UP)}
    if budget is None or not budget.delta:
        return amounts
    return amounts | {
        "delta_limit": _formatted(budget.delta, Rounding.DOWN),
        "delta_spent": _formatted(None if before is None else before.delta_spent, Rounding.UP),
        "delta_left": _formatted(None if before is None else before.delta_left, Rounding.DOWN),
        "delta_after": _formatted(None if after is None else after.delta_left, Rounding.DOWN),
    }


def _ledger_outlook(
    name: str, plan_check: PlanCheck | None, settings: Settings, problems: list[Problem]
) -> _LedgerOutlook:
    """What the ledger has for the plan. A budget that is not there yet, or is short, is a problem of its field."""
    with open_ledger(settings.ledger, settings.folder) as ledger:
        if not ledger.has_budget(name):
            problems.append(Problem(field="budget", message=f"budget must be open, got '{name[:60]}': open it below"))
            return _LedgerOutlook()
        outlook = _LedgerOutlook(ledger.budget(name), ledger.state(name))
        if plan_check is None:
            return outlook
        try:
            charge = plan_check.release_cost
            if ledger.find_release(charge) is not None:
                return replace(outlook, after=outlook.before, free=True)
            before, after = ledger.states_around(charge)
            return replace(outlook, before=before, after=after)
        except InputError as error:
            problems.append(Problem(field="budget", message=one_line(str(error))))
            return replace(outlook, short=isinstance(error, BudgetError))


def _protection_sentence(setting: PrivacySetting) -> str:
    return f"Protects {setting.unit}. Number of units: {units_paragraph(setting).typeset}."


def _cost_sentence(plan: Plan, outlook: _LedgerOutlook, budget: str) -> str:
    before, after = outlook.before, outlook.after
    if not budget:
        delta = f" and δ {amount(plan.delta, Rounding.UP).typeset}" if plan.delta else ""
        return f"ε {amount(plan.epsilon, Rounding.UP).typeset}{delta}. Choose a budget to charge."
    shown_outlook = BudgetOutlook(plan.epsilon, budget, is_free=outlook.free, delta=plan.delta)
    if before is not None:
        shown_outlook = replace(shown_outlook, spent=before.spent, left=before.left, delta_left=before.delta_left)
        shown_outlook = replace(shown_outlook, measure=before.measure)
    if after is not None:
        shown_outlook = replace(shown_outlook, after=after.left, delta_after=after.delta_left)
    words = cost_paragraph(shown_outlook).typeset
    return f"{words[:1].upper()}{words[1:]}." if outlook.free else f"{words}."
