"""Capacities of privacy types, certified, beside the program of FMPD23 Cor. 18 as printed, solved by HiGHS in doubles.

Each measurement runs in a process of its own. `python bench/capacity.py` prints the table; with words such as
`grid:7x7 7/10` it measures one space.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import Any

CASES = (
    ("hamming:20", "1/2"),
    ("cycle:100000", "1/2"),
    ("cycle:100000", "9/10"),
    ("grid:7x7", "1/2"),
    ("grid:7x7", "7/10"),
    ("grid:10x10", "1/2"),
    ("grid:10x10", "9/10"),
    ("grid:10x10", "7/10"),
    ("grid:20x20", "1/2"),
)
PRINTED_PROGRAM_CASE = ("grid:7x7", "7/10")


def certified_capacities(name: str, level: str) -> dict[str, Any]:
    """Seconds for both capacities, their values and gaps."""
    import utmost as ut
    from utmost.design.capacities import capacity
    from utmost.spaces import parse_space

    points, start = parse_space(name), time.perf_counter()
    capacities = capacity(points, ut.alpha(level))
    seconds = time.perf_counter() - start
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

    points, start = parse_space(name), time.perf_counter()
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
    seconds, channel = time.perf_counter() - start, np.maximum(solution.x, 0).reshape(size, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilons = np.log(channel[:, None, :] / channel[None, :, :])[x, z] / distances[x, z][:, None]
    return {"seconds": seconds, "values": [-float(solution.fun)], "excess": float(np.nanmax(epsilons)) - epsilon}


def run_child(method: str, name: str, level: str) -> None:
    """What the process of one measurement does."""
    measurement = {"certified": certified_capacities, "plain": printed_program}[method](name, level)
    measurement["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(measurement))


def measure(method: str, name: str, level: str) -> dict[str, Any]:
    """One measurement in its own process."""
    process = subprocess.run(
        [sys.executable, __file__, method, name, level], capture_output=True, text=True, check=True
    )
    measurement: dict[str, Any] = json.loads(process.stdout)
    return measurement


def table_rows(cases: tuple[tuple[str, str], ...]) -> list[list[str]]:
    """Rows of the table."""
    lines = []
    for name, level in cases:
        measurement = measure("certified", name, level)
        values = " and ".join(f"{value:.6g}" for value in measurement["values"])
        lines.append(
            [
                name,
                level,
                f"{measurement['seconds']:.2f} s",
                f"{measurement['megabytes']:.0f} MB",
                values,
                f"{measurement['gap']:.0e}",
            ]
        )
    return lines


def report(cases: tuple[tuple[str, str], ...] = CASES) -> str:
    """The Markdown table, and what the printed program took."""
    header = ["space", "α", "both capacities", "peak memory", "ML× and ML+", "gap"]
    lines = [header, ["---"] * len(header), *table_rows(cases)]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    space, level = PRINTED_PROGRAM_CASE
    ours, peer = measure("certified", space, level), measure("plain", space, level)
    return (
        f"{text}\n\nCor. 18 alone on {space} at α = {level}, every pair, HiGHS's interior point method: "
        f"{peer['seconds']:.2f} s, {peer['megabytes']:.0f} MB, ML× = {peer['values'][0]:.9f}, the true ε of its matrix "
        f"above the level by {peer['excess']:.0e}; both capacities certified: {ours['seconds']:.2f} s, "
        f"{ours['megabytes']:.0f} MB, ML× = {ours['values'][0]:.9f} ({peer['seconds'] / ours['seconds']:.1f}× faster)."
    )


def main() -> None:
    """Measure and print."""
    arguments = sys.argv[1:]
    print(report(((arguments[0], arguments[1]),) if len(arguments) == 2 else CASES))


if __name__ == "__main__":
    run_child(*sys.argv[1:]) if len(sys.argv) == 4 else main()
