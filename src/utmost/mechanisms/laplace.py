"""The truncated Laplace mechanism on a grid of real values, drawn exactly, and the cost of the grid.

Values in [a, b] are rounded to the grid a, a+g, …, b, and the grid has the truncated geometric mechanism: FMM21's G_N
(its eq. 11), which anti-refines the truncated Laplace mechanism on the same points (FMM21 Thm 12), so no consumer loses
by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, PrivacyLoss, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError, UndecidedError
from utmost.exact import Level, Number, Real, json_number, power, rational
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.geometric import Geometric, geometric
from utmost.mechanisms.mechanism_kind import (
    MAX_MATRIX_COUNT,
    MAX_SLOW_COUNT,
    SENSITIVITY,
    BuiltMechanism,
    MechanismKind,
    Option,
    check_exact_number,
    check_matrix_size,
    parse_exact_input,
    parse_numbers,
    require_inner_level,
)
from utmost.mechanisms.space_channels import level_at, line_step, on_points, private_on, refuse_space
from utmost.noise import check_level
from utmost.noise.entropy import EntropySource
from utmost.spaces import Space, line

if TYPE_CHECKING:
    from flint import arb

MAX_GRID_STEPS = 10**12  # steps


@dataclass(frozen=True, slots=True)
class GridCost:
    """What a grid of step g costs beside continuous truncated Laplace noise; nothing in it depends on the data.

    `rounding` = g/2: how far a value can be from its grid point. `steps`: how many steps two values that are one
    sensitivity apart can be rounded apart. `stretch` = steps·g/sensitivity ≥ 1: how much smaller the ε per unit is than
    continuous noise would need it. `grid_error` and `continuous_error`: the expected absolute error of the two at their
    worst input, the middle (the first is exact, the second where ε is rational, else a ball of 128 bits).
    """

    rounding: Fraction
    steps: int
    stretch: Fraction
    grid_error: Number
    continuous_error: Number | arb


@dataclass(frozen=True, slots=True)
class Answer:
    """One noisy value, with what its grid costs."""

    value: Fraction
    cost: GridCost


@dataclass(frozen=True, slots=True)
class Laplace:
    """Values in [low, high] on the grid of step `granularity`: G_N of FMM21 at ε/steps a step.

    `level` is the guarantee: any two real inputs at most `sensitivity` apart give every answer within a factor e^ε.
    Rounding sends x to low + g·⌊(x − low)/g + 1/2⌋ (a tie goes up); since ⌊u⌋ − ⌊v⌋ ≤ ⌈u − v⌉, inputs at distance ≤ Δ
    land at most K = min(⌈Δ/g⌉, N) steps apart, and each step gets ε/K. Where Δ is a multiple of g that is ε·g/Δ, the
    whole budget.
    """

    low: Fraction
    high: Fraction
    granularity: Fraction
    sensitivity: Fraction
    level: Level

    @property
    def size(self) -> int:
        """N, the number of steps of the grid."""
        return int((self.high - self.low) / self.granularity)

    @property
    def steps(self) -> int:
        """K = min(⌈Δ/g⌉, N): how many steps one sensitivity can be rounded to."""
        return max(min(ceil(self.sensitivity / self.granularity), self.size), 1)

    @property
    def grid(self) -> Geometric:
        """The truncated geometric mechanism on the grid's positions 0 … N, at α^(1/K) a step."""
        return Geometric(self.size, _level_root(self.level, self.steps))

    def channel(self) -> Channel:
        """The matrix, labelled by the grid's values.

        >>> from utmost.exact import alpha
        >>> channel = laplace(0, 1, "1/2", 1, alpha("1/16")).channel()  # FMM21 §VII-B
        >>> channel.inputs, [str(p) for p in channel.row("0")]
        (('0', '1/2', '1'), ['4/5', '3/20', '1/20'])
        """
        positions = self.grid.channel()
        labels = tuple(str(self.value(k)) for k in positions.inputs)
        return trusted_channel(labels, labels, positions.rows)

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def privacy_loss(self) -> PrivacyLoss:
        """The ε of one sensitivity, recomputed from the entries.

        Values at most a sensitivity apart are at most K steps apart, and the largest ratio of one step to the K-th
        power bounds the ratio of K steps; the lowest value and the one K steps above attain it.
        """
        positions = self.grid.channel()
        step = least_epsilon(positions, line(self.size + 1)).ratio
        ratio: Number = positions.rows[0, 0] / positions.rows[self.steps, 0]
        if not isinstance(step, Fraction | Real) or step**self.steps != ratio:
            raise UndecidedError("the truncated geometric mechanism must tell as much at every step, and does not")
        low, high = (str(self.value(k)) for k in (0, self.steps))
        return PrivacyLoss(ratio, Fraction(1), low, low, high)

    def law(self, x: object) -> list[Number]:
        """The law of the answer, grid point by grid point, when the value is x (rounded to the grid)."""
        return self.grid.law(self.position(x))

    def value(self, position: int | str) -> Fraction:
        """The grid's value at a position."""
        return self.low + int(position) * self.granularity

    def position(self, x: object) -> int:
        """The position of the grid point nearest to an exact number in [low, high]; a tie goes up."""
        exact = check_exact_number(x)
        if not self.low <= exact <= self.high:
            raise InputError(f"input must be in the range from {self.low} to {self.high}", "input", "clamp it first")
        return floor((exact - self.low) / self.granularity + Fraction(1, 2))

    def draw(self, inputs: Iterable[object], source: EntropySource | None = None) -> npt.NDArray[np.object_]:
        """One exact draw for each input, as fractions on the grid; every input is checked before any word is taken."""
        positions = self.draw_positions([self.position(x) for x in inputs], source)
        distinct_positions, inverse = np.unique(positions, return_inverse=True)
        values = np.empty(len(distinct_positions), dtype=object)
        values[:] = [self.value(int(k)) for k in distinct_positions]
        return values[inverse]

    def draw_positions(self, positions: Any, source: EntropySource | None = None) -> npt.NDArray[Any]:
        """The same from grid positions to grid positions, in whole arrays of integers."""
        return np.asarray(self.grid.draw(positions, source))

    def answer(self, x: object, source: EntropySource | None = None) -> Answer:
        """One draw, with what the grid costs."""
        return Answer(self.draw([x], source)[0], self.cost)

    @property
    def cost(self) -> GridCost:
        """What the grid costs; the same for every input."""
        stretch = Fraction(self.steps) * self.granularity / min(self.sensitivity, self.high - self.low)
        middle = (self.low + self.high) / 2
        return GridCost(
            self.granularity / 2, self.steps, stretch, self.grid_error(self.size // 2), self.continuous_error(middle)
        )

    def grid_error(self, position: int) -> Number:
        """E|Y − x| when x is the grid point at `position` = k: g·α(2 − α^k − α^(N−k))/(1 − α²), α per step.

        Σ_{t=1..k} Pr[Δ ≤ −t] + Σ_{t=1..N−k} Pr[Δ ≥ t], each tail α^t/(1+α). Largest at k = ⌊N/2⌋.
        """
        left, right = (self.level.power(Fraction(k, self.steps)) for k in (position, self.size - position))
        alpha = self.level.power(Fraction(1, self.steps))
        return self.granularity * alpha * (2 - left - right) / (1 - alpha * alpha)

    def continuous_error(self, x: Fraction) -> Number | arb:
        """E|Y − x| of continuous Laplace noise of rate λ = ε/min(Δ, b − a) clamped to [low, high] = [a, b].

        ∫_0^{x−a} ½e^(−λt) dt + ∫_0^{b−x} ½e^(−λt) dt = (2 − e^(−λ(x−a)) − e^(−λ(b−x)))/(2λ). Largest in the middle.
        """
        span = min(self.sensitivity, self.high - self.low)
        tail_ratios = [self.level.power(d / span) for d in (x - self.low, self.high - x)]
        mass = 2 - tail_ratios[0] - tail_ratios[1]
        if self.level.exponent is not None:
            return mass * span / (2 * self.level.exponent)
        return _quotient_by_epsilon(mass * span / 2, self.level)


def laplace(low: object, high: object, granularity: object, sensitivity: object, level: Level) -> Laplace:
    """The truncated Laplace mechanism for values in [low, high] on a grid of step `granularity`, exact.

    >>> from utmost.exact import epsilon
    >>> cost = laplace(0, 100, "1/2", 1, epsilon(1)).cost
    >>> cost.rounding, cost.steps, round(float(cost.grid_error), 4), round(float(cost.continuous_error), 4)
    (Fraction(1, 4), 2, 0.9595, 1.0)
    """
    a, b, g = (rational(v, n) for v, n in ((low, "low"), (high, "high"), (granularity, "granularity")))
    exact_sensitivity = rational(sensitivity, "sensitivity")
    if not a < b:
        raise InputError(f"range must run from low to a larger high, got {_brief_text(a)} to {_brief_text(b)}", "range")
    if g <= 0 or exact_sensitivity <= 0:
        name, value = ("granularity", g) if g <= 0 else ("sensitivity", exact_sensitivity)
        raise InputError(f"{name} must be > 0, got {_brief_text(value)}", name)
    if ((b - a) / g).denominator != 1:
        raise InputError(
            f"granularity must divide the range, got {_brief_text(g)} for a length of {_brief_text(b - a)}",
            "granularity",
        )
    if (b - a) / g > MAX_GRID_STEPS:
        raise InputError("granularity must leave at most 10^12 steps in the range", "granularity", "take a coarser one")
    if not check_level(level).is_inner:
        raise InputError("the Laplace mechanism needs a level with 0 < alpha < 1, that is 0 < epsilon < infinity")
    return Laplace(a, b, g, exact_sensitivity, level)


def _level_root(level: Level, steps: int) -> Level:
    """The level whose `steps`-th power is this one."""
    if level.exponent is not None:
        exponent = level.exponent / steps
        return Level(level.power(Fraction(1, steps)), exponent)
    if isinstance(level.alpha, Fraction):
        return Level(power(level.alpha, Fraction(1, steps)))
    if steps == 1:
        return level
    raise InputError("alpha must be rational, or epsilon, where a sensitivity spans several steps of the grid", "alpha")


def _quotient_by_epsilon(value: Number, level: Level) -> arb:
    """value/ε as a ball of 128 bits."""
    from utmost.exact import ball

    with working_precision(128):
        return ball(value, 128) / level.epsilon_ball(128)


def _brief_text(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    low, high = parse_numbers(options["range"], "--range", 2)
    require_inner_level(level)
    mechanism = laplace(low, high, options["granularity"], options.get("sensitivity", "1"), level)
    value_text = cache(lambda k: str(mechanism.value(k)))

    def channel() -> Channel:
        has_roots = mechanism.steps > 1 and level.exponent is None  # several steps a sensitivity: α^(1/steps) for each
        limit = MAX_SLOW_COUNT if has_roots else MAX_MATRIX_COUNT
        check_matrix_size(mechanism.size, level, "--granularity must leave a number of steps", limit)
        return mechanism.channel()

    return BuiltMechanism(
        "The truncated Laplace mechanism on a grid",
        f"values {mechanism.low} to {mechanism.high} in steps of {mechanism.granularity}",
        channel,
        lambda channel: mechanism.privacy_loss(),
        lambda text: mechanism.position(parse_exact_input(text, 1)[0]),
        lambda x, count: list(map(value_text, mechanism.draw_positions([x] * count).tolist())),
        level,
        {"cost": _cost_content(mechanism.cost)},
    )


def _cost_content(cost: GridCost) -> dict[str, Any]:
    """What the grid costs, as documents have it."""
    return {
        "rounding": str(cost.rounding),
        "steps": cost.steps,
        "stretch": str(cost.stretch),
        "grid_error": json_number(float(cost.grid_error)),
        "laplace_error": json_number(float(cost.continuous_error)),
    }


def laplace_on(space: Space, level: Level) -> Channel:
    """Laplace noise on the points of a line: the same as the geometric mechanism there."""
    step = line_step(space)
    if step is None:
        raise refuse_space("laplace", "a line with equal steps", space)
    return on_points(space, geometric(len(space) - 1, level_at(level, step)).channel())


LAPLACE = MechanismKind(
    "laplace",
    (Option("range", "A,B", "The values' range."), Option("granularity", "G", "Step of the grid on the range.")),
    (SENSITIVITY,),
    _build,
    laplace_on,
)
