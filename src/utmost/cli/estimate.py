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
MOST_CELLS = 24  # of a histogram in the terminal
Refused = tuple["Answer", str]  # an answer that was not read, and why
PRIORS = "uniform, 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or FILE."
LOSSES = "absolute, squared, binary, power:1.5, asymmetric:2,1, drawn:-20:8,0:0,20:4 or matrix:FILE."


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A file that utmost release wrote.", show_default=False)
    ],
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIORS)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSSES)] = "absolute",
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
    found = release_file.read_release(release)
    wanted = [found[query]] if query is not None else list(found)
    if plot is not None and len(wanted) != 1:
        raise InputError(f"--plot must be of one answer, got {len(wanted)}: pick one with --query NAME")
    options = {"coverage": coverage, "at_least": at_least, "at_most": at_most, "grid": grid, "cell": cell}
    estimates = _estimates(wanted, prior, loss, options)
    _draw(estimates, plot)
    asked = {"prior": prior, "loss_function": loss, "coverage": coverage}
    _document(found, estimates, asked) if json else _text(found, estimates, asked)


def _estimates(wanted: list[Answer], prior: str, loss: str, options: dict[str, Any]) -> list[Estimate | Refused]:
    """The estimate of each answer, or why there is none; if there is none at all, that is bad input."""
    estimates: list[Estimate | Refused] = []
    problems: list[InputError] = []
    for answer in wanted:
        chosen = options if answer.kind == "histogram" or len(wanted) == 1 else options | {"cell": None}
        try:
            estimates.append(answer.estimate(prior, loss, **chosen))
        except InputError as problem:
            problems.append(problem)
            estimates.append((answer, str(problem)))
    if problems and all(isinstance(found, tuple) or found.rank is not None for found in estimates):
        raise problems[0] if problems else InputError("release must have answers to be read, got none")
    return estimates


def _draw(estimates: list[Estimate | Refused], plot: str | None) -> None:
    if plot is None:
        return
    from utmost.charts import save_chart
    from utmost.cli.output import print_remark
    from utmost.publish.reading.charts import estimate_chart

    found = estimates[0]
    assert not isinstance(found, tuple)
    save_chart(estimate_chart(found), plot)
    print_remark(f"drew {plot}")


def _document(release: Release, estimates: list[Estimate | Refused], asked: dict[str, Any]) -> None:
    """One document; where there is one answer its keys are at the top too."""
    from utmost.cli import output
    from utmost.exact import rational
    from utmost.publish.reading import json_output

    entries = [
        json_output.refusal_content(*found) if isinstance(found, tuple) else json_output.estimate_content(found)
        for found in estimates
    ]
    content: dict[str, Any] = {"title": release.title, "epsilon": str(release.epsilon)} | asked
    content["coverage"] = output.json_value(float(rational(asked["coverage"], "coverage")))
    if len(entries) == 1:
        content |= entries[0]
    output.print_json(content | {"queries": entries})


def _text(release: Release, estimates: list[Estimate | Refused], asked: dict[str, Any]) -> None:
    from utmost.cli import output

    title = release.title or release.source.name
    output.print_text(f"{title}: {len(release)} answers, released with ε = {release.epsilon} in all.")
    for found in estimates:
        output.print_text()
        if isinstance(found, tuple):
            output.print_facts([("query", f"{found[0].name}: {found[0].kind}"), ("not read", found[1])])
        else:
            _said(found, asked)


def _said(found: Estimate, asked: dict[str, Any]) -> None:
    from utmost.cli import output

    answer, reader = found.answer, found.reader
    where = f" where {answer.where}" if answer.where else ""
    facts = [("query", f"{answer.name}: {answer.kind}{where}, ε = {answer.epsilon}")]
    if reader is not None:
        ends = f"{_short(reader.axis.first)} … {_short(reader.axis.last)}"
        points = "" if reader.axis.step == 1 else f" on {reader.axis.size} points"
        points += ", those that matter" if reader.near else ""
        facts.append(
            ("reader", f"prior {reader.prior.name[:40]} over {ends}{points}, loss {asked['loss_function'][:40]}")
        )
    if found.cells:
        output.print_facts(facts)
        _cells(found)
    else:
        output.print_facts(facts + _one(found))
    _losses_table(found)
    for words in (found.remark, f"{found.claim[:1].upper()}{found.claim[1:]}."):
        if words:
            output.print_text(words)


def _one(found: Estimate) -> list[tuple[str, str]]:
    (reading,) = found.readings
    facts = [("released", _short(reading.value) + _corrected(reading))]
    if reading.interval is None or found.reader is None:
        return facts
    low, high = (_short(end) for end in reading.interval)
    share = _short(100 * found.reader.coverage)
    return [*facts, ("best reading", f"{_short(reading.estimate)}; from {low} to {high} with probability {share} %")]


def _corrected(reading: Reading) -> str:
    """The unbiased reading, where it is not the value."""
    if reading.unbiased is None or reading.unbiased == reading.value:
        return ""
    return f" (an end that absorbs: to add it up with others, count {_short(reading.unbiased)})"


def _losses_table(found: Estimate) -> None:
    from utmost.cli import output

    given = found.readings[0].loss if not found.cells else None
    named = (("given this answer", given), ("over all answers", found.before))
    rows = [
        [name, _short(losses.expected), _short(losses.face_value), f"{_short(losses.gain)} ×"]
        for name, losses in named
        if losses is not None
    ]
    if rows:
        output.print_text()
        output.print_table(["expected loss", "best reading", "face value", "gain"], rows)
        output.print_text()


def _cells(found: Estimate) -> None:
    from utmost.cli import output

    assert found.reader is not None
    share = f"{_short(100 * found.reader.coverage)} %"
    rows = []
    for name, reading in list(zip(found.cells, found.readings, strict=True))[:MOST_CELLS]:
        assert reading.interval is not None
        assert reading.loss is not None
        ends = "–".join(_short(end) for end in reading.interval)
        losses = (_short(reading.loss.expected), _short(reading.loss.face_value))
        numbers = (_short(reading.value), _short(reading.unbiased), _short(reading.estimate))
        rows.append([name, *numbers, ends, *losses])
    output.print_text()
    output.print_table(["cell", "released", "unbiased", "reads", share, "her loss", "face value"], rows)
    if len(found.cells) > MOST_CELLS:
        output.print_text(f"The first {MOST_CELLS} of {len(found.cells)} cells; --json has them all.")
    if found.total is not None:
        value, error = found.total
        output.print_text(
            f"Total of all cells {_short(value)}, unbiased; its standard error is at most {_short(error)}."
        )


def _short(value: Number | int | float | None) -> str:
    """Whole numbers in full, others with six digits."""
    from utmost.exact import decimal

    whole = isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1)
    return "" if value is None else str(value) if whole else decimal(value, 6)
