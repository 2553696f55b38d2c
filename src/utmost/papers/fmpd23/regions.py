"""FMPD23 Figures 2, 3, 4b, 5b, 6b and 7b: the regions that privacy leaves, and what lies at their vertices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from utmost.channel import Channel
from utmost.consumer import losses, priors
from utmost.consumer.loss_classes import is_monotone, is_strictly_monotone, is_trivial
from utmost.exact import Level, Number
from utmost.mechanisms.geometric import geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.papers.fmpd23.channels import half
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, computed_item
from utmost.polytopes import vertices
from utmost.qif import hyper, uncertainty
from utmost.spaces import Space, cycle, discrete, grid, hamming, line

Point: TypeAlias = tuple[Number, ...]
VERTEX_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PATH = ("000", "100", "110", "111")  # the orange lines of Figure 7b


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return figure2(), figure3(), loss_classes(), figure4b(), figure5b(), figure6b(), figure7b()


def posteriors(space: Space, level: Level) -> list[Point]:
    """The vertices of the region as distributions: α^k_x, divided by their sum."""
    columns = [[level.power(k) for k in exponents] for exponents in vertices(space)]
    return [tuple(value / _number_sum(column) for value in column) for column in columns]


def _number_sum(values: Sequence[Number]) -> Number:
    return sum(values, Fraction(0))


def inners(mechanism: Channel) -> list[Point]:
    """The posteriors of a mechanism under the uniform prior."""
    return [tuple(column) for column in hyper(priors.uniform(len(mechanism.inputs)), mechanism).inners.T]


def letter_vertices(space: Space, level: Level, *mechanisms: Channel, last: bool = False) -> dict[str, Point]:
    """The vertices with letters: those of the mechanisms first, or `last`; likelier first secrets earlier."""
    points = sorted(posteriors(space, level), reverse=True)
    taken = [point for mechanism in mechanisms for point in sorted(inners(mechanism), reverse=True)]
    others = [point for point in points if point not in taken]
    return dict(zip(VERTEX_LETTERS, [*others, *taken] if last else [*taken, *others], strict=False))


def line_of_three_vertices() -> dict[str, Point]:
    """The vertices of Figures 2 and 4b; B, C, D are the geometric mechanism's."""
    return letter_vertices(line(3), half(), geometric(2, half()).channel(), last=True)


def figure2() -> Item:
    """The region of a line of three and the lines that bound it."""
    vertices_by_letter = line_of_three_vertices()
    cells: list[list[Value]] = [list(point) for point in vertices_by_letter.values()]
    item = computed_item(
        "Figure 2",
        "the region of ln 2·d₂-private posteriors on x1, x2, x3: its vertices",
        LabelledMatrix("vertex", ("p(x1)", "p(x2)", "p(x3)"), list(vertices_by_letter), cells),
        "four constraints bound it, two for each of the pairs (x1, x2) and (x2, x3); those on (x1, x3) follow",
    )
    title = "Four lines cut the private posteriors out of all distributions on a line of three"
    return replace(
        item,
        draw=lambda: _triangle_chart(
            line(3), vertices_by_letter, ("x1", "x2", "x3"), title, "FMPD23 Figure 2, ε = ln 2", {}
        ),
    )


def _triangle_chart(
    space: Space,
    vertices_by_letter: dict[str, Point],
    labels: Sequence[str],
    title: str,
    subtitle: str,
    groups: dict[str, Channel],
) -> Any:
    """The simplex with the region, its constraints, and mechanisms that sit on its vertices."""
    from utmost import charts

    dots = []
    for group, mechanism in groups.items():
        mechanism_hyper = hyper(priors.uniform(3), mechanism)
        for point, outer in zip(mechanism_hyper.inners.T, mechanism_hyper.outers, strict=True):
            letter = next(name for name, vertex in vertices_by_letter.items() if vertex == tuple(point))
            dots.append(charts.Posterior(letter, tuple(map(float, point)), float(outer), group))
    taken = {dot.name for dot in dots}
    dots += [
        charts.Posterior(letter, tuple(map(float, point)), None, "other vertex" if groups else "vertex")
        for letter, point in vertices_by_letter.items()
        if letter not in taken
    ]
    ratios = [
        (a, b, 1 / float(half().power(space.distance(a, b)))) for x, z in space.edges for a, b in ((x, z), (z, x))
    ]
    region = [tuple(map(float, point)) for point in vertices_by_letter.values()]
    return charts.simplex_chart(
        labels, title, subtitle, region=region, ratios=ratios, posteriors=dots, prior=(1 / 3, 1 / 3, 1 / 3)
    )


