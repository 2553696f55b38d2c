"""The README and the docs are run: their Python is executed, their commands are called and their output compared.

A python block is a doctest if it holds `>>>`, else it is executed; blocks of one page share their names. In a console
block each line `$ utmost …` is run in an empty directory; the lines that follow must be what it prints. A line `...`
stands for any number of lines, and `...` inside a line for any text. Files that commands write land in that directory.
A block that names a file, as in ```toml survey.toml, is written there before the page's commands and Python run.
"""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest

from utmost.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "README.md"]
FILE_BLOCK = re.compile(r"^```\w+ ([\w.-]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRESS = re.compile(r"drawn \d+ of \d+")  # a line each second, so none where the machine is quick
CODE_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, kind: str) -> list[str]:
    return [body for block_kind, body in CODE_BLOCK.findall(page.read_text(encoding="utf-8")) if block_kind == kind]


def write_named_files(page: Path, folder: Path) -> None:
    for name, body in FILE_BLOCK.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(body, encoding="utf-8")


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def sessions(block: str) -> list[tuple[str, str]]:
    """(command, expected output) pairs of a console block; a trailing backslash continues a command."""
    pairs: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        elif pairs:
            pairs[-1][1].append(line)
    return [(command, "\n".join(lines).rstrip()) for command, lines in pairs]


def matches(expected: str, printed: str) -> bool:
    escaped = re.escape(expected)
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.(\\?\n|$)", r"(?:.*\\n)*?.*", escaped).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.few
@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_python_in_the_docs_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_named_files(page, tmp_path)
    names: dict[str, object] = {}
    for body in blocks(page, "python"):
        if ">>>" not in body:
            exec(compile(body, page_name(page), "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(body, names, page_name(page), page_name(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        assert runner.summarize(verbose=False).failed == 0
        names.update(test.globs)
    assert page.exists()


@pytest.mark.few
@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_in_the_docs_print_what_the_docs_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_named_files(page, tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for body in blocks(page, "console"):
        for command, expected in sessions(body):
            arguments = shlex.split(command)
            if arguments[0] == "cat":
                assert Path(arguments[1]).read_text(encoding="utf-8").rstrip() == expected
                continue
            if arguments[0] != "utmost":
                continue
            monkeypatch.setattr(sys, "argv", arguments)
            code = 0
            try:
                main()
            except SystemExit as stop:
                code = int(stop.code or 0)
            out = capsys.readouterr()
            lines = [line.rstrip() for line in (out.out + out.err).splitlines()]
            printed = "\n".join(line for line in lines if not PROGRESS.fullmatch(line)).rstrip()
            assert code in (0, 2), printed
            assert matches(expected, printed), f"{command}\nprinted:\n{printed}"
    assert page.exists()


def test_the_pages_name_no_file_that_does_not_exist() -> None:
    """Links between pages, and pictures, lead somewhere."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page_name(page)} links to {target}"


def test_the_comparison_itself_can_fail() -> None:
    assert matches("a\n...\nd", "a\nb\nc\nd")
    assert matches("loss ...", "loss 0.31")
    assert not matches("a\n...\nd", "a\nb\nc\ne")
    assert not matches("loss 0.3", "loss 0.4")
