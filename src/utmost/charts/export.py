"""Write charts as files, with one style and one form of title."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from utmost.charts.picture_marks import mark_picture
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
HTML_OPTIONS = {"inline": True, "embed_options": {"actions": {"source": False, "compiled": False, "editor": False}}}
MAX_SUBTITLE_CHARS = 96  # of a line below a title
PNG_SCALE = 2  # pixels of a .png for each unit of the chart


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart as .svg, .png or .html, by the file's ending; the .html holds all it needs, no network."""
    kind: Any = Path(path).suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "html"):
        raise InputError(f'a picture must be .svg, .png or .html, got "{Path(path).name[:60]}": rename it')
    options: dict[str, Any] = (
        dict(HTML_OPTIONS) if kind == "html" else {"scale_factor": PNG_SCALE if kind == "png" else 1}
    )
    try:
        chart.save(str(path), format=kind, **options)
        Path(path).write_bytes(mark_picture(Path(path).read_bytes(), f".{kind}"))
    except OSError as error:
        raise InputError(f"cannot write {Path(path).name}: {error.strerror}") from None


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
