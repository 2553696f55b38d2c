"""Exact answers and the noise on them. The noise is prepared before the charge and drawn after it.

**What runs after the charge cannot fail, and takes the same steps whatever the answer is.** `prepare_draw` looks up
mechanisms, builds tables and decides every question about real numbers before the charge. The function that it returns
contains no `raise` and no `assert`, and calls none of our functions that does (tests/publish/test_outcomes.py traces
it); it adds integers, which are never too large in Python, and divides by no number but one that was compared with 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from utmost.data.queries import Count, Grid, Histogram, Mean, Quantile, Query, Sum
from utmost.errors import UndecidedError
from utmost.exact import Real
from utmost.exact import epsilon as level_of
from utmost.mechanisms.geometric import tail_probability
from utmost.noise import EntropySource, system_source
from utmost.noise.exponential_choice import PreparedChoice, draw_exponential_choice, prepare_choice
from utmost.noise.geometric import Lattice, draw_lattice_noise, lattice
from utmost.publish.mechanism_selection import PrivacySetting, SelectedMechanism, quantile_losses
from utmost.publish.release_model import ChoiceMechanism, LatticeMechanism, Mechanism, RatioMechanism

if TYPE_CHECKING:
    from utmost.data.table import Table

ExactAnswer = list[int]  # lattice numbers: one, one for each cell, a total and its rows, or a loss for each candidate
NUMBER_ROOM = 80  # bytes for a number of rows or steps, its line and its name

AnswerDraw = Callable[[ExactAnswer], dict[str, Any]]


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


def prepare_draw(query: Query, selection: SelectedMechanism) -> AnswerDraw:
    """The draw of an answer: everything that can fail is done here, from public things; what is returned cannot fail.

    It maps an exact answer to what is published of it: its `value`, and what else belongs to the answer. It takes
    random words and computes with whole numbers; how many of either does not depend on the answer.
    """
    mechanism = selection.mechanism
    if isinstance(mechanism, ChoiceMechanism):
        assert isinstance(query, Quantile)
        return partial(_draw_quantile, query.grid, prepare_choice(mechanism.rate))
    if isinstance(mechanism, RatioMechanism):
        assert isinstance(query, Mean)
        return partial(
            _draw_ratio, query.grid, mechanism, prepare_noise(mechanism.total), prepare_noise(mechanism.rows)
        )
    noise = prepare_noise(mechanism)
    if isinstance(query, Histogram):
        return partial(_draw_cells, noise)
    return partial(_draw_count, noise) if isinstance(query, Count) else partial(_draw_value, noise)


def value_room(query: Query, mechanism: Mechanism) -> int:
    """More bytes than what is published of a draw takes in a release file, from public things.

    A noisy number has the digits of the exact one, of 1/ε, and few more: noise beyond 10^10/ε has probability e^−10^10.
    """
    if isinstance(mechanism, ChoiceMechanism):
        assert isinstance(query, Quantile)
        return NUMBER_ROOM + 2 * len(f"{query.grid.low}{query.grid.high}{query.grid.step}")
    if isinstance(mechanism, RatioMechanism):
        return 3 * (value_room(query, mechanism.total) + value_room(query, mechanism.rows))
    numbers = len(query.cells) if isinstance(query, Histogram) else 1
    return numbers * (NUMBER_ROOM + 2 * len(f"{mechanism.epsilon}{mechanism.origin}{mechanism.unit}"))


@dataclass(frozen=True, slots=True)
class PreparedNoise:
    """A lattice mechanism with the tables that its noise is drawn from."""

    mechanism: LatticeMechanism
    tables: Lattice


def prepare_noise(mechanism: LatticeMechanism) -> PreparedNoise:
    """The tables of the mechanism's level."""
    return PreparedNoise(mechanism, lattice(level_of(mechanism.epsilon)))


def add_noise(numbers: Sequence[int], noise: PreparedNoise, source: EntropySource | None = None) -> list[int]:
    """Each number with its own geometric noise, brought back to an end that it passed.

    The noise is drawn before the numbers are read, and added in Python's integers: nothing wraps around.
    """
    noises = draw_lattice_noise(noise.tables, len(numbers), source or system_source()).tolist()
    return [_clip(number + int(error), noise.mechanism) for number, error in zip(numbers, noises, strict=True)]


def _clip(answer: int, mechanism: LatticeMechanism) -> int:
    answer = answer if mechanism.low is None else max(answer, mechanism.low)
    return answer if mechanism.high is None else min(answer, mechanism.high)


def _draw_count(noise: PreparedNoise, truth: ExactAnswer) -> dict[str, Any]:
    return {"value": add_noise(truth, noise)[0]}


def _draw_cells(noise: PreparedNoise, truth: ExactAnswer) -> dict[str, Any]:
    return {"value": tuple(add_noise(truth, noise))}


def _draw_value(noise: PreparedNoise, truth: ExactAnswer) -> dict[str, Any]:
    return {"value": noise.mechanism.value(add_noise(truth, noise)[0])}


def _draw_ratio(
    grid: Grid, mechanism: RatioMechanism, total: PreparedNoise, rows: PreparedNoise, truth: ExactAnswer
) -> dict[str, Any]:
    (noisy_total,), (noisy_rows,) = add_noise(truth[:1], total), add_noise(truth[1:], rows)
    return {"value": mean_of(noisy_total, noisy_rows, mechanism, grid), "parts": (noisy_total, noisy_rows)}


def _draw_quantile(grid: Grid, choice: PreparedChoice, truth: ExactAnswer) -> dict[str, Any]:
    position = draw_exponential_choice(truth, choice, system_source())
    return {"value": grid.value(position), "position": position}


def mean_of(total: int, rows: int, mechanism: RatioMechanism, grid: Grid) -> Fraction:
    """The mean that a noisy total and number of rows stand for, within the grid; without rows, its middle."""
    if rows < 1:
        return mechanism.total.origin
    return min(max(mechanism.total.value(0) + mechanism.total.unit * Fraction(total, rows), grid.low), grid.high)


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
