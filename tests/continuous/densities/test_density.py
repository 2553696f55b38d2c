"""Certified moments of densities: balls that contain the truth, checked against integrators nobody here wrote."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
import scipy.special
import scipy.stats
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.continuous.densities import (
    Beta,
    Density,
    Normal,
    PiecewiseLinear,
    beta,
    callable_density,
    from_data,
    histogram,
    linear_density,
    normal,
    parse_density,
    uniform_density,
)
from utmost.continuous.densities import density as density_module
from utmost.continuous.densities.beta import Kernel
from utmost.continuous.densities.density import _moments_within
from utmost.continuous.interval import Interval, check_edges, interval, parse_interval
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, Real, ball, epsilon, exponential, number

UNIT = interval(0, 1)
BITS = 80


def small_fractions(low: int, high: int, denominator: int = 12) -> st.SearchStrategy[Fraction]:
    return st.integers(low * denominator, high * denominator).map(lambda n: Fraction(n, denominator))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low = draw(small_fractions(-3, 3))
    return Interval(low, low + draw(small_fractions(1, 5)))


@st.composite
def piecewise_densities(draw: st.DrawFn) -> Density:
    inputs = draw(intervals())
    count = draw(st.integers(1, 4))
    knots = [inputs.low + inputs.length * Fraction(k, count) for k in range(count + 1)]
    heights = draw(st.lists(st.integers(0, 5), min_size=count + 1, max_size=count + 1).filter(any))
    if draw(st.booleans()) and any(heights[:-1]):
        return histogram(knots, [Fraction(h, sum(heights[:-1])) for h in heights[:-1]], inputs)
    area = sum((v - u) * Fraction(a + b, 2) for (u, v), (a, b) in zip(pairwise(knots), pairwise(heights), strict=True))
    return linear_density([(x, h / area) for x, h in zip(knots, heights, strict=True)], inputs)


@st.composite
def smooth_densities(draw: st.DrawFn) -> Density:
    inputs = draw(intervals())
    if draw(st.booleans()):
        return beta(draw(small_fractions(1, 8, 4)) / 2, draw(small_fractions(1, 8, 4)) / 2, inputs)
    return normal(draw(small_fractions(-2, 2)), draw(small_fractions(1, 24)) / 12, inputs)


@st.composite
def edges_of(draw: st.DrawFn, inputs: Interval) -> list[Fraction]:
    indices = draw(st.sets(st.integers(0, 60), min_size=2, max_size=5))
    return [inputs.low + inputs.length * Fraction(k, 60) for k in sorted(indices)]


def integral(density: Density, u: Fraction, v: Fraction, rate: Fraction, k: int) -> arb:
    """The same integral by Arb's integrator (Petras's algorithm), for densities that are analytic inside the cell."""
    inputs = density.interval
    low, length = inputs.low, inputs.length

    def beta_height(z: acb, analytic_only: bool) -> acb:
        assert isinstance(density, Beta)
        t, a, b = (z - arb_of(low)) / arb_of(length), arb_of(density.a), arb_of(density.b)
        shape = t.pow(acb(a - 1), analytic=analytic_only) * (1 - t).pow(acb(b - 1), analytic=analytic_only)
        return shape * (a + b).gamma() / (a.gamma() * b.gamma() * arb_of(length))

    def normal_height(z: acb, _: bool) -> acb:
        assert isinstance(density, Normal)
        top = min(max(density.mean, low), inputs.high)  # where it is largest: divided by that value
        return (
            -(((z - arb_of(density.mean)) ** 2 - arb_of((top - density.mean) ** 2)) / arb_of(2 * density.sd**2))
        ).exp()

    def moment_over(height: Callable[[acb, bool], acb], u: Fraction, v: Fraction, rate: Fraction, k: int) -> arb:
        return acb.integral(
            lambda z, analytic_only: z**k * (z * arb_of(rate)).exp() * height(z, analytic_only), arb_of(u), arb_of(v)
        ).real

    with ctx.workprec(120):
        if isinstance(density, Beta):
            return moment_over(beta_height, u, v, rate, k)
        return moment_over(normal_height, u, v, rate, k) / moment_over(normal_height, low, inputs.high, Fraction(0), 0)


def arb_of(value: Fraction) -> arb:
    return ball(value, ctx.prec)


def polynomial_times_exponential(density: PiecewiseLinear, u: Fraction, v: Fraction, rate: Fraction, k: int) -> Number:
    """∫ x^k·(h + m·x)·e^(rate·x) dx, exact, piece by piece, from the antiderivative by repeated parts."""
    total: Number = Fraction(0)
    for (p, q), a, b in zip(pairwise(density.knots), density.left, density.right, strict=True):
        low, high = max(p, u), min(q, v)
        if low < high:
            slope = (b - a) / (q - p)
            coefficients = [Fraction(0)] * k + [a - slope * p, slope]
            total = total + antiderivative(coefficients, rate, high) - antiderivative(coefficients, rate, low)
    return total


def antiderivative(coefficients: Sequence[Fraction], rate: Fraction, x: Fraction) -> Number:
    if not rate:
        return sum((c * x ** (j + 1) / (j + 1) for j, c in enumerate(coefficients)), Fraction(0))
    total, derivative, sign = Fraction(0), list(coefficients), 1
    for n in range(len(coefficients)):
        total += sign * sum((c * x**j for j, c in enumerate(derivative)), Fraction(0)) / rate ** (n + 1)
        derivative, sign = [j * c for j, c in enumerate(derivative)][1:], -sign
    return total * exponential(rate * x)


def is_narrow(row: Sequence[arb], reach: Fraction, bits: int) -> bool:
    return all(m.rad() <= row[0].abs_upper() * ball(reach**k, 64) * arb(2) ** (1 - bits) for k, m in enumerate(row))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_moments_of_pieces_contain_the_exact_integrals_and_are_narrow(data: st.DataObject) -> None:
    density = data.draw(piecewise_densities())
    assert isinstance(density, PiecewiseLinear)
    edges, rate = data.draw(edges_of(density.interval)), data.draw(small_fractions(-4, 4))
    for (u, v), row in zip(pairwise(edges), density.moments(edges, rate, 3, BITS), strict=True):
        assert is_narrow(row, max(abs(u), abs(v)), BITS)
        for k, moment in enumerate(row):
            truth = polynomial_times_exponential(density, u, v, rate, k)
            assert moment.overlaps(ball(truth, 400))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_moments_of_beta_and_normal_agree_with_arbs_integrator(data: st.DataObject) -> None:
    density = data.draw(smooth_densities())
    inputs = density.interval
    edges = [e for e in data.draw(edges_of(inputs)) if inputs.low < e < inputs.high]
    if len(edges) < 2:
        edges = [inputs.low + inputs.length * Fraction(k, 7) for k in (1, 3, 4)]
    rate = data.draw(small_fractions(-30, 30, 4))
    for (u, v), row in zip(pairwise(edges), density.moments(edges, rate, 2, BITS), strict=True):
        assert is_narrow(row, max(abs(u), abs(v)), BITS)
        for k, moment in enumerate(row):
            assert moment.overlaps(integral(density, u, v, rate, k))


@given(small_fractions(1, 20, 4), small_fractions(1, 20, 4), st.integers(1, 30), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_beta_masses_up_to_the_ends_are_incomplete_beta_functions(a: Fraction, b: Fraction, i: int, j: int) -> None:
    """The singular ends, against Arb's own incomplete beta function."""
    density, cut = beta(a / 8, b / 8, UNIT), Fraction(i, i + j)
    below, above = density.masses([Fraction(0), cut, Fraction(1)], BITS)
    with ctx.workprec(200):
        truth = arb_of(cut).beta_lower(arb_of(a / 8), arb_of(b / 8), regularized=True)
    assert below.overlaps(truth)
    assert above.overlaps(1 - truth)
    assert min(below.rel_accuracy_bits(), above.rel_accuracy_bits()) >= BITS


