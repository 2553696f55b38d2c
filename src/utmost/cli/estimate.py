"""`utmost estimate`: a consumer's best reading of a release, and how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.estimate_table import TableRequest, read_table
from utmost.cli.options import (
    CHART_ENDINGS,
    JsonOption,
    LossOption,
    PlotOption,
    check_ending,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.publish.reading.estimates import Estimate
    from utmost.publish.release_model import Answer
    from utmost.reports.estimate import UnreadAnswer

EXAMPLES = (
    "Examples: utmost estimate survey.release.json --prior binomial:0.45;  "
    "utmost estimate survey.release.json --query dole --loss squared --plot dole.svg;  "
    "utmost estimate places.release.json --table places --sum \"town in ('a', 'b')\" --output places.csv"
)


PointPriorOption = Annotated[
    str | None,
    typer.Option(
        metavar="PRIOR",
        help="What you believe before the answer: {priors}; uniform if left out. Binomial, poisson and zipf are priors "
        "of counts: of a sum or a mean they count the points, see --grid. Of a table: divisions, divisions:a or "
        "divisions:evidence.",
    ),
]


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release file written by utmost release.", show_default=False)
    ],
    prior: PointPriorOption = None,
    loss: LossOption = "absolute",
    query: Annotated[str | None, typer.Option(metavar="NAME", help="Read this answer only; all if left out.")] = None,
    cell: Annotated[str | None, typer.Option(metavar="KEY", help="Read this cell only.")] = None,
    coverage: Annotated[str, typer.Option(metavar="P", help="Probability of the credible interval.")] = "0.95",
    at_least: Annotated[str | None, typer.Option(metavar="A", help="Least value held possible.")] = None,
    at_most: Annotated[str | None, typer.Option(metavar="B", help="Largest value held possible.")] = None,
    grid: Annotated[str | None, typer.Option(metavar="M", help="Number of points of the prior.")] = None,
    table: Annotated[
        str | None, typer.Option(metavar="T", help="Read all counts of this table together, whole and adding up.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="FILE", help="Another release of the same rows, read with it; may be repeated."),
    ] = None,
    level: Annotated[str | None, typer.Option(metavar="L", help="Show this level of the table: region,town.")] = None,
    sum_: Annotated[
        list[str] | None,
        typer.Option("--sum", metavar="WHERE", help="The sum of these cells of the table; may be repeated."),
    ] = None,
    draws: Annotated[int | None, typer.Option(metavar="K", help="Draw K tables from the posterior.")] = None,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the table's estimates: .csv or .parquet.")
    ] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate true values from a release, a prior and a loss.

    Bounds and losses are in the unit of the value. Face value is the released number itself, taken for the truth.
    """
    check_ending(plot, CHART_ENDINGS, "--plot")
    if table is not None:
        _refuse_options(
            {"--query": query, "--cell": cell, "--at-least": at_least, "--at-most": at_most, "--grid": grid}, False
        )
        others, sums = tuple(with_ or ()), tuple(sum_ or ())
        request = (release, table, others, prior, loss, coverage, level, sums, draws, output, plot, json)
        read_table(TableRequest(*request))
        return
    _refuse_options({"--with": with_, "--level": level, "--sum": sum_, "--draws": draws, "--output": output}, True)
    options = {"coverage": coverage, "at_least": at_least, "at_most": at_most, "grid": grid, "cell": cell}
    _read_answers(release, query, prior or "uniform", loss, options, plot, json)


def _refuse_options(options: dict[str, Any], is_for_tables: bool) -> None:
    """Refuse options that are of tables, or that are not."""
    for option, value in options.items():
        if value not in (None, []):
            words = "go with --table, got none" if is_for_tables else "not go with --table, got both"
            raise InputError(f"{option} must {words}", option.removeprefix("--"), "see utmost estimate --help")


def _read_answers(
    release: str, query: str | None, prior: str, loss: str, options: dict[str, Any], plot: str | None, json: bool
) -> None:
    """Each answer by itself."""
    from utmost.cli.output import print_report
    from utmost.publish import release_file
    from utmost.reports.estimate import describe_all

    parsed_release = release_file.read_release(release)
    answers = [parsed_release[query]] if query is not None else list(parsed_release)
    if plot is not None and len(answers) != 1:
        raise InputError(f"--plot must be of one answer, got {len(answers)}", "plot", "pick one with --query NAME")
    estimates = _estimates(answers, prior, loss, options)
    save_plot(plot, lambda: _figure(estimates[0]))
    print_report(describe_all(parsed_release, estimates, prior, loss, options["coverage"]), json)


def _estimates(answers: list[Answer], prior: str, loss: str, options: dict[str, Any]) -> list[Estimate | UnreadAnswer]:
    """The estimate of each answer, or why there is none; if there is none at all, that is bad input."""
    from utmost.reports.estimate import UnreadAnswer

    estimates: list[Estimate | UnreadAnswer] = []
    problems: list[InputError] = []
    for answer in answers:
        answer_options = options if answer.cell_names or len(answers) == 1 else options | {"cell": None}
        try:
            estimates.append(answer.estimate(prior, loss, **answer_options))
        except InputError as problem:
            problems.append(problem)
            estimates.append(UnreadAnswer(answer, str(problem)))
    if problems and all(isinstance(estimate, UnreadAnswer) or estimate.rank is not None for estimate in estimates):
        raise problems[0] if problems else InputError("release must have answers to be read, got none", "release")
    return estimates


def _figure(estimate: Estimate | UnreadAnswer) -> alt.TopLevelMixin:
    from utmost.reports.estimate import UnreadAnswer, figure

    assert not isinstance(estimate, UnreadAnswer)  # a single answer that cannot be read is refused
    return figure(estimate)
