"""Hypothesis profiles, and the switch that makes a skip a failure.

A gate must say the same of the same commit twice, so with UTMOST_NO_SKIP set Hypothesis draws the same examples every
time. On a developer's machine it draws new ones, and finds what the gate has not. No deadline either way: exact
arithmetic is slow now and then, and a busy machine is not a bug.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

NO_SKIP = bool(os.environ.get("UTMOST_NO_SKIP"))

settings.register_profile("gate", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("desk", deadline=None)
settings.load_profile("gate" if NO_SKIP else "desk")


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
