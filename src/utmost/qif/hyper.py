"""Hypers: the posteriors that a channel can lead to, and their probabilities (FMPD23 §II-A).

Outputs with proportional columns lead to the same posterior, and are grouped.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix, Mechanism
from utmost.channel.channel import Label, read_only, trusted_channel
from utmost.errors import InputError
from utmost.exact import Number, Real
from utmost.qif.input_checks import PriorLike, channel_for, check_weights, object_array
from utmost.qif.rational_functions import add_exact

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
