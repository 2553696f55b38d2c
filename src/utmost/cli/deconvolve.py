"""`utmost deconvolve`: the prior that makes the answers of a channel most likely."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.options import JsonOption

EXAMPLES = (
    "Examples: utmost deconvolve channel.csv --counts 50,30,20;  "
    "utmost deconvolve channel.csv --counts counts.txt --gap 1e-9 --json"
)


def command(
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="A .csv (header: outputs) or .json.")],
    counts: Annotated[
        str, typer.Option(metavar="N,N,…", help="How often each output was given, in order; or a file, one a line.")
    ],
    start: Annotated[str | None, typer.Option(metavar="PRIOR", help="Where to begin: {priors}; or uniform.")] = None,
    gap: Annotated[str, typer.Option(metavar="G", help="Log-likelihood of an answer that may be missing.")] = "1e-6",
    rounds: Annotated[str, typer.Option(metavar="N", help="Rounds at most.")] = "10000",
    json: JsonOption = False,
) -> None:
    """Estimate the prior behind many answers of a channel.

    By the iterative Bayesian update, in doubles: every round averages the posteriors. How much likelier any other prior
    could make the answers is shown.
    """
    from utmost.channel import read_channel
    from utmost.cli.output import print_report
    from utmost.consumer import priors
    from utmost.exact import integer, rational
    from utmost.qif import iterative_bayesian_update
    from utmost.reports import prior_estimate

    least_gap, most_rounds = float(rational(gap, "--gap")), integer(rounds, "--rounds")
    source = read_channel(channel)
    prior = None if start is None else priors.parse(start, len(source.inputs))
    numbers = prior_estimate.parse_counts(counts)
    estimate = iterative_bayesian_update(source, numbers, prior, gap=least_gap, rounds=most_rounds)
    print_report(prior_estimate.describe(estimate, least_gap), json)
