"""A table with whom privacy protects in it: where plans begin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from utmost.data import sources
from utmost.data.engines import registry
from utmost.data.engines.schema import ColumnKind
from utmost.data.frames import undeclared_columns, with_frame, without_rows
from utmost.data.selection import Key, NeighbourRelation, PrivacyUnit
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact.input_text import escape_control
from utmost.publish import plans
from utmost.publish.builder.budgets import NamedBudget
from utmost.publish.builder.plan_builder import PlanBuilder
from utmost.publish.builder.values import Location, Neighbours, Noise, Number, plain
from utmost.publish.plan_model import Plan
from utmost.registry import similar_name

PLAN_CONTEXTS = ("plan", "[source]", "[derive]", "[unit]", "[part]")  # which have no name in Python
ARGUMENTS = {  # keys of a plan that have another name in Python
    "source.location": "data",
    "unit.column": "unit",
    "part.column": "part",
    "part.equals": "part",
}
NO_EXPRESSIONS: Mapping[str, str] = MappingProxyType({})
UNDECLARED = "undeclared"
KIND_NAMES = tuple(str(kind) for kind in ColumnKind if kind is not ColumnKind.OTHER)


@dataclass(frozen=True, slots=True, repr=False)
class ProtectedTable:
    """A table, whom privacy protects in it, and which tables are neighbours. Nothing of it has been read.

    Paths are relative to `folder`, the working folder in which it was named.
    """

    source: Source
    unit: PrivacyUnit
    neighbours: NeighbourRelation
    fingerprint: str | None
    folder: Path

    @property
    def columns(self) -> dict[str, str]:
        """The kind of each column, by name, from the table's own description; no row is looked at for it.

        A CSV file describes no kinds, nor does a column of Python objects: one that is not declared in `columns` is
        "undeclared".
        """
        source = without_rows(self.source)
        with sources.open_table(source, self.folder) as table:
            guesses = {*table.guesses(set(table.kinds)), *undeclared_columns(source)}
            return {name: UNDECLARED if name in guesses else str(kind) for name, kind in table.kinds.items()}

    def derive(self, expressions: Mapping[str, str] = NO_EXPRESSIONS, /, **named: str) -> ProtectedTable:
        """The table with new columns, each by an expression that is computed row by row.

        >>> survey = table("bundled:anes96").derive(decade="bin(age, 10)")
        >>> survey.derive({"college degree": "educ >= 6"}).source.derive["college degree"]
        'educ >= 6'
        """
        example = '{"is late": "dep_delay > 15"}'
        added = {**plain(_check_mapping(expressions, "expressions", example), "expressions"), **plain(named)}
        self._check_new(added, "derive")
        return self._with_parts({"derive": {**self.source.derive, **added}})

    def lookup(
        self,
        location: Location,
        *,
        on: str | Mapping[str, str],
        take: Iterable[str] | Mapping[str, str],
        columns: Mapping[str, str] | None = None,
        missing: Mapping[str, Iterable[str]] | None = None,
    ) -> ProtectedTable:
        """The table with columns of a public table, found by a key that is unique there; NULL where there is no match.

        ``on`` pairs our column with its column, ``take`` lists its columns, or pairs them with new names. ``columns``
        and ``missing`` are the kinds of a CSV's columns and the texts in them that mean NULL.
        """
        entries = {
            "location": plain(location),
            "on": {on: on} if isinstance(on, str) else plain(on, "on"),
            "take": [take] if isinstance(take, str) else plain(take, "take"),
            "columns": _column_entries(columns, missing),
        }
        if len(self.source.lookups) >= plans.MAX_LOOKUPS:
            raise InputError(f"plan must have at most {plans.MAX_LOOKUPS} lookups, got more", "lookup")
        (added,) = self._parse({"lookup": [entries]}).lookups
        self._check_new(added.take.values(), "take")
        return replace(self, source=replace(self.source, lookups=(*self.source.lookups, added)))

    def _check_new(self, names: Iterable[str], argument: str) -> None:
        """Refuse a second definition of a column: whatever rests on the first would go on to rest on it."""
        known = {*self.source.derive, *(name for lookup in self.source.lookups for name in lookup.take.values())}
        for name in names:
            if name in known:
                problem = f'{argument} must give new names, got "{name}", which was added before'
                raise InputError(problem, argument, "choose another name")

    def _parse(self, content: Mapping[str, Any]) -> Source:
        return _parse_head({"source": {}, **content}, self.folder).source

    def _with_parts(self, content: Mapping[str, Any]) -> ProtectedTable:
        return replace(self, source=replace(self.source, derive=self._parse(content).derive))

    def plan(
        self,
        budget: str | NamedBudget,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise = "geometric",
        ledger: str | os.PathLike[str] | None = None,
        title: str | None = None,
        output: str | os.PathLike[str] | None = None,
        part: Mapping[str, Key] | None = None,
    ) -> PlanBuilder:
        """A plan for this table, without queries yet.

        - ``budget``: the name of the budget that a release is charged to, or what `ut.budget` returned, which also says
          which ledger it is in.
        - ``epsilon``, ``delta``, ``rho``: the price of the whole plan, split over the queries that name none.
        - ``noise``: "geometric", "gaussian", "canonical", or "best" for whichever errs less.
        - ``ledger``: a file, relative to the working folder, or a URL of PostgreSQL; by default ``ledger.sqlite``.
        - ``output``: a file that the release is written to; by default none is.
        - ``part``: ``{"region": "north"}`` for the rows of one value of a column alone.
        """
        if isinstance(budget, NamedBudget):
            _check_ledger(ledger, budget)
            ledger = budget.location
            budget = budget.name
        ledger = plans.DEFAULT_LEDGER if ledger is None else ledger
        prices = {"epsilon": plain(epsilon), "delta": plain(delta), "rho": plain(rho), "noise": noise, "title": title}
        output_path = None if output is None else str(Path.cwd() / _path_text(output, "output"))
        files = {"ledger": self._own_path(_path_text(ledger, "ledger")), "output": output_path}
        content = {"budget": budget, **prices, **files, "part": _part_entry(part), "source": {}}
        head = _parse_head({key: value for key, value in content.items() if value is not None}, self.folder)
        own = {"source": self.source, "unit": self.unit, "neighbours": self.neighbours}
        return PlanBuilder(replace(head, **own, fingerprint=self.fingerprint))  # type: ignore[arg-type]

    def _own_path(self, text: str) -> str:
        """A path from the working folder of now, told from that of the table where it is another."""
        path = Path.cwd() / text
        if "://" in text:
            return text
        return str(path.relative_to(self.folder) if path.is_relative_to(self.folder) else path)

    def __repr__(self) -> str:
        """Where the table is and whom privacy protects; no row, and no password."""
        text = f"<ProtectedTable {self.source.name}: {self.unit}; neighbours: {self.neighbours}>"
        return escape_control(text, frozenset())


def table(
    data: object,
    *,
    unit: str | None = None,
    rows: int | None = None,
    groups: int | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Mapping[str, Iterable[str]] | None = None,
    table: str | None = None,
    engine: str | None = None,
    fingerprint: str | None = None,
    neighbours: Neighbours = "add-remove",
) -> ProtectedTable:
    """A table to publish from, and whom privacy protects in it. No row is read.

    - ``data``: a path or a URL; or a frame of pandas or Polars, lazy or not, an Arrow table or dataset, a DuckDB
      relation, a table of ibis.
    - ``unit``: the column that names persons, who are protected; without it each row is. With a unit either ``rows=k``,
      at most k rows of each person count, or ``groups=k``, one row in each of at most k cells.
    - ``columns``: the kinds of columns, which a CSV file needs: ``{"age": "integer"}``; ``missing``: texts in its
      columns that mean NULL: ``{"age": ["NA", "."]}``.
    - ``table``: the table of a database; ``engine``: "spark" to have Spark read a file.
    - ``fingerprint``: a name for this state of the data, with which the same release is repeated for free.
    - ``neighbours``: "add-remove", one unit is there or not; or "replace", one unit has other values, and the number of
      units is public.

    >>> table("bundled:anes96")
    <ProtectedTable bundled:anes96: each row; neighbours: add-remove>
    """
    _check_unit(unit, rows, groups)
    location = plain(data) if isinstance(data, str | os.PathLike) else None
    source = {"location": location, "table": table, "engine": engine, "fingerprint": fingerprint}
    content = {
        "neighbours": neighbours,
        "source": {**_given(source), "columns": _column_entries(columns, missing)},
        "unit": _given({"column": unit, "rows": plain(rows), "groups": plain(groups)}),
    }
    head = _parse_head(content, Path.cwd())
    if location is None:
        try:
            head = replace(head, source=with_frame(head.source, data))
        except InputError as problem:
            raise _about_argument(problem) from None
    if missing and head.source.kind.has_types:
        raise InputError("missing must be left out where missing values are NULL, got some", "missing", "use derive")
    _check_location(head.source, head.folder)
    return ProtectedTable(head.source, head.unit, head.neighbours, head.fingerprint, head.folder)


def _path_text(path: object, argument: str) -> str:
    """A path as a text; refused where it is neither."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{argument} must be a path, got {type(path).__name__}", argument)
    return os.fspath(path)


