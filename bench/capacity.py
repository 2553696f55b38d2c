"""Capacities of privacy types, certified, beside the program of FMPD23 Cor. 18 as printed, solved by HiGHS in doubles.

`python bench/capacity.py` prints the table.
"""

from __future__ import annotations

from typing import Any

import measuring
from measuring import QUICK, Blocks, Measurement, Measurements, Section, ratio

CASES = (("grid:2x2", "1/2"), ("grid:2x3", "7/10")) if QUICK else (
    ("hamming:20", "1/2"),
    ("cycle:100000", "1/2"),
    ("cycle:100000", "9/10"),
    ("grid:7x7", "1/2"),
    ("grid:7x7", "7/10"),
    ("grid:10x10", "1/2"),
    ("grid:10x10", "9/10"),
    ("grid:10x10", "7/10"),
    ("grid:20x20", "1/2"),
)  # fmt: skip
PRINTED_PROGRAM_CASE = ("grid:2x3", "7/10") if QUICK else ("grid:7x7", "7/10")
PRINTED_PROGRAM = "Cor. 18 as printed"


def certified_capacities(name: str, level: str) -> dict[str, Any]:
    """Seconds for both capacities, their values and gaps."""
    import utmost as ut
    from utmost.design.capacities import capacity
    from utmost.spaces import parse_space

    points, start = parse_space(name), measuring.clock()
    capacities = capacity(points, ut.alpha(level))
    seconds = measuring.clock() - start
    capacity_pair = (capacities.multiplicative, capacities.additive)
    return {
        "seconds": seconds,
        "values": [float(capacity_bound.value) for capacity_bound in capacity_pair],
        "gap": max(float(capacity_bound.gap) for capacity_bound in capacity_pair),
    }


def printed_program(name: str, level: str) -> dict[str, Any]:
    """Cor. 18 as printed, every pair constrained, by HiGHS's interior point method with its own tolerances."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    import utmost as ut
    from utmost.spaces import parse_space

    points, start = parse_space(name), measuring.clock()
    size, distances = len(points), points.distances.astype(float)
    epsilon = ut.alpha(level).epsilon
    ratio = np.exp(epsilon * distances)
    x, z = np.nonzero(~np.eye(size, dtype=bool))
    pairs, y = np.repeat(np.arange(len(x)), size), np.tile(np.arange(size), len(x))
    row, count = np.arange(len(pairs)), len(pairs)
    values = np.concatenate([np.ones(count), -ratio[x, z][pairs]])
    cells = np.concatenate([x[pairs] * size + y, z[pairs] * size + y])
    privacy_rows = coo_array((values, (np.concatenate([row, row]), cells)), shape=(count, size * size))
    sums = coo_array((np.ones(size**2), (np.arange(size**2) // size, np.arange(size**2))), shape=(size, size**2))
    cost = -np.eye(size).ravel()
    solution = linprog(cost, privacy_rows.tocsr(), np.zeros(count), sums.tocsr(), np.ones(size), method="highs-ipm")
    seconds, channel = measuring.clock() - start, np.maximum(solution.x, 0).reshape(size, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilons = np.log(channel[:, None, :] / channel[None, :, :])[x, z] / distances[x, z][:, None]
    return {"seconds": seconds, "values": [-float(solution.fun)], "excess": float(np.nanmax(epsilons)) - epsilon}


def task_name(name: str, level: str) -> str:
    """A task by what it measures."""
    return f"{name}, α = {level}"


def table_row(name: str, level: str, measurement: Measurement) -> list[str]:
    """A row of the table."""
    values = " and ".join(f"{value:.6g}" for value in measurement["values"])
    times = [measuring.seconds_text(measurement), measuring.memory_text(measurement)]
    return [name, level, *times, values, f"{measurement['gap']:.0e}"]


def printed_program_lines(ours: Measurement, peer: Measurement) -> list[str]:
    """What the printed program took."""
    space, level = PRINTED_PROGRAM_CASE
    return [
        f"Cor. 18 alone on {space} at α = {level}, every pair, HiGHS's interior point method: "
        f"{peer['seconds']:.2f} s, {peer['megabytes']:.0f} MB, ML× = {peer['values'][0]:.9f}, the true ε of its matrix",
        f"above the level by {peer['excess']:.0e}; both capacities certified: {ours['seconds']:.2f} s, "
        f"{ours['megabytes']:.0f} MB, ML× = {ours['values'][0]:.9f} ({peer['seconds'] / ours['seconds']:.1f}× faster).",
    ]


def report(measurements: Measurements) -> Blocks:
    """The table, and what the printed program took."""
    header = ["space", "α", "both capacities", "peak memory", "ML× and ML+", "gap"]
    rows = [table_row(*case, measurements[task_name(*case)]) for case in CASES]
    return {
        "capacities": measuring.markdown_table(header, rows),
        "capacities-program": printed_program_lines(
            measurements[task_name(*PRINTED_PROGRAM_CASE)], measurements[PRINTED_PROGRAM]
        ),
    }


SECTION = Section(
    "capacity",
    {
        **{task_name(*case): lambda _, case=case: certified_capacities(*case) for case in CASES},
        PRINTED_PROGRAM: lambda _: printed_program(*PRINTED_PROGRAM_CASE),
    },
    [ratio("both capacities ÷ Cor. 18 by HiGHS", task_name(*PRINTED_PROGRAM_CASE), PRINTED_PROGRAM, 0.2)],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
