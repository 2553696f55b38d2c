"""Vertices and kernel mechanisms beside pplpy.

Both sides are given the same vertices as whole numbers and answer with all kernels: pplpy as the points of its
generator system, utmost as arrays of sets and whole weights, as a number, and as `Kernel`s with their weights as
fractions. pplpy's answer is not unpacked. `python bench/kernels.py` prints the tables; `python bench/kernels.py far`
counts those of a type that takes minutes.
"""

from __future__ import annotations

import sys
from typing import Any

import measuring
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, best_time

COMPARED_TYPES = ("line:3", "discrete:3", "hamming:2") if QUICK else ("line:6", "discrete:6", "hamming:3")
COUNTED_TYPES = (
    ("line:4",) if QUICK else ("line:7", "cycle:5", "cycle:6", "grid:2x2", "grid:2x3:manhattan", "discrete:6")
)
SLOW_TYPE = "grid:2x3"
HEADER = ["type, α = 1/2", "vertices", "kernels", "pplpy", "utmost", "ratio", "count alone", "as `Kernel` objects"]
COUNT_HEADER = ["type, α = 1/2", "vertices", "kernels", "counted in", "peak memory"]


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


def comparison_row(name: str, measurement: Measurement) -> list[str]:
    """One line of the table against pplpy."""
    peer, ratio = (
        ("not installed", "")
        if measurement["peer"] is None
        else (f"{measurement['peer']:.2f} s", f"{measurement['peer'] / measurement['arrays']:.0f}×")
    )
    kernels = str(measurement["kernels"]) if measurement["agree"] else f"{measurement['kernels']} DIFFERENT"
    times = [f"{measurement['arrays']:.3f} s", ratio, f"{measurement['count']:.3f} s"]
    return [name, str(measurement["vertices"]), kernels, peer, *times, f"{measurement['fractions']:.2f} s"]


def count_row(name: str, measurement: Measurement) -> list[str]:
    """One line of the table of types beyond the published ones."""
    numbers = [str(measurement["vertices"]), str(measurement["kernels"])]
    return [name, *numbers, measuring.seconds_text(measurement), measuring.memory_text(measurement)]


def report(measurements: Measurements) -> Blocks:
    """Both tables."""
    comparisons = [comparison_row(name, measurements[f"beside pplpy, {name}"]) for name in COMPARED_TYPES]
    counts = [count_row(name, measurements[f"count, {name}"]) for name in COUNTED_TYPES]
    return {
        "kernels": measuring.markdown_table(HEADER, comparisons),
        "kernels-counted": measuring.markdown_table(COUNT_HEADER, counts),
    }


def pplpy_ratio(name: str, ceiling: float, quick: bool) -> Figure:
    """Ours as a ratio of pplpy's."""
    return measuring.inner_ratio(
        f"kernels of {name} ÷ pplpy", f"beside pplpy, {name}", "arrays", "peer", ceiling, quick
    )


SECTION = Section(
    "kernels",
    {
        **{f"beside pplpy, {name}": lambda _, name=name: compare_with_pplpy(name) for name in COMPARED_TYPES},
        **{f"count, {name}": lambda _, name=name: count_kernels_of(name) for name in COUNTED_TYPES},
    },
    [
        pplpy_ratio(COMPARED_TYPES[0], 0.13, True),
        pplpy_ratio(COMPARED_TYPES[1], 0.03, False),
        pplpy_ratio(COMPARED_TYPES[2], 0.2, True),
    ],
    report,
)

if __name__ == "__main__":
    if sys.argv[1:] == ["far"]:
        print(" | ".join(count_row(SLOW_TYPE, count_kernels_of(SLOW_TYPE))))
    else:
        measuring.print_section(SECTION)
