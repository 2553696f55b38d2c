"""Decode a release from the dictionaries of its JSON; inconsistent content is refused with one line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from utmost.data.partitions import Partition
from utmost.data.queries import Key, NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.publish.field_reader import Fields
from utmost.publish.release_model import (
    Answer,
    ChoiceMechanism,
    DataOrigin,
    ErrorLaw,
    LatticeMechanism,
    LedgerEntry,
    Mechanism,
    RatioMechanism,
    Release,
)

MAX_ERROR = 10**300


def decode_release(top: Fields) -> Release:
    """The release in the fields of a document, whose schema is known to be ours."""
    top.text("schema")
    unit, part, entry, source = (top.table(key, None) for key in ("unit", "part", "ledger", "source"))
    guarantee = top.table("guarantee")
    if unit is None or entry is None or source is None:
        raise InputError("release: unit, ledger and source must be tables")
    release = Release(
        title=_optional_text(top, "title"),
        library=top.text("library"),
        source=DataOrigin(source.text("engine"), source.text("name"), _optional_text(source, "fingerprint")),
        unit=PrivacyUnit(
            _optional_text(unit, "column"), _optional_integer(unit, "rows"), _optional_integer(unit, "groups")
        ),
        neighbours=_parse_neighbours(top.text("neighbours")),
        units=_optional_integer(top, "units"),
        part=None if part is None else Partition(part.text("column"), parse_key(part.value("equals"))),
        epsilon=guarantee.number("epsilon"),
        guarantee=guarantee.text("words"),
        entry=LedgerEntry(entry.text("budget"), entry.integer("entry"), entry.number("spent"), entry.number("left")),
        answers=tuple(_read_answer(fields) for fields in top.tables("queries")),
    )
    unit.text("words")
    for fields in (top, source, unit, entry, guarantee, *([] if part is None else [part])):
        fields.finish()
    if not release.answers or len({answer.name for answer in release}) < len(release):
        raise InputError("release: queries must be at least one, each of its own name")
    return release


def _parse_neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError('release: neighbours must be "replace" or "add-remove"') from None


def _optional_text(fields: Fields, key: str) -> str | None:
    return None if fields.raw(key, None) is None else str(fields.text(key))


def _optional_integer(fields: Fields, key: str) -> int | None:
    return None if fields.raw(key, None) is None else int(fields.integer(key))


def _read_answer(fields: Fields) -> Answer:
    kind = fields.text("kind")
    if kind not in QUERY_KEYS:
        raise InputError(f"release: kind must be one of {', '.join(QUERY_KEYS)}")
    query_content = {key: fields.raw(key) for key in QUERY_KEYS[kind]}
    mechanism = _read_mechanism(fields.table("mechanism"))
    parts = fields.table("parts", None)
    answer = Answer(
        name=fields.text("name"),
        kind=kind,
        where=_optional_text(fields, "where"),
        epsilon=fields.number("epsilon"),
        sensitivity=fields.integer("sensitivity"),
        mechanism=mechanism,
        optimal=fields.text("optimal"),
        error=_read_error(fields.table("error")),
        value=_read_value(fields, kind),
        query_content=query_content,
        parts=None if parts is None else (parts.integer("total"), parts.integer("rows")),
        position=_optional_integer(fields, "position"),
    )
    for section in (fields, *([] if parts is None else [parts])):
        section.finish()
    _check_answer(answer)
    return answer


QUERY_KEYS: Mapping[str, tuple[str, ...]] = {
    "count": (),
    "histogram": ("keys", "cells"),
    "sum": ("column", "low", "high", "step", "nulls"),
    "mean": ("column", "low", "high", "step", "nulls"),
    "quantile": ("column", "low", "high", "step", "nulls", "probability"),
}


def _read_value(fields: Fields, kind: str) -> int | Fraction | tuple[int, ...]:
    if kind == "count":
        return int(fields.integer("value"))
    if kind != "histogram":
        return fields.number("value")
    cells = fields.items("value")
    if not all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        raise InputError("release: the value of a histogram must be a list of whole numbers")
    return tuple(cells)


def _read_error(fields: Fields) -> ErrorLaw:
    expected, half = fields.raw("expected"), fields.raw("half_width_95")
    if isinstance(expected, bool) or not isinstance(expected, int | float) or not abs(expected) <= MAX_ERROR:
        raise InputError("release: expected must be a number, and one that a double holds")
    if not isinstance(half, float):
        half = fields.number("half_width_95")
    if not abs(half) <= MAX_ERROR:
        raise InputError("release: half_width_95 must be a number that a double holds")
    error = ErrorLaw(float(expected), half, fields.text("words"), fields.truth("over_rows"))
    fields.finish()
    return error


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
    if (
        mechanism.epsilon <= 0
        or mechanism.unit <= 0
        or (mechanism.low is not None and mechanism.high is not None and mechanism.low > mechanism.high)
    ):
        raise InputError("release: a geometric mechanism must have epsilon > 0, unit > 0 and low <= high")
    return mechanism


_MECHANISM_TYPES = {
    "count": (LatticeMechanism,),
    "histogram": (LatticeMechanism,),
    "sum": (LatticeMechanism,),
    "mean": (LatticeMechanism, RatioMechanism),
    "quantile": (ChoiceMechanism,),
}


def _check_answer(answer: Answer) -> None:
    """Refuse an answer whose fields are inconsistent."""
    label = f'release: query "{answer.name[:60]}"'
    if not isinstance(answer.mechanism, _MECHANISM_TYPES[answer.kind]):
        raise InputError(f"{label} must have a mechanism of its kind")
    if answer.epsilon <= 0 or answer.sensitivity < 1:
        raise InputError(f"{label} must have epsilon > 0 and sensitivity >= 1")
    if isinstance(answer.value, tuple):
        _check_cells(answer, label)
    elif isinstance(answer.mechanism, LatticeMechanism):
        _check_on_lattice(answer.mechanism, Fraction(answer.value), label)
    if isinstance(answer.mechanism, RatioMechanism) and answer.parts is None:
        raise InputError(f"{label} must have its parts, total and rows")
    for name in ("low", "high", "step"):
        if name in answer.query_content:
            Fields(answer.query_content, label).number(name)


def _check_cells(answer: Answer, label: str) -> None:
    cells, mechanism = answer.query_content["cells"], answer.mechanism
    if not isinstance(cells, list) or not isinstance(answer.value, tuple) or len(cells) != len(answer.value):
        raise InputError(f"{label} must have as many values as cells")
    for cell in cells:
        if not isinstance(cell, list):
            raise InputError(f"{label} must list each cell's keys")
        for key in cell:
            parse_key(key)
    for value in answer.value:
        assert isinstance(mechanism, LatticeMechanism)
        _check_on_lattice(mechanism, Fraction(value), label)


def _check_on_lattice(mechanism: LatticeMechanism, value: Fraction, label: str) -> None:
    number = mechanism.number(value)
    if (mechanism.low is not None and number < mechanism.low) or (
        mechanism.high is not None and number > mechanism.high
    ):
        raise InputError(f"{label} must have a value within its mechanism's ends")


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
