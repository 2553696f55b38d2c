"""`utmost release`."""

from __future__ import annotations

import json
import shlex

import pytest

from utmost.publish import release_file

PLAN = """
title = "People"
neighbours = "{relation}"
budget = "b"
[source]
location = "people.csv"
columns = {{ x = "integer" }}
{source}
[[query]]
name = "many"
kind = "count"
where = "x > 3"
epsilon = 0.1
[[query]]
name = "cells"
kind = "histogram"
keys = {{ x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] }}
epsilon = 0.2
[[query]]
name = "typical"
kind = "mean"
column = "x"
low = 0
high = 10
step = 1
nulls = "drop"
epsilon = 0.3
[[query]]
name = "middle"
kind = "quantile"
column = "x"
low = 0
high = 10
step = 1
nulls = "drop"
probability = 0.5
epsilon = 0.4
"""


@pytest.fixture
def people(tmp_path, utmost):
    """Writes a table and a plan, and opens a budget of ε 2."""

    def write_plan(relation="replace", source=""):
        (tmp_path / "people.csv").write_text("x\n" + "\n".join(str(k % 10) for k in range(200)) + "\n")
        (tmp_path / "plan.toml").write_text(PLAN.format(relation=relation, source=source))
        result = utmost("budget", "open", "b", "--epsilon", "2", "--neighbours", relation, "--ledger", "ledger.sqlite")
        assert result.code == 0, result.err
        return tmp_path

    return write_plan


def test_a_dry_run_shows_cost_and_accuracy_and_leaves_nothing_behind(utmost, people):
    folder = people()
    result = utmost("release", "plan.toml", "--dry-run")
    text = " ".join(result.out.split())
    assert "Cost ε 1; budget b: ε 0 spent, ε 2 left, ε 1 after it" in text
    assert "many count 0.1 1 9.983 30" in text
    assert "divided by the number of rows in the mean" in text
    assert not list(folder.glob("*.json"))
    assert utmost("budget", "show", "b", "--ledger", "ledger.sqlite", "--json").document["spent"] == "0"


def test_a_dry_run_as_a_document_has_every_query_with_its_law(utmost, people):
    people()
    document = utmost("release", "plan.toml", "--dry-run", "--json").document
    assert (document["dry_run"], document["cost"], document["units"]) == (True, "1", 200)
    assert [q["sensitivity"] for q in document["queries"]] == [1, 2, 20, 2]
    assert "value" not in document["queries"][0]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_release_writes_its_file_and_shows_values_guarantee_and_ledger(utmost, people, relation):
    folder = people(relation)
    result = utmost("release", "plan.toml")
    assert result.code == 0, result.err
    release = release_file.read_release(folder / "plan.release.json")
    text = " ".join(result.out.split())
    assert f"many {release['many'].value} " in text
    assert "Guarantee:" in text
    assert "Ledger: entry 1, budget b, ε 1 left." in text
    assert "wrote" in result.err
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_document_on_stdout_is_the_file(utmost, people):
    folder = people()
    document = utmost("release", "plan.toml", "--json", "--output", "elsewhere.json").document
    assert document == json.loads((folder / "elsewhere.json").read_text())
    assert not (folder / "plan.release.json").exists()


def test_the_third_release_finds_the_budget_empty_and_the_file_of_the_second_untouched(utmost, people):
    folder = people()
    utmost("release", "plan.toml")
    utmost("release", "plan.toml")
    second = (folder / "plan.release.json").read_text()
    result = utmost("release", "plan.toml")
    assert result.code == 2
    assert result.err == (
        "utmost: budget 'b' has ε 0 left, this plan costs 1: lower its epsilons or open a new budget; "
        "to repeat a release for free, its plan needs a fingerprint\n"
    )
    assert (folder / "plan.release.json").read_text() == second


def test_a_remembered_release_is_free_and_says_so(utmost, people):
    folder = people(source='fingerprint = "v1"')
    utmost("release", "plan.toml")
    first = (folder / "plan.release.json").read_text()
    result = utmost("release", "plan.toml")
    assert "the ledger remembers this release: nothing was spent" in result.err
    assert (folder / "plan.release.json").read_text() == first


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("epsilon = 0.1", "epsilo = 0.1", 'query "many": epsilon is missing: is "epsilo" a misspelling of it?'),
        ("low = 0\nhigh = 10", "low = 10\nhigh = 0", 'query "typical": low must be below high'),
        ("x > 3", "y > 3", "x"),
        ('location = "people.csv"', 'location = "nobody.csv"', "location must be a file that exists"),
        ('budget = "b"', 'budget = "c"', "no budget 'c' in this ledger"),
    ],
)
def test_a_mistake_in_a_plan_is_one_line_with_exit_code_2(utmost, people, old, new, expected):
    folder = people()
    text = (folder / "plan.toml").read_text()
    (folder / "plan.toml").write_text(text.replace(old, new, 1))
    result = utmost("release", "plan.toml")
    assert result.code == 2
    assert expected in result.err
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert not (folder / "plan.release.json").exists()


