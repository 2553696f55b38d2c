"""Decide whether a channel meets a definition for every related pair and every event; find the worst event.

KL10 Def. 2.1.3 asks that M(P(O|i₁)) ≥ P(O|i₂) for every event O and its complement. The profile f of the pair is the
least concave curve above all events and is attained at its breakpoints; M is concave. So f − M is convex on each piece
of f, hence largest at a breakpoint: the channel meets the definition exactly when no breakpoint is above M. With M the
least of its lines, the worst breakpoint for each line is found by bisection; for the reversed pair too, whose best
events are the complements.

Where the definition is met, the event nearest to its bound need not be at a breakpoint, since nothing and everything
are left out. Above a line of slope s an event O is as high as Σ_{y∈O} w_y with w_y = P(y|i₂) − s·P(y|i₁), up to a
constant. If some w are > 0 and some are not, those > 0 are the best event, which is at a breakpoint; if none is, it is
the one output with the largest w; if all are, all outputs but the one with the least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from utmost.axioms.curves import ZERO, Curve, Line
from utmost.axioms.definition import Definition
from utmost.axioms.likelihood_ratio import lowest_terms
from utmost.axioms.privacy_profiles import (
    MIN_PRECISE_DOUBLE,
    RELATIVE_ERROR,
    Profile,
    farthest_breakpoint,
    nearest_double,
    profile,
    profiles,
)
from utmost.channel import Channel, Mechanism, align_inputs
from utmost.channel.channel import Label
from utmost.channel.privacy import exact_law
from utmost.exact import Number, decimal, sign
from utmost.exact.input_text import escape_control
from utmost.notebook import report_html
from utmost.result_values import short_repr
from utmost.spaces.space import Pair

MAX_LABEL_CHARS = 40  # of a secret in a line


@dataclass(frozen=True, slots=True)
class Witness:
    """The event that is highest above its bound, or nearest below it: O = `event` for the pair of `profile`.

    `first` = P(O|i₁), `second` = P(O|i₂), `bound` = M(first); the complement has 1 − first and 1 − second, and the
    least that is allowed for it is 1 − bound.
    """

    __repr__ = short_repr

    profile: Profile
    curve: Curve
    event: tuple[Label, ...]
    complement: tuple[Label, ...]
    first: Number
    second: Number
    bound: Number

    @property
    def pair(self) -> tuple[Label, Label]:
        """(i₁, i₂)."""
        return self.profile.first, self.profile.second

    @property
    def excess(self) -> Number:
        """P(O|i₂) − M(P(O|i₁)): > 0 where the definition is not met."""
        return lowest_terms(self.second - self.bound)


@dataclass(frozen=True, slots=True, repr=False)
class Satisfaction:
    """Whether a channel meets a definition, and the event with the largest excess, over all related pairs.

    What is certain, or impossible, under both secrets is left out, since no channel can fail on it. So the witness is
    the worst event where the definition is not met, and the one nearest to its bound where it is. It is None where no
    two related secrets can be distinguished.
    """

    holds: bool
    witness: Witness | None
    exact: bool

    @property
    def excess(self) -> Number | None:
        """P(O|i₂) − M(P(O|i₁)) of the witness."""
        return None if self.witness is None else self.witness.excess

    def __repr__(self) -> str:
        """Whether it holds, and by how much the worst event misses or keeps its bound."""
        verdict = "holds" if self.holds else "does not hold"
        if self.witness is None:
            return f"<Satisfaction: {verdict}, no two related secrets can be told apart>"
        first, second = (str(label)[:MAX_LABEL_CHARS] for label in self.witness.pair)
        worst = f"P(O|{second}) − M(P(O|{first})) = {decimal(self.witness.excess)} at the worst event O"
        return escape_control(f"<Satisfaction: {verdict}, {worst}>", frozenset())

    def _repr_html_(self) -> str:
        return report_html(self, "definition_verdict", "describe_satisfaction")


def satisfaction(mechanism: Channel | Mechanism, definition: Definition) -> Satisfaction:
    """Does the channel meet the definition for every event: decided.

    >>> from utmost.axioms.definition import definition_of
    >>> from utmost.axioms.definition import parse_relation
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> verdict = satisfaction(geometric(2, alpha("1/2")), definition_of("alpha:2/3", parse_relation("line:3")))
    >>> verdict.holds, verdict.excess, verdict.witness.pair, verdict.witness.event
    (False, Fraction(1, 6), (0, 1), (1, 2))
    """
    source = align_inputs(mechanism, definition.relation.labels, "the secrets of the definition's relation")
    worst = _largest(_candidates(source, definition))
    if worst is None:
        return Satisfaction(True, None, source.exact)
    if sign(worst.excess) <= 0:
        worst = _largest(chain([worst], _single_outputs(source, definition))) or worst
    return Satisfaction(sign(worst.excess) <= 0, _witness(source, worst), source.exact)


@dataclass(frozen=True, slots=True)
class _SingleOutput:
    """The positions of an output and of the ordered pair of secrets."""

    position: int
    pair: Pair


@dataclass(frozen=True, slots=True)
class _Law:
    """The probabilities of all outputs, exact and as the nearest doubles."""

    exact: tuple[Number, ...]
    doubles: tuple[float, ...]

    @classmethod
    def of(cls, law: Iterable[Number]) -> _Law:
        """The law with its doubles."""
        exact = tuple(law)
        return cls(exact, tuple(map(nearest_double, exact)))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An event at a breakpoint of a profile, or where `is_reversed` its complement, with P(O|i₁) and P(O|i₂).

    Where there is a `single` output, the event is that alone, or where `is_reversed` all but it.

    `line` is one of M's, so the `excess` over it is at most that over M, and the largest of all is the largest over M;
    at 0, where M may jump, it is M's value there.
    """

    first: Number
    second: Number
    line: Line
    profile: Profile | None
    breakpoint: int
    bound: Curve
    is_reversed: bool
    single: _SingleOutput | None = None

    @property
    def excess(self) -> Number:
        """P(O|i₂) minus the height of the line at P(O|i₁)."""
        return self.second - self.line[0] * self.first - self.line[1]

    @property
    def excess_interval(self) -> tuple[float, float]:
        """Doubles below and above the excess; not a number where they cannot tell."""
        terms = (
            nearest_double(self.second),
            nearest_double(self.line[0]) * nearest_double(self.first),
            nearest_double(self.line[1]),
        )
        middle, error = terms[0] - terms[1] - terms[2], RELATIVE_ERROR * sum(map(abs, terms)) + MIN_PRECISE_DOUBLE
        return middle - error, middle + error


