"""`utmost plan`: strategies for a table, side by side, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, PlotOption, check_ending, save_plot
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.planning import StrategyComparison

EXAMPLES = (
    "Examples: utmost plan places.toml;  utmost plan places.toml --workload prefix --rho 0.05 --plot plan.svg;  "
    "utmost plan --tree 8x8x8 --epsilon 1;  utmost plan --columns 8x8x8 --workload marginals:2 --rho 0.05;  "
    "utmost plan --cells 512 --workload prefix --rho 0.05"
)
MAX_NUMBERS = 12


def command(
    plan: Annotated[
        str | None, typer.Argument(metavar="[PLAN]", help="A plan with a [[table]]: places.toml.", show_default=False)
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="One table of the plan; all without it.")] = None,
    cells: Annotated[str | None, typer.Option(metavar="N", help="Without a plan: cells in a row, and blocks.")] = None,
    tree: Annotated[
        str | None, typer.Option(metavar="AxB", help="Without a plan: a hierarchy, each cell of so many parts: 8x8.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="AxB", help="Without a plan: crossed columns of so many values: 8x8x8.")
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(metavar="W", help="levels, cells, prefix, ranges or marginals:2; the plan's without it."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="ε of the whole table: geometric noise.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="R", help="ρ of the whole table instead: Gaussian noise.")] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compare strategies for a table before anything is spent.

    How the levels of a table share its price: the variance of each level and of what the table is for, the gain over
    the cells alone, and c: no linear unbiased strategy has less than 1/c of this variance, which is proved.
    """
    from utmost.cli.output import print_report, progress_line
    from utmost.reports import strategies as report

    check_ending(plot, CHART_ENDINGS, "--plot")
    shapes = {"--cells": cells, "--tree": tree, "--columns": columns}
    given = [name for name, value in shapes.items() if value is not None]
    if (plan is not None) + len(given) != 1:
        problem = "PLAN, --cells, --tree or --columns must be given, one of them"
        raise InputError(problem, "plan", "say for instance utmost plan --tree 8x8 --epsilon 1")
    if plan is None and table is not None:
        raise InputError("--table must be given with a plan", "--table")
    with progress_line("strategies"):
        if plan is not None:
            comparisons = _of_plan(plan, table, workload, epsilon, rho)
        else:
            comparisons = [_of_shape(given[0], shapes[given[0]] or "", workload, epsilon, rho)]
    if plot is not None and len(comparisons) > 1:
        raise InputError("--plot must be of one table", "--plot", "name it: --table NAME")
    save_plot(plot, lambda: report.figure(comparisons[0]))
    print_report(report.describe_all(comparisons), json)


def _of_plan(
    plan: str, table: str | None, workload: str | None, epsilon: str | None, rho: str | None
) -> list[StrategyComparison]:
    from utmost.publish.table_strategies import strategies

    return list(strategies(plan, table=table, workload=workload, epsilon=epsilon, rho=rho))


def _of_shape(shape: str, text: str, workload: str | None, epsilon: str | None, rho: str | None) -> StrategyComparison:
    from utmost.planning import compare_strategies

    sizes = _sizes(text, shape)
    if shape == "--cells":
        if len(sizes) != 1:
            raise InputError("--cells must be one number", shape, "say for instance --cells 64")
        return compare_strategies(workload or "prefix", epsilon=epsilon, rho=rho, cells=sizes[0])
    if shape == "--tree":
        return compare_strategies(workload or "levels", epsilon=epsilon, rho=rho, tree=sizes)
    default = f"marginals:{min(2, len(sizes))}"
    return compare_strategies(workload or default, epsilon=epsilon, rho=rho, columns=sizes)


def _sizes(text: str, shape: str) -> list[int]:
    parts = text.replace("×", "x").split("x")
    if len(parts) > MAX_NUMBERS or not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        problem = f'{shape} must be 1 to {MAX_NUMBERS} whole numbers with x between them, got "{text[:40]}"'
        raise InputError(problem, shape, "write 8x8x8")
    return [int(part) for part in parts]
