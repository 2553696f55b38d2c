"""`utmost definition`: is a privacy definition sound, and what does it allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import CHART_ENDINGS, CommandGroup, JsonOption, PlotOption, check_ending, save_plot

if TYPE_CHECKING:
    from utmost.reports.definition import DefinitionFindings

EXAMPLES = (
    "Examples: utmost definition check pure:1/10;  "
    'utmost definition check "b <= 2*a or b <= 1/2" --plot gap.svg;  '
    "utmost definition check policy.toml --json;  "
    "utmost definition show approximate:1,1e-6 --plot bound.svg"
)
DEFINITION_HELP = (
    "A .toml file; a bound: pure:E, alpha:A, approximate:E,D, variation:T, identity, subsampling:P or "
    "points:0 0,1/4 3/4,1 1; or a predicate of a = P(O|i1) and b = P(O|i2), in quotes."
)
DefinitionArgument = Annotated[str, typer.Argument(metavar="FILE|WORDS", help=DEFINITION_HELP)]
SpaceOption = Annotated[
    str | None, typer.Option(metavar="SPACE", help="Related secrets: line:6 or pairs:FILE; one pair if left out.")
]

app = typer.Typer(
    cls=CommandGroup,
    help="Test and show definitions of privacy.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Test and show definitions of privacy."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("check", epilog=EXAMPLES)
def check_command(
    definition: DefinitionArgument, space: SpaceOption = None, plot: PlotOption = None, json: JsonOption = False
) -> None:
    """Test whether a definition is sound.

    A sound definition is kept by post-processing and by mixing. If it is not, prints a mechanism that meets it with a
    post-processing that does not, and two that meet it with a mixture that does not; verified on all events in exact
    arithmetic. Also prints the least sound definition above it.
    """
    from utmost.cli.output import print_report
    from utmost.reports.definition import MAX_SHOWN_PAIRS, describe

    check_ending(plot, CHART_ENDINGS, "--plot")
    findings = _examine(definition, space, None if json else MAX_SHOWN_PAIRS)
    _draw_region(findings, plot)
    print_report(describe(findings), json)


@app.command("show", epilog=EXAMPLES)
def show_command(
    definition: DefinitionArgument, space: SpaceOption = None, plot: PlotOption = None, json: JsonOption = False
) -> None:
    """Show what a definition allows.

    M is the most that P(O|i2) may be for each P(O|i1), and m the least.
    """
    from utmost.cli.output import print_report
    from utmost.reports.definition import describe_allowed

    check_ending(plot, CHART_ENDINGS, "--plot")
    findings = _examine(definition, space, 0)
    _draw_region(findings, plot)
    print_report(describe_allowed(findings), json)


def _examine(text: str, space: str | None, max_closures: int | None) -> DefinitionFindings:
    """The verdict, and the closures for the first `max_closures` kinds of pairs, or for all."""
    from utmost.axioms import closure, relation_of, soundness
    from utmost.axioms.definition_files import parse_candidate
    from utmost.reports.definition import DefinitionFindings

    candidate = parse_candidate(text, None if space is None else relation_of(space))
    closures = tuple((pair, closure(*allowed_pairs.rules)) for pair, allowed_pairs in candidate.cases[:max_closures])
    return DefinitionFindings(text, candidate, soundness(candidate), closures)


def _draw_region(findings: DefinitionFindings, plot: str | None) -> None:
    """Draw the region of the pair that fails, or of the first."""
    from utmost.cli.output import print_remark
    from utmost.reports.definition import figure

    pair = findings.verdict.pair or next((pair for pair, _ in findings.candidate.cases), None)
    if pair is not None:
        save_plot(plot, lambda: figure(findings, pair))
    elif plot is not None:
        print_remark("nothing drawn: no two secrets are related")
