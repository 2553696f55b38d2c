"""Generalised least squares on a tree: the best linear unbiased estimate of every count, in two passes.

**Up.** z_v is the best estimate from the answers at v and below: of the answers at v, and of S_v = Σ z_u over its
parts, of variance V_v = Σ var z_u, the mean weighted by inverse variances, with 1/var z_v = Σ 1/var.
**Down.** At the top est = z. For a part u of p: est_u = z_u + k·(est_p − S_p), k = var z_u/V_p, and
var est_u = var z_u + k²·(var est_p − V_p).

*Proof.* The answers outside of u's subtree tell of x_u through x_p alone, and est_p − S_p is uncorrelated with what is
left of z_u after k·S_p is taken out: it is the update of a Gaussian vector, which is the best linear one for every law
with these variances (Gauss–Markov). Parts add up: Σ est_u = S_p + (est_p − S_p). ∎

All numbers are fractions. Where an irrational variance was rounded up, by 2^−64 of it, the estimates stay unbiased and
the stated variances are upper bounds. Known totals are answers of variance 0. An answer at an end that absorbs counts
by its unbiased value, whose variance is at most that of the noise. Where two parts of a cell have neither answers nor
parts with answers, they have no unbiased estimate: None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import InputError
from utmost.joint.tree import CountTree, NoisyCount

if TYPE_CHECKING:
    from flint import fmpq

Guess: TypeAlias = "tuple[fmpq, fmpq] | None"  # an estimate and its variance


@dataclass(frozen=True)
class LeastSquares:
    """Estimates and variances by cell, exact; `unused` answers had no unbiased value."""

    tree: CountTree
    values: tuple[Guess, ...]
    unused: int

    @cached_property
    def estimates(self) -> tuple[Fraction | None, ...]:
        """The best linear unbiased estimate of each cell; None where there is none."""
        return tuple(None if guess is None else _fraction(guess[0]) for guess in self.values)

    @cached_property
    def variances(self) -> tuple[Fraction | None, ...]:
        """The variance of each estimate, or an upper bound as close as the laws' own."""
        return tuple(None if guess is None else _fraction(guess[1]) for guess in self.values)

    def interval(self, node: int, coverage: float = 0.95) -> tuple[float, float] | None:
        """Estimate ± z·√variance, z the normal quantile of the coverage: approximate, as the noise is not normal."""
        from scipy.special import ndtri

        guess = self.values[node]
        if guess is None:
            return None
        if not 0 < coverage < 1:
            raise InputError("coverage must be strictly between 0 and 1, got another: 0.95 is usual", "coverage")
        reach = float(ndtri((1 + coverage) / 2)) * math.sqrt(_double(guess[1]))
        return _double(guess[0]) - reach, _double(guess[0]) + reach

    def rounded(self, node: int) -> float | None:
        """The estimate as a double."""
        guess = self.values[node]
        return None if guess is None else _double(guess[0])


def least_squares(tree: CountTree) -> LeastSquares:
    """The best linear unbiased estimates of all cells.

    >>> from utmost.exact import alpha
    >>> from utmost.joint.laws import GeometricNoise
    >>> from utmost.joint.tree import hierarchy
    >>> law = GeometricNoise(alpha("1/2"), None)
    >>> tree = hierarchy([["town"]], [("a",), ("b",)]).with_answers(0, {(): 9}, law)
    >>> [str(value) for value in least_squares(tree.with_answers(1, {("a",): 4, ("b",): 2}, law)).estimates]
    ['8', '5', '3']
    """
    own, unused = _own_guesses(tree)
    below, sums = _pass_up(tree, own)
    return LeastSquares(tree, tuple(_pass_down(tree, below, sums)), unused)


def _own_guesses(tree: CountTree) -> tuple[list[Guess], int]:
    """What each cell's own answers say, and how many answers have no unbiased value."""
    from flint import fmpq

    guesses: list[Guess] = []
    by_answer: dict[tuple[int, int], Guess] = {}  # by the identity of a law, which lives as long as the tree
    unused = 0
    for node, answers in enumerate(tree.answers):
        guess: Guess = None
        for answer in answers:
            key = id(answer.law), answer.value
            if key not in by_answer:
                by_answer[key] = _answer_guess(answer)
            unused += by_answer[key] is None
            guess = _combine(guess, by_answer[key])
        total = tree.known_total(node)
        guesses.append(guess if total is None else (fmpq(total), fmpq(0)))
    return guesses, unused


def _answer_guess(answer: NoisyCount) -> Guess:
    """The unbiased value of an answer and its variance; None where it has none."""
    from flint import fmpq

    variance = answer.law.variance
    if variance is None:
        return None
    value = answer.law.unbiased(answer.value)
    return fmpq(*value.as_integer_ratio()), fmpq(*variance.as_integer_ratio())


def _combine(one: Guess, other: Guess) -> Guess:
    """The mean of two uncorrelated estimates by inverse variances."""
    if one is None or other is None:
        return one or other
    total = one[1] + other[1]
    if not total:
        return one
    weight = other[1] / total
    return other[0] + weight * (one[0] - other[0]), one[1] * weight


def _pass_up(tree: CountTree, own: list[Guess]) -> tuple[list[Guess], list[Guess]]:
    """z of each cell, and the sum of its parts' z; None where a part has none."""
    below: list[Guess] = list(own)
    sums: list[Guess] = [None] * tree.size
    for node in reversed(range(tree.size)):
        parts = [below[part] for part in tree.parts[node]]
        if parts and all(parts):
            sums[node] = _sum(parts)
            below[node] = _combine(own[node], sums[node])
    return below, sums


def _sum(guesses: list[Guess]) -> Guess:
    from flint import fmpq

    present = [guess for guess in guesses if guess is not None]
    return sum((guess[0] for guess in present), fmpq(0)), sum((guess[1] for guess in present), fmpq(0))


def _pass_down(tree: CountTree, below: list[Guess], sums: list[Guess]) -> list[Guess]:
    """The estimates from all answers."""
    found = list(below)
    for node in range(tree.size):
        whole, together = found[node], sums[node]
        parts = tree.parts[node]
        if not parts or whole is None:
            continue
        if together is None:
            _fill_one_part(parts, below, found, whole)
        elif together[1]:
            shift, excess = (whole[0] - together[0]) / together[1], (whole[1] - together[1]) / together[1] ** 2
            for part in parts:
                value, variance = below[part]  # type: ignore[misc]
                found[part] = (value + variance * shift, variance + variance * variance * excess)
    return found


def _fill_one_part(parts: tuple[int, ...], below: list[Guess], found: list[Guess], whole: tuple[fmpq, fmpq]) -> None:
    """Where a single part has no estimate, it is the rest; nothing that is known of the whole comes from the parts."""
    unknown = [part for part in parts if below[part] is None]
    if len(unknown) == 1:
        others = _sum([below[part] for part in parts])
        assert others is not None
        found[unknown[0]] = (whole[0] - others[0], whole[1] + others[1])


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _double(value: fmpq) -> float:
    return int(value.p) / int(value.q)  # the nearest double
