"""`utmost distance`: the Kantorovich distance of two distributions on a space."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.options import JsonOption, SpaceArgument

EXAMPLES = (
    "Examples: utmost distance line:6 uniform binomial:0.3;  utmost distance grid:2x2 1/2,1/2,0,0 0,0,1/2,1/2 --json"
)


def command(
    space: SpaceArgument,
    first: Annotated[str, typer.Argument(metavar="FIRST", help="A distribution on its points: {priors}.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another one.")],
    json: JsonOption = False,
) -> None:
    """Measure how far two priors are from each other.

    By the Kantorovich distance: what it costs to move one into the other, a mass of 1 over a distance of d costing d.
    Proved from both sides, exactly where distances and weights are rational.
    """
    from utmost.cli.output import print_report
    from utmost.consumer import priors
    from utmost.qif import kantorovich
    from utmost.reports import kantorovich as report
    from utmost.spaces import parse_space

    points = parse_space(space)
    points.check_table_size()
    left, right = (priors.parse(text, len(points)) for text in (first, second))
    print_report(report.describe(kantorovich(left, right, points), points), json)
