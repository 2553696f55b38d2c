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

COMPARED_SIDES = (7, 8)  # of the grids that peers are measured on
MAX_SIDE = 10
PRIORS = ("uniform", "random")
TIME_LIMIT_SECONDS = 120  # seconds
HEADER = [
    "grid", "prior", "what", "time", "utmost's time as a ratio of it", "peak memory", "loss − lower bound, of the loss",
    "true ε ÷ asked",
]  # fmt: skip


def design_problem(side: int, prior: str) -> tuple[Any, Any, Any]:
    """α = 1/2 a step, the distance as loss; random weights are whole numbers to 999, divided by their sum."""
    import utmost as ut
    from utmost.spaces import grid

    points = grid(side, side)
    raw = random.Random(side)
    weights = [1 if prior == "uniform" else raw.randint(1, 999) for _ in range(len(points))]
    belief = ut.priors.explicit([Fraction(w, sum(weights)) for w in weights])
    return points, ut.alpha("1/2"), ut.Consumer(belief, ut.losses.over(ut.losses.absolute, points))


def solve_with_utmost(side: int, prior: str) -> dict[str, Any]:
    """The certified optimum."""
    import utmost as ut

    points, level, reader = design_problem(side, prior)
    start = time.perf_counter()
    design = ut.optimal(points, level, reader)
    seconds = time.perf_counter() - start
    certificate = design.certificate
    return {
        "seconds": seconds,
        "loss": float(design.loss),
        "lower": float(certificate.lower),
        "gap": float(certificate.gap / design.loss),
        "epsilon": certificate.privacy_loss.epsilon / level.epsilon,
        "private": certificate.private,
    }


def solve_with_highs(side: int, prior: str) -> dict[str, Any]:
    """HiGHS's interior point as it comes, on the program over all pairs of points, handing over included."""
    import highspy
    import numpy as np
    import scipy.sparse as sparse

    points, level, reader = design_problem(side, prior)
    costs = reader.costs().astype(float)
    size = len(points)
    gaps = np.array([float(d) for d in points.values])[points.codes]
    start = time.perf_counter()
    first, second = (np.repeat(axis, size) for axis in np.nonzero(~np.eye(size, dtype=bool)))
    reading = np.tile(np.arange(size), size * (size - 1))
    count, cells = len(reading), np.arange(size * size)
    table_rows = np.concatenate([np.arange(count), np.arange(count), count + cells // size])
    columns = np.concatenate([first * size + reading, second * size + reading, cells])
    values = np.concatenate([np.ones(count), -np.exp(level.epsilon * gaps[first, second]), np.ones(size * size)])
    matrix = sparse.csc_array((values, (table_rows, columns)))
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
    return {"seconds": seconds} | judge_matrix(points, level, costs, entries)


def solve_with_qif(side: int, prior: str) -> dict[str, Any]:
    """libqif's optimal mechanism for the same prior, distance and loss."""
    import numpy as np
    from qif import mechanism

    points, level, reader = design_problem(side, prior)
    gaps = np.array([float(d) for d in points.values])[points.codes]
    allowed, size = level.epsilon * gaps, len(points)
    weights = np.array(reader.prior.exact(), dtype=float)
    start = time.perf_counter()
    entries = mechanism.d_privacy.min_loss_given_d(weights, size, lambda x, y: allowed[x, y], lambda x, w: gaps[x, w])
    seconds = time.perf_counter() - start
    return {"seconds": seconds} | judge_matrix(points, level, reader.costs().astype(float), np.array(entries))


def judge_matrix(points: Any, level: Any, costs: Any, entries: Any) -> dict[str, Any]:
    """The loss of a matrix of doubles, and the ε that it has as it stands, negative entries read as 0."""
    import numpy as np

    from utmost.channel import least_epsilon
    from utmost.channel.channel import trusted_channel

    privacy_loss = least_epsilon(trusted_channel(points.labels, points.labels, np.maximum(entries, 0.0)), points)
    return {"loss": float((costs * entries).sum()), "epsilon": privacy_loss.epsilon / level.epsilon}


SOLVERS: dict[str, Callable[[int, str], dict[str, Any]]] = {
    "utmost": solve_with_utmost,
    "HiGHS": solve_with_highs,
    "qif": solve_with_qif,
}


def peak_megabytes() -> float:
    """The most memory this process had: Linux's own figure, since getrusage counts what a parent had before."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(solver: str, side: int, prior: str) -> dict[str, Any] | str:
    """One measurement in its own process, or why there is none."""
    print(f"measuring {solver} on a grid of {side} x {side}, {prior} prior …", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, solver, str(side), prior]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"stopped after {TIME_LIMIT_SECONDS} s"
    if process.returncode:
        errors = process.stderr.strip().splitlines()
        return f"not measured: {errors[-1][:60] if errors else 'no answer'}"
    measurement: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return measurement


def table_row(side: int, prior: str, solver: str, measurement: dict[str, Any] | str, ours: dict[str, Any]) -> list[str]:
    """A row of the table; a peer's loss is set against our lower bound, so that one below the optimum shows."""
    labels = [f"{side}×{side}", prior, solver]
    if isinstance(measurement, str):
        return [*labels, measurement, "", "", "", ""]
    seconds = measurement["seconds"]
    epsilon = measurement["epsilon"]
    excess = ours["gap"] if solver == "utmost" else (measurement["loss"] - ours["lower"]) / ours["loss"]
    epsilon_text = "∞" if epsilon == float("inf") else f"1 {epsilon - 1:+.0e}".replace("-", "−")
    ratio = f"{ours['seconds'] / seconds:.2f}×"
    return [
        *labels,
        f"{seconds:.2f} s",
        ratio,
        f"{measurement['megabytes']:.0f} MB",
        f"{excess:.0e}".replace("-", "−"),
        epsilon_text,
    ]


def table_rows(sides: tuple[int, ...] = COMPARED_SIDES, max_side: int = MAX_SIDE) -> list[list[str]]:
    """All rows: peers beside ours on the smaller grids, ours alone on the largest."""
    lines = []
    for side in (*sides, max_side):
        for prior in PRIORS:
            ours = measure("utmost", side, prior)
            if isinstance(ours, str):
                lines.append(table_row(side, prior, "utmost", ours, {}))
                continue
            lines.append(table_row(side, prior, "utmost", ours, ours))
            peers = [solver for solver in SOLVERS if solver != "utmost"] if side != max_side else []
            lines += [table_row(side, prior, solver, measure(solver, side, prior), ours) for solver in peers]
    return lines


def report() -> str:
    """The Markdown table."""
    lines = [HEADER, ["---"] * len(HEADER), *table_rows()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def run_child(solver: str, side: str, prior: str) -> None:
    """What the process of one measurement does."""
    measurement = SOLVERS[solver](int(side), prior)
    measurement["megabytes"] = peak_megabytes()
    print(json.dumps(measurement))


if __name__ == "__main__":
    run_child(*sys.argv[1:]) if len(sys.argv) == 4 else print(report())
