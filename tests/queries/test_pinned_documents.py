"""Plans, their digests, previews and release files stay as they were written, byte by byte.

A ledger recognises a release by the digest of its plan, and gives it again for free: a digest that moved would charge
twice. The documents in `pinned/` were written once; a change of theirs is a change of the format.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from noise.word_sources import fixed_stream
from utmost import ledger
from utmost.data import sources
from utmost.errors import InputError
from utmost.noise import entropy
from utmost.publish import release_file
from utmost.publish.execute import check_plan, preview
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.reports.preview import describe

PINNED = Path(__file__).parent / "pinned"
NUMBERS = """
[[query]]
name = "sum"
kind = "sum"
column = "x"
low = -3
high = 9
step = "1/2"
nulls = "drop"
where = "region = 'n'"
epsilon = 0.5

[[query]]
name = "mean"
kind = "mean"
column = "x"
low = 0
high = 9
step = 1
nulls = 4
epsilon = "1/3"

[[query]]
name = "mean of some"
kind = "mean"
column = "x"
low = 0
high = 9
step = "1/4"
nulls = "drop"
where = "day > date '2020-01-15'"
epsilon = 2

[[query]]
name = "median"
kind = "quantile"
column = "x"
low = 0
high = 9
step = 1
nulls = "drop"
probability = "1/2"
epsilon = 1
"""
COUNTS = """
[[query]]
name = "count"
kind = "count"
where = "x > 3"
epsilon = "1/7"

[[query]]
name = "histogram"
kind = "histogram"
keys = { region = ["n", "s", "an \\"odd\\" one"], day = [2020-01-01, 2020-01-31] }
where = "x >= 0"
epsilon = 0.25
"""
EXTRA_LOSS = """
[[query]]
name = "by extra loss"
kind = "mean"
column = "x"
low = 0
high = 9
extra_loss = 0.5
nulls = 0
epsilon = 1
"""
PERSONS = '[unit]\ncolumn = "person"\nrows = 2\n'
GROUPS = '[unit]\ncolumn = "person"\ngroups = 3\n'
PART = '[part]\ncolumn = "region"\nequals = "n"\n'
PLANS = {
    "replace": ("replace", "", COUNTS + NUMBERS + EXTRA_LOSS),
    "add-remove": ("add-remove", "", COUNTS + NUMBERS),
    "persons": ("replace", PERSONS, COUNTS + NUMBERS),
    "groups": ("add-remove", GROUPS + PART, COUNTS),
}
ROWS = [
    (person, x, region, day)
    for person in range(12)
    for x, region, day in (
        (str(person % 10), "n", "2020-01-01"),
        ("" if person % 4 == 0 else f"{person}.5", "s", "2020-01-31"),
    )
]


def pinned_plan(name: str, folder: Path) -> Plan:
    """The plan of this name, which asks of a table in the folder."""
    relation, sections, queries = PLANS[name]
    columns = '{ person = "integer", x = "number", region = "text", day = "date" }'
    source = f'[source]\nlocation = "people.csv"\ncolumns = {columns}\n'
    top = f'title = "Pinned"\nneighbours = "{relation}"\nbudget = "b"\n'
    return parse_plan(f"{top}{source}{sections}{queries}", folder)


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with the table and an open budget for it."""
    relation, sections, _ = PLANS[request.node.callspec.params["name"]]
    lines = [",".join(map(str, row)) for row in (("person", "x", "region", "day"), *ROWS)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        unit = "person" if sections else "row"
        new_ledger.open(ledger.Budget("b", Fraction(100), unit=unit, neighbours=relation))
    return tmp_path


@pytest.fixture
def fixed_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same random words every time."""
    stream = fixed_stream(7)
    monkeypatch.setattr(entropy, "_thread_keystream", lambda: stream)
    monkeypatch.setattr("utmost.publish.execute.__version__", "0")


def assert_pinned(name: str, text: str) -> None:
    assert text == (PINNED / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLANS)
def test_a_release_is_written_as_it_was(name: str, folder: Path, fixed_noise: None) -> None:
    release = utmost.release(pinned_plan(name, folder))
    text = release_file.release_to_json(release)
    assert_pinned(f"{name}.release.json", text)
    assert release_file.parse_release(text) == release


def test_a_file_of_the_time_of_the_exponential_mechanism_is_read_with_its_own_errors() -> None:
    """Written before quantiles were drawn by permute-and-flip: what it says of itself is computed again, equal."""
    text = (PINNED / "exponential.release.json").read_text(encoding="utf-8")
    assert release_file.release_to_json(release_file.parse_release(text)) == text
    with pytest.raises(InputError, match="mechanism must have rate 1/2 at epsilon 1, got 1/3"):
        release_file.parse_release(text.replace('"rate": "1/2"', '"rate": "1/3"'))


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_written_and_previewed_as_it_was(name: str, folder: Path) -> None:
    plan = pinned_plan(name, folder)
    assert_pinned(f"{name}.plan.toml", write_plan(plan))
    content: Any = json.dumps(describe(preview(plan)).json, ensure_ascii=False, indent=1)
    assert_pinned(f"{name}.preview.json", f"{content}\n")


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_has_the_digest_that_ledgers_remember(name: str, folder: Path) -> None:
    plan = pinned_plan(name, Path("/data"))
    digests = json.loads((PINNED / "digests.json").read_text())
    assert plan_digest(plan) == digests[name]
    with sources.open_table(plan.source, folder) as table:
        assert check_plan(plan, table).release_cost.plan == digests[f"{name}, checked"]
