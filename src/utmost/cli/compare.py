"""`utmost compare`: the certified optimum and its rivals side by side, for one consumer at one level."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    LossOption,
    PlotOption,
    PriorOption,
    SpaceArgument,
    check_ending,
    required_level,
    save_plot,
)

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.consumer import Consumer
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost compare line:6 --alpha 1/2 --loss squared;  "
    "utmost compare grid:4x4 --epsilon 1 --mechanism optimal --mechanism planar --plot losses.svg;  "
    "utmost compare grid:4x4 --epsilon 1 --place 1,1 --plot maps.svg --json"
)
MECHANISM_HELP = (
    "optimal, geometric, laplace, planar, response, response-dual, exponential, staircase, silence, or a channel in a "
    ".csv or .json file. Repeat it for more; without it, all that are built in."
)
MechanismOption = Annotated[list[str] | None, typer.Option(metavar="NAME", help=MECHANISM_HELP)]


def command(
    space: SpaceArgument,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: PriorOption = "uniform",
    loss: LossOption = "absolute",
    mechanism: MechanismOption = None,
    place: Annotated[
        str | None, typer.Option(metavar="POINT", help="With --plot: maps of what is reported from this point.")
    ] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compare mechanisms for a prior and a loss.

    Each with its expected loss, the privacy that it really has, what it leaks at most, and which of them tells every
    analyst more than another. What no private mechanism can do better is proved.
    """
    from utmost.cli.output import print_report, progress_line
    from utmost.comparison import compare
    from utmost.errors import InputError
    from utmost.reports import compare as report

    level = required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    if place is not None and plot is None:
        raise InputError("--place must be given together with --plot FILE, got no file", "--place")
    points, consumer = parse_question(space, prior, loss)
    rivals = load_rivals(mechanism, points)
    with progress_line(f"mechanisms on {points.name[:40]}") as progress:
        comparison = compare(points, level, consumer, rivals, progress=progress)
    texts = report.QuestionTexts(space, prior, loss)
    save_plot(plot, lambda: report.figure(comparison) if place is None else report.place_figure(comparison, place))
    print_report(report.describe(comparison, texts), json)


def parse_question(space: str, prior: str, loss: str) -> tuple[Space, Consumer]:
    """The space, not too large, and the consumer."""
    from utmost import spaces
    from utmost.comparison.rivals import check_compared_size
    from utmost.consumer import Consumer, losses, priors

    points = spaces.parse_space(space)
    check_compared_size(points)
    loss_function = losses.over(losses.parse(loss), points)
    return points, Consumer(priors.parse(prior, len(points)), loss_function, points.labels)


def load_rivals(names: list[str] | None, points: Space) -> list[str | tuple[str, Channel]] | None:
    """Names as they are, channels from their files; all are checked before anything is computed."""
    from utmost.channel import read_channel
    from utmost.comparison.rivals import parse_rivals

    if not names:
        return None
    rivals: list[str | tuple[str, Channel]] = [
        (Path(name).stem[:40], read_channel(name)) if Path(name).suffix.lower() in CHANNEL_ENDINGS else name
        for name in names
    ]
    parse_rivals(rivals, points)
    return rivals
