"""The form of a plan: what it means, what is wrong with it, and that it is seen through without reading a row."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from curator_helpers import SURVEY, open_budget, write_visits
from utmost.data.cells import Grouping
from utmost.data.engines.schema import ColumnKind
from utmost.data.grid import Grid
from utmost.data.lookup import Lookup
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.sources import Source, open_table, source_columns
from utmost.errors import InputError
from utmost.publish import execute, plan_writer, plans
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan, QuerySpec, used_columns
from utmost.publish.wanted_errors import WantedError
from utmost.queries import Count, Histogram, Mean, Over, Quantile, Sum
from utmost.queries.distinct import Distinct
from utmost.queries.found_count import FoundCount
from utmost.queries.grouped import GroupedQuery
from utmost.queries.quantiles import Quantiles
from utmost.queries.top import Top
from utmost.reports.numbers import Rounding, amount, at_most, quantity
from utmost.reports.preview import describe
from utmost.studio.curator import draft_columns, draft_preview, forms, plan_builder, plan_drafts, tables
from utmost.studio.curator.forms import KeyColumn, PlanDraft, QueryDraft, parse_form
from utmost.studio.rendering import FormattedNumber

VISITS = {"person": "integer", "age": "integer", "pay": "number", "clinic": "text", "born": "date"}
SHORT_TEXTS = st.text(st.characters(exclude_categories=["C"]), max_size=8)
EPSILONS = st.fractions(Fraction(1, 100), 5, max_denominator=100)
WHERE = st.sampled_from([None, "age >= 65", "clinic = 'north' and pay > 10.5", "born is null"])
DERIVE = {"double": "2 * pay", "old": "age > 65 and tz < -5"}
LOOKUP = Lookup("ages.csv", {"age": "years"}, {"zone": "tz"}, {"zone": "integer"}, {"zone": ("NA",)})
HISTOGRAMS = st.fixed_dictionaries(
    {},
    optional={
        "old": st.sampled_from([(True,), (True, False)]),
        "tz": st.just((-5, -6)),
        "clinic": st.lists(SHORT_TEXTS, min_size=1, max_size=3, unique=True).map(tuple),
        "age": st.lists(st.integers(-9, 99), min_size=1, max_size=6, unique=True).map(tuple),
        "born": st.lists(st.dates(min_value=date(1000, 1, 1)), min_size=1, max_size=2, unique=True).map(tuple),
    },
).filter(bool)


@st.composite
def grids(draw):
    step, low = draw(st.fractions(Fraction(1, 50), 3, max_denominator=50)), draw(st.integers(-20, 20))
    return Grid(low * step, (low + draw(st.integers(1, 60))) * step, step)


@st.composite
def plain_queries(draw, kinds=(Count, Sum, Mean, Quantile, Quantiles, Histogram, Top, Distinct)):
    kind, where = draw(st.sampled_from(kinds)), draw(WHERE)
    if kind is Count:
        return Count(where)
    if kind is Histogram:
        return Histogram(draw(HISTOGRAMS), where, draw(st.booleans()))
    if kind is Top:
        return Top({"age": (1, 2, 5), "tz": (-5, -6)}, draw(st.integers(1, 5)), where)
    if kind is Distinct:
        return Distinct("clinic", draw(st.none() | st.sampled_from([("north",), ("a, b", "")])), where)
    grid, column = draw(grids()), draw(st.sampled_from(["age", "pay", "double"]))
    nulls = draw(st.sampled_from([None, grid.low, grid.high]))
    if kind is Quantile:
        return Quantile(column, grid, draw(st.fractions(0, 1, max_denominator=20)), nulls, where)
    if kind is Quantiles:
        return Quantiles(column, grid, (Fraction(1, 4), Fraction(2, 3)), nulls, where)
    return kind(column, grid, nulls, where)


@st.composite
def queries(draw):
    """A query of any kind, alone, in listed cells or in found ones."""
    if draw(st.integers(0, 3)) == 0:
        by = draw(st.lists(st.sampled_from(["clinic", "tz", "old"]), min_size=1, max_size=3, unique=True))
        return FoundCount(tuple(by), draw(WHERE), Fraction(1, draw(st.integers(2, 10**9))))
    if draw(st.booleans()):
        inner = draw(plain_queries((Count, Sum, Mean, Quantile, Distinct)))
        return GroupedQuery(inner, Grouping(draw(HISTOGRAMS), draw(st.booleans())))
    return draw(plain_queries())


@st.composite
def query_specs(draw, name):
    """A query with an ε of its own, or the error that it wants."""
    query, epsilon = draw(queries()), draw(EPSILONS)
    wanted = draw(st.none() | st.just(WantedError(Fraction(7, 2))))
    return QuerySpec(name, epsilon if wanted is None else Fraction(0), query, wanted)


@st.composite
def visits(draw, folder):
    """A plan on the file of visits, as the form can hold it: names without blanks at their ends."""
    word = SHORT_TEXTS.map(str.strip).filter(str.isprintable)
    names = draw(st.lists(word.filter(bool), min_size=1, max_size=3, unique=True))
    unit = draw(st.sampled_from([PrivacyUnit(), PrivacyUnit("person", rows=2)]))
    plan = Plan(
        title=draw(word) or None,
        neighbours=NeighbourRelation.ADD_REMOVE,
        budget=draw(word),
        ledger="ledger.sqlite",
        output=None,
        source=Source("visits.csv", derive=DERIVE, lookups=(LOOKUP,)),
        fingerprint=draw(word) or None,
        unit=unit,
        part=draw(st.none() | st.builds(Partition, st.just("clinic"), SHORT_TEXTS)),
        queries=tuple(draw(query_specs(name)) for name in names),
        folder=folder,
    )
    used = source_columns(plan.source, used_columns(plan))
    columns = {name: kind for name, kind in VISITS.items() if name in used}
    markers = draw(st.sampled_from([{}, {"age": ("NA", "", "a, b")}]))
    missing = {name: texts for name, texts in markers.items() if name in used}
    return replace(plan, source=replace(plan.source, columns=columns, missing=missing))


@limits(max_examples=40)
@given(st.data())
def test_a_plan_put_into_the_form_comes_out_as_it_was(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    view = tables.SourceView(
        location="visits.csv",
        format="csv",
        table=None,
        tables=[],
        columns=[tables.Column(name=name, kind=kind, found=True) for name, kind in VISITS.items()],
    )
    (folder / "visits.csv").write_text(f"{','.join(VISITS)}\n1,2,3,north,1950-01-02\n")
    (folder / "ages.csv").write_text("years,zone\n1,-5\n2,-6\n")
    settings = plan_builder.Settings(folder=folder, state_folder=folder)
    plan = data.draw(visits(folder))
    draft = plan_drafts.draft_from_plan(plan, view)
    parsed_draft = parse_form(_form_pairs(draft.model_dump()))
    draft_table = draft_columns.draft_table(parsed_draft, settings)
    built_plan = plan_builder.build_plan(parsed_draft, draft_table, settings)
    assert built_plan.problems == ()
    assert built_plan.plan == plan
    assert plans.parse_plan(plan_writer.write_plan(built_plan.plan), folder) == plan


def _form_pairs(content, path=""):
    """A draft as a form sends it."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for name, value in items:
        field_path = f"{path}.{name}" if path else str(name)
        if isinstance(value, dict | list):
            yield from _form_pairs(value, field_path)
        else:
            yield field_path, value


