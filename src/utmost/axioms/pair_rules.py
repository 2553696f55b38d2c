"""Rules for one ordered pair of secrets, and what two rules, for a pair and its reverse, allow together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from utmost.axioms import region_convexity
from utmost.axioms.curves import Curve, curve_from_points, pointwise_minimum
from utmost.axioms.definition import bound_fault
from utmost.axioms.predicate import Predicate
from utmost.axioms.region_convexity import ConvexityGap
from utmost.axioms.regions import Region, region
from utmost.axioms.sampled_predicate import PredicateGrid, SampledPredicate
from utmost.exact import Number

Rule: TypeAlias = Curve | Predicate | SampledPredicate
ZERO, ONE = Fraction(0), Fraction(1)
DIAGONAL = curve_from_points([(0, 0), (1, 1)])
TRIVIAL_BOUND = curve_from_points([(0, 1), (1, 1)])


def permits(rule: Rule, a: Number, b: Number) -> bool:
    """Does a rule allow (a, b) for an event and (1−a, 1−b) for its complement; a curve M allows b ≤ M(a)."""
    if isinstance(rule, Curve):
        return bool(b <= rule(a) and 1 - b <= rule(1 - a))
    return rule(a, b) and rule(1 - a, 1 - b)


@dataclass(frozen=True, slots=True)
class AllowedPairs:
    """The pairs (a, b) that `rule` allows for (i₁, i₂) and `reverse_rule`, if there is one, for (i₂, i₁)."""

    rule: Rule
    reverse_rule: Rule | None = None

    def __call__(self, a: Number, b: Number) -> bool:
        """Is (a, b) allowed, and (1−a, 1−b)."""
        return permits(self.rule, a, b) and (self.reverse_rule is None or permits(self.reverse_rule, b, a))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The one or two rules."""
        return (self.rule,) if self.reverse_rule is None else (self.rule, self.reverse_rule)

    @property
    def certain(self) -> bool:
        """Is it known everywhere, and not on a grid alone."""
        return not any(isinstance(rule, SampledPredicate) for rule in self.rules)

    @property
    def bounds(self) -> bool:
        """Are the rules bounds in the sense of KL10 Def. 2.1.3: then what they allow is convex."""
        return all(isinstance(rule, Curve) and bound_fault(rule) is None for rule in self.rules)

    @property
    def bound(self) -> Curve | None:
        """The one bound that says the same, where the rules are bounds; None if they are not, or jump and are two.

        The reversed bound of the reversed pair is one for the pair itself, and the least of two bounds is a bound.
        """
        if not self.bounds or not isinstance(self.rule, Curve) or not isinstance(self.reverse_rule, Curve | None):
            return None
        if self.reverse_rule is None:
            return self.rule
        return (
            None
            if self.rule.jumps or self.reverse_rule.jumps
            else pointwise_minimum([self.rule, self.reverse_rule.reversed])
        )

    @property
    def grid(self) -> PredicateGrid:
        """The same on the finest of the grids of its functions."""
        return PredicateGrid(self, max(rule.steps for rule in self.rules if isinstance(rule, SampledPredicate)))

    @property
    def region(self) -> Region:
        """The same, cut by lines; of exact rules."""
        exact_rules = [rule for rule in self.rules if not isinstance(rule, SampledPredicate)]
        return region(*exact_rules)

    def gap(self) -> ConvexityGap | None:
        """Two allowed points with one between them that is not; None if the allowed are convex, or the grid shows none.

        Of rules that allow (0, 0), and hence (1, 1).
        """
        if not self.certain:
            return self.grid.gap()
        if self.bounds:
            return None
        if isinstance(self.rule, Curve) and self.reverse_rule is None:
            return _curve_gap(self.rule)
        return region_convexity.convexity_gap(self.region)


def _curve_gap(curve: Curve) -> ConvexityGap | None:
    """For b ≤ M(a) and its complement: an a with M(a) < a, or else a dent of min(M, 1)."""
    excess = DIAGONAL.below(curve)
    if excess.amount > 0:
        a = excess.argument if excess.attained else _find_below_diagonal(curve, excess.argument)
        return ConvexityGap((ZERO, ZERO), (ONE, ONE), (a, a))
    dent = pointwise_minimum([curve, TRIVIAL_BOUND]).dent
    if dent is None:
        return None
    return ConvexityGap(dent.left, dent.right, (dent.middle[0], dent.middle[1] + dent.depth))


def _find_below_diagonal(curve: Curve, end: Number) -> Number:
    """An a with M(a) < a near an end where the limit of M is below the end itself."""
    step = Fraction(1, 2)
    while True:
        a = step if end == 0 else 1 - step
        if curve(a) < a:
            return a
        step /= 2
