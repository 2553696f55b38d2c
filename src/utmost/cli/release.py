"""`utmost release`: what a plan costs and how good it will be, then the release itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import JsonOption
from utmost.cli.output import print_lines, print_remark, print_report
from utmost.errors import BudgetError, OutputError

if TYPE_CHECKING:
    from utmost.publish.execute import PreparedRelease, Progress
    from utmost.publish.plan_model import Plan
    from utmost.publish.release_model import Release

EXAMPLES = """Examples:  utmost release survey.toml --dry-run
utmost release survey.toml"""


def command(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan: survey.toml.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show cost and accuracy; spend nothing.")] = False,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Release file, instead of the one in the plan.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the answers as a table: .csv or .parquet.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Publish a plan's answers, charged to its budget.

    Writes one release file. With --dry-run it shows cost and accuracy and spends nothing. The charge is in the ledger
    before noise is drawn.
    """
    from utmost.publish import execute, output_files, plans, release_file, unreadable_values
    from utmost.publish.budget_outlook import budget_names
    from utmost.publish.tidy_table import tidy_table
    from utmost.reports import preview, release

    parsed_plan = plans.read_plan(plan)
    if output is not None:
        parsed_plan = replace(parsed_plan, output=Path(output).absolute())
    if table is not None:
        output_files.check_table_output(Path(table), "--table", parsed_plan)
        with release_file.ReservedFile(Path(table)):
            pass  # it can be written
    with _repetition_advice(parsed_plan), execute.prepare_release(parsed_plan, dry_run=dry_run) as prepared_release:
        if dry_run:
            counts = unreadable_values.count_unreadable(prepared_release.preview.plan, prepared_release.table)
            print_report(
                preview.describe(prepared_release.preview, counts, budget_names(prepared_release.budget_ledger)),
                json,
            )
            if prepared_release.preview.refusal is not None:
                raise prepared_release.preview.refusal
            return
        if not json:
            print_report(preview.describe(prepared_release.preview))
        with progress_bar() as report:
            new_release = _spend(prepared_release, report)
    if prepared_release.preview.free:
        print_remark("the ledger remembers this release: nothing was spent, and the answers are the same")
    if parsed_plan.output is not None:
        print_remark(f"wrote {os.path.relpath(parsed_plan.output)}")
    if table is not None:
        tidy_table(new_release).write(Path(table))
        print_remark(f"wrote {table}")
    print_report(release.describe(new_release), json)


@contextmanager
def _repetition_advice(plan: Plan) -> Iterator[None]:
    """Say what is needed to repeat a release, where a budget is short for a plan that has been released before."""
    was_released = plan.output is not None and plan.output.exists()
    try:
        yield
    except BudgetError as problem:
        if not was_released or plan.fingerprint is not None:
            raise
        hint = f"{problem.hint}; to repeat a release for free, its plan needs a fingerprint"
        raise BudgetError(problem.message, problem.field, hint, context=problem.context) from None


def _spend(prepared_release: PreparedRelease, report: Progress) -> Release:
    """The release; one that was charged and could not be kept goes to standard output as a last resort."""
    try:
        return prepared_release.spend(report)
    except OutputError as problem:
        print_lines(problem.document)
        raise


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from utmost.exact.input_text import escape_control

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task_id = bar.add_task("", total=None)
        yield lambda stage, completed, total: bar.update(
            task_id, description=escape_control(stage, frozenset()), completed=completed, total=total
        )
