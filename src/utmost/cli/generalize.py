"""`utmost generalize`: a private mechanism that tells all a given one does, and as much more as its level allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    optional_level,
    save_channel,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.axioms.constraint_graphs import Secrets
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level

EXAMPLES = (
    "Examples: utmost generalize channel.csv --space line:4 --alpha 1/2 --save more.csv;  "
    "utmost generalize channel.csv --relation pairs:related.csv --epsilon 1/2 --split peeled"
)
SPLIT_NAMES = ("halves", "peeled")


def command(
    channel: Annotated[
        str, typer.Argument(metavar="CHANNEL", help="A .csv (header: outputs; first column: inputs) or .json.")
    ],
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="{spaces}; line:N if left out.")] = None,
    relation: Annotated[
        str | None, typer.Option(metavar="R", help="Instead of a space: pairs:FILE, lines i1,i2 and i2,i1.")
    ] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    split: Annotated[
        str, typer.Option(metavar="HOW", help="halves (KL10's; many outputs) or peeled (few outputs).")
    ] = "halves",
    output: Annotated[
        str | None, typer.Option("--save", "--output", metavar="FILE", help="Save the mechanism: .csv or .json.")
    ] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Make a mechanism maximally general at the same level.

    Splits every output whose row graph is not connected, until all are (KL10 Thm 3.3.3, App. B). Each step is private
    at the same level and strictly more general. Also shows the post-processing that turns the new channel into the old.
    """
    from utmost.axioms.generality import generalize
    from utmost.channel import files
    from utmost.cli.output import print_report
    from utmost.reports import generality as report

    if split not in SPLIT_NAMES:
        raise InputError(f'''--split must be {" or ".join(SPLIT_NAMES)}, got "{split[:40]}"''', "split")
    check_ending(output, CHANNEL_ENDINGS, "--save")
    check_ending(plot, CHART_ENDINGS, "--plot")
    requested_level = optional_level(alpha, epsilon)
    source = files.read_channel(channel)
    secrets, name = _parse_secrets(space, relation, source)
    level = requested_level if requested_level is not None else _own_level(source, secrets)
    generalization = generalize(source, secrets, level, _split_function(split))
    privacy_loss = _privacy_loss(generalization.channel, secrets)
    problem = report.GeneralizationProblem(secrets, name, level, privacy_loss)
    save_plot(plot, lambda: report.figure(generalization, problem))
    save_channel(generalization.channel, output)
    print_report(report.describe(generalization, problem), json)


def _parse_secrets(space: str | None, relation: str | None, source: Channel) -> tuple[Secrets, str]:
    from utmost import axioms, spaces

    if space is not None and relation is not None:
        raise InputError("--space and --relation must not both be given, got both", "space", "keep one")
    if relation is not None:
        return axioms.relation_of(relation), relation
    space_text = space or f"line:{len(source.inputs)}"
    points = spaces.parse_space(space_text)
    points.check_table_size()
    return points, points.name


def _own_level(source: Channel, secrets: Secrets) -> Level:
    """The level that the channel has, on a space."""
    privacy_loss = _privacy_loss(source, secrets)
    level = None if privacy_loss is None else privacy_loss.level
    if level is None:
        raise InputError(
            "--alpha or --epsilon must be given, got neither: its own level is not known exactly here", "alpha"
        )
    return level


def _privacy_loss(source: Channel, secrets: Secrets) -> PrivacyLoss | None:
    """The ε of a channel on a space, recomputed from its entries."""
    from utmost.channel import least_epsilon
    from utmost.spaces import Space

    return least_epsilon(source, secrets) if isinstance(secrets, Space) else None


def _split_function(split: str) -> Any:
    from utmost.axioms import generality

    return {"halves": generality.split_output, "peeled": generality.peel_extreme_ray}[split]
