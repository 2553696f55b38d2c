"""The geometric mechanism in closed form (GRS12 Ex. 2.1, 2.2, §2.2)."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from strategies import levels
from utmost.channel import Channel, deterministic, identity
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import folded_geometric, geometric, inverse_geometric, untruncated_law
from utmost.mechanisms.geometric import tail_probability
from utmost.noise import geometric_noise

FIGURE_1B = [
    "2/3 1/6 1/12 1/24 1/48 1/48",
    "1/3 1/3 1/6 1/12 1/24 1/24",
    "1/6 1/6 1/3 1/6 1/12 1/12",
    "1/12 1/12 1/6 1/3 1/6 1/6",
    "1/24 1/24 1/12 1/6 1/3 1/3",
    "1/48 1/48 1/24 1/12 1/6 2/3",
]


def test_figure_1b_of_the_paper() -> None:
    rows = geometric(5, alpha("1/2")).channel().rows
    assert [" ".join(map(str, row)) for row in rows] == FIGURE_1B


def truncation(size: int, reach: int) -> Channel:
    """The remap from −reach … size+reach to 0 … size that sends what is outside to the nearer end.

    Applied to the geometric mechanism folded onto that range it gives the truncated one (GRS12 §2.2).
    """
    outputs = range(-reach, size + reach + 1)
    return deterministic([min(max(r, 0), size) for r in outputs], outputs, range(size + 1))


@given(levels(), st.integers(0, 6), st.integers(1, 4))
@settings(max_examples=40)
def test_the_truncated_mechanism_is_a_remap_of_the_untruncated_one(level: Level, size: int, reach: int) -> None:
    assert folded_geometric(size, reach, level).then(truncation(size, reach)) == geometric(size, level).channel()


@given(levels(), st.integers(0, 6))
@settings(max_examples=40)
def test_rows_sum_to_one_and_the_inverse_inverts(level: Level, size: int) -> None:
    rows = geometric(size, level).channel().rows
    assert all(row.sum() == 1 for row in rows)
    assert np.all(rows @ inverse_geometric(size, level) == identity(range(size + 1)).rows)


@given(levels(), st.integers(-3, 3), st.integers(1, 6))
def test_the_untruncated_law_is_two_sided_geometric_and_its_tail_closed(level: Level, x: int, reach: int) -> None:
    law = untruncated_law(x, range(x - reach, x + reach + 1), level)
    assert law[reach] == (1 - level.alpha) / (1 + level.alpha)
    assert all(law[reach + k] == law[reach - k] == law[reach] * level.power(k) for k in range(reach + 1))
    assert sum(law, Fraction(0)) + 2 * tail_probability(reach + 1, level) == 1


def test_levels_alpha_zero_and_alpha_one() -> None:
    assert geometric(3, alpha(0)).channel() == identity(range(4))
    assert all(list(row) == [1, 0, 0, 0] for row in geometric(3, alpha(1)).channel().rows)
    assert geometric(3, alpha(1)).draw([2, 3]).tolist() == [0, 0]
    assert geometric(3, alpha(0)).draw([2, 3]).tolist() == [2, 3]
    assert list(untruncated_law(1, range(-1, 3), alpha(1))) == [0, 1, 0, 0]


@pytest.mark.parametrize("size", [-1, 10**13, "1/2", "nan", 2.0])
def test_an_invalid_size_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="size must"):
        geometric(size, alpha("1/2"))  # type: ignore[arg-type]


def test_a_matrix_that_would_not_fit_is_refused_with_an_alternative() -> None:
    with pytest.raises(InputError, match="need no matrix"):
        geometric(10**6, epsilon("0.1")).channel()
    with pytest.raises(InputError):
        inverse_geometric(3, alpha(1))
    with pytest.raises(InputError, match="reach"):
        folded_geometric(3, 0, alpha("1/2"))


def test_a_draw_for_a_large_count_needs_no_row() -> None:
    """Noise beyond 2000 at ε = 0.1 has probability below 2e-87."""
    answers = geometric(10**12, epsilon("0.1")).draw([10**11] * 20)
    assert all(abs(answer - 10**11) < 2000 for answer in answers.tolist())


@given(levels(), st.integers(0, 6), st.data())
@settings(max_examples=60)
def test_the_law_of_clamped_noise_is_the_law(level: Level, size: int, data: st.DataObject) -> None:
    """Pr[clamp(x + Δ) ≤ y] = Pr[Δ ≤ y − x] for y < size, from the thresholds' closed form; equal numbers."""
    x = data.draw(st.integers(0, size))
    mechanism = geometric(size, level)
    below = [level.power(x - y) / (1 + level.alpha) for y in range(x)]
    above = [1 - level.power(y + 1 - x) / (1 + level.alpha) for y in range(x, size)]
    assert list(accumulate(mechanism.law(x))) == [*below, *above, 1]
    assert [mechanism.cumulative(x, y) for y in range(size + 1)] == [*below, *above, 1]


@given(levels(), st.integers(0, 30), st.integers(0, 99), st.data())
@settings(max_examples=60)
def test_a_draw_is_the_noise_added_and_clamped_and_takes_the_same_words(
    level: Level, size: int, seed: int, data: st.DataObject
) -> None:
    counts = data.draw(st.lists(st.integers(0, size), max_size=30))
    source, noise = CountedWords(fixed_stream(seed)), geometric_noise(level, len(counts), fixed_stream(seed)).tolist()
    answers = geometric(size, level).draw(counts, source)
    assert answers.dtype == np.int64
    assert answers.tolist() == [min(max(x + d, 0), size) for x, d in zip(counts, noise, strict=True)]
    assert source.taken == len(counts)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint64, np.int64, object])
def test_no_integer_type_wraps_around(kind: type) -> None:
    """Noise of ±1000 on the count 127: an eight-bit sum would wrap."""
    counts = np.array([127] * 200, dtype=kind)
    noise = geometric_noise(epsilon("0.001"), 200, fixed_stream(5))
    assert (
        geometric(10**6, epsilon("0.001")).draw(counts, fixed_stream(5)).tolist() == np.maximum(127 + noise, 0).tolist()
    )
    assert counts.tolist() == [127] * 200


def test_noise_larger_than_any_count_answers_an_endpoint() -> None:
    answers = geometric(10**12, epsilon("1e-30")).draw([7] * 300)
    assert answers.dtype == np.int64
    assert set(answers.tolist()) == {0, 10**12}  # one of the two alone has probability 2^-299


@pytest.mark.parametrize("inputs", [[6], [-1], [0.5], ["1"], [True], [[1]], [2**70], [None], 3])
def test_inputs_that_are_no_counts_are_refused_before_any_word_is_taken(inputs: object) -> None:
    with pytest.raises(InputError, match="inputs must be"):
        geometric(5, epsilon(1)).draw(inputs, ScriptedWords([]))  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [393.0, Fraction(787, 2), True, "393", 10**6, None])
def test_an_input_that_is_refused_is_not_repeated(secret: object) -> None:
    """The input is the secret: no message may hold it, nor a number from which it can be had."""
    mechanism = geometric(944, epsilon("0.1"))
    calls = (mechanism.law, lambda x: mechanism.draw([x]), lambda x: mechanism.cumulative(x, 5))
    for call in calls:
        with pytest.raises(InputError) as caught:
            call(secret)  # type: ignore[operator]
        assert not any(word in str(caught.value) for word in ("393", "388", "787", "True", "None"))
