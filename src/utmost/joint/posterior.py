"""The posterior of a table given all answers, by belief propagation over partial sums, within windows.

**Up.** m_v(x) is the weight of all that is at v and below given that its count is x: the product of v's likelihoods,
its factors of the prior, and the convolution of its two terms' m. **Down.** D_v(x) is the weight of all else: for terms
u and o of v, D_u(x) = Σ_w m_o(w)·D_v(x+w)·(v's own factors). The posterior of x_v is m_v·D_v, normalised. Sums have
terms ≥ 0 alone and are made directly, not by Fourier transforms, so small probabilities keep their digits.

**Tilts.** The m of a whole and of its parts may be large where the other is below the least double. So each part's m is
multiplied by e^(τx), with one τ for all parts of a cell such that their means add up to what least squares says of the
cell, and the cell's own by e^(−τx). Products and conditional laws stay what they are.

**Checks.** The posterior means of parts add up to their whole's; they were computed by different sums. And wherever two
laws are multiplied, what is left of their largest weights is far above the least double, so that what was below it had
no chance. Where this fails, least squares was far off, as it knows nothing of counts ≥ 0: the means that were found
place the tilts of another try.

Exact given that no window misses (`windows`), up to the rounding of doubles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from utmost.errors import InputError, UndecidedError
from utmost.joint.laws import Floats
from utmost.joint.least_squares import LeastSquares
from utmost.joint.partial_sums import PartialSums
from utmost.joint.prior import Divisions
from utmost.joint.tree import CountTree
from utmost.joint.windows import Windows

MAX_GAP = 1e-9  # by which means of parts may fail to add up, relative to the largest mean
MAX_TRIES = 3  # with tilts at means that were found before
MAX_LOST = 1e-12
LEAST_DOUBLE = 5e-324  # the error of weights near it
LOG_SMALL, LOG_LEAST = -660.0, -744.0  # of weights that may have lost digits, of the least double
SMALL_SHARE = 1e-100  # of two laws whose largest weights are 1, multiplied
LEAST_SHARE = 1e-40  # of the largest: counts with less are left out of the weights of all else
TILT_STEPS = 40  # of bisection
MAX_LOG_RANGE = 500.0  # of a tilt over a window
MAX_TILT = 30.0
NEAR_GOAL = 0.005  # of the goal, and of 100 counts, by which a tilt may miss it

FactorKey: TypeAlias = tuple[int, int, int, bool, tuple[tuple[int, int], ...]]  # laws by their identity in the tree


@dataclass(frozen=True)
class Posterior:
    """The law of each cell's count, `laws[v]` from `windows.low[v]` on; `messages` are m of all nodes, tilted.

    `log_evidence` is ln of the probability of all answers, but for a constant that is the same for every prior. `gap`
    is by how much means fail to add up, and `lost` bounds the share of weights that were too small for a double.
    """

    windows: Windows
    prior: Divisions
    laws: tuple[Floats, ...]
    messages: tuple[Floats | None, ...]
    log_evidence: float
    gap: float = 0.0
    lost: float = 0.0

    @property
    def tree(self) -> CountTree:
        """The cells."""
        return self.windows.sums.tree

    @cached_property
    def means(self) -> Floats:
        """The posterior mean of each cell: they add up."""
        lows = self.windows.low
        return np.array([lows[node] + law @ np.arange(len(law)) for node, law in enumerate(self.laws)])

    @cached_property
    def deviations(self) -> Floats:
        """The posterior standard deviation of each cell."""
        squares = []
        for law, mean, low in zip(self.laws, self.means, self.windows.low, strict=False):
            squares.append(float(law @ np.square(low + np.arange(len(law)) - mean)))
        return np.asarray(np.sqrt(np.array(squares)))

    def quantiles(self, share: float) -> tuple[int, ...]:
        """For each cell the smallest count with at least this share of the posterior at or below it."""
        lows = self.windows.low
        return tuple(
            lows[node] + min(int(np.searchsorted(np.cumsum(law), share)), len(law) - 1)
            for node, law in enumerate(self.laws)
        )

    def intervals(self, coverage: float = 0.95) -> tuple[tuple[int, int], ...]:
        """For each cell counts low ≤ high with at most (1 − coverage)/2 of the posterior below and above."""
        if not 0 < coverage < 1:
            raise InputError("coverage must be strictly between 0 and 1, got another: 0.95 is usual", "coverage")
        tail = (1 - coverage) / 2
        return tuple(zip(self.quantiles(tail), self.quantiles(1 - tail), strict=True))


def posterior(windows: Windows, prior: Divisions, guide: LeastSquares) -> Posterior:
    """The posterior within the windows. `guide` places the tilts, and changes rounding alone."""
    goals = guide_goals(guide)
    for _ in range(MAX_TRIES):
        result = _posterior(windows, prior, goals)
        if result.lost <= MAX_LOST and result.gap <= MAX_GAP * (1 + float(np.abs(result.means).max())):
            return result
        goals = result.means.tolist()
    raise UndecidedError(
        f"posterior weights must be within the range of doubles, got means that differ by {result.gap:.1e} from their "
        f"sums, and a share of {min(result.lost, 1.0):.1e} that may be lost: least squares needs none"
    )


def _posterior(windows: Windows, prior: Divisions, goals: Sequence[float | None]) -> Posterior:
    """One pass up and one down, by how much the means fail to add up, and a bound on what was lost."""
    run = _Propagation(windows, prior, goals)
    run.pass_up()
    result = Posterior(windows, prior, run.pass_down(), tuple(run.messages), run.log_evidence)
    return replace(result, gap=_gap_of_means(result), lost=run.lost)


def guide_goals(guide: LeastSquares) -> list[float | None]:
    """Where least squares says that each count is about; None where it has no estimate."""
    return [guide.rounded(node) for node in range(guide.tree.size)]


def _gap_of_means(result: Posterior) -> float:
    means, gap = result.means, 0.0
    for node, parts in enumerate(result.tree.parts):
        if parts:
            gap = max(gap, abs(float(means[list(parts)].sum() - means[node])))
    return gap


class _Propagation:
    """Messages up and down. `messages[v]` is m_v times e^(τ(x − low)), τ that of the cell it is part of."""

    def __init__(self, windows: Windows, prior: Divisions, goals: Sequence[float | None]) -> None:
        self.windows, self.prior, self.goals = windows, prior, goals
        self.sums: PartialSums = windows.sums
        self.tree = self.sums.tree
        self.low, self.high = windows.low, windows.high
        self.messages: list[Floats | None] = [None] * self.sums.size
        self.own_logs: dict[int, Floats] = {}  # of cells with parts: their own factors, the parts' tilt undone
        self.sum_logs: dict[int, Floats] = {}  # and ln of the sum of their parts, tilted
        self.has_zeros = False  # are there counts that an answer rules out
        self.lost = 0.0
        self.factors: dict[FactorKey, tuple[Floats, float]] = {}
        self.tilts = [0.0] * self.tree.size
        self.log_evidence = 0.0

    def pass_up(self) -> None:
        """All m, terms before what they are terms of: the partial sums of a cell come right before it."""
        pending: list[int] = []
        for node in self.sums.order:
            if node >= self.tree.size:
                pending.append(node)
                continue
            if self.sums.terms[node]:
                self.tilt_parts(node)
            for partial in pending:
                self.set_message(partial, _log(self.sum_message(partial)))
            pending = []
            self.set_message(node, self.cell_logs(node))
        if self.sums.order:
            self.log_evidence += math.log(float(self.message(0).sum()))

    def message(self, node: int) -> Floats:
        """m of a node that was reached."""
        message = self.messages[node]
        assert message is not None
        return message

    def set_message(self, node: int, logs: Floats) -> None:
        """Set m from logarithms, its largest weight 1."""
        top = float(logs.max())
        if not math.isfinite(top):
            cell = self.tree.label(node) if node < self.tree.size else "a sum of cells"
            if self.has_zeros:
                raise InputError(f"answers must be of one table, got some that leave no count for {cell}", "answers")
            raise UndecidedError(
                f"posterior weights must be within the range of doubles, got none that is for {cell}: least squares "
                "needs none, and a prior divisions:a with an a nearer to 1 smaller ones"
            )
        self.log_evidence += top
        self.messages[node] = np.exp(logs - top)

    def cell_logs(self, node: int) -> Floats:
        """ln m of a cell: its own factors, and the sum of its parts without their tilt."""
        logs = self.own_factors(node)
        terms = self.sums.terms[node]
        if not terms:
            return logs
        first = sum(self.low[part] for part in self.present_parts(node))
        logs = logs - self.tilts[node] * (np.arange(self.low[node], self.high[node] + 1) - first)
        self.own_logs[node], self.sum_logs[node] = logs, _log(self.sum_message(node))
        return np.asarray(logs + self.sum_logs[node])

    def own_factors(self, node: int) -> Floats:
        """ln of a cell's own factors: those of the prior, and its likelihoods. Cells that are alike have them once."""
        low, high, part_count = self.low[node], self.high[node], self.sums.part_counts[node]
        answers = self.tree.answers[node]
        key = low, high, part_count, node > 0, tuple((id(answer.law), answer.value) for answer in answers)
        if key not in self.factors:
            logs, counts = self.prior.log_factors(low, high, part_count, node > 0), np.arange(low, high + 1)
            for answer in answers:
                logs = logs + answer.law.log_likelihood(answer.value, counts)
            self.has_zeros |= bool(np.isneginf(logs).any())
            self.factors[key] = logs, self.prior.log_factor(low, part_count, node > 0)
        logs, constant = self.factors[key]
        self.log_evidence += constant
        return logs

    def sum_message(self, node: int) -> Floats:
        """The convolution of the terms' m, within the node's window."""
        terms = self.sums.terms[node]
        product, first = self.message(terms[0]), sum(self.low[term] for term in terms)
        if len(terms) == 2:
            product = np.convolve(product, self.message(terms[1]))
        return _cut(product, first, self.low[node], self.high[node])

    def present_parts(self, node: int) -> list[int]:
        """The parts that are not known to be empty."""
        return [part for part in self.tree.parts[node] if self.tree.known_total(part) != 0]

    def tilt_parts(self, node: int) -> None:
        """Multiply the m of a cell's parts by e^(τ(x − low))."""
        parts = self.present_parts(node)
        logs = [_log(self.message(part)) for part in parts]
        tilt = self.tilts[node] = _tilt(logs, self.goal(node) - sum(self.low[part] for part in parts))
        for part, log in zip(parts, logs, strict=True):
            self.set_message(part, log + tilt * np.arange(len(log)))

    def goal(self, node: int) -> float:
        """Where a cell's count is about, within its window."""
        low, high = self.low[node], self.high[node]
        guess = self.goals[node]
        if guess is None or high - low <= 1:
            return (low + high) / 2
        return min(max(guess, low + 0.3), high - 0.3)

    def pass_down(self) -> tuple[Floats, ...]:
        """The laws of all cells, from the weights of all else, which are let go of as soon as they were used."""
        laws: list[Floats] = [np.ones(1)] * self.tree.size
        outside: list[Floats | None] = [None] * self.sums.size
        outside[0] = np.ones(self.high[0] - self.low[0] + 1)
        for node in reversed(self.sums.order):
            weights = outside[node]
            assert weights is not None
            outside[node] = None
            if node < self.tree.size:
                law = self.message(node) * weights
                laws[node] = law / self.checked_share(float(law.sum()), len(law))
                weights = self.weights_of_sum(node, weights)
            terms = self.sums.terms[node]
            for term in terms:
                rest = next((other for other in terms if other != term), None)
                outside[term] = self.outside(term, rest, weights, self.low[node])
        return tuple(laws)

    def checked_share(self, share: float, size: int) -> float:
        """The sum of so many products of laws whose largest weights were 1; what may be lost of it is noted."""
        self.lost = max(self.lost, LEAST_DOUBLE * size / share if share else math.inf)
        return share or 1.0

    def weights_of_sum(self, node: int, weights: Floats) -> Floats:
        """The weight of all but a cell's parts, for each count of the cell, with its parts' tilt undone.

        It may be largest where the parts have hardly any weight, so it is kept where the count has a chance only. Where
        the weight of the parts is too small for a double it must not be so large that the count had a chance.
        """
        if not self.sums.terms[node]:
            return weights
        tilt = self.tilts[self.tree.parents[node]] if node else 0.0
        logs = _log(weights) + tilt * np.arange(len(weights)) + self.own_logs.pop(node)
        sum_logs = self.sum_logs.pop(node)
        scores = logs + sum_logs
        top = float(scores.max())
        unseen = logs[sum_logs < LOG_SMALL]
        if len(unseen):
            self.lost = max(self.lost, len(logs) * math.exp(min(float(unseen.max()) + LOG_LEAST - top, 0.0)))
        kept = np.where(scores > top + math.log(LEAST_SHARE), logs, -np.inf)
        return np.asarray(np.exp(kept - kept.max()))

    def outside(self, term: int, rest: int | None, weights: Floats, low: int) -> Floats:
        """D of a term, from those of the sum with the other term, which is None where there is none.

        Where it is largest at counts that have no chance, it is kept at the others only.
        """
        if rest is not None:
            weights, low = np.convolve(weights, self.message(rest)[::-1]), low - self.high[rest]
        result, message = _cut(weights, low, self.low[term], self.high[term]), self.message(term)
        if self.checked_share(float(result @ message), len(message)) < SMALL_SHARE:
            law = result * message
            result = np.where(law >= LEAST_SHARE * law.max(), result, 0.0)
        top = float(result.max())
        return np.asarray(result / top) if top else np.ones(len(result))


