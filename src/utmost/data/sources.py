"""The source of a table, and opening it.

A location is a path to a .csv, .parquet, .duckdb or .ddb file, relative to the plan's folder; postgresql://…;
bundled:anes96; or nothing, for a table in the catalogue of a running Spark session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from utmost.data.engines import OpenedTable
from utmost.data.engines.csv_scan import count_rows
from utmost.data.engines.csv_types import read_layout
from utmost.data.table import Table
from utmost.errors import InputError

SAMPLE_FILES = {"bundled:anes96": "anes96.csv"}
ANES96_COLUMNS = ("popul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income", "vote")
POSTGRES_PREFIXES = ("postgresql://", "postgres://")
KIND_BY_SUFFIX = {".csv": "csv", ".parquet": "parquet", ".duckdb": "duckdb", ".ddb": "duckdb"}
ENGINES_BY_KIND = {"csv": ("duckdb", "spark"), "parquet": ("duckdb", "spark"), "duckdb": ("duckdb",)}
ENGINES_BY_KIND |= {"postgres": ("postgres",), "catalogue": ("spark",)}


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """A location, the table in it, the engine that reads it, and the kinds of a CSV file's columns.

    >>> Source("postgresql://ann:secret@db.example/survey", table="people")
    Source(postgresql://db.example/survey, table='people')
    """

    location: str = ""
    table: str | None = None
    engine: str | None = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def kind(self) -> str:
        """csv, parquet, duckdb, postgres or catalogue."""
        if self.location.startswith(POSTGRES_PREFIXES):
            return "postgres"
        if self.location in SAMPLE_FILES:
            return "csv"
        if not self.location and self.engine == "spark":
            return "catalogue"
        kind = KIND_BY_SUFFIX.get(Path(self.location).suffix.lower())
        if kind is None or "://" in self.location:
            raise InputError(
                "location must be a .csv, .parquet, .duckdb or .ddb file, postgresql://… or bundled:anes96, "
                f'got {self.name!r}: with engine = "spark" it may be left out, for a table of the catalogue'
            )
        return kind

    @property
    def name(self) -> str:
        """The location as it may be shown: a file's name, or a database without user, password and options."""
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

    def __repr__(self) -> str:
        """The source without a password."""
        table = f", table={self.table!r}" if self.table is not None else ""
        engine = f", engine={self.engine!r}" if self.engine is not None else ""
        return f"Source({self.name}{table}{engine})"


@contextmanager
def open_table(source: Source, folder: Path) -> Iterator[Table]:
    """The table, to be asked while the context lasts. Everything is read-only; paths are relative to `folder`.

    >>> from utmost.data.queries import Count, PrivacyUnit
    >>> with open_table(Source("bundled:anes96"), Path(".")) as table:
    ...     table.count(Count("vote = 0"), PrivacyUnit(), None)
    551
    """
    _check_options(source)
    with _source_path(source, folder) as path, _connect(source, path) as opened:
        guessed_columns = (
            frozenset(opened.rows.columns) - frozenset(_declared_kinds(source)) if source.kind == "csv" else frozenset()
        )
        yield Table(opened.engine, opened.rows, None, guessed_columns, opened.texts, opened.database)


def list_tables(source: Source, folder: Path) -> list[str]:
    """The tables of a DuckDB file; none where the source is a table by itself."""
    if source.kind != "duckdb":
        return []
    from utmost.data.engines import duckdb

    with _source_path(source, folder) as path:
        return duckdb.list_tables(path)


def _declared_kinds(source: Source) -> Mapping[str, str]:
    """The kinds of a CSV file's columns that are known without its rows."""
    return dict.fromkeys(ANES96_COLUMNS, "integer") if source.location in SAMPLE_FILES else source.columns


def _check_options(source: Source) -> None:
    """See that engine, table and columns go with the location."""
    engines = ENGINES_BY_KIND[source.kind]
    if source.engine is not None and source.engine not in engines:
        raise InputError(
            f"engine must be {' or '.join(engines)} for {source.name!r}, got {source.engine!r}: leave it out"
        )
    if source.columns and source.kind != "csv":
        raise InputError(f"columns must be left out for {source.name!r}: only a CSV file has no types of its own")
    if source.table is not None and source.kind in ("csv", "parquet"):
        raise InputError(f"table must be left out for {source.name!r}: the file is the table")


@contextmanager
def _source_path(source: Source, folder: Path) -> Iterator[Path]:
    """The file of the source, which exists; the folder itself where the source is no file."""
    if source.location in SAMPLE_FILES:
        with as_file(files("utmost.data").joinpath(SAMPLE_FILES[source.location])) as path:
            yield path
        return
    if source.kind in ("postgres", "catalogue"):
        yield folder
        return
    path = (folder / source.location).resolve()
    if not (path.is_file() or (path.is_dir() and source.kind == "parquet")):
        raise InputError(
            f"location must be a file that exists, got {source.name!r}: paths are relative to the plan's folder"
        )
    if path.is_dir() and not all(entry.is_file() or entry.is_dir() for entry in path.glob("*.parquet")):
        raise InputError(f"location must be a folder of files, got {source.name!r} with a pipe in it: remove it")
    yield path


def _connect(source: Source, path: Path) -> AbstractContextManager[OpenedTable]:
    kind = source.kind
    if kind == "postgres":
        from utmost.data.engines import postgres

        return postgres.open_database(source.location, source.table)
    if source.engine == "spark":
        from utmost.data.engines import spark

        if kind == "csv":
            return spark.open_csv(path, read_layout(path, _declared_kinds(source)), count_rows(path))
        return spark.open_parquet(path) if kind == "parquet" else spark.open_catalogue(source.table)
    from utmost.data.engines import duckdb

    if kind == "csv":
        return duckdb.open_csv(path, read_layout(path, _declared_kinds(source)), count_rows(path))
    return duckdb.open_parquet(path) if kind == "parquet" else duckdb.open_database(path, source.table)
