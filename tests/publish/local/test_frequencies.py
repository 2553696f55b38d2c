"""Frequencies from randomised response: the channel's inverse, the likeliest law, and intervals that hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from strategies import inner_alphas
from utmost.errors import InputError
from utmost.exact import Number, alpha, epsilon
from utmost.mechanisms.randomised_response import RandomisedResponse
from utmost.publish.local import (
    CategoryMechanism,
    LocationMechanism,
    PlaneCoordinates,
    TableMetadata,
    estimate_frequencies,
    obfuscate,
    recover_frequencies,
)
from utmost.publish.local.recovery import (
    frequency_intervals,
    likeliest_frequencies,
    standard_errors,
    unbiased_frequencies,
)

NAMES = tuple("abcdef")


def response_mechanism(level: str | Fraction, size: int, dual: bool = False) -> RandomisedResponse:
    return CategoryMechanism("v", alpha(level), NAMES[:size], dual=dual).noise


MECHANISMS = st.builds(response_mechanism, inner_alphas(), st.integers(2, 5), st.booleans())


@given(MECHANISMS, st.data())
@settings(max_examples=60)
def test_the_estimate_undoes_the_channel_exactly(mechanism: RandomisedResponse, data) -> None:
    """Counts proportional to f·C give back f, as fractions; and any counts give shares that sum to 1."""
    weights = data.draw(st.lists(st.integers(0, 9), min_size=mechanism.size, max_size=mechanism.size).filter(any))
    truth = [Fraction(w, sum(weights)) for w in weights]
    answer_shares = [sum(f * p for f, p in zip(truth, column, strict=True)) for column in mechanism.channel().rows.T]
    scale = np.lcm.reduce([p.denominator for p in answer_shares], dtype=object)
    counts = [int(p * scale) for p in answer_shares]
    assert unbiased_frequencies(mechanism, counts) == truth
    assert likeliest_frequencies(mechanism, counts) == truth
    assert sum(unbiased_frequencies(mechanism, [c + 1 for c in weights])) == 1


@pytest.mark.parametrize("dual", [False, True])
def test_the_estimate_is_unbiased_over_all_answers_of_three_rows(dual: bool) -> None:
    mechanism, rows = response_mechanism("1/3", 3, dual), (0, 2, 2)
    channel, mean = mechanism.channel().rows, [Fraction(0)] * 3
    for answers in product(range(3), repeat=3):
        mass = np.prod([channel[x, y] for x, y in zip(rows, answers, strict=True)])
        estimate = unbiased_frequencies(mechanism, [answers.count(y) for y in range(3)])
        mean = [m + mass * f for m, f in zip(mean, estimate, strict=True)]
    assert mean == [Fraction(1, 3), 0, Fraction(2, 3)]


def test_an_irrational_level_gives_exact_reals_that_sum_to_1() -> None:
    frequencies = estimate_frequencies(CategoryMechanism("v", epsilon(1), NAMES[:3]), [50, 30, 20])
    level = np.exp(-1)
    assert float(frequencies.estimate[0]) == pytest.approx((0.5 * (1 + 2 * level) - level) / (1 - level))
    total: Number = Fraction(0)
    for share in frequencies.estimate:
        total = total + share
    assert total == 1
    total = Fraction(0)
    for share in frequencies.likeliest:
        total = total + share
    assert total == 1


def likelihood(mechanism: RandomisedResponse, counts: list[int], shares: list[Number]) -> float:
    p = np.array([float(f) for f in shares]) @ mechanism.channel().floats()
    return sum(c * log(q) for c, q in zip(counts, p, strict=True) if c)


def em_maximum(mechanism: RandomisedResponse, counts: list[int]) -> np.ndarray:
    """The maximum by another algorithm: EM, which never looks at the shape of the channel."""
    rows, f = mechanism.channel().floats(), np.full(mechanism.size, 1 / mechanism.size)
    for _ in range(4000):
        f = f * ((rows / (f @ rows)) @ np.array(counts, dtype=float)) / sum(counts)
    return f


@given(MECHANISMS, st.data())
@settings(max_examples=40)
def test_the_likeliest_law_is_on_the_simplex_and_no_other_is_likelier(mechanism: RandomisedResponse, data) -> None:
    counts = data.draw(st.lists(st.integers(0, 30), min_size=mechanism.size, max_size=mechanism.size).filter(any))
    frequencies = likeliest_frequencies(mechanism, counts)
    assert sum(frequencies) == 1
    assert all(share >= 0 for share in frequencies)
    best = likelihood(mechanism, counts, frequencies)
    assert best >= likelihood(mechanism, counts, list(em_maximum(mechanism, counts))) - 1e-9 * sum(counts)
    for k in range(mechanism.size):
        corner = [Fraction(int(j == k)) for j in range(mechanism.size)]
        mixture = [f * Fraction(99, 100) + c / 100 for f, c in zip(frequencies, corner, strict=True)]
        assert best >= likelihood(mechanism, counts, mixture) - 1e-9


def miss_probability(mechanism: RandomisedResponse, truth: list[int], miss: float) -> float:
    """The exact probability that an interval fails to hold the share of value 0, for rows as they are (two values)."""
    n, hit_probability = len(truth), 0.0
    channel = mechanism.channel().floats()
    mass = np.ones(1)
    for x in truth:
        mass = np.convolve(mass, [1 - channel[x, 0], channel[x, 0]])
    share = truth.count(0) / n
    for c in range(n + 1):
        low, high = frequency_intervals(mechanism, [c, n - c], miss)[0]
        hit_probability += mass[c] * (low <= share <= high)
    return 1 - hit_probability


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_the_intervals_hold_for_every_true_share(n: int, dual: bool) -> None:
    """Bonferroni halves the miss between two values, so each interval alone misses half as often."""
    for level in ("1/3", "9/10", "1/100"):
        mechanism = response_mechanism(level, 2, dual)
        for zeros in range(n + 1):
            assert miss_probability(mechanism, [0] * zeros + [1] * (n - zeros), 0.2) <= 0.1 + 1e-9


def test_the_intervals_are_not_much_wider_than_they_must_be() -> None:
    mechanism = response_mechanism("1/3", 2)
    low, high = frequency_intervals(mechanism, [6000, 4000], 0.05)[0]
    error = standard_errors(mechanism, [6000, 4000])[0]
    assert high - low < 2 * 1.05 * stats.norm.ppf(1 - 0.05 / 4) * error


@given(MECHANISMS, st.integers(0, 20), st.integers(1, 20))
def test_an_interval_reaches_one_count_beyond_what_was_seen(
    mechanism: RandomisedResponse, count_seen: int, other_count: int
) -> None:
    """So that the tails of unlike rows are below the binomial's: without it the argument has a hole at small counts."""
    n = count_seen + other_count
    low, high = frequency_intervals(mechanism, [count_seen, other_count] + [0] * (mechanism.size - 2), 0.9)[0]
    for count in (max(count_seen - 1, 0), count_seen, count_seen + 1):
        share = float(unbiased_frequencies(mechanism, [count, n - count] + [0] * (mechanism.size - 2))[0])
        assert low - 1e-12 <= min(max(share, 0), 1) <= high + 1e-12


