"""`utmost mechanism`: show, save or plot a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHANNELS, PICTURES, Alpha, Epsilon, Json, Output, Plot, ending, level_of, save
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel, Leak
    from utmost.exact import Level

EXAMPLES = (
    "Examples: utmost mechanism geometric --size 5 --alpha 1/2;  "
    "utmost mechanism geometric --size 20 --epsilon 0.1 --plot heat.svg --output heat.csv"
)
LARGEST = 500  # upper end of a count whose matrix is written out here
LARGEST_IRRATIONAL = 100  # the same, where its entries are irrational


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="geometric: the truncated geometric mechanism.")],
    size: Annotated[str, typer.Option(metavar="N", help="The count's upper end: inputs are 0 to N.")],
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    plot: Plot = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show, save or plot a mechanism. Its ε is recomputed from its exact entries."""
    from utmost.channel import least_epsilon
    from utmost.mechanisms import geometric
    from utmost.spaces import line

    _check_name(name)
    level = level_of(alpha, epsilon)
    ending(plot, PICTURES, "--plot")
    ending(output, CHANNELS, "--output")
    channel = geometric(_size(size, level), level).channel()
    leak = least_epsilon(channel, line(len(channel.inputs)))
    save(channel, output)
    _draw(channel, level, plot)
    _show(channel, leak, json)


def _check_name(name: str) -> None:
    if name != "geometric":
        raise InputError(f'NAME must be geometric, got "{name[:40]}": no other mechanism is built in')


def _size(text: str, level: Level) -> int:
    from utmost.exact import Real, whole

    size, limit = whole(text, "--size"), LARGEST_IRRATIONAL if isinstance(level.alpha, Real) else LARGEST
    if not 0 <= size <= limit:
        got = size if abs(size) < 10**15 else "more"
        advice = "a rational --alpha goes further" if limit == LARGEST_IRRATIONAL else "show a smaller count"
        raise InputError(f"--size must be from 0 to {limit} to write the matrix out at this level, got {got}: {advice}")
    return size


def _show(channel: Channel, leak: Leak, json: bool) -> None:
    from utmost.cli import show

    if json:
        content: dict[str, Any] = show.channel_document(channel)
        show.document(content | {"epsilon": show.epsilon_of(leak), "alpha": show.plain(leak.alpha)})
        return
    show.say(f"The truncated geometric mechanism. Rows: counts 0 to {channel.inputs[-1]}. Columns: answers.")
    show.channel_table(channel)
    show.say(show.leak_sentence(leak))


def _draw(channel: Channel, level: Level, plot: str | None) -> None:
    from utmost import pictures
    from utmost.cli.show import remark

    if plot is not None:
        title = f"The truncated geometric mechanism, {level}"
        claim = "Neighbouring counts give every answer within a factor 1/α: that is the privacy."
        pictures.write(pictures.picture(channel, title, claim), plot)
        remark(f"drew {plot}")
