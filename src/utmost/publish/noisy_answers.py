"""Exact answers and the noise on them. The noise is only drawn after the charge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.data.queries import Count, Grid, Histogram, Mean, Quantile, Query, Sum
from utmost.errors import UndecidedError
from utmost.exact import Real
from utmost.exact import epsilon as level_of
from utmost.mechanisms.exponential import MAX_SCORE_RANGE, exponential
from utmost.mechanisms.geometric import UntruncatedGeometric, tail_probability
from utmost.noise import EntropySource
from utmost.publish.mechanism_selection import PrivacySetting, SelectedMechanism, quantile_losses
from utmost.publish.release_model import ChoiceMechanism, LatticeMechanism, RatioMechanism

if TYPE_CHECKING:
    from utmost.data.table import Table

ExactAnswer = list[int]  # lattice numbers: one, one for each cell, a total and its rows, or a loss for each candidate


def exact_answer(query: Query, table: Table, setting: PrivacySetting) -> ExactAnswer:
    """The true answer as whole numbers, from the engine."""
    unit, part = setting.unit, setting.part
    if isinstance(query, Count):
        return [table.count(query, unit, part)]
    if isinstance(query, Histogram):
        return table.histogram(query, unit, part)
    if isinstance(query, Quantile):
        return quantile_losses(query, table.positions(query, unit, part))
    moments = table.moments(query, unit, part)
    if isinstance(query, Sum):
        return [moments.positions + moments.rows * int(query.grid.low / query.grid.step)]
    if setting.holds_everyone(query):
        return [moments.positions]
    return [2 * moments.positions - query.grid.size * moments.rows, moments.rows]


def draw_answer(query: Query, truth: ExactAnswer, selection: SelectedMechanism) -> dict[str, Any]:
    """What is published of an exact answer: its `value`, and what else belongs to the answer."""
    mechanism = selection.mechanism
    if isinstance(query, Count) and isinstance(mechanism, LatticeMechanism):
        return {"value": add_noise(truth, mechanism)[0]}
    if isinstance(query, Histogram) and isinstance(mechanism, LatticeMechanism):
        return {"value": tuple(add_noise(truth, mechanism))}
    if isinstance(query, Quantile) and isinstance(mechanism, ChoiceMechanism):
        position = choose_position(truth, mechanism, selection.sensitivity)
        return {"value": query.grid.value(position), "position": position}
    if isinstance(query, Mean) and isinstance(mechanism, RatioMechanism):
        (total,), (rows,) = add_noise(truth[:1], mechanism.total), add_noise(truth[1:], mechanism.rows)
        return {"value": mean_of(total, rows, mechanism, query.grid), "parts": (total, rows)}
    assert isinstance(mechanism, LatticeMechanism)
    return {"value": mechanism.value(add_noise(truth, mechanism)[0])}


def mean_of(total: int, rows: int, mechanism: RatioMechanism, grid: Grid) -> Fraction:
    """The mean that a noisy total and number of rows stand for, within the grid; without rows, its middle."""
    if rows < 1:
        return mechanism.total.origin
    return min(max(mechanism.total.value(0) + mechanism.total.unit * Fraction(total, rows), grid.low), grid.high)


def add_noise(numbers: Sequence[int], mechanism: LatticeMechanism, source: EntropySource | None = None) -> list[int]:
    """Each number with its own geometric noise, brought back to an end that it passed."""
    answers = UntruncatedGeometric(level_of(mechanism.epsilon)).draw(list(numbers), source).tolist()
    return [_clip(int(answer), mechanism) for answer in answers]


def _clip(answer: int, mechanism: LatticeMechanism) -> int:
    answer = answer if mechanism.low is None else max(answer, mechanism.low)
    return answer if mechanism.high is None else min(answer, mechanism.high)


def choose_position(
    losses: Sequence[int], mechanism: ChoiceMechanism, sensitivity: int, source: EntropySource | None = None
) -> int:
    """A position drawn with Pr[j] ∝ e^(−rate·min(loss_j, cap)).

    The cap, 10⁶ sensitivities, moves no loss further from its neighbour's: min(·, cap) stretches no distance.
    """
    cap = MAX_SCORE_RANGE * sensitivity
    scores = [-min(loss, cap) for loss in losses]
    return int(exponential(scores, level_of(2 * sensitivity * mechanism.rate), sensitivity).draw([0], source)[0])


def step_epsilon(mechanism: LatticeMechanism) -> Fraction:
    """ε of one step, recomputed from the entries of the law that is drawn: the largest ratio of neighbouring rows.

    Pr[y | x] comes from the tails Pr[Δ ≥ d] = α^d/(1+α) that the draw compares its words with: an absorbing end has a
    tail, a number between the ends a difference of two. The ratio of rows x and x+1 depends on y only by which of these
    it is and on which side it lies, so the entries at distances 0, 1 and 2 show every ratio there is.
    """
    level = level_of(mechanism.epsilon)
    tails = [tail_probability(distance, level) for distance in range(3)]
    inner = [1 - 2 * tails[1], *(tails[d] - tail_probability(d + 1, level) for d in (1, 2))]
    ratios = [nearer / farther for entries in (tails, inner) for nearer, farther in itertools.pairwise(entries)]
    epsilon = ratios[0].logarithm() if isinstance(ratios[0], Real) else None
    if epsilon is None or any(ratio != ratios[0] for ratio in ratios):
        raise UndecidedError(
            "the geometric law must tell e^epsilon at every step, and does not: this is a bug in utmost"
        )
    return epsilon
