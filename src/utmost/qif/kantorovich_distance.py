"""The Kantorovich distance of two distributions on any space, with both sides of its proof.

What it costs to move one distribution into the other when a mass of 1 over a distance of d costs d. Any move is an
upper bound. A potential f with |f(x) − f(y)| ≤ d(x,y) is a lower one: Σ_x f(x)·(p(x) − q(x)) (Kantorovich and
Rubinstein). By the triangle inequality the mass that both have at a point may stay, so that only what one has in excess
is moved.

Where distances or weights are irrational the program is solved between rational numbers that are near them, and the
bounds keep what that can make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Matrix
from utmost.channel.channel import read_only
from utmost.consumer.priors import Prior
from utmost.errors import InputError, SolverError
from utmost.exact import Number, enclosure
from utmost.lp import LinearProgram, certified_optimum
from utmost.qif.exact_algebra import has_irrational
from utmost.qif.hyper import check_weights, object_array
from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces import Space

DistributionLike: TypeAlias = Prior | Sequence[object] | Mapping[object, object]

ENCLOSURE_BITS = 128  # of a distance or a weight that is irrational
MAX_MOVED_PAIRS = 40_000  # points with an excess on one side times those on the other


@dataclass(frozen=True, slots=True, eq=False)
class KantorovichDistance:
    """lower ≤ distance ≤ upper; equal where distances and weights are rational.

    `masses[x, y]` is what goes from point x to point y: Σ mass·distance is at most `upper`. `potential` has a number
    for each point, no two farther apart than their points: Σ potential·(first − second) is at least `lower`. Irrational
    distances and weights are rounded for both, by less than 2⁻¹²⁰ of them, and the bounds allow for that.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    lower: Fraction
    upper: Fraction
    masses: Matrix
    potential: tuple[Fraction, ...]

    @property
    def gap(self) -> Fraction:
        """upper − lower."""
        return self.upper - self.lower

    @property
    def exact(self) -> bool:
        """Are the bounds equal."""
        return not self.gap

    def __float__(self) -> float:
        """The middle of the bounds as a double."""
        return float((self.lower + self.upper) / 2)


def kantorovich(first: DistributionLike, second: DistributionLike, space: Space) -> KantorovichDistance:
    """The Kantorovich distance of two distributions on the points of a space, certified.

    A distribution is a prior, the weights in the order of the points, or a mapping from points to weights.

    >>> from utmost.spaces import cycle, grid
    >>> result = kantorovich([1, 0, 0, 0, 0], ["1/5"] * 5, cycle(5))
    >>> result.upper, result.exact
    (Fraction(6, 5), True)
    >>> corner = kantorovich({"0,0": 1}, {"1,1": 1}, grid(2, 2))
    >>> float(corner.lower), corner.gap < Fraction(1, 10**30)
    (1.4142135623730951, True)
    """
    distributions = [_weights(side, space, name) for side, name in ((first, "first"), (second, "second"))]
    rounded = [_rational_weights(weights) for weights in distributions]
    excess = rounded[0][0] - rounded[1][0]
    slack = (rounded[0][1] + rounded[1][1]) * _upper_distance(space.values[-1])
    sources, targets = (np.flatnonzero([side * value > 0 for value in excess]) for side in (1, -1))
    if len(sources) * len(targets) > MAX_MOVED_PAIRS:
        raise InputError(
            f"distributions must differ at few enough points that {MAX_MOVED_PAIRS} pairs are not passed, got "
            f"{len(sources)} with more in the first and {len(targets)} with more in the second",
            "distributions",
            "take a coarser space",
        )
    masses = np.full((len(space), len(space)), Fraction(0), dtype=object)
    np.fill_diagonal(masses, np.minimum(rounded[0][0], rounded[1][0]))
    if not len(sources):
        return KantorovichDistance(Fraction(0), slack, read_only(masses), (Fraction(0),) * len(space))
    low, high = (values[space.codes] for values in _distance_bounds(space))
    moves = np.ix_(sources, targets)
    certificate = certified_optimum(_excess_program(low[moves], excess[sources], -excess[targets]))
    masses[moves] = object_array(certificate.proof.x).reshape(len(sources), len(targets))
    potential = _potential(low[sources], certificate.proof.y[: len(sources)])
    rounding = (high - low).max() * abs(excess).sum()
    lower = max(Fraction(0), (object_array(potential) * excess).sum() - rounding - slack)
    upper = Fraction((masses[moves] * high[moves]).sum()) + slack
    if lower > upper:
        raise SolverError("the bounds of this distance cross: nothing is returned")
    return KantorovichDistance(lower, upper, read_only(masses), potential)


def _weights(distribution: DistributionLike, space: Space, name: str) -> Matrix:
    """The weights in the order of the points; those of a mapping are matched by the text of its keys."""
    size = len(space)
    space.check_table_size()
    if not isinstance(distribution, Mapping):
        return check_weights(distribution, size, name, "point of the space")
    positions = {str(label): k for k, label in enumerate(space.labels)}
    unknown = [key for key in distribution if str(key) not in positions]
    if unknown:
        raise InputError(f'{name} must have points of {space.name[:40]} as keys, got "{str(unknown[0])[:40]}"', name)
    weights: list[object] = [0] * size
    for key, weight in distribution.items():
        weights[positions[str(key)]] = weight
    return check_weights(weights, size, name, "point of the space")


def _rational_weights(weights: Matrix) -> tuple[Matrix, Fraction]:
    """Rational weights that sum to 1, and how much mass at most stands elsewhere than it should: half of Σ |change|."""
    if not has_irrational(weights):
        return weights, Fraction(0)
    ends = [enclosure(weight, ENCLOSURE_BITS) for weight in weights]
    rounded = object_array([max(low, Fraction(0)) for low, _ in ends])
    largest = max(range(len(rounded)), key=rounded.__getitem__)
    rest = 1 - sum(rounded, Fraction(0))
    rounded[largest] += rest
    return rounded, sum((high - low for low, high in ends), abs(rest))


def _upper_distance(distance: Number) -> Fraction:
    return distance if isinstance(distance, Fraction) else enclosure(distance, ENCLOSURE_BITS)[1]


def _distance_bounds(space: Space) -> tuple[Matrix, Matrix]:
    """The distinct distances, rounded down and up."""
    ends = [(d, d) if isinstance(d, Fraction) else enclosure(d, ENCLOSURE_BITS) for d in space.values]
    return object_array([low for low, _ in ends]), object_array([high for _, high in ends])


def _excess_program(costs: Matrix, supply: Matrix, demand: Matrix) -> LinearProgram:
    """minimise Σ cost·mass with these row and column sums."""
    height, width = costs.shape
    cells = np.arange(height * width)
    return LinearProgram(
        [*costs.flat],
        np.concatenate([cells // width, height + cells % width]),
        np.concatenate([cells, cells]),
        np.full(2 * len(cells), Fraction(1), dtype=object),
        [*supply, *demand],
        np.ones(height + width, dtype=bool),
    )


def _potential(distances: Matrix, prices: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """f(x) = max over the sources s of price_s − d(s,x), from a row of distances for each source.

    By the triangle inequality no two values are farther apart than their points, whatever the prices are.
    """
    return tuple((object_array(list(prices))[:, None] - distances).max(axis=0))
