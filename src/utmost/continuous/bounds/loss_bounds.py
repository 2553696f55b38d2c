"""What a mechanism over an interval costs a consumer, certified from both sides (FMM21 Def. 2).

    $(π, K, ℓ) = ∫ inf_w ∫ ℓ(w, x) π(x) K(x)(dy) dx

with the infimum over readings w, for each answer y on its own. The interval is cut into cells; a stage of the mechanism
turns these into finitely many columns whose infima bound the loss from below and from above (`stage`), a reader
encloses each infimum (`prefix_readers`, `table_readers`), and cells are split where the bounds are apart until they are
as close as asked. Every bound is a ball's end or a double rounded outwards; plain doubles only choose readings and
cells.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from utmost.continuous import losses
from utmost.continuous.bounds.prefix_readers import Linear, Reader, ReadingBounds, Squared
from utmost.continuous.bounds.stage import Answer, Grid, Stage
from utmost.continuous.bounds.table_readers import convex_reader, step_reader, unimodal_reader
from utmost.continuous.densities.density import Density, UserDensity
from utmost.continuous.losses import ContinuousLoss
from utmost.continuous.mechanisms import Mechanism
from utmost.continuous.user_kernels import Kernel
from utmost.errors import InputError
from utmost.exact import ball, ball_ends, decimal, rational
from utmost.exact.working_precision import working_precision

Progress: TypeAlias = Callable[[int, float, float], None]

FIRST = 32  # cells of the first stage, about
MOST_PARTS = 100  # of a first grid that follows a step loss
SPLITS = 6  # parts of a cell at most, from one stage to the next
AIM = 0.8  # of the width asked for
STEEPEST = 600  # ε times the interval's length, where doubles hold e^{ε·length}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most cells; from how many on the bounds fall as they will; and after how many stages they are stuck."""

    cells: int
    trusted: int
    patience: int


LIMITS = Limits(10**7, 200, 3)
OF_KERNELS = Limits(2000, 100, 1)  # every cell of answers is asked for at every cell of inputs


@dataclass(frozen=True, slots=True)
class Remap:
    """A reading for every answer: the rule that attains the upper bound."""

    answers: tuple[Answer, ...]
    readings: tuple[Fraction, ...]

    def __call__(self, answer: object) -> Fraction:
        """The reading of an answer: a number, or the label of a channel's output."""
        if self.answers[0].label:
            return self._labelled(str(answer))
        y = rational(answer, "answer")
        ends = (0, len(self.answers) - 1)
        k = next((k for k in ends if self.answers[k].low == y == self.answers[k].high), None)
        if k is None:
            k = max(bisect_right([a.low for a in self.answers], y) - 1, 0)
        if not self.answers[k].low <= y <= self.answers[k].high:
            raise InputError("answer must be one that the mechanism gives: it is between two of them or outside")
        return self.readings[k]

    def _labelled(self, label: str) -> Fraction:
        found = [reading for a, reading in zip(self.answers, self.readings, strict=True) if a.label == label]
        if not found:
            raise InputError("answer must be an output of the channel")
        return found[0]


