"""Composition by privacy-loss distributions against closed forms, plain enumeration and dp-accounting's own laws."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from utmost.ledger import Budget, open_ledger
from utmost.ledger.compositions import pld
from utmost.ledger.costs import ChargeGroup

accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed: make oracles")

DELTAS = st.sampled_from([Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 10**5), Fraction(1, 100), Fraction(1, 3)])
EPSILONS = st.fractions(Fraction(1, 1000), 2, max_denominator=1000)


def pld_epsilon(costs, delta):
    """The ε of costs (ε, law, steps, times) together."""
    groups = [ChargeGroup(epsilon, law, steps, None, times) for epsilon, law, steps, times in costs]
    return pld.pld_epsilon(groups, delta)


def response_delta(epsilon, times, bound):
    """δ(bound) of randomised response k times: Σ over j true answers of C(k,j)·p^j·q^(k−j)·(1 − e^(bound−(2j−k)ε))₊."""
    heads = 1 / (1 + math.exp(-epsilon))
    return math.fsum(
        math.comb(times, j) * heads**j * (1 - heads) ** (times - j) * -math.expm1(bound - (2 * j - times) * epsilon)
        for j in range(times + 1)
        if (2 * j - times) * epsilon > bound
    )


def geometric_delta(costs, bound):
    """δ(bound) of geometric noise on several counts: every outcome, each count's answer clamped to 0 … steps.

    Below 0 and above `steps` the likelihood ratio does not change, so those outcomes are as one.
    """
    laws = []
    for epsilon, steps in costs:
        a = float(epsilon) / steps
        masses = [math.exp(-a * y) * math.tanh(a / 2) for y in range(1, steps)]
        end_masses = 1 / (1 + math.exp(-a)), math.exp(-a * steps) / (1 + math.exp(-a))
        laws.append([(a * (steps - 2 * y), p) for y, p in enumerate([end_masses[0], *masses, end_masses[1]])])
    terms = []
    for outcome in product(*laws):
        loss = math.fsum(part_loss for part_loss, _ in outcome)
        if loss > bound:
            terms.append(math.prod(p for _, p in outcome) * -math.expm1(bound - loss))
    return math.fsum(terms)


@settings(max_examples=60)
@given(epsilon=EPSILONS, times=st.integers(1, 200), delta=DELTAS)
@example(epsilon=Fraction(1, 1000), times=200, delta=Fraction(1, 10**9))
@example(epsilon=Fraction(2), times=200, delta=Fraction(1, 10**9))
def test_repeated_randomised_response_is_found_from_above_and_nearly(epsilon, times, delta):
    composed_epsilon = pld_epsilon([(epsilon, "any", 1, times)], delta)
    assert response_delta(float(epsilon), times, float(composed_epsilon)) <= delta
    smaller_epsilon = float(composed_epsilon) * 0.998 - 1e-6
    assert smaller_epsilon < 0 or response_delta(float(epsilon), times, smaller_epsilon) > float(delta) * 0.998


@settings(max_examples=40)
@given(
    costs=st.lists(
        st.tuples(st.fractions(Fraction(1, 50), 2, max_denominator=50), st.integers(1, 7)), min_size=1, max_size=4
    ),
    delta=DELTAS,
)
def test_different_geometric_costs_are_found_from_above_and_nearly(costs, delta):
    composed_epsilon = pld_epsilon([(epsilon, "geometric", steps, 1) for epsilon, steps in costs], delta)
    assert geometric_delta(costs, float(composed_epsilon)) <= delta
    smaller_epsilon = float(composed_epsilon) * 0.99 - 1e-6
    assert smaller_epsilon < 0 or geometric_delta(costs, smaller_epsilon) > float(delta) * 0.998


@settings(max_examples=30)
@given(
    costs=st.lists(
        st.tuples(EPSILONS, st.sampled_from(["any", "geometric"]), st.integers(1, 10**12), st.integers(1, 30)),
        max_size=4,
    ),
    delta=DELTAS,
)
def test_never_more_than_the_sum_and_never_below_nothing(costs, delta):
    composed_epsilon = pld_epsilon(costs, delta)
    assert 0 <= composed_epsilon <= sum(epsilon * times for epsilon, _, _, times in costs)


@settings(max_examples=30)
@given(epsilon=st.fractions(Fraction(1, 100), 1, max_denominator=100), times=st.integers(2, 300), delta=DELTAS)
def test_never_more_than_advanced_composition(epsilon, times, delta):
    """ε·√(2k·ln(1/δ)) + k·ε·(e^ε − 1): Dwork, Rothblum and Vadhan 2010, for pure costs."""
    e = float(epsilon)
    advanced = e * math.sqrt(2 * times * math.log(1 / delta)) + times * e * math.expm1(e)
    assert float(pld_epsilon([(epsilon, "any", 1, times)], delta)) <= advanced * 1.001


@settings(max_examples=25)
@given(epsilon=st.fractions(Fraction(1, 20), 2, max_denominator=20), steps=st.integers(1, 40), times=st.integers(1, 60))
def test_the_same_as_dp_accounting_s_discrete_laplace(epsilon, steps, times):
    from dp_accounting.pld.privacy_loss_distribution import from_discrete_laplace_mechanism

    theirs = from_discrete_laplace_mechanism(
        float(epsilon) / steps, steps, value_discretization_interval=2.0**-12, use_connect_dots=True
    ).self_compose(times)
    ours = float(pld_epsilon([(epsilon, "geometric", steps, times)], Fraction(1, 10**6)))
    assert ours == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=5e-3, abs=1e-6)


@pytest.mark.parametrize("steps", [5000, 10**6, 10**9 + 7, 2**63 - 1])
@pytest.mark.parametrize("times", [1, 10, 100])
def test_many_steps_are_laplace_noise_and_never_better(steps, times):
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    theirs = from_laplace_mechanism(2.0, value_discretization_interval=2.0**-12, use_connect_dots=True).self_compose(
        times
    )
    ours = float(pld_epsilon([(Fraction(1, 2), "geometric", steps, times)], Fraction(1, 10**6)))
    assert ours == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=2e-3)


@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10)])
def test_too_many_charges_to_compose_add_up(delta):
    times = 10**13
    assert times * 100 > pld.MAX_CHARGES
    assert pld_epsilon([(Fraction(1, 1000), "any", 1, times * 100)], delta) == Fraction(times, 10)


def test_a_budget_needs_no_dp_accounting(monkeypatch, tmp_path):
    for name in ("dp_accounting", "dp_accounting.pld", "dp_accounting.pld.privacy_loss_distribution"):
        monkeypatch.setitem(sys.modules, name, None)
    with open_ledger(str(tmp_path / "ledger.sqlite")) as ledger:
        ledger.open(Budget("panel", Fraction(1), Fraction(1, 10**6), "pld"))
    assert 0 < pld_epsilon([(Fraction(1, 10), "any", 1, 100)], Fraction(1, 10**6)) < 5
