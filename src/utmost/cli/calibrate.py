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


ErrorOption = Annotated[str, typer.Option(metavar="E", help="Off by at most this, in the value's unit.")]
ConfidenceOption = Annotated[str, typer.Option("--confidence", metavar="P", help="With at least this probability.")]
KeptOption = Annotated[str, typer.Option(metavar="K", help="Rows kept of each person; 1 where each row is a unit.")]
NeighboursOption = Annotated[str, typer.Option("--neighbours", metavar="HOW", help="replace or add-remove.")]
LowOption = Annotated[str, typer.Option(metavar="L", help="The least value on the grid.")]
HighOption = Annotated[str, typer.Option(metavar="H", help="The largest value on the grid.")]
StepOption = Annotated[str, typer.Option(metavar="S", help="The grid's step.")]
SelectedOption = Annotated[bool, typer.Option("--selected", help="Only some rows are in it: their number is secret.")]
DigitsOption = Annotated[int, typer.Option(metavar="D", help="Significant digits of ε.")]
PRIOR_HELP = "uniform, 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or FILE."
LOSS_HELP = "absolute, squared, binary, power:1.5, asymmetric:2,1, drawn:-2:4,0:0,2:1 or matrix:FILE."


@app.command("count", epilog=EXAMPLES)
def count_command(
    error: Annotated[str | None, typer.Option(metavar="E", help="Off by at most this many.")] = None,
    confidence: ConfidenceOption = "0.95",
    sensitivity: Annotated[str, typer.Option(metavar="K", help="How far one unit moves the count.")] = "1",
    expected: Annotated[
        str | None, typer.Option("--expected-loss", metavar="X", help="Instead: the reader's expected loss, at most.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="N", help="The count's upper end.")] = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIOR_HELP)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSS_HELP)] = "absolute",
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a count: by its error, or by a reader's expected loss."""
    from utmost.data.queries import Count
    from utmost.publish import calibration

    if (error is None) == (expected is None):
        raise InputError("--error or --expected-loss must be given, one of the two: say for instance --error 5")
    if expected is None:
        result = calibration.calibrate_error(
            Count("some"), calibration.privacy_setting(kept=sensitivity), error, confidence, digits=digits
        )
        return _print_calibration(
            result, "a count", {"kind": "count", "error": error, "sensitivity": sensitivity}, json
        )
    if size is None:
        raise InputError("--size must be given with --expected-loss: say the count's upper end")
    result = calibration.calibrate_loss(size, expected, prior, loss, sensitivity=sensitivity, digits=digits)
    request = {"kind": "count", "size": size, "prior": prior, "loss_function": loss, "sensitivity": sensitivity}
    return _print_calibration(result, f"a reader of a count up to {size}", request, json)


@app.command("histogram", epilog=EXAMPLES)
def histogram_command(
    cells: Annotated[int, typer.Option(metavar="M", help="How many cells.")],
    error: ErrorOption,
    confidence: ConfidenceOption = "0.95",
    together: Annotated[bool, typer.Option("--together", help="All cells at once, not each on its own.")] = False,
    kept: KeptOption = "1",
    neighbours: NeighboursOption = "replace",
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for the cells of a histogram: each on its own, or all at once."""
    from utmost.data.queries import MAX_HISTOGRAM_CELLS, Histogram
    from utmost.publish import calibration

    if not 1 <= cells <= MAX_HISTOGRAM_CELLS:
        raise InputError(f"--cells must be from 1 to {MAX_HISTOGRAM_CELLS}, got {cells}")
    query = Histogram({"cell": tuple(range(cells))})
    setting = calibration.privacy_setting(neighbours, kept)
    result = calibration.calibrate_error(query, setting, error, confidence, digits=digits, together=together)
    request = {"kind": "histogram", "cells": cells, "together": together, "error": error}
    _print_calibration(
        result, "every cell" if together else "each cell", request | {"kept": kept, "neighbours": neighbours}, json
    )


@app.command("sum", epilog=EXAMPLES)
def sum_command(
    low: LowOption,
    high: HighOption,
    step: StepOption,
    error: ErrorOption,
    confidence: ConfidenceOption = "0.95",
    selected: SelectedOption = False,
    kept: KeptOption = "1",
    neighbours: NeighboursOption = "replace",
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a sum of values on a grid."""
    from utmost.data.queries import Sum
    from utmost.publish import calibration

    grid = _parse_grid(low, high, step)
    query = Sum("value", grid, None if selected else grid.low, "some" if selected else None)
    result = calibration.calibrate_error(
        query, calibration.privacy_setting(neighbours, kept), error, confidence, digits=digits
    )
    request = {"kind": "sum", "error": error, **_grid_document(grid), "selected": selected}
    _print_calibration(result, "a sum", request | {"kept": kept, "neighbours": neighbours}, json)


@app.command("mean", epilog=EXAMPLES)
def mean_command(
    low: LowOption,
    high: HighOption,
    step: StepOption,
    rows: Annotated[str, typer.Option(metavar="N", help="How many rows; about how many where that is secret.")],
    error: ErrorOption,
    confidence: ConfidenceOption = "0.95",
    selected: SelectedOption = False,
    kept: KeptOption = "1",
    neighbours: NeighboursOption = "replace",
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for a mean of values on a grid."""
    from utmost.data.queries import Mean
    from utmost.exact import integer
    from utmost.publish import calibration

    grid, row_count = _parse_grid(low, high, step), integer(rows, "rows")
    if not 1 <= row_count <= 10**12:
        raise InputError(f"--rows must be from 1 to 10^12, got {rows[:40]}")
    query = Mean("value", grid, None if selected else grid.low, "some" if selected else None)
    setting = calibration.privacy_setting(neighbours, kept, row_count)
    result = calibration.calibrate_error(query, setting, error, confidence, digits=digits, rows=row_count)
    request = {"kind": "mean", "error": error, **_grid_document(grid), "rows": row_count, "selected": selected}
    _print_calibration(result, f"a mean of {row_count} rows", request | {"kept": kept, "neighbours": neighbours}, json)


@app.command("quantile", epilog=EXAMPLES)
def quantile_command(
    low: LowOption,
    high: HighOption,
    step: StepOption,
    error: Annotated[str, typer.Option(metavar="T", help="Fewer than this many rows on the wrong side.")],
    probability: Annotated[str, typer.Option(metavar="Q", help="Which quantile; 1/2 is the median.")] = "1/2",
    confidence: ConfidenceOption = "0.95",
    kept: KeptOption = "1",
    neighbours: NeighboursOption = "replace",
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """The least ε for which the rank of a quantile is promised."""
    from utmost.data.queries import Quantile
    from utmost.exact import rational
    from utmost.publish import calibration

    grid, fraction = _parse_grid(low, high, step), rational(probability, "probability")
    query = Quantile("value", grid, fraction, None)
    result = calibration.calibrate_error(
        query, calibration.privacy_setting(neighbours, kept), error, confidence, digits=digits
    )
    request = {"kind": "quantile", "error": error, "probability": str(fraction), **_grid_document(grid)}
    _print_calibration(result, "a quantile", request | {"kept": kept, "neighbours": neighbours}, json)


def _parse_grid(low: str, high: str, step: str) -> Grid:
    from utmost.data.queries import Grid
    from utmost.exact import rational

    return Grid(rational(low, "low"), rational(high, "high"), rational(step, "step"))


def _grid_document(grid: Grid) -> dict[str, str]:
    return {"low": str(grid.low), "high": str(grid.high), "step": str(grid.step)}


def _print_calibration(calibration: Calibration, subject: str, request: dict[str, Any], json: bool) -> None:
    from utmost.cli import output
    from utmost.publish.epsilon_search import exact_decimal

    below = (
        None
        if calibration.below is None
        else {"epsilon": exact_decimal(calibration.below), "reached": output.json_value(calibration.achieved_below)}
    )
    if not json:
        return _print_text(calibration, subject)
    content = request | {"target": str(calibration.target), "what": calibration.what, "epsilon": calibration.text}
    content |= {"reached": output.json_value(calibration.achieved), "below": below, "digits": calibration.digits}
    return output.print_json(content | {"decided": calibration.decided_by, "remark": calibration.remark or None})


def _print_text(calibration: Calibration, subject: str) -> None:
    from utmost.cli import output
    from utmost.exact import decimal
    from utmost.publish.calibration import LOSS_TARGET
    from utmost.publish.epsilon_search import exact_decimal

    is_loss, target = calibration.what == LOSS_TARGET, decimal(calibration.target)
    requirement = (
        f"has an {LOSS_TARGET} of at most {target}"
        if is_loss
        else f"is {calibration.what} with probability {target} or more"
    )
    if calibration.below is None or calibration.achieved_below is None:
        return output.print_text(
            f"ε = 0: {subject} {requirement} without any answer, "
            f"from her prior alone ({decimal(calibration.achieved)})."
        )
    output.print_text(
        f"ε = {calibration.text} is the least of {calibration.digits} digits with which {subject} {requirement}.\n"
    )
    rows = [
        [calibration.text, f"{calibration.achieved:.10f}", "meets it"],
        [exact_decimal(calibration.below), f"{calibration.achieved_below:.10f}", "misses it"],
    ]
    output.print_table(["ε", LOSS_TARGET if is_loss else "probability", ""], rows, text_columns=0)
    return output.print_text(
        f"\nBoth are {calibration.decided_by}{f'; {calibration.remark}' if calibration.remark else ''}."
    )