def test_a_release_is_not_a_plan(utmost, people):
    people()
    utmost("release", "plan.toml")
    result = utmost("release", "plan.release.json")
    assert (result.code, result.err.endswith(": this is a release, not a plan\n")) == (2, True)


def test_a_misspelt_budget_is_recognised(utmost, people):
    folder = people()
    utmost("budget", "open", "survey", "--epsilon", "1")
    text = (folder / "plan.toml").read_text()
    (folder / "plan.toml").write_text(text.replace('budget = "b"', 'budget = "survye"', 1))
    assert "not open yet: did you mean 'survey'?" in " ".join(utmost("release", "plan.toml", "--dry-run").out.split())
    assert utmost("release", "plan.toml").err == "utmost: no budget 'survye' in this ledger: did you mean 'survey'?\n"


def test_a_plan_that_is_not_there_is_refused(utmost):
    result = utmost("release", "nobody.toml")
    assert result.code == 2
    assert result.err == "utmost: plan must name a readable text file, got nobody.toml: no such file or directory\n"


def test_a_dry_run_of_a_short_budget_shows_its_table_and_what_is_missing_and_ends_with_code_2(utmost, people):
    folder = people()
    utmost("release", "plan.toml")
    (folder / "plan.toml").write_text((folder / "plan.toml").read_text().replace("epsilon = 0.4", "epsilon = 0.7"))
    result = utmost("release", "plan.toml", "--dry-run")
    text = " ".join(result.out.split())
    assert result.code == 2
    assert "Cost ε 1.3; budget b: ε 1 spent, ε 1 left; needs ε 0.3 more" in text
    assert "many count 0.1 1 9.983 30" in text
    assert result.err.startswith("utmost: budget 'b' has ε 1.0 left, this plan costs 1.3: ")
    document = json.loads(utmost("release", "plan.toml", "--dry-run", "--json").out)
    assert document["ledger"] == {"budget": "b", "spent": "1", "left": "1", "after": None, "missing": "3/10"}
    assert len(document["queries"]) == 4
    assert utmost("release", "plan.toml").err == result.err


def test_the_command_that_a_dry_run_suggests_opens_the_budget_that_the_plan_needs(utmost, people):
    folder = people()
    text = PLAN.format(relation="add-remove", source="").replace('budget = "b"', 'budget = "my first"')
    (folder / "plan.toml").write_text(text.replace("[source]", '[unit]\ncolumn = "x"\nrows = 2\n[source]'))
    document = utmost("release", "plan.toml", "--dry-run", "--json").document
    command = document["ledger"]["open"]
    assert command == "utmost budget open 'my first' --epsilon 1 --unit x --neighbours add-remove"
    shown = utmost("release", "plan.toml", "--dry-run")
    assert command in " ".join(shown.out.split())
    refused = utmost("release", "plan.toml")
    assert refused.code == 2
    assert refused.err.endswith(f"open it: {command}\n")
    assert utmost(*shlex.split(command)[1:]).code == 0
    assert utmost("release", "plan.toml").code == 0


def test_a_budget_of_another_unit_is_refused_with_the_command_that_opens_one_of_the_plans(utmost, people):
    folder = people()
    (folder / "plan.toml").write_text(PLAN.format(relation="add-remove", source=""))
    result = utmost("release", "plan.toml", "--dry-run")
    assert result.code == 2
    assert "utmost budget open NAME --epsilon 1 --unit row --neighbours add-remove" in result.err


def test_a_ledger_elsewhere_is_named_in_the_command_and_a_url_is_not(utmost, people):
    folder = people()
    text = PLAN.format(relation="replace", source="").replace('budget = "b"', 'budget = "c"\nledger = "other.sqlite"')
    (folder / "plan.toml").write_text(text)
    assert "--ledger other.sqlite" in utmost("release", "plan.toml", "--dry-run", "--json").document["ledger"]["open"]
    (folder / "plan.toml").write_text(text.replace("other.sqlite", str(folder / "other.sqlite")))
    assert "--ledger LEDGER" in utmost("release", "plan.toml", "--dry-run", "--json").document["ledger"]["open"]