def test_standard_errors_are_those_of_the_estimate() -> None:
    """Var f̂ from the exact law of c for a sample of 50: c is binomial with p = (b + (a − b)f)/S."""
    mechanism, n, share = response_mechanism("1/2", 3), 50, Fraction(1, 5)
    p = float(mechanism.channel().rows[0, 0] * share + mechanism.channel().rows[1, 0] * (1 - share))
    variance = (
        n * p * (1 - p) / n**2 * float((mechanism.same + 2 * mechanism.other) / (mechanism.same - mechanism.other)) ** 2
    )
    count = round(n * p)
    assert standard_errors(mechanism, [count, n - count, 0])[0] == pytest.approx(variance**0.5, rel=0.02)


def test_frequencies_come_back_from_a_file_and_a_scale_five_per_cent_wrong_would_be_seen(tmp_path) -> None:
    """400 000 rows at ε = 1: each share within 6 standard errors, false alarm below 1e-8; at ε = 1.05 it is 13 away."""
    rows = ["a"] * 360_000 + ["b"] * 40_000
    (tmp_path / "in.csv").write_text("v\n" + "\n".join(rows) + "\n")
    mechanism = CategoryMechanism("v", epsilon(1), ("a", "b", "c"))
    for used_mechanism, right in ((mechanism, True), (CategoryMechanism("v", epsilon("1.05"), ("a", "b", "c")), False)):
        metadata = obfuscate(used_mechanism, tmp_path / "in.csv", tmp_path / "out.csv")
        frequencies = recover_frequencies(
            TableMetadata(mechanism, metadata.rows, metadata.order, (), metadata.library), tmp_path / "out.csv"
        )
        deviations = [
            abs(float(f) - t) / e
            for f, t, e in zip(frequencies.estimate, (0.9, 0.1, 0.0), frequencies.errors, strict=True)
        ]
        assert (max(deviations) < 6) == right


def test_a_table_that_is_not_its_notes_is_refused(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("v\na\nb\n")
    metadata = obfuscate(CategoryMechanism("v", epsilon(1), ("a", "b")), tmp_path / "in.csv", tmp_path / "out.csv")
    for content, message in (("v\na\n", "must have the 2 rows"), ("v\na\nsecret\n", "values of its note alone")):
        (tmp_path / "out.csv").write_text(content)
        with pytest.raises(InputError, match=message) as problem:
            recover_frequencies(metadata, tmp_path / "out.csv")
        assert "secret" not in str(problem.value)
    location_metadata = TableMetadata(
        LocationMechanism("x", "y", epsilon(1), "m", Fraction(1), PlaneCoordinates("m")), 1, "kept", (), ""
    )
    with pytest.raises(InputError, match="must be of randomised response"):
        recover_frequencies(location_metadata, tmp_path / "out.csv")
    for counts, confidence in (([0, 0], "0.95"), ([1], "0.95"), ([1, 2], "1"), ([1, 2], "0")):
        with pytest.raises(InputError, match="must be"):
            estimate_frequencies(CategoryMechanism("v", epsilon(1), ("a", "b")), counts, confidence)
