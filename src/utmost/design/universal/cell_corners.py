"""The corners of the cells on which a mechanism's uncertainty is linear in the prior.

U(π) = Σ_y min_w c_yw·π with c_yw[x] = M[x,y]·ℓ[x,w]. In each cell every output has one best action, and U is linear.
The corners of all cells are the vertices (π, t) of {Σ π = 1, π ≥ 0, t_y ≤ c_yw·π}: at a vertex the tight constraints
fix (π, t); eliminating t, the differences c_yw − c_yw′ of the actions that tie and the zeros of π fix π, which says
that π alone is a cell. They are found as the extreme rays of the cone, by double description in whole numbers (Motzkin
and others 1953; adjacency by the tight constraints, Fukuda and Prodon 1996).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from utmost.channel import Matrix
from utmost.consumer.loss_operations import Exacts

IntVector: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ray:
    """An extreme ray (π, t), and the constraints that it makes tight, as bits."""

    vector: IntVector
    tight: int


def cell_corners(rows: Matrix, losses: Exacts) -> list[tuple[Fraction, ...]]:
    """The priors at which π ↦ U_ℓ(π, M) can bend, the ends of the simplex among them; rational data.

    >>> import numpy as np
    >>> third = Fraction(1, 3)
    >>> binary = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object)
    >>> cell_corners(np.array([[2 * third, third], [third, 2 * third]], dtype=object), binary)[2:]
    [(Fraction(1, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(1, 3))]
    """
    size = len(rows)
    pieces = [_integer_pieces(column, undominated_actions(losses)) for column in distinct_columns(rows)]
    rays = _initial_rays(size, [group[0] for group in pieces])
    bit = size + len(pieces)
    for y, group in enumerate(pieces):
        for piece in group[1:]:
            rays = _cut_cone(rays, piece, size + y, 1 << bit)
            bit += 1
    corners = {_prior(ray.vector[:size]) for ray in rays if any(ray.vector[:size])}
    return sorted(corners, key=lambda prior: (sum(1 for p in prior if p), prior))


def distinct_columns(rows: Matrix) -> list[tuple[Fraction, ...]]:
    """The columns that occur, one for each direction: proportional ones bend at the same priors."""
    directions = {}
    for column in rows.T:
        total = sum(column, Fraction(0))
        if total:
            directions[tuple(value / total for value in column)] = True
    return list(directions)


def undominated_actions(losses: Exacts) -> list[tuple[Fraction, ...]]:
    """The actions that no other one is at least as good as everywhere; one of each kind."""
    actions = list(dict.fromkeys(tuple(column) for column in losses.T))
    return [a for a in actions if not any(b != a and all(p <= q for p, q in zip(b, a, strict=True)) for b in actions)]


def _integer_pieces(column: Sequence[Fraction], actions: Sequence[Sequence[Fraction]]) -> list[IntVector]:
    """The c_w of one output, times one positive number that makes all of them whole."""
    pieces = [[p * v for p, v in zip(column, action, strict=True)] for action in actions]
    unit = math.lcm(*(value.denominator for piece in pieces for value in piece))
    return list(dict.fromkeys(tuple(int(value * unit) for value in piece) for piece in pieces))


def _initial_rays(size: int, first: Sequence[IntVector]) -> list[Ray]:
    """The rays of {π ≥ 0, t_y ≤ c_y0·π}: each secret by itself, and each t_y falling."""
    width = size + len(first)
    all_bits = (1 << width) - 1
    rays = []
    for x in range(size):
        vector = tuple(int(k == x) for k in range(size)) + tuple(piece[x] for piece in first)
        rays.append(Ray(vector, all_bits ^ (1 << x)))
    for y in range(len(first)):
        rays.append(Ray(tuple(-int(k == size + y) for k in range(width)), all_bits ^ (1 << (size + y))))
    return rays


def _cut_cone(rays: list[Ray], piece: IntVector, index: int, bit: int) -> list[Ray]:
    """The rays of the cone cut by t_y ≤ piece·π, where t_y stands at `index`: one step of double description."""
    values = [sum(a * b for a, b in zip(piece, ray.vector, strict=False)) - ray.vector[index] for ray in rays]
    new_rays = [Ray(r.vector, r.tight | bit) if v == 0 else r for r, v in zip(rays, values, strict=True) if v >= 0]
    inside = [(r, v) for r, v in zip(rays, values, strict=True) if v > 0]
    outside = [(r, v) for r, v in zip(rays, values, strict=True) if v < 0]
    min_common = len(rays[0].vector) - 2
    for inner, inner_value in inside:
        for outer, outer_value in outside:
            common = inner.tight & outer.tight
            if common.bit_count() >= min_common and _are_adjacent(rays, inner, outer, common):
                new_rays.append(Ray(_combination(inner.vector, -outer_value, outer.vector, inner_value), common | bit))
    return new_rays


def _are_adjacent(rays: list[Ray], inner: Ray, outer: Ray, common: int) -> bool:
    return not any(common & ray.tight == common for ray in rays if ray is not inner and ray is not outer)


def _combination(inner: IntVector, inner_weight: int, outer: IntVector, outer_weight: int) -> IntVector:
    vector = [inner_weight * a + outer_weight * b for a, b in zip(inner, outer, strict=True)]
    common = math.gcd(*vector)
    return tuple(value // common for value in vector)


def _prior(vector: IntVector) -> tuple[Fraction, ...]:
    total = sum(vector)
    return tuple(Fraction(value, total) for value in vector)
