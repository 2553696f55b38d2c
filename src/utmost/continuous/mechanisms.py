"""Mechanisms over an interval, as `bounds.loss_bounds.bound_expected_loss` sees them: their columns on a grid, and
their true guarantee.

Privacy here is by distance: K(x)(Y) ≤ e^{ε|x−x′|}·K(x′)(Y) for all x, x′ of the interval and all sets Y of answers. A
law that is constant on steps breaks that at every ε: two inputs on either side of a step's end are as close as you like
and still have different laws (FMM21 §II-F). `Guarantee` says what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from utmost.channel import Channel, files
from utmost.continuous.bounds.columns import (
    Answer,
    CellPartition,
    Column,
    Factors,
    Run,
    Stage,
    TwoSided,
    Weight,
    exponential_weights,
    scale_weight,
    stepped_stage,
    weight,
)
from utmost.continuous.interval import Interval
from utmost.errors import InputError
from utmost.exact import Level, Number, ball, decimal, integer
from utmost.mechanisms import response as discrete_response
from utmost.mechanisms import staircase as discrete_staircase
from utmost.mechanisms.randomised_response import pairwise_privacy_loss

if TYPE_CHECKING:
    from flint import arb

    from utmost.continuous.densities import Density

MAX_STEPS = 10**6  # of a grid that needs no matrix
SPARE_BITS = 16  # bits that rounding may take
MAX_CHANNEL_STEPS = 500  # of a grid whose matrix is written out
MECHANISM_NAMES = ("laplace", "geometric", "staircase", "renormalised", "response")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a mechanism really gives, on the whole interval.

    `epsilon` is the least ε a unit of distance, None where there is none; `any_two` the least ε with
    K(x)(Y) ≤ e^ε·K(x′)(Y) for any two inputs, None where some answer rules some input out.
    """

    epsilon: Number | float | None
    any_two: Number | float | None
    remark: str


class Mechanism(Protocol):
    """A law of answers for every input of an interval."""

    @property
    def name(self) -> str:
        """How the command line writes it."""

    @property
    def interval(self) -> Interval:
        """Where its inputs live."""

    @property
    def parts(self) -> int:
        """On a grid with a multiple of so many cells its law has no jump inside a cell."""

    @property
    def steepness(self) -> Fraction | float:
        """ε·length, or what stands for it: how many powers of e its columns span."""

    def guarantee(self) -> Guarantee:
        """Its true privacy."""

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """Its columns on a grid, with moments up to a degree."""


@dataclass(frozen=True, slots=True)
class Laplace:
    """The truncated Laplace mechanism (FMM21 Def. 4, corrected): density (ε/2)e^{−ε|x−y|}, the rest at the ends.

    No ε-private mechanism costs any consumer with a legal Lipschitz loss less (FMM21 Thm 5).
    """

    interval: Interval
    level: Level
    name: str = "laplace"
    parts: int = 1

    @property
    def steepness(self) -> float:
        """ε·length."""
        return self.level.epsilon * float(self.interval.length)

    def guarantee(self) -> Guarantee:
        """ε for each unit of distance, attained by every pair; no more than ε·length for any two."""
        return Guarantee(_epsilon(self.level), _scaled_epsilon(self.level, self.interval.length), "private by distance")

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """See `bounds.columns`."""
        weights = exponential_weights(density, grid, self.level, degree, bits)
        return TwoSided(weights, weights, grid, self.level, bits).stage(atoms=True)


@dataclass(frozen=True, slots=True)
class RenormalisedLaplace:
    """Laplace noise conditioned on falling inside: density ε·e^{−ε|x−y|}/ζ(x), ζ = 2 − e^{−ε(x−low)} − e^{−ε(high−x)}.

    It is not ε-private: as x leaves `low` the answer `low` becomes less likely at the rate ε + ζ′/ζ, which is 2ε there.
    ζ is concave, so φ = 2/ζ is convex: on a cell it lies between its tangent at the middle and its chord, and the
    columns are those of the truncated mechanism times φ, without atoms.
    """

    interval: Interval
    level: Level
    name: str = "renormalised"
    parts: int = 1

    @property
    def steepness(self) -> float:
        """ε·length."""
        return self.level.epsilon * float(self.interval.length)

    def guarantee(self) -> Guarantee:
        """2ε for each unit of distance, exactly, approached at the ends; any two inputs ε·length, at x = low and high.

        ∂/∂x ln density = ±ε − ζ′/ζ with |ζ′/ζ| ≤ ε, equal at the ends only. For y = low it runs from −2ε to 0, and
        ζ(low) = ζ(high), so the ratio over the whole interval is e^{ε·length}; other answers have less.
        """
        return Guarantee(
            _scaled_epsilon(self.level, Fraction(2)),
            _scaled_epsilon(self.level, self.interval.length),
            "twice the ε asked for",
        )

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """The weights times φ from below for the lower columns, from above for the upper ones."""
        factors = Factors(self.level, grid, bits)
        flat, left, right = map(factors.applied, exponential_weights(density, grid, self.level, degree + 1, bits))
        below, above = ((flat[side], left[side], right[side]) for side in (0, 1))
        return TwoSided(below, above, grid, self.level, bits).stage(atoms=False)


