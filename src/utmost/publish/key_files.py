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
from utmost.data.engines.schema import show_name
from utmost.data.selection import Key
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe, is_part_of
from utmost.exact.input_text import CONTROL_CHARACTER, Fields

KEY_FILE_SUFFIXES = (".csv", ".parquet")
COLUMNS, CELLS, LOCATION, KINDS = "columns", "cells", "location", "kinds"  # keys of listed combinations
FILE_KEYS = (COLUMNS, LOCATION, KINDS)


def names_key_file(value: object) -> bool:
    """Does the entry of a column in `keys` name a file."""
    return isinstance(value, Mapping)


def lists_combinations(keys: Mapping[str, Any]) -> bool:
    """Do the `keys` of a table list combinations of several columns, or name a file that has them."""
    has_rows = CELLS in keys or isinstance(keys.get(LOCATION), str)
    return isinstance(keys.get(COLUMNS), list) and has_rows


def load_key_files(content: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The content of a plan with the values of key files in the place of their names."""
    loaded = {}
    for section, label in (("query", "query"), ("table", "table")):
        entries = content.get(section)
        if isinstance(entries, list) and any(_has_key_file(entry) for entry in entries):
            loaded[section] = [
                _load_query_keys(entry, folder, content, label) if _has_key_file(entry) else entry for entry in entries
            ]
    return {**content, **loaded} if loaded else content


def check_no_key_files(content: Mapping[str, Any]) -> None:
    """Refuse a plan that names a key file, where whoever wrote it may not read files."""
    for section in ("query", "table"):
        entries = content.get(section)
        if isinstance(entries, list) and any(_has_key_file(entry) for entry in entries):
            raise InputError("keys must be listed here, got the name of a file", "keys", "write them out")


def _has_key_file(query: object) -> bool:
    keys = query.get("keys") if isinstance(query, Mapping) else None
    if not isinstance(keys, Mapping):
        return False
    return _names_combination_file(keys) or any(names_key_file(value) for value in keys.values())


def _names_combination_file(keys: Mapping[str, Any]) -> bool:
    return lists_combinations(keys) and CELLS not in keys


def _load_query_keys(
    query: Mapping[str, Any], folder: Path, content: Mapping[str, Any], section: str
) -> dict[str, Any]:
    source = content.get("source")
    location = source.get("location") if isinstance(source, Mapping) else None
    private = None if not isinstance(location, str) else (folder / location).resolve()
    label, entries = f'{section} "{str(query.get("name"))[:60]}"', query["keys"]
    combined = {}
    if section == "table" and _names_combination_file(entries):
        fields = Fields({key: entries[key] for key in FILE_KEYS if key in entries}, label, "", "keys.")
        combined = {COLUMNS: entries[COLUMNS], CELLS: _read_combinations(fields, folder, private)}
        entries = {column: value for column, value in entries.items() if column not in FILE_KEYS}
    keys = {
        column: _read_keys(Fields(value, label, "", f"keys.{column}."), folder, private)
        if names_key_file(value)
        else value
        for column, value in entries.items()
    }
    return {**query, "keys": combined | keys}


def _read_combinations(fields: Fields, folder: Path, private: Path | None) -> list[list[Any]]:
    """The combinations of columns of a public file, each once, in the order of the keys; a missing key is refused."""
    location, columns, kind_fields = fields.text(LOCATION), fields.items(COLUMNS), fields.table(KINDS, {})
    kinds = {column: kind_fields.text(column) for column in kind_fields.columns()}
    fields.finish()
    _check_public(fields, location, folder, private)
    if not columns or not all(isinstance(column, str) for column in columns) or len(set(columns)) < len(columns):
        raise fields.error(COLUMNS, "must be a list of different columns, the coarsest first")
    try:
        check_no_named_pipe(folder / location, LOCATION)
        with sources.open_table(Source(location, columns=kinds), folder) as table:
            rows = table.public_combinations(columns, MAX_CELLS + 1)
    except InputError as problem:
        raise fields.locate(problem) from None
    if not 1 <= len(rows) <= MAX_CELLS:
        raise fields.error(COLUMNS, f"must have from 1 to {MAX_CELLS} different combinations, got another number")
    for row in rows:
        for column, key in zip(columns, row, strict=True):
            if key is None:
                missing = (
                    f"must have no missing value, got a row without {column[:40]}: its cell is in no {column[:40]}"
                )
                raise fields.error(COLUMNS, missing, "fill it in, or take the row out of the file")
            if isinstance(key, str) and CONTROL_CHARACTER.search(key):
                raise fields.error(COLUMNS, "must have texts without control characters", "no release has them")
    return [list(row) for row in rows]


def _check_public(fields: Fields, location: str, folder: Path, private: Path | None) -> None:
    """Refuse a file that is no public table of keys."""
    if not location.lower().endswith(KEY_FILE_SUFFIXES):
        raise fields.error("location", "must be a CSV or Parquet file", "list the keys instead")
    if private is not None and is_part_of(folder / location, private):
        raise fields.error(
            "location", "must be a public file, got the table itself", "keys taken from it tell who is in it"
        )


def _read_keys(fields: Fields, folder: Path, private: Path | None) -> list[Key]:
    """The values of a column of a public file, each once, in order; missing ones are left out.

    One that does not fit a stated kind is refused: its cell would be missing without a word.
    """
    location, column, kind = fields.text("location"), fields.text("column"), fields.text("kind", None)
    fields.finish()
    _check_public(fields, location, folder, private)
    try:
        check_no_named_pipe(folder / location, "location")
        with sources.open_table(Source(location, columns={} if kind is None else {column: kind}), folder) as table:
            keys = table.public_values(column, MAX_CELLS + 1)
            misfits = table.frequent_misfits(column, 1) if column in table.unreadable({column}) else []
    except InputError as problem:
        raise fields.locate(problem) from None
    if misfits:
        mismatch = f"must fit every value of the column, got {kind} and a value {show_name(misfits[0][0])}"
        raise fields.error("kind", mismatch, "take the value out of the file, or say another kind")
    if not 1 <= len(keys) <= MAX_CELLS:
        raise fields.error("column", f"must have from 1 to {MAX_CELLS} different values, got another number")
    if any(isinstance(key, str) and CONTROL_CHARACTER.search(key) for key in keys):
        raise fields.error("column", "must have texts without control characters", "no release with one can be read")
    return keys
