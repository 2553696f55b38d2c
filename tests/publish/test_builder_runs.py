"""Runs from Python: what a preview and a release say beside their numbers, for every form of a plan."""

from __future__ import annotations

from pathlib import Path

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
