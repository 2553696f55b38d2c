"""Check the inputs of this package: exact channels, priors as weights, gains and losses as tables.

A table has a row for each secret and a column for each action: entry [x, w] is what action w brings when the secret is
x. Nothing here is a float, so nothing that is computed from it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_inputs, channel_of
from utmost.consumer import priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Number, number

PriorLike: TypeAlias = Prior | Sequence[object]
TableLike: TypeAlias = Loss | Sequence[Sequence[object]] | Matrix


def exact_channel(source: Channel | Mechanism, name: str = "channel") -> Channel:
    """The channel of `source`; refused if its entries are floats."""
    channel = channel_of(source)
    if not channel.exact:
        raise InputError(
            f"{name} must have exact entries, got floats",
            name,
            "write them as fractions, since rows of doubles do not sum to exactly 1",
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