@given(small_fractions(1, 20, 4), small_fractions(1, 20, 4), small_fractions(-30, 30, 4))
@settings(max_examples=30, deadline=None)
def test_the_whole_beta_moment_is_kummers_function(a: Fraction, b: Fraction, rate: Fraction) -> None:
    """E[e^(rT)] = ₁F₁(a; a+b; r), and E[T·e^(rT)] = a/(a+b)·₁F₁(a+1; a+b+1; r)."""
    ((mass, first),) = beta(a / 4, b / 4, UNIT).moments([Fraction(0), Fraction(1)], rate, 1, BITS)
    with ctx.workprec(200):
        p, q, r = arb_of(a / 4), arb_of(b / 4), arb_of(rate)
        assert mass.overlaps(r.hypgeom_1f1(p, p + q))
        assert first.overlaps(p / (p + q) * r.hypgeom_1f1(p + 1, p + q + 1))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 2), (-0.5, 0), (0, -0.75), (40, 20), (-0.5, 30)])
@pytest.mark.parametrize("rate", [0, 3, -50])
@pytest.mark.parametrize(("s", "e"), [("0", "1/8"), ("1/4", "3/8"), ("1/2", "1"), ("1/64", "1/4"), ("0", "1")])
def test_what_a_series_leaves_out_is_bounded(a: float, b: float, rate: int, s: str, e: str) -> None:
    """Series of a dozen bits in arithmetic of 200 on dyadic numbers: the radius is the bound on the tail alone."""
    low, high, alpha, power = Fraction(s), Fraction(e), Fraction(a), Fraction(b)
    with ctx.workprec(200):
        rough = Kernel(alpha, power, arb(rate), 2, 12).over(low, high)
        truth = Kernel(alpha, power, arb(rate), 2, 200).over(low, high)
    for wide, narrow in zip(rough, truth, strict=True):
        assert wide.contains(narrow.mid())
        assert narrow.rel_accuracy_bits() > 60 > wide.rel_accuracy_bits()


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    "density",
    [
        beta(2, 5, UNIT),
        beta("1/2", "1/3", UNIT),
        normal("1/2", "1/10", UNIT),
        uniform_density(UNIT),
        linear_density([(0, 2), (1, 0)]),
    ],
    ids=lambda d: d.name,
)
def test_ten_thousand_cells_of_degree_two_take_about_a_second_and_add_up(density: Density) -> None:
    """Bound with room for a busy machine; the prefix sums must agree with the one big cell."""
    edges = UNIT.grid(10_000)
    start = time.process_time()
    rows = density.moments(edges, Fraction(1), 2, 100)
    assert time.process_time() - start < 6
    ((mass, first, second),) = density.moments([Fraction(0), Fraction(1)], Fraction(1), 2, 100)
    with ctx.workprec(120):
        for k, moment in enumerate((mass, first, second)):
            total = sum((row[k] for row in rows), arb(0))
            assert total.overlaps(moment)
            assert total.rel_accuracy_bits() > 85


