"""The exponential mechanism: answers chosen by score, Pr[y | x] ∝ e^(ε·score(x,y)/(2Δ)) (McSherry and Talwar 2007)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball, number, rational
from utmost.exact.reals import midpoint
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.mechanism_kind import (
    SENSITIVITY,
    BuiltMechanism,
    MechanismKind,
    Option,
    check_exact_number,
    check_integers,
    check_matrix_size,
    parse_position,
)
from utmost.mechanisms.randomised_response import pairwise_privacy_loss
from utmost.mechanisms.rounded_exponential import RoundedExponential
from utmost.mechanisms.space_channels import entry_bits, private_on, rounded_rows, strict_epsilon
from utmost.noise import check_level, draw_samples
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.table_sampling import (
    GUARD_BITS,
    SamplingTable,
    Threshold,
    ball_threshold,
    complement_threshold,
    table_from_thresholds,
    threshold_in_ball,
)
from utmost.result_values import short_repr
from utmost.spaces import Space

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

    __repr__ = short_repr

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

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def law(self, x: int) -> list[Number]:
        """The law of the answer for input x: weights α^((best − score)/(factor·Δ)), divided by their sum."""
        if not 0 <= x < len(self.scores):
            raise InputError(
                f"input must be from 0 to {len(self.scores) - 1}: inputs are the rows of the scores", "input"
            )
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

    **Ties.** A ball around S_y·2^bits that holds an integer m leaves the sign of S_y − m/2^bits open. For a rational
    ε > 0 it is that of Σ_d (c_d·2^bits − m·n_d)·e^(−ε·d), where n_d answers in all and c_d of them up to y are at
    distance d. By Lindemann–Weierstrass the sum is 0 only if every coefficient is; otherwise the nearest distance with
    another coefficient is factored out, and the terms from there on are added until the rest cannot change the sign.
    Nothing is worked out symbolically, however many the weights.
    """

    distances: tuple[Fraction, ...]
    level: Level
    cached_sums: dict[int, tuple[list[arb], list[arb]]] = field(default_factory=dict, repr=False)
    cached_positions: dict[Fraction, list[int]] = field(default_factory=dict, repr=False)

    def threshold(self, y: int, bits: int) -> Threshold:
        """⌊S_y·2^bits⌋, and whether S_y·2^bits is an integer."""
        precision = bits + GUARD_BITS
        forward, backward = self.sums(precision)
        from_start = bool(2 * forward[y] < forward[-1])
        threshold = threshold_in_ball(_share_of_total(forward if from_start else backward, y, precision), bits)
        if threshold is not None:
            return threshold if from_start else complement_threshold(threshold, bits)
        return self._tie_threshold(y, bits) if self.level.exponent else self._symbolic_threshold(y, bits)

    def sums(self, bits: int) -> tuple[list[arb], list[arb]]:
        """The running sums of the weights, and what lies beyond each answer; in both the whole sum stands last."""
        if bits not in self.cached_sums:
            with working_precision(bits):
                rate = -self.level.epsilon_ball(bits)
                powers = {d: (rate * ball(d, bits)).exp() for d in set(self.distances)}
                weights = [powers[d] for d in self.distances]
                forward, backward = list(accumulate(weights)), list(accumulate(reversed(weights)))
            self.cached_sums[bits] = forward, [*reversed(backward[:-1]), backward[-1]]
        return self.cached_sums[bits]

    def _tie_threshold(self, y: int, bits: int) -> Threshold:
        """The threshold of an S_y that is next to a multiple m of 2^−bits, or is one."""
        share = _share_of_total(self.sums(bits + GUARD_BITS)[0], y, bits + GUARD_BITS)
        nearest = round(midpoint(share) * 2**bits)
        side = self._sign_against(y, nearest, bits)
        return nearest - (side < 0), side == 0

    def _sign_against(self, y: int, multiple: int, bits: int) -> int:
        """The sign of S_y − multiple/2^bits for a rational ε > 0, by balls of as many bits as it takes."""
        precision = 2 * bits
        while (sign := self._sign_in_balls(self._coefficients(y, multiple, bits), bits, precision)) is None:
            precision *= 2
        return sign

    def _coefficients(self, y: int, multiple: int, bits: int) -> Iterator[tuple[Fraction, int]]:
        """The distances, nearest first, with their coefficients c_d·2^bits − multiple·n_d where these are not 0."""
        for distance, positions in self._positions_by_distance().items():
            coefficient = (bisect_right(positions, y) << bits) - multiple * len(positions)
            if coefficient:
                yield distance, coefficient

    def _sign_in_balls(self, terms: Iterable[tuple[Fraction, int]], bits: int, precision: int) -> int | None:
        """The sign of Σ coefficient·e^(−ε·distance), 0 without terms; None where balls of this precision do not tell.

        All coefficients together are at most 2^bits times the number of answers; so the terms from one on add up to at
        most that times its power of e.
        """
        limit, nearest, total = len(self.distances) << bits, None, ball(0, precision)
        with working_precision(precision):
            rate = -self.level.epsilon_ball(precision)
            for distance, coefficient in terms:
                nearest = distance if nearest is None else nearest
                weight = (rate * ball(distance - nearest, precision)).exp()
                if abs(total) > limit * weight:
                    break
                total += coefficient * weight
        if nearest is None:
            return 0
        return 1 if total > 0 else -1 if total < 0 else None

    def _positions_by_distance(self) -> dict[Fraction, list[int]]:
        """Where each distance stands, nearest first."""
        if not self.cached_positions:
            self.cached_positions.update((distance, []) for distance in sorted(set(self.distances)))
            for position, distance in enumerate(self.distances):
                self.cached_positions[distance].append(position)
        return self.cached_positions

    def _symbolic_threshold(self, y: int, bits: int) -> Threshold:
        """The threshold where α is rational, or ε is 0."""
        return ball_threshold(
            lambda precision: _share_of_total(self.sums(precision)[0], y, precision),
            lambda: self._exact_share(y + 1),
            bits,
        )

    def _exact_share(self, end: int) -> Number:
        """The weights up to `end` over all of them."""

        def total_weight(distances: Sequence[Fraction]) -> Number:
            multiplicities = Counter(distances)
            return sum((multiplicity * self.level.power(d) for d, multiplicity in multiplicities.items()), Fraction(0))

        return total_weight(self.distances[:end]) / total_weight(self.distances)


