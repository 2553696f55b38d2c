"""Chart of a privacy type: the region of posteriors that it allows, in a triangle or a tetrahedron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.charts.simplex import Posterior, simplex_chart
from utmost.charts.tetrahedron import tetrahedron_chart
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.polytopes import PosteriorRegion
    from utmost.spaces import Space


def region_chart(
    points: Space, level: Level, channel: Channel | None, title: str, subtitle: str = ""
) -> alt.TopLevelMixin:
    """Three secrets' simplex, or four's tetrahedron, with the type's region and a channel's posteriors.

    The prior is uniform. Without a channel the dots are the region's vertices.
    """
    from utmost import polytopes

    if len(points) not in (3, 4):
        raise InputError(f"a region can be drawn for 3 secrets (a triangle) or 4 (a tetrahedron), got {len(points)}")
    region = polytopes.posterior_region(points, level)
    corners = [tuple(float(p) for p in region.posterior(k)) for k in range(len(region.columns))]
    uniform = (1 / len(points),) * len(points)
    drawn_points: dict[str, Any] = {
        "region": corners,
        "posteriors": _posterior_points(region, channel),
        "prior": uniform,
    }
    labels = [str(label) for label in points.labels]
    if len(points) == 3:
        return simplex_chart(labels, title, subtitle, ratios=_ratio_lines(points, level), **drawn_points)
    return tetrahedron_chart(labels, title, subtitle, **drawn_points)


def _ratio_lines(points: Space, level: Level) -> list[tuple[int, int, float]]:
    if not level.is_inner:
        return []
    forward = [(x, z, 1 / float(level.power(points.distance(x, z)))) for x, z in points.edges]
    return forward + [(z, x, ratio) for x, z, ratio in forward]


def _posterior_points(region: PosteriorRegion, channel: Channel | None) -> list[Posterior]:
    """The channel's posteriors, sized by their weights; without a channel the region's vertices."""
    from utmost.channel import align_inputs

    if channel is None:
        return [
            Posterior(str(k), tuple(float(p) for p in region.posterior(k)), None, "vertices")
            for k in range(len(region.columns))
        ]
    source = align_inputs(channel, region.space)
    totals = source.floats().sum(axis=0)
    return [
        Posterior(str(y), tuple(column / total), total / len(region.space), "the channel's posteriors")
        for y, column, total in zip(source.outputs, source.floats().T, totals, strict=True)
        if total
    ]
