"""Distances between hypers: what it costs to move one distribution of posteriors into another (FMM21 §IV-D, §VII-B).

Where the secrets are points of a line the distance of two posteriors is W₁, the area between their distribution
functions; on any other space it is their Kantorovich distance (`kantorovich`). Between two hypers it is the least cost
of moving the weights of one set of posteriors to the other at those distances. By Kantorovich and Rubinstein a loss
that is κ-Lipschitz in the secret differs by at most κ times that distance between the two. A refinement A·R = B comes
with a move of its own, which need not be the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_inputs
from utmost.channel.channel import label_positions, read_only
from utmost.errors import InputError, SolverError
from utmost.exact import Number, number, sign
from utmost.lp import LinearProgram, certified_optimum
from utmost.qif.exact_algebra import has_irrational
from utmost.qif.hyper import Hyper, PriorLike, channel_for, check_weights, exact_channel, object_array
from utmost.qif.kantorovich_distance import kantorovich
from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces import Space

Positions: TypeAlias = Sequence[object]  # where each secret stands on the line, in increasing order
Ground: TypeAlias = Space | Positions  # what says how far the secrets are from each other

MAX_PROGRAM_PAIRS = 20_000  # pairs of posteriors that the exact program handles


@dataclass(frozen=True, slots=True, eq=False)
class TransportPlan:
    """masses[i, j] is what goes from posterior i to posterior j, each a distance away; `cost` is Σ mass·distance.

    The cost of any move is an upper bound of the distance between the two hypers.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    masses: Matrix
    distances: Matrix
    cost: Number


def line_distance(left: Sequence[object], right: Sequence[object], positions: Positions) -> Number:
    """W₁ between two distributions on points of a line: Σ |F − G|·(gap to the next point), exact.

    >>> line_distance([1, 0, 0], ["1/2", 0, "1/2"], [0, 1, 3])
    Fraction(3, 2)
    """
    points = _check_positions(positions, len(left))
    if len(left) != len(right):
        raise InputError(
            f"distributions must be over the same points, got {len(left)} and {len(right)}", "distributions"
        )
    gaps = [number(b, "distribution") - number(a, "distribution") for a, b in zip(left, right, strict=True)]
    return _area_between(gaps, points)


def posterior_distances(first: Hyper, second: Hyper, positions: Ground) -> Matrix:
    """The distance of every posterior of the first hyper to every one of the second; on a space its upper bound."""
    rows = label_positions(second.inputs, first.inputs)
    if rows is None:
        raise InputError(
            f"hypers must be over the same secrets, in any order, got {len(first.inputs)} and "
            f"{len(second.inputs)} that differ",
            "hypers",
            "rename the inputs",
        )
    if isinstance(positions, Space):
        return _distances_on(positions, first, second)
    return _pairwise_distances(first.inners, second.inners[rows], _check_positions(positions, len(first.inputs)))


def _distances_on(space: Space, first: Hyper, second: Hyper) -> Matrix:
    """Kantorovich distances of posteriors on the points of a space, which are matched by their labels."""
    sides = [_rows_on(space, hyper) for hyper in (first, second)]
    result = np.empty((sides[0].shape[1], sides[1].shape[1]), dtype=object)
    for i, left in enumerate(sides[0].T):
        result[i] = [kantorovich(left.tolist(), right.tolist(), space).upper for right in sides[1].T]
    return result


def _rows_on(space: Space, hyper: Hyper) -> Matrix:
    """The posteriors of a hyper with its secrets in the order of the points."""
    rows = label_positions(hyper.inputs, space.labels)
    if rows is None:
        name = space.name[:40]
        raise InputError(f"hypers must be over the points of {name}, got others", "hypers", "rename the inputs")
    return hyper.inners[rows]


def hyper_distance(first: Hyper, second: Hyper, positions: Ground) -> TransportPlan:
    """The cheapest move from one hyper to the other, certified by an exact program: its cost is their distance.

    `positions` are numbers, one for each secret, or a space that has the secrets as points. Where its distances are
    irrational the cost is that of a move, at most 2⁻¹²⁰ above the distance.

    Its numbers must be rational; for others there is `hyper_distance_float`, in doubles.

    >>> from utmost.channel import identity
    >>> from utmost.exact import alpha
    >>> from utmost.qif.hyper import hyper
    >>> from utmost.mechanisms import geometric
    >>> truthful, noisy = (hyper(["1/3"] * 3, c) for c in (identity(range(3)), geometric(2, alpha("1/2"))))
    >>> hyper_distance(truthful, noisy, [0, "1/2", 1]).cost
    Fraction(2, 7)
    """
    costs = posterior_distances(first, second, positions)
    supply, demand = object_array(first.outers), object_array(second.outers)
    if has_irrational(costs, supply, demand):
        raise InputError(
            "hypers must have rational weights for an exact distance, got irrational ones",
            "hypers",
            "use `hyper_distance_float`",
        )
    if costs.size > MAX_PROGRAM_PAIRS:
        raise InputError(
            f"hypers must have at most {MAX_PROGRAM_PAIRS} pairs of posteriors, got {costs.size}", "hypers"
        )
    certificate = certified_optimum(_transport_program(costs, supply, demand))
    if not certificate.exact:
        raise SolverError("the distance between these hypers is not settled exactly: use `hyper_distance_float`")
    return TransportPlan(
        read_only(object_array(certificate.proof.x).reshape(costs.shape)), read_only(costs), certificate.upper
    )


