"""No page can keep an old figure: pages are what bench/figures.json says, and the file is within bench/'s ceilings."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "bench"
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
MEASURED = re.compile(r"\d ?(?:s|ms|µs|ns|MB|GB|M/s)\b|\d ?%|\d ?×(?! ?\d)")  # a time, a memory, a rate or a ratio
BENCH_MODULES = [path.stem for path in BENCH.glob("*.py")]


@pytest.fixture(scope="module")
def bench() -> Iterator[dict[str, ModuleType]]:
    """The modules of bench/, which import one another by their bare names; forgotten afterwards."""
    before = {name: sys.modules.pop(name, None) for name in BENCH_MODULES}
    sys.path.insert(0, str(BENCH))
    try:
        yield {name: importlib.import_module(name) for name in ("run", "figures", "pages", "measuring", "errors")}
    finally:
        sys.path.remove(str(BENCH))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def test_the_blocks_of_all_pages_are_those_of_the_file(bench: dict[str, ModuleType]) -> None:
    blocks = bench["figures"].read()["blocks"]
    for path in bench["pages"].page_paths():
        page = path.read_text(encoding="utf-8")
        assert bench["pages"].rewrite(page, blocks) == page, f"{path.name} differs: run python bench/pages.py"
        assert page.count("<!-- bench:") == len(bench["pages"].BLOCK.findall(page)), f"a marker of {path.name} is open"


def test_every_block_of_the_file_is_on_the_page(bench: dict[str, ModuleType]) -> None:
    names = {match["name"] for match in bench["pages"].BLOCK.finditer(PAGE)}
    assert names == set(bench["figures"].read()["blocks"])


def test_no_measured_figure_stands_outside_a_block(bench: dict[str, ModuleType]) -> None:
    prose = bench["pages"].BLOCK.sub("", PAGE)
    assert [line for line in prose.splitlines() if MEASURED.search(line)] == []
    for figure in ("4.49 s", "28× faster", "11 s", "283 MB", "1 % more", "110 ms"):  # what the pattern must see
        assert MEASURED.search(figure), figure


def test_every_section_with_figures_names_its_command() -> None:
    for section in PAGE.split("\n## ")[1:]:
        assert "<!-- bench:" not in section or "`make bench" in section.split("<!-- bench:")[0], section[:40]


def test_the_file_has_the_figures_and_ceilings_of_the_code_and_keeps_them(bench: dict[str, ModuleType]) -> None:
    content = bench["figures"].read()
    defined = [figure for section in bench["run"].SECTIONS.values() for figure in section.figures]
    expected = [(figure.name, figure.unit, figure.ceiling, figure.quick) for figure in defined]
    found = [(entry["name"], entry["unit"], entry["ceiling"], entry["quick"]) for entry in content["figures"]]
    assert found == expected, "bench/ changed: run make bench"
    assert bench["figures"].excess_lines(content["figures"]) == []
    assert content["blocks"]["figures"] == bench["figures"].figures_table(content["figures"])
    assert content["blocks"]["run"] == [bench["figures"].run_line(content["run"])]


def test_a_figure_is_made_of_tasks_that_exist_and_has_a_name_of_its_own(bench: dict[str, ModuleType]) -> None:
    sections = bench["run"].SECTIONS.values()
    names = [figure.name for section in sections for figure in section.figures]
    assert len(names) == len(set(names))
    assert all(set(figure.tasks) <= set(section.tasks) for section in sections for figure in section.figures)


def section_with(bench: dict[str, ModuleType], seconds: list[float]) -> Any:
    """A section whose task takes so long, one after the other, beside a peer of one second."""
    measuring = bench["measuring"]
    section = measuring.Section("test", {}, [measuring.ratio("test ÷ peer", "ours", "peer", 2.0)], lambda m: {})
    times = {"ours": iter(seconds), "peer": iter([1.0] * 9)}
    object.__setattr__(section, "measure", lambda name, folder: {"seconds": next(times[name])})
    return section


@pytest.mark.parametrize(("seconds", "value"), [([1.5], 1.5), ([9, 1.9], 1.9), ([9, 5, 7], 5.0)])
def test_a_check_takes_the_best_of_three_and_stops_when_it_is_within(
    bench: dict[str, ModuleType], seconds: list[float], value: float
) -> None:
    entries = bench["figures"].check(section_with(bench, seconds))
    assert [entry["value"] for entry in entries] == [value]
    lines = bench["figures"].excess_lines(entries)
    assert lines == ([] if value <= 2 else ["test ÷ peer: must be at most 2 ×, got 5: find what made it slower"])


def test_a_check_that_measures_nothing_is_no_success(bench: dict[str, ModuleType]) -> None:
    section = section_with(bench, [])
    object.__setattr__(section, "measure", lambda name, folder: {"missing": "failed: no such name"})
    entries = bench["figures"].check(section)
    assert bench["figures"].missing_lines(entries) == [
        "test ÷ peer: must be measured, got no measurement: see the reason above"
    ]


def test_a_task_that_fails_is_told_from_a_peer_that_is_not_there(bench: dict[str, ModuleType]) -> None:
    measurements = {"ours": {"missing": "failed: no such name"}, "peer": {"missing": "not installed: qif"}}
    assert bench["run"].failures(measurements, section_with(bench, [])) == ["test: ours failed: no such name"]


@pytest.mark.parametrize(
    ("parts", "quick", "measurement", "written"),
    [
        ([], False, {"seconds": 1.0}, ["file", "curve", "pages"]),
        ([], False, {"missing": "failed: no such name"}, []),
        ([], True, {"seconds": 1.0}, []),
        (["intervals"], False, {"seconds": 1.0}, []),
    ],
)
def test_only_a_whole_run_without_a_failure_is_written(
    bench: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    parts: list[str],
    quick: bool,
    measurement: dict[str, Any],
    written: list[str],
) -> None:
    run, measuring, calls = bench["run"], bench["measuring"], []
    section = measuring.Section("intervals", {"ours": None}, [], lambda m: {"times": ["| 1 s |"]})
    object.__setattr__(section, "measure", lambda name, folder: measurement)
    monkeypatch.setattr(run, "PARTS", {"intervals": [section]})
    monkeypatch.setattr(run.figures, "write", lambda content: calls.append("file"))
    monkeypatch.setattr(run.continuous, "save_curve", lambda measurements, path: calls.append("curve"))
    monkeypatch.setattr(run.pages, "rewrite_pages", lambda: calls.append("pages"))
    problems = run.run_bench(parts, quick)
    assert calls == written
    assert bool(problems) == ("missing" in measurement)


def test_a_figure_of_the_last_run_replaces_the_one_on_the_page(bench: dict[str, ModuleType], tmp_path: Path) -> None:
    figures, pages = bench["figures"], bench["pages"]
    old = "# Page\n\n<!-- bench:times -->\n\n| 4.49 s |\n\n<!-- /bench -->\n\nText.\n"
    figures.write(figures.document(figures.run_description(), [], {"times": ["| 3.27 s |"]}), tmp_path / "file.json")
    page = pages.rewrite(old, figures.read(tmp_path / "file.json")["blocks"])
    assert page == old.replace("4.49", "3.27")
    with pytest.raises(KeyError, match="times"):
        pages.rewrite(old, {})


@pytest.mark.slow
@pytest.mark.parametrize("part", ["counts", "joint", "tables", "language", "types", "intervals", "axioms", "studio"])
def test_each_part_of_the_benchmark_runs_with_small_sizes(part: str) -> None:
    """A name of the code that changed shows here, not after ten minutes of `make bench`."""
    if part == "studio":
        pytest.importorskip("fastapi", reason="the studio's extra is not installed")
    before = (BENCH / "figures.json").read_bytes()
    command = [sys.executable, str(BENCH / "run.py"), "--quick", part]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    assert "| figure | measured | ceiling | held by |" in process.stdout
    assert (BENCH / "figures.json").read_bytes() == before


def test_a_peer_that_never_errs_in_a_few_answers_has_no_ratio(bench: dict[str, ModuleType]) -> None:
    errors = bench["errors"]
    exact, ours = {"answers": 5, "error": 0.0, "width": 0.0}, {"answers": 5, "error": 2.0, "width": 4.0}
    question = next(iter(errors.QUESTIONS))
    names = [errors.task_name(question, library) for library in (errors.UTMOST, errors.OPENDP)]
    measurements = dict(zip(names, (ours, exact), strict=True))
    assert errors.table_row(question, errors.OPENDP, measurements)[-2:] == ["", ""]
    figure = errors.error_ratio(question, errors.OPENDP, 1)
    assert bench["measuring"].figure_value(figure, measurements) is None
