"""What the tests draw: numbers, levels, priors, losses, channels, consumers."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from utmost.channel import Channel, channel
from utmost.consumer import Consumer, losses, priors
from utmost.exact import Level, Number, alpha, epsilon, exponential, power
from utmost.spaces import Space, cycle, discrete, grid, hamming, line, product_space, scale_space, space


def fractions(low: int = -20, high: int = 20) -> st.SearchStrategy[Fraction]:
    """Small fractions between two whole numbers."""
    return st.builds(
        lambda n, d: low + Fraction(n % (d * (high - low) + 1), d), st.integers(0, 10**6), st.integers(1, 40)
    )


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    """Exact numbers, rational and not: sums of c·e^q·√k."""
    total: Number = draw(fractions())
    for _ in range(draw(st.integers(0, 3))):
        term: Number = draw(fractions(-5, 5)) * exponential(draw(fractions(-2, 2)))
        total = total + term * power(
            draw(st.integers(1, 12)), draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2, 3)]))
        )
    return total


def inner_alphas() -> st.SearchStrategy[Fraction]:
    """α strictly between 0 and 1."""
    return st.one_of(
        st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(1, 100), Fraction(99, 100)]),
        st.builds(Fraction, st.integers(1, 19), st.just(20)),
    )


def rational_levels() -> st.SearchStrategy[Level]:
    """Levels with a rational α strictly inside (0, 1)."""
    return inner_alphas().map(alpha)


def levels() -> st.SearchStrategy[Level]:
    """Levels given by α or by ε, strictly inside."""
    return st.one_of(rational_levels(), st.sampled_from(["0.1", "1", "1/3", "5/2"]).map(epsilon))


@st.composite
def weights(draw: st.DrawFn, size: int, positive: bool = False) -> list[Fraction]:
    """Exact weights that sum to 1; some are 0 unless `positive`."""
    raw = draw(
        st.lists(st.sampled_from([1, 2, 3, 7, 20] if positive else [0, 0, 1, 2, 7, 20]), min_size=size, max_size=size)
    )
    if not sum(raw):
        raw[draw(st.integers(0, size - 1))] = 1
    return [Fraction(w, sum(raw)) for w in raw]


@st.composite
def monotone_rows(draw: st.DrawFn, size: int, strict: bool, symmetric: bool) -> list[list[Fraction]]:
    """ℓ(i, j) that grows with |j − i| on each side, for each i on its own; the same on both sides if symmetric."""
    rows = []
    for i in range(size):
        steps = st.lists(st.integers(1 if strict else 0, 5), min_size=size, max_size=size)
        sides = [draw(steps)] * 2 if symmetric else [draw(steps), draw(steps)]
        below, above = ([Fraction(sum(side[:k])) for k in range(size)] for side in sides)
        rows.append([above[j - i] if j >= i else below[i - j] for j in range(size)])
    return rows


@st.composite
def legal_consumers(draw: st.DrawFn, min_size: int = 2, max_size: int = 6, strict: bool = False) -> Consumer:
    """Consumers with a legal loss; `strict`: a full-support prior and a strictly legal loss."""
    size = draw(st.integers(min_size, max_size))
    prior = priors.explicit(draw(weights(size, positive=strict)))
    standard_losses = [losses.absolute, losses.squared] if strict else [losses.absolute, losses.squared, losses.binary]
    table = monotone_rows(size, strict, True).map(losses.matrix)
    return Consumer(prior, draw(st.one_of(st.sampled_from(standard_losses), table)))


@st.composite
def channels(draw: st.DrawFn, inputs: int | None = None, outputs: int | None = None) -> Channel:
    """Exact channels of any shape, zeros included."""
    height = inputs or draw(st.integers(1, 5))
    width = outputs or draw(st.integers(1, 5))
    return channel([draw(weights(width)) for _ in range(height)])


def small_spaces(max_side: int = 3) -> st.SearchStrategy[Space]:
    """Spaces of a few points: each named family, multiples, products of two, Manhattan and Euclidean point sets."""
    sides = st.integers(1, max_side)
    standard_spaces = st.one_of(
        st.builds(line, st.integers(1, 2 * max_side)),
        st.builds(discrete, st.integers(1, 2 * max_side)),
        st.builds(cycle, st.integers(1, 2 * max_side)),
        st.builds(hamming, st.integers(1, min(max_side, 3))),
        st.builds(grid, sides, sides, st.sampled_from(["euclidean", "manhattan"])),
        planar_spaces(2 * max_side),
    )
    factors = st.sampled_from(["1/2", "3", "2/3", "sqrt(2)"])
    return st.one_of(
        standard_spaces,
        st.builds(scale_space, standard_spaces, factors),
        st.builds(product_space, standard_spaces, st.builds(line, sides)),
    )


@st.composite
def planar_spaces(draw: st.DrawFn, max_points: int = 6) -> Space:
    """Points of the integer plane as a matrix of their distances, as the crow flies or along the streets."""
    grid_points = st.tuples(st.integers(0, 4), st.integers(0, 4))
    points = draw(st.lists(grid_points, min_size=1, max_size=max_points, unique=True))
    if draw(st.booleans()):
        return space([[abs(a - c) + abs(b - d) for c, d in points] for a, b in points])
    return space([[f"sqrt({(a - c) ** 2 + (b - d) ** 2})" for c, d in points] for a, b in points])
