"""`utmost obfuscate`: the local model, row by row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import AlphaOption, EpsilonOption, JsonOption, required_level
from utmost.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.exact import Level
    from utmost.publish.local import CategoryMechanism, LocationMechanism
    from utmost.publish.local.coordinates import CoordinateSystem, Corners, Pair
    from utmost.publish.local.table_files import Progress

EXAMPLES = (
    "Examples: utmost obfuscate people.csv out.csv --planar --x east --y north --unit km --step 0.01 --epsilon 0.5;  "
    "utmost obfuscate people.parquet out.csv --planar --x lon --y lat --degrees --box 2.2,48.8,2.5,48.95 "
    "--unit km --step 0.01 --epsilon 1;  "
    "utmost obfuscate people.csv out.csv --response --column vote --values 0,1,none --others none --epsilon 1"
)
OptionalText = str | None
LOCATION_OPTIONS = ("--x", "--y", "--unit", "--coordinates", "--degrees", "--origin", "--step", "--box", "--missing")
CATEGORY_OPTIONS = ("--column", "--values", "--others", "--dual")


def command(
    table: Annotated[str, typer.Argument(metavar="IN", help="The table: .csv, .parquet or bundled:anes96.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The new table; its note is OUT.json.")],
    planar: Annotated[bool, typer.Option("--planar", help="Add planar noise to places.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Randomise categories.")] = False,
    x: Annotated[
        OptionalText, typer.Option(metavar="NAME", help="Column of the first coordinate, or longitude.")
    ] = None,
    y: Annotated[
        OptionalText, typer.Option(metavar="NAME", help="Column of the second coordinate, or latitude.")
    ] = None,
    unit: Annotated[OptionalText, typer.Option(metavar="U", help="Unit of ε and --step: m, km, ft or mi.")] = None,
    coordinates: Annotated[
        OptionalText, typer.Option(metavar="U", help="Unit of the columns; that of ε if left out.")
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="The columns are degrees; needs --box.")] = False,
    origin: Annotated[
        OptionalText, typer.Option(metavar="LON,LAT", help="Centre of the projection; middle of --box if left out.")
    ] = None,
    step: Annotated[OptionalText, typer.Option(metavar="S", help="Step of the lattice.")] = None,
    box: Annotated[
        OptionalText, typer.Option(metavar="L,B,R,T", help="Public region; places outside are moved to its edge.")
    ] = None,
    missing: Annotated[
        OptionalText, typer.Option(metavar="WHAT", help="Rows without a place: refuse, drop, or a public X,Y.")
    ] = None,
    column: Annotated[OptionalText, typer.Option(metavar="NAME", help="Column of categories.")] = None,
    values: Annotated[OptionalText, typer.Option(metavar="A,B,…", help="Public list of its values.")] = None,
    others: Annotated[OptionalText, typer.Option(metavar="A", help="Listed value that stands for all others.")] = None,
    dual: Annotated[
        bool, typer.Option("--dual", help="Report a value that is false, not the one that is true.")
    ] = False,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    keep: Annotated[OptionalText, typer.Option(metavar="A,B,…", help="Columns to copy unprotected.")] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Keep the order of rows, which may reveal something.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add noise to each row by itself (local model).

    Obfuscates places or categories. Each row is private on its own, whoever holds the new table.
    """
    all_options: dict[str, str | None] = {
        "--x": x,
        "--y": y,
        "--unit": unit,
        "--coordinates": coordinates,
        "--step": step,
    }
    all_options |= {"--origin": origin, "--box": box, "--missing": missing, "--column": column, "--values": values}
    all_options |= {"--others": others, "--degrees": "yes" if degrees else None, "--dual": "yes" if dual else None}
    options = {name: value for name, value in all_options.items() if value is not None}
    mechanism = _build_mechanism(planar, response, options, required_level(alpha, epsilon))
    _run(mechanism, table, target, split_names(keep, "--keep"), in_order, json)


def _build_mechanism(
    planar: bool, response: bool, options: dict[str, str], level: Level
) -> LocationMechanism | CategoryMechanism:
    """The mechanism that the options describe; options of the other kind are refused."""
    if planar == response:
        raise InputError("--planar or --response must be given, one of the two: for places or for categories", "planar")
    kind, allowed_options = ("--planar", LOCATION_OPTIONS) if planar else ("--response", CATEGORY_OPTIONS)
    for option in options:
        if option not in allowed_options:
            raise InputError(f"{option} must not be given with {kind}: it takes {', '.join(allowed_options)}", option)
    if not level.is_inner:
        raise InputError(
            "epsilon must be > 0 and finite to obfuscate (0 < alpha < 1): the ends leave nothing to draw", "epsilon"
        )
    return _build_location_mechanism(options, level) if planar else _build_category_mechanism(options, level)


