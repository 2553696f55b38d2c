"""Mechanisms that see the database (GRS12 §6, App. C)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from strategies import channels, monotone_rows, rational_levels, weights
from utmost.channel import Channel, channel, is_private
from utmost.consumer import Consumer, losses, priors
from utmost.design import optimal
from utmost.design.database_mechanisms import (
    DatabaseSetting,
    average_rows,
    common_source,
    count_query,
    optimal_for_prior,
    optimal_for_worst,
    worst_case_loss,
)
from utmost.errors import InfeasibleError, InputError
from utmost.exact import Level, alpha
from utmost.lp import certified_optimum, infeasibility
from utmost.spaces import Space, databases, line, space

HALF = alpha("1/2")
FIGURE_6_DATABASES = ("100", "010", "101", "011")
FIGURE_6A = (("11/12", "1/12"), ("2/3", "1/3"), ("5/6", "1/6"), ("1/3", "2/3"))
FIGURE_6B = (FIGURE_6A[1], FIGURE_6A[0], FIGURE_6A[3], FIGURE_6A[2])


@st.composite
def database_settings(draw: st.DrawFn) -> DatabaseSetting:
    """Tables of two or three rows over two or three values, a count and a loss, symmetric or not."""
    values, rows = draw(st.sampled_from([("01", 2), ("01", 3), ("012", 2)]))
    tables = databases(values, rows)
    loss = losses.matrix(draw(monotone_rows(rows + 1, False, draw(st.booleans()))))
    return DatabaseSetting(tables, count_query(tables, "1"), loss)


def kernel_mechanism(tables: Space, level: Level) -> Channel:
    """α^d(x, y), scaled: private by the triangle inequality, and its rows have one sum by symmetry."""
    kernel = np.array([[level.power(d) for d in row] for row in tables.distances], dtype=object)
    return channel((kernel / kernel[0].sum()).tolist(), tables.labels, tables.labels)


@st.composite
def private_mechanisms(draw: st.DrawFn) -> tuple[DatabaseSetting, Level, Channel, list[Fraction]]:
    """A setting, a private mechanism that is not oblivious in general, and a prior over the counts."""
    setting, level = draw(database_settings()), draw(rational_levels())
    remap = draw(channels(len(setting.space), setting.counts))
    remap = Channel(setting.space.labels, remap.outputs, remap.rows)
    return setting, level, kernel_mechanism(setting.space, level).then(remap), draw(weights(setting.counts))


@given(private_mechanisms())
@settings(max_examples=40)
def test_averaging_keeps_privacy_and_does_not_raise_the_worst_case(
    case: tuple[DatabaseSetting, Level, Channel, list[Fraction]],
) -> None:
    setting, level, mechanism, prior = case
    assert is_private(mechanism, setting.space, level)
    oblivious = average_rows(setting, mechanism)
    assert is_private(oblivious, setting.space, level)
    assert worst_case_loss(setting, oblivious, prior) <= worst_case_loss(setting, mechanism, prior)
    for d, f in enumerate(setting.answers):
        assert np.all(oblivious.rows[d] == oblivious.rows[setting.answers.index(f)])


@given(private_mechanisms())
@settings(max_examples=40)
def test_the_worst_case_is_that_of_the_worst_prior_over_databases(
    case: tuple[DatabaseSetting, Level, Channel, list[Fraction]],
) -> None:
    setting, _, mechanism, prior = case
    database_losses = (mechanism.rows * setting.losses()).sum(axis=1)
    groups = [[d for d, f in enumerate(setting.answers) if f == i] for i in range(setting.counts)]
    brute = max(
        sum(prior[i] * database_losses[d] for i, d in enumerate(selection))
        for selection in np.array(np.meshgrid(*groups)).reshape(len(groups), -1).T
    )
    assert worst_case_loss(setting, mechanism, prior) == brute


@given(database_settings(), rational_levels(), st.data())
@settings(max_examples=20)
def test_the_least_worst_case_is_the_oblivious_optimum(
    setting: DatabaseSetting, level: Level, data: st.DataObject
) -> None:
    prior = data.draw(weights(setting.counts))
    design = optimal_for_worst(setting, level, prior)
    reader = Consumer(priors.explicit(prior), setting.loss)
    assert design.certificate.gap == 0
    assert design.loss == optimal(line(setting.counts), level, reader).loss
    assert worst_case_loss(setting, design.channel, prior) == design.loss
    assert is_private(design.channel, setting.space, level)


@given(database_settings(), rational_levels(), st.data())
@settings(max_examples=15)
def test_a_prior_over_databases_helps_at_least_as_much_as_one_over_counts(
    setting: DatabaseSetting, level: Level, data: st.DataObject
) -> None:
    prior = data.draw(weights(len(setting.space)))
    design = optimal_for_prior(setting, level, prior)
    counts = [
        sum((p for p, f in zip(prior, setting.answers, strict=True) if f == i), Fraction(0))
        for i in range(setting.counts)
    ]
    assert design.certificate.gap == 0
    assert is_private(design.channel, setting.space, level)
    assert design.loss <= optimal_for_worst(setting, level, counts).loss


@pytest.mark.parametrize("seed", range(4))
def test_scipy_finds_the_same_optimum_for_a_prior_over_databases(seed: int) -> None:
    generator = np.random.default_rng(seed)
    tables = databases("01", 3)
    setting = DatabaseSetting(tables, count_query(tables, "1"), losses.squared)
    raw = generator.integers(0, 10, 8)
    prior = [Fraction(int(w), int(raw.sum())) for w in raw]
    design = optimal_for_prior(setting, HALF, prior)
    distance = tables.distances.astype(float)
    pairs = [(x, z) for x in range(8) for z in range(8) if x != z]
    rows = np.zeros((len(pairs) * 4, 32))
    for k, (x, z) in enumerate(pairs):
        for w in range(4):
            rows[4 * k + w, 4 * x + w], rows[4 * k + w, 4 * z + w] = 1, -(2.0 ** distance[x, z])
    cost = (np.array([float(p) for p in prior])[:, None] * setting.losses().astype(float)).ravel()
    sums = np.kron(np.eye(8), np.ones(4))
    oracle = linprog(cost, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(8))
    assert oracle.fun == pytest.approx(float(design.loss), abs=1e-7)


def test_one_row_is_a_line_of_two_points() -> None:
    tables = databases("01", 1)
    setting = DatabaseSetting(tables, count_query(tables, "1"), losses.binary)
    assert optimal_for_prior(setting, HALF, [Fraction(1, 2)] * 2).loss == Fraction(1, 3)  # GRS12 Ex. A.1


def appendix_c_setting() -> tuple[DatabaseSetting, list[Fraction], list[Fraction]]:
    """Two users of three rows; |j − i|^0.9 to three decimals, ε = 1/100."""
    tables = databases("01", 3)
    powers = [Fraction(v) for v in ("0", "1", "1.866", "2.688")]
    loss = losses.matrix([[powers[abs(i - j)] for j in range(4)] for i in range(4)])
    small = Fraction(1, 100)
    first = {"100": Fraction(1, 4), "010": Fraction(1, 4), "101": small, "011": Fraction(1, 2) - small}
    second = first | {"101": first["011"], "011": first["101"]}
    first_prior, second_prior = ([prior.get(str(x), Fraction(0)) for x in tables.labels] for prior in (first, second))
    return DatabaseSetting(tables, count_query(tables, "1"), loss), first_prior, second_prior


def test_figure_6() -> None:
    setting, first_prior, second_prior = appendix_c_setting()
    for prior, figure in ((first_prior, FIGURE_6A), (second_prior, FIGURE_6B)):
        rows = optimal_for_prior(setting, HALF, prior).channel.restrict(FIGURE_6_DATABASES).rows
        printed_rows = [[0, Fraction(a), Fraction(b), 0] for a, b in figure]
        assert np.all(rows == np.array(printed_rows, dtype=object))


def four_databases() -> Space:
    """The four that Figure 6 shows."""
    tables = databases("01", 3)
    positions = [tables.position(label) for label in FIGURE_6_DATABASES]
    return space([[tables.distance(a, b) for b in positions] for a in positions], FIGURE_6_DATABASES)


def test_no_private_mechanism_remaps_to_both_of_figure_6_by_a_certificate_multiplied_out_here() -> None:
    first, second = (channel(figure, FIGURE_6_DATABASES, (1, 2)) for figure in (FIGURE_6A, FIGURE_6B))
    program = common_source(four_databases(), HALF, first, second)
    proof = infeasibility(program)
    assert proof is not None
    matrix = np.full(program.shape, Fraction(0), dtype=object)
    for row, column, value in zip(program.rows, program.columns, program.values, strict=True):
        matrix[row, column] += value
    y = np.array(proof.y, dtype=object)
    assert all(v >= 0 for v, equal in zip(proof.y, program.equality, strict=True) if not equal)
    assert all(v <= 0 for v in y @ matrix)  # so y·Ax ≤ 0 for every x ≥ 0 …
    assert y @ np.array(program.rhs, dtype=object) > 0  # … but y·rhs > 0
    with pytest.raises(InfeasibleError):
        certified_optimum(program)


@given(rational_levels(), channels(4, 2), channels(4, 3))
@settings(max_examples=25)
def test_two_remaps_of_one_private_mechanism_have_a_common_source(level: Level, left: Channel, right: Channel) -> None:
    tables = databases("01", 2)
    source = kernel_mechanism(tables, level)
    first, second = (source.then(Channel(tables.labels, remap.outputs, remap.rows)) for remap in (left, right))
    program = common_source(tables, level, first, second)
    assert infeasibility(program) is None
    joint = np.array(certified_optimum(program).proof.x, dtype=object).reshape(4, 2, 3)
    assert np.all(joint.sum(axis=2) == first.rows)
    assert np.all(joint.sum(axis=1) == second.rows)


def test_a_private_mechanism_on_some_databases_need_not_extend_to_all() -> None:
    """Four databases with one 1 each, at distance 2; the empty one at distance 1 would need 8/7 of probability."""
    tables = databases("01", 4)
    ones = [label for label in tables.labels if str(label).count("1") == 1]
    positions = [tables.position(label) for label in ones]
    part_space = space([[tables.distance(a, b) for b in positions] for a in positions], ones)
    response = channel([[Fraction(4 if x == y else 1, 7) for y in range(4)] for x in range(4)], ones)
    assert is_private(response, part_space, HALF)
    assert sum(max(column) * HALF.alpha for column in response.rows.T) == Fraction(8, 7)


@pytest.mark.parametrize("raw_weights", [["1/2", "1/2"], ["1/2", "1/2", "1/2"], ["1/4", "1/4", "1/4"]])
def test_priors_of_the_wrong_shape_are_refused(raw_weights: list[str]) -> None:
    tables = databases("01", 2)
    setting = DatabaseSetting(tables, count_query(tables, "1"), losses.absolute)
    prior = [Fraction(w) for w in raw_weights]
    with pytest.raises(InputError, match="weights that sum to 1"):
        optimal_for_worst(setting, HALF, prior)
    with pytest.raises(InputError, match="weights that sum to 1"):
        optimal_for_prior(setting, HALF, prior)
