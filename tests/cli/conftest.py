"""Runs the command line in this process and keeps its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from utmost.cli import main


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
