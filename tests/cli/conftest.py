"""Runs the command line in this process and keeps its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import typer

from report_bounds import check_report
from utmost.cli import main, output
from utmost.cli.app import app
from utmost.reports import Report


@dataclass(frozen=True)
class CommandResult:
    """The output of a command and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        assert self.code == 0, self.err
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def check_printed_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every bound of every report that a command prints holds, in text, in HTML and in JSON."""
    print_report = output.print_report

    def check_and_print(report: Report, json: bool = False) -> None:
        check_report(report)
        print_report(report, json)

    monkeypatch.setattr(output, "print_report", check_and_print)


@cache
def parser() -> Any:
    """All commands as one, built once: to build them takes longer than most commands."""
    return typer.main.get_command(app)


@pytest.fixture(autouse=True)
def one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test calls the same parser. Its help is that of the families that were registered when it was built."""
    monkeypatch.setattr("utmost.cli.app.app", parser())


@pytest.fixture
def utmost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> Callable[..., CommandResult]:
    """`utmost("mechanism", "geometric", …)` in a directory of its own, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> CommandResult:
        with pytest.raises(SystemExit) as exit_info:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return CommandResult(exit_info.value.code, captured.out, captured.err)

    return run
