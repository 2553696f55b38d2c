"""The certified optimum, GRS12 Thm 3.2 both ways, and the hazard of a float solver."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import (
    channels,
    inner_alphas,
    legal_consumers,
    monotone_rows,
    rational_levels,
    small_spaces,
    weights,
)
from utmost import lp
from utmost.channel import Channel, is_private, least_epsilon
from utmost.consumer import Consumer, losses, priors
from utmost.design import by_program, derivation, optimal
from utmost.design.certified_design import DesignAttempt, FreeBound, simple_design
from utmost.design.count_mechanism import exchanges, remapped_channel, remapped_geometric, surplus
from utmost.design.optimal import find_design
from utmost.design.privacy_program import cost_bounds, privacy_program
from utmost.errors import InputError, SolverError
from utmost.exact import Level, alpha, epsilon, number, power
from utmost.mechanisms import geometric
from utmost.spaces import Space, databases, line, scale_space, space

FIGURE_3A = [
    "2/3 0 1/4 1/24 1/48 1/48",
    "1/3 0 1/2 1/12 1/24 1/24",
    "1/6 0 1/2 1/6 1/12 1/12",
    "1/12 0 1/4 1/3 1/6 1/6",
    "1/24 0 1/8 1/6 1/3 1/3",
    "1/48 0 1/16 1/12 1/6 2/3",
]


def uniform_reader(size: int) -> Consumer:
    return Consumer(priors.uniform(size), losses.absolute)


def test_figure_3a_with_its_exact_loss() -> None:
    reader = Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.power("1.5"))
    design = optimal(line(6), alpha("1/2"), reader)
    assert [" ".join(map(str, row)) for row in design.channel.rows] == FIGURE_3A
    assert design.remap == [0, 2, 2, 3, 4, 5]
    assert design.certificate.gap == 0
    assert design.private
    assert design.loss == reader.expected_loss(geometric(5, alpha("1/2")))


@given(legal_consumers(2, 6), rational_levels())
@settings(max_examples=60)
def test_remapped_geometric_attains_the_program_optimum_for_any_legal_consumer(reader: Consumer, level: Level) -> None:
    """Theorem 3.2, if: two roads that share nothing but the consumer end at the same fraction."""
    size = reader.prior.size
    program = by_program(line(size), level, reader)
    assert program.certificate.gap == 0
    assert program.loss == reader.expected_loss(geometric(size - 1, level))
    assert optimal(line(size), level, reader).loss == program.loss


@given(legal_consumers(2, 12), rational_levels())
@settings(max_examples=60)
def test_the_closed_form_multipliers_are_a_full_dual_solution_of_the_program(reader: Consumer, level: Level) -> None:
    """u and the exchanges, checked row by row against (3)–(7) by the solver's verifier."""
    size, costs = reader.prior.size, reader.costs()
    remapped = remapped_geometric(level, costs)
    assert remapped.objection is None
    pairs = [
        exchanges(level.alpha, [c - u for c, u in zip(costs[:, w], remapped.multipliers, strict=True)])
        for w in range(size)
    ]
    forward = [pairs[w][i][0] for i in range(size - 1) for w in range(size)]
    backward = [pairs[w][i][1] for i in range(size - 1) for w in range(size)]
    program = privacy_program(line(size), level, costs)
    certificate = lp.verify_certificate(
        program,
        tuple(remapped_channel(level, remapped.remap).rows.ravel()),
        (*forward, *backward, *remapped.multipliers),
    )
    assert certificate.gap == 0
    assert certificate.upper == remapped.loss == sum(remapped.multipliers)


