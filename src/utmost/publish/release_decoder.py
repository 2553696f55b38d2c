"""A release read back from its dictionaries; whatever does not belong together is refused with one line."""

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

LARGEST_ERROR = 10**300


def decode_release(top: Fields) -> Release:
    """The release in the fields of a document, whose schema is known to be ours."""
    top.text("schema")
    unit, part, entry, source = (top.table(key, None) for key in ("unit", "part", "ledger", "source"))
    guarantee = top.table("guarantee")
    if unit is None or entry is None or source is None:
        raise InputError("release: unit, ledger and source must be tables")
    found = Release(
        title=_optional(top, "title"),
        library=top.text("library"),
        source=DataOrigin(source.text("engine"), source.text("name"), _optional(source, "fingerprint")),
        unit=PrivacyUnit(_optional(unit, "column"), _whole(unit, "rows"), _whole(unit, "groups")),
        neighbours=_neighbours(top.text("neighbours")),
        units=_whole(top, "units"),
        part=None if part is None else Partition(part.text("column"), key_in(part.value("equals"))),
        epsilon=guarantee.number("epsilon"),
        guarantee=guarantee.text("words"),
        entry=LedgerEntry(entry.text("budget"), entry.whole("entry"), entry.number("spent"), entry.number("left")),
        answers=tuple(_read_answer(fields) for fields in top.tables("queries")),
    )
    unit.text("words")
    for fields in (top, source, unit, entry, guarantee, *([] if part is None else [part])):
        fields.finish()
    if not found.answers or len({answer.name for answer in found}) < len(found):
        raise InputError("release: queries must be at least one, each of its own name")
    return found


def _neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError('release: neighbours must be "replace" or "add-remove"') from None


def _optional(fields: Fields, key: str) -> str | None:
    return None if fields.raw(key, None) is None else str(fields.text(key))


def _whole(fields: Fields, key: str) -> int | None:
    return None if fields.raw(key, None) is None else int(fields.whole(key))


def _read_answer(fields: Fields) -> Answer:
    kind = fields.text("kind")
    if kind not in ASKED:
        raise InputError(f"release: kind must be one of {', '.join(ASKED)}")
    asked = {key: fields.raw(key) for key in ASKED[kind]}
    law = _read_mechanism(fields.table("mechanism"))
    parts = fields.table("parts", None)
    found = Answer(
        name=fields.text("name"),
        kind=kind,
        where=_optional(fields, "where"),
        epsilon=fields.number("epsilon"),
        sensitivity=fields.whole("sensitivity"),
        mechanism=law,
        optimal=fields.text("optimal"),
        error=_read_error(fields.table("error")),
        value=_read_value(fields, kind),
        asked=asked,
        parts=None if parts is None else (parts.whole("total"), parts.whole("rows")),
        position=_whole(fields, "position"),
    )
    for part in (fields, *([] if parts is None else [parts])):
        part.finish()
    _consistent(found)
    return found


ASKED: Mapping[str, tuple[str, ...]] = {
    "count": (),
    "histogram": ("keys", "cells"),
    "sum": ("column", "low", "high", "step", "nulls"),
    "mean": ("column", "low", "high", "step", "nulls"),
    "quantile": ("column", "low", "high", "step", "nulls", "probability"),
}


def _read_value(fields: Fields, kind: str) -> int | Fraction | tuple[int, ...]:
    if kind == "count":
        return int(fields.whole("value"))
    if kind != "histogram":
        return fields.number("value")
    cells = fields.items("value")
    if not all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells):
        raise InputError("release: the value of a histogram must be a list of whole numbers")
    return tuple(cells)


def _read_error(fields: Fields) -> ErrorLaw:
    expected, half = fields.raw("expected"), fields.raw("half_width_95")
    if isinstance(expected, bool) or not isinstance(expected, int | float) or not abs(expected) <= LARGEST_ERROR:
        raise InputError("release: expected must be a number, and one that a double holds")
    if not isinstance(half, float):
        half = fields.number("half_width_95")
    if not abs(half) <= LARGEST_ERROR:
        raise InputError("release: half_width_95 must be a number that a double holds")
    made = ErrorLaw(float(expected), half, fields.text("words"), fields.truth("over_rows"))
    fields.finish()
    return made


def _read_mechanism(fields: Fields) -> Mechanism:
    name = fields.text("name")
    if name == "exponential":
        made: Mechanism = ChoiceMechanism(fields.number("rate"), fields.whole("candidates"))
    elif name == "ratio":
        made = RatioMechanism(_read_lattice(fields.table("total")), _read_lattice(fields.table("rows")))
    else:
        return _read_lattice(fields)
    fields.finish()
    return made


def _read_lattice(fields: Fields) -> LatticeMechanism:
    if fields.text("name") != "geometric":
        raise InputError("release: mechanism must be geometric, ratio or exponential")
    ends = _whole(fields, "low"), _whole(fields, "high")
    made = LatticeMechanism(fields.number("epsilon"), *ends, fields.number("origin"), fields.number("unit"))
    fields.finish()
    if made.epsilon <= 0 or made.unit <= 0 or (made.low is not None and made.high is not None and made.low > made.high):
        raise InputError("release: a geometric mechanism must have epsilon > 0, unit > 0 and low <= high")
    return made


_LAWS = {
    "count": (LatticeMechanism,),
    "histogram": (LatticeMechanism,),
    "sum": (LatticeMechanism,),
    "mean": (LatticeMechanism, RatioMechanism),
    "quantile": (ChoiceMechanism,),
}


def _consistent(answer: Answer) -> None:
    """Refuse an answer whose parts do not belong together, so that no reader meets one."""
    place = f'release: query "{answer.name[:60]}"'
    if not isinstance(answer.mechanism, _LAWS[answer.kind]):
        raise InputError(f"{place} must have a mechanism of its kind")
    if answer.epsilon <= 0 or answer.sensitivity < 1:
        raise InputError(f"{place} must have epsilon > 0 and sensitivity >= 1")
    if isinstance(answer.value, tuple):
        _consistent_cells(answer, place)
    elif isinstance(answer.mechanism, LatticeMechanism):
        _on_lattice(answer.mechanism, Fraction(answer.value), place)
    if isinstance(answer.mechanism, RatioMechanism) and answer.parts is None:
        raise InputError(f"{place} must have its parts, total and rows")
    for name in ("low", "high", "step"):
        if name in answer.asked:
            Fields(answer.asked, place).number(name)


def _consistent_cells(answer: Answer, place: str) -> None:
    cells, law = answer.asked["cells"], answer.mechanism
    if not isinstance(cells, list) or not isinstance(answer.value, tuple) or len(cells) != len(answer.value):
        raise InputError(f"{place} must have as many values as cells")
    for cell in cells:
        if not isinstance(cell, list):
            raise InputError(f"{place} must list each cell's keys")
        for key in cell:
            key_in(key)
    for value in answer.value:
        assert isinstance(law, LatticeMechanism)
        _on_lattice(law, Fraction(value), place)


def _on_lattice(law: LatticeMechanism, value: Fraction, place: str) -> None:
    number = law.number(value)
    if (law.low is not None and number < law.low) or (law.high is not None and number > law.high):
        raise InputError(f"{place} must have a value within its mechanism's ends")


def key_in(value: object) -> Key:
    """The same, read back."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict) and list(value) == ["date"]:
        try:
            return date.fromisoformat(str(value["date"]))
        except ValueError:
            pass
    raise InputError('release: a key must be a text, a whole number, true or false, or {"date": "2020-01-31"}')
