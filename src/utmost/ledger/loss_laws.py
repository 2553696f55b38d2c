"""The privacy losses of single answers, as measures that bound them from above and from below.

A law stands for a pair of laws of an answer, under two neighbouring tables, that is at least as bad as any other such
pair of its mechanism. Losses that lie on a grid are placed there as they are; masses are balls, rounded outward.

An answer of which nothing is known but ε is geometric with one step: randomised response, the worst of all ε-private
answers. So is an exponential mechanism: its losses have a bounded range, but the worst pair of many such answers
together depends on all of them, and no pair of one is known that is the worst in every composition.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import ball, ball_endpoints
from utmost.exact import epsilon as level_of
from utmost.exact.working_precision import working_precision
from utmost.ledger.loss_measures import LossMeasure, ball_integer, cut_tails, place_atoms, polynomial

if TYPE_CHECKING:
    from flint import arb

    from utmost.noise.selection import SelectionLaw

BlockPlaces = Callable[["arb", "arb"], list[tuple[int, "arb"]]]  # a block's weights, and where they are

MAX_KNOTS = 1024  # losses of one geometric answer; those of more steps are taken together
SELECTION_PARTS = 1024  # of the losses from −ε to ε of a selection
PLACE_BITS = 60  # of a loss that is on no grid
EXTRA_BITS = 64  # of balls
MAX_REACH = 2**12  # places of Gaussian noise to each side of 0; of longer noise, blocks
MAX_SELECTION_LOSS = 15  # times ε, of a selection's losses that are not at ∞
RHO_KNOTS = 256  # of the δ(ε) of ρ, for ε > 0


class LossLaw(ABC):
    """The losses of one answer."""

    is_symmetric = True

    @property
    @abstractmethod
    def pure_epsilon(self) -> Fraction | None:
        """The ε at δ = 0; None if there is none."""

    @abstractmethod
    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """A measure that dominates the losses, or that they dominate, in one direction."""


@dataclass(frozen=True, slots=True)
class GeometricLoss(LossLaw):
    """Geometric noise on a number that moves by up to `steps` steps; with one step, any ε-private answer.

    With a = ε/steps the loss is a·(steps − 2y) with y clamped to 0 … steps, and δ is 1 − e^(−ay) at the loss of y and
    linear in e^ε between. Between fewer knots y₀ = 0 < … < y_m = steps the straight lines lie above, since δ is convex
    in e^ε; they are the δ of the losses at the knots with probabilities e^(−a·y_j)·(tanh(D_j/2) + tanh(D_(j−1)/2))/2,
    D_j = a·(y_(j+1) − y_j), and tanh = 1 beyond the ends. From below: δ lies above 1 − e^(−u) at the loss ε − 2u, which
    is that of Laplace noise: losses ε and −ε with probabilities 1/2 and e^(−ε)/2, and density e^(−u)/2 between. The
    mean of e^(2u) over u₀ … u₁ is (e^(u₁) − e^(u₀))/(e^(−u₀) − e^(−u₁)) = e^(u₀+u₁), that of the middle, so each of
    MAX_KNOTS equal pieces is joined in its middle.
    """

    epsilon: Fraction
    steps: int = 1

    def __post_init__(self) -> None:
        """Check both."""
        _check(self.epsilon > 0 and self.steps >= 1, "epsilon > 0 and steps >= 1", "epsilon")

    @property
    def pure_epsilon(self) -> Fraction:
        """ε."""
        return self.epsilon

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """On the grid of its own losses, or on one of MAX_KNOTS steps."""
        with working_precision(bits + EXTRA_BITS + self.steps.bit_length()):
            if self.steps > MAX_KNOTS and not is_upper:
                spacing, masses = self.epsilon / MAX_KNOTS, self._pieces(bits)
            else:
                count = min(self.steps, MAX_KNOTS)
                spacing = 2 * self.epsilon / count
                masses = place_atoms(self._knots(count, bits, is_upper), self.steps, spacing, is_upper)
        lowest, coefficients = polynomial(masses)
        return LossMeasure(lowest * spacing - self.epsilon, spacing, coefficients, 0, bits, is_upper)

    def _knots(self, count: int, bits: int, is_upper: bool) -> list[tuple[int, int]]:
        """Places, from −ε on in units of spacing/steps, and masses."""
        from flint import arb

        precision = bits + EXTRA_BITS + self.steps.bit_length()
        step = ball(self.epsilon / self.steps, precision)
        knots = [j * self.steps // count for j in range(count + 1)]
        gaps = [right - left for left, right in pairwise(knots)]
        slope_of = {gap: (step * gap / 2).tanh() for gap in set(gaps)}
        slopes = [arb(1), *(slope_of[gap] for gap in gaps), arb(1)]
        masses = [
            (-y * step).exp() * (below + above) / 2 for y, (below, above) in zip(knots, pairwise(slopes), strict=True)
        ]
        return [
            ((self.steps - y) * count, ball_integer(mass, bits, is_upper))
            for y, mass in zip(knots, masses, strict=True)
        ]

    def _pieces(self, bits: int) -> dict[int, int]:
        precision, top = bits + EXTRA_BITS, 2 * MAX_KNOTS
        powers = [(-ball(self.epsilon * j / MAX_KNOTS, precision)).exp() for j in range(MAX_KNOTS + 1)]
        masses = {top - 2 * j - 1: ball_integer((powers[j] - powers[j + 1]) / 2, bits, False) for j in range(MAX_KNOTS)}
        return masses | {top: 1 << (bits - 1), 0: ball_integer(powers[-1] / 2, bits, False)}


@dataclass(frozen=True, slots=True)
class ApproximateLoss(LossLaw):
    """Any (ε, δ)-private answer: all is told with probability δ, otherwise randomised response.

    No other such answer is worse (Kairouz, Oh and Viswanath 2015).
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        """Check both."""
        _check(self.epsilon > 0 and 0 <= self.delta < 1, "epsilon > 0 and 0 <= delta < 1", "epsilon")

    @property
    def pure_epsilon(self) -> Fraction | None:
        """ε if δ = 0."""
        return None if self.delta else self.epsilon

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """Losses ±ε with (1 − δ)·e^(±ε/2)/(e^(ε/2) + e^(−ε/2)), and δ at ∞."""
        precision = bits + EXTRA_BITS
        with working_precision(precision):
            finite = ball(1 - self.delta, precision)
            low = finite / (1 + ball(self.epsilon, precision).exp())
            masses = {j: ball_integer(mass, bits, is_upper) for j, mass in enumerate((low, finite - low))}
            infinite = ball_integer(ball(self.delta, precision), bits, is_upper)
        return LossMeasure(-self.epsilon, 2 * self.epsilon, polynomial(masses)[1], infinite, bits, is_upper)