@given(st.data(), rational_levels(), st.integers(2, 5))
@settings(max_examples=60)
def test_an_objection_means_that_the_program_does_strictly_better(data: st.DataObject, level: Level, size: int) -> None:
    """For any loss at all, legal or not: the closed form decides whether the remapped geometric is optimal."""
    rows = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=size, max_size=size))
    reader = Consumer(priors.explicit(data.draw(weights(size))), losses.matrix(rows))
    remapped = remapped_geometric(level, reader.costs())
    best = by_program(line(size), level, reader)
    assert best.certificate.gap == 0
    assert (remapped.objection is None) == (best.loss == remapped.loss)
    assert optimal(line(size), level, reader).loss == best.loss <= remapped.loss


@given(st.data(), inner_alphas(), st.integers(2, 7))
@settings(max_examples=60)
def test_the_theorem_holds_for_losses_that_are_monotone_but_not_symmetric(
    data: st.DataObject, a: Fraction, size: int
) -> None:
    """GRS12 §7 leaves asymmetric losses open; the proof that they are served too is in docs/papers/grs12.md."""
    rows = data.draw(monotone_rows(size, False, False))
    reader = Consumer(priors.explicit(data.draw(weights(size))), losses.matrix(rows))
    assert remapped_geometric(alpha(a), reader.costs()).objection is None


@given(rational_levels(), st.integers(2, 5), st.data())
@settings(max_examples=30)
def test_only_mechanisms_that_remap_to_the_geometric_one_serve_everybody(
    level: Level, size: int, data: st.DataObject
) -> None:
    """Theorem 3.2, only if: Lemma 5.12's consumer does strictly worse with anything else.

    The mechanism is a random remap of the geometric one; if the geometric one cannot be had back from it, this consumer
    loses. Its loss is 1 + γ·|j−i| off the diagonal, γ = (1−α)/(4n²), small enough for the identity to be its only
    best remap.
    """
    gamma = (1 - level.alpha) / (4 * size * size)
    rows = [[Fraction(0) if i == j else 1 + gamma * abs(i - j) for j in range(size)] for i in range(size)]
    reader = Consumer(priors.uniform(size), losses.matrix(rows))
    truncated = geometric(size - 1, level).channel()
    assert reader.remap(truncated) == list(range(size))
    mechanism = truncated.then(data.draw(channels(inputs=size, outputs=size)))
    best = reader.expected_loss(truncated)
    assert (reader.expected_loss(mechanism) == best) == (reader.induced(mechanism) == truncated)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_truncated_geometric_is_the_unique_optimum_of_lemma_5_12(size: int) -> None:
    """Corollary 3.4: no other mechanism with range N is optimal for this consumer."""
    level = alpha("1/2")
    rows = [[Fraction(0) if i == j else 1 + Fraction(abs(i - j), 100) for j in range(size)] for i in range(size)]
    program = privacy_program(line(size), level, Consumer(priors.uniform(size), losses.matrix(rows)).costs())
    certificate = lp.certified_optimum(program)
    assert certificate.proof.x == tuple(geometric(size - 1, level).channel().rows.ravel())
    assert lp.is_unique(program, certificate).unique


@pytest.mark.parametrize("n", [40, 60])
def test_a_float_solver_breaks_privacy_and_undercuts_the_optimum_and_we_do_not(n: int) -> None:
    """The hazard: HiGHS on (3)–(7) as printed gives ε = ∞ and a loss below what any private mechanism can have."""
    level, reader = alpha("1/2"), uniform_reader(n + 1)
    program = privacy_program(line(n + 1), level, reader.costs())
    float_solution = lp.solve(
        lp.LinearProgram(program.cost, program.rows, program.columns, program.values, program.rhs, program.equality)
    )
    design = optimal(line(n + 1), level, reader)
    entries = np.asarray(float_solution.x).reshape(n + 1, n + 1)
    assert np.any((entries[:-1] <= 0) & (entries[1:] > 0)) or np.any((entries[1:] <= 0) & (entries[:-1] > 0))
    assert float_solution.objective < float(design.loss) - 1e-8
    assert design.certificate.gap == 0
    assert is_private(design.channel, line(n + 1), level)
    assert design.privacy_loss.ratio == 2


