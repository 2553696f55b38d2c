"""Public keys in a file: a plan may name a file and a column of it in the place of a list of keys.

The values are read when the plan is, before anything is charged, and take the place of the name: they are in the plan's
digest and in the release. They are published as they are, so the file must be a public one, never the table itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.data import sources
from utmost.data.cells import MAX_CELLS
from utmost.data.selection import Key
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe, is_part_of
from utmost.exact.input_text import CONTROL_CHARACTER, Fields

KEY_FILE_SUFFIXES = (".csv", ".parquet")


def names_key_file(value: object) -> bool:
    """Does the entry of a column in `keys` name a file."""
    return isinstance(value, Mapping)


def load_key_files(content: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The content of a plan with the values of key files in the place of their names."""
    queries = content.get("query")
    if not isinstance(queries, list) or not any(_has_key_file(query) for query in queries):
        return content
    loaded = [_load_query_keys(query, folder, content) if _has_key_file(query) else query for query in queries]
    return {**content, "query": loaded}


def check_no_key_files(content: Mapping[str, Any]) -> None:
    """Refuse a plan that names a key file, where whoever wrote it may not read files."""
    queries = content.get("query")
    if isinstance(queries, list) and any(_has_key_file(query) for query in queries):
        raise InputError("keys must be listed here, got the name of a file", "keys", "write them out")


def _has_key_file(query: object) -> bool:
    keys = query.get("keys") if isinstance(query, Mapping) else None
    return isinstance(keys, Mapping) and any(names_key_file(value) for value in keys.values())


def _load_query_keys(query: Mapping[str, Any], folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    source = content.get("source")
    location = source.get("location") if isinstance(source, Mapping) else None
    private = None if not isinstance(location, str) else (folder / location).resolve()
    label = f'query "{str(query.get("name"))[:60]}"'
    keys = {
        column: _read_keys(Fields(value, label, "", f"keys.{column}."), folder, private)
        if names_key_file(value)
        else value
        for column, value in query["keys"].items()
    }
    return {**query, "keys": keys}


def _read_keys(fields: Fields, folder: Path, private: Path | None) -> list[Key]:
    """The values of a column of a public file, each once, in order; missing ones are left out."""
    location, column, kind = fields.text("location"), fields.text("column"), fields.text("kind", None)
    fields.finish()
    if not location.lower().endswith(KEY_FILE_SUFFIXES):
        raise fields.error("location", "must be a CSV or Parquet file", "list the keys instead")
    if private is not None and is_part_of(folder / location, private):
        raise fields.error(
            "location", "must be a public file, got the table itself", "keys taken from it tell who is in it"
        )
    try:
        check_no_named_pipe(folder / location, "location")
        with sources.open_table(Source(location, columns={} if kind is None else {column: kind}), folder) as table:
            keys = table.public_values(column, MAX_CELLS + 1)
    except InputError as problem:
        raise fields.locate(problem) from None
    if not 1 <= len(keys) <= MAX_CELLS:
        raise fields.error("column", f"must have from 1 to {MAX_CELLS} different values, got another number")
    if any(isinstance(key, str) and CONTROL_CHARACTER.search(key) for key in keys):
        raise fields.error("column", "must have texts without control characters", "no release with one can be read")
    return keys