@given(
    st.one_of(
        st.tuples(st.just(ColumnKind.INTEGER), st.lists(st.integers(-(10**6), 10**6), max_size=8)),
        st.tuples(
            st.just(ColumnKind.TEXT), st.lists(SHORT_TEXTS | st.sampled_from(['a "b"', ",", " x ", "1..3"]), max_size=5)
        ),
        st.tuples(st.just(ColumnKind.TRUTH), st.lists(st.booleans(), max_size=2)),
        st.tuples(st.just(ColumnKind.DATE), st.lists(st.dates(min_value=date(1000, 1, 1)), max_size=3)),
    )
)
def test_keys_are_read_as_they_are_spelt(case):
    kind, values = case
    assert forms.parse_keys(forms.keys_text(values), kind, "keys") == values


@given(st.text(max_size=30), st.sampled_from(ColumnKind))
def test_no_text_for_keys_is_more_than_refused(text, kind):
    with suppress(InputError):
        assert len(forms.parse_keys(text, kind, "keys")) <= len(text) + 10**5


def test_a_run_of_keys_that_is_too_long_is_refused():
    for text in ("1..100001", "5..1", "0..99999, 0..99999"):
        with pytest.raises(InputError, match="at most 100000"):
            forms.parse_keys(text, ColumnKind.INTEGER, "keys")


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=20))
def test_no_form_is_more_than_refused(pairs):
    with suppress(InputError):
        assert parse_form([*pairs, ("location", "x.csv")]).location == "x.csv"