@pytest.mark.parametrize("size", [3, 25])
@pytest.mark.parametrize("loss", [losses.absolute, losses.power("1.5"), losses.asymmetric(3, 1)])
def test_irrational_levels_and_losses_get_bounds_that_meet(size: int, loss: losses.Loss) -> None:
    level = epsilon("0.3")
    reader = Consumer(priors.binomial(size, "1/3"), loss)
    design = optimal(line(size), level, reader)
    assert 0 <= float(design.certificate.gap) < 1e-9
    assert design.private
    assert least_epsilon(design.channel, line(size)).within(level)
    assert float(design.loss) == pytest.approx(float(reader.expected_loss(geometric(size - 1, level))), rel=1e-9)


def test_irrational_program_for_an_illegal_loss_is_bounded_too() -> None:
    rows = [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1]]
    reader = Consumer(priors.uniform(4), losses.matrix(rows))
    design = optimal(line(4), epsilon("0.5"), reader)
    assert 0 <= float(design.certificate.gap) < 1e-9
    assert design.loss < reader.expected_loss(geometric(3, epsilon("0.5")))
    assert not derivation(design.channel, epsilon("0.5")).derivable


@given(st.integers(1, 5).flatmap(weights))
def test_level_zero_loses_nothing_and_level_one_is_a_constant_answer(prior: list[Fraction]) -> None:
    size = len(prior)
    reader = Consumer(priors.explicit(prior), losses.squared)
    identity, constant = optimal(line(size), alpha(0), reader), optimal(line(size), alpha(1), reader)
    assert identity.loss == 0
    assert constant.loss == reader.expected_loss(geometric(size - 1, alpha(1)))
    assert constant.privacy_loss.epsilon == 0
    assert identity.certificate.gap == constant.certificate.gap == 0


def test_other_spaces_go_through_the_program() -> None:
    """Two rows of bits, uniform prior, binary loss: randomized response on each row, (2/3)², is optimal (a product)."""
    square = databases("01", 2)
    design = optimal(square, alpha("1/2"), Consumer(priors.uniform(4), losses.binary))
    assert design.loss == 1 - Fraction(4, 9)
    assert design.certificate.gap == 0


@given(rational_levels(), st.lists(st.fractions(-3, 3, max_denominator=6), min_size=1, max_size=6))
@settings(max_examples=60)
def test_surplus_is_the_least_product_with_a_private_column(level: Level, values: list[Fraction]) -> None:
    """Against all 2^n vertices of the cone: each step up or down as fast as privacy allows, scaled to end at 1."""
    steps = len(values) - 1
    products = []
    for directions in np.ndindex(*[2] * steps):
        column = [Fraction(1)]
        for down in directions:
            column.append(column[-1] * (level.alpha if down else 1 / level.alpha))
        products.append(sum(v * x for v, x in zip(values, column, strict=True)) / column[-1])
    assert surplus(level.alpha, list(values)) == min(products)


def test_a_design_needs_exact_data_of_the_right_size() -> None:
    with pytest.raises(InputError, match="3 weights"):
        optimal(line(3), alpha("1/2"), uniform_reader(4))
    with pytest.raises(InputError, match="exact"):
        optimal(line(2), alpha("1/2"), Consumer(priors.explicit([0.5, 0.5]), losses.absolute))
    with pytest.raises(InputError):
        privacy_program(line(3), alpha(1), uniform_reader(3).costs())
    with pytest.raises(InputError):
        privacy_program(line(3), epsilon(1), uniform_reader(3).costs())


def test_mechanisms_designed_are_channels_over_the_space() -> None:
    design = optimal(line(4), alpha("1/3"), uniform_reader(4))
    assert isinstance(design.channel, Channel)
    assert design.channel.inputs == design.channel.outputs == (0, 1, 2, 3)
    assert design.privacy_loss.epsilon == pytest.approx(math.log(3))
    assert power(4, Fraction(1, 2)) == 2


