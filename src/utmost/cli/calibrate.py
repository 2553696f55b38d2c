"""`utmost calibrate`: the least ε that makes an answer as good as asked, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.data.queries import Grid
    from utmost.publish.epsilon_search import Calibration

EXAMPLES = (
    "Examples: utmost calibrate count --error 5 --confidence 0.95;  "
    "utmost calibrate count --size 944 --prior binomial:0.45 --loss absolute --expected-loss 5;  "
    "utmost calibrate mean --low 18 --high 91 --step 1 --rows 944 --error 1"
)

app = typer.Typer(
    help="The least ε for the accuracy asked.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """The least ε for the accuracy asked."""
    if context.invoked_subcommand is None:
        print(context.get_help())


Error = Annotated[str, typer.Option(metavar="E", help="Off by at most this, in the value's unit.")]
Share = Annotated[str, typer.Option("--confidence", metavar="P", help="With at least this probability.")]
Kept = Annotated[str, typer.Option(metavar="K", help="Rows kept of each person; 1 where each row is a unit.")]
Relation = Annotated[str, typer.Option("--neighbours", metavar="HOW", help="replace or add-remove.")]
Low = Annotated[str, typer.Option(metavar="L", help="The least value on the grid.")]
High = Annotated[str, typer.Option(metavar="H", help="The largest value on the grid.")]
Step = Annotated[str, typer.Option(metavar="S", help="The grid's step.")]
Selected = Annotated[bool, typer.Option("--selected", help="Only some rows are in it: their number is secret.")]
Digits = Annotated[int, typer.Option(metavar="D", help="Significant digits of ε.")]
PRIORS = "uniform, 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or FILE."
LOSSES = "absolute, squared, binary, power:1.5, asymmetric:2,1, drawn:-2:4,0:0,2:1 or matrix:FILE."


@app.command("count", epilog=EXAMPLES)
def count_command(
    error: Annotated[str | None, typer.Option(metavar="E", help="Off by at most this many.")] = None,
    confidence: Share = "0.95",
    sensitivity: Annotated[str, typer.Option(metavar="K", help="How far one unit moves the count.")] = "1",
    expected: Annotated[
        str | None, typer.Option("--expected-loss", metavar="X", help="Instead: the reader's expected loss, at most.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="N", help="The count's upper end.")] = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIORS)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSSES)] = "absolute",
    digits: Digits = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a count: by its error, or by a reader's expected loss."""
    from utmost.data.queries import Count
    from utmost.publish import calibration

    if (error is None) == (expected is None):
        raise InputError("--error or --expected-loss must be given, one of the two: say for instance --error 5")
    if expected is None:
        made = calibration.calibrate_error(
            Count("some"), calibration.privacy_setting(kept=sensitivity), error, confidence, digits=digits
        )
        return _show(made, "a count", {"kind": "count", "error": error, "sensitivity": sensitivity}, json)
    if size is None:
        raise InputError("--size must be given with --expected-loss: say the count's upper end")
    made = calibration.calibrate_loss(size, expected, prior, loss, sensitivity=sensitivity, digits=digits)
    asked = {"kind": "count", "size": size, "prior": prior, "loss_function": loss, "sensitivity": sensitivity}
    return _show(made, f"a reader of a count up to {size}", asked, json)


