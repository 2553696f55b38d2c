"""`utmost papers`: the papers' tables and figures, published beside computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.papers import Report

EXAMPLES = "Examples: utmost papers;  utmost papers GRS12;  utmost papers FMPD23 --output figures"


def command(
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="Paper such as GRS12; lists all if left out.")
    ] = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Folder for its figures.")] = None,
    json: JsonOption = False,
) -> None:
    """Compare a paper's published values with computed ones."""
    from utmost import papers
    from utmost.cli.output import print_report
    from utmost.reports.papers import describe, describe_list

    if key is None:
        if output is not None:
            raise InputError("--output needs a paper's KEY, got none", "output", f"say one of {', '.join(papers.KEYS)}")
        print_report(describe_list(), json)
        return
    folder = _make_folder(output)
    paper = papers.report(key)
    if folder is not None:
        _save_figures(paper, folder)
    print_report(describe(paper), json)


def _make_folder(output: str | None) -> Path | None:
    if output is None:
        return None
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--output must be a directory that can be made, got {Path(output).name[:60]}: {error.strerror}", "output"
        ) from None
    return Path(output)


def _save_figures(report: Report, folder: Path) -> None:
    """Save a chart for each item that has one."""
    from utmost import charts
    from utmost.cli.options import check_replaceable
    from utmost.cli.output import print_remark
    from utmost.papers.items import figure, file_name

    for item in report.items:
        chart = figure(item)
        if chart is not None:
            path = folder / f"{file_name(report, item)}.svg"
            check_replaceable(path, "a figure in --output")
            charts.save_chart(chart, path)
            print_remark(f"drew {path}")