@pytest.mark.parametrize(
    ("density", "law"),
    [
        (beta(2, 5, interval(0, 4)), scipy.stats.beta(2, 5, scale=4)),
        (beta("1/2", "3/2", interval(-1, 1)), scipy.stats.beta(0.5, 1.5, loc=-1, scale=2)),
        (normal(1, "1/2", interval(0, 4)), scipy.stats.truncnorm(-2, 6, loc=1, scale=0.5)),
        (uniform_density(interval(-1, 3)), scipy.stats.uniform(-1, 4)),
    ],
    ids=lambda value: getattr(value, "name", "law"),
)
def test_masses_means_and_heights_are_scipys(density: Density, law: scipy.stats.rv_continuous) -> None:
    edges = density.interval.grid(7)
    masses = density.masses(edges, 64)
    assert [float(m.mid()) for m in masses] == pytest.approx(
        [law.cdf(float(v)) - law.cdf(float(u)) for u, v in pairwise(edges)]
    )
    ((_, mean, square),) = density.moments([edges[0], edges[-1]], 0, 2, 64)
    assert float(mean.mid()) == pytest.approx(law.mean(), rel=1e-12)
    assert float(square.mid()) - law.mean() ** 2 == pytest.approx(law.var(), rel=1e-10)
    for x in edges[1:-1]:
        assert float(density.at(x, 64).mid()) == pytest.approx(law.pdf(float(x)), rel=1e-12)
    assert density.at(edges[0] - 1, 64).is_zero()


