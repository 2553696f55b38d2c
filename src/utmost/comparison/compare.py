"""Mechanisms beside each other at one level: losses, ε, leakage, capacity, and which tells more to every consumer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import permutations

from utmost import notebook
from utmost.comparison.measures import MeasuredMechanism, Question, silence
from utmost.comparison.rivals import (
    MadeRival,
    Progress,
    RefusedMechanism,
    RivalLike,
    check_compared_size,
    make_rival,
    parse_rivals,
)
from utmost.consumer import Consumer
from utmost.consumer.loss_bounds import loss_bounds
from utmost.design import capacity
from utmost.design.privacy_program import check_problem
from utmost.errors import InputError, SolverError, UndecidedError
from utmost.exact import Level, decimal_above
from utmost.lp import Bounds
from utmost.qif import refinement
from utmost.spaces import Space
from utmost.tables import Column, ResultTable, Tabular

MAX_REFINED_POINTS = 25  # points up to which it is decided which mechanisms refine which
MAX_CAPACITY_POINTS = 64  # and the capacity of the level is computed, where it has no closed form


@dataclass(frozen=True, eq=False, repr=False)
class MechanismComparison(Tabular):
    """Mechanisms for one consumer at one level, the least loss first; `refused` are those that do not suit the space.

    The loss of the optimum is certified: `mechanisms[k].design` has the proof. Whatever is private at the level costs
    this consumer at least `optimum.certificate.lower`.
    """

    question: Question
    mechanisms: tuple[MeasuredMechanism, ...]
    refused: tuple[RefusedMechanism, ...]

    def __repr__(self) -> str:
        """The losses."""
        losses = ", ".join(f"{row.name} {decimal_above(row.loss.upper, 5)}" for row in self.mechanisms)
        return f"<MechanismComparison on {self.question.space.name[:40]} at {self.question.level}: {losses}>"

    def __getitem__(self, name: str) -> MeasuredMechanism:
        """The mechanism of this name."""
        for row in self.mechanisms:
            if row.name == name:
                return row
        raise KeyError(name)

    def _repr_html_(self) -> str:
        return notebook.report_html(self, "compare")

    def plot(self) -> notebook.Figure:
        """Bars of the losses."""
        return notebook.draw_figure(self, "compare")

    def maps(self, place: object) -> notebook.Figure:
        """What each mechanism reports from one true place, on a map; for spaces whose points have coordinates."""
        return notebook.Figure(import_module("utmost.reports.compare").place_figure(self, place))

    @cached_property
    def silent_loss(self) -> Bounds:
        """The expected loss without any answer."""
        return loss_bounds(self.question.costs, silence(self.question.space))

    @cached_property
    def level_capacity(self) -> Bounds | None:
        """The multiplicative capacity of the level: the most that any private mechanism can tell (FMPD23 §V).

        None where it takes a program that is too large.
        """
        space = self.question.space
        if len(space) > MAX_CAPACITY_POINTS and space.profile is None:
            return None
        try:
            most = capacity(space, self.question.level).multiplicative
        except (InputError, SolverError):
            return None
        return Bounds(most.lower, most.upper)

    @cached_property
    def refinements(self) -> Mapping[tuple[str, str], bool | None]:
        """(a, b): can b be made from a's answers, so that no consumer is better served by b than by a (FMPD23 §II-B).

        None where irrational entries left it open. Empty above 25 points.
        """
        if len(self.question.space) > MAX_REFINED_POINTS:
            return {}
        return {(a.name, b.name): _is_refined(a, b) for a, b in permutations(self.mechanisms, 2)}

    def _result_table(self) -> ResultTable:
        rows = self.mechanisms
        return ResultTable(
            (
                Column.labels("mechanism", [row.name for row in rows]),
                *_bound_columns("loss", [row.loss for row in rows]),
                *_bound_columns("face_value_loss", [row.face_value_loss for row in rows]),
                Column.upper("epsilon", [row.epsilon for row in rows]),
                Column.labels("private", [row.private for row in rows]),
                Column.upper("guess", [row.guess.upper for row in rows]),
                Column.upper("leakage", [row.leakage.upper for row in rows]),
                Column.upper("capacity", [row.capacity.upper for row in rows]),
            )
        )


def compare(
    space: Space,
    level: Level,
    consumer: Consumer,
    mechanisms: Sequence[RivalLike] | None = None,
    *,
    progress: Progress | None = None,
) -> MechanismComparison:
    """Mechanisms side by side for one consumer: the certified optimum, and its rivals.

    `mechanisms` are names (`optimal`, `geometric`, `laplace`, `planar`, `response`, `exponential`, `staircase`,
    `silence`, …), channels from the points of the space, or pairs ("mine", channel); without them all that are built
    in. A mechanism that the space does not suit is listed with the reason. Every number is computed from the entries,
    exactly or between two fractions.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import grid, line
    >>> reader = Consumer(priors.uniform(6), losses.absolute)
    >>> table = compare(line(6), alpha("1/2"), reader, ["optimal", "geometric", "response", "planar"])
    >>> [row.name for row in table.mechanisms], table["response"].loss.lower
    (['optimal', 'geometric', 'response'], Fraction(10, 7))
    >>> table.refused[0].reason.partition(", at")[0]
    'planar needs places that fill a grid with equal steps'
    >>> table.refinements["geometric", "optimal"], table.refinements["optimal", "geometric"]  # the same channel here
    (True, True)
    """
    check_compared_size(space)
    check_problem(space, level, consumer)
    rivals = parse_rivals(mechanisms, space)
    question = Question(space, level, consumer)
    made = [make_rival(rival, space, level, consumer, progress) for rival in rivals]
    rows = [MeasuredMechanism(r.name, r.channel, question, r.design) for r in made if isinstance(r, MadeRival)]
    rows.sort(key=lambda row: row.loss.upper if row.design is None else row.design.certificate.lower)
    return MechanismComparison(question, tuple(rows), tuple(r for r in made if isinstance(r, RefusedMechanism)))


def _is_refined(first: MeasuredMechanism, second: MeasuredMechanism) -> bool | None:
    """Does the second refine the first: not if it serves this consumer better, else decided by `refinement`."""
    if second.loss.upper < first.loss.lower or second.capacity.upper < 1:
        return False
    if second.capacity.lower > first.capacity.upper or second.guess.lower > first.guess.upper:
        return False
    if not (first.channel.exact and second.channel.exact):
        return None
    try:
        return refinement(first.channel, second.channel).refines
    except (UndecidedError, SolverError, InputError):
        return None


def _bound_columns(name: str, bounds: Sequence[Bounds | None]) -> tuple[Column, Column]:
    """Two columns: bounds that are rounded outward."""
    lower = [None if pair is None else pair.lower for pair in bounds]
    upper = [None if pair is None else pair.upper for pair in bounds]
    return Column.lower(f"{name}_low", lower), Column.upper(f"{name}_high", upper)
