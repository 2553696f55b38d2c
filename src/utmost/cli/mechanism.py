"""`utmost mechanism`: show, save, plot or sample a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.mechanism_builders import OPTIONS_BY_MECHANISM, MechanismChoice, choose_mechanism
from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    OutputOption,
    PlotOption,
    check_ending,
    save_channel,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level

EXAMPLES = (
    "Examples: utmost mechanism geometric --size 5 --alpha 1/2;  "
    "utmost mechanism geometric --size 20 --epsilon 0.1 --plot heat.svg --output heat.csv;  "
    "utmost mechanism laplace --range 0,100 --granularity 1/2 --sensitivity 1 --epsilon 1 --sample 3 --input 41.5;  "
    "utmost mechanism planar --step 1/10 --epsilon 2 --sample 3 --input 0.3,1.7;  "
    "utmost mechanism saved.csv --sample 10 --input yes"
)
MOST_SAMPLES = 10**7
CHUNK = 1 << 18  # draws between two lines of progress
Text = str | None


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(OPTIONS_BY_MECHANISM)}, or a channel: .csv or .json.")
    ],
    size: Annotated[Text, typer.Option(metavar="N", help="A count's upper end: 0 to N; of response, how many.")] = None,
    span: Annotated[Text, typer.Option("--range", metavar="A,B", help="The values' range.")] = None,
    granularity: Annotated[Text, typer.Option(metavar="G", help="Step of the grid on the range.")] = None,
    sensitivity: Annotated[Text, typer.Option(metavar="D", help="How far one change moves the value; or 1.")] = None,
    step: Annotated[Text, typer.Option(metavar="S", help="Step of the lattice in the plane.")] = None,
    box: Annotated[
        Text, typer.Option(metavar="L,B,R,T", help="Keep answers in left,bottom,right,top: coordinates, as --input.")
    ] = None,
    scores: Annotated[Text, typer.Option(metavar="1,2;3,4", help="A row of scores for each input.")] = None,
    monotone: Annotated[bool, typer.Option("--monotone", help="One change moves all scores one way.")] = False,
    space: Annotated[Text, typer.Option(metavar="SPACE", help="Of a file: how far its inputs are apart.")] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sample: Annotated[Text, typer.Option(metavar="K", help="Draw K exact samples for --input.")] = None,
    point: Annotated[
        Text, typer.Option("--input", metavar="X", help="The true value: 3, or 0.3,1.7 in a plane.")
    ] = None,
    plot: PlotOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Show, save, plot or sample a mechanism. Its ε is recomputed from its exact entries."""
    given = {"--size": size, "--range": span, "--granularity": granularity, "--sensitivity": sensitivity}
    given |= {"--step": step, "--box": box, "--scores": scores, "--monotone": "yes" if monotone else None}
    given["--space"] = space
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    count = _count(sample, point, plot or output)
    chosen = choose_mechanism(name, {key: value for key, value in given.items() if value is not None}, alpha, epsilon)
    if count:
        if epsilon is not None and chosen.level is not None and chosen.level.alpha == 1:
            raise InputError("epsilon must be > 0 to draw, got 0: for answers that tell nothing say --alpha 1")
        _sample(chosen, count, point, json)
        return
    channel = chosen.channel()
    leak = chosen.leak(channel)
    save_channel(channel, output)
    _draw(chosen, channel, plot)
    _show(chosen, channel, leak, json)


def _count(sample: str | None, point: str | None, file: str | None) -> int:
    """How many samples; 0 for none."""
    from utmost.exact import integer

    if sample is None:
        if point is not None:
            raise InputError("--input must come with --sample, got none: say for instance --sample 10")
        return 0
    if file is not None:
        raise InputError("--sample must come without --plot and --output: save the mechanism in a run of its own")
    count = integer(sample, "--sample")
    if not 1 <= count <= MOST_SAMPLES:
        got = count if abs(count) < 10**15 else "more"
        raise InputError(f"--sample must be from 1 to {MOST_SAMPLES}, got {got}: draw the rest in another run")
    return count


def _sample(chosen: MechanismChoice, count: int, point: str | None, json: bool) -> None:
    """Draw, then print all at once: a run that fails has printed no sample."""
    from utmost.cli import output

    if point is None:
        raise InputError("--input must be given to draw samples, got none: it is the true value")
    x = chosen.point(point)
    samples: list[Any] = []
    while len(samples) < count:
        samples += chosen.draw(x, min(CHUNK, count - len(samples)))
        if count > CHUNK:
            output.print_remark(f"drawn {len(samples)} of {count}")
    if json:
        output.print_json({"samples": samples, **_levels(chosen.level), **chosen.facts})
    else:
        print("\n".join(",".join(y) if isinstance(y, list) else str(y) for y in samples))


def _levels(level: Level | None) -> dict[str, Any]:
    from utmost.cli import output

    if level is None:
        return {}
    exact = level.epsilon if level.exponent is None else level.exponent
    return {"epsilon": output.json_value(exact), "alpha": output.json_value(level.alpha)}


def _show(chosen: MechanismChoice, channel: Channel, leak: PrivacyLoss, json: bool) -> None:
    from utmost.cli import output

    if json:
        content: dict[str, Any] = output.channel_document(channel)
        content |= {"epsilon": output.epsilon_of(leak, chosen.level), "alpha": output.json_value(leak.alpha)}
        content |= {} if chosen.level is None else {"level": _levels(chosen.level)}
        content |= {} if chosen.space is None else {"space": chosen.space}
        output.print_json(content | chosen.facts)
        return
    output.print_text(f"{chosen.title}. Rows: {chosen.rows}. Columns: answers.")
    output.channel_table(channel)
    level = chosen.level
    asked = f"It was made for {level}." if level and level.is_inner and not output.attains_level(leak, level) else ""
    output.print_text(" ".join(filter(None, [output.leak_sentence(leak, level), chosen.assumed, asked])))


def _draw(chosen: MechanismChoice, channel: Channel, plot: str | None) -> None:
    from utmost import charts
    from utmost.cli.output import print_remark

    if plot is not None:
        title = chosen.title if chosen.level is None else f"{chosen.title}, {chosen.level}"
        claim = "Neighbouring inputs give every answer within a factor 1/α: that is the privacy."
        charts.save_chart(charts.channel_chart(channel, title, claim), plot)
        print_remark(f"drew {plot}")