@given(
    st.lists(
        st.tuples(st.from_regex(r"queries\.\d\.(name|kind|keys\.\d\.column)", fullmatch=True), st.text(max_size=9))
    )
)
def test_no_form_of_queries_is_more_than_refused(pairs):
    with suppress(InputError):
        assert parse_form(pairs).queries


def draft_with_mistakes(settings) -> PlanDraft:
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    queries = [
        QueryDraft(name="a", epsilon="0", where="age = 1"),
        QueryDraft(name="b", where="agee > 1"),
        QueryDraft(name="c", kind="histogram", keys=[KeyColumn(column="age", values="1, two")]),
        QueryDraft(name="d", kind="mean", column="age", low="0", high="10"),
        QueryDraft(name="e", kind="sum", column="age", low="10", high="1", step="1"),
        QueryDraft(name="f", kind="sum", column="age", low="0", high="1", step="1/0"),
        QueryDraft(name="g", kind="quantile", column="age", low="0", high="9", step="1", probability="2"),
        QueryDraft(name="h", kind="mean", column="age", low="0", high="9", step="1", nulls="never"),
        QueryDraft(name="i"),
        QueryDraft(name="j", kind="sum", low="0", high="1", step="1"),
        QueryDraft(name="", where="age = 1"),
        QueryDraft(name="a", where="age = 1"),
        QueryDraft(name="k", kind="histogram"),
        QueryDraft(name="l", epsilon="exp(1)", where="age = 1"),
    ]
    return draft.model_copy(update={"queries": queries})


def test_everything_wrong_is_said_at_once_beside_its_field_and_what_to_do(settings):
    plan_preview = draft_preview.preview_draft(draft_with_mistakes(settings), settings)
    fields = [problem.field for problem in plan_preview.problems]
    wrong = [
        "epsilon",
        "where",
        "keys",
        "step",
        "low",
        "step",
        "probability",
        "nulls",
        "where",
        "column",
        "name",
        "name",
    ]
    expected = [f"queries.{k}.{name}" for k, name in enumerate([*wrong, "keys", "epsilon"])]
    assert sorted(fields) == sorted(expected)
    assert all(20 < len(problem.message) < 400 for problem in plan_preview.problems)
    assert (plan_preview.plan, plan_preview.cost) == (None, None)


NASTY_TEXTS = (
    "",
    "0",
    "-1",
    "1e-400",
    "1e9999",
    "1/0",
    "2^99999",
    "1/2^999",
    "sqrt(2)",
    "nan",
    "inf",
    "9" * 300,
    "--1",
    "\x00é",
)


