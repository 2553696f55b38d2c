"""Symmetries of a space: permutations of its points that keep all distances; the orbits of points and of pairs."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.spaces.automorphisms import automorphisms, orbits
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import Space, SymmetryGenerators


@dataclass(frozen=True, slots=True, eq=False)
class Symmetries:
    """A group of symmetries: its generators, its orbits of points and of ordered pairs, its order (None: not known).

    Points with one number in `points` are taken to each other by some symmetry; so are pairs with one number in
    `pairs`. Orbits are numbered by their first point or pair.
    """

    generators: tuple[IntArray, ...]
    points: IntArray
    pairs: IntArray
    order: int | None


def symmetries(space: Space) -> Symmetries:
    """The symmetries of a space; each generator keeps all distances exactly.

    Named families, their multiples and products know them in closed form: the whole group for a family, and for a
    product the group of its axes and of exchanges of equal ones. Tables, graphs and parts are searched: the whole group
    too, unless that takes more than about ten seconds. Then `generators` are those found by then, perhaps none (the
    identity alone), and `order` is None. Orbits are always those of the generators.

    >>> from utmost.spaces import hamming
    >>> cube = symmetries(hamming(3))
    >>> cube.order, cube.points.tolist(), int(cube.pairs.max()) + 1
    (48, [0, 0, 0, 0, 0, 0, 0, 0], 4)
    """
    space.check_table_size()
    group = symmetry_generators(space)
    size = len(space)
    pair_images = ((image[:, None] * size + image[None, :]).ravel() for image in group.permutations)
    pairs = orbits(size * size, pair_images).reshape(size, size)
    return Symmetries(group.permutations, orbits(size, group.permutations), pairs, group.order)


def symmetry_generators(space: Space) -> SymmetryGenerators:
    """Generators and order: in closed form where the shape has one, else by search."""
    return space.shape.symmetries() or automorphisms(space.codes)
