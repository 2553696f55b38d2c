"""The remapped geometric mechanism in fixed point: against the exact one, and beyond what doubles hold."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import inner_alphas, legal_consumers, rational_levels, weights
from utmost.channel import Matrix, channel, is_private
from utmost.consumer import Consumer, losses, priors
from utmost.design import Design, optimal
from utmost.design.certified_design import FixedPointBound, RoundedBound
from utmost.design.count_mechanism import remapped_channel, remapped_geometric
from utmost.design.fixed_point_counts import fixed_point_objection, fixed_point_remap, fixed_point_rows
from utmost.errors import SolverError
from utmost.exact import Level, alpha, epsilon
from utmost.spaces import line, scale_space

ACCURACY = Fraction(1, 10**12)


def assert_closed(design: Design, level: Level) -> None:
    certificate = design.certificate
    assert isinstance(certificate.proof.bound, FixedPointBound)
    assert 0 <= certificate.gap <= ACCURACY * design.loss
    assert sum(certificate.proof.multipliers or ()) == certificate.lower
    assert is_private(design.channel, line(len(design.channel.inputs)), level)
    certificate.check()


@given(legal_consumers(2, 6), rational_levels())
@settings(max_examples=40, deadline=None)
def test_the_bound_is_the_exact_optimum_of_a_legal_loss_but_for_the_last_bits(reader: Consumer, level: Level) -> None:
    costs = reader.costs()
    exact = remapped_geometric(level, costs)
    assert exact.objection is None
    proof = fixed_point_remap(level, costs)
    if proof is None:
        assert exact.loss == 0
        return
    assert 0 < exact.loss - sum(proof.multipliers) <= exact.loss * Fraction(1, 2**70)
    rows = fixed_point_rows(level, proof.remap)
    assert rows is not None
    assert is_private(channel(rows.tolist()), line(len(rows)), level)
    assert abs((costs * rows).sum() - exact.loss) <= ACCURACY * exact.loss
    assert (costs * remapped_channel(level, proof.remap).rows).sum() == exact.loss


@st.composite
def any_costs(draw: st.DrawFn) -> Matrix:
    size = draw(st.integers(2, 5))
    return np.array([draw(weights(size)) for _ in range(size)], dtype=object)


@given(any_costs(), inner_alphas())
@settings(max_examples=40, deadline=None)
def test_a_reading_objects_in_fixed_point_exactly_when_it_objects_in_fractions(costs: Matrix, ratio: Fraction) -> None:
    exact = remapped_geometric(alpha(ratio), costs)
    if exact.loss:
        assert (fixed_point_remap(alpha(ratio), costs) is None) == (exact.objection is not None)
    assert fixed_point_objection(alpha(ratio), costs, (Fraction(-1),) * len(costs)) is None
    assert fixed_point_objection(alpha(ratio), costs, (Fraction(2),) * len(costs)) is not None


@pytest.mark.parametrize("loss", [losses.absolute, losses.binary, losses.parse("power:1.5")], ids=str)
@pytest.mark.parametrize("level", [epsilon("0.1"), epsilon(3), alpha("1/2")], ids=str)
def test_a_count_with_irrational_data_is_optimal_within_the_last_digits(level: Level, loss: losses.Loss) -> None:
    reader = Consumer(priors.explicit(["1/28", 0, "3/28"] * 7), loss)
    design = optimal(line(21), level, reader)
    if isinstance(design.loss, Fraction) and not design.certificate.gap:
        assert level == alpha("1/2")  # all data are rational
    else:
        assert_closed(design, level)
        assert design.remap is not None


@pytest.mark.slow
@pytest.mark.parametrize("level", ["1e-9", "0.1", "20"])
def test_a_hundred_counts_at_a_level_that_is_very_weak_or_very_strong(level: str) -> None:
    assert_closed(optimal(line(100), epsilon(level), Consumer(priors.uniform(100), losses.absolute)), epsilon(level))


def test_a_hundred_counts_take_a_second_of_the_processor() -> None:
    reader = Consumer(priors.binomial(100, "0.3"), losses.squared)
    start = time.process_time()
    design = optimal(line(100), epsilon("0.1"), reader)
    assert time.process_time() - start < 4  # 0.2 on an idle machine
    assert_closed(design, epsilon("0.1"))


def test_multipliers_that_are_a_hair_too_large_are_refused() -> None:
    certificate = optimal(line(21), epsilon("0.1"), Consumer(priors.uniform(21), losses.absolute)).certificate
    multipliers = certificate.proof.multipliers or ()
    more = tuple(u + Fraction(1, 10**15) for u in multipliers)
    bound = replace(certificate.proof.bound, multipliers=more, lower=sum(more))
    with pytest.raises(SolverError, match="multipliers of a count are not feasible"):
        replace(certificate, lower=sum(more), proof=replace(certificate.proof, bound=bound)).check()


def test_a_loss_for_which_the_geometric_mechanism_is_not_optimal_goes_to_the_program() -> None:
    rows = [[int((i * 7 + w * 3) % 5 == 0) for w in range(21)] for i in range(21)]
    design = optimal(line(21), epsilon("0.5"), Consumer(priors.uniform(21), losses.matrix(rows)))
    assert isinstance(design.certificate.proof.bound, RoundedBound)
    assert design.private


def test_counts_that_are_further_apart_have_the_same_mechanism() -> None:
    reader = Consumer(priors.uniform(22), losses.absolute)
    near, far = optimal(line(22), epsilon("0.2"), reader), optimal(scale_space(line(22), 2), epsilon("0.1"), reader)
    assert (near.channel.rows == far.channel.rows).all()
    far.certificate.check()


def test_what_doubles_cannot_hold_is_left_to_other_ways() -> None:
    costs = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object)
    assert fixed_point_remap(epsilon(1), costs * 10**400) is None
    assert fixed_point_remap(epsilon(1), costs * 0) is None
    assert fixed_point_remap(epsilon(900), costs) is None
    assert fixed_point_rows(epsilon(900), list(range(100))) is None
