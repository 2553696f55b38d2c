"""Losses over an interval in one call: a mechanism, a prior and a loss by name, or as functions of a user."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from utmost.continuous.bounds.loss_bounds import LossBounds, Remap, loss_stages
from utmost.continuous.densities import Density, linear_density, parse_density
from utmost.continuous.densities.density import function_bounds
from utmost.continuous.interval import Interval
from utmost.continuous.losses import ContinuousLoss, parse_continuous_loss
from utmost.continuous.losses.loss import MIN_LOSS_BITS, user_loss
from utmost.continuous.mechanisms import Guarantee, Mechanism, mechanism_by_name
from utmost.errors import InputError
from utmost.exact import Level, decimal, decimal_above, decimal_below, enclosure, integer, sign
from utmost.exact.doubles import exact_value, kind_text
from utmost.notebook import Figure, draw_figure, report_html
from utmost.tables import Column, ResultTable

KNOT_STEPS = 1024  # parts of the interval in which a density that is a function is taken straight
BEND_SAFETY = 4  # times the measured distance of a function from the straight line
DOUBLE_ERROR = Fraction(1, 1 << 40)  # of what a function returns, relative to its largest value
MAX_TOTAL_ERROR = Fraction(1, 1000)  # of the integral of a density, beyond what its bends explain
TRIED_GAPS = 64  # on either side of 0
MAX_CONVERGENCE_ROWS = 100


@dataclass(frozen=True, slots=True, repr=False)
class IntervalLoss:
    """What a mechanism costs a reader: `lower` ≤ loss ≤ `upper`, the readings, and the bounds of every stage.

    `remark` says what was measured and not proved of a prior or a loss that is a function.
    """

    mechanism: Mechanism
    level: Level | None
    prior: Density
    loss: ContinuousLoss
    stages: tuple[LossBounds, ...]
    remark: str = ""

    @property
    def bounds(self) -> LossBounds:
        """The bounds of the last stage."""
        return self.stages[-1]

    @property
    def lower(self) -> Fraction:
        """No reading of the answers costs less."""
        return self.bounds.lower

    @property
    def upper(self) -> Fraction:
        """Reading by `remap` costs at most this."""
        return self.bounds.upper

    @property
    def remap(self) -> Remap:
        """The reading of every answer."""
        return self.bounds.remap

    @property
    def guarantee(self) -> Guarantee:
        """The privacy that the mechanism really gives."""
        return self.mechanism.guarantee()

    def __repr__(self) -> str:
        level = "" if self.level is None else f" at {self.level}"
        bounds = f"between {decimal_below(self.lower)} and {decimal_above(self.upper)}"
        return f"<IntervalLoss: {self.mechanism.name}{level} costs {bounds}{'; ' * bool(self.remark)}{self.remark}>"

    def _repr_html_(self) -> str:
        return report_html(self, "loss", "describe_interval_loss")

    def plot(self) -> Figure:
        """How each answer is read."""
        return draw_figure(self, "loss")

    @property
    def table(self) -> ResultTable:
        """The bounds of every stage: so many cells, and how far apart they are."""
        return ResultTable(
            (
                Column.labels("cells", [stage.cells for stage in self.stages]),
                Column.lower("lower", [stage.lower for stage in self.stages]),
                Column.upper("upper", [stage.upper for stage in self.stages]),
                Column.upper("width", [stage.width for stage in self.stages]),
            )
        )


@dataclass(frozen=True, slots=True, repr=False)
class Convergence:
    """The loss of the geometric mechanism on finer and finer grids, and that of Laplace noise."""

    steps: tuple[int, ...]
    grids: tuple[IntervalLoss, ...]
    laplace: IntervalLoss

    def __repr__(self) -> str:
        bounds = f"between {decimal_below(self.laplace.lower)} and {decimal_above(self.laplace.upper)}"
        return f"<Convergence: grids of {', '.join(map(str, self.steps))} steps; laplace costs {bounds}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def table(self) -> ResultTable:
        """For each grid: bounds on its loss, and on how much less it costs than Laplace noise."""
        lower, upper = self.laplace.lower, self.laplace.upper
        return ResultTable(
            (
                Column.labels("steps", self.steps),
                Column.lower("geometric >=", [grid.lower for grid in self.grids]),
                Column.upper("geometric <=", [grid.upper for grid in self.grids]),
                Column.lower("laplace >=", [lower] * len(self.grids)),
                Column.upper("laplace <=", [upper] * len(self.grids)),
                Column.lower("difference >=", [lower - grid.upper for grid in self.grids]),
                Column.upper("difference <=", [upper - grid.lower for grid in self.grids]),
            )
        )


def interval_loss(
    interval: Interval,
    mechanism: str | Mechanism,
    level: Level | None,
    prior: Any,
    loss: Any,
    width: object | None,
    steps: int,
) -> IntervalLoss:
    """See `Interval.loss`."""
    chosen = _mechanism(interval, mechanism, level, steps)
    density, own_loss = _density(interval, prior), _loss(interval, loss)
    accuracy = None if width is None else exact_value(width, "width")
    absolute = density.distance and density.distance * _greatest(own_loss.value, interval)
    stages = loss_stages(density.value, chosen, own_loss.value, accuracy)
    bounds = tuple(_wider(stage, own_loss.distance, absolute) for stage in stages)
    remark = "; ".join(filter(None, (density.remark, own_loss.remark)))
    return IntervalLoss(chosen, level, density.value, own_loss.value, bounds, remark)


def convergence(
    interval: Interval, level: Level, steps: Iterable[int], prior: Any, loss: Any, width: object | None
) -> Convergence:
    """See `Interval.convergence`."""
    counts = tuple(integer(count, "steps") for count in steps)
    if not 1 <= len(counts) <= MAX_CONVERGENCE_ROWS:
        raise InputError(f"steps must be 1 to {MAX_CONVERGENCE_ROWS} numbers of steps, got {len(counts)}", "steps")
    grids = tuple(interval_loss(interval, "geometric", level, prior, loss, width, count) for count in counts)
    return Convergence(counts, grids, interval_loss(interval, "laplace", level, prior, loss, width, 1))


def _mechanism(interval: Interval, mechanism: Any, level: Any, steps: int) -> Mechanism:
    if level is not None and not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}', "level")
    if isinstance(mechanism, str):
        if level is None:
            raise InputError("level must be given beside the name of a mechanism, got none", "level", "say epsilon(1)")
        return mechanism_by_name(mechanism, interval, level, steps)
    if not callable(getattr(mechanism, "stage", None)):
        raise InputError(
            f"mechanism must be a name or one of continuous.mechanisms, got {type(mechanism).__name__}", "mechanism"
        )
    chosen: Mechanism = mechanism
    return chosen


Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class _Measured(Generic[Read]):
    """A prior or a loss, how far it is from what was meant (in total, or relative to it), and what says so."""

    value: Read
    distance: Fraction = Fraction(0)
    remark: str = ""


def _density(interval: Interval, prior: Any) -> _Measured[Density]:
    """The density that a prior means, and what was measured of it."""
    if isinstance(prior, str):
        return _Measured(parse_density(prior, interval))
    if isinstance(prior, Density):
        return _Measured(prior)
    if not callable(prior):
        raise InputError(f"prior must be a name, a density or a function, got {kind_text(prior)}", "prior")
    return _measured_density(interval, _refusing(prior, "prior"))


def _measured_density(interval: Interval, function: Callable[[float], Any]) -> _Measured[Density]:
    """The density that is straight between many points of the function, and how far the function is from it.

    The distance ∫ |π − straight| dx is measured at the points between and taken four times: it is stated, not proved.
    """
    knots = [_inside(float(x), interval) for x in interval.grid(2 * KNOT_STEPS)]
    bounds = [function_bounds(function(x)) for x in knots]
    heights = [(low + high) / 2 for low, high in bounds]
    if min(heights) < 0:
        raise InputError("prior must be >= 0, got a negative value", "prior")
    radius = max((high - low) / 2 for low, high in bounds) + max(heights) * DOUBLE_ERROR
    bends = [abs(heights[k] - (heights[k - 1] + heights[k + 1]) / 2) for k in range(1, 2 * KNOT_STEPS, 2)]
    step, bend = interval.length / KNOT_STEPS, sum(bends, Fraction(0))
    total = sum((step * (a + b) / 2 for a, b in zip(heights[:-2:2], heights[2::2], strict=True)), Fraction(0))
    distance = BEND_SAFETY * step * bend + 2 * interval.length * radius
    if abs(total - 1) > distance + MAX_TOTAL_ERROR:
        raise InputError(
            f"prior must have total 1, got about {decimal(total)}", "prior", "divide the function by its integral"
        )
    points = [(x, height / total) for x, height in zip(interval.grid(KNOT_STEPS), heights[::2], strict=True)]
    distance = _rounded_up(distance + abs(total - 1))
    off = decimal_above(distance, 2)
    remark = f"the prior is taken straight between {KNOT_STEPS + 1} points, at most {off} off as measured"
    return _Measured(linear_density(points, interval, "function"), distance, remark)


def _rounded_up(value: Fraction) -> Fraction:
    """A short fraction that is not below."""
    return Fraction(math.ceil(value * (1 << 80)), 1 << 80)


def _inside(x: float, interval: Interval) -> float:
    """The double nearest to x that is in the interval."""
    return x if Fraction(x) in interval else math.nextafter(x, float(interval.low + interval.high) / 2)


def _loss(interval: Interval, loss: Any) -> _Measured[ContinuousLoss]:
    """The loss that is meant. A function of the gap is taken for convex if it is so at all the gaps that are tried."""
    if isinstance(loss, str):
        return _Measured(parse_continuous_loss(loss))
    if isinstance(loss, ContinuousLoss):
        return _Measured(loss)
    if not callable(loss):
        raise InputError(f"loss must be a name, a loss or a function of the gap, got {kind_text(loss)}", "loss")
    name = "function of the gap"
    loss = _refusing(loss, "loss")
    declared = user_loss(loss, interval, legal=False, name=name)
    gaps = [interval.length * Fraction(k, TRIED_GAPS) for k in range(-TRIED_GAPS, TRIED_GAPS + 1)]
    costs = [declared.of_gap(gap) for gap in gaps]
    is_legal = costs == costs[::-1]
    is_convex = all(sign(a + c - 2 * b) >= 0 for a, b, c in zip(costs, costs[1:], costs[2:], strict=False))
    remark = f"the loss is convex at {len(gaps)} gaps, which is no proof" if is_convex else ""
    return _Measured(
        user_loss(loss, interval, legal=is_legal, convex=is_convex, name=name),
        1 / Fraction(2) ** (MIN_LOSS_BITS - 1),
        remark,
    )


def _refusing(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """The function, with what it raises told in one line."""

    def refusing(value: Any) -> Any:
        try:
            result = function(value)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            kind = type(problem).__name__
            text = f"{name} must be a function of one number, raised {kind} at {decimal(value)}"
            raise InputError(text, name) from problem
        if isinstance(result, str):
            raise InputError(f"{name} must be a function that returns a number, got str at {decimal(value)}", name)
        return result

    return refusing


def _wider(bounds: LossBounds, relative: Fraction, absolute: Fraction) -> LossBounds:
    """The bounds for a loss that is known to so much, relatively, and a prior that is off by so much times it."""
    if not relative and not absolute:
        return bounds
    lower = max(bounds.lower * (1 - relative) - absolute, Fraction(0))
    return LossBounds(lower, bounds.upper * (1 + relative) + absolute, bounds.cells, bounds.remap)


def _greatest(loss: ContinuousLoss, interval: Interval) -> Fraction:
    """A fraction that no loss on the interval is above: it does not fall as the gap leaves 0."""
    ends = (loss.of_gap(interval.length), loss.of_gap(-interval.length))
    return max(enclosure(cost, 64)[1] for cost in ends)
