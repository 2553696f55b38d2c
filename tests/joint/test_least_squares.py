from fractions import Fraction

import pytest
from hypothesis import given, settings

from joint.tables import STEEP, answered_trees
from utmost.exact import alpha
from utmost.joint.laws import GeometricNoise
from utmost.joint.least_squares import least_squares
from utmost.joint.tree import hierarchy

UNCLAMPED = tuple(law for law in STEEP if law.variance is not None)


def dense_least_squares(tree):
    """Estimates and covariances of leaves by exact normal equations; public counts by eliminating them as constraints.

    A matrix solve that knows nothing of trees: minimise Σ (y − Ax)²/v subject to Cx = T, by its KKT system.
    """
    from flint import fmpq, fmpq_mat

    leaves, size = tree.leaves, len(tree.leaves)
    below = [[] for _ in range(tree.size)]
    for place, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            below[node].append(place)
            node = tree.parents[node]
    normal = [[Fraction(0)] * size for _ in range(size)]
    right = [Fraction(0)] * size
    constraints = [(node, total) for node, total in tree.totals.items()]
    for node, answers in enumerate(tree.answers):
        for answer in answers if node not in tree.totals else ():
            variance = answer.law.variance
            value = answer.law.unbiased(answer.value)
            for one in below[node]:
                right[one] += value / variance
                for other in below[node]:
                    normal[one][other] += 1 / variance
    basis = independent_rows([[Fraction(int(p in below[node])) for p in range(size)] for node, _ in constraints])
    rows = [constraints[place] for place in basis]
    whole = size + len(rows)
    matrix = [[Fraction(0)] * whole for _ in range(whole)]
    for one in range(size):
        matrix[one][:size] = normal[one]
        for place, (node, _) in enumerate(rows):
            matrix[one][size + place] = matrix[size + place][one] = Fraction(int(one in below[node]))
    inverse = fmpq_mat(whole, whole, [fmpq(*entry.as_integer_ratio()) for row in matrix for entry in row]).inv()
    vector = [*right, *(Fraction(total) for _, total in rows)]
    solution = inverse * fmpq_mat(whole, 1, [fmpq(*entry.as_integer_ratio()) for entry in vector])
    exact = fraction
    estimates = [sum((exact(solution[p, 0]) for p in below[node]), Fraction(0)) for node in range(tree.size)]
    variances = [
        sum((exact(inverse[p, q]) for p in below[node] for q in below[node]), Fraction(0)) for node in range(tree.size)
    ]
    return estimates, variances


def fraction(value):
    return Fraction(int(value.p), int(value.q))


def independent_rows(rows):
    kept, reduced = [], []
    for place, row in enumerate(rows):
        rest = list(row)
        for pivot, other in reduced:
            rest = [a - rest[pivot] * b for a, b in zip(rest, other, strict=True)]
        pivot = next((k for k, entry in enumerate(rest) if entry), None)
        if pivot is not None:
            reduced.append((pivot, [entry / rest[pivot] for entry in rest]))
            kept.append(place)
    return kept


@settings(max_examples=40)
@given(tree=answered_trees(laws=UNCLAMPED))
def test_two_passes_are_the_weighted_least_squares_of_a_matrix_solve(tree):
    found = least_squares(tree)
    estimates, variances = dense_least_squares(tree)
    assert list(found.estimates) == estimates
    assert list(found.variances) == variances


def test_a_cell_without_an_answer_is_the_rest_of_its_whole_or_has_no_estimate():
    law = GeometricNoise(alpha("1/2"), None)
    tree = hierarchy([("t",)], [("a",), ("b",), ("c",)])
    one_missing = tree.with_answers(0, {(): 9}, law).with_answers(1, {("a",): 3, ("b",): 2}, law)
    assert least_squares(one_missing).estimates == (9, 3, 2, 4)
    assert least_squares(one_missing).variances == (4, 4, 4, 12)
    two_missing = tree.with_answers(0, {(): 9}, law).with_answers(1, {("a",): 3}, law)
    assert least_squares(two_missing).estimates == (9, 3, None, None)


def test_answers_at_an_end_count_by_their_unbiased_value_and_clamped_gaussians_not_at_all():
    from utmost.joint.laws import GaussianNoise

    tree = hierarchy([("t",)], [("a",)])
    clamped = tree.with_answers(1, {("a",): 0}, GeometricNoise(alpha("1/2"), 0))
    assert least_squares(clamped).estimates == (-1, -1)
    both = clamped.with_answers(1, {("a",): 5}, GaussianNoise(Fraction(2), 0, None))
    assert least_squares(both).unused == 1
    assert least_squares(both).estimates == (-1, -1)


def test_intervals_are_normal_quantiles_around_the_estimate():
    tree = hierarchy([("t",)], [("a",)]).with_answers(0, {(): 10}, GeometricNoise(alpha("1/2"), None))
    assert least_squares(tree).interval(0) == pytest.approx((10 - 1.95996 * 2, 10 + 1.95996 * 2), abs=1e-4)