def test_no_text_in_any_field_of_a_query_is_more_than_refused(settings):
    numbers = {"column": "age", "low": "0", "high": "100", "step": "1", "nulls": "0"}
    for text, kind in product(NASTY_TEXTS, ("count", "histogram", "sum", "mean", "quantile")):
        base = {
            "name": "q",
            "kind": kind,
            "where": "vote = 1",
            "keys": [KeyColumn(column="educ", values="1..7")],
            **numbers,
        }
        queries = [QueryDraft(**{**base, name: text}) for name in (*numbers, "name", "where", "probability", "epsilon")]
        queries += [QueryDraft(**{**base, "extra_loss": text, "step": ""})]
        queries += [QueryDraft(**{**base, "keys": [KeyColumn(column="educ", values=text)]})]
        plan_preview = draft_preview.preview_draft(
            PlanDraft(queries=queries, part_column="vote", part_equals=text, title=text), settings
        )
        assert all(problem.message.isprintable() for problem in plan_preview.problems)


def test_no_text_of_a_new_column_is_more_than_refused(settings):
    (settings.folder / "ages.csv").write_text("years,word\n70,old\n34,young\n")
    for text in (*NASTY_TEXTS, "derive.a", "a.b", "${x}", "'", "age", '"a', "ages.csv"):
        for column, equals, taken, name in ((text, "years", "word", "w"), ("age", text, "word", text)):
            key = forms.LookupKey(column=column, equals=equals, missing=text, kind="text")
            lookups = [
                forms.LookupDraft(
                    location="ages.csv", on=[key], take=[forms.TakenColumn(column=taken, name=name, missing=text)]
                ),
                forms.LookupDraft(location=text, on=[key]),
            ]
            derived = [
                forms.DerivedColumn(name=text, expression="age + 1"),
                forms.DerivedColumn(name="b", expression=text),
            ]
            query = QueryDraft(name="q", cells="by", by=[text, "b"], delta=text, price="error", error=text, rows=text)
            shared = QueryDraft(name="r", kind="distinct", column="educ", domain=text, price="share", share=text)
            draft = PlanDraft(derived=derived, lookups=lookups, queries=[query, shared], epsilon=text, delta=text)
            plan_preview = draft_preview.preview_draft(draft, settings)
            assert all(problem.message.isprintable() for problem in plan_preview.problems)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"protects": "person"}, "person"),
        ({"protects": "person", "person": "pay"}, "person"),
        ({"protects": "person", "person": "clinic", "bound": "0"}, "bound"),
        ({"protects": "person", "person": "clinic", "bound": "x"}, "bound"),
        ({"part_column": "age", "part_equals": "old"}, "part_equals"),
        ({"part_column": "pay", "part_equals": "1"}, "part_equals"),
        ({"part_column": "age", "part_equals": "1, 2"}, "part_equals"),
        ({"budget": "nobody's"}, "budget"),
        ({"location": "other.csv"}, "location"),
        ({"location": "../visits.csv"}, "location"),
        ({"columns": [{"name": "nobody", "kind": "text"}]}, "columns"),
    ],
    ids=str,
)
def test_what_is_wrong_with_the_whole_plan_is_beside_its_field(settings, change, field):
    write_visits(settings)
    blank = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    blank = blank.model_copy(update={"queries": [QueryDraft(name="old", where="age > 65")]})
    assert draft_preview.preview_draft(blank, settings).problems == []
    plan_preview = draft_preview.preview_draft(PlanDraft.model_validate({**blank.model_dump(), **change}), settings)
    assert field in [problem.field for problem in plan_preview.problems]


