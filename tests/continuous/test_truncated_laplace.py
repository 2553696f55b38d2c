"""The truncated Laplace law: exact masses, exact privacy, and what FMM21 Def. 4 prints instead."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
import scipy.integrate
import scipy.stats
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import levels
from utmost.continuous.interval import Interval, interval
from utmost.continuous.pixelation import Law, TruncatedLaplace
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, ball, epsilon, exponential, sign

UNIT = interval(0, 1)


def small_fractions(low: int, high: int) -> st.SearchStrategy[Fraction]:
    return st.integers(low * 8, high * 8).map(lambda n: Fraction(n, 8))


@st.composite
def mechanisms(draw: st.DrawFn) -> TruncatedLaplace:
    low = draw(small_fractions(-2, 2))
    return TruncatedLaplace(Interval(low, low + draw(small_fractions(1, 3))), draw(levels()))


@st.composite
def points_of(draw: st.DrawFn, inputs: Interval, count: int) -> list[Fraction]:
    steps = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    return [inputs.low + inputs.length * Fraction(k, 8) for k in steps]


def is_bounded(high: Number | arb, low: Number | arb, factor: Number) -> bool:
    """high ≤ factor·low, exactly for exact numbers; for balls: not refuted."""
    if isinstance(high, arb) or isinstance(low, arb):
        return not ball_of(high) > ball_of(low) * ball_of(factor)
    return sign(factor * low - high) >= 0


def ball_of(value: Number | arb) -> arb:
    return value if isinstance(value, arb) else ball(value, 200)


@given(mechanisms(), st.data())
@settings(max_examples=60, deadline=None)
def test_the_masses_of_any_partition_sum_to_exactly_one(mechanism: TruncatedLaplace, data: st.DataObject) -> None:
    inputs = mechanism.interval
    (x,) = data.draw(points_of(inputs, 1))
    law = mechanism.law(x)
    edges = sorted({inputs.low, inputs.high, *data.draw(points_of(inputs, 4))})
    masses = law.masses(edges)
    assert sum(masses, Fraction(0)) == 1
    assert all(sign(mass) > 0 for mass in masses)
    assert law.low_atom + law.between(inputs.low, inputs.high) + law.high_atom == 1
    inner = [law.between(u, v) for u, v in pairwise(edges)]
    inner[0] += law.low_atom
    inner[-1] += law.high_atom
    assert inner == masses


@given(mechanisms(), st.data())
@settings(max_examples=60, deadline=None)
def test_it_is_private_for_the_distance_on_the_line(mechanism: TruncatedLaplace, data: st.DataObject) -> None:
    """Densities, end masses and masses of cells of two truths have ratio ≤ e^(ε|x−x′|); the far end attains it."""
    inputs = mechanism.interval
    x, z, y, u, v = data.draw(points_of(inputs, 5))
    law_x, law_z = mechanism.law(x), mechanism.law(z)
    factor = 1 / mechanism.level.power(abs(x - z))
    pairs: list[tuple[Number | arb, Number | arb]] = [
        (law_x.low_atom, law_z.low_atom),
        (law_x.high_atom, law_z.high_atom),
        (law_x.density(y), law_z.density(y)),
        (law_x.between(min(u, v), max(u, v)), law_z.between(min(u, v), max(u, v))),
    ]
    for p, q in pairs:
        assert is_bounded(p, q, factor)
        assert is_bounded(q, p, factor)
    assert max(law_x.low_atom, law_z.low_atom) == factor * min(law_x.low_atom, law_z.low_atom)


@given(mechanisms(), st.data())
@settings(max_examples=60, deadline=None)
def test_the_quantile_inverts_the_distribution_function(mechanism: TruncatedLaplace, data: st.DataObject) -> None:
    inputs = mechanism.interval
    x, y = data.draw(points_of(inputs, 2))
    law = mechanism.law(x)
    probability = law.cdf(y)
    inverse = law.quantile(probability)
    assert inverse == y
    share = Fraction(data.draw(st.integers(1, 40)), 40)
    quantile = law.quantile(share)
    if not isinstance(quantile, arb):
        assert law.cdf(quantile) >= share
    else:
        assert ball_of(inputs.low) < quantile
        assert quantile < ball_of(inputs.high)
        assert cdf_ball(law, quantile).overlaps(ball_of(share))


def cdf_ball(law: Law, y: arb) -> arb:
    """The distribution function strictly inside, at a ball, from its definition."""
    with ctx.workprec(128):
        rate, gap = law.level.epsilon_ball(128), y - ball(law.x, 128)
        return (rate * gap).exp() / 2 if gap < 0 else 1 - (-rate * gap).exp() / 2


def test_a_quantile_is_exact_where_it_can_be() -> None:
    law = TruncatedLaplace(UNIT, epsilon(2)).law("1/2")
    assert law.quantile(exponential(Fraction(-1, 2)) / 2) == Fraction(1, 4)
    assert law.quantile(1 - exponential(Fraction(-1, 2)) / 2) == Fraction(3, 4)
    assert law.quantile("1/2") == Fraction(1, 2)
    assert law.quantile(law.low_atom) == 0
    assert law.quantile(1) == 1
    assert TruncatedLaplace(UNIT, alpha("1/16")).law("1/2").quantile("1/4") == Fraction(1, 4)
    assert isinstance(TruncatedLaplace(UNIT, alpha("1/16")).law("1/2").quantile("1/3"), arb)


@given(mechanisms(), st.data())
@settings(max_examples=30, deadline=None)
def test_moments_are_those_of_a_clamped_laplace_variable(mechanism: TruncatedLaplace, data: st.DataObject) -> None:
    inputs, rate = mechanism.interval, mechanism.level.epsilon
    (x,) = data.draw(points_of(inputs, 1))
    law, noise = mechanism.law(x), scipy.stats.laplace(float(x), 1 / rate)
    low, high, centre = float(inputs.low), float(inputs.high), float(x)
    for k, moment in enumerate(law.moments(3)):
        inner = sum(
            scipy.integrate.quad(lambda y: y**k * noise.pdf(y), u, v, epsabs=1e-14, epsrel=1e-13)[0]  # noqa: B023
            for u, v in ((low, centre), (centre, high))
        )
        truth = inner + low**k * noise.cdf(low) + high**k * noise.sf(high)
        value = float(moment.mid()) if isinstance(moment, arb) else float(moment)
        assert value == pytest.approx(truth, rel=1e-12, abs=1e-12)
        assert isinstance(moment, arb) == (mechanism.level.exponent is None)


@given(mechanisms(), st.data())
@settings(max_examples=30, deadline=None)
def test_masses_and_distribution_are_scipys(mechanism: TruncatedLaplace, data: st.DataObject) -> None:
    inputs = mechanism.interval
    x, y = data.draw(points_of(inputs, 2))
    noise = scipy.stats.laplace(float(x), 1 / mechanism.level.epsilon)
    law = mechanism.law(x)
    assert float(law.low_atom) == pytest.approx(noise.cdf(float(inputs.low)), rel=1e-12)
    assert float(law.high_atom) == pytest.approx(noise.sf(float(inputs.high)), rel=1e-12)
    is_inside = inputs.low < y < inputs.high
    assert float(law.cdf(y)) == pytest.approx(noise.cdf(float(y)) if y < inputs.high else 1, rel=1e-12)
    density = law.density(y)
    assert float(density.mid() if isinstance(density, arb) else density) == pytest.approx(
        noise.pdf(float(y)) * is_inside
    )


def test_erratum_the_end_masses_printed_in_definition_4_do_not_leave_a_total_of_one() -> None:
    """FMM21 Def. 4 prints e^(εx)/2 and e^(ε(1−x))/2; only e^(−εx)/2 and e^(−ε(1−x))/2 complete the density."""
    for x in (Fraction(0), Fraction(1, 3), Fraction(1)):
        law = TruncatedLaplace(UNIT, epsilon(2)).law(x)
        inner_mass = law.between(0, 1)
        printed_masses = (exponential(2 * x) + exponential(2 * (1 - x))) / 2
        assert inner_mass + printed_masses > 1
        assert inner_mass + (exponential(-2 * x) + exponential(-2 * (1 - x))) / 2 == 1


def test_all_is_exact_for_a_rational_epsilon_and_masses_also_for_a_rational_alpha() -> None:
    law = TruncatedLaplace(UNIT, epsilon("1/2")).law("1/4")
    assert str(law.density("3/4")) == "1/4*exp(-1/4)"
    assert str(law.low_atom) == "1/2*exp(-1/8)"
    assert [str(m) for m in law.moments(1)] == ["1", "1/4 + exp(-1/8) - exp(-3/8)"]
    half = TruncatedLaplace(interval(0, 2), alpha("1/4")).law(1)
    assert half.masses([Fraction(0), Fraction(1), Fraction(3, 2), Fraction(2)]) == [
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 4),
    ]
    height = half.density(1, 64)
    assert isinstance(height, arb)
    assert height.overlaps(arb(4).log() / 2)


@pytest.mark.parametrize("level", [alpha(0), alpha(1), epsilon(0)])
def test_levels_without_a_law_are_refused(level: Level) -> None:
    with pytest.raises(InputError, match="0 < alpha < 1"):
        TruncatedLaplace(UNIT, level)


def test_bad_points_are_refused_in_one_line() -> None:
    mechanism = TruncatedLaplace(UNIT, epsilon(1))
    law = mechanism.law(0)
    with pytest.raises(InputError, match="clamp it first"):
        mechanism.law(2)
    with pytest.raises(InputError, match="exact"):
        mechanism.law(0.5)
    for share in (0, -1, 2):
        with pytest.raises(InputError, match="probability"):
            law.quantile(share)
    for low, high in ((1, 0), (-1, 0), (0, 2)):
        with pytest.raises(InputError, match="in this order"):
            law.between(low, high)
    assert law.cdf(-1) == 0
    assert law.between(1, 1) == 0
    assert law.density(-1) == law.density(1) == 0
