"""Discrete Gaussian noise: the law drawn is the law stated, nothing cut off."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from utmost.errors import InputError
from utmost.exact import ball
from utmost.exact.working_precision import working_precision
from utmost.noise.concentrated import delta_of_rho
from utmost.noise.gaussian import (
    GaussianTables,
    _accept,
    _acceptance_bounds,
    _exponent,
    _nearest,
    _put_large,
    delta_ball,
    draw_gaussian_noise,
    gaussian_noise,
    gaussian_tables,
    half_width,
    mass_ball,
    noise_spread,
    tail_ball,
)
from utmost.noise.gaussian_law import (
    _direct_weight_above,
    _expansion_above,
    _expansion_of_spread,
    _series,
    direct_normaliser,
    dual_normaliser,
    rho,
    spread_ball,
    variance_ball,
)
from utmost.noise.table_sampling import MAX_WORD

VARIANCES = [Fraction(1, 9), Fraction(1), Fraction(5, 2), Fraction(100), Fraction(10**6)]
LARGE_VARIANCES = [Fraction(64**2 + 1), Fraction(10**6), Fraction(10**12), Fraction(10**30)]


def proposal_weight(tables: GaussianTables, cell: int, bits: int) -> arb:
    """f(b_c), or for a cell beyond the last the sum of what it proposes: Σ_j f(b)·e^(−jλ), term by term."""
    nearest = _nearest(cell, tables.block)
    with working_precision(bits):
        weight = ball(-(nearest**2) / (2 * tables.variance), bits).exp()
        if -tables.reach <= cell < tables.reach:
            return weight
        ratio, total = ball(-nearest * tables.block / tables.variance, bits).exp(), arb(0)
        while weight > 2.0 ** (-bits):
            total, weight = total + weight, weight * ratio
        return total + arb(0, 2.0 ** (40 - bits))


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_every_threshold_is_the_floor_of_a_sum_of_weights(variance: Fraction) -> None:
    """t ≤ S·2^64 < t + 1 for every cell, S summed here from the definition; words equal to t are split."""
    tables = gaussian_tables(variance)
    with working_precision(400):
        weights = [proposal_weight(tables, cell, 400) for cell in range(-tables.reach - 1, tables.reach + 1)]
        total, cumulative = sum(weights, arb(0)), arb(0)
        assert len(tables.cells.thresholds) == len(weights) - 1
        for weight, threshold in zip(weights, tables.cells.thresholds.tolist(), strict=False):
            cumulative += weight
            assert threshold <= cumulative / total * 2**64 < threshold + 1
    assert tables.cells.split.all()


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_cells_and_acceptance_have_the_weights_of_the_law(variance: Fraction) -> None:
    """A proposal's weight times e^(−z) is θ·Pr[X = x] for every place of some cells, and all x occur once."""
    tables, outputs = gaussian_tables(variance), set()
    step = max(1, tables.block // 8)
    with working_precision(256):
        for cell in {-tables.reach, -2, -1, 0, 1, tables.reach - 1} & set(range(-tables.reach, tables.reach)):
            for place in range(0, tables.block, step):
                x = cell * tables.block + (place if cell >= 0 else tables.block - 1 - place)
                outputs.add(x)
                weight = proposal_weight(tables, cell, 256) * (-ball(_exponent(tables, cell, place), 256)).exp()
                ratio = weight / (mass_ball(variance, x, 256) * dual_normaliser(variance, 256))
                assert (ratio - 1).contains(0)
                assert ratio.rel_accuracy_bits() > 150
    assert len(outputs) >= 4 * tables.block // step


@pytest.mark.parametrize("variance", LARGE_VARIANCES, ids=str)
def test_a_proposal_is_accepted_where_a_uniform_number_is_below_its_exponential(variance: Fraction) -> None:
    """The words on both sides of e^(−z), and the word at it, which a further word decides."""
    tables, stream = gaussian_tables(variance), fixed_stream(5)
    bits = 64 - tables.place_bits
    for word in stream.words(60).tolist():
        cell, place = word % (2 * tables.reach) - tables.reach, word >> 20 & tables.block - 1
        last_bits = place if cell >= 0 else tables.block - 1 - place
        with working_precision(256):
            scaled = (-ball(_exponent(tables, cell, place), 256)).exp() * 2**bits
            floor = int(scaled.floor().unique_fmpz())
        for prefix, further, expected in (
            (floor - 1, [], True),
            (floor + 1, [], False),
            (floor, [0], True),
            (floor, [MAX_WORD], False),
        ):
            if place and 0 <= prefix < 1 << bits:
                cells, words = np.array([cell]), np.array([prefix << tables.place_bits | last_bits], dtype=np.uint64)
                assert bool(_accept(tables, cells, words, ScriptedWords(further))[0]) is expected


@pytest.mark.parametrize("variance", VARIANCES[:4], ids=str)
def test_both_series_of_the_normaliser_agree(variance: Fraction) -> None:
    with working_precision(256):
        difference = direct_normaliser(variance, 200) - dual_normaliser(variance, 200)
        assert difference.contains(0)
        assert difference.rad() < 1e-50


@pytest.mark.parametrize(("variance", "n"), [(65, 1), (65, 64), *((5000, n) for n in (1, 50, 300, 4242, 4243, 4800))])
def test_a_tail_by_euler_and_maclaurin_is_the_sum_of_its_terms(variance: int, n: int) -> None:
    """At σ² = 5000 by the narrower bound from n = 4243 = 60σ on."""
    exact = Fraction(variance)
    direct, expansion = (sum_above(exact, n, 128) for sum_above in (_direct_weight_above, _expansion_above))
    with working_precision(256):
        assert direct.overlaps(expansion)
        assert direct.rel_accuracy_bits() > 100
        assert expansion.rel_accuracy_bits() > 100


@pytest.mark.parametrize("variance", LARGE_VARIANCES, ids=str)
def test_bounds_of_acceptance_enclose_it(variance: Fraction) -> None:
    tables, words = gaussian_tables(variance), fixed_stream(3).words(400)
    cells = (words[:200] % np.uint64(2 * tables.reach)).astype(np.int64) - tables.reach
    places = words[200:] % np.uint64(tables.block)
    low, high = _acceptance_bounds(tables, cells, places)
    for k in range(200):
        with working_precision(128):
            value = (-ball(_exponent(tables, int(cells[k]), int(places[k])), 128)).exp() * 2**32
            assert int(low[k]) <= value <= int(high[k])
            sure_limit = int(tables.sure_limits[cells[k] + tables.reach])
            assert ball(sure_limit, 128) / 2**32 <= value
        assert int(high[k]) - int(low[k]) < 2**10


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(5000), Fraction(10**12)], ids=str)
def test_frequencies_are_those_of_the_law(variance: Fraction) -> None:
    """Chi-square over about twenty bins, 200 000 draws of fixed words: below the bound with probability 1 − 1e-9."""
    noise = gaussian_noise(variance, 200_000, fixed_stream(7))
    step = max(1, int(float(variance) ** 0.5) // 4)
    edges = [k * step for k in range(-9, 10)]
    tails = np.array([1.0, *(float(tail_ball(variance, edge, 64)) for edge in edges), 0.0])
    expected = (tails[:-1] - tails[1:]) * len(noise)
    counts = np.bincount(np.searchsorted(edges, noise, side="right"), minlength=len(edges) + 1)
    enough = expected > 5
    assert counts[expected < 1e-9].sum() == 0
    assert (((counts - expected) ** 2)[enough] / expected[enough]).sum() < 85


@pytest.mark.parametrize("variance", [Fraction(5000), Fraction(10**6)], ids=str)
def test_places_within_a_cell_are_those_of_the_law(variance: Fraction) -> None:
    """Chi-square of X mod 32, nearly uniform, and of the sign: 200 000 draws of fixed words."""
    noise = gaussian_noise(variance, 200_000, fixed_stream(11))
    counts, expected = np.bincount(noise % 32, minlength=32), len(noise) / 32
    assert ((counts - expected) ** 2 / expected).sum() < 110  # 31 degrees of freedom: beyond with probability 1e-10
    assert abs((noise < 0).sum() - float(tail_ball(variance, 1, 64)) * len(noise)) < 7 * (len(noise) / 4) ** 0.5


def test_the_variance_drawn_is_that_of_the_law() -> None:
    """200 000 draws of fixed words; a variance two percent wrong is 6 deviations away."""
    for variance in VARIANCES:
        noise = gaussian_noise(variance, 200_000, fixed_stream(13)).astype(float)
        mean_square, fourth = (noise**2).mean(), (noise**4).mean()
        expected = float(variance_ball(variance, 64))
        assert abs(mean_square - expected) < 6 * ((fourth - mean_square**2) / len(noise)) ** 0.5


def test_noise_beyond_the_last_cell_is_continued_or_drawn_again() -> None:
    """At σ² = 1 the first and the last word lie beyond: steps while a word is below e^(−λ), then acceptance."""
    reach = gaussian_tables(1).reach
    assert reach == 8
    assert gaussian_noise(1, 1, ScriptedWords([MAX_WORD, MAX_WORD, 5])).tolist() == [reach]
    assert gaussian_noise(1, 1, ScriptedWords([0, MAX_WORD, 5])).tolist() == [-1 - reach]
    assert gaussian_noise(1, 1, ScriptedWords([MAX_WORD, 0, MAX_WORD, 5, 0])).tolist() == [reach + 1]
    middle = MAX_WORD // 2
    drawn_again = [MAX_WORD, 0, MAX_WORD, 5, MAX_WORD, middle]  # one step more, rejected, another first word
    assert gaussian_noise(1, 1, ScriptedWords(drawn_again)).tolist() == [0]


def test_noise_beyond_the_last_cell_keeps_its_place_in_the_array() -> None:
    """σ² = 10^6, B = 16: words of cells, words of places, then for each beyond its steps, its place, its acceptance."""
    tables, middle = gaussian_tables(10**6), MAX_WORD // 2
    words = [middle, MAX_WORD, 0, 3, 3, 3, 0, MAX_WORD, 7, 0, MAX_WORD, 9, 0]
    noise = draw_gaussian_noise(tables, 3, ScriptedWords(words)).tolist()
    assert tables.block == 16
    assert noise[1:] == [(tables.reach + 1) * 16 + 7, -1 - tables.reach * 16 - 9]
    assert abs(noise[0]) <= 16


def test_what_64_bits_do_not_hold_is_a_python_integer() -> None:
    assert _put_large(np.array([1, 2]), {1: 2**70}).tolist() == [1, 2**70]
    assert _put_large(np.array([1, 2]), {}).dtype == np.int64


@pytest.mark.parametrize("variance", ["1e-9", "1/9", "100", "4096", "1e6", "1e30"])
def test_words_taken_are_one_or_two_a_draw(variance: str) -> None:
    """One where nothing is rejected, else two and about one in a hundred drawn again."""
    source = CountedWords(fixed_stream(1))
    noise = gaussian_noise(variance, 5000, source)
    has_places = gaussian_tables(variance).block > 1
    assert noise.dtype == np.int64
    assert noise.shape == (5000,)
    assert source.taken == 5000 if not has_places else 10_000 < source.taken < 10_400
    assert gaussian_noise(variance, 0).shape == (0,)


@given(st.fractions(Fraction(1, 50), 3000), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_any_variance_can_be_drawn(variance: Fraction, seed: int) -> None:
    noise = gaussian_noise(variance, 200, fixed_stream(seed))
    assert np.abs(noise).max() <= half_width(variance, Fraction(1, 10**12))


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_a_tail_is_the_sum_of_its_masses_and_tails_are_symmetric(variance: Fraction) -> None:
    with working_precision(300):
        for n in (-3, 0, 1, 5):
            difference = tail_ball(variance, n, 200) - tail_ball(variance, n + 7, 200)
            masses = sum((mass_ball(variance, x, 200) for x in range(n, n + 7)), arb(0))
            assert (difference - masses).contains(0)
            assert (difference - masses).rad() < 1e-55
            assert (tail_ball(variance, n, 200) + tail_ball(variance, 1 - n, 200) - 1).contains(0)


@pytest.mark.parametrize("bits", [64, 500, 2000])
@pytest.mark.parametrize("variance", ["1e-9", "1", "64", "65", "130", "131", "520", "4100", "1e12"])
def test_a_tail_has_the_bits_asked_for(variance: str, bits: int) -> None:
    deviation = math.isqrt(math.ceil(Fraction(variance)))
    for n in (1, deviation, 20 * deviation, 61 * deviation, 10**4 * deviation):
        assert tail_ball(variance, n, bits).rel_accuracy_bits() >= bits


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_moments_are_the_sums_over_all_outputs(variance: Fraction) -> None:
    reach = 8 * math.isqrt(math.ceil(variance)) + 8
    masses = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * float(variance)))
    masses /= masses.sum()
    assert noise_spread(variance) == pytest.approx((masses * np.abs(np.arange(-reach, reach + 1))).sum(), rel=1e-9)
    assert float(variance_ball(variance, 64)) == pytest.approx((masses * np.arange(-reach, reach + 1) ** 2).sum(), 1e-9)
    assert not variance_ball(variance, 64) > ball(variance, 64)


