"""The designer's jobs: a program, an enumeration, a refinement; each reports its progress."""

from __future__ import annotations

from itertools import islice
from typing import Any

from utmost import polytopes
from utmost.exact import decimal_above, decimal_below
from utmost.studio.designer.forms import DesignInput
from utmost.studio.designer.refinement import compare_mechanisms
from utmost.studio.designer.results import ChannelMatrix, best_mechanism
from utmost.studio.job_worker import ProgressReport

MAX_LISTED = 50  # vertices and kernel mechanisms that are kept of all that are counted


def best(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """The certified optimum of a question, with the bounds so far."""
    report("looking for the best mechanism")

    def report_bounds(low: float, high: float) -> None:
        report("closing the gap", lower=decimal_below(low, 9), upper=decimal_above(high, 9))

    return best_mechanism(DesignInput(**arguments), report_bounds).model_dump()


def members(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """The vertices and kernel mechanisms of a type: all counted, the first fifty listed."""
    question = DesignInput(**arguments)
    points, level = question.points(), question.level()

    def report_progress(stage: str, done: int, total: int) -> None:
        report(stage, done=done, total=total or None)

    report("vertices")
    region = polytopes.posterior_region(points, level, report_progress)
    vertices = [[str(p) for p in region.posterior(k)] for k in range(min(MAX_LISTED, len(region.columns)))]
    kernels = [
        ChannelMatrix.of(kernel.channel()).model_dump()
        for kernel in islice(polytopes.kernels(points, level), MAX_LISTED)
    ]
    report("kernel mechanisms")
    return {
        "secrets": [str(label) for label in points.labels],
        "vertices": len(region.columns),
        "posteriors": vertices,
        "kernels": polytopes.count_kernels(points, level, report_progress),
        "mechanisms": kernels,
    }


def refine(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """Which of two mechanisms is the better one, and for whom."""
    report("both directions, in exact arithmetic")
    return compare_mechanisms(arguments["first"], arguments["second"]).model_dump()
