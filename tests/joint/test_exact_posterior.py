"""The posterior beside fractions where doubles might fail: ends, empty cells, narrow and wide laws, deep trees."""

from fractions import Fraction

import numpy as np
import pytest

from joint.exact_posterior import exact_laws
from utmost.errors import UndecidedError
from utmost.exact import alpha
from utmost.joint.estimate import estimate_table
from utmost.joint.laws import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise
from utmost.joint.least_squares import least_squares
from utmost.joint.partial_sums import partial_sums
from utmost.joint.posterior import posterior
from utmost.joint.prior import EVIDENCE_GRID, Divisions
from utmost.joint.tree import hierarchy
from utmost.joint.windows import windows
from utmost.noise.selection import selection_law
from utmost.noise.tight_canonical import TightLaw

TOWNS = [("n", "a"), ("n", "b"), ("s", "c"), ("s", "d")]
FLAT = [("a",), ("b",), ("c",)]
DEPTH = 12


def geometric(level, low=0, high=None):
    return GeometricNoise(alpha(level), low, high)


def gaussian(variance, low=None):
    return GaussianNoise(Fraction(variance), low)


def towns(law, towns_law=None, **known):
    """Two regions of two towns, one answer each."""
    tree = hierarchy([["r"], ["r", "t"]], TOWNS, **known)
    tree = tree.with_answers(0, {(): 8}, law).with_answers(1, {("n",): 5, ("s",): 3}, law)
    return tree.with_answers(2, dict(zip(TOWNS, [4, 0, 1, 2], strict=True)), towns_law or law)


def flat(law, values, total_law, total):
    cells = FLAT[: len(values)]
    tree = hierarchy([["t"]], cells).with_answers(1, dict(zip(cells, values, strict=True)), law)
    return tree if total_law is None else tree.with_answers(0, {(): total}, total_law)


def chain():
    """Levels with one part each, and two at the end."""
    columns = [[f"c{place}" for place in range(depth + 1)] for depth in range(DEPTH)]
    keys = [(0,) * DEPTH, (*(0,) * (DEPTH - 1), 1)]
    tree = hierarchy(columns, keys)
    for depth in range(DEPTH):
        tree = tree.with_answers(depth, {(0,) * depth: 3 + depth % 2}, geometric("1/4"))
    return tree.with_answers(DEPTH, {keys[0]: 1, keys[1]: 2}, geometric("1/4"))


FOUND = FoundNoise(selection_law(alpha("1/2"), Fraction(1, 1000)))
TOLD = FOUND.law.threshold
SMALL, HALF = Fraction(1, 1000), Fraction(1, 2)  # of the windows to miss: fewer tables where half of the time they do
CASES = {
    "α = 1/50": (towns(geometric("1/50")), 1, SMALL),
    "α = 1/2": (towns(geometric("1/2")), 1, HALF),
    "α = 99/100": (flat(geometric("99/100", 0, 12), [5, 0], geometric("999/1000", 0, 20), 3), 1, HALF),
    "total and zeros are public": (towns(geometric("1/9"), totals={(): 7}, zeros=[("s", "d")]), 1, SMALL),
    "a region is public": (towns(geometric("1/9"), totals={("n",): 4}), Fraction(1, 3), SMALL),
    "a town is public": (towns(geometric("1/9"), totals={("n", "a"): 4}), Fraction(5, 2), SMALL),
    "all towns are empty": (towns(geometric("1/9"), zeros=TOWNS), 1, SMALL),
    "one town is not empty": (towns(geometric("1/9"), zeros=[("n", "b"), ("s",)]), 1, SMALL),
    "σ² = 1/100": (flat(gaussian("1/100"), [4, 0, 1], gaussian("1/10"), 5), 1, SMALL),
    "σ² = 1/10": (towns(gaussian("1/10")), 1, SMALL),
    "σ² = 4 with an end": (flat(gaussian(4, 0), [4, 0], gaussian(3, 0), 8), 1, HALF),
    "σ² = 10⁸ of the total": (flat(geometric("1/9"), [4, 1, 0], gaussian(10**8), 800), 1, SMALL),
    "a chain of single parts": (chain(), 3, SMALL),
    "one cell": (flat(geometric("1/9"), [2], None, None), 1, SMALL),
    "found cells": (flat(FOUND, [TOLD, TOLD + 1], geometric("1/9"), TOLD + 3), 1, Fraction(1, 4)),
    "found cells alone": (flat(FOUND, [TOLD, TOLD + 3], None, None), Fraction(1, 3), Fraction(1, 4)),
    "a law with an end": (flat(CanonicalNoise(TightLaw(alpha("1/3"), 3)), [-3, 3, 2], geometric("1/9"), 4), 1, SMALL),
    "answers at both ends": (flat(geometric("2/3", 0, 2), [2, 0, 2], geometric("1/9", 0, 6), 6), 1, SMALL),
    "a = 1000": (flat(geometric("1/9"), [2, 0, 7], geometric("1/9"), 6), 1000, SMALL),
    "a = 1/1000": (flat(geometric("1/9"), [2, 0, 7], geometric("1/9"), 6), Fraction(1, 1000), SMALL),
}


