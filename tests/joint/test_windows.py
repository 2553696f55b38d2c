import itertools
from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint import windows as windows_module
from utmost.joint.laws import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise
from utmost.joint.partial_sums import partial_sums
from utmost.joint.tree import hierarchy
from utmost.joint.windows import sum_reach, windows
from utmost.noise import geometric_noise
from utmost.noise.selection import selection_law
from utmost.noise.tight_canonical import TightLaw


def convolved_tail(masses, count, reach):
    """Pr[Σ of so many > reach], exactly as doubles hold it."""
    law = np.ones(1)
    for _ in range(count):
        law = np.convolve(law, masses)
    middle = count * (len(masses) // 2)
    return law[middle + reach + 1 :].sum()


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("low", [None, 0])
@pytest.mark.parametrize("miss", [Fraction(1, 100), Fraction(1, 10**8)])
def test_sums_go_beyond_their_reach_as_rarely_as_stated(count, low, miss):
    noise = np.arange(-60, 61)
    masses = 0.5 ** np.abs(noise) / 3
    if low is not None:  # an answer that is brought back to its end is never below the truth: count 0 is the worst
        masses = np.where(noise > 0, masses, 0) + np.where(noise == 0, masses[noise <= 0].sum(), 0)
    reach = sum_reach(frozenset({(GeometricNoise(alpha("1/2"), low), count)}), True, miss)
    assert convolved_tail(masses, count, reach) <= float(miss)
    assert reach <= 60 * count


@pytest.mark.slow
@pytest.mark.parametrize("law", [GeometricNoise(alpha("1/2"), 0), GeometricNoise(alpha("3/4"), None)])
def test_windows_miss_at_most_as_often_as_stated(law):
    tree = hierarchy([("r",), ("r", "t")], [(r, t) for r in "ab" for t in range(5)])
    counts = np.array([0, 3, 1, 0, 7, 2, 0, 0, 1, 4])
    truth = [18, 11, 7, *counts]
    missed, runs, miss = 0, 400, Fraction(1, 5)
    for _ in range(runs):
        noise = geometric_noise(law.level, tree.size)
        answered = tree
        for level in range(3):
            values = {tree.keys[v]: int(truth[v] + noise[v]) for v in tree.level_nodes(level)}
            if law.low is not None:
                values = {key: max(value, 0) for key, value in values.items()}
            answered = answered.with_answers(level, values, law)
        try:
            within = windows(partial_sums(answered), miss)
        except InputError:
            missed += 1
            continue
        missed += not all(within.low[v] <= truth[v] <= within.high[v] for v in range(tree.size))
    assert missed <= runs * float(miss) + 4 * np.sqrt(runs * float(miss))


def test_windows_of_parts_and_wholes_agree():
    law = GeometricNoise(alpha("1/2"), 0)
    tree = hierarchy([("t",)], [(t,) for t in range(6)]).with_answers(1, {(t,): t for t in range(6)}, law)
    within = windows(partial_sums(tree))
    for node, terms in enumerate(within.sums.terms):
        if terms:
            assert within.low[node] >= sum(within.low[term] for term in terms)
            assert within.high[node] <= sum(within.high[term] for term in terms)
    assert within.low[0] > 0 or within.high[0] < sum(within.high[1:7])


def test_canonical_noise_and_public_totals_make_windows_narrow():
    law = CanonicalNoise(TightLaw(alpha("1/2"), 3))
    tree = hierarchy([("t",)], [("a",), ("b",)], {(): 8}).with_answers(1, {("a",): 6, ("b",): 4}, law)
    within = windows(partial_sums(tree))
    assert (within.low, within.high) == ([8, 3, 1], [8, 7, 5])


def test_found_cells_have_the_range_of_their_selection():
    law = FoundNoise(selection_law(alpha("1/2"), Fraction(1, 1000)))
    tree = hierarchy([("t",)], [("a",), ("b",)]).with_answers(1, {("a",): 30, ("b",): 40}, law)
    within = windows(partial_sums(tree))
    assert within.low[1:3] >= [1, 1]
    assert within.low[0] == sum(within.low[1:])
    assert within.high[0] == sum(within.high[1:])


def test_answers_of_two_tables_are_refused():
    tree = hierarchy([("t",)], [("a",)])
    law = GaussianNoise(Fraction(1))
    two = tree.with_answers(1, {("a",): 3}, law).with_answers(1, {("a",): 90}, law)
    with pytest.raises(
        InputError, match=r"^answers must be of one table, got some that leave no count for a: of one table they do so"
    ):
        windows(partial_sums(two))


def test_a_cell_that_nothing_bounds_is_refused():
    tree = hierarchy([("t",)], [("a",), ("b",)]).with_answers(1, {("a",): 3}, GeometricNoise(alpha("1/2")))
    with pytest.raises(InputError, match=r"^answers must bound each cell, got none for b or what it is part of"):
        windows(partial_sums(tree))


def test_windows_that_would_not_fit_say_what_does(monkeypatch):
    monkeypatch.setattr(windows_module, "MAX_WINDOW_ENTRIES", 50)
    law = GeometricNoise(alpha("1/2"))
    tree = hierarchy([("t",)], [("a",), ("b",)]).with_answers(1, {("a",): 3, ("b",): 9}, law)
    with pytest.raises(
        InputError, match=r"^windows must have at most 5e\+01 counts .* the widest, of .* larger epsilon"
    ):
        windows(partial_sums(tree))


def test_statements_share_the_probability_to_miss():
    law = GeometricNoise(alpha("1/2"), None)
    widths = []
    for size, miss in itertools.product([2, 64], [Fraction(1, 100), Fraction(1, 10**10)]):
        tree = hierarchy([("t",)], [(t,) for t in range(size)])
        tree = tree.with_answers(1, {(t,): 1000 for t in range(size)}, law)
        widths.append(windows(partial_sums(tree), miss).width(1))
    assert widths == sorted(widths) or widths[0] < widths[1] < widths[3]
