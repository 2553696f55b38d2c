"""`utmost continuous`: from the theory of continuous results to a release; so far the grid that a release needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.continuous.grid_selection import GridAdvice, GridPromise, GridQuestion

EXAMPLES = (
    "Examples: utmost continuous grid --interval 0,100 --sensitivity 0.1 --epsilon 1 --extra-loss 0.01;  "
    "utmost continuous grid --interval 18,91 --rows 944 --epsilon 0.1 --extra-loss 0.1;  "
    "utmost continuous grid --interval 0,100 --sensitivity 0.1 --epsilon 1 --step 0.03 --json"
)
MOST_ROWS = 10**12
LOSSES = "absolute, squared, huber:0.1, power:1.5, asymmetric:2,1 or step:0.1."

app = typer.Typer(
    help="Numbers of an interval: the grid a release needs.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Numbers of an interval: the grid a release needs."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("grid", epilog=EXAMPLES)
def grid_command(
    interval: Annotated[str, typer.Option(metavar="A,B", help="Where the number lies: 0,100.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="What the release may tell: 1.")],
    sensitivity: Annotated[str | None, typer.Option(metavar="D", help="How far one unit moves the number.")] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="N", help="Instead: a mean of so many rows of the interval, each rounded.")
    ] = None,
    extra_loss: Annotated[str | None, typer.Option(metavar="X", help="The extra loss one accepts.")] = None,
    step: Annotated[str | None, typer.Option(metavar="S", help="Instead: what a grid of this step guarantees.")] = None,
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSSES)] = "absolute",
    json: JsonOption = False,
) -> None:
    """The coarsest grid on which a release loses at most so much more than the best mechanism on the continuum.

    For every prior. The best is sought among those that protect each distance d with ε·d/sensitivity.
    """
    from utmost.exact import rational

    if (extra_loss is None) == (step is None):
        raise InputError("--extra-loss or --step must be given, one of the two: say for instance --extra-loss 0.01")
    asked = _question(interval, sensitivity, rows, epsilon, loss)
    if step is not None:
        advice = _promised(asked, rational(step, "step"), rows is not None)
    else:
        advice = _advised(asked, rational(extra_loss, "extra loss"), rows is not None)
    given = {"interval": interval, "rows": rows, "extra_loss": extra_loss}
    _document(asked, advice, given) if json else _text(asked, advice, rows)


def _question(interval: str, sensitivity: str | None, rows: str | None, epsilon: str, loss: str) -> GridQuestion:
    from utmost.continuous.grid_selection import GridQuestion
    from utmost.continuous.interval import parse_interval
    from utmost.continuous.losses import parse_continuous_loss as loss_of
    from utmost.exact import epsilon as level_of
    from utmost.exact import integer, rational

    if (sensitivity is None) == (rows is None):
        raise InputError("--sensitivity or --rows must be given, one of the two: say for instance --sensitivity 0.1")
    ends, level = parse_interval(interval), level_of(epsilon)
    assert level.exponent is not None
    if rows is None:
        return GridQuestion(ends, rational(sensitivity, "sensitivity"), level.exponent, loss_of(loss))
    number = integer(rows, "rows")
    if not 1 <= number <= MOST_ROWS:
        raise InputError(f"--rows must be from 1 to 10^12, got {rows[:40]}")
    return GridQuestion(ends, ends.length / number, level.exponent, loss_of(loss))


def _advised(asked: GridQuestion, extra: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import coarsest_grid, coarsest_row_rounding

    return coarsest_row_rounding(asked, extra) if by_row else coarsest_grid(asked, extra)


def _promised(asked: GridQuestion, step: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import GridAdvice, grid_promise, rows_promise

    return GridAdvice(rows_promise(asked, step) if by_row else grid_promise(asked, step), None)


def _document(asked: GridQuestion, advice: GridAdvice, given: dict[str, Any]) -> None:
    from utmost.cli import output

    found, coarser = advice.promise, advice.coarser
    content = given | {"sensitivity": str(asked.sensitivity), "epsilon": str(asked.epsilon)}
    content |= {"loss_function": asked.loss.name, "N": found.size, "step": str(found.step)}
    content |= {"high": str(asked.interval.low + found.size * found.step), "sensitivity_steps": found.moves}
    content["epsilon_a_step"] = str(asked.epsilon / found.moves)
    content["terms"] = _terms(asked, found)
    content["extra"] = _float(found.extra)
    known = None if coarser is None else {"N": coarser.size, "step": str(coarser.step), "extra": _float(coarser.extra)}
    output.print_json(content | {"coarser": known, "guarantee": _guarantee(asked, found)})


def _terms(asked: GridQuestion, found: GridPromise) -> dict[str, Any]:
    return {
        "best": _float(asked.best),
        "factor": _float(found.factor),
        "rounding": _float(found.rounding),
        "sensitivity": _float(found.stretch),
        "alone": _float(found.alone),
    }


def _float(value: Fraction | None) -> float | None:
    """A double of 12 digits that is not below the bound."""
    from utmost.continuous.grid_selection import decimal_above

    return None if value is None else float(decimal_above(value, 12))


def _guarantee(asked: GridQuestion, found: GridPromise) -> str:
    from utmost.continuous.grid_selection import decimal_above
    from utmost.exact import decimal

    private = f"the release is private at ε = {asked.epsilon}"
    if found.extra is None:
        return f"{private}; nothing is known of what {asked.loss.name} loses on so coarse a grid"
    return (
        f"{private}; whatever her prior, a reader with loss {asked.loss.name} loses at most "
        f"{decimal_above(found.extra)} "
        f"more than with the best mechanism that protects each distance d with ε·d/{decimal(asked.sensitivity)}"
    )


def _text(asked: GridQuestion, advice: GridAdvice, rows: str | None) -> None:
    from utmost.cli import output

    found, low = advice.promise, asked.interval.low
    output.print_text(f"N = {found.size} steps of {found.step}, from {low} to {low + found.size * found.step}.")
    if rows is None:
        noise = f"ε/{found.moves} = {asked.epsilon / found.moves} a step"
        output.print_text(f"The number is rounded to the nearest point and has geometric noise of {noise}.\n")
    else:
        output.print_text(
            f'Each row is rounded before they are added up; in a plan: step = "{found.step}", or extra_loss.\n'
        )
    output.print_table(("", "at most"), [*_rows(asked, found, rows), *_next(advice)])
    output.print_text(f"\nGuarantee: {_guarantee(asked, found)}.")


def _rows(asked: GridQuestion, found: GridPromise, rows: str | None) -> list[tuple[str, str]]:
    from utmost.exact import decimal

    exponent = f"ε/{2 * found.moves}" if rows is None else f"{decimal(asked.rate * found.step / 2)}"
    half = "" if rows is None else ", and a whole step"
    lines = [("what the best mechanism loses, for any prior", _bound(asked.best))]
    lines.append((f"rounding: e^({exponent}) times that, less that{half}", _bound(found.rounding)))
    if found.stretch != 0:
        over = f"{found.moves} steps, {decimal(found.moves * found.step)}, for {decimal(asked.sensitivity)}"
        lines.append((f"noise for {over}", _bound(found.stretch)))
    if found.alone is not None and found.alone == found.extra:
        lines.append(("or else what the release loses, read as it stands", _bound(found.alone)))
    return [*lines, ("extra loss of the release", _bound(found.extra))]


def _next(advice: GridAdvice) -> list[tuple[str, str]]:
    coarser = advice.coarser
    return [] if coarser is None else [(f"with {coarser.size} steps it would be", _bound(coarser.extra))]


def _bound(value: Fraction | None) -> str:
    from utmost.continuous.grid_selection import decimal_above

    return "unknown" if value is None else decimal_above(value)
