"""A release as JSON, schema `utmost-release/1`: encoded, decoded, its JSON schema, read and written.

docs/release-file.md describes it. What `release_to_json` writes, `parse_release`
reads back equal.

Exact numbers are texts ("1/10"), whole numbers and floats are numbers.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from utmost.data.cells import MAX_CELLS
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe
from utmost.exact.input_text import Fields, check_plain_text, file_error_reason
from utmost.publish import plans, release_model, release_tables
from utmost.publish.release_model import (
    SCHEMA,
    SCHEMA_2,
    SCHEMAS,
    Answer,
    DataOrigin,
    LedgerEntry,
    LookupOrigin,
    Release,
    Statement,
)
from utmost.publish.told_privacy import DEFINITIONS
from utmost.queries import registry
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.mechanism import EXACT_SCHEMA, AnswerMechanism, ErrorLaw, schema_object
from utmost.queries.answer_mechanisms.registry import mechanism_schemas, parse_mechanism
from utmost.queries.count import Count
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_to_json
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import ALTERED, Query, drawn_content
from utmost.queries.registry import QUERY_KINDS, kind_schemas
from utmost.queries.tables import CountTable


def release_content(release: Release) -> dict[str, Any]:
    """The same as plain dictionaries and lists."""
    unit, part, entry = release.unit, release.part, release.entry
    return {
        "schema": SCHEMA_2 if release.delta else SCHEMA,
        "title": release.title,
        "library": release.library,
        "source": {
            "engine": release.source.engine,
            "name": release.source.name,
            "fingerprint": release.source.fingerprint,
            **_lookups_content(release.source.lookups),
        },
        **({"derive": dict(release.source.derive)} if release.source.derive else {}),
        "unit": {"column": unit.column, "rows": unit.rows, "groups": unit.groups, "words": str(unit)},
        "neighbours": str(release.neighbours),
        "units": release.units,
        "part": part_content(part),
        "guarantee": {"epsilon": str(release.epsilon), **_delta_content(release), "words": release.guarantee},
        "ledger": _entry_content(entry),
        **release_tables.tables_content(release.tables),
        "queries": [_answer_content(answer) for answer in release],
    }


def _lookups_content(lookups: Sequence[LookupOrigin]) -> dict[str, Any]:
    """The public tables of a source, where it has any."""
    entries = [
        {"name": lookup.name, "on": dict(lookup.on), "take": dict(lookup.take), "fingerprint": lookup.fingerprint}
        for lookup in lookups
    ]
    return {"lookups": entries} if entries else {}


def _delta_content(release: Release) -> dict[str, str]:
    """The δ of a release that has one, its ρ, and by which definition both follow from its answers."""
    rho = {} if release.rho is None else {"rho": str(release.rho)}
    return {"delta": str(release.delta), **rho, "definition": release.definition} if release.delta else {}


def part_content(part: Partition | None) -> dict[str, Any] | None:
    """A part as JSON has it."""
    return None if part is None else {"column": part.column, "equals": key_to_json(part.equals)}


def _answer_content(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.name,
        "kind": answer.query.kind,
        "where": answer.query.where,
        "epsilon": str(answer.epsilon),
        **({"delta": str(answer.noise_delta)} if answer.noise_delta else {}),
        **({} if answer.rho is None else {"rho": str(answer.rho)}),
        "sensitivity": answer.sensitivity,
        **answer.query.content(),
        "mechanism": answer.mechanism.content(),
        "optimal": answer.optimal,
        "error": error_content(answer.error),
        **drawn_content(answer.drawn),
    }


def error_content(error: ErrorLaw) -> dict[str, Any]:
    """An error law as JSON has it."""
    half = error.half_width
    width = str(half) if isinstance(half, Fraction) else half
    return {"expected": error.expected, "half_width_95": width, "over_rows": error.over_rows, "words": error.words}


MAX_ERROR = 10**300
TOP_KEYS = (
    "title",
    "library",
    "source",
    "derive",
    "unit",
    "neighbours",
    "units",
    "part",
    "guarantee",
    "ledger",
    "tables",
    "queries",
)


def decode_release(top: Fields) -> Release:
    """The release in the fields of a document, whose schema is known to be ours.

    What follows from the queries and the setting is computed, not read: mechanisms and sensitivities must be those that
    the queries have, and claims, errors and the guarantee are worked out anew (`release_model`).
    """
    top.expect(TOP_KEYS)
    top.text("schema")
    entry, source, guarantee = top.table("ledger"), top.table("source"), top.table("guarantee")
    setting, tables = _read_setting(top), release_tables.read_tables(top)
    release = Release(
        title=_optional_text(top, "title"),
        library=top.text("library"),
        source=DataOrigin(
            source.text("engine"),
            source.text("name"),
            _optional_text(source, "fingerprint"),
            _read_texts(top, "derive"),
            _read_lookups(source),
        ),
        unit=setting.unit,
        neighbours=setting.neighbours,
        units=setting.units,
        part=setting.part,
        epsilon=guarantee.number("epsilon"),
        guarantee=guarantee.text("words"),
        entry=_read_entry(entry),
        answers=tuple(_read_answer(fields, setting, tables) for fields in _query_tables(top)),
        delta=Fraction(0) if guarantee.raw("delta", None) is None else guarantee.number("delta"),
        definition=guarantee.text("definition", "pure"),
        rho=None if guarantee.raw("rho", None) is None else guarantee.number("rho"),
        tables=tuple(tables.values()),
    )
    release_tables.check_levels(tables, release.answers)
    for fields in (top, source, entry, guarantee):
        fields.finish()
    if not release.answers or len({answer.name for answer in release}) < len(release):
        raise InputError("queries must be at least one, each of its own name", "queries", context="release")
    return release_model.with_computed_guarantee(release, setting)


def _read_texts(fields: Fields, key: str) -> dict[str, str]:
    """A table of texts, which may be left out."""
    texts = fields.table(key, {})
    return {name: texts.text(name) for name in texts.columns()}


def _read_lookups(source: Fields) -> tuple[LookupOrigin, ...]:
    """The public tables of a source."""
    lookups = []
    for fields in source.tables("lookups") if source.raw("lookups", None) is not None else []:
        texts = (_read_texts(fields, "on"), _read_texts(fields, "take"))
        lookups.append(LookupOrigin(fields.text("name"), *texts, fields.text("fingerprint")))
        fields.finish()
    return tuple(lookups)


def _query_tables(top: Fields) -> list[Fields]:
    """The tables of the queries, at most as many as a plan may have."""
    tables = top.tables("queries")
    if len(tables) > plans.MAX_QUERIES:
        raise InputError(
            f"queries must be at most {plans.MAX_QUERIES}, got {len(tables)}", "queries", ALTERED, context="release"
        )
    return tables


def _entry_content(entry: LedgerEntry) -> dict[str, Any]:
    amounts = {"spent": str(entry.spent), "left": str(entry.left)}
    measure = {} if entry.measure == "ε" else {"measure": entry.measure}
    return {"budget": entry.budget, "entry": entry.number, **amounts, **measure}


def _read_entry(fields: Fields) -> LedgerEntry:
    amounts = fields.number("spent"), fields.number("left")
    entry = LedgerEntry(fields.text("budget"), fields.integer("entry"), *amounts, fields.text("measure", "ε"))
    if entry.measure not in MEASURES:
        raise InputError("measure must be ε or ρ, got another", "measure", ALTERED, context="release")
    if entry.number < 1 or entry.spent < 0 or entry.left < 0:
        raise InputError(
            "ledger must have an entry from 1, spent and left from 0, got less", "ledger", ALTERED, context="release"
        )
    return entry


def _read_setting(top: Fields) -> PrivacySetting:
    """Neighbours, unit, part and the number of units: what the sensitivities rest on."""
    fields, part_fields = top.table("unit"), top.table("part", None)
    unit = PrivacyUnit(
        _optional_text(fields, "column"), _optional_integer(fields, "rows"), _optional_integer(fields, "groups")
    )
    fields.text("words")
    fields.finish()
    part = None
    if part_fields is not None:
        part = Partition(part_fields.text("column"), key_from_json(part_fields.value("equals")))
        part_fields.finish()
    setting = PrivacySetting(_parse_neighbours(top.text("neighbours")), unit, part, _optional_integer(top, "units"))
    release_model.check_units(setting)
    return setting


def _parse_neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError('neighbours must be "replace" or "add-remove"', "neighbours", context="release") from None


def _optional_text(fields: Fields, key: str) -> str | None:
    return None if fields.raw(key, None) is None else str(fields.text(key))


def _optional_integer(fields: Fields, key: str) -> int | None:
    return None if fields.raw(key, None) is None else int(fields.integer(key))


def _read_answer(fields: Fields, setting: PrivacySetting, tables: Mapping[str, CountTable]) -> Answer:
    name = plans.parse_query_name(fields)
    labelled_fields = fields.with_label(f'release: query "{name[:60]}"')
    kind = registry.parse_kind(labelled_fields)
    _check_error(labelled_fields.table("error"))
    labelled_fields.text("optimal")
    query = _read_query(kind, labelled_fields, tables)
    mechanism = parse_mechanism(labelled_fields.table("mechanism"))
    statement = Statement(
        query,
        plans.parse_epsilon(labelled_fields),
        labelled_fields.integer("sensitivity"),
        mechanism,
        query.read_drawn(labelled_fields),
        _read_noise_delta(labelled_fields, query, mechanism),
    )
    labelled_fields.finish()
    return release_model.computed_answer(name, statement, setting)


def _read_query(kind: type[Query], fields: Fields, tables: Mapping[str, CountTable]) -> Query:
    """The query of an entry of a release: a level of a table, or one by itself."""
    if kind is Count and "table" in fields.columns():
        return release_tables.read_level(fields, tables)
    return registry.parse_query_content(kind, fields)


def _read_noise_delta(fields: Fields, query: Query, mechanism: AnswerMechanism) -> Fraction:
    """The δ that the ρ of Gaussian noise is converted at, or that canonical noise has; 0 without such noise.

    What ρ is follows from the variance.
    """
    if not isinstance(mechanism, CanonicalLattice):
        if fields.raw("rho", None) is None:
            return Fraction(0)
        fields.number("rho")
    return Fraction(0) if query.needs_delta else fields.number("delta")


def _check_error(fields: Fields) -> None:
    """Refuse an error that is none; what is shown is computed from the mechanism."""
    expected, half = fields.raw("expected"), fields.raw("half_width_95")
    if isinstance(expected, bool) or not isinstance(expected, int | float) or not abs(expected) <= MAX_ERROR:
        raise InputError("expected must be a number, and one that a double holds", "expected", context="release")
    if not isinstance(half, float):
        half = fields.number("half_width_95")
    if not abs(half) <= MAX_ERROR:
        raise InputError("half_width_95 must be a number that a double holds", "half_width_95", context="release")
    fields.text("words")
    fields.truth("over_rows")
    fields.finish()


TEXT = {"type": "string"}
OPTIONAL_TEXT = {"type": ["string", "null"]}
OPTIONAL_BOUND = {"type": ["integer", "null"], "minimum": 1}


def release_schema() -> dict[str, Any]:
    """The JSON schema that every release file fits.

    >>> schema = release_schema()
    >>> schema["$id"], schema["$defs"]["query"]["properties"]["kind"]["enum"][:2]
    ('utmost-release/1', ['count', 'histogram'])
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "A release written by utmost",
        **_top_schema(),
        "$defs": {"exact": _exact_schema(), "key": _key_schema(), **mechanism_schemas(), "query": _query_schema()},
    }


