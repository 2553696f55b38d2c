"""Optimal mechanisms on Euclidean grids: ours with its certificate, beside plain HiGHS and qif on all pairs.

Each measurement is a process of its own, with its peak memory. A peer that takes longer than `LIMIT` is stopped.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

SIDES = (7, 8)  # of the grids that peers are measured on
LARGEST = 10
PRIORS = ("uniform", "random")
LIMIT = 120  # seconds
HEADER = [
    "grid", "prior", "what", "time", "utmost's time as a ratio of it", "peak memory", "loss − lower bound, of the loss",
    "true ε ÷ asked",
]  # fmt: skip


def case(side: int, prior: str) -> tuple[Any, Any, Any]:
    """α = 1/2 a step, the distance as loss; random weights are whole numbers to 999, divided by their sum."""
    import utmost as ut
    from utmost.spaces import grid

    points = grid(side, side)
    raw = random.Random(side)
    weights = [1 if prior == "uniform" else raw.randint(1, 999) for _ in range(len(points))]
    belief = ut.priors.explicit([Fraction(w, sum(weights)) for w in weights])
    return points, ut.alpha("1/2"), ut.Consumer(belief, ut.losses.over(ut.losses.absolute, points))


def ours(side: int, prior: str) -> dict[str, Any]:
    """The certified optimum."""
    import utmost as ut

    points, level, reader = case(side, prior)
    start = time.perf_counter()
    design = ut.optimal(points, level, reader)
    seconds = time.perf_counter() - start
    certificate = design.certificate
    return {
        "seconds": seconds,
        "loss": float(design.loss),
        "lower": float(certificate.lower),
        "gap": float(certificate.gap / design.loss),
        "epsilon": certificate.leak.epsilon / level.epsilon,
        "private": certificate.private,
    }


def highs(side: int, prior: str) -> dict[str, Any]:
    """HiGHS's interior point as it comes, on the program over all pairs of points, handing over included."""
    import highspy
    import numpy as np
    import scipy.sparse as sparse

    points, level, reader = case(side, prior)
    costs = reader.costs().astype(float)
    size = len(points)
    gaps = np.array([float(d) for d in points.values])[points.codes]
    start = time.perf_counter()
    first, second = (np.repeat(axis, size) for axis in np.nonzero(~np.eye(size, dtype=bool)))
    reading = np.tile(np.arange(size), size * (size - 1))
    count, cells = len(reading), np.arange(size * size)
    rows = np.concatenate([np.arange(count), np.arange(count), count + cells // size])
    columns = np.concatenate([first * size + reading, second * size + reading, cells])
    values = np.concatenate([np.ones(count), -np.exp(level.epsilon * gaps[first, second]), np.ones(size * size)])
    matrix = sparse.csc_array((values, (rows, columns)))
    infinite = highspy.kHighsInf
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_, program.col_lower_ = costs.ravel(), np.zeros(size * size)
    program.col_upper_ = np.full(size * size, infinite)
    program.row_lower_ = np.concatenate([np.full(count, -infinite), np.ones(size)])
    program.row_upper_ = np.concatenate([np.zeros(count), np.ones(size)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "ipm")
    solver.passModel(program)
    solver.run()
    seconds = time.perf_counter() - start
    entries = np.array(solver.getSolution().col_value).reshape(size, size)
    return {"seconds": seconds} | judged(points, level, costs, entries)


def qif(side: int, prior: str) -> dict[str, Any]:
    """libqif's optimal mechanism for the same prior, distance and loss."""
    import numpy as np
    from qif import mechanism

    points, level, reader = case(side, prior)
    gaps = np.array([float(d) for d in points.values])[points.codes]
    allowed, size = level.epsilon * gaps, len(points)
    weights = np.array(reader.prior.exact(), dtype=float)
    start = time.perf_counter()
    found = mechanism.d_privacy.min_loss_given_d(weights, size, lambda x, y: allowed[x, y], lambda x, w: gaps[x, w])
    seconds = time.perf_counter() - start
    return {"seconds": seconds} | judged(points, level, reader.costs().astype(float), np.array(found))


def judged(points: Any, level: Any, costs: Any, entries: Any) -> dict[str, Any]:
    """The loss of a matrix of doubles, and the ε that it has as it stands, negative entries read as 0."""
    import numpy as np

    from utmost.channel import least_epsilon
    from utmost.channel.channel import trusted_channel

    leak = least_epsilon(trusted_channel(points.labels, points.labels, np.maximum(entries, 0.0)), points)
    return {"loss": float((costs * entries).sum()), "epsilon": leak.epsilon / level.epsilon}


WAYS: dict[str, Callable[[int, str], dict[str, Any]]] = {"utmost": ours, "HiGHS": highs, "qif": qif}


def peak() -> float:
    """The most memory this process had: Linux's own figure, since getrusage counts what a parent had before."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(what: str, side: int, prior: str) -> dict[str, Any] | str:
    """One measurement in its own process, or why there is none."""
    print(f"measuring {what} on a grid of {side} x {side}, {prior} prior …", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, what, str(side), prior]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"stopped after {LIMIT} s"
    if done.returncode:
        return f"not measured: {done.stderr.strip().splitlines()[-1][:60] if done.stderr.strip() else 'no answer'}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(side: int, prior: str, what: str, found: dict[str, Any] | str, own: dict[str, Any]) -> list[str]:
    """A row of the table; a peer's loss is set against our lower bound, so that one below the optimum shows."""
    head = [f"{side}×{side}", prior, what]
    if isinstance(found, str):
        return [*head, found, "", "", "", ""]
    seconds = found["seconds"]
    above = (found["loss"] - own["lower"]) / own["loss"] if what != "utmost" else own["gap"]
    strength = "∞" if found["epsilon"] == float("inf") else f"1 {found['epsilon'] - 1:+.0e}".replace("-", "−")
    ratio = f"{own['seconds'] / seconds:.2f}×"
    return [
        *head,
        f"{seconds:.2f} s",
        ratio,
        f"{found['megabytes']:.0f} MB",
        f"{above:.0e}".replace("-", "−"),
        strength,
    ]


def rows(sides: tuple[int, ...] = SIDES, largest: int = LARGEST) -> list[list[str]]:
    """All rows: peers beside ours on the smaller grids, ours alone on the largest."""
    made = []
    for side in (*sides, largest):
        for prior in PRIORS:
            own = measured("utmost", side, prior)
            if isinstance(own, str):
                made.append(row(side, prior, "utmost", own, {}))
                continue
            made.append(row(side, prior, "utmost", own, own))
            peers = [what for what in WAYS if what != "utmost"] if side != largest else []
            made += [row(side, prior, what, measured(what, side, prior), own) for what in peers]
    return made


def report() -> str:
    """The Markdown table."""
    lines = [HEADER, ["---"] * len(HEADER), *rows()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def child(what: str, side: str, prior: str) -> None:
    """What the process of one measurement does."""
    found = WAYS[what](int(side), prior)
    found["megabytes"] = peak()
    print(json.dumps(found))


if __name__ == "__main__":
    child(*sys.argv[1:]) if len(sys.argv) == 4 else print(report())
