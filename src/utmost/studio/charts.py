"""Charts for pages: Vega-Lite specs with named data, and the script that draws them.

Colours are written as `var(--…)`: charts.js puts the page's own in, light or dark. A spec's only config is how numbers
are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, Field

from utmost.charts.curves import PALETTE
from utmost.charts.export import NUMBER_LOCALE

if TYPE_CHECKING:
    import altair as alt

Rows: TypeAlias = Sequence[Mapping[str, Any]]
VegaSpec: TypeAlias = dict[str, Any]

COLOUR_VARIABLES = {
    "#222": "var(--ink)",
    "#333": "var(--ink)",
    "#555": "var(--quiet)",
    "#999": "var(--axis)",
    "#eee": "var(--grid)",
    "#e6e6e6": "var(--grid)",
    "#e3e8ee": "var(--grid)",
    "white": "var(--ground)",
    "#ffffff": "var(--heat-0)",
    "#93bfe3": "var(--heat-1)",
    "#08488f": "var(--heat-2)",
    "#eef4fa": "var(--accent-soft)",
    "#2c6aa8": "var(--series-1)",
    "#2a9aa8": "var(--series-8)",
    **{colour: f"var(--series-{k})" for k, colour in enumerate(PALETTE, 1)},
}
COMPOSITE_KEYS = ("vconcat", "hconcat", "concat", "facet", "repeat")


class Chart(BaseModel):
    """A chart: its Vega-Lite spec, the rows by the names that the spec gives them, and what it says in words."""

    spec: dict[str, Any]
    data: dict[str, list[dict[str, Any]]]
    words: str = Field(description="What the picture shows, for those who do not see it")


def chart_spec(chart: alt.TopLevelMixin, *, wide: bool = True) -> VegaSpec:
    """The spec of a chart without its rows: themed, as wide as its place unless it is made of several or `wide` is not.

    Altair takes milliseconds for it: keep it (functools.cache) where only the rows change, and give it to `make_chart`.
    """
    return apply_theme(chart.to_dict(validate=False), wide=wide)


def make_chart(spec: VegaSpec, description: str, **data: Rows) -> Chart:
    """A picture of rows by name; the spec's marks say {"data": {"name": …}}."""
    return Chart(spec=spec, data={name: [dict(row) for row in rows] for name, rows in data.items()}, words=description)


def chart_from_altair(chart: alt.TopLevelMixin, description: str, *, wide: bool = True) -> Chart:
    """A chart of `utmost.charts`, as it is: the rows inside it become data with names."""
    spec = apply_theme(chart.to_dict(validate=False), wide=wide)
    data: dict[str, list[dict[str, Any]]] = {name: list(rows) for name, rows in spec.pop("datasets", {}).items()}
    _extract_rows(spec, data)
    return Chart(spec=spec, data=data, words=description)


def apply_theme(spec: VegaSpec, *, wide: bool = True) -> VegaSpec:
    """The spec with the page's colours and the format of numbers, without a title and size where the page has those."""
    themed_spec: VegaSpec = _replace_colours(
        {key: value for key, value in spec.items() if key not in ("config", "title", "$schema")}
    )
    themed_spec["config"] = {"locale": NUMBER_LOCALE}
    for layer in themed_spec.get("layer", ()):
        layer.pop("title", None)
    if wide and not any(key in themed_spec for key in COMPOSITE_KEYS):
        themed_spec["width"] = "container"
        themed_spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return themed_spec


def _replace_colours(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: value if key in ("datasets", "values") else _replace_colours(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_replace_colours(item) for item in node]
    return COLOUR_VARIABLES.get(node, node) if isinstance(node, str) else node


def _extract_rows(node: Any, data: dict[str, list[dict[str, Any]]]) -> None:
    """Take the rows out of a spec, in the order they stand there, and leave names in their places."""
    if isinstance(node, list):
        for item in node:
            _extract_rows(item, data)
    elif isinstance(node, dict):
        rows = node.get("data", {}).get("values") if isinstance(node.get("data"), dict) else None
        if isinstance(rows, list):
            name = next((name for name, named_rows in data.items() if named_rows == rows), f"rows{len(data)}")
            data[name] = rows
            node["data"] = {"name": name}
        for item in node.values():
            _extract_rows(item, data)
