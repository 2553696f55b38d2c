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
    least_level,
    optional_level,
    save_channel,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.axioms.constraint_graphs import Secrets
    from utmost.axioms.generality import Generalization
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level

EXAMPLES = (
    "Examples: utmost generalize channel.csv --space line:4 --alpha 1/2 --save more.csv;  "
    "utmost generalize channel.csv --relation pairs:related.csv --epsilon 1/2 --split peeled"
)
SPLIT_NAMES = ("halves", "peeled")
MAX_SHOWN_STEPS = 12  # in the terminal


def command(
    channel: Annotated[
        str, typer.Argument(metavar="CHANNEL", help="A .csv (header: outputs; first column: inputs) or .json.")
    ],
    space: Annotated[
        str | None, typer.Option(metavar="SPACE", help="line:6, grid:3x3, hamming:2 …; line:N if left out.")
    ] = None,
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
    """A maximally general mechanism that a given one is a lesser version of.

    Splits every output whose row graph is not connected, until all are (KL10 Thm 3.3.3, App. B). Each step is private
    at the same level and strictly more general. The way back, which makes the old channel of the new, is shown too.
    """
    from utmost.axioms.generality import generalize
    from utmost.channel import files

    if split not in SPLIT_NAMES:
        raise InputError(f'--split must be {" or ".join(SPLIT_NAMES)}, got "{split[:40]}"')
    check_ending(output, CHANNEL_ENDINGS, "--save")
    check_ending(plot, CHART_ENDINGS, "--plot")
    requested_level = optional_level(alpha, epsilon)
    source = files.read_channel(channel)
    secrets, name = _parse_secrets(space, relation, source)
    level = requested_level if requested_level is not None else _own_level(source, secrets)
    generalization = generalize(source, secrets, level, _split_function(split))
    chart = None if plot is None else _build_chart(generalization, secrets, name, level)
    _print_json(generalization, secrets, name, level) if json else _print_text(generalization, secrets, name, level)
    save_channel(generalization.channel, output)
    if plot is not None:
        _save_chart(chart, plot)


def _parse_secrets(space: str | None, relation: str | None, source: Channel) -> tuple[Secrets, str]:
    from utmost import axioms, spaces

    if space is not None and relation is not None:
        raise InputError("--space and --relation must not both be given, got both: keep one")
    if relation is not None:
        return axioms.relation_of(relation), relation
    space_text = space or f"line:{len(source.inputs)}"
    points = spaces.parse_space(space_text)
    points.check_table_size()
    return points, points.name


def _own_level(source: Channel, secrets: Secrets) -> Level:
    """The level that the channel has, on a space."""
    privacy_loss = _privacy_loss(source, secrets)
    level = None if privacy_loss is None else least_level(privacy_loss)
    if level is None:
        raise InputError("--alpha or --epsilon must be given, got neither: its own level is not known exactly here")
    return level


def _privacy_loss(source: Channel, secrets: Secrets) -> PrivacyLoss | None:
    """The ε of a channel on a space, recomputed from its entries."""
    from utmost.channel import least_epsilon
    from utmost.spaces import Space

    return least_epsilon(source, secrets) if isinstance(secrets, Space) else None


def _split_function(split: str) -> Any:
    from utmost.axioms import output_splitting

    return {"halves": output_splitting.split_output, "peeled": output_splitting.peel_extreme_ray}[split]


def _print_json(generalization: Generalization, secrets: Secrets, name: str, level: Level) -> None:
    from utmost.axioms.constraint_graphs import row_graphs
    from utmost.axioms.dobrushin import ergodicity
    from utmost.cli import output
    from utmost.cli.check_generality import graph_document

    labels, privacy_loss = tuple(generalization.channel.inputs), _privacy_loss(generalization.channel, secrets)
    graphs = row_graphs(generalization.channel, secrets, level)
    output.print_json(
        {
            "space": name,
            "alpha": output.json_value(level.alpha),
            "epsilon": None if privacy_loss is None else output.json_epsilon(privacy_loss, level),
            **output.channel_document(generalization.channel),
            "maximal": not generalization.steps,
            "steps": [{"output": step.output, "into": list(step.names)} for step in generalization.steps],
            "back": output.channel_document(generalization.post_processing),
            "row_graphs": [graph_document(graph, labels) for graph in graphs],
            "dobrushin": {
                "before": output.json_value(ergodicity(generalization.source).value),
                "after": output.json_value(ergodicity(generalization.channel).value),
            },
        }
    )


def _print_text(generalization: Generalization, secrets: Secrets, name: str, level: Level) -> None:
    from utmost.axioms.dobrushin import ergodicity
    from utmost.axioms.generality import maximally_general
    from utmost.cli import output
    from utmost.cli.check_generality import short_number, shorten_text

    shape = f"{len(generalization.source.inputs)} inputs, {len(generalization.source.outputs)} outputs"
    output.print_text(f"A channel on {shorten_text(name, 60)}: {shape}, private at {level}.")
    if not generalization.steps:
        output.print_text(
            "It is maximally general: the row graph of every output is connected. Merged where proportional:"
        )
        output.print_channel(generalization.channel)
        return
    output.print_text(
        f"Not maximally general: {shorten_text(maximally_general(generalization.source, secrets, level).reason)}."
    )
    _print_steps(generalization)
    output.print_text(
        f"Strictly more general and maximally so, at the same level ({len(generalization.channel.outputs)} outputs):"
    )
    output.print_channel(generalization.channel)
    privacy_loss = _privacy_loss(generalization.channel, secrets)
    if privacy_loss is not None:
        output.print_text(output.privacy_loss_sentence(privacy_loss, level))
    output.print_text("The way back: its answers (rows) processed so are the channel's (columns), exactly.")
    output.print_channel(generalization.post_processing)
    before, after = (
        short_number(ergodicity(channel).value) for channel in (generalization.source, generalization.channel)
    )
    output.print_text(f"Dobrushin's coefficient: {before} before, {after} after.")


def _print_steps(generalization: Generalization) -> None:
    from utmost.cli import output
    from utmost.cli.check_generality import shorten_text

    for step in generalization.steps[:MAX_SHOWN_STEPS]:
        first, second = (shorten_text(str(label), 60) for label in step.names)
        output.print_text(f"  {shorten_text(str(step.output), 60)} is told as {first} and {second}.")
    if len(generalization.steps) > MAX_SHOWN_STEPS:
        output.print_text(f"  … and {len(generalization.steps) - MAX_SHOWN_STEPS} more steps of the same kind.")


def _build_chart(generalization: Generalization, secrets: Secrets, name: str, level: Level) -> Any:
    from utmost import charts
    from utmost.axioms.constraint_graphs import row_graphs
    from utmost.cli.check_generality import shorten_text

    labels = tuple(shorten_text(str(label), 12) for label in secrets.labels)
    panels = [
        charts.RowGraphPanel(shorten_text(f"output {graph.output}", 30), graph.edges, labels)
        for graph in row_graphs(generalization.channel, secrets, level)
    ]
    positions = charts.point_positions(len(labels), secrets.edges)
    title = "Every output is a likelihood function: its tight pairs connect the secrets"
    caption = (
        f"On {shorten_text(name, 40)} at {level}; an arrow leads to a secret that is as much less likely as may be"
    )
    return charts.row_graph_panels(positions, secrets.edges, panels, title, caption)


def _save_chart(chart: Any, path: str) -> None:
    from utmost import charts
    from utmost.cli.output import print_remark

    charts.save_chart(chart, path)
    print_remark(f"saved {path}")
