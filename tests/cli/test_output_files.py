"""No output of a command replaces one of its inputs, or a file of another kind."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from utmost import ledger
from utmost.cli import run
from utmost.cli.app import app
from utmost.ledger import Budget
from utmost.publish.output_files import check_release_output
from utmost.publish.plans import load_plan

PLAN = """neighbours = "replace"
budget = "b"
source = {location = "people.csv", columns = {v = "integer"}}
LINE
[[query]]
name = "q"
kind = "count"
epsilon = 0.1
where = "v = 1"
"""
CHANNEL = "in,a,b\n0,2/3,1/3\n1,1/3,2/3\n"
# For every option or argument that names a file or folder to write: a command that would write the file NAME.
OUTPUTS = {
    "demo --plot": "demo folder --plot NAME.svg",
    "release --output": "release plan.toml --output NAME.json",
    "release --table": "release plan.toml --table NAME.csv",
    "table --output": "table r.json --output NAME.parquet",
    "estimate --plot": "estimate r.json --query q --plot NAME.svg",
    "estimate --output": "estimate t.json --table t --output NAME.csv",
    "obfuscate target": "obfuscate people.csv NAME.csv --response --column v --values 0,1 --epsilon 1",
    "recover --output": "recover noisy.csv --output NAME.csv",
    "mechanism --plot": "mechanism geometric --size 3 --alpha 1/2 --plot NAME.png",
    "mechanism --output": "mechanism geometric --size 3 --alpha 1/2 --output NAME.csv",
    "optimal --plot": "optimal line:2 --alpha 1/2 --plot NAME.svg",
    "optimal --output": "optimal line:2 --alpha 1/2 --output NAME.json",
    "compare --plot": "compare line:2 --alpha 1/2 --plot NAME.svg",
    "plan --plot": "plan --tree 2x2 --rho 1 --plot NAME.svg",
    "curve --plot": "curve line:2 --epsilons 1/2,1 --plot NAME.svg",
    "type --save": "type line:2 --alpha 1/2 --vertices --save NAME.jsonl",
    "type --output": "type line:2 --alpha 1/2 --kernel 0 --output NAME.csv",
    "type --plot": "type line:3 --alpha 1/2 --plot NAME.svg",
    "check --plot": "check a.csv --definition pure:1 --plot NAME.svg",
    "refine --output": "refine a.csv b.csv --output NAME.csv",
    "generalize --save": "generalize a.csv --alpha 1/2 --save NAME.csv",
    "generalize --plot": "generalize a.csv --alpha 1/2 --plot NAME.svg",
    "loss --plot": "loss compare --interval 0,1 --epsilon 2 --plot NAME.svg",
    "papers --output": "",  # a folder: below
    "definition check --plot": "definition check pure:1 --plot NAME.svg",
    "definition show --plot": "definition show pure:1 --plot NAME.svg",
    "precision attack --plot": "precision attack --plot NAME.svg",
    "serve token --tokens": "serve token ann --role consumer --tokens NAME.txt",
}
WRITES = re.compile(
    r"^(Draw|Save|Where the|Write|Also write|Stream|The new table|Release file, |Folder for its figures|File of tokens)"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables, a ledger with an open budget, channels, a release and an obfuscated table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("v\n1\n0\n1\n")
    (tmp_path / "plan.toml").write_text(PLAN.replace("LINE", 'output = "r.json"'))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(CHANNEL)
    with ledger.open_ledger("ledger.sqlite", tmp_path) as opened_ledger:
        opened_ledger.open(Budget("b", 1))
    head, _, _ = PLAN.replace("LINE", 'output = "t.json"').partition("[[query]]")
    table = '[[table]]\nname = "t"\nlevels = [["v"]]\nkeys = { v = [0, 1] }\nepsilon = 0.1\n'
    (tmp_path / "table.toml").write_text(head + table)
    assert run(["release", "plan.toml"]) == 0
    assert run(["release", "table.toml"]) == 0
    assert run(OUTPUTS["obfuscate target"].replace("NAME", "noisy").split()) == 0
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield " ".join(path), command


def test_every_option_that_writes_a_file_is_tried_here() -> None:
    found = {
        f"{name} {option.opts[0]}"
        for name, command in commands(typer.main.get_command(app))
        for option in command.params
        if WRITES.match(getattr(option, "help", None) or "") and option.metavar in ("FILE", "OUT", "DIR")
    }
    assert found == set(OUTPUTS)


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("option", [name for name, line in OUTPUTS.items() if line])
def test_a_file_of_another_kind_is_never_replaced(option: str, folder: Path, capsys: Any) -> None:
    words = OUTPUTS[option].replace("NAME", "precious").split()
    (target,) = (folder / word for word in words if word.startswith("precious"))
    target.write_text("do not lose me\n")
    before = contents(folder)
    assert run(words) == 2
    assert re.search("precious|--tokens must have lines", capsys.readouterr().err)
    after = contents(folder)
    assert {name: after[name] for name in before} == before


@pytest.mark.few
@pytest.mark.parametrize(
    "line",
    [
        "release plan.toml --output ledger.sqlite",
        "release plan.toml --output sub/../ledger.sqlite",
        "release plan.toml --output ledger.sqlite-journal",
        "release plan.toml --output people.csv",
        "release plan.toml --output plan.toml",
        "release plan.toml --dry-run --output ledger.sqlite-wal",
        "release plan.toml --output link.json",
        "release plan.toml --output hard.json",
        "release plan.toml --table people.csv",
        "release plan.toml --output new.csv.json --table new.csv",
        "table r.csv.json --output r.csv",
        "refine a.csv b.csv --output a.csv",
        "refine a.csv b.csv --output=./b.csv",
        "generalize a.csv --alpha 1/2 --save a.csv",
        "type line:2 --alpha 1/2 --kernel 0 --loss --channel a.csv --output a.csv",
        "obfuscate people.csv people.csv --response --column v --values 0,1 --epsilon 1",
        "recover noisy.csv --output noisy.csv",
        "recover noisy.csv --output people.csv",
        "optimal matrix:m2.csv --alpha 1/2 --output m2.csv",
        "optimal matrix:m2.csv+discrete:2 --alpha 1/2 --output m2.csv",
        "optimal line:2+matrix:m2.csv --alpha 1/2 --output m2.csv",
        "optimal 2*(line:2+1/2*matrix:./m2.csv) --alpha 1/2 --output m2.csv",
        "type line:2+matrix:m2.csv --alpha 1/2 --kernel 0 --output m2.csv",
        "optimal line:2 --alpha 1/2 --prior prior.json --output prior.json",
    ],
)
def test_an_input_is_never_replaced(line: str, folder: Path) -> None:
    (folder / "m2.csv").write_text("input,0,1\n0,0,1\n1,1,0\n")
    (folder / "prior.json").write_text("")
    (folder / "r.csv.json").write_bytes((folder / "r.json").read_bytes())
    (folder / "sub").mkdir()
    (folder / "link.json").symlink_to("ledger.sqlite")
    (folder / "hard.json").hardlink_to(folder / "ledger.sqlite")
    before = contents(folder)
    assert run(line.split()) == 2
    assert contents(folder) == before


@pytest.mark.parametrize("output", ["ledger.sqlite", "ledger.sqlite-journal", "new.sqlite", "people.csv", "plan.toml"])
def test_a_plan_cannot_name_its_ledger_source_or_itself_as_output(output: str, folder: Path, capsys: Any) -> None:
    ledger_name = "new.sqlite" if output == "new.sqlite" else "ledger.sqlite"
    (folder / "plan.toml").write_text(PLAN.replace("LINE", f'output = "{output}"\nledger = "{ledger_name}"'))
    before = contents(folder)
    for words in (["release", "plan.toml"], ["release", "plan.toml", "--dry-run"]):
        assert run(words) == 2
        assert "output must be" in capsys.readouterr().err
    assert contents(folder) == before


@pytest.mark.slow
def test_an_earlier_output_of_the_same_kind_is_replaced(folder: Path) -> None:
    for line in (
        "release plan.toml",
        "mechanism geometric --size 3 --alpha 1/2 --output m.csv --plot m.svg",
        "type line:2 --alpha 1/2 --vertices --save v.jsonl",
        "mechanism geometric --size 3 --alpha 1/2 --output m.json --plot m.png",
        "mechanism geometric --size 3 --alpha 1/2 --plot m.html",
        "obfuscate people.csv noisy.csv --response --column v --values 0,1 --epsilon 1",
        "table r.json --output t.csv",
        "table r.json --output t.parquet",
        "release plan.toml --table t.csv",
    ):
        assert [run(line.split()), run(line.split())] == [0, 0], line


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("index.html", "<!DOCTYPE html>\n<html><head></head><body>my home</body></html>", "mechanism geometric --plot"),
        ("logo.svg", '<svg xmlns="http://www.w3.org/2000/svg"><!-- by hand --></svg>', "mechanism geometric --plot"),
        ("feed.svg", '<?xml version="1.0"?><feed></feed>', "mechanism geometric --plot"),
        ("photo.png", "\x89PNG\r\n\x1a\n0000IHDR", "mechanism geometric --plot"),
        ("hot.csv", "id,a,b\n1,1,0\n2,0,1\n", "mechanism geometric --output"),
        ("hot.json", '{"rows": [[1, 0], [0, 1]]}', "mechanism geometric --output"),
    ],
)
def test_what_another_program_wrote_is_never_replaced(name: str, content: str, line: str, folder: Path) -> None:
    (folder / name).write_bytes(content.encode("latin-1"))
    before = contents(folder)
    assert run([*line.split(), name, "--size", "3", "--alpha", "1/2"]) == 2
    assert contents(folder) == before


OBFUSCATE = "obfuscate people.csv noisy.csv --response --column v --values 0,1 --epsilon 1"


def test_a_table_of_the_same_columns_is_not_replaced_by_recover(folder: Path, capsys: Any) -> None:
    assert run(["recover", "noisy.csv", "--output", "shares.csv"]) == 0
    before = contents(folder)
    assert run(["recover", "noisy.csv", "--output", "shares.csv"]) == 2
    assert "--output must be a new file" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_table_beside_the_note_of_another_is_not_replaced(folder: Path, capsys: Any) -> None:
    (folder / "noisy.csv").write_text("v\n1\n1\n0\n1\n")
    before = contents(folder)
    assert run(OBFUSCATE.split()) == 2
    assert "whose note is of another table" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_table_whose_note_has_no_digest_is_not_replaced(folder: Path, capsys: Any) -> None:
    note = json.loads((folder / "noisy.csv.json").read_text())
    del note["sha256"]
    (folder / "noisy.csv.json").write_text(json.dumps(note))
    before = contents(folder)
    assert run(OBFUSCATE.split()) == 2
    assert "whose note has no SHA-256" in capsys.readouterr().err
    assert contents(folder) == before
    assert run(["recover", "noisy.csv"]) == 0


def test_a_note_holds_the_sha_256_of_its_table(folder: Path) -> None:
    digest = hashlib.sha256((folder / "noisy.csv").read_bytes()).hexdigest()
    assert json.loads((folder / "noisy.csv.json").read_text())["sha256"] == digest


@pytest.mark.parametrize("output", ["d.parquet/2.parquet", "d.parquet/sub/new.json", "inside/2.parquet"])
def test_nothing_is_written_into_a_source_folder(output: str, folder: Path, capsys: Any) -> None:
    (folder / "d.parquet/sub").mkdir(parents=True)
    (folder / "inside").symlink_to("d.parquet")
    plan = PLAN.replace("LINE", f'output = "{output}"').replace("people.csv", "d.parquet")
    (folder / "plan.toml").write_text(plan.replace(', columns = {v = "integer"}', ""))
    before = contents(folder)
    assert run(["release", "plan.toml", "--dry-run"]) == 2
    assert "output must be outside of the source" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_source_that_is_no_file_leaves_its_folder_to_the_output(folder: Path) -> None:
    """A table of a catalogue has no location; the folder of its plan is not the source."""
    source = 'source = {engine = "spark", table = "people"}\noutput = "r2.json"'
    text = PLAN.replace("LINE\n", "").replace('source = {location = "people.csv", columns = {v = "integer"}}', source)
    (folder / "plan.toml").write_text(text)
    plan = load_plan(folder / "plan.toml")
    assert plan.output == folder / "r2.json"
    check_release_output(plan)


@pytest.mark.parametrize("suffix", ["", "-journal", "-wal", "-shm"])
def test_what_lies_beside_the_ledger_that_a_link_leads_to_is_an_input(suffix: str, folder: Path, capsys: Any) -> None:
    (folder / "real").mkdir()
    (folder / "ledger.sqlite").rename(folder / "real/real.sqlite")
    (folder / "ledger.sqlite").symlink_to("real/real.sqlite")
    before = contents(folder)
    assert run(["release", "plan.toml", "--output", f"real/real.sqlite{suffix}"]) == 2
    assert "output must be another file than the ledger" in capsys.readouterr().err
    assert contents(folder) == before


def test_the_write_ahead_log_of_a_duckdb_source_is_an_input(folder: Path, capsys: Any) -> None:
    (folder / "s.duckdb").write_bytes(b"")
    plan = PLAN.replace("LINE", 'output = "s.duckdb.wal"').replace("people.csv", "s.duckdb")
    (folder / "plan.toml").write_text(plan.replace(', columns = {v = "integer"}', ""))
    assert run(["release", "plan.toml", "--dry-run"]) == 2
    assert "output must be another file than the source" in capsys.readouterr().err
    assert not (folder / "s.duckdb.wal").exists()


def test_a_figure_of_a_paper_replaces_a_picture_alone(tmp_path: Path) -> None:
    from utmost.cli.options import check_replaceable
    from utmost.errors import InputError

    (tmp_path / "figure.svg").write_text("notes")
    with pytest.raises(InputError, match="must be a new file or replace a picture that utmost drew, got figure"):
        check_replaceable(tmp_path / "figure.svg", "a figure in --output")


def test_no_table_is_written_into_a_source_folder(folder: Path, capsys: Any) -> None:
    (folder / "d.parquet").mkdir()
    (folder / "plan.toml").write_text(PLAN.replace("LINE", "").replace("people.csv", "d.parquet"))
    before = contents(folder)
    assert run(["release", "plan.toml", "--table", "d.parquet/2.parquet"]) == 2
    assert "--table must be outside of the source" in capsys.readouterr().err
    assert contents(folder) == before