@dataclass(frozen=True, slots=True)
class LossBounds:
    """lower ≤ $(π, K, ℓ) ≤ upper, both certified; `remap` costs at most `upper`; `cells` were needed."""

    lower: Fraction
    upper: Fraction
    cells: int
    remap: Remap

    @property
    def width(self) -> Fraction:
        """upper − lower."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class _Found:
    """The bounds of one stage and where they are apart: `inner` at each cell of x, `outer` at each cell of answers."""

    bounds: LossBounds
    inner: list[float]
    outer: list[float]
    order: int
    uniform: bool


def bound_expected_loss(
    density: Density, mechanism: Mechanism, loss: ContinuousLoss, width: object, progress: Progress | None = None
) -> LossBounds:
    """Two-sided certified bounds on $(π, K, ℓ) (FMM21 Def. 2) that are at most `width` apart.

    A width that would need more than 10^7 cells (2000 for a user's kernel), or that cannot be had at all, is refused
    with what is attainable.

    >>> from utmost.continuous import interval, losses, mechanisms
    >>> from utmost.continuous.densities import density
    >>> from utmost.exact import epsilon
    >>> unit = interval.interval(0, 1)
    >>> found = bound_expected_loss(
    ...     density.uniform_density(unit),
    ...     mechanisms.mechanism_by_name("laplace", unit, epsilon(2)),
    ...     losses.absolute,
    ...     "1e-3",
    ... )
    >>> found.lower <= found.upper <= found.lower + Fraction(1, 1000), round(float(found.lower), 2)
    (True, 0.21)
    """
    target = rational(width, "width")
    if target <= 0:
        raise InputError(f"width must be > 0, got {decimal(target)}: it is how far apart the bounds may be")
    if density.interval != mechanism.interval:
        raise InputError(
            f"density and mechanism must share their interval, got {density.interval} and {mechanism.interval}"
        )
    parts, limits = _parts(mechanism, loss), OF_KERNELS if isinstance(mechanism, Kernel) else LIMITS
    grid, history = Grid(tuple(mechanism.interval.grid(parts * -(-FIRST // parts)))), []
    while True:
        found = _stage(density, mechanism, loss, grid, target)
        bounds = found.bounds
        if progress is not None:
            progress(bounds.cells, float(bounds.lower), float(bounds.upper))
        if bounds.width <= target:
            return bounds
        history.append((grid.cells, float(bounds.width)))
        _refuse_if_stuck(history, target, limits)
        grid = _finer(grid, found, float(target), parts, limits)


def _parts(mechanism: Mechanism, loss: ContinuousLoss) -> int:
    """A number of equal cells that puts the mechanism's jumps on edges, and a step loss's too where it is small."""
    if not isinstance(loss, losses.Step):
        return mechanism.parts
    own = (loss.h / mechanism.interval.length).denominator
    return math.lcm(mechanism.parts, own) if own <= MOST_PARTS else mechanism.parts


def _stage(density: Density, mechanism: Mechanism, loss: ContinuousLoss, grid: Grid, target: Fraction) -> _Found:
    """One stage: its columns, all read, added up."""
    bits = _bits(mechanism, target)
    with working_precision(bits):
        reader = reader_of(loss, grid, mechanism, rough=isinstance(density, UserDensity))
        stage = mechanism.stage(density, grid, reader.degree, bits)
        readings = _read(stage, reader)
        lower = sum((w * r.lower for w, r in zip(stage.lower, readings, strict=True)), ball(0, bits))
        upper = sum((w * r.upper for w, r in zip(stage.upper, readings, strict=True)), ball(0, bits))
        chosen = tuple(readings[answer.column].reading for answer in stage.answers)
        bounds = LossBounds(
            max(ball_ends(lower)[0], Fraction(0)), ball_ends(upper)[1], grid.cells, Remap(tuple(stage.answers), chosen)
        )
        inner, outer = _doubts(stage, readings, grid)
    return _Found(bounds, inner, outer, min(stage.order, reader.order), reader.uniform)


def _bits(mechanism: Mechanism, target: Fraction) -> int:
    """Enough for moments about a distant 0, a width this small, and a law this near to telling nothing."""
    interval, steep = mechanism.interval, float(mechanism.steepness)
    away = max(abs(interval.low), abs(interval.high)) / interval.length
    faint = math.ceil(-math.log2(steep)) if 0 < steep < 1 else 0
    return 128 + 3 * int(away).bit_length() + (1 / target).__ceil__().bit_length() + 3 * faint


def reader_of(loss: ContinuousLoss, grid: Grid, mechanism: Mechanism, *, rough: bool) -> Reader:
    """How this loss is read on this grid; `rough` densities have masses, but no means within their cells."""
    if loss == losses.squared:
        return Squared()
    if isinstance(loss, losses.Linear):
        return Linear(ball(loss.under, 64), ball(loss.over, 64))
    if mechanism.steepness > STEEPEST:
        raise InputError(
            f"epsilon times the interval's length must be at most {STEEPEST} for the loss {loss.name}, "
            f"got {decimal(float(mechanism.steepness))}: take absolute, squared or asymmetric"
        )
    width = mechanism.interval.length / grid.cells
    if isinstance(loss, losses.Step):
        return step_reader(loss.h, width)
    return (convex_reader if loss.convex and not rough else unimodal_reader)(loss, width, grid.cells)


def _read(stage: Stage, reader: Reader) -> list[ReadingBounds]:
    """Each column's reading, the one before as a hint: readings do not jump as answers grow."""
    readings: list[ReadingBounds] = []
    for column in stage.columns:
        readings.append(reader.read(column, readings[-1].cell if readings else 0))
    return readings


def _doubts(stage: Stage, readings: Sequence[ReadingBounds], grid: Grid) -> tuple[list[float], list[float]]:
    """Where the bounds are apart: in x at the readings' cells, in y where a merged column pays more than its nodes."""
    inner, outer = [0.0] * grid.cells, [0.0] * grid.cells
    for low, high, reading in zip(stage.lower, stage.upper, readings, strict=True):
        inner[reading.cell] += max(float(low), float(high)) * float(reading.upper - reading.lower)
    if stage.columns[0].blurred:
        inner = [sum(inner) / grid.cells] * grid.cells
    for group in stage.groups:
        least = sum(w * readings[k].upper for k, w in group.lower)
        apart = max(float(readings[group.upper].upper - least), 0.0) / (group.stop - group.start)
        for i in range(group.start, group.stop):
            outer[i] += apart
    return inner, outer


def _refuse_if_stuck(history: Sequence[tuple[int, float]], target: Fraction, limits: Limits) -> None:
    """Bounds that some stages have not brought closer never will be: density or kernel are known no better."""
    ago = limits.patience + 1
    if len(history) >= ago and history[-1][1] > 0.9 * history[-ago][1] and history[-1][0] >= limits.trusted:
        least = min(width for _, width in history)
        raise InputError(
            f"width must be at least about {decimal(least * 1.05, 2)} here, got {decimal(target, 3)}: "
            "the density, the kernel or the arithmetic is known no better"
        )


def _finer(grid: Grid, found: _Found, target: float, parts: int, limits: Limits) -> Grid:
    if found.uniform:
        return _all_finer(grid, found, target, parts, limits)
    return _split(grid, found, target, limits)


def _split(grid: Grid, found: _Found, target: float, limits: Limits) -> Grid:
    """Each cell in as many parts as it needs.

    A cell whose share g of the distance falls as m^−p in m parts: Σ m is least, for Σ g·m^−p = target, where m is
    proportional to g^(1/(p+1)); that is m = g^(1/(p+1))·(S/target)^(1/p) with S = Σ g^(1/(p+1)).
    """
    order, aim = found.order, AIM * target
    roots = [(a + b) ** (1 / (order + 1)) for a, b in zip(found.inner, found.outer, strict=True)]
    total = sum(roots)
    scale = (total / aim) ** (1 / order)
    needed, attainable = sum(max(1.0, root * scale) for root in roots), total * (total / limits.cells) ** order
    _refuse_if_too_many(grid, needed, attainable, target, limits)
    edges = [grid.edges[0]]
    for root, (u, v) in zip(roots, pairwise(grid.edges), strict=True):
        count = min(max(math.ceil(root * scale), 1), SPLITS)
        edges += [u + (v - u) * Fraction(k, count) for k in range(1, count + 1)]
    if len(edges) == len(grid.edges):
        edges = [point for u, v in pairwise(grid.edges) for point in (u, (u + v) / 2)] + [grid.edges[-1]]
    return Grid(tuple(edges))


def _all_finer(grid: Grid, found: _Found, target: float, parts: int, limits: Limits) -> Grid:
    """Equal cells again: more of them for x, and fewer parts the answers where only x needs them."""
    inner, outer, aim = sum(found.inner), sum(found.outer), AIM * target / 2
    answers = grid.cells // grid.ratio
    more_answers = min(max((outer / aim) ** (1 / 2), 1.0), float(SPLITS))
    needed = grid.cells * max((inner / aim) ** (1 / found.order), (outer / aim) ** (1 / 2), 1.0)
    attainable = 2 * inner * (grid.cells / limits.cells) ** found.order
    _refuse_if_too_many(grid, needed, attainable, target, limits)
    more = min(max((inner / aim) ** (1 / found.order), 1.0), float(SPLITS))
    if found.order == 2:
        count = parts * math.ceil(grid.cells * max(more, more_answers, 1.2) / parts)
        return Grid(_equal(grid, count))
    answers = parts * math.ceil(answers * more_answers / parts)
    ratio = max(math.ceil(grid.cells * more / answers), 1 + (more_answers == 1.0 and more < 1.2))
    return Grid(_equal(grid, answers * ratio), ratio)


def _equal(grid: Grid, count: int) -> tuple[Fraction, ...]:
    low, length = grid.edges[0], grid.edges[-1] - grid.edges[0]
    return tuple(low + length * Fraction(k, count) for k in range(count + 1))


def _refuse_if_too_many(grid: Grid, needed: float, attainable: float, target: float, limits: Limits) -> None:
    if needed > limits.cells and grid.cells >= limits.trusted:
        most = "10^7" if limits is LIMITS else str(limits.cells)
        raise InputError(
            f"width must be at least about {decimal(attainable * 2, 1)} here, got {decimal(target, 3)}: "
            f"it would need about {needed:.0e} cells, more than {most}"
        )
