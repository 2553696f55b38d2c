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
MAX_SAMPLES = 10**7
SAMPLES_PER_CHUNK = 1 << 18  # draws between two lines of progress
OptionalText = str | None


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(OPTIONS_BY_MECHANISM)}, or a channel: .csv or .json.")
    ],
    size: Annotated[
        OptionalText, typer.Option(metavar="N", help="A count's upper end: 0 to N; of response, how many.")
    ] = None,
    span: Annotated[OptionalText, typer.Option("--range", metavar="A,B", help="The values' range.")] = None,
    granularity: Annotated[OptionalText, typer.Option(metavar="G", help="Step of the grid on the range.")] = None,
    sensitivity: Annotated[
        OptionalText, typer.Option(metavar="D", help="How far one change moves the value; or 1.")
    ] = None,
    step: Annotated[OptionalText, typer.Option(metavar="S", help="Step of the lattice in the plane.")] = None,
    box: Annotated[
        OptionalText,
        typer.Option(metavar="L,B,R,T", help="Keep answers in left,bottom,right,top: coordinates, as --input."),
    ] = None,
    scores: Annotated[OptionalText, typer.Option(metavar="1,2;3,4", help="A row of scores for each input.")] = None,
    monotone: Annotated[bool, typer.Option("--monotone", help="One change moves all scores one way.")] = False,
    space: Annotated[
        OptionalText, typer.Option(metavar="SPACE", help="Of a file: how far its inputs are apart.")
    ] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sample: Annotated[OptionalText, typer.Option(metavar="K", help="Draw K exact samples for --input.")] = None,
    point: Annotated[
        OptionalText, typer.Option("--input", metavar="X", help="The true value: 3, or 0.3,1.7 in a plane.")
    ] = None,
    plot: PlotOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Show, save, plot or sample a mechanism. Its ε is recomputed from its exact entries."""
    options = {"--size": size, "--range": span, "--granularity": granularity, "--sensitivity": sensitivity}
    options |= {"--step": step, "--box": box, "--scores": scores, "--monotone": "yes" if monotone else None}
    options["--space"] = space
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    count = _parse_count(sample, point, plot or output)
    choice = choose_mechanism(name, {key: value for key, value in options.items() if value is not None}, alpha, epsilon)
    if count:
        if epsilon is not None and choice.level is not None and choice.level.alpha == 1:
            raise InputError("epsilon must be > 0 to draw, got 0: for answers that tell nothing say --alpha 1")
        _print_samples(choice, count, point, json)
        return
    channel = choice.build_channel()
    privacy_loss = choice.privacy_loss(channel)
    save_channel(channel, output)
    _save_plot(choice, channel, plot)
    _print_mechanism(choice, channel, privacy_loss, json)


def _parse_count(sample: str | None, point: str | None, file: str | None) -> int:
    """How many samples; 0 for none."""
    from utmost.exact import integer

    if sample is None:
        if point is not None:
            raise InputError("--input must come with --sample, got none: say for instance --sample 10")
        return 0
    if file is not None:
        raise InputError("--sample must come without --plot and --output: save the mechanism in a run of its own")
    count = integer(sample, "--sample")
    if not 1 <= count <= MAX_SAMPLES:
        count_text = count if abs(count) < 10**15 else "more"
        raise InputError(f"--sample must be from 1 to {MAX_SAMPLES}, got {count_text}: draw the rest in another run")
    return count


def _print_samples(choice: MechanismChoice, count: int, point: str | None, json: bool) -> None:
    """Draw, then print all at once: a run that fails has printed no sample."""
    from utmost.cli import output

    if point is None:
        raise InputError("--input must be given to draw samples, got none: it is the true value")
    x = choice.parse_input(point)
    samples: list[Any] = []
    while len(samples) < count:
        samples += choice.draw(x, min(SAMPLES_PER_CHUNK, count - len(samples)))
        if count > SAMPLES_PER_CHUNK:
            output.print_remark(f"drawn {len(samples)} of {count}")
    if json:
        output.print_json({"samples": samples, **_level_document(choice.level), **choice.facts})
    else:
        output.print_lines("\n".join(",".join(y) if isinstance(y, list) else str(y) for y in samples))


def _level_document(level: Level | None) -> dict[str, Any]:
    from utmost.cli import output

    if level is None:
        return {}
    exact = level.epsilon if level.exponent is None else level.exponent
    return {"epsilon": output.json_value(exact), "alpha": output.json_value(level.alpha)}


def _print_mechanism(choice: MechanismChoice, channel: Channel, privacy_loss: PrivacyLoss, json: bool) -> None:
    from utmost.cli import output

    if json:
        content: dict[str, Any] = output.channel_document(channel)
        content |= {
            "epsilon": output.json_epsilon(privacy_loss, choice.level),
            "alpha": output.json_value(privacy_loss.alpha),
        }
        content |= {} if choice.level is None else {"level": _level_document(choice.level)}
        content |= {} if choice.space is None else {"space": choice.space}
        output.print_json(content | choice.facts)
        return
    output.print_text(f"{choice.title}. Rows: {choice.rows}. Columns: answers.")
    output.print_channel(channel)
    level = choice.level
    level_remark = (
        f"It was made for {level}."
        if level and level.is_inner and not output.attains_level(privacy_loss, level)
        else ""
    )
    output.print_text(
        " ".join(
            filter(None, [output.privacy_loss_sentence(privacy_loss, level), choice.neighbours_remark, level_remark])
        )
    )


def _save_plot(choice: MechanismChoice, channel: Channel, plot: str | None) -> None:
    from utmost import charts
    from utmost.cli.output import print_remark

    if plot is not None:
        title = choice.title if choice.level is None else f"{choice.title}, {choice.level}"
        claim = "Neighbouring inputs give every answer within a factor 1/α: that is the privacy."
        charts.save_chart(charts.channel_chart(channel, title, claim), plot)
        print_remark(f"drew {plot}")