@dataclass(frozen=True, slots=True)
class GridGeometric:
    """x rounded to the nearest of the points low + k·step, k = 0 … steps, then the geometric mechanism on them.

    The level is α = e^{−ε·step} a step (FMM21 eq. 11), so it is ε-private on the grid's points, where it is the best
    there is for every legal consumer (GRS12 Thm 3.2), but not between them.
    """

    interval: Interval
    level: Level
    steps: int

    def __post_init__(self) -> None:
        """Refuses a grid without steps."""
        _check_steps(self.steps, MAX_STEPS)

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "geometric"

    @property
    def parts(self) -> int:
        """Inputs change their point halfway between points."""
        return 2 * self.steps

    @property
    def steepness(self) -> float:
        """ε·length."""
        return self.level.epsilon * float(self.interval.length)

    def guarantee(self) -> Guarantee:
        """None by distance: a step's end costs ε·step at any distance; ε·⌈d/step⌉·step for inputs at most d apart."""
        step = self.interval.length / self.steps
        description = f"inputs at most d apart: ε·⌈d/{step}⌉·{step}; on the grid's points ε a unit"
        return Guarantee(None, _scaled_epsilon(self.level, self.interval.length), description)

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """Columns κ_y·α^|i−y| over the runs of cells that round to the points i: two-sided as those of Laplace."""
        flat = weight(density, grid.edges, Fraction(0), degree, bits)
        starts = _nearest_starts(self.interval, self.steps, grid)
        runs = [i for i, (a, b) in enumerate(pairwise([*starts, grid.cells])) for _ in range(a, b)]
        step_epsilon = ball(self.interval.length / self.steps, bits) * self.level.epsilon_ball(bits)
        growth = [(step_epsilon * i).exp() for i in range(self.steps + 1)]
        left = scale_weight(flat, [growth[i] for i in runs], falling=False)
        right = scale_weight(flat, [1 / growth[i] for i in runs], falling=True)
        alpha = (-step_epsilon).exp()
        inner, end = (1 - alpha) / (1 + alpha), 1 / (1 + alpha)
        columns = [
            _two_sided_column(starts[y], grid.cells, (kappa / growth[y], kappa * growth[y]), (left, right))
            for y, kappa in enumerate([end, *[inner] * (self.steps - 1), end])
        ]
        ones = [alpha * 0 + 1] * len(columns)
        return Stage(columns, ones, ones, _point_answers(self.interval, self.steps))


def _two_sided_column(edge: int, last: int, factors: tuple[arb, arb], sides: tuple[Weight, Weight]) -> Column:
    return Column([Run(0, edge, factors[:1], sides[:1]), Run(edge, last, factors[1:], sides[1:])])


@dataclass(frozen=True, slots=True)
class SteppedMechanism:
    """A channel whose rows are taken for steps of the interval: `nearest` point, or the point below (FMM21 Def. 7).

    Its inputs stand for low + k·step, k = 0 … N. With the point below, the last row is not used (Def. 7 reads high as
    the point before it).
    """

    interval: Interval
    channel: Channel
    name: str
    nearest: bool = False

    def __post_init__(self) -> None:
        """Refuses channels that are too small or not exact."""
        if not self.channel.exact:
            raise InputError(
                "channel must have exact entries, got floats", "channel", "write them as fractions or decimals in text"
            )
        if len(self.channel.inputs) < 2:
            raise InputError("channel must have at least 2 inputs, the two ends of the interval, got 1", "channel")

    @property
    def steps(self) -> int:
        """N."""
        return len(self.channel.inputs) - 1

    @property
    def parts(self) -> int:
        """Where its law may jump."""
        return 2 * self.steps if self.nearest else self.steps

    @property
    def steepness(self) -> float:
        """Its columns are bounded by 1 and need no powers of e."""
        return 0.0

    def guarantee(self) -> Guarantee:
        """None by distance, unless all its rows are the same; for any two inputs what its rows have, recomputed."""
        channel = self.channel if self.nearest else self.channel.restrict(self.channel.inputs[:-1])
        privacy_loss = pairwise_privacy_loss(channel)
        any_two = privacy_loss.exponent if privacy_loss.exponent is not None else privacy_loss.epsilon
        if privacy_loss.ratio is None:
            return Guarantee(None, None, "an answer rules an input out")
        step = decimal(self.interval.length / self.steps)
        return Guarantee(Fraction(0) if privacy_loss.ratio == 1 else None, any_two, f"its law jumps every {step}")

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """Finite sums: one column an output."""
        flat = weight(density, grid.edges, Fraction(0), degree, bits)
        starts = (
            _nearest_starts(self.interval, self.steps, grid)
            if self.nearest
            else _floor_starts(self.steps, grid, self.interval)
        )
        rows = [[_accurate_ball(value, bits) for value in row] for row in self.channel.rows[: len(starts)]]
        return stepped_stage(flat, starts, rows, self._answers())

    def _answers(self) -> list[Answer]:
        if self.nearest:
            return _point_answers(self.interval, self.steps)
        return [Answer(y, str(label)) for y, label in enumerate(self.channel.outputs)]


