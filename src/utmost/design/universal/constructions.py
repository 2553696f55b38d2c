"""Mechanisms that are universally optimal by construction (FMPD23 Cor. 9, Thm 10, §VI-B, Fig. 8)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.channel import Channel, Mechanism, channel_of
from utmost.channel.channel import trusted_channel
from utmost.consumer.loss_operations import Exacts
from utmost.errors import InputError
from utmost.exact import Level, Number
from utmost.spaces import Label, Space


def binary_mechanism(space: Space, level: Level) -> Channel:
    """T of FMPD23 Cor. 9, on two secrets: tells the truth with probability 1/(1+β), β = α^d. Best for every loss.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(binary_mechanism(line(2), alpha("1/2")))
         0    1
    0  2/3  1/3
    1  1/3  2/3
    """
    if len(space) != 2:
        raise InputError(
            f"space must have 2 points here, got {len(space)}: only there one mechanism is best for all", "space"
        )
    first, second = space.labels
    return trusted_channel(space.labels, (first, second), isolating(space, level, first).rows)


def nearest(space: Space, label: Label) -> Label:
    """The nearest other secret, the first of those that tie."""
    point = space.position(label)
    others = [x for x in range(len(space)) if x != point]
    if not others:
        raise InputError("space must have at least 2 points, got 1: nothing can be told apart there", "space")
    return space.labels[min(others, key=lambda x: space.distance(point, x))]


def closest_pair(space: Space) -> tuple[Label, Label]:
    """Two secrets at the least distance of all."""
    pairs = list(combinations(range(len(space)), 2))
    if not pairs:
        raise InputError("space must have at least 2 points, got 1: nothing can be told apart there", "space")
    x, z = min(pairs, key=lambda pair: space.distance(*pair))
    return space.labels[x], space.labels[z]


def isolating(space: Space, level: Level, label: Label) -> Channel:
    """Tells whether the secret is `label` or not, as loudly as its nearest neighbour allows.

    Row `label` is (1, β)/(1+β), every other one (β, 1)/(1+β), with β = α^d and d the distance to the nearest other
    secret; so ratios are 1 or β^±1 at distance ≥ d, and it is private. On {label, nearest} it is T, so for every loss
    on those two, lifted, it is universally optimal (FMPD23 Thm 6(5)). With the closest pair of all it is K of Thm 10,
    whose rows there are printed 1/n times too small: k + j = n(1+β). On discrete spaces it is K_A and K_B of §VI-B.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(isolating(line(3), alpha("1/2"), 0))
         0  not 0
    0  2/3    1/3
    1  1/3    2/3
    2  1/3    2/3
    """
    beta = level.power(_gap(space, label))
    loud, quiet = 1 / (1 + beta), beta / (1 + beta)
    rows = np.empty((len(space), 2), dtype=object)
    rows[:] = [(loud, quiet) if x == label else (quiet, loud) for x in space.labels]
    return trusted_channel(space.labels, (label, f"not {label}"), rows)


def _gap(space: Space, label: Label) -> Number:
    return space.distance(space.position(label), space.position(nearest(space, label)))


def pair_loss(space: Space, first: Label, second: Label) -> Exacts:
    """Two actions, "it is `first`" and "it is `second`": 0 where right, else 1.

    With the closest pair of all this is m(d(x, a(w))) for m(t) = [t ≥ least distance]: monotone in any metric, which
    the lifted loss that the proof of FMPD23 Thm 10 uses is not. They differ by a constant at each secret, so the same
    mechanisms are best for both.
    """
    rows = np.empty((len(space), 2), dtype=object)
    rows[:] = [(Fraction(x != first), Fraction(x != second)) for x in space.labels]
    return rows


def pulled_back(mechanism: Channel | Mechanism, mapping: Mapping[Label, Label], space: Space) -> Channel:
    """The mechanism on `space` that looks at mapping[x] only: row x is the mechanism's row mapping[x].

    It is of the space's type if the mapping brings no two secrets further apart. With the Hamming weight as the
    mapping, hamming:3 → line:4, and the geometric mechanism, it is K of FMPD23 Fig. 8.
    """
    source = channel_of(mechanism)
    missing = [x for x in space.labels if x not in mapping]
    if missing:
        raise InputError(
            f"mapping must say where each point of {space.name} goes, got none for {len(missing)} of them", "mapping"
        )
    images = [mapping[x] for x in space.labels]
    unknown = [x for x in images if x not in source.inputs]
    if unknown:
        raise InputError(f"mapping must lead to inputs of the mechanism, got {len(unknown)} that are not", "mapping")
    return trusted_channel(space.labels, source.outputs, source.rows[[source.inputs.index(x) for x in images]])
