"""Describe a budget that a program has: what it has spent and left now, and after each charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.reports import budget
from utmost.reports.numbers import quantity
from utmost.tables import double_above, double_below

if TYPE_CHECKING:
    import altair as alt

    from utmost.ledger import Charge
    from utmost.publish.builder import NamedBudget
    from utmost.reports.blocks import Report

MAX_CHART_CHARGES = 60


def describe(named_budget: NamedBudget) -> Report:
    """The budget as the ledger has it."""
    return budget.describe(named_budget.terms, named_budget.state)


def figure(named_budget: NamedBudget) -> alt.TopLevelMixin:
    """What is spent after each charge beside what is left; of many charges after evenly spaced ones."""
    from utmost.charts.budget import SpendingPoint, spending_chart

    terms, state = named_budget.terms, named_budget.state
    numbers, measure = budget.budget_numbers(terms, state), terms.rule.measure
    title = f"{terms.name}: {measure} {numbers['spent'].typeset} of {numbers['limit'].typeset} is spent"
    points = [
        SpendingPoint(after.charges, double_above(after.spent), double_below(after.left), *_words(charge))
        for charge, after in named_budget.past_states(MAX_CHART_CHARGES)
    ]
    first = SpendingPoint(0, 0.0, double_below(terms.rule.limit(terms)), terms.opened)
    charges = quantity(state.charges).typeset
    count = f"{charges} charge{'' if state.charges == 1 else 's'}, {terms.rule.words}."
    delta = f" δ {numbers['delta_spent'].typeset} of {numbers['delta'].typeset} is spent." if terms.delta else ""
    hidden = "" if state.charges <= MAX_CHART_CHARGES else f" Shown after {len(points)} of them."
    return spending_chart([first, *points], title, f"{count}{delta}{hidden}", measure)


def _words(charge: Charge) -> tuple[str, str]:
    return charge.charged, charge.queries_text
