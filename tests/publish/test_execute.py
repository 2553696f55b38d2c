"""Whole releases: what is charged, when, and what is left when something goes wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import utmost
from utmost import ledger
from utmost.data.selection import PrivacyUnit
from utmost.data.table import Table
from utmost.errors import BudgetError, DataError, InputError, UtmostError
from utmost.ledger.costs import ROW
from utmost.publish import execute, release_file
from utmost.publish.plans import plan_from_mapping
from utmost.publish.release_file import release_content
from utmost.queries.answer_mechanisms.lattice import PreparedNoise

PEOPLE = "person,x,region,score\n" + "".join(f"{k // 3},{k % 10},{'ns'[k % 2]},{k / 7:.3f}\n" for k in range(60))
KINDS = {"person": "integer", "x": "integer", "region": "text", "score": "number"}
SOURCE = {"location": "people.csv", "columns": KINDS}
EARLIER_RELEASE = '{"schema": "utmost-release/1"}'  # an output may replace a release alone
COUNT = {"name": "q", "kind": "count", "where": "x > 3", "epsilon": "1/10"}
BOUNDS = {"column": "score", "low": 0, "high": 8, "step": "1/4", "nulls": "drop"}
ALL_QUERIES: list[dict[str, Any]] = [
    COUNT,
    {"name": "h", "kind": "histogram", "keys": {"region": ["n", "s", "e"], "x": [1, 2]}, "epsilon": "1/5"},
    {"name": "s", "kind": "sum", "epsilon": 1, **BOUNDS},
    {"name": "m", "kind": "mean", "epsilon": 1, **BOUNDS},
    {"name": "m0", "kind": "mean", "epsilon": 1, **BOUNDS, "nulls": 2},
    {"name": "z", "kind": "quantile", "probability": "1/2", "epsilon": 1, **BOUNDS},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_folder = tmp_path_factory.mktemp("run")
    (data_folder / "people.csv").write_text(PEOPLE)
    return data_folder


@pytest.fixture
def budget_ledger(folder: Path) -> Iterator[ledger.Ledger]:
    """A new ledger with a budget for every unit and relation."""
    (folder / "ledger.sqlite").unlink(missing_ok=True)
    with ledger.open_ledger("ledger.sqlite", folder) as new_ledger:
        for unit in ("row", "person"):
            for relation in ("replace", "add-remove"):
                new_ledger.open(ledger.Budget(f"{unit} {relation}", Fraction(10), unit=unit, neighbours=relation))
        yield new_ledger


def plan(
    folder: Path,
    *queries: dict[str, Any],
    relation: str = "replace",
    unit: dict[str, Any] | None = None,
    **entries: Any,
) -> Any:
    name = "row" if unit is None else "person"
    content = {
        "neighbours": relation,
        "budget": f"{name} {relation}",
        "source": SOURCE,
        "query": list(queries) or [COUNT],
        **({} if unit is None else {"unit": unit}),
        **entries,
    }
    return plan_from_mapping(content, folder)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", [None, {"column": "person", "rows": 2}], ids=["rows", "persons"])
def test_a_plan_of_every_kind_is_released_charged_and_read_back(
    folder: Path, budget_ledger: ledger.Ledger, relation: str, unit: dict[str, Any] | None
) -> None:
    full_plan = plan(folder, *ALL_QUERIES, relation=relation, unit=unit, output="out.json")
    release = utmost.release(full_plan)
    assert release.epsilon == full_plan.epsilon == budget_ledger.state(full_plan.budget).spent == release.entry.spent
    assert [answer.epsilon for answer in release] == [query_spec.epsilon for query_spec in full_plan.queries]
    assert release_file.read_release(folder / "out.json") == release
    assert release.units == (None if relation == "add-remove" else 60 if unit is None else 20)
    assert len(release["h"].value) == 6  # type: ignore[arg-type]
    assert all(0 <= release[name].value <= 8 for name in ("m", "m0", "z"))  # type: ignore[operator]


def test_a_preview_says_what_a_release_will_do_and_spends_nothing(folder: Path, budget_ledger: ledger.Ledger) -> None:
    preview = execute.preview(plan(folder, *ALL_QUERIES))
    assert budget_ledger.state("row replace").spent == 0
    assert preview.cost == Fraction(43, 10)
    assert (preview.spent, preview.left, preview.free, preview.setting.units) == (0, 10, False, 60)
    release = utmost.release(plan(folder, *ALL_QUERIES))
    assert [
        (planned_answer.law.mechanism, planned_answer.error, planned_answer.law.optimal)
        for planned_answer in preview.planned_answers
    ] == [(answer.mechanism, answer.error, answer.optimal) for answer in release]


def test_a_mean_and_a_sum_take_their_steps_from_the_extra_loss_that_is_accepted(
    folder: Path, budget_ledger: ledger.Ledger
) -> None:
    bounds = {"column": "score", "low": 0, "high": 8, "nulls": 0, "epsilon": 1}
    total_plan = plan(
        folder,
        {"name": "m", "kind": "mean", "extra_loss": "1/50", **bounds},
        {"name": "s", "kind": "sum", "extra_loss": "6/5", **bounds},
        {"name": "given", "kind": "mean", "step": "8", **bounds},
    )
    preview = execute.preview(total_plan)
    release = utmost.release(total_plan)
    steps = {name: Fraction(release[name].query_content["step"]) for name in ("m", "s", "given")}
    assert steps["m"] == steps["s"] < steps["given"] == 8  # 60 rows: the sum is 60 times the mean
    for name, extra in (("m", Fraction(1, 50)), ("s", Fraction(6, 5))):
        claim = re.search(r"absolute loss at most (\S+) above the best", release[name].optimal)
        assert claim is not None
        assert 0 < Fraction(claim[1]) <= extra
    assert [planned_answer.law.mechanism for planned_answer in preview.planned_answers] == [
        answer.mechanism for answer in release
    ]
    with pytest.raises(InputError, match='query "m": extra_loss must be left out'):
        utmost.release(
            plan(folder, {"name": "m", "kind": "mean", "extra_loss": "1/50", **bounds}, relation="add-remove")
        )
    with pytest.raises(InputError, match='query "m": extra loss must be one that'):
        utmost.release(plan(folder, {"name": "m", "kind": "mean", "extra_loss": "1e-40", **bounds}))
    assert budget_ledger.state("row replace").spent == 3


def test_asked_again_with_a_fingerprint_it_is_free_and_the_same_and_without_it_is_charged(
    folder: Path, budget_ledger: ledger.Ledger
) -> None:
    source = {**SOURCE, "fingerprint": "v1"}
    first = utmost.release(plan(folder, source=source))
    assert utmost.release(plan(folder, source=source)) == first
    assert execute.preview(plan(folder, source=source)).free
    assert budget_ledger.state("row replace").spent == Fraction(1, 10)
    second = utmost.release(plan(folder, source={**source, "fingerprint": "v2"}))
    assert second.entry.number != first.entry.number
    utmost.release(plan(folder))
    utmost.release(plan(folder))
    assert budget_ledger.state("row replace").spent == Fraction(4, 10)


def test_a_budget_that_is_short_stops_everything_before_the_data_is_asked(
    folder: Path, budget_ledger: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "count", lambda *_: pytest.fail("asked"))
    (folder / "out.json").write_text(EARLIER_RELEASE)
    with pytest.raises(BudgetError, match=r"budget 'row replace' has ε 10 left, this plan costs 11"):
        utmost.release(plan(folder, {**COUNT, "epsilon": 11}, output="out.json"))
    assert budget_ledger.state("row replace").spent == 0
    assert (folder / "out.json").read_text() == EARLIER_RELEASE


def test_the_charge_is_in_the_ledger_when_the_first_noise_is_drawn_and_stays_if_the_draw_fails(
    folder: Path, budget_ledger: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent_amounts = []

    def failing(*_: Any) -> list[int]:
        spent_amounts.append(budget_ledger.state("row replace").spent)
        raise RuntimeError("the machine stops here")

    monkeypatch.setattr(PreparedNoise, "add_noise", failing)
    (folder / "out.json").write_text(EARLIER_RELEASE)
    with pytest.raises(RuntimeError):
        utmost.release(plan(folder, output="out.json"))
    assert spent_amounts == [Fraction(1, 10)]
    assert budget_ledger.state("row replace").spent == Fraction(1, 10)
    assert (folder / "out.json").read_text() == EARLIER_RELEASE


def test_an_engine_that_fails_costs_nothing(
    folder: Path, budget_ledger: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> int:
        raise DataError("the engine could not answer")

    monkeypatch.setattr(Table, "row_sums", failing)
    with pytest.raises(DataError):
        utmost.release(plan(folder))
    assert budget_ledger.state("row replace").spent == 0


def test_nothing_in_a_release_depends_on_the_data_but_its_values(folder: Path, budget_ledger: ledger.Ledger) -> None:
    """Two neighbouring tables give the same document once values, and what they are made of, are taken out."""
    for relation, neighbour in (
        ("replace", PEOPLE.replace("0,0,n,0.000", "0,9,s,7.900")),
        ("add-remove", PEOPLE + "20,3,n,1\n"),
    ):
        (folder / "other.csv").write_text(neighbour)
        (folder / "same").mkdir(exist_ok=True)
        documents = []
        for text in (PEOPLE, neighbour):
            (folder / "same" / "people.csv").write_text(text)
            same_plan = plan(
                folder, *ALL_QUERIES[:3], relation=relation, source={**SOURCE, "location": "same/people.csv"}
            )
            documents.append(_without_values(release_content(utmost.release(same_plan))))
        assert documents[0] == documents[1]


def _without_values(body: dict[str, Any]) -> dict[str, Any]:
    body = deepcopy(body)
    del body["ledger"]
    for query in body["queries"]:
        for key in ("value", "parts", "position"):
            query.pop(key, None)
    return body


def test_an_empty_table_is_refused_under_replace_and_hidden_under_add_remove(
    folder: Path, budget_ledger: ledger.Ledger
) -> None:
    (folder / "empty.csv").write_text("person,x,region,score\n")
    source = {**SOURCE, "location": "empty.csv"}
    with pytest.raises(InputError, match="source must have rows under replace"):
        utmost.release(plan(folder, source=source))
    release = utmost.release(plan(folder, *ALL_QUERIES, relation="add-remove", source=source))
    assert len(release) == len(ALL_QUERIES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": [{**COUNT, "where": "y > 3"}]}, r'query "q": .*y.*person, x, region, score'),
        ({"query": [{**COUNT, "where": "x >"}]}, 'query "q": '),
        ({"query": [{**COUNT, "where": "region > 'a'"}]}, 'query "q": '),
        ({"query": [{"name": "h", "kind": "histogram", "keys": {"x": ["a"]}, "epsilon": 1}]}, 'query "h": keys of x'),
        ({"query": [{"name": "s", "kind": "sum", "epsilon": 1, **BOUNDS, "column": "region"}]}, 'query "s": '),
        ({"query": [{"name": "c", "kind": "count", "epsilon": 1}]}, 'query "c": where must be given'),
        ({"source": {"location": "nobody.csv"}}, "location must be a file that exists"),
        ({"budget": "nobody"}, "no budget 'nobody' in this ledger"),
        ({"budget": "row add-remove"}, "open another budget"),
        ({"output": "nowhere/out.json"}, "output must be in a folder that can be written to"),
        ({"ledger": "nowhere.sqlite"}, "nowhere.sqlite"),
        ({"part": {"column": "reg", "equals": "n"}}, "reg"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line_and_costs_nothing(
    folder: Path, budget_ledger: ledger.Ledger, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as problem:
        utmost.release(plan(folder, **change) if "query" not in change else plan(folder, *change["query"]))
    assert "\n" not in str(problem.value)
    assert all(budget_ledger.state(budget.name).spent == 0 for budget in budget_ledger.budgets())


def test_kinds_found_in_the_rows_are_shown_by_a_preview_and_refused_by_a_release(
    folder: Path, budget_ledger: ledger.Ledger
) -> None:
    """Else one row could make all others mean something else: 7.5 among identifiers, n/a among ages."""
    undeclared_plan = plan(folder, *ALL_QUERIES[:3], source={"location": "people.csv"})
    assert execute.preview(undeclared_plan).guesses == {"x": "integer", "region": "text", "score": "number"}
    with pytest.raises(InputError, match=r'write columns = { x = "integer", region = "text", score = "number" } in'):
        utmost.release(undeclared_plan)
    with pytest.raises(InputError, match=r'write columns = { region = "text", x = "integer", score = "number" } in'):
        utmost.release(plan(folder, *ALL_QUERIES[:3], source={"location": "people.csv", "columns": {"region": "text"}}))
    assert budget_ledger.state("row replace").spent == 0


def test_a_preview_needs_no_open_budget(folder: Path, budget_ledger: ledger.Ledger) -> None:
    preview = execute.preview(plan(folder, budget="not yet"))
    assert (preview.cost, preview.left) == (Fraction(1, 10), None)
    assert execute.preview(plan(folder, ledger="nowhere.sqlite")).left is None


def test_what_is_no_file_is_never_replaced_and_costs_nothing(folder: Path, budget_ledger: ledger.Ledger) -> None:
    (folder / "link.json").symlink_to(folder / "people.csv")
    (folder / "folder.json").mkdir()
    for name in ("link.json", "folder.json", "/dev/null", "/proc/x.json"):
        with pytest.raises(InputError, match="output must be"):
            utmost.release(plan(folder, output=name))
    assert (folder / "people.csv").read_text() == PEOPLE
    assert budget_ledger.state("row replace").spent == 0


def test_a_part_of_the_rows_is_asked_and_composes_in_parallel(folder: Path, budget_ledger: ledger.Ledger) -> None:
    for region in "ns":
        release = utmost.release(plan(folder, relation="add-remove", part={"column": "region", "equals": region}))
        assert release.part is not None
        assert f"the rows with region = {region}" in release.guarantee
    preview = execute.preview(plan(folder, relation="add-remove", part={"column": "region", "equals": "e"}))
    assert (preview.cost, preview.left, preview.after) == (Fraction(1, 10), Fraction(99, 10), Fraction(99, 10))
    assert budget_ledger.state("row add-remove").spent == Fraction(1, 10)
    for region in "ns":
        utmost.release(plan(folder, part={"column": "region", "equals": region}))
    assert budget_ledger.state("row replace").spent == Fraction(2, 10)


TEXTS = st.sampled_from(
    ["x", "score", "region", "person", "nobody", "x > 3", "x = 'a'", "1", "1/3", "drop", "n", "", "0", "-2"]
)
VALUES = TEXTS | st.integers(-3, 12) | st.lists(st.integers(0, 3) | st.sampled_from("ns"), max_size=3) | st.booleans()
QUERIES = st.sampled_from(ALL_QUERIES).flatmap(
    lambda query: st.dictionaries(st.sampled_from([*query, "extra", "where"]), VALUES, max_size=2).map(
        lambda d: {**query, **d}
    )
)
UNITS = st.none() | st.dictionaries(st.sampled_from(["column", "rows", "groups"]), VALUES, max_size=3)
PARTS = st.none() | st.fixed_dictionaries({"column": TEXTS, "equals": VALUES})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(QUERIES, min_size=1, max_size=2), st.sampled_from(["replace", "add-remove"]), UNITS, PARTS)
def test_any_plan_runs_and_is_charged_exactly_or_is_refused_and_costs_nothing(
    folder: Path, budget_ledger: ledger.Ledger, queries: list[dict[str, Any]], relation: str, unit: Any, part: Any
) -> None:
    (folder / "fuzz.json").unlink(missing_ok=True)
    content: dict[str, Any] = {
        "neighbours": relation,
        "source": SOURCE,
        "query": queries,
        "output": "fuzz.json",
    }
    content |= {"budget": f"{'person' if unit else 'row'} {relation}"}
    content |= {key: value for key, value in (("unit", unit), ("part", part)) if value}
    before = {budget.name: len(budget_ledger.history(budget.name)) for budget in budget_ledger.budgets()}
    try:
        release = utmost.release(plan_from_mapping(content, folder))
    except UtmostError as problem:
        assert str(problem)  # noqa: PT017
        assert not (folder / "fuzz.json").exists()
        assert before == {budget.name: len(budget_ledger.history(budget.name)) for budget in budget_ledger.budgets()}
    else:
        assert json.loads((folder / "fuzz.json").read_text()) == release_content(release)
        assert len(budget_ledger.history(content["budget"])) == before[content["budget"]] + 1
    assert not list(folder.glob(".*.part"))


@pytest.mark.parametrize("bounds", [{"rows": 1}, {"groups": 1}], ids=str)
def test_a_person_column_called_row_is_refused_however_the_unit_is_made(bounds: dict[str, int]) -> None:
    """A ledger's word for each row is row: persons would be charged as rows, and their parts in parallel."""
    with pytest.raises(InputError, match="unit column must not be called row"):
        PrivacyUnit("row", **bounds)
    assert (PrivacyUnit().ledger_word, PrivacyUnit("person", 1).ledger_word) == (ROW, "person")
