"""Strategies for the tables of a plan, side by side before anything is spent: no source is read, no ledger opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.ledger.compositions.zcdp import rho_limit
from utmost.noise.concentrated import rho_of
from utmost.planning.strategies import (
    EQUAL,
    PLANNED,
    STATED,
    Candidate,
    Price,
    StrategyComparison,
    check_price,
    measure_candidates,
)
from utmost.planning.workloads import parse_workload
from utmost.publish import plans
from utmost.publish.builder.plan_builder import PlanBuilder
from utmost.publish.builder.runs import AnyPlan
from utmost.publish.pricing import CANONICAL, GEOMETRIC
from utmost.publish.table_designs import level_moves, table_design
from utmost.queries.tables import TableLevel

if TYPE_CHECKING:
    from utmost.publish.plan_model import Plan
    from utmost.publish.table_specs import TableSpec

HINT = "say what it may cost: --epsilon 1, or --rho 0.05 with Gaussian noise"


def strategies(
    plan: AnyPlan,
    *,
    table: str | None = None,
    workload: str | None = None,
    epsilon: object = None,
    rho: object = None,
) -> tuple[StrategyComparison, ...]:
    """Strategies for each table of a plan, or for the one that is named: variance of each level and of the workload,
    the gain over the cells alone, and how far from what any linear unbiased strategy has at least.

    `workload`, and `epsilon` or `rho` for the whole table, take the place of the plan's.
    """
    loaded = plan.to_plan() if isinstance(plan, PlanBuilder) else plans.load_plan(plan)
    if not loaded.tables:
        raise InputError("plan must have a [[table]], got none", "table", "utmost calibrate plan splits over queries")
    names = [spec.name for spec in loaded.tables]
    if table is not None and table not in names:
        raise InputError(f"table must be one of {', '.join(names)[:200]}, got {str(table)[:40]}", "table")
    chosen = [spec for spec in loaded.tables if table in (None, spec.name)]
    return tuple(_compare(loaded, spec, workload, epsilon, rho) for spec in chosen)


def _compare(plan: Plan, spec: TableSpec, workload: str | None, epsilon: object, rho: object) -> StrategyComparison:
    with_table = f'table "{spec.name}"'
    try:
        measure, amount = check_price(*_amounts(plan, spec, epsilon, rho))
        for level in spec.table.queries:  # refused here as before a release
            level.select_mechanism(Fraction(1), spec.setting)
        design = table_design(spec.table)
        wanted = parse_workload(spec.workload if workload is None else workload, design)
        moves = level_moves(spec.table, spec.setting, measure)
        finest = level_moves(replace(spec.table, levels=(spec.table.columns,)), spec.setting, measure)
        candidates = [Candidate(name, design, shares, moves) for name, shares in _candidates(spec)]
        return measure_candidates(spec.name, candidates, wanted, _price(spec, measure, amount), finest[0])
    except InputError as problem:
        raise problem.within(with_table) from None


def _candidates(spec: TableSpec) -> Sequence[tuple[str, tuple[Fraction, ...] | None]]:
    number = len(spec.table.levels)
    equal = [(EQUAL, (Fraction(1, number),) * number)] if number > 1 else []
    stated = [] if spec.is_planned or spec.price.wanted is not None else [(STATED, spec.shares)]
    return [*equal, *stated, (PLANNED, None)]


def _price(spec: TableSpec, measure: str, amount: Fraction) -> Price:
    setting = spec.setting
    rows = setting.unit.bound if setting.unit.groups is None else 1
    level = TableLevel(spec.table, spec.table.columns)
    may_leave = level.where is not None or setting.part is not None or level.drops_rows
    return Price(measure, amount, rows, setting.replacing, may_leave)


def _amounts(plan: Plan, spec: TableSpec, epsilon: object, rho: object) -> tuple[Any, Any]:
    """ε or ρ of the whole table: what is asked for, or the plan's."""
    if epsilon is not None or rho is not None:
        return epsilon, rho
    price = spec.price
    if price.wanted is not None:
        raise InputError("epsilon must be given for a table that wants an error", "epsilon", HINT)
    if price.noise == CANONICAL:
        raise InputError("noise must be geometric or gaussian in a table that is planned, got canonical", "noise", HINT)
    if price.noise == GEOMETRIC:
        names = set(spec.table.query_names)
        total = sum((one.epsilon for one in plan.queries if one.name in names), Fraction(0))
        if not total:
            raise InputError("epsilon is not known before the plan meets its budget", "epsilon", HINT)
        return total, None
    return None, _planned_rho(plan, spec)


def _planned_rho(plan: Plan, spec: TableSpec) -> Fraction:
    """ρ of a table with Gaussian noise, as a budget that adds up ρ has it."""
    price, part = spec.price, _part(plan, spec)
    delta = price.noise_delta or plan.price.delta
    if price.rho is not None:
        return price.rho
    if price.share is not None and plan.price.rho is not None:
        return plan.price.rho * part
    if price.share is not None and plan.price.epsilon and plan.price.delta:
        return rho_limit(plan.price.epsilon, plan.price.delta) * part
    if not delta or not price.epsilon:
        raise InputError("rho is not known before the plan meets its budget", "rho", HINT)
    return Fraction(rho_of(price.epsilon, delta))


def _part(plan: Plan, spec: TableSpec) -> Fraction:
    """The table's share of what all queries and tables share."""
    if spec.price.share is None:
        return Fraction(1)
    names = {name for table in plan.tables for name in table.table.query_names}
    others = sum((one.share for one in plan.queries if one.share is not None and one.name not in names), Fraction(0))
    tables = sum((table.price.share for table in plan.tables if table.price.share is not None), Fraction(0))
    return spec.price.share / (others + tables)
