"""Measurements in processes of their own, and what a section of the benchmark is made of.

A task returns what it measured as a dictionary, `seconds` mostly; its process adds its peak memory. A figure is a
number made of one or more measurements of one run, a ratio as a rule, with a ceiling that fails `make bench-check`.

`--quick` means small sizes and everything in this process: it shows that each part runs, and its figures mean nothing.
`--check` counts processor time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

QUICK, CHECK = "--quick" in sys.argv, "--check" in sys.argv
TASK_SECONDS = 180  # after which a task is stopped, so that a whole run ends

Measurement: TypeAlias = dict[str, Any]
Measurements: TypeAlias = dict[str, Measurement]
Blocks: TypeAlias = dict[str, list[str]]  # Markdown lines by the name of their marker on a page


def clock() -> float:
    """Seconds that pass; in a check those of the processor, so that other work on the machine does not count."""
    return time.process_time() if CHECK else time.perf_counter()


def best_time(task: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(least seconds, last result) of a few runs."""
    seconds, result = [], None
    for _ in range(1 if QUICK else repeats):
        start = clock()
        result = task()
        seconds.append(clock() - start)
    return min(seconds), result


def peak_megabytes() -> float:
    """The most memory this process had: Linux's own figure, since getrusage counts what a parent had before."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def markdown_table(header: list[str], rows: Iterable[list[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return ["| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows]]


@dataclass(frozen=True)
class Figure:
    """A number with a ceiling, made of the measurements of these tasks; `make bench-check` measures the quick ones."""

    name: str
    tasks: tuple[str, ...]
    value: Callable[[Measurements], float | None]
    ceiling: float
    quick: bool = True
    unit: str = "×"


def ratio(name: str, ours: str, peer: str, ceiling: float, quick: bool = True) -> Figure:
    """Our seconds as a ratio of the peer's."""
    return Figure(name, (ours, peer), lambda m: m[ours]["seconds"] / m[peer]["seconds"], ceiling, quick)


def inner_ratio(name: str, task: str, ours: str, peer: str, ceiling: float, quick: bool = True) -> Figure:
    """The same of two times that one task measures; None without a peer."""

    def value(m: Measurements) -> float | None:
        return None if m[task][peer] is None else m[task][ours] / m[task][peer]

    return Figure(name, (task,), value, ceiling, quick)


@dataclass(frozen=True)
class Section:
    """Tasks by name (given a folder for files), figures made of them, and what a page shows of them.

    `prepare` writes the files that the named tasks read. A task is stopped after `task_seconds`.
    """

    name: str
    tasks: dict[str, Callable[[Path], Measurement]]
    figures: list[Figure]
    report: Callable[[Measurements], Blocks]
    prepare: Callable[[Path, list[str]], None] = lambda folder, names: None
    task_seconds: int = TASK_SECONDS

    @contextmanager
    def folder(self, names: list[str]) -> Iterator[Path]:
        """A temporary folder with the files of these tasks."""
        with tempfile.TemporaryDirectory(prefix="utmost-bench-") as folder:
            self.prepare(Path(folder), names)
            yield Path(folder)

    def measure(self, name: str, folder: Path) -> Measurement:
        """One task in its own process; `missing` says why there is no measurement."""
        print(f"measuring {self.name}: {name} …", file=sys.stderr, flush=True)
        measurement = self.run(name, folder) if QUICK else self._run_apart(name, folder)
        if "missing" in measurement:
            print(f"  no measurement: {measurement['missing']}", file=sys.stderr, flush=True)
        return measurement

    def _run_apart(self, name: str, folder: Path) -> Measurement:
        command = [sys.executable, str(Path(__file__).with_name("run.py")), "--task", self.name, name, str(folder)]
        environment = dict(os.environ)
        if CHECK:
            command.append("--check")
            environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads that wait take time too
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, timeout=self.task_seconds, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            return {"missing": f"stopped after {self.task_seconds} s"}
        if process.returncode or not process.stdout:
            return {"missing": f"failed: {(process.stderr.strip().splitlines() or ['no message'])[-1]}"}
        measurement: Measurement = json.loads(process.stdout.splitlines()[-1])
        return measurement

    def run(self, name: str, folder: Path) -> Measurement:
        """The task itself; a peer that is not installed is missing."""
        try:
            measurement = self.tasks[name](folder)
        except ImportError as problem:
            return {"missing": f"not installed: {problem.name}"}
        return {"megabytes": peak_megabytes(), **measurement}

    def measure_all(self, names: list[str] | None = None) -> Measurements:
        """The named tasks, by default all."""
        chosen = list(self.tasks) if names is None else names
        with self.folder(chosen) as folder:
            return {name: self.measure(name, folder) for name in chosen}


def figure_value(figure: Figure, measurements: Measurements) -> float | None:
    """None where one of its measurements is missing."""
    if any("missing" in measurements[name] for name in figure.tasks):
        return None
    return figure.value(measurements)


def seconds_text(measurement: Measurement, digits: int = 2) -> str:
    """Seconds, or why there are none."""
    return measurement.get("missing") or f"{measurement['seconds']:.{digits}f} s"


def ratio_text(ours: Measurement, peer: Measurement, digits: int = 2) -> str:
    """Our seconds as a ratio of the peer's; empty where one is missing."""
    if "missing" in ours or "missing" in peer:
        return ""
    return f"{ours['seconds'] / peer['seconds']:.{digits}f}×"


def memory_text(measurement: Measurement) -> str:
    """Peak memory; empty where it is missing."""
    return "" if "missing" in measurement else f"{measurement['megabytes']:.0f} MB"


def print_section(section: Section) -> None:
    """What a script of one section prints."""
    for lines in section.report(section.measure_all()).values():
        print("\n".join(lines) + "\n", flush=True)
