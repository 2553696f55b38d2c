"""A disk that is full is found before the charge; and a release that was charged is never lost."""

from __future__ import annotations

import errno
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.cli import run
from utmost.errors import InputError, LedgerError, OutputError
from utmost.publish.plans import plan_from_mapping
from utmost.publish.release_file import MAX_RELEASE_BYTES, ReservedFile, parse_release, save_text

GRID = {"column": "x", "low": "-1/3", "high": "1000", "step": "1/3", "nulls": "drop"}
QUERIES = {
    "count": {"kind": "count", "where": "x > 3"},
    "histogram": {"kind": "histogram", "keys": {"x": list(range(3000))}},
    "sum": {"kind": "sum", **GRID},
    "mean": {"kind": "mean", **GRID},
    "top": {"kind": "top", "keys": {"x": list(range(300))}, "k": 200},
    "quantiles": {"kind": "quantile", **GRID, "probabilities": ["1/4", "1/3", "1/2", "2/3"]},
    "quantile": {"kind": "quantile", **GRID, "probability": "1/2"},
    "variance": {"kind": "variance", **GRID},
    "distinct": {"kind": "distinct", "column": "x"},
    "quantile in cells": {"kind": "quantile", **GRID, "probability": "1/2", "keys": {"x": "0..1"}, "other": True},
    "quantiles in cells": {"kind": "quantile", **GRID, "probabilities": ["1/9", "1/2", "2/3"], "keys": {"x": [1]}},
    "max in cells": {"kind": "max", **GRID, "keys": {"x": [1]}},
    **{f"{kind} in cells": {"kind": kind, **GRID, "keys": {"x": "0..99"}} for kind in ("sum", "mean", "variance")},
}
EPSILONS = ["5", "1/123456789", "1234567/9876543210987654321"]
NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def plan(folder: Path, epsilon: str = "1/10", relation: str = "add-remove", delta: str = "0", **kinds: Any) -> Any:
    """A plan for a small table with an open budget."""
    (folder / "data.csv").write_text("x\n" + "7\n" * 50)
    with ledger.open_ledger("ledger.sqlite", folder) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), Fraction(delta), neighbours=relation))
    content = {
        "neighbours": relation,
        "budget": "b",
        "source": {"location": "data.csv", "columns": {"x": "integer"}},
        "output": "out.json",
        "query": [{"name": name, "epsilon": epsilon, **query} for name, query in (kinds or QUERIES).items()],
    }
    return plan_from_mapping(content, folder)


def charges(folder: Path) -> int:
    """How many charges the ledger has."""
    with ledger.open_ledger("ledger.sqlite", folder) as opened_ledger:
        return len(opened_ledger.history("b"))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", ["5", *(pytest.param(epsilon, marks=pytest.mark.slow) for epsilon in EPSILONS[1:])])
def test_the_room_set_aside_before_the_charge_holds_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epsilon: str, relation: str
) -> None:
    enter = ReservedFile.__enter__
    for name, query in QUERIES.items():
        folder = tmp_path / name
        folder.mkdir()
        bounds: list[int] = []
        monkeypatch.setattr(ReservedFile, "__enter__", lambda file, b=bounds: b.append(file.size) or enter(file))
        utmost.release(plan(folder, epsilon, relation, **{name: query}))
        assert (folder / "out.json").stat().st_size <= bounds[-1] < 20 * (folder / "out.json").stat().st_size + 8192
        assert not list(folder.glob(".utmost*"))


def test_a_release_too_long_to_be_read_again_is_refused_before_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utmost.publish.release_file.MAX_RELEASE_BYTES", 1 << 14)
    with pytest.raises(InputError, match="plan must make a release of at most"):
        utmost.release(plan(tmp_path, histogram=QUERIES["histogram"]))
    assert charges(tmp_path) == 0


