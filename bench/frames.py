"""Whole releases of ten million rows in a data frame, beside the same rows in one Parquet file.

10^7 rows of a person, a region, a value, a day and a flag; 10^6 persons, of each of whom 3 rows count: a histogram of
20 regions, and the mean of the value in each of them among the rows with the flag. A release goes from its plan to its
file, the ledger included; that of a frame copies the columns that it uses. Both are released in turn, in one process
that has the frame already. `python bench/frames.py` prints the table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import measuring
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, inner_ratio

REPEATS, BOUND, REGIONS, HIGH = 3, 3, 20, 1000
ROWS, PERSONS = (10**4, 10**3) if QUICK else (10**7, 10**6)
EPSILON, CEILING = "1", 1.2
FILE = "frames.parquet"
KEYS = {"region": [f"region {number}" for number in range(REGIONS)]}
QUESTIONS: dict[str, dict[str, Any]] = {
    "histogram of 20 regions": {"kind": "histogram", "keys": KEYS, "epsilon": EPSILON},
    "means of 20 regions": {
        "kind": "mean", "column": "value", "low": 0, "high": HIGH, "step": 1, "nulls": "drop", "where": "flag",
        "keys": KEYS, "epsilon": EPSILON,
    },
}  # fmt: skip
HEADER = ["what", "the frame", "the Parquet file", "frame ÷ file"]


def write_rows(folder: Path, names: list[str]) -> None:
    """The file: all columns are drawn by hashes of the row's number."""
    import duckdb

    draws = [f"hash(i + {column * ROWS})" for column in range(5)]
    rows = f"""
        SELECT ({draws[0]} % {PERSONS})::BIGINT AS person, 'region ' || ({draws[1]} % {REGIONS}) AS region,
               ({draws[2]} % {HIGH * 100})::DOUBLE / 100 AS value,
               DATE '2020-01-01' + ({draws[3]} % 1000)::INTEGER AS day, {draws[4]} % 2 = 0 AS flag
        FROM range({ROWS}) AS numbers(i)
    """
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{folder / FILE}' (FORMAT parquet)")


def read_arrow(path: Path) -> Any:
    """The rows as a pyarrow table."""
    import pyarrow.parquet as pq

    return pq.read_table(path)


def read_pandas(path: Path) -> Any:
    """The rows as a pandas frame, the region as a categorical column and the day as a time."""
    import pandas as pd
    import pyarrow.parquet as pq

    frame = pq.read_table(path, read_dictionary=["region"]).to_pandas(date_as_object=False)
    assert isinstance(frame["region"].dtype, pd.CategoricalDtype)
    return frame


def read_polars(path: Path) -> Any:
    """The rows as a polars frame."""
    import polars as pl

    return pl.read_parquet(path)


LIBRARIES: dict[str, Callable[[Path], Any]] = {"pandas": read_pandas, "polars": read_polars, "pyarrow": read_arrow}


def release_seconds(question: str, source: dict[str, Any], data: Any) -> float:
    """The seconds of a whole release, in a folder of its own with a new ledger in which its budget is open."""
    from utmost import ledger
    from utmost.publish.execute import release

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ledger.open_ledger("ledger.sqlite", folder) as budgets:
            budgets.open(ledger.Budget("bench", Fraction(EPSILON), unit="person", neighbours="add-remove"))
        plan = {
            "neighbours": "add-remove",
            "budget": "bench",
            "ledger": str(folder / "ledger.sqlite"),
            "output": str(folder / "bench.release.json"),
            "source": source,
            "unit": {"column": "person", "rows": BOUND},
            "query": [{"name": question, **QUESTIONS[question]}],
        }
        return measuring.best_time(lambda: release(plan, data=data), 1)[0]


def run_task(question: str, library: str, folder: Path) -> Measurement:
    """The least seconds of a frame and of the file, after one release of each that is not counted."""
    path = folder / FILE
    frame = LIBRARIES[library](path)
    file_source = {"location": str(path)}
    pairs = [
        (release_seconds(question, {}, frame), release_seconds(question, file_source, None))
        for _ in range(1 if QUICK else 1 + REPEATS)
    ]
    frame_times, file_times = zip(*(pairs if QUICK else pairs[1:]), strict=True)
    return {"seconds": min(frame_times), "file": min(file_times)}


def task_name(question: str, library: str) -> str:
    """The name of a task."""
    return f"{question}, {library}"


def table_row(question: str, library: str, measurement: Measurement) -> list[str]:
    """A line of the table; it says why there is no measurement."""
    name = f"{question}: {library}"
    if "missing" in measurement:
        return [name, measurement["missing"], "", ""]
    seconds, file_seconds = measurement["seconds"], measurement["file"]
    return [name, f"{seconds:.2f} s", f"{file_seconds:.2f} s", f"{seconds / file_seconds:.2f}×"]


def report(measurements: Measurements) -> Blocks:
    """The table."""
    rows = [
        table_row(question, library, measurements[task_name(question, library)])
        for question in QUESTIONS
        for library in LIBRARIES
    ]
    return {"frames": measuring.markdown_table(HEADER, rows)}


def frame_ratio(question: str, library: str) -> Figure:
    """The time of a frame as a ratio of that of the file."""
    name = f"{question}, {library} frame ÷ Parquet file"
    return inner_ratio(name, task_name(question, library), "seconds", "file", CEILING, quick=False)


SECTION = Section(
    "frames",
    {
        task_name(question, library): lambda folder, question=question, library=library: run_task(
            question, library, folder
        )
        for question in QUESTIONS
        for library in LIBRARIES
    },
    [frame_ratio(question, library) for question in QUESTIONS for library in LIBRARIES],
    report,
    write_rows,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
