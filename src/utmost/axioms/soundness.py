"""Decide whether a privacy definition satisfies KL10's axioms: transformation invariance (2.1.1) and choice (2.1.2).

For each related pair let Q be what its rule allows for an event and for its complement, and, where the reversed pair is
related too, what that one's rule allows. If every Q is convex both axioms hold: what a post-processing or a mixture
makes of events are averages of events. If a Q is not convex and some mechanism meets the definition, each axiom fails
on the two secrets by themselves (`counterexamples`), and on all secrets if the failing mechanisms can be continued to
the others, which is tried. A definition that no mechanism meets satisfies both axioms trivially. Some mechanism meets
it exactly when every Q contains (0, 0): a mechanism with a single output needs that and nothing more.

KL10 Thm 2.2.5 and 2.3.1 say this of one predicate, its boundary left open; here boundaries are decided too. Their proof
takes a mechanism of two secrets for one of all: where other pairs' predicates leave nothing, a predicate can be
anything.

The closure of a definition is the least one above it that satisfies both axioms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from utmost.axioms.counterexamples import (
    Mixture,
    Processing,
    forbidden_event,
    mixture_counterexample,
    processing_counterexample,
)
from utmost.axioms.curves import Curve, Point, curve_from_points, pointwise_minimum
from utmost.axioms.definition import TWO_SECRETS, Definition, Relation
from utmost.axioms.pair_rules import DIAGONAL, TRIVIAL_BOUND, AllowedPairs, Rule, SampledPredicate
from utmost.axioms.predicate import Predicate
from utmost.axioms.regions import Column, ConvexityGap, Region
from utmost.channel import Channel
from utmost.errors import InputError
from utmost.exact import Number, decimal
from utmost.notebook import report_html
from utmost.spaces.space import Pair

ZERO = Fraction(0)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A relation and a rule for each pair, `default` or what `others` has: abstract differential privacy, KL10 2.0.3.

    A rule is a predicate, a function looked at on a grid, or a curve M that need not be a bound: b ≤ M(a).
    """

    relation: Relation
    default: Rule
    others: Mapping[Pair, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a rule for a pair that the relation does not hold."""
        if not set(self.others) <= set(self.relation.pairs):
            raise InputError("a rule of its own must be for a pair of the relation, got another pair")

    def rule(self, x: int, other: int) -> Rule:
        """The rule of an ordered pair of positions."""
        return self.others.get((x, other), self.default)

    @cached_property
    def cases(self) -> tuple[tuple[Pair, AllowedPairs], ...]:
        """What is allowed, for one pair of each kind: with the same rule, and the same rule for the reversed pair."""
        related_pairs = set(self.relation.pairs)
        distinct_cases: dict[tuple[int, int], tuple[Pair, AllowedPairs]] = {}
        for first, second in self.relation.pairs:
            rule, reverse_rule = (
                self.rule(first, second),
                self.rule(second, first) if (second, first) in related_pairs else None,
            )
            distinct_cases.setdefault((id(rule), id(reverse_rule)), ((first, second), AllowedPairs(rule, reverse_rule)))
        return tuple(distinct_cases.values())

    @property
    def definition(self) -> Definition | None:
        """The same as generic differential privacy, KL10 2.1.3, where every rule is a curve that is a bound."""
        rules = {
            pair: rule for pair, rule in self.others.items() if isinstance(rule, Curve) and AllowedPairs(rule).bounds
        }
        if (
            len(rules) < len(self.others)
            or not isinstance(self.default, Curve)
            or not AllowedPairs(self.default).bounds
        ):
            return None
        return Definition(self.relation, self.default, rules)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict:
    """Whether both axioms hold. `sound` is None where two secrets fail by themselves and no continuation was found.

    `certain` is False where a function was only looked at on a grid and no failure was seen. `satisfiable`: some
    mechanism meets the definition. If not sound: the pair, the gap in what it allows, and a failure of each axiom; on
    all secrets if `covers_all_secrets`, else on the two of the pair.
    """

    sound: bool | None
    certain: bool
    satisfiable: bool
    pair: Pair | None = None
    gap: ConvexityGap | None = None
    transformation: Processing | None = None
    choice: Mixture | None = None
    covers_all_secrets: bool = True

    def __repr__(self) -> str:
        """Whether both axioms hold, and the point that should be allowed where they do not."""
        words = {True: "sound", False: "not sound", None: "undecided"}[self.sound]
        grid = "" if self.certain else " on the grid"
        met = "" if self.satisfiable else ", no mechanism meets it"
        missing = "" if self.gap is None else f", ({', '.join(map(decimal, self.gap.missing))}) should be allowed"
        return f"<Verdict: {words}{grid}{met}{missing}>"

    def _repr_html_(self) -> str:
        return report_html(self, "definition_verdict")


def soundness(candidate: Candidate | Rule) -> Verdict:
    """Do the axioms hold, and if not, mechanisms that show it, verified on all events. A rule alone is for one pair.

    >>> from utmost.axioms.curves import curve_from_points
    >>> soundness(curve_from_points([(0, 0), ("1/2", "3/4"), (1, 1)])).sound
    True
    """
    if not isinstance(candidate, Candidate | Curve | Predicate | SampledPredicate):
        raise InputError(
            "candidate must be a rule: a curve, or a text read by parse_privacy_predicate, got "
            f"{type(candidate).__name__}",
            "candidate",
        )
    full_candidate = candidate if isinstance(candidate, Candidate) else Candidate(TWO_SECRETS, candidate)
    if not all(allowed_pairs(ZERO, ZERO) for _, allowed_pairs in full_candidate.cases):
        return Verdict(True, True, False)
    partial = None
    for pair, allowed_pairs in full_candidate.cases:
        gap = allowed_pairs.gap()
        if gap is not None:
            verdict = _refute(full_candidate, pair, allowed_pairs, gap)
            if verdict.sound is False:
                return verdict
            partial = partial or verdict
    return partial or Verdict(True, all(allowed_pairs.certain for _, allowed_pairs in full_candidate.cases), True)


def _refute(candidate: Candidate, pair: Pair, allowed_pairs: AllowedPairs, gap: ConvexityGap) -> Verdict:
    """The failures of both axioms at a gap, on all secrets if they can be continued to them."""
    relation = candidate.relation
    names = (relation.labels[pair[0]], relation.labels[pair[1]])
    processing, mixture = (
        processing_counterexample(gap, allowed_pairs, names),
        mixture_counterexample(gap, allowed_pairs, names),
    )
    for second_side in _second_sides(relation, pair):
        like_second = [k in second_side for k in range(len(relation))]
        extended = [
            _extend_mechanism(mechanism, relation, like_second)
            for mechanism in (processing.mechanism, mixture.first, mixture.second)
        ]
        if all(_meets_definition(mechanism, like_second, candidate) for mechanism in extended):
            failures = (
                Processing(extended[0], processing.post_processing),
                Mixture(extended[1], extended[2], mixture.weight),
            )
            return Verdict(False, True, True, pair, gap, *failures)
    return Verdict(None, True, True, pair, gap, processing, mixture, covers_all_secrets=False)


def _second_sides(relation: Relation, pair: Pair) -> Iterator[frozenset[int]]:
    """Sets of secrets, with the second of a pair and without the first, that may behave like the second.

    From the last one, all that can be reached from the second, no pair leads out.
    """
    first, second = pair
    yield frozenset({second})
    yield frozenset(range(len(relation))) - {first}
    successors: dict[int, set[int]] = {}
    for source, target in relation.pairs:
        successors.setdefault(source, set()).add(target)
    reachable, stack = {second}, [second]
    while stack:
        new = successors.get(stack.pop(), set()) - reachable
        reachable |= new
        stack += new
    if first not in reachable:
        yield frozenset(reachable)


def _extend_mechanism(mechanism: Channel, relation: Relation, like_second: list[bool]) -> Channel:
    """A mechanism of two secrets on all of them: each like the second where `like_second` is true, else the first."""
    return Channel(relation.labels, mechanism.outputs, mechanism.rows[[int(is_second) for is_second in like_second]])


def _meets_definition(mechanism: Channel, like_second: list[bool], candidate: Candidate) -> bool:
    """Does a channel in which secrets behave in two ways meet the definition: every event, each kind of pair once."""
    representative_pairs = {
        (id(candidate.rule(x, y)), like_second[x], like_second[y]): (x, y) for x, y in candidate.relation.pairs
    }
    return all(
        forbidden_event(mechanism, x, y, AllowedPairs(candidate.rule(x, y))) is None
        for x, y in representative_pairs.values()
    )


ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Closure:
    """The bound of the least sound definition; `certain` if it is known everywhere, not on a grid alone.

    `attained`: every point that the bound allows is needed; if not, part of its boundary is only approached.
    """

    bound: Curve
    attained: bool
    certain: bool


def closure(rule: Rule, reverse_rule: Rule | None = None) -> Closure:
    """The closure of what a rule, and one for the reversed pair, allow. Of nothing, it is M(a) = a: constants only.

    >>> str(closure(curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)])).bound)
    '0 0, 1 1'
    >>> str(closure(curve_from_points([(0, "1/2"), ("1/4", "1/2"), ("1/2", 1), (1, 1)])).bound)
    '0 1/2, 1/2 1, 1 1'
    """
    allowed_pairs = AllowedPairs(rule, reverse_rule)
    if not allowed_pairs(ZERO, ZERO):
        return Closure(DIAGONAL, True, True)
    if not allowed_pairs.certain:
        return Closure(allowed_pairs.grid.closure(), False, False)
    if (bound := allowed_pairs.bound) is not None:
        return Closure(bound, True, True)
    if isinstance(rule, Curve) and reverse_rule is None and DIAGONAL.below(rule).amount <= 0:
        return _curve_closure(pointwise_minimum([rule, TRIVIAL_BOUND]))
    return _region_closure(allowed_pairs.region)


def _curve_closure(curve: Curve) -> Closure:
    """The closure of b ≤ M(a) where a ≤ M(a) ≤ 1: the hull of M. M attains its corners, but perhaps not at a jump."""
    bound = curve.hull
    attained = bound.at_zero == bound.points[0][1] or bound.lines[0] == curve.lines[0]
    return Closure(bound, attained, True)


def _region_closure(region: Region) -> Closure:
    """The least concave function above the upper end, and is each of its corners attained."""
    columns = region.columns
    highest = [max(_upper_values(region, k)) for k in range(0, len(columns), 2)]
    start = _column_top(columns[0])
    limit = max([start, *_strip_limit(region, 1, 0)])
    outline = curve_from_points([(ZERO, limit), *zip(region.breakpoints[1:], highest[1:], strict=True)], start, ONE)
    bound = outline.hull
    corners = [(ZERO, start), *bound.points[1:]]
    return Closure(bound, all(region(*corner) for corner in corners) and _is_jump_attained(region, bound), True)


def _upper_values(region: Region, k: int) -> list[Number]:
    """The upper end at the even column k, and its limits from both sides, and a itself, which the hull contains."""
    return [_column_top(region.columns[k]), *_strip_limit(region, k - 1, 1), *_strip_limit(region, k + 1, 0)]


def _column_top(column: Column) -> Number:
    return column.argument if column.top is None else max(column.argument, column.top.value)


def _strip_limit(region: Region, k: int, side: int) -> list[Number]:
    """The limit of the upper end at one side of the open strip k, if there is such a strip and it allows anything."""
    has_limit = 0 < k < len(region.columns) and region.columns[k].top is not None
    return [region.limits(k)[side]] if has_limit else []


def _is_jump_attained(region: Region, bound: Curve) -> bool:
    """Where the bound jumps at 0: is its first straight piece allowed all the way to 0."""
    first: Point = bound.points[0]
    if bound.at_zero == first[1]:
        return True
    top, limits = region.columns[1].top, region.limits(1)
    slope = (limits[1] - limits[0]) / region.breakpoints[1]
    return top is not None and top.attained and limits[0] == first[1] and slope == bound.lines[0][0]