def _tilt(logs: list[Floats], goal: float) -> float:
    """τ with which the means of these laws, from their low ends, add up to about the goal; by bisection."""
    width = max(map(len, logs))
    table = np.full((len(logs), width), -np.inf)
    for row, log in zip(table, logs, strict=True):
        row[: len(log)] = log
    places = np.arange(width)
    high = min(MAX_TILT, MAX_LOG_RANGE / width)
    low, tilt = -high, 0.0
    for _ in range(TILT_STEPS):
        tilt = (low + high) / 2
        scores = table + tilt * places
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        excess = float((weights @ places / weights.sum(axis=1)).sum()) - goal
        if abs(excess) < NEAR_GOAL * (100 + abs(goal)):
            break
        low, high = (low, tilt) if excess > 0 else (tilt, high)
    return tilt


def _log(weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def _cut(weights: Floats, first: int, low: int, high: int) -> Floats:
    """The weights of the counts from low to high, 0 where there are none; `first` is the count of the first."""
    start, stop = low - first, high - first + 1
    if start >= 0 and stop <= len(weights):
        return weights[start:stop]
    result = np.zeros(high - low + 1)
    inner = weights[max(start, 0) : max(stop, 0)]
    offset = max(-start, 0)
    result[offset : offset + len(inner)] = inner
    return result
