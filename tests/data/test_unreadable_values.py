"""Values that do not fit their declared kind are counted for the curator, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark import quiet
from utmost.cli import run
from utmost.data.queries import Count, PrivacyUnit
from utmost.data.sources import Source, open_table
from utmost.publish import execute, preview

pytestmark = quiet

CONTENT = "age,when,share,name\n1,2013-01-01T10:00:00Z,nan,x\nold,soon,1,2\n,later, ,\nyoung,2013-01-01,0.5x,3\n"
KINDS = {"age": "integer", "when": "time", "share": "number", "name": "text"}
PLAN = """
neighbours = "replace"
budget = "b"
[source]
location = "t.csv"
columns = { age = "integer", when = "time", share = "number", name = "text" }
[[query]]
name = "many"
kind = "count"
where = "age > 0 and name = 'x'"
epsilon = 1
"""


@pytest.mark.parametrize("engine", [None, "spark"])
def test_values_that_do_not_fit_are_counted_in_used_columns(
    engine: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Empty and blank values are missing, and so is `nan` among numbers: they fit."""
    if engine == "spark":
        request.getfixturevalue("spark")
    (tmp_path / "t.csv").write_text(CONTENT)
    with open_table(Source("t.csv", engine=engine, columns=KINDS), tmp_path) as table:
        query = Count("age > 0 or when is null or share > 0 or name = 'x'")
        assert table.unreadable(query, PrivacyUnit(), None) == {"age": 2, "when": 2, "share": 1}
        assert table.unreadable(Count("name = 'x'"), PrivacyUnit("age", rows=1), None) == {"age": 2}
        assert table.count(Count("when >= time '2013-01-01 00:00'"), PrivacyUnit(), None) == 2


def test_the_dry_run_warns_and_a_release_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(CONTENT)
    Path("plan.toml").write_text(PLAN)
    assert run(["budget", "open", "b", "--epsilon", "9", "--neighbours", "replace"]) == 0
    capsys.readouterr()
    assert run(["release", "plan.toml", "--dry-run"]) == 0
    warning = "For the curator only, not for publication: 2 values of column age do not fit its kind"
    assert warning in " ".join(capsys.readouterr().out.split())
    assert run(["release", "plan.toml", "--dry-run", "--json"]) == 0
    assert '"unreadable": {"age": 2}' in " ".join(capsys.readouterr().out.split()).replace("{ ", "{").replace(" }", "}")
    assert run(["release", "plan.toml", "--output", "out.json"]) == 0
    output = capsys.readouterr()
    assert "unreadable" not in Path("out.json").read_text()
    assert "curator only" not in output.out + output.err
    assert "unreadable" not in preview.preview_content(execute.preview(Path("plan.toml")))  # which the studio shows
