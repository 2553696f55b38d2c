"""Runs from Python: what a preview and a release say beside their numbers, for every form of a plan."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import utmost as ut
from utmost.publish.builder import PlanBuilder

HOURS = pa.table({"hours": [7.5, 8.0, None], "days": [1, 2, 3]})
BOUNDS = {"low": 0, "high": 20}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counting(**options: str) -> PlanBuilder:
    return ut.table(HOURS, **options).plan("b", epsilon=1).count("rows")  # type: ignore[arg-type]


def test_a_preview_counts_values_that_do_not_fit_their_kind_as_the_dry_run_does(folder: Path) -> None:
    (folder / "t.csv").write_text("a\n1\nold\nx\n")
    plan = ut.table("t.csv", columns={"a": "integer"}).plan("b", epsilon=1).count("many", where="a > 0")
    warning = "For the curator only, not for publication: 2 values of column a do not fit its kind"
    (folder / "plan.toml").write_text(plan.to_toml())
    for preview in (plan.preview(), ut.preview(plan), ut.preview("plan.toml")):
        assert preview.unreadable == {"a": 2}
        assert warning in repr(preview)
        assert warning in preview._repr_html_()


def test_a_preview_names_the_queries_that_round_to_a_step_that_nobody_gave() -> None:
    plan = ut.table(HOURS).plan("b", epsilon=1)
    plan.mean("hours", column="hours", **BOUNDS).mean("fine", column="hours", step="0.5", **BOUNDS)
    plan.mean("days", column="days", **BOUNDS)
    words = "hours: values are rounded to steps of 1, since no step was given"
    preview = plan.preview()
    assert preview.default_steps == ("hours",)
    assert words in repr(preview).splitlines()
    assert words in preview._repr_html_()
    plan.mean("hours", column="hours", step=1, **BOUNDS)  # the same query, but now it was given
    assert plan.preview().default_steps == ()
    plan.remove("days").remove("fine")
    assert plan.default_steps == []


def test_a_plan_that_was_charged_before_is_named_in_preview_and_release() -> None:
    ut.budget("b", epsilon=5)
    plan, words = counting(), "the same plan was charged before (entry 1); with a fingerprint it would be repeated"
    assert plan.preview().charged_before is None
    assert "charged before" not in repr(plan.release())
    preview, release = plan.preview(), plan.release()
    for shown in (preview, release):
        assert words in repr(shown)
        assert "charged before (entry 1)" in shown._repr_html_()
    assert counting().count("more").preview().charged_before is None
    assert counting(fingerprint="may").preview().charged_before is None


def test_a_release_that_the_ledger_remembers_says_that_nothing_was_charged() -> None:
    budget = ut.budget("b", epsilon=1)
    plan = counting(fingerprint="may")
    first, again = plan.release(), plan.release()
    assert first == again
    assert repr(again).endswith("; repeated from entry 1, nothing charged>")
    assert "Repeated from entry 1, nothing charged." in again._repr_html_()
    assert plan.preview().charged_before is None
    assert budget.left == 0


def test_a_budget_that_does_not_remember_is_not_said_to_repeat() -> None:
    ut.budget("b", epsilon=5, remember=False)
    plan = counting(fingerprint="may")
    plan.release()
    assert plan.preview().charged_before == "the same plan was charged before (entry 1)"


def test_preview_and_release_take_a_plan_in_every_form() -> None:
    ut.budget("b", epsilon=5)
    plan = counting()
    assert ut.preview(plan).cost == ut.preview(plan.to_plan()).cost == 1
    assert ut.release(plan).names == ["rows"]


def test_a_release_has_its_answers_by_name() -> None:
    ut.budget("b", epsilon=5)
    release = counting().count("more").release()
    assert release.names == release.keys() == ["rows", "more"]
    assert "more" in release
    assert "others" not in release
    assert release["more"] in release


def test_a_plan_takes_the_ledger_of_its_budget_and_refuses_another(folder: Path) -> None:
    budget = ut.budget("b", epsilon=1, ledger="books.sqlite")
    table = ut.table(HOURS)
    assert table.plan(budget, epsilon=1, ledger=folder / "books.sqlite").count("a").preview().left == 1
    for other in ("other.sqlite", "ledger.sqlite"):
        with pytest.raises(ut.InputError, match="ledger must be the one that budget 'b' is in"):
            table.plan(budget, epsilon=1, ledger=other)


def test_a_budget_of_persons_asks_a_plan_without_them_whether_the_unit_was_forgotten() -> None:
    ut.budget("b", epsilon=1, unit="person")
    with pytest.raises(ut.InputError) as refused:
        counting().preview()
    assert str(refused.value).index('did you forget unit="person" in ut.table') < str(refused.value).index("open anoth")
    ut.budget("c", epsilon=1)
    with pytest.raises(ut.InputError) as refused:
        ut.table(HOURS, unit="days", rows=1).plan("c", epsilon=1).count("a").preview()
    assert "forget" not in str(refused.value)


def test_a_file_of_a_plan_names_its_ledger_wherever_it_is_saved(folder: Path) -> None:
    (folder / "sub").mkdir()
    budget = ut.budget("b", epsilon=1, ledger="books.sqlite")
    plan = ut.table(HOURS).plan(budget, epsilon=1).count("a")
    (folder / "sub" / "plan.toml").write_text(plan.to_toml())
    assert ut.preview("sub/plan.toml", data=HOURS).left == 1
    assert "ledger" not in counting().to_toml()


def test_a_budget_that_made_its_ledger_says_where(folder: Path) -> None:
    words = f"; new ledger at {folder / 'ledger.sqlite'}>"
    first = ut.budget("b", epsilon=1)
    assert repr(first).endswith(words)
    assert "new ledger" not in repr(ut.budget("b")) + repr(ut.budget("c", epsilon=1))
    counting().release()
    assert "new ledger" not in repr(first)


def test_a_plan_without_a_location_asks_for_the_frame(folder: Path) -> None:
    (folder / "plan.toml").write_text(counting().to_toml())
    for run in (ut.release, ut.preview):
        with pytest.raises(ut.InputError, match=r"give the frame: ut\.release\(plan, data=df\)"):
            run("plan.toml")


def test_persons_that_pandas_made_floats_are_whole_numbers_again_by_the_cure_that_is_named() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    frame = pandas.DataFrame({"person": [1.0, 2.0, None]})
    with pytest.raises(ut.InputError) as refused:
        ut.table(frame, unit="person", rows=1).plan("b", epsilon=1).count("a").preview()
    assert 'df.astype({"person": "Int64"})' in str(refused.value)
    cured = ut.table(frame.astype({"person": "Int64"}), unit="person", rows=1)
    assert cured.plan("b", epsilon=1).count("a").preview().cost == 1


DAY = datetime.date(2020, 1, 1)
DAYS = pa.table({"day": pa.array([DAY])})


def by_day(key: object) -> PlanBuilder:
    return ut.table(DAYS).plan("b", epsilon=1).count("a", keys={"day": [key]})  # type: ignore[list-item]


@pytest.mark.parametrize(
    "key", [datetime.datetime(2020, 1, 1), np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns")]
)
def test_a_midnight_is_the_key_of_its_date(key: object) -> None:
    assert by_day(key).to_plan() == by_day(DAY).to_plan()


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (None, "got a missing value"),
        (float("nan"), "got a missing value"),
        (np.datetime64("NaT"), "got a missing value"),
        (datetime.datetime(2020, 1, 1, 7), r"take \.date\(\) of it"),
        (datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), r"take \.date\(\) of it"),
        (np.datetime64("2020-01-01T00:00:00.000000001"), "got something else"),
        (np.array([[1]]), "keys"),
    ],
    ids=str,
)
def test_a_key_that_is_no_date_is_refused_in_words_that_help(key: object, words: str) -> None:
    with pytest.raises(ut.InputError, match=words):
        by_day(key)


def test_keys_of_pandas_are_dates_or_refused_as_missing() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    assert by_day(pandas.Timestamp("2020-01-01")).to_plan() == by_day(DAY).to_plan()
    for missing in (pandas.NaT, pandas.NA):
        with pytest.raises(ut.InputError, match="got a missing value"):
            by_day(missing)
    with pytest.raises(ut.InputError, match=r"take \.date\(\) of it"):
        by_day(pandas.Timestamp("2020-01-01") + pandas.Timedelta(1, "ns"))


def test_a_date_in_quotes_is_told_how_python_writes_it() -> None:
    with pytest.raises(ut.InputError, match=r"in Python datetime\.date\(2020, 1, 1\)"):
        by_day("2020-01-01").preview()


def test_the_columns_of_a_lazy_frame_are_told_without_running_it() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed: make oracles")
    runs: list[int] = []

    def seen(frame: Any) -> Any:
        runs.append(1)
        return frame

    lazy = polars.LazyFrame({"vote": [0, 1], "name": ["x", "y"]}).map_batches(seen, projection_pushdown=False)
    table = ut.table(lazy).derive(yes="vote = 1")
    assert table.columns == {"vote": "integer", "name": "text", "yes": "truth"}
    assert not runs
    table.plan("b", epsilon=1).count("a", where="yes").preview()
    assert len(runs) == 1


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_by_itself_is_no_frame(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed: make oracles")
    column = module.array([1]) if library == "pyarrow" else module.Series([1])
    with pytest.raises(ut.InputError, match="data must be a frame with named columns, got a p"):
        ut.table(column)


def test_columns_of_objects_are_declared_as_python_declares_them() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    frame = pandas.DataFrame({"o": pandas.Series(["x", "y"], dtype=object)})
    assert ut.table(frame).columns == {"o": "undeclared"}
    assert ut.table(frame, columns={"o": "text"}).columns == {"o": "text"}
    with pytest.raises(ut.InputError, match=r'give columns=\{"o": "text"\}'):
        ut.table(frame).plan("b", epsilon=1).count("a", where="o = 'x'").preview()


def test_the_best_noise_of_a_pure_budget_is_geometric() -> None:
    ut.budget("b", epsilon=2)
    plans = [ut.table(HOURS).plan("b", epsilon=1, noise=noise).count("a") for noise in ("best", "geometric")]
    best, plain = (plan.preview().planned_answers[0] for plan in plans)
    assert best.spec.noise == "geometric"
    assert best.law.mechanism == plain.law.mechanism
    assert plans[0].release().delta == 0
    for noise in ("gaussian", "canonical"):
        with pytest.raises(ut.InputError, match="noise must be geometric in a budget without δ"):
            ut.table(HOURS).plan("b", epsilon=1, noise=noise).count("a").preview()


def test_readers_are_bounded_by_whole_floats_and_priors_of_other_types_are_refused() -> None:
    ut.budget("b", epsilon=2)
    answer = counting().release()["rows"]
    readings = [answer.estimate("uniform", "absolute", at_most=bound).readings for bound in (2e1, 20)]
    assert readings[0] == readings[1]
    with pytest.raises(ut.InputError, match="at_most"):
        answer.estimate("uniform", "absolute", at_most=20.5)
    for prior, words in ((np.array([0.5, 0.5]), "got ndarray"), (ut.priors.uniform, "got a function")):
        with pytest.raises(ut.InputError, match=f"prior must be a text or a prior of ut.priors, {words}"):
            answer.estimate(prior, "absolute")  # type: ignore[arg-type]


def test_a_budget_that_is_not_open_is_refused_with_the_call_that_opens_it() -> None:
    frame = pa.table({"person": [1, 2]})
    plan = ut.table(frame, unit="person", rows=2).plan("my visits", epsilon="0.5").count("rows")
    call = 'ut.budget("my visits", epsilon="0.5", unit="person")'
    with pytest.raises(ut.InputError, match=f"no budget 'my visits' in this ledger: open it: {re.escape(call)}$"):
        plan.release()
    assert call in plan.preview()._repr_html_().replace("&#34;", '"').replace("&quot;", '"')
    ut.budget("my visit", epsilon=1)
    with pytest.raises(ut.InputError, match=f"did you mean 'my visit'\\? Else open it: {re.escape(call)}$"):
        plan.release()
    eval(call, {"ut": ut})
    assert len(plan.release()) == 1


def test_a_call_that_opens_a_budget_names_its_ledger() -> None:
    plan = ut.table(HOURS, neighbours="replace").plan("b", delta="1e-6", epsilon="1/3", ledger="other.sqlite")
    with pytest.raises(ut.InputError) as caught:
        plan.count("rows", where="days = 1").release()
    call = 'ut.budget("b", epsilon="1/3", neighbours="replace", ledger="other.sqlite")'
    assert str(caught.value).endswith(f"open it: {call}")
