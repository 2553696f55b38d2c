"""Describe budgets of a ledger: what each protects, has spent and has left, and what was charged."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.ledger.costs import ROW, Part
from utmost.ledger.records import CHAIN_CHARS, Budget
from utmost.reports.blocks import Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import Quantity, Rounding, amount

if TYPE_CHECKING:
    from utmost.ledger import BudgetState, Charge

DIGEST_CHARS = 12  # of a plan's digest
DATE_CHARS = 10  # of a time


def describe(budget: Budget, state: BudgetState) -> Report:
    """One budget."""
    numbers = budget_numbers(budget, state)
    has_epsilon = budget.rule.measure == "ε"
    delta = (" at δ = ", numbers["delta"]) if budget.delta else ()
    told = Paragraph("ε ", amount(budget.epsilon, Rounding.UP), *delta)
    closed = (("closed", budget.closed),) if budget.closed else ()
    charges = f" in {state.charges} charge{'' if state.charges == 1 else 's'}"
    pairs: tuple[tuple[str, Cell | Paragraph], ...] = (
        ("budget", budget.name),
        ("protects", protection_sentence(budget)),
        *((("told as", told),) if budget.delta and not has_epsilon else ()),
        (budget.rule.measure, Paragraph(numbers["limit"], *(delta if has_epsilon else ()), f", {budget.rule.words}")),
        ("spent", Paragraph(numbers["spent"], *_with_delta(budget, numbers, "delta_spent"), charges)),
        ("left", Paragraph(numbers["left"], *_with_delta(budget, numbers, "delta_left"))),
        ("remembers", "yes, releases of plans with a fingerprint" if budget.remember else "no"),
        ("opened", budget.opened),
        *closed,
    )
    return Report({"budget": Facts(pairs)}, _document(budget, state), numbers)


def describe_state(state: BudgetState) -> Report:
    """What the charges of a budget have spent together, and what is left."""
    amounts = {name: amount(getattr(state, name), Rounding.UP) for name in ("spent", "delta_spent")}
    amounts |= {name: amount(getattr(state, name), Rounding.DOWN) for name in ("left", "delta_left")}
    has_delta = state.delta_spent or state.delta_left
    deltas = {name: (", δ ", amounts[f"delta_{name}"]) if has_delta else () for name in ("spent", "left")}
    pairs = [(name, Paragraph(f"{state.measure} ", amounts[name], *deltas[name])) for name in deltas]
    return Report({"state": Facts((*pairs, ("charges", str(state.charges))))})


def describe_charge(charge: Charge) -> Report:
    """When a charge was made, by whom, at what price, and for which queries."""
    delta = (", δ ", amount(charge.delta, Rounding.UP)) if charge.delta else ()
    pairs: tuple[tuple[str, Cell | Paragraph], ...] = (
        ("entry", str(charge.number)),
        ("charged", charge.charged + (f" by {charge.charged_by}" if charge.charged_by else "")),
        ("queries", charge.queries_text),
        *((("part", f"{charge.part.column} = {charge.part.value}"),) if charge.part else ()),
        ("price", Paragraph("ε ", amount(charge.epsilon, Rounding.UP), *delta)),
    )
    return Report({"charge": Facts(pairs)}, lambda: charge_document(charge))


def budget_numbers(budget: Budget, state: BudgetState) -> dict[str, Quantity]:
    """The amounts of a budget: what is spent is rounded up, what is left down."""
    return {
        "limit": amount(budget.rule.limit(budget), Rounding.DOWN),
        "delta": amount(budget.delta, Rounding.DOWN),
        "spent": amount(state.spent, Rounding.UP),
        "left": amount(state.left, Rounding.DOWN),
        "delta_spent": amount(state.delta_spent, Rounding.UP),
        "delta_left": amount(state.delta_left, Rounding.DOWN),
    }


def _with_delta(budget: Budget, numbers: dict[str, Quantity], name: str) -> tuple[Cell, ...]:
    """An amount of δ, for a budget that has one."""
    return (", δ ", numbers[name]) if budget.delta else ()


def describe_list(entries: Sequence[tuple[Budget, BudgetState]]) -> Report:
    """All budgets of a ledger."""
    measures = [budget.rule.measure for budget, _ in entries]
    is_mixed, has_delta = any(measure != "ε" for measure in measures), any(budget.delta for budget, _ in entries)
    has_closed = any(budget.closed for budget, _ in entries)
    rows: list[tuple[Cell, ...]] = []
    for (budget, state), measure in zip(entries, measures, strict=True):
        numbers = budget_numbers(budget, state)
        amounts = [numbers["limit"], numbers["spent"], numbers["left"], *([numbers["delta_left"]] * has_delta)]
        words = [budget.name, protection_sentence(budget), *([budget.closed[:DATE_CHARS]] * has_closed)]
        rows.append((*words, *([measure] * is_mixed), *amounts, str(state.charges)))
    words = ["budget", "protects", *(["closed"] * has_closed), *(["counts"] * is_mixed)]
    header = (*words, "limit" if is_mixed else "ε", "spent", "left", *(["δ left"] * has_delta), "charges")
    return Report(
        {"budgets": Table(header, tuple(rows), text_columns=len(words))},
        {"budgets": [_document(budget, state) for budget, state in entries]},
    )


def describe_history(name: str, charges: Sequence[Charge], state: BudgetState) -> Report:
    """The charges to a budget, the earliest first."""
    spent, left = amount(state.spent, Rounding.UP), amount(state.left, Rounding.DOWN)
    counts_rho = [_counts_rho(charge, state) for charge in charges]
    total = sum((charge.epsilon for charge in charges), Fraction(0))
    is_composed = total != state.spent and not any(counts_rho)
    has_state_delta = state.delta_spent or state.delta_left
    delta_amounts = (amount(state.delta_spent, Rounding.UP), amount(state.delta_left, Rounding.DOWN))
    deltas = [(", δ ", delta) if has_state_delta else () for delta in delta_amounts]
    remark = ("; one by one they would cost ", amount(total, Rounding.UP), ", together less") if is_composed else ()
    has_table, deltas_of = any(charge.table for charge in charges), [_charge_delta(charge, state) for charge in charges]
    has_delta = any(deltas_of)
    measure = "ρ" if all(counts_rho) and charges else "ε or ρ" if any(counts_rho) else "ε"
    origin = ("by", "source", *(("table",) if has_table else ()), "plan")
    header = ("entry", "charged", *origin, "queries", "part", measure, *(("δ",) if has_delta else ()))
    rows = tuple(_charge_row(charge, state, has_table, has_delta) for charge in charges)
    return Report(
        {
            "charges": Table(header, rows, text_columns=4 + len(origin)),
            "state": Paragraph("spent ", spent, *deltas[0], ", left ", left, *deltas[1], *remark),
        },
        {
            "name": name,
            "spent": str(state.spent),
            "left": str(state.left),
            "delta_spent": str(state.delta_spent),
            "delta_left": str(state.delta_left),
            "chain": state.chain,
            "charges": [charge_document(charge) for charge in charges],
        },
    )


def _counts_rho(charge: Charge, state: BudgetState) -> bool:
    """Is a charge told in ρ: where its budget counts that, or composes it as such."""
    return state.measure == "ρ" or (charge.has_converted and state.delta_spent < charge.delta)


def _charge_delta(charge: Charge, state: BudgetState) -> Fraction:
    return charge.own_delta if _counts_rho(charge, state) else charge.delta


def _charge_row(charge: Charge, state: BudgetState, has_table: bool, has_delta: bool) -> tuple[Cell, ...]:
    part = "" if charge.part is None else f"{charge.part.column} = {charge.part.value}"
    table = (charge.table or "",) if has_table else ()
    origin = (charge.charged_by or "", charge.source or "", *table, charge.plan[:DIGEST_CHARS])
    price = amount(charge.rho if _counts_rho(charge, state) else charge.epsilon, Rounding.UP)
    shown_price: Cell = f"ρ {price}" if _counts_rho(charge, state) and state.measure == "ε" else price
    delta = (amount(_charge_delta(charge, state), Rounding.UP),) if has_delta else ()
    return str(charge.number), charge.charged, *origin, charge.queries_text, part, shown_price, *delta


def protection_sentence(budget: Budget) -> str:
    """Whom a budget protects, and against which change.

    >>> protection_sentence(Budget("survey", Fraction(1), unit="person"))
    'each value of person, replace'
    """
    unit = "each row" if budget.unit == ROW else f"each value of {budget.unit}"
    return f"{unit}, {budget.neighbours}"


def _document(budget: Budget, state: BudgetState) -> dict[str, Any]:
    """A budget with what it has spent and left: what `utmost budget show --json` prints."""
    return {
        "name": budget.name,
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        "composition": budget.composition,
        "measure": budget.rule.measure,
        "limit": str(budget.rule.limit(budget)),
        "unit": budget.unit,
        "neighbours": budget.neighbours,
        "remember": budget.remember,
        "opened": budget.opened,
        "spent": str(state.spent),
        "left": str(state.left),
        "delta_spent": str(state.delta_spent),
        "delta_left": str(state.delta_left),
        "charges": state.charges,
        "chain": state.chain,
        "closed": budget.closed or None,
    }


def charge_document(charge: Charge) -> dict[str, Any]:
    """A charge: what `utmost budget history --json` lists."""
    costs = [
        {
            "query": cost.query,
            "epsilon": str(cost.epsilon),
            "law": cost.law,
            "steps": cost.steps,
            "delta": str(cost.delta),
            **({} if cost.rho is None else {"rho": str(cost.rho), "numbers": cost.numbers}),
        }
        for cost in charge.costs
    ]
    return {
        "entry": charge.number,
        "charged": charge.charged,
        "plan": charge.plan,
        "fingerprint": charge.fingerprint,
        "part": None if charge.part is None else _part_document(charge.part),
        "epsilon": str(charge.epsilon),
        "delta": str(charge.delta),
        "charged_by": charge.charged_by,
        "source": charge.source,
        "table": charge.table,
        "costs": costs,
        "kept": charge.kept,
        "unit_kind": charge.unit_kind,
        "chain": charge.chain,
    }


def _part_document(part: Part) -> dict[str, str | None]:
    """A part; `source` is None where it is not known, and then the part adds up with every other."""
    source = None if part.source is None else part.source[:CHAIN_CHARS]
    return {"column": part.column, "equals": part.value, "kind": part.kind, "table": part.table, "source": source}
