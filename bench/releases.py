"""Whole releases of ten million rows beside hand-written SQL with the same bound on each person, and beside peers.

10^7 rows, 10^6 persons, of each of whom 3 rows count: the mean of a number for 20 listed keys, and the number of rows
of each of 10^5 keys that are found in the data. A release goes from its plan to its file, the ledger included. The SQL
keeps 3 random rows of each person and adds up, without any noise. Tumult is asked about a tenth of it.
`python bench/releases.py` prints the table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import measuring
import peers
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, ratio

REPEATS, BOUND, GROUPS, HIGH = 3, 3, 20, 1000
EPSILON, DELTA = "1", "1e-6"
HEADER = ["what", "rows", "seconds", "utmost's time as a ratio of it", "peak memory"]
SQL, WINDOW = "hand-written SQL", "hand-written SQL, without DuckDB's rewriting"
REWRITING = "top_n_window_elimination"  # makes row_number() <= 3 an aggregate, in more time than the window takes


@dataclass(frozen=True)
class Size:
    """How large a file is."""

    name: str
    rows: int
    persons: int
    keys: int

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.rows}.parquet"


LARGE, SMALL = (
    (Size("10⁴", 10**4, 10**3, 100), Size("10³", 10**3, 10**2, 10))
    if QUICK
    else (Size("10⁷", 10**7, 10**6, 10**5), Size("10⁶", 10**6, 10**5, 10**4))
)
QUESTIONS: dict[str, dict[str, Any]] = {
    "means of 20 listed keys": {
        "kind": "mean", "column": "amount", "low": 0, "high": HIGH, "step": 1, "nulls": "drop",
        "keys": {"group": f"0..{GROUPS - 1}"}, "epsilon": EPSILON,
    },
    "counts of found keys": {"kind": "count", "by": ["key"], "epsilon": EPSILON, "delta": DELTA},
}  # fmt: skip
MEANS, FOUND = QUESTIONS
GROUP_COLUMNS = '"group", amount'


def write_rows(path: Path, size: Size) -> None:
    """The file: all columns are drawn by hashes of the row's number. Key j has about 1/√j of the rows of key 1."""
    import duckdb

    draws = [f"hash(i + {column * size.rows})" for column in range(4)]
    square = f"(({draws[3]} % 1048576)::BIGINT * ({draws[3]} % 1048576)::BIGINT // 1048576)"
    rows = f"""
        SELECT ({draws[0]} % {size.persons})::BIGINT AS person, ({draws[1]} % {GROUPS})::BIGINT AS "group",
               ({draws[2]} % {HIGH})::BIGINT AS amount, {square} * {size.keys} // 1048576 AS key
        FROM range({size.rows}) AS numbers(i)
    """
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")


def kept_rows(path: Path, columns: str) -> str:
    """SQL that keeps three random rows of each person."""
    choice = f"row_number() OVER (PARTITION BY person ORDER BY hash('salt', person, {columns})) AS place"
    return f"(SELECT {columns}, {choice} FROM read_parquet('{path}')) WHERE place <= {BOUND}"


def sql_seconds(path: Path, question: str, is_rewritten: bool) -> float:
    """The least seconds of the hand-written query."""
    import duckdb

    means = f'SELECT "group", avg(amount) FROM {kept_rows(path, GROUP_COLUMNS)} GROUP BY 1'
    found = f"SELECT key, count(*) FROM {kept_rows(path, 'key')} GROUP BY 1"
    query = means if question == MEANS else found
    with duckdb.connect() as connection:
        if not is_rewritten:
            connection.execute(f"SET disabled_optimizers = '{REWRITING}'")
        return measuring.best_time(lambda: connection.execute(query).fetchall(), REPEATS)[0]


def release_plan(path: Path, question: str, folder: Path) -> dict[str, Any]:
    """A plan with a new ledger, in which its budget is open."""
    from utmost import ledger

    with ledger.open_ledger("ledger.sqlite", folder) as budgets:
        terms = {"epsilon": Fraction(EPSILON), "delta": Fraction(DELTA), "neighbours": "add-remove"}
        budgets.open(ledger.Budget("bench", unit="person", **terms))
    return {
        "neighbours": "add-remove",
        "budget": "bench",
        "ledger": str(folder / "ledger.sqlite"),
        "output": str(folder / "bench.release.json"),
        "source": {"location": str(path)},
        "unit": {"column": "person", "rows": BOUND},
        "query": [{"name": question, **QUESTIONS[question]}],
    }


def release_seconds(path: Path, question: str) -> float:
    """The least seconds of a whole release, each in a folder of its own."""
    from utmost.publish.execute import release

    with ExitStack() as stack:
        plans: Iterator[dict[str, Any]] = iter(
            [
                release_plan(path, question, Path(stack.enter_context(tempfile.TemporaryDirectory())))
                for _ in range(REPEATS)
            ]
        )
        return measuring.best_time(lambda: release(next(plans)), REPEATS)[0]


