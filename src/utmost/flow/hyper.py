"""Hypers: what a consumer may come to believe, and how likely that is (FMPD23 §II-A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism
from utmost.channel.channel import Label, closed, trusted
from utmost.errors import InputError
from utmost.exact import Number
from utmost.flow.columns import bundles
from utmost.flow.inputs import Weights, exact_channel, objects, weights
from utmost.flow.ratios import added


@dataclass(frozen=True, slots=True, eq=False)
class Hyper:
    """A distribution of distributions: column y of `inners` is a posterior, outers[y] > 0 is its weight.

    No two inners are equal, and they stand in decreasing order, entry by entry. So two hypers over the same inputs are
    equal exactly when they are the same distribution: the labels and the order of outputs are gone, and outputs that
    said the same have become one.
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
        return tuple(added(row * objects(self.outers)) for row in self.inners)

    def channel(self) -> Channel:
        """The abstract channel: C[x, y] = outers[y]·inners[x, y]/π_x, the only one up to names of its outputs.

        The prior must give every input a weight > 0: of an input that never occurs a hyper knows nothing.
        """
        prior = self.prior()
        if not all(prior):
            raise InputError("prior must be > 0 on every input to tell the channel, got a 0: leave those inputs out")
        rows = self.inners * objects(self.outers)[None, :] / objects(prior)[:, None]
        return trusted(self.inputs, range(len(self.outers)), rows)


def hyper(prior: Weights, channel: Channel | Mechanism) -> Hyper:
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
    source = exact_channel(channel)
    joint = weights(prior, len(source.inputs))[:, None] * source.rows
    found = [(tuple(bundle.column / outer), outer) for bundle in bundles(joint) for outer in [added(bundle.column)]]
    found.sort(key=lambda pair: pair[0], reverse=True)
    inners = objects([inner for inner, _ in found]).T
    return Hyper(source.inputs, tuple(outer for _, outer in found), closed(np.ascontiguousarray(inners)))