def _check_ledger(ledger: object, budget: NamedBudget) -> None:
    """Refuse another ledger than the one that a budget is in."""
    if ledger is None:
        return
    text = _path_text(ledger, "ledger")
    paths = [path if "://" in path else str((Path.cwd() / path).resolve()) for path in (text, budget.location)]
    if paths[0] != paths[1]:
        problem = f"ledger must be the one that budget '{budget.name}' is in, got another"
        raise InputError(problem, "ledger", "leave it out, or give the name of a budget in that ledger")


def _check_unit(unit: str | None, rows: int | None, groups: int | None) -> None:
    """Refuse a bound without persons, and persons without exactly one bound."""
    given = [name for name, value in (("rows", rows), ("groups", groups)) if value is not None]
    if unit is None and given:
        raise InputError(
            f"{given[0]} must be given with unit, got no unit", given[0], "name the column of persons: unit=..."
        )
    if unit is not None and len(given) != 1:
        number = "neither" if not given else "both"
        problem = f"unit must be given with rows or groups, which bound what a person contributes, got {number}"
        raise InputError(problem, "unit", "say how many rows of each person count: rows=...")


def _given(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


def _column_entries(columns: Mapping[str, str] | None, missing: Mapping[str, Iterable[str]] | None) -> dict[str, Any]:
    """Kinds of columns and texts that mean NULL, as a plan has them."""
    kinds = plain(_check_mapping(columns, "columns", '{"age": "integer"}'), "columns")
    markers = plain(_check_mapping(missing, "missing", '{"age": ["NA", "."]}'), "missing")
    for name, kind in kinds.items():
        if kind not in KIND_NAMES:
            message = f"columns must have kinds among {', '.join(KIND_NAMES)}, got another for {str(name)[:60]!r}"
            similar = similar_name(str(kind), KIND_NAMES)
            raise InputError(message, "columns", similar and f"did you mean {similar}?")
    undeclared = [name for name in markers if name not in kinds]
    if undeclared:
        raise InputError(
            "missing must name columns whose kinds are declared, got another", "missing", "add its kind to columns"
        )
    return {name: {"kind": kind, "missing": markers[name]} if name in markers else kind for name, kind in kinds.items()}


def _check_mapping(value: object, argument: str, example: str) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        message = f"{argument} must be a mapping of columns, got {type(value).__name__}"
        raise InputError(message, argument, f"write {example}")
    return {} if value is None else value


def _part_entry(part: object) -> dict[str, Any] | None:
    if part is None:
        return None
    if not isinstance(part, Mapping) or len(part) != 1:
        raise InputError("part must be one column with its value", "part", 'write part={"region": "north"}')
    ((column, value),) = plain(part, "part").items()
    return {"column": column, "equals": value}


def _parse_head(content: Mapping[str, Any], folder: Path) -> Plan:
    """A plan without queries from its tables; errors name the arguments of Python."""
    try:
        return plans.plan_head({"neighbours": "add-remove", "budget": "-", **content}, folder)
    except InputError as problem:
        raise _about_argument(problem) from None


def _about_argument(problem: InputError) -> InputError:
    """An error about a key of a plan as one about the argument that it was given as."""
    field = problem.field or ""
    argument = ARGUMENTS.get(field, field.rpartition(".")[2])
    context = None if problem.context in PLAN_CONTEXTS else problem.context
    return InputError(problem.message, argument or None, problem.hint, context=context)


def _check_location(source: Source, folder: Path) -> None:
    """Refuse a location that no engine reads, and a file that is not there."""
    is_text = source.location not in sources.SAMPLE_FILES and source.data is None
    if is_text and registry.find_kind(source.location, source.engine) is None:
        locations = registry.describe_locations(*sources.SAMPLE_FILES)
        raise InputError(f"data must be {locations} or a data frame, got {source.name!r}", "data")
    source.reader  # noqa: B018  # the engine that is asked for reads it
    if is_text and source.kind.is_file and not (folder / source.location).exists():
        message = f"data must be a file that exists, got {source.name!r}"
        raise InputError(message, "data", "paths are relative to the working folder")
