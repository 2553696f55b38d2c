"""`utmost type`: what a privacy type is made of, and what it can deliver."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHANNELS, PICTURES, Alpha, Epsilon, Json, Output, Plot, ending, level_of
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.cli.waiting import Report
    from utmost.design.capacities import Capacities, Capacity
    from utmost.exact import Level, Number
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost type line:4 --alpha 1/2 --vertices --kernels --capacity;  "
    "utmost type hamming:20 --alpha 1/2 --capacity;  utmost type discrete:3 --alpha 1/2 --loss binary"
)
SHOWN = 24  # vertices, or kernel mechanisms, on a terminal
LONGEST = 200  # characters of an exact capacity
STREAMS = (".jsonl",)


def command(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="line:4, discrete:5, grid:2x2, hamming:3, cycle:5 …")],
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    vertices: Annotated[bool, typer.Option("--vertices", help="The vertices of the region of posteriors.")] = False,
    kernels: Annotated[bool, typer.Option("--kernels", help="The kernel mechanisms.")] = False,
    capacity: Annotated[bool, typer.Option("--capacity", help="The most that any mechanism of it can tell.")] = False,
    loss: Annotated[
        str | None, typer.Option(metavar="LOSS", help="Is one mechanism the best for this loss, whatever the prior?")
    ] = None,
    channel: Annotated[
        str | None, typer.Option(metavar="FILE", help="A mechanism (.csv, .json): is it the one, and where is it?")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Numbers instead of lists.")] = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Stream vertices and kernels to a .jsonl file.")
    ] = None,
    kernel: Annotated[
        int | None, typer.Option(metavar="K", help="Show kernel mechanism K, and save it with --output.")
    ] = None,
    output: Output = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """What a privacy type contains: vertices, kernel mechanisms, capacities.

    Everything is exact. Without options, the capacities.
    """
    from utmost import spaces

    level = level_of(alpha, epsilon)
    ending(plot, PICTURES, "--plot")
    ending(save, STREAMS, "--save")
    ending(output, CHANNELS, "--output")
    _consistent(vertices or kernels, loss, channel, count, save, plot)
    if output is not None and kernel is None:
        raise InputError(
            "--output must come with --kernel: say which kernel mechanism to save, for instance --kernel 0"
        )
    points = spaces.parse(space)
    found: dict[str, Any] = {}
    if vertices or kernels:
        found |= _members(points, level, save, count, vertices=vertices, kernels=kernels)
    if kernel is not None:
        found["kernel"] = _kernel(points, level, kernel, output)
    if capacity or not (vertices or kernels or loss or plot or kernel is not None):
        found["capacity"] = _capacities(points, level)
    if loss is not None:
        found["universal"] = _judged(points, level, loss, channel)
    if plot is not None:
        _draw(points, level, channel, plot)
    _document(space, points, level, found) if json else _text(points, level, loss, found)


def _consistent(
    members: bool, loss: str | None, channel: str | None, count: bool, save: str | None, plot: str | None
) -> None:
    """Options that would do nothing are refused."""
    for given, name in ((count, "--count"), (save is not None, "--save")):
        if given and not members:
            raise InputError(f"{name} must come with --vertices or --kernels: say what of")
    if channel is not None and loss is None and plot is None:
        raise InputError("--channel must come with --loss or --plot: for what it is alone, say utmost check FILE")


def _members(
    points: Space, level: Level, save: str | None, count: bool, *, vertices: bool, kernels: bool
) -> dict[str, Any]:
    from utmost.cli import members
    from utmost.cli.show import remark

    if save is not None:
        found = members.saved(points, level, save, vertices=vertices, kernels=kernels)
        remark(f"saved {save}")
        return found
    if count:
        return members.counted(points, level, vertices=vertices, kernels=kernels)
    return members.listed(points, level, vertices=vertices, kernels=kernels)


def _kernel(points: Space, level: Level, number: int, output: str | None) -> Channel:
    from utmost.cli import members
    from utmost.cli.options import save

    found = members.chosen(points, level, number)
    save(found, output)
    return found


def _capacities(points: Space, level: Level) -> Capacities:
    from utmost.cli.waiting import waiting
    from utmost.design import capacity

    with waiting(f"capacities of {points.name}") as report:
        return capacity(points, level, _bounds(report))


def _bounds(report: Report) -> Callable[[Number, Number], None]:
    from utmost.exact import decimal

    return lambda lower, upper: report(f"between {decimal(lower)} and {decimal(upper)}")


def _judged(points: Space, level: Level, loss: str, channel: str | None) -> Any:
    from utmost.cli import universal

    return universal.judged(points, level, loss, channel)


def _draw(points: Space, level: Level, channel: str | None, plot: str) -> None:
    from utmost.cli import region
    from utmost.cli.show import remark

    region.draw(points, level, channel, plot)
    remark(f"drew {plot}")


def _document(space: str, points: Space, level: Level, found: dict[str, Any]) -> None:
    from utmost.cli import show, universal

    content = {"space": space, "points": len(points), "alpha": show.plain(level.alpha)} | found
    if "capacity" in found:
        both: Capacities = found["capacity"]
        pair = {"multiplicative": both.multiplicative, "additive": both.additive}
        content["capacity"] = {name: _value(one) for name, one in pair.items()}
        content["certificate"] = {name: _proof(one) for name, one in pair.items()}
    if "kernel" in found:
        content["kernel"] = show.channel_document(found["kernel"])
    if "universal" in found:
        content["universal"] = universal.document(found["universal"])
    show.document(content)


def _value(one: Capacity) -> str | float:
    """Exact as text where it is short, else a float."""
    text = _exact_text(one)
    return text if text is not None else float(f"{float(one.value):.12g}")


def _exact_text(one: Capacity) -> str | None:
    """The capacity itself, if it is known exactly and is short enough to be read."""
    value = one.value
    if not one.exact or not isinstance(value, Fraction) or value.denominator.bit_length() > 3 * LONGEST:
        return None
    return str(value)


def _proof(one: Capacity) -> dict[str, Any]:
    gap = float(one.gap)
    return {
        "lower": float(f"{float(one.lower):.12g}"),
        "upper": float(f"{float(one.upper):.12g}"),
        "gap": "0" if one.exact else float(f"{gap * 1.01:.3g}"),
        "how": one.how,
        "columns": None if one.channel is None else len(one.channel.outputs),
    }


def _text(points: Space, level: Level, loss: str | None, found: dict[str, Any]) -> None:
    from utmost.cli import show, universal

    show.say(f"The privacy type of {points.name} ({len(points):,} secrets) at {level}.")
    if "vertices" in found:
        _show_vertices(points, found["vertices"])
    if "kernels" in found:
        _show_kernels(found["kernels"])
    if "kernel" in found:
        show.channel_table(found["kernel"])
    if "capacity" in found:
        _show_capacities(found["capacity"])
    if "universal" in found:
        universal.show(found["universal"], loss or "")


def _show_vertices(points: Space, vertices: int | list[dict[str, Any]]) -> None:
    """Their posteriors, a column for each secret."""
    from utmost.cli import show

    number = vertices if isinstance(vertices, int) else len(vertices)
    show.say(f"Vertices of the region of posteriors: {number:,}.")
    if isinstance(vertices, int):
        return
    rows = [[str(k), *map(_cell, one["posterior"])] for k, one in enumerate(vertices[:SHOWN])]
    show.table(["", *map(str, points.labels)], rows)
    _show_rest(len(vertices))


def _show_kernels(kernels: int | list[dict[str, Any]]) -> None:
    """Each by the numbers of its vertices."""
    from utmost.cli import show

    number = kernels if isinstance(kernels, int) else len(kernels)
    show.say(f"Kernel mechanisms: {number:,}.")
    if isinstance(kernels, int):
        return
    rows = [
        [str(k), *("  ".join(map(_cell, one[key])) for key in ("vertices", "weights"))]
        for k, one in enumerate(kernels[:SHOWN])
    ]
    show.table(["", "of vertices (--vertices)", "with weights"], rows, left=3)
    _show_rest(len(kernels))


def _show_rest(number: int) -> None:
    from utmost.cli import show

    if number > SHOWN:
        show.say(f"The first {SHOWN}; --json lists them all, --save FILE.jsonl writes them as they are found.")
    show.say()


def _cell(value: object) -> str:
    from utmost.exact import decimal, number

    text = str(value)
    return text if len(text) <= 12 else decimal(number(text), 4)


def _show_capacities(both: Capacities) -> None:
    from utmost.cli import show

    show.say(
        f"Multiplicative capacity {_spelled(both.multiplicative)}: whatever a consumer believes and wants, an answer "
        "multiplies what she can gain by at most this."
    )
    show.say(
        f"Additive capacity {_spelled(both.additive)}: where her expected gain lies between 0 and 1 whatever she "
        "believes, an answer adds at most this to it."
    )
    for name, one in (("Multiplicative", both.multiplicative), ("Additive", both.additive)):
        columns = "" if one.channel is None else f"; a mechanism of {len(one.channel.outputs)} outputs attains it"
        gap = "0" if one.exact else f"below {float(one.gap) * 1.01:.1g}"
        show.say(f"{name}: {one.how}{columns}; gap {gap}.")


def _spelled(one: Capacity) -> str:
    from utmost.exact import decimal

    exact, short = _exact_text(one), decimal(one.value)
    if short == "1" and one.value != 1:
        return f"1 − {decimal(1 - one.value)}"
    if exact is None or len(exact) > 40 or exact == short:
        return short
    return f"{exact} {'=' if Fraction(short) == one.value else '≈'} {short}"
