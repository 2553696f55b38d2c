"""The exact profile of several independent releases.

A profile determines the law of the likelihood ratio of a pair of laws: its pieces are the ratios, and the
width and the height of a piece are the probabilities of its ratio under either secret. Ratios of independent answers
multiply. So the profile of two releases is that of the products of the pieces, sorted and merged again. Mechanisms that
meet bounds M₁ and M₂, the second perhaps chosen after the first answer, together meet the composition of M₁ and M₂: the
pair of laws whose profile is M can be processed into any pair that meets M (Blackwell).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.axioms.curves import Curve, curve_from_points
from utmost.axioms.likelihood_ratio import (
    Grouping,
    PreparedLaw,
    group_by_ratio,
    logarithms,
    object_array,
    prepare_law,
    profile_curve,
)
from utmost.errors import InputError
from utmost.exact import integer, sign

MAX_PRODUCTS = 1_000_000  # of likelihood ratios that are multiplied in one step


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of the likelihood ratio under either secret: atom k has probabilities first[k] and second[k].

    The atoms have distinct ratios second/first, decreasing.
    """

    first: PreparedLaw
    second: PreparedLaw

    def __len__(self) -> int:
        return len(self.first.values)

    def curve(self) -> Curve:
        """The profile that has this law."""
        positions = np.arange(len(self))
        return profile_curve(self.first, self.second, Grouping(positions, positions))


def law(profile: Curve) -> Law:
    """The law of the likelihood ratio of a profile, or of a bound M: for each piece its width and its height.

    >>> ratio_law = law(curve_from_points([(0, "1/4"), ("1/2", "3/4"), (1, 1)]))
    >>> ratio_law.first.values.tolist(), ratio_law.second.values.tolist()
    ([0, 1, 1], [1, 2, 1])
    """
    if profile.jumps or not profile.concave or profile.at_one != 1 or sign(profile.at_zero) < 0:
        raise InputError(
            "a curve that is composed must be a profile: concave, without a jump, at least 0 at 0 and equal to 1 at 1"
        )
    points = ((Fraction(0), Fraction(0)), *profile.points) if profile.at_zero else profile.points
    steps = [(right[0] - left[0], right[1] - left[1]) for left, right in pairwise(points)]
    return Law(prepare_law([step for step, _ in steps]), prepare_law([rise for _, rise in steps]))


def compose_profiles(profiles: Iterable[Curve]) -> Curve:
    """The profile of independent releases with these profiles together; of none, that of an answer that says nothing.

    >>> response = curve_from_points([(0, 0), ("1/3", "2/3"), (1, 1)])
    >>> [(str(a), str(b)) for a, b in compose_profiles([response, response]).points]
    [('0', '0'), ('1/9', '4/9'), ('5/9', '8/9'), ('1', '1')]
    """
    product_law: Law | None = None
    for profile in profiles:
        product_law = law(profile) if product_law is None else _product(product_law, law(profile))
    return _constant_profile() if product_law is None else product_law.curve()


def compose_repeated(profile: Curve, times: object) -> Curve:
    """The profile of `times` independent releases with one profile, by squaring.

    >>> response = curve_from_points([(0, 0), ("1/3", "2/3"), (1, 1)])
    >>> compose_repeated(response, 100).points[1] == (Fraction(1, 3)**100, Fraction(2, 3)**100)
    True
    """
    count, base_law = integer(times, "times"), law(profile)
    if count < 0:
        raise InputError(f"times must be a whole number >= 0, got {count}", "times")
    product_law: Law | None = None
    for digit in f"{count:b}":
        product_law = None if product_law is None else _product(product_law, product_law)
        if digit == "1":
            product_law = base_law if product_law is None else _product(product_law, base_law)
    return _constant_profile() if product_law is None else product_law.curve()


def _constant_profile() -> Curve:
    return curve_from_points([(0, 0), (1, 1)])


def _product(left: Law, right: Law) -> Law:
    """The law of the product of two independent ratios, equal ratios merged."""
    if len(left) * len(right) > MAX_PRODUCTS:
        raise InputError(
            f"a composition must have at most {MAX_PRODUCTS} products of likelihood ratios in a step, got "
            f"{len(left) * len(right)}",
            hint="compose fewer releases, or merge outputs whose ratios are near first",
        )
    first, second = _multiply_probabilities(left.first, right.first), _multiply_probabilities(left.second, right.second)
    grouping = group_by_ratio(first, second)
    return Law(_merge_groups(first, grouping), _merge_groups(second, grouping))


def _multiply_probabilities(left: PreparedLaw, right: PreparedLaw) -> PreparedLaw:
    both_rational = left.rational and right.rational
    factors = [
        side.values if both_rational else object_array([side.probability(value) for value in side.values])
        for side in (left, right)
    ]
    logs = np.add.outer(left.logs, right.logs)
    return PreparedLaw(
        np.multiply.outer(*factors).ravel(), left.scale * right.scale if both_rational else 1, logs.ravel()
    )


def _merge_groups(law: PreparedLaw, grouping: Grouping) -> PreparedLaw:
    totals = law.totals(grouping)
    return PreparedLaw(object_array(totals), law.scale, logarithms(totals))
