"""The optimum and its rivals against ε: what each costs one consumer at each of many levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from utmost import notebook
from utmost.comparison.measures import MeasuredMechanism, Question
from utmost.comparison.rivals import (
    OPTIMUM,
    MadeRival,
    Progress,
    RefusedMechanism,
    RivalLike,
    check_compared_size,
    make_rival,
    parse_rivals,
)
from utmost.consumer import Consumer
from utmost.design.privacy_program import check_problem
from utmost.errors import InputError
from utmost.exact import Level, decimal, epsilon
from utmost.spaces import Space
from utmost.tables import Column, ResultTable, Tabular

MAX_LEVELS = 200  # of a curve


@dataclass(frozen=True, slots=True, eq=False)
class CurvePoint:
    """One level, the mechanisms there in the order in which they were named, and those that do not suit it."""

    level: Level
    mechanisms: tuple[MeasuredMechanism, ...]
    refused: tuple[RefusedMechanism, ...]


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyCurve(Tabular):
    """Expected losses of one consumer at increasing ε; `names` are the mechanisms that have a point."""

    space: Space
    consumer: Consumer
    points: tuple[CurvePoint, ...]

    def __repr__(self) -> str:
        """How many levels, from where to where."""
        ends = f"{self.points[0].level} to {self.points[-1].level}"
        return f"<PrivacyCurve on {self.space.name[:40]}: {', '.join(self.names)} at {len(self.points)} levels, {ends}>"

    @property
    def names(self) -> list[str]:
        """The mechanisms, in the order in which they were named."""
        return list(dict.fromkeys(row.name for point in self.points for row in point.mechanisms))

    def _repr_html_(self) -> str:
        return notebook.report_html(self, "curve")

    def plot(self) -> notebook.Figure:
        """The losses against ε, a line for each mechanism."""
        return notebook.draw_figure(self, "curve")

    def _result_table(self) -> ResultTable:
        rows = [(point.level, row) for point in self.points for row in point.mechanisms]
        return ResultTable(
            (
                Column.values("asked_epsilon", [level.exponent or level.epsilon for level, _ in rows]),
                Column.labels("mechanism", [row.name for _, row in rows]),
                Column.lower("loss_low", [row.loss.lower for _, row in rows]),
                Column.upper("loss_high", [row.loss.upper for _, row in rows]),
                Column.upper("epsilon", [row.epsilon for _, row in rows]),
            )
        )


def curve(
    space: Space,
    consumer: Consumer,
    epsilons: Sequence[object],
    mechanisms: Sequence[RivalLike] | None = None,
    *,
    progress: Progress | None = None,
) -> PrivacyCurve:
    """The loss of the optimum and of its rivals at each ε; `epsilons` are increasing numbers > 0, or levels.
    Doubles, as from `numpy.linspace`, are read as the decimals that they are printed as.

    `mechanisms` are those of `compare`; without them the optimum and whatever suits the space.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.spaces import line
    >>> reader = Consumer(priors.uniform(4), losses.binary)
    >>> result = curve(line(4), reader, ["1/2", 1, 2], ["optimal", "response"])
    >>> [round(float(row.loss.upper), 3) for point in result.points for row in point.mechanisms]
    [0.566, 0.645, 0.403, 0.525, 0.179, 0.289]
    """
    check_compared_size(space)
    levels = parse_levels(epsilons)
    check_problem(space, levels[0], consumer)
    rivals = parse_rivals(mechanisms, space)
    points = []
    for level in levels:
        question = Question(space, level, consumer)
        made = [
            make_rival(r, space, level, consumer, _with_level(progress, level) if r.source == OPTIMUM else progress)
            for r in rivals
        ]
        rows = [MeasuredMechanism(r.name, r.channel, question, r.design) for r in made if isinstance(r, MadeRival)]
        points.append(CurvePoint(level, tuple(rows), tuple(r for r in made if isinstance(r, RefusedMechanism))))
    return PrivacyCurve(space, consumer, tuple(points))


def parse_levels(epsilons: Sequence[object]) -> list[Level]:
    """Increasing ε > 0 as levels, 1 to 200 of them."""
    if isinstance(epsilons, str) or not hasattr(epsilons, "__len__") or not hasattr(epsilons, "__getitem__"):
        raise InputError(f"epsilons must be a list of numbers > 0, got {type(epsilons).__name__}", "epsilons")
    if not 1 <= len(epsilons) <= MAX_LEVELS:
        raise InputError(f"epsilons must be 1 to {MAX_LEVELS} numbers, got {len(epsilons)}", "epsilons")
    levels = [value if isinstance(value, Level) else epsilon(_plain(value)) for value in epsilons]
    for level in levels:
        if not level.is_inner:
            raise InputError(f"epsilons must be > 0 and finite, got {decimal(level.epsilon)}", "epsilons")
    for left, right in pairwise(levels):
        if right.alpha >= left.alpha:
            relation = "twice" if right.alpha == left.alpha else "after a larger one"
            raise InputError(
                f"epsilons must increase, got {_text(right)} {relation}", "epsilons", "sort them and leave out repeats"
            )
    return levels


def _plain(value: object) -> object:
    """A double as the shortest decimal that it is printed as: 0.1 is 1/10."""
    number = value.item() if hasattr(value, "item") else value
    return repr(number) if isinstance(number, float) else number


def _text(level: Level) -> str:
    return str(level.exponent) if level.exponent is not None else decimal(level.epsilon)


def _with_level(progress: Progress | None, level: Level) -> Progress | None:
    return None if progress is None else lambda name: progress(f"{name} at {level}")
