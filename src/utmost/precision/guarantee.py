"""ε′: the privacy that an implementation can promise (GMP13 Thm 4.5, corrected).

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

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import Level, rational
from utmost.exact.working_precision import working_precision
from utmost.precision.closeness import BALL_BITS, Closeness, rational_ball, round_up
from utmost.precision.number_formats import NumberFormat, UniformGenerator, usual_generator

if TYPE_CHECKING:
    from flint import arb

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


def check_format(number_format: NumberFormat, edge: Fraction) -> None:
    """Refuse results that a format has no numbers for."""
    if number_format.largest is not None and edge > number_format.largest:
        raise InputError(
            f"range must stay within the largest number of {number_format.name}", "range", "take a wider format"
        )


def closeness_of_shift(shift: object, reach: Fraction) -> Closeness:
    """How close a sampler is of which only a bound on the shift of its noise is known."""
    bound = rational(shift, "shift")
    if bound < 0:
        raise InputError("shift must be >= 0: it bounds a distance", "shift")
    return Closeness(Fraction(0), Fraction(0), bound, bound, reach)
