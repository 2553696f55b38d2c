"""`utmost estimate --table`: all counts of a table read together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.cli.options import save_plot
from utmost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utmost.joint import TableEstimate, TwoWayEstimate
    from utmost.publish.reading.joint_table import ReleasedTable

SAME_ROWS_REMARK = (
    "The releases are read as counts of the same rows: that no row changed between them is not in the files."
)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What the options ask of a table."""

    release: str
    table: str
    others: tuple[str, ...]
    prior: str | None
    loss: str
    coverage: str
    level: str | None
    sums: tuple[str, ...]
    draws: int | None
    output: str | None
    plot: str | None
    json: bool


def read_table(request: TableRequest) -> None:
    """Read the table, and print, draw and write what is asked for."""
    from utmost.publish import output_files, release_file
    from utmost.publish.reading.joint_table import find_table

    if request.output is not None:
        output_files.check_table_output(Path(request.output), "--output")
    release = release_file.read_release(request.release)
    others = [release_file.read_release(path) for path in request.others]
    together = find_table(release, request.table).together(*others)
    if together.is_two_way:
        _read_two_way(request, together)
    else:
        _read_hierarchy(request, together)


def _title(table: ReleasedTable) -> str:
    name = table.release.title or table.release.source.name
    releases = f", read from {1 + len(table.others)} releases" if table.others else ""
    return f'{name}: table "{table.name}"{releases}, all answers read together.'


def _remarks(table: ReleasedTable) -> list[str]:
    return [SAME_ROWS_REMARK] if table.others else []


def _read_hierarchy(request: TableRequest, table: ReleasedTable) -> None:
    from utmost.publish.reading.cell_predicates import select_cells
    from utmost.publish.reading.table_shapes import unused_totals
    from utmost.reports.joint_estimate import describe, figure

    level = _level(request.level, [", ".join(columns) or "total" for columns in table.tree.columns])
    cells = [(text, select_cells(table.tree, text)) for text in request.sums]
    estimate = table.estimate(request.prior or "divisions", request.loss, coverage=request.coverage)
    sums = [(text, estimate.sum(keys, _sum_draws(request.draws))) for text, keys in cells]
    draws = None if request.draws is None else estimate.draws(request.draws)
    unused = unused_totals(table.table, table.tree)
    remarks = [*_remarks(table), *([f"{unused} known totals are of no level and are not used."] if unused else [])]
    save_plot(request.plot, lambda: figure(estimate, level))
    options: dict[str, Any] = {"title": _title(table), "level": level, "sums": sums, "draws": draws}
    _finish(request, estimate, lambda: describe(estimate, remarks=remarks, **options))


def _sum_draws(draws: int | None) -> int | None:
    """As many draws as are asked for, and no fewer than an interval takes."""
    from utmost.joint.estimate import DEFAULT_DRAWS

    return None if draws is None or draws < DEFAULT_DRAWS else draws


def _read_two_way(request: TableRequest, table: ReleasedTable) -> None:
    from utmost.exact import rational
    from utmost.joint.two_way import KINDS
    from utmost.reports.two_way_estimate import describe, figure

    given = {"--prior": request.prior, "--draws": request.draws}
    for option, value in given.items():
        if value is not None:
            problem = f"{option} must not be given for a table of rows and columns, which has no posterior here"
            raise InputError(problem, option.removeprefix("--"), "leave it out: least squares take none")
    estimate = table.two_way()
    names = {estimate.table.level_name(kind): kind for kind in KINDS}
    level = _level(request.level, list(names))
    kinds = KINDS if level is None else (list(names.values())[level],)
    coverage = float(rational(request.coverage, "coverage"))
    sums = [(text, table.cells(text)) for text in request.sums]
    save_plot(request.plot, lambda: figure(estimate, kinds))
    _finish(
        request,
        estimate,
        lambda: describe(
            estimate, title=_title(table), coverage=coverage, kinds=kinds, sums=sums, remarks=_remarks(table)
        ),
    )


def _finish(request: TableRequest, estimate: TableEstimate | TwoWayEstimate, report: Any) -> None:
    """Print the report and write the table, by the options."""
    from utmost.cli.output import print_remark, print_report
    from utmost.publish.tidy_table import write_result_table

    if request.output is None or request.json:
        print_report(report(), request.json)
    if request.output is not None:
        write_result_table(estimate._result_table(), request.output)
        print_remark(f"wrote {request.output}")


def _level(text: str | None, names: Sequence[str]) -> int | None:
    """The level of this name: its columns with commas between them, or total."""
    if text is None:
        return None
    wanted = [part.strip() for part in text.split(",")]
    for number, name in enumerate(names):
        if [part.strip() for part in name.split(",")] == wanted:
            return number
    raise InputError(f"--level must be one of {'; '.join(names)[:200]}, got {text[:60]}", "level")
