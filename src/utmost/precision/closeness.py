"""(k, δ)-closeness, and how far an implementation's noise is from the ideal noise (GMP13 §4.2).

GMP13 Condition 3 asks for a set U_r of uniform values outside of which every answer is cut off. We take U_r = {u :
‖n(u)‖ ≤ D + 2δ}, where D is the largest noise that leads from an answer in the range to a result that is kept, and δ
bounds the error on U_r. *Sound*: let u be outside U_r, w the point of the segment from u to n₀(u) that is on the edge
of U_r if there is one. If n₀(u) is in U_r then w is, ‖w − n₀(u)‖ ≤ δ₀, and by closeness ‖n′(n₀(u))‖ ≥ D + 2δ − δ > D.
If it is not, ‖n(n₀(u))‖ > D + 2δ, and the error there, which grows no faster than the noise itself, leaves more than
D. So what the implementation does there is cut off as it is in the exact semantics. Condition 2 (a monotone n′) is
not needed, since the error bounds used are of the form relative·‖n‖ + absolute; relative < ½, or else no δ would
bound the error on D + 2δ. It is needed that the answers lie in the range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.exact import ball_endpoints

if TYPE_CHECKING:
    from flint import arb

BALL_BITS = 192  # of the balls that guarantees are computed with
BOUND_BITS = 64  # significant bits of a bound that is kept
MAX_ITERATIONS = 100  # of a fix-point iteration
FIRST_MARGIN_BITS = 30  # bits: a guess is tried 2^−30 of itself above; more if the iteration is slow


@dataclass(frozen=True, slots=True)
class Closeness:
    """n′ is (k, δ_n)-close to n on U_r = {‖n‖ ≤ reach + 2δ_t}; the generator is within δ₀ of uniform.

    Each number is an upper bound. δ_t = kδ₀ + δ_n bounds the W_∞ distance between the ideal noise and the noise that
    runs, both cut off outside U_r (GMP13 (3), Thm 4.3).
    """

    k: Fraction
    delta0: Fraction
    delta_n: Fraction
    delta_t: Fraction
    reach: Fraction


def round_up(value: arb | Fraction, bits: int = BOUND_BITS) -> Fraction:
    """A short fraction that is not below the value, nor above it by more than 2^−bits of it.

    >>> round_up(Fraction(1, 3), 4), round_up(Fraction(-1, 3), 4)
    (Fraction(11, 32), Fraction(-5, 16))
    """
    top = value if isinstance(value, Fraction) else ball_endpoints(value)[1]
    if not top:
        return top
    unit = Fraction(2) ** (top.numerator.bit_length() - top.denominator.bit_length() - bits)
    return -((-top) // unit) * unit


def round_down(value: arb | Fraction, bits: int = BOUND_BITS) -> Fraction:
    """The same from below."""
    return -round_up(-value, bits)


def rational_ball(value: Fraction | int) -> arb:
    """A ball around a rational, at the precision of the context."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def fixed_point(step: Callable[[Fraction], Fraction | None]) -> Fraction | None:
    """A δ ≥ 0 with step(δ) ≤ δ, close to the least; None if none is found.

    `step(δ)` bounds the error on U_r = {‖n‖ ≤ D + 2δ} and grows with δ; None where there is no bound. GMP13's
    iteration from the error on D itself climbs to the least fix point; it is stopped, a hair above, once the
    inequality is *checked*.

    >>> 2 <= fixed_point(lambda d: 1 + d / 2) < Fraction("2.0001"), fixed_point(lambda d: 1 + d)
    (True, None)
    """
    guess = step(Fraction(0))
    for iteration in range(MAX_ITERATIONS):
        if guess is None:
            return None
        widened = round_up(guess + guess / 2 ** max(FIRST_MARGIN_BITS - iteration // 3, 4))
        guess = step(widened)
        if guess is not None and guess <= widened:
            return widened
    return None


def is_close(
    exact: Callable[[Fraction], Fraction],
    implemented: Callable[[Fraction], Fraction],
    points: Iterable[Fraction],
    k: Fraction,
    delta: Fraction,
) -> bool:
    """Is n′ = `implemented` (k, δ)-close to n = `exact` on these points: |n(u) − n′(v)| ≤ k|u − v| + δ for all u, v.

    GMP13 Def. 4.2.

    Thm 4.1: it is if n is k-Lipschitz and |n − n′| ≤ δ. Thm 4.2: there is no such n′ if |n(u) − n(v)| > k|u − v| + 2δ
    somewhere, since then n′(v) would be within δ of n(v) and within k|u − v| + δ of n(u).

    >>> third = [Fraction(k, 3) for k in range(4)]
    >>> is_close(lambda u: 2 * u, lambda u: 2 * u + 1, third, Fraction(2), Fraction(1))
    True
    >>> is_close(lambda u: 3 * u, lambda u: 3 * u, third, Fraction(2), Fraction(1, 3))
    False
    """
    point_list = list(points)
    exact_values, implemented_values = [exact(u) for u in point_list], [implemented(u) for u in point_list]
    pairs = ((i, j) for i in range(len(point_list)) for j in range(len(point_list)))
    return all(
        abs(exact_values[i] - implemented_values[j]) <= k * abs(point_list[i] - point_list[j]) + delta for i, j in pairs
    )


def closeness_counterexample(
    exact: Callable[[Fraction], Fraction], points: Iterable[Fraction], k: Fraction, delta: Fraction
) -> tuple[Fraction, Fraction] | None:
    """A pair u, v with |n(u) − n(v)| > k|u − v| + 2δ, for which no n′ is (k, δ)-close (GMP13 Thm 4.2); or None.

    >>> closeness_counterexample(lambda u: 3 * u, [Fraction(0), Fraction(1)], Fraction(2), Fraction(1, 3))
    (Fraction(0, 1), Fraction(1, 1))
    """
    point_list = list(points)
    for i, u in enumerate(point_list):
        for v in point_list[i + 1 :]:
            if abs(exact(u) - exact(v)) > k * abs(u - v) + 2 * delta:
                return u, v
    return None
