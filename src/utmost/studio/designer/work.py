"""The designer's jobs: a program, an enumeration, a refinement; each tells how far it is."""

from __future__ import annotations

from itertools import islice
from typing import Any

from utmost import geometry
from utmost.studio.designer import best as found
from utmost.studio.designer.asked import Question
from utmost.studio.designer.best import Matrix
from utmost.studio.designer.refined import refined
from utmost.studio.worker import Report

LISTED = 50  # vertices and kernel mechanisms that are kept of all that are counted


def best(arguments: dict[str, Any], report: Report) -> dict[str, Any]:
    """The certified optimum of a question, with the bounds so far."""
    report("looking for the best mechanism")

    def tell(low: float, high: float) -> None:
        report("closing the gap", lower=f"{low:.9g}", upper=f"{high:.9g}")

    return found.best(Question(**arguments), tell).model_dump()


def members(arguments: dict[str, Any], report: Report) -> dict[str, Any]:
    """The vertices and kernel mechanisms of a type: all counted, the first fifty listed."""
    asked = Question(**arguments)
    points, level = asked.points(), asked.level()

    def tell(words: str, done: int, total: int) -> None:
        report(words, done=done, total=total or None)

    report("vertices")
    region = geometry.region(points, level, tell)
    vertices = [[str(p) for p in region.posterior(k)] for k in range(min(LISTED, len(region.columns)))]
    first = [Matrix.of(one.channel()).model_dump() for one in islice(geometry.kernels(points, level), LISTED)]
    report("kernel mechanisms")
    return {
        "secrets": [str(label) for label in points.labels],
        "vertices": len(region.columns),
        "posteriors": vertices,
        "kernels": geometry.count_kernels(points, level, tell),
        "mechanisms": first,
    }


def refine(arguments: dict[str, Any], report: Report) -> dict[str, Any]:
    """Which of two mechanisms is the better one, and for whom."""
    report("both directions, in exact arithmetic")
    return refined(arguments["first"], arguments["second"]).model_dump()