@pytest.mark.parametrize("variance", [Fraction(4097), Fraction(200, 3)], ids=str)
def test_the_mean_size_by_euler_and_maclaurin_is_the_sum_of_its_terms(variance: Fraction) -> None:
    with working_precision(128):
        direct, expansion = _series(ball(1 / (2 * variance), 128), 1, 128), _expansion_of_spread(variance, 128)
        assert direct.overlaps(expansion)
        assert direct.rel_accuracy_bits() > 90
        assert expansion.rel_accuracy_bits() > 90
    assert spread_ball(variance, 128).rel_accuracy_bits() > 90


@pytest.mark.parametrize("variance", VARIANCES[:4], ids=str)
def test_the_profile_is_the_sum_over_all_outputs(variance: Fraction) -> None:
    with working_precision(128):
        masses = {x: mass_ball(variance, x, 128) for x in range(-130, 131)}
        for shift, epsilon in ((1, "0.1"), (2, "1"), (3, "1/2"), (-3, "0"), (1, variance.denominator)):
            factor = ball(Fraction(epsilon), 128).exp()
            brute = sum((max(masses[x] - factor * masses[x - shift], arb(0)) for x in range(-120, 121)), arb(0))
            difference = delta_ball(variance, shift, epsilon) - brute
            assert abs(difference) < 1e-27
    assert delta_ball(variance, 0, "0.1") == 0


