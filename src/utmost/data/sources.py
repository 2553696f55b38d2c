"""The source of a table: opening it, or its columns without its rows.

A location is a path, relative to the plan's folder, or what else an engine reads (`engines.registry`): a URL, or
nothing, for a table that an engine knows by name. `bundled:anes96` is a table that comes with utmost.

A table of DuckDB's without its rows: its columns, and how many units it has where that is public.

A plan is checked against the schema as against the table, and nothing can be asked of it. So a table need not be open
while a plan is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from utmost.data import derive
from utmost.data.engines import registry
from utmost.data.engines.csv_types import KIND_PATTERNS
from utmost.data.engines.duckdb import unconnected
from utmost.data.engines.engine import CSV, Engine, Location, LocationKind
from utmost.data.engines.frame_kinds import find_frame_kind
from utmost.data.engines.frames import FRAME
from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.lookup import Lookup, PublicRows, check_public, join_lookup, read_lookup
from utmost.data.predicates import Predicate
from utmost.data.predicates.type_check import unknown_column
from utmost.data.selection import PrivacyUnit
from utmost.data.table import Table
from utmost.errors import InputError

SAMPLE_FILES = {"bundled:anes96": "anes96.csv"}
ANES96_COLUMNS = ("popul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income", "vote")


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """A location, the table in it, the engine that reads it, and the kinds of a CSV file's columns.

    `derive` has the expressions of derived columns, `missing` the texts of a CSV file's columns that mean NULL,
    `lookups` the public tables that columns are taken from. `data` is a data frame, which takes the place of a location
    (`data.frames`).

    >>> Source("postgresql://ann:secret@db.example/survey", table="people")
    Source(postgresql://db.example/survey, table='people')
    """

    location: str = ""
    table: str | None = None
    engine: str | None = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    derive: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    lookups: tuple[Lookup, ...] = ()
    data: object = field(default=None, compare=False)

    @property
    def kind(self) -> LocationKind:
        """What kind of location it is."""
        if self.data is not None:
            return FRAME
        if self.location in SAMPLE_FILES:
            return CSV
        kind = registry.find_kind(self.location, self.engine)
        if kind is None and not self.location:
            problem = "location must be given where there is no data frame, got none"
            raise InputError(
                problem, "location", "add it to [source]; in Python give the frame: ut.release(plan, data=df)"
            )
        if kind is None:
            raise InputError(
                f"location must be {registry.describe_locations(*SAMPLE_FILES)}, got {self.name!r}: "
                f"{registry.describe_missing_locations()}; and in Python, where data is a data frame",
                "location",
            )
        return kind

    @property
    def reader(self) -> Engine:
        """The engine that reads it: the one that the plan names, or the first that can."""
        engines = registry.engines_for(self.kind)
        reader = next((engine for engine in engines if self.engine in (None, engine.name)), None)
        if reader is None:
            names = " or ".join(engine.name for engine in engines)
            raise InputError(f"engine must be {names} for {self.name!r}, got {self.engine!r}", "engine", "leave it out")
        return reader

    @property
    def name(self) -> str:
        """The location as it may be shown: a file's name, or a database without user, password and options."""
        if self.data is not None:
            return find_frame_kind(self.data).title
        if self.location in SAMPLE_FILES or not self.location:
            return self.location or "catalogue"
        if "://" not in self.location:
            return Path(self.location).name
        try:
            url = urlsplit(self.location)
            port = f":{url.port}" if url.port else ""
            return f"{url.scheme}://{url.hostname or ''}{port}{url.path}"
        except ValueError:
            return self.location.partition("://")[0] + "://…"

    def __reduce__(self) -> tuple[type[Source], tuple[Any, ...]]:
        """A pickle of everything; a data frame is refused, since whoever has the pickle would have its rows."""
        if self.data is not None:
            problem = "data must stay in this process, got a plan or a preview of a data frame to be pickled"
            raise InputError(problem, "data", "keep plan.to_toml(), and give the frame again")
        mappings = (dict(self.columns), dict(self.derive), dict(self.missing))
        return Source, (self.location, self.table, self.engine, *mappings, self.lookups)

    def __copy__(self) -> Source:
        """Itself, as nothing in it changes; and no second copy of a frame is made."""
        return self

    def __deepcopy__(self, memo: object) -> Source:
        """Itself too."""
        return self

    def __repr__(self) -> str:
        """The source without a password."""
        table = f", table={self.table!r}" if self.table is not None else ""
        engine = f", engine={self.engine!r}" if self.engine is not None else ""
        return f"Source({self.name}{table}{engine})"


@contextmanager
def open_table(source: Source, folder: Path, used: Set[str] | None = None) -> Iterator[Table]:
    """The table, to be asked while the context lasts. Everything is read-only; paths are relative to `folder`.

    Of a CSV file only the columns that are `used` are read, if all of them are in it; None stands for all columns.

    >>> from utmost.data.selection import Selection
    >>> with open_table(Source("bundled:anes96"), Path(".")) as table:
    ...     table.count(Selection("vote = 0"))
    551
    """
    engine = source.reader
    _check_options(source)
    derivations = derive.parse_derivations(source.derive)
    check_lookups(source, folder)
    public_tables = [read_lookup(lookup, folder) for lookup in source.lookups]
    with (
        _locate(source, folder, None if used is None else source_columns(source, used)) as location,
        engine.open(location) as opened,
    ):
        if source.kind.has_types:
            kinds = {name: column_kind(dtype) for name, dtype in opened.rows.schema().items()}
            _check_declared(source, {**kinds, **opened.unread})
        rows, bases = _add_columns(
            opened.rows, derivations, list(zip(source.lookups, public_tables, strict=True)), engine
        )
        table = Table(opened.connection, rows, None, opened.guessed_columns, opened.texts, opened.database)
        table.lookup_fingerprints = tuple(public_table.fingerprint for public_table in public_tables)
        yield table.with_bases(bases)


def check_lookups(source: Source, folder: Path) -> None:
    """Refuse a lookup in the table itself."""
    for lookup in source.lookups if source.kind.is_file else ():
        check_public(lookup, folder, folder / source.location)


def _add_columns(
    rows: Any, derivations: Mapping[str, Predicate], lookups: Sequence[tuple[Lookup, PublicRows]], engine: Engine
) -> tuple[Any, dict[str, frozenset[str]]]:
    """The table with its new columns, and the columns of the source that each depends on.

    Before each lookup come the derived columns that its key needs; after all of them, the others.
    """
    bases: dict[str, frozenset[str]] = {}
    pending = dict(derivations)
    for lookup, public_rows in lookups:
        needed = derive.needed_columns(pending, lookup.on)
        rows = derive.add_columns(rows, needed, engine)
        bases |= derive.base_columns(needed, bases)
        pending = {name: expression for name, expression in pending.items() if name not in needed}
        rows = join_lookup(rows, lookup, public_rows, engine)
        key_bases = frozenset().union(*(bases.get(column, {column}) for column in lookup.on))
        bases |= dict.fromkeys(lookup.take.values(), key_bases)
    return derive.add_columns(rows, pending, engine), bases | derive.base_columns(pending, bases)


def _new_names(source: Source) -> frozenset[str]:
    """The columns that are added to the table."""
    return frozenset(source.derive) | {name for lookup in source.lookups for name in lookup.take.values()}


def source_columns(source: Source, used: Set[str]) -> Set[str]:
    """The columns of the source itself that the used ones and all new ones are made of."""
    derivations = derive.parse_derivations(source.derive)
    keys = {column for lookup in source.lookups for column in lookup.on}
    needed = set(used) | keys | {name for expression in derivations.values() for name in expression.columns}
    return needed - _new_names(source)


def list_tables(source: Source, folder: Path) -> list[str]:
    """The tables of a database; none where the source is a table by itself."""
    if not source.kind.has_tables:
        return []
    with _locate(source, folder) as location:
        return source.reader.list_tables(location)


@contextmanager
def source_path(source: Source, folder: Path) -> Iterator[Path]:
    """The file of the source, whether it exists or not; the folder itself where the source is no file."""
    if source.location in SAMPLE_FILES:
        with as_file(files("utmost.data").joinpath(SAMPLE_FILES[source.location])) as path:
            yield path.resolve()
        return
    yield (folder / source.location).resolve() if source.kind.is_file else folder


def source_files(source: Source, folder: Path) -> list[Path]:
    """The file of a source and those that belong to it beside it; none of a source that is in no file of the plan's."""
    if source.location in SAMPLE_FILES or not source.kind.is_file:
        return []
    path = (folder / source.location).resolve()
    return [path.with_name(path.name + suffix) for suffix in ("", *source.kind.log_suffixes)]


def _check_options(source: Source) -> None:
    """See that table and columns go with the location."""
    if source.missing and source.kind.has_types:
        raise InputError(
            f"missing must be left out for {source.name!r}: its missing values are NULL",
            "columns",
            "use a derived column",
        )
    if source.table is not None and not source.kind.has_tables:
        raise InputError(f"table must be left out for {source.name!r}: the file is the table", "table")


def _check_declared(source: Source, kinds: Mapping[str, ColumnKind]) -> None:
    """Refuse a declared kind that a column of a typed source does not have: it has one of its own."""
    for name, declared in source.columns.items():
        if name not in kinds:
            raise unknown_column(name, list(kinds), "columns", "columns")
        if kinds[name] != declared:
            problem = f"columns must be of the kinds that {source.name!r} has: {name} is of kind {kinds[name]}"
            raise InputError(problem, "columns", "declare it so, leave it out, or use a derived column")


@contextmanager
def _locate(source: Source, folder: Path, used: Set[str] | None = None) -> Iterator[Location]:
    """The location for its engine; of a file, once it is seen to exist."""
    columns = dict.fromkeys(ANES96_COLUMNS, "integer") if source.location in SAMPLE_FILES else source.columns
    with source_path(source, folder) as path:
        if source.kind.is_file:
            _check_path(path, source)
        used_columns = None if used is None else frozenset(used)
        yield Location(
            source.kind,
            source.location,
            path,
            source.table,
            columns,
            source.missing,
            used_columns,
            _new_names(source),
            source.data,
        )


def _check_path(path: Path, source: Source) -> None:
    pattern = source.kind.folder_pattern
    if not (path.is_file() or (path.is_dir() and pattern is not None)):
        raise InputError(
            f"location must be a file that exists, got {source.name!r}: paths are relative to the plan's folder",
            "location",
        )
    if (
        pattern is not None
        and path.is_dir()
        and not all(entry.is_file() or entry.is_dir() for entry in path.glob(pattern))
    ):
        raise InputError(
            f"location must be a folder of files, got {source.name!r} with a pipe in it", "location", "remove it"
        )


NO_DERIVATIONS: Mapping[str, Predicate] = MappingProxyType({})
DTYPES = {kind: dtype for kind, (_, dtype) in KIND_PATTERNS.items()}
DTYPES |= {
    ColumnKind.TEXT: "string",
    ColumnKind.TRUTH: "boolean",
    ColumnKind.TIME: "timestamp(6)",
}  # a time has DuckDB's microseconds


class TableSchema(Table):
    """The columns of a table; `count_units` returns how many units there are, and is called only under replace.

    The columns of `derivations` (`derive.parse_derivations`) and `lookups` are added as `open_table` adds them.
    """

    def __init__(
        self,
        types: Any,
        count_units: Callable[[PrivacyUnit], int],
        guessed_columns: frozenset[str] = frozenset(),
        derivations: Mapping[str, Predicate] = NO_DERIVATIONS,
        lookups: Sequence[tuple[Lookup, PublicRows]] = (),
    ) -> None:
        connection = unconnected()
        rows = connection.table(dict(types.items()), "sketch")
        rows, bases = _add_columns(rows, derivations, lookups, connection.engine)
        super().__init__(connection, rows, guessed_columns=guessed_columns)
        self._count_units, self._bases = count_units, bases

    def units(self, unit: PrivacyUnit) -> int:
        """How many rows or persons the table has."""
        self._check_unit(unit)
        return self._count_units(unit)


def declared_types(kinds: Mapping[str, ColumnKind]) -> Any:
    """The types that the columns of a CSV file have when these kinds are declared.

    >>> declared_types({"age": ColumnKind.INTEGER})["age"]
    Int64(nullable=True)
    """
    import ibis

    return ibis.schema({name: DTYPES[kind] for name, kind in kinds.items()})