def figure3() -> Item:
    """U_nib over the simplex of three secrets: not linear, so not trivial."""
    corners = [tuple(Fraction(x == k) for x in range(3)) for k in range(3)]
    middle = uncertainty([Fraction(1, 3)] * 3, losses.nib)
    is_planar = middle == sum(uncertainty(corner, losses.nib) for corner in corners) / 3
    lines: list[Claim] = [
        ("U_nib is planar", False, is_planar),
        ("ℓ_nib is trivial by Def. 6, on three secrets", False, is_trivial(losses.nib, 3).constant),
        ("ℓ_nib is trivial by Def. A1, on three secrets", False, is_trivial(losses.nib, 3).dominated),
    ]
    note = f"U_nib(π) = min_x π_x: 0 at the corners, {middle} in the middle"
    item = claims_item("Figure 3", "U_nib over the distributions on three secrets", lines, note)
    return replace(item, draw=_uncertainty_chart)


def _uncertainty_chart() -> Any:
    from utmost import charts

    table = [[float(value) for value in row] for row in losses.nib.matrix(3)]
    title = "U of ℓ_nib is no plane, so ℓ_nib is not trivial"
    names = tuple(f"not x{k}" for k in (1, 2, 3))
    return charts.uncertainty_chart(
        ("x1", "x2", "x3"), table, title, "FMPD23 Figure 3: min p(x); dark is high", actions=names
    )


def loss_classes() -> Item:
    """§IV-B and Def. 6: which losses are monotone in which metric."""
    constant = [[Fraction(1)] * 3] * 3
    lines: list[Claim] = [
        ("ℓ_bin is monotone in d₂ (line:3)", True, is_monotone(losses.binary, line(3)).holds),
        ("ℓ_bin is strictly monotone in d₂ (line:3)", False, is_strictly_monotone(losses.binary, line(3)).holds),
        (
            "ℓ_bin is strictly monotone in d_D (discrete:3)",
            True,
            is_strictly_monotone(losses.binary, discrete(3)).holds,
        ),
        ("ℓ_Avg is strictly monotone in d₂ (line:3)", True, is_strictly_monotone(losses.absolute, line(3)).holds),
        ("ℓ_Avg is monotone in d_D (discrete:3)", False, is_monotone(losses.absolute, discrete(3)).holds),
        ("ℓ_nib is monotone (line:3)", False, is_monotone(losses.nib, line(3)).holds),
        ("ℓ_nib is monotone (line:2)", False, is_monotone(losses.nib, line(2)).holds),
        ("ℓ_nib is monotone (cycle:4)", False, is_monotone(losses.nib, cycle(4)).holds),
        ("ℓ_nib is monotone (hamming:3)", False, is_monotone(losses.nib, hamming(3)).holds),
        (
            "trivial losses are strictly monotone (constant, line:3)",
            True,
            is_strictly_monotone(constant, line(3)).holds,
        ),
    ]
    note = (
        "statement: ℓ_nib is monotone where each secret has one farthest other, and a(w) is that one: an even cycle, "
        "a cube. L* ⊆ L^{m+} fails: a constant loss is no strictly increasing function of a distance"
    )
    return claims_item("Section IV-B, Definition 6", "monotone, strictly monotone and trivial losses", lines, note)


