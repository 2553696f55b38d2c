"""Help pages: commands grouped by role, whole sentences, lines that fit 80 columns."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from utmost.cli.app import COMMANDS_BY_ROLE, app

ROLES = ("Curator", "Analyst", "Designer", "Auditor")
COMMAND = typer.main.get_command(app)
GROUPS = {name: command for name, command in COMMAND.commands.items() if hasattr(command, "commands")}


def all_commands(command: Any = COMMAND, path: str = "utmost") -> list[tuple[str, Any]]:
    subcommands = getattr(command, "commands", {})
    return [
        (path, command),
        *(found for name in subcommands for found in all_commands(subcommands[name], f"{path} {name}")),
    ]


def help_lines(utmost: Any, monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    monkeypatch.setenv("COLUMNS", "80")
    return utmost(*names, "--help").out.splitlines()


def test_no_sentence_is_cut_off_at_80_columns(utmost, monkeypatch):
    lines = help_lines(utmost, monkeypatch)
    assert not [line for line in lines if line.endswith(("…", "..."))]
    assert max(len(line) for line in lines) <= 80


def test_each_command_has_one_line_under_its_role(utmost, monkeypatch):
    lines = help_lines(utmost, monkeypatch)
    for role, modules in COMMANDS_BY_ROLE.items():
        section = lines[lines.index(f"{role}:") + 1 :]
        section = section[: section.index("")]
        assert {line.split()[0] for line in section} == set(modules)
        assert all(re.fullmatch(r"  \w+ +\S.*\.", line) for line in section)
    assert [next(role for role in COMMANDS_BY_ROLE if role.startswith(name)) for name in ROLES]


@pytest.mark.parametrize("name", GROUPS)
def test_each_command_of_a_group_has_one_whole_line(utmost, monkeypatch, name):
    lines = help_lines(utmost, monkeypatch, name)
    section = lines[lines.index("Commands:") + 1 :]
    section = section[: section.index("")]
    assert [line.split()[0] for line in section] == list(GROUPS[name].commands)
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 80 for line in section)


@pytest.mark.parametrize("path", [path for path, _ in all_commands()])
def test_a_command_begins_with_what_to_do(path):
    """The first sentence is short, and speaks to the user: no "she", no "her"."""
    command = dict(all_commands())[path]
    first = command.help.split("\n")[0]
    assert len(first) <= 80
    assert first[0].isupper()
    assert first.endswith(".")
    texts = [command.help, *(getattr(parameter, "help", None) or "" for parameter in command.params)]
    assert not [text for text in texts if re.search(r"\b(she|her|hers)\b", text)]