def test_far_tails_and_steep_rates_keep_their_relative_accuracy() -> None:
    tail = normal(-50, 1, interval(0, 1)).masses([Fraction(0), Fraction(1, 1000), Fraction(999, 1000), Fraction(1)], 64)
    logs = scipy.special.log_ndtr([-50.0, -50.999, -51.0])
    share = math.exp(logs[1] - logs[0]) * -math.expm1(logs[2] - logs[1]) / -math.expm1(logs[2] - logs[0])
    assert float(tail[2].mid()) == pytest.approx(share, rel=1e-9)
    assert all(mass.rel_accuracy_bits() >= 64 for mass in tail)
    for density in (beta(300, 700, UNIT), beta(1, "1/100", UNIT), uniform_density(UNIT), normal(10, "1/50", UNIT)):
        for rate in (1000, -1000):
            rows = density.moments([Fraction(0), Fraction(1, 10**9), Fraction(1, 2), Fraction(1)], rate, 2, 64)
            assert all(row[0] > 0 and row[0].rel_accuracy_bits() >= 64 for row in rows)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(-1, 10), Fraction(1000)])
def test_a_beta_prior_on_a_long_interval_needs_no_more_than_the_part_that_matters(rate: Fraction) -> None:
    """E[e^(rT)] over [0, 10⁶]: Kummer's function again, at arguments far too large to cut the interval evenly."""
    length = 10**6
    start = time.process_time()
    ((mass,),) = beta("5/2", 5, interval(0, length)).moments([Fraction(0), Fraction(length)], rate, 0, BITS)
    assert time.process_time() - start < 2
    with ctx.workprec(300):
        assert mass.overlaps(arb_of(rate * length).hypgeom_1f1(arb(2.5), arb(7.5)))


def test_a_normal_prior_whose_mean_a_steep_rate_moves_far_away_keeps_its_accuracy() -> None:
    """With sd 10⁶ and rate 10³ the mean moves by 10⁹ sd; on [0, 1] the density is all but uniform beside e^(rate·x)."""
    long = interval(0, 10**6)
    for rate in (1000, -1000):
        edges = [Fraction(0), Fraction(1), Fraction(1000), Fraction(10**6)]
        rows = normal(0, 10**6, long).moments(edges, rate, 2, BITS)
        assert all(row[0].rel_accuracy_bits() >= BITS for row in rows)
        flat = uniform_density(long).moments(edges, rate, 2, BITS)
        height = float(normal(0, 10**6, long).at(Fraction(0), 64).mid()) * 10**6
        assert float((rows[0][0] / flat[0][0]).mid()) == pytest.approx(height, rel=1e-10)


def test_edges_beyond_the_range_of_doubles_are_no_trouble() -> None:
    density, tiny = beta("1/2", 1, UNIT), Fraction(1, 10**600)
    first, second, _ = density.masses([Fraction(0), tiny, 4 * tiny, Fraction(1)], 64)
    assert first.overlaps(second)
    assert first.overlaps(ball(Fraction(1, 10**300), 64))
    assert beta(1, 1, UNIT).masses([1 - 2 * tiny, 1 - tiny], 64)[0].overlaps(ball(tiny, 64))


