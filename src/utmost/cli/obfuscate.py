"""`utmost obfuscate`: the local model, row by row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import AlphaOption, EpsilonOption, JsonOption, required_level
from utmost.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.exact import Level
    from utmost.publish.local import CategoryMechanism, LocationMechanism, TableMetadata
    from utmost.publish.local.coordinates import CoordinateSystem, Corners, Pair
    from utmost.publish.local.table_files import Progress

EXAMPLES = (
    "Examples: utmost obfuscate people.csv out.csv --planar --x east --y north --unit km --step 0.01 --epsilon 0.5;  "
    "utmost obfuscate people.parquet out.csv --planar --x lon --y lat --degrees --box 2.2,48.8,2.5,48.95 "
    "--unit km --step 0.01 --epsilon 1;  "
    "utmost obfuscate people.csv out.csv --response --column vote --values 0,1,none --others none --epsilon 1"
)
Text = str | None
PLACES = ("--x", "--y", "--unit", "--coordinates", "--degrees", "--origin", "--step", "--box", "--missing")
ANSWERS = ("--column", "--values", "--others", "--dual")


def command(
    table: Annotated[str, typer.Argument(metavar="IN", help="The table: .csv, .parquet or bundled:anes96.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The new table; its note is OUT.json.")],
    planar: Annotated[bool, typer.Option("--planar", help="Noise for places, by distance.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Randomised response for categories.")] = False,
    x: Annotated[Text, typer.Option(metavar="NAME", help="Column of the first coordinate, or longitude.")] = None,
    y: Annotated[Text, typer.Option(metavar="NAME", help="Column of the second coordinate, or latitude.")] = None,
    unit: Annotated[Text, typer.Option(metavar="U", help="Unit of ε and --step: m, km, ft or mi.")] = None,
    coordinates: Annotated[Text, typer.Option(metavar="U", help="Unit of the columns; or that of ε.")] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="The columns are degrees; needs --box.")] = False,
    origin: Annotated[
        Text, typer.Option(metavar="LON,LAT", help="Centre of the projection; or the middle of --box.")
    ] = None,
    step: Annotated[Text, typer.Option(metavar="S", help="Step of the lattice.")] = None,
    box: Annotated[
        Text, typer.Option(metavar="L,B,R,T", help="Public region: a place outside is moved to its edge first.")
    ] = None,
    missing: Annotated[
        Text, typer.Option(metavar="WHAT", help="Rows without a place: refuse, drop, or a public X,Y.")
    ] = None,
    column: Annotated[Text, typer.Option(metavar="NAME", help="Column of categories.")] = None,
    values: Annotated[Text, typer.Option(metavar="A,B,…", help="The public list of its values.")] = None,
    others: Annotated[Text, typer.Option(metavar="A", help="The listed value that any other counts as.")] = None,
    dual: Annotated[bool, typer.Option("--dual", help="Tell a value it is not, rather than the one it is.")] = False,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    keep: Annotated[Text, typer.Option(metavar="A,B,…", help="Columns copied as they are, unprotected.")] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Keep the order of rows, which may tell.")] = False,
    json: JsonOption = False,
) -> None:
    """Obfuscate places or categories row by row: each row is private by itself."""
    given: dict[str, str | None] = {"--x": x, "--y": y, "--unit": unit, "--coordinates": coordinates, "--step": step}
    given |= {"--origin": origin, "--box": box, "--missing": missing, "--column": column, "--values": values}
    given |= {"--others": others, "--degrees": "yes" if degrees else None, "--dual": "yes" if dual else None}
    chosen = {name: value for name, value in given.items() if value is not None}
    mechanism = _mechanism(planar, response, chosen, required_level(alpha, epsilon))
    _run(mechanism, table, target, split(keep, "--keep"), in_order, json)


def _mechanism(
    planar: bool, response: bool, given: dict[str, str], level: Level
) -> LocationMechanism | CategoryMechanism:
    """What was asked for; options of the other kind are refused."""
    if planar == response:
        raise InputError("--planar or --response must be given, one of the two: for places or for categories")
    kind, takes = ("--planar", PLACES) if planar else ("--response", ANSWERS)
    for option in given:
        if option not in takes:
            raise InputError(f"{option} must not be given with {kind}: it takes {', '.join(takes)}")
    if not level.is_inner:
        raise InputError("epsilon must be > 0 and finite to obfuscate (0 < alpha < 1): the ends leave nothing to draw")
    return _places(given, level) if planar else _answers(given, level)


def _needed(given: dict[str, str], kind: str, *names: str) -> list[str]:
    for name in names:
        if name not in given:
            raise InputError(f"{name} must be given with {kind}, got none: see utmost obfuscate --help")
    return [given[name] for name in names]


def _places(given: dict[str, str], level: Level) -> LocationMechanism:
    from utmost.exact import rational
    from utmost.publish.local import LocationMechanism

    x, y, unit, step = _needed(given, "--planar", "--x", "--y", "--unit", "--step")
    box: Corners | None = None
    if "--box" in given:
        left, bottom, right, top = _numbers(given["--box"], "--box", 4)
        box = left, bottom, right, top
    frame = _frame(given, unit, box)
    return LocationMechanism(
        x, y, level, unit, rational(step, "--step"), frame, box, _missing(given.get("--missing", "refuse"))
    )


def _frame(given: dict[str, str], unit: str, box: Corners | None) -> CoordinateSystem:
    from utmost.publish.local import DegreeCoordinates, PlaneCoordinates

    if "--degrees" not in given:
        if "--origin" in given:
            raise InputError("--origin must come with --degrees: a plane's lattice begins at 0,0")
        return PlaneCoordinates(given.get("--coordinates", unit))
    if "--coordinates" in given:
        raise InputError("--coordinates must not be given with --degrees: the columns are degrees")
    if "--origin" in given:
        longitude, latitude = _numbers(given["--origin"], "--origin", 2)
        return DegreeCoordinates((longitude, latitude))
    if box is None:
        raise InputError("--box must be given with --degrees, got none: it bounds what the projection distorts")
    return DegreeCoordinates(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))


def _missing(text: str) -> str | Pair:
    if "," not in text:
        return text
    x, y = _numbers(text, "--missing", 2)
    return x, y


def _answers(given: dict[str, str], level: Level) -> CategoryMechanism:
    from utmost.publish.local import CategoryMechanism

    column, values = _needed(given, "--response", "--column", "--values")
    return CategoryMechanism(column, level, tuple(split(values, "--values")), given.get("--others"), "--dual" in given)


def _numbers(text: str, name: str, count: int) -> list[Fraction]:
    from utmost.exact import rational

    parts = [rational(part, name) for part in text.split(",")]
    if len(parts) != count:
        raise InputError(f"{name} must be {count} numbers with commas between them, got {len(parts)}")
    return parts


def split(text: str | None, name: str) -> list[str]:
    """Names with commas between them; one that contains a comma stands in double quotes.

    >>> split('a, b,"c,d"', "--keep")
    ['a', 'b', 'c,d']
    """
    import csv

    if text is None:
        return []
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise InputError(f'{name} must be names with commas between them, such as a,b or "a,b",c') from None
    parts = [part.strip() for row in rows for part in row]
    if not parts or not all(parts):
        raise InputError(f"{name} must be names with commas between them, got an empty one")
    return parts


def _run(
    mechanism: LocationMechanism | CategoryMechanism,
    table: str,
    target: str,
    keep: list[str],
    in_order: bool,
    json: bool,
) -> None:
    from utmost.cli import output
    from utmost.publish.local import metadata, obfuscate

    with progress_bar() as progress:
        made = obfuscate(mechanism, table, target, keep, in_order, progress)
    if keep:
        output.print_remark(f"copied as they are, with no protection: {', '.join(made.kept)}")
    if in_order:
        output.print_remark("kept the order of the rows: where it was sorted by what is hidden, it tells of it")
    if json:
        output.print_json(metadata.metadata_content(made) | {"output": target})
    else:
        _show(made, target)


def _show(made: TableMetadata, target: str) -> None:
    from utmost.cli import output
    from utmost.publish.local import metadata

    name = Path(target).name
    what = " and ".join(made.mechanism.columns)
    output.print_text(f"Wrote {made.rows} rows of {what} to {name}, and what a reader needs to know to {name}.json.")
    output.print_text()
    output.print_text(str(metadata.metadata_content(made)["guarantee"]["words"]))
    output.print_text()
    output.print_text(
        f"Each person has now spent {made.mechanism.spent} for each of her rows, and spends it again whenever they are "
        "obfuscated again: two runs on the same people cost twice as much. Nothing counts that here."
    )
    output.print_text(f"Read it with: utmost recover {name}")


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on stderr if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def advance(task: str, share: float) -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=1.0)
            bars.update(tasks[task], completed=share)

        yield advance
