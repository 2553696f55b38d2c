"""The job that computes a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from utmost import papers
from utmost.papers.items import figure
from utmost.studio import charts
from utmost.studio.job_worker import ProgressReport
from utmost.studio.papers import report_cache


def compute(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    """Every table and figure of a paper, computed now and kept as a file."""
    report("computing its tables")
    paper = papers.report(arguments["key"])
    document, figures = papers.document(paper), {}
    for number, (item, entry) in enumerate(zip(paper.items, document["items"], strict=True)):
        report(f"drawing {item.name}", done=number, total=len(paper.items))
        chart = figure(item)
        entry["figure"] = chart is not None
        if chart is not None:
            figures[str(number)] = charts.chart_from_altair(chart, f"{item.name}: {item.caption}").model_dump()
    report_cache.save_report(Path(arguments["place"]), report_cache.Report(**document), figures)
    return {"key": paper.key}
