import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joint.tables import answered_trees
from joint.test_posterior import posterior_of
from utmost.consumer import losses
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint.best_table import best_table
from utmost.joint.laws import GeometricNoise
from utmost.joint.tree import hierarchy

LOSSES = ["absolute", "squared", "asymmetric:3,1", "power:1.5"]
MARGIN = 3  # counts beyond the windows among which brute force looks


def expected_loss(result, loss, node, readings):
    """E[ℓ(t − x)] at each reading."""
    counts = result.windows.low[node] + np.arange(len(result.laws[node]))
    return loss.array(counts[:, None], np.asarray(readings)[None, :]).T @ result.laws[node]


def total_loss(result, loss, table):
    return sum(float(expected_loss(result, loss, node, [count])[0]) for node, count in enumerate(table))


def adds_up(tree, table):
    """Do parts add up, and is every count within what is public: totals, and ends that a law states."""
    sums = all(not parts or sum(table[part] for part in parts) == table[v] for v, parts in enumerate(tree.parts))
    ends = [tree.bounds(node) for node in range(tree.size)]
    return sums and all(
        low <= count and (high is None or count <= high) for count, (low, high) in zip(table, ends, strict=True)
    )


def least_loss(result, loss):
    """The least loss by listing all tables near the windows that add up."""
    tree, best = result.tree, np.inf
    ranges = []
    for leaf in tree.leaves:
        low, high = tree.bounds(leaf)
        first = result.windows.low[leaf]
        last = first + len(result.laws[leaf]) - 1 + MARGIN
        ranges.append(range(max(first - MARGIN, low), (last if high is None else min(last, high)) + 1))
    costs = {}
    for counts in itertools.product(*ranges):
        table = [0] * tree.size
        for leaf, count in zip(tree.leaves, counts, strict=True):
            node = leaf
            while node >= 0:
                table[node] += count
                node = tree.parents[node]
        if not adds_up(tree, table):
            continue
        for node, count in enumerate(table):
            if (node, count) not in costs:
                costs[node, count] = float(expected_loss(result, loss, node, [count])[0])
        best = min(best, sum(costs[node, count] for node, count in enumerate(table)))
    return best


@settings(max_examples=25)
@given(tree=answered_trees(), name=st.sampled_from(LOSSES))
def test_no_table_that_adds_up_has_a_smaller_expected_loss(tree, name):
    result, loss = posterior_of(tree), losses.parse(name)
    if np.prod([float(len(result.laws[leaf]) + 2 * MARGIN) for leaf in tree.leaves]) > 40_000:
        return
    table = best_table(result, loss)
    assert adds_up(tree, table)
    assert total_loss(result, loss, table) == pytest.approx(least_loss(result, loss), abs=1e-9)


@settings(max_examples=25)
@given(tree=answered_trees(), name=st.sampled_from(LOSSES))
def test_no_move_of_one_unit_makes_the_best_table_better(tree, name):
    """Moves of a unit along a path between two leaves, or into and out of one: a convex function needs no other."""
    one_unit_moves_are_no_better(tree, name)


def test_the_best_table_keeps_to_the_ends_that_a_law_states():
    """With 3 to 1 against reading low a total of 7 would cost less, but the total's law says that it is at most 6."""
    tree = hierarchy([("t",)], [("a",), ("b",)]).with_answers(0, {(): 6}, GeometricNoise(alpha("1/20"), 0, 6))
    tree = tree.with_answers(1, {("a",): 4, ("b",): 4}, GeometricNoise(alpha("1/9")))
    assert best_table(posterior_of(tree), losses.parse("asymmetric:9,1"))[0] == 6
    one_unit_moves_are_no_better(tree, "asymmetric:9,1")


def one_unit_moves_are_no_better(tree, name):
    result, loss = posterior_of(tree), losses.parse(name)
    table = list(best_table(result, loss))
    assert adds_up(tree, table)
    least = total_loss(result, loss, table)
    for signs in itertools.product((-1, 0, 1), repeat=len(tree.leaves)):
        moved = list(table)
        for leaf, sign in zip(tree.leaves, signs, strict=True):
            node = leaf
            while node >= 0:
                moved[node] += sign
                node = tree.parents[node]
        if adds_up(tree, moved):
            assert total_loss(result, loss, moved) >= least - 1e-9


@pytest.mark.parametrize("name", ["binary", "nib", "power:0.5"])
def test_losses_that_are_not_convex_are_refused(name):
    tree = hierarchy([("t",)], [("a",)]).with_answers(1, {("a",): 3}, GeometricNoise(alpha("1/2")))
    with pytest.raises(InputError, match=r"^loss must be (convex in|a function of) the error for a table"):
        best_table(posterior_of(tree), losses.parse(name))
