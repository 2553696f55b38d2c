"""Vertices and kernel mechanisms beside pplpy: functions for bench/run.py, or run by itself.

Both sides are given the same vertices as whole numbers and answer with all kernels: pplpy as the points of its
generator system, utmost as arrays of sets and whole weights, as a number, and as `Kernel`s with their weights as
fractions. pplpy's answer is not unpacked. `python bench/kernels.py` prints the tables; `python bench/kernels.py far`
goes on to a type that takes minutes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

COMPARED_TYPES = ("line:6", "discrete:6", "hamming:3")
COUNTED_TYPES = ("line:7", "cycle:5", "cycle:6", "grid:2x2", "grid:2x3:manhattan", "discrete:6")
SLOW_TYPES = ("grid:2x3",)
HEADER = ["type, α = 1/2", "vertices", "kernels", "pplpy", "utmost", "ratio", "count alone", "as Kernel objects"]


def best_time(task: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(least seconds, last result) of a few runs."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def pplpy_kernels(region: Any) -> tuple[float, int] | None:
    """Seconds and number of vertices of {λ ≥ 0 : Vλ = 1} by pplpy; None if it is not installed."""
    try:
        import ppl
    except ImportError:
        return None
    system = ppl.Constraint_System()
    scale = max(value.denominator for column in region.columns for value in column)
    for comparison_row in zip(*region.columns, strict=True):
        system.insert(ppl.Linear_Expression([int(value * scale) for value in comparison_row], -1) == 0)
    for v in range(len(region.columns)):
        system.insert(ppl.Variable(v) >= 0)
    seconds, points = best_time(lambda: ppl.C_Polyhedron(system).minimized_generators(), 1)
    if seconds < 20:  # as often as utmost is run, where that is bearable
        seconds = min(seconds, best_time(lambda: ppl.C_Polyhedron(system).minimized_generators(), 2)[0])
    return seconds, sum(1 for point in points if point.is_point())


def compare_with_pplpy(name: str) -> dict[str, Any]:
    """One type, both ways."""
    import utmost as ut
    from utmost import polytopes, spaces

    points, level = spaces.parse_space(name), ut.alpha("1/2")
    region = polytopes.posterior_region(points, level)
    array_seconds, kernel_count = best_time(lambda: sum(len(sets) for sets, _ in polytopes.kernel_arrays(region)), 3)
    count_seconds, _ = best_time(lambda: polytopes.count_kernels(points, level), 3)
    fractions, _ = best_time(lambda: sum(1 for _ in polytopes.kernels(points, level)), 1)
    peer = pplpy_kernels(region)
    return {
        "vertices": len(region.columns), "kernels": kernel_count, "arrays": array_seconds, "count": count_seconds,
        "fractions": fractions,
        "peer": None if peer is None else peer[0], "agree": peer is None or peer[1] == kernel_count,
    }  # fmt: skip


def count_kernels_of(name: str) -> dict[str, Any]:
    """How long the number of kernels of a type takes."""
    import utmost as ut
    from utmost import polytopes, spaces

    points, level = spaces.parse_space(name), ut.alpha("1/2")
    vertex_seconds, vertices = best_time(lambda: polytopes.count_vertices(points), 1)
    seconds, kernel_count = best_time(lambda: polytopes.count_kernels(points, level), 1)
    return {"vertices": vertices, "corners": vertex_seconds, "kernels": kernel_count, "seconds": seconds}


def measure(task: str, name: str) -> dict[str, Any]:
    """One task in a process of its own, with its peak memory."""
    process = subprocess.run([sys.executable, __file__, task, name], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def comparison_row(name: str) -> list[str]:
    """One line of the table against pplpy."""
    measurement = measure("against", name)
    peer, ratio = (
        ("not installed", "")
        if measurement["peer"] is None
        else (f"{measurement['peer']:.2f} s", f"{measurement['peer'] / measurement['arrays']:.0f}×")
    )
    kernels = str(measurement["kernels"]) if measurement["agree"] else f"{measurement['kernels']} DIFFERENT"
    times = [
        f"{measurement['arrays']:.3f} s",
        ratio,
        f"{measurement['count']:.3f} s",
        f"{measurement['fractions']:.2f} s",
    ]
    return [name, str(measurement["vertices"]), kernels, peer, *times]


def count_rows(names: tuple[str, ...]) -> list[list[str]]:
    """Lines of the table of types beyond the published ones."""
    measurements = [(name, measure("counted", name)) for name in names]
    return [
        [
            name,
            str(measurement["vertices"]),
            str(measurement["kernels"]),
            f"{measurement['seconds']:.2f} s",
            f"{measurement['megabytes']:.0f} MB",
        ]
        for name, measurement in measurements
    ]


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows])


def report(names: tuple[str, ...] = COUNTED_TYPES) -> str:
    """Both tables."""
    first = markdown_table(HEADER, [comparison_row(name) for name in COMPARED_TYPES])
    return (
        first
        + "\n\n"
        + markdown_table(["type, α = 1/2", "vertices", "kernels", "counted in", "peak memory"], count_rows(names))
    )


def run_child(task: str, name: str) -> None:
    """What the process of one task does."""
    result = {"against": compare_with_pplpy, "counted": count_kernels_of}[task](name)
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_child(*sys.argv[1:])
    else:
        print(report(COUNTED_TYPES + SLOW_TYPES if sys.argv[1:] == ["far"] else COUNTED_TYPES))
