"""Answers over found cells: what a unit moves, the (ε, δ) of selection and answers together, what is released."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from pyarrow import parquet

import utmost as ut
from utmost.data.cells import Cell
from utmost.data.found_cells import FoundKeys
from utmost.data.grid import Grid
from utmost.data.row_sums import CellSums, Moments
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.noise.selection import selection_law
from utmost.publish import release_file, tidy_table
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.queries import Distinct, Max, Mean, Min, Quantile, Query, Sum, Variance
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.found_query import FoundQuery
from utmost.queries.found_ranks import FoundRanks
from utmost.queries.found_ratios import FoundMean, FoundVariance
from utmost.queries.privacy_setting import PrivacySetting

DELTA = Fraction(1, 10**6)
GRID = Grid(Fraction(-1), Fraction(2), Fraction(1))
UNITS = [PrivacyUnit(), PrivacyUnit("p", rows=1), PrivacyUnit("p", rows=2)]
SETTINGS = [
    PrivacySetting(relation, unit, None, 9 if relation is NeighbourRelation.REPLACE else None)
    for relation in NeighbourRelation
    for unit in UNITS
]
INNER: list[tuple[type[FoundQuery], Query]] = [
    (FoundQuery, Sum("x", GRID, None)),
    (FoundMean, Mean("x", GRID, None)),
    (FoundVariance, Variance("x", GRID, None)),
    (FoundRanks, Quantile("x", GRID, Fraction(1, 3), None)),
    (FoundRanks, Min("x", GRID, None)),
    (FoundRanks, Max("x", GRID, None)),
    (FoundQuery, Distinct("x")),
]
QUERIES = [form(inner, ("g",), DELTA) for form, inner in INNER]
Row = tuple[int, int]  # the cell and the grid position of a kept row


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.kind)
def test_selection_and_answer_together_cost_what_was_paid(query: FoundQuery, setting: PrivacySetting) -> None:
    selected = query.select_mechanism(Fraction(3, 7), setting)
    assert query.actual_epsilon(selected.mechanism, setting) == Fraction(3, 7)
    assert DELTA * (1 - Fraction(1, 10**12)) <= query.actual_delta(selected.mechanism, setting) <= DELTA
    assert selected.optimal.startswith("none claimed: ")


def cell_sums(units: list[tuple[Row, ...]]) -> CellSums:
    """The moments of three cells, as a table that has all of them would answer."""
    cells: list[Cell] = [(cell,) for cell in range(3)]
    rows = [[place for unit in units for cell, place in unit if (cell,) == name] for name in cells]
    return CellSums(tuple(cells), tuple(Moments(len(r), sum(r), sum(p * p for p in r)) for r in rows))


def neighbouring_sums(setting: PrivacySetting) -> Iterator[tuple[CellSums, CellSums]]:
    """The moments of all pairs of neighbouring tables that share one unit of one row."""
    rows = list(product(range(3), range(GRID.size + 1)))
    units = [u for size in range(setting.unit.bound + 1) for u in combinations_with_replacement(rows, size)]
    sums = [cell_sums([((0, 0),), unit]) for unit in units]
    yield from product(sums, sums) if setting.replacing else ((sums[0], other) for other in sums)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("query", QUERIES[:3], ids=lambda query: query.kind)
def test_no_unit_moves_the_sums_of_all_cells_by_more_than_their_epsilon(
    query: FoundQuery, setting: PrivacySetting
) -> None:
    """The rates of the noisy sums times what neighbours move them: at most ε₂, and reached."""
    epsilon = Fraction(1)
    mechanism = query.select_mechanism(epsilon, setting).mechanism
    rates = [part.epsilon for part in mechanism.parts.values() if isinstance(part, GeometricLattice)]
    grouped = PrivacySetting(setting.neighbours, setting.unit, None, setting.units, grouped=True)
    costs = []
    for before, after in neighbouring_sums(setting):
        moves = Fraction(0)
        for one, other in zip(before.moments, after.moments, strict=True):
            pairs = zip(query.inner.answer_from(one, grouped), query.inner.answer_from(other, grouped), strict=True)
            moves += sum((abs(a - b) * rate for (a, b), rate in zip(pairs, rates, strict=False)), Fraction(0))
        costs.append(moves)
    assert max(costs) == epsilon * (1 - query.selection_share)


def test_a_mean_over_found_cells_has_the_total_of_a_mean_over_listed_cells() -> None:
    for setting in SETTINGS:
        found = QUERIES[1].select_mechanism(Fraction(1), setting).mechanism
        grouped = PrivacySetting(setting.neighbours, setting.unit, None, setting.units, grouped=True)
        listed = QUERIES[1].inner.select_mechanism(Fraction(1), grouped).mechanism
        assert found.parts["total"] == listed.total


def test_selection_and_sum_of_one_cell_are_private_together() -> None:
    """e^ε′ = 2 for the selection and for a step of the sum: the hockey stick of all pairs, exactly."""
    law, unit_delta = selection_law(alpha("1/2"), Fraction(1, 20)), Fraction(1, 20)
    noisy_count = {n: law.probability(n) - law.probability(n - 1) for n in range(1, law.last + 1)}
    reach = 40
    noise = {d: Fraction(1, 3) * Fraction(1, 2) ** abs(d) for d in range(-reach, reach + 1)}
    left_out = 1 - sum(noise.values())

    def joint(count: int, total: int) -> dict[Any, Fraction]:
        """Of "not told", or of the noisy count and sum that are told."""
        told = {count - n: mass for n, mass in noisy_count.items() if n <= count}
        law_of = {(y, total + d): mass * weight for y, mass in told.items() for d, weight in noise.items()}
        return law_of | {"not told": 1 - law.probability(count)}

    for count in range(4):
        for (c, t), (c2, t2) in product([(count, 0)], [(count + 1, 1), (count + 1, -1)]):
            for one, other in ((joint(c, t), joint(c2, t2)), (joint(c2, t2), joint(c, t))):
                excess = sum(
                    (max(mass - 4 * other.get(y, Fraction(0)), Fraction(0)) for y, mass in one.items()), Fraction(0)
                )
                assert excess <= unit_delta + left_out


@pytest.mark.parametrize("delta", ["1e-6", "1e-4"])
@pytest.mark.parametrize("epsilon", [1, 5, 10])
def test_the_error_of_a_mean_over_found_cells_is_that_of_both_of_its_noises(epsilon: int, delta: str) -> None:
    """By summing over all noises of the total and of the selection, for a mean at an end of the grid."""
    query = FoundMean(Mean("x", GRID, None), ("g",), Fraction(delta))
    mechanism = query.select_mechanism(Fraction(epsilon), SETTINGS[-3]).mechanism
    error, law, total = query.error_law(mechanism), mechanism.selection.law, mechanism.parts["total"]
    assert isinstance(total, GeometricLattice)
    rate, reach = float(total.epsilon), 300
    total_noise = {d: math.tanh(rate / 2) * math.exp(-rate * abs(d)) for d in range(-reach, reach + 1)}
    row_noise = {n: float(law.probability(n) - law.probability(n - 1)) for n in range(1, law.last + 1)}
    errors = [
        (abs(d - GRID.size * (law.threshold - n)) * total.unit, mass * weight)
        for (d, mass), (n, weight) in product(total_noise.items(), row_noise.items())
    ]
    assert error.expected == pytest.approx(sum(float(distance) * mass for distance, mass in errors))
    for width, is_enough in ((error.half_width, True), (error.half_width - total.unit, False)):
        assert (sum(mass for distance, mass in errors if distance > width) <= 0.05) is is_enough


@pytest.mark.parametrize("rows", [1, 3])
def test_the_mean_of_a_told_cell_lies_in_its_interval_given_that_it_is_told(rows: int) -> None:
    """By summing over the noises of the total and of the selection that tell the cell, at both ends of the grid."""
    query = FoundMean(Mean("x", GRID, None), ("g",), Fraction(1, 10))
    mechanism = query.select_mechanism(Fraction(4), SETTINGS[-3]).mechanism
    law, lattice = mechanism.selection.law, mechanism.parts["total"]
    assert isinstance(lattice, GeometricLattice)
    rate = float(lattice.epsilon)
    for end in (-GRID.size, GRID.size):
        truth, held, told = lattice.value(0) + lattice.unit * end, 0.0, float(law.probability(rows))
        for n, noise in product(range(1, min(rows, law.last) + 1), range(-20, 21)):
            parts = {"total": rows * end + noise, "rows": rows + law.threshold - n}
            value = query.ratio(mechanism, (parts["total"],), parts["rows"])
            ends = query.value_range(mechanism, value, {"parts": parts}, Fraction(1, 20))
            assert ends is not None
            mass = (
                float(law.probability(n) - law.probability(n - 1)) * math.tanh(rate / 2) * math.exp(-rate * abs(noise))
            )
            held += mass if ends[0] <= truth <= ends[1] else 0.0
        assert held >= 0.95 * told


def test_groups_of_a_person_are_refused_where_a_cell_has_values() -> None:
    for query in QUERIES:
        with pytest.raises(InputError, match="unit must bound rows"):
            query.check_unit(PrivacyUnit("p", groups=2))


def test_a_quantile_tells_no_more_cells_than_its_grid_values_allow() -> None:
    wide = Grid(Fraction(0), Fraction(9999), Fraction(1))
    assert FoundRanks(Quantile("x", wide, Fraction(1, 2), None), ("g",), DELTA).max_cells == 200
    assert QUERIES[3].max_cells == 10_000


PLAN = """
neighbours = "add-remove"
budget = "b"
output = "out.json"
epsilon = 40
delta = 0.001