def _share_of_total(sums: list[arb], y: int, bits: int) -> arb:
    with working_precision(bits):
        return sums[y] / sums[-1]


def exponential(
    scores: Sequence[object] | Sequence[Sequence[object]],
    level: Level,
    sensitivity: object = 1,
    monotone: bool = False,
) -> Exponential | RoundedExponential:
    """The exponential mechanism for one row of scores, or one row for each input; scores are exact numbers.

    With irrational ones, such as distances in the plane, its channel is one of fractions that keeps the level.
    """
    table = _score_table(scores)
    exact_sensitivity = rational(sensitivity, "sensitivity")
    if exact_sensitivity <= 0:
        value_text = exact_sensitivity if abs(exact_sensitivity) < 10**30 else "a large negative number"
        raise InputError(f"sensitivity must be > 0, got {value_text}", "sensitivity")
    is_irrational = any(isinstance(score, Real) for row in table for score in row)
    bounds = [list(map(float, row)) for row in table] if is_irrational else table
    if any(max(row) - min(row) > MAX_SCORE_RANGE * exact_sensitivity for row in bounds):  # type: ignore[operator]
        raise InputError(
            f"scores must be within {MAX_SCORE_RANGE} sensitivities of each other",
            "scores",
            "divide them by a larger number",
        )
    kind = RoundedExponential if is_irrational else Exponential
    return kind(table, exact_sensitivity, check_level(level), 1 if monotone else 2)  # type: ignore[arg-type]


def _is_row(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def _score(value: object) -> Number:
    """An exact score; an error names its kind and never its value."""
    if isinstance(value, str) and "sqrt" in value:
        try:
            return number(value, "score")
        except ValueError:
            pass
    return value if isinstance(value, Real) else check_exact_number(value, "score")


def _score_table(scores: Sequence[Any]) -> tuple[tuple[Number, ...], ...]:
    nested = _is_row(scores) and len(scores) > 0 and _is_row(scores[0])
    table = list(scores) if nested else [scores]
    if not all(_is_row(row) for row in table):
        raise InputError("scores must be a list of numbers, or a list of such lists, one for each input", "scores")
    rows = tuple(tuple(_score(s) for s in row) for row in table)
    if not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("scores must be at least one number, and as many for every input", "scores")
    if len(rows) * len(rows[0]) > MAX_SCORES:
        raise InputError(f"scores must be at most {MAX_SCORES} in all, got {len(rows) * len(rows[0])}", "scores")
    return rows


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    rows = [[check_exact_number(score, "--scores") for score in row.split(",")] for row in options["scores"].split(";")]
    mechanism = exponential(rows, level, options.get("sensitivity", "1"), "monotone" in options)

    def channel() -> Channel:
        check_matrix_size(max(len(rows), len(rows[0])), None, "--scores must have a number of rows and columns")
        return mechanism.channel()

    return BuiltMechanism(
        "The exponential mechanism",
        "inputs, in the order of their scores",
        channel,
        pairwise_privacy_loss,
        lambda text: parse_position(text, len(rows) - 1),
        lambda x, count: mechanism.draw([x] * count).tolist(),
        level,
    )


def exponential_on(space: Space, level: Level) -> Channel:
    """Pr[y | x] ∝ e^(−ε·d(x,y)/2): the score of y is −d(x,y), which a distance of d moves by at most d.

    Exact where each α^(d/2) is rational; else in fractions (`space_channels`).
    """
    powers = [_rational_power(level, distance / 2) for distance in space.values]
    if None not in powers:
        weights = np.array(powers, dtype=object)[space.codes]
        return trusted_channel(space.labels, space.labels, weights / weights.sum(axis=1, keepdims=True))
    bits = entry_bits(space, level)
    return trusted_channel(space.labels, space.labels, rounded_rows(_distance_shares(space, level, 2 * bits), bits))


def _rational_power(level: Level, distance: Number) -> Fraction | None:
    """α^distance if that is rational."""
    try:
        power = level.power(distance)
    except InputError:  # a power that cannot be written
        return None
    return power if isinstance(power, Fraction) else None


def _distance_shares(space: Space, level: Level, precision: int) -> list[list[arb]]:
    """e^(−ε·d(x,y)/2) over its sum for x, at a level a hair stricter; one ball for equal distances from a point."""
    with working_precision(precision):
        rate = strict_epsilon(level, precision) / 2
        weights = [(-rate * ball(distance, precision)).exp() for distance in space.values]
        rows = []
        for codes in space.codes:
            counts = np.bincount(codes, minlength=len(weights)).tolist()
            total = sum((count * weight for count, weight in zip(counts, weights, strict=True) if count), 0 * rate)
            shares = {code: weights[code] / total for code in set(codes.tolist())}
            rows.append([shares[code] for code in codes.tolist()])
        return rows


EXPONENTIAL = MechanismKind(
    "exponential",
    (Option("scores", "1,2;3,4", "A row of scores for each input."),),
    (SENSITIVITY, Option("monotone", None, "One change moves all scores one way.")),
    _build,
    exponential_on,
)
