"""`utmost loss`: what a mechanism over an interval costs a consumer with a density, certified from both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    DensityOption,
    EpsilonOption,
    IntervalLossOption,
    JsonOption,
    PlotOption,
    check_ending,
    optional_level,
    required_level,
    save_plot,
)

if TYPE_CHECKING:
    from utmost.continuous.mechanisms import Mechanism
    from utmost.exact import Level
    from utmost.reports.loss import DensityConsumer, MechanismCost

EXAMPLES = (
    "Examples: utmost loss laplace --interval 0,1 --epsilon 2 --prior beta:2,5;  "
    "utmost loss geometric --steps 20 --interval 0,1 --epsilon 2 --loss squared --width 1e-6 --json;  "
    "utmost loss compare --interval 0,1 --epsilon 2 --plot costs.svg"
)
NAME_HELP = "laplace, geometric, staircase, renormalised, response, channel:FILE; or compare, for all but a channel."
FILE_PREFIX = "channel:"


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    interval: Annotated[str, typer.Option(metavar="LOW,HIGH", help="Interval of the true value.")],
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: DensityOption = "uniform",
    loss: IntervalLossOption = "absolute",
    width: Annotated[str, typer.Option(metavar="W", help="Largest distance of the two bounds.")] = "1e-4",
    steps: Annotated[int, typer.Option(metavar="N", help="Steps of the grid, for mechanisms on a grid.")] = 10,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Bound the expected loss of a mechanism over an interval.

    Two certified bounds, at most --width apart, on the loss of an analyst who reads every answer in the best way; the
    best readings; and the privacy that the mechanism really gives.
    """
    from utmost.cli.output import print_report
    from utmost.continuous.mechanisms import MECHANISM_NAMES
    from utmost.reports import loss as report

    level = optional_level(alpha, epsilon) if name.startswith(FILE_PREFIX) else required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    consumer = _parse_consumer(interval, level, prior, loss, width)
    names = MECHANISM_NAMES if name == "compare" else (name,)
    costs = [_bound_cost(_load_mechanism(mechanism, consumer, steps), consumer) for mechanism in names]
    if name == "compare":
        costs.sort(key=lambda cost: cost.bounds.upper)
        save_plot(plot, lambda: report.comparison_figure(costs, consumer, steps))
        print_report(report.describe_comparison(costs, consumer, steps), json)
    else:
        save_plot(plot, lambda: report.remap_figure(costs[0], consumer))
        print_report(report.describe(costs[0], consumer), json)


def _parse_consumer(interval: str, level: Level | None, prior: str, loss: str, width: str) -> DensityConsumer:
    from utmost.continuous.densities import parse_density
    from utmost.continuous.interval import parse_interval
    from utmost.continuous.losses import parse_continuous_loss
    from utmost.exact import rational
    from utmost.reports.loss import DensityConsumer

    parsed_interval = parse_interval(interval)
    density, loss_function = parse_density(prior, parsed_interval), parse_continuous_loss(loss)
    return DensityConsumer(parsed_interval, level, density, prior, loss_function, rational(width, "width"))


def _load_mechanism(name: str, consumer: DensityConsumer, steps: int) -> Mechanism:
    from utmost.continuous import mechanisms

    if name.startswith(FILE_PREFIX):
        return mechanisms.mechanism_from_file(name.removeprefix(FILE_PREFIX), consumer.interval)
    assert consumer.level is not None  # required_level gave one
    return mechanisms.mechanism_by_name(name, consumer.interval, consumer.level, steps)


def _bound_cost(mechanism: Mechanism, consumer: DensityConsumer) -> MechanismCost:
    """The cost of a mechanism; the bounds so far are on stderr during the search."""
    from utmost.cli.output import progress_line
    from utmost.continuous.bounds.loss_bounds import bound_expected_loss
    from utmost.reports import at_least, at_most
    from utmost.reports.loss import MechanismCost

    with progress_line(f"the loss of {mechanism.name}") as report:
        bounds = bound_expected_loss(
            consumer.prior,
            mechanism,
            consumer.loss,
            consumer.width,
            lambda cells, lower, upper: report(
                f"between {at_least(lower, 9)} and {at_most(upper, 9)} with {cells} cells"
            ),
        )
    return MechanismCost(mechanism, bounds, mechanism.guarantee())