def _top_schema() -> dict[str, Any]:
    schema = schema_object(
        schema={"enum": list(SCHEMAS)},
        title=OPTIONAL_TEXT,
        library=TEXT,
        source=schema_object(engine=TEXT, name=TEXT, fingerprint=OPTIONAL_TEXT),
        unit=schema_object(column=OPTIONAL_TEXT, rows=OPTIONAL_BOUND, groups=OPTIONAL_BOUND, words=TEXT),
        neighbours={"enum": [str(relation) for relation in NeighbourRelation]},
        units={"type": ["integer", "null"], "minimum": 0},
        part={"anyOf": [{"type": "null"}, schema_object(column=TEXT, equals=KEY_SCHEMA)]},
        guarantee=_guarantee_schema(),
        ledger=schema_object(budget=TEXT, entry={"type": "integer"}, spent=EXACT_SCHEMA, left=EXACT_SCHEMA),
        queries={"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/query"}},
    )
    texts = {"type": "object", "additionalProperties": TEXT}
    lookup = schema_object(name=TEXT, on=texts, take=texts, fingerprint=TEXT)
    schema["properties"]["derive"] = texts
    schema["properties"]["tables"] = release_tables.tables_schema()
    schema["properties"]["ledger"]["properties"]["measure"] = {"enum": list(MEASURES)}
    schema["properties"]["source"]["properties"]["lookups"] = {"type": "array", "items": lookup}
    return schema