def hyper_distance_float(first: Hyper, second: Hyper, positions: Ground) -> float:
    """The Kantorovich distance as a double, by the network simplex of POT; a few units in the 12th digit off."""
    try:
        ot = import_module("ot")
    except ImportError:
        raise InputError(
            "this distance needs the package POT", hint="install utmost[transport], or use `hyper_distance`"
        ) from None
    costs = posterior_distances(first, second, positions).astype(float)
    supply, demand = (np.array([float(w) for w in h.outers]) for h in (first, second))
    return float(ot.emd2(supply / supply.sum(), demand / demand.sum(), np.ascontiguousarray(costs)))


def refining_move(
    prior: PriorLike, source: Channel | Mechanism, post_processing: Channel, positions: Positions
) -> TransportPlan:
    """The move that A·R makes from [π▷A] to [π▷A·R]: output i's weight times R[i, j] goes to output j (FMM21 Thm 13).

    Every posterior of A·R is the mean of what arrives at it: that, and not that there is a move, is what refinement
    says.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.channel import channel
    >>> refining_move(["1/2", "1/2"], geometric(1, alpha("1/2")), channel([[1], [1]]), [0, 1]).cost
    Fraction(1, 6)
    """
    first = channel_for(source)
    processing = align_inputs(exact_channel(post_processing, "R"), first.outputs, "the outputs of A")
    joint = check_weights(prior, len(first.inputs))[:, None] * first.rows
    after = first.then(processing).rows * check_weights(prior, len(first.inputs))[:, None]
    points = _check_positions(positions, len(first.inputs))
    distances = _pairwise_distances(_posteriors(joint), _posteriors(after), points)
    masses = joint.sum(axis=0)[:, None] * processing.rows
    return TransportPlan(read_only(masses), read_only(distances), _transport_cost(masses, distances))


def _transport_cost(masses: Matrix, distances: Matrix) -> Number:
    terms = (m * d for m, d in zip(masses.flat, distances.flat, strict=True) if m and d)
    return sum(terms, Fraction(0))


def _posteriors(joint: Matrix) -> Matrix:
    """The posteriors as columns; of an output that never occurs the first secret's."""
    columns = []
    for column in joint.T:
        total = column.sum()
        columns.append(column / total if total else object_array([Fraction(x == 0) for x in range(len(column))]))
    return np.stack(columns, axis=1)


def _pairwise_distances(left: Matrix, right: Matrix, points: Sequence[Number]) -> Matrix:
    result = np.empty((left.shape[1], right.shape[1]), dtype=object)
    for i, first in enumerate(left.T):
        result[i] = [_area_between(second - first, points) for second in right.T]
    return result


def _area_between(gaps: Iterable[Number], points: Sequence[Number]) -> Number:
    """Σ |c_0 + … + c_i|·(points[i+1] − points[i]) for the differences c of two distributions."""
    steps = (v - u for u, v in pairwise(points))
    sums: list[Number] = list(accumulate(gaps))
    return sum((_absolute(total) * step for total, step in zip(sums, steps, strict=False)), Fraction(0))


def _absolute(value: Number) -> Number:
    return value if sign(value) >= 0 else -value


def _check_positions(positions: Positions, size: int) -> list[Number]:
    points = [number(position, "positions") for position in positions]
    if len(points) != size:
        raise InputError(f"positions must be {size} numbers, one for each secret, got {len(points)}", "positions")
    if any(sign(v - u) <= 0 for u, v in pairwise(points)):
        raise InputError(
            "positions must increase strictly, got two that do not", "positions", "list the secrets from left to right"
        )
    return points


def _transport_program(costs: Matrix, supply: Matrix, demand: Matrix) -> LinearProgram:
    """minimise Σ cost·mass with the weights of both sides as row and column sums; mass[i, j] ≤ min of the two."""
    height, width = costs.shape
    index = np.arange(height * width)
    rows = np.concatenate([index // width, height + index % width])
    ones = np.full(2 * len(index), Fraction(1), dtype=object)
    upper = [min(a, b) for a in supply for b in demand]
    equal = np.ones(height + width, dtype=bool)
    target = [*supply, *demand]
    return LinearProgram([*costs.flat], rows, np.concatenate([index, index]), ones, target, equal, upper=upper)
