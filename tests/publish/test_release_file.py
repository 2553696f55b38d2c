"""Release files: written, read back, tampered with."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import example_releases
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.errors import InputError
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.publish import release_file
from utmost.publish.release_file import release_content, release_schema
from utmost.publish.release_model import Answer, DataOrigin, LedgerEntry, Release
from utmost.queries import Count, Histogram, Mean, Quantile, Query, Sum
from utmost.queries.answer_error import answer_error
from utmost.queries.privacy_setting import PrivacySetting, guarantee_sentence
from utmost.queries.query import SelectedMechanism

GRID = Grid(Fraction(-2), Fraction(3), Fraction(1, 2))
SCHEMA = release_schema()
QUERIES: list[tuple[Query, list[int]]] = [
    (Count("a = 1"), [3]),
    (Histogram({"k": ("x", 'quote" <b>'), "d": (date(2020, 1, 31), date(2020, 2, 1))}), [1, 2, 0, 3]),
    (Sum("v", GRID, None), [7]),
    (Mean("v", GRID, None), [4, 5]),
    (Mean("v", GRID, Fraction(1)), [20]),
    (Quantile("v", GRID, Fraction(1, 3), None), [9, 4, 2, 1, 0, 0, 1, 3, 5, 7, 9]),
]


def answer(name: str, query: Query, truth: list[int], epsilon: Fraction, setting: PrivacySetting) -> Answer:
    selection = query.select_mechanism(epsilon, setting)
    if isinstance(query, Mean) and len(truth) == 2 and setting.holds_everyone(query):
        truth = [truth[0]]
    draw = query.prepare_draw(selection.mechanism)
    drawn = draw(truth if len(truth) != 1 or not _is_ratio(selection) else [*truth, 5])
    return Answer(
        name=name,
        query=query,
        epsilon=epsilon,
        sensitivity=selection.sensitivity,
        mechanism=selection.mechanism,
        optimal=selection.optimal,
        error=answer_error(selection.mechanism, query, setting.unit, setting.part),
        value=drawn.value,
        details=drawn.details,
    )


def small_release() -> Release:
    """A release of one count."""
    setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 9)
    count_answer = answer("q", *QUERIES[0], Fraction(1), setting)
    return Release(
        None,
        "utmost",
        DataOrigin("duckdb", "x"),
        PrivacyUnit(),
        NeighbourRelation.REPLACE,
        9,
        None,
        Fraction(1),
        guarantee_sentence(Fraction(1), setting),
        LedgerEntry("b", 1, Fraction(1), Fraction(0)),
        (count_answer,),
    )


def _is_ratio(selection: SelectedMechanism) -> bool:
    return type(selection.mechanism).__name__ == "RatioMechanism"


@st.composite
def releases(draw: st.DrawFn) -> Release:
    relation = draw(st.sampled_from(NeighbourRelation))
    unit = draw(st.sampled_from([PrivacyUnit(), PrivacyUnit("p", rows=2)]))
    part = draw(st.sampled_from([None, Partition("region", "north"), Partition("day", date(2020, 1, 31))]))
    setting = PrivacySetting(relation, unit, part, 9 if relation is NeighbourRelation.REPLACE else None)
    queries = draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4))
    rate = draw(st.fractions("1/50", 5, max_denominator=50))
    answers = tuple(answer(f"q{k}", query, truth, rate, setting) for k, (query, truth) in enumerate(queries))
    return Release(
        title=draw(st.none() | st.text(max_size=5).filter(lambda t: not CONTROL_CHARACTER.search(t))),
        library="utmost 0.1.0",
        source=DataOrigin("duckdb", "people.csv", draw(st.none() | st.just("v1"))),
        unit=unit,
        neighbours=relation,
        units=setting.units,
        part=part,
        epsilon=rate * len(answers),
        guarantee=guarantee_sentence(rate * len(answers), setting),
        entry=LedgerEntry("survey", 3, rate, Fraction(1, 7)),
        answers=answers,
    )


@settings(max_examples=60, deadline=None)
@given(releases())
def test_a_release_reads_back_equal_and_fits_the_published_schema(release: Release) -> None:
    text = release_file.release_to_json(release)
    assert release_file.parse_release(text) == release
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(text))


@settings(max_examples=20, deadline=None)
@given(releases())
def test_a_release_shows_in_a_notebook_with_every_text_escaped(release: Release) -> None:
    hostile = replace(release, title="<script>alert(1)</script>")
    page = hostile._repr_html_()
    assert "<script>" not in page
    assert all(item.name in page for item in release)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1/2", "1/0", "drop"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "date", "low"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(releases(), st.data())
def test_a_release_that_was_tampered_with_is_read_or_refused_with_one_line(
    release: Release, data: st.DataObject
) -> None:
    body = release_content(release)
    for _ in range(data.draw(st.integers(1, 3))):
        _change_something(body, data)
    text = json.dumps(body)
    try:
        parsed = release_file.parse_release(text)
    except InputError as problem:
        line = str(problem)
    else:
        line = parsed._repr_html_()  # what is accepted can be shown, and written again
        assert release_file.parse_release(release_file.release_to_json(parsed)) == parsed
    assert line
    assert "\n" not in line or line.startswith("<table>")


def _change_something(body: Any, data: st.DataObject) -> None:
    """Walk down to some place of a document and delete it or put something else there."""
    while True:
        keys = list(body) if isinstance(body, dict) else list(range(len(body)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(body[key], dict | list) and body[key] and data.draw(st.booleans()):
            body = body[key]
            continue
        if data.draw(st.booleans()):
            body[key] = data.draw(VALUES)
        else:
            del body[key]
        return


@settings(max_examples=200)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda b: b.decode("latin-1")))
def test_any_text_is_refused_with_one_line(text: str) -> None:
    with pytest.raises(InputError):
        release_file.parse_release(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "utmost-release/9"}, 'utmost-release/1 or utmost-release/2, got "utmost-release/9"'),
        ({"schema": 1}, "without its schema"),
        ({"neighbours": "swap"}, "neighbours must be"),
        ({"surprise": 1}, '"surprise" is not known here'),
        ({"queries": []}, "at least one"),
    ],
)
def test_a_release_of_another_schema_says_so(change: dict[str, Any], message: str) -> None:
    release = small_release()
    with pytest.raises(InputError, match=message):
        release_file.parse_release(json.dumps({**release_content(release), **change}))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    release_file.save_text("earlier", path)
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        release_file.save_text("later", path)
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_not_there_is_refused_with_those_that_are() -> None:
    release = small_release()
    assert release["q"] is release.answers[0]
    with pytest.raises(InputError, match="query must be one of q, got z"):
        release["z"]
    with pytest.raises(InputError, match="query must be one of q, got 0"):
        release[0]  # type: ignore[index]


@pytest.mark.parametrize("key", ["expected", "half_width_95"])
@pytest.mark.parametrize("value", ["1e999", "-1e999", "9" * 400, "1e301"])
def test_errors_that_no_double_holds_are_refused(key, value):
    import re

    import example_releases

    text = release_file.release_to_json(example_releases.release(example_releases.survey()))
    altered_text = re.sub(rf'"{key}": [^,]+', f'"{key}": {value}', text, count=1)
    assert altered_text != text
    with pytest.raises(InputError, match=key):
        release_file.parse_release(altered_text)


def test_a_release_is_saved_as_it_was_and_replaces_releases_only(tmp_path):
    saved, other = tmp_path / "a.release.json", tmp_path / "notes.txt"
    document = example_releases.release([example_releases.count(404, "0.1")])
    for _ in range(2):
        release_file.write_release(document, saved)
    assert release_file.read_release(saved) == document
    other.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="must be a new file or replace a release"):
        release_file.write_release(document, other)
    assert other.read_text(encoding="utf-8") == "mine"
