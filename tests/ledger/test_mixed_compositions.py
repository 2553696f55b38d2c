"""Mixed compositions, Gaussian noise among them, are never below dp-accounting's optimistic estimate."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from utmost.errors import InputError
from utmost.exact import ball
from utmost.exact import epsilon as level_of
from utmost.exact.working_precision import working_precision
from utmost.ledger.compositions.pld import NO_BOUND, pld_epsilon
from utmost.ledger.costs import ChargeGroup, QueryCost
from utmost.ledger.loss_distributions import compose
from utmost.ledger.loss_laws import CanonicalLoss, ConcentratedLoss, GaussianLoss, GeometricLoss, LossLaw
from utmost.noise.concentrated import epsilon_of_rho
from utmost.noise.gaussian_law import delta_ball
from utmost.noise.tight_canonical import tight_law
from utmost.publish.told_privacy import told_privacy

MILLIONTH = Fraction(1, 10**6)
GRID = 1e-3  # of dp-accounting, where its default of 1e-4 takes long; optimistic whatever it is


def random_counts(generator: random.Random) -> Counter[LossLaw]:
    """Up to four laws, each several times."""
    counts: Counter[LossLaw] = Counter()
    for _ in range(generator.randint(1, 4)):
        variance = Fraction(generator.randint(2, 200), generator.choice([1, 3, 7]))
        epsilon = Fraction(generator.randint(1, 60), 100)
        laws = (GaussianLoss(variance, generator.randint(1, 3)), GeometricLoss(epsilon, generator.randint(1, 5)))
        counts[generator.choice(laws)] += generator.randint(1, 8)
    return counts


def optimistic_epsilon(counts: Counter[LossLaw], delta: Fraction) -> float:
    losses = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="make oracles")
    total = losses.identity(GRID, pessimistic_estimate=False)
    for law, times in counts.items():
        options = {"value_discretization_interval": GRID, "pessimistic_estimate": False}
        if isinstance(law, GaussianLoss):
            deviation = float(law.variance) ** 0.5
            one = losses.from_discrete_gaussian_mechanism(deviation, law.shift, **options)
        elif isinstance(law, CanonicalLoss):
            one = losses.from_two_probability_mass_functions(*log_masses(law), **options)
        else:
            assert isinstance(law, GeometricLoss)
            one = losses.from_discrete_laplace_mechanism(float(law.epsilon / law.steps), law.steps, **options)
        total = total.compose(one.self_compose(times))
    return float(total.get_epsilon_for_delta(float(delta)))


def log_masses(law: CanonicalLoss) -> tuple[dict[int, float], dict[int, float]]:
    """The logarithms of the probabilities of each answer under the one table and under the other."""
    noise = tight_law(level_of(law.epsilon / law.steps), law.steps, law.delta)
    first = {x: math.log(float(noise.mass(x))) for x in range(-noise.reach, noise.reach + 1)}
    return {x + law.steps: mass for x, mass in first.items()}, first


@pytest.mark.parametrize(("steps", "times"), [(1, 1), (1, 20), (5, 7)])
def test_canonical_noise_is_where_dp_accounting_has_it(steps: int, times: int) -> None:
    law, delta = CanonicalLoss(Fraction(3, 10), steps, Fraction(1, 10**8)), MILLIONTH
    counts: Counter[LossLaw] = Counter(
        {law: times, GaussianLoss(Fraction(50)): 3, GeometricLoss(Fraction(1, 10), 2): 4}
    )
    lower, upper = compose(counts, delta).epsilon_bounds(delta)
    assert upper is not None
    assert 0 <= upper - lower <= Fraction(1, 1000)
    optimistic = optimistic_epsilon(counts, delta)
    assert optimistic - 1e-9 <= float(upper) <= optimistic + 0.05


def test_the_delta_of_canonical_noise_counts_once() -> None:
    """Its law has it among the losses: it does not come off the δ that is left for the others as well."""
    group = QueryCost("c", Fraction(1), "canonical", 1, MILLIONTH).group(None)
    assert pld_epsilon([group], MILLIONTH) <= 1
    assert pld_epsilon([group], MILLIONTH / 100) == NO_BOUND
    assert 1 < pld_epsilon([group, group], 2 * MILLIONTH) <= 2
    for wrong in ({"delta": Fraction(0)}, {"delta": MILLIONTH, "steps": 1025}):
        with pytest.raises(InputError, match="cost of law canonical"):
            QueryCost("c", Fraction(1), "canonical", **wrong)  # type: ignore[arg-type]


def check_above(seed: int) -> None:
    counts = random_counts(random.Random(seed))
    for delta in (Fraction(1, 100), MILLIONTH):
        lower, upper = compose(counts, delta).epsilon_bounds(delta)
        assert upper is not None
        assert 0 <= upper - lower <= Fraction(1, 1000)
        assert float(upper) >= optimistic_epsilon(counts, delta) - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_never_below_the_optimistic_estimate(seed: int) -> None:
    check_above(seed)


@pytest.mark.slow
def test_a_thousand_compositions_are_never_below_the_optimistic_estimate() -> None:
    for seed in range(20, 1000):
        counts, delta = random_counts(random.Random(seed)), MILLIONTH if seed % 2 else Fraction(1, 100)
        upper = compose(counts, delta, with_lower=False).epsilon_above(delta)
        assert upper is not None
        assert float(upper) >= optimistic_epsilon(counts, delta) - 1e-9


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 50), Fraction(1, 2), Fraction(3)])
def test_what_is_known_by_rho_alone_dominates_gaussian_noise_and_is_no_worse_than_its_conversion(rho: Fraction) -> None:
    hidden, shown = (
        compose(Counter({law: 1}), MILLIONTH) for law in (ConcentratedLoss(rho), GaussianLoss(1 / (2 * rho)))
    )
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)):
        epsilon = share * epsilon_of_rho(rho, MILLIONTH)
        assert hidden.delta_bounds(epsilon)[1] >= shown.delta_bounds(epsilon)[0]
    upper = hidden.epsilon_above(MILLIONTH)
    assert upper is not None
    assert upper <= epsilon_of_rho(rho, MILLIONTH) * Fraction(11, 10)


def test_noise_on_several_numbers_costs_what_as_many_answers_cost() -> None:
    cells = QueryCost("cells", Fraction(1), "gaussian", 2, MILLIONTH, Fraction(1, 25), 16)
    single = QueryCost("one", Fraction(1), "gaussian", 2, MILLIONTH, Fraction(1, 400), 1)
    together = pld_epsilon([cells.group(None)], MILLIONTH)
    assert together == pld_epsilon([single.group(None, 16)], MILLIONTH)
    assert together < epsilon_of_rho(Fraction(1, 25), MILLIONTH)


def test_noise_without_an_epsilon_at_this_delta_is_more_than_any_budget_has() -> None:
    group = ChargeGroup(Fraction(1), "gaussian", 1, delta=MILLIONTH, rho=Fraction(1, 100))
    assert pld_epsilon([group], Fraction(0)) == NO_BOUND
    assert pld_epsilon([ChargeGroup(Fraction(1), "concentrated", 1, rho=Fraction(1, 100))], Fraction(-1)) == NO_BOUND


@pytest.mark.parametrize("law", ["gaussian", "concentrated"])
def test_an_epsilon_above_that_of_any_budget_is_still_a_bound(law: str) -> None:
    rho, delta = Fraction(100_000), Fraction("1e-6")
    told = pld_epsilon([QueryCost("q", Fraction(1), law, 1, delta, rho).group(None)], delta)
    assert rho < told <= epsilon_of_rho(rho, delta) * Fraction(101, 100)
    with working_precision(256):
        assert delta_ball(1 / (2 * rho), 1, told) <= delta.numerator / ball(delta.denominator, 256)


def test_at_a_delta_below_those_of_distributions_gaussian_noise_is_told_by_its_rho() -> None:
    rho, delta = Fraction(1, 10), Fraction(1, 10**38)
    costs = [QueryCost("q", Fraction(1), "gaussian", 1, delta, rho), QueryCost("r", Fraction(1, 10))]
    told = told_privacy(costs, delta, "pld")
    assert told.epsilon == epsilon_of_rho(rho + Fraction(1, 200), delta)


def test_the_order_of_charges_does_not_matter_to_the_last_digit() -> None:
    costs = [QueryCost("q", Fraction(1), "gaussian", 1, MILLIONTH, Fraction(k, 1000)) for k in range(1, 6)]
    costs += [QueryCost("r", Fraction(k, 100), "geometric", 3) for k in range(1, 6)]
    groups = [cost.group(None, 3) for cost in costs]
    told = {pld_epsilon(order, MILLIONTH) for order in (groups, groups[::-1], groups[5:] + groups[:5])}
    assert len(told) == 1
