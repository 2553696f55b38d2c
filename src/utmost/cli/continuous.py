"""`utmost continuous`: from the theory of continuous results to a release; so far the grid that a release needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import CommandGroup, FamilyCommand, IntervalLossOption, JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.continuous.grid_selection import GridAdvice, GridQuestion

EXAMPLES = (
    "Examples: utmost continuous grid --interval 0,100 --sensitivity 0.1 --epsilon 1 --extra-loss 0.01;  "
    "utmost continuous grid --interval 18,91 --rows 944 --epsilon 0.1 --extra-loss 0.1;  "
    "utmost continuous grid --interval 0,100 --sensitivity 0.1 --epsilon 1 --step 0.03 --json"
)
MAX_ROWS = 10**12

app = typer.Typer(
    cls=CommandGroup,
    help="Choose the grid for a number from an interval.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Choose the grid for a number from an interval."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("grid", cls=FamilyCommand, epilog=EXAMPLES)
def grid_command(
    interval: Annotated[str, typer.Option(metavar="A,B", help="Interval of the number: 0,100.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="What the release may tell: 1.")],
    sensitivity: Annotated[str | None, typer.Option(metavar="D", help="Most that one unit moves the number.")] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="N", help="Rows of a mean, each rounded; instead of --sensitivity.")
    ] = None,
    extra_loss: Annotated[str | None, typer.Option(metavar="X", help="Accepted extra loss.")] = None,
    step: Annotated[str | None, typer.Option(metavar="S", help="Step to evaluate, instead of --extra-loss.")] = None,
    loss: IntervalLossOption = "absolute",
    json: JsonOption = False,
) -> None:
    """Find the coarsest grid for an accepted extra loss.

    The extra loss is that of a release on the grid over the best mechanism on the whole interval, for every prior,
    among mechanisms that protect each distance d with ε·d/sensitivity.
    """
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.reports.grid import describe

    if (extra_loss is None) == (step is None):
        raise InputError(
            "--extra-loss or --step must be given, one of the two", "extra_loss", "say for instance --extra-loss 0.01"
        )
    question = _parse_question(interval, sensitivity, rows, epsilon, loss)
    if step is not None:
        advice = _evaluate_step(question, rational(step, "step"), rows is not None)
    else:
        advice = _choose_grid(question, rational(extra_loss, "extra loss"), rows is not None)
    options = {"interval": interval, "rows": rows, "extra_loss": extra_loss}
    print_report(describe(question, advice, by_row=rows is not None, options=options), json)


def _parse_question(interval: str, sensitivity: str | None, rows: str | None, epsilon: str, loss: str) -> GridQuestion:
    from utmost import exact
    from utmost.continuous.grid_selection import GridQuestion
    from utmost.continuous.interval import parse_interval
    from utmost.continuous.losses import parse_continuous_loss

    if (sensitivity is None) == (rows is None):
        raise InputError(
            "--sensitivity or --rows must be given, one of the two", "sensitivity", "say for instance --sensitivity 0.1"
        )
    parsed_interval, level = parse_interval(interval), exact.epsilon(epsilon)
    assert level.exponent is not None
    if rows is None:
        return GridQuestion(
            parsed_interval, exact.rational(sensitivity, "sensitivity"), level.exponent, parse_continuous_loss(loss)
        )
    number = exact.integer(rows, "rows")
    if not 1 <= number <= MAX_ROWS:
        raise InputError(f"--rows must be from 1 to 10^12, got {rows[:40]}", "rows")
    return GridQuestion(parsed_interval, parsed_interval.length / number, level.exponent, parse_continuous_loss(loss))


def _choose_grid(question: GridQuestion, extra: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import coarsest_grid, coarsest_row_rounding

    return coarsest_row_rounding(question, extra) if by_row else coarsest_grid(question, extra)


def _evaluate_step(question: GridQuestion, step: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import GridAdvice, grid_promise, rows_promise

    return GridAdvice(rows_promise(question, step) if by_row else grid_promise(question, step), None)