def _guarantee_schema() -> dict[str, Any]:
    """ε and the words, and δ where there is one."""
    schema = schema_object(epsilon=EXACT_SCHEMA, words=TEXT)
    schema["properties"] |= {
        "delta": EXACT_SCHEMA,
        "rho": EXACT_SCHEMA,
        "definition": {"enum": ["pure", "approximate", *DEFINITIONS]},
    }
    return schema


def _exact_schema() -> dict[str, Any]:
    return {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"}


def _key_schema() -> dict[str, Any]:
    return {"anyOf": [{"type": ["string", "integer", "boolean"]}, schema_object(date={**TEXT, "format": "date"})]}


def _query_schema() -> dict[str, Any]:
    """What every query has, and what those of some kinds have."""
    half_width = {"anyOf": [{"type": "number"}, EXACT_SCHEMA]}
    common = schema_object(
        name={"type": "string", "minLength": 1},
        kind={"enum": list(QUERY_KINDS)},
        where=OPTIONAL_TEXT,
        epsilon=EXACT_SCHEMA,
        sensitivity={"type": "integer", "minimum": 1},
        mechanism={"anyOf": [{"$ref": f"#/$defs/{name}"} for name in mechanism_schemas()]},
        optimal={"type": "string", "pattern": "^(universal|per cell|metric|optimal selection|none claimed): "},
        error=schema_object(
            expected={"type": "number"}, half_width_95=half_width, over_rows={"type": "boolean"}, words=TEXT
        ),
    )
    common["properties"] |= {"delta": EXACT_SCHEMA, "rho": EXACT_SCHEMA} | kind_schemas()
    common["required"].append("value")
    return common


MAX_RELEASE_BYTES = 1 << 28  # bytes
MEASURES = ("ε", "ρ")  # of what a budget counts
MAX_INTEGER_DIGITS = 1000  # digits
MAX_ENTRIES = MAX_CELLS  # of a list or a table
MAX_DEPTH = 10  # of tables and lists in each other
NO_RESERVATION = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)  # of a file system that cannot set room aside


