"""Answers about ten million rows beside what they cost without privacy and beside a peer, all on one file in one run.

10^7 rows, 10^6 persons, 20 groups, in a Parquet file that DuckDB writes once into a temporary directory; and 5·10^6 of
them in a CSV file.
`python bench/tables.py` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import measuring
import peers
from measuring import QUICK, Blocks, Measurement, Measurements, Section, ratio

ROWS, PERSONS, GROUPS, BOUND = (10**4, 10**3, 20, 3) if QUICK else (10**7, 10**6, 20, 3)
FILE, CSV_FILE, CSV_ROWS = "rows.parquet", "rows.csv", ROWS // 2
CSV_KINDS = {"person": "integer", "group": "integer", "amount": "integer", "pay": "number", "name": "text"}
HEADER = ["what", "seconds", "ratio to the plain count", "ratio to bounding alone", "peak memory"]
PLAIN, BOUNDING = "DuckDB, count of each group, not private", "bounding alone, 3 rows a person, written to a table"
HISTOGRAM, COUNT = "utmost, histogram, 3 rows a person", "utmost, count, 3 rows a person"
BY_GROUPS, SUM = "utmost, histogram, 3 groups a person", "utmost, sum, 3 rows a person"
CSV_PLAIN = "DuckDB, count of each group of a CSV file, not private"
CSV_HISTOGRAM = "utmost, histogram of a CSV file, opened and checked, each row"
PEER, PEER_BY_GROUPS = "OpenDP, histogram, 3 rows a person", "OpenDP, histogram, first 3 groups a person"


def best_seconds(task: Callable[[], Any]) -> float:
    """Least seconds of three runs."""
    return measuring.best_time(task, 3)[0]


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
        more = "*, (hash(person + amount) % 100000) / 100 AS pay, 'name ' || (person % 1000) AS name"
        lines = f"SELECT {more} FROM read_parquet('{path}') LIMIT {CSV_ROWS}"
        connection.execute(f"COPY ({lines}) TO '{path.with_name(CSV_FILE)}' (FORMAT csv, HEADER)")


def count_csv_without_privacy(path: Path) -> float:
    """A count of each group of the CSV file by DuckDB alone, which finds the types of its columns."""
    import duckdb

    with duckdb.connect() as connection:
        query = f"SELECT \"group\", count(*) FROM read_csv('{path}') WHERE amount < 500 GROUP BY 1"
        return best_seconds(lambda: connection.execute(query).fetchall())


def exact_csv_answer(path: Path) -> float:
    """The same of utmost: the file's lines are checked, the columns used are read, the answer is ready for noise."""
    from utmost.data.selection import Selection
    from utmost.data.sources import Source, open_table

    def answer() -> list[int]:
        with open_table(Source(path.name, columns=CSV_KINDS), path.parent, {"group", "amount"}) as table:
            return table.cell_counts(Selection("amount < 500"), {"group": tuple(range(GROUPS))})

    return best_seconds(answer)


def count_without_privacy(path: Path) -> float:
    """A count of each group by DuckDB alone: the limit, without any privacy."""
    import duckdb

    with duckdb.connect() as connection:
        query = f"SELECT \"group\", count(*) FROM read_parquet('{path}') GROUP BY 1"
        return best_seconds(lambda: connection.execute(query).fetchall())


def bound_contributions(path: Path) -> float:
    """At most three rows a person, kept at random and written to a table: the limit with privacy."""
    from utmost.data.contribution_bounds import keep_rows, salt
    from utmost.data.selection import PrivacyUnit
    from utmost.data.sources import Source, open_table

    with open_table(Source(path.name), path.parent) as table:
        rows = table._rows.select(p=table._rows["person"], v0=table._rows["group"])
        connection, unit = table._connection, PrivacyUnit("person", rows=BOUND)
        return best_seconds(
            lambda: connection.fetch(
                "CREATE OR REPLACE TABLE kept AS "
                + connection.sql(keep_rows(rows, ["v0"], unit, salt(None), connection.engine))
            )
        )


