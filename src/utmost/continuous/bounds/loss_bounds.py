"""Certified lower and upper bounds on a consumer's expected loss with a mechanism over an interval (FMM21 Def. 2).

    $(π, K, ℓ) = ∫ inf_w ∫ ℓ(w, x) π(x) K(x)(dy) dx

with the infimum over readings w, for each answer y on its own. The interval is cut into cells; a stage of the mechanism
turns these into finitely many columns whose infima bound the loss from below and from above (`columns`), a reader
encloses each infimum (`best_readings`), and cells are split where the bounds are
apart until they are as close as asked. Every bound is a ball's end or a double rounded outwards; plain doubles only
choose readings and cells.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from utmost.continuous import losses
from utmost.continuous.bounds.best_readings import (
    Linear,
    Reader,
    ReadingBounds,
    Squared,
    convex_reader,
    step_reader,
    unimodal_reader,
)
from utmost.continuous.bounds.columns import Answer, CellPartition, Stage
from utmost.continuous.densities import Density, UserDensity
from utmost.continuous.losses import ContinuousLoss
from utmost.continuous.mechanisms import Mechanism
from utmost.continuous.user_kernels import Kernel
from utmost.errors import InputError
from utmost.exact import ball, ball_endpoints, decimal, rational
from utmost.exact.working_precision import working_precision
from utmost.result_values import short_repr

Progress: TypeAlias = Callable[[int, float, float], None]

FIRST_STAGE_CELLS = 32  # cells of the first stage, about
MAX_STEP_CELLS = 100  # of a first grid that follows a step loss
MAX_PARTS_PER_CELL = 6  # parts of a cell at most, from one stage to the next
TARGET_FRACTION = 0.8  # of the width asked for
FIRST_TARGET = DEFAULT_RELATIVE_WIDTH = Fraction(
    1, 1000
)  # of the first stage, and of the loss, where none is asked for
MAX_UNASKED_CELLS, MAX_FIRST_ORDER_CELLS = (
    20000,
    1000,
)  # cells beyond which no stage follows where no width is asked for
MAX_STEEPNESS = 600  # ε times the interval's length, where doubles hold e^{ε·length}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most cells; from how many on the bounds fall at their order; and after how many stages they are stuck."""

    max_cells: int
    asymptotic_cells: int
    patience_stages: int


DEFAULT_LIMITS = Limits(10**7, 200, 3)
KERNEL_LIMITS = Limits(2000, 100, 1)  # every cell of answers is asked for at every cell of inputs


@dataclass(frozen=True, slots=True)
class Remap:
    """A reading for every answer: the rule that attains the upper bound."""

    __repr__ = short_repr

    answers: tuple[Answer, ...]
    readings: tuple[Fraction, ...]

    def __call__(self, answer: object) -> Fraction:
        """The reading of an answer: a number, or the label of a channel's output."""
        if self.answers[0].label:
            return self._reading_of_label(str(answer))
        y = rational(answer, "answer")
        end_indices = (0, len(self.answers) - 1)
        k = next((k for k in end_indices if self.answers[k].low == y == self.answers[k].high), None)
        if k is None:
            k = max(bisect_right([a.low for a in self.answers], y) - 1, 0)
        if not self.answers[k].low <= y <= self.answers[k].high:
            raise InputError(
                "answer must be one that the mechanism gives: it is between two of them or outside", "answer"
            )
        return self.readings[k]

    def _reading_of_label(self, label: str) -> Fraction:
        readings = [reading for a, reading in zip(self.answers, self.readings, strict=True) if a.label == label]
        if not readings:
            raise InputError("answer must be an output of the channel", "answer")
        return readings[0]


