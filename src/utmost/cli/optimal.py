"""`utmost optimal`: the best private mechanism for one consumer, with the proof that there is none better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    LossOption,
    OutputOption,
    PlotOption,
    PriorOption,
    SpaceArgument,
    check_ending,
    required_level,
    save_channel,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.design import Design
    from utmost.reports.optimum import DesignProblem
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost optimal line:6 --alpha 1/2 --loss squared;  "
    "utmost optimal grid:7x7 --epsilon 1 --loss absolute;  "
    "utmost optimal line:6 --alpha 1/2 --prior 1/4,0,1/4,0,1/4,1/4 --loss power:1.5 --json"
)
MAX_MATRIX_POINTS = 600  # of a space other than a line


def command(
    space: SpaceArgument,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: PriorOption = "uniform",
    loss: LossOption = "absolute",
    plot: PlotOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Find the best private mechanism for a prior and a loss.

    A certificate in exact arithmetic proves it. Ctrl-C ends the search and shows the best mechanism so far, with its
    gap.
    """
    from utmost import spaces
    from utmost.cli.output import print_remark, print_report
    from utmost.consumer import Consumer, losses, priors
    from utmost.reports import optimum

    level = required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    points = spaces.parse_space(space)
    _check_size(points)
    consumer = Consumer(priors.parse(prior, len(points)), losses.over(losses.parse(loss), points), points.labels)
    problem = optimum.DesignProblem(points, level, consumer, space, prior, loss)
    design = _solve(problem)
    report = optimum.describe(design, problem, optimum.uninformed_loss(consumer))
    if design.stopped:
        bounds = f"between {report.numbers['lower']} and {report.numbers['upper']}"
        print_remark(f"stopped: the loss is {bounds}; the mechanism shown is the best so far")
    save_channel(design.channel, output)
    save_plot(plot, lambda: optimum.figure(design, problem))
    print_report(report, json)


def _check_size(points: Space) -> None:
    """Refuse what is too large for a matrix of its own, before it is written out."""
    from utmost.design.optimal import is_line
    from utmost.spaces.space import MAX_TABLE_POINTS

    if len(points) <= MAX_MATRIX_POINTS or (len(points) <= MAX_TABLE_POINTS and is_line(points)):
        return
    raise InputError(
        f"SPACE must have at most {MAX_MATRIX_POINTS} points, or {MAX_TABLE_POINTS} on a line, "
        f"since a mechanism has n² entries, got {len(points)}",
        "space",
        "take fewer; what all its mechanisms can tell at most is said by utmost type",
    )


def _solve(problem: DesignProblem) -> Design:
    """The design; the bounds so far are on stderr during the search."""
    from utmost import design
    from utmost.cli.output import progress_line
    from utmost.reports import at_least, at_most

    with progress_line(f"the best mechanism on {problem.space.name}") as report:
        return design.optimal(
            problem.space,
            problem.level,
            problem.consumer,
            lambda lower, upper: report(f"loss between {at_least(lower, 9)} and {at_most(upper, 9)}"),
            keep_best=True,
        )
