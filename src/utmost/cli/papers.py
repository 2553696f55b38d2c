"""`utmost papers`: the papers' tables and figures, published beside computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.papers import Item, Report, Table

EXAMPLES = "Examples: utmost papers;  utmost papers GRS12;  utmost papers FMPD23 --output figures"
VERDICT_TEXTS = {True: "agrees", False: "DIFFERS", None: "nothing published to compare with"}


def command(
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="A paper such as GRS12; all are listed if left out.")
    ] = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Write its figures there.")] = None,
    json: JsonOption = False,
) -> None:
    """A paper's tables, published beside computed."""
    from utmost import papers

    if key is None:
        _print_papers(papers.KEYS, output, json)
        return
    folder = _make_folder(output)
    report = papers.report(key)
    if folder is not None:
        _save_figures(report, folder)
    _print_json(report) if json else _print_text(report)


def _print_papers(keys: dict[str, str], output: str | None, json: bool) -> None:
    from utmost.cli.output import print_facts, print_json

    if output is not None:
        raise InputError(f"--output needs a paper's KEY, got none: say one of {', '.join(keys)}")
    if json:
        print_json({"papers": [{"key": key, "title": title} for key, title in keys.items()]})
    else:
        print_facts(list(keys.items()))


def _make_folder(output: str | None) -> Path | None:
    if output is None:
        return None
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--output must be a directory that can be made, got {Path(output).name[:60]}: {error.strerror}"
        ) from None
    return Path(output)


def _print_json(report: Report) -> None:
    from utmost import papers
    from utmost.cli import output

    output.print_json(papers.document(report))


def _print_text(report: Report) -> None:
    from utmost.cli import output
    from utmost.papers import SOURCE_TEXT

    output.print_text(f"{report.key}  {report.title}")
    for item in report.items:
        output.print_text(f"\n{item.name}: {VERDICT_TEXTS[item.agrees]}. {item.caption}")
        output.print_side_by_side(_value_columns(item))
        if item.note:
            output.print_text(item.note)
    output.print_text(f"\n{SOURCE_TEXT}")
    for name, lines in (("Errata", report.errata), ("Remarks", report.remarks)):
        if lines:
            output.print_text(f"\n{name}")
            output.print_facts([("-", line) for line in lines])
    compared_items = [item for item in report.items if item.agrees is not None]
    agree = sum(bool(item.agrees) for item in compared_items)
    differing_names = [item.name for item in compared_items if not item.agrees]
    exceptions = f"; not: {', '.join(differing_names)}" if differing_names else ""
    output.print_text(
        f"\n{agree} of {len(compared_items)} items with published values agree{exceptions}. {len(report.items)} "
        "items in all."
    )


def _value_columns(item: Item) -> list[tuple[str, Any]]:
    """Published beside computed: in one table where each has a value a line, or where every cell is the same."""
    from utmost.cli import output

    computed, published = item.computed, item.published
    if published is None:
        return [("computed", _renderable(computed))]
    if isinstance(computed, str) or isinstance(published, str) or computed.header != published.header:
        return [("published", _renderable(published)), ("computed", _renderable(computed))]
    if len(computed.header) == 2 and [row[0] for row in computed.rows] == [row[0] for row in published.rows]:
        rows = [(a[0], a[1], b[1]) for a, b in zip(published.rows, computed.rows, strict=True)]
        return [("", output.build_table((computed.header[0], "published", "computed"), rows))]
    if computed == published and not output.fits_terminal([_renderable(published), _renderable(computed)]):
        return [("published = computed, in every cell", _renderable(computed))]
    return [("published", _renderable(published)), ("computed", _renderable(computed))]


def _renderable(value: Table | str) -> Any:
    from utmost.cli import output

    return value if isinstance(value, str) else output.build_table(value.header, value.rows)


def _save_figures(report: Report, folder: Path) -> None:
    """Save a chart for each item that has one."""
    from utmost import charts
    from utmost.cli.options import check_replaceable
    from utmost.cli.output import print_remark
    from utmost.papers.figures import figure, file_name

    for item in report.items:
        chart = figure(item)
        if chart is not None:
            path = folder / f"{file_name(report, item)}.svg"
            check_replaceable(path, "a figure in --output")
            charts.save_chart(chart, path)
            print_remark(f"drew {path}")
