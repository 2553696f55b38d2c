"""`utmost estimate`: a consumer's best reading of a release, and how good it is."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, PlotOption, check_ending
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.exact import Number
    from utmost.publish.reading.estimates import Estimate, Reading
    from utmost.publish.release_model import Answer, Release

EXAMPLES = (
    "Examples: utmost estimate survey.release.json --prior binomial:0.45;  "
    "utmost estimate survey.release.json --query dole --loss squared --plot dole.svg"
)
MAX_SHOWN_CELLS = 24  # of a histogram in the terminal
Refusal = tuple["Answer", str]  # an answer that was not read, and why
PRIOR_HELP = "uniform, 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or FILE."
LOSS_HELP = "absolute, squared, binary, power:1.5, asymmetric:2,1, drawn:-20:8,0:0,20:4 or matrix:FILE."


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A file that utmost release wrote.", show_default=False)
    ],
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIOR_HELP)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSS_HELP)] = "absolute",
    query: Annotated[str | None, typer.Option(metavar="NAME", help="Only this answer; else all of them.")] = None,
    cell: Annotated[str | None, typer.Option(metavar="KEY", help="Only this cell of a histogram.")] = None,
    coverage: Annotated[str, typer.Option(metavar="P", help="How much of her belief an interval holds.")] = "0.95",
    at_least: Annotated[str | None, typer.Option(metavar="A", help="The least value held possible.")] = None,
    at_most: Annotated[str | None, typer.Option(metavar="B", help="The largest value held possible.")] = None,
    grid: Annotated[str | None, typer.Option(metavar="M", help="How many points carry the prior.")] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """The best reading of released numbers for a prior and a loss.

    Bounds and losses are in the value's own unit. Face value is the released number itself, taken for the truth.
    """
    from utmost.publish import release_file

    check_ending(plot, CHART_ENDINGS, "--plot")
    parsed_release = release_file.read_release(release)
    answers = [parsed_release[query]] if query is not None else list(parsed_release)
    if plot is not None and len(answers) != 1:
        raise InputError(f"--plot must be of one answer, got {len(answers)}: pick one with --query NAME")
    options = {"coverage": coverage, "at_least": at_least, "at_most": at_most, "grid": grid, "cell": cell}
    estimates = _estimates(answers, prior, loss, options)
    _save_plot(estimates, plot)
    request = {"prior": prior, "loss_function": loss, "coverage": coverage}
    _print_json(parsed_release, estimates, request) if json else _print_text(parsed_release, estimates, request)


def _estimates(answers: list[Answer], prior: str, loss: str, options: dict[str, Any]) -> list[Estimate | Refusal]:
    """The estimate of each answer, or why there is none; if there is none at all, that is bad input."""
    estimates: list[Estimate | Refusal] = []
    problems: list[InputError] = []
    for answer in answers:
        answer_options = options if answer.kind == "histogram" or len(answers) == 1 else options | {"cell": None}
        try:
            estimates.append(answer.estimate(prior, loss, **answer_options))
        except InputError as problem:
            problems.append(problem)
            estimates.append((answer, str(problem)))
    if problems and all(isinstance(estimate, tuple) or estimate.rank is not None for estimate in estimates):
        raise problems[0] if problems else InputError("release must have answers to be read, got none")
    return estimates


def _save_plot(estimates: list[Estimate | Refusal], plot: str | None) -> None:
    if plot is None:
        return
    from utmost.charts import save_chart
    from utmost.cli.output import print_remark
    from utmost.publish.reading.charts import estimate_chart

    estimate = estimates[0]
    assert not isinstance(estimate, tuple)
    save_chart(estimate_chart(estimate), plot)
    print_remark(f"drew {plot}")


def _print_json(release: Release, estimates: list[Estimate | Refusal], request: dict[str, Any]) -> None:
    """One document; where there is one answer its keys are at the top too."""
    from utmost.cli import output
    from utmost.exact import rational
    from utmost.publish.reading import json_output

    entries = [
        json_output.refusal_content(*estimate)
        if isinstance(estimate, tuple)
        else json_output.estimate_content(estimate)
        for estimate in estimates
    ]
    content: dict[str, Any] = {"title": release.title, "epsilon": str(release.epsilon)} | request
    content["coverage"] = output.json_value(float(rational(request["coverage"], "coverage")))
    if len(entries) == 1:
        content |= entries[0]
    output.print_json(content | {"queries": entries})


def _print_text(release: Release, estimates: list[Estimate | Refusal], request: dict[str, Any]) -> None:
    from utmost.cli import output

    title = release.title or release.source.name
    output.print_text(f"{title}: {len(release)} answers, released with ε = {release.epsilon} in all.")
    for estimate in estimates:
        output.print_text()
        if isinstance(estimate, tuple):
            output.print_facts([("query", f"{estimate[0].name}: {estimate[0].kind}"), ("not read", estimate[1])])
        else:
            _print_estimate(estimate, request)


def _print_estimate(estimate: Estimate, request: dict[str, Any]) -> None:
    from utmost.cli import output

    answer, reader = estimate.answer, estimate.reader
    condition = f" where {' '.join(answer.where.split())}" if answer.where else ""
    facts = [("query", f"{answer.name}: {answer.kind}{condition}, ε = {answer.epsilon}"), ("of", answer.error.target)]
    if reader is not None:
        range_text = f"{_format_number(reader.axis.first)} … {_format_number(reader.axis.last)}"
        points = "" if reader.axis.step == 1 else f" on {reader.axis.size} points"
        points += ", those that matter" if reader.is_partial else ""
        facts.append(
            (
                "reader",
                f"prior {reader.prior.name[:40]} over {range_text}{points}, loss {request['loss_function'][:40]}",
            )
        )
    if estimate.cells:
        output.print_facts(facts)
        _print_cells(estimate)
    else:
        output.print_facts(facts + _single_value_facts(estimate))
    _print_losses(estimate)
    for remark in (estimate.remark, f"{estimate.claim[:1].upper()}{estimate.claim[1:]}."):
        if remark:
            output.print_text(remark)


def _single_value_facts(estimate: Estimate) -> list[tuple[str, str]]:
    (reading,) = estimate.readings
    facts = [("released", _format_number(reading.value) + _unbiased_remark(reading))]
    if reading.interval is None or estimate.reader is None:
        return facts
    low, high = (_format_number(end) for end in reading.interval)
    coverage = _format_number(100 * estimate.reader.coverage)
    return [
        *facts,
        ("best reading", f"{_format_number(reading.estimate)}; from {low} to {high} with probability {coverage} %"),
    ]


def _unbiased_remark(reading: Reading) -> str:
    """The unbiased reading, where it is not the value."""
    if reading.unbiased is None or reading.unbiased == reading.value:
        return ""
    return f" (an end that absorbs: to add it up with others, count {_format_number(reading.unbiased)})"


def _print_losses(estimate: Estimate) -> None:
    from utmost.cli import output

    posterior_losses = estimate.readings[0].loss if not estimate.cells else None
    named_losses = (("given this answer", posterior_losses), ("over all answers", estimate.before))
    rows = [
        [name, _format_number(losses.expected), _format_number(losses.face_value), f"{_format_number(losses.gain)} ×"]
        for name, losses in named_losses
        if losses is not None
    ]
    if rows:
        output.print_text()
        output.print_table(["expected loss", "best reading", "face value", "gain"], rows)
        output.print_text()


def _print_cells(estimate: Estimate) -> None:
    from utmost.cli import output
    from utmost.exact import decimal_above

    assert estimate.reader is not None
    coverage = f"{_format_number(100 * estimate.reader.coverage)} %"
    rows = []
    for name, reading in list(zip(estimate.cells, estimate.readings, strict=True))[:MAX_SHOWN_CELLS]:
        assert reading.interval is not None
        assert reading.loss is not None
        interval = "–".join(_format_number(end) for end in reading.interval)
        losses = (_format_number(reading.loss.expected), _format_number(reading.loss.face_value))
        numbers = (_format_number(reading.value), _format_number(reading.unbiased), _format_number(reading.estimate))
        rows.append([name, *numbers, interval, *losses])
    output.print_text()
    output.print_table(["cell", "released", "unbiased", "reads", coverage, "her loss", "face value"], rows)
    if len(estimate.cells) > MAX_SHOWN_CELLS:
        output.print_text(f"The first {MAX_SHOWN_CELLS} of {len(estimate.cells)} cells; --json has them all.")
    if estimate.total is not None:
        value, error = estimate.total
        error_text = decimal_above(error)
        output.print_text(
            f"Total of all cells {_format_number(value)}, unbiased; its standard error is at most {error_text}."
        )


def _format_number(value: Number | int | float | None) -> str:
    """Whole numbers in full, others with six digits."""
    from utmost.exact import decimal

    is_whole = isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1)
    return "" if value is None else str(value) if is_whole else decimal(value, 6)
