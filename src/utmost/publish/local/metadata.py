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
from utmost.publish.field_reader import Fields
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
SHUFFLED, KEPT = "shuffled", "kept"

Mechanism = LocationMechanism | CategoryMechanism


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """An obfuscated table: its mechanism, its number of rows, if their order was shuffled, columns copied as is."""

    mechanism: Mechanism
    rows: int
    order: str
    kept: tuple[str, ...]
    library: str


def metadata_path(table: Path) -> Path:
    """Where the note of a table is."""
    return table.with_name(f"{table.name}.json")


def metadata_json(record: TableMetadata) -> str:
    """The JSON text of a note."""
    return json.dumps(metadata_content(record), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def metadata_content(record: TableMetadata) -> dict[str, Any]:
    """The same as plain dictionaries and lists; exact numbers are texts."""
    law = record.mechanism
    promise = level_content(law.level) | law.guarantee()
    promise["words"] = " ".join([promise["words"], *_provisos(record)])
    return {
        "schema": SCHEMA,
        "library": record.library,
        "rows": record.rows,
        "order": record.order,
        "kept": list(record.kept),
        "mechanism": _places(law) if isinstance(law, LocationMechanism) else _answers(law),
        "guarantee": promise,
    }


def _provisos(record: TableMetadata) -> list[str]:
    """What the promise does not cover."""
    words = ["Whoever has several rows, or whose rows are obfuscated again, spends the level each time."]
    if record.order == KEPT:
        words.append("The rows are in their old order: where that was sorted by what is hidden, it tells of it.")
    if record.kept:
        words.append(f"Columns copied as they are have no protection: {', '.join(record.kept)}.")
    return words


def level_content(level: Level) -> dict[str, str]:
    """ε where it is rational, else α."""
    return {"alpha": str(level.alpha)} if level.exponent is None else {"epsilon": str(level.exponent)}


def _places(law: LocationMechanism) -> dict[str, Any]:
    frame, missing = law.frame, law.missing
    if isinstance(frame, PlaneCoordinates):
        coordinates: dict[str, Any] = {"kind": "plane", "unit": frame.unit}
    else:
        lengths = [str(METRES_PER_DEGREE * frame.cosine), str(METRES_PER_DEGREE)]
        coordinates = {"kind": "degrees", "origin": _texts(frame.origin), "metres_per_degree": lengths}
    return {
        "name": "planar",
        **level_content(law.level),
        "unit": law.unit,
        "step": str(law.step),
        "columns": [law.x, law.y],
        "coordinates": coordinates,
        "box": None if law.box is None else _texts(law.box),
        "missing": missing if isinstance(missing, str) else _texts(missing),
        "law": "Pr[noise = (i, j) steps] proportional to exp(-epsilon*step*sqrt(i^2 + j^2))",
    }


def _answers(law: CategoryMechanism) -> dict[str, Any]:
    return {
        "name": "response-dual" if law.dual else "response",
        **level_content(law.level),
        "column": law.column,
        "values": list(law.values),
        "others": law.others,
        "truth": str(law.noise.truth),
    }


def _texts(numbers: tuple[Fraction, ...]) -> list[str]:
    return [str(n) for n in numbers]


def read_metadata(table: str | Path) -> TableMetadata:
    """The note beside a table."""
    place = metadata_path(Path(table))
    try:
        with place.open("rb") as stream:
            raw = stream.read(MAX_METADATA_BYTES + 1)
        found = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"the note {place.name[-80:]} must lie beside the table and be readable: {type(problem).__name__}"
        ) from None
    if len(raw) > MAX_METADATA_BYTES:
        raise InputError(f"the note must be at most {MAX_METADATA_BYTES >> 20} MiB, got a larger file")
    return parse_metadata(found)


def parse_metadata(document: str) -> TableMetadata:
    """The note in a text; refused with one line where it is none."""
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        raise InputError("the note must be a JSON document written by utmost obfuscate, got none") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise InputError(f"the note must be of schema {SCHEMA}, got another: read it with the version that wrote it")
    top = Fields(found, "note")
    for key in ("schema", "guarantee"):
        top.raw(key)
    law = top.table("mechanism")
    record = TableMetadata(
        mechanism=_read_places(law) if law.text("name") == "planar" else _read_answers(law),
        rows=top.whole("rows"),
        order=top.text("order"),
        kept=tuple(_names(top.raw("kept"), "kept")),
        library=top.text("library"),
    )
    top.finish()
    if record.rows < 0 or record.order not in (SHUFFLED, KEPT):
        raise InputError(f"note: rows must be >= 0, and order {SHUFFLED} or {KEPT}")
    return record


def _read_level(law: Fields) -> Level:
    if law.raw("alpha", None) is not None:
        return alpha(law.text("alpha"))
    return epsilon(law.text("epsilon"))


def _read_places(law: Fields) -> LocationMechanism:
    law.raw("law")
    x, y = _names(law.raw("columns"), "columns", 2)
    box, missing = law.raw("box"), law.raw("missing")
    made = LocationMechanism(
        x=x,
        y=y,
        level=_read_level(law),
        unit=law.text("unit"),
        step=law.number("step"),
        frame=_read_frame(law.table("coordinates")),
        box=None if box is None else _corners(box),
        missing=missing if isinstance(missing, str) else _pair(missing, "missing"),
    )
    law.finish()
    return made


def _read_frame(fields: Fields) -> CoordinateSystem:
    kind = fields.text("kind")
    if kind == "plane":
        frame: CoordinateSystem = PlaneCoordinates(fields.text("unit"))
    elif kind == "degrees":
        frame = DegreeCoordinates(_pair(fields.raw("origin"), "origin"))
        if _pair(fields.raw("metres_per_degree"), "metres_per_degree") != (
            METRES_PER_DEGREE * frame.cosine,
            METRES_PER_DEGREE,
        ):
            raise InputError("note: metres_per_degree must be that of the origin: read it with the version it is of")
    else:
        raise InputError("note: coordinates must be of kind plane or degrees")
    fields.finish()
    return frame


def _read_answers(law: Fields) -> CategoryMechanism:
    name, truth = law.text("name"), law.text("truth")
    if name not in ("response", "response-dual"):
        raise InputError("note: mechanism must be planar, response or response-dual")
    values, others = tuple(_names(law.raw("values"), "values")), law.raw("others")
    if others is not None:
        others = law.text("others")
    made = CategoryMechanism(law.text("column"), _read_level(law), values, others, name == "response-dual")
    law.finish()
    if number(truth, "truth") != made.noise.truth:
        raise InputError("note: truth must be the probability of a true answer at its level")
    return made


def _names(items: Any, key: str, count: int | None = None) -> list[str]:
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InputError(f"note: {key} must be a list of texts")
    if count is not None and len(items) != count:
        raise InputError(f"note: {key} must be a list of {count} texts")
    return items


def _numbers(items: Any, key: str, count: int) -> list[Fraction]:
    if not isinstance(items, list) or len(items) != count:
        raise InputError(f"note: {key} must be a list of {count} numbers")
    return [Fields({key: item}, "note").number(key) for item in items]


def _pair(items: Any, key: str) -> Pair:
    first, second = _numbers(items, key, 2)
    return first, second


def _corners(items: Any) -> Corners:
    left, bottom, right, top = _numbers(items, "box", 4)
    return left, bottom, right, top
