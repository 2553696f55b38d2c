"""The figures of one whole run, in bench/figures.json: what pages show, and the ceilings that `make bench-check` holds.

`blocks` are the Markdown lines of the pages by the name of their marker; `figures` the numbers with a ceiling.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

from measuring import Blocks, Figure, Measurements, Section, figure_value, markdown_table

FILE = Path(__file__).with_name("figures.json")
ATTEMPTS = 3  # the best of so many is compared with the ceiling


def run_description() -> dict[str, Any]:
    """When, with what, and where."""
    return {
        "date": str(datetime.date.today()),
        "command": "one whole run of `make bench`",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def figure_entry(figure: Figure, value: float | None) -> dict[str, Any]:
    """A figure as it stands in the file."""
    rounded = None if value is None else float(f"{value:.3g}")
    return {
        "name": figure.name, "value": rounded, "unit": figure.unit, "ceiling": figure.ceiling, "quick": figure.quick,
    }  # fmt: skip


def entries(section: Section, measurements: Measurements) -> list[dict[str, Any]]:
    """The figures of a section."""
    return [figure_entry(figure, figure_value(figure, measurements)) for figure in section.figures]


def figures_table(figures: list[dict[str, Any]]) -> list[str]:
    """What the page shows of the ceilings."""
    rows = []
    for entry in figures:
        value = "not measured" if entry["value"] is None else f"{entry['value']:g} {entry['unit']}"
        command = "`make bench-check`" if entry["quick"] else "`make bench`"
        rows.append([entry["name"], value, f"{entry['ceiling']:g} {entry['unit']}", command])
    return markdown_table(["figure", "measured", "ceiling", "held by"], rows)


def run_line(run: dict[str, Any]) -> str:
    """The run in one line."""
    return f"**{run['date']}, {run['command']}, Python {run['python']}, {run['machine']}, {run['cores']} cores.**"


def document(run: dict[str, Any], figures: list[dict[str, Any]], blocks: Blocks) -> dict[str, Any]:
    """The whole file; the blocks `run` and `figures` are made of the rest."""
    return {
        "run": run,
        "figures": figures,
        "blocks": {"run": [run_line(run)], "figures": figures_table(figures), **blocks},
    }


def write(content: dict[str, Any], file: Path = FILE) -> None:
    """Write the file."""
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read(file: Path = FILE) -> dict[str, Any]:
    """Read the file."""
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def excess_lines(figures: list[dict[str, Any]]) -> list[str]:
    """A line for each figure above its ceiling."""
    return [
        f"{entry['name']}: must be at most {entry['ceiling']:g} {entry['unit']}, got {entry['value']:g}: "
        "find what made it slower"
        for entry in figures
        if entry["value"] is not None and entry["value"] > entry["ceiling"]
    ]


def missing_lines(figures: list[dict[str, Any]]) -> list[str]:
    """A line for each figure without a value."""
    return [
        f"{entry['name']}: must be measured, got no measurement: see the reason above"
        for entry in figures
        if entry["value"] is None
    ]


def check(section: Section) -> list[dict[str, Any]]:
    """The quick figures of a section: each measured until it is within its ceiling, at most three times."""
    quick = [figure for figure in section.figures if figure.quick]
    best: dict[str, float | None] = {}
    names = list(dict.fromkeys(name for figure in quick for name in figure.tasks))
    with section.folder(names) as folder:
        pending = quick
        for _ in range(ATTEMPTS):
            chosen = dict.fromkeys(name for figure in pending for name in figure.tasks)
            measurements = {name: section.measure(name, folder) for name in chosen}
            for figure in pending:
                values = [v for v in (best.get(figure.name), figure_value(figure, measurements)) if v is not None]
                best[figure.name] = min(values, default=None)
            pending = [f for f in pending if (value := best[f.name]) is not None and value > f.ceiling]
    return [figure_entry(figure, best[figure.name]) for figure in quick]
