"""Write charts as files, with one style and one form of title.

Each picture carries a mark, by which a later run knows that utmost wrote it and may replace it.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact.files import write_file
from utmost.exact.input_text import escape_control, escape_script

if TYPE_CHECKING:
    import altair as alt


SVG_MARK = b'<svg data-generator="utmost"'
HTML_MARK = b'<meta name="generator" content="utmost">'
PNG_TEXT = b"tEXtSoftware\0utmost"  # a chunk of PNG: its type, a keyword and a text
PNG_MARK = struct.pack(">I", len(PNG_TEXT) - 4) + PNG_TEXT + struct.pack(">I", zlib.crc32(PNG_TEXT))
DESCRIPTION_MARK = b'{"usermeta": {"generator": "utmost"}, '
PNG_HEADER_BYTES = 33  # the signature, and the first chunk


def mark_picture(content: bytes, suffix: str) -> bytes:
    """The picture with its mark; it looks the same.

    >>> mark_picture(b"<svg></svg>", ".svg")
    b'<svg data-generator="utmost"></svg>'
    """
    if suffix == ".png":
        return content[:PNG_HEADER_BYTES] + PNG_MARK + content[PNG_HEADER_BYTES:]
    place, mark = (b"<svg", SVG_MARK) if suffix == ".svg" else (b"<head>", b"<head>" + HTML_MARK)
    return content.replace(place, mark, 1)


def is_marked(start: bytes, suffix: str) -> bool:
    """Has a picture the mark, told by how it begins."""
    if suffix == ".png":
        return start[PNG_HEADER_BYTES:].startswith(PNG_MARK)
    return start.startswith(SVG_MARK) if suffix == ".svg" else HTML_MARK in start


FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
NUMBER_LOCALE = {  # thin spaces between groups of three digits and a minus sign, as in texts (`reports.numbers`)
    "number": {"decimal": ".", "thousands": "\u202f", "grouping": [3], "currency": ["", ""], "minus": "−"}
}
VALUE_FORMAT = ",.9~r"  # of a number in a tooltip or at a tick: up to nine digits, grouped, no exponent
ACTIONS = {"source": False, "compiled": False, "editor": False}  # of the menu beside a chart in a page
MAX_SUBTITLE_CHARS = 96  # of a line below a title
PNG_SCALE = 2  # pixels of a .png for each unit of the chart


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart as .svg, .png or .html, by the file's ending; the .html holds all it needs, no network."""
    kind: Any = Path(path).suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "html"):
        raise InputError(f'a picture must be .svg, .png or .html, got "{Path(path).name[:60]}"', hint="rename it")
    content = _chart_page(chart) if kind == "html" else _chart_picture(escape_texts(chart), kind)
    write_file(path, mark_picture(content, f".{kind}"))


def save_description(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write the Vega-Lite description of a chart, which holds its data, after the mark."""
    write_file(path, DESCRIPTION_MARK + json.dumps(_escape_strings(chart.to_dict())).encode("utf-8")[1:])


def media_bundle(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart as a notebook takes it: its Vega-Lite description, and a picture for those that draw none."""
    import altair as alt

    version = alt.SCHEMA_VERSION.removeprefix("v").partition(".")[0]
    shown = escape_texts(chart)
    picture = base64.b64encode(_chart_picture(shown, "png")).decode("ascii")
    return {f"application/vnd.vegalite.v{version}+json": shown.to_dict(validate=False), "image/png": picture}


def escape_texts(chart: alt.TopLevelMixin) -> Any:
    """The chart with the control characters of its texts written out: the renderer ends the process at some of them."""
    return type(chart).from_dict(_escape_strings(chart.to_dict()), validate=False)  # type: ignore[attr-defined]


def _escape_strings(value: Any, key: str = "") -> Any:
    r"""Every text in a description without control characters, titles without backslashes too.

    Vega-Lite puts the title of an axis into an expression, where a backslash begins an escape: ∖ stands for it.

    >>> _escape_strings({"title": "a\x1b", "values": ["b\x1b"]})
    {'title': 'a∖x1b', 'values': ['b\\x1b']}
    """
    if isinstance(value, str):
        escaped = escape_control(value)
        return escaped.replace("\\", "∖") if key == "title" else escaped
    if isinstance(value, dict):
        return {name: _escape_strings(entry, name) for name, entry in value.items()}
    return [_escape_strings(entry, key) for entry in value] if isinstance(value, list) else value


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

    lines = wrap(subtitle.replace(" = ", "\u00a0=\u00a0"), MAX_SUBTITLE_CHARS) if subtitle else alt.Undefined
    return alt.TitleParams(title, subtitle=lines, anchor="start", offset=14, fontSize=15, subtitleFontSize=12)


def apply_style(chart: Any) -> Any:
    """The style of all charts: white ground, light axes, digits grouped as texts group them."""
    return (
        chart.configure(font=FONT, background="white", padding=14, locale=NUMBER_LOCALE)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=11, titleFontSize=12, titleFontWeight="normal", domainColor="#999", tickColor="#999"
        )
        .configure_title(subtitleColor="#555")
        .configure_legend(labelFontSize=11, titleFontSize=12, titleFontWeight="normal", labelLimit=320)
    )
