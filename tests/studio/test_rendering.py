"""Pages: each answers, escapes, and has a twin."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape

import pytest

from utmost import ledger
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.studio.rendering import template_environment

PAGES = ["/", "/curator", "/consumer", "/designer", "/precision", "/papers", "/jobs", "/reference"]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_and_names_its_json_twin(studio, path):
    answer = studio.get(path)
    assert answer.status_code == 200
    json_response = answer.text.partition('type="application/json" href="')[2].partition('"')[0]
    assert studio.get(json_response).headers["content-type"] == "application/json"


def test_no_value_in_a_template_is_markup_or_a_control_character():
    hostile = "<b>\x1b[2J\u202e\x9b\u2028"
    template = template_environment().from_string(
        '{% macro m(x) %}<i title="{{ x }}">{{ x }}</i>{% endmacro %}{{ m(value) }}{{ value }}{{ [value] }}{{ 3 }}'
    )
    page = template.render(value=hostile)
    assert not CONTROL_CHARACTER.search(page)
    assert "<b>" not in page
    assert r"&lt;b&gt;\x1b[2J\u202e\x9b\u2028" in page


def test_lines_of_a_text_stay_lines():
    assert template_environment().from_string("{{ value }}").render(value="a\r\n\tb") == "a\r\n\tb"


def test_the_data_of_a_chart_stays_json_whatever_its_texts_are():
    hostile = "\x9b\x7f\u202e<&\"'"
    text = json.dumps({"label": hostile}, ensure_ascii=False)
    page = template_environment().from_string('<p data-picture="{{ text | plain_json }}">').render(text=text)
    assert not CONTROL_CHARACTER.search(page)
    assert json.loads(unescape(page.partition('"')[2].rpartition('"')[0])) == {"label": hostile}


def test_a_page_of_a_hostile_source_and_ledger_shows_no_control_character(studio, settings, monkeypatch):
    hostile = "x\x1b[2J\u202ey"
    (settings.folder / "hostile.csv").write_text(f"{hostile},v\na,1\nb,2\n", encoding="utf-8")
    monkeypatch.setattr("utmost.ledger.ledger.check_plain_text", lambda *_: None)  # a ledger of an earlier version
    monkeypatch.setattr("utmost.ledger.records.check_plain_text", lambda *_: None)
    cost = ledger.QueryCost(hostile, Fraction(1, 2))
    part = ledger.Part(hostile, hostile)
    with ledger.open_ledger(settings.ledger, settings.folder) as budgets:
        budgets.open(ledger.Budget("survey", Fraction(1), unit=hostile))
        budgets.charge(ledger.ReleaseCost("survey", hostile, "replace", (cost,), part, hostile, unit_kind="text"))
    for path in ("/curator/source?location=hostile.csv", "/curator/budget?name=survey", "/curator/budgets"):
        page = studio.get(path).text
        assert r"x\x1b[2J\u202ey" in page, path
        assert not CONTROL_CHARACTER.search(re.sub(r"[\r\n\t]", "", page)), path