@pytest.mark.parametrize("name", CASES)
def test_the_posterior_is_that_of_fractions(name):
    tree, a, miss = CASES[name]
    within = windows(partial_sums(tree), miss)
    result = posterior(within, Divisions(Fraction(a)), least_squares(tree))
    for node, law in enumerate(exact_laws(within, Fraction(a))):
        expected = [float(law.get(within.low[node] + place, 0)) for place in range(len(result.laws[node]))]
        np.testing.assert_allclose(result.laws[node], expected, rtol=1e-9, atol=1e-12)
        assert sum(expected) == pytest.approx(1, abs=1e-12)


def negative_answers(size, total_variance):
    """Counts of 4 with noise of σ = 100 and no ends: least squares says that the total is about 0, and it is not."""
    random = np.random.default_rng(3)
    cells = [(place,) for place in range(size)]
    tree = hierarchy([["t"]], cells).with_answers(0, {(): 204139}, gaussian(total_variance))
    values = np.round(4 + random.normal(0, 100, size) - 40).astype(int).tolist()
    return tree.with_answers(1, dict(zip(cells, values, strict=True)), gaussian(10**4))


def log_sum_law(tree, within):
    """The law of the total by sums of logarithms, which lose nothing."""
    logs, low = np.zeros(1), 0
    for part in tree.parts[0]:
        counts = np.arange(within.low[part], within.high[part] + 1)
        own = tree.answers[part][0].law.log_likelihood(tree.answers[part][0].value, counts)
        total = np.full(len(logs) + len(own) - 1, -np.inf)
        for place, log in enumerate(logs):
            total[place : place + len(own)] = np.logaddexp(total[place : place + len(own)], log + own)
        logs, low = total, low + within.low[part]
    counts = np.arange(within.low[0], within.high[0] + 1)
    answer = tree.answers[0][0]
    logs = logs[counts - low] + answer.law.log_likelihood(answer.value, counts)
    logs += Divisions().log_factors(within.low[0], within.high[0], len(tree.parts[0]), False)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


@pytest.mark.parametrize("size", [10, pytest.param(25, marks=pytest.mark.slow)])
def test_weights_that_least_squares_misplaces_are_not_lost(size):
    tree = negative_answers(size, 10**10)
    within = windows(partial_sums(tree))
    result = posterior(within, Divisions(), least_squares(tree))
    np.testing.assert_allclose(result.laws[0], log_sum_law(tree, within), rtol=0, atol=1e-11)
    assert result.lost < 1e-12


@pytest.mark.slow
def test_weights_beyond_doubles_are_refused():
    """Under the prior a total of 0 is e^1000 times as likely as that of the answers, and neither can be left out."""
    tree = negative_answers(300, 10**10)
    with pytest.raises(UndecidedError, match=r"^posterior weights must be within the range of doubles, got means "):
        posterior(windows(partial_sums(tree)), Divisions(), least_squares(tree))


@pytest.mark.slow
def test_the_evidence_leaves_out_parameters_beyond_doubles_and_names_no_wrong_reason():
    cells = [(place,) for place in range(300)]
    law = geometric("951/1000")
    tree = hierarchy([["t"]], cells).with_answers(0, {(): 900}, law)
    tree = tree.with_answers(1, {(place,): 60 * (place % 7 == 0) for (place,) in cells}, law)
    assert estimate_table(tree, "divisions:evidence").prior.a in EVIDENCE_GRID
    with pytest.raises(UndecidedError, match=r"^posterior weights must be within the range of doubles, got none"):
        posterior(windows(partial_sums(tree)), Divisions(Fraction(1000)), least_squares(tree))
