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

NAMES = ("line:6", "discrete:6", "hamming:3")
FURTHER = ("line:7", "cycle:5", "cycle:6", "grid:2x2", "grid:2x3:manhattan", "discrete:6")
FAR = ("grid:2x3",)
HEADER = ["type, α = 1/2", "vertices", "kernels", "pplpy", "utmost", "ratio", "count alone", "as Kernel objects"]


def best(task: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(least seconds, last result) of a few runs."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def pplpy(made: Any) -> tuple[float, int] | None:
    """Seconds and number of vertices of {λ ≥ 0 : Vλ = 1} by pplpy; None if it is not installed."""
    try:
        import ppl
    except ImportError:
        return None
    system = ppl.Constraint_System()
    scale = max(value.denominator for column in made.columns for value in column)
    for row in zip(*made.columns, strict=True):
        system.insert(ppl.Linear_Expression([int(value * scale) for value in row], -1) == 0)
    for v in range(len(made.columns)):
        system.insert(ppl.Variable(v) >= 0)
    seconds, points = best(lambda: ppl.C_Polyhedron(system).minimized_generators(), 1)
    if seconds < 20:  # as often as utmost is run, where that is bearable
        seconds = min(seconds, best(lambda: ppl.C_Polyhedron(system).minimized_generators(), 2)[0])
    return seconds, sum(1 for point in points if point.is_point())


def against(name: str) -> dict[str, Any]:
    """One type, both ways."""
    import utmost as ut
    from utmost import polytopes, spaces

    points, level = spaces.parse_space(name), ut.alpha("1/2")
    made = polytopes.posterior_region(points, level)
    arrays, found = best(lambda: sum(len(sets) for sets, _ in polytopes.kernel_arrays(made)), 3)
    count, _ = best(lambda: polytopes.count_kernels(points, level), 3)
    whole, _ = best(lambda: sum(1 for _ in polytopes.kernels(points, level)), 1)
    peer = pplpy(made)
    return {
        "vertices": len(made.columns), "kernels": found, "arrays": arrays, "count": count, "fractions": whole,
        "peer": None if peer is None else peer[0], "agree": peer is None or peer[1] == found,
    }  # fmt: skip


def counted(name: str) -> dict[str, Any]:
    """How long the number of kernels of a type takes."""
    import utmost as ut
    from utmost import polytopes, spaces

    points, level = spaces.parse_space(name), ut.alpha("1/2")
    corners, vertices = best(lambda: polytopes.count_vertices(points), 1)
    seconds, found = best(lambda: polytopes.count_kernels(points, level), 1)
    return {"vertices": vertices, "corners": corners, "kernels": found, "seconds": seconds}


def measured(task: str, name: str) -> dict[str, Any]:
    """One task in a process of its own, with its peak memory."""
    done = subprocess.run([sys.executable, __file__, task, name], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def row(name: str) -> list[str]:
    """One line of the table against pplpy."""
    r = measured("against", name)
    peer, ratio = (
        ("not installed", "") if r["peer"] is None else (f"{r['peer']:.2f} s", f"{r['peer'] / r['arrays']:.0f}×")
    )
    kernels = str(r["kernels"]) if r["agree"] else f"{r['kernels']} DIFFERENT"
    times = [f"{r['arrays']:.3f} s", ratio, f"{r['count']:.3f} s", f"{r['fractions']:.2f} s"]
    return [name, str(r["vertices"]), kernels, peer, *times]


def further(names: tuple[str, ...]) -> list[list[str]]:
    """Lines of the table of types beyond the published ones."""
    found = [(name, measured("counted", name)) for name in names]
    return [
        [name, str(r["vertices"]), str(r["kernels"]), f"{r['seconds']:.2f} s", f"{r['megabytes']:.0f} MB"]
        for name, r in found
    ]


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows])


def report(names: tuple[str, ...] = FURTHER) -> str:
    """Both tables."""
    first = table(HEADER, [row(name) for name in NAMES])
    return first + "\n\n" + table(["type, α = 1/2", "vertices", "kernels", "counted in", "peak memory"], further(names))


def child(task: str, name: str) -> None:
    """What the process of one task does."""
    result = {"against": against, "counted": counted}[task](name)
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(*sys.argv[1:])
    else:
        print(report(FURTHER + FAR if sys.argv[1:] == ["far"] else FURTHER))
