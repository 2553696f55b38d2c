"""Describe a plan before it runs: what it costs, and how far off its answers will be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.publish import plan_writer
from utmost.publish.pricing import CANONICAL, GAUSSIAN, GEOMETRIC
from utmost.publish.release_file import error_content, part_content
from utmost.queries.answer_error import noise_remark
from utmost.registry import similar_name
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import Quantity, Rounding, amount, at_most, quantity
from utmost.reports.prices import price_document, price_sentences, split_document, split_paragraph, told_document
from utmost.tables import double_above

if TYPE_CHECKING:
    import altair as alt

    from utmost.data.sources import Source
    from utmost.publish.execute import Preview
    from utmost.publish.plan_check import PlannedAnswer
    from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
    from utmost.queries.privacy_setting import PrivacySetting
    from utmost.queries.query import SelectedMechanism

NEARLY_ALL = 1 - Fraction(1, 10**6)  # of what a budget has left: the rest is rounding
NONE_DECLARED: Mapping[str, str] = {}
MAX_CHART_QUERIES = 40
QUERIES_HEADER = ("query", "kind", "ε", "sensitivity (steps)", "error", "± (95 %)")


@dataclass(frozen=True, slots=True)
class BudgetOutlook:
    """A plan's cost beside its budget.

    `spent` and `left` are the budget's before the release, None where it is not open. `after` is what is left after it,
    None where the budget has too little. `is_free`: the ledger has this very release stored. `delta` is the plan's δ,
    `delta_left` and `delta_after` what the budget has of it. `measure` is the symbol of what the budget counts.
    """

    cost: Fraction
    budget: str
    spent: Fraction | None = None
    left: Fraction | None = None
    after: Fraction | None = None
    is_free: bool = False
    delta: Fraction = Fraction(0)
    delta_left: Fraction | None = None
    delta_after: Fraction | None = None
    measure: str = "ε"


@dataclass(frozen=True, slots=True)
class ShownError:
    """How far off an answer will be: on average, and at most in 95 % of cases; with what they are divided by."""

    expected: Quantity
    half_width: Quantity


def shown_error(error: ErrorLaw) -> ShownError:
    """The numbers of an error, each followed by its suffix; bounds are rounded up."""
    write_expected = at_most if error.is_bound else quantity
    return ShownError(
        write_expected(error.expected, suffix=error.suffix), at_most(error.half_width, suffix=error.suffix)
    )


def describe(preview: Preview, unreadable: Mapping[str, int] | None = None, budget_names: Sequence[str] = ()) -> Report:
    """Whom the plan protects, its cost, the error of each answer, and what must be known to read the errors.

    `unreadable` counts the values of columns that their kinds do not fit, where the preview has not. `budget_names` are
    those in the ledger: a budget that is not open may be one of them, misspelt.
    """
    from utmost.publish.unreadable_values import unreadable_sentences

    setting, plan = preview.setting, preview.plan
    unreadable = preview.unreadable if unreadable is None else unreadable
    remarks = [
        *preview.remarks,
        *plan_remarks(preview.planned_answers, setting, preview.guesses, plan.source.columns, plan.price.epsilon),
        *lookup_remarks(plan.source),
        *part_remarks(preview.part_adds_up),
    ]
    blocks: dict[str, Block | None] = {
        "setting": _setting_facts(preview, budget_names),
        "space": Paragraph(),
        "queries": _queries_table(preview.planned_answers),
    }
    blocks |= {f"remark {number}": Paragraph(remark) for number, remark in enumerate(remarks)}
    sentences = [] if unreadable is None else unreadable_sentences(unreadable)
    blocks["end"] = Paragraph()
    blocks |= {f"unreadable {number}": Paragraph(sentence) for number, sentence in enumerate(sentences)}
    document = _document(preview) | ({} if unreadable is None else {"unreadable": dict(unreadable)})
    return Report(blocks, document)


def figure(preview: Preview) -> alt.TopLevelMixin:
    """How far off each answer will be: the half widths of 95 % intervals, a panel for each kind of number."""
    from utmost.charts.intervals import IntervalLine, IntervalPanel, interval_chart

    lines: dict[str, list[IntervalLine]] = {}
    for planned_answer in preview.planned_answers[:MAX_CHART_QUERIES]:
        error, width = planned_answer.error, double_above(planned_answer.error.half_width)
        text = f"±{shown_error(error).half_width.typeset}"
        line = IntervalLine(planned_answer.spec.name, width, 0.0, width, text)
        lines.setdefault(
            f"{planned_answer.spec.query.kind}: 95 % of answers are within ± this{error.suffix}", []
        ).append(line)
    panels = [IntervalPanel("", tuple(entries), unit) for unit, entries in lines.items()]
    hidden = len(preview.planned_answers) - MAX_CHART_QUERIES
    cut = f" The first {MAX_CHART_QUERIES} queries; {hidden} more are left out." if hidden > 0 else ""
    cost = amount(preview.cost, Rounding.UP).typeset
    return interval_chart(panels, f"How far off the answers will be, for ε {cost}", f"Nothing is spent yet.{cut}")


def _setting_facts(preview: Preview, budget_names: Sequence[str]) -> Facts:
    setting = preview.setting
    neighbours = f"for {setting.unit}; neighbours: {setting.neighbours}; number of units: "
    privacy = Paragraph(neighbours, *units_paragraph(setting).parts)
    part = [] if setting.part is None else [("Part", f"only the rows with {setting.part}")]
    amounts = (preview.cost, preview.plan.budget, preview.spent, preview.left, preview.after, preview.free)
    outlook = BudgetOutlook(*amounts, preview.plan.delta, preview.delta_left, preview.delta_after, preview.measure)
    similar = similar_name(preview.plan.budget, budget_names)
    advice = preview.open_command if similar is None else f"did you mean '{similar}'? else {preview.open_command}"
    hint = "" if preview.open_command is None else f": {advice}"
    cost = Paragraph(*cost_paragraph(outlook).parts, hint, *_missing_parts(preview.missing, preview.measure))
    split = split_paragraph(preview.plan)
    return Facts((("Privacy", privacy), *part, ("Cost", cost), *(() if split is None else (("Split", split),))))


def _missing_parts(missing: Fraction | None, measure: str) -> tuple[Cell, ...]:
    """What a budget that is short would need."""
    return () if missing is None else (f"; needs {measure} ", amount(missing, Rounding.UP), " more")


def units_paragraph(setting: PrivacySetting) -> Paragraph:
    """The number of units, where it is public."""
    return Paragraph("not public") if setting.units is None else Paragraph(quantity(setting.units), ", public")


def cost_paragraph(outlook: BudgetOutlook) -> Paragraph:
    """What a plan costs, and what that leaves of its budget.

    >>> cost_paragraph(BudgetOutlook(Fraction(1, 2), "survey", Fraction(0), Fraction(1), Fraction(1, 2))).text
    'ε 0.5; budget survey: ε 0 spent, ε 1 left, ε 0.5 after it'
    >>> cost_paragraph(BudgetOutlook(Fraction(1, 2), "survey")).text
    'ε 0.5; budget survey is not open yet'
    >>> deltas = Fraction("1e-6"), Fraction("2e-6"), Fraction("1e-6")
    >>> cost_paragraph(BudgetOutlook(Fraction(1), "survey", Fraction(0), Fraction(1), Fraction(0), False, *deltas)).text
    'ε 1 and δ 0.000001; budget survey: ε 0 spent, ε 1 and δ 0.000002 left, ε 0 and δ 0.000001 after it'
    """
    name = outlook.budget
    cost: tuple[Cell, ...] = ("ε ", amount(outlook.cost, Rounding.UP), *_and_delta(outlook.delta or None, Rounding.UP))
    if outlook.spent is None or outlook.left is None:
        return Paragraph(*cost, f"; budget {name} is not open yet")
    spent, left = amount(outlook.spent, Rounding.UP), _left_parts(outlook, outlook.left, outlook.delta_left)
    now: tuple[Cell, ...] = (f"; budget {name}: {outlook.measure} ", spent, " spent, ", *left, " left")
    if outlook.is_free:
        return Paragraph("nothing: the ledger remembers this release", *now)
    if outlook.after is None:
        return Paragraph(*cost, *now)
    charge = outlook.left - outlook.after
    taken = () if charge == outlook.cost and outlook.measure == "ε" else _taken_parts(outlook, charge)
    after = _left_parts(outlook, outlook.after, outlook.delta_after)
    return Paragraph(*cost, *taken, *now, ", ", *after, " after it")


def _taken_parts(outlook: BudgetOutlook, charge: Fraction) -> tuple[Cell, ...]:
    """What a budget is charged, where it is another amount than the plan's own ε."""
    measure = outlook.measure
    if outlook.left and measure != "ε" and charge >= outlook.left * NEARLY_ALL:
        return (f", for which all {measure} that is left is taken from the budget",)
    relation = ", of which ε " if measure == "ε" else f", for which {measure} "
    return relation, amount(charge, Rounding.UP), " is taken from the budget"


