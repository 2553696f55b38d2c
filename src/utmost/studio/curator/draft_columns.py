"""The table that a draft asks of: its own columns, and those that the draft derives or looks up.

One that is wrong is left out, and said beside its field, so that the rest of the draft can still be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from utmost.data import derive
from utmost.data.engines.schema import ColumnKind
from utmost.data.lookup import Lookup
from utmost.data.sources import Source, TableSchema
from utmost.errors import InputError
from utmost.publish.plan_writer import lookup_entries
from utmost.studio import data_folder
from utmost.studio.curator import forms, tables
from utmost.studio.curator.forms import DerivedColumn, LookupDraft, PlanDraft, PublicColumn
from utmost.studio.forms import Problem, errors_for_field, one_line
from utmost.studio.settings import Settings

LOOKUP_FIELDS = {"location": "location", "on": "on"}  # of a lookup in the form; all others are beside `take`
Derivations = dict[str, tuple[int, str]]  # name: place in the draft and expression


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table without its rows, the source it is of, with what is right of its new columns, and what is wrong."""

    schema: TableSchema
    source: Source
    problems: tuple[Problem, ...] = ()


def draft_source(draft: PlanDraft) -> Source:
    """The table that a draft asks of, with the kinds that it declares, without new columns."""
    if not _declares_columns(draft.location):
        return Source(draft.location, draft.table or None)
    columns = {column.name: str(column.kind) for column in draft.columns}
    with errors_for_field("columns"):
        missing = {column.name: _markers(column.missing) for column in draft.columns}
    markers = {name: texts for name, texts in missing.items() if texts}
    return Source(draft.location, draft.table or None, None, columns, missing=markers)


def _declares_columns(location: str) -> bool:
    return location.lower().endswith(".csv")


def _markers(text: str) -> tuple[str, ...]:
    """The texts that mean NULL."""
    return tuple(str(marker) for marker in forms.parse_keys(text, ColumnKind.TEXT, "missing"))


def draft_table(draft: PlanDraft, settings: Settings) -> DraftTable:
    """The table of a draft, with as many of its new columns as are right. Raised: what is wrong with the table."""
    problems: list[Problem] = []
    source = draft_source(draft)
    own_schema = tables.table_schema(settings, source)
    derivations = _derivations(draft.derived, list(own_schema.kinds), problems)
    lookups = _lookups(draft.lookups, settings, source, problems)
    while derivations or lookups:
        new_source = _with_new_columns(source, derivations, lookups)
        try:
            schema = tables.table_schema(settings, new_source)
        except InputError as error:
            _leave_out(error, derivations, lookups, problems)
        else:
            return DraftTable(schema, new_source, tuple(problems))
    return DraftTable(own_schema, source, tuple(problems))


def _with_new_columns(source: Source, derivations: Derivations, lookups: dict[int, Lookup]) -> Source:
    expressions = {name: text for name, (_, text) in derivations.items()}
    return replace(source, derive=expressions, lookups=tuple(lookups.values()))


def _derivations(columns: Iterable[DerivedColumn], own_columns: Sequence[str], problems: list[Problem]) -> Derivations:
    """The derived columns that can be read by themselves; the others are problems."""
    derivations: Derivations = {}
    for place, column in enumerate(columns):
        name, text = column.name.strip(), column.expression.strip()
        if not (name or text):
            continue
        try:
            _check_derived(name, text, [*own_columns, *derivations])
            derivations[name] = (place, text)
        except InputError as error:
            field = "name" if error.field in ("name", "derive") else "expression"
            problems.append(_derived_problem(place, field, error))
    return derivations


def _check_derived(name: str, text: str, taken_names: Sequence[str]) -> None:
    if not name or not text:
        empty = "name" if not name else "expression"
        raise InputError(f"{empty} must be given: a new column has both", empty)
    derive.check_new_name(name, taken_names, "name")
    derive.parse_derivations({name: text})