def test_a_rate_may_be_irrational_or_a_ball() -> None:
    root = number("sqrt(2)")
    level = epsilon(1)
    assert isinstance(root, Real)
    for density in (
        uniform_density(UNIT),
        beta(2, 5, UNIT),
        normal("1/2", "1/4", UNIT),
        linear_density([(0, 2), (1, 0)]),
    ):
        edges = UNIT.grid(3)
        exact = density.moments(edges, root, 1, 64)
        with ctx.workprec(128):
            by_ball = density.moments(edges, arb(2).sqrt(), 1, 64)
            by_level = density.moments(edges, level.epsilon_ball(128), 1, 64)
        assert all(a.overlaps(b) for p, q in zip(exact, by_ball, strict=True) for a, b in zip(p, q, strict=True))
        by_integer = density.moments(edges, 1, 1, 64)
        assert all(a.overlaps(b) for p, q in zip(by_level, by_integer, strict=True) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize(
    "density",
    [uniform_density(UNIT), beta(2, "1/2", UNIT), normal("1/2", 1, UNIT), callable_density(lambda x: 1.0, 0, 0, UNIT)],
    ids=lambda d: d.name,
)
def test_a_rate_known_within_bounds_gives_balls_that_hold_the_moments_at_every_such_rate(density: Density) -> None:
    edges = [Fraction(0), Fraction(1, 2), Fraction(1)]
    with ctx.workprec(128):
        wide = density.moments(edges, arb(0, 0.1), 2, 64)
    for rate in (Fraction(-1, 10), Fraction(0), Fraction(1, 20), Fraction(1, 10)):
        for wide_row, row in zip(wide, density.moments(edges, rate, 2, 64), strict=True):
            assert all(a.contains(b.mid()) for a, b in zip(wide_row, row, strict=True))


def test_narrow_cells_cost_precision_and_not_accuracy() -> None:
    width = Fraction(1, 10**20)
    for density in (normal(0, 1, UNIT), beta("7/3", 2, UNIT), beta("1/2", 1, UNIT), linear_density([(0, 2), (1, 0)])):
        (mass,) = density.masses([Fraction(1, 3), Fraction(1, 3) + width], 64)
        assert mass.rel_accuracy_bits() >= 64
        assert float(mass.mid()) == pytest.approx(float(density.at(Fraction(1, 3), 64).mid()) * 1e-20, rel=1e-12)


def test_exact_masses_are_rational_where_they_can_be() -> None:
    edges = UNIT.grid(5)
    assert uniform_density(UNIT).exact_masses(edges) == [Fraction(1, 5)] * 5
    for density in (beta(2, 5, UNIT), beta(3, 1, UNIT), linear_density([(0, 2), ("1/2", 0), (1, 2)])):
        exact = density.exact_masses(edges)
        assert exact is not None
        assert sum(exact) == 1
        assert all(mass.overlaps(ball(e, 200)) for mass, e in zip(density.masses(edges, 64), exact, strict=True))
    assert beta("1/2", 1, UNIT).exact_masses(edges) is None
    assert normal(0, 1, UNIT).exact_masses(edges) is None


def test_a_histogram_of_data_gives_each_bin_its_share() -> None:
    density = from_data([0, "1/4", "1/2", "0.75", 1], [0, "1/2", 1])
    assert density.exact_masses([Fraction(0), Fraction(1, 2), Fraction(1)]) == [Fraction(2, 5), Fraction(3, 5)]
    wide = from_data([1, 2], [0, 4], interval(-1, 9))
    assert wide.interval == interval(-1, 9)
    assert wide.exact_masses([Fraction(-1), Fraction(0), Fraction(2), Fraction(9)]) == [
        0,
        Fraction(1, 2),
        Fraction(1, 2),
    ]


@given(st.data())
@settings(max_examples=10, deadline=None)
def test_a_stated_density_encloses_what_it_approximates(data: st.DataObject) -> None:
    inputs = interval(-1, 1)
    truth = beta(2, 2, inputs)
    error = data.draw(st.sampled_from([0.0, 1e-3, -1e-3]))
    density = callable_density(lambda x: 0.75 * (1 - x * x) + error, "0.0010001", "1.5", inputs)
    edges, rate = data.draw(edges_of(inputs)), data.draw(small_fractions(-4, 4))
    pairs = zip(density.moments(edges, rate, 3, 64), truth.moments(edges, rate, 3, 64), strict=True)
    for wide, narrow in pairs:
        for k, (a, b) in enumerate(zip(wide, narrow, strict=True)):
            assert a.contains(b)
            assert a.rad() < 0.05 * (k + 1) * max(1, float(wide[0].mid()) * 20)


def test_what_is_stated_is_all_that_is_believed() -> None:
    """Within error 1/2 of 1/2, π may be 1 on [0, 1] and 0 below, or the other way round: both are held."""
    inputs = interval(-1, 1)
    density = callable_density(lambda x: 0.5, "1/2", 0, inputs)
    for low, high in ((Fraction(0), Fraction(1)), (Fraction(-1), Fraction(0))):
        step = histogram([low, high], [1], inputs)
        for edges in ([Fraction(-1), Fraction(1)], [Fraction(-2, 3), Fraction(1, 3), Fraction(1)]):
            pairs = zip(density.moments(edges, 1, 3, 64), step.moments(edges, 1, 3, 64), strict=True)
            assert all(a.contains(b.mid()) for wide, row in pairs for a, b in zip(wide, row, strict=True))
    (_, first) = _moments_within(arb(1, 1), [arb(2), arb(0)], Fraction(-1), Fraction(1))  # heights 0 to 2 on [−1, 1]
    assert first.contains(1)  # 2 on the right half


def test_a_stated_density_is_evaluated_within_its_interval_only() -> None:
    """float(1/3) < 1/3 and float(2/3) < 2/3: the nearest double may lie outside, and then its neighbour is used."""
    inputs, arguments = interval("1/3", "2/3"), []

    def height(x: float) -> float:
        arguments.append(Fraction(x))
        return 3.0

    density = callable_density(height, 0, 0, inputs)
    for end in (inputs.low, inputs.high):
        assert density.at(end, 64).contains(3)
    density.masses([inputs.low, inputs.low + Fraction(1, 10**30)], 64)
    assert all(x in inputs for x in arguments)
    assert density.at(Fraction(0), 64).is_zero()


def test_a_precision_that_does_not_suffice_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(density_module, "MAX_PRECISION_BITS", 100)
    with pytest.raises(UndecidedError, match="not known to 64 bits"):
        normal(0, 1, UNIT).masses([Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**20)], 64)


