"""The exponential mechanism: answers chosen by score, Pr[y | x] ∝ e^(ε·score(x,y)/(2Δ)) (McSherry and Talwar 2007)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, rational
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.input_checks import check_exact_number, check_integers
from utmost.noise import check_level, draw_samples
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.table_sampling import SamplingTable, table_from_thresholds
from utmost.noise.thresholds import GUARD_BITS, Threshold, ball_threshold, complement_threshold

if TYPE_CHECKING:
    from flint import arb

MAX_SCORES = 10**6  # scores in all
# Sensitivities between the scores of one input; beyond, the law is a point to any precision of use.
MAX_SCORE_RANGE = 10**6


@dataclass(frozen=True, slots=True)
class Exponential:
    """Input x answers y with probability ∝ e^(ε·scores[x][y]/(factor·Δ)), exact for rational scores.

    If the scores of neighbouring inputs differ by at most Δ = `sensitivity`, neighbours give every answer within a
    factor e^ε: the weight changes by at most e^(ε/factor) and so does their sum, hence factor = 2. If between
    neighbours all scores move the same way (`factor` = 1: monotone), weight and sum move together and the ratio is
    within e^ε already.
    """

    scores: tuple[tuple[Fraction, ...], ...]
    sensitivity: Fraction
    level: Level
    factor: int

    def channel(self) -> Channel:
        """The matrix, one row for each input's scores.

        >>> from utmost.exact import epsilon
        >>> [str(p) for p in exponential([0, 2], epsilon(1)).channel().row(0)]
        ['exp(-1)/(1 + exp(-1))', '1/(1 + exp(-1))']
        """
        rows = np.empty((len(self.scores), len(self.scores[0])), dtype=object)
        for x in range(len(self.scores)):
            rows[x] = self.law(x)
        return trusted_channel(tuple(range(rows.shape[0])), tuple(range(rows.shape[1])), rows)

    def law(self, x: int) -> list[Number]:
        """The law of the answer for input x: weights α^((best − score)/(factor·Δ)), divided by their sum."""
        if not 0 <= x < len(self.scores):
            raise InputError(f"input must be from 0 to {len(self.scores) - 1}: inputs are the rows of the scores")
        best, unit = max(self.scores[x]), self.factor * self.sensitivity
        powers = {score: self.level.power((best - score) / unit) for score in set(self.scores[x])}
        weights = [powers[score] for score in self.scores[x]]
        total = sum(weights, Fraction(0))
        return [weight / total for weight in weights]

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[np.int64]:
        """One exact draw for each input: the position of the answer.

        Rows that no input names are not set up, so the time of a first draw depends on how many rows are named.
        """
        last, stream = len(self.scores) - 1, entropy_source(source)
        values = check_integers(inputs, 0, last, f"whole numbers from 0 to {last}: they number the rows of the scores")
        result = np.empty_like(values)
        for x in np.unique(values).tolist():
            selected = values == x
            result[selected] = draw_samples(self.table(x), int(selected.sum()), stream)
        return result

    def table(self, x: int) -> SamplingTable:
        """The sampling table of input x, without writing its law out: its cumulative weights are computed as balls."""
        best, unit = max(self.scores[x]), self.factor * self.sensitivity
        cumulative = CumulativeWeights(tuple((best - score) / unit for score in self.scores[x]), self.level)
        return table_from_thresholds(cumulative.threshold, len(cumulative.distances))


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeWeights:
    """Weights α^d for the distances d of the answers, and the thresholds of their running sums.

    S_y is a running sum over the whole sum. Of the sums from both ends the one from the end that is nearer to y is
    taken: 1 − S_y has a narrow ball where S_y is near 1.
    """

    distances: tuple[Fraction, ...]
    level: Level
    cached_sums: dict[int, tuple[list[arb], list[arb]]] = field(default_factory=dict, repr=False)

    def threshold(self, y: int, bits: int) -> Threshold:
        """⌊S_y·2^bits⌋, and whether S_y·2^bits is an integer."""
        sums, _ = self.sums(bits + GUARD_BITS)
        if 2 * sums[y] < sums[-1]:
            return ball_threshold(
                lambda precision: _share_of_total(self.sums(precision)[0], y, precision),
                lambda: self._exact_share(0, y + 1),
                bits,
            )
        exact_rest = partial(self._exact_share, y + 1, len(self.distances))
        return complement_threshold(
            ball_threshold(lambda precision: _share_of_total(self.sums(precision)[1], y, precision), exact_rest, bits),
            bits,
        )

    def sums(self, bits: int) -> tuple[list[arb], list[arb]]:
        """The running sums of the weights, and what lies beyond each answer; in both the whole sum stands last."""
        if bits not in self.cached_sums:
            powers = {d: self.level.power_ball(d, bits) for d in set(self.distances)}
            weights = [powers[d] for d in self.distances]
            backward_sums = _running_sums(weights[::-1], bits)
            self.cached_sums[bits] = _running_sums(weights, bits), [*reversed(backward_sums[:-1]), backward_sums[-1]]
        return self.cached_sums[bits]

    def _exact_share(self, start: int, end: int) -> Number:
        """The weights from `start` up to `end` over all of them; needed only where balls leave it undecided."""

        def total_weight(distances: Sequence[Fraction]) -> Number:
            multiplicities = Counter(distances)
            return sum((multiplicity * self.level.power(d) for d, multiplicity in multiplicities.items()), Fraction(0))

        return total_weight(self.distances[start:end]) / total_weight(self.distances)


def _running_sums(weights: list[arb], bits: int) -> list[arb]:
    with working_precision(bits):
        return list(accumulate(weights))


def _share_of_total(sums: list[arb], y: int, bits: int) -> arb:
    with working_precision(bits):
        return sums[y] / sums[-1]


def exponential(
    scores: Sequence[object] | Sequence[Sequence[object]],
    level: Level,
    sensitivity: object = 1,
    monotone: bool = False,
) -> Exponential:
    """The exponential mechanism for one row of scores, or one row for each input; scores are exact rationals."""
    table = _score_table(scores)
    exact_sensitivity = rational(sensitivity, "sensitivity")
    if exact_sensitivity <= 0:
        value_text = exact_sensitivity if abs(exact_sensitivity) < 10**30 else "a large negative number"
        raise InputError(f"sensitivity must be > 0, got {value_text}")
    if any(max(row) - min(row) > MAX_SCORE_RANGE * exact_sensitivity for row in table):
        raise InputError(
            f"scores must be within {MAX_SCORE_RANGE} sensitivities of each other: divide them by a larger number"
        )
    return Exponential(table, exact_sensitivity, check_level(level), 1 if monotone else 2)


def _is_row(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def _score_table(scores: Sequence[Any]) -> tuple[tuple[Fraction, ...], ...]:
    nested = _is_row(scores) and len(scores) > 0 and _is_row(scores[0])
    table = list(scores) if nested else [scores]
    if not all(_is_row(row) for row in table):
        raise InputError("scores must be a list of numbers, or a list of such lists, one for each input")
    rows = tuple(tuple(check_exact_number(s, "score") for s in row) for row in table)
    if not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("scores must be at least one number, and as many for every input")
    if len(rows) * len(rows[0]) > MAX_SCORES:
        raise InputError(f"scores must be at most {MAX_SCORES} in all, got {len(rows) * len(rows[0])}")
    return rows
