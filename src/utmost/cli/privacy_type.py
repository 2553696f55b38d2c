"""`utmost type`: what a privacy type is made of, and what it can deliver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    OutputOption,
    PlotOption,
    SpaceArgument,
    check_ending,
    required_level,
    save_channel,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.design import Capacities
    from utmost.exact import Level
    from utmost.polytopes.type_members import MemberKinds, Members, Progress
    from utmost.reports.privacy_type import Universality
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost type line:4 --alpha 1/2 --vertices --kernels --capacity;  "
    "utmost type hamming:20 --alpha 1/2 --capacity;  utmost type discrete:3 --alpha 1/2 --loss binary"
)
STREAM_ENDINGS = (".jsonl",)


def command(
    space: SpaceArgument,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    vertices: Annotated[
        bool, typer.Option("--vertices", help="List the vertices of the region of posteriors.")
    ] = False,
    kernels: Annotated[bool, typer.Option("--kernels", help="List the kernel mechanisms.")] = False,
    capacity: Annotated[
        bool, typer.Option("--capacity", help="Compute the most that any mechanism can reveal.")
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option(metavar="LOSS", help="Test whether one mechanism is best for this loss and every prior."),
    ] = None,
    channel: Annotated[
        str | None, typer.Option(metavar="FILE", help="Mechanism to test or to plot: .csv or .json.")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Print numbers instead of lists.")] = False,
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
    """Describe all private mechanisms on a space.

    Shows the most that any of them can reveal (capacities, the default), the vertices and kernel mechanisms that they
    are made of, and whether one is best for every prior. Everything is exact.
    """
    from utmost import spaces
    from utmost.channel import files
    from utmost.cli.output import print_report
    from utmost.polytopes.type_members import MemberKinds
    from utmost.reports import privacy_type

    level = required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(save, STREAM_ENDINGS, "--save")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    _check_options(vertices or kernels, loss, channel, count, save, plot)
    if output is not None and kernel is None:
        raise InputError(
            "--output must come with --kernel", "output", "say which kernel mechanism to save, for instance --kernel 0"
        )
    points = spaces.parse_space(space)
    findings = privacy_type.TypeFindings(space, points, level)
    if vertices or kernels:
        findings = replace(findings, members=_find_members(points, level, MemberKinds(vertices, kernels), save, count))
    if kernel is not None:
        findings = replace(findings, kernel=_find_kernel(points, level, kernel, output))
    if capacity or not (vertices or kernels or loss or plot or kernel is not None):
        findings = replace(findings, capacities=_find_capacities(points, level))
    mechanism = None if channel is None else files.read_channel(channel)
    if loss is not None:
        findings = replace(findings, universality=_decide_universality(points, level, loss, mechanism))
    save_plot(plot, lambda: privacy_type.figure(points, level, mechanism))
    print_report(privacy_type.describe(findings), json)


def _check_options(
    members: bool, loss: str | None, channel: str | None, count: bool, save: str | None, plot: str | None
) -> None:
    """Refuse options that would do nothing."""
    for is_given, name in ((count, "--count"), (save is not None, "--save")):
        if is_given and not members:
            raise InputError(f"{name} must come with --vertices or --kernels", name, "say what of")
    if channel is not None and loss is None and plot is None:
        raise InputError(
            "--channel must come with --loss or --plot: for what it is alone, say utmost check FILE", "channel"
        )


def _find_members(points: Space, level: Level, kinds: MemberKinds, save: str | None, count: bool) -> Members:
    from utmost.cli.output import print_remark
    from utmost.polytopes import type_members

    with _progress(points) as progress:
        if save is None:
            return (type_members.count_members if count else type_members.list_members)(points, level, kinds, progress)
        found = type_members.save_members(points, level, kinds, progress, save)
    print_remark(f"saved {save}")
    return found


def _find_kernel(points: Space, level: Level, number: int, output: str | None) -> Channel:
    from utmost.polytopes.type_members import kernel_by_number

    with _progress(points) as progress:
        kernel = kernel_by_number(points, level, number, progress)
    save_channel(kernel, output)
    return kernel


def _find_capacities(points: Space, level: Level) -> Capacities:
    """Both capacities; the bounds so far are on stderr during the search."""
    from utmost.cli.output import progress_line
    from utmost.design import capacity
    from utmost.reports import at_least, at_most

    with progress_line(f"capacities of {points.name}") as report:
        return capacity(
            points, level, lambda lower, upper: report(f"between {at_least(lower, 6)} and {at_most(upper, 6)}")
        )


def _decide_universality(points: Space, level: Level, loss: str, mechanism: Channel | None) -> Universality:
    """Is the mechanism universally optimal for the loss; without one, is any."""
    from utmost import polytopes
    from utmost.consumer import losses
    from utmost.design import universal
    from utmost.reports.privacy_type import Universality, name_outputs

    loss_function = losses.over(losses.parse(loss), points)
    with _progress(points) as progress:
        if mechanism is not None:
            verdict = universal.universally_optimal(points, level, loss_function, mechanism, progress)
            objections = () if verdict.objection is None else (verdict.objection,)
            return Universality(loss, True, mechanism, verdict, objections)
        kernels = (kernel.channel() for kernel in polytopes.kernels(points, level))
        search = universal.universal_mechanism(points, level, loss_function, kernels, progress)
    found = None if search.mechanism is None else name_outputs(search.mechanism, points)
    return Universality(loss, False, found, search.verdict, search.objections)


@contextmanager
def _progress(points: Space) -> Iterator[Progress]:
    from utmost.cli.output import progress_line

    with progress_line(points.name) as report:
        yield lambda stage, count, total: report(f"{count}{f' of {total}' if total else ''} {stage}")