def test_no_more_room_is_set_aside_than_a_release_that_can_be_read_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many cells of however many queries may be found; quantiles on a long grid are told of few cells."""
    sizes: list[int] = []

    def allocate(handle: int, offset: int, size: int) -> None:
        sizes.append(size)

    monkeypatch.setattr(os, "posix_fallocate", allocate, raising=False)
    found = {"by": ["x"], "delta": "1e-9"}
    long_grid = {"kind": "quantile", "column": "x", "low": 0, "high": 9000, "step": 1, "nulls": "drop"}
    quantile = {"q": {**long_grid, **found, "probability": "1/2"}}
    for name, queries in (("one", quantile), ("many", {f"c{k}": {"kind": "count", **found} for k in range(50)})):
        folder = tmp_path / name
        folder.mkdir()
        utmost.release(plan(folder, delta="1/1000", **queries))
    assert sizes[0] < 10**6
    assert sizes[1] == MAX_RELEASE_BYTES


def test_the_room_is_on_the_disk_and_not_only_promised(tmp_path: Path) -> None:
    with ReservedFile(tmp_path / "out.json", 300_000) as output_file:
        (part,) = tmp_path.iterdir()
        assert part.stat().st_size == 300_000
        assert part.stat().st_blocks * 512 >= 300_000
        output_file.fill("short\n")
    assert (tmp_path / "out.json").read_text() == "short\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "out.json"]


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, None])
def test_zeros_are_written_where_room_cannot_be_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(code, "not supported")

    if code is None:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    else:
        monkeypatch.setattr(os, "posix_fallocate", fail, raising=False)
    with ReservedFile(tmp_path / "out.json", 5000) as output_file:
        (part,) = tmp_path.iterdir()
        assert part.read_bytes() == bytes(5000)
        output_file.fill("short\n")
    assert (tmp_path / "out.json").read_text() == "short\n"


def test_a_full_disk_is_refused_before_the_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with 16 KB left, and a histogram of 3000 cells."""

    def allocate(handle: int, offset: int, size: int) -> None:
        if size > 16_384:
            raise NO_ROOM

    monkeypatch.setattr(os, "posix_fallocate", allocate, raising=False)
    with pytest.raises(InputError, match=r"output must be in a folder .* no space left on device"):
        utmost.release(plan(tmp_path))
    assert charges(tmp_path) == 0
    assert not list(tmp_path.glob(".utmost*"))


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["file", "ledger"])
def test_a_release_that_was_charged_and_cannot_be_kept_is_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    """In Python with the error, on the command line on standard output; an earlier release stays."""

    def fail(*_: Any) -> None:
        raise NO_ROOM if broken == "file" else LedgerError("ledger must be writable, got a full disk")

    parsed_plan = plan(tmp_path)
    utmost.release(parsed_plan)
    earlier = (tmp_path / "out.json").read_bytes()
    monkeypatch.setattr(*((ReservedFile, "fill") if broken == "file" else (ledger.Ledger, "store_release")), fail)
    with pytest.raises(OutputError, match="the budget was charged") as caught:
        utmost.release(parsed_plan)
    assert parse_release(caught.value.document).entry.number == 2
    assert ((tmp_path / "out.json").read_bytes() == earlier) == (broken == "file")
    from utmost.publish.plan_writer import write_plan

    save_plan = tmp_path / "plan.toml"
    save_plan.write_text(write_plan(parsed_plan))
    monkeypatch.chdir(tmp_path)
    assert run(["release", "plan.toml", "--json"]) == 1
    output = capsys.readouterr()
    assert parse_release(output.out).entry.number == 3
    assert output.err.count("\n") == 1
    assert "the budget was charged" in output.err


def test_a_text_for_which_there_is_no_room_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise NO_ROOM

    save_text("earlier", tmp_path / "r.json")
    monkeypatch.setattr(os, "posix_fallocate", fail, raising=False)
    with pytest.raises(InputError, match="no space left on device"):
        save_text("later", tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [tmp_path / "r.json"]
