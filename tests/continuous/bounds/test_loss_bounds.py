"""Certified losses over densities: against closed forms, quadrature, Riemann sums and the discrete mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from utmost.channel import channel
from utmost.continuous import losses, mechanisms
from utmost.continuous.bounds.loss_bounds import LossBounds, bound_expected_loss
from utmost.continuous.densities import (
    Density,
    beta,
    callable_density,
    histogram,
    parse_density,
    uniform_density,
)
from utmost.continuous.interval import Interval, interval
from utmost.continuous.laplace_count import geometric_loss, laplace_loss
from utmost.continuous.losses import user_loss
from utmost.continuous.user_kernels import Kernel, kernel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon, exponential
from utmost.mechanisms import geometric

UNIT = interval(0, 1)
LOSSES = ["absolute", "squared", "asymmetric:2,1", "asymmetric:0,1", "huber:0.2", "power:1.5", "power:3", "step:0.1"]
COARSE_WIDTHS = {"step:0.1": "0.03", "power:1/2": "0.03"}


def loss_of(
    name: str,
    prior: str = "uniform",
    level: str = "2",
    loss: str = "absolute",
    width: str = "1e-4",
    inputs: Interval = UNIT,
    steps: int = 5,
) -> LossBounds:
    mechanism = mechanisms.mechanism_by_name(name, inputs, epsilon(level), steps)
    return bound_expected_loss(parse_density(prior, inputs), mechanism, losses.parse_continuous_loss(loss), width)


def contains(bounds: LossBounds, value: float, slack: float = 1e-9) -> bool:
    return float(bounds.lower) - slack <= value <= float(bounds.upper) + slack


def riemann(mechanism: mechanisms.Mechanism, density: Density, loss: losses.ContinuousLoss, cells: int = 800):
    """The same loss by midpoints in x and y and readings on a grid, in doubles; off by about 1/cells."""
    low, length = float(mechanism.interval.low), float(mechanism.interval.length)
    x = low + (np.arange(cells) + 0.5) * length / cells
    mass = np.array([float(m) for m in density.masses(mechanism.interval.grid(cells), 64)])
    costs = loss.array(np.linspace(low, low + length, cells // 2 + 1)[:, None], x[None, :]) * mass
    return float((costs @ laws(mechanism, x, low, length)).min(axis=0).sum())


def laws(mechanism: mechanisms.Mechanism, x: np.ndarray, low: float, length: float) -> np.ndarray:
    """K(x)(dy), a row for each x."""
    if isinstance(mechanism, mechanisms.SteppedMechanism):
        points = (x - low) / length * mechanism.steps + (0.5 if mechanism.nearest else 0)
        return mechanism.channel.floats()[np.floor(points).astype(int)]
    rate = mechanism.level.epsilon
    if isinstance(mechanism, mechanisms.GridGeometric):
        count = mechanism.steps
        rows = geometric(count, alpha(Fraction(math.exp(-rate * length / count)))).channel().floats()
        return rows[np.floor((x - low) / length * count + 0.5).astype(int)]
    inner = np.exp(-rate * np.abs(x[:, None] - x)) * length / len(x) * rate
    before, after = np.exp(-rate * (x - low)), np.exp(-rate * (low + length - x))
    if isinstance(mechanism, mechanisms.RenormalisedLaplace):
        return inner / (2 - before - after)[:, None]
    return np.column_stack([before, inner, after]) / 2


@pytest.mark.parametrize("level", ["1/10", "1", "5"])
def test_two_answers_cost_what_the_closed_form_says(level):
    """Uniform prior, one step: answer 0 has density a = 1/(1+α) on [0, ½) and b = αa on (½, 1]; answer 1 mirrors it.

    Absolute: the median m has am = ¼, and twice a·m²/2 + a(½−m)²/2 + b((1−m)² − (½−m)²)/2 is am² + a(½−m)² + b(¾−m).
    Squared: of mass ½, mean (a+3b)/4 and second moment (a+7b)/12.
    """
    small = math.exp(-float(Fraction(level)))
    a, b = 1 / (1 + small), small / (1 + small)
    m = 1 / (4 * a)
    absolute = a * m**2 + a * (0.5 - m) ** 2 + b * (0.75 - m)
    squared = (a + 7 * b) / 12 - ((a + 3 * b) / 4) ** 2
    for loss, value in (("absolute", absolute), ("squared", squared)):
        bounds = loss_of("geometric", level=level, loss=loss, width="1e-9", steps=1)
        assert contains(bounds, value, 1e-12)
        assert bounds.width <= Fraction(1, 10**9)


def test_without_information_the_loss_is_that_of_the_prior():
    """As ε falls to 0: E|x − ½| = ¼ and Var = 1/12 for the uniform prior on [0, 1]."""
    assert contains(loss_of("laplace", level="1e-6", width="1e-5"), 0.25, 1e-5)
    assert contains(loss_of("laplace", level="1e-6", loss="squared", width="1e-5"), 1 / 12, 1e-5)


def column_loss(y: float, rate: float, density, loss: str) -> float:
    """inf_w ∫ ℓ(w,x) e^{−ε|x−y|} π(x) dx by quadrature."""

    def integral(f, a=0.0, b=1.0):
        edges = sorted({a, b, min(max(y, a), b)})
        return sum(integrate.quad(f, u, v, epsabs=1e-12)[0] for u, v in pairwise(edges))

    def weight(x):
        return math.exp(-rate * abs(x - y)) * density(x)

    total = integral(weight)
    if loss == "squared":
        mean = integral(lambda x: x * weight(x)) / total
        return integral(lambda x: (x - mean) ** 2 * weight(x))
    median = optimize.brentq(lambda w: integral(weight, 0.0, w) - total / 2, 0, 1, xtol=1e-13)
    return integral(lambda x: (median - x) * weight(x), 0.0, median) + integral(
        lambda x: (x - median) * weight(x), median, 1.0
    )


@pytest.mark.parametrize("loss", [pytest.param("absolute", marks=pytest.mark.slow), "squared"])
def test_double_quadrature_lies_between_the_bounds(loss):
    rate, density = 2.0, stats.beta(2, 5).pdf
    inner = integrate.quad(lambda y: column_loss(y, rate, density, loss), 0, 1, epsabs=1e-7, limit=30)[0]
    end_losses = column_loss(0.0, rate, density, loss) + column_loss(1.0, rate, density, loss)
    bounds = loss_of("laplace", "beta:2,5", "2", loss, "1e-6")
    assert contains(bounds, rate / 2 * inner + end_losses / 2, 2e-7)


@pytest.mark.few
@pytest.mark.parametrize("loss_name", [*LOSSES, "power:1/2"])
@pytest.mark.parametrize("name", mechanisms.MECHANISM_NAMES)
def test_riemann_sums_lie_between_the_bounds(name, loss_name):
    for inputs, prior, level in ((UNIT, "uniform", "1"), (interval("-3", "-1/2"), "beta:2,5", "3")):
        mechanism = mechanisms.mechanism_by_name(name, inputs, epsilon(level), 4)
        density, loss = parse_density(prior, inputs), losses.parse_continuous_loss(loss_name)
        bounds = bound_expected_loss(density, mechanism, loss, COARSE_WIDTHS.get(loss_name, "2e-3"))
        assert contains(bounds, riemann(mechanism, density, loss), 8e-3)


@settings(max_examples=25)
@given(
    weights=st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
    level=st.sampled_from(["1/10", "1", "4", "20"]),
    loss_name=st.sampled_from(LOSSES),
    name=st.sampled_from(mechanisms.MECHANISM_NAMES),
    low=st.integers(-50, 50),
)
def test_bounds_never_cross_and_respect_what_privacy_implies(weights, level, loss_name, name, low):
    """Any two rows are within e^{±A}, A the ε for any two inputs: so e^{−A}·(prior's loss) ≤ loss ≤ prior's loss."""
    inputs = interval(low, low + 2)
    edges = [low + Fraction(2 * k, len(weights)) for k in range(len(weights) + 1)]
    density = histogram(edges, [Fraction(w, sum(weights)) for w in weights])
    width, loss = COARSE_WIDTHS.get(loss_name, "1/100"), losses.parse_continuous_loss(loss_name)
    mechanism = mechanisms.mechanism_by_name(name, inputs, epsilon(level), 3)
    bounds = bound_expected_loss(density, mechanism, loss, width)
    constant = mechanisms.SteppedMechanism(inputs, channel([["1"], ["1"]]), "constant")
    prior_bounds = bound_expected_loss(density, constant, loss, width)
    assert 0 <= bounds.lower <= bounds.upper <= bounds.lower + Fraction(width)
    assert bounds.lower <= prior_bounds.upper
    assert math.exp(-float(mechanism.guarantee().any_two)) * float(prior_bounds.lower) <= float(bounds.upper) + 1e-12


@settings(max_examples=15)
@given(
    a=st.sampled_from(["1/2", "1", "2", "7/2"]),
    b=st.sampled_from(["1", "3/2", "5"]),
    level=st.sampled_from(["1/2", "2", "8"]),
    loss=st.sampled_from(["absolute", "squared", "huber:0.2"]),
    name=st.sampled_from(["laplace", "renormalised", "geometric"]),
)
def test_a_narrower_width_gives_bounds_that_agree_with_the_wider_ones(a, b, level, loss, name):
    wide, narrow = (loss_of(name, f"beta:{a},{b}", level, loss, width) for width in ("1e-2", "5e-4"))
    assert max(wide.lower, narrow.lower) <= min(wide.upper, narrow.upper)
    assert narrow.width <= Fraction(5, 10**4)
    assert narrow.cells >= wide.cells


@pytest.mark.parametrize("steps", [4, 20])
@pytest.mark.parametrize("level", ["1", "3"])
def test_the_loss_on_a_grid_of_inputs_is_within_lemma_9_of_the_loss_on_the_interval(steps, level):
    """FMM21 Lem. 9 for ℓ_N, and |ℓ − ℓ_N| ≤ 1/N: e^{−ε/N}·$(π_N, L, ℓ) − 1/N ≤ $(π, L, ℓ) ≤ e^{ε/N}·$(π_N, L, ℓ) + 1/N.

    The loss of Laplace noise on inputs k/N is `laplace_loss` of a count; no mechanism on them beats `geometric_loss`.
    """
    density = histogram([0, "1/4", 1], ["1/2", "1/2"])
    masses = [*density.exact_masses(UNIT.grid(steps)), Fraction(0)]
    cost = np.array(
        [[m * abs(Fraction(i - w, steps)) for w in range(steps + 1)] for i, m in enumerate(masses)], dtype=object
    )
    step_level = epsilon(Fraction(level) / steps)
    discrete, best = float(laplace_loss(cost, step_level)), float(geometric_loss(cost, step_level))
    bounds = bound_expected_loss(
        density, mechanisms.mechanism_by_name("laplace", UNIT, epsilon(level)), losses.absolute, "1e-5"
    )
    factor = math.exp(float(Fraction(level)) / steps)
    assert float(bounds.lower) <= factor * discrete + 1 / steps
    assert discrete / factor - 1 / steps <= float(bounds.upper)
    assert best <= discrete + 1e-12


def test_a_fine_grid_costs_as_much_as_truncated_laplace():
    grid, laplace = (
        loss_of("geometric", "beta:2,5", steps=200, width="1e-6"),
        loss_of("laplace", "beta:2,5", width="1e-6"),
    )
    assert abs(float(grid.upper - laplace.upper)) < 1e-5


def test_no_private_mechanism_here_beats_truncated_laplace():
    """FMM21 Thm 5 against another mechanism that is ε-private by distance: Laplace noise of ε/2, renormalised."""
    laplace = loss_of("laplace", "beta:2,5", "2")
    half = mechanisms.mechanism_by_name("renormalised", UNIT, epsilon(1))
    assert half.guarantee().epsilon == 2
    half_bounds = bound_expected_loss(parse_density("beta:2,5", UNIT), half, losses.absolute, "1e-4")
    assert laplace.upper < half_bounds.lower


def renormalised_kernel(rate: Fraction) -> Kernel:
    def density(x: Fraction, y: Fraction):
        value = rate * exponential(-rate * abs(x - y)) / (2 - exponential(-rate * x) - exponential(-rate * (1 - x)))
        return value, value

    return kernel(UNIT, density, 2 * rate, rate)


@pytest.mark.parametrize("loss", ["absolute", "squared", "step:0.1"])
def test_a_kernel_given_as_a_function_costs_what_the_same_mechanism_costs(loss):
    bounds = bound_expected_loss(
        uniform_density(UNIT), renormalised_kernel(Fraction(1)), losses.parse_continuous_loss(loss), "1/10"
    )
    named_bounds = loss_of("renormalised", level="1", loss=loss, width="1e-2")
    assert max(bounds.lower, named_bounds.lower) <= min(bounds.upper, named_bounds.upper)


@pytest.mark.parametrize("name", mechanisms.MECHANISM_NAMES)
@pytest.mark.parametrize("level", ["1e-30", "1e-100"])
def test_an_answer_that_tells_next_to_nothing_is_read_as_none_is(name, level):
    """Without an answer a uniform x is read as 1/2, which costs 1/4."""
    mechanism = mechanisms.mechanism_by_name(name, UNIT, epsilon(level), 4)
    bounds = bound_expected_loss(uniform_density(UNIT), mechanism, losses.absolute, "1e-6")
    assert contains(bounds, 0.25, 1e-6)
    assert {bounds.remap(Fraction(k, 4)) for k in range(5)} == {Fraction(1, 2)}


BAD_KERNELS = [
    (lambda x, y: (2, 2), "total 1"),
    (lambda x, y: ("1/2", "1/2"), "total 1"),
    (lambda x, y: (2, 1), "0 <= lower <= upper"),
    (lambda x, y: (-1, 1), "0 <= lower <= upper"),
    (lambda x, y: 1, "two bounds"),
    (lambda x, y: (1.0, 1.0), "kernel must be exact"),
    pytest.param(lambda x, y: ("1/2", 2), "the kernel or the arithmetic is known no better", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("density", "message"), BAD_KERNELS)
def test_a_kernel_that_is_no_law_or_not_known_well_enough_is_refused(density, message):
    with pytest.raises(InputError, match=message) as refusal:
        bound_expected_loss(uniform_density(UNIT), kernel(UNIT, density, 0, 0), losses.absolute, "1e-3")
    assert "\n" not in str(refusal.value)


@pytest.mark.slow
def test_a_kernel_s_rates_are_bounds_and_its_cells_are_few():
    with pytest.raises(InputError, match="along_y must be >= 0"):
        kernel(UNIT, lambda x, y: (1, 1), 0, -1)
    with pytest.raises(InputError, match=r"it would need about .* cells, more than 2000"):
        bound_expected_loss(uniform_density(UNIT), kernel(UNIT, lambda x, y: (1, 1), 1, 1), losses.absolute, "1e-6")


def test_a_channel_is_taken_for_steps_whose_last_row_is_not_used():
    """FMM21 Def. 7: with N = 2 the rows are those of [0, ½) and [½, 1]; here they tell them apart."""
    halves = channel([["1", "0"], ["0", "1"], ["1/2", "1/2"]], inputs=["0", "1/2", "1"], outputs=["low", "high"])
    mechanism = mechanisms.SteppedMechanism(UNIT, halves, "halves")
    bounds = bound_expected_loss(uniform_density(UNIT), mechanism, losses.absolute, "1e-6")
    assert contains(bounds, 1 / 8, 1e-12)
    assert (float(bounds.remap("low")), float(bounds.remap("high"))) == pytest.approx((0.25, 0.75), abs=1e-3)
    assert mechanism.guarantee().any_two is None
    with pytest.raises(InputError, match="output of the channel"):
        bounds.remap("middle")


@pytest.mark.parametrize("name", ["laplace", "renormalised", "geometric"])
def test_the_remap_is_a_rule_that_does_not_fall_and_costs_what_is_said(name):
    bounds = loss_of(name, "beta:2,5", "3", width="1e-3")
    answers = [answer.low for answer in bounds.remap.answers]
    readings = [bounds.remap(y) for y in sorted(set(answers))]
    assert all(u <= v + Fraction(1, 20) for u, v in pairwise(readings))
    assert all(0 <= w <= 1 for w in readings)
    with pytest.raises(InputError, match="answer must be"):
        bounds.remap(2)


def test_the_rule_itself_costs_between_the_bounds():
    """The remap's loss by Riemann sums over its own pieces."""
    bounds = loss_of("laplace", "uniform", "3", width="1e-3")
    x = (np.arange(2000) + 0.5) / 2000
    total = 0.0
    for answer, reading in zip(bounds.remap.answers, bounds.remap.readings, strict=True):
        u, v, w = float(answer.low), float(answer.high), float(reading)
        law = stats.laplace(loc=x, scale=1 / 3)
        mass = law.cdf(v) - law.cdf(u)
        if u == v:
            mass = law.cdf(0) if u == 0 else law.sf(1)
        total += float(np.mean(np.abs(x - w) * mass))
    assert contains(bounds, total, 1e-6)


def test_laplace_is_private_at_its_epsilon_and_the_others_are_not():
    guarantees = {
        name: mechanisms.mechanism_by_name(name, interval(0, 5), epsilon("1/2"), 4).guarantee()
        for name in mechanisms.MECHANISM_NAMES
    }
    assert guarantees["laplace"].epsilon == Fraction(1, 2)
    assert guarantees["renormalised"].epsilon == 1
    assert all(guarantees[name].epsilon is None for name in ("geometric", "staircase", "response"))
    assert {float(guarantee.any_two) for guarantee in guarantees.values()} == {2.5}


@given(x=st.floats(0.0, 1.0), z=st.floats(0.0, 1.0), y=st.floats(0.0, 1.0), rate=st.floats(0.1, 20))
def test_the_renormalised_density_is_private_at_twice_its_epsilon(x, z, y, rate):
    def logarithm(t: float) -> float:
        return -rate * abs(t - y) - math.log(2 - math.exp(-rate * t) - math.exp(-rate * (1 - t)))

    assert logarithm(x) - logarithm(z) <= 2 * rate * abs(x - z) + 1e-9
    assert logarithm(x) - logarithm(z) <= rate + 1e-9


def test_twice_epsilon_is_approached_at_the_end():
    rate, small = 1.0, 1e-7

    def logarithm(t: float) -> float:
        return -rate * t - math.log(2 - math.exp(-rate * t) - math.exp(-rate * (1 - t)))

    assert (logarithm(0) - logarithm(small)) / small == pytest.approx(2 * rate, rel=1e-3)


def test_levels_given_by_alpha_are_taken_too():
    mechanism = mechanisms.mechanism_by_name("laplace", UNIT, alpha("1/4"))
    bounds = bound_expected_loss(uniform_density(UNIT), mechanism, losses.absolute, "1e-4")
    assert contains(bounds, float(loss_of("laplace", level="1.386294361", width="1e-6").upper), 1e-6)


@pytest.mark.slow
def test_a_steep_mechanism_on_a_long_interval_keeps_its_digits():
    """ε·length = 1000: almost everywhere the loss is that of Laplace noise alone, 1/ε."""
    bounds = loss_of("laplace", level="20", width="1e-3", inputs=interval(0, 50))
    assert contains(bounds, 1 / 20, 1e-3)


@pytest.mark.slow
def test_a_declared_loss_is_bounded_as_its_named_twin():
    twin = user_loss(lambda gap: min(abs(gap), Fraction(1, 4)), UNIT, kappa=1, name="clipped")
    mechanism = mechanisms.mechanism_by_name("laplace", UNIT, epsilon(2))
    bounds = bound_expected_loss(uniform_density(UNIT), mechanism, twin, "1/50")
    assert contains(bounds, riemann(mechanism, uniform_density(UNIT), twin), 5e-3)


@pytest.mark.slow
def test_progress_reports_the_bounds_as_they_close():
    stages: list[tuple[int, float, float]] = []
    mechanism = mechanisms.mechanism_by_name("laplace", UNIT, epsilon(2))
    bounds = bound_expected_loss(
        uniform_density(UNIT), mechanism, losses.absolute, "1e-7", lambda *stage: stages.append(stage)
    )
    assert stages[-1] == (bounds.cells, float(bounds.lower), float(bounds.upper))
    assert [cells for cells, _, _ in stages] == sorted(cells for cells, _, _ in stages)
    assert all(lower <= upper for _, lower, upper in stages)


@pytest.mark.parametrize(
    ("width", "message"),
    [("0", "width must be > 0"), ("-1", "width must be > 0"), ("1e-25", "more than 10\\^7"), ("x", "width must be")],
)
def test_a_width_out_of_reach_is_refused_with_what_is_attainable(width, message):
    with pytest.raises(InputError, match=message) as problem:
        loss_of("laplace", width=width)
    assert width != "1e-25" or "at least about" in str(problem.value)


@pytest.mark.slow
def test_a_density_known_within_bounds_limits_the_width():
    """The uniform density within 1/1000: its loss can be known to about that, and no better."""
    mechanism = mechanisms.mechanism_by_name("laplace", UNIT, epsilon(1))
    true, uncertain = loss_of("laplace", level="1"), callable_density(lambda x: 1.0, "1e-3", 0, UNIT)
    bounds = bound_expected_loss(uncertain, mechanism, losses.absolute, "1/50")
    assert bounds.lower <= true.upper
    assert true.lower <= bounds.upper
    with pytest.raises(InputError, match="known no better"):
        bound_expected_loss(uncertain, mechanism, losses.absolute, "1e-6")


@pytest.mark.parametrize("loss_name", ["absolute", "squared", "huber:0.2", "step:0.1"])
@pytest.mark.parametrize("name", mechanisms.MECHANISM_NAMES)
def test_a_callable_density_costs_what_the_same_density_costs(name, loss_name):
    """6x(1−x) is beta:2,2; its slope is at most 6."""
    curve = callable_density(lambda x: 6 * x * (1 - x), "1e-14", 6, UNIT)
    mechanism, loss = mechanisms.mechanism_by_name(name, UNIT, epsilon(1), 4), losses.parse_continuous_loss(loss_name)
    bounds = bound_expected_loss(curve, mechanism, loss, "1/20")
    named_bounds = bound_expected_loss(beta(2, 2, UNIT), mechanism, loss, "1/20")
    assert max(bounds.lower, named_bounds.lower) <= min(bounds.upper, named_bounds.upper)


def test_mechanism_and_density_must_share_their_interval():
    with pytest.raises(InputError, match="share their interval"):
        bound_expected_loss(
            uniform_density(interval(0, 2)),
            mechanisms.mechanism_by_name("laplace", UNIT, epsilon(1)),
            losses.absolute,
            1,
        )


@pytest.mark.parametrize(
    ("name", "level", "steps", "message"),
    [
        ("gauss", "1", 5, "mechanism must be laplace"),
        ("laplace", "0", 5, "epsilon must be > 0"),
        ("geometric", "1", 0, "steps must be from 1"),
        ("response", "1", 10**6, "steps must be from 1 to 500"),
    ],
)
def test_bad_mechanisms_are_refused(name, level, steps, message):
    with pytest.raises(InputError, match=message):
        mechanisms.mechanism_by_name(name, UNIT, epsilon(level), steps)


def test_losses_by_table_refuse_what_doubles_cannot_hold():
    with pytest.raises(InputError, match="at most 600"):
        loss_of("laplace", level="1000", loss="huber:0.1")
