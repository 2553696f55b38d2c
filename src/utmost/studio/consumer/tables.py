"""A table of a release that adds up: all its counts read together, as a page, as JSON and as a CSV file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from utmost.errors import InputError
from utmost.exact import rational
from utmost.joint import TableEstimate, TwoWayEstimate
from utmost.publish.reading.joint_table import ReleasedTable, find_table
from utmost.publish.release_model import Release
from utmost.reports import joint_estimate, two_way_estimate
from utmost.reports.blocks import Block, Report
from utmost.studio.background import ComputeDep
from utmost.studio.charts import Chart, chart_from_altair
from utmost.studio.consumer import release_store
from utmost.studio.consumer.api import Name, file_name
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.forms import Problem, parse_loss, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep, VisitorDep
from utmost.studio.visitors import Visitor

MAX_TABLE_CELLS = 20_000  # of all levels that are read for a page
MAX_LISTED_CELLS = 200  # of a level that a page lists
PICTURE_WORDS = "Of each count what was released (stroke), its mean (dot) and its interval (bar)."


class TableForm(BaseModel):
    """A table of a release, and its reader. A table of rows and columns has no prior and no loss."""

    model_config = ConfigDict(frozen=True)

    table: str = Field(default="", max_length=300, description="The table; by default the first")
    prior: str = Field(default="divisions", max_length=60, description="divisions, divisions:a or divisions:evidence")
    loss: str = Field(default="absolute", max_length=60, description="A loss that is convex in the error")
    coverage: str = Field(default="0.95", max_length=60, description="Probability of the intervals")
    where: str = Field(default="", max_length=2000, description="The sum of the cells that satisfy this predicate")

    def address(self) -> str:
        """The query of an address that says the same."""
        defaults = type(self)().model_dump()
        return urlencode({name: value for name, value in self.model_dump().items() if value != defaults[name]})


class TableReading(BaseModel):
    """All counts of a table, read together."""

    table: str
    entry: dict[str, Any] = Field(description="As utmost estimate --table --json writes it")
    command: str = Field(description="The same on the command line")
    address: str = Field(description="The query of an address that asks the same")
    picture: Chart


@dataclass(frozen=True, slots=True)
class TablePage:
    """A release's tables, one of them read or why it cannot be, and the form."""

    title: str
    tables: tuple[str, ...]
    is_two_way: bool
    form: TableForm
    reading: TableReading | None
    blocks: tuple[Block, ...]
    problem: Problem | None


api = APIRouter(prefix="/api/consumer", tags=["consumer"])
pages = APIRouter(include_in_schema=False, prefix="/consumer")
TableQuery = Annotated[TableForm, Query()]


@api.get("/{shelf_name}/{name}/table")
def table_reading(
    settings: SettingsDep,
    visitor: VisitorDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: TableQuery,
) -> TableReading:
    """All counts of a table read together: whole, adding up, with intervals."""
    return compute(_table_reading, settings, visitor, shelf_name, name, form)


@pages.get("/{shelf_name}/{name}/table.csv")
def table_csv(
    settings: SettingsDep,
    visitor: VisitorDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: TableQuery,
) -> PlainTextResponse:
    """The same as a CSV file: a row for each count."""
    content = compute(_table_csv, settings, visitor, shelf_name, name, form)
    headers = {"content-disposition": 'attachment; filename="table.csv"'}
    return PlainTextResponse(content, media_type="text/csv; charset=utf-8", headers=headers)


@pages.get("/{shelf_name}/{name}/table")
def table_page(
    request: Request,
    settings: SettingsDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: TableQuery,
) -> HTMLResponse:
    """A table, all of its counts read together."""
    content = compute(_page_content, settings, compute.visitor, shelf_name, name, form)
    root, query = f"{shelf_name}/{name}", form.address()
    return render_page(
        request,
        "consumer/table.html",
        json_address=f"/api/consumer/{root}/table?{query}",
        csv_address=f"/consumer/{root}/table.csv?{query}",
        root=f"/consumer/{root}",
        problem=content.problem,
        page=content,
    )


