"""Reading large counts, and certified optima of counts: `python bench/counts.py` prints the tables.

The limit for reading is one running logaddexp over as many doubles, the least that a recursion in log space can cost.
The peer of the optimum is plain HiGHS on the program (3)–(7) of GRS12 as printed.
"""

from __future__ import annotations

from pathlib import Path

import measuring
from measuring import QUICK, Blocks, Measurement, Measurements, Section, best_time, ratio

COUNTS = 10**4 if QUICK else 10**6
DENSE_COUNTS = 300 if QUICK else 3000
PROGRAM_COUNTS = (4, 6, 8) if QUICK else (40, 60, 100)
READINGS = {  # label: prior, loss, the most that was asked for
    "absolute, uniform prior": ("uniform", "absolute", "≤ 2 s, 1 GB"),
    "absolute, binomial prior": ("binomial:0.3", "absolute", "≤ 2 s, 1 GB"),
    "power:1.5 by search, uniform prior": ("uniform", "power:1.5", "≤ 20 s"),
    "power:1.5 by search, binomial prior": ("binomial:0.3", "power:1.5", "≤ 20 s"),
}


def measure_scan(folder: Path) -> Measurement:
    """The limit."""
    import numpy as np

    values = np.linspace(-3.0, 3.0, COUNTS + 1)
    return {"seconds": best_time(lambda: np.logaddexp.accumulate(values), 9)[0]}


def measure_readings(belief: str, loss: str) -> Measurement:
    """Remap and expected loss of every answer at ε = 0.1."""
    import utmost as ut

    prior, level = ut.priors.parse(belief, COUNTS + 1), ut.epsilon("0.1")
    seconds, answers = best_time(
        lambda: ut.readings(prior, level, ut.losses.parse(loss)), 3 if loss == "absolute" else 2
    )
    return {"seconds": seconds, "loss": answers.expected_loss}


def measure_dense(folder: Path) -> Measurement:
    """The same for fewer counts by dense float matrices in numpy, beside the kernel."""
    import numpy as np

    import utmost as ut

    n = DENSE_COUNTS
    prior, level = ut.priors.binomial(n + 1, "0.3"), ut.epsilon("0.1")
    counts, alpha = np.arange(n + 1), float(level.alpha)

    def matrices() -> float:
        gaps = np.abs(counts[:, None] - counts[None, :])
        rows = (1 - alpha) / (1 + alpha) * alpha**gaps
        rows[:, 0], rows[:, -1] = alpha**counts / (1 + alpha), alpha ** (n - counts) / (1 + alpha)
        return float(((np.exp(prior.logs())[:, None] * gaps).T @ rows).min(axis=0).sum())

    dense_seconds, expected = best_time(matrices, 2)
    seconds, answers = best_time(lambda: ut.readings(prior, level, ut.losses.absolute), 3)
    return {"seconds": seconds, "peer": dense_seconds, "agree": abs(answers.expected_loss - expected) < 1e-9}


def measure_program(n: int) -> Measurement:
    """The certified optimum and plain HiGHS: α = 1/2, uniform prior, absolute loss."""
    import numpy as np

    import utmost as ut
    from utmost import lp
    from utmost.design.privacy_program import privacy_program

    level, space = ut.alpha("1/2"), ut.line(n + 1)
    reader = ut.Consumer(ut.priors.uniform(n + 1), ut.losses.absolute)
    exact = privacy_program(space, level, reader.costs())
    printed_program = lp.LinearProgram(exact.cost, exact.rows, exact.columns, exact.values, exact.rhs, exact.equality)
    peer_seconds, peer_solution = best_time(lambda: lp.solve(printed_program), 2)
    seconds, design = best_time(lambda: ut.optimal(space, level, reader), 3)
    entries = np.asarray(peer_solution.x).reshape(n + 1, n + 1)
    has_one_sided_zero = bool(np.any((entries[:-1] <= 0) != (entries[1:] <= 0)))
    return {
        "seconds": seconds,
        "peer": peer_seconds,
        "gap": str(design.certificate.gap),
        "epsilon": round(design.privacy_loss.epsilon, 6),
        "peer epsilon": "∞" if has_one_sided_zero else "finite",
        "peer excess": f"{peer_solution.objective - float(design.loss):.1e}".replace("-", "−"),
    }