def _left_parts(outlook: BudgetOutlook, left: Fraction, delta_left: Fraction | None) -> tuple[Cell, ...]:
    """What a budget has left, rounded down; its δ where the plan or the budget has some."""
    has_delta = outlook.delta or outlook.delta_left
    return (
        f"{outlook.measure} ",
        amount(left, Rounding.DOWN),
        *_and_delta(delta_left if has_delta else None, Rounding.DOWN),
    )


def _and_delta(delta: Fraction | None, rounding: Rounding) -> tuple[Cell, ...]:
    return () if delta is None else (" and δ ", amount(delta, rounding))


def _queries_table(planned_answers: Sequence[PlannedAnswer]) -> Table:
    """A row for each query; where some have Gaussian noise, their price is their ρ."""
    has_rho = any(planned_answer.spec.rho is not None for planned_answer in planned_answers)
    header = tuple("ε or ρ" if has_rho and name == "ε" else name for name in QUERIES_HEADER)
    return Table(header, tuple(_planned_row(planned_answer, has_rho) for planned_answer in planned_answers), 2)


def _planned_row(planned_answer: PlannedAnswer, has_rho: bool) -> tuple[Cell, ...]:
    spec, error = planned_answer.spec, shown_error(planned_answer.error)
    sensitivity = _sensitivity_cell(planned_answer.law)
    price: Cell = amount(spec.epsilon, Rounding.UP)
    if has_rho:
        price = f"ε {price}" if spec.rho is None else f"ρ {amount(spec.rho, Rounding.UP)}"
    return spec.name, spec.query.kind, price, sensitivity, error.expected, error.half_width


