"""`utmost table`: the numbers of a release as a tidy table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utmost.cli.options import JsonOption

EXAMPLES = """Examples:  utmost table survey.release.json
utmost table survey.release.json --output survey.csv"""


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="The release file: survey.release.json.", show_default=False)
    ],
    output: Annotated[str | None, typer.Option(metavar="FILE", help="Write the table: .csv or .parquet.")] = None,
    json: JsonOption = False,
) -> None:
    """Write a release as a tidy table.

    One row for each number, with its keys, its 95 % interval and its error.
    """
    from utmost.cli.output import print_remark, print_report
    from utmost.publish import output_files, release_file
    from utmost.publish.tidy_table import tidy_table
    from utmost.reports.tidy_table import describe

    if output is not None:
        output_files.check_table_output(Path(output), "--output")
    table = tidy_table(release_file.read_release(release))
    if output is None or json:
        print_report(describe(table), json)
    if output is not None:
        table.write(Path(output))
        print_remark(f"wrote {output}")
