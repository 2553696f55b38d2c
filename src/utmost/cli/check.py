"""`utmost check`: what a channel really is: its least ε, signature, origin, membership of its type, capacities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    optional_level,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.axioms.definition import Definition
    from utmost.channel import Channel
    from utmost.channel.channel import Label
    from utmost.consumer import Consumer
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost check channel.csv --space line:6 --alpha 1/2;  "
    "utmost mechanism geometric --size 5 --alpha 1/2 --output g.csv, then utmost check g.csv;  "
    "utmost check g.csv --definition approximate:1/2,1/10 --plot profile.svg"
)
SLOW_OUTPUT_COUNT = 2_000_000  # outputs of related pairs above which a remark says that it takes a while
MIN_PAIR_OUTPUTS = 50  # a pair with fewer outputs takes as long as one with these


def command(
    channel: Annotated[
        str, typer.Argument(metavar="CHANNEL", help="A .csv (header: outputs; first column: inputs) or .json.")
    ],
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="{spaces}; line:N if left out.")] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: Annotated[str | None, typer.Option(metavar="PRIOR", help="Prior of an analyst, with --loss.")] = None,
    loss: Annotated[str | None, typer.Option(metavar="LOSS", help="Loss of an analyst who reads this channel.")] = None,
    definition: Annotated[
        str | None,
        typer.Option(
            metavar="D", help="Is it met: pure:1/10, approximate:1,1e-6 … for every event, zcdp:1/8, FILE.toml."
        ),
    ] = None,
    pair: Annotated[str | None, typer.Option(metavar="I1,I2", help="Pair of inputs whose profile is shown.")] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compute the ε of a channel and test its properties.

    Tests whether it is private at a level, which lemmas of GRS12 its signature obeys, whether it is a post-processing
    of the geometric mechanism, whether it is a vertex or a kernel mechanism of its type, whether a private mechanism
    could reveal more, and whether it meets a definition of privacy for every event, or zero-concentrated privacy.
    """
    from utmost.axioms.definition import parse_zcdp
    from utmost.axioms.examination import examine, examine_events, examine_generality
    from utmost.channel import files
    from utmost.cli.output import print_report
    from utmost.reports.check import ConsumerLoss, describe, figure
    from utmost.reports.optimum import uninformed_loss

    check_ending(plot, CHART_ENDINGS, "--plot")
    level = optional_level(alpha, epsilon)
    source = files.read_channel(channel)
    points = _choose_space(space, source, definition)
    consumer = _parse_consumer(prior, loss, points)
    examination = examine(source, points, level)
    parsed_pair = None if pair is None else _parse_pair(pair, examination.channel.inputs)
    rho = None if definition is None else parse_zcdp(definition)
    parsed_definition = None if definition is None or rho is not None else _parse_definition(definition, points, source)
    events = examine_events(examination, parsed_definition, definition, parsed_pair, rho)
    generality = examine_generality(examination)
    consumer_loss = None
    if consumer is not None:
        consumer_loss = ConsumerLoss(consumer.expected_loss(examination.channel), uninformed_loss(consumer))
    save_plot(plot, lambda: figure(events))
    print_report(describe(examination, generality, events, consumer_loss), json)


def _choose_space(text: str | None, source: Channel, definition: str | None) -> Space:
    """The space asked for; else that of the definition's file, for inputs that are no counts; else a line."""
    from utmost import spaces
    from utmost.axioms.definition_files import parse_definition_space

    if text is not None:
        return spaces.parse_space(text)
    counts = {str(label) for label in source.inputs} == {str(k) for k in range(len(source.inputs))}
    definition_space = None if counts or definition is None else parse_definition_space(definition)
    return definition_space if definition_space is not None else spaces.parse_space(f"line:{len(source.inputs)}")


def _parse_consumer(prior: str | None, loss: str | None, space: Space) -> Consumer | None:
    from utmost.consumer import Consumer, losses, priors

    if loss is None and prior is None:
        return None
    if loss is None:
        raise InputError("--prior must come with --loss", "prior", "say what a wrong reading costs")
    space.check_table_size()
    return Consumer(priors.parse(prior or "uniform", len(space)), losses.over(losses.parse(loss), space), space.labels)


def _parse_pair(text: str, inputs: Sequence[Label]) -> tuple[Label, Label]:
    """The two inputs that are written with a comma between them; a label may have commas of its own."""
    names = {str(label): label for label in inputs}
    pieces = text.split(",")
    for k in range(1, len(pieces)):
        first, second = (",".join(labels).strip() for labels in (pieces[:k], pieces[k:]))
        if first in names and second in names and first != second:
            return names[first], names[second]
    raise InputError(
        f"--pair must be two different inputs of the channel with a comma between, such as {inputs[0]}"
        f',{inputs[-1]}, got "{text[:40]}"',
        "pair",
    )


def _parse_definition(text: str, space: Space, source: Channel) -> Definition:
    """The definition as text or in a file, which may have a relation of its own; else the space's neighbours."""
    from utmost.axioms.definition import relation_from_space
    from utmost.axioms.definition_files import parse_definition
    from utmost.cli.output import print_remark

    definition = parse_definition(text, relation_from_space(space))
    if len(definition.relation.edges) * max(len(source.outputs), MIN_PAIR_OUTPUTS) > SLOW_OUTPUT_COUNT:
        print_remark(f"{len(definition.relation.edges)} pairs in exact arithmetic: this can take a minute")
    return definition
