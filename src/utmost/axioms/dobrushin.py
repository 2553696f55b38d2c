"""Dobrushin's coefficient of ergodicity, and the mechanisms that make it best (KL10 Example 3.2.3, §3.3, App. A, C, E).

μ_Dob(M) = −min over pairs of secrets of their overlap Σ_y min(M[x,y], M[x′,y]), so 1 + μ_Dob is the largest total
variation between two secrets. For a connected symmetric relation of diameter d, a level α and h = ⌈d/2⌉, the best is

    −α^h if d is even,   −2·α^h/(1+α) if d is odd.

Proof. An overlap of u and v is P(O|u) + P(not O|v) for some event O. Let i₀ = u, …, i_t = v be a shortest path and
p_j = P(O|i_j). Neither p nor 1 − p changes by more than a factor 1/α at a step, so the overlap is at least
α^j·p_j + α^(t−j)·(1−p_j) for every j. If t is even, j = t/2 gives α^(t/2). If t is odd let j = (t−1)/2: either
p_j ≥ α/(1+α), and then j itself gives at least 2α^(j+1)/(1+α); or p_(j+1) ≤ p_j/α < 1/(1+α), and then j + 1 does.
These bounds fall as t grows, so none is below that for t = d; and `best_mechanism` attains it. ∎

KL10 has this in Lemmas 3.3.5 and 3.3.7. Its Lemma 3.3.8 takes over the indices of Lemma 3.3.5, which count n = d + 1
secrets from 1, for a path that has d + 1 secrets counted from 0; `steepest_path` has the corrected ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.axioms.constraint_graphs import privacy_constraints
from utmost.axioms.definition import Relation
from utmost.channel import Channel, Matrix, Mechanism
from utmost.channel.channel import Label, trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, rational
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum
from utmost.qif.hyper import exact_channel
from utmost.result_values import short_repr

OVERLAP_MARGIN = 1e-9  # an overlap of doubles is nearer to the exact one than this for fewer than 10^6 outputs
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Ergodicity:
    """μ_Dob of a mechanism, in [−1, 0], and the two secrets that it tells apart best."""

    value: Number
    pair: tuple[Label, Label]


def ergodicity(mechanism: Channel | Mechanism) -> Ergodicity:
    """μ_Dob(M) = −min Σ_y min(M[x,y], M[x′,y]) over pairs of secrets, exact (KL10 Example 3.2.3); −1 for one secret.

    Doubles only leave out pairs that are proved to overlap more.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> ergodicity(geometric(3, alpha("1/2")))
    Ergodicity(value=Fraction(-1, 3), pair=(0, 3))
    """
    source = exact_channel(mechanism)
    best = Ergodicity(-ONE, (source.inputs[0], source.inputs[0]))
    for first, second in _candidates(source.floats()):
        value = -overlap(source.rows[first], source.rows[second])
        if value > best.value or (value == best.value and best.pair[0] == best.pair[1]):
            best = Ergodicity(value, (source.inputs[first], source.inputs[second]))
    return best


def overlap(first: Matrix, second: Matrix) -> Number:
    """Σ min(p, q) of two laws: 1 minus their total variation."""
    return sum((min(p, q) for p, q in zip(first, second, strict=True)), Fraction(0))


def _candidates(rows: Matrix) -> Iterator[tuple[int, int]]:
    """The pairs whose overlap may be the least."""
    overlaps = [np.minimum(rows[x], rows[x + 1 :]).sum(axis=1) for x in range(len(rows) - 1)]
    min_overlap = min((row.min() for row in overlaps), default=1.0)
    for x, row in enumerate(overlaps):
        yield from ((x, x + 1 + int(k)) for k in np.flatnonzero(row <= min_overlap + OVERLAP_MARGIN))


def best_coefficient(relation: Relation, level: Level) -> Number:
    """The largest μ_Dob of a private mechanism, in closed form from the diameter; 0 if the relation is not connected.

    >>> from utmost.axioms.definition import parse_relation
    >>> from utmost.exact import alpha
    >>> [
    ...     str(best_coefficient(parse_relation(text), alpha("1/2")))
    ...     for text in ("line:1", "discrete:9", "line:3", "line:4")
    ... ]
    ['-1', '-2/3', '-1/2', '-1/3']
    """
    privacy_constraints(relation, level)
    d = relation.diameter
    if d is None:
        return Fraction(0)
    half = level.power((d + 1) // 2)
    return -half if d % 2 == 0 else -2 * half / (1 + level.alpha)


def best_mechanism(relation: Relation, level: Level) -> Channel:
    """A private mechanism with two outputs, `far` and `near`, whose μ_Dob is the best.

    The law of its answer depends only on the steps from one end of a longest shortest path: `far` gets likelier as fast
    as privacy allows up to the middle, `near` less likely as fast as it allows from there. Related secrets are at
    most one step apart in that, so it is private. Where the relation is not connected it tells one component apart.
    """
    privacy_constraints(relation, level)
    d = relation.diameter
    if d is None:
        far_probabilities: list[Number] = [Fraction(step is None) for step in relation.distances(0)]
    else:
        far_by_step = _far_by_step(d, level)
        start = next(x for x in range(len(relation)) if d in relation.distances(x))
        far_probabilities = [far_by_step[step] for step in relation.distances(start) if step is not None]
    rows = np.empty((len(relation), 2), dtype=object)
    rows[:] = [[p, 1 - p] for p in far_probabilities]
    return trusted_channel(relation.labels, ("far", "near"), rows)


def _far_by_step(d: int, level: Level) -> list[Number]:
    """P(far) at 0, …, d steps: α^(h−t) times 1/2, or 1/(1+α), up to the middle; then 1 minus its mirror image."""
    half = (d + 1) // 2
    middle = Fraction(1, 2) if d % 2 == 0 else 1 / (1 + level.alpha)
    rising = [level.power(half - step) * middle for step in range(half + 1)]
    return [rising[step] if step <= half else 1 - rising[d - step] for step in range(d + 1)]


@dataclass(frozen=True, slots=True)
class SteepestPath:
    """A shortest path between two secrets at the diameter along which every output goes as steeply as Lemma 3.3.8 asks.

    `rising` outputs are tight upwards on the first ⌈d/2⌉ steps, `falling` ones downwards on the last ⌈d/2⌉.
    """

    __repr__ = short_repr

    path: tuple[Label, ...]
    rising: tuple[Label, ...]
    falling: tuple[Label, ...]


def is_dobrushin_optimal(mechanism: Channel | Mechanism, relation: Relation, level: Level) -> bool:
    """Has no private mechanism a larger μ_Dob: its value against the closed form."""
    return ergodicity(privacy_constraints(relation, level).channel(mechanism)).value == best_coefficient(
        relation, level
    )


def steepest_path(mechanism: Channel | Mechanism, relation: Relation, level: Level) -> SteepestPath | None:
    """What makes a private mechanism Dobrushin-optimal, or None if it is not: KL10 Lemma 3.3.8, indices corrected.

    For α > 0 and a connected relation of diameter d, h = ⌈d/2⌉: M is optimal exactly when secrets u, v at distance d
    and a shortest path u = i₀, …, i_d = v exist such that each output y has M[i_j, y] = e^ε·M[i_(j−1), y] for j = 1,
    …, h, or M[i_j, y] = e^−ε·M[i_(j−1), y] for j = d−h+1, …, d; and then it does so on every such path from u to v.

    Proof. If so, with O the outputs of the first kind, the overlap of u and v is at most P(O|u) + P(not O|v), that is
    α^h·(P(O|i_h) + P(not O|i_(d−h))). For even d this is α^h; for odd d the step from i_(d−h) to i_h is tight for O and
    for its complement, which makes both probabilities 1/(1+α). Conversely, if M is optimal, the bounds in this module's
    proof are equalities on any shortest path, so P(O|·) and P(not O|·) are tight; a sum is only if its terms are. ∎

    >>> from utmost.axioms.definition import parse_relation
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> steepest_path(geometric(3, alpha("1/2")), parse_relation("line:4"), alpha("1/2"))
    SteepestPath(path=(0, 1, 2, 3), rising=(2, 3), falling=(0, 1))
    """
    source, d = privacy_constraints(relation, level).channel(mechanism), relation.diameter
    if d is None or not level.alpha:
        raise InputError(
            "Lemma 3.3.8 needs a connected relation and alpha > 0, got another", hint="compare with best_value"
        )
    for start in range(len(relation)):
        for end, step in enumerate(relation.distances(start)):
            path = relation.path(start, end) if step == d else None
            steepest = None if path is None else _steepest_on_path(source, path, level.alpha)
            if steepest is not None:
                return steepest
    return None


def _steepest_on_path(source: Channel, path: tuple[int, ...], alpha: Number) -> SteepestPath | None:
    """The condition of Lemma 3.3.8 along one path."""
    steps = list(pairwise(path))
    half = (len(steps) + 1) // 2
    rising, falling = [], []
    for y, output in enumerate(source.outputs):
        column = source.rows[:, y]
        if all(column[before] == alpha * column[after] for before, after in steps[:half]):
            rising.append(output)
        elif all(column[after] == alpha * column[before] for before, after in steps[len(steps) - half :]):
            falling.append(output)
        else:
            return None
    return SteepestPath(tuple(source.inputs[before] for before in path), tuple(rising), tuple(falling))


def least_overlap(relation: Relation, level: Level, first: Label, second: Label) -> ProgramCertificate:
    """The least overlap of two secrets under any private mechanism, as a certified linear program; rational α.

    Two outputs are enough: merge those that are likelier under the second secret, and the others. Variables: P(O|x)
    for each secret x, then P(not O|x); cost: P(O|first) + P(not O|second).
    """
    privacy = privacy_constraints(relation, level)
    size, (u, v) = len(relation), (_label_position(relation, first), _label_position(relation, second))
    rate = rational(level.alpha, "alpha of a program")
    bounds = [(shift + b.low, shift + b.high) for shift in (0, size) for b in privacy.constraints]
    pairs = np.array([*bounds, *((x, size + x) for x in range(size))], dtype=np.int64)
    values = np.array([[ONE, -rate]] * len(bounds) + [[ONE, ONE]] * size, dtype=object)
    equality = np.arange(len(pairs)) >= len(bounds)
    cost = [Fraction(k in (u, size + v)) for k in range(2 * size)]
    rhs = [Fraction(int(is_equality)) for is_equality in equality]
    return certified_optimum(
        LinearProgram(cost, np.repeat(np.arange(len(pairs)), 2), pairs.ravel(), values.ravel(), rhs, equality)
    )


def _label_position(relation: Relation, label: Label) -> int:
    if label not in relation.labels:
        raise InputError(f"{str(label)[:40]!r} is no secret of the relation", hint="name one of its labels")
    return relation.labels.index(label)