def test_the_numbers_are_those_of_a_dry_run(settings):
    open_budget(settings)
    plan = plan_builder.accept_plan(SURVEY, settings)
    plan_preview = draft_preview.preview_draft(
        plan_drafts.draft_from_plan(plan, tables.source_view(settings, "bundled:anes96")), settings
    )
    dry_run = execute.preview(plan)
    assert plan_preview.problems == []
    assert plans.parse_plan(plan_preview.plan or "", settings.folder) == plan
    assert (plan_preview.cost, plan_preview.left, plan_preview.after) == (
        FormattedNumber.of(amount(dry_run.cost, Rounding.UP)),
        FormattedNumber.of(amount(dry_run.left, Rounding.DOWN)),
        FormattedNumber.of(amount(dry_run.after, Rounding.DOWN)),
    )
    content = describe(dry_run).json["queries"]
    for query_preview, answer in zip(plan_preview.queries, dry_run.planned_answers, strict=True):
        assert (query_preview.expected, query_preview.half_width) == (
            FormattedNumber.of(quantity(answer.error.expected)),
            FormattedNumber.of(at_most(answer.error.half_width)),
        )
        assert query_preview.sensitivity == answer.law.sensitivity
    assert [query_preview.optimal for query_preview in plan_preview.queries] == [
        query_preview["optimal"] for query_preview in content
    ]


def test_an_accepted_extra_loss_finds_the_step_of_a_dry_run(settings):
    mean = """
[[query]]
name = "age"
kind = "mean"
column = "age"
low = 18
high = 91
extra_loss = 0.1
nulls = 48
epsilon = 0.1
"""
    plan = plan_builder.accept_plan(SURVEY + mean, settings)
    plan_preview = draft_preview.preview_draft(
        plan_drafts.draft_from_plan(plan, tables.source_view(settings, "bundled:anes96")), settings
    )
    assert plan_preview.queries[2].step == "1/16"  # docs/continuous-grid.md: the coarsest step for this loss
    assert plans.parse_plan(plan_preview.plan or "", settings.folder) == plan


def test_as_epsilon_moves_no_table_is_opened(settings, monkeypatch):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.queries[0].where, draft.queries[0].name = "age > 65", "old"
    first = draft_preview.preview_draft(draft, settings)
    monkeypatch.setattr(tables, "open_table", lambda *_: pytest.fail("a table was opened"))
    errors = []
    for epsilon in ("0.1", "0.2", "1/3", "2"):
        draft.queries[0].epsilon = epsilon
        errors.append(float(draft_preview.preview_draft(draft, settings).queries[0].expected.exact))
    assert first.units == 5
    assert errors == sorted(errors, reverse=True)


def test_units_are_counted_only_where_their_number_is_public(settings, monkeypatch):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft = draft.model_copy(update={"neighbours": "add-remove", "queries": [QueryDraft(name="all")]})
    monkeypatch.setattr(tables, "_unit_count_future", lambda *_: pytest.fail("units were counted"))
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert (plan_preview.units, plan_preview.problems) == (None, [])


def test_a_long_count_goes_on_beside_the_page(settings, monkeypatch):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.queries[0].where, draft.queries[0].name = "age > 65", "old"
    proceed, count_units = threading.Event(), tables._count_units
    monkeypatch.setattr(tables, "COUNT_SECONDS", 0.01)
    monkeypatch.setattr(tables, "_count_units", lambda *arguments: (proceed.wait(10), count_units(*arguments)))
    first = draft_preview.preview_draft(draft, settings)
    assert (first.counting, [problem.field for problem in first.problems]) == (True, ["protects"])
    proceed.set()
    monkeypatch.setattr(tables, "COUNT_SECONDS", 10.0)
    assert (
        draft_preview.preview_draft(draft, settings).units,
        draft_preview.preview_draft(draft, settings).problems,
    ) == (5, [])


def test_a_count_that_fails_is_tried_anew(settings, monkeypatch):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.queries[0].where, draft.queries[0].name = "age > 65", "old"
    with monkeypatch.context() as patch:
        patch.setattr(tables, "open_table", lambda *_: open_table(Source("nothing.csv"), settings.folder))
        assert [problem.field for problem in draft_preview.preview_draft(draft, settings).problems] == ["location"]
    assert draft_preview.preview_draft(draft, settings).units == 5


