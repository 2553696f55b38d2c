"""The note beside an obfuscated table, schema `utmost-local/1`: what a reader needs to know, and nothing secret.

`OUT.json` names the mechanism with its exact parameters, the promise to each row, and how many rows were written. What
`metadata_json` writes, `parse_metadata` reads back equal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon, number
from utmost.exact.files import check_no_named_pipe
from utmost.exact.input_text import Fields, check_plain_text, file_error_reason
from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.coordinates import (
    METRES_PER_DEGREE,
    CoordinateSystem,
    Corners,
    DegreeCoordinates,
    Pair,
    PlaneCoordinates,
)
from utmost.publish.local.locations import LocationMechanism

SCHEMA = "utmost-local/1"
MAX_METADATA_BYTES = 1 << 26  # bytes
SHUFFLED_ORDER, ORIGINAL_ORDER = "shuffled", "kept"

Mechanism = LocationMechanism | CategoryMechanism


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """An obfuscated table: its mechanism, its number of rows, if their order was shuffled, columns copied as is."""

    mechanism: Mechanism
    rows: int
    order: str
    kept: tuple[str, ...]
    library: str
    digest: str | None = None  # SHA-256 of the table's file; earlier notes have none


def metadata_path(table: Path) -> Path:
    """Where the note of a table is."""
    return table.with_name(f"{table.name}.json")


def metadata_json(metadata: TableMetadata) -> str:
    """The JSON text of a note."""
    return json.dumps(metadata_content(metadata), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def metadata_content(metadata: TableMetadata) -> dict[str, Any]:
    """The same as plain dictionaries and lists; exact numbers are texts."""
    mechanism = metadata.mechanism
    promise = level_content(mechanism.level) | mechanism.guarantee()
    promise["words"] = " ".join([promise["words"], *_exceptions(metadata)])
    return {
        "schema": SCHEMA,
        "library": metadata.library,
        **({} if metadata.digest is None else {"sha256": metadata.digest}),
        "rows": metadata.rows,
        "order": metadata.order,
        "kept": list(metadata.kept),
        "mechanism": _location_content(mechanism)
        if isinstance(mechanism, LocationMechanism)
        else _category_content(mechanism),
        "guarantee": promise,
    }


def _exceptions(metadata: TableMetadata) -> list[str]:
    """What the guarantee does not cover."""
    sentences = ["Whoever has several rows, or whose rows are obfuscated again, spends the level each time."]
    if metadata.order == ORIGINAL_ORDER:
        sentences.append("The rows are in their old order: where that was sorted by what is hidden, it tells of it.")
    if metadata.kept:
        sentences.append(f"Columns copied as they are have no protection: {', '.join(metadata.kept)}.")
    return sentences


def level_content(level: Level) -> dict[str, str]:
    """ε where it is rational, else α."""
    return {"alpha": str(level.alpha)} if level.exponent is None else {"epsilon": str(level.exponent)}


def _location_content(mechanism: LocationMechanism) -> dict[str, Any]:
    frame, missing = mechanism.frame, mechanism.missing
    if isinstance(frame, PlaneCoordinates):
        coordinates: dict[str, Any] = {"kind": "plane", "unit": frame.unit}
    else:
        lengths = [str(METRES_PER_DEGREE * frame.cosine), str(METRES_PER_DEGREE)]
        coordinates = {"kind": "degrees", "origin": _number_texts(frame.origin), "metres_per_degree": lengths}
    return {
        "name": "planar",
        **level_content(mechanism.level),
        "unit": mechanism.unit,
        "step": str(mechanism.step),
        "columns": [mechanism.x, mechanism.y],
        "coordinates": coordinates,
        "box": None if mechanism.box is None else _number_texts(mechanism.box),
        "missing": missing if isinstance(missing, str) else _number_texts(missing),
        "law": "Pr[noise = (i, j) steps] proportional to exp(-epsilon*step*sqrt(i^2 + j^2))",
    }


def _category_content(mechanism: CategoryMechanism) -> dict[str, Any]:
    return {
        "name": "response-dual" if mechanism.dual else "response",
        **level_content(mechanism.level),
        "column": mechanism.column,
        "values": list(mechanism.values),
        "others": mechanism.others,
        "truth": str(mechanism.noise.truth),
    }


def _number_texts(numbers: tuple[Fraction, ...]) -> list[str]:
    return [str(n) for n in numbers]


def read_metadata(table: str | Path) -> TableMetadata:
    """The note beside a table."""
    metadata_file = metadata_path(Path(table))
    check_no_named_pipe(metadata_file, "the note")
    try:
        with metadata_file.open("rb") as stream:
            raw = stream.read(MAX_METADATA_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"the note {metadata_file.name[-80:]} must lie beside the table, got {file_error_reason(problem)}",
            hint="utmost obfuscate writes it with the table, to say how the table was made",
        ) from None
    if len(raw) > MAX_METADATA_BYTES:
        raise InputError(f"the note must be at most {MAX_METADATA_BYTES >> 20} MiB, got a larger file")
    return parse_metadata(text)


def parse_metadata(document: str) -> TableMetadata:
    """The note in a text; refused with one line where it is none."""
    try:
        content = json.loads(document)
    except (ValueError, RecursionError):
        raise InputError("the note must be a JSON document written by utmost obfuscate, got none") from None
    check_plain_text(content, "the note")
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise InputError(
            f"the note must be of schema {SCHEMA}, got another", hint="read it with the version that wrote it"
        )
    top = Fields(content, "note")
    for key in ("schema", "guarantee"):
        top.raw(key)
    mechanism_fields = top.table("mechanism")
    metadata = TableMetadata(
        mechanism=_read_location_mechanism(mechanism_fields)
        if mechanism_fields.text("name") == "planar"
        else _read_category_mechanism(mechanism_fields),
        rows=top.integer("rows"),
        order=top.text("order"),
        kept=tuple(_check_texts(top.raw("kept"), "kept")),
        library=top.text("library"),
        digest=top.text("sha256", None),
    )
    top.finish()
    if metadata.rows < 0 or metadata.order not in (SHUFFLED_ORDER, ORIGINAL_ORDER):
        raise InputError(f"note: rows must be >= 0, and order {SHUFFLED_ORDER} or {ORIGINAL_ORDER}")
    return metadata


def _read_level(fields: Fields) -> Level:
    if fields.raw("alpha", None) is not None:
        return alpha(fields.text("alpha"))
    return epsilon(fields.text("epsilon"))


def _read_location_mechanism(fields: Fields) -> LocationMechanism:
    fields.raw("law")
    x, y = _check_texts(fields.raw("columns"), "columns", 2)
    box, missing = fields.raw("box"), fields.raw("missing")
    mechanism = LocationMechanism(
        x=x,
        y=y,
        level=_read_level(fields),
        unit=fields.text("unit"),
        step=fields.number("step"),
        frame=_read_coordinates(fields.table("coordinates")),
        box=None if box is None else _parse_corners(box),
        missing=missing if isinstance(missing, str) else _parse_pair(missing, "missing"),
    )
    fields.finish()
    return mechanism


def _read_coordinates(fields: Fields) -> CoordinateSystem:
    kind = fields.text("kind")
    if kind == "plane":
        coordinates: CoordinateSystem = PlaneCoordinates(fields.text("unit"))
    elif kind == "degrees":
        coordinates = DegreeCoordinates(_parse_pair(fields.raw("origin"), "origin"))
        if _parse_pair(fields.raw("metres_per_degree"), "metres_per_degree") != (
            METRES_PER_DEGREE * coordinates.cosine,
            METRES_PER_DEGREE,
        ):
            raise InputError(
                "note: metres_per_degree must be that of the origin", hint="read it with the version it is of"
            )
    else:
        raise InputError("note: coordinates must be of kind plane or degrees")
    fields.finish()
    return coordinates


def _read_category_mechanism(fields: Fields) -> CategoryMechanism:
    name, truth = fields.text("name"), fields.text("truth")
    if name not in ("response", "response-dual"):
        raise InputError("note: mechanism must be planar, response or response-dual")
    values, others = tuple(_check_texts(fields.raw("values"), "values")), fields.raw("others")
    if others is not None:
        others = fields.text("others")
    mechanism = CategoryMechanism(fields.text("column"), _read_level(fields), values, others, name == "response-dual")
    fields.finish()
    if number(truth, "truth") != mechanism.noise.truth:
        raise InputError("note: truth must be the probability of a true answer at its level")
    return mechanism


def _check_texts(items: Any, key: str, count: int | None = None) -> list[str]:
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InputError(f"note: {key} must be a list of texts")
    if count is not None and len(items) != count:
        raise InputError(f"note: {key} must be a list of {count} texts")
    return items


def _parse_numbers(items: Any, key: str, count: int) -> list[Fraction]:
    if not isinstance(items, list) or len(items) != count:
        raise InputError(f"note: {key} must be a list of {count} numbers")
    return [Fields({key: item}, "note").number(key) for item in items]


def _parse_pair(items: Any, key: str) -> Pair:
    first, second = _parse_numbers(items, key, 2)
    return first, second


def _parse_corners(items: Any) -> Corners:
    left, bottom, right, top = _parse_numbers(items, "box", 4)
    return left, bottom, right, top