def opendp_seconds(path: Path, question: str) -> float:
    """OpenDP's release through Polars: `dp.mean` for listed keys, and `dp.len` of keys that it finds."""
    dp, pl = peers.opendp()
    keys = pl.LazyFrame({"group": list(range(GROUPS))}, schema={"group": pl.Int64})
    margins = [dp.polars.Margin(by=["group"], max_length=LARGE.rows)]

    def means() -> Any:
        frame = pl.scan_parquet(path).select("person", "group", "amount")
        context = peers.opendp_context(dp, frame, "person", {"epsilon": float(EPSILON)}, margins)
        mean = pl.col("amount").fill_null(0).dp.mean((0, HIGH))
        return context.query().truncate_per_group(BOUND).group_by("group").agg(mean).with_keys(keys).release().collect()

    def found() -> Any:
        loss = {"epsilon": float(EPSILON), "delta": float(DELTA)}
        context = peers.opendp_context(dp, pl.scan_parquet(path).select("person", "key"), "person", loss, [])
        return context.query().truncate_per_group(BOUND).group_by("key").agg(dp.len()).release().collect()

    return measuring.best_time(means if question == MEANS else found, REPEATS)[0]


def tumult_measurement(path: Path, question: str) -> Measurement:
    """Tumult's session and its answers: `average` for listed keys, `get_groups` and `count` for those that it finds."""
    options = {"person": "person", "rows": BOUND, "epsilon": float(EPSILON), "warm_up": SMALL.rows // 100}
    if question == MEANS:
        keys = {"key": "group", "keys": list(range(GROUPS)), "column": "amount", "low": 0, "high": HIGH}
        return peers.tumult("time means", path, **options, **keys)
    return peers.tumult("time found", path, **options, key="key", delta=float(DELTA))


def measure_opendp(path: Path, question: str) -> Measurement:
    """OpenDP's seconds, or what it lacks here."""
    missing = peers.missing_opendp()
    return {"missing": missing} if missing else {"seconds": opendp_seconds(path, question)}


LIBRARIES: dict[str, tuple[Size, Callable[[Path, str], Measurement]]] = {
    SQL: (LARGE, lambda path, question: {"seconds": sql_seconds(path, question, True)}),
    WINDOW: (LARGE, lambda path, question: {"seconds": sql_seconds(path, question, False)}),
    "utmost": (LARGE, lambda path, question: {"seconds": release_seconds(path, question)}),
    "OpenDP": (LARGE, measure_opendp),
    "utmost, a tenth": (SMALL, lambda path, question: {"seconds": release_seconds(path, question)}),
    "Tumult, a tenth": (SMALL, tumult_measurement),
}


def task_name(question: str, library: str) -> str:
    """The name of a task."""
    return f"{question}, {library}"


def run_task(question: str, library: str, folder: Path) -> Measurement:
    """A measurement of one library on its file."""
    size, measure = LIBRARIES[library]
    return measure(folder / size.file, question)


def report(measurements: Measurements) -> Blocks:
    """The table."""
    lines = []
    for question in QUESTIONS:
        for library, (size, _) in LIBRARIES.items():
            ours = "utmost" if size is LARGE else "utmost, a tenth"
            measurement = measurements[task_name(question, library)]
            time_ratio = measuring.ratio_text(measurements[task_name(question, ours)], measurement)
            times = [measuring.seconds_text(measurement), time_ratio, measuring.memory_text(measurement)]
            lines.append([f"{question}: {library.removesuffix(', a tenth')}", size.name, *times])
    return {"releases": measuring.markdown_table(HEADER, lines)}


def release_ratio(question: str, peer: str, ceiling: float, ours: str = "utmost", quick: bool = False) -> Figure:
    """The time of utmost as a ratio of a peer's."""
    name = f"{question}, whole release ÷ {peer.removesuffix(', a tenth')}"
    return ratio(name, task_name(question, ours), task_name(question, peer), ceiling, quick)


def prepare(folder: Path, names: list[str]) -> None:
    """Write the files that the named tasks read."""
    sizes = {LIBRARIES[library][0] for q in QUESTIONS for library in LIBRARIES if task_name(q, library) in names}
    for size in sizes:
        write_rows(folder / size.file, size)


SECTION = Section(
    "releases",
    {
        task_name(question, library): lambda folder, question=question, library=library: run_task(
            question, library, folder
        )
        for question in QUESTIONS
        for library in LIBRARIES
    },
    [
        release_ratio(MEANS, SQL, 1.3),
        release_ratio(MEANS, WINDOW, 2.2, quick=True),
        release_ratio(MEANS, "OpenDP", 0.8),
        release_ratio(MEANS, "Tumult, a tenth", 0.1, ours="utmost, a tenth"),
        release_ratio(FOUND, SQL, 1.3),
        release_ratio(FOUND, WINDOW, 2.2),
        release_ratio(FOUND, "OpenDP", 0.5),
        release_ratio(FOUND, "Tumult, a tenth", 0.1, ours="utmost, a tenth"),
    ],
    report,
    prepare,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