@dataclass(frozen=True, slots=True)
class CanonicalLoss(LossLaw):
    """Canonical noise (`utmost.noise.tight_canonical`) on a number that moves by up to `steps` steps Δ.

    Pr[X = x] = α^|x|/Z for |x| ≤ R, α = e^(−a), a = ε/Δ, R the least reach at δ. If the other table has Δ steps more,
    it gives the answer of X = x by X = x − Δ. So the loss is ∞ where x < Δ − R, and a·(|x − Δ| − |x|) elsewhere: ε for
    x ≤ 0, a·(Δ − 2x) for 0 ≤ x ≤ Δ and −ε for x ≥ Δ, a grid. It falls with x, so δ(ε′) is the largest of
    Pr[X ≤ c] − e^ε′·Pr[X ≤ c − Δ], which rises with Δ: smaller moves are better. x → Δ − x exchanges the two tables.
    """

    epsilon: Fraction
    steps: int
    delta: Fraction

    def __post_init__(self) -> None:
        """Check all."""
        is_met = self.epsilon > 0 and 1 <= self.steps <= MAX_KNOTS and 0 < self.delta < 1
        _check(is_met, f"epsilon > 0, 1 <= steps <= {MAX_KNOTS} and 0 < delta < 1", "epsilon")

    @property
    def pure_epsilon(self) -> None:
        """None: δ > 0."""
        return

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """From −ε on in Δ steps to ε, and at ∞."""
        from utmost.noise.tight_canonical import least_reach

        level = level_of(self.epsilon / self.steps)
        precision, reach = 2 * bits + EXTRA_BITS, least_reach(level, self.steps, self.delta)
        with working_precision(precision):
            first, end = level.power_ball(1, precision), level.power_ball(reach + 1, precision)
            total = 1 + first - 2 * end  # (1 − α)·Z
            below = (1 - level.power_ball(reach - self.steps + 1, precision)) / total
            above = (level.power_ball(self.steps, precision) - end) / total
            beyond = (level.power_ball(reach - self.steps + 1, precision) - end) / total
            masses = {self.steps - x: self._mass(x, total, precision) for x in range(1, self.steps)}
            masses |= {self.steps: below, 0: above}
            whole = {place: ball_integer(mass, bits, is_upper) for place, mass in masses.items()}
            infinite = ball_integer(beyond, bits, is_upper)
        return LossMeasure(-self.epsilon, 2 * self.epsilon / self.steps, polynomial(whole)[1], infinite, bits, is_upper)

    def _mass(self, place: int, total: arb, precision: int) -> arb:
        """Pr[X = place]."""
        rate = ball(self.epsilon / self.steps, precision)
        return (-rate * place).exp() * (1 - (-rate).exp()) / total


