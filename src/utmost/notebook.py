"""What a notebook shows of a result: its report as HTML, and its chart.

Results live in layers below their reports, so a result names the module of `utmost.reports` that describes it, and that
module is loaded when a notebook asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


def report_html(result: object, module: str, function: str = "describe") -> str:
    """A result as HTML, by this function of this module of `utmost.reports`."""
    describe = getattr(import_module(f"utmost.reports.{module}"), function)
    blocks = import_module("utmost.reports.blocks")
    html: str = blocks.report_html(describe(result))
    return html.replace(blocks.EMPTY_HEAD, "")  # a notebook has no style that would hide it


def draw_figure(result: object, module: str) -> Figure:
    """The chart of a result, by `figure` of this module of `utmost.reports`."""
    return Figure(import_module(f"utmost.reports.{module}").figure(result))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Figure:
    """A chart that a notebook shows, and that can be saved; `chart` is the Altair chart, to be changed further.

    A notebook is given its Vega-Lite description and a picture, no script: no text in it is run, and nothing is
    loaded from the network.
    """

    chart: Any

    def save(self, path: str | Path) -> None:
        """Write it as .svg, .png, .html or .json: a new file, or in place of one that utmost wrote."""
        import_module("utmost.publish.output_files").save_figure(self.chart, Path(path))

    def __repr__(self) -> str:
        return '<Figure: a chart; .save("chart.svg") writes it>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """The description and the picture, by their media types."""
        bundle: dict[str, Any] = import_module("utmost.charts.export").media_bundle(self.chart)
        return bundle | {"text/plain": repr(self)}
