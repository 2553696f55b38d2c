"""Draws relations, and mechanisms that are private for them, with tight and slack constraints."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from strategies import channels, weights
from utmost.axioms.definition import Relation
from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.exact import Level


@st.composite
def relations(draw: st.DrawFn, max_size: int = 5, connected: bool | None = None) -> Relation:
    """Symmetric relations on up to `max_size` secrets; connected ones only, or of any kind."""
    size = draw(st.integers(1, max_size))
    pairs = [(x, y) for y in range(size) for x in range(y)]
    pair_set = set(draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    if connected:
        pair_set |= {(draw(st.integers(0, y - 1)), y) for y in range(1, size)}
    return Relation(tuple(f"s{x}" for x in range(size)), tuple(pair_set)).both_ways


@st.composite
def two_set_laws(draw: st.DrawFn, relation: Relation, level: Level) -> list[tuple]:
    """Two columns that sum to 1: a set of secrets distinguished from the others, as far as privacy allows or less."""
    size = len(relation)
    if not relation.connected and draw(st.booleans()):
        components = draw(st.lists(st.sampled_from(relation.components), unique=True))
        first = [Fraction(any(x in component for component in components)) for x in range(size)]
    else:
        is_likely = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        rate = level.alpha if draw(st.booleans()) else (1 + level.alpha) / 2
        first = [1 / (1 + rate) if likely else rate / (1 + rate) for likely in is_likely]
    return [tuple(first), tuple(1 - p for p in first)]


@st.composite
def path_laws(draw: st.DrawFn, relation: Relation, level: Level) -> list[tuple]:
    """Two columns that sum to 1, which depend on the distance from a secret and are tight for a few steps."""
    start, middle = draw(st.integers(0, len(relation) - 1)), draw(st.integers(0, 3))
    steps = [step or 0 for step in relation.distances(start)]
    first = [level.power(middle - t) / 2 if t <= middle else 1 - level.power(t - middle) / 2 for t in steps]
    return [tuple(first), tuple(1 - p for p in first)]


@st.composite
def mechanisms(draw: st.DrawFn, relation: Relation, level: Level) -> Channel:
    """Private mechanisms: visible choices between two-valued ones, often processed further."""
    count = draw(st.integers(1, 3))
    two_column_laws = [draw(st.one_of(two_set_laws(relation, level), path_laws(relation, level))) for _ in range(count)]
    shares = draw(weights(count))
    columns = [
        [share * p for p in column] for law, share in zip(two_column_laws, shares, strict=True) for column in law
    ]
    rows = np.empty((len(relation), len(columns)), dtype=object)
    rows[:] = list(zip(*columns, strict=True))
    mechanism = trusted_channel(relation.labels, range(len(columns)), rows)
    return mechanism.then(draw(channels(len(columns)))) if draw(st.booleans()) else mechanism
