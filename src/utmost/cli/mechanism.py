"""`utmost mechanism`: show, save, plot or sample a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.named import TAKES, Chosen, chosen_by
from utmost.cli.options import CHANNELS, PICTURES, Alpha, Epsilon, Json, Output, Plot, ending, save
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel, Leak
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
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"{', '.join(TAKES)}, or a channel: .csv or .json.")],
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
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    sample: Annotated[Text, typer.Option(metavar="K", help="Draw K exact samples for --input.")] = None,
    point: Annotated[
        Text, typer.Option("--input", metavar="X", help="The true value: 3, or 0.3,1.7 in a plane.")
    ] = None,
    plot: Plot = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show, save, plot or sample a mechanism. Its ε is recomputed from its exact entries."""
    given = {"--size": size, "--range": span, "--granularity": granularity, "--sensitivity": sensitivity}
    given |= {"--step": step, "--box": box, "--scores": scores, "--monotone": "yes" if monotone else None}
    given["--space"] = space
    ending(plot, PICTURES, "--plot")
    ending(output, CHANNELS, "--output")
    count = _count(sample, point, plot or output)
    chosen = chosen_by(name, {key: value for key, value in given.items() if value is not None}, alpha, epsilon)
    if count:
        if epsilon is not None and chosen.level is not None and chosen.level.alpha == 1:
            raise InputError("epsilon must be > 0 to draw, got 0: for answers that tell nothing say --alpha 1")
        _sample(chosen, count, point, json)
        return
    channel = chosen.channel()
    leak = chosen.leak(channel)
    save(channel, output)
    _draw(chosen, channel, plot)
    _show(chosen, channel, leak, json)


def _count(sample: str | None, point: str | None, file: str | None) -> int:
    """How many samples; 0 for none."""
    from utmost.exact import whole

    if sample is None:
        if point is not None:
            raise InputError("--input must come with --sample, got none: say for instance --sample 10")
        return 0
    if file is not None:
        raise InputError("--sample must come without --plot and --output: save the mechanism in a run of its own")
    count = whole(sample, "--sample")
    if not 1 <= count <= MOST_SAMPLES:
        got = count if abs(count) < 10**15 else "more"
        raise InputError(f"--sample must be from 1 to {MOST_SAMPLES}, got {got}: draw the rest in another run")
    return count


def _sample(chosen: Chosen, count: int, point: str | None, json: bool) -> None:
    """Draw, then print all at once: a run that fails has printed no sample."""
    from utmost.cli import show

    if point is None:
        raise InputError("--input must be given to draw samples, got none: it is the true value")
    x = chosen.point(point)
    samples: list[Any] = []
    while len(samples) < count:
        samples += chosen.draw(x, min(CHUNK, count - len(samples)))
        if count > CHUNK:
            show.remark(f"drawn {len(samples)} of {count}")
    if json:
        show.document({"samples": samples, **_levels(chosen.level), **chosen.facts})
    else:
        print("\n".join(",".join(y) if isinstance(y, list) else str(y) for y in samples))


def _levels(level: Level | None) -> dict[str, Any]:
    from utmost.cli import show

    if level is None:
        return {}
    exact = level.epsilon if level.exponent is None else level.exponent
    return {"epsilon": show.plain(exact), "alpha": show.plain(level.alpha)}


def _show(chosen: Chosen, channel: Channel, leak: Leak, json: bool) -> None:
    from utmost.cli import show

    if json:
        content: dict[str, Any] = show.channel_document(channel)
        content |= {"epsilon": show.epsilon_of(leak, chosen.level), "alpha": show.plain(leak.alpha)}
        content |= {} if chosen.level is None else {"level": _levels(chosen.level)}
        content |= {} if chosen.space is None else {"space": chosen.space}
        show.document(content | chosen.facts)
        return
    show.say(f"{chosen.title}. Rows: {chosen.rows}. Columns: answers.")
    show.channel_table(channel)
    level = chosen.level
    asked = f"It was made for {level}." if level and level.is_inner and not show.attains(leak, level) else ""
    show.say(" ".join(filter(None, [show.leak_sentence(leak, level), chosen.assumed, asked])))


def _draw(chosen: Chosen, channel: Channel, plot: str | None) -> None:
    from utmost import pictures
    from utmost.cli.show import remark

    if plot is not None:
        title = chosen.title if chosen.level is None else f"{chosen.title}, {chosen.level}"
        claim = "Neighbouring inputs give every answer within a factor 1/α: that is the privacy."
        pictures.write(pictures.picture(channel, title, claim), plot)
        remark(f"drew {plot}")