@dataclass(frozen=True, slots=True)
class LossBounds:
    """lower ≤ $(π, K, ℓ) ≤ upper, both certified; `remap` costs at most `upper`; `cells` were needed."""

    __repr__ = short_repr

    lower: Fraction
    upper: Fraction
    cells: int
    remap: Remap

    @property
    def width(self) -> Fraction:
        """upper − lower."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class _StageBounds:
    """The bounds of one stage, and how far apart they are at each cell of x and at each cell of answers."""

    bounds: LossBounds
    input_gaps: list[float]
    answer_gaps: list[float]
    order: int
    needs_equal_cells: bool


def bound_expected_loss(
    density: Density, mechanism: Mechanism, loss: ContinuousLoss, width: object, progress: Progress | None = None
) -> LossBounds:
    """Two-sided certified bounds on $(π, K, ℓ) (FMM21 Def. 2) that are at most `width` apart.

    A width that would need more than 10^7 cells (2000 for a user's kernel), or that cannot be had at all, is refused
    with what is attainable.

    >>> from utmost.continuous import densities, interval, losses, mechanisms
    >>> from utmost.exact import epsilon
    >>> unit = interval(0, 1)
    >>> bounds = bound_expected_loss(
    ...     densities.uniform_density(unit),
    ...     mechanisms.mechanism_by_name("laplace", unit, epsilon(2)),
    ...     losses.absolute,
    ...     "1e-3",
    ... )
    >>> bounds.lower <= bounds.upper <= bounds.lower + Fraction(1, 1000), round(float(bounds.lower), 2)
    (True, 0.21)
    """
    *_, bounds = _reported_stages(loss_stages(density, mechanism, loss, width), progress)
    return bounds


def _reported_stages(stages: Iterator[LossBounds], progress: Progress | None) -> Iterator[LossBounds]:
    for bounds in stages:
        if progress is not None:
            progress(bounds.cells, float(bounds.lower), float(bounds.upper))
        yield bounds


def loss_stages(
    density: Density, mechanism: Mechanism, loss: ContinuousLoss, width: object | None
) -> Iterator[LossBounds]:
    """The bounds of `bound_expected_loss` stage by stage, the last ones at most `width` apart.

    Without a width they end a thousandth of the loss apart, or where they can be brought no closer.
    """
    if width is not None and rational(width, "width") <= 0:
        raise InputError(
            f"width must be > 0, got {decimal(rational(width))}: it is how far apart the bounds may be", "width"
        )
    if density.interval != mechanism.interval:
        raise InputError(
            f"density and mechanism must share their interval, got {density.interval} and {mechanism.interval}",
            "density",
        )
    aligned_cells = _aligned_cells(mechanism, loss)
    limits = KERNEL_LIMITS if isinstance(mechanism, Kernel) else DEFAULT_LIMITS
    grid = CellPartition(tuple(mechanism.interval.grid(aligned_cells * -(-FIRST_STAGE_CELLS // aligned_cells))))
    target = FIRST_TARGET if width is None else rational(width, "width")
    history: list[tuple[int, float]] = []
    while True:
        stage_bounds = _bound_stage(density, mechanism, loss, grid, target)
        bounds = stage_bounds.bounds
        yield bounds
        if width is None and not history:
            target = bounds.upper * DEFAULT_RELATIVE_WIDTH
        if bounds.width <= target:
            return
        if width is None and bounds.cells > (MAX_UNASKED_CELLS if stage_bounds.order > 1 else MAX_FIRST_ORDER_CELLS):
            return
        history.append((grid.cells, float(bounds.width)))
        try:
            _refuse_if_stuck(history, target, limits)
            grid = _refine(grid, stage_bounds, float(target), aligned_cells, limits)
        except InputError:
            if width is None:
                return
            raise


def _aligned_cells(mechanism: Mechanism, loss: ContinuousLoss) -> int:
    """A number of equal cells that puts the mechanism's jumps on edges, and a step loss's too where it is small."""
    if loss.jump is None:
        return mechanism.parts
    step_cells = (loss.jump / mechanism.interval.length).denominator
    return math.lcm(mechanism.parts, step_cells) if step_cells <= MAX_STEP_CELLS else mechanism.parts


def _bound_stage(
    density: Density, mechanism: Mechanism, loss: ContinuousLoss, grid: CellPartition, target: Fraction
) -> _StageBounds:
    """One stage: its columns, all read, added up."""
    bits = _working_bits(mechanism, target)
    with working_precision(bits):
        reader = reader_of(loss, grid, mechanism, masses_only=isinstance(density, UserDensity))
        stage = mechanism.stage(density, grid, reader.degree, bits)
        readings = _read_columns(stage, reader)
        lower = sum((w * r.lower for w, r in zip(stage.lower, readings, strict=True)), ball(0, bits))
        upper = sum((w * r.upper for w, r in zip(stage.upper, readings, strict=True)), ball(0, bits))
        answer_readings = tuple(readings[answer.column].reading for answer in stage.answers)
        bounds = LossBounds(
            max(ball_endpoints(lower)[0], Fraction(0)),
            ball_endpoints(upper)[1],
            grid.cells,
            Remap(tuple(stage.answers), answer_readings),
        )
        input_gaps, answer_gaps = _gaps_by_cell(stage, readings, grid)
    return _StageBounds(bounds, input_gaps, answer_gaps, min(stage.order, reader.order), reader.uniform)


def _working_bits(mechanism: Mechanism, target: Fraction) -> int:
    """Enough for moments about a distant 0, a width this small, and a law this near to telling nothing."""
    interval, steepness = mechanism.interval, float(mechanism.steepness)
    relative_distance = max(abs(interval.low), abs(interval.high)) / interval.length
    extra_bits = math.ceil(-math.log2(steepness)) if 0 < steepness < 1 else 0
    return 128 + 3 * int(relative_distance).bit_length() + (1 / target).__ceil__().bit_length() + 3 * extra_bits


def reader_of(loss: ContinuousLoss, grid: CellPartition, mechanism: Mechanism, *, masses_only: bool) -> Reader:
    """How this loss is read on this grid; `masses_only` densities have masses, but no means within their cells."""
    if loss == losses.squared:
        return Squared()
    if loss.slopes is not None:
        under, over = loss.slopes
        return Linear(ball(under, 64), ball(over, 64))
    if mechanism.steepness > MAX_STEEPNESS:
        raise InputError(
            f"epsilon times the interval's length must be at most {MAX_STEEPNESS} for the loss "
            f"{loss.name}, got {decimal(float(mechanism.steepness))}",
            hint="take absolute, squared or asymmetric",
        )
    width = mechanism.interval.length / grid.cells
    if loss.jump is not None:
        return step_reader(loss.jump, width)
    return (convex_reader if loss.convex and not masses_only else unimodal_reader)(loss, width, grid.cells)


def _read_columns(stage: Stage, reader: Reader) -> list[ReadingBounds]:
    """Each column's reading, the one before as a hint: readings do not jump as answers grow."""
    readings: list[ReadingBounds] = []
    for column in stage.columns:
        readings.append(reader.read(column, readings[-1].cell if readings else 0))
    return readings


def _gaps_by_cell(
    stage: Stage, readings: Sequence[ReadingBounds], grid: CellPartition
) -> tuple[list[float], list[float]]:
    """Where the bounds are apart: in x at the readings' cells, in y where a merged column pays more than its nodes."""
    input_gaps, answer_gaps = [0.0] * grid.cells, [0.0] * grid.cells
    for low, high, reading in zip(stage.lower, stage.upper, readings, strict=True):
        input_gaps[reading.cell] += max(float(low), float(high)) * float(reading.upper - reading.lower)
    if stage.columns[0].is_uncertain:
        input_gaps = [sum(input_gaps) / grid.cells] * grid.cells
    for group in stage.groups:
        lower_sum = sum(w * readings[k].upper for k, w in group.lower)
        gap = max(float(readings[group.upper].upper - lower_sum), 0.0) / (group.stop - group.start)
        for i in range(group.start, group.stop):
            answer_gaps[i] += gap
    return input_gaps, answer_gaps


def _refuse_if_stuck(history: Sequence[tuple[int, float]], target: Fraction, limits: Limits) -> None:
    """Bounds that some stages have not brought closer never will be: density or kernel are known no better."""
    stages = limits.patience_stages + 1
    if (
        len(history) >= stages
        and history[-1][1] > 0.9 * history[-stages][1]
        and history[-1][0] >= limits.asymptotic_cells
    ):
        smallest_width = min(width for _, width in history)
        raise InputError(
            f"width must be at least about {decimal(smallest_width * 1.05, 2)} here, got "
            f"{decimal(target, 3)}: the density, the kernel or the arithmetic is known no better",
            "width",
        )


def _refine(
    grid: CellPartition, stage_bounds: _StageBounds, target: float, aligned_cells: int, limits: Limits
) -> CellPartition:
    if stage_bounds.needs_equal_cells:
        return _refine_equally(grid, stage_bounds, target, aligned_cells, limits)
    return _split_cells(grid, stage_bounds, target, limits)


def _split_cells(grid: CellPartition, stage_bounds: _StageBounds, target: float, limits: Limits) -> CellPartition:
    """Each cell in as many parts as it needs.

    A cell whose share g of the distance falls as m^−p in m parts: Σ m is least, for Σ g·m^−p = target, where m is
    proportional to g^(1/(p+1)); that is m = g^(1/(p+1))·(S/target)^(1/p) with S = Σ g^(1/(p+1)).
    """
    order, aim = stage_bounds.order, TARGET_FRACTION * target
    roots = [
        (a + b) ** (1 / (order + 1)) for a, b in zip(stage_bounds.input_gaps, stage_bounds.answer_gaps, strict=True)
    ]
    total = sum(roots)
    scale = (total / aim) ** (1 / order)
    needed_cells, attainable = (
        sum(max(1.0, root * scale) for root in roots),
        total * (total / limits.max_cells) ** order,
    )
    _refuse_if_too_many(grid, needed_cells, attainable, target, limits)
    edges = [grid.edges[0]]
    for root, (u, v) in zip(roots, pairwise(grid.edges), strict=True):
        count = min(max(math.ceil(root * scale), 1), MAX_PARTS_PER_CELL)
        edges += [u + (v - u) * Fraction(k, count) for k in range(1, count + 1)]
    if len(edges) == len(grid.edges):
        edges = [point for u, v in pairwise(grid.edges) for point in (u, (u + v) / 2)] + [grid.edges[-1]]
    return CellPartition(tuple(edges))


def _refine_equally(
    grid: CellPartition, stage_bounds: _StageBounds, target: float, aligned_cells: int, limits: Limits
) -> CellPartition:
    """Equal cells again: more of them for x, and fewer parts the answers where only x needs them."""
    input_gap, answer_gap, aim = (
        sum(stage_bounds.input_gaps),
        sum(stage_bounds.answer_gaps),
        TARGET_FRACTION * target / 2,
    )
    answers = grid.cells // grid.ratio
    answer_growth = min(max((answer_gap / aim) ** (1 / 2), 1.0), float(MAX_PARTS_PER_CELL))
    needed_cells = grid.cells * max((input_gap / aim) ** (1 / stage_bounds.order), (answer_gap / aim) ** (1 / 2), 1.0)
    attainable = 2 * input_gap * (grid.cells / limits.max_cells) ** stage_bounds.order
    _refuse_if_too_many(grid, needed_cells, attainable, target, limits)
    input_growth = min(max((input_gap / aim) ** (1 / stage_bounds.order), 1.0), float(MAX_PARTS_PER_CELL))
    if stage_bounds.order == 2:
        count = aligned_cells * math.ceil(grid.cells * max(input_growth, answer_growth, 1.2) / aligned_cells)
        return CellPartition(_equal_edges(grid, count))
    answers = aligned_cells * math.ceil(answers * answer_growth / aligned_cells)
    ratio = max(math.ceil(grid.cells * input_growth / answers), 1 + (answer_growth == 1.0 and input_growth < 1.2))
    return CellPartition(_equal_edges(grid, answers * ratio), ratio)


def _equal_edges(grid: CellPartition, count: int) -> tuple[Fraction, ...]:
    low, length = grid.edges[0], grid.edges[-1] - grid.edges[0]
    return tuple(low + length * Fraction(k, count) for k in range(count + 1))


def _refuse_if_too_many(
    grid: CellPartition, needed_cells: float, attainable: float, target: float, limits: Limits
) -> None:
    if needed_cells > limits.max_cells and grid.cells >= limits.asymptotic_cells:
        limit = "10^7" if limits is DEFAULT_LIMITS else str(limits.max_cells)
        raise InputError(
            f"width must be at least about {decimal(attainable * 2, 1)} here, got {decimal(target, 3)}: "
            f"it would need about {needed_cells:.0e} cells, more than {limit}",
            "width",
        )
