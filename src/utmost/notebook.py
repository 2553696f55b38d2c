"""What a notebook shows of a result: its report as HTML.

Results live in layers below their reports, so a result names the module of `utmost.reports` that describes it, and that
module is loaded when a notebook asks.
"""

from __future__ import annotations

from importlib import import_module


def report_html(result: object, module: str) -> str:
    """A result as HTML, by `describe` of this module of `utmost.reports`."""
    describe = import_module(f"utmost.reports.{module}").describe
    html: str = import_module("utmost.reports.blocks").report_html(describe(result))
    return html