def _derived_problem(place: int, field: str, error: InputError) -> Problem:
    return Problem(field=f"derived.{place}.{field}", message=one_line(error.text))


def _lookups(
    drafts: Iterable[LookupDraft], settings: Settings, source: Source, problems: list[Problem]
) -> dict[int, Lookup]:
    """The lookups whose public tables can be read, by their places; the others are problems."""
    lookups: dict[int, Lookup] = {}
    for place, draft in enumerate(drafts):
        if not (draft.location or draft.keys or draft.taken):
            continue
        with _lookup_problems(place, problems):
            data_folder.public_table_path(settings, draft.location)
            lookup = _lookup(draft)
            tables.check_source(replace(source, lookups=(lookup,)), settings)
            tables.public_types(settings, lookup)
            lookups[place] = lookup
    return lookups


def _check_lookup(draft: LookupDraft) -> None:
    """Refuse rows of a lookup that are half filled in, or there twice."""
    if not all(key.column and key.equals for key in draft.keys):
        raise InputError("on must name a column of ours and one of the public table: choose both", "on")
    if not all(column.column for column in draft.taken):
        raise InputError("take must name a column of the public table for each new name: choose one", "take")
    for field, columns in (("on", draft.keys), ("take", draft.taken)):
        if len({column.column for column in columns}) < len(columns):
            raise InputError(f"{field} must name each column once", field)


def _lookup(draft: LookupDraft) -> Lookup:
    """The lookup that a draft means."""
    _check_lookup(draft)
    kinds: dict[str, str] = {}
    markers: dict[str, tuple[str, ...]] = {}
    for field, name, column in (
        *(("on", key.equals, key) for key in draft.keys),
        *(("take", column.column, column) for column in draft.taken),
    ):
        if _declares_columns(draft.location):
            with errors_for_field(field):
                _add_kind(name, column, kinds, markers)
    taken = {column.column: column.name.strip() or column.column for column in draft.taken}
    return Lookup(draft.location, {key.column: key.equals for key in draft.keys}, taken, kinds, markers)


def _add_kind(name: str, column: PublicColumn, kinds: dict[str, str], markers: dict[str, tuple[str, ...]]) -> None:
    """What a draft says of a column of a public CSV file."""
    texts = _markers(column.missing)
    if column.kind:
        kinds[name] = column.kind
    if texts and name not in kinds:
        raise InputError("kind must be chosen where some texts mean that a value is missing", "kind")
    if texts:
        markers[name] = texts


@contextmanager
def _lookup_problems(place: int, problems: list[Problem]) -> Iterator[None]:
    """Report what is wrong with a lookup beside its field."""
    try:
        yield
    except InputError as error:
        problems.append(_lookup_problem(place, error))


def _lookup_problem(place: int, error: InputError) -> Problem:
    field = LOOKUP_FIELDS.get((error.field or "").partition(".")[0], "take")
    return Problem(field=f"lookups.{place}.{field}", message=one_line(error.text))


def _leave_out(
    error: InputError, derivations: Derivations, lookups: dict[int, Lookup], problems: list[Problem]
) -> None:
    """Leave out the new column, or the lookup, that an error is about; all derived columns where it is about several.

    An error about neither is raised again.
    """
    for place, lookup in lookups.items():
        if error.context == lookup.label:
            problems.append(_lookup_problem(place, error))
            del lookups[place]
            return
    name = (error.field or "").removeprefix("derive.")
    if name in derivations:
        place, _ = derivations.pop(name)
        problems.append(_derived_problem(place, "expression", error))
    elif error.field == "derive" and derivations:
        place = min(place for place, _ in derivations.values())
        problems.append(_derived_problem(place, "expression", error))
        derivations.clear()
    else:
        raise error


def new_column_fields(source: Source) -> dict[str, Any]:
    """The new columns of a source, as TOML has them."""
    lookups = [lookup_entries(lookup) for lookup in source.lookups]
    return {"derive": dict(source.derive), **({"lookup": lookups} if lookups else {})}