def figure4b() -> Item:
    """The geometric mechanism is three of the four vertices of the line of three."""
    space, level = line(3), half()
    mechanism = geometric(2, level).channel()
    region_vertices = set(posteriors(space, level))
    lines: list[Claim] = [
        ("vertices of the region", Fraction(4), Fraction(len(region_vertices))),
        ("the geometric mechanism's posteriors", Fraction(3), Fraction(len(inners(mechanism)))),
        ("all of them are vertices", True, set(inners(mechanism)) <= region_vertices),
    ]
    item = claims_item("Figure 4b", "the d₂-private hypers on {0, 1, 2}, ε = ln 2", lines)
    title = "The geometric mechanism sits on three of the four vertices of the line's region"
    subtitle = "FMPD23 Figure 4b, ε = ln 2; areas: how likely each posterior is"
    return replace(
        item,
        draw=lambda: _triangle_chart(
            space, line_of_three_vertices(), "012", title, subtitle, {"geometric mechanism": mechanism}
        ),
    )


def figure5b() -> Item:
    """Random response and its dual are the two triangles of the hexagon."""
    space, level = discrete(3), half()
    mechanisms = {"random response R": response(3, level).channel(), "its dual R°": response_dual(3, level).channel()}
    region_vertices = set(posteriors(space, level))
    points_by_name = {name: set(inners(mechanism)) for name, mechanism in mechanisms.items()}
    lines: list[Claim] = [
        ("vertices of the region", Fraction(6), Fraction(len(region_vertices))),
        *(
            (f"{name} is three of them", True, len(points) == 3 and points <= region_vertices)
            for name, points in points_by_name.items()
        ),
        ("R and R° share none", True, not set.intersection(*points_by_name.values())),
    ]
    item = claims_item("Figure 5b", "the d_D-private hypers on three secrets, ε = ln 2", lines)
    title = "Random response and its dual are the two triangles of the discrete type's hexagon"
    subtitle = "FMPD23 Figure 5b, ε = ln 2; areas: how likely each posterior is"
    letters = letter_vertices(space, level, *mechanisms.values())
    return replace(item, draw=lambda: _triangle_chart(space, letters, ("x1", "x2", "x3"), title, subtitle, mechanisms))


def figure6b() -> Item:
    """The region of a square of four places."""
    space, level = grid(2, 2), half()
    region_vertices = posteriors(space, level)
    item = claims_item(
        "Figure 6b",
        "the d₂-private hypers on a grid of 2 × 2 places, ε = ln 2",
        [("vertices of the region (Table 6a)", Fraction(18), Fraction(len(region_vertices)))],
    )
    return replace(item, draw=lambda: _tetrahedron_chart(space, region_vertices))


def _tetrahedron_chart(space: Space, region_vertices: Sequence[Point]) -> Any:
    from utmost import charts

    region = [tuple(map(float, point)) for point in region_vertices]
    title = f"On a square of four places {len(region_vertices)} vertices bound the private posteriors"
    subtitle = (
        "FMPD23 Figure 6b, Euclidean distance, ε = ln 2; the tetrahedron of all distributions, and the region enlarged"
    )
    return charts.tetrahedron_chart(
        [str(label) for label in space.labels], title, subtitle, region=region, prior=(0.25,) * 4
    )


def figure7b() -> Item:
    """On the path of the figure the Hamming metric is that of a line; the mechanism of Figure 8 lives there."""
    cube = hamming(3)
    path_indices = [cube.position(label) for label in PATH]
    is_linear = all(
        cube.distance(a, b) == abs(i - j) for i, a in enumerate(path_indices) for j, b in enumerate(path_indices)
    )
    lines: list[Claim] = [
        ("d_H is linear on 000, 100, 110, 111", True, is_linear),
    ]
    note = f"{len(cube.edges)} pairs generate the metric"
    item = claims_item("Figure 7b", "the Hamming cube and a path on which its metric is linear", lines, note)
    return replace(item, draw=_cube_chart)


def _cube_chart() -> Any:
    from utmost import charts

    cube = hamming(3)
    labels = [str(label) for label in cube.labels]
    positions = [(int(b[0]) + 0.45 * int(b[2]), int(b[1]) + 0.35 * int(b[2])) for b in labels]
    path = [cube.position(label) for label in PATH]
    title = "Along 000, 100, 110, 111 the Hamming cube is a line"
    subtitle = "FMPD23 Figure 7b: the pairs that generate the metric, the path in orange"
    return charts.network_chart(labels, positions, cube.edges, title, subtitle, path=path)
