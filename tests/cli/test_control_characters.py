"""No text of a file steers the terminal: it is refused where it is read, and written out where it is printed."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import example_releases
import utmost.cli
from utmost.cli import output, run
from utmost.errors import InputError
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.publish import plans, release_file
from utmost.publish.release_file import release_content
from utmost.queries import Count, Histogram

CONTROLS = ["\x1b[2J", "\x9b2J", "\r", "\x07", "\u202e", "\u2066", "\x00", "\ud800", "\x7f", "\x85"]
ESCAPES = "\x1b]0;title\x07\x1b[2J\u202e\x9b1A"
PLAN: dict[str, Any] = {
    "title": "t",
    "neighbours": "replace",
    "budget": "b",
    "source": {"location": "people.csv", "columns": {"v": "integer"}, "fingerprint": "f"},
    "unit": {"column": "p", "rows": 2},
    "part": {"column": "r", "equals": "north"},
    "query": [{"name": "q", "kind": "histogram", "epsilon": 1, "where": "v = 1", "keys": {"k": ["a", "b"]}}],
}


def texts(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(content, dict):
        return [found for key, value in content.items() for found in texts(value, (*path, key))]
    if isinstance(content, list):
        return [found for k, value in enumerate(content) for found in texts(value, (*path, k))]
    return [path] if isinstance(content, str) else []


def with_text(content: Any, path: tuple[Any, ...], suffix: str) -> Any:
    copy = json.loads(json.dumps(content))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] += suffix
    return copy


def hostile_release() -> dict[str, Any]:
    histogram = example_releases.answer(
        Histogram({"k": ("a", "b")}, "v = 1"), "0.2", example_releases.CLOSED, "cells", value=(3, 4)
    )
    count = example_releases.answer(Count("v = 1"), "0.1", example_releases.CLOSED, "q", value=404)
    content: dict[str, Any] = release_content(example_releases.release([count, histogram]))
    return content


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_every_text_of_a_release_and_a_plan_is_refused_with_a_control_character(control: str) -> None:
    release = hostile_release()
    assert len(texts(release)) > 30
    for path in texts(release):
        if control == "\r" and path[-1] == "where":
            continue
        with pytest.raises(InputError) as problem:
            release_file.release_from_content(with_text(release, path, control))
        assert not CONTROL_CHARACTER.search(str(problem.value)) or path[-1] == "schema"
    for path in texts(PLAN):
        if control == "\r" and path[-1] == "where":
            continue
        with pytest.raises(InputError):
            plans.plan_from_mapping(with_text(PLAN, path, control))


def test_a_key_with_a_control_character_is_refused() -> None:
    for content in ({**PLAN, "unit\x1b": {}}, {**PLAN, "source": {"location": "a.csv", "columns": {"v\x1b": "text"}}}):
        with pytest.raises(InputError, match="control characters"):
            plans.plan_from_mapping(content)


def test_a_condition_may_have_several_lines() -> None:
    plan = with_text(PLAN, ("query", 0, "where"), "\n\tand v = 2")
    assert "\n" in str(plans.plan_from_mapping(plan).queries[0].query.where)


FILES = {
    "r.json": '{"schema": "utmost-release/1", "title": "X"}',
    "plan.toml": 'title = "X"\nneighbours = "replace"\nbudget = "X"\n',
    "d.toml": 'predicate = "X"\n',
    "c.csv": "in,X,b\n0,2/3,1/3\n1,1/3,2/3\n",
    "c.json": '{"inputs": ["X", "b"], "outputs": ["0", "1"], "rows": [["1/2", "1/2"], ["1/2", "1/2"]]}',
    "s.json": '{"points": ["X", "b"], "distances": [["0", "1"], ["1", "0"]]}',
    "s.csv": ",X,b\nX,0,1\nb,1,0\n",
    "noisy.csv.json": '{"schema": "utmost-local/1", "X": "X"}',
    "prior.csv": "X\n1\n",
}
COMMANDS = [
    "estimate r.json",
    "estimate r.json --json",
    "release plan.toml",
    "release plan.toml --dry-run --json",
    "definition check d.toml",
    "definition show d.toml --json",
    "check c.csv",
    "check c.json --json",
    "check c.csv --definition d.toml",
    "refine c.csv c.json",
    "deconvolve c.csv --counts 3,1",
    "distance matrix:s.csv 1/2,1/2 1,0",
    "generalize c.csv --alpha 1/2",
    "loss c.csv --prior uniform",
    "type matrix:s.csv --alpha 1/2",
    "type s.json --alpha 1/2 --json",
    "optimal matrix:s.csv --alpha 1/2",
    "mechanism geometric --size 3 --alpha 1/2 --output NOTHING/X.csv",
    "recover noisy.csv",
    "estimate r.json --prior prior.csv",
    "budget show X",
    "papers X",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_prints_a_control_character_of_a_file(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        escaped = json.dumps(ESCAPES)[1:-1] if name.endswith((".json", ".toml")) else ESCAPES
        (tmp_path / name).write_text(text.replace("X", escaped))
    (tmp_path / "noisy.csv").write_text("v\n1\n")
    run([word.replace("X", ESCAPES) for word in line.split()])
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert not CONTROL_CHARACTER.search(text.replace("\n", ""))


def test_every_function_that_prints_writes_control_characters_out(capsys: Any) -> None:
    output.print_remark(ESCAPES)
    output.print_lines(ESCAPES)
    output.print_text(ESCAPES)
    output.print_facts([(ESCAPES, ESCAPES)])
    output.print_table((ESCAPES, "b"), [(ESCAPES, ESCAPES)])
    output.print_side_by_side([(ESCAPES, ESCAPES), (ESCAPES, output.build_table((ESCAPES,), [(ESCAPES,)]))])
    output.print_json({ESCAPES: [[ESCAPES]], "a": ESCAPES})
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert "\\x1b" in text or "\\u001b" in text
        assert not CONTROL_CHARACTER.search(text.replace("\n", ""))


def test_json_that_is_printed_reads_back_with_its_control_characters(capsys: Any) -> None:
    output.print_json({"title": ESCAPES})
    assert json.loads(capsys.readouterr().out) == {"title": ESCAPES}


def test_commands_print_through_the_output_module_alone() -> None:
    allowed_arguments = {"context.get_help()", "f'utmost {__version__}'"}
    folder = Path(utmost.cli.__file__).parent
    for path in folder.glob("*.py"):
        if path.name in ("output.py", "__init__.py", "safe_console.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "echo"):
                assert ast.unparse(node.args[0]) in allowed_arguments, f"{path.name}:{node.lineno}"


def test_a_notebook_shows_no_markup_and_no_control_character() -> None:
    release = example_releases.release(example_releases.survey())
    hostile = replace(
        release,
        title=f"<script>{ESCAPES}",
        answers=tuple(replace(answer, name=f"<b>{answer.name}{ESCAPES}") for answer in release),
    )
    pages = [hostile._repr_html_(), hostile.answers[0].estimate("uniform", "absolute")._repr_html_()]
    for page in pages:
        assert "<script>" not in page
        assert "<b>" not in page
        assert not CONTROL_CHARACTER.search(page)
