"""Decode a release from the dictionaries of its JSON; inconsistent content is refused with one line."""

from __future__ import annotations

from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.errors import InputError
from utmost.exact.field_reader import Fields
from utmost.publish import plans, release_consistency
from utmost.publish.release_consistency import Statement
from utmost.publish.release_model import Answer, DataOrigin, LedgerEntry, Release
from utmost.queries import registry
from utmost.queries.answer_mechanisms.registry import parse_mechanism
from utmost.queries.keys import key_from_json
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import ALTERED

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
    return release_consistency.with_computed_guarantee(release, setting)


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
    release_consistency.check_units(setting)
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
    return release_consistency.computed_answer(name, statement, setting)


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
