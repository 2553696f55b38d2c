"""All engines, and which of them reads a location. A new engine is a module here and a line in `ENGINES`."""

from __future__ import annotations

from pathlib import PurePath

from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.engine import Engine, LocationKind
from utmost.data.engines.frames import FRAMES
from utmost.data.engines.postgres import POSTGRES
from utmost.data.engines.spark import SPARK

ENGINES: tuple[Engine, ...] = (  # the first that reads a kind of location does so where a plan names none
    DUCKDB,
    FRAMES,
    POSTGRES,
    SPARK,
)


def location_kinds() -> list[LocationKind]:
    """The kinds of locations that some engine reads and a plan can name."""
    kinds = (kind for engine in ENGINES for kind in engine.kinds if not kind.is_in_memory)
    return list(dict.fromkeys(kinds))


def find_kind(location: str, engine_name: str | None = None) -> LocationKind | None:
    """The kind of a location, None if no engine reads it; the engine decides where there is no location.

    >>> find_kind("people.csv").name, find_kind("", "spark").name, find_kind("people.txt")
    ('csv', 'catalogue', None)
    """
    if not location:
        kinds = [kind for engine in ENGINES if engine.name == engine_name for kind in engine.kinds]
        return next((kind for kind in kinds if kind.needs_no_location), None)
    for kind in location_kinds():
        if kind.prefixes and location.startswith(kind.prefixes):
            return kind
    suffix = PurePath(location).suffix.lower()
    return next((kind for kind in location_kinds() if suffix in kind.suffixes and "://" not in location), None)


def engines_for(kind: LocationKind) -> list[Engine]:
    """The engines that read a kind of location; the first is the one that does where a plan names none."""
    return [engine for engine in ENGINES if kind in engine.kinds]


def describe_locations(*others: str) -> str:
    """What a location can be, in words, with locations of other kinds last.

    >>> describe_locations("bundled:anes96")
    'a .csv, .parquet, .duckdb or .ddb file, postgresql://… or bundled:anes96'
    """
    suffixes = [suffix for kind in location_kinds() for suffix in kind.suffixes]
    prefixes = [f"{kind.prefixes[0]}…" for kind in location_kinds() if kind.prefixes]
    return _join_or([f"a {_join_or(suffixes)} file", *prefixes, *others])


def describe_missing_locations() -> str:
    """Which engine needs no location, and what it reads then.

    >>> describe_missing_locations()
    'with engine = "spark" it may be left out, for a table of the catalogue'
    """
    return "; ".join(
        f'with engine = "{engine.name}" it may be left out, for {kind.words}'
        for engine in ENGINES
        for kind in engine.kinds
        if kind.needs_no_location
    )


def _join_or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
