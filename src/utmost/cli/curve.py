"""`utmost curve`: the optimum and its rivals against ε."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.compare import MechanismOption, load_rivals, parse_question
from utmost.cli.options import (
    CHART_ENDINGS,
    JsonOption,
    LossOption,
    PlotOption,
    PriorOption,
    SpaceArgument,
    check_ending,
    save_plot,
)

EXAMPLES = (
    "Examples: utmost curve line:6 --epsilons 0.5,1,2;  "
    "utmost curve grid:4x4 --epsilons 1/4,1/2,1,2 --mechanism optimal --mechanism planar --plot curve.svg"
)


def command(
    space: SpaceArgument,
    epsilons: Annotated[str, typer.Option(metavar="E1,E2,…", help="Increasing privacy levels ε > 0: 0.5,1,2.")],
    prior: PriorOption = "uniform",
    loss: LossOption = "absolute",
    mechanism: MechanismOption = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Show what privacy costs: losses of mechanisms against ε.

    The certified optimum and its rivals at each level, for one prior and one loss.
    """
    from utmost.cli.output import print_report, progress_line
    from utmost.comparison import curve
    from utmost.comparison.privacy_curve import parse_levels
    from utmost.reports import curve as report
    from utmost.reports.compare import QuestionTexts

    check_ending(plot, CHART_ENDINGS, "--plot")
    levels = parse_levels(epsilons.split(","))
    points, consumer = parse_question(space, prior, loss)
    rivals = load_rivals(mechanism, points)
    with progress_line(f"mechanisms on {points.name[:40]}") as progress:
        result = curve(points, consumer, levels, rivals, progress=progress)
    save_plot(plot, lambda: report.figure(result))
    print_report(report.describe(result, QuestionTexts(space, prior, loss)), json)