def test_a_file_that_changed_is_looked_at_again(settings):
    path = write_visits(settings)
    assert len(tables.source_view(settings, "visits.csv").columns) == 5
    path.write_text("a,b\n1,2\n")
    assert [column.name for column in tables.source_view(settings, "visits.csv").columns] == ["a", "b"]


def test_the_plan_declares_the_columns_that_it_uses_and_no_others(settings):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.queries[0].where = "age > 65"
    draft.queries[0].name, draft.budget = "old", "none yet"
    plan = plan_builder.accept_plan(draft_preview.preview_draft(draft, settings).plan or "", settings)
    assert dict(plan.source.columns) == {"age": "integer"}
    assert execute.preview(plan).guesses == {}


def test_the_curve_falls_and_holds_the_point(settings):
    plan_preview = draft_preview.preview_draft(
        PlanDraft(queries=[QueryDraft(name="v", where="vote = 1", epsilon="0.3")]), settings
    )
    data = plan_preview.queries[0].picture.data
    mean = [row for row in data["curve"] if row["line"] == "on average"]
    assert [row["error"] for row in mean] == sorted((row["error"] for row in mean), reverse=True)
    assert data["point"][0]["error"] == float(plan_preview.queries[0].expected.exact)
    assert data["point"][0] in [{"epsilon": row["epsilon"], "error": row["error"]} for row in mean]


def test_a_ledger_with_a_password_is_named_without_it(settings):
    url = "postgresql://ann:secret@db.example:5433/books?sslmode=require"
    assert plan_builder.ledger_without_password(replace(settings, ledger=url)) == "postgresql://db.example:5433/books"


def test_the_price_of_a_whole_plan_is_split_in_the_form_as_in_the_plan(settings):
    priced = SURVEY.replace("epsilon = 0.1", "share = 2").replace('epsilon = "1/3"', "")
    plan = plan_builder.accept_plan(f"epsilon = 0.75\n{priced}", settings)
    draft = plan_drafts.draft_from_plan(plan, tables.source_view(settings, "bundled:anes96"))
    assert [(query.price, query.share) for query in draft.queries] == [("share", "2"), ("share", "1")]
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert [query.epsilon.exact for query in plan_preview.queries] == ["1/2", "1/4"]
    assert plans.parse_plan(plan_preview.plan or "", settings.folder) == plan
    draft.queries[1].keys = []  # what is wrong with one query leaves the price of the other as it is
    assert draft_preview.preview_draft(draft, settings).queries[0].epsilon.exact == "1/2"
    draft.epsilon = "0.001e-300"
    assert [problem.field for problem in draft_preview.preview_draft(draft, settings).problems] == [
        "queries.1.keys",
        "epsilon",
        "budget",
    ]


def test_an_error_that_is_wanted_finds_the_epsilon_of_a_dry_run(settings):
    plan = plan_builder.accept_plan(SURVEY.replace("epsilon = 0.1", "error = 5", 1), settings)
    draft = plan_drafts.draft_from_plan(plan, tables.source_view(settings, "bundled:anes96"))
    assert (draft.queries[0].price, draft.queries[0].error) == ("error", "5")
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert plan_preview.queries[0].epsilon.exact == str(execute.preview(plan).planned_answers[0].spec.epsilon)
    assert "error 5 → ε 0.5382" in " ".join(plan_preview.remarks)


def test_found_cells_cost_delta_of_the_plan_and_of_its_budget(settings):
    open_budget(settings, delta="1e-5")
    query = QueryDraft(name="schools", cells="by", by=["educ"], delta="", epsilon="0.5")
    draft = PlanDraft(queries=[query], budget="survey", delta="3e-6")
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert plan_preview.problems == []
    assert (plan_preview.delta.text, plan_preview.delta_left.text, plan_preview.delta_after.text) == (
        "0.000003",
        "0.00001",
        "0.000007",
    )
    assert "and δ 0.000003" in plan_preview.words
    pure = draft.model_copy(update={"budget": "pure"})
    open_budget(settings, "pure")
    assert "has no δ" in draft_preview.preview_draft(pure, settings).problems[0].message


