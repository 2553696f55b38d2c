"""`utmost plan`."""

from __future__ import annotations

import pytest

import utmost as ut

PLAN = """neighbours = "add-remove"
budget = "b"
source = { location = "bundled:anes96" }
[[table]]
name = "votes"
levels = [[], ["educ"], ["educ", "vote"]]
keys = { educ = "1..7", vote = [0, 1] }
epsilon = 1
[[table]]
name = "ages"
levels = [["vote"]]
keys = { vote = [0, 1] }
epsilon = 1
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def test_the_document_has_what_python_has(utmost, plan):
    document = utmost("plan", "plan.toml", "--table", "votes", "--json").document["tables"][0]
    (comparison,) = ut.strategies("plan.toml", table="votes")
    assert (document["table"], document["cells"], document["epsilon"]) == ("votes", 14, "1")
    for shown, one in zip(document["strategies"], comparison.strategies, strict=True):
        assert shown["strategy"] == one.name
        assert [level["share"] for level in shown["levels"]] == [str(share) for share in one.shares]
        assert shown["variance"] >= one.variance
        assert shown["c"] >= one.c
        assert shown["gain"] <= one.gain
    assert document["least_variance"] <= comparison.least_variance
    assert not (plan / "ledger.sqlite").exists()


def test_all_tables_of_a_plan_are_shown(utmost, plan):
    result = utmost("plan", "plan.toml")
    assert "Strategies for votes: 14 cells" in result.out
    assert "Strategies for ages: 2 cells" in result.out
    assert "No linear unbiased" in result.out


@pytest.mark.slow
def test_a_table_needs_no_plan(utmost, plan):
    for options in (
        ("--tree", "4x4", "--epsilon", "1"),
        ("--columns", "3x3", "--rho", "0.1"),
        ("--cells", "9", "--rho", "0.1", "--workload", "ranges"),
    ):
        document = utmost("plan", *options, "--json").document["tables"][0]
        assert all(one["c"] >= 1 for one in document["strategies"])
    utmost("plan", "--tree", "4x4", "--rho", "0.1", "--plot", "plan.svg")
    assert (plan / "plan.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "PLAN, --cells, --tree or --columns must be given"),
        (("plan.toml", "--tree", "2x2"), "one of them"),
        (("plan.toml", "--table", "x"), "table must be one of votes, ages"),
        (("plan.toml", "--plot", "p.svg"), "--plot must be of one table"),
        (("--tree", "2x2"), "epsilon or rho must be given"),
        (("--tree", "2x2", "--epsilon", "1", "--rho", "1"), "epsilon or rho must be given, one of the two"),
        (("--tree", "2x2", "--table", "a", "--rho", "1"), "--table must be given with a plan"),
        (("--tree", "2x", "--rho", "1"), "whole numbers with x between"),
        (("--tree", "999x999x9", "--rho", "1"), "cells must be 1 to 100000"),
        (("--cells", "0", "--rho", "1"), "cells must be 1 to 100000, got 0"),
        (("--cells", "4x4", "--rho", "1"), "--cells must be one number"),
        (("--cells", "4", "--rho", "1", "--workload", "levels"), "workload must be cells, prefix or ranges"),
        (("--cells", "4", "--rho", "nan"), "rho"),
        (("--cells", "4", "--epsilon", "-1"), "epsilon must be from 10^-9 to 1000"),
        (("--cells", "4", "--epsilon", "1e9"), "epsilon must be from 10^-9 to 1000"),
        (("--columns", "3x3", "--rho", "1", "--workload", "marginals:3"), "marginals:1 to marginals:2"),
        (("--columns", "x".join(["2"] * 12), "--rho", "1", "--workload", "marginals:6"), "at most 100"),
        (("absent.toml",), "plan must name a readable text file"),
    ],
)
def test_bad_input_is_refused_in_one_line(utmost, plan, arguments, message):
    result = utmost("plan", *arguments)
    assert result.code == 2
    assert message in result.err
    assert len(result.err.splitlines()) == 1
