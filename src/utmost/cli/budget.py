"""`utmost budget`: opens and closes budgets in a ledger and shows what was charged to them."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.options import CommandGroup, JsonOption
from utmost.errors import InputError
from utmost.ledger.compositions import registry as compositions
from utmost.ledger.stores import registry as stores

EXAMPLES = (
    "Examples: utmost budget open survey --epsilon 1;  utmost budget show survey;  "
    "utmost budget open panel --epsilon 2 --delta 1e-6 --composition pld --ledger postgresql://..."
)
DEFAULT_LEDGER = "ledger.sqlite"  # the plan's default too

app = typer.Typer(
    cls=CommandGroup,
    help="Open and close budgets and list what was charged to them.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Open and close budgets and list what was charged to them."""
    if context.invoked_subcommand is None:
        print(context.get_help())


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the budget.")]
LedgerOption = Annotated[str, typer.Option("--ledger", metavar="LEDGER", help=f"{stores.choices_text()}.")]


@app.command("open", epilog=EXAMPLES)
def open_command(
    name: NameArgument,
    epsilon: Annotated[str, typer.Option(metavar="E", help="Total ε for all releases: 1.")] = "",
    ledger: LedgerOption = DEFAULT_LEDGER,
    delta: Annotated[str, typer.Option(metavar="D", help="Total δ of (ε, δ), which found keys need: 1e-6.")] = "0",
    rho: Annotated[str, typer.Option(metavar="R", help="Total ρ of a zcdp budget, in place of --epsilon.")] = "",
    composition: Annotated[
        str,
        typer.Option(metavar="HOW", help=f"{compositions.choices_text()}. Default: pure, or approximate with --delta."),
    ] = "",
    unit: Annotated[str, typer.Option(metavar="UNIT", help="row, or the column that names a person.")] = "row",
    neighbours: Annotated[str, typer.Option(metavar="KIND", help="replace or add-remove.")] = "replace",
    remember: Annotated[
        bool,
        typer.Option(
            "--remember/--no-remember", help="Repeat the same release for free; needs a fingerprint in the plan."
        ),
    ] = True,
    json: JsonOption = False,
) -> None:
    """Open a budget. The first one creates the ledger."""
    from utmost import ledger as ledgers
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.ledger.compositions.zcdp import epsilon_for_rho
    from utmost.reports.budget import describe

    total_delta = rational(delta, "--delta")
    if rho:
        composition = _check_rho_terms(epsilon, composition)
        total = epsilon_for_rho(rational(rho, "--rho"), total_delta)
    elif not epsilon:
        raise InputError("--epsilon is missing", "--epsilon", "say for instance --epsilon 1")
    else:
        total = rational(epsilon, "--epsilon")
    budget = ledgers.Budget(name, total, total_delta, composition, unit, neighbours, remember)
    with ledgers.open_ledger(ledger) as opened_ledger:
        opened_budget = opened_ledger.open(budget)
        print_report(describe(opened_budget, opened_ledger.state(name)), json)


def _check_rho_terms(epsilon: str, composition: str) -> str:
    """The composition of a budget that is given by ρ; refuses --epsilon and other compositions beside it."""
    if epsilon:
        raise InputError("--rho must be given in place of --epsilon, got both", "--rho", "leave one out")
    if composition not in ("", "zcdp"):
        raise InputError(f"--rho must be of a zcdp budget, got composition {composition}", "--rho", "leave one out")
    return "zcdp"


@app.command("close", epilog=EXAMPLES)
def close_command(name: NameArgument, ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """Close a budget: no further charges. It can still be shown."""
    from utmost import ledger as ledgers
    from utmost.cli.output import print_report
    from utmost.reports.budget import describe

    with ledgers.open_ledger(ledger) as opened_ledger:
        closed_budget = opened_ledger.close_budget(name)
        print_report(describe(closed_budget, opened_ledger.state(name)), json)


@app.command("show", epilog=EXAMPLES)
def show_command(name: NameArgument, ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """Show what a budget has spent and has left."""
    from utmost import ledger as ledgers
    from utmost.cli.output import print_report
    from utmost.reports.budget import describe

    with ledgers.open_ledger(ledger) as opened_ledger:
        print_report(describe(opened_ledger.budget(name), opened_ledger.state(name)), json)


@app.command("list", epilog=EXAMPLES)
def list_command(ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """List the budgets of a ledger."""
    from utmost import ledger as ledgers
    from utmost.cli.output import print_report
    from utmost.reports.budget import describe_list

    with ledgers.open_ledger(ledger) as opened_ledger:
        entries = [(budget, opened_ledger.state(budget.name)) for budget in opened_ledger.budgets()]
    print_report(describe_list(entries), json)


@app.command("history", epilog=EXAMPLES)
def history_command(name: NameArgument, ledger: LedgerOption = DEFAULT_LEDGER, json: JsonOption = False) -> None:
    """List the charges to a budget."""
    from utmost import ledger as ledgers
    from utmost.cli.output import print_report
    from utmost.reports.budget import describe_history

    with ledgers.open_ledger(ledger) as opened_ledger:
        charges, state = opened_ledger.history(name), opened_ledger.state(name)
    print_report(describe_history(name, charges, state), json)
