"""Which tests and how many examples the fast tier runs.

The fast tier leaves out what is marked slow and what starts a server or a browser, draws few examples of a Hypothesis
test, and of a product of parameters runs so many cases that every value of every parameter occurs. Of a long list of
similar cases, marked few, it runs every third.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

MAX_FAST_EXAMPLES = 10
FEW = 3  # of the cases of a test that is marked few, one in so many
SERVER_FIXTURES = {"browser", "postgres_url", "postgres_module_url", "spark"}
SERVER_CASES = {"postgres", "spark", "spark-csv"}  # names of cases in parametrize() that start one of these

Value = tuple[int, str]  # the position of a parametrize() among those of a test, and the name of its case


def select_tier(tier: str, items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests of a tier, in their order; in the fast one, Hypothesis tests are told to draw few examples."""
    if tier == "all":
        return items
    fast = fast_items(items)
    if tier == "slow":
        complete = {id(item) for item in fast if not draws_many_examples(item)}
        return [item for item in items if id(item) not in complete]
    for item in fast:
        draw_few_examples(item)
    return fast


def fast_items(items: list[pytest.Item]) -> list[pytest.Item]:
    """Tests that are not slow; of each function's, enough for every value of every parameter."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not is_slow(item):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    chosen = {id(item) for same_function in cases.values() for item in fast_cases(same_function)}
    return [item for item in items if id(item) in chosen]


def fast_cases(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Of the cases of one function those that have every value, and of these every third if it is marked few."""
    covered: list[pytest.Item] = covering(cases, parameter_values)
    return covered[::FEW] if cases[0].get_closest_marker("few") else covered


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is marked slow, or starts PostgreSQL, Spark or Chromium."""
    fixtures = set(getattr(item, "fixturenames", ()))
    cases = {case for _, case in parameter_values(item)}
    return item.get_closest_marker("slow") is not None or bool(fixtures & SERVER_FIXTURES or cases & SERVER_CASES)


def covering(cases: list[Any], values: Callable[[Any], frozenset[Value]]) -> list[Any]:
    """The cases that are chosen one by one for having the most values that no chosen case has; in their own order."""
    missing = frozenset[Value]().union(*map(values, cases))
    chosen = {0} if cases else set()
    while missing := missing - frozenset[Value]().union(*(values(cases[k]) for k in chosen)):
        chosen.add(max(range(len(cases)), key=lambda k: len(values(cases[k]) & missing)))
    return [cases[k] for k in sorted(chosen)]


def parameter_values(item: pytest.Item) -> frozenset[Value]:
    """The case of each parametrize() of a test: pytest joins their names with "-" in the test's own."""
    call = getattr(item, "callspec", None)
    return frozenset(enumerate(getattr(call, "_idlist", (item.name,))))


def hypothesis_settings(item: pytest.Item) -> Any:
    """The settings of a Hypothesis test, None for another; its own plugin for pytest finds them in the same place."""
    test = getattr(item, "obj", None)
    return getattr(test, "_hypothesis_internal_use_settings", None) if is_hypothesis_test(test) else None


def draws_many_examples(item: pytest.Item) -> bool:
    """Whether the fast tier draws fewer examples of a test than it asks for, by its settings or by the fixture."""
    own = hypothesis_settings(item)
    asks_for_more = own is not None and own.max_examples > MAX_FAST_EXAMPLES
    return asks_for_more or "max_examples" in getattr(item, "fixturenames", ())


def draw_few_examples(item: pytest.Item) -> None:
    """Lower the number of examples of a Hypothesis test, if it is large."""
    own = hypothesis_settings(item)
    if own is not None and own.max_examples > MAX_FAST_EXAMPLES:
        few = settings(own, max_examples=MAX_FAST_EXAMPLES)
        item.obj._hypothesis_internal_use_settings = few  # type: ignore[attr-defined]