def mechanism_by_name(name: str, interval: Interval, level: Level, steps: int = 10) -> Mechanism:
    """The mechanism that the command line names, at ε a unit of distance.

    `laplace` and `renormalised` have no grid. The others have one of `steps` steps, and x is rounded to the nearest
    point: `geometric` is ε-private on the points; `staircase` and `response` treat any two inputs alike and give them
    ε·length, the most that ε a unit of distance allows any two inputs.
    """
    if not level.is_inner:
        raise InputError(
            "epsilon must be > 0 and finite: without noise, or without an answer, there is nothing to bound", "epsilon"
        )
    if name == "laplace":
        return Laplace(interval, level)
    if name == "renormalised":
        return RenormalisedLaplace(interval, level)
    if name == "geometric":
        return GridGeometric(interval, level, integer(steps, "steps"))
    if name not in MECHANISM_NAMES:
        raise InputError(
            f"mechanism must be {', '.join(MECHANISM_NAMES)} or channel:FILE, got {name[:40]!r}", "mechanism"
        )
    count = _check_steps(steps, MAX_CHANNEL_STEPS)
    exponent = None if level.exponent is None else level.exponent * interval.length
    interval_level = Level(level.power(interval.length), exponent)
    if name == "staircase":
        return SteppedMechanism(
            interval, discrete_staircase(count, interval_level).truncate(count).channel(), name, nearest=True
        )
    return SteppedMechanism(interval, discrete_response(count + 1, interval_level).channel(), name, nearest=True)


def mechanism_from_file(path: str | Path, interval: Interval) -> SteppedMechanism:
    """A user's channel over the N + 1 points of the interval, in the order of its rows (FMM21 Def. 7)."""
    return SteppedMechanism(interval, files.read_channel(path), f"channel:{Path(path).name}")


def _accurate_ball(value: Number, bits: int) -> arb:
    """A ball of the value, right to so many bits however much cancels in it; entries of channels are 0 or positive."""
    result, precision = ball(value, bits), bits
    while value and result.rel_accuracy_bits() < bits - SPARE_BITS:
        precision *= 2
        result = ball(value, precision)
    return result


def _epsilon(level: Level) -> Number | float:
    return level.exponent if level.exponent is not None else level.epsilon


def _scaled_epsilon(level: Level, factor: Fraction) -> Number | float:
    return level.exponent * factor if level.exponent is not None else level.epsilon * float(factor)


def _check_steps(steps: object, limit: int) -> int:
    count = integer(steps, "steps")
    if not 1 <= count <= limit:
        raise InputError(f"steps must be from 1 to {limit}, got {count if count < 10**30 else 'more'}", "steps")
    return count


def _point_answers(interval: Interval, steps: int) -> list[Answer]:
    return [Answer(k, low=point, high=point) for k, point in enumerate(interval.grid(steps))]


def _nearest_starts(interval: Interval, steps: int, grid: CellPartition) -> list[int]:
    """The first edge of the inputs that round to each point."""
    index_of_edge = {edge: i for i, edge in enumerate(grid.edges)}
    half = interval.length / (2 * steps)
    return [0, *(index_of_edge[interval.low + (2 * k - 1) * half] for k in range(1, steps + 1))]


def _floor_starts(steps: int, grid: CellPartition, interval: Interval) -> list[int]:
    """The first edge of the inputs at or above each point but the last."""
    index_of_edge = {edge: i for i, edge in enumerate(grid.edges)}
    return [index_of_edge[point] for point in interval.grid(steps)[:-1]]
