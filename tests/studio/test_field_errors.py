"""Every field of every form shows its error beside itself: the forms' own fields are listed, each with a bad value."""

from __future__ import annotations

import re
from dataclasses import fields
from html import unescape
from typing import Any

import pytest

import example_releases
from curator_helpers import HtmlForm, open_budget, write_visits
from utmost.consumer.priors import PRIORS
from utmost.studio.consumer.forms import ReadingForm, offered_families
from utmost.studio.curator.budgets import NewBudget
from utmost.studio.curator.forms import PlanDraft, QueryDraft
from utmost.studio.designer.forms import DesignInput
from utmost.studio.precision.forms import PrecisionInput

PLAN = "/curator/plan"
SUM = {"kind": "sum", "column": "age", "low": "0", "high": "100", "step": "1"}
BAD_QUERIES: dict[str, dict[str, str]] = {
    "name": {"name": ""},
    "where": {"where": "age >"},
    "column": {**SUM, "column": "clinic"},
    "low": {**SUM, "low": "x"},
    "high": {**SUM, "high": "1/0"},
    "step": {**SUM, "step": "-1"},
    "extra_loss": {**SUM, "step": "", "extra_loss": "0"},
    "nulls": {**SUM, "nulls": "-5"},
    "probabilities": {**SUM, "kind": "quantile", "probability": "", "probabilities": "1/2, 1/4"},
    "k": {"kind": "top", "keys.0.column": "clinic", "keys.0.values": "n, s", "k": "9"},
    "probability": {**SUM, "kind": "quantile", "probability": "2"},
    "domain": {"kind": "distinct", "column": "age", "domain": "old"},
    "keys": {"kind": "histogram", "keys.0.column": "clinic", "keys.0.values": ""},
    "by": {"cells": "by", "by.0": "pay", "delta": "1e-6"},
    "delta": {"cells": "by", "by.0": "clinic", "delta": "2"},
    "epsilon": {"epsilon": "0"},
    "share": {"price": "share", "share": "0"},
    "error": {"price": "error", "error": "-1"},
    "rows": {"price": "error", "error": "5", "rows": "0"},
    "over": {"over": "2"},
}
BAD_PLANS = {
    "table": {"table": "nobody"},
    "columns": {"columns.0.name": "nobody"},
    "person": {"protects": "person", "person": ""},
    "bound": {"protects": "person", "person": "person", "bound": "0"},
    "part_column": {"part_column": "nobody", "part_equals": "1"},
    "part_equals": {"part_column": "age", "part_equals": "old"},
    "budget": {"budget": "nobody"},
    "epsilon": {"epsilon": "0"},
    "delta": {"delta": "2"},
}
BAD_NEW_COLUMNS = {
    "derived.0.name": {"derived.0.name": "Age", "derived.0.expression": "age + 1"},
    "derived.1.name": {
        "derived.0.name": "a",
        "derived.0.expression": "1",
        "derived.1.name": "A",
        "derived.1.expression": "2",
    },
    "derived.0.expression": {"derived.0.name": "old", "derived.0.expression": "age >"},
    "derived.1.expression": {
        "derived.0.name": "old",
        "derived.0.expression": "age > 65",
        "derived.1.name": "older",
        "derived.1.expression": "old + 1",
    },
    "lookups.0.location": {"lookups.0.location": "nothing.csv", "lookups.0.on.0.column": "age"},
    "lookups.0.on": {
        "lookups.0.location": "ages.csv",
        "lookups.0.on.0.column": "clinic",
        "lookups.0.on.0.equals": "age",
        "lookups.0.take.0.column": "word",
    },
    "lookups.0.take": {
        "lookups.0.location": "ages.csv",
        "lookups.0.on.0.column": "age",
        "lookups.0.on.0.equals": "age",
        "lookups.0.take.0.column": "word",
        "lookups.0.take.0.name": "clinic",
    },
}
CHOICES = {
    "kind",
    "cells",
    "other",
    "price",
    "neighbours",
    "protects",
    "keeps",
    "composition",
    "view",
    "remember",
}  # a browser sends listed values
FREE_TEXTS = {"title", "fingerprint"}  # any text will do
LINKED = {"location", "queries"}  # the table is chosen by a link; a query has fields of its own
NEW_COLUMNS = {"derived", "lookups"}  # so has a new column
BESIDE_PRIOR = {"weights", "kept"}  # both are other ways to give the prior
BAD_BUDGETS = {"name": " ", "epsilon": "0", "delta": "2", "unit": "a\0b"}
BAD_QUESTIONS = {"space": "ring:6", "alpha": "2", "epsilon": "-1", "prior": "1,2", "loss": "power:x"}
BAD_MACHINES = {
    "format": "binary8",
    "epsilon": "0",
    "sensitivity": "0",
    "low": "x",
    "high": "-1",
    "round": "0",
}
BAD_READINGS = {
    "query": {"query": "nobody"},
    "cell": {"query": "educ", "cell": "nobody"},
    "prior": {"prior": "weights", "weights": "1,2,3"},
    "coverage": {"coverage": "1"},
    "at_least": {"at_least": "x"},
    "at_most": {"at_most": "x"},
    "grid": {"grid": "1.5"},
}


