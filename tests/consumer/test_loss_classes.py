"""Classes of losses decided with a witness (FMPD23 Def. 6, Def. A1), and what the paper says of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.consumer import losses
from utmost.consumer.loss_classes import (
    Conflict,
    Monotonicity,
    add_losses,
    is_monotone,
    is_strictly_monotone,
    is_trivial,
    lift_loss,
    loss_rows,
    metric_for,
    refutes,
    restrict_loss,
    scale_loss,
)
from utmost.errors import InputError
from utmost.spaces import Space, cycle, discrete, grid, hamming, line, space


@st.composite
def cases(draw: st.DrawFn) -> tuple[Space, list[list[int]]]:
    """A small space and a loss: random, or m(d(x, a(w))) with a few entries changed at most."""
    metric = draw(st.sampled_from([line(3), line(4), discrete(3), cycle(4), grid(2, 2, "manhattan")]))
    size = len(metric)
    images = draw(st.permutations(range(size)))[: draw(st.integers(1, size))]
    steps = [draw(st.integers(0, 2)) for _ in range(5)]
    table = [[sum(steps[: int(metric.distance(x, a)) + 1]) for a in images] for x in range(size)]
    for _ in range(draw(st.integers(0, 1))):
        table[draw(st.integers(0, size - 1))][draw(st.integers(0, len(images) - 1))] = draw(st.integers(0, 6))
    return metric, table


def by_all_maps(metric: Space, table: list[list[int]], strict: bool) -> bool:
    """Def. 6 word for word: try every injective a, and every two entries."""
    size = len(metric)
    for images in permutations(range(size), len(table[0])):
        pairs = [(metric.distance(x, a), table[x][w]) for x in range(size) for w, a in enumerate(images)]
        if all(_are_ordered(p, q, strict) and _are_ordered(q, p, strict) for p, q in combinations(pairs, 2)):
            return True
    return False


def _are_ordered(p: tuple, q: tuple, strict: bool) -> bool:
    if p[0] == q[0]:
        return bool(p[1] == q[1])
    return p[0] > q[0] or (p[1] < q[1] if strict else p[1] <= q[1])


@given(cases(), st.booleans())
@settings(max_examples=150)
def test_the_search_agrees_with_trying_every_map_and_proves_its_answer(
    case: tuple[Space, list[list[int]]], strict: bool
) -> None:
    metric, table = case
    monotonicity = (is_strictly_monotone if strict else is_monotone)(table, metric)
    assert monotonicity.holds == by_all_maps(metric, table, strict)
    if monotonicity.images is None:
        assert refutes(table, metric, monotonicity)
    else:
        m = dict(monotonicity.scale)
        assert all(
            table[x][w] == m[metric.distance(x, metric.position(a))]
            for x in range(len(metric))
            for w, a in enumerate(monotonicity.images)
        )
        values = [value for _, value in monotonicity.scale]
        assert values == sorted(values)
        assert not strict or len(set(values)) == len(values)


@given(cases())
@settings(max_examples=60)
def test_a_refutation_that_was_tampered_with_does_not_hold(case: tuple[Space, list[list[int]]]) -> None:
    metric, table = case
    monotonicity = is_strictly_monotone(table, metric)
    if monotonicity.holds:
        assert not refutes(table, metric, Monotonicity(True, None, (), ()))
        return
    first, *remaining = monotonicity.conflicts
    assert not refutes(table, metric, Monotonicity(True, None, (), tuple(remaining)))
    repeated_entry = Conflict(first.images, first.first, first.first)
    assert not refutes(table, metric, Monotonicity(True, None, (), (repeated_entry, *remaining)))
    out_of_range = Conflict(first.images, first.first, (0, len(first.images)))
    assert not refutes(table, metric, Monotonicity(True, None, (), (out_of_range, *remaining)))


@given(cases(), st.booleans())
@settings(max_examples=100)
def test_a_metric_is_found_exactly_when_there_is_one(case: tuple[Space, list[list[int]]], strict: bool) -> None:
    """If the loss is monotone in the metric at hand there is one; the one that is found always serves."""
    metric, table = case
    monotonicity = is_strictly_monotone if strict else is_monotone
    constructed_metric = metric_for(table, len(metric), strict)
    if constructed_metric is not None:
        assert monotonicity(table, constructed_metric).holds
    else:
        assert not monotonicity(table, metric).holds


@pytest.mark.parametrize("size", [3, 4, 5])
def test_binary_is_monotone_on_a_line_not_strictly_and_strictly_in_the_discrete_metric(size: int) -> None:
    """FMPD23 §IV-B, for three secrets or more; with two the metrics agree, and it is strict in both."""
    assert is_monotone(losses.binary, line(size)).images == tuple(range(size))
    assert not is_strictly_monotone(losses.binary, line(size)).holds
    assert is_strictly_monotone(losses.binary, discrete(size)).holds
    assert is_strictly_monotone(losses.binary, line(2)).holds


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_average_loss_is_strictly_monotone_on_a_line_and_not_monotone_in_the_discrete_metric(size: int) -> None:
    assert is_strictly_monotone(losses.absolute, line(size)).holds
    assert not is_monotone(losses.absolute, discrete(size)).holds
    assert is_monotone(losses.absolute, discrete(2)).holds


@pytest.mark.parametrize("size", range(2, 8))
def test_nib_is_monotone_in_some_metric_exactly_for_an_even_number_of_secrets(size: int) -> None:
    """FMPD23 §IV-B says in no metric. The actions must stand for the partners of a pairing."""
    metric = metric_for(losses.nib, size)
    assert (metric is not None) == (size % 2 == 0)
    if metric is not None:
        assert is_monotone(losses.nib, metric).holds


def test_nib_is_monotone_in_metrics_of_the_paper_with_every_secret_paired_with_its_opposite() -> None:
    assert is_strictly_monotone(losses.nib, line(2)).images == (1, 0)
    assert is_monotone(losses.nib, cycle(4)).images == (2, 3, 0, 1)
    cube = hamming(3)
    opposite = tuple("".join("10"[int(bit)] for bit in str(x)) for x in cube.labels)
    assert is_monotone(losses.nib, cube).images == opposite
    assert not is_monotone(losses.nib, line(4)).holds
    assert not is_monotone(losses.nib, discrete(4)).holds


def test_trivial_losses_need_not_be_monotone() -> None:
    """FMPD23 Def. 6 claims L* ⊆ L^m+ ⊆ L^m."""
    assert is_trivial([[0, 0], [1, 1]], 2).constant
    assert not is_monotone([[0, 0], [1, 1]], line(2)).holds
    assert metric_for([[0, 0], [1, 1]], 2) is None
    assert is_monotone([[1, 1], [1, 1]], line(2)).holds
    assert not is_strictly_monotone([[1, 1], [1, 1]], line(2)).holds
    assert metric_for([[1, 1], [1, 1]], 2, strict=True) is None


@given(st.integers(2, 4), st.integers(2, 4), st.data())
@settings(max_examples=30)
def test_no_trivial_loss_with_two_actions_or_more_is_strictly_monotone_in_any_metric(
    size: int, actions: int, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    assert metric_for([[value] * actions for value in values], size, strict=True) is None


def test_the_two_notions_of_trivial_differ() -> None:
    triviality = is_trivial([[0, 1], [0, 1]], 2)
    assert (triviality.constant, triviality.dominated, triviality.differing) == (False, True, (0, 0, 1))
    assert is_trivial([[2, 2], [5, 5]], 2).constant
    assert not is_trivial(losses.binary, 3).dominated


@given(
    st.integers(1, 3).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 2), min_size=k, max_size=k), min_size=3, max_size=3)
    )
)
@settings(max_examples=80)
def test_triviality_is_proved_by_its_witnesses(table: list[list[int]]) -> None:
    triviality = is_trivial(table, 3)
    if triviality.differing is not None:
        x, w, v = triviality.differing
        assert table[x][w] != table[x][v]
    else:
        assert triviality.dominated
    if triviality.dominant is not None:
        assert all(row[triviality.dominant] == min(row) for row in table)
    else:
        assert all(table[x][v] < table[x][w] for w, (x, v) in enumerate(triviality.rivals))
        assert len(triviality.rivals) == len(table[0])


def test_more_actions_than_points_have_no_injective_map() -> None:
    table = [[0, 1, 1], [1, 0, 0]]
    monotonicity = is_monotone(table, line(2))
    assert not monotonicity.holds
    assert refutes(table, line(2), monotonicity)


def test_irrational_losses_and_distances_are_compared_exactly() -> None:
    metric = space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]])
    assert is_strictly_monotone(losses.power("1/2"), line(4)).holds
    assert is_strictly_monotone([[0, 1, 3], [1, 0, 1], [3, 1, 0]], metric).holds
    assert not is_monotone([[0, 3, 1], [3, 0, 3], [1, 3, 0]], metric).holds


@given(cases())
@settings(max_examples=40)
def test_lifting_and_restricting_undo_each_other(case: tuple[Space, list[list[int]]]) -> None:
    metric, table = case
    labels = list(metric.labels)[::-1][: len(table) - 1]
    rows = loss_rows(table[: len(labels)], len(labels))
    lifted_loss = lift_loss(rows, labels, metric)
    assert np.all(restrict_loss(lifted_loss, metric, labels) == rows)
    other_labels = [label for label in metric.labels if label not in labels]
    assert not restrict_loss(lifted_loss, metric, other_labels).any()


def test_sums_take_pairs_of_actions_and_scaling_weighs_the_secrets() -> None:
    total = add_losses([[0, 1], [1, 0]], [[0, 10, 20], [5, 5, 5]], 2)
    assert total.tolist() == [[0, 10, 20, 1, 11, 21], [6, 6, 6, 5, 5, 5]]
    assert scale_loss(losses.binary, [2, 0]).tolist() == [[0, 2], [0, 0]]
    assert type(total[0, 0]) is Fraction


def test_what_is_no_loss_is_refused() -> None:
    with pytest.raises(InputError, match="factors must be >= 0"):
        scale_loss([[1]], [-1])
    with pytest.raises(InputError, match="each secret once"):
        lift_loss([[1], [2]], [0, 0], line(3))
    with pytest.raises(InputError, match="not a point"):
        restrict_loss(losses.binary, line(3), [5])
    with pytest.raises(InputError, match="rows, one for each secret"):
        loss_rows([], 0)