def _sensitivity_cell(law: SelectedMechanism) -> Cell:
    """How far a unit moves the answer: the sum of all moves, of Gaussian noise their Euclidean length."""
    if law.moves is None:
        return quantity(law.sensitivity)
    root = math.isqrt(law.moves.squared)
    return quantity(root) if root**2 == law.moves.squared else f"√{law.moves.squared}"


def noise_sentences(planned_answers: Sequence[PlannedAnswer], total: Fraction | None) -> Iterator[str]:
    """How much less queries err by the noise that they got; those that gain the same in one sentence."""
    names: dict[str, list[str]] = {}
    for planned_answer in planned_answers:
        if planned_answer.other is not None:
            names.setdefault(_noise_words(planned_answer, total), []).append(planned_answer.spec.name)
    for words, alike in names.items():
        yield f"{alike[0] if len(alike) == 1 else f'{alike[0]} and {len(alike) - 1} more'}: {words}"


def _kept_noise_sentences(planned_answers: Sequence[PlannedAnswer]) -> Iterator[str]:
    """Which queries have no Gaussian or canonical noise although the plan asks for it."""
    for noise, words in ((GAUSSIAN, "Gaussian"), (CANONICAL, "canonical")):
        names = [planned.spec.name for planned in planned_answers if planned.keeps_mechanism == noise]
        if names:
            listed = f"{', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
            yield f"There is no {words} noise for {listed}: answered as without it."


def _noise_words(planned_answer: PlannedAnswer, total: Fraction | None) -> str:
    assert planned_answer.other is not None
    this, other = (at_most(error.half_width) for error in (planned_answer.error, planned_answer.other.error))
    if planned_answer.other.noise == GEOMETRIC:
        epsilon = "" if total is None else f" {amount(total, Rounding.UP)}"
        if planned_answer.spec.noise == CANONICAL:
            largest = at_most(planned_answer.law.mechanism.largest_error)
            gives = f"canonical noise gives ±{this} and never more than ±{largest}"
            return f"pure ε{epsilon} would give ±{other}, {gives}."
        return f"pure ε{epsilon} would give ±{other}, this gives ±{this}."
    return f"geometric noise gives ±{this}, Gaussian noise would give ±{other}."


