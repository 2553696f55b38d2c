"""Derived columns and missing markers from the plan to the release file."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest

from utmost import ledger
from utmost.errors import InputError
from utmost.publish import execute
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.publish.release_file import parse_release, release_content, release_schema

PLAN = """
neighbours = "add-remove"
budget = "b"
[source]
location = "people.csv"
columns = { x = { kind = "integer", missing = ["NA"] }, region = "text" }
[derive]
decade = "bin(x, 10)"
"the north" = '''
case when lower(region) = 'n' then true
     else false end'''
[[query]]
name = "h"
kind = "histogram"
keys = { decade = [0, 10, 20] }
where = "\\"the north\\""
epsilon = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("x,region\n" + "".join(f"{k},{'nS'[k % 2]}\n" for k in range(40)) + "NA,n\n")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as budget_ledger:
        budget_ledger.open(ledger.Budget("b", Fraction(10), unit="row", neighbours="add-remove"))
    return tmp_path


def test_a_release_says_what_its_columns_are_and_reads_back_equal(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    release = execute.release(parse_plan(PLAN, folder))
    content = release_content(release)
    assert content["derive"]["decade"] == "bin(x, 10)"
    assert list(content["derive"]) == ["decade", "the north"]
    assert parse_release(json.dumps(content)) == release
    jsonschema.validate(content, release_schema())


def test_a_release_without_derived_columns_is_as_before(folder: Path) -> None:
    plan = plan_from_mapping(
        {
            "neighbours": "add-remove",
            "budget": "b",
            "source": {"location": "people.csv", "columns": {"x": "integer"}},
            "query": [{"name": "q", "kind": "count", "where": "x > 3", "epsilon": 1}],
        },
        folder,
    )
    assert "derive" not in release_content(execute.release(plan))


def test_a_plan_is_written_back_equal(folder: Path) -> None:
    plan = parse_plan(PLAN, folder)
    assert parse_plan(write_plan(plan), folder) == plan


def with_text(old: str, new: str) -> Plan:
    assert old in PLAN
    return parse_plan(PLAN.replace(old, new), Path("/"))


@pytest.mark.parametrize(
    ("old", "new"), [("bin(x, 10)", "bin(x, 11)"), ('["NA"]', '["NULL"]'), ("then true", "then  true")]
)
def test_the_digest_covers_derivations_and_markers(old: str, new: str) -> None:
    assert plan_digest(with_text(old, new)) != plan_digest(parse_plan(PLAN, Path("/")))


def test_columns_may_be_a_list_of_tables() -> None:
    entry = '[{ column = "x", kind = "integer", missing = ["NA"] }, { column = "region", kind = "text" }]'
    plan = with_text('{ x = { kind = "integer", missing = ["NA"] }, region = "text" }', entry)
    assert plan == parse_plan(PLAN, Path("/"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"bin(x, 10)"', "3", r"\[derive\]: decade must be a text in quotes, got a whole number"),
        ('"bin(x, 10)"', '"bin(x, "', "derive.decade, at character 8: expected a column"),
        ('"bin(x, 10)"', '"decade + 1"', "derive must not go round in a circle"),
        ('["NA"]', '"NA"', "missing must be a list"),
        ('["NA"]', "[1]", "missing must be a list of at most 100 texts"),
        ('missing = ["NA"]', 'absent = ["NA"]', '"columns.x.absent" is not known here'),
        ('kind = "integer", ', "", "kind is missing"),
    ],
)
def test_a_slip_in_a_plan_is_one_line_that_names_its_key(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        with_text(old, new)


def test_a_derived_column_that_names_persons_is_refused_before_the_charge(folder: Path) -> None:
    text = PLAN.replace("[derive]", '[unit]\ncolumn = "decade"\nrows = 1\n[derive]')
    with pytest.raises(InputError, match="unit must be by a column of the table itself"):
        execute.release(parse_plan(text, folder))


def lookup_plan(folder: Path) -> tuple[Plan, Path]:
    """A plan with a lookup, and its public table."""
    regions = folder / "regions.csv"
    regions.write_text("code,country\nn,1\nS,2\n")
    lookup = '[[lookup]]\nlocation = "regions.csv"\non = { region = "code" }\ntake = { country = "land" }\n[[query]]'
    text = PLAN.replace("[[query]]", lookup).replace("{ decade = [0, 10, 20] }", "{ land = [1, 2] }")
    return parse_plan(text, folder), regions


def test_a_public_table_that_changes_while_a_plan_runs_is_refused_before_the_charge(folder: Path) -> None:
    plan, regions = lookup_plan(folder)
    with execute.prepare_release(plan) as prepared:
        regions.write_text("code,country\nn,2\nS,1\n")
        with pytest.raises(InputError, match=r"lookup regions.csv: location must not change while a plan runs"):
            prepared.spend()
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        assert budget_ledger.state("b").spent == 0


def test_a_lookup_is_in_the_plan_the_digest_and_the_release(folder: Path) -> None:
    plan, regions = lookup_plan(folder)
    assert parse_plan(write_plan(plan), folder) == plan
    digest, release = plan_digest(plan), execute.release(plan)
    assert release_content(release)["source"]["lookups"] == [
        {
            "name": "regions.csv",
            "on": {"region": "code"},
            "take": {"country": "land"},
            "fingerprint": hashlib.sha256(regions.read_bytes()).hexdigest(),
        }
    ]
    assert parse_release(json.dumps(release_content(release))) == release
    regions.write_text("code,country\nn,1\nS,3\n")
    assert plan_digest(plan) != digest


@pytest.mark.parametrize("name", ["other", "Other", "x"])
def test_a_new_name_that_an_unused_column_of_a_csv_file_has_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_text("id,other,x\n1,2,3\n")
    source = {"location": "t.csv", "columns": {"id": "integer", "other": "integer", "x": "integer"}}
    plan = {"neighbours": "add-remove", "budget": "b", "source": source, "derive": {name: "id + 1"}}
    query = {"name": "a", "kind": "count", "epsilon": "1/10"}
    with pytest.raises(InputError, match=f"derive.{name} must be a new name"):
        execute.preview(plan_from_mapping(plan | {"query": [query]}, tmp_path))
