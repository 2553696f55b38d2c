"""Two laws on the same outputs, told apart by the likelihood ratio: sorted and merged exactly, fast for whole rows.

Doubles order what they prove to be apart; what they leave open is settled by cross-multiplication of whole numbers over
one denominator a row, or of exact reals. No ratio is ever divided out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate, groupby, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.axioms.curves import Curve, Point
from utmost.exact import Number, Real, ball, refined, sign

Positions: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[Any]
MARGIN = 1e-12  # of a difference of logarithms, for each unit of their size; their errors are a few 1e-16 of it


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Outputs in order, cut into groups: group k is positions[starts[k]] up to the next start."""

    positions: Positions
    starts: Positions

    def parts(self) -> list[list[int]]:
        """The groups, each as positions of outputs."""
        listed, cuts = self.positions.tolist(), [*self.starts.tolist(), len(self.positions)]
        return [listed[start:end] for start, end in pairwise(cuts)]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A law: the probability of output y is values[y]/scale, and `logs` are the logarithms of the values in doubles.

    The values are whole numbers where the law is rational, else exact numbers over scale 1; an impossible output has
    value 0 and logarithm −∞.
    """

    values: Values
    scale: int
    logs: npt.NDArray[np.float64]

    @property
    def rational(self) -> bool:
        """Are the values whole numbers."""
        return isinstance(self.values[0], int)

    def numbers(self) -> Values:
        """The probabilities."""
        return _objects([Fraction(value, self.scale) for value in self.values]) if self.rational else self.values

    def totals(self, grouped: Grouping) -> list[Any]:
        """The sum of the values of each group, undivided; reals are added by halves, so that their sums stay short."""
        if self.rational:
            found: list[Any] = np.add.reduceat(self.values[grouped.positions], grouped.starts).tolist()
            return found
        return [_sum(self.values[part].tolist()) for part in grouped.parts()]

    def running(self, grouped: Grouping) -> list[Number]:
        """The probability of the first k groups together, for k = 1, 2, …"""
        sums = accumulate(self.totals(grouped))
        return [Fraction(total, self.scale) for total in sums] if self.rational else list(sums)


def row(law: Iterable[Number]) -> Row:
    """A law made ready: over one denominator, with logarithms.

    >>> ready = row([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    >>> ready.values.tolist(), ready.scale
    ([3, 2, 1], 6)
    """
    numbers = list(law)
    entries = [value for value in numbers if not isinstance(value, Real)]
    if len(entries) < len(numbers):
        return Row(_objects(numbers), 1, logarithms(numbers))
    scale = 1
    for denominator in sorted({value.denominator for value in entries}, reverse=True):
        if scale % denominator:
            scale = math.lcm(scale, denominator)
    values = [value.numerator * (scale // value.denominator) for value in entries]
    return Row(_objects(values), scale, logarithms(values))


def logarithms(values: Sequence[Number | int]) -> npt.NDArray[np.float64]:
    """Natural logarithms of exact numbers ≥ 0 of any size, as doubles within a few units of the last place."""
    return np.array([_logarithm(value) if value else -math.inf for value in values])


def _logarithm(value: Number | int) -> float:
    if isinstance(value, int):
        return math.log(value)
    return 0.0 if value == 1 else refined(lambda bits: ball(value, bits).log())


def _objects(values: Sequence[object]) -> Values:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def by_ratio(first: Row, second: Row) -> Grouping:
    """The outputs by their likelihood ratio second/first, decreasing; equal ratios are one group, decided exactly.

    The first group has ratio ∞ if some output is impossible under `first`; outputs impossible under both are left out.

    >>> rows = [row(map(Fraction, law)) for law in (["1/2", "1/4", "1/4", 0], ["1/4", "1/2", "1/8", "1/8"])]
    >>> by_ratio(*rows).parts()
    [[3], [1], [0, 2]]
    """
    reached, wanted = first.logs > -math.inf, second.logs > -math.inf
    new, lost, both = (np.flatnonzero(mask) for mask in (wanted & ~reached, reached & ~wanted, reached & wanted))
    positions, starts = _settled(both, first, second) if both.size else (both, both)
    heads = [
        np.zeros(min(new.size, 1), dtype=np.int64), starts + new.size,
        np.full(min(lost.size, 1), new.size + both.size, dtype=np.int64),
    ]  # fmt: skip
    return Grouping(np.concatenate([new, positions, lost]), np.concatenate(heads))


def _settled(both: Positions, first: Row, second: Row) -> tuple[Positions, Positions]:
    """Outputs that are possible under both, by ratio: as doubles order them, and exactly where those are too near."""
    keys = second.logs[both] - first.logs[both]
    largest = max(np.abs(one.logs[both]).max() for one in (first, second))
    order = np.argsort(-keys, kind="stable")
    positions = both[order]
    apart = np.flatnonzero(-np.diff(keys[order]) > MARGIN * (1 + largest)) + 1
    starts = np.concatenate([[0], apart]).astype(np.int64)
    ends = np.append(apart, both.size)
    more: list[int] = []
    for k in np.flatnonzero(ends - starts > 1):
        parts = _tied(positions[starts[k] : ends[k]], first.values, second.values)
        positions[starts[k] : ends[k]] = [y for part in parts for y in part]
        more += [int(starts[k]) + cut for cut in accumulate(len(part) for part in parts[:-1])]
    return positions, np.sort(np.concatenate([starts, np.array(more, dtype=np.int64)]))


def _tied(run: Positions, first: Values, second: Values) -> list[list[int]]:
    """Outputs whose ratios doubles cannot tell apart, in groups of equal ratio, decreasing."""
    above, below = second[run], first[run]
    if np.all(above * below[0] == above[0] * below):
        return [sorted(run.tolist())]

    def order(y: int, z: int) -> int:
        return sign(second[z] * first[y] - second[y] * first[z])

    key = cmp_to_key(order)
    return [sorted(same) for _, same in groupby(sorted(run.tolist(), key=key), key=key)]


def curve(first: Row, second: Row, grouped: Grouping) -> Curve:
    """The curve through the probabilities of the events that take the groups one after another.

    Concave from (0, P(impossible under first)) to (1, 1), since the slopes are the ratios, decreasing; no three points
    are on a line, since ratios of different groups differ.
    """
    points: list[Point] = list(zip(first.running(grouped), second.running(grouped), strict=True))
    if points[0][0]:
        points.insert(0, (Fraction(0), Fraction(0)))
    return Curve.trusted(tuple(points), points[0][1], points[-1][1])


def _sum(values: Sequence[Any]) -> Any:
    if len(values) <= 8:
        return sum(values)
    half = len(values) // 2
    return _sum(values[:half]) + _sum(values[half:])