[source]
location = "t.duckdb"
table = "t"

[unit]
column = "p"
rows = 2
"""
NUMBERS = {"column": "x", "low": 0, "high": 10, "step": 1, "nulls": "drop"}
KINDS: dict[str, dict[str, Any]] = {
    "count": {},
    "sum": NUMBERS,
    "mean": NUMBERS,
    "variance": NUMBERS,
    "quantile": NUMBERS | {"probability": "1/2"},
    "quartiles": NUMBERS | {"kind": "quantile", "probabilities": ["1/4", "1/2", "3/4"]},
    "one median": NUMBERS | {"kind": "quantile", "probabilities": ["1/2"]},
    "min": NUMBERS,
    "max": NUMBERS,
    "distinct": {"column": "x"},
}
LISTS = ("quartiles", "one median")  # of quantiles in each cell


def plan_text() -> str:
    tables = []
    for name, keys in KINDS.items():
        entries = {"name": name, "kind": name, "by": ["g"], **keys}
        lines = [f"{key} = {json.dumps(value)}" for key, value in entries.items()]
        tables.append("\n".join(["[[query]]", *lines]))
    return PLAN + "\n\n" + "\n\n".join(tables) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


@pytest.fixture(scope="module")
def released_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a release of every kind over found cells."""
    folder = write_folder(tmp_path_factory.mktemp("released"))
    ut.release(parse_plan(plan_text(), folder))
    return (folder / "out.json").read_text()


