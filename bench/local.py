"""`utmost obfuscate` beside reading and writing the same columns with pyarrow alone: rows a second, ratio, peak memory.

`python bench/local.py` prints the table. Files lie in a temporary folder; about 700 MB of disk for five million rows.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import measuring
from measuring import QUICK, Blocks, Measurement, Measurements, Section, ratio

SIZES = (10**4,) if QUICK else (10**6, 5 * 10**6)
KINDS = ("csv", "parquet")
COLUMNS = {"planar": ["east", "north"], "response": ["vote"]}
METHODS = ("alone", "shuffled", "in order")
BATCH_ROWS = 1 << 20
HEADER = ["rows", "what", "time", "rows a second", "pyarrow alone", "ratio", "peak memory", "pyarrow's"]


def write_people(folder: Path, rows: int) -> None:
    """A table of people: an id, a name, a place in kilometres to the metre, a vote; as CSV and as Parquet."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    random = np.random.default_rng(rows)
    kinds = {"id": pa.int64(), "name": pa.string(), "east": pa.float64(), "north": pa.float64(), "vote": pa.int64()}
    schema, text, binary = pa.schema(kinds), folder / "in.csv", folder / "in.parquet"
    with csv.CSVWriter(text, schema) as lines, parquet.ParquetWriter(binary, schema) as groups:
        for start in range(0, rows, BATCH_ROWS):
            count = min(BATCH_ROWS, rows - start)
            ids = np.arange(start, start + count)
            positions = random.normal(0, 10, (2, count)).round(3)
            names = pa.array(np.char.add("person ", ids.astype(str)))
            batch = pa.record_batch(
                [ids, names, positions[0], positions[1], random.integers(0, 5, count)], schema=schema
            )
            lines.write_batch(batch)
            groups.write_batch(batch)


def copy_columns(source: Path, target: Path, columns: list[str]) -> None:
    """The same columns read and written in pieces by pyarrow alone, without noise, order or note."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    if source.suffix == ".csv":
        convert = csv.ConvertOptions(include_columns=columns)
        with csv.open_csv(source, convert_options=convert) as reader, csv.CSVWriter(target, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return
    file = parquet.ParquetFile(source)
    with parquet.ParquetWriter(target, pa.schema([file.schema_arrow.field(name) for name in columns])) as writer:
        for batch in file.iter_batches(columns=columns):
            writer.write_batch(batch)


def run_obfuscation(source: Path, target: Path, law: str, in_order: bool) -> None:
    """The command's work."""
    from fractions import Fraction

    import utmost as ut
    from utmost.publish.local import CategoryMechanism, LocationMechanism, PlaneCoordinates, obfuscate

    if law == "planar":
        mechanism: Any = LocationMechanism(
            "east", "north", ut.epsilon("0.5"), "km", Fraction(1, 100), PlaneCoordinates("km")
        )
    else:
        mechanism = CategoryMechanism("vote", ut.epsilon(1), ("0", "1", "2", "3", "4"))
    obfuscate(mechanism, source, target, in_order=in_order)


def task_name(size: int, law: str, kind: str, method: str) -> str:
    """A task by what it measures."""
    return f"{size}, {law}, {kind}, {method}"


CASES = {task_name(*case): case for case in product(SIZES, COLUMNS, KINDS, METHODS)}


def prepare(folder: Path, names: list[str]) -> None:
    """A folder for each number of rows."""
    for size in {CASES[name][0] for name in names}:
        (folder / str(size)).mkdir()
        write_people(folder / str(size), size)


def run_task(folder: Path, size: int, law: str, kind: str, method: str) -> Measurement:
    """The better of two runs."""
    source, target = folder / str(size) / f"in.{kind}", folder / str(size) / f"{law} {method}.{kind}"

    def task() -> None:
        if method == "alone":
            copy_columns(source, target, COLUMNS[law])
        else:
            run_obfuscation(source, target, law, method == "in order")

    return {"seconds": measuring.best_time(task, 2)[0]}


def table_row(size: int, law: str, kind: str, method: str, measurements: Measurements) -> list[str]:
    """A row of the table."""
    measurement = measurements[task_name(size, law, kind, method)]
    baseline = measurements[task_name(size, law, kind, "alone")]
    digits, zeros = f"{size:.0e}".split("e+0")
    return [
        f"{digits}·10^{zeros}", f"{law}, {kind}, {method}", f"{measurement['seconds']:.2f} s",
        f"{size / measurement['seconds'] / 1e6:.2f} M/s", f"{baseline['seconds']:.2f} s",
        measuring.ratio_text(measurement, baseline, 1), measuring.memory_text(measurement),
        measuring.memory_text(baseline),
    ]  # fmt: skip


def report(measurements: Measurements) -> Blocks:
    """The table."""
    rows = [table_row(*case, measurements) for case in CASES.values() if case[-1] != "alone"]
    return {"local": measuring.markdown_table(HEADER, rows)}


CEILINGS = {("planar", "csv"): 4, ("planar", "parquet"): 6, ("response", "csv"): 4, ("response", "parquet"): 18}

SECTION = Section(
    "local",
    {name: lambda folder, case=case: run_task(folder, *case) for name, case in CASES.items()},
    [
        ratio(
            f"obfuscate, {law}, {kind} ÷ pyarrow",
            task_name(SIZES[0], law, kind, "shuffled"),
            task_name(SIZES[0], law, kind, "alone"),
            ceiling,
        )
        for (law, kind), ceiling in CEILINGS.items()
    ],
    report,
    prepare,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
