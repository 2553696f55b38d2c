"""Plans written as TOML are read back equal."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.sources import Source
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan, QuerySpec
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.queries import Count, Histogram, Mean, Quantile, Sum

FOLDER = Path("/folder")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(
    lambda text: not CONTROL_CHARACTER.search(text)  # which no plan may have
)
NAMES = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12).filter(str.isprintable)
FRACTIONS = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000)
EPSILONS = FRACTIONS | st.sampled_from([Fraction(1, 10**12), Fraction(1, 3), Fraction(1, 2**20)])
KEYS = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=3, unique=True),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
    st.lists(st.dates(min_value=date(1000, 1, 1)), min_size=1, max_size=3, unique=True),
)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Bounds that are whole numbers of steps."""
    step, low = draw(FRACTIONS), draw(st.integers(-50, 50))
    return Grid(low * step, (low + draw(st.integers(1, 100))) * step, step)


@st.composite
def queries(draw: st.DrawFn) -> Count | Histogram | Sum | Mean | Quantile:
    """A query of any kind."""
    where = draw(st.none() | TEXTS)
    kind = draw(st.sampled_from(["count", "histogram", "sum", "mean", "quantile"]))
    if kind == "count":
        return Count(where)
    if kind == "histogram":
        return Histogram({name: tuple(draw(KEYS)) for name in draw(st.sets(TEXTS, min_size=1, max_size=2))}, where)
    grid = draw(grids())
    nulls = draw(st.none() | st.sampled_from([grid.low, grid.high]))
    if kind == "quantile":
        return Quantile(draw(TEXTS), grid, draw(st.fractions(0, 1, max_denominator=99)), nulls, where)
    return (Sum if kind == "sum" else Mean)(draw(TEXTS), grid, nulls, where)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan that was read from a text, without an output."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    column = draw(st.none() | TEXTS.filter(lambda word: word != "row"))
    return Plan(
        title=draw(st.none() | TEXTS),
        neighbours=draw(st.sampled_from(NeighbourRelation)),
        budget=draw(TEXTS),
        ledger=draw(st.sampled_from(["ledger.sqlite", "books.sqlite", "postgresql://host/books"])),
        output=None,
        source=Source(draw(TEXTS), draw(st.none() | TEXTS), None, draw(st.dictionaries(TEXTS, TEXTS, max_size=3))),
        fingerprint=draw(st.none() | TEXTS),
        unit=PrivacyUnit() if column is None else PrivacyUnit(column, **{draw(st.sampled_from(["rows", "groups"])): 3}),
        part=draw(st.none() | st.builds(Partition, TEXTS, KEYS.map(lambda keys: keys[0]))),
        queries=tuple(QuerySpec(name, draw(EPSILONS), draw(queries())) for name in names),
        folder=FOLDER,
    )


@given(plans())
def test_a_written_plan_is_read_back_equal_with_the_same_digest(plan: Plan) -> None:
    parsed_plan = parse_plan(write_plan(plan), FOLDER)
    assert parsed_plan == plan
    assert plan_digest(parsed_plan) == plan_digest(plan)


@given(FRACTIONS)
def test_an_accepted_extra_loss_is_written_instead_of_the_step(extra: Fraction) -> None:
    plan = parse_plan(
        f"""
        neighbours = "replace"
        budget = "b"
        source = {{ location = "bundled:anes96" }}
        [[query]]
        name = "m"
        kind = "mean"
        column = "age"
        low = 18
        high = 91
        nulls = 48
        extra_loss = "{extra}"
        epsilon = 1
        """,
        FOLDER,
    )
    text = write_plan(plan)
    assert "step" not in text
    assert parse_plan(text, FOLDER) == plan


def test_the_output_is_left_to_whoever_runs_the_plan() -> None:
    plan = parse_plan(
        'neighbours = "replace"\nbudget = "b"\noutput = "out.json"\nsource = {}\n'
        'query = [{ name = "c", kind = "count", epsilon = 1 }]',
        FOLDER,
    )
    assert "out.json" not in write_plan(plan)
    assert parse_plan(write_plan(plan), FOLDER) == replace(plan, output=None)


PRICED_PLAN = """
neighbours = "add-remove"
budget = "b"
epsilon = 1
delta = 3e-6
source = { location = "flights.parquet" }
query = [
    { name = "all", kind = "count", share = 2 },
    { name = "late", kind = "count", where = "delay > 15" },
    { name = "own", kind = "count", where = "delay > 60", epsilon = "1/3" },
    { name = "places", kind = "count", by = ["dest"] },
    { name = "origins", kind = "count", by = ["origin"], delta = 1e-6 },
]
"""


def test_the_price_of_a_whole_plan_is_written_as_it_was_said() -> None:
    plan = parse_plan(PRICED_PLAN, FOLDER)
    assert [query_spec.epsilon * 15 for query_spec in plan.queries] == [4, 2, 5, 2, 2]
    assert [query_spec.delta * 10**6 for query_spec in plan.queries] == [0, 0, 0, 2, 1]
    text = write_plan(plan)
    assert text.count("epsilon = ") == 2
    assert text.count("share = 2\n") == text.count("share") == 1
    assert text.count("delta = ") == 2
    assert parse_plan(text, FOLDER) == plan


def test_derived_columns_lookups_and_cells_are_written_as_they_were_said() -> None:
    plan = parse_plan(
        """
        neighbours = "add-remove"
        budget = "b"
        source = { location = "flights.csv", columns = { dest = { kind = "text", missing = ["NA", ""] } } }
        derive = { late = "delay > 15" }
        lookup = [{ location = "a.csv", on = { dest = "faa" }, take = { tz = "zone" }, columns = { tz = "integer" } }]
        query = [
            { name = "a", kind = "count", keys = { zone = [-5, -6] }, other = true, error = 5 },
            { name = "b", kind = "distinct", column = "dest", domain = ["A", "B"], epsilon = 1 },
        ]
        """,
        FOLDER,
    )
    assert parse_plan(write_plan(plan), FOLDER) == plan
