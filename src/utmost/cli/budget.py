"""`utmost budget`: opens budgets in a ledger and shows what was charged to them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption

if TYPE_CHECKING:
    from utmost.ledger import Budget, BudgetState, Charge

EXAMPLES = (
    "Examples: utmost budget open survey --epsilon 1;  utmost budget show survey;  "
    "utmost budget open panel --epsilon 2 --delta 1e-6 --composition pld --ledger postgresql://..."
)
DEFAULT_LEDGER = "ledger.sqlite"  # the plan's default too
DIGEST_CHARS = 12  # of a plan's digest in the terminal

app = typer.Typer(
    help="Open budgets in a ledger, and see what was charged to them.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Open budgets in a ledger, and see what was charged to them."""
    if context.invoked_subcommand is None:
        print(context.get_help())


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The budget's name.")]
LedgerOption = Annotated[str, typer.Option("--ledger", metavar="LEDGER", help="An SQLite file, or postgresql://...")]


@app.command("open", epilog=EXAMPLES)
def open_command(
    name: NameArgument,
    epsilon: Annotated[str, typer.Option(metavar="E", help="ε that all releases may tell together: 1.")],
    ledger: LedgerOption = DEFAULT_LEDGER,
    delta: Annotated[str, typer.Option(metavar="D", help="δ of (ε, δ), with composition pld: 1e-6.")] = "0",
    composition: Annotated[str, typer.Option(metavar="HOW", help="pure (ε adds up) or pld.")] = "pure",
    unit: Annotated[str, typer.Option(metavar="UNIT", help="row, or the column that names a person.")] = "row",
    neighbours: Annotated[str, typer.Option(metavar="KIND", help="replace or add-remove.")] = "replace",
    remember: Annotated[
        bool, typer.Option("--remember/--no-remember", help="Give the same release again for free, or not.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Open a budget; the first one makes the ledger."""
    from utmost import ledger as ledgers
    from utmost.exact import rational

    budget = ledgers.Budget(
        name, rational(epsilon, "--epsilon"), rational(delta, "--delta"), composition, unit, neighbours, remember
    )
    with ledgers.open_ledger(ledger) as opened_ledger:
        opened_budget = opened_ledger.open(budget)
        _print_budget(opened_budget, opened_ledger.state(name), json)


@app.command("show", epilog=EXAMPLES)
def show_command(name: NameArgument, ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """What a budget has spent and left."""
    from utmost import ledger as ledgers

    with ledgers.open_ledger(ledger) as opened_ledger:
        _print_budget(opened_ledger.budget(name), opened_ledger.state(name), json)


@app.command("list", epilog=EXAMPLES)
def list_command(ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """All budgets of a ledger."""
    from utmost import ledger as ledgers
    from utmost.cli import output
    from utmost.ledger import json_output

    with ledgers.open_ledger(ledger) as opened_ledger:
        entries = [(budget, opened_ledger.state(budget.name)) for budget in opened_ledger.budgets()]
    if json:
        output.print_json({"budgets": [json_output.budget_content(budget, state) for budget, state in entries]})
        return
    header = ["budget", "protects", "ε", "spent", "left", "charges"]
    output.print_table(header, [_budget_row(budget, state) for budget, state in entries], text_columns=2)


@app.command("history", epilog=EXAMPLES)
def history_command(name: NameArgument, ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """What was charged to a budget, and when."""
    from utmost import ledger as ledgers
    from utmost.cli import output
    from utmost.ledger import json_output

    with ledgers.open_ledger(ledger) as opened_ledger:
        charges, state = opened_ledger.history(name), opened_ledger.state(name)
    if json:
        amounts = {"spent": str(state.spent), "left": str(state.left), "chain": state.chain}
        output.print_json(
            {"name": name, **amounts, "charges": [json_output.charge_content(charge) for charge in charges]}
        )
        return
    header = ["entry", "charged", "plan", "queries", "part", "ε"]
    output.print_table(header, [_charge_row(charge) for charge in charges], text_columns=5)
    output.print_text(
        f"spent {_format_amount(state.spent)}, left {_format_amount(state.left)}{_composition_remark(charges, state)}"
    )


def _composition_remark(charges: list[Charge], state: BudgetState) -> str:
    """A remark where a budget has spent less than the sum of its charges, because they compose."""
    sum_of_charges = sum((charge.epsilon for charge in charges), Fraction(0))
    return (
        ""
        if sum_of_charges == state.spent
        else f"; one by one they tell {_format_amount(sum_of_charges)}, together less"
    )


def _print_budget(budget: Budget, state: BudgetState, json: bool) -> None:
    from utmost.cli import output
    from utmost.ledger import json_output

    if json:
        output.print_json(json_output.budget_content(budget, state))
        return
    delta_text = f" at δ = {_format_amount(budget.delta)}" if budget.delta else ""
    composition = "ε adds up" if budget.composition == "pure" else "privacy-loss distributions"
    output.print_facts(
        [
            ("budget", budget.name),
            ("protects", json_output.protection_sentence(budget)),
            ("ε", f"{_format_amount(budget.epsilon)}{delta_text}, {composition}"),
            ("spent", f"{_format_amount(state.spent)} in {state.charges} charge{'' if state.charges == 1 else 's'}"),
            ("left", _format_amount(state.left)),
            ("remembers", "yes" if budget.remember else "no"),
            ("opened", budget.opened),
        ]
    )


def _format_amount(value: Any) -> str:
    from utmost.ledger.records import format_amounts

    return format_amounts(value)[0]


def _budget_row(budget: Budget, state: BudgetState) -> list[str]:
    from utmost.ledger.json_output import protection_sentence

    numbers = (budget.epsilon, state.spent, state.left)
    return [budget.name, protection_sentence(budget), *map(_format_amount, numbers), str(state.charges)]


def _charge_row(charge: Charge) -> list[str]:
    queries = ", ".join(cost.query for cost in charge.costs)
    part = "" if charge.part is None else f"{charge.part.column} = {charge.part.value}"
    return [
        str(charge.number),
        charge.charged,
        charge.plan[:DIGEST_CHARS],
        queries,
        part,
        _format_amount(charge.epsilon),
    ]
