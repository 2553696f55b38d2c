"""The picture of a type: the region of posteriors that privacy leaves, in a triangle or a tetrahedron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.geometry import Region
    from utmost.spaces import Space


def draw(points: Space, level: Level, path: str | None, plot: str) -> None:
    """The simplex of three secrets, or the tetrahedron of four, with the type's region and a channel's posteriors."""
    from utmost import geometry, pictures
    from utmost.channel import files

    if len(points) not in (3, 4):
        raise InputError(f"--plot must be for 3 secrets (a triangle) or 4 (a tetrahedron), got {len(points)}")
    made = geometry.region(points, level)
    mechanism = None if path is None else files.read(path)
    region = [tuple(float(p) for p in made.posterior(k)) for k in range(len(made.columns))]
    parts: dict[str, Any] = {"region": region, "posteriors": _posteriors(made, mechanism), "prior": _uniform(points)}
    labels = [str(label) for label in points.labels]
    title = f"The posteriors that {points.name} allows at {level}"
    said = "Shaded: every posterior of every private mechanism, under a uniform prior (the cross)."
    if len(points) == 3:
        pictures.write(pictures.simplex(labels, title, said, ratios=_ratios(points, level), **parts), plot)
    else:
        pictures.write(pictures.tetrahedron(labels, title, said, **parts), plot)


def _uniform(points: Space) -> tuple[float, ...]:
    return (1 / len(points),) * len(points)


def _ratios(points: Space, level: Level) -> list[tuple[int, int, float]]:
    if not level.is_inner:
        return []
    both = [(x, z, 1 / float(level.power(points.distance(x, z)))) for x, z in points.edges]
    return both + [(z, x, ratio) for x, z, ratio in both]


def _posteriors(made: Region, mechanism: Channel | None) -> list[Any]:
    """The channel's posteriors, sized by their weights; without a channel the region's vertices."""
    from utmost.channel import aligned
    from utmost.pictures import Posterior

    if mechanism is None:
        return [
            Posterior(str(k), tuple(float(p) for p in made.posterior(k)), None, "vertices")
            for k in range(len(made.columns))
        ]
    source = aligned(mechanism, made.space)
    totals = source.floats().sum(axis=0)
    return [
        Posterior(str(y), tuple(column / total), total / len(made.space), "the channel's posteriors")
        for y, column, total in zip(source.outputs, source.floats().T, totals, strict=True)
        if total
    ]
