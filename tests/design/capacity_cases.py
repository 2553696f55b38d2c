"""Second opinions on capacities of types: the programs of FMPD23 Cor. 17, 18 as printed, and checks of certificates."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from utmost.channel import least_epsilon
from utmost.design.capacities import Capacities
from utmost.exact import Level, Real, sign
from utmost.lp import LinearProgram, certified_optimum
from utmost.spaces import Space, space


@st.composite
def metrics(draw: st.DrawFn, max_points: int) -> Space:
    """Shortest paths of a connected graph with small whole lengths: metrics with and without symmetry."""
    size = draw(st.integers(2, max_points))
    longest = draw(st.sampled_from([1, 1, 2, 4]))
    distances = [[0] * size for _ in range(size)]
    for x in range(size):
        for y in range(x):
            absent = y < x - 1 and draw(st.booleans())
            distances[x][y] = distances[y][x] = 99 if absent else draw(st.integers(1, longest))
    for z in range(size):
        distances = [
            [min(distances[x][y], distances[x][z] + distances[z][y]) for y in range(size)] for x in range(size)
        ]
    return space(distances)


def best_total(points: Space, level: Level, minimise: bool) -> Fraction:
    """The least or largest Σ C[x,x]: every pair constrained, nothing reduced by symmetry, solved exactly."""
    size = len(points)
    pairs = [(x, z, y) for x, z in permutations(range(size), 2) for y in range(size)]
    rows = [r for r in range(len(pairs)) for _ in range(2)] + [len(pairs) + x for x in range(size) for _ in range(size)]
    columns = [cell for x, z, y in pairs for cell in (x * size + y, z * size + y)] + list(range(size * size))
    values = [v for x, z, _ in pairs for v in (Fraction(1), -level.power(points.distance(x, z)))]
    cost = [Fraction((1 if minimise else -1) * (x == y)) for x in range(size) for y in range(size)]
    certificate = certified_optimum(
        LinearProgram(
            cost,
            rows,
            columns,
            values + [Fraction(1)] * size**2,
            [Fraction(0)] * len(pairs) + [Fraction(1)] * size,
            [False] * len(pairs) + [True] * size,
            scale=[level.power(d) for d in points.distances.ravel()],
            interior=[Fraction(1, size)] * size**2,
        )
    )
    assert certificate.exact
    return abs(certificate.upper)


def linprog_total(points: Space, level: Level, minimise: bool) -> float:
    """The same by scipy, in floats."""
    from scipy.optimize import linprog

    size = len(points)
    if size == 1:
        return 1.0
    ratio = np.exp(-level.epsilon * points.distances.astype(float))
    pairs = [(x, z, y) for x, z in permutations(range(size), 2) for y in range(size)]
    violations = np.zeros((len(pairs), size * size))
    for r, (x, z, y) in enumerate(pairs):
        violations[r, z * size + y] += ratio[x, z]
        violations[r, x * size + y] -= 1
    row_sums = np.kron(np.eye(size), np.ones(size))
    solution = linprog(
        (1 if minimise else -1) * np.eye(size).ravel(),
        A_ub=violations,
        b_ub=np.zeros(len(pairs)),
        A_eq=row_sums,
        b_eq=np.ones(size),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(abs(solution.fun))


def check_capacities(capacities: Capacities, points: Space, level: Level) -> None:
    """Multiply out what is claimed: both channels are private, channels, small enough, and attain the value."""
    for capacity, minimise in ((capacities.multiplicative, False), (capacities.additive, True)):
        rows = capacity.channel.rows
        assert capacity.channel.inputs == points.labels
        assert len(capacity.channel.outputs) <= len(points)
        assert all(total == 1 for total in rows.sum(axis=1))
        assert least_epsilon(capacity.channel, points).within(level)
        channel_value = 1 - rows.min(axis=0).sum() if minimise else rows.max(axis=0).sum()
        assert channel_value == capacity.value == capacity.lower
        assert sign(capacity.upper - capacity.lower) >= 0
        if capacity.weights is not None:
            _check_weights(capacity.weights, capacity.upper, points, level, minimise)


def _check_weights(weights: tuple, upper: object, points: Space, level: Level, minimise: bool) -> None:
    size, total = len(points), sum(weights, Fraction(0))
    assert all(sign(weight) >= 0 for weight in weights)
    assert upper == (1 - total if minimise else total)
    powers = {d: level.power(d) for d in points.values if not isinstance(d, Real)}
    for y in range(size):
        weighted_sum = Fraction(0)
        for x in range(size):
            d = points.distance(x, y)
            power = powers[d] if d in powers else level.power(d)
            weighted_sum = weighted_sum + (weights[x] / power if minimise else weights[x] * power)
        assert weighted_sum <= 1 if minimise else weighted_sum >= 1
