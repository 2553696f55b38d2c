"""A release as the dictionaries of its JSON: encoded, decoded, and the JSON schema of the file."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.errors import InputError
from utmost.exact.input_text import Fields
from utmost.publish import plans, release_model
from utmost.publish.release_model import SCHEMA, Answer, DataOrigin, LedgerEntry, Release, Statement
from utmost.queries import registry
from utmost.queries.answer_mechanisms.mechanism import EXACT_SCHEMA, ErrorLaw, schema_object
from utmost.queries.answer_mechanisms.registry import mechanism_schemas, parse_mechanism
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_to_json
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import ALTERED, drawn_content
from utmost.queries.registry import QUERY_KINDS, kind_schemas


def release_content(release: Release) -> dict[str, Any]:
    """The same as plain dictionaries and lists."""
    unit, part, entry = release.unit, release.part, release.entry
    return {
        "schema": SCHEMA,
        "title": release.title,
        "library": release.library,
        "source": {
            "engine": release.source.engine,
            "name": release.source.name,
            "fingerprint": release.source.fingerprint,
        },
        "unit": {"column": unit.column, "rows": unit.rows, "groups": unit.groups, "words": str(unit)},
        "neighbours": str(release.neighbours),
        "units": release.units,
        "part": part_content(part),
        "guarantee": {"epsilon": str(release.epsilon), "words": release.guarantee},
        "ledger": {"budget": entry.budget, "entry": entry.number, "spent": str(entry.spent), "left": str(entry.left)},
        "queries": [_answer_content(answer) for answer in release],
    }


def part_content(part: Partition | None) -> dict[str, Any] | None:
    """A part as JSON has it."""
    return None if part is None else {"column": part.column, "equals": key_to_json(part.equals)}


def _answer_content(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.name,
        "kind": answer.query.kind,
        "where": answer.query.where,
        "epsilon": str(answer.epsilon),
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
TOP_KEYS = ("title", "library", "source", "unit", "neighbours", "units", "part", "guarantee", "ledger", "queries")


def decode_release(top: Fields) -> Release:
    """The release in the fields of a document, whose schema is known to be ours.

    What follows from the queries and the setting is computed, not read: mechanisms and sensitivities must be those that
    the queries have, and claims, errors and the guarantee are worked out anew (`release_consistency`).
    """
    top.expect(TOP_KEYS)
    top.text("schema")
    entry, source, guarantee = top.table("ledger"), top.table("source"), top.table("guarantee")
    setting = _read_setting(top)
    release = Release(
        title=_optional_text(top, "title"),
        library=top.text("library"),
        source=DataOrigin(source.text("engine"), source.text("name"), _optional_text(source, "fingerprint")),
        unit=setting.unit,
        neighbours=setting.neighbours,
        units=setting.units,
        part=setting.part,
        epsilon=guarantee.number("epsilon"),
        guarantee=guarantee.text("words"),
        entry=_read_entry(entry),
        answers=tuple(_read_answer(fields, setting) for fields in _query_tables(top)),
    )
    for fields in (top, source, entry, guarantee):
        fields.finish()
    if not release.answers or len({answer.name for answer in release}) < len(release):
        raise InputError("queries must be at least one, each of its own name", "queries", context="release")
    return release_model.with_computed_guarantee(release, setting)


def _query_tables(top: Fields) -> list[Fields]:
    """The tables of the queries, at most as many as a plan may have."""
    tables = top.tables("queries")
    if len(tables) > plans.MAX_QUERIES:
        raise InputError(
            f"queries must be at most {plans.MAX_QUERIES}, got {len(tables)}", "queries", ALTERED, context="release"
        )
    return tables


def _read_entry(fields: Fields) -> LedgerEntry:
    entry = LedgerEntry(fields.text("budget"), fields.integer("entry"), fields.number("spent"), fields.number("left"))
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


def _read_answer(fields: Fields, setting: PrivacySetting) -> Answer:
    name = plans.parse_query_name(fields)
    labelled_fields = fields.with_label(f'release: query "{name[:60]}"')
    kind = registry.parse_kind(labelled_fields)
    _check_error(labelled_fields.table("error"))
    labelled_fields.text("optimal")
    query = kind.parse_content(labelled_fields)
    statement = Statement(
        query,
        plans.parse_epsilon(labelled_fields),
        labelled_fields.integer("sensitivity"),
        parse_mechanism(labelled_fields.table("mechanism")),
        query.read_drawn(labelled_fields),
    )
    labelled_fields.finish()
    return release_model.computed_answer(name, statement, setting)


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
    return schema_object(
        schema={"const": SCHEMA},
        title=OPTIONAL_TEXT,
        library=TEXT,
        source=schema_object(engine=TEXT, name=TEXT, fingerprint=OPTIONAL_TEXT),
        unit=schema_object(column=OPTIONAL_TEXT, rows=OPTIONAL_BOUND, groups=OPTIONAL_BOUND, words=TEXT),
        neighbours={"enum": [str(relation) for relation in NeighbourRelation]},
        units={"type": ["integer", "null"], "minimum": 0},
        part={"anyOf": [{"type": "null"}, schema_object(column=TEXT, equals=KEY_SCHEMA)]},
        guarantee=schema_object(epsilon=EXACT_SCHEMA, words=TEXT),
        ledger=schema_object(budget=TEXT, entry={"type": "integer"}, spent=EXACT_SCHEMA, left=EXACT_SCHEMA),
        queries={"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/query"}},
    )


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
        optimal={"type": "string", "pattern": "^(universal|per cell|metric|none claimed): "},
        error=schema_object(
            expected={"type": "number"}, half_width_95=half_width, over_rows={"type": "boolean"}, words=TEXT
        ),
    )
    common["properties"] |= kind_schemas()
    common["required"].append("value")
    return common
