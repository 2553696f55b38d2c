"""Two-sided geometric noise: exact for every level, nothing cut off, nothing wrapped around."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from strategies import levels
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, enclosure, epsilon
from utmost.noise import geometric, geometric_noise
from utmost.noise.geometric import DIGIT_BASE, _add_tails, _cell_threshold, _digit_threshold
from utmost.noise.table_sampling import MAX_WORD, WORD_BITS, exact_threshold

THRESHOLD_BITS = 400  # bits that cumulative weights are compared to


def cumulative(level: Level, cell: int) -> Number:
    """Pr[Δ ≤ cell], summed by hand: α^−cell/(1+α) below zero, 1 − α^(cell+1)/(1+α) from it on."""
    if cell < 0:
        return level.power(-cell) / (1 + level.alpha)
    return 1 - level.power(cell + 1) / (1 + level.alpha)


@given(levels())
@settings(max_examples=30)
def test_every_threshold_of_a_one_table_level_is_the_closed_forms(level: Level) -> None:
    tables = geometric.lattice(level)
    assert not tables.digits
    for k in range(0, len(tables.cells.thresholds), max(1, len(tables.cells.thresholds) // 50)):
        floor, integer = exact_threshold(cumulative(level, tables.cells.first + k), WORD_BITS)
        assert (int(tables.cells.thresholds[k]), bool(tables.cells.split[k])) == (floor, not integer)


@given(levels(), st.integers(0, MAX_WORD))
@settings(max_examples=100)
def test_a_word_gives_the_noise_whose_cell_it_lies_in(level: Level, word: int) -> None:
    reach = geometric.lattice(level).reach
    noise = int(geometric_noise(level, 1, ScriptedWords([word, MAX_WORD // 2, 0, 0]))[0])
    if -reach <= noise < reach:
        assert cumulative(level, noise - 1) <= Fraction(word, 1 << WORD_BITS) < cumulative(level, noise)


def mass_enclosure(threshold_function: object, y: int) -> tuple[Fraction, Fraction]:
    """An interval around S_y − S_{y−1} from thresholds of `THRESHOLD_BITS` bits; S_{−1} of a digit is 0."""
    high, low = threshold_function(y, THRESHOLD_BITS)[0], threshold_function(y - 1, THRESHOLD_BITS)[0]  # type: ignore[operator]
    return Fraction(high - low - 1, 1 << THRESHOLD_BITS), Fraction(high - low + 1, 1 << THRESHOLD_BITS)


@pytest.mark.parametrize("level", [epsilon("0.001"), alpha("999/1000"), alpha("sqrt(499/500)")], ids=str)
@pytest.mark.parametrize("noise", [0, 1, -1, 1023, 1024, -1024, -1025, 5000, -7001])
def test_a_cell_times_a_digit_is_the_closed_forms_weight(level: Level, noise: int) -> None:
    """Pr[C = c]·Pr[r = r] = (1−α)/(1+α)·α^|δ| for δ = cB + r or cB + B−1−r, to 390 bits."""
    cell, remainder = divmod(noise, DIGIT_BASE)
    digit = remainder if cell >= 0 else DIGIT_BASE - 1 - remainder
    cell_mass = mass_enclosure(lambda y, bits: _cell_threshold(level, DIGIT_BASE, y, bits), cell)
    digit_mass = mass_enclosure(lambda y, bits: _digit_threshold(level, 1, y, bits) if y >= 0 else (0, True), digit)
    expected = enclosure((1 - level.alpha) / (1 + level.alpha) * level.power(abs(noise)), THRESHOLD_BITS)
    assert cell_mass[0] * digit_mass[0] <= expected[1]
    assert expected[0] <= cell_mass[1] * digit_mass[1]
    assert cell_mass[1] * digit_mass[1] - cell_mass[0] * digit_mass[0] < Fraction(1, 1 << 390)


def test_cells_and_digits_are_put_together_without_gap_or_overlap() -> None:
    """Words that choose (cell, digit) give every noise once: δ = cB + r above zero, −1 − (qB + r) below."""
    level = epsilon("0.001")
    tables = geometric.lattice(level)
    noise_values = set()
    for cell in (-2, -1, 0, 1):
        start = int(tables.cells.thresholds[cell - tables.cells.first])
        digits = [0, *(int(t) + 1 for t in tables.digits[0].thresholds)]
        noise = geometric_noise(level, DIGIT_BASE, ScriptedWords([start - 1] * DIGIT_BASE + digits))
        noise_values |= set(noise.tolist())
    assert noise_values == set(range(-2 * DIGIT_BASE, 2 * DIGIT_BASE))


def test_the_digits_of_a_tiny_epsilon_have_the_weights_of_their_positions() -> None:
    tables = geometric.lattice(epsilon("1e-6"))
    assert len(tables.digits) == 2
    for position, law in enumerate(tables.digits):
        rate = Fraction(DIGIT_BASE**position, 10**6)
        share = (1 - epsilon(rate).power(300)) / (1 - epsilon(rate).power(DIGIT_BASE))
        assert exact_threshold(share, WORD_BITS) == (int(law.thresholds[299]), False)


def test_noise_beyond_the_last_cell_takes_further_draws() -> None:
    """At α = 1/2 there are 32 cells a side: the first and the last word lie beyond them."""
    level, reach = alpha("1/2"), 32
    assert geometric.lattice(level).reach == reach
    zero = MAX_WORD // 2  # Pr[Δ < 0] = 1/3, Pr[Δ ≤ 0] = 2/3: noise 0
    assert geometric_noise(level, 1, ScriptedWords([MAX_WORD, zero])).tolist() == [reach]
    assert geometric_noise(level, 1, ScriptedWords([0, zero])).tolist() == [-1 - reach]
    assert geometric_noise(level, 1, ScriptedWords([MAX_WORD, 0, MAX_WORD, zero])).tolist() == [3 * reach]
    minus_one = 2**62  # Pr[Δ ≤ −2] = 1/6 ≤ 1/4 < 1/3: noise −1, whose size is 0 as well
    assert geometric_noise(level, 2, ScriptedWords([0, zero, 0, minus_one])).tolist() == [-1 - 2 * reach, 0]
    assert geometric_noise(level, 3, ScriptedWords([zero, MAX_WORD, 0, zero, zero])).tolist() == [0, reach, -1 - reach]


def test_noise_beyond_the_last_cell_counts_in_blocks_when_there_are_digits() -> None:
    level = epsilon("0.001")
    tables = geometric.lattice(level)
    word_of_cell_3 = int(tables.cells.thresholds[3 - tables.cells.first]) - 1  # the last word of cell 3
    noise = geometric_noise(level, 2, ScriptedWords([MAX_WORD, 0, word_of_cell_3, word_of_cell_3, 0, 0]))
    size = (tables.reach + 3) * DIGIT_BASE
    assert noise.tolist() == [size, -1 - size]


@given(st.sampled_from(["1e-6", "0.0005", "0.01", "0.1", "1", "50", "1e-30"]), st.integers(0, 99))
@settings(max_examples=30)
def test_words_taken_are_one_a_table_and_draw(value: str, seed: int) -> None:
    """A draw takes more with probability below 2^−30; the seeds are fixed_stream, so this is the same every time."""
    level, source = epsilon(value), CountedWords(fixed_stream(seed))
    geometric_noise(level, 500, source)
    assert source.taken == 500 * (1 + len(geometric.lattice(level).digits))


def test_noise_beyond_64_bits_is_a_python_integer() -> None:
    """At ε = 1e-30 the noise has some hundred bits; at 1e-6 it fits."""
    noise = geometric_noise(epsilon("1e-30"), 200)
    assert noise.dtype == object
    assert all(type(value) is int for value in noise)
    assert 10**28 < max(abs(value) for value in noise) < 10**33
    assert geometric_noise(epsilon("1e-6"), 5).dtype == np.int64
    assert geometric_noise(epsilon("1e-30"), 0).shape == (0,)
    assert geometric_noise(epsilon("1"), 0).shape == (0,)


def test_a_draw_far_beyond_turns_the_array_to_pythons_integers() -> None:
    assert _add_tails(np.array([1, 2]), {1: 2**70}).tolist() == [1, 2**70 + 2]
    assert _add_tails(np.array([1, 2]), {0: -(2**62)}).tolist() == [1 - 2**62, 2]
    assert _add_tails(np.array([1, 2]), {0: 5}).dtype == np.int64


@pytest.mark.parametrize("value", ["0", "1"])
def test_levels_without_noise_are_refused(value: str) -> None:
    with pytest.raises(InputError, match="0 < alpha < 1"):
        geometric_noise(alpha(value), 1)
    with pytest.raises(InputError, match="at least 1e-300"):
        geometric_noise(epsilon("1e-301"), 1)


def mean_deviation(noise: np.ndarray, rate: float) -> float:
    """How many standard deviations the mean of |Δ| is from 2α/(1−α²), α = e^−rate."""
    a = float(np.exp(-rate))
    mean, square = 2 * a / (1 - a * a), 2 * a / (1 - a) ** 2
    return float(abs(np.abs(noise).astype(float).mean() - mean) / ((square - mean * mean) / len(noise)) ** 0.5)


@pytest.mark.parametrize("value", ["1e-6", "0.001", "0.1", "1"])
def test_a_scale_five_percent_wrong_is_detected(value: str) -> None:
    """Statistical, 200 000 draws: beyond 7 deviations a false alarm has probability below 3e-12.

    With ε 5 % wrong the mean is 16 to 22 deviations away, so the same check fails, missing it with probability below
    1e-15.
    """
    rate = float(value)
    assert mean_deviation(geometric_noise(epsilon(value), 200_000), rate) < 7
    assert mean_deviation(geometric_noise(epsilon(Fraction(value) * 21 / 20), 200_000), rate) > 7
    assert mean_deviation(geometric_noise(epsilon(Fraction(value) * 19 / 20), 200_000), rate) > 7


def test_the_signs_and_the_last_bits_are_those_of_the_law() -> None:
    """Statistical, 200 000 draws at ε = 0.001: Pr[Δ < 0] = α/(1+α), Pr[Δ even] = (1+α²)/(1+α)²; 7 deviations, 3e-12."""
    noise, a = geometric_noise(epsilon("0.001"), 200_000), float(np.exp(-0.001))
    for indicator, expected in ((noise < 0, a / (1 + a)), (noise % 2 == 0, (1 + a * a) / (1 + a) ** 2)):
        assert abs(indicator.mean() - expected) < 7 * (0.25 / 200_000) ** 0.5