def test_new_columns_are_offered_and_checked_like_those_of_the_table(settings):
    write_visits(settings)
    (settings.folder / "ages.csv").write_text("years,word\n70,old\n34,young\n")
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.derived = [forms.DerivedColumn(name="decade", expression="bin(age, 10)")]
    key, taken = forms.LookupKey(column="age", equals="years"), forms.TakenColumn(column="word", name="word of age")
    draft.lookups = [forms.LookupDraft(location="ages.csv", on=[key], take=[taken])]
    draft.neighbours, draft.budget = "add-remove", "none yet"
    draft.queries = [
        QueryDraft(name="a", where="decade >= 60"),
        QueryDraft(name="b", cells="keys", keys=[KeyColumn(column="word of age", values="old, young")], other=True),
        QueryDraft(name="c", kind="sum", column="decade", low="0", high="100", step="10"),
        QueryDraft(name="d", where="decade = 'x'"),
    ]
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert [problem.field for problem in plan_preview.problems] == ["queries.3.where", "budget"]
    new_columns = {column.name: column.kind for column in plan_preview.columns[5:]}
    assert new_columns == {"decade": "integer", "word of age": "text"}
    assert [column.name for column in plan_preview.public_columns[0]] == ["years", "word"]
    del draft.queries[3]
    plan = plan_builder.accept_plan(draft_preview.preview_draft(draft, settings).plan or "", settings)
    assert dict(plan.source.columns) == {"age": "integer"}
    assert execute.preview(plan).guesses == {}


def test_a_derived_column_that_is_wrong_is_left_out_and_the_rest_is_checked(settings):
    write_visits(settings)
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft.derived = [
        forms.DerivedColumn(name="a", expression="b + 1"),
        forms.DerivedColumn(name="b", expression="a + 1"),
    ]
    draft.neighbours, draft.queries = "add-remove", [QueryDraft(name="all")]
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert [problem.field for problem in plan_preview.problems] == ["derived.0.expression"]
    assert "circle" in plan_preview.problems[0].message
    assert plan_preview.queries[0] is not None


def test_a_plan_that_does_not_fit_the_form_is_refused_with_advice(settings):
    keys = ", ".join(str(key) for key in range(0, 20_000, 2))
    plan = plan_builder.accept_plan(SURVEY.replace("1, 2, 3, 4, 5, 6, 7", keys), settings)
    with pytest.raises(InputError, match="utmost release"):
        plan_drafts.draft_from_plan(plan, tables.source_view(settings, "bundled:anes96"))


def test_texts_that_mean_missing_are_left_out_of_the_units(settings):
    path = write_visits(settings)
    path.write_text(path.read_text().replace("3,81", "none,81"))
    draft = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"))
    draft = draft.model_copy(update={"protects": "person", "person": "person"})
    draft.columns[0].kind, draft.queries = "text", [QueryDraft(name="old", where="age > 65")]
    assert draft_preview.preview_draft(draft, settings).units == 3
    draft.columns[0].missing = "none, NA"
    assert draft_preview.preview_draft(draft, settings).units == 2


