"""Maps of places that need not fill a grid: what each mechanism reports from one true place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.charts.export import add_title, apply_style
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

MAPS_PER_ROW = 3
MAP_SPACING = 36
MAP_PIXELS = 210  # of the longer side
MAX_DOT_PIXELS, MIN_DOT_PIXELS = 2400, 12  # area of a place
GROUND_COLOUR, RING_COLOUR = "#c9d2da", "#d1741f"


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """A name, a chance for each place, and which place is the true one."""

    name: str
    chances: tuple[float, ...]
    truth: int


def place_maps(
    maps: Sequence[PlaceMap], coordinates: Sequence[tuple[float, float]], title: str, subtitle: str = ""
) -> alt.TopLevelMixin:
    """A map for each name: every place where it stands, the darker the likelier it is reported; the truth is ringed."""
    import altair as alt

    if not maps:
        raise InputError("a map needs a mechanism whose answers are places, got none", "mechanisms")
    most = max(chance for panel in maps for chance in panel.chances) or 1.0
    spans = [max(axis) - min(axis) for axis in zip(*coordinates, strict=True)]
    sizes = [round(MAP_PIXELS * (span / max(spans) if max(spans) else 1)) + 24 for span in spans]
    area = _dot_area(coordinates, sizes, max(spans))
    charts = [
        _map(panel, coordinates, most, area).properties(width=sizes[0], height=sizes[1], title=panel.name)
        for panel in maps
    ]
    note = f"{subtitle} Ringed: the true place.".strip()
    return apply_style(alt.concat(*charts, columns=MAPS_PER_ROW, spacing=MAP_SPACING, title=add_title(title, note)))  # type: ignore[no-any-return]


def _dot_area(coordinates: Sequence[tuple[float, float]], sizes: Sequence[int], span: float) -> float:
    """The area of a dot: half of a place's share of the map, and no wider than most places are apart."""
    area = 0.5 * sizes[0] * sizes[1] / len(coordinates)
    if len(coordinates) > 1 and span:
        places = np.array(coordinates)
        distances = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
        np.fill_diagonal(distances, np.inf)
        area = min(area, 0.9 * (MAP_PIXELS / span * float(np.median(distances.min(axis=1)))) ** 2)
    return max(MIN_DOT_PIXELS, min(MAX_DOT_PIXELS, area))


def _map(panel: PlaceMap, coordinates: Sequence[tuple[float, float]], most: float, area: float) -> Any:
    import altair as alt

    values = [
        {"x": x, "y": y, "chance": chance, "here": k == panel.truth}
        for k, ((x, y), chance) in enumerate(zip(coordinates, panel.chances, strict=True))
    ]
    scale = alt.Scale(zero=False, nice=False, padding=12)
    shades = alt.Scale(
        type="sqrt", domain=[0, most / 4, most], range=["#ffffff", "#93bfe3", "#08488f"], interpolate="lab"
    )
    legend = alt.Legend(title="probability", gradientLength=120, format=".3~g", tickCount=4)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("x:Q", axis=None, scale=scale), y=alt.Y("y:Q", axis=None, scale=scale)
    )
    dots = base.mark_point(filled=True, opacity=1, size=area, stroke=GROUND_COLOUR, strokeWidth=1)
    ring = base.transform_filter("datum.here").mark_point(
        shape="circle", size=1.35 * area, color=RING_COLOUR, strokeWidth=2.2, opacity=1
    )
    return alt.layer(dots.encode(color=alt.Color("chance:Q", scale=shades, legend=legend), tooltip=["chance:Q"]), ring)