@pytest.mark.parametrize("variance", ["100", "1e6", "1e12"])
def test_a_profile_of_large_noise_is_near_that_of_the_normal_law(variance: str) -> None:
    """Φ(Δ/(2σ) − εσ/Δ) − e^ε·Φ(−Δ/(2σ) − εσ/Δ), off by at most about a mass."""
    deviation = math.sqrt(float(variance))
    for shift, epsilon in ((1, "0.01"), (int(deviation), "1"), (int(deviation), "8")):
        ratio, level = shift / deviation, float(epsilon)
        below, above = (math.erfc(-(sign * ratio / 2 - level / ratio) / math.sqrt(2)) / 2 for sign in (1, -1))
        delta = delta_ball(variance, shift, epsilon)
        assert float(delta) == pytest.approx(below - math.exp(level) * above, rel=0.2, abs=1e-12)
        assert delta.rel_accuracy_bits() > 100


@pytest.mark.parametrize("variance", [1, 100, 10**6])
def test_the_conversion_of_rho_bounds_the_profile(variance: int) -> None:
    for shift, epsilon in (
        (1, Fraction(3, math.isqrt(variance))),
        (math.isqrt(variance), Fraction(3)),
        (2, Fraction(1, 20)),
    ):
        assert delta_ball(variance, shift, epsilon) <= ball(delta_of_rho(rho(variance, shift), epsilon), 128)


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(5)], ids=str)
@pytest.mark.parametrize("variance", VARIANCES[:4], ids=str)
def test_renyi_divergences_are_at_most_order_times_rho(variance: Fraction, order: Fraction) -> None:
    """Equal where (1 − order)·Δ is whole."""
    normaliser = dual_normaliser(variance, 128)
    with working_precision(128):
        exponents = [(order * x * x + (1 - order) * (x - 1) ** 2) / (2 * variance) for x in range(-150, 151)]
        divergence = (sum(ball(-e, 128).exp() for e in exponents) / normaliser).log() / ball(order - 1, 128)
        excess = divergence - ball(order * rho(variance, 1), 128)
        assert excess < 1e-25
        assert order.denominator > 1 or abs(excess) < 1e-25


