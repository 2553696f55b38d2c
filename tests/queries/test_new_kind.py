"""A new kind of query is one class and one registration: plan, preview, release, readings and forms know it at once."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

import utmost
from queries.between_kind import PLAN, TABLE, Between
from utmost import ledger
from utmost.cli import run
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.publish.release_file import release_schema
from utmost.queries import registry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and a budget, while the kind is registered."""
    monkeypatch.setitem(registry.QUERY_KINDS, Between.kind, Between)
    (tmp_path / "people.csv").write_text(TABLE)
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(10), neighbours="add-remove"))
    return tmp_path


def between_plan(folder: Path) -> Plan:
    return parse_plan(PLAN, folder)


def test_a_kind_is_known_only_while_it_is_registered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert between_plan(folder).queries[0].query == Between("age", Fraction(30), Fraction(49), "region = 'n'")
    monkeypatch.delitem(registry.QUERY_KINDS, Between.kind)
    with pytest.raises(InputError, match=r"kind must be one of count, .*, distinct, over, got") as caught:
        between_plan(folder)
    assert caught.value.field == "kind"


def test_a_plan_with_the_kind_is_written_and_has_a_digest(folder: Path) -> None:
    plan = between_plan(folder)
    written = write_plan(plan)
    assert 'kind = "between"\ncolumn = "age"\nlow = 30\nhigh = 49\n' in written
    assert plan_digest(parse_plan(written, folder)) == plan_digest(plan)
    with pytest.raises(InputError, match='query "middle": low must not be above high') as caught:
        parse_plan(PLAN.replace("30", "300"), folder)
    assert caught.value.field == "low"


def test_the_kind_is_previewed_released_and_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preview = utmost.preview(between_plan(folder))
    assert preview.planned_answers[0].error.target == "the true count within bounds"
    release = utmost.release(between_plan(folder))
    document = json.loads((folder / "out.json").read_text())
    jsonschema.Draft202012Validator(release_schema()).validate(document)
    assert document["queries"][0]["low"] == "30"
    assert release_file.read_release(folder / "out.json") == release
    assert abs(int(release["middle"].value) - 80) < 60
    estimate = release["middle"].estimate("uniform", "absolute", at_most=400)
    assert estimate.interval is not None
    assert run(["estimate", str(folder / "out.json"), "--at-most", "400", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"][0]["kind"] == "between"


def test_a_release_that_was_altered_is_refused(folder: Path) -> None:
    utmost.release(between_plan(folder))
    document = json.loads((folder / "out.json").read_text())
    document["queries"][0]["value"] = -1
    with pytest.raises(InputError, match='query "middle": value must be within its mechanism'):
        release_file.release_from_content(document)


def test_the_command_line_previews_and_calibrates_the_kind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "plan.toml").write_text(PLAN)
    assert run(["release", "plan.toml", "--dry-run"]) == 0
    assert "between" in capsys.readouterr().out
    assert run(["calibrate", "between", "--people", "90", "--error", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "between"


def test_columns_say_that_they_can_be_asked_for_it(folder: Path) -> None:
    from utmost.data.engines.schema import ColumnKind

    assert "between" in registry.kinds_of_column(ColumnKind.INTEGER)
    assert "between" not in registry.kinds_of_column(ColumnKind.TEXT)
