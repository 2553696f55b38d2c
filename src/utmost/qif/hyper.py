"""Hypers: the posteriors a channel can lead to, distances between hypers, and checks of their inputs.

Check the inputs of this package: exact channels, priors as weights, gains and losses as tables.

A table has a row for each secret and a column for each action: entry [x, w] is what action w brings when the secret is
x. Nothing here is a float, so nothing that is computed from it is.

A hyper (FMPD23 §II-A) has posteriors with their probabilities.
Outputs with proportional columns lead to the same posterior, and are grouped.

Distances between hypers: what it costs to move one distribution of posteriors into another (FMM21 §IV-D, §VII-B).

The secrets are points of a line. Between two posteriors the distance is W₁, the area between their distribution
functions; between two hypers it is the least cost of moving the weights of one set of posteriors to the other at those
distances. By Kantorovich and Rubinstein a loss that is κ-Lipschitz in the secret differs by at most κ times that
distance between the two. A refinement A·R = B comes with a move of its own, which need not be the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix, Mechanism, align_inputs, channel_of
from utmost.channel.channel import Label, label_positions, read_only, trusted_channel
from utmost.consumer import priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError, SolverError
from utmost.exact import Number, Real, number, sign
from utmost.lp import LinearProgram, certified_optimum
from utmost.qif.exact_algebra import add_exact, has_irrational
from utmost.result_values import equal_fields, hash_of_kind, short_repr

PriorLike: TypeAlias = Prior | Sequence[object]
TableLike: TypeAlias = Loss | Sequence[Sequence[object]] | Matrix


def exact_channel(source: Channel | Mechanism, name: str = "channel") -> Channel:
    """The channel of `source`; refused if its entries are floats."""
    channel = channel_of(source)
    if not channel.exact:
        raise InputError(
            f"{name} must have exact entries, got floats",
            name,
            "write them as fractions, since rows of doubles do not sum to exactly 1, or take channel.normalise of it",
        )
    return channel


def channel_for(source: Channel | Mechanism, loss: object = None) -> Channel:
    """The exact channel with its inputs in the order of the prior's weights and the loss's rows.

    They are matched by the labels of a loss made by `losses.over`; else whole numbers stand in increasing order, and
    other labels as they are.
    """
    channel = exact_channel(source)
    labels = loss.labels if isinstance(loss, Loss) else None
    return channel.in_order() if labels is None else align_inputs(channel, labels, "the loss's secrets")


def check_weights(prior: PriorLike, size: int | None = None) -> Matrix:
    """The exact weights of a prior: one of `utmost.priors`, or numbers that sum to 1; `size` of them if given.

    >>> check_weights(["1/4", "3/4"]).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    exact_prior = prior if isinstance(prior, Prior) else priors.explicit(list(prior))
    if size is not None and exact_prior.size != size:
        raise InputError(
            f"prior must have {size} weights, one for each input of the channel, got {exact_prior.size}", "prior"
        )
    return object_array(exact_prior.exact())


