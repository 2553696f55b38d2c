"""Write charts as files, with one style and one form of title."""

from __future__ import annotations

import io
import json
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from utmost.charts.picture_marks import mark_picture
from utmost.errors import InputError
from utmost.exact.atomic_file import write_file
from utmost.exact.plain_text import escape_script

if TYPE_CHECKING:
    import altair as alt

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
ACTIONS = {"source": False, "compiled": False, "editor": False}  # of the menu beside a chart in a page
MAX_SUBTITLE_CHARS = 96  # of a line below a title
PNG_SCALE = 2  # pixels of a .png for each unit of the chart


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart as .svg, .png or .html, by the file's ending; the .html holds all it needs, no network."""
    kind: Any = Path(path).suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "html"):
        raise InputError(f'a picture must be .svg, .png or .html, got "{Path(path).name[:60]}": rename it')
    content = _chart_page(chart) if kind == "html" else _chart_picture(chart, kind)
    write_file(path, mark_picture(content, f".{kind}"))


class ScriptEncoder(json.JSONEncoder):
    """JSON that may stand in the script of a page, whatever its texts are."""

    def encode(self, o: Any) -> str:
        """The JSON of an object."""
        return escape_script(super().encode(o))


def _chart_page(chart: alt.TopLevelMixin) -> bytes:
    page = io.StringIO()
    embed_options: Any = {"actions": ACTIONS}
    chart.save(page, format="html", inline=True, embed_options=embed_options, json_kwds={"cls": ScriptEncoder})
    return page.getvalue().encode("utf-8")


def _chart_picture(chart: alt.TopLevelMixin, kind: Any) -> bytes:
    picture: Any = io.BytesIO() if kind == "png" else io.StringIO()
    chart.save(picture, format=kind, scale_factor=PNG_SCALE if kind == "png" else 1)
    content = picture.getvalue()
    return content if isinstance(content, bytes) else content.encode("utf-8")


def add_title(title: str, subtitle: str) -> alt.TitleParams:
    """A title that states the claim, on the left, with its reasons below."""
    import altair as alt

    lines = wrap(subtitle, MAX_SUBTITLE_CHARS) if subtitle else alt.Undefined
    return alt.TitleParams(title, subtitle=lines, anchor="start", offset=14, fontSize=15, subtitleFontSize=12)


def apply_style(chart: Any) -> Any:
    """The style of all charts: white ground, light axes."""
    return (
        chart.configure(font=FONT, background="white", padding=14)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=11, titleFontSize=12, titleFontWeight="normal", domainColor="#999", tickColor="#999"
        )
        .configure_title(subtitleColor="#555")
        .configure_legend(labelFontSize=11, titleFontSize=12, titleFontWeight="normal", labelLimit=320)
    )