@pytest.mark.parametrize("spoil", ["privacy", "bound"])
def test_a_wrong_attempt_gets_no_certificate(spoil: str) -> None:
    """A solver that cheats: a mechanism that is not private, or a lower bound above the loss."""

    def cheat(_: object, level: Level, costs: np.ndarray) -> DesignAttempt:
        rows = geometric(2, level).channel().rows.copy()
        if spoil == "privacy":
            rows[0] = [Fraction(1), Fraction(0), Fraction(0)]
            return DesignAttempt(rows, FreeBound(Fraction(0), costs))
        return DesignAttempt(rows, FreeBound(Fraction(100), costs))

    with pytest.raises(SolverError, match="did not pass its own certificate"):
        find_design(line(3), alpha("1/2"), uniform_reader(3), cheat)


@pytest.mark.parametrize(
    ("distance", "level"),
    [
        ("1/2", epsilon(1)),
        ("3/2", alpha("999/1000")),
        ("2/3", epsilon(50)),
        ("sqrt(2)", alpha("1/2")),
        (1, epsilon("1e-30")),
    ],
)
def test_any_distance_and_level_get_bounds_that_meet(distance: object, level: Level) -> None:
    """Two points at a distance: the least probability of error is β/(1+β), β = α^distance, by randomized response."""
    pair = space([[0, distance], [distance, 0]])
    design = optimal(pair, level, Consumer(priors.uniform(2), losses.binary))
    ratio = float(level.power_ball(pair.distance(0, 1), 200).mid())
    assert float(design.loss) == pytest.approx(ratio / (1 + ratio), rel=1e-9)
    assert 0 <= float(design.certificate.gap) <= 1e-9 * float(design.loss) + 1e-15
    assert design.private
    assert float(by_program(pair, level, Consumer(priors.uniform(2), losses.binary)).loss) == pytest.approx(
        float(design.loss)
    )


def test_a_tiny_epsilon_with_many_points_is_bounded_too() -> None:
    design = optimal(line(25), epsilon("1e-30"), uniform_reader(25))
    assert design.private
    assert float(design.certificate.gap) < 1e-9


@given(st.integers(2, 6), inner_alphas(), st.sampled_from(["1/2", "3", "sqrt(2)"]))
@settings(max_examples=25, deadline=None)
def test_points_at_equal_distances_are_counts_at_another_level(points: int, ratio: Fraction, step: str) -> None:
    reader = Consumer(priors.uniform(points), losses.squared)
    scaled_line = scale_space(line(points), number(step))
    design = optimal(scaled_line, alpha(ratio), reader)
    counts = optimal(line(points), Level(alpha(ratio).power(number(step))), reader)
    assert design.loss == counts.loss
    assert design.certificate.gap == 0
    assert is_private(design.channel, scaled_line, alpha(ratio))


def test_a_fraction_of_a_distance_may_have_a_rational_ratio() -> None:
    """(1/4)^(3/2) = 1/8, so the program is rational and its gap is 0."""
    table = space([[0, 1, "3/2", "3/2"], [1, 0, 1, 1], ["3/2", 1, 0, 1], ["3/2", 1, 1, 0]])
    reader = Consumer(priors.explicit(["1/2", "1/4", "1/8", "1/8"]), losses.binary)
    design = optimal(table, alpha("1/4"), reader)
    assert (design.loss, design.certificate.gap) == (Fraction(24, 67), 0)


@given(small_spaces(), rational_levels())
@settings(max_examples=30, deadline=None)
def test_the_simple_design_is_private_and_no_worse_than_a_constant_answer(points: Space, level: Level) -> None:
    reader = Consumer(priors.uniform(len(points)), losses.over(losses.absolute, points))
    upper_costs = cost_bounds(reader, 112)[1]
    design = simple_design(points, level, upper_costs, FreeBound(Fraction(0), upper_costs))
    assert is_private(design.channel, points, level)
    assert design.loss <= min(upper_costs.sum(axis=0))
