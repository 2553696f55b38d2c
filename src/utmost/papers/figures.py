"""The picture of an item: what it draws itself, its curves, or the heat map of the mechanism in its table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.papers.items import Item, Report, Table


def figure(item: Item) -> alt.TopLevelMixin | None:
    """The picture of an item, None where it has none."""
    from utmost import charts

    if item.draw is not None:
        chart: alt.TopLevelMixin = item.draw()
        return chart
    if item.series:
        lines = [charts.ChartLine(s.name, s.x, s.y, s.stems, s.colour, s.filled) for s in item.series]
        title, subtitle = (item.claim, f"{item.name}: {item.caption}") if item.claim else (item.name, item.caption)
        return charts.line_chart(lines, title, subtitle, x=item.series[0].x_name, y=item.series[0].y_name)
    channel = _table_channel(item.computed)
    return None if channel is None else charts.channel_chart(channel, item.name, item.caption)


def file_name(report: Report, item: Item) -> str:
    """The name of an item's picture as a file, without its ending: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", f"{report.key} {item.name}".lower()).strip("-")


def _table_channel(table: Table | str) -> Channel | None:
    """The channel that a table contains, if it is one."""
    from utmost.channel import channel

    if isinstance(table, str):
        return None
    try:
        return channel([row[1:] for row in table.rows], [row[0] for row in table.rows], table.header[1:])
    except InputError:
        return None
