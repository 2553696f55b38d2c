"""Optimal mechanisms on Euclidean grids: ours with its certificate, beside plain HiGHS and qif on all pairs.

`python bench/optimal.py` prints the table.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import measuring
from measuring import QUICK, Blocks, Measurement, Measurements, Section, ratio

COMPARED_SIDES = (2, 3) if QUICK else (7, 8)  # of the grids that peers are measured on
LARGE_CASES = [(3, "random"), (4, "uniform")] if QUICK else [
    (10, "uniform"), (10, "random"), (12, "random"), (15, "uniform"), (15, "random"),
]  # fmt: skip
LARGEST_SIDE = 5 if QUICK else 20
LARGEST_SECONDS = 1800  # after which it is stopped
PRIORS = ("uniform", "random")
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
    start = measuring.clock()
    design = ut.optimal(points, level, reader)
    seconds = measuring.clock() - start
    certificate = design.certificate
    return {
        "seconds": seconds,
        "loss": float(design.loss),
        "lower": float(certificate.lower),
        "gap": float(certificate.gap / design.loss),
        "epsilon": design.privacy_loss.epsilon / level.epsilon,
        "private": design.private,
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
    start = measuring.clock()
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
    seconds = measuring.clock() - start
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
    start = measuring.clock()
    entries = mechanism.d_privacy.min_loss_given_d(weights, size, lambda x, y: allowed[x, y], lambda x, w: gaps[x, w])
    seconds = measuring.clock() - start
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


Case = tuple[str, int, str]
COMPARED_CASES = [(solver, side, prior) for side in COMPARED_SIDES for prior in PRIORS for solver in SOLVERS]
CASES: list[Case] = [*COMPARED_CASES, *(("utmost", side, prior) for side, prior in LARGE_CASES)]
PEER_LIMITS = {"HiGHS": 3, "qif": 3} if QUICK else {"HiGHS": 9, "qif": 9}  # sides about as far as each comes
PEER_CASES: list[Case] = [(solver, side, "random") for peer, side in PEER_LIMITS.items() for solver in ("utmost", peer)]
LARGEST_CASES: list[Case] = [*dict.fromkeys(PEER_CASES), *(("utmost", LARGEST_SIDE, prior) for prior in PRIORS)]


def task_name(solver: str, side: int, prior: str) -> str:
    """A task by what it measures."""
    return f"{solver}, {side}×{side}, {prior}"


def run_task(folder: Path, solver: str, side: int, prior: str) -> Measurement:
    """One solver on one grid."""
    return SOLVERS[solver](side, prior)


def table_row(case: Case, measurements: Measurements) -> list[str]:
    """A row of the table; a peer's loss is set against our lower bound, so that one below the optimum shows."""
    solver, side, prior = case
    measurement, ours = measurements[task_name(*case)], measurements[task_name("utmost", side, prior)]
    labels = [f"{side}×{side}", prior, solver, measuring.seconds_text(measurement)]
    if "missing" in measurement or "missing" in ours:
        return [*labels, "", "", "", ""]
    epsilon = measurement["epsilon"]
    excess = ours["gap"] if solver == "utmost" else (measurement["loss"] - ours["lower"]) / ours["loss"]
    epsilon_text = "∞" if epsilon == float("inf") else f"1 {epsilon - 1:+.0e}".replace("-", "−")
    ratio_text = measuring.ratio_text(ours, measurement)
    return [*labels, ratio_text, measuring.memory_text(measurement), f"{excess:.0e}".replace("-", "−"), epsilon_text]


def report(measurements: Measurements) -> Blocks:
    """The table."""
    return {"optimal": measuring.markdown_table(HEADER, [table_row(case, measurements) for case in CASES])}


def largest_report(measurements: Measurements) -> Blocks:
    """The table of the largest grids, ours and those of the peers; the part is printed, and is on no page."""
    return {"places": measuring.markdown_table(HEADER, [table_row(case, measurements) for case in LARGEST_CASES])}


def grid_ratio(side: int, prior: str, ceiling: float, quick: bool, solver: str = "HiGHS") -> measuring.Figure:
    """Ours as a ratio of a peer's."""
    ours, peer = task_name("utmost", side, prior), task_name(solver, side, prior)
    return ratio(f"optimum on {side}×{side}, {prior} prior ÷ {solver}", ours, peer, ceiling, quick)


SECTION = Section(
    "optimal",
    {task_name(*case): lambda folder, case=case: run_task(folder, *case) for case in CASES},
    [
        grid_ratio(COMPARED_SIDES[0], "uniform", 0.25, True),
        grid_ratio(COMPARED_SIDES[0], "random", 0.5, True),
        grid_ratio(COMPARED_SIDES[1], "uniform", 0.1, False),
        grid_ratio(COMPARED_SIDES[1], "random", 0.2, False),
        grid_ratio(COMPARED_SIDES[0], "uniform", 0.1, False, "qif"),
        grid_ratio(COMPARED_SIDES[0], "random", 0.2, False, "qif"),
        grid_ratio(COMPARED_SIDES[1], "uniform", 0.03, False, "qif"),
        grid_ratio(COMPARED_SIDES[1], "random", 0.1, False, "qif"),
    ],
    report,
)

LARGE_SECTION = Section(
    "places",
    {task_name(*case): lambda folder, case=case: run_task(folder, *case) for case in LARGEST_CASES},
    [],
    largest_report,
    task_seconds=LARGEST_SECONDS,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
