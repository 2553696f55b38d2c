"""Decide whether a mechanism is a vertex mechanism, or a kernel mechanism, and say why (FMPD23 Def. 4, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Mechanism, align_exact_inputs, merge
from utmost.channel.channel import Label, trusted_channel
from utmost.exact import Level, Number, ball, sign
from utmost.exact.working_precision import working_precision
from utmost.polytopes.vertex_columns import Column
from utmost.polytopes.vertices import is_connected
from utmost.spaces import Space

PRECISION_BITS = (128, 512, 2048)  # bits of the balls that may prove independence


@dataclass(frozen=True, slots=True)
class MembershipVerdict:
    """Whether it holds, and why (not)."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True)
class Constraint:
    """α^d·c[high] ≤ c[low], one of the constraints that a column must obey."""

    low: int
    high: int
    factor: Number

    def slack(self, column: Sequence[Number]) -> Number:
        """How far the column is from the constraint; negative if it breaks it."""
        return column[self.low] - self.factor * column[self.high]


def constraints(space: Space, level: Level) -> list[Constraint]:
    """Those that imply all others: the pairs that generate the metric, both ways."""
    factors = [(x, y, level.power(space.distance(x, y))) for x, y in space.edges]
    return [Constraint(*pair) for x, y, f in factors for pair in ((x, y, f), (y, x, f))]


def is_vertex_mechanism(mechanism: Channel | Mechanism, space: Space, level: Level) -> MembershipVerdict:
    """Is every posterior a vertex of the region: do the tight pairs of each output connect all secrets.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> print(is_vertex_mechanism(channel([["1/2", "1/2"], ["2/5", "3/5"]]), line(2), alpha("1/2")).reason)
    output 0 is no vertex: no tight pairs lead from 0 to 1
    """
    source = align_exact_inputs(mechanism, space)
    bounds = constraints(space, level)
    for y, output in enumerate(source.outputs):
        column = source.rows[:, y].tolist()
        reason = _reason_not_vertex(column, bounds, space, level) if any(column) else None
        if reason is not None:
            return MembershipVerdict(False, f"output {output} is no vertex: {reason}")
    return MembershipVerdict(True, "the tight pairs of every output connect all secrets")


def _reason_not_vertex(
    column: Sequence[Number], bounds: Sequence[Constraint], space: Space, level: Level
) -> str | None:
    broken = next((bound for bound in bounds if sign(bound.slack(column)) < 0), None)
    if broken is not None:
        pair = f"{space.labels[broken.high]} and {space.labels[broken.low]}"
        return f"it is not private, it tells {pair} apart by more than the level allows"
    if level.alpha == 0:
        return None if sum(map(bool, column)) == 1 else "at alpha 0 only certainty is one, and it has several secrets"
    return _reason_disconnected(tight_neighbours(column, bounds), space.labels)


def tight_neighbours(column: Sequence[Number], bounds: Sequence[Constraint]) -> list[int]:
    """For each secret the set, as bits, of those that share a tight constraint with it."""
    neighbours = [0] * len(column)
    for bound in bounds:
        if not bound.slack(column):
            neighbours[bound.low] |= 1 << bound.high
            neighbours[bound.high] |= 1 << bound.low
    return neighbours


def _reason_disconnected(neighbours: list[int], labels: Sequence[Label]) -> str | None:
    if is_connected(neighbours):
        return None
    component = connected_component(neighbours, 0)
    other = next(x for x in range(len(neighbours)) if not component >> x & 1)
    return f"no tight pairs lead from {labels[0]} to {labels[other]}"


def connected_component(neighbours: list[int], start: int) -> int:
    """The set, as bits, of the points connected to `start`."""
    component, pending = 1 << start, [start]
    while pending:
        new_points = neighbours[pending.pop()] & ~component
        component |= new_points
        pending += [x for x in range(len(neighbours)) if new_points >> x & 1]
    return component


def is_kernel_mechanism(mechanism: Channel | Mechanism, space: Space, level: Level) -> MembershipVerdict:
    """Is it a vertex mechanism with linearly independent posteriors; outputs with the same posterior count as one.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.spaces import line
    >>> bool(is_kernel_mechanism(geometric(3, alpha("1/2")), line(4), alpha("1/2")))  # FMPD23 Lemma 19
    True
    """
    source = align_exact_inputs(mechanism, space)
    verdict = is_vertex_mechanism(source, space, level)
    if not verdict:
        return verdict
    merged = merge(trusted_channel(source.inputs, tuple(map(str, source.outputs)), source.rows))
    columns = [tuple(column) for column in merged.rows.T.tolist()]
    dependency = None if are_provably_independent(columns) else null_vector(columns)
    if dependency is None:
        return MembershipVerdict(True, "every posterior is a vertex, and they are linearly independent")
    names = ", ".join(y for y, value in zip(merged.outputs, dependency, strict=True) if value)  # type: ignore[misc]
    return MembershipVerdict(False, f"the posteriors of outputs {names} are linearly dependent")


def are_provably_independent(columns: Sequence[Column]) -> bool:
    """Do balls prove that the columns are independent: a minor as large as they are many that is not 0.

    False decides nothing. The rows of the minor are those that elimination in doubles takes as pivots.
    """
    from flint import arb_mat

    pivot_rows = _pivot_positions(np.array([[float(value) for value in column] for column in columns]))
    if pivot_rows is None:
        return False
    for bits in PRECISION_BITS:
        with working_precision(bits):
            minor = arb_mat([[ball(column[row], bits) for row in pivot_rows] for column in columns])
            if not minor.det().contains(0):
                return True
    return False


def _pivot_positions(rows: npt.NDArray[np.float64]) -> list[int] | None:
    """The positions at which doubles find independent columns of a matrix; None where they find too few."""
    remaining, positions = rows.copy(), []
    for k in range(len(remaining)):
        best = int(np.abs(remaining[k]).argmax())
        if not remaining[k, best]:
            return None
        positions.append(best)
        remaining[k + 1 :] -= np.outer(remaining[k + 1 :, best] / remaining[k, best], remaining[k])
        remaining[k + 1 :, best] = 0
    return positions


def null_vector(columns: Sequence[Column]) -> list[Number] | None:
    """Coefficients, not all 0, with Σ z_v·column_v = 0; None if the columns are independent. Exact elimination.

    >>> one, two = Fraction(1), Fraction(2)
    >>> [int(z) for z in null_vector([(one, two), (one - one, one), (two, one)])]
    [-2, 3, 1]
    """
    rows = [list(row) for row in zip(*columns, strict=True)]
    pivots: list[int] = []
    for c in range(len(columns)):
        pivot_row = next((r for r in range(len(pivots), len(rows)) if rows[r][c]), None)
        if pivot_row is None:
            solution: list[Number] = [Fraction(0)] * len(columns)
            solution[c] = Fraction(1)
            for r, pivot in enumerate(pivots):
                solution[pivot] = -rows[r][c]
            return solution
        rows[len(pivots)], rows[pivot_row] = rows[pivot_row], rows[len(pivots)]
        _reduce(rows, len(pivots), c)
        pivots.append(c)
    return None


def _reduce(rows: list[list[Number]], lead: int, c: int) -> None:
    """Make column c a unit column, with its 1 in row `lead`."""
    pivot = rows[lead][c]
    rows[lead] = [value / pivot for value in rows[lead]]
    for r, row in enumerate(rows):
        if r != lead and row[c]:
            factor = row[c]
            rows[r] = [a - factor * b for a, b in zip(row, rows[lead], strict=True)]