@pytest.mark.parametrize("miss", ["0.5", "0.01", "1e-9", "1e-300"])
@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10**12)], ids=str)
def test_a_half_width_is_the_least(variance: Fraction, miss: str) -> None:
    width, bound = half_width(variance, miss), ball(Fraction(miss), 128)
    assert 2 * tail_ball(variance, width + 1, 128) <= bound
    assert width == 0 or 2 * tail_ball(variance, width, 128) > bound


@pytest.mark.parametrize("variance", [0, -1, 0.5, "1e-10", "1e31", Fraction(2**5000 + 1, 2**5000), "x", None, True])
def test_variances_without_noise_are_refused(variance: object) -> None:
    for function in (lambda: gaussian_noise(variance, 1), lambda: half_width(variance, "0.1")):
        with pytest.raises(InputError, match="variance"):
            function()


def test_other_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="count must be"):
        gaussian_noise(1, -1)
    for miss in (0, 1, "1e-301", 0.5):
        with pytest.raises(InputError, match="miss must be"):
            half_width(1, miss)
    for arguments in ((1, 1, -1), (1, 1, 10**7), (1, "1/2", 1), (1, 10**31, 1), (1, 1, 0.5)):
        with pytest.raises(InputError, match="must be"):
            delta_ball(*arguments)
    with pytest.raises(InputError, match="sensitivity must be"):
        rho(1, -1)
