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
PLAIN = ("grid:7x7", "7/10")  # what the printed program is solved for


def certified(name: str, level: str) -> dict[str, Any]:
    """Seconds for both capacities, their values and gaps."""
    import utmost as ut
    from utmost.design.capacities import capacity
    from utmost.spaces import parse_space

    points, start = parse_space(name), time.perf_counter()
    found = capacity(points, ut.alpha(level))
    seconds = time.perf_counter() - start
    both = (found.multiplicative, found.additive)
    return {
        "seconds": seconds,
        "values": [float(one.value) for one in both],
        "gap": max(float(one.gap) for one in both),
    }


def plain(name: str, level: str) -> dict[str, Any]:
    """Cor. 18 as printed, every pair constrained, by HiGHS's interior point method with its own tolerances."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    import utmost as ut
    from utmost.spaces import parse_space

    points, start = parse_space(name), time.perf_counter()
    size, far = len(points), points.distances.astype(float)
    allowed = ut.alpha(level).epsilon
    ratio = np.exp(allowed * far)
    x, z = np.nonzero(~np.eye(size, dtype=bool))
    pairs, y = np.repeat(np.arange(len(x)), size), np.tile(np.arange(size), len(x))
    row, count = np.arange(len(pairs)), len(pairs)
    values = np.concatenate([np.ones(count), -ratio[x, z][pairs]])
    cells = np.concatenate([x[pairs] * size + y, z[pairs] * size + y])
    private = coo_array((values, (np.concatenate([row, row]), cells)), shape=(count, size * size))
    sums = coo_array((np.ones(size**2), (np.arange(size**2) // size, np.arange(size**2))), shape=(size, size**2))
    cost = -np.eye(size).ravel()
    best = linprog(cost, private.tocsr(), np.zeros(count), sums.tocsr(), np.ones(size), method="highs-ipm")
    seconds, found = time.perf_counter() - start, np.maximum(best.x, 0).reshape(size, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        leaks = np.log(found[:, None, :] / found[None, :, :])[x, z] / far[x, z][:, None]
    return {"seconds": seconds, "values": [-float(best.fun)], "excess": float(np.nanmax(leaks)) - allowed}


def child(how: str, name: str, level: str) -> None:
    """What the process of one measurement does."""
    found = {"certified": certified, "plain": plain}[how](name, level)
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measured(how: str, name: str, level: str) -> dict[str, Any]:
    """One measurement in its own process."""
    done = subprocess.run([sys.executable, __file__, how, name, level], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows(cases: tuple[tuple[str, str], ...]) -> list[list[str]]:
    """Rows of the table."""
    made = []
    for name, level in cases:
        found = measured("certified", name, level)
        values = " and ".join(f"{value:.6g}" for value in found["values"])
        made.append(
            [name, level, f"{found['seconds']:.2f} s", f"{found['megabytes']:.0f} MB", values, f"{found['gap']:.0e}"]
        )
    return made


def report(cases: tuple[tuple[str, str], ...] = CASES) -> str:
    """The Markdown table, and what the printed program took."""
    header = ["space", "α", "both capacities", "peak memory", "ML× and ML+", "gap"]
    lines = [header, ["---"] * len(header), *rows(cases)]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    ours, peer = measured("certified", *PLAIN), measured("plain", *PLAIN)
    return (
        f"{text}\n\nCor. 18 alone on {PLAIN[0]} at α = {PLAIN[1]}, every pair, HiGHS's interior point method: "
        f"{peer['seconds']:.2f} s, {peer['megabytes']:.0f} MB, ML× = {peer['values'][0]:.9f}, the true ε of its matrix "
        f"above the level by {peer['excess']:.0e}; both capacities certified: {ours['seconds']:.2f} s, "
        f"{ours['megabytes']:.0f} MB, ML× = {ours['values'][0]:.9f} ({peer['seconds'] / ours['seconds']:.1f}× faster)."
    )


def main() -> None:
    """Measure and print."""
    words = sys.argv[1:]
    print(report(((words[0], words[1]),) if len(words) == 2 else CASES))


if __name__ == "__main__":
    child(*sys.argv[1:]) if len(sys.argv) == 4 else main()