def shown_errors(page: str) -> dict[str, str]:
    """The errors of a page by field, as they stand beside their fields."""
    found = re.findall(r'data-error="([^"]*)"[^>]*>([^<]*)<', page)
    return {field: unescape(text).strip() for field, text in found if text.strip()}


def plan_page(studio: Any, changes: dict[str, str]) -> str:
    """The plan's form of a table, with the blank form's fields and these changes sent."""
    settings = studio.settings
    write_visits(settings)
    open_budget(settings)
    page = studio.get(PLAN, params={"location": "visits.csv"})
    valid = {"queries.0.name": "old", "queries.0.where": "age > 65", "budget": "survey"}
    form = {**HtmlForm(page.text, PLAN).fields, **valid, **changes, "do": "look"}
    return str(studio.client.post(PLAN, data=form).text)


def test_the_blank_forms_show_no_error(studio):
    assert shown_errors(plan_page(studio, {})) == {}


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("field", [name for name in QueryDraft.model_fields if name not in CHOICES])
def test_every_field_of_a_query_shows_its_error(studio, field):
    changes = {f"queries.0.{name}": text for name, text in BAD_QUERIES[field].items()}
    errors = shown_errors(plan_page(studio, {**changes, "epsilon": "1" if field == "share" else ""}))
    assert list(errors) == [f"queries.0.{field}"]
    assert not errors[f"queries.0.{field}"].startswith('query "')


@pytest.mark.few
@pytest.mark.parametrize(
    "field", [name for name in PlanDraft.model_fields if name not in CHOICES | FREE_TEXTS | LINKED | NEW_COLUMNS]
)
def test_every_field_of_a_plan_shows_its_error(studio, field):
    assert field in shown_errors(plan_page(studio, BAD_PLANS[field]))


@pytest.mark.parametrize("field", BAD_NEW_COLUMNS)
def test_every_field_of_a_new_column_shows_its_error(studio, field):
    (studio.settings.folder / "ages.csv").write_text("age,word\n70,old\n34,young\n")
    assert list(shown_errors(plan_page(studio, BAD_NEW_COLUMNS[field]))) == [field]


@pytest.mark.few
@pytest.mark.parametrize("field", [name for name in NewBudget.model_fields if name not in CHOICES])
def test_every_field_of_a_budget_shows_its_error(studio, field):
    valid = {"name": "panel", "epsilon": "1", "delta": "0", "composition": "pure", "unit": "row"}
    answer = studio.post("/api/curator/budgets", json={**valid, field: BAD_BUDGETS[field]})
    assert answer.status_code == 422
    assert answer.json()["field"] == field


@pytest.mark.few
@pytest.mark.parametrize("field", [field.name for field in fields(DesignInput)])
def test_every_field_of_a_design_shows_its_error(studio, field):
    page = studio.get("/designer", params={field: BAD_QUESTIONS[field]})
    assert list(shown_errors(page.text)) == [field]


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("field", [field.name for field in fields(PrecisionInput)])
def test_every_field_of_a_machine_shows_its_error(studio, field):
    page = studio.get("/precision", params={field: BAD_MACHINES[field]})
    assert list(shown_errors(page.text)) == [field]


def bad_readings() -> dict[str, dict[str, str]]:
    """A bad value for each field of the form; of each parameter of a prior or a loss, a text that is no number."""
    bad = dict(BAD_READINGS)
    for family in offered_families():
        noun = "prior" if family in list(PRIORS) else "loss"
        for parameter in family.parameters:
            bad.setdefault(parameter.name, {noun: family.kind, parameter.name: "x"})
    return bad


@pytest.mark.few
@pytest.mark.parametrize("field", [name for name in ReadingForm.model_fields if name not in CHOICES | {"loss"}])
def test_every_field_of_a_reading_shows_its_error(studio, field):
    folder = studio.settings.releases
    folder.mkdir(exist_ok=True)
    example_releases.write_release(folder / "survey.release.json", example_releases.survey())
    page = studio.get("/consumer/releases/survey.release.json", params=bad_readings()[field])
    assert page.status_code == 422
    assert list(shown_errors(page.text)) == ["prior" if field in BESIDE_PRIOR else field]
