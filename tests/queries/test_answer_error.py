"""Errors are of what is counted with the rows that are kept; no front end calls that the true number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import example_releases
import utmost
from utmost.cli import run
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.publish import execute, release_file
from utmost.publish.plan_model import QuerySpec
from utmost.queries import Count, Histogram, Mean, Quantile, Query, Sum
from utmost.queries.answer_error import error_target, noise_remark
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.quantile import QUANTILE_REMARK
from utmost.reports.estimate import describe

GRID = Grid(Fraction(0), Fraction(10), Fraction(1))
QUERIES: list[Query] = [
    Count("v = 1"),
    Histogram({"k": ("a", "b")}),
    Sum("v", GRID, None),
    Mean("v", GRID, None),
    Quantile("v", GRID, Fraction(1, 2), None),
]
PERSONS = [PrivacyUnit("p", rows=5), PrivacyUnit("p", groups=3)]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize("unit", [PrivacyUnit(), *PERSONS], ids=str)
def test_what_an_error_is_of_is_the_true_number_only_where_nothing_is_left_out(query: Query, unit: PrivacyUnit) -> None:
    counts_persons = isinstance(query, Count) and unit.groups is not None
    keeps_all = (unit.column is None or counts_persons) and isinstance(query, Count | Histogram)
    target = error_target(query, unit)
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, None, None)
    error = execute.plan_answer(QuerySpec("q", Fraction(1), query), setting).error
    assert error.target == target
    assert target.startswith("the true ") == keeps_all
    assert error.words.endswith(target) != keeps_all
    assert (f"at most {unit.bound} " in target) == (unit.column is not None and not counts_persons)


def test_the_remark_names_the_bound_and_the_clamping() -> None:
    count, histogram, mean = QUERIES[0], QUERIES[1], QUERIES[3]
    assert noise_remark([count, histogram], PrivacyUnit()) is None
    assert noise_remark([count], PrivacyUnit("p", groups=3)) is None
    assert "at most 3 groups of each person" in str(noise_remark([count, histogram], PrivacyUnit("p", groups=3)))
    assert str(noise_remark([mean], PrivacyUnit("p", rows=1))).endswith(
        "at most 1 row of each person and values clamped to their bounds and rounded to their steps."
    )


@pytest.mark.parametrize("kind", [Sum, Mean, partial(Quantile, probability=Fraction(1, 2))])
def test_the_words_name_everything_that_is_done_to_a_value(kind: Any) -> None:
    """1000 rows of 4.9 rounded to steps of 10 add up to 0, not to 4900: an error that leaves out the step is false."""
    grid = Grid(Fraction(0), Fraction(100), Fraction(10))
    words = "values clamped to 0 … 100 and rounded to steps of 10"
    assert error_target(kind("v", grid, nulls=None), PrivacyUnit()).endswith(words)
    stand_in = error_target(kind("v", grid, nulls=Fraction(5)), PrivacyUnit())
    assert stand_in.endswith(f"{words} (missing values taken as 5)")
    assert "rounded to its steps" in QUANTILE_REMARK


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize("unit", [PrivacyUnit(), *PERSONS], ids=str)
def test_what_is_said_of_a_part_names_the_part(query: Query, unit: PrivacyUnit) -> None:
    part, phrase = Partition("region", "north"), "among the rows with region = north"
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, part, None)
    error = execute.plan_answer(QuerySpec("q", Fraction(1), query), setting).error
    assert error.target == f"{error_target(query, unit)} {phrase}"
    assert error.words.endswith(phrase)
    remark = noise_remark([query], unit, part)
    assert remark is None or remark.endswith(f"{phrase}.")


def test_an_estimate_of_a_part_names_the_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = replace(example_releases.setting(944, unit_rows=3), part=Partition("region", "north"))
    answers = [example_releases.answer(Count(), "0.1", setting, value=5)]
    example_releases.write_release(tmp_path / "r.json", answers, setting)
    assert run(["estimate", str(tmp_path / "r.json")]) == 0
    assert "among the rows with region = north" in " ".join(capsys.readouterr().out.split())


def bounded_release(tmp_path: Path) -> str:
    setting = example_releases.setting(944, unit_rows=5)
    example_releases.write_release(tmp_path / "r.json", [example_releases.count(404, "0.1", 944, 5)], setting)
    return str(tmp_path / "r.json")


def test_every_front_end_says_that_a_count_is_of_at_most_k_rows_a_person(tmp_path: Path, capsys: Any) -> None:
    phrase = "at most 5 rows of each person"
    path = bounded_release(tmp_path)
    release = release_file.read_release(path)
    estimate = release["dole"].estimate("uniform", "absolute")
    assert run(["estimate", path]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    from utmost.cli.output import print_report
    from utmost.reports.release import describe as describe_release

    print_report(describe_release(release))
    shown = (
        printed,
        " ".join(capsys.readouterr().out.split()),
        release._repr_html_(),
        estimate._repr_html_(),
        describe(estimate).json["of"],
        release_file.release_to_json(release),
    )
    for text in shown:
        assert phrase in text
        assert "true count" not in text


def test_the_studio_says_that_a_count_is_of_at_most_k_rows_a_person(tmp_path: Path) -> None:
    from utmost.studio.consumer.api import release_view as consumer_view
    from utmost.studio.curator import release_view

    release = release_file.read_release(bounded_release(tmp_path))
    chart = release_view._answer_chart(release.answers[0])
    assert chart is not None
    for text in (chart.words, consumer_view(release).answers[0].behind):
        assert "the count with at most 5 rows of each person" in text


def test_no_source_calls_a_noisy_number_near_the_true_one() -> None:
    for path in Path(utmost.__file__).parent.rglob("*"):
        if path.suffix in (".py", ".html", ".js"):
            assert "of the true one" not in path.read_text(encoding="utf-8"), path.name