@dataclass(frozen=True, slots=True)
class GaussianLoss(LossLaw):
    """Discrete Gaussian noise Pr[x] = e^(−x²/(2σ²))/Z on a whole number that moves by up to `shift` ≥ 1.

    The loss at x is ((x − shift)² − x²)/(2σ²) = (shift² − 2x·shift)/(2σ²), a grid. It falls with x, so
    δ(ε) = max_c Pr[x ≤ c] − e^ε·Pr[x ≤ c − shift], which rises with the shift: smaller moves are better. What is beyond
    T on one side weighs at most e^(−(T+1)²/(2σ²))/(1 − e^(−(T+1)/σ²)), since the weights fall by e^(−(2x+1)/(2σ²)).

    **Long noise** is taken in blocks of b = 2r + 1 places around c = k·b. There e^(−x²/(2σ²)), x = c + t, is at most
    e^(−c²/(2σ²))·e^(−ut), u = c/σ², and at least e^(−r²/(2σ²)) times that. With S(u) = Σ_(|t| ≤ r) e^(−ut) =
    sinh(bu/2)/sinh(u/2), S(0) = b and v = shift/σ², the larger masses sum to e^(−c²/(2σ²))·S(u), and the mean of
    e^(−loss) over them is e^(−l)·S(u − v)/S(u), l the loss at c. All losses of a block are within h/2 of l, h = b·v, so
    the upper measure splits it between l ± h/2 as (3) of `loss_measures` has it: the share of l − h/2 is
    (S(u−v)/S(u) − e^(−h/2))/(2·sinh(h/2)). The lower measure joins it where e^(−loss) is the mean. By Poisson summation
    Z/(σ·√(2π)) = 1 + 2·Σ_(n ≥ 1) e^(−2π²σ²n²), which is from 1 to 1 + e^(−σ²) where σ ≥ 1.
    """

    variance: Fraction
    shift: int = 1

    def __post_init__(self) -> None:
        """Check both."""
        _check(self.variance > 0 and self.shift >= 1, "variance > 0 and shift >= 1", "variance")

    @property
    def pure_epsilon(self) -> None:
        """None: losses have no bound."""
        return

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """From the largest x, the lowest loss, to the smallest."""
        reach = math.isqrt(math.ceil(2 * bits * self.variance)) + 1
        with working_precision(3 * bits + EXTRA_BITS):
            if reach <= MAX_REACH:
                return cut_tails(self._places(reach, bits, is_upper))
            return cut_tails(self._blocks(reach // MAX_REACH, bits, is_upper))

    def _places(self, reach: int, bits: int, is_upper: bool) -> LossMeasure:
        precision = 3 * bits + EXTRA_BITS
        rate = ball(1 / (2 * self.variance), precision)
        weights = [(-(x * x) * rate).exp() for x in range(reach + 1)]
        rest, kept = self._weight_beyond(reach, precision), 2 * sum(weights[1:], weights[0] / 2)
        total = kept.union(kept + 2 * rest)
        side = [ball_integer(weight / total, bits, is_upper) for weight in weights]
        beyond = ball_integer(rest / total, bits, True) if is_upper else 0
        masses = {reach - x: side[abs(x)] for x in range(-reach, reach + 1)}
        masses[0] += beyond  # the low losses beyond T, moved up to it
        spacing = self.shift / self.variance
        return LossMeasure(self._loss(reach), spacing, polynomial(masses)[1], beyond, bits, is_upper)

    def _blocks(self, radius: int, bits: int, is_upper: bool) -> LossMeasure:
        precision, width = 3 * bits + EXTRA_BITS, 2 * radius + 1
        rate = ball(1 / (2 * self.variance), precision)
        last = math.isqrt(math.ceil(2 * bits * self.variance)) // width + 1
        spacing = width * self.shift / self.variance
        total = _gaussian_total(self.variance, precision)
        beyond = ball_integer(self._weight_beyond(last * width + radius, precision) / total, bits, True)
        place = (self._block_splitter if is_upper else self._block_joiner)(radius, rate)
        atoms = [
            ((last - k << PLACE_BITS) + position, ball_integer(mass / total, bits, is_upper))
            for k in range(-last, last + 1)
            for position, mass in place(*self._block(k * width, width, rate))
        ]
        if is_upper:
            atoms.append((-1 << PLACE_BITS - 1, beyond))
        half = 1 << PLACE_BITS - 1
        shifted = [(position + half, mass) for position, mass in atoms]
        lowest, masses = polynomial(place_atoms(shifted, 1 << PLACE_BITS, spacing, is_upper))
        offset = self._loss(last * width) + (lowest - Fraction(1, 2)) * spacing
        return LossMeasure(offset, spacing, masses, beyond if is_upper else 0, bits, is_upper)

    def _block_splitter(self, radius: int, rate: arb) -> BlockPlaces:
        """The weights half a spacing below and above the loss at the centre."""
        half = (2 * radius + 1) * self.shift * rate
        least, width = (-half).exp(), 2 * half.sinh()

        def places(weight: arb, mean: arb) -> list[tuple[int, arb]]:
            lower = weight * (mean - least) / width
            return [(-1 << PLACE_BITS - 1, lower), (1 << PLACE_BITS - 1, weight - lower)]

        return places

    def _block_joiner(self, radius: int, rate: arb) -> BlockPlaces:
        """The weight at −ln of the mean of e^(−loss), in 2^−PLACE_BITS of a spacing from the loss at the centre."""
        spacing, least = 2 * (2 * radius + 1) * self.shift * rate, (-(radius**2) * rate).exp()

        def places(weight: arb, mean: arb) -> list[tuple[int, arb]]:
            low = ((-mean.log() / spacing) * 2**PLACE_BITS).lower().floor()
            return [(int(low.unique_fmpz()), weight * least)]

        return places

    def _block(self, centre: int, width: int, rate: arb) -> tuple[arb, arb]:
        """e^(−c²/(2σ²))·S(u), and S(u − v)/S(u); `rate` is 1/(2σ²)."""
        here, moved = (_power_sum(place, width, rate) for place in (centre, centre - self.shift))
        return (-(centre**2) * rate).exp() * here, moved / here

    def _loss(self, place: int) -> Fraction:
        return Fraction(self.shift**2 - 2 * place * self.shift) / (2 * self.variance)

    def _weight_beyond(self, reach: int, precision: int) -> arb:
        """At least the weight of all x > reach."""
        first = (-ball(Fraction((reach + 1) ** 2) / (2 * self.variance), precision)).exp()
        return first / (1 - (-ball((reach + 1) / self.variance, precision)).exp())


def gaussian_laws(variance: Fraction, moves: Iterable[int]) -> Counter[LossLaw]:
    """Independent discrete Gaussian noise on several whole numbers, of which a unit moves each by so many steps.

    The losses of independent coordinates add, so the law is the composition of those of single coordinates; noise is
    symmetric, so the signs do not matter.

    >>> gaussian_laws(Fraction(25), [1, -1, 0, 2]) == {GaussianLoss(Fraction(25)): 2, GaussianLoss(Fraction(25), 2): 1}
    True
    """
    return Counter(GaussianLoss(variance, abs(move)) for move in moves if move)


@dataclass(frozen=True, slots=True)
class ConcentratedLoss(LossLaw):
    """Any ρ-zCDP answer, by what `noise.concentrated.delta_of_rho` makes of ρ.

    Let δ be the profile of any such answer as a function of t = e^ε: it is convex, falls from 1 at t = 0, and is at
    most the converted δ*(ε) for ε > 0. At ε = 0 it is the total variation, at most √(ρ/2) by Pinsker, since the
    Kullback–Leibler divergence is at most ρ. And δ(−ε) = 1 − e^(−ε) + e^(−ε)·δ′(ε), where δ′ is the profile of the
    other direction, which is at most δ*(ε) too. So δ lies below the straight lines between any of these bounds at
    0 = t₀ < … < t_m, and below the last one from there on. The lines are the profile of the masses t_j·(s_j − s_(j−1))
    at the losses ln t_j, s_j the slope after t_j (0 after the last), and of the last bound at ∞. Which points make the
    lines convex is chosen in floats: with others some masses are negative, and 0 instead is larger.

    Nothing is known from below: the lower measure is that of an answer that tells nothing.
    """

    rho: Fraction

    def __post_init__(self) -> None:
        """Check ρ."""
        _check(self.rho > 0, "rho > 0", "rho")

    @property
    def pure_epsilon(self) -> None:
        """None: losses have no bound."""
        return

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """On a grid of RHO_KNOTS steps to each side of 0."""
        furthest = float(self.rho) + 2 * math.sqrt(float(self.rho) * bits)
        spacing = Fraction(2) ** math.ceil(math.log2(furthest / RHO_KNOTS))
        if not is_upper:
            return LossMeasure(Fraction(0), spacing, polynomial({0: 1 << bits})[1], 0, bits, is_upper)
        precision = 3 * bits + EXTRA_BITS
        with working_precision(precision):
            masses, infinite = self._masses(spacing, precision)
            whole = {index: ball_integer(mass, bits, True) for index, mass in masses.items()}
            beyond = ball_integer(infinite, bits, True)
        lowest, coefficients = polynomial(whole)
        return LossMeasure(lowest * spacing, spacing, coefficients, beyond, bits, is_upper)

    def _masses(self, spacing: Fraction, precision: int) -> tuple[dict[int, arb], arb]:
        """Masses at multiples of the spacing, and at ∞."""
        from flint import arb

        points = {index: ball(index * spacing, precision).exp() for index in range(-RHO_KNOTS, RHO_KNOTS + 1)}
        heights = self._heights(points, spacing, precision)
        kept = _convex_places([(float(points[index]), float(heights[index])) for index in points])
        corners = [(points[index - RHO_KNOTS], heights[index - RHO_KNOTS]) for index in kept]
        lines = pairwise([(arb(0), arb(1)), *corners])
        slopes = [*((right - left) / (end - start) for (start, left), (end, right) in lines), arb(0)]
        changes = [after - before for before, after in pairwise(slopes)]
        masses = {
            index - RHO_KNOTS: point * change for index, (point, _), change in zip(kept, corners, changes, strict=True)
        }
        return masses, corners[-1][1]

    def _heights(self, points: dict[int, arb], spacing: Fraction, precision: int) -> dict[int, arb]:
        from utmost.noise.concentrated import delta_of_rho

        converted = {index: ball(delta_of_rho(self.rho, index * spacing), precision) for index in points if index > 0}
        variation = (ball(self.rho / 2, precision)).sqrt().min(ball(1, precision))
        below = {index: 1 - points[index] * (1 - converted[-index]) for index in points if index < 0}
        return {**below, 0: variation, **converted}


@dataclass(frozen=True, slots=True)
class SelectionLoss(LossLaw):
    """Optimal selection (`utmost.noise.selection`) of a cell whose count moves by one unit.

    With g(n) = Pr[N = n], m and L as there, y = count + τ − N. If the other table has one unit more, the loss at N = n
    is ln(g(n)/g(n+1)): −ε below m, ε from m + 1 to L − 2, ∞ at L. If it has one less, it is ln(g(n)/g(n−1)): ∞ at 1, ε
    from 2 to m, −ε from m + 2 to L − 1. The other two losses are on no grid. Where one is above kε with
    k = MAX_SELECTION_LOSS, the upper measure splits it between kε and ∞; where it is below −kε, it is moved up to −ε.
    The lower measure moves it down to kε, or drops it.
    """

    epsilon: Fraction
    delta: Fraction
    is_symmetric = False

    @property
    def pure_epsilon(self) -> None:
        """None: δ > 0."""
        return

    def measure(self, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
        """From −ε on in SELECTION_PARTS steps to ε; `direction`: the other table has one unit less."""
        from utmost.noise.selection import selection_law

        law = selection_law(level_of(self.epsilon), self.delta)
        m, last, spacing = law.crossing, law.last, 2 * self.epsilon / SELECTION_PARTS
        top = SELECTION_PARTS << PLACE_BITS
        if direction:
            ranges, others, endless = [(2, m, top), (m + 2, last - 1, 0)], {(m + 1, m), (last, last - 1)}, 1
        else:
            ranges, others, endless = [(1, m - 1, 0), (m + 1, last - 2, top)], {(m, m + 1), (last - 1, last)}, last
        with working_precision(2 * bits + EXTRA_BITS):
            atoms = [
                (place, ball_integer(_selection_mass(law, first, end, bits), bits, is_upper))
                for first, end, place in ranges
                if first <= end
            ]
            infinite = ball_integer(_selection_mass(law, endless, endless, bits), bits, is_upper)
            for here, there in sorted(others):
                atom, beyond = self._irregular(law, here, there, bits, is_upper)
                atoms.append(atom)
                infinite += beyond
        lowest, masses = polynomial(place_atoms(atoms, 1 << PLACE_BITS, spacing, is_upper))
        return LossMeasure(lowest * spacing - self.epsilon, spacing, masses, infinite, bits, is_upper)

    def _irregular(
        self, law: SelectionLaw, here: int, there: int, bits: int, is_upper: bool
    ) -> tuple[tuple[int, int], int]:
        """Place and mass of the loss ln(g(here)/g(there)), and what of it is at ∞."""
        mass, other = (_selection_mass(law, n, n, bits) for n in (here, there))
        amount, one = ball(self.epsilon, 2 * bits + EXTRA_BITS), SELECTION_PARTS << PLACE_BITS - 1  # an ε
        low, high = ball_endpoints((mass / other).log() / amount)
        if low > MAX_SELECTION_LOSS:
            kept = (amount * MAX_SELECTION_LOSS).exp() * other if is_upper else mass
            beyond = ball_integer(mass - kept, bits, True) if is_upper else 0
            return ((MAX_SELECTION_LOSS + 1) * one, ball_integer(kept, bits, is_upper)), beyond
        if high < -MAX_SELECTION_LOSS:
            return (0, ball_integer(mass, bits, True) if is_upper else 0), 0
        place = math.ceil((high + 1) * one) if is_upper else math.floor((low + 1) * one)
        return (place, ball_integer(mass, bits, is_upper)), 0


def merge_concentrated(counts: Counter[LossLaw]) -> Counter[LossLaw]:
    """The same laws, all that are known by ρ alone as one: ρ adds up, and is better converted once.

    >>> merge_concentrated(Counter({ConcentratedLoss(Fraction(1, 10)): 2, ConcentratedLoss(Fraction(1, 4)): 1}))
    Counter({ConcentratedLoss(rho=Fraction(9, 20)): 1})
    """
    rho = sum((law.rho * times for law, times in counts.items() if isinstance(law, ConcentratedLoss)), Fraction(0))
    others = Counter({law: times for law, times in counts.items() if not isinstance(law, ConcentratedLoss)})
    return others + Counter({ConcentratedLoss(rho): 1}) if rho else others


def _convex_places(points: Iterable[tuple[float, float]]) -> list[int]:
    """Which of the points, ordered from left to right, are corners of their convex hull from below, (0, 1) given."""
    corners = [(-1, 0.0, 1.0)]
    for index, (x, y) in enumerate(points):
        while len(corners) > 1 and _is_above(corners[-2][1:], corners[-1][1:], (x, y)):
            corners.pop()
        corners.append((index, x, y))
    return [index for index, _, _ in corners[1:]]


def _is_above(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Is the middle point on or above the line between the other two."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])


def _power_sum(place: int, width: int, rate: arb) -> arb:
    """Σ e^(−ut) over |t| ≤ (width − 1)/2, u/2 = place·rate."""
    return (place * width * rate).sinh() / (place * rate).sinh() if place else width + 0 * rate


def _gaussian_total(variance: Fraction, precision: int) -> arb:
    """Z, for σ ≥ 1."""
    from flint import arb

    integral = (2 * arb.pi() * ball(variance, precision)).sqrt()
    return integral.union(integral * (1 + (-ball(variance, precision)).exp()))


def _selection_mass(law: SelectionLaw, first: int, end: int, bits: int) -> arb:
    """Pr[first ≤ N ≤ end]."""
    precision = 2 * bits + EXTRA_BITS
    return law.probability_ball(end, precision) - law.probability_ball(first - 1, precision)


def _check(is_met: bool, condition: str, name: str) -> None:
    if not is_met:
        raise InputError(f"a law of losses must have {condition}, got others", name)
