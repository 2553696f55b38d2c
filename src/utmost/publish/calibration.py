"""The least ε that makes an answer as good as asked, known before anything is spent.

Everything depends on the query, the unit and the relation between tables, as in `mechanism_selection`; nothing on the
data. A result is the least ε of its digits: it meets the target, and one unit in the last digit less does not; both are
checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.data.queries import Histogram, Mean, NeighbourRelation, PrivacyUnit, Quantile, Query
from utmost.errors import InputError
from utmost.exact import ball, decimal, integer, rational
from utmost.exact.levels import LARGEST_EPSILON
from utmost.exact.working_precision import working_precision
from utmost.publish import certified_loss, mechanism_selection
from utmost.publish.epsilon_search import Calibration, decide_sign, least_epsilon_digits
from utmost.publish.reading.reader import Floats
from utmost.publish.release_model import ChoiceMechanism, LatticeMechanism, Mechanism, RatioMechanism

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Calibration", "calibrate_error", "calibrate_loss", "privacy_setting"]

DIGITS = 6
LOSS_TARGET = "expected loss"
EXACT = "certain: decided in interval arithmetic"
SUMMED = "decided in doubles, with a margin of 10^-11 for their rounding"
AT_AN_END = "asked of a mean at an end of the grid, where the error is largest, with noise on the number of rows too"
BOUND = "what is shown is the bound that holds for every table, 1 - candidates·exp(-rate·t)"
LEAST_SHARE, LEAST_MISS = Fraction(1, 10**6), Fraction(1, 10**15)
MAX_ERROR_STEPS = 10**18  # steps
MARGIN = 1e-11  # for sums of probabilities in doubles
FAR = 45.0  # 1/ε of noise beyond which nothing is summed: e^-45 is 3e-20
MOST_TERMS = 2 * 10**6
TINIEST = 1e-12  # an epsilon that nobody can use
LARGEST_SIZE = priors.MAX_PRIOR_POINTS - 1


def privacy_setting(
    neighbours: object = "replace", kept: object = 1, units: int | None = None
) -> mechanism_selection.PrivacySetting:
    """A release about rows, or about persons of whom `kept` rows are kept; `units` is how many there are, if public."""
    try:
        relation = NeighbourRelation(str(neighbours))
    except ValueError:
        raise InputError(f'neighbours must be replace or add-remove, got "{str(neighbours)[:40]}"') from None
    bound = integer(kept, "kept")
    unit = PrivacyUnit() if bound == 1 else PrivacyUnit("person", rows=bound)
    return mechanism_selection.PrivacySetting(
        relation, unit, None, units if relation is NeighbourRelation.REPLACE else None
    )


def calibrate_error(
    query: Query,
    given: mechanism_selection.PrivacySetting,
    error: object,
    confidence: object = "0.95",
    *,
    digits: int = DIGITS,
    together: bool = False,
    rows: object = None,
) -> Calibration:
    """The least ε with which an answer is off by at most `error` with probability at least `confidence`.

    In the value's unit; a quantile's error is fewer than `error` rows on its wrong side. `together` asks it of all
    cells of a histogram at once. A mean of a secret number of rows takes `rows` for granted.
    """
    most, share = rational(error, "error"), rational(confidence, "confidence")
    if most < 0:
        raise InputError(f"error must be >= 0, got {decimal(most)}")
    if not LEAST_SHARE <= share <= 1 - LEAST_MISS:
        raise InputError(f"confidence must be from 10^-6 to 1 - 10^-15, got {decimal(share)}: 0.95 is usual")
    if isinstance(query, Mean) and most >= query.grid.high - query.grid.low:
        raise InputError(
            f"error must be below {query.grid.high - query.grid.low}, how far apart the bounds are, got {most}"
        )
    law = mechanism_selection.select_mechanism(query, Fraction(1), given).mechanism
    if most > MAX_ERROR_STEPS * _unit(law):
        raise InputError("error must be at most 10^18 steps of the lattice, got more: ask for less")
    if isinstance(law, LatticeMechanism):
        return _lattice(law, most, share, len(query.cells) if together and isinstance(query, Histogram) else 1, digits)
    if isinstance(law, ChoiceMechanism):
        assert isinstance(query, Quantile)
        return _choice(law, most, query.probability.denominator, share, digits)
    assert isinstance(query, Mean)
    return _ratio(Mixed(law, query.grid.size, _rows(rows), most / law.total.unit), share, digits)


def _unit(law: Mechanism) -> Fraction:
    return (
        law.unit
        if isinstance(law, LatticeMechanism)
        else law.total.unit
        if isinstance(law, RatioMechanism)
        else Fraction(1)
    )


def _rows(rows: object) -> int:
    if rows is None:
        raise InputError("rows must be given for a mean of a secret number of rows: say about how many there will be")
    found = integer(rows, "rows")
    if not 1 <= found <= 10**12:
        raise InputError(f"rows must be from 1 to 10^12, got {decimal(Fraction(found))}")
    return found


def _lattice(law: LatticeMechanism, error: Fraction, share: Fraction, cells: int, digits: int) -> Calibration:
    """Pr[|Δ| > t] = 2α^(t+1)/(1+α) with α = e^(−ε·rate), rate = 1/sensitivity; independent for each of the cells.

    An end that absorbs only brings an answer nearer to a truth within the ends.
    """
    reach = math.floor(error / law.unit)

    def confidence(epsilon: Fraction, bits: int) -> arb:
        alpha, beyond = (ball(-epsilon * law.epsilon * steps, bits).exp() for steps in (1, reach + 1))
        return (1 - 2 * beyond / (1 + alpha)) ** cells

    miss = -math.expm1(math.log(float(share)) / cells) if cells > 1 else float(1 - share)
    guess = _rate(reach, miss) / float(law.epsilon)
    what = f"off by at most {decimal(error)}" + (f", all {cells} of them at once," if cells > 1 else "")
    return _by_balls(confidence, what, share, guess, digits)


def _rate(reach: int, miss: float) -> float:
    """The rate with 2α^(t+1)/(1+α) = miss, α = e^−rate: bisected on the logarithms, which fall as the rate grows."""
    low, high = 0.0, (math.log(2) - math.log(miss)) / (reach + 1)
    for _ in range(200):
        middle = (low + high) / 2
        above = math.log(2) - middle * (reach + 1) - math.log1p(math.exp(-middle)) > math.log(miss)
        low, high = (middle, high) if above else (low, middle)
    return high


def _by_balls(
    confidence: Callable[[Fraction, int], arb], what: str, share: Fraction, guess: float, digits: int, remark: str = ""
) -> Calibration:
    def verdict(epsilon: Fraction) -> bool:
        return decide_sign(lambda bits: confidence(epsilon, bits) - ball(share, bits)) > 0

    def shown(epsilon: Fraction) -> float:
        with working_precision(128):
            return float(confidence(epsilon, 128).mid())

    found, below, kept = least_epsilon_digits(verdict, guess, digits)
    return Calibration(what, share, found, shown(found), below, shown(below), kept, EXACT, remark)


def _choice(law: ChoiceMechanism, rows: Fraction, row: int, share: Fraction, digits: int) -> Calibration:
    """Pr[loss ≥ t] ≤ candidates·e^(−rate·t), since some candidate has loss 0: the least ε for which this is enough."""
    loss = rows * row
    if not loss:
        raise InputError("error must be > 0 for a quantile: it is drawn, and may be a row off")

    def confidence(epsilon: Fraction, bits: int) -> arb:
        return 1 - law.candidates * ball(-epsilon * law.rate * loss, bits).exp()

    guess = (math.log(law.candidates) - math.log(float(1 - share))) / float(law.rate * loss)
    return _by_balls(confidence, f"fewer than {decimal(rows)} rows of rank off", share, guess, digits, BOUND)


@dataclass(frozen=True, slots=True)
class Mixed:
    """A mean of `rows` rows from a noisy total and a noisy number of rows, on a grid of `steps`; rates are for ε = 1.

    The ratio is off by at most `error` (in units of the total a row) exactly when |Δ_T − μΔ_R| ≤ error·(rows + Δ_R),
    μ the true mean. For each Δ_R that is the likelier the smaller |μ| is, since Δ_T is symmetric and falls away from 0;
    so it is asked of a mean at an end of the grid, |μ| = N. That the mean is brought back to the grid is left out: it
    only helps. A release without rows counts as a miss.
    """

    law: RatioMechanism
    steps: int
    rows: int
    error: Fraction

    def confidence(self, epsilon: float) -> float:
        """Σ_d Pr[Δ_R = d]·Pr[|Δ_T − N·d| ≤ error·(rows + d)] over the d that matter."""
        rate, step = epsilon * float(self.law.rows.epsilon), epsilon * float(self.law.total.epsilon)
        far = math.ceil(FAR / rate)
        if far > MOST_TERMS:
            raise InputError("error must be so small that it needs an epsilon above 0.0001, and is not: ask for less")
        noise = np.arange(max(-far, 1 - self.rows), far + 1, dtype=np.float64)
        centre, half = self.steps * noise, float(self.error) * (self.rows + noise)
        inside = _up_to(np.floor(centre + half), step) - _up_to(np.ceil(centre - half) - 1, step)
        weights = math.tanh(rate / 2) * np.exp(-rate * np.abs(noise))
        return float(weights @ np.maximum(inside, 0))


def _up_to(value: Floats, rate: float) -> Floats:
    """Pr[Δ ≤ value]: α^(−value)/(1+α) below 0, 1 − α^(value+1)/(1+α) from 0 on."""
    tail = np.exp(-rate * np.where(value < 0, -value, value + 1)) / (1 + math.exp(-rate))
    return np.asarray(np.where(value < 0, tail, 1 - tail))


def _ratio(mixed: Mixed, share: Fraction, digits: int) -> Calibration:
    if not mixed.error:
        raise InputError("error must be > 0 for a mean of a secret number of rows")
    target = float(share)

    def verdict(epsilon: Fraction) -> bool | None:
        reached = mixed.confidence(float(epsilon))
        return True if reached - MARGIN >= target else False if reached + MARGIN < target else None

    guess = _crossing(lambda epsilon: target - mixed.confidence(epsilon))
    found, below, kept = least_epsilon_digits(verdict, guess, digits)
    reached, missed = (mixed.confidence(float(epsilon)) for epsilon in (found, below))
    what = f"off by at most {decimal(mixed.error * mixed.law.total.unit)}"
    return Calibration(what, share, found, reached, below, missed, kept, SUMMED, AT_AN_END)


def _crossing(excess: Callable[[float], float]) -> float:
    """Where a function that falls from > 0 to ≤ 0 crosses 0: bracketed by doubling from 1, then refined."""
    from scipy.optimize import brentq

    low = high = 1.0
    while excess(high) > 0:
        low, high = high, 2 * high
        if low > LARGEST_EPSILON:
            raise InputError(f"the target must be met by an epsilon up to {LARGEST_EPSILON}, and is not: ask for less")
    while excess(low) <= 0:
        low, high = low / 2, low
        if high < TINIEST:
            raise InputError("the target must be further from what no answer at all gives: ask for more")
    return math.exp(brentq(lambda log: excess(math.exp(log)), math.log(low), math.log(high), xtol=1e-15, rtol=1e-14))


def calibrate_loss(
    size: object,
    target: object,
    prior: Prior | str = "uniform",
    loss: Loss | str = "absolute",
    *,
    sensitivity: object = 1,
    digits: int = DIGITS,
) -> Calibration:
    """The least ε with which a reader of a count from 0 to `size` has at most this expected loss, under her best remap.

    The loss does not rise with ε (`certified_loss`). At ε = 0 she reads her prior alone; a target which that meets
    needs 0. Up to 300 counts with an exact prior both verdicts are certain; above, they are in doubles with a bound on
    their rounding, and where that hides the last digits fewer are given.
    """
    points, most, reach = (
        integer(size, "size") + 1,
        rational(target, "expected-loss"),
        integer(sensitivity, "sensitivity"),
    )
    if not 1 <= points <= priors.MAX_PRIOR_POINTS:
        raise InputError(f"size must be from 0 to {LARGEST_SIZE}, got {decimal(Fraction(points - 1))}")
    if reach < 1:
        raise InputError(f"sensitivity must be at least 1, got {reach}")
    belief = priors.parse(prior, points) if isinstance(prior, str) else prior
    fear = losses.parse(loss) if isinstance(loss, str) else loss
    if belief.size != points:
        raise InputError(
            f"prior must have {points} weights, one for each count from 0 to {points - 1}, got {belief.size}"
        )
    return _least_loss(certified_loss.expected_loss(belief, fear), most, reach, digits)


def _least_loss(reader: certified_loss.LossProblem, target: Fraction, reach: int, digits: int) -> Calibration:
    what, ignored, told = LOSS_TARGET, reader.alone(), reader.told()
    if target >= ignored:
        return Calibration(what, target, Fraction(0), float(ignored), None, None, digits, reader.how)
    if target <= told:
        least_loss = f"expected-loss must be above {decimal(told)}, which only the true count itself gives"
        raise InputError(f"{least_loss}, got {decimal(target)}: ask for more")
    guess = _crossing(lambda rate: reader.value(rate) - float(target)) * reach
    found, below, kept = least_epsilon_digits(lambda epsilon: reader.meets(epsilon / reach, target), guess, digits)
    reached, missed = reader.value(float(found / reach)), _missed(reader, below / reach)
    return Calibration(what, target, found, reached, below, missed, kept, reader.how)


def _missed(reader: certified_loss.LossProblem, rate: Fraction) -> float:
    return reader.value(float(rate)) if rate else float(reader.alone())