def measure_irrational(folder: Path) -> Measurement:
    """The certified optimum of irrational data: ε = 0.1, binomial prior, squared loss."""
    import utmost as ut

    n = PROGRAM_COUNTS[-1]
    reader = ut.Consumer(ut.priors.binomial(n + 1, "0.3"), ut.losses.squared)
    seconds, design = best_time(lambda: ut.optimal(ut.line(n + 1), ut.epsilon("0.1"), reader), 1)
    return {"seconds": seconds, "gap": float(design.certificate.gap / design.loss)}


def reading_rows(measurements: Measurements) -> list[list[str]]:
    """Rows of the table of readings."""
    rows = []
    for label, (_, _, target) in READINGS.items():
        measurement = measurements[label]
        ratio_text = measuring.ratio_text(measurement, measurements["scan"], 0)
        rows.append(
            [label, measuring.seconds_text(measurement), ratio_text, measuring.memory_text(measurement), target]
        )
    return rows


def program_row(n: int, measurement: Measurement) -> list[str]:
    """A row of the table of programs."""
    seconds, peer = measurement["seconds"], measurement["peer"]
    verdicts = [measurement["gap"], str(measurement["epsilon"]), measurement["peer epsilon"]]
    times = [f"{seconds:.2f} s", f"{peer:.2f} s", f"{seconds / peer:.2f}×"]
    return [str(n), *times, *verdicts, measurement["peer excess"]]


def dense_line(dense: Measurement) -> str:
    """What dense matrices take."""
    agreement = "same loss" if dense["agree"] else "DIFFERENT LOSS"
    times = f"{dense['seconds']:.3f} s against {dense['peer']:.2f} s for dense numpy matrices"
    return f"Counts to {DENSE_COUNTS} took {times}: {dense['peer'] / dense['seconds']:.0f}× faster, {agreement}."


def report(measurements: Measurements) -> Blocks:
    """Readings, the dense peer, programs, and the irrational one."""
    n, irrational = PROGRAM_COUNTS[-1], measurements["irrational program"]
    command = f"`utmost optimal line:{n} --epsilon 0.1 --prior binomial:0.3 --loss squared`"
    program_header = ["n", "utmost", "HiGHS", "ratio", "gap", "ε", "HiGHS's true ε", "HiGHS's loss − optimum"]
    program_rows = [program_row(k, measurements[f"program {k}"]) for k in PROGRAM_COUNTS]
    return {
        "counts": measuring.markdown_table(
            ["what", "time", "against one logaddexp pass", "peak memory", "asked"], reading_rows(measurements)
        ),
        "counts-dense": [dense_line(measurements["dense"])],
        "programs": measuring.markdown_table(program_header, program_rows),
        "programs-irrational": [
            f"{command} took {irrational['seconds']:.1f} s, to a gap of {irrational['gap']:.0e} of the loss."
        ],
    }


SECTION = Section(
    "counts",
    {
        "scan": measure_scan,
        **{label: lambda _, b=belief, s=loss: measure_readings(b, s) for label, (belief, loss, _) in READINGS.items()},
        "dense": measure_dense,
        **{f"program {n}": lambda _, n=n: measure_program(n) for n in PROGRAM_COUNTS},
        "irrational program": measure_irrational,
    },
    [
        ratio("absolute, uniform prior ÷ logaddexp", "absolute, uniform prior", "scan", 25),
        ratio("absolute, binomial prior ÷ logaddexp", "absolute, binomial prior", "scan", 25),
        ratio("power:1.5, uniform prior ÷ logaddexp", "power:1.5 by search, uniform prior", "scan", 200),
        ratio("power:1.5, binomial prior ÷ logaddexp", "power:1.5 by search, binomial prior", "scan", 70),
        measuring.inner_ratio("readings ÷ dense matrices", "dense", "seconds", "peer", 0.01),
        *(
            measuring.inner_ratio(f"optimum of {n} counts ÷ HiGHS", f"program {n}", "seconds", "peer", 0.5)
            for n in PROGRAM_COUNTS
        ),
        measuring.Figure(
            f"optimum of {PROGRAM_COUNTS[-1]} counts, irrational ÷ HiGHS, rational",
            ("irrational program", f"program {PROGRAM_COUNTS[-1]}"),
            lambda m: m["irrational program"]["seconds"] / m[f"program {PROGRAM_COUNTS[-1]}"]["peer"],
            20,
            quick=False,
        ),
    ],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
