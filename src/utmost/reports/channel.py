"""Describe a channel: its shape, its entries, the first of many, and their heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.reports.blocks import Matrix, Paragraph, Report

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel

MAX_SHOWN_LABELS = 12  # inputs and outputs in a notebook


def describe(channel: Channel) -> Report:
    """Its shape and its entries, each cell the darker the likelier."""
    return Report(
        {
            "shape": Paragraph(_shape_text(channel)),
            "entries": Matrix(channel, max_labels=MAX_SHOWN_LABELS, is_shaded=True),
        }
    )


def _shape_text(channel: Channel) -> str:
    kind = "exact" if channel.exact else "floats"
    return f"Channel of {len(channel.inputs)} inputs (rows) and {len(channel.outputs)} outputs (columns), {kind}."


def figure(channel: Channel) -> alt.TopLevelMixin:
    """A heat map, or some of its laws where it is large."""
    from utmost import charts

    return charts.channel_chart(channel, "Channel", "The probability of each output (across) given each input (down).")
