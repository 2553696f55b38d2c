"""`utmost obfuscate` beside reading and writing the same columns with pyarrow alone: rows a second, ratio, peak memory.

Each measurement runs in a process of its own. `python bench/local.py` prints the table; `python bench/local.py 1000000`
for that many rows only. Files lie in a temporary folder; about 700 MB of disk for five million rows.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SIZES = (10**6, 5 * 10**6)
KINDS = ("csv", "parquet")
COLUMNS = {"planar": ["east", "north"], "response": ["vote"]}
BATCH_ROWS = 1 << 20


def prepare(folder: Path, rows: int) -> None:
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


def run_child(folder: str, kind: str, law: str, method: str) -> None:
    """One measurement: the better of two runs, and the peak memory of the process."""
    source, target = Path(folder) / f"in.{kind}", Path(folder) / f"out.{kind}"
    tasks: dict[str, Callable[[], None]] = {
        "alone": lambda: copy_columns(source, target, COLUMNS[law]),
        "shuffled": lambda: run_obfuscation(source, target, law, False),
        "in order": lambda: run_obfuscation(source, target, law, True),
    }
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        tasks[method]()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": min(seconds), "megabytes": peak_megabytes()}))


def peak_megabytes() -> float:
    """The most memory this process had: Linux's own figure, since getrusage counts what a parent had before."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: str, kind: str, law: str, method: str) -> dict[str, float]:
    """One measurement in its own process."""
    command = [sys.executable, __file__, folder, kind, law, method]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    measurement: dict[str, float] = json.loads(process.stdout)
    return measurement


def table_rows(size: int) -> list[list[str]]:
    """Rows of the table for one number of rows."""
    lines = []
    with TemporaryDirectory() as folder:
        prepare(Path(folder), size)
        for law in COLUMNS:
            for kind in KINDS:
                baseline = measure(folder, kind, law, "alone")
                for method in ("shuffled", "in order"):
                    measurement = measure(folder, kind, law, method)
                    lines.append([
                        f"{size:.0e}".replace("e+0", "·10^"), f"{law}, {kind}, {method}",
                        f"{measurement['seconds']:.2f} s",
                        f"{size / measurement['seconds'] / 1e6:.2f} M/s", f"{baseline['seconds']:.2f} s",
                        f"{measurement['seconds'] / baseline['seconds']:.1f}×", f"{measurement['megabytes']:.0f} MB",
                        f"{baseline['megabytes']:.0f} MB",
                    ])  # fmt: skip
    return lines


def report(sizes: tuple[int, ...] = SIZES) -> str:
    """The Markdown table."""
    header = ["rows", "what", "time", "rows a second", "pyarrow alone", "ratio", "peak memory", "pyarrow's"]
    lines = [header, ["---"] * len(header), *(row for size in sizes for row in table_rows(size))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Measure and print."""
    print(report(tuple(map(int, sys.argv[1:])) or SIZES))


if __name__ == "__main__":
    run_child(*sys.argv[1:]) if len(sys.argv) == 5 else main()