def test_the_form_asks_for_the_persons_over_the_bound(settings):
    write_visits(settings)
    open_budget(settings, "visits", unit="person", neighbours="add-remove")
    blank = plan_drafts.blank_draft(tables.source_view(settings, "visits.csv"), "visits").model_dump()
    persons = {"protects": "person", "person": "person", "bound": "2", "neighbours": "add-remove"}
    queries = [
        {"name": "all", "kind": "over"},
        {"name": "old", "kind": "over", "column": "pay", "where": "age > 60"},
        {"name": "north", "kind": "over", "cells": "keys", "keys": [{"column": "clinic", "values": "north"}]},
        {"name": "found", "kind": "over", "cells": "by", "by": ["clinic"], "delta": "1e-6"},
    ]
    draft = PlanDraft.model_validate({**blank, **persons, "queries": queries})
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert plan_preview.problems == []
    assert [query.sensitivity for query in plan_preview.queries] == [1, 1, 1, 1]
    assert plans.parse_plan(plan_preview.plan, settings.folder).queries[0].query == Over()
    rows = PlanDraft.model_validate({**blank, "budget": "", "queries": queries[:1]})
    assert any(
        "unit must name persons" in problem.message for problem in draft_preview.preview_draft(rows, settings).problems
    )


def test_a_plan_whose_queries_ask_for_the_persons_over_their_bound_fills_the_form(settings):
    write_visits(settings)
    columns = ", ".join(f'{name} = "{kind}"' for name, kind in VISITS.items())
    text = f"""
neighbours = "add-remove"
budget = "visits"
source = {{ location = "visits.csv", columns = {{ {columns} }} }}
unit = {{ column = "person", rows = 2 }}
query = [{{ name = "visits", kind = "count", epsilon = 1, over = true }}]
"""
    plan = plan_builder.accept_plan(text, settings)
    draft = plan_drafts.draft_from_plan(plan, tables.source_view(settings, "visits.csv"))
    assert [(query.kind, query.epsilon, query.over) for query in draft.queries] == [("count", "1", "0.1")]
    built_plan = plan_builder.build_plan(draft, draft_columns.draft_table(draft, settings), settings)
    assert built_plan.problems == ()
    assert plan_digest(built_plan.plan) == plan_digest(replace(plan, source=built_plan.plan.source))
    assert built_plan.plan.queries == plan.queries
    draft.protects = "row"
    assert any(
        "unit must name persons" in problem.message for problem in draft_preview.preview_draft(draft, settings).problems
    )


def test_what_wanted_errors_leave_of_the_plans_epsilon_is_split_in_the_form_as_in_the_plan(settings):
    write_visits(settings)
    open_budget(settings, "visits", unit="person", neighbours="add-remove")
    columns = ", ".join(f'{name} = "{kind}"' for name, kind in VISITS.items())
    text = f"""
neighbours = "add-remove"
budget = "visits"
epsilon = 1
source = {{ location = "visits.csv", columns = {{ {columns} }} }}
unit = {{ column = "person", rows = 2 }}
query = [
  {{ name = "visits", kind = "count", error = 20, over = true }},
  {{ name = "old", kind = "count", where = "age > 60", share = 2, over = "1/5" }},
  {{ name = "young", kind = "count", where = "age < 30" }},
]
"""
    plan = plan_builder.accept_plan(text, settings)
    draft = plan_drafts.draft_from_plan(plan, tables.source_view(settings, "visits.csv"))
    assert [(query.price, query.over) for query in draft.queries] == [("error", "0.1"), ("share", "0.2"), ("share", "")]
    plan_preview = draft_preview.preview_draft(draft, settings)
    assert plan_preview.problems == []
    assert plans.parse_plan(plan_preview.plan or "", settings.folder).queries == plan.queries
    preview = execute.preview(plan)
    epsilons = [str(answer.spec.epsilon) for answer in preview.planned_answers if answer.spec.over is None]
    assert [query.epsilon.exact for query in plan_preview.queries] == epsilons
    assert plan_preview.cost.exact == str(preview.cost) == "1"
    sentences = " ".join(plan_preview.remarks)
    assert "old: share 2 of 3 → ε" in sentences
    assert "old: over the bound: 1/5 of ε" in sentences
    draft.epsilon = "0.01"
    problems = draft_preview.preview_draft(draft, settings).problems
    assert [problem.field for problem in problems] == ["epsilon"]
    assert "for wanted errors" in problems[0].message