def release_to_json(release: Release) -> str:
    """The JSON text of a release."""
    return json.dumps(release_content(release), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_release(release: Release, path: str | Path) -> None:
    """Save a release, as `utmost release` does: whole or not at all, in a new file or in place of another release."""
    from utmost.publish import output_files

    output_files.check_output(Path(path), "path", output_files.RELEASE, {})
    save_text(release_to_json(release), Path(path))


def read_release(path: str | Path) -> Release:
    """The release in a file."""
    release_path = Path(path)
    check_no_named_pipe(release_path, "release")
    try:
        with release_path.open("rb") as stream:
            raw = stream.read(MAX_RELEASE_BYTES + 1)
        if len(raw) > MAX_RELEASE_BYTES:
            raise InputError(f"release must be at most {MAX_RELEASE_BYTES >> 20} MiB, got a larger file", "release")
        return parse_release(raw.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"release must name a readable text file, got {release_path.name}: {file_error_reason(problem)}", "release"
        ) from None


def parse_release(document: str) -> Release:
    """The release in a text; refused with one line where it is none."""
    try:
        content = json.loads(
            document, parse_constant=_refuse_constant, parse_int=_parse_integer, object_pairs_hook=_parse_table
        )
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            "release must be a JSON document written by utmost release, got text that is not JSON", "release"
        ) from None
    return release_from_content(content)


