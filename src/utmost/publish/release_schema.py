"""The JSON schema of a release file, made from the registered kinds of queries and mechanisms."""

from __future__ import annotations

from typing import Any

from utmost.data.selection import NeighbourRelation
from utmost.publish.release_model import SCHEMA
from utmost.queries.answer_mechanisms.mechanism import EXACT_SCHEMA, schema_object
from utmost.queries.answer_mechanisms.registry import mechanism_schemas
from utmost.queries.keys import KEY_SCHEMA
from utmost.queries.registry import QUERY_KINDS, kind_schemas

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
