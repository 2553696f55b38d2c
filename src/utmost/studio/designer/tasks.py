"""The designer's jobs: a program, an enumeration, a refinement; each tells how far it is."""

from __future__ import annotations

from itertools import islice
from typing import Any

from utmost import polytopes
from utmost.studio.designer import best_mechanism as found
from utmost.studio.designer.best_mechanism import ChannelMatrix
from utmost.studio.designer.forms import DesignQuestion
from utmost.studio.designer.refinement import compare_mechanisms
from utmost.studio.job_worker import ProgressReport

LISTED = 50  # vertices and kernel mechanisms that are kept of all that are counted


def best(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """The certified optimum of a question, with the bounds so far."""
    report("looking for the best mechanism")

    def tell(low: float, high: float) -> None:
        report("closing the gap", lower=f"{low:.9g}", upper=f"{high:.9g}")

    return found.best_mechanism(DesignQuestion(**arguments), tell).model_dump()


def members(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """The vertices and kernel mechanisms of a type: all counted, the first fifty listed."""
    asked = DesignQuestion(**arguments)
    points, level = asked.points(), asked.level()

    def tell(words: str, done: int, total: int) -> None:
        report(words, done=done, total=total or None)

    report("vertices")
    region = polytopes.posterior_region(points, level, tell)
    vertices = [[str(p) for p in region.posterior(k)] for k in range(min(LISTED, len(region.columns)))]
    first = [ChannelMatrix.of(one.channel()).model_dump() for one in islice(polytopes.kernels(points, level), LISTED)]
    report("kernel mechanisms")
    return {
        "secrets": [str(label) for label in points.labels],
        "vertices": len(region.columns),
        "posteriors": vertices,
        "kernels": polytopes.count_kernels(points, level, tell),
        "mechanisms": first,
    }


def refine(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """Which of two mechanisms is the better one, and for whom."""
    report("both directions, in exact arithmetic")
    return compare_mechanisms(arguments["first"], arguments["second"]).model_dump()