def write_folder(tmp_path: Path) -> Path:
    """4000 persons with two rows each, in two large cells, one of one person and one of a NULL."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT n // 2 AS p, CASE WHEN n = 0 THEN 'rare' WHEN n = 1 THEN NULL WHEN n % 2 = 0 "
            "THEN 'a' ELSE 'b' END AS g, CASE WHEN n % 2 = 0 THEN 3 ELSE 7 END AS x FROM range(8000) AS r(n)"
        )
    with ut.ledger.open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(ut.ledger.Budget("b", "100", delta="1/100", unit="p", neighbours="add-remove"))
    return tmp_path


def test_every_kind_is_released_over_found_cells(folder: Path) -> None:
    plan = parse_plan(plan_text(), folder)
    assert parse_plan(write_plan(plan), folder) == replace(plan, output=None)
    release = ut.release(plan)
    assert (release.epsilon, release.delta <= plan.delta) == (40, True)
    document = (folder / "out.json").read_text()
    jsonschema.validate(json.loads(document), release_file.release_schema())
    again = release_file.parse_release(document)
    assert [answer.named_values for answer in again] == [answer.named_values for answer in release]
    values = {answer.name: dict(answer.named_values) for answer in release}
    assert all(set(cells) == {"a", "b"} for name, cells in values.items() if name not in LISTS)
    assert values["one median"] == {"a,1/2": 3, "b,1/2": 7}
    assert values["quartiles"] == {f"{cell},{p}": x for cell, x in (("a", 3), ("b", 7)) for p in ("1/4", "1/2", "3/4")}
    assert abs(values["sum"]["a"] - 3 * 3999) < 600
    assert abs(values["mean"]["b"] - 7) < 1
    assert values["variance"]["a"] < 2
    assert (values["quantile"]["a"], values["quantile"]["b"]) == (3, 7)
    assert abs(values["distinct"]["a"] - 1) < 30
    assert all(abs(count - 3999) < 60 for count in release["mean"].details["counts"])
    for row in tidy_table.tidy_table(again).rows:
        assert row.low is None or Fraction(row.low) <= Fraction(row.value) <= Fraction(str(row.high))
    for answer in again:
        name = "a,1/2" if answer.name in LISTS else "a"
        assert answer.estimate("uniform", "absolute", cell=name).cells == (name,)
        assert name in answer.estimate("uniform", "absolute")._repr_html_()
    assert "one median" in again._repr_html_()


def test_where_no_cell_is_told_the_release_has_empty_lists(folder: Path) -> None:
    plan = parse_plan(plan_text().replace('by = ["g"]', 'by = ["g"]\nwhere = "p < 0"'), folder)
    release = ut.release(plan)
    assert all(answer.value == () for answer in release)
    again = release_file.read_release(folder / "out.json")
    assert [answer.value for answer in again] == [()] * len(KINDS)
    table = tidy_table.tidy_table(again)
    assert table.rows == ()
    table.write(folder / "out.parquet")
    assert parquet.read_table(folder / "out.parquet").column_names == list(table.columns)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("sum", lambda q: q["counts"].__setitem__(0, 1)),
        ("sum", lambda q: q["counts"].append(9999)),
        ("mean", lambda q: q["parts"][0].__setitem__("rows", q["parts"][0]["rows"] + 1)),
        ("mean", lambda q: q["value"].__setitem__(0, "5")),
        ("variance", lambda q: q["parts"][0].__setitem__("total", q["parts"][0]["total"] + 5000)),
        ("quantile", lambda q: q["position"].__setitem__(0, 9)),
        ("sum", lambda q: q["cells"].reverse()),
        ("sum", lambda q: q["mechanism"]["selection"].__setitem__("threshold", 3)),
        ("sum", lambda q: q["mechanism"]["selection"].__setitem__("name", "geometric")),
        ("sum", lambda q: q["mechanism"]["parts"]["answer"].__setitem__("epsilon", "1/3")),
        ("mean", lambda q: q["mechanism"]["parts"].pop("total")),
        ("mean", lambda q: q["mechanism"]["parts"].__setitem__("squares", q["mechanism"]["parts"]["total"])),
        ("mean", lambda q: q["mechanism"]["parts"].__setitem__("answer", q["mechanism"]["parts"]["total"])),
        ("quantile", lambda q: q["mechanism"]["parts"].__setitem__("total", q["mechanism"]["parts"]["answer"])),
        ("distinct", lambda q: q.__setitem__("delta", "0")),
        ("mean", lambda q: q["parts"].__setitem__(0, None)),
        ("mean", lambda q: q.__setitem__("parts", [None, None])),
        ("sum", lambda q: q.__setitem__("cells", [[1], ["b"]])),
        ("count", lambda q: q.__setitem__("cells", [[True], [1]])),
        ("count", lambda q: q.__setitem__("cells", [["a"], ["b" * 201]])),
    ],
)
def test_an_altered_file_is_refused(released_text: str, kind: str, change: Any) -> None:
    document = json.loads(released_text)
    assert release_file.parse_release(json.dumps(document))
    change(next(query for query in document["queries"] if query["name"] == kind))
    with pytest.raises(InputError):
        release_file.parse_release(json.dumps(document))


def test_the_order_of_parts_in_a_file_means_nothing(folder: Path) -> None:
    release = ut.release(parse_plan(plan_text(), folder))
    document = json.loads((folder / "out.json").read_text())
    mechanism = next(query for query in document["queries"] if query["name"] == "variance")["mechanism"]
    mechanism["parts"] = dict(reversed(mechanism["parts"].items()))
    again = release_file.parse_release(json.dumps(document))["variance"]
    assert again == release["variance"]
    assert again.mechanism.value_unit == release["variance"].mechanism.value_unit


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("delta = 0.001\n", "", "by needs delta"),
        ('by = ["g"]', 'by = ["g"]\nkeys = { g = ["a"] }', "by must not be together with keys"),
        ("rows = 2", "groups = 2", "unit must bound rows"),
        ('kind = "min"', 'kind = "top"\nk = 1', "by must be given with kind"),
    ],
)
def test_what_cannot_be_asked_over_found_cells_is_one_line_before_any_charge(
    folder: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ut.release(parse_plan(plan_text().replace(old, new), folder))
    with ut.ledger.open_ledger("ledger.sqlite", folder) as ledger:
        assert ledger.state("b").spent == 0


def test_a_request_of_found_cells_keeps_the_selection() -> None:
    request = QUERIES[0].request(SETTINGS[-1])
    assert request is not None
    assert request.grouping == FoundKeys(("g",))


def test_a_name_that_two_cells_have_is_not_read_as_one_of_them(tmp_path: Path) -> None:
    """Commas stand between keys, and within them."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT CASE n % 2 WHEN 0 THEN 'a,b' ELSE 'a' END AS g, "
            "CASE n % 2 WHEN 0 THEN 'c' ELSE 'b,c' END AS h FROM range(2000) AS r(n)"
        )
    with ut.ledger.open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(ut.ledger.Budget("b", "100", delta="1/100", neighbours="add-remove"))
    queries = (
        {"name": "found", "by": ["g", "h"], "delta": "1e-6"},
        {"name": "listed", "keys": {"g": ["a,b", "a"], "h": ["c", "b,c"]}},
    )
    content = {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "t.duckdb", "table": "t"},
        "query": [{"kind": "count", "epsilon": 1, **query} for query in queries],
    }
    for answer in ut.release(plan_from_mapping(content, tmp_path)):
        assert answer.cell_names.count("a,b,c") == 2
        with pytest.raises(InputError, match="cell must be the name of one cell"):
            answer.estimate("uniform", "absolute", cell="a,b,c", at_most=5000)
        assert answer.estimate("uniform", "absolute", at_most=5000).cells == answer.cell_names
