import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint import GaussianNoise, GeometricNoise, two_way, two_way_least_squares
from utmost.joint.two_way import KINDS, _cost

LAWS = [GeometricNoise(alpha("1/2"), None), GeometricNoise(alpha("1/3"), 0), GaussianNoise(Fraction(5, 2))]


@st.composite
def answered_tables(draw, most=3):
    rows, columns = range(draw(st.integers(1, most))), range(draw(st.integers(1, most)))
    table = two_way(rows, columns)
    for kind in ("cells", *draw(st.lists(st.sampled_from(KINDS), max_size=4))):
        values = {key: draw(st.integers(0, 6)) for key in table.keys(kind)}
        table = table.with_answers(kind, values, draw(st.sampled_from(LAWS)))
    return table


def design(table):
    """The matrix from cells to every number, as rows of 0 and 1, by kind and key."""
    cells = table.keys("cells")
    inside = {
        "cells": lambda key, cell: key == cell,
        "rows": lambda key, cell: key[0] == cell[0],
        "columns": lambda key, cell: key[0] == cell[1],
        "total": lambda key, cell: True,
    }
    return {(kind, key): [int(inside[kind](key, cell)) for cell in cells] for kind in KINDS for key in table.keys(kind)}


@settings(max_examples=30)
@given(table=answered_tables())
def test_eigenspaces_give_the_weighted_least_squares_of_a_matrix_solve(table):
    from flint import fmpq, fmpq_mat

    rows, size = design(table), len(table.keys("cells"))
    normal, right = fmpq_mat(size, size), fmpq_mat(size, 1)
    for kind, values, law in table.answers:
        weight = fmpq(*(1 / law.variance).as_integer_ratio())
        for key, value in values.items():
            row = fmpq_mat(1, size, rows[kind, key])
            normal += row.transpose() * row * weight
            right += row.transpose() * weight * fmpq(*law.unbiased(value).as_integer_ratio())
    inverse = normal.inv()
    found = two_way_least_squares(table)
    for (kind, key), entries in rows.items():
        row = fmpq_mat(1, size, entries)
        estimate, variance = (row * inverse * right)[0, 0], (row * inverse * row.transpose())[0, 0]
        assert found.estimates[kind][key] == Fraction(int(estimate.p), int(estimate.q))
        assert found.variances[kind] == Fraction(int(variance.p), int(variance.q))


@settings(max_examples=15)
@given(table=answered_tables(most=2))
def test_no_whole_table_is_nearer_than_the_flow(table):
    estimate = two_way_least_squares(table)
    counts, cells = estimate.whole(), table.keys("cells")
    tables = itertools.product(range(9), repeat=len(cells))
    least = min(_cost(estimate, dict(zip(cells, entries, strict=True))) for entries in tables)
    assert _cost(estimate, counts) == pytest.approx(least, abs=1e-9)
    assert all(isinstance(count, int) and count >= 0 for count in counts.values())


@pytest.mark.slow
def test_a_large_table_is_rounded_to_whole_numbers():
    rng = np.random.default_rng(1)
    table = two_way(range(60), range(40))
    for kind, high in (("cells", 8), ("rows", 300), ("columns", 400), ("total", 12_000)):
        table = table.with_answers(kind, {key: int(rng.integers(0, high)) for key in table.keys(kind)}, LAWS[0])
    assert min(two_way_least_squares(table).whole().values()) >= 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: two_way("ab", "xy", "uv"),
            "a table of marginals must have two ways, got 3: whether a whole three-way",
        ),
        (lambda: two_way("aa", "xy"), "rows must be labels that are listed once each"),
        (lambda: two_way("ab", []), "columns must be labels that are listed once each"),
        (lambda: two_way(range(1000), range(1000)), "rows × columns must be at most 100000, got 1000000"),
        (
            lambda: two_way("a", "x").with_answers("rows", {("b",): 1}, LAWS[0]),
            "values must have each of the rows once",
        ),
        (lambda: two_way("a", "x").with_answers("sides", {}, LAWS[0]), "kind must be one of cells, rows, columns"),
        (
            lambda: two_way("a", "x").with_answers("total", {(): 3}, GaussianNoise(Fraction(1), 0, None)),
            "law must have unbiased values",
        ),
        (
            lambda: two_way_least_squares(two_way("a", "x").with_answers("total", {(): 3}, LAWS[0])),
            "answers must be of the cells too",
        ),
    ],
)
def test_what_is_no_two_way_table_is_refused(make, words):
    with pytest.raises(InputError, match="^" + words):
        make()


def test_the_variance_of_a_sum_is_that_of_the_normal_equations():
    rows, columns = "abc", "wxyz"
    laws = {"cells": alpha("1/2"), "rows": alpha("1/3"), "columns": alpha("2/3"), "total": alpha("1/5")}
    table, lines, precisions = two_way(rows, columns), [], []
    cells = table.keys("cells")
    for kind, level in laws.items():
        law = GeometricNoise(level, None)
        table = table.with_answers(kind, dict.fromkeys(table.keys(kind), 5), law)
        for key in table.keys(kind):
            own = key if kind == "cells" else None
            inside = [
                cell == own
                or kind == "total"
                or (kind == "rows" and cell[0] == key[0])
                or (kind == "columns" and cell[1] == key[0])
                for cell in cells
            ]
            lines.append(inside)
            precisions.append(float(1 / law.variance))
    matrix = np.array(lines, dtype=float)
    covariance = np.linalg.inv(matrix.T @ np.diag(precisions) @ matrix)
    estimate = two_way_least_squares(table)
    for chosen in (
        [("a", "x")],
        [("a", "x"), ("b", "z"), ("b", "w")],
        cells,
        [cell for cell in cells if cell[1] == "y"],
    ):
        weights = np.array([cell in chosen for cell in cells], dtype=float)
        assert float(estimate.sum_variance(chosen)) == pytest.approx(weights @ covariance @ weights, rel=1e-12)
    assert estimate.sum_variance(cells) == estimate.variances["total"]
    assert estimate.sum(cells) == estimate.estimates["total"][()]
    with pytest.raises(InputError, match="a sum must have cells of the table, each once"):
        estimate.sum_variance([("a", "x"), ("a", "x")])