def test_a_density_may_be_infinite_at_its_ends() -> None:
    density = beta("1/2", "1/2", UNIT)
    assert not density.at(Fraction(0), 64).is_finite()
    assert not density.at(Fraction(1), 64).is_finite()
    assert beta(1, 2, UNIT).at(Fraction(0), 64).contains(2)


def test_a_stated_density_narrows_with_its_cells_down_to_its_error() -> None:
    def width(cells: int) -> float:
        density = callable_density(lambda x: 2 * x, "1e-9", 2, UNIT)
        return float(sum(mass.rad() for mass in density.masses(UNIT.grid(cells), 64)))

    assert width(4096) < width(1024) / 3
    assert width(4096) > 1e-9
    assert callable_density(lambda x: 2 * x, 0, 2, UNIT).at(Fraction(1, 2), 64).contains(1)


FILES = {
    "bins.csv": "0,0.25,1\n0.25,1,3\n",
    "bins.json": "[[0, 0.25, 1], [0.25, 1, 3]]",
    "line.csv": "0,0\n1,7\n",
    "gap.csv": "0,0.25,1\n0.5,1,3\n",
    "negative.csv": "0,0.5,-1\n0.5,1,3\n",
    "empty.csv": "",
    "words.csv": "0,secretword,1\n",
    "short.csv": "0,1\n1,2\n",
    "nothing.csv": "0,1,0\n",
    "down.csv": "1,1\n0,1\n",
    "lonely.csv": "1,1\n",
    "broken.json": "[[0, 0.25, 1",
    "long.csv": "1" * 200_000,
    "flat.json": "[1, 2, 3]",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_command_line_texts_name_the_densities(folder: Path) -> None:
    assert parse_density("uniform", UNIT) == uniform_density(UNIT)
    assert parse_density(" beta:2,1/2 ", UNIT) == beta(2, "1/2", UNIT)
    assert parse_density("normal:0.5,0.1", UNIT) == normal("1/2", "1/10", UNIT)
    for name in ("bins.csv", "bins.json"):
        density = parse_density(f"histogram:{folder / name}", UNIT)
        assert density.exact_masses(UNIT.grid(4)) == [Fraction(1, 4)] * 4
        assert density.name == f"histogram:{name}"
    ramp = parse_density(f"linear:{folder / 'line.csv'}", UNIT)
    assert ramp.exact_masses(UNIT.grid(2)) == [Fraction(1, 4), Fraction(3, 4)]
    assert isinstance(ramp, Density)


@pytest.mark.parametrize(
    "text",
    [
        "gamma:1,2",
        "uniform:3",
        "beta:1",
        "beta:0,1",
        "beta:2,-1",
        "beta:a,b",
        "normal:0,0",
        "normal:0,-1",
        "normal:0,nan",
    ]
    + ["normal:0,inf", "normal:1e6,1", "beta:1e9,1", "", "histogram:", "histogram:nowhere.csv", "beta:1,2,3"]
    + [
        f"histogram:{n}"
        for n in (
            "gap.csv",
            "long.csv",
            "flat.json",
            "negative.csv",
            "empty.csv",
            "words.csv",
            "short.csv",
            "nothing.csv",
        )
    ]
    + [f"linear:{n}" for n in ("down.csv", "lonely.csv", "broken.json", "bins.csv")],
)
def test_what_is_no_density_is_refused_in_one_line_without_its_data(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as caught:
        parse_density(text, UNIT)
    assert "\n" not in str(caught.value)
    assert "secretword" not in str(caught.value)


def test_files_must_lie_within_the_interval(folder: Path) -> None:
    with pytest.raises(InputError, match="within the interval"):
        parse_density(f"histogram:{folder / 'bins.csv'}", interval(0, "1/2"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: histogram([0, 1], ["1/2"]), "total 1"),
        (lambda: histogram([0, 1], [1, 0]), "one edge more"),
        (lambda: histogram([1, 0], [1]), "increase"),
        (lambda: histogram([0, 1, 2], [2, -1]), ">= 0"),
        (lambda: linear_density([(0, 1)]), "at least two"),
        (lambda: linear_density([(0, 1), (1, 2)]), "total 1"),
        (lambda: linear_density([(0, 3), (1, -1)]), ">= 0"),
        (lambda: from_data([], [0, 1]), "at least one"),
        (lambda: from_data([5], [0, 1]), "between the first and the last"),
        (lambda: from_data([0.5], [0, 1]), "exact"),
        (lambda: callable_density(lambda x: 2.0, 0, 0, UNIT), "total 1"),
        (lambda: callable_density(lambda x: 1.5 - 3 * x if x < 0.9 else -5.0, 0, 10, UNIT), ">= 0"),
        (lambda: callable_density(lambda x: float("inf"), 0, 10, UNIT), "finite"),
        (lambda: callable_density(lambda x: 1.0, -1, 10, UNIT), "error must be >= 0"),
        (lambda: callable_density(lambda x: 1.0, 0, -1, UNIT), "slope must be >= 0"),
        (lambda: interval(1, 0), "smaller end first"),
        (lambda: interval(0, 0), "smaller end first"),
        (lambda: interval(0, 0.5), "exact"),
        (lambda: parse_interval("0"), "two numbers"),
        (lambda: parse_interval("0,x"), "must be a number"),
        (lambda: UNIT.grid(0), "at least 1"),
        (lambda: check_edges([Fraction(0)], UNIT), "at least two"),
        (lambda: check_edges([0.0, 1.0], UNIT), "must be fractions"),  # type: ignore[list-item]
        (lambda: uniform_density(UNIT).moments([Fraction(1), Fraction(0)], 0, 0, 64), "increase"),
        (lambda: uniform_density(UNIT).moments([Fraction(0), Fraction(2)], 0, 0, 64), "within the interval"),
        (lambda: uniform_density(UNIT).moments([Fraction(0), Fraction(1)], 0, 99, 64), "degree"),
    ],
)
def test_bad_input_is_refused_in_one_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
