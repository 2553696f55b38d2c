"""A release file is believed in nothing that follows from its queries: forged claims are refused or have no effect."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

import example_releases
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.release_file import release_content

SETTINGS = {"replace": example_releases.CLOSED, "add-remove": example_releases.OPEN}
COMPUTED = ("epsilon", "sensitivity", "mechanism", "optimal", "error")


def survey_content(relation: str = "replace") -> dict[str, Any]:
    setting = SETTINGS[relation]
    content: dict[str, Any] = release_content(example_releases.release(example_releases.survey(setting), setting))
    return content


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from leaves(content[key], (*path, key))
    else:
        yield path


def replace_leaf(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(content)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def forgeries(value: Any) -> list[Any]:
    """Other values of the same type."""
    if isinstance(value, bool):
        return [not value]
    if value is None:
        return [0, 7]
    if isinstance(value, int | float):
        return [value + 1, value * 2 + 1, -value - 1]
    return ["universal: the best for every reader", "99", "1/97", "geometric", "exponential", value + "0"]


def claims_or_refusal(content: dict[str, Any]) -> Any:
    try:
        return claims(content)
    except InputError:
        return "refused"


def claims(content: dict[str, Any]) -> Any:
    return release_content(release_file.parse_release(json.dumps(content)))


@pytest.mark.slow
@pytest.mark.parametrize("relation", SETTINGS)
def test_a_file_cannot_change_what_follows_from_its_queries(relation: str) -> None:
    content = survey_content(relation)
    assert claims(content) == content
    paths = [
        path for path in leaves(content) if path[0] == "guarantee" or (path[0] == "queries" and path[2] in COMPUTED)
    ]
    assert len(paths) > 60
    for path in paths:
        place = content
        for key in path:
            place = place[key]
        for forged in forgeries(place):
            if (place, forged) == ("permute-and-flip", "exponential"):
                continue  # a file of an earlier version: tests/queries/test_pinned_documents.py
            assert claims_or_refusal(replace_leaf(content, path, forged)) in (content, "refused"), (path, forged)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sensitivity", 2, 'query "dole": sensitivity must be 1 for this query, unit and neighbours, got 2'),
        ("epsilon", "1/5", 'query "dole": mechanism must have epsilon 1/5 at epsilon 1/5, got 1/10'),
        ("value", 945, 'query "dole": value must be within its mechanism'),
        ("kind", "mean", 'query "dole": low is missing|column is missing'),
    ],
)
def test_a_contradiction_is_named_with_its_query(key: str, value: Any, message: str) -> None:
    content = replace_leaf(survey_content(), ("queries", 0, key), value)
    with pytest.raises(InputError, match=message):
        claims(content)


def test_a_mechanism_for_another_unit_or_relation_is_refused() -> None:
    content = survey_content()
    with pytest.raises(InputError, match="units must be null under add-remove"):
        claims(content | {"neighbours": "add-remove"})
    with pytest.raises(InputError, match="sensitivity must be 3 for this query"):
        claims(content | {"unit": {"column": "person", "rows": 3, "groups": None, "words": "each row"}})
    with pytest.raises(InputError, match="mechanism must have high 500"):
        claims(content | {"units": 500})


def test_values_must_be_what_their_parts_and_positions_stand_for() -> None:
    content = survey_content()
    numbers = {query["name"]: k for k, query in enumerate(content["queries"])}
    for name, key, value in (
        ("median", "value", "46"),
        ("median", "position", 28),
        ("median", "position", 10**9),
        ("age of dole voters", "value", "51"),
        ("age of dole voters", "parts", {"total": -2900, "rows": 401}),
        ("dole", "position", 3),
        ("dole", "parts", {"total": 1, "rows": 1}),
        ("educ", "cells", [["1"], ["2"], ["3"], ["4"]]),
    ):
        changed = copy.deepcopy(content)
        changed["queries"][numbers[name]][key] = value
        with pytest.raises(InputError, match=f'query "{name}"'):
            claims(changed)


@pytest.mark.parametrize("key", [key for key in survey_content() if key not in ("schema", "title", "units", "part")])
def test_a_missing_key_is_not_taken_for_another_that_is_known(key: str) -> None:
    content = survey_content()
    value = content.pop(key)
    with pytest.raises(InputError, match=f"release: {key} is missing: add it"):
        claims(content)
    with pytest.raises(InputError, match=f'release: {key} is missing: is "{key}x" a misspelling of it'):
        claims(content | {f"{key}x": value})


def test_a_missing_end_is_named_in_words() -> None:
    content = survey_content()
    content["queries"][0]["mechanism"]["high"] = None
    with pytest.raises(InputError, match=r"must have high 944 at epsilon 1/10, got null \(no upper end\)"):
        claims(content)


def test_the_guarantee_is_the_sum_of_the_queries_and_words_of_a_file_are_never_shown() -> None:
    content = survey_content()
    with pytest.raises(InputError, match="guarantee must have epsilon 11/10, the sum of its queries"):
        claims(content | {"guarantee": content["guarantee"] | {"epsilon": "1/100"}})
    for words in ("perfectly private", "NOT replacing one; e^(11/10) is a lie", content["guarantee"]["words"] + "!"):
        assert claims(content | {"guarantee": content["guarantee"] | {"words": words}}) == content
        assert claims(content | {"unit": content["unit"] | {"words": words}}) == content
