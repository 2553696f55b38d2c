"""ε′, the privacy that an implementation can promise, from the closeness of its noise (GMP13 §4.2, Thm 4.5).

(k, δ)-closeness, and how far an implementation's noise is from the ideal noise (GMP13 §4.2).

GMP13 Condition 3 asks for a set U_r of uniform values outside of which every answer is cut off. We take U_r = {u :
‖n(u)‖ ≤ D + 2δ}, where D is the largest noise that leads from an answer in the range to a result that is kept, and δ
bounds the error on U_r. *Sound*: let u be outside U_r, w the point of the segment from u to n₀(u) that is on the edge
of U_r if there is one. If n₀(u) is in U_r then w is, ‖w − n₀(u)‖ ≤ δ₀, and by closeness ‖n′(n₀(u))‖ ≥ D + 2δ − δ > D.
If it is not, ‖n(n₀(u))‖ > D + 2δ, and the error there, which grows no faster than the noise itself, leaves more than
D. So what the implementation does there is cut off as it is in the exact semantics. Condition 2 (a monotone n′) is
not needed, since the error bounds used are of the form relative·‖n‖ + absolute; relative < ½, or else no δ would
bound the error on D + 2δ. It is needed that the answers lie in the range.

*Theorem.* Let the noise X have a density p with p(x) ≤ e^{β‖x−y‖}p(y), β = ε/Δ; let the noise that runs be within δ_t
of X (W_∞); let the results be rounded, so that an observer sees only which cell S they fall into, the cells being of
diameter ≤ L; and put R = max λ(S^{+δ_t} ∖ S^{−δ_t})/λ(S^{−δ_t}). Then for answers r₁, r₂ with ‖r₁ − r₂‖ ≤ Δ every
finite cell obeys

    P₁(S) ≤ e^ε·(1 + R·e^{β(L+δ_t)})·P₂(S).

*Proof.* P₁ ≤ μ(S^{+δ_t} − r₁) and P₂ ≥ μ(S^{−δ_t} − r₂) (GMP13 Thm 4.4). Split S^{+δ_t} in S^{−δ_t} and the rim
S^{+δ_t} ∖ S^{−δ_t}. The first part has μ(S^{−δ_t} − r₁) ≤ e^ε·μ(S^{−δ_t} − r₂) ≤ e^ε·P₂. In S^{−δ_t} − r₂ there is an
x₀ with p(x₀) ≤ P₂/λ(S^{−δ_t}). A point x of the rim − r₁ is at most Δ + L + δ_t away from x₀: so p(x) ≤ e^{ε +
β(L+δ_t)}·p(x₀), and the rim has at most R·e^{ε+β(L+δ_t)}·P₂. ∎

The paper prints e^{(L+δ_t)/Δ}, without ε: that holds for ε ≤ 1 only, see `enumeration.printed_bound_violation`.

*What is cut off.* The paper's proof ends before the result ∞. Let the range kept be convex, G(τ) the mass of the
points further than τ from the range narrowed by δ_t. Along the normals of a convex set volume does not shrink and the
density falls at most like e^{−βτ}, so G(τ) ≥ e^{−βτ}G(0). With τ = cδ_t, c = 2 in one dimension and 1 + √2 for a box
of the plane (its corners), every point further than τ is cut off even after a shift of δ_t. So P₁(∞) ≤ e^{ε +
cβδ_t}·P₂(∞). The same with c = 2 holds for each end alone in one dimension (Remark 2). `theorem_bound`
is the larger of the two.

*Cells that the range cuts.* R is about whole cells. If the range ends inside a cell, the piece left is smaller and
its R larger; the paper does not consider this. Here results are rounded first, and kept if the rounded value is in the
range, whose ends are made multiples of L: then all cells are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import Level, ball_endpoints, rational
from utmost.exact.working_precision import working_precision
from utmost.precision.number_formats import NumberFormat, UniformGenerator, usual_generator

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


MAX_EXPONENT = 10**6  # of e in a guarantee; beyond it nothing is finite anyway


@dataclass(frozen=True, slots=True)
class Implementation:
    """What runs: a format, a generator, and how many units in the last place its library functions may be wrong."""

    format: NumberFormat
    generator: UniformGenerator
    ulps: int = 1

    @property
    def delta0(self) -> Fraction:
        """δ₀, with what is lost between the generator's value and 1 − 2|u − ½|.

        Nothing is lost if the values are multiples of 2^−p and p digits are kept: u − ½ and 1 − 2|u − ½| are
        multiples of 2^−p and at most 1. Otherwise u, |u − ½|, its double and the last difference are each rounded,
        which moves u by at most 1 + 1 + ½ + ½ roundings of 1 (four, to be plain).
        """
        number_format = self.format
        digits = -number_format.floor if number_format.precision is None else number_format.precision
        rounding_loss = Fraction(0) if self.generator.dyadic(digits) else 4 * number_format.rounding(1)
        return self.generator.delta0 + rounding_loss

    def function_error(self, magnitude: Fraction) -> Fraction:
        """The most that a library function is wrong by where its value is at most this.

        `ulps` steps; with 0 it is rounded correctly, which is still half a step off.
        """
        return max(2 * self.ulps, 1) * self.format.rounding(magnitude)


def implementation(
    number_format: NumberFormat, generator: UniformGenerator | None = None, ulps: int = 1
) -> Implementation:
    """An implementation with the format's usual generator, unless another is given."""
    if not 0 <= ulps <= 2**20:
        raise InputError(f"ulps must be from 0 to {2**20}, got {min(max(ulps, -1), 2**21)}", "ulps")
    return Implementation(number_format, generator or usual_generator(number_format), ulps)


