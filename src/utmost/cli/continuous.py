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
BOUND_DIGITS = 4
MAX_ROWS = 10**12
LOSS_HELP = "absolute, squared, huber:0.1, power:1.5, asymmetric:2,1 or step:0.1."

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
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSS_HELP)] = "absolute",
    json: JsonOption = False,
) -> None:
    """The coarsest grid on which a release loses at most so much more than the best mechanism on the continuum.

    For every prior. The best is sought among those that protect each distance d with ε·d/sensitivity.
    """
    from utmost.exact import rational

    if (extra_loss is None) == (step is None):
        raise InputError("--extra-loss or --step must be given, one of the two: say for instance --extra-loss 0.01")
    question = _parse_question(interval, sensitivity, rows, epsilon, loss)
    if step is not None:
        advice = _evaluate_step(question, rational(step, "step"), rows is not None)
    else:
        advice = _choose_grid(question, rational(extra_loss, "extra loss"), rows is not None)
    options = {"interval": interval, "rows": rows, "extra_loss": extra_loss}
    _print_json(question, advice, options) if json else _print_text(question, advice, rows)


def _parse_question(interval: str, sensitivity: str | None, rows: str | None, epsilon: str, loss: str) -> GridQuestion:
    from utmost import exact
    from utmost.continuous.grid_selection import GridQuestion
    from utmost.continuous.interval import parse_interval
    from utmost.continuous.losses import parse_continuous_loss

    if (sensitivity is None) == (rows is None):
        raise InputError("--sensitivity or --rows must be given, one of the two: say for instance --sensitivity 0.1")
    parsed_interval, level = parse_interval(interval), exact.epsilon(epsilon)
    assert level.exponent is not None
    if rows is None:
        return GridQuestion(
            parsed_interval, exact.rational(sensitivity, "sensitivity"), level.exponent, parse_continuous_loss(loss)
        )
    number = exact.integer(rows, "rows")
    if not 1 <= number <= MAX_ROWS:
        raise InputError(f"--rows must be from 1 to 10^12, got {rows[:40]}")
    return GridQuestion(parsed_interval, parsed_interval.length / number, level.exponent, parse_continuous_loss(loss))


def _choose_grid(question: GridQuestion, extra: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import coarsest_grid, coarsest_row_rounding

    return coarsest_row_rounding(question, extra) if by_row else coarsest_grid(question, extra)


def _evaluate_step(question: GridQuestion, step: Fraction, by_row: bool) -> GridAdvice:
    from utmost.continuous.grid_selection import GridAdvice, grid_promise, rows_promise

    return GridAdvice(rows_promise(question, step) if by_row else grid_promise(question, step), None)


def _print_json(question: GridQuestion, advice: GridAdvice, options: dict[str, Any]) -> None:
    from utmost.cli import output

    promise, coarser = advice.promise, advice.coarser
    content = options | {"sensitivity": str(question.sensitivity), "epsilon": str(question.epsilon)}
    content |= {"loss_function": question.loss.name, "N": promise.size, "step": str(promise.step)}
    content |= {"high": str(question.interval.low + promise.size * promise.step), "sensitivity_steps": promise.moves}
    content["epsilon_a_step"] = str(question.epsilon / promise.moves)
    content["terms"] = _terms_document(question, promise)
    content["extra"] = _json_upper_bound(promise.extra)
    coarser_content = (
        None
        if coarser is None
        else {"N": coarser.size, "step": str(coarser.step), "extra": _json_upper_bound(coarser.extra)}
    )
    output.print_json(content | {"coarser": coarser_content, "guarantee": _guarantee_sentence(question, promise)})


def _terms_document(question: GridQuestion, promise: GridPromise) -> dict[str, Any]:
    return {
        "best": _json_upper_bound(question.best),
        "factor": _json_upper_bound(promise.factor),
        "rounding": _json_upper_bound(promise.rounding),
        "sensitivity": _json_upper_bound(promise.stretch),
        "alone": _json_upper_bound(promise.alone),
    }


def _json_upper_bound(value: Fraction | None) -> float | str | None:
    """A double of 12 digits that is not below the bound."""
    from utmost.exact import json_above

    return None if value is None else json_above(value)


def _guarantee_sentence(question: GridQuestion, promise: GridPromise) -> str:
    from utmost.exact import decimal, decimal_above

    private = f"the release is private at ε = {question.epsilon}"
    if promise.extra is None:
        return f"{private}; nothing is known of what {question.loss.name} loses on so coarse a grid"
    return (
        f"{private}; whatever her prior, a reader with loss {question.loss.name} loses at most "
        f"{decimal_above(promise.extra, BOUND_DIGITS)} "
        f"more than with the best mechanism that protects each distance d with ε·d/{decimal(question.sensitivity)}"
    )


def _print_text(question: GridQuestion, advice: GridAdvice, rows: str | None) -> None:
    from utmost.cli import output

    promise, low = advice.promise, question.interval.low
    output.print_text(f"N = {promise.size} steps of {promise.step}, from {low} to {low + promise.size * promise.step}.")
    if rows is None:
        noise = f"ε/{promise.moves} = {question.epsilon / promise.moves} a step"
        output.print_text(f"The number is rounded to the nearest point and has geometric noise of {noise}.\n")
    else:
        output.print_text(
            f'Each row is rounded before they are added up; in a plan: step = "{promise.step}", or extra_loss.\n'
        )
    output.print_table(("", "at most"), [*_term_rows(question, promise, rows), *_coarser_rows(advice)])
    output.print_text(f"\nGuarantee: {_guarantee_sentence(question, promise)}.")


def _term_rows(question: GridQuestion, promise: GridPromise, rows: str | None) -> list[tuple[str, str]]:
    from utmost.exact import decimal

    exponent = f"ε/{2 * promise.moves}" if rows is None else f"{decimal(question.rate * promise.step / 2)}"
    whole_step = "" if rows is None else ", and a whole step"
    lines = [("what the best mechanism loses, for any prior", _bound_text(question.best))]
    lines.append((f"rounding: e^({exponent}) times that, less that{whole_step}", _bound_text(promise.rounding)))
    if promise.stretch != 0:
        distances = (
            f"{promise.moves} steps, {decimal(promise.moves * promise.step)}, for {decimal(question.sensitivity)}"
        )
        lines.append((f"noise for {distances}", _bound_text(promise.stretch)))
    if promise.alone is not None and promise.alone == promise.extra:
        lines.append(("or else what the release loses, read as it stands", _bound_text(promise.alone)))
    return [*lines, ("extra loss of the release", _bound_text(promise.extra))]


def _coarser_rows(advice: GridAdvice) -> list[tuple[str, str]]:
    coarser = advice.coarser
    return [] if coarser is None else [(f"with {coarser.size} steps it would be", _bound_text(coarser.extra))]


def _bound_text(value: Fraction | None) -> str:
    from utmost.exact import decimal_above

    return "unknown" if value is None else decimal_above(value, BOUND_DIGITS)
