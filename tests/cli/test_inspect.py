"""`utmost inspect`: exact numbers for the curator, which say on every line that they are not for publication."""

from __future__ import annotations

from pathlib import Path

import pytest

from utmost.reports.inspection import PREFIX

ROWS = """person,age,pay,place
a,12,1.5,north
a,NA,2,south
a,14,.,north
b,NA,99,east
b,200,1e9,north
,7,,north
c,-1,5,
"""
PLAN = """
neighbours = "add-remove"
budget = "b"
[source]
location = "t.csv"
columns = { person = "text", age = "integer", pay = "number", place = "text" }
[unit]
column = "person"
rows = 1
[[query]]
name = "many"
kind = "count"
where = "age > 0"
epsilon = 1
[[query]]
name = "pay"
kind = "mean"
column = "pay"
low = 0
high = 10
step = 0.1
nulls = "drop"
epsilon = 1
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(ROWS)
    Path("plan.toml").write_text(PLAN)


def test_every_line_says_that_it_is_not_for_publication(utmost):
    result = utmost("inspect", "plan.toml")
    lines = result.out.splitlines()
    assert result.code == 0
    assert len(lines) > 10
    assert all(line.startswith(PREFIX) for line in lines)
    for fact in [
        "column age: 2 values do not fit its kind and count as missing",
        "column age: most frequent of these: 'NA' (2)",
        "column age: kinds that fit every value: text",
        "unit person: 2 of 3 persons have more than 1 row, which leaves out 3 rows; the most is 3 rows",
        "query many: selects 4 rows",
        "query many: 1 of 2 persons has more than 1 row, which leaves out 1 row; the most is 2 rows",
        "query pay: 2 values missing; of the others 0 (0 %) below 0, 2 (40 %) above 10",
    ]:
        assert PREFIX + fact in lines


@pytest.mark.parametrize(("other", "persons"), [("false", "0 of 2 persons have"), ("true", "2 of 3 persons have")])
def test_a_query_in_cells_has_its_values_and_the_persons_of_its_cells(utmost, other, persons):
    cells = f'keys = {{ place = ["north"] }}\nother = {other}\nprobabilities = ["1/4", "1/2"]'
    Path("plan.toml").write_text(PLAN.replace('"mean"', '"quantile"') + cells)
    lines = utmost("inspect", "plan.toml").out.splitlines()
    assert PREFIX + "query pay: 2 values missing; of the others 0 (0 %) below 0, 2 (40 %) above 10" in lines
    assert any(line.startswith(f"{PREFIX}query pay: {persons} more than 1 row") for line in lines)


def test_the_json_says_so_too_and_has_the_numbers(utmost):
    document = utmost("inspect", "plan.toml", "--json").document
    assert document["publish"] is False
    columns = {column["name"]: column for column in document["columns"]}
    assert columns["age"]["misfits"] == 2
    assert columns["age"]["markers"] == [{"text": "NA", "count": 2}]
    assert columns["person"] | {"missing": 1, "misfits": 0, "markers": []} == columns["person"]
    assert document["unit"] == {
        "column": "person", "rows": 1, "groups": None, "persons": 3, "over": 2, "left_out": 3, "largest": 3
    }  # fmt: skip
    assert document["queries"][1]["shares"] == {"below": "0", "above": "2/5"}


def test_nothing_is_written_and_no_ledger_is_needed(utmost):
    before = sorted(Path().iterdir())
    utmost("inspect", "plan.toml")
    assert sorted(Path().iterdir()) == before


def test_markers_are_few_short_and_without_control_characters(utmost):
    texts = ["\x1b[2J" + "x" * 50, *(f"odd{k}" for k in range(9))]
    Path("t.csv").write_text("person,age,pay,place\n" + "".join(f"a,{text},1,n\n" * 2 for text in texts))
    result = utmost("inspect", "plan.toml")
    assert "\x1b" not in result.out
    assert "\\x1b[2Jxxx" in result.out
    assert "x" * 21 not in result.out
    columns = utmost("inspect", "plan.toml", "--json").document["columns"]
    markers = next(column["markers"] for column in columns if column["name"] == "age")
    assert len(markers) == 5
    assert all(marker["count"] == 2 for marker in markers)


def test_kinds_that_are_not_declared_are_said_to_be_found(utmost):
    Path("plan.toml").write_text(PLAN.replace('age = "integer", ', ""))
    Path("t.csv").write_text("person,age,pay,place\na,1,1,n\nb,,2,n\n")
    result = utmost("inspect", "plan.toml")
    assert PREFIX + "column age: integer (found in the file, not declared), 1 value missing" in result.out.splitlines()
    assert PREFIX + "column age: kinds that fit every value: integer, number, truth, text" in result.out.splitlines()


def test_a_unit_of_groups_is_inspected_query_by_query(utmost):
    plan = PLAN.split("[[query]]")[0].replace("rows = 1", "groups = 1")
    query = '[[query]]\nname = "places"\nkind = "histogram"\nkeys = { place = ["north", "south"] }\nepsilon = 1\n'
    Path("plan.toml").write_text(plan + query)
    fact = "query places: 1 of 2 persons has more than 1 group, which leaves out 1 group; the most is 2 groups"
    assert PREFIX + fact in utmost("inspect", "plan.toml").out.splitlines()


def test_a_plan_that_cannot_run_is_refused_in_one_line(utmost):
    Path("plan.toml").write_text(PLAN.replace("age > 0", "agge > 0"))
    result = utmost("inspect", "plan.toml")
    assert (result.code, result.out) == (2, "")
    assert "did you mean age?" in result.err


def test_new_columns_of_a_csv_file_are_inspected_with_those_they_are_made_of(utmost):
    derived = 'derive = { decade = "bin(age, 10)" }\nbudget = "b"'
    keys = 'name = "decades"\nkind = "count"\nkeys = { decade = [10, 20], place = ["North", "north"] }\nepsilon = 1\n'
    Path("plan.toml").write_text(PLAN.replace('budget = "b"', derived) + f"[[query]]\n{keys}")
    result = utmost("inspect", "plan.toml")
    assert result.code == 0
    assert "column decade: integer, 2 values missing" in result.out
    assert "column age: 2 values do not fit its kind" in result.out
    assert "query decades: 2 of them in a listed cell; 3 listed cells without a row" in result.out
    document = utmost("inspect", "plan.toml", "--json").document
    assert (document["queries"][2]["in_cells"], document["queries"][2]["empty_cells"]) == (2, 3)


LOOKUP = """
[[lookup]]
location = "places.csv"
on = { place = "code" }
take = ["size", "since"]
columns = { size = "integer", since = "date" }
"""


def test_values_of_a_public_table_that_do_not_fit_their_kind_are_told(utmost):
    Path("places.csv").write_text("code,size,since,rest\nnorth,many,2020-01-01,?\nsouth,NA,,?\neast,NA,2020-02-30,?\n")
    Path("plan.toml").write_text(PLAN.replace("[unit]", LOOKUP + "[unit]").replace("age > 0", "size > 0"))
    lines = utmost("inspect", "plan.toml").out.splitlines()
    assert [line for line in lines if "lookup" in line] == [
        PREFIX + "lookup places.csv: column size: 3 values do not fit kind integer and count as missing",
        PREFIX + "lookup places.csv: column size: most frequent of these: 'NA' (2), 'many' (1)",
        PREFIX + "lookup places.csv: column since: 1 value does not fit kind date and counts as missing",
        PREFIX + "lookup places.csv: column since: most frequent of these: '2020-02-30' (1)",
    ]
    document = utmost("inspect", "plan.toml", "--json").document
    assert document["lookups"][0] == {
        "lookup": "places.csv",
        "column": "size",
        "kind": "integer",
        "misfits": 3,
        "markers": [{"text": "NA", "count": 2}, {"text": "many", "count": 1}],
    }


def test_of_a_public_table_whose_values_fit_nothing_is_told(utmost):
    Path("places.csv").write_text("code,size,since\nnorth,1,2020-01-01\nsouth,,\n")
    Path("plan.toml").write_text(PLAN.replace("[unit]", LOOKUP + "[unit]").replace("age > 0", "size > 0"))
    result = utmost("inspect", "plan.toml")
    assert result.code == 0
    assert "lookup" not in result.out
    assert utmost("inspect", "plan.toml", "--json").document["lookups"] == []
