"""`utmost refine`: is one channel a post-processing of another, and if not, which consumer shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utmost.cli.options import CHANNEL_ENDINGS, JsonOption, check_ending, save_channel

EXAMPLES = (
    "Examples: utmost refine a.csv b.csv;  "
    "utmost mechanism geometric --size 5 --alpha 1/3 --output a.csv, then utmost refine a.csv b.csv --output r.csv"
)
SLOW_ENTRY_COUNT = 1200  # entries of a post-processing above which a remark says that it takes a while
CHANNEL_HELP = "A .csv (header: outputs; first column: inputs) or .json."


def command(
    a: Annotated[str, typer.Argument(metavar="A", help=CHANNEL_HELP)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another channel on the same inputs.")],
    output: Annotated[str | None, typer.Option(metavar="FILE", help="Save R, where B = A R: .csv or .json.")] = None,
    json: JsonOption = False,
) -> None:
    """Test whether B is a post-processing of A.

    Prints the matrix, or a counterexample. B refines A when B = A R for a channel R. Then nobody does better with B
    than with A. If not, the prior and the loss of a consumer who does are shown. Both directions are decided, in
    exact arithmetic.
    """
    from utmost.channel import files
    from utmost.cli.output import print_remark, print_report
    from utmost.qif.refinement import compare
    from utmost.reports import refinement

    check_ending(output, CHANNEL_ENDINGS, "--output")
    first, second = files.read_channel(a), files.read_channel(b)
    if len(first.outputs) * len(second.outputs) > SLOW_ENTRY_COUNT:
        print_remark(
            f"{len(first.outputs)} and {len(second.outputs)} outputs in exact arithmetic: this can take a minute"
        )
    comparison = compare(first, second)
    if comparison.forward.post_processing is not None:
        save_channel(comparison.forward.post_processing, output)
    elif output is not None:
        print_remark("nothing saved: B does not refine A, so there is no R")
    names = refinement.ChannelNames(files=(Path(a).name, Path(b).name))
    print_report(refinement.describe(comparison, names), json)
