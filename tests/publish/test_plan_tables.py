"""Tables in plans: read, written, released and read again; refused in one line where they do not fit together."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from utmost import ledger
from utmost.cli import run
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.publish.release_file import release_content, release_from_content, release_schema
from utmost.queries.tables import TableLevel

TOWNS = [["north", "a"], ["north", "b"], ["south", "c"]]
PEOPLE = "id,region,town,sex\n" + "".join(
    f"{number},{region},{town},{sex}\n"
    for number, (region, town, sex) in enumerate(
        [("north", "a", "m")] * 30 + [("north", "b", "f")] * 20 + [("south", "c", "m")] * 40 + [("south", "a", "f")] * 5
    )
)
KEYS: dict[str, Any] = {"columns": ["region", "town"], "cells": TOWNS}
TABLE: dict[str, Any] = {
    "name": "places",
    "levels": [[], ["region"], ["region", "town"]],
    "keys": KEYS,
    "epsilon": 1,
    "shares": [1, 1, 2],
}
HEAD: dict[str, Any] = {
    "neighbours": "add-remove",
    "budget": "b",
    "source": {
        "location": "people.csv",
        "columns": {"id": "integer", "region": "text", "town": "text", "sex": "text"},
    },
}


def plan_of(table: dict[str, Any], folder: Path | None = None, **head: Any) -> Plan:
    return plan_from_mapping({**HEAD, "table": [{**TABLE, **table}], **head}, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "towns.csv").write_text("region,town\nnorth,b\nsouth,c\nnorth,a\nnorth,a\n")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(100), Fraction(1, 2), neighbours="add-remove"))
    return tmp_path


def test_a_table_becomes_a_query_for_each_level_with_its_share_of_the_price() -> None:
    plan = plan_of({})
    assert [spec.name for spec in plan.queries] == ["places: total", "places: region", "places: region, town"]
    assert [spec.epsilon for spec in plan.queries] == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    assert all(isinstance(spec.query, TableLevel) for spec in plan.queries)


def test_a_table_takes_its_share_of_the_plan_and_its_levels_theirs() -> None:
    content = {"epsilon": 3, "query": [{"name": "q", "kind": "count", "where": "sex = 'm'"}]}
    table = {key: value for key, value in TABLE.items() if key != "epsilon"}
    plan = plan_from_mapping({**HEAD, **content, "table": [{**table, "share": 2}]})
    assert [spec.epsilon for spec in plan.queries] == [1, Fraction(1, 2), Fraction(1, 2), 1]


@pytest.mark.parametrize(
    "table",
    [
        {},
        {
            "keys": {"region": ["north", "south"], "sex": ["m", "f"]},
            "levels": [["region"], ["region", "sex"]],
            "shares": "equal",
        },
        {"keys": {**KEYS, "sex": ["m"]}, "levels": [["region"], ["sex", "town", "region"]], "shares": ["1/3", "0.5"]},
        {"totals": [{"rows": 100}, {"keys": {"region": "north"}, "rows": 60}], "other": True, "where": "sex = 'm'"},
        {"zeros": [{"region": "north", "town": "b"}], "workload": "cells"},
        {"keys": {"region": ["n", "s"], "sex": ["m", "f"]}, "levels": "marginals:2", "shares": [1, 2, 3, 4]},
    ],
    ids=["tree", "crossed", "both", "known", "zeros", "marginals"],
)
def test_a_plan_with_tables_is_written_and_read_back_equal(table: dict[str, Any], tmp_path: Path) -> None:
    plan = plan_of(table, tmp_path)
    again = parse_plan(write_plan(plan), tmp_path)
    assert again == plan
    assert plan_digest(again) == plan_digest(plan)


def test_prices_of_all_kinds_are_written_and_read_back_equal(tmp_path: Path) -> None:
    unpriced = {key: value for key, value in TABLE.items() if key not in ("epsilon", "shares")}
    prices: list[dict[str, Any]] = [{"error": 9}, {"rho": "1/8", "noise": "gaussian", "delta": "1/1000"}, {"share": 3}]
    for price in prices:
        total = {"epsilon": 1} if "share" in price else {}
        plan = plan_from_mapping({**HEAD, **total, "table": [{**unpriced, **price}]}, tmp_path)
        assert parse_plan(write_plan(plan), tmp_path) == plan


def test_keys_of_a_public_file_take_its_place_once_each(folder: Path) -> None:
    plan = plan_of({"keys": {"location": "towns.csv", "columns": ["region", "town"]}}, folder)
    assert plan.tables[0].table.finest_cells == (("north", "a"), ("north", "b"), ("south", "c"))
    with pytest.raises(InputError, match="must be a public file, got the table itself"):
        plan_of({"keys": {"location": "people.csv", "columns": ["region", "town"]}}, folder)
    (folder / "towns.csv").write_text("region,town\nnorth,b\n,c\n")
    with pytest.raises(InputError, match="got a row without region"):
        plan_of({"keys": {"location": "towns.csv", "columns": ["region", "town"]}}, folder)


def test_the_builder_makes_the_same_plan_as_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    columns = HEAD["source"]["columns"]
    protected = utmost.table("people.csv", columns=columns, neighbours="add-remove")
    builder = protected.plan(budget="b")
    known = [{"keys": {"region": "north"}, "rows": 50}]
    builder.table("places", keys=KEYS, levels=[[], ["region"], ["region", "town"]], epsilon=1, totals=known)
    again = builder.table("places", keys=KEYS, levels=[[], ["region"], ["region", "town"]], epsilon=1, totals=known)
    assert again is builder
    plan = plan_of({"shares": [1, 1, 1], "totals": known}, folder)
    assert [spec.name for spec in builder.to_plan().queries] == [spec.name for spec in plan.queries]
    assert builder.to_plan().tables[0].table == plan.tables[0].table
    (folder / "again.toml").write_text(builder.to_toml())
    assert utmost.read_plan(folder / "again.toml").to_plan().queries == builder.to_plan().queries
    with pytest.raises(InputError, match="another table of the plan has"):
        builder.table("places", keys=KEYS, levels=[["region", "town"]], epsilon=1)
    assert list(builder.tables) == ["places"]
    assert "places" in repr(builder)
    assert len(builder.remove("places")) == 0


# Releases


def test_a_release_has_its_tables_and_is_read_back_equal(folder: Path) -> None:
    plan = plan_of({"totals": [{"rows": 90}], "epsilon": 200}, folder)
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        budget_ledger.open(ledger.Budget("large", Fraction(1000), neighbours="add-remove"))
    content = {**HEAD, "budget": "large", "table": [{**TABLE, "totals": [{"rows": 90}], "epsilon": 300}]}
    release = utmost.release(plan_from_mapping(content, folder))
    assert release["places: region, town"].value == (30, 20, 40)  # the five rows of south, a are in no cell
    assert (release["places: total"].value, release["places: region"].value) == ((90,), (50, 40))
    assert release.tables == (plan.tables[0].table,)
    assert release_from_content(json.loads(release_file.release_to_json(release))) == release
    jsonschema.validate(release_content(release), release_schema())


@pytest.mark.parametrize("noise", ["gaussian", "canonical", "best"])
def test_tables_have_other_noise_too(folder: Path, noise: str) -> None:
    plan = plan_of({"noise": noise, "delta": "1/1000000"}, folder)
    release = utmost.release(plan)
    assert release_from_content(release_content(release)) == release
    assert release.epsilon <= 1
    assert release.delta <= Fraction(1, 10**6)


def test_gaussian_answers_of_tables_are_unbiased_and_may_be_negative(folder: Path) -> None:
    """Fifty cells that nobody is in: some are released below 0, and least squares leaves none out."""
    keys = {"region": ["north", "south"], "sex": list("abcdefghijklmnopqrstuvwxyz")}
    content = {"keys": keys, "levels": [["region"], ["region", "sex"]], "shares": "equal", "noise": "gaussian"}
    release = utmost.release(plan_of({**content, "delta": "1/1000000"}, folder))
    finest = release["places: region, sex"]
    assert isinstance(finest.value, tuple)
    assert min(finest.value) < 0  # but with probability below 10^-13
    assert finest.mechanism.absorbing_ends == (None, None)  # type: ignore[attr-defined]
    document = release_content(release)
    assert document["queries"][1]["mechanism"]["clamped"] is False
    jsonschema.validate(document, release_schema())
    assert release_from_content(json.loads(release_file.release_to_json(release))) == release
    for altered in (True, None, 0):
        document["queries"][1]["mechanism"]["clamped"] = altered
        with pytest.raises(InputError):
            release_from_content(document)
    assert release.table("places").estimate().least_squares.unused == 0


def test_altered_tables_are_refused(folder: Path) -> None:
    content = release_content(utmost.release(plan_of({"totals": [{"rows": 90}]}, folder)))
    release_from_content(content)
    changes: list[tuple[list[Any], Any]] = [
        (["tables", 0, "name"], "other"),
        (["tables", 0, "where"], "sex = 'm'"),
        (["tables", 0, "other"], True),
        (["tables", 0, "cells"], [["north", "a"], ["north", "b"]]),
        (["tables", 0, "cells"], [["north", "a"], ["north", "a"], ["south", "c"]]),
        (["tables", 0, "cells"], [["north", "a"], ["north", "b"], ["south", "d"]]),
        (["tables", 0, "cells"], [["north", "a"], ["north"], ["south", "c"]]),
        (["tables", 0, "keys", "region"], ["north"]),
        (["tables", 0, "levels", 1, "columns"], ["town"]),
        (["tables", 0, "levels", 1, "query"], "places: town"),
        (["tables", 0, "levels"], []),
        (["tables", 0, "totals", 0, "value"], -1),
        (["tables", 0, "totals", 0, "cell"], ["north"]),
        (["tables"], []),
        (["tables"], 3),
        (["queries", 1, "columns"], ["town"]),
        (["queries", 1, "cells"], [["south"], ["north"]]),
        (["queries", 1, "table"], "another"),
        (["queries", 1, "value"], [1, 2, 3]),
        (["queries", 1, "value"], [1, -2]),
        (["queries", 1, "value"], [1, True]),
        (["queries", 1, "sensitivity"], 2),
        (["queries", 1, "mechanism", "epsilon"], "1/8"),
        (["queries", 1, "epsilon"], "1/8"),
        (["queries", 1, "name"], "places: regions"),
    ]
    for path, value in changes:
        altered = copy.deepcopy(content)
        place = altered
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(InputError):
            release_from_content(altered)
    fewer = {**content, "queries": content["queries"][:2]}
    with pytest.raises(InputError, match="must be the levels of table"):
        release_from_content(fewer)


def test_rows_outside_the_keys_change_no_outcome_but_the_numbers(folder: Path) -> None:
    plan = plan_of({"epsilon": 20, "other": True}, folder)
    release = utmost.release(plan)
    assert [len(answer.value) for answer in release] == [1, 3, 4]  # type: ignore[arg-type]
    assert release["places: region"].cell_names == ("north", "south", "other")


# Bad input

BAD_TABLES: list[tuple[dict[str, Any], str]] = [
    ({"levels": [["region"], ["regoin"]]}, "did you mean region?"),
    ({"levels": [["region", "town"], ["town", "region"]]}, r"must differ, got \[region, town\] twice"),
    ({"levels": [["region"]]}, "must use every column of keys, got none with town"),
    ({"levels": []}, "must be 1 to 100 lists of columns, got 0"),
    ({"levels": "marginals:3"}, "marginals:1 to marginals:2"),
    ({"levels": ["region"]}, "must be a list of lists of columns"),
    ({"levels": [["region", "region"]]}, "got region twice"),
    ({"shares": [1, 0, 2]}, "must be > 0 and at most 1000000, got 0"),
    ({"shares": [1, 2]}, "must be a number for each of 3 levels, got 2"),
    ({"workload": "prefixes"}, "did you mean prefix?"),
    ({"workload": "marginal:2"}, "did you mean marginals:2?"),
    ({"workload": "marginals:7"}, "marginals:1 to marginals:2"),
    ({"keys": {"a": "1..5000", "b": "1..2000"}, "levels": [["a", "b"]]}, "at most 100000 cells, got 10000000"),
    ({"keys": {**KEYS, "n": "1..99999"}, "levels": [["region", "town", "n"]]}, "at most 100000 cells, got 299997"),
    ({"keys": {**KEYS, "town": ["a"]}}, "must have each column once"),
    ({"keys": {"columns": ["region", "town"], "cells": [["n", "a"], ["n", "a"]]}}, "got n, a twice"),
    ({"keys": {"columns": ["region", "town"], "cells": [["n"]]}}, "must be lists of 2 keys each"),
    ({"keys": {"columns": ["region", "town"], "cells": []}}, "must be at least one combination"),
    ({"zeros": [{"region": "west"}]}, "must have keys of region that are listed, got west"),
    ({"zeros": [{"place": "west"}]}, "must name columns of keys, got place"),
    ({"zeros": [{"region": "north"}, {"region": "south"}]}, "must leave at least one cell"),
    (
        {"zeros": [{"region": "south"}], "totals": [{"keys": {"region": "south"}, "rows": 5}]},
        "must have keys|zeros and keys leave",
    ),
    ({"totals": [{"rows": 90}, {"rows": 91}]}, "must be of different cells, got the whole table twice"),
    (
        {"totals": [{"rows": 9}, {"keys": {"region": "north"}, "rows": 10}]},
        "must add up: the whole table has 9 rows, and its parts 10",
    ),
    (
        {"totals": [{"rows": 30}, *({"keys": {"region": r}, "rows": 10} for r in ("north", "south"))]},
        "must add up: the whole table has 30 rows, and its parts 20",
    ),
    ({"totals": [{"rows": -1}]}, "must have rows from 0"),
    ({"total": 3}, "did you mean totals?"),
    ({"error": 5}, "error must not be given with epsilon"),
    ({"epsilon": 0}, "must be > 0"),
    ({"name": "x" * 98}, "1 to 100 printable characters"),
    (
        {"keys": {"columns": ["region", "town"], "cells": [["n", "a"], ["s", "a"]]}, "levels": [["region"], ["town"]]},
        "must partition region: town a is in region n and in region s",
    ),
]


@pytest.mark.parametrize(("table", "message"), BAD_TABLES, ids=[message[:40] for _, message in BAD_TABLES])
def test_a_table_that_does_not_fit_together_is_refused_in_one_line(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        plan_of(table)
    assert "\n" not in str(refusal.value)


def test_a_bad_table_charges_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = write_plan(plan_of({}, folder)).replace('columns = ["region", "town"]', 'columns = ["region", "twon"]')
    plan = plan.replace('["region", "town"]]', '["region", "twon"]]')
    (folder / "plan.toml").write_text(plan)
    assert run(["release", str(folder / "plan.toml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        assert budget_ledger.history("b") == []