def _largest(candidates: Iterable[_Candidate]) -> _Candidate | None:
    """The first with the largest excess: exact, where doubles do not prove that one is below another."""
    best, low = None, math.nan
    for candidate in candidates:
        below, above = candidate.excess_interval
        if best is None or (not above < low and candidate.excess > best.excess):
            best, low = candidate, below
    return best


def _candidates(source: Channel, definition: Definition) -> Iterator[_Candidate]:
    """Events of every related pair, the worst of each among them; of two directions one profile serves both."""
    relation = definition.relation
    related_pairs = set(relation.pairs)
    lines = {id(curve): curve.lines for curve in (definition.default, *definition.others.values())}
    labels = ((source.inputs[first], source.inputs[second]) for first, second in relation.edges)
    for edge, edge_profile in zip(relation.edges, profiles(source, labels), strict=True):
        for pair, is_reversed in ((edge, False), (edge[::-1], True)):
            if pair in related_pairs:
                bound = definition.bound(*pair)
                events = _backward if is_reversed else _forward
                for k, line in events(edge_profile, bound, lines[id(bound)]):
                    a, b = edge_profile.curve.points[k]
                    probabilities = (1 - b, 1 - a) if is_reversed else (a, b)
                    yield _Candidate(*probabilities, line, edge_profile, k, bound, is_reversed)


