"""Composition by privacy-loss distributions (PLD): the smallest ε at a given δ > 0 of many charges together.

The privacy loss of an answer y is ln(Pr[y | T]/Pr[y | T′]); losses of independent answers add, so their distributions
convolve, and δ(ε) = E[(1 − e^(ε − loss))₊]. Each cost is replaced by losses on a common grid that are worse than its
own, dp-accounting convolves them, and the ε found is rounded up. All of this is in floating point, so δ is lowered
first by more than the convolutions can be wrong (`delta_after_rounding`), and the sum of all ε bounds the result.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError, LedgerError
from utmost.exact import decimal
from utmost.ledger.costs import ChargeGroup, Composition, Part

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from utmost.ledger.records import Budget

MIN_DELTA = Fraction(1, 10**9)  # below it floating-point composition cannot be trusted

MAX_KNOTS = 4096  # losses of one geometric cost before they are put on the grid
STEPS_IN_SMALLEST_EPSILON = 64  # of the grid
MAX_GRID_STEPS = 2**14  # to the largest loss that matters
TAIL_DEVIATIONS = 9.0  # standard deviations beyond which e^(−k²/2) < 1e-15
EPSILON_DENOMINATOR = 10**9  # ε is rounded up to a multiple of 1/EPSILON_DENOMINATOR
DELTA_SHARE = Fraction(1, 1000)  # of δ that is given up for rounding errors
DELTA_PER_CONVOLUTION = Fraction(1, 10**14)  # of δ that is given up for every convolution

EpsilonAndSteps = tuple[Fraction, int]


class PldComposition(Composition):
    """The least ε at the budget's δ, by convolving the distributions of privacy losses; a part counts as the table."""

    name, words = "pld", "privacy-loss distributions"

    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The ε of all charges together at what their own δ leave of the budget's, rounded up.

        A charge that is (ε, δ)-private is no worse than one that tells everything with probability δ and is ε-private
        otherwise (Kairouz, Oh and Viswanath 2015), so Σ δ comes off the budget's δ first.
        """
        charges = list(groups)
        return pld_epsilon(charges, budget.delta - self.delta_spent(charges, budget))

    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        """Parts always do."""
        return "its budget composes privacy-loss distributions"

    def check_terms(self, budget: Budget) -> None:
        """δ must be large enough for computations in floating point."""
        if budget.delta < MIN_DELTA:
            raise InputError(
                f"delta must be at least 1e-9 with pld composition, got {decimal(budget.delta)}",
                "delta",
                "say for instance 1e-6",
            )

    def prepare(self) -> None:
        """Import dp-accounting, which takes a second, or say how to install it."""
        try:
            from dp_accounting.pld import privacy_loss_distribution  # noqa: F401
        except ImportError:
            raise LedgerError(
                "pld composition needs dp-accounting, which is not installed",
                "composition",
                "pip install 'utmost[accounting]'",
            ) from None


PLD = PldComposition()


def pld_epsilon(groups: Iterable[ChargeGroup], delta: Fraction) -> Fraction:
    """An ε, never below the least one, such that all charges are (ε, δ)-private together.

    At most Σ ε, the composition at δ = 0. The costs must be chosen before the first answer is seen; the
    queries need not be. A charge on a part counts as one on the whole table.
    """
    counts = Counter[EpsilonAndSteps]()
    for group in groups:
        counts[group.epsilon, group.steps if group.law == "geometric" else 1] += group.times
    total = sum((epsilon * times for (epsilon, _), times in counts.items()), Fraction(0))
    limit = delta_after_rounding(delta, sum(counts.values()))
    if len(counts) == 0 or limit <= 0:
        return total
    return min(total, _least_epsilon(_compose(counts), total, float(limit)))


def delta_after_rounding(delta: Fraction, convolutions: int) -> Fraction:
    """δ less a thousandth of it and 10^−14 for each convolution.

    A convolution by FFT in doubles is wrong by some 10^−16 in each entry and by about 10^−15 in a tail's sum.
    """
    return delta - delta * DELTA_SHARE - DELTA_PER_CONVOLUTION * convolutions


def knots(epsilon: Fraction, steps: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Losses and their probabilities for geometric noise moved by `steps` steps; at least as bad, if steps are many.

    With a = ε/steps the loss is a·(steps − 2y) with y clamped to 0 … steps, and δ is 1 − e^(−ay) at the loss of y and
    linear in e^ε between. Between fewer knots y₀ = 0 < … < y_m = steps the straight lines lie above, since δ is convex
    in e^ε; they are the δ of the losses at the knots with probabilities e^(−a·y_j)·(tanh(D_j/2) + tanh(D_(j−1)/2))/2,
    D_j = a·(y_(j+1) − y_j), and tanh = 1 beyond the ends. One step makes randomised response: loss ±ε, the worst of all
    ε-private answers, so `any` is `geometric` with one step.
    """
    import numpy as np

    count = min(steps, MAX_KNOTS)
    depth = float(epsilon) * np.array([j * steps // count / steps for j in range(count + 1)])  # a·y
    slopes = np.concatenate([[1.0], np.tanh(np.diff(depth) / 2), [1.0]])
    return float(epsilon) - 2 * depth, np.exp(-depth) * (slopes[1:] + slopes[:-1]) / 2


@lru_cache(maxsize=1024)
def _cost_distribution(epsilon: Fraction, steps: int, grid_step: float) -> Any:
    """The losses of one cost moved to multiples of the grid so that they are at least as bad.

    A loss l between grid points s and s + h goes to both, in shares that keep Σp and Σp·e^(−loss): the share of s is
    (e^(s+h−l) − 1)/(e^h − 1). So an answer is split in two whose mean likelihood ratio is its own, and joining them
    again is post-processing.
    """
    import numpy as np
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    losses, probabilities = knots(epsilon, steps)
    below = np.floor(losses / grid_step).astype(np.int64)
    lower_share = np.clip(np.expm1((below + 1) * grid_step - losses) / math.expm1(grid_step), 0.0, 1.0)
    masses = defaultdict[int, float](float)
    lower_masses, upper_masses = probabilities * lower_share, probabilities * (1 - lower_share)
    for index, lower_mass, upper_mass in zip(below.tolist(), lower_masses.tolist(), upper_masses.tolist(), strict=True):
        masses[index] += lower_mass
        masses[index + 1] += upper_mass
    return PrivacyLossDistribution.create_from_rounded_probability(masses, 0.0, grid_step)


def _compose(counts: Counter[EpsilonAndSteps]) -> Any:
    """The distribution of the sum of all losses."""
    PLD.prepare()
    grid_step = _grid_step(counts)
    distributions = [_cost_distribution(*cost, grid_step).self_compose(times) for cost, times in sorted(counts.items())]
    return reduce(lambda left, right: left.compose(right), distributions)


def _grid_step(counts: Counter[EpsilonAndSteps]) -> float:
    """A power of two: fine for the smallest ε, if the largest loss that matters is not too many steps away."""
    amounts = [(float(epsilon), times) for (epsilon, _), times in counts.items()]
    deviation = math.sqrt(math.fsum(times * epsilon**2 for epsilon, times in amounts))
    drift = math.fsum(times * epsilon * math.tanh(epsilon / 2) for epsilon, times in amounts)
    largest_loss = min(math.fsum(times * epsilon for epsilon, times in amounts), TAIL_DEVIATIONS * deviation + drift)
    step = max(min(epsilon for epsilon, _ in amounts) / STEPS_IN_SMALLEST_EPSILON, largest_loss / MAX_GRID_STEPS)
    return 2.0 ** math.floor(math.log2(step))


def _least_epsilon(distribution: Any, total: Fraction, limit: float) -> Fraction:
    """The least multiple of 1/EPSILON_DENOMINATOR, rounded up, with δ(ε) ≤ limit; the total if none is below it."""
    low, high = -1, math.ceil(total * EPSILON_DENOMINATOR)
    while high - low > 1:
        middle = (low + high) // 2
        if distribution.get_delta_for_epsilon(middle / EPSILON_DENOMINATOR) <= limit:
            high = middle
        else:
            low = middle
    return Fraction(high + 1, EPSILON_DENOMINATOR)
