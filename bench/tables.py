"""Answers about ten million rows beside what they cost without privacy and beside a peer, all on one file in one run.

10^7 rows, 10^6 persons, 20 groups, in a Parquet file that DuckDB writes once into a temporary directory. Each
measurement runs in a process of its own, so that its peak memory is its own. `python bench/tables.py` prints the table.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

ROWS, PERSONS, GROUPS, BOUND = 10**7, 10**6, 20, 3
REPEATS = 3
HEADER = ["what", "seconds", "ratio to the plain count", "ratio to bounding alone", "peak memory"]


def best_time(task: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Least seconds of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def write_rows(path: Path) -> None:
    """The file: persons and groups are drawn by hashes of the row's number."""
    import duckdb

    rows = f"""
        SELECT (hash(i) % {PERSONS})::BIGINT AS person, (hash(i + {ROWS}) % {GROUPS})::BIGINT AS "group",
               (hash(i + {2 * ROWS}) % 1000)::BIGINT AS amount
        FROM range({ROWS}) AS numbers(i)
    """
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")


def count_without_privacy(path: Path) -> float:
    """A count of each group by DuckDB alone: the limit, without any privacy."""
    import duckdb

    with duckdb.connect() as connection:
        query = f"SELECT \"group\", count(*) FROM read_parquet('{path}') GROUP BY 1"
        return best_time(lambda: connection.execute(query).fetchall())


def bound_contributions(path: Path) -> float:
    """At most three rows a person, kept at random and written to a table: the limit with privacy."""
    from utmost.data.contribution_bounds import keep_rows, salt
    from utmost.data.queries import PrivacyUnit
    from utmost.data.sources import Source, open_table

    with open_table(Source(path.name), path.parent) as table:
        rows = table._rows.select(p=table._rows["person"], v0=table._rows["group"])
        engine, unit = table._engine, PrivacyUnit("person", rows=BOUND)
        return best_time(
            lambda: engine.fetch(
                f"CREATE OR REPLACE TABLE kept AS {engine.sql(keep_rows(rows, ['v0'], unit, salt(None), engine.name))}"
            )
        )


def exact_answer(path: Path, kind: str, **bound: int) -> float:
    """The exact answer of utmost, ready for noise."""
    from fractions import Fraction

    from utmost.data.queries import Count, Grid, Histogram, PrivacyUnit, Sum
    from utmost.data.sources import Source, open_table

    unit, grid = PrivacyUnit("person", **bound), Grid(Fraction(0), Fraction(1000), Fraction(5))
    with open_table(Source(path.name), path.parent) as table:
        answers: dict[str, Callable[[], Any]] = {
            "count": lambda: table.count(Count("amount < 500"), unit, None),
            "histogram": lambda: table.histogram(Histogram({"group": tuple(range(GROUPS))}), unit, None),
            "sum": lambda: table.moments(Sum("amount", grid, None), unit, None),
        }
        return best_time(answers[kind])


def opendp_release(path: Path, is_by_groups: bool) -> float:
    """OpenDP's noisy counts with the same bound, through Polars; by groups it keeps the first ones, not random ones."""
    import warnings

    import opendp.prelude as dp
    import polars as pl

    warnings.simplefilter("ignore")
    dp.enable_features("contrib")
    keys = pl.LazyFrame({"group": list(range(GROUPS))}, schema={"group": pl.Int64})

    def release() -> Any:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path).select("person", "group"),
            privacy_unit=dp.unit_of(contributions=1, identifier="person"),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
        )
        query = context.query()
        if is_by_groups:
            query = query.truncate_per_group(1, by=["group"]).truncate_num_groups(BOUND, by=["group"], keep="first")
        else:
            query = query.truncate_per_group(BOUND)
        return query.group_by("group").agg(dp.len()).with_keys(keys).release().collect()

    return best_time(release)


TASKS: dict[str, Callable[[Path], float]] = {
    "DuckDB, count of each group, not private": count_without_privacy,
    "bounding alone, 3 rows a person, written to a table": bound_contributions,
    "utmost, histogram, 3 rows a person": lambda path: exact_answer(path, "histogram", rows=BOUND),
    "utmost, histogram, 3 groups a person": lambda path: exact_answer(path, "histogram", groups=BOUND),
    "utmost, sum, 3 rows a person": lambda path: exact_answer(path, "sum", rows=BOUND),
    "utmost, count, 3 rows a person": lambda path: exact_answer(path, "count", rows=BOUND),
    "OpenDP, histogram, 3 rows a person": lambda path: opendp_release(path, False),
    "OpenDP, histogram, first 3 groups a person": lambda path: opendp_release(path, True),
}


def missing_requirement() -> str | None:
    """What OpenDP lacks here; None if it can be measured. It reads the plans of one release of Polars only."""
    try:
        required = next(line for line in requires("opendp") or [] if line.startswith("polars==")).split(";")[0].strip()
        installed = f"polars=={version('polars')}"
    except (ImportError, StopIteration):
        return "pip install 'opendp[polars]'"
    return None if installed == required else f"needs {required}, found {installed}"


def measure(name: str, path: Path) -> dict[str, float]:
    """One task in its own process: seconds and peak megabytes."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    process = subprocess.run([sys.executable, __file__, name, str(path)], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return result


def run_child(name: str, path: Path) -> None:
    """What the process of one task does."""
    seconds = TASKS[name](path)
    print(json.dumps({"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def table_rows() -> list[list[str]]:
    """Rows of a table: what, seconds, ratios to the plain count and to bounding alone, peak memory."""
    missing = missing_requirement()
    with tempfile.TemporaryDirectory(prefix="utmost-bench-") as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path)
        names = [name for name in TASKS if missing is None or not name.startswith("OpenDP")]
        measurements = {name: measure(name, path) for name in names}
    plain_seconds, bounding_seconds = (result["seconds"] for result in list(measurements.values())[:2])
    return [
        [
            name,
            f"{result['seconds']:.2f} s",
            f"{result['seconds'] / plain_seconds:.1f}×",
            f"{result['seconds'] / bounding_seconds:.2f}×",
            f"{result['megabytes']:.0f} MB",
        ]
        for name, result in measurements.items()
    ] + ([] if missing is None else [["OpenDP", f"not measured: {missing}", "", "", ""]])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_child(sys.argv[1], Path(sys.argv[2]))
    else:
        for line in [HEADER, *table_rows()]:
            print(" | ".join(line))