@app.command("histogram", epilog=EXAMPLES)
def histogram_command(
    cells: Annotated[int, typer.Option(metavar="M", help="How many cells.")],
    error: Error,
    confidence: Share = "0.95",
    together: Annotated[bool, typer.Option("--together", help="All cells at once, not each on its own.")] = False,
    kept: Kept = "1",
    neighbours: Relation = "replace",
    digits: Digits = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for the cells of a histogram: each on its own, or all at once."""
    from utmost.data.queries import MAX_HISTOGRAM_CELLS, Histogram
    from utmost.publish import calibration

    if not 1 <= cells <= MAX_HISTOGRAM_CELLS:
        raise InputError(f"--cells must be from 1 to {MAX_HISTOGRAM_CELLS}, got {cells}")
    query = Histogram({"cell": tuple(range(cells))})
    given = calibration.privacy_setting(neighbours, kept)
    made = calibration.calibrate_error(query, given, error, confidence, digits=digits, together=together)
    asked = {"kind": "histogram", "cells": cells, "together": together, "error": error}
    _show(made, "every cell" if together else "each cell", asked | {"kept": kept, "neighbours": neighbours}, json)


@app.command("sum", epilog=EXAMPLES)
def sum_command(
    low: Low,
    high: High,
    step: Step,
    error: Error,
    confidence: Share = "0.95",
    selected: Selected = False,
    kept: Kept = "1",
    neighbours: Relation = "replace",
    digits: Digits = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a sum of values on a grid."""
    from utmost.data.queries import Sum
    from utmost.publish import calibration

    grid = _grid(low, high, step)
    query = Sum("value", grid, None if selected else grid.low, "some" if selected else None)
    made = calibration.calibrate_error(
        query, calibration.privacy_setting(neighbours, kept), error, confidence, digits=digits
    )
    asked = {"kind": "sum", "error": error, **_bounds(grid), "selected": selected}
    _show(made, "a sum", asked | {"kept": kept, "neighbours": neighbours}, json)


@app.command("mean", epilog=EXAMPLES)
def mean_command(
    low: Low,
    high: High,
    step: Step,
    rows: Annotated[str, typer.Option(metavar="N", help="How many rows; about how many where that is secret.")],
    error: Error,
    confidence: Share = "0.95",
    selected: Selected = False,
    kept: Kept = "1",
    neighbours: Relation = "replace",
    digits: Digits = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a mean of values on a grid."""
    from utmost.data.queries import Mean
    from utmost.exact import integer
    from utmost.publish import calibration

    grid, number = _grid(low, high, step), integer(rows, "rows")
    if not 1 <= number <= 10**12:
        raise InputError(f"--rows must be from 1 to 10^12, got {rows[:40]}")
    query = Mean("value", grid, None if selected else grid.low, "some" if selected else None)
    given = calibration.privacy_setting(neighbours, kept, number)
    made = calibration.calibrate_error(query, given, error, confidence, digits=digits, rows=number)
    asked = {"kind": "mean", "error": error, **_bounds(grid), "rows": number, "selected": selected}
    _show(made, f"a mean of {number} rows", asked | {"kept": kept, "neighbours": neighbours}, json)


@app.command("quantile", epilog=EXAMPLES)
def quantile_command(
    low: Low,
    high: High,
    step: Step,
    error: Annotated[str, typer.Option(metavar="T", help="Fewer than this many rows on the wrong side.")],
    probability: Annotated[str, typer.Option(metavar="Q", help="Which quantile; 1/2 is the median.")] = "1/2",
    confidence: Share = "0.95",
    kept: Kept = "1",
    neighbours: Relation = "replace",
    digits: Digits = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for which the rank of a quantile is promised."""
    from utmost.data.queries import Quantile
    from utmost.exact import rational
    from utmost.publish import calibration

    grid, share = _grid(low, high, step), rational(probability, "probability")
    query = Quantile("value", grid, share, None)
    made = calibration.calibrate_error(
        query, calibration.privacy_setting(neighbours, kept), error, confidence, digits=digits
    )
    asked = {"kind": "quantile", "error": error, "probability": str(share), **_bounds(grid)}
    _show(made, "a quantile", asked | {"kept": kept, "neighbours": neighbours}, json)


def _grid(low: str, high: str, step: str) -> Grid:
    from utmost.data.queries import Grid
    from utmost.exact import rational

    return Grid(rational(low, "low"), rational(high, "high"), rational(step, "step"))


def _bounds(grid: Grid) -> dict[str, str]:
    return {"low": str(grid.low), "high": str(grid.high), "step": str(grid.step)}


def _show(made: Calibration, whose: str, asked: dict[str, Any], json: bool) -> None:
    from utmost.cli import output
    from utmost.publish.epsilon_search import exact_decimal

    below = (
        None
        if made.below is None
        else {"epsilon": exact_decimal(made.below), "reached": output.json_value(made.missed)}
    )
    if not json:
        return _text(made, whose)
    content = asked | {"target": str(made.target), "what": made.what, "epsilon": made.text}
    content |= {"reached": output.json_value(made.reached), "below": below, "digits": made.digits}
    return output.print_json(content | {"decided": made.how, "remark": made.remark or None})


def _text(made: Calibration, whose: str) -> None:
    from utmost.cli import output
    from utmost.exact import decimal
    from utmost.publish.calibration import LOSS_TARGET
    from utmost.publish.epsilon_search import exact_decimal

    loss, target = made.what == LOSS_TARGET, decimal(made.target)
    wish = f"has an {LOSS_TARGET} of at most {target}" if loss else f"is {made.what} with probability {target} or more"
    if made.below is None or made.missed is None:
        return output.print_text(
            f"ε = 0: {whose} {wish} without any answer, from her prior alone ({decimal(made.reached)})."
        )
    output.print_text(f"ε = {made.text} is the least of {made.digits} digits with which {whose} {wish}.\n")
    rows = [
        [made.text, f"{made.reached:.10f}", "meets it"],
        [exact_decimal(made.below), f"{made.missed:.10f}", "misses it"],
    ]
    output.print_table(["ε", LOSS_TARGET if loss else "probability", ""], rows, left=0)
    return output.print_text(f"\nBoth are {made.how}{f'; {made.remark}' if made.remark else ''}.")
