"""`utmost recover`: what a reader makes of a table that `utmost obfuscate` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.publish.local import Frequencies, LocationMechanism, LocationReading, TableMetadata

EXAMPLES = (
    "Examples: utmost recover votes.csv;  utmost recover votes.csv --confidence 0.99 --json;  "
    "utmost recover places.csv --output guesses.csv;  utmost recover places.csv --prior map.csv --loss squared"
)
LARGEST_GRID = 100  # cells along a side
SHOWN = 12  # places of a map, values of a list
Text = str | None


def command(
    table: Annotated[str, typer.Argument(metavar="OUT", help="A table; its note must be OUT.json.")],
    confidence: Annotated[Text, typer.Option(metavar="C", help="Of all intervals together; or 0.95.")] = None,
    loss: Annotated[Text, typer.Option(metavar="L", help="euclidean, squared or binary, for places.")] = None,
    prior: Annotated[Text, typer.Option(metavar="FILE", help="Table with columns x, y, weight.")] = None,
    cells: Annotated[Text, typer.Option(metavar="N", help="Without --prior: N cells along a side; or 24.")] = None,
    output: Annotated[Text, typer.Option(metavar="FILE", help="Save the results: .csv or .parquet.")] = None,
    json: JsonOption = False,
) -> None:
    """Recover frequencies, or the best guesses of places, from an obfuscated table."""
    from utmost.publish.local import CategoryMechanism, read_metadata

    _target(output, table)
    note = read_metadata(table)
    if isinstance(note.mechanism, CategoryMechanism):
        _refuse({"--loss": loss, "--prior": prior, "--cells": cells}, "frequencies")
        _frequencies(note, table, confidence or "0.95", output, json)
    else:
        _refuse({"--confidence": confidence}, "places")
        _places(note, table, loss or "euclidean", prior, cells, output, json)


def _target(output: str | None, table: str) -> None:
    from utmost.publish.local.metadata import metadata_path
    from utmost.publish.local.table_files import table_format

    if output is None:
        return
    path = Path(output)
    table_format(path, "--output")
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise InputError("--output must be a file in a folder that exists")
    if path.absolute() in (Path(table).absolute(), metadata_path(Path(table)).absolute()):
        raise InputError("--output must be another file than OUT")


def _refuse(given: dict[str, str | None], what: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} must not be given for {what}: see utmost recover --help")


def _frequencies(note: TableMetadata, table: str, confidence: str, output: str | None, json: bool) -> None:
    from utmost.cli import output as show
    from utmost.publish.local import recover_frequencies

    found = recover_frequencies(note, table, confidence)
    shares = [float(f) for f in found.estimate]
    best = [float(f) for f in found.likeliest]
    if output is not None:
        columns = {"value": list(found.values), "count": list(found.counts), "estimate": shares, "likeliest": best}
        columns |= {"standard_error": list(found.errors), "low": [a for a, _ in found.intervals]}
        _save(columns | {"high": [b for _, b in found.intervals]}, output)
    if json:
        show.print_json(_frequency_document(note, found))
        return
    rows = [
        [value, str(count), f"{share:.4f}", f"{error:.4f}", f"{low:.4f} to {high:.4f}", f"{likely:.4f}"]
        for value, count, share, error, (low, high), likely in zip(
            found.values, found.counts, shares, found.errors, found.intervals, best, strict=True
        )
    ]
    show.print_table(
        ["value", "answered", "share", "± s.e.", f"all at {found.confidence}", "likeliest"], rows[: 4 * SHOWN]
    )
    if len(rows) > 4 * SHOWN:
        show.print_text(f"The first {4 * SHOWN} of {len(rows)} values; --output FILE.csv saves them all.")
    show.print_text(
        f"From {sum(found.counts)} rows at {note.mechanism.level}. The share is unbiased and can leave 0 to 1; the "
        f"intervals hold all true shares at once with probability {found.confidence} at least."
    )


def _frequency_document(note: TableMetadata, found: Frequencies) -> dict[str, Any]:
    from utmost.cli import output

    return {
        "column": note.mechanism.columns[0],
        "rows": sum(found.counts),
        "values": list(found.values),
        "counts": list(found.counts),
        "estimate": [output.json_value(f) for f in found.estimate],
        "estimate_decimal": [output.json_value(float(f)) for f in found.estimate],
        "standard_error": [output.json_value(e) for e in found.errors],
        "interval": [[output.json_value(a), output.json_value(b)] for a, b in found.intervals],
        "confidence": output.json_value(found.confidence),
        "likeliest": [output.json_value(f) for f in found.likeliest],
        "likeliest_decimal": [output.json_value(float(f)) for f in found.likeliest],
    }


def _places(
    note: TableMetadata, table: str, loss: str, prior: str | None, cells: str | None, output: str | None, json: bool
) -> None:
    from utmost.cli import output as show
    from utmost.publish.local import LocationMechanism, read_locations

    law = note.mechanism
    if not isinstance(law, LocationMechanism):
        raise InputError("OUT must be a table of places")
    if prior is not None and cells is not None:
        raise InputError("--cells must not be given with --prior: its places are the grid")
    found = read_locations(note, table, loss, prior, _side(cells))
    if output is not None:
        _save({law.x: found.guesses[:, 0], law.y: found.guesses[:, 1]}, output)
    if json:
        show.print_json(_place_document(law, found, loss))
        return
    _show_places(law, found, loss)


def _side(cells: str | None) -> int:
    from utmost.exact import integer
    from utmost.publish.local.location_estimates import DEFAULT_CELLS

    side = DEFAULT_CELLS if cells is None else integer(cells, "--cells")
    if not 1 <= side <= LARGEST_GRID:
        raise InputError(f"--cells must be from 1 to {LARGEST_GRID}")
    return side


def _place_document(law: LocationMechanism, found: LocationReading, loss: str) -> dict[str, Any]:
    from utmost.cli import output

    rows = [[*place, weight] for place, weight in zip(found.places.tolist(), found.weights.tolist(), strict=True)]
    return {
        "columns": [law.x, law.y],
        "rows": len(found.guesses),
        "unit": law.unit,
        "loss_function": loss,
        "loss": output.json_value(found.loss),
        "prior": "estimated" if found.estimated else "given",
        "rounds": found.rounds,
        "gap": output.json_value(found.gap),
        "cells": [[output.json_value(value) for value in row] for row in rows],
    }


def _show_places(law: LocationMechanism, found: LocationReading, loss: str) -> None:
    from utmost.cli import output

    order = (-found.weights).argsort()[:SHOWN]
    rows = [[f"{found.places[k, 0]:.6g}", f"{found.places[k, 1]:.6g}", f"{found.weights[k]:.4f}"] for k in order]
    output.print_table([law.x, law.y, "share"], rows, 0)
    kind = {"euclidean": f"{law.unit} of distance", "squared": f"{law.unit}² of squared distance", "binary": "misses"}
    if found.estimated:
        output.print_text(
            f"The {len(rows)} largest of {len(found.weights)} cells, estimated from {len(found.guesses)} rows in "
            f"{found.rounds} rounds of EM; other shares have a log-likelihood larger by at most {found.gap:.2g} a row."
        )
    else:
        output.print_text(f"The {len(rows)} largest of the {len(found.weights)} places of the prior that was given.")
    output.print_text(f"The best guess for a row is off by {found.loss:.4g} {kind[loss]} on average, by these beliefs.")


def _save(columns: dict[str, Any], output: str) -> None:
    """Write a small table whole or not at all."""
    import pyarrow as pa

    from utmost.cli import output as show
    from utmost.publish.local.table_files import hide_engine_errors, needs_no_quotes, staging_folder, write_table

    made, goal = pa.table(columns), Path(output)
    texts = [text for column in columns.values() for text in column[:] if isinstance(text, str)]
    with staging_folder(goal) as folder:
        draft = folder / f"table{goal.suffix.lower()}"
        write_table(made.to_batches(), made.schema, draft, needs_no_quotes(texts))
        with hide_engine_errors("--output must be a file that can be replaced"):
            draft.replace(goal)
    show.print_remark(f"saved {output}")
