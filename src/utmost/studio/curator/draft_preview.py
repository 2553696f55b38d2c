"""What a draft would cost and how good its answers would be, from public things alone, while it is being written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from pydantic import BaseModel, Field

from utmost import ledger
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.publish import execute, plan_writer, plans, preview
from utmost.publish.execute import PlanCheck
from utmost.publish.mechanism_selection import PrivacySetting
from utmost.publish.plans import Plan
from utmost.studio.charts import Chart
from utmost.studio.curator import charts, plan_builder, tables
from utmost.studio.curator.forms import PlanDraft
from utmost.studio.curator.plan_builder import PLAN, errors_by_field
from utmost.studio.form_errors import Problem, one_line
from utmost.studio.number_format import FormattedNumber, format_number, format_rounded
from utmost.studio.settings import Settings


class QueryPreview(BaseModel):
    """How one query will be answered."""

    name: str
    kind: str
    epsilon: FormattedNumber
    sensitivity: int = Field(description="How far one unit can move the answer, in steps of its lattice")
    expected: FormattedNumber = Field(description="Expected absolute error of the noise alone")
    half_width: FormattedNumber = Field(description="The noise is within ± this in 95 % of cases")
    behind: str = Field(description="/r: to be divided by the number of rows; rows: of rank")
    optimal: str = Field(description="In which sense no mechanism is better")
    step: str | None
    picture: Chart


class PlanPreview(BaseModel):
    """A draft seen through: its plan, its cost, its budget, the error of each query, and all that is wrong."""

    plan: str | None = Field(description="The plan as TOML, once nothing is wrong with it")
    problems: list[Problem]
    protects: str = Field(default="", description="Whom it protects, in words")
    units: int | None = Field(default=None, description="How many units there are, where that is public")
    budget: str
    cost: FormattedNumber | None = Field(default=None, description="What the plan tells by itself")
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
class _Books:
    """What the ledger says of a plan."""

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
    """The draft seen through. No row is read, but the units are counted once where their number is public."""
    try:
        table = tables.table_schema(settings, plan_builder.draft_source(draft))
    except InputError as error:
        return _blank(draft, [errors_by_field(error, PLAN, "location")])
    made = plan_builder.build_plan(draft, table, settings)
    problems = list(made.problems)
    singles = [_looked(k, plan, table, problems) for k, plan in enumerate(made.singles)]
    found = [one for one in singles if one is not None]
    queries = [_query(plan, one) for plan, one in zip(made.singles, singles, strict=True)]
    counting = any(problem.message == tables.COUNTING for problem in problems)
    told = _blank(draft, problems).model_copy(update={"queries": queries, "counting": counting})
    if found:
        setting = found[0].setting
        told = told.model_copy(update={"protects": _protects(setting), "units": setting.units})
    whole = _together(made.plan, found) if made.plan is not None and len(found) == len(singles) else None
    return _priced(told, made.plan, whole, settings)


def _together(plan: Plan, found: list[PlanCheck]) -> PlanCheck:
    """The plan as it was looked at, query by query."""
    intended = tuple(one.intended[0] for one in found)
    return PlanCheck(replace(plan, queries=tuple(one.asked for one in intended)), found[0].setting, intended)


def _blank(draft: PlanDraft, problems: list[Problem]) -> PlanPreview:
    """What is known before anything is."""
    return PlanPreview(
        plan=None,
        problems=problems,
        budget=draft.budget.strip(),
        words="What it costs is known when every field is right.",
        queries=[None] * len(draft.queries),
    )


def _looked(k: int, plan: Plan | None, table: Table, problems: list[Problem]) -> PlanCheck | None:
    if plan is None:
        return None
    try:
        return execute.check_plan(plan, table)
    except InputError as error:
        places = {name: f"queries.{k}.{name}" for name in plan_builder.OWN}
        problem = errors_by_field(error, {**PLAN, **places}, f"queries.{k}.name")
        problems += [] if problem in problems else [problem]
        return None


def _query(plan: Plan | None, found: PlanCheck | None) -> QueryPreview | None:
    """The one query of a plan, and how it will be answered."""
    if plan is None or found is None:
        return None
    one = found.intended[0]
    kind = plans.QUERY_KINDS[type(one.asked.query)]
    return QueryPreview(
        name=one.asked.name,
        kind=kind,
        epsilon=format_number(one.asked.epsilon),
        sensitivity=one.law.sensitivity,
        expected=format_number(one.error.expected),
        half_width=format_number(one.error.half_width),
        behind=preview.error_suffix(one.error, kind),
        optimal=one.law.optimal,
        step=preview.grid_step(one),
        picture=charts.error_chart(plan.queries[0], one, kind, found.setting),
    )


def _priced(told: PlanPreview, plan: Plan | None, whole: PlanCheck | None, settings: Settings) -> PlanPreview:
    """The same with what its budget has left; and with the cost, if the plan is whole."""
    problems = list(told.problems)
    books = _books(told.budget, whole, settings, problems) if told.budget else _Books()
    cost = None if whole is None else whole.plan.epsilon
    amounts = {"cost": cost, "takes": books.takes, "limit": books.limit, "spent": books.spent, "left": books.left}
    amounts |= {"after": books.after, "price": cost if books.takes is None else books.takes}
    seen = {name: None if value is None else format_number(value) for name, value in amounts.items()}
    told = told.model_copy(update={**seen, "problems": problems, "free": books.free, "short": books.short})
    if plan is None or whole is None:
        return told
    remarks = list(preview.error_remarks(whole.intended, whole.setting, {}))
    words = _words(whole.plan.epsilon, books, told.budget)
    return told.model_copy(update={"plan": plan_writer.write_plan(plan), "words": words, "remarks": remarks})


def _books(name: str, whole: PlanCheck | None, settings: Settings, problems: list[Problem]) -> _Books:
    """What the ledger has for the plan. A budget that is not there yet, or is short, is a problem of its field."""
    with ledger.open_ledger(settings.ledger, settings.folder) as books:
        if not books.has(name):
            problems.append(Problem(field="budget", message=f"budget must be open, got '{name[:60]}': open it below"))
            return _Books()
        now = books.state(name)
        known = _Books(books.budget(name).epsilon, now.spent, now.left)
        if whole is None:
            return known
        try:
            ask = whole.ask
            free = books.remembered(ask) is not None
            if free:
                return replace(known, after=now.left, free=True)
            before, after = books.outlook(ask)
            return replace(known, spent=before.spent, left=before.left, after=after.left)
        except InputError as error:
            problems.append(Problem(field="budget", message=one_line(str(error))))
            return replace(known, short=isinstance(error, BudgetError))


def _protects(setting: PrivacySetting) -> str:
    public = "not public" if setting.units is None else f"{setting.units}, public"
    return f"Protects {setting.unit}. Number of units: {public}."


def _words(cost: Fraction, books: _Books, budget: str) -> str:
    if books.free:
        return "Nothing: the ledger remembers this release, and gives the same answers again."
    if books.takes is None or books.left is None:
        return f"ε {format_rounded(cost)}." + ("" if budget else " Choose a budget to charge.")
    less = (
        "" if books.takes == cost else f" By itself the plan tells {format_rounded(cost)}; with earlier releases, less."
    )
    return f"ε {format_rounded(books.takes)} of the {format_rounded(books.left)} that {budget} has left.{less}"
