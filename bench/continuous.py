"""Certified losses over a density: the time that a width takes, as a table and as a curve.

ε = 1 on [0, 1], prior beta:2,5. Beside each time that of a Riemann sum in numpy, over as many points in x and y as it
takes to come within the width of the certified value: it has no certificate, and would not know when to stop.
`python bench/continuous.py` prints the table, `python bench/continuous.py FILE.svg` saves the curve as well.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import measuring
import numpy as np
from measuring import QUICK, Blocks, Measurement, Measurements, Section

from utmost.continuous import losses, mechanisms
from utmost.continuous.bounds.loss_bounds import bound_expected_loss
from utmost.continuous.densities import parse_density
from utmost.continuous.interval import interval
from utmost.exact import epsilon

UNIT = interval(0, 1)
PRIOR = "beta:2,5"
TARGET_SECONDS = 5.0  # seconds for width 1e-4, absolute loss
WIDTHS = {"absolute": ("1e-2", "1e-4", "1e-5", "1e-6"), "squared": ("1e-4",)} if QUICK else {
    "absolute": ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"),
    "squared": ("1e-4", "1e-6", "1e-8"),
    "huber:0.1": ("1e-3", "1e-4", "1e-5"),
    "power:1.5": ("1e-3", "1e-4"),
    "step:0.1": ("1e-2", "1e-3"),
}  # fmt: skip
ORDER_WIDTHS = ("1e-4", "1e-6") if QUICK else ("1e-4", "1e-7")  # between which the order of convergence is taken
HEADER = ["loss", "width asked", "width", "cells", "time", "Riemann sums in numpy, no certificate", "asked"]


def task_name(loss: str, width: str) -> str:
    """A task by what it measures."""
    return f"{loss} to {width}"


CASES = {task_name(loss, width): (loss, width) for loss, widths in WIDTHS.items() for width in widths}


def measure_bounds(loss: str, width: str) -> Measurement:
    """Least seconds of a few runs, the bounds, and the seconds of a Riemann sum."""

    def task():
        density, mechanism = parse_density(PRIOR, UNIT), mechanisms.mechanism_by_name("laplace", UNIT, epsilon(1))
        return bound_expected_loss(density, mechanism, losses.parse_continuous_loss(loss), width)

    seconds, bounds = measuring.best_time(task, 3)
    middle = float(bounds.lower + bounds.upper) / 2
    peer_seconds = [time_riemann_sum(loss, middle, float(width)) for _ in range(3)]
    return {
        "seconds": seconds,
        "cells": bounds.cells,
        "width": float(bounds.width),
        "peer": None if None in peer_seconds else min(peer_seconds),
    }


def time_riemann_sum(loss: str, value: float, width: float) -> float | None:
    """Seconds of the first Riemann sum, its points doubled each time, within the width of a value; None beyond 1600."""
    for points in (50, 100, 200, 400, 800, 1600):
        start = measuring.clock()
        x = (np.arange(points) + 0.5) / points
        mass = x * (1 - x) ** 4
        inner = np.exp(-np.abs(x[:, None] - x)) / points
        laws = np.column_stack([np.exp(-x), inner, np.exp(x - 1)]) / 2
        costs = losses.parse_continuous_loss(loss).array(np.linspace(0, 1, points + 1)[:, None], x[None, :]) * (
            mass / mass.sum()
        )
        estimate = float((costs @ laws).min(axis=0).sum())
        if abs(estimate - value) <= width:
            return measuring.clock() - start
    return None


def table_row(loss: str, width: str, measurement: Measurement) -> list[str]:
    """A line of the table, with a Riemann sum beside it."""
    peer = measurement["peer"]
    limit = f"≤ {TARGET_SECONDS:.0f} s" if (loss, width) == ("absolute", "1e-4") else ""
    peer_text = "not with 1600 points" if peer is None else f"{peer * 1e3:.1f} ms"
    bounds = [f"{measurement['width']:.1e}", str(measurement["cells"]), f"{measurement['seconds']:.2f} s"]
    return [loss, width, *bounds, peer_text, limit]


def save_curve(measurements: Measurements, path: Path) -> None:
    """Width against time, a line a loss."""
    from utmost import charts

    lines = []
    for loss, widths in WIDTHS.items():
        chosen = [measurements[task_name(loss, width)] for width in widths]
        points = [(math.log10(m["seconds"]), math.log10(m["width"])) for m in chosen]
        lines.append(charts.ChartLine(loss, *zip(*points, strict=True)))
    title = "Ten times the time brings the bounds a hundred times closer, ten times for a step loss"
    subtitle = (
        f"Truncated Laplace on [0, 1], ε = 1, prior {PRIOR}; asked for: absolute to 1e-4 in {TARGET_SECONDS:.0f} s"
    )
    charts.save_chart(charts.line_chart(lines, title, subtitle, x="log₁₀ seconds", y="log₁₀ width"), str(path))


def convergence_order(measurements: Measurements) -> float:
    """p in width ~ cells^−p, between two widths of the absolute loss."""
    wide, narrow = (measurements[task_name("absolute", width)] for width in ORDER_WIDTHS)
    return math.log(wide["width"] / narrow["width"]) / math.log(narrow["cells"] / wide["cells"])


def report(measurements: Measurements) -> Blocks:
    """The table and the order of convergence."""
    rows = [table_row(*case, measurements[name]) for name, case in CASES.items()]
    order = f"The width falls as cells^−{convergence_order(measurements):.1f} (absolute)."
    return {"intervals": [*measuring.markdown_table(HEADER, rows), "", order]}


SECTION = Section(
    "intervals",
    {name: lambda _, case=case: measure_bounds(*case) for name, case in CASES.items()},
    [
        measuring.inner_ratio(
            f"absolute loss to {width} ÷ Riemann sums", task_name("absolute", width), "seconds", "peer", ceiling
        )
        for width, ceiling in (("1e-5", 18), ("1e-6", 2))
    ],
    report,
)

if __name__ == "__main__":
    measurements = SECTION.measure_all()
    print("\n".join(report(measurements)["intervals"]))
    for path in sys.argv[1:2]:
        save_curve(measurements, Path(path))
