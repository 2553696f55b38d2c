"""`utmost inspect`: how a plan's table fits it, for the curator's eyes only."""

from __future__ import annotations

from typing import Annotated

import typer

from utmost.cli.options import JsonOption
from utmost.cli.output import print_report

EXAMPLES = """Examples:  utmost inspect survey.toml
utmost inspect survey.toml --json"""


def command(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan: survey.toml.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Show the curator how a table fits a plan. Not for publication.

    Counts values that do not fit their kind, are missing or out of bounds, and people with more rows than are kept.
    The numbers are exact, without noise. It spends nothing and needs no ledger.
    """
    from utmost.publish import inspection
    from utmost.publish.plans import read_plan
    from utmost.reports import inspection as report

    print_report(report.describe(inspection.inspect_plan(read_plan(plan))), json)