def check_table(entries: TableLike, size: int, name: str = "gain") -> Matrix:
    """A table of `size` rows with equally many exact numbers, of either sign.

    >>> check_table([[1, "-1/2"], [0, 1]], 2).tolist()
    [[Fraction(1, 1), Fraction(-1, 2)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    rows = entries.matrix(size) if isinstance(entries, Loss) else entries
    if len(rows) != size or not len(rows[0]) or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(
            f"{name} must have {size} rows, one for each secret, of equally many actions, got {len(rows)} rows", name
        )
    return object_array([[number(value, name) for value in row] for row in rows])


def object_array(values: Sequence[Number] | Sequence[Sequence[Number]]) -> Matrix:
    """An array of exact numbers, kept as they are."""
    return np.array(values, dtype=object)


MAX_EQUAL_DIRECTION_GAP = 1e-9  # directions whose doubles differ by more are different


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBundle:
    """Columns with one direction: which they are, the share each has of their sum, and that sum."""

    members: tuple[int, ...]
    shares: tuple[Number, ...]
    column: Matrix


def bundle_columns(matrix: Matrix) -> list[ColumnBundle]:
    """The columns of a non-negative matrix by direction, in order of first appearance; zero columns are dropped.

    Doubles distinguish most columns; the others are compared exactly.
    """
    groups: list[list[int]] = []
    directions: list[npt.NDArray[np.float64]] = []
    for y, column in enumerate(matrix.T):
        if not any(column):
            continue
        direction = _direction(column)
        for members, group_direction in zip(groups, directions, strict=True):
            is_close = np.abs(group_direction - direction).max() <= MAX_EQUAL_DIRECTION_GAP
            if is_close and _is_proportional(matrix[:, members[0]], column):
                members.append(y)
                break
        else:
            groups.append([y])
            directions.append(direction)
    return [_bundle(matrix, members) for members in groups]


def _direction(column: Matrix) -> npt.NDArray[np.float64]:
    """The column divided by its largest entry, in doubles; fractions are divided first, since they may be tiny."""
    if any(isinstance(value, Real) for value in column):
        floats = column.astype(float)
        return np.asarray(floats / floats.max())
    return np.asarray((column / column.max()).astype(float))


def _is_proportional(left: Matrix, right: Matrix) -> bool:
    pivot = next(x for x, value in enumerate(left) if value)
    return all(a * right[pivot] == b * left[pivot] for a, b in zip(left, right, strict=True))


def _bundle(matrix: Matrix, members: list[int]) -> ColumnBundle:
    if len(members) == 1:
        return ColumnBundle(tuple(members), (Fraction(1),), matrix[:, members[0]])
    column = matrix[:, members].sum(axis=1)
    pivot = next(x for x, value in enumerate(column) if value)
    return ColumnBundle(tuple(members), tuple(matrix[pivot, y] / column[pivot] for y in members), column)


@dataclass(frozen=True, slots=True, eq=False)
class Hyper:
    """A distribution of distributions: column y of `inners` is a posterior, outers[y] > 0 is its weight.

    No two inners are equal, and they stand in decreasing order, entry by entry. So two hypers over the same inputs are
    equal exactly when they are the same distribution: the labels and the order of outputs are dropped, and outputs
    with the same posterior are merged.
    """

    __repr__ = short_repr

    inputs: tuple[Label, ...]
    outers: tuple[Number, ...]
    inners: Matrix

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyper):
            return NotImplemented
        same = self.inputs == other.inputs and self.outers == other.outers
        return same and bool(np.all(self.inners == other.inners))

    def __hash__(self) -> int:
        return hash((self.inputs, len(self.outers)))

    def prior(self) -> tuple[Number, ...]:
        """The mean of the inners, weighted by the outers: the prior it came from. FMPD23 Lemma 1."""
        return tuple(add_exact(row * object_array(self.outers)) for row in self.inners)

    def channel(self) -> Channel:
        """The abstract channel: C[x, y] = outers[y]·inners[x, y]/π_x, the only one up to names of its outputs.

        The prior must give every input a weight > 0: a hyper does not depend on the row of an input that never occurs.
        """
        prior = self.prior()
        if not all(prior):
            raise InputError(
                "prior must be > 0 on every input to tell the channel, got a 0", "prior", "leave those inputs out"
            )
        rows = self.inners * object_array(self.outers)[None, :] / object_array(prior)[:, None]
        return trusted_channel(self.inputs, range(len(self.outers)), rows)


def hyper(prior: PriorLike, channel: Channel | Mechanism) -> Hyper:
    """The hyper [π ▷ C]: posteriors of the outputs that can occur, equal ones merged, with their probabilities.

    FMPD23 Fig. 1:

    >>> from utmost.channel import channel
    >>> from utmost.consumer import priors
    >>> figure = channel([["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
    >>> delta = hyper(priors.uniform(3), figure)
    >>> print(*delta.outers)
    7/18 2/9 7/18
    >>> for row in delta.inners:
    ...     print(*row)
    4/7 1/4 1/7
    2/7 1/2 2/7
    1/7 1/4 4/7
    >>> delta.channel() == figure
    True
    """
    source = channel_for(channel)
    joint = check_weights(prior, len(source.inputs))[:, None] * source.rows
    weighted_inners = [
        (tuple(bundle.column / outer), outer)
        for bundle in bundle_columns(joint)
        for outer in [add_exact(bundle.column)]
    ]
    weighted_inners.sort(key=lambda pair: pair[0], reverse=True)
    inners = object_array([inner for inner, _ in weighted_inners]).T
    return Hyper(source.inputs, tuple(outer for _, outer in weighted_inners), read_only(np.ascontiguousarray(inners)))


Positions: TypeAlias = Sequence[object]  # where each secret stands on the line, in increasing order

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


def posterior_distances(first: Hyper, second: Hyper, positions: Positions) -> Matrix:
    """The matrix of W₁ between every posterior of the first hyper and every one of the second."""
    rows = label_positions(second.inputs, first.inputs)
    if rows is None:
        raise InputError(
            f"hypers must be over the same secrets, in any order, got {len(first.inputs)} and "
            f"{len(second.inputs)} that differ",
            "hypers",
            "rename the inputs",
        )
    return _pairwise_distances(first.inners, second.inners[rows], _check_positions(positions, len(first.inputs)))


def hyper_distance(first: Hyper, second: Hyper, positions: Positions) -> TransportPlan:
    """The cheapest move from one hyper to the other, certified by an exact program: its cost is their distance.

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


def hyper_distance_float(first: Hyper, second: Hyper, positions: Positions) -> float:
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