def _table_reading(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: TableForm
) -> TableReading:
    release = release_store.open_release(settings, visitor, owner, name)
    with _errors_for_form():
        table = _open_table(release, form)
        return _reading(table, _read(table, form), form, file_name(owner, name))


def _table_csv(settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: TableForm) -> str:
    release = release_store.open_release(settings, visitor, owner, name)
    with _errors_for_form():
        return _read(_open_table(release, form), form)._result_table().to_csv()


def _page_content(settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: TableForm) -> TablePage:
    release = release_store.open_release(settings, visitor, owner, name)
    title, names = release.title or release.source.name, tuple(table.name for table in release.tables)
    try:
        with _errors_for_form():
            table = _open_table(release, form)
            estimate = _read(table, form)
            blocks = tuple(_report(table, estimate, form, MAX_LISTED_CELLS))
            reading = _reading(table, estimate, form, file_name(owner, name))
    except InputError as error:
        problem = problem_from_error(error, list(TableForm.model_fields))
        return TablePage(title, names, False, form, None, (), problem)
    shown = form.model_copy(update={"table": table.name})
    return TablePage(title, names, table.is_two_way, shown, reading, blocks, None)


@contextmanager
def _errors_for_form() -> Iterator[None]:
    """Report errors raised inside beside a field of the form."""
    fields = {"sum": "where"}
    try:
        yield
    except InputError as error:
        field = fields.get(error.field or "", error.field)
        if field not in TableForm.model_fields:
            field = "table"
        raise InputError(error.message, field, error.hint, context=error.context) from None


def _open_table(release: Release, form: TableForm) -> ReleasedTable:
    """The table that the form names, or the first; refused where it is too large for a page."""
    table = find_table(release, form.table or next((table.name for table in release.tables), ""))
    cells = sum(len(table.table.level_cells(level)) for level in table.levels)
    if cells > MAX_TABLE_CELLS:
        problem = f"table must have at most {MAX_TABLE_CELLS} cells for a page, got {cells}"
        raise InputError(problem, "table", "read it on the command line")
    return table


def _read(table: ReleasedTable, form: TableForm) -> TableEstimate | TwoWayEstimate:
    if table.is_two_way:
        return table.two_way()
    return table.estimate(form.prior, parse_loss(form.loss), coverage=form.coverage)


def _report(
    table: ReleasedTable, estimate: TableEstimate | TwoWayEstimate, form: TableForm, listed: int | None = None
) -> Report:
    """What the command line says, with more cells where a page lists them."""
    where = form.where.strip()
    if isinstance(estimate, TwoWayEstimate):
        coverage, sets = float(rational(form.coverage, "coverage")), [(where, table.cells(where))] if where else []
        return two_way_estimate.describe(estimate, coverage=coverage, sums=sets, listed=listed)
    sums = [(where, estimate.sum(table.cells(where)))] if where else []
    return joint_estimate.describe(estimate, sums=sums, listed=listed)


def _reading(
    table: ReleasedTable, estimate: TableEstimate | TwoWayEstimate, form: TableForm, file: str
) -> TableReading:
    if isinstance(estimate, TwoWayEstimate):
        picture = two_way_estimate.figure(estimate)
    else:
        picture = joint_estimate.figure(estimate)
    return TableReading(
        table=table.name,
        entry=_report(table, estimate, form).json,
        command=_command(table, form, file),
        address=form.address(),
        picture=chart_from_altair(picture, PICTURE_WORDS, wide=False),
    )


def _command(table: ReleasedTable, form: TableForm, file: str) -> str:
    """What gives the same on the command line."""
    options = {} if table.is_two_way else {"--prior": form.prior, "--loss": form.loss}
    options |= {"--sum": form.where.strip(), "--coverage": form.coverage}
    defaults = {"--prior": "divisions", "--loss": "absolute", "--sum": "", "--coverage": "0.95"}
    chosen = [word for name, text in options.items() if text != defaults[name] for word in (name, text)]
    return shlex.join(["utmost", "estimate", file, "--table", table.name, *chosen])
