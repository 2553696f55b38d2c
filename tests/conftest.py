"""Two tiers of tests, Hypothesis profiles, and the switch that makes a skip a failure.

    pytest                      the fast tier: no test that is marked slow, few examples of the others (tests/tiers.py)
    pytest --tier=slow          what the fast tier left out
    pytest --tier=all           everything
    pytest tests/x/test_y.py    everything in the files and tests that are named

A gate must say the same of the same commit twice, so with UTMOST_NO_SKIP set Hypothesis draws the same examples every
time. On a developer's machine it draws new ones, and finds what the gate has not. No deadline either way: exact
arithmetic is slow now and then, and a busy machine is not a bug.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator

import pytest
from hypothesis import settings

from tiers import MAX_FAST_EXAMPLES, select_tier

NO_SKIP = bool(os.environ.get("UTMOST_NO_SKIP"))

settings.register_profile("gate", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("desk", deadline=None)
settings.load_profile("gate" if NO_SKIP else "desk")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "fast, slow (what fast leaves out) or all; fast unless a file is named"
    parser.addoption("--tier", choices=("fast", "slow", "all"), help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.option.tier is None:
        names_a_file = any(".py" in argument for argument in config.args)
        config.option.tier = "all" if names_a_file else "fast"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier."""
    chosen = select_tier(config.option.tier, items)
    kept = {id(item) for item in chosen}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen


@pytest.fixture(scope="session")
def max_examples(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """For a Hypothesis test inside a test: how many examples to draw where so many are asked for."""
    return lambda number: min(number, MAX_FAST_EXAMPLES) if pytestconfig.option.tier == "fast" else number


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure that repeats its reason. An expected failure (xfail) is no skip."""
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"UTMOST_NO_SKIP is set and this was skipped: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
