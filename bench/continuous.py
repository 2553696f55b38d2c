"""`python bench/continuous.py [FILE.svg]`: certified losses over a density: the time that a width takes, as a curve.

ε = 1 on [0, 1], prior beta:2,5. Beside each time that of a Riemann sum in numpy, over as many points in x and y as it
takes to come within the width of the measure_bounds value: it has no certificate, and would not know when to stop.
"""

from __future__ import annotations

import datetime
import math
import sys
import time
from typing import Any

import numpy as np

from utmost.continuous import losses, mechanisms
from utmost.continuous.bounds.loss_bounds import bound_expected_loss
from utmost.continuous.densities.density import parse_density
from utmost.continuous.interval import interval
from utmost.exact import epsilon

UNIT = interval(0, 1)
PRIOR = "beta:2,5"
TARGET_SECONDS = 5.0  # seconds for width 1e-4, absolute loss
WIDTHS = {
    "absolute": ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"),
    "squared": ("1e-4", "1e-6", "1e-8"),
    "huber:0.1": ("1e-3", "1e-4", "1e-5"),
    "power:1.5": ("1e-3", "1e-4"),
    "step:0.1": ("1e-2", "1e-3"),
}
REPEATS = 3
HEADER = ["loss", "width asked", "width", "cells", "time", "Riemann sums in numpy, no certificate", "asked"]


def measure_bounds(loss: str, width: str, name: str = "laplace", repeats: int = REPEATS) -> dict[str, Any]:
    """Least seconds of a few runs, and the bounds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        density, mechanism = parse_density(PRIOR, UNIT), mechanisms.mechanism_by_name(name, UNIT, epsilon(1))
        bounds = bound_expected_loss(density, mechanism, losses.parse_continuous_loss(loss), width)
        seconds.append(time.perf_counter() - start)
    return {
        "seconds": min(seconds),
        "cells": bounds.cells,
        "width": float(bounds.width),
        "middle": float(bounds.lower + bounds.upper) / 2,
    }


def time_riemann_sum(loss: str, value: float, width: float) -> float | None:
    """Seconds of the first Riemann sum, its points doubled each time, within the width of a value; None beyond 1600."""
    for points in (50, 100, 200, 400, 800, 1600):
        start = time.perf_counter()
        x = (np.arange(points) + 0.5) / points
        mass = x * (1 - x) ** 4
        inner = np.exp(-np.abs(x[:, None] - x)) / points
        laws = np.column_stack([np.exp(-x), inner, np.exp(x - 1)]) / 2
        costs = losses.parse_continuous_loss(loss).array(np.linspace(0, 1, points + 1)[:, None], x[None, :]) * (
            mass / mass.sum()
        )
        estimate = float((costs @ laws).min(axis=0).sum())
        if abs(estimate - value) <= width:
            return time.perf_counter() - start
    return None


def measure_all() -> list[tuple[str, str, dict[str, Any]]]:
    """Each loss with each of its widths."""
    measurements = []
    for loss, widths in WIDTHS.items():
        for width in widths:
            print(f"measuring {loss} to {width} …", file=sys.stderr, flush=True)
            measurements.append((loss, width, measure_bounds(loss, width)))
    return measurements


def table_row(loss: str, width: str, measurement: dict[str, Any]) -> list[str]:
    """A line of the table, with a Riemann sum beside it."""
    peer = time_riemann_sum(loss, measurement["middle"], float(width))
    limit = f"≤ {TARGET_SECONDS:.0f} s" if (loss, width) == ("absolute", "1e-4") else ""
    peer_text = "not with 1600 points" if peer is None else f"{peer * 1e3:.1f} ms"
    return [
        loss,
        width,
        f"{measurement['width']:.1e}",
        str(measurement["cells"]),
        f"{measurement['seconds']:.2f} s",
        peer_text,
        limit,
    ]


def save_curve(measurements: list[tuple[str, str, dict[str, Any]]], path: str) -> None:
    """Width against time, a line a loss."""
    from utmost import charts

    lines = []
    for loss in WIDTHS:
        points = [(math.log10(f["seconds"]), math.log10(f["width"])) for name, _, f in measurements if name == loss]
        lines.append(charts.ChartLine(loss, *zip(*points, strict=True)))
    title = "Ten times the time brings the bounds a hundred times closer, ten times for a step loss"
    subtitle = (
        f"Truncated Laplace on [0, 1], ε = 1, prior {PRIOR}; asked for: absolute to 1e-4 in {TARGET_SECONDS:.0f} s"
    )
    charts.save_chart(charts.line_chart(lines, title, subtitle, x="log₁₀ seconds", y="log₁₀ width"), path)


def convergence_order(loss: str = "absolute", widths: tuple[str, str] = ("1e-4", "1e-7")) -> float:
    """p in width ~ cells^−p, between two widths."""
    wide, narrow = (measure_bounds(loss, width, repeats=1) for width in widths)
    return float(np.log(wide["width"] / narrow["width"]) / np.log(narrow["cells"] / wide["cells"]))


def report(path: str | None = None) -> str:
    """A Markdown table and the order of convergence; and the curve, where a file for it is named."""
    measurements = measure_all()
    if path is not None:
        save_curve(measurements, path)
    lines = [HEADER, ["---"] * len(HEADER), *(table_row(*measurement) for measurement in measurements)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\nThe width falls as cells^−{convergence_order():.1f} (absolute)."


def main() -> None:
    """Measure and print."""
    print(f"{datetime.date.today()} · python bench/continuous.py\n")
    print("Certified losses of truncated Laplace over [0, 1], ε = 1, prior beta:2,5\n")
    print(report(*sys.argv[1:2]))


if __name__ == "__main__":
    main()
