"""Decode a release from the dictionaries of its JSON; inconsistent content is refused with one line."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product
from typing import Any

from utmost.data.partitions import Partition
from utmost.data.queries import Count, Histogram, Key, NeighbourRelation, PrivacyUnit, Query
from utmost.errors import InputError
from utmost.publish import plans, release_consistency
from utmost.publish.field_reader import Fields
from utmost.publish.mechanism_selection import PrivacySetting
from utmost.publish.release_consistency import ALTERED, Statement
from utmost.publish.release_model import (
    Answer,
    ChoiceMechanism,
    DataOrigin,
    LatticeMechanism,
    LedgerEntry,
    Mechanism,
    RatioMechanism,
    Release,
)

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
        raise InputError("release: queries must be at least one, each of its own name")
    return release_consistency.with_computed_guarantee(release, setting)


def _query_tables(top: Fields) -> list[Fields]:
    """The tables of the queries, at most as many as a plan may have."""
    tables = top.tables("queries")
    if len(tables) > plans.MAX_QUERIES:
        raise InputError(f"release: queries must be at most {plans.MAX_QUERIES}, got {len(tables)}: {ALTERED}")
    return tables


def _read_entry(fields: Fields) -> LedgerEntry:
    entry = LedgerEntry(fields.text("budget"), fields.integer("entry"), fields.number("spent"), fields.number("left"))
    if entry.number < 1 or entry.spent < 0 or entry.left < 0:
        raise InputError(f"release: ledger must have an entry from 1, spent and left from 0, got less: {ALTERED}")
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
        part = Partition(part_fields.text("column"), parse_key(part_fields.value("equals")))
        part_fields.finish()
    setting = PrivacySetting(_parse_neighbours(top.text("neighbours")), unit, part, _optional_integer(top, "units"))
    release_consistency.check_units(setting)
    return setting


def _parse_neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError('release: neighbours must be "replace" or "add-remove"') from None


def _optional_text(fields: Fields, key: str) -> str | None:
    return None if fields.raw(key, None) is None else str(fields.text(key))


def _optional_integer(fields: Fields, key: str) -> int | None:
    return None if fields.raw(key, None) is None else int(fields.integer(key))


def _read_answer(fields: Fields, setting: PrivacySetting) -> Answer:
    name = plans.parse_query_name(fields)
    labelled_fields = fields.with_label(f'release: query "{name[:60]}"')
    kind = labelled_fields.text("kind")
    if kind not in KINDS:
        raise InputError(f"{labelled_fields.label}: kind must be one of {', '.join(KINDS)}")
    _check_error(labelled_fields.table("error"))
    labelled_fields.text("optimal")
    query = _read_query(kind, labelled_fields)
    statement = Statement(
        query,
        plans.parse_epsilon(labelled_fields),
        labelled_fields.integer("sensitivity"),
        _read_mechanism(labelled_fields.table("mechanism")),
    )
    answer = release_consistency.computed_answer(name, statement, setting, **_read_results(labelled_fields, kind))
    labelled_fields.finish()
    return answer


def _read_results(fields: Fields, kind: str) -> dict[str, Any]:
    """What was drawn: the value, and the parts or the position that it comes from."""
    parts = fields.table("parts", None)
    results = {
        "value": _read_value(fields, kind),
        "parts": None if parts is None else (parts.integer("total"), parts.integer("rows")),
        "position": _optional_integer(fields, "position"),
    }
    if parts is not None:
        parts.finish()
    return results


def _read_query(kind: str, fields: Fields) -> Query:
    where = _optional_text(fields, "where")
    if kind == "count":
        return Count(where)
    if kind != "histogram":
        return plans.parse_total(kind, fields)
    key_fields = fields.table("keys")
    keys = {column: tuple(map(parse_key, key_fields.items(column))) for column in key_fields.columns()}
    if not _are_combinations(fields.items("cells"), [key_fields.items(column) for column in keys]):
        raise InputError(f"{fields.label}: cells must be the combinations of its keys, got others: {ALTERED}")
    return Histogram(keys, where)


def _are_combinations(cells: list[Any], keys: list[list[Any]]) -> bool:
    """Are cells the combinations of the keys of each column. As soon as they are not, no further one is made."""
    number = 1
    for values in keys:
        number *= len(values)
        if number > len(cells):
            return False
    return number == len(cells) and all(cell == list(keys) for cell, keys in zip(cells, product(*keys), strict=True))


KINDS = tuple(plans.QUERY_KINDS.values())


def _read_value(fields: Fields, kind: str) -> int | Fraction | tuple[int, ...]:
    if kind == "count":
        return int(fields.integer("value"))
    if kind != "histogram":
        return fields.number("value")
    cells = fields.items("value")
    if not all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        raise InputError("release: the value of a histogram must be a list of whole numbers")
    return tuple(cells)


def _check_error(fields: Fields) -> None:
    """Refuse an error that is none; what is shown is computed from the mechanism."""
    expected, half = fields.raw("expected"), fields.raw("half_width_95")
    if isinstance(expected, bool) or not isinstance(expected, int | float) or not abs(expected) <= MAX_ERROR:
        raise InputError("release: expected must be a number, and one that a double holds")
    if not isinstance(half, float):
        half = fields.number("half_width_95")
    if not abs(half) <= MAX_ERROR:
        raise InputError("release: half_width_95 must be a number that a double holds")
    fields.text("words")
    fields.truth("over_rows")
    fields.finish()


def _read_mechanism(fields: Fields) -> Mechanism:
    name = fields.text("name")
    if name == "exponential":
        mechanism: Mechanism = ChoiceMechanism(fields.number("rate"), fields.integer("candidates"))
    elif name == "ratio":
        mechanism = RatioMechanism(_read_lattice(fields.table("total")), _read_lattice(fields.table("rows")))
    else:
        return _read_lattice(fields)
    fields.finish()
    return mechanism


def _read_lattice(fields: Fields) -> LatticeMechanism:
    if fields.text("name") != "geometric":
        raise InputError("release: mechanism must be geometric, ratio or exponential")
    bounds = _optional_integer(fields, "low"), _optional_integer(fields, "high")
    mechanism = LatticeMechanism(fields.number("epsilon"), *bounds, fields.number("origin"), fields.number("unit"))
    fields.finish()
    return mechanism


def parse_key(value: object) -> Key:
    """The same, read back."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict) and list(value) == ["date"]:
        try:
            return date.fromisoformat(str(value["date"]))
        except ValueError:
            pass
    raise InputError('release: a key must be a text, a whole number, true or false, or {"date": "2020-01-31"}')
