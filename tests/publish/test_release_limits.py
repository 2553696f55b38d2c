"""A release file that no plan could have made is refused with one line, in time linear in its size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import example_releases
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.queries import Histogram

Change = Callable[[dict[str, Any]], object]


def content(tmp_path: Path) -> dict[str, Any]:
    example_releases.write_release(tmp_path / "r.json", example_releases.survey(), example_releases.CLOSED)
    document: dict[str, Any] = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    return document


def many_counts(document: dict[str, Any], number: int) -> None:
    """Counts with as many different ε, each of 40 digits."""
    rates = [Fraction(7 * k + 3, 10**39 - 1) for k in range(number)]
    count = document["queries"][0]
    document["queries"] = [
        {**count, "name": f"n{k}", "epsilon": str(rate), "mechanism": {**count["mechanism"], "epsilon": str(rate)}}
        for k, rate in enumerate(rates)
    ]
    document["guarantee"]["epsilon"] = str(sum(rates))


def wide_histogram(document: dict[str, Any], cells: list[Any]) -> None:
    document["queries"][1]["keys"] = {"a": list(range(100_000))} | {f"c{k}": [0] for k in range(400)}
    document["queries"][1]["cells"] = cells


def huge_step(document: dict[str, Any]) -> None:
    size = str(10**320)
    query = next(query for query in document["queries"] if query["kind"] == "sum")
    query.update(low="0", high=size, step=size, nulls="0", sensitivity=1, value="0")
    query["mechanism"].update(epsilon=query["epsilon"], low=0, high=944, unit=size, origin="0")


def deep_list(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


CASES: dict[str, tuple[Change, str]] = {
    "too many queries": (lambda d: many_counts(d, 1001), "queries must be at most 1000"),
    "cells left out": (lambda d: wide_histogram(d, []), "cells must be the combinations"),
    "empty cells": (lambda d: wide_histogram(d, [[]] * 100_000), "cells must be the combinations"),
    "huge step": (huge_step, "step must be from"),
    "ledger entry": (lambda d: d["ledger"].update(entry=-3), "ledger must have an entry from 1"),
    "ledger left": (lambda d: d["ledger"].update(left="-5"), "ledger must have an entry from 1"),
    "ledger spent": (lambda d: d["ledger"].update(spent="-1"), "ledger must have an entry from 1"),
    "no name": (lambda d: d["queries"][0].update(name=""), "query name must be"),
    "zero-width name": (lambda d: d["queries"][0].update(name="dole\u200b"), "query name must be"),
    "long list": (lambda d: d["queries"][0].update(where=["abc"] * 1_000_000), "at most 100000 entries"),
    "deep list": (lambda d: d.update(title=deep_list(500)), "10 deep"),
    "junk keys": (
        lambda d: d.pop("ledger") and d.update({f"ledgex{k}": 0 for k in range(90_000)}),
        "ledger is missing",
    ),
    "long key": (lambda d: d.update({"z" * 3_000_000: 0}), "is not known here"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_no_plan_could_have_made_is_refused_at_once(case: str, tmp_path: Path) -> None:
    document = content(tmp_path)
    change, words = CASES[case]
    change(document)
    text = json.dumps(document)
    start = time.process_time()
    with pytest.raises(InputError, match=words):
        release_file.parse_release(text)
    assert time.process_time() - start < 2


def test_as_many_counts_as_a_plan_may_have_are_read_in_seconds(tmp_path: Path) -> None:
    document = content(tmp_path)
    many_counts(document, 300)
    start = time.process_time()
    assert len(release_file.parse_release(json.dumps(document))) == 300
    assert time.process_time() - start < 4


def test_a_sum_with_a_unit_of_groups_is_refused(tmp_path: Path) -> None:
    document = content(tmp_path)
    document["unit"] = {"column": "person", "rows": None, "groups": 1, "words": ""}
    document["queries"] = [query for query in document["queries"] if query["kind"] == "sum"]
    with pytest.raises(InputError, match="unit must bound rows for a sum, got groups: this file was altered"):
        release_file.parse_release(json.dumps(document))


@pytest.mark.parametrize("key", ["value", "epsilon", "guarantee", "units"])
def test_a_key_that_is_there_twice_is_refused(key: str, tmp_path: Path) -> None:
    text = json.dumps(content(tmp_path))
    with pytest.raises(InputError, match="each key of a table once"):
        release_file.parse_release(text.replace(f'"{key}":', f'"{key}": "1/1000", "{key}":', 1))


def test_a_histogram_of_many_columns_is_read(tmp_path: Path) -> None:
    """Columns are not limited: what they cost is in the file."""
    query = Histogram({"a": (1, 2, 3)} | {f"c{k}": (0,) for k in range(30)})
    answer = example_releases.answer(query, "0.1", example_releases.CLOSED, value=(1, 2, 3))
    example_releases.write_release(tmp_path / "r.json", [answer], example_releases.CLOSED)
    assert release_file.read_release(tmp_path / "r.json").answers == (answer,)
