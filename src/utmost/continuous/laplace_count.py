"""The expected loss of a count with Laplace noise instead of geometric noise (GRS12 App. A).

The Laplace mechanism answers r = i + noise of density ε/2·e^(−ε|t|) for a count i in 0 … n. Costs are
c_iw = p_i·ℓ(i, w): rows are truths, columns are readings. A consumer who reads r as w pays the density

    ε/2·Σ_i c_iw·α^|i−r|,    which for r in [k, k+1] and s = e^(ε(r−k)) is    ε/2·(a_w/s + b_w·s),
    a_w = Σ_{i≤k} c_iw α^(k−i),    b_w = Σ_{i>k} c_iw α^(i−k).

Times s these are straight lines in q = s², so the best readings on [k, k+1] are the lower envelope of lines on
1 ≤ q ≤ α⁻²: readings with falling b_w, each taking over where it crosses the one before. The integral over a piece is
½·[b s − a/s], and where w takes over from v the two ends that meet add up to √((a_w − a_v)(b_v − b_w)). Beyond the
counts the reading of r = 0 (of r = n) stays, with mass ½. So the least loss is an exact number plus square roots, one
for each change of reading; it is a `Number` wherever those roots are.

Two facts about it hold for every cost matrix ≥ 0, not for legal losses alone. *It is at least the geometric one*: on
[k, k+1] each density is u(r) times its value at k plus v(r) times its value at k+1, with the same u, v ≥ 0 for all
readings, so Laplace answers are post-processed geometric ones. *It is at most `laplace_factor` times the geometric one*
(GRS12 Thm A.2), and the consumer of Ex. A.1 attains that factor at every α: the losses there are √α/2 and α/(1+α).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError, UndecidedError
from utmost.exact import Level, Number, Real, ball, ball_endpoints, exponential, is_exact, power, sign
from utmost.exact.working_precision import working_precision
from utmost.mechanisms import column_weights

if TYPE_CHECKING:
    from flint import arb

Exacts: TypeAlias = npt.NDArray[np.object_]

HALF = Fraction(1, 2)
ENCLOSURE_BITS = 104  # bits that an enclosure keeps, relative to the value: under 1e-30
MAX_PRECISION_BITS = 1 << 20  # bits; nothing met in practice comes near
FILTER_BITS = 128  # bits of the balls that decide most comparisons before exact arithmetic is asked


@dataclass(frozen=True, slots=True)
class LaplaceLoss:
    """A loss with lower ≤ loss ≤ upper, no further apart than 1e-30 of it; `exact` where it is a `Number`."""

    exact: Number | None
    lower: Fraction
    upper: Fraction

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2 if self.exact is None else self.exact)


@dataclass(frozen=True, slots=True)
class LaplacePrice:
    """What one consumer loses from geometric and from Laplace noise at one level; laplace ≤ bound·geometric."""

    level: Level
    geometric: Number
    laplace: LaplaceLoss
    bound: Number

    @property
    def ratio(self) -> float:
        """laplace/geometric as a double, from 1 to the bound; 1 where neither loses anything."""
        if not self.geometric:
            return 1.0
        loss = self.laplace.exact
        return float(((self.laplace.lower + self.laplace.upper) / 2 if loss is None else loss) / self.geometric)


def laplace_loss(costs: Exacts, level: Level) -> LaplaceLoss:
    """The least expected loss of a consumer with these costs who reads Laplace noise of scale 1/ε.

    Exact if each change of reading comes halfway between two counts or has a root of a monomial in α or of a product of
    fractions (of at most 128 bits each); else an enclosure. At the ends, where the noise has no density, it is the
    limit: α = 0 tells the count, Σ_i min_w c_iw, and α = 1 tells nothing, min_w Σ_i c_iw.

    >>> from utmost.exact import alpha
    >>> binary = np.array([[0, HALF], [HALF, 0]], dtype=object)
    >>> str(laplace_loss(binary, alpha("1/2")).exact), geometric_loss(binary, alpha("1/2"))  # GRS12 Ex. A.1
    ('1/4*2^(1/2)', Fraction(1, 3))
    """
    matrix = _check_costs(costs)
    if not level.alpha:
        return _loss_from_crossings(_exact_sum(min(row) for row in matrix), [], level)
    below, above, values = _weighted_costs(matrix, level)
    exact_part: Number = (min(values[0]) + min(values[-1])) * HALF
    crossings: list[_Crossing] = []
    for k in range(len(matrix) - 1):
        a, b = below[k], above[k] * level.alpha
        readings = _best_readings(a, b, values[k], values[k + 1])
        v, w = readings[0], readings[-1]
        exact_part = exact_part + (above[k, w] - below[k, w] * level.alpha - b[v] + a[v]) * HALF
        crossings += [
            _Crossing(matrix[:, new] - matrix[:, old], a[new] - a[old], b[old] - b[new])
            for old, new in pairwise(readings)
        ]
    return _loss_from_crossings(exact_part, crossings, level)


def geometric_loss(costs: Exacts, level: Level) -> Number:
    """The least expected loss from the truncated geometric mechanism, Σ_y κ_y·min_w Σ_i c_iw α^|i−y|; exact."""
    matrix = _check_costs(costs)
    _, _, values = _weighted_costs(matrix, level)
    return _exact_sum(
        min(row) * kappa for row, kappa in zip(values, column_weights(len(matrix) - 1, level), strict=True)
    )


def laplace_factor(level: Level) -> Number:
    """(1+α)/(2√α) ≥ 1, for 0 < α ≤ 1: no legal consumer loses more than this times the least possible loss.

    GRS12 Thm A.2, where α = 1 is to be taken as a limit: Laplace noise with ε = 0 has no law.
    It cannot be improved at any α: a uniform prior on {0, 1} with the binary loss attains it.

    >>> from utmost.exact import alpha
    >>> str(laplace_factor(alpha("1/2"))), round(float(laplace_factor(alpha("1/2"))), 4)
    ('3/4*2^(1/2)', 1.0607)
    """
    if not level.alpha:
        raise InputError(
            "alpha must be > 0 for the Laplace factor, got 0: the factor grows without bound there", "alpha"
        )
    return (1 + level.alpha) / (2 * _half_power(level))


def rounded_laplace(distance: int, level: Level) -> Number:
    """Pr[Δ′ = distance] for Laplace noise rounded to the nearest integer (GRS12, proof of Thm A.2); 0 ≤ α < 1.

    1 − √α at 0 and α^|i|·(1−α)/(2√α) elsewhere. Elsewhere that is `laplace_factor` times the geometric probability
    (1−α)/(1+α)·α^|i|, and at 0 it is (1+α)/(1+√α) < 1 times it.

    >>> from utmost.exact import alpha
    >>> [str(rounded_laplace(i, alpha("1/4"))) for i in range(-1, 3)]
    ['3/16', '1/2', '3/16', '3/64']
    """
    if level.alpha == 1:
        raise InputError("alpha must be < 1 for Laplace noise, got 1: without epsilon the noise has no law", "alpha")
    if not level.alpha:
        return Fraction(distance == 0)
    root = _half_power(level)
    return 1 - root if distance == 0 else level.power(abs(distance)) * (1 - level.alpha) / (2 * root)


def laplace_price(costs: Exacts, level: Level) -> LaplacePrice:
    """The two losses, their ratio and its bound, for one consumer and level: one row of a table, 0 < α ≤ 1.

    >>> from utmost.exact import epsilon
    >>> binary = np.array([[0, HALF], [HALF, 0]], dtype=object)
    >>> row = laplace_price(binary, epsilon(1))
    >>> str(row.geometric), str(row.laplace.exact), round(row.ratio, 6), row.laplace.exact == row.bound * row.geometric
    ('exp(-1)/(1 + exp(-1))', '1/2*exp(-1/2)', 1.127626, True)
    """
    return LaplacePrice(level, geometric_loss(costs, level), laplace_loss(costs, level), laplace_factor(level))


@dataclass(frozen=True, slots=True)
class _Crossing:
    """Reading w takes over from v: steps = c_·w − c_·v, rise = a_w − a_v > 0, fall = b_v − b_w > 0."""

    steps: Exacts
    rise: Number
    fall: Number

    def root(self, level: Level) -> Number:
        """√(rise·fall), or an `InputError` where that is not an exact number that can be written down.

        If the two readings differ at two truths only, i ≤ k < j, it is √(−steps_i·steps_j·α^(j−i)).
        """
        if self.rise * level.alpha == self.fall:  # halfway between two counts
            return self.rise * _half_power(level)
        truths = np.flatnonzero(self.steps)
        if len(truths) == 2:
            i, j = (int(truth) for truth in truths)
            return _square_root(self.steps[i]) * _square_root(-self.steps[j]) * level.power(Fraction(j - i, 2))
        return _square_root(self.rise) * _square_root(self.fall)


def _check_costs(costs: Exacts) -> Exacts:
    matrix = np.asarray(costs, dtype=object)
    if matrix.ndim != 2 or not matrix.size:
        raise InputError("costs must be a matrix with a row for each count and a column for each reading", "costs")
    if not all(is_exact(cost) for cost in matrix.flat):
        raise InputError(
            "costs must be exact numbers", "costs", "give priors and losses as fractions or as decimals in text"
        )
    if any(sign(cost) < 0 for cost in matrix.flat):
        raise InputError("costs must be >= 0, got a negative one: a cost is a probability times a loss", "costs")
    exact: Exacts = matrix + Fraction(0)
    return exact


def _weighted_costs(costs: Exacts, level: Level) -> tuple[Exacts, Exacts, Exacts]:
    """Below, above and at each count k, one column a reading.

    Σ_{i≤k} c_i α^(k−i), Σ_{i>k} c_i α^(i−k−1) and Σ_i c_i α^|i−k|.
    """
    below, above = costs.copy(), np.full_like(costs, Fraction(0))
    for k in range(1, len(costs)):
        below[k] += below[k - 1] * level.alpha
    for k in range(len(costs) - 2, -1, -1):
        above[k] = costs[k + 1] + above[k + 1] * level.alpha
    return below, above, below + above * level.alpha


def _best_readings(a: Exacts, b: Exacts, left: Exacts, right: Exacts) -> list[int]:
    """The best readings from k to k+1 in their order; left and right are their values at k and k+1, up to a factor.

    Starts from the best at k; of equals from the one with the least b, which stays best for a while. What can take over
    is what is better at k+1: it has a smaller b, and the first to cross does.
    """
    lowest = min(left)
    current = min((w for w in range(len(a)) if left[w] == lowest), key=lambda w: b[w])
    readings = [current]
    while rivals := [w for w in range(len(a)) if right[w] < right[current]]:
        current = _first_to_cross(a - a[current], b[current] - b, rivals)
        readings.append(current)
    return readings


def _first_to_cross(rise: Exacts, fall: Exacts, rivals: Sequence[int]) -> int:
    """The rival with the least rise/fall, all of them > 0.

    Of equals any: the others follow at the same point, and the roots of readings that meet in one point add up.
    """
    best = rivals[0]
    for w in rivals[1:]:
        if _is_less(rise[w], fall[best], rise[best], fall[w]):
            best = w
    return best


def _is_less(p: Number, q: Number, r: Number, s: Number) -> bool:
    """Is p·q < r·s: from balls where they can tell, else from exact arithmetic."""
    if any(isinstance(value, Real) for value in (p, q, r, s)):
        with working_precision(FILTER_BITS):
            gap = ball(p, FILTER_BITS) * ball(q, FILTER_BITS) - ball(r, FILTER_BITS) * ball(s, FILTER_BITS)
        if not gap.contains(0):
            return bool(gap < 0)
    return sign(p * q - r * s) < 0


def _loss_from_crossings(exact_part: Number, crossings: Sequence[_Crossing], level: Level) -> LaplaceLoss:
    """The sum exact_part + Σ √(rise·fall), exact if all the roots are."""
    try:
        exact: Number | None = exact_part + _exact_sum(crossing.root(level) for crossing in crossings)
    except InputError:
        exact = None
    if isinstance(exact, Fraction):
        return LaplaceLoss(exact, exact, exact)

    def value(bits: int) -> arb:
        if exact is not None:
            return ball(exact, bits)
        return sum((ball(c.rise, bits) * ball(c.fall, bits)).sqrt() for c in crossings) + ball(exact_part, bits)

    return LaplaceLoss(exact, *ball_endpoints(_narrow_ball(value)))


def _narrow_ball(value: Callable[[int], arb]) -> arb:
    """A ball of `ENCLOSURE_BITS` bits around a positive number that can be computed to any precision."""
    bits = 2 * ENCLOSURE_BITS
    while bits <= MAX_PRECISION_BITS:
        with working_precision(bits):
            result = value(bits)
        if result.rel_accuracy_bits() >= ENCLOSURE_BITS:
            return result
        bits *= 2
    raise UndecidedError(f"the Laplace loss is not known to 1e-30 of itself with {MAX_PRECISION_BITS} bits")


def _half_power(level: Level) -> Number:
    try:
        return level.power(HALF)
    except InputError:
        raise InputError(
            "alpha must be a fraction of at most 128 bits or e^-epsilon to have an exact root", "alpha"
        ) from None


def _square_root(value: Number) -> Number:
    if not isinstance(value, Real):
        return power(value, HALF)
    exponent = value.logarithm()
    if exponent is None:
        raise InputError("an exact root is known for fractions and powers of e only")
    return exponential(exponent / 2)


def _exact_sum(terms: Iterable[Number]) -> Number:
    return sum(terms, Fraction(0))