def exact_answer(path: Path, kind: str, **bound: int) -> float:
    """The exact answer of utmost, ready for noise."""
    from fractions import Fraction

    from utmost.data.grid import Grid, GridColumn
    from utmost.data.selection import PrivacyUnit, Selection
    from utmost.data.sources import Source, open_table

    unit, grid = PrivacyUnit("person", **bound), Grid(Fraction(0), Fraction(1000), Fraction(5))
    with open_table(Source(path.name), path.parent) as table:
        answers: dict[str, Callable[[], Any]] = {
            "count": lambda: table.count(Selection("amount < 500", unit)),
            "histogram": lambda: table.cell_counts(Selection(unit=unit), {"group": tuple(range(GROUPS))}),
            "sum": lambda: table.moments(Selection(unit=unit), GridColumn("amount", grid)),
        }
        return best_seconds(answers[kind])


def opendp_release(path: Path, is_by_groups: bool) -> float:
    """OpenDP's noisy counts with the same bound, through Polars; by groups it keeps the first ones, not random ones."""
    dp, pl = peers.opendp()
    keys = pl.LazyFrame({"group": list(range(GROUPS))}, schema={"group": pl.Int64})

    def release() -> Any:
        frame = pl.scan_parquet(path).select("person", "group")
        context = peers.opendp_context(dp, frame, "person", {"epsilon": 1.0}, [])
        query = context.query()
        if is_by_groups:
            query = query.truncate_per_group(1, by=["group"]).truncate_num_groups(BOUND, by=["group"], keep="first")
        else:
            query = query.truncate_per_group(BOUND)
        return query.group_by("group").agg(dp.len()).with_keys(keys).release().collect()

    return best_seconds(release)


TASKS: dict[str, Callable[[Path], float]] = {
    PLAIN: count_without_privacy,
    BOUNDING: bound_contributions,
    HISTOGRAM: lambda path: exact_answer(path, "histogram", rows=BOUND),
    BY_GROUPS: lambda path: exact_answer(path, "histogram", groups=BOUND),
    SUM: lambda path: exact_answer(path, "sum", rows=BOUND),
    COUNT: lambda path: exact_answer(path, "count", rows=BOUND),
    CSV_PLAIN: lambda path: count_csv_without_privacy(path.with_name(CSV_FILE)),
    CSV_HISTOGRAM: lambda path: exact_csv_answer(path.with_name(CSV_FILE)),
    PEER: lambda path: opendp_release(path, False),
    PEER_BY_GROUPS: lambda path: opendp_release(path, True),
}


def run_task(name: str, folder: Path) -> Measurement:
    """Seconds of a task; OpenDP only where it can read the file."""
    missing = peers.missing_opendp() if name.startswith("OpenDP") else None
    return {"missing": missing} if missing else {"seconds": TASKS[name](folder / FILE)}


def table_row(name: str, measurements: Measurements) -> list[str]:
    """A row of the table."""
    measurement = measurements[name]
    ratios = [measuring.ratio_text(measurement, measurements[PLAIN], 1)]
    ratios.append(measuring.ratio_text(measurement, measurements[BOUNDING]))
    return [name, measuring.seconds_text(measurement), *ratios, measuring.memory_text(measurement)]


def report(measurements: Measurements) -> Blocks:
    """The table."""
    return {"tables": measuring.markdown_table(HEADER, [table_row(name, measurements) for name in TASKS])}


SECTION = Section(
    "tables",
    {name: lambda folder, name=name: run_task(name, folder) for name in TASKS},
    [
        ratio("histogram, 3 rows a person ÷ bounding alone", HISTOGRAM, BOUNDING, 1.6),
        ratio("count, 3 rows a person ÷ plain count", COUNT, PLAIN, 18),
        ratio("histogram, 3 groups a person ÷ bounding alone", BY_GROUPS, BOUNDING, 1.5, quick=False),
        ratio("sum, 3 rows a person ÷ bounding alone", SUM, BOUNDING, 1.7, quick=False),
        ratio("histogram, 3 rows a person ÷ OpenDP", HISTOGRAM, PEER, 0.9, quick=False),
        ratio("histogram, 3 groups a person ÷ OpenDP", BY_GROUPS, PEER_BY_GROUPS, 0.15, quick=False),
        ratio("histogram of a CSV file ÷ DuckDB's own", CSV_HISTOGRAM, CSV_PLAIN, 4, quick=False),
    ],
    report,
    prepare=lambda folder, names: write_rows(folder / FILE),
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
