"""Hypers: the posteriors a channel can lead to, and checks of their inputs.

Check the inputs of this package: exact channels, priors as weights, gains and losses as tables.

A table has a row for each secret and a column for each action: entry [x, w] is what action w brings when the secret is
x. Nothing here is a float, so nothing that is computed from it is.

A hyper (FMPD23 §II-A) has posteriors with their probabilities.
Outputs with proportional columns lead to the same posterior, and are grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix, Mechanism, align_inputs, channel_of
from utmost.channel.channel import Label, read_only, trusted_channel
from utmost.consumer import priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Number, Real, number
from utmost.qif.exact_algebra import add_exact
from utmost.result_values import short_repr

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


def check_weights(
    prior: PriorLike, size: int | None = None, name: str = "prior", item: str = "input of the channel"
) -> Matrix:
    """The exact weights of a prior: one of `utmost.priors`, or numbers that sum to 1; `size` of them if given.

    >>> check_weights(["1/4", "3/4"]).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    exact_prior = prior if isinstance(prior, Prior) else priors.explicit(list(prior))
    if size is not None and exact_prior.size != size:
        raise InputError(f"{name} must have {size} weights, one for each {item}, got {exact_prior.size}", name)
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