def _require_options(options: dict[str, str], kind: str, *names: str) -> list[str]:
    for name in names:
        if name not in options:
            raise InputError(f"{name} must be given with {kind}, got none", name, "see utmost obfuscate --help")
    return [options[name] for name in names]


def _build_location_mechanism(options: dict[str, str], level: Level) -> LocationMechanism:
    from utmost.exact import rational
    from utmost.publish.local import LocationMechanism

    x, y, unit, step = _require_options(options, "--planar", "--x", "--y", "--unit", "--step")
    box: Corners | None = None
    if "--box" in options:
        left, bottom, right, top = _parse_numbers(options["--box"], "--box", 4)
        box = left, bottom, right, top
    coordinates = _coordinate_system(options, unit, box)
    return LocationMechanism(
        x,
        y,
        level,
        unit,
        rational(step, "--step"),
        coordinates,
        box,
        _parse_missing(options.get("--missing", "refuse")),
    )


def _coordinate_system(options: dict[str, str], unit: str, box: Corners | None) -> CoordinateSystem:
    from utmost.publish.local import DegreeCoordinates, PlaneCoordinates

    if "--degrees" not in options:
        if "--origin" in options:
            raise InputError("--origin must come with --degrees: a plane's lattice begins at 0,0", "origin")
        return PlaneCoordinates(options.get("--coordinates", unit))
    if "--coordinates" in options:
        raise InputError("--coordinates must not be given with --degrees: the columns are degrees", "coordinates")
    if "--origin" in options:
        longitude, latitude = _parse_numbers(options["--origin"], "--origin", 2)
        return DegreeCoordinates((longitude, latitude))
    if box is None:
        raise InputError("--box must be given with --degrees, got none: it bounds what the projection distorts", "box")
    return DegreeCoordinates(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))


def _parse_missing(text: str) -> str | Pair:
    if "," not in text:
        return text
    x, y = _parse_numbers(text, "--missing", 2)
    return x, y


def _build_category_mechanism(options: dict[str, str], level: Level) -> CategoryMechanism:
    from utmost.publish.local import CategoryMechanism

    column, values = _require_options(options, "--response", "--column", "--values")
    return CategoryMechanism(
        column, level, tuple(split_names(values, "--values")), options.get("--others"), "--dual" in options
    )


def _parse_numbers(text: str, name: str, count: int) -> list[Fraction]:
    from utmost.exact import rational

    numbers = [rational(number, name) for number in text.split(",")]
    if len(numbers) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(numbers)}", name)
    return numbers


def split_names(text: str | None, name: str) -> list[str]:
    """Names with commas between them; one that contains a comma stands in double quotes.

    >>> split_names('a, b,"c,d"', "--keep")
    ['a', 'b', 'c,d']
    """
    import csv

    if text is None:
        return []
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise InputError(f'{name} must be names with commas between them, such as a,b or "a,b",c', name) from None
    names = [entry.strip() for row in rows for entry in row]
    if not names or not all(names):
        raise InputError(f"{name} must be names with commas between them, got an empty one", name)
    return names


def _run(
    mechanism: LocationMechanism | CategoryMechanism,
    table: str,
    target: str,
    keep: list[str],
    in_order: bool,
    json: bool,
) -> None:
    from utmost.cli import output
    from utmost.publish.local import obfuscate
    from utmost.reports.local import describe_obfuscation

    with progress_bar() as progress:
        table_metadata = obfuscate(mechanism, table, target, keep, in_order, progress)
    if keep:
        output.print_remark(f"copied as they are, with no protection: {', '.join(table_metadata.kept)}")
    if in_order:
        output.print_remark("kept the order of the rows: where it was sorted by what is hidden, it tells of it")
    output.print_report(describe_obfuscation(table_metadata, target), json)


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on stderr if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task_by_stage: dict[str, Any] = {}

        def advance(stage: str, share: float) -> None:
            if stage not in task_by_stage:
                task_by_stage[stage] = bars.add_task(stage, total=1.0)
            bars.update(task_by_stage[stage], completed=share)

        yield advance
