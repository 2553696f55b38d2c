"""`utmost type`: what a privacy type is made of, and what it can deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    OutputOption,
    PlotOption,
    check_ending,
    required_level,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost type line:4 --alpha 1/2 --vertices --kernels --capacity;  "
    "utmost type hamming:20 --alpha 1/2 --capacity;  utmost type discrete:3 --alpha 1/2 --loss binary"
)
MAX_SHOWN_MEMBERS = 24  # vertices, or kernel mechanisms, on a terminal
STREAM_ENDINGS = (".jsonl",)


def command(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="line:4, discrete:5, grid:2x2, hamming:3, cycle:5 …")],
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
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
    output: OutputOption = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """What a privacy type contains: vertices, kernel mechanisms, capacities.

    Everything is exact. Without options, the capacities.
    """
    from utmost import spaces
    from utmost.cli import capacity_output

    level = required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(save, STREAM_ENDINGS, "--save")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    _check_options(vertices or kernels, loss, channel, count, save, plot)
    if output is not None and kernel is None:
        raise InputError(
            "--output must come with --kernel: say which kernel mechanism to save, for instance --kernel 0"
        )
    points = spaces.parse_space(space)
    findings: dict[str, Any] = {}
    if vertices or kernels:
        findings |= _find_members(points, level, save, count, vertices=vertices, kernels=kernels)
    if kernel is not None:
        findings["kernel"] = _find_kernel(points, level, kernel, output)
    if capacity or not (vertices or kernels or loss or plot or kernel is not None):
        findings["capacity"] = capacity_output.find_capacities(points, level)
    if loss is not None:
        findings["universal"] = _judge_universality(points, level, loss, channel)
    if plot is not None:
        _save_plot(points, level, channel, plot)
    _print_json(space, points, level, findings) if json else _print_text(points, level, loss, findings)


def _check_options(
    members: bool, loss: str | None, channel: str | None, count: bool, save: str | None, plot: str | None
) -> None:
    """Refuse options that would do nothing."""
    for is_given, name in ((count, "--count"), (save is not None, "--save")):
        if is_given and not members:
            raise InputError(f"{name} must come with --vertices or --kernels: say what of")
    if channel is not None and loss is None and plot is None:
        raise InputError("--channel must come with --loss or --plot: for what it is alone, say utmost check FILE")


def _find_members(
    points: Space, level: Level, save: str | None, count: bool, *, vertices: bool, kernels: bool
) -> dict[str, Any]:
    from utmost.cli import vertex_output
    from utmost.cli.output import print_remark

    if save is not None:
        members = vertex_output.save_members(points, level, save, vertices=vertices, kernels=kernels)
        print_remark(f"saved {save}")
        return members
    if count:
        return vertex_output.count_members(points, level, vertices=vertices, kernels=kernels)
    return vertex_output.list_members(points, level, vertices=vertices, kernels=kernels)


def _find_kernel(points: Space, level: Level, number: int, output: str | None) -> Channel:
    from utmost.cli import vertex_output
    from utmost.cli.options import save_channel

    kernel = vertex_output.kernel_by_number(points, level, number)
    save_channel(kernel, output)
    return kernel


def _judge_universality(points: Space, level: Level, loss: str, channel: str | None) -> Any:
    from utmost.cli import universality_output

    return universality_output.judge_universality(points, level, loss, channel)


def _save_plot(points: Space, level: Level, channel: str | None, plot: str) -> None:
    from utmost import charts
    from utmost.channel import files
    from utmost.cli.output import print_remark

    if len(points) not in (3, 4):
        raise InputError(f"--plot must be for 3 secrets (a triangle) or 4 (a tetrahedron), got {len(points)}")
    mechanism = None if channel is None else files.read_channel(channel)
    title = f"The posteriors that {points.name} allows at {level}"
    claim = "Shaded: every posterior of every private mechanism, under a uniform prior (the cross)."
    charts.save_chart(charts.region_chart(points, level, mechanism, title, claim), plot)
    print_remark(f"drew {plot}")


def _print_json(space: str, points: Space, level: Level, findings: dict[str, Any]) -> None:
    from utmost.cli import capacity_output, output, universality_output

    content = {"space": space, "points": len(points), "alpha": output.json_value(level.alpha)} | findings
    if "capacity" in findings:
        content |= capacity_output.capacity_document(findings["capacity"])
    if "kernel" in findings:
        content["kernel"] = output.channel_document(findings["kernel"])
    if "universal" in findings:
        content["universal"] = universality_output.universality_document(findings["universal"])
    output.print_json(content)


def _print_text(points: Space, level: Level, loss: str | None, findings: dict[str, Any]) -> None:
    from utmost.cli import capacity_output, output, universality_output

    secrets = f"{len(points):,} secret{'s' if len(points) > 1 else ''}"
    output.print_text(f"The privacy type of {points.name} ({secrets}) at {level}.")
    if "vertices" in findings:
        _print_vertices(points, findings["vertices"])
    if "kernels" in findings:
        _print_kernels(findings["kernels"])
    if "kernel" in findings:
        output.print_channel(findings["kernel"])
    if "capacity" in findings:
        capacity_output.print_capacities(findings["capacity"])
    if "universal" in findings:
        universality_output.print_universality(findings["universal"], loss or "")


def _print_vertices(points: Space, vertices: int | list[dict[str, Any]]) -> None:
    """Print their posteriors, a column for each secret."""
    from utmost.cli import output

    number = vertices if isinstance(vertices, int) else len(vertices)
    output.print_text(f"Vertices of the region of posteriors: {number:,}.")
    if isinstance(vertices, int):
        return
    rows = [[str(k), *map(_format_cell, vertex["posterior"])] for k, vertex in enumerate(vertices[:MAX_SHOWN_MEMBERS])]
    output.print_table(["", *map(str, points.labels)], rows)
    _print_omission(len(vertices))


def _print_kernels(kernels: int | list[dict[str, Any]]) -> None:
    """Print each by the numbers of its vertices."""
    from utmost.cli import output

    number = kernels if isinstance(kernels, int) else len(kernels)
    output.print_text(f"Kernel mechanisms: {number:,}.")
    if isinstance(kernels, int):
        return
    rows = [
        [str(k), *("  ".join(map(_format_cell, kernel[key])) for key in ("vertices", "weights"))]
        for k, kernel in enumerate(kernels[:MAX_SHOWN_MEMBERS])
    ]
    output.print_table(["", "of vertices (--vertices)", "with weights"], rows, text_columns=3)
    _print_omission(len(kernels))


def _print_omission(number: int) -> None:
    from utmost.cli import output

    if number > MAX_SHOWN_MEMBERS:
        output.print_text(
            f"The first {MAX_SHOWN_MEMBERS}; --json lists them all, --save FILE.jsonl writes them as they are found."
        )
    output.print_text()


def _format_cell(value: object) -> str:
    from utmost.exact import decimal, number

    text = str(value)
    return text if len(text) <= 12 else decimal(number(text), 4)