def plan_remarks(
    planned_answers: Sequence[PlannedAnswer],
    setting: PrivacySetting,
    guesses: Mapping[str, str],
    declared: Mapping[str, str] = NONE_DECLARED,
    total: Fraction | None = None,
) -> Iterator[str]:
    """What must be known to read the errors; `guesses` are kinds found in the rows, beside those `declared`.

    `total` is the plan's own ε, where it has one.
    """
    yield from sorted({planned_answer.error.note for planned_answer in planned_answers} - {""})
    yield from noise_sentences(planned_answers, total)
    yield from _kept_noise_sentences(planned_answers)
    yield from price_sentences([planned_answer.spec for planned_answer in planned_answers], total)
    for planned_answer in planned_answers:
        query, mechanism = planned_answer.spec.query, planned_answer.law.mechanism
        for sentence in (query.resolved_sentence(), query.selection_sentence(mechanism)):
            if sentence is not None:
                yield f"{planned_answer.spec.name}: {sentence}"
    if guesses:
        kinds_line = plan_writer.column_kinds({**declared, **guesses})
        yield f"Kinds were found in the rows; to release, declare them: {kinds_line}"
    remark = noise_remark((planned_answer.spec.query for planned_answer in planned_answers), setting.unit, setting.part)
    if remark is not None:
        yield remark


def lookup_remarks(source: Source) -> Iterator[str]:
    """Which tables are taken to be public."""
    if source.lookups:
        names = ", ".join(dict.fromkeys(lookup.name for lookup in source.lookups))
        yield f"Taken to be public, so nothing in it is protected: {names}."


def part_remarks(part_adds_up: str | None) -> Iterator[str]:
    """Where a part costs as much as the whole table: why."""
    if part_adds_up is not None:
        yield f"The part adds up with other charges to its budget: {part_adds_up}."


def grid_step(planned_answer: PlannedAnswer) -> str | None:
    """The step of a query's grid, if it has one."""
    step: str | None = planned_answer.spec.query.content().get("step")
    return step


def _document(preview: Preview) -> dict[str, Any]:
    setting = preview.setting
    amounts = {"spent": preview.spent, "left": preview.left, "after": preview.after}
    if preview.plan.delta or preview.delta_left:
        amounts |= {"delta_left": preview.delta_left, "delta_after": preview.delta_after}
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
        **({"delta": str(preview.plan.delta)} if preview.plan.delta else {}),
        **told_document(preview.plan),
        **split_document(preview.plan),
        "free": preview.free,
        "guesses": dict(preview.guesses),
        "ledger": {"budget": preview.plan.budget, **balances, **_refusal_content(preview)},
        "queries": [_planned_document(planned_answer) for planned_answer in preview.planned_answers],
    }


def _refusal_content(preview: Preview) -> dict[str, str]:
    """What is missing in a budget that is short, and the command that opens one that is not open."""
    missing = {} if preview.missing is None else {"missing": str(preview.missing)}
    return missing if preview.open_command is None else {**missing, "open": preview.open_command}


def _other_document(planned_answer: PlannedAnswer) -> dict[str, Any]:
    """The error with the noise that was not chosen."""
    other = planned_answer.other
    return {} if other is None else {"other_noise": {"noise": other.noise, "error": error_content(other.error)}}


def _planned_document(planned_answer: PlannedAnswer) -> dict[str, Any]:
    query = planned_answer.spec.query
    return {
        "name": planned_answer.spec.name,
        "kind": query.kind,
        **query.resolved_content(),
        "epsilon": str(planned_answer.spec.epsilon),
        **price_document(planned_answer.spec),
        **({"delta": str(planned_answer.spec.delta)} if planned_answer.spec.delta else {}),
        **({} if planned_answer.spec.rho is None else {"rho": str(planned_answer.spec.rho)}),
        **_other_document(planned_answer),
        "sensitivity": planned_answer.law.sensitivity,
        "mechanism": planned_answer.law.mechanism.content(),
        "optimal": planned_answer.law.optimal,
        "error": error_content(planned_answer.error) | {"suffix": planned_answer.error.suffix},
    }
