"""`make bench`: time and memory as ratios against a peer or a limit, measured in the same run.

Each measurement runs in a process of its own, so that its peak memory is its own; times are the best of a few repeats.
"""

from __future__ import annotations

import datetime
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import capacity
import kernels
import local
import optimal
import profiles
import tables

import continuous
import noise
import studio

REPEATS = 3


def best_time(task: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """(least seconds, last result) of a few runs."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def measure_scan() -> dict[str, Any]:
    """The limit for a kernel in log space: one running logaddexp over a million doubles."""
    import numpy as np

    values = np.linspace(-3.0, 3.0, 10**6 + 1)
    return {"seconds": best_time(lambda: np.logaddexp.accumulate(values), 5)[0]}


def measure_count(loss: str, belief: str) -> dict[str, Any]:
    """Remap and expected loss of every answer for counts to a million at ε = 0.1."""
    import utmost as ut

    prior, level = ut.priors.parse(belief, 10**6 + 1), ut.epsilon("0.1")
    seconds, answers = best_time(
        lambda: ut.readings(prior, level, ut.losses.parse(loss)), REPEATS if loss == "absolute" else 1
    )
    return {"seconds": seconds, "loss": answers.expected_loss}


def measure_dense() -> dict[str, Any]:
    """The same for counts to 3000 by dense float matrices in numpy, beside the kernel."""
    import numpy as np

    import utmost as ut

    n = 3000
    prior, level = ut.priors.binomial(n + 1, "0.3"), ut.epsilon("0.1")
    report_counts, alpha = np.arange(n + 1), float(level.alpha)

    def matrices() -> float:
        gaps = np.abs(report_counts[:, None] - report_counts[None, :])
        rows = (1 - alpha) / (1 + alpha) * alpha**gaps
        rows[:, 0], rows[:, -1] = alpha**report_counts / (1 + alpha), alpha ** (n - report_counts) / (1 + alpha)
        return float(((np.exp(prior.logs())[:, None] * gaps).T @ rows).min(axis=0).sum())

    dense_seconds, expected = best_time(matrices, 1)
    seconds, answers = best_time(lambda: ut.readings(prior, level, ut.losses.absolute))
    return {"seconds": seconds, "peer": dense_seconds, "agree": abs(answers.expected_loss - expected) < 1e-9}


def measure_program(n: int) -> dict[str, Any]:
    """The certified optimum against plain HiGHS on the program (3)–(7) as printed."""
    import numpy as np

    import utmost as ut
    from utmost import lp
    from utmost.design.privacy_program import privacy_program

    level, space = ut.alpha("1/2"), ut.line(n + 1)
    reader = ut.Consumer(ut.priors.uniform(n + 1), ut.losses.absolute)
    exact = privacy_program(space, level, reader.costs())
    printed_program = lp.LinearProgram(exact.cost, exact.rows, exact.columns, exact.values, exact.rhs, exact.equality)
    peer_seconds, peer_solution = best_time(lambda: lp.solve(printed_program), 2)
    seconds, design = best_time(lambda: ut.optimal(space, level, reader))
    entries = np.asarray(peer_solution.x).reshape(n + 1, n + 1)
    has_one_sided_zero = bool(np.any((entries[:-1] <= 0) != (entries[1:] <= 0)))
    return {
        "seconds": seconds,
        "peer": peer_seconds,
        "gap": str(design.certificate.gap),
        "epsilon": round(design.certificate.privacy_loss.epsilon, 6),
        "peer epsilon": "∞" if has_one_sided_zero else "finite",
        "peer loss − optimum": f"{peer_solution.objective - float(design.loss):.1e}",
    }


TASKS: dict[str, Callable[[], dict[str, Any]]] = {
    "scan": measure_scan,
    "absolute": lambda: measure_count("absolute", "uniform"),
    "absolute, binomial": lambda: measure_count("absolute", "binomial:0.3"),
    "power": lambda: measure_count("power:1.5", "uniform"),
    "power, binomial": lambda: measure_count("power:1.5", "binomial:0.3"),
    "dense": measure_dense,
    "program 40": lambda: measure_program(40),
    "program 60": lambda: measure_program(60),
    "program 100": lambda: measure_program(100),
    "noise": noise.draws,
    "noise levels": noise.levels,
    "noise setups": noise.setups,
}


def measure(name: str) -> dict[str, Any]:
    """One task in its own process, with its peak memory."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    process = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def run_child(name: str) -> None:
    """What the process of one task does."""
    result = TASKS[name]()
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Measure everything and print the tables; `python bench/run.py types` measures what is named alone."""
    print(f"{datetime.date.today()} · Python {platform.python_version()} · {platform.machine()} · make bench\n")
    sections: dict[str, Callable[[], None]] = {
        "counts": report_counts, "tables": report_tables, "types": report_types, "intervals": report_intervals,
        "axioms": report_axioms, "studio": report_studio,
    }  # fmt: skip
    for name in sys.argv[1:] or sections:
        sections[name]()


def report_counts() -> None:
    """Counts, their programs, their noise."""
    results = {name: measure(name) for name in TASKS}
    print_counts(results)
    print_programs(results)
    print_noise(results)


def report_tables() -> None:
    """Tables of rows, and the local model."""
    print(f"\n{tables.ROWS:.0e} rows, {tables.PERSONS:.0e} persons, {tables.GROUPS} groups: a count of each group\n")
    print(markdown_table(tables.HEADER, tables.table_rows()))
    print(f"\nThe local model, beside pyarrow reading and writing the same columns\n\n{local.report()}")


def report_types() -> None:
    """Privacy types."""
    print(f"\nOptimal mechanisms on Euclidean grids, α = 1/2 a step, the distance as loss\n\n{optimal.report()}")
    print(f"\nCapacities of types, beside the plain program of FMPD23 Cor. 18\n\n{capacity.report()}")
    print(f"\nKernel mechanisms, beside pplpy\n\n{kernels.report()}", flush=True)


def report_intervals() -> None:
    """Losses over densities."""
    print(f"\nCertified losses over an interval\n\n{continuous.report()}")


def report_axioms() -> None:
    """Profiles, and their composition."""
    print(f"\nProfiles of all neighbouring pairs, both directions, and their composition\n\n{profiles.report()}")


def report_studio() -> None:
    """The studio under load."""
    print(f"\nA team at the studio for {studio.SECONDS:.0f} s, on loopback\n\n{studio.report()}", flush=True)


def print_counts(results: dict[str, Any]) -> None:
    """The matrix-free kernel."""
    limit = results["scan"]["seconds"]
    rows = [
        [label, f"{r['seconds']:.2f} s", f"{r['seconds'] / limit:.0f}×", f"{r['megabytes']:.0f} MB", target]
        for label, r, target in (
            ("absolute, uniform prior", results["absolute"], "≤ 2 s, 1 GB"),
            ("absolute, binomial prior", results["absolute, binomial"], "≤ 2 s, 1 GB"),
            ("power:1.5 by search, uniform prior", results["power"], "≤ 20 s"),
            ("power:1.5 by search, binomial prior", results["power, binomial"], "≤ 20 s"),
        )
    ]
    print("Counts to 10⁶, ε = 0.1, all answers: remap and expected loss\n")
    print(markdown_table(["what", "time", "against one logaddexp pass", "peak memory", "asked"], rows) + "\n")
    d = results["dense"]
    agreement = "same loss" if d["agree"] else "DIFFERENT LOSS"
    print(f"Counts to 3000: {d['seconds']:.4f} s against {d['peer']:.2f} s for dense numpy matrices, ")
    print(f"{d['peer'] / d['seconds']:.0f}× faster, {agreement}.\n")


def print_programs(results: dict[str, Any]) -> None:
    """The certified optimum."""
    print("The certified optimum against plain HiGHS on the same program (α = 1/2, uniform prior, absolute loss)\n")
    rows = [
        [name.split()[1], f"{r['seconds']:.2f} s", f"{r['peer']:.2f} s", f"{r['seconds'] / r['peer']:.2f}×", r["gap"],
         str(r["epsilon"]), r["peer epsilon"], r["peer loss − optimum"]]
        for name, r in results.items() if name.startswith("program")
    ]  # fmt: skip
    header = ["n", "utmost", "HiGHS", "ratio", "gap", "ε", "HiGHS's true ε", "HiGHS's loss − optimum"]
    print(markdown_table(header, rows))


def print_noise(results: dict[str, Any]) -> None:
    """Exact draws and their set-up."""
    draws, levels, setups = (results[name] for name in ("noise", "noise levels", "noise setups"))
    for measurements in (draws, levels, setups):
        measurements.pop("megabytes")
    print("\n10⁶ exact truncated-geometric draws at ε = 0.1, beside their random bits and peers\n")
    print(markdown_table(["what", "a draw", "utmost's time as a ratio of it"], noise.draw_rows(draws)) + "\n")
    print(markdown_table(["ε", "a draw"], [[k, f"{v / noise.DRAWS * 1e9:.1f} ns"] for k, v in levels.items()]) + "\n")
    print(markdown_table(["set-up or draw", "time"], [[k, f"{v:.3f} s"] for k, v in setups.items()]))


if __name__ == "__main__":
    run_child(sys.argv[1]) if sys.argv[1:2] and sys.argv[1] in TASKS else main()
