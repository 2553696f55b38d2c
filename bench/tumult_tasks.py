"""What the benchmark asks of Tumult Analytics, in a Python that has it: `python tumult_tasks.py TASK FILE OPTIONS`.

It imports nothing of utmost and prints one line of JSON: seconds and megabytes, or answers. `peers.tumult` starts it.
The budget is large enough for every repetition; each has the ε and δ of the options.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
SOURCE, BOUNDED = "source", "bounded"
COPY, COPIES = "copy", 20  # of the table, for quantiles
Answers = list[Any]  # one for each repetition: values in order, or a pair of key and number for each cell
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
}


def start_spark(folder: str) -> Any:
    """Spark on two cores of this machine, which is what it has by default here."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", folder)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def open_session(frame: Any, person: str) -> Any:
    """A session that protects each person, with more budget than is used."""
    from tmlt.analytics import AddRowsWithID, ApproxDPBudget, Session

    budget, change = ApproxDPBudget(10**6, 0.5), AddRowsWithID(person)
    return Session.from_dataframe(privacy_budget=budget, source_id=SOURCE, dataframe=frame, protected_change=change)


def bounded_rows(options: dict[str, Any], source: str = SOURCE) -> Any:
    """A query of at most k rows of each person."""
    from tmlt.analytics import MaxRowsPerID, QueryBuilder

    return QueryBuilder(source).enforce(MaxRowsPerID(options["rows"]))


def key_set(options: dict[str, Any]) -> Any:
    """The listed keys."""
    from tmlt.analytics import KeySet

    return KeySet.from_dict({options["key"]: options["keys"]})


def means(session: Any, query: Any, options: dict[str, Any]) -> Answers:
    """A mean for each listed key."""
    from tmlt.analytics import ApproxDPBudget

    average = query.groupby(key_set(options)).average(options["column"], options["low"], options["high"], name="mean")
    rows = session.evaluate(average, ApproxDPBudget(options["epsilon"], 0)).collect()
    return [[(row[options["key"]], row["mean"]) for row in rows]]


def found(session: Any, query: Any, options: dict[str, Any]) -> Answers:
    """The keys that are found, with half of ε and all of δ; a count of each, with the other half."""
    from tmlt.analytics import ApproxDPBudget, KeySet

    half = options["epsilon"] / 2
    groups = session.evaluate(query.get_groups([options["key"]]), ApproxDPBudget(half, options["delta"]))
    counts = query.groupby(KeySet.from_dataframe(groups)).count(name="count")
    rows = session.evaluate(counts, ApproxDPBudget(half, 0)).collect()
    return [[(row[options["key"]], row["count"]) for row in rows]]


def quantiles(session: Any, query: Any, options: dict[str, Any]) -> Answers:
    """One quantile after the other, each with its share of ε, in every copy of the table."""
    from tmlt.analytics import ApproxDPBudget, KeySet

    budget = ApproxDPBudget(options["epsilon"] / len(options["probabilities"]), 0)
    copies = query.groupby(KeySet.from_dict({COPY: list(range(COPIES))}))
    columns = []
    for probability in options["probabilities"]:
        quantile = copies.quantile(options["column"], probability, options["low"], options["high"], name="value")
        columns.append([row["value"] for row in session.evaluate(quantile, budget).collect()])
    return [list(answer) for answer in zip(*columns, strict=True)]


ANSWERS: dict[str, Callable[[Any, Any, dict[str, Any]], Answers]] = {
    "means": means, "found": found, "quantiles": quantiles,
}  # fmt: skip


def time_answer(spark: Any, answer: Callable[..., Any], file: str, options: dict[str, Any]) -> dict[str, float]:
    """Seconds of one answer about the whole file, after one about a few rows, and the memory of Python and Java."""
    frame = spark.read.parquet(file)
    answer(open_session(frame.limit(options["warm_up"]), options["person"]), bounded_rows(options), options)
    start = time.perf_counter()
    answer(open_session(frame, options["person"]), bounded_rows(options), options)
    seconds = time.perf_counter() - start
    processes = ("self", spark.sparkContext._gateway.proc.pid)
    return {"seconds": seconds, "megabytes": sum(peak_megabytes(process) for process in processes)}


def repeat_answer(spark: Any, answer: Callable[..., Any], file: str, options: dict[str, Any]) -> dict[str, Any]:
    """As many answers about the same bounded rows as the seconds of the options allow; at least one.

    Quantiles are asked of several copies of the table at once. A person then has as many times the rows and the bound,
    and the session as many times the ε: so the noise of each copy is that of one.
    """
    from tmlt.analytics import QueryBuilder

    frame = spark.read.parquet(file)
    if answer is quantiles:
        frame = frame.crossJoin(spark.range(COPIES).withColumnRenamed("id", COPY))
        options = {**options, "rows": options["rows"] * COPIES, "epsilon": options["epsilon"] * COPIES}
    session = open_session(frame, options["person"])
    session.create_view(bounded_rows(options), BOUNDED, cache=True)
    answers: Answers = []
    end = time.perf_counter() + options["seconds"]
    while not answers or time.perf_counter() < end:
        answers += answer(session, QueryBuilder(BOUNDED), options)
    return {"answers": answers}


def peak_megabytes(process: object) -> float:
    """The most memory that a process had."""
    return int(Path(f"/proc/{process}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """The task of the command line: `time NAME` or `repeat NAME`."""
    warnings.simplefilter("ignore")
    (verb, name), file, options = sys.argv[1].split(), sys.argv[2], json.loads(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        spark = start_spark(folder)
        action = time_answer if verb == "time" else repeat_answer
        print(json.dumps(action(spark, ANSWERS[name], file, options)))
        spark.stop()


if __name__ == "__main__":
    main()