def release_from_content(content: object) -> Release:
    """The release in a JSON document that was parsed already."""
    if not isinstance(content, dict) or not isinstance(content.get("schema"), str):
        raise InputError("release must be a document written by utmost release, got JSON without its schema", "release")
    if content["schema"] not in SCHEMAS:
        schema = content["schema"][:40]
        raise InputError(
            f'release must be of schema {" or ".join(SCHEMAS)}, got "{schema}"',
            "release",
            "read it with the version that wrote it",
        )
    _check_size(content)
    check_plain_text(content, "release")
    return decode_release(Fields(content, "release"))


def _check_size(content: Any, depth: int = 0) -> None:
    """Refuse what is longer or deeper than any release, before anything looks at each entry."""
    if depth > MAX_DEPTH or len(content) > MAX_ENTRIES:
        raise InputError(
            f"release must have lists and tables of at most {MAX_ENTRIES} entries, {MAX_DEPTH} deep, got others",
            "release",
            "ask for the file that utmost release wrote",
        )
    for entry in content.values() if isinstance(content, dict) else content:
        if isinstance(entry, dict | list):
            _check_size(entry, depth + 1)


def _parse_table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table, each of whose keys is there once: of two, readers would not agree on which holds."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise InputError("release must have each key of a table once, got one twice", "release", "take one of them out")
    return table


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError("a whole number that no release has")
    return int(digits)


def _refuse_constant(word: str) -> float:
    raise ValueError(word)


def save_text(document: str, path: Path) -> None:
    """A text in a file, whole or not at all: an earlier file stays until the new one is on disk."""
    with ReservedFile(path, len(document.encode("utf-8"))) as output_file:
        output_file.fill(document)


class ReservedFile:
    """Where a file will be: a temporary file beside it is made on entry, with room for `size` bytes.

    A text of up to so many bytes finds room on the disk when it is filled in, whatever others write meanwhile. Only a
    file, or nothing yet, is replaced: no folder, device or link. Left without being filled, nothing changes.
    """

    def __init__(self, path: Path, size: int = 0) -> None:
        self.path, self.size = path, size
        self._temporary_file: Path | None = None

    def __enter__(self) -> ReservedFile:
        """Make the temporary file, or say why it cannot be made."""
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            raise InputError(
                f"output must be a file, got {self.path.name[:60]}, which is something else", "output", "name another"
            )
        try:
            self._temporary_file = _make_temporary_file(self.path.parent)
            _set_room_aside(self._temporary_file, self.size)
        except OSError as problem:
            self.__exit__()
            raise InputError(
                f"output must be in a folder that can be written to, got {self.path.name[:60]}: "
                f"{file_error_reason(problem)}",
                "output",
            ) from None
        return self

    def fill(self, document: str) -> None:
        """Write the text, and put it where it belongs when it is on disk."""
        assert self._temporary_file is not None
        with self._temporary_file.open("r+b") as stream:
            stream.write(document.encode("utf-8"))
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
        self._temporary_file.replace(self.path)

    def __exit__(self, *_: object) -> None:
        """Remove a temporary file that was not used."""
        if self._temporary_file is not None:
            self._temporary_file.unlink(missing_ok=True)


def _make_temporary_file(folder: Path) -> Path:
    """A new empty file with the permissions that the umask leaves. The umask itself, which all threads share, stays."""
    for number in count():
        path = folder / f".utmost-{os.getpid()}-{threading.get_ident()}-{number}.part"
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            return path
    raise AssertionError("there is always another number")


def _set_room_aside(path: Path, size: int) -> None:
    """Make an empty file `size` bytes long, each of which has its place on the disk."""
    if size == 0:
        return
    with path.open("r+b") as stream:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
                return
        except OSError as problem:
            if problem.errno not in NO_RESERVATION:
                raise
        stream.write(bytes(size))
        stream.flush()
        os.fsync(stream.fileno())