@dataclass(frozen=True, slots=True)
class PrecisionGuarantee:
    """ε′ and all that it was made of; every number is a proven upper bound (`rate` is β = ε/Δ).

    `closeness` is None where the noise cannot be bounded at all, `robustness` and `epsilon_prime` where the cells are
    not wider than 2δ_t: then no ε′ is promised. `theorem` is the bound of Thm 4.5 as proved above, `sharp` the one that
    holds for one-dimensional Laplace noise. Both are proven, so the smaller is what is promised: `epsilon_prime`.
    """

    epsilon: Fraction
    rate: Fraction
    rounding: Fraction
    diameter: Fraction
    closeness: Closeness | None
    robustness: Fraction | None
    theorem: Fraction | None
    sharp: Fraction | None = None

    @property
    def epsilon_prime(self) -> Fraction | None:
        """The least ε′ that is proven, hence the one to charge."""
        return self.theorem if self.theorem is None or self.sharp is None else min(self.theorem, self.sharp)

    @property
    def is_finite(self) -> bool:
        """Is there an ε′ at all."""
        return self.epsilon_prime is not None

    @property
    def price(self) -> Fraction | None:
        """ε′ − ε."""
        return None if self.epsilon_prime is None else self.epsilon_prime - self.epsilon


def rate(level: Level, sensitivity: Fraction) -> arb:
    """β = ε/Δ as a ball."""
    return level.epsilon_ball(BALL_BITS) / rational_ball(sensitivity)


def check_inner_level(level: Level) -> Level:
    """The level, refused at its two ends, where there is no noise to speak of."""
    if not level.is_inner:
        raise InputError(
            "epsilon must be > 0 and finite to add Laplace noise", "epsilon", "choose a level with 0 < alpha < 1"
        )
    return level


def check_positive(value: Fraction, name: str) -> Fraction:
    """The number, refused if it is not > 0."""
    if value <= 0:
        raise InputError(f"{name} must be > 0, got {str(value)[:20]}", name)
    return value


def theorem_bound(
    level: Level, sensitivity: Fraction, robustness: Fraction, diameter: arb, shift: Fraction, corner_factor: arb
) -> Fraction:
    """max(ε + ln(1 + R·e^{ε(L+δ_t)/Δ}), ε + cεδ_t/Δ), rounded up: GMP13 Thm 4.5 as proved above."""
    with working_precision(BALL_BITS):
        beta, epsilon = rate(level, sensitivity), level.epsilon_ball(BALL_BITS)
        cell_term = (rational_ball(robustness) * (beta * (diameter + rational_ball(shift))).exp()).log1p()
        return max(round_up(epsilon + cell_term), round_up(epsilon + corner_factor * beta * rational_ball(shift)))


def printed_bound(
    level: Level, sensitivity: Fraction, robustness: Fraction, diameter: Fraction, shift: Fraction
) -> arb:
    """ε + ln(1 + R·e^{(L+δ_t)/Δ}): Thm 4.5 as the paper prints it, without ε in the exponent. Not sound for ε > 1."""
    with working_precision(BALL_BITS):
        exponent = rational_ball((diameter + shift) / sensitivity)
        return level.epsilon_ball(BALL_BITS) + (rational_ball(robustness) * exponent.exp()).log1p()


def rate_bounds(level: Level, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
    """Upper bounds of ε and of β = ε/Δ."""
    with working_precision(BALL_BITS):
        return round_up(level.epsilon_ball(BALL_BITS)), round_up(rate(level, sensitivity))


def check_format(number_format: NumberFormat, edge: Fraction, rounding: Fraction) -> None:
    """Refuse results that a format has no numbers for: up to `edge`, rounded to multiples of `rounding`."""
    if number_format.largest is not None and rounding > number_format.largest:
        raise InputError(
            f"round must be at most the largest number of {number_format.name}", "round", "take a smaller step"
        )
    if number_format.largest is not None and edge + rounding > number_format.largest:
        raise InputError(
            f"range must stay within the largest number of {number_format.name}", "range", "take a wider format"
        )


def closeness_of_shift(shift: object, reach: Fraction) -> Closeness:
    """How close a sampler is of which only a bound on the shift of its noise is known."""
    bound = rational(shift, "shift")
    if bound < 0:
        raise InputError("shift must be >= 0: it bounds a distance", "shift")
    return Closeness(Fraction(0), Fraction(0), bound, bound, reach)
