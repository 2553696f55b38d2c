"""`utmost budget`: open, show, list, history."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from utmost.errors import InputError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost, open_ledger
from utmost.ledger.ledger import user_name

LEDGER = ("--ledger", "ledger.sqlite")


def charge(*costs, budget="survey", part=None, fingerprint="f"):
    with open_ledger("ledger.sqlite") as ledger:
        query_costs = tuple(QueryCost(query, Fraction(epsilon), "geometric", 2) for query, epsilon in costs)
        release_cost = ReleaseCost(budget, "row", "replace", query_costs, part, "0123456789abcdef" * 4, fingerprint)
        entry = ledger.charge(release_cost)
        ledger.store_release(entry.id, "{}")


def test_a_budget_is_opened_shown_and_listed(utmost):
    document = utmost("budget", "open", "survey", "--epsilon", "0.7", *LEDGER, "--json").document
    assert document["opened"].endswith("Z")
    assert document == {
        "name": "survey",
        "epsilon": "7/10",
        "delta": "0",
        "composition": "pure",
        "measure": "ε",
        "limit": "7/10",
        "unit": "row",
        "neighbours": "replace",
        "remember": True,
        "opened": document["opened"],
        "spent": "0",
        "left": "7/10",
        "delta_spent": "0",
        "delta_left": "0",
        "closed": None,
        "charges": 0,
        "chain": document["chain"],
    }
    assert utmost("budget", "show", "survey", *LEDGER, "--json").document == document
    utmost("budget", "open", "people", "--epsilon", "1", "--unit", "person", "--no-remember", *LEDGER)
    budgets = utmost("budget", "list", *LEDGER, "--json").document["budgets"]
    assert budgets[0] == document
    assert (budgets[1]["unit"], budgets[1]["remember"]) == ("person", False)


def test_a_budget_of_loss_distributions_is_opened(utmost):
    arguments = ("--epsilon", "1", "--delta", "1e-6", "--composition", "pld", "--neighbours", "add-remove")
    document = utmost("budget", "open", "panel", *arguments, *LEDGER, "--json").document
    assert (document["delta"], document["composition"], document["neighbours"]) == ("1/1000000", "pld", "add-remove")
    assert "1 at δ = 0.000001, privacy-loss distributions" in utmost("budget", "show", "panel", *LEDGER).out


def test_a_budget_with_delta_is_approximate_and_shows_what_is_left_of_both(utmost):
    document = utmost("budget", "open", "found", "--epsilon", "1", "--delta", "1e-6", *LEDGER, "--json").document
    assert (document["composition"], document["delta_left"]) == ("approximate", "1/1000000")
    text = " ".join(utmost("budget", "show", "found", *LEDGER).out.split())
    assert "1 at δ = 0.000001, ε and δ add up spent 0, δ 0 in 0 charges left 1, δ 0.000001" in text


def test_a_budget_is_closed_and_says_so(utmost):
    utmost("budget", "open", "survey", "--epsilon", "1", *LEDGER)
    charge(("votes", "1/10"))
    document = utmost("budget", "close", "survey", *LEDGER, "--json").document
    assert (document["spent"], document["closed"][-1]) == ("1/10", "Z")
    assert "closed" in utmost("budget", "show", "survey", *LEDGER).out
    with pytest.raises(InputError, match="was closed"):
        charge(("votes", "1/10"))


def test_spent_and_left_are_shown_exactly(utmost):
    utmost("budget", "open", "survey", "--epsilon", "1", *LEDGER)
    charge(("votes", "1/10"), ("ages", "1/5"))
    result = utmost("budget", "show", "survey", *LEDGER)
    assert result.code == 0
    assert "0.3 in 1 charge\n" in "\n".join(line.rstrip() + "\n" for line in result.out.splitlines())
    assert "0.7" in result.out
    charge(("votes", "1/3"))
    document = utmost("budget", "show", "survey", *LEDGER, "--json").document
    assert (document["spent"], document["left"], document["charges"]) == ("19/30", "11/30", 2)
    assert "19/30" in utmost("budget", "list", *LEDGER).out


def test_history_has_every_charge_with_its_costs(utmost):
    utmost("budget", "open", "survey", "--epsilon", "1", *LEDGER)
    charge(("votes", "1/10"), ("ages", "1/5"), part=Part("region", "north", "text", None, "x"))
    charge(("votes", "1/10"), fingerprint=None)
    document = utmost("budget", "history", "survey", *LEDGER, "--json").document
    first, second = document["charges"]
    assert (document["name"], document["spent"], document["left"]) == ("survey", "2/5", "3/5")
    assert first == {
        "entry": 1,
        "charged": first["charged"],
        "plan": "0123456789abcdef" * 4,
        "fingerprint": "f",
        "part": {**first["part"], "column": "region", "equals": "north", "kind": "text", "table": None},
        "epsilon": "3/10",
        "delta": "0",
        "charged_by": user_name(),
        "source": None,
        "table": None,
        "costs": [
            {"query": "votes", "epsilon": "1/10", "law": "geometric", "steps": 2, "delta": "0"},
            {"query": "ages", "epsilon": "1/5", "law": "geometric", "steps": 2, "delta": "0"},
        ],
        "kept": True,
        "unit_kind": None,
        "chain": first["chain"],
    }
    assert document["chain"] == second["chain"] != first["chain"]
    assert (second["entry"], second["part"], second["kept"], second["fingerprint"]) == (2, None, False, None)
    text = utmost("budget", "history", "survey", *LEDGER).out
    assert {"votes,", "ages"} <= set(text.split())
    assert "spent 0.4, left 0.6" in text


DATABASE_PLAN = """
neighbours = "replace"
budget = "survey"
source = {{ location = "folder/people.duckdb", table = "{table}" }}
query = [{{ name = "many", kind = "count", where = "x > 3", epsilon = 0.1 }}]
"""


def test_history_says_which_table_of_a_database_was_charged_and_names_no_file(utmost):
    import duckdb

    Path("folder").mkdir()
    with duckdb.connect("folder/people.duckdb") as connection:
        for table in ("people", "visits"):
            connection.execute(f"CREATE TABLE {table} AS SELECT range AS x FROM range(9)")
    utmost("budget", "open", "survey", "--epsilon", "1")
    for table in ("people", "visits"):
        Path("plan.toml").write_text(DATABASE_PLAN.format(table=table))
        utmost("release", "plan.toml")
    first, second = utmost("budget", "history", "survey", "--json").document["charges"]
    assert (first["table"], second["table"]) == ("people", "visits")
    assert first["source"] == second["source"]
    assert len({first["plan"], second["plan"]}) == 2
    text = utmost("budget", "history", "survey").out
    assert "visits" in text
    assert "people.duckdb" not in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("show",), "NAME"),
        (("show", "survey"), "ledger ledger.sqlite must exist"),
        (("open", "survey", *LEDGER), "--epsilon"),
        (("open", "survey", "--epsilon", "0", *LEDGER), "epsilon must be > 0"),
        (("open", "survey", "--epsilon", "ten", *LEDGER), "--epsilon must be a number"),
        (
            ("open", "survey", "--epsilon", "1", "--delta", "0.1", "--composition", "pure", *LEDGER),
            "say composition approximate, zcdp or pld",
        ),
        (("open", "survey", "--epsilon", "1", "--delta", "1", *LEDGER), "delta must be from 0 to below 1"),
        (("open", "survey", "--epsilon", "1", "--composition", "rdp", *LEDGER), "composition must be pure or approx"),
        (("close", "none", "--ledger", "there.sqlite"), "no budget 'none' in this ledger"),
        (
            ("open", "survey", "--epsilon", "1", "--neighbours", "x", *LEDGER),
            "neighbours must be replace or add-remove",
        ),
        (("open", "", "--epsilon", "1", *LEDGER), "name of a budget must be"),
        (("open", "there", "--epsilon", "1", "--ledger", "there.sqlite"), "budget 'there' must have a new name"),
        (("show", "none", "--ledger", "there.sqlite"), "no budget 'none' in this ledger"),
        (("show", "survey", "--ledger", "none.sqlite"), "ledger none.sqlite must exist"),
        (("list", "--ledger", "."), "must be a file, got a directory"),
        (("list", "--ledger", "people.csv"), "must be a ledger"),
        (("list", "--ledger", "mysql://ann:secret@db/x"), "ledger must be a file"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_line_and_code_2(utmost, tmp_path, arguments, expected):
    (tmp_path / "people.csv").write_text("name,age\nann,3\n")
    with open_ledger("there.sqlite", tmp_path) as ledger:
        ledger.open(Budget("there", Fraction(1)))
    result = utmost("budget", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert expected in result.err
    assert "secret" not in result.err
    assert "ann" not in result.err


def test_a_server_that_is_not_there_is_one_line_and_code_1(utmost):
    pytest.importorskip("psycopg", reason="psycopg is not installed: make engines")
    result = utmost("budget", "list", "--ledger", "postgresql://ann:secret@127.0.0.1:1/ledger")
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert "ledger postgresql://127.0.0.1:1/ledger cannot be reached" in result.err
    assert "secret" not in result.err


def test_the_group_shows_its_commands_and_each_its_examples(utmost):
    result = utmost("budget")
    assert result.code == 0
    assert all(f"  {name} " in result.out for name in ("open", "show", "list", "history"))
    for name in ("open", "show", "list", "history"):
        page = utmost("budget", name, "--help")
        assert "--json" in page.out
        assert "utmost budget" in page.out.split("Examples:")[1]
        assert max(map(len, page.out.splitlines())) <= 80


@pytest.mark.parametrize("control", ["\n", "\x1b", "\u202e", "\x9b"], ids=ascii)
def test_a_ledger_takes_no_text_with_a_control_character(utmost, control):
    result = utmost("budget", "open", "survey", "--epsilon", "1", "--unit", f"id{control}x", *LEDGER)
    assert result.code == 2
    assert "unit must have texts without control characters" in result.err
    hostile = f"a{control}b"
    costs = (QueryCost("q", Fraction(1)),)
    for fields in (
        {"unit": hostile},
        {"plan": hostile},
        {"fingerprint": hostile},
        {"part": Part("r", hostile)},
        {"part": Part(hostile, "north")},
        {"costs": (QueryCost(hostile, Fraction(1)),)},
    ):
        with pytest.raises(InputError, match="without control characters"):
            ReleaseCost(**{"budget": "survey", "unit": "row", "neighbours": "replace", "costs": costs} | fields)


def test_the_list_says_which_budgets_are_closed_and_what_is_left_of_delta(utmost):
    utmost("budget", "open", "first", "--epsilon", "1", *LEDGER)
    utmost("budget", "open", "second", "--epsilon", "1", "--delta", "1e-6", *LEDGER)
    header, _, *rows = utmost("budget", "list", *LEDGER).out.splitlines()
    assert "closed" not in header
    assert [row.split()[-2] for row in rows] == ["0", "0.000001"]
    utmost("budget", "close", "first", *LEDGER)
    header, _, first, second = utmost("budget", "list", *LEDGER).out.splitlines()
    place = header.index("closed")
    assert first[place : place + 2] == "20"
    assert second[place : place + 2] == "  "