def _forward(profile: Profile, bound: Curve, lines: tuple[Line, ...]) -> Iterator[tuple[int, Line]]:
    """Breakpoints of f and a line of M each: the largest excess over the line; the largest of these is over M.

    M is the least of its lines, but at 0, where it may jump, its value counts. Nothing and everything are left out.
    """
    last = len(profile.curve.points) - 2
    if profile.leaps:
        yield 0, (ZERO, bound.at_zero)
    for line in lines if last >= 1 else ():
        yield farthest_breakpoint(profile.curve, line[0], 1, 1, last), line


def _backward(profile: Profile, bound: Curve, lines: tuple[Line, ...]) -> Iterator[tuple[int, Line]]:
    """The same for the pair (i₂, i₁), whose best events are the complements: (a, b) stands for (1−b, 1−a)."""
    points, last, low = profile.curve.points, len(profile.curve.points) - 2, 0 if profile.leaps else 1
    if last >= low and points[last][1] == 1:
        yield last, (ZERO, bound.at_zero)
        last -= 1
    for line in lines if last >= low else ():
        yield farthest_breakpoint(profile.curve, 1, line[0], low, last), line


def _single_outputs(source: Channel, definition: Definition) -> Iterator[_Candidate]:
    """The best events of one output, or of all but one, where a line's best event of all is nothing or everything."""
    laws = [_Law.of(exact_law(source, x)) for x in range(len(source.inputs))]
    lines = {id(curve): curve.lines for curve in (definition.default, *definition.others.values())}
    for pair in definition.relation.pairs:
        bound = definition.bound(*pair)
        for line in lines[id(bound)]:
            single = _best_single_output(laws[pair[0]], laws[pair[1]], line[0])
            if single is not None:
                first, second = (laws[x].exact[single[0]] for x in pair)
                probabilities = (1 - first, 1 - second) if single[1] else (first, second)
                yield _Candidate(*probabilities, line, None, 0, bound, single[1], _SingleOutput(single[0], pair))


def _best_single_output(first: _Law, second: _Law, slope: Number) -> tuple[int, bool] | None:
    """The output to take alone, or to leave out (True); None where neither is best, or only one can occur."""
    positions = [y for y, (a, b) in enumerate(zip(first.exact, second.exact, strict=True)) if a or b]
    doubles = [(second.doubles[y], nearest_double(slope) * first.doubles[y]) for y in positions]
    errors = [RELATIVE_ERROR * (gain + cost) + MIN_PRECISE_DOUBLE for gain, cost in doubles]
    middles = [gain - cost for gain, cost in doubles]

    def weight(k: int) -> Number:
        return second.exact[positions[k]] - slope * first.exact[positions[k]]

    signs = {_is_positive(middles[k], errors[k], partial(weight, k)) for k in range(len(positions))}
    if len(positions) == 1 or len(signs) == 2:
        return None
    direction = -1 if True in signs else 1
    floor = max(direction * middle - error for middle, error in zip(middles, errors, strict=True))
    rivals = [k for k in range(len(positions)) if not direction * middles[k] + errors[k] < floor]
    best = rivals[0]
    for k in rivals[1:]:
        if sign(direction * (weight(k) - weight(best))) > 0:
            best = k
    return positions[best], direction < 0


def _is_positive(middle: float, error: float, weight: Callable[[], Number]) -> bool:
    """Is a weight > 0: by doubles where they can tell."""
    return middle > 0 if abs(middle) > error else sign(weight()) > 0


def _witness(source: Channel, worst: _Candidate) -> Witness:
    if worst.single is not None:
        pair_profile = profile(source, [source.inputs[x] for x in worst.single.pair])
        event_outputs = {source.outputs[worst.single.position]}
    else:
        assert worst.profile is not None
        pair_profile = worst.profile.reversed if worst.is_reversed else worst.profile
        event_outputs = set(worst.profile.event(worst.breakpoint))
    event, complement = ([y for y in source.outputs if (y in event_outputs) is side] for side in (True, False))
    if worst.is_reversed:
        event, complement = complement, event
    first, second = worst.first, worst.second
    return Witness(
        pair_profile, worst.bound, tuple(event), tuple(complement), first, second, lowest_terms(worst.bound(first))
    )
