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
from utmost.publish.local.frequencies import (
    frequency_intervals,
    likeliest_frequencies,
    standard_errors,
    unbiased_frequencies,
)

NAMES = tuple("abcdef")


def law_of(level: str | Fraction, size: int, dual: bool = False) -> RandomisedResponse:
    return CategoryMechanism("v", alpha(level), NAMES[:size], dual=dual).noise


LAWS = st.builds(law_of, inner_alphas(), st.integers(2, 5), st.booleans())


@given(LAWS, st.data())
@settings(max_examples=60)
def test_the_estimate_undoes_the_channel_exactly(law: RandomisedResponse, data) -> None:
    """Counts proportional to f·C give back f, as fractions; and any counts give shares that sum to 1."""
    weights = data.draw(st.lists(st.integers(0, 9), min_size=law.size, max_size=law.size).filter(any))
    truth = [Fraction(w, sum(weights)) for w in weights]
    answered = [sum(f * p for f, p in zip(truth, column, strict=True)) for column in law.channel().rows.T]
    scale = np.lcm.reduce([p.denominator for p in answered], dtype=object)
    counts = [int(p * scale) for p in answered]
    assert unbiased_frequencies(law, counts) == truth
    assert likeliest_frequencies(law, counts) == truth
    assert sum(unbiased_frequencies(law, [c + 1 for c in weights])) == 1


@pytest.mark.parametrize("dual", [False, True])
def test_the_estimate_is_unbiased_over_all_answers_of_three_rows(dual: bool) -> None:
    law, rows = law_of("1/3", 3, dual), (0, 2, 2)
    channel, mean = law.channel().rows, [Fraction(0)] * 3
    for answers in product(range(3), repeat=3):
        mass = np.prod([channel[x, y] for x, y in zip(rows, answers, strict=True)])
        found = unbiased_frequencies(law, [answers.count(y) for y in range(3)])
        mean = [m + mass * f for m, f in zip(mean, found, strict=True)]
    assert mean == [Fraction(1, 3), 0, Fraction(2, 3)]


def test_an_irrational_level_gives_exact_reals_that_sum_to_1() -> None:
    found = estimate_frequencies(CategoryMechanism("v", epsilon(1), NAMES[:3]), [50, 30, 20])
    level = np.exp(-1)
    assert float(found.estimate[0]) == pytest.approx((0.5 * (1 + 2 * level) - level) / (1 - level))
    total: Number = Fraction(0)
    for share in found.estimate:
        total = total + share
    assert total == 1
    total = Fraction(0)
    for share in found.likeliest:
        total = total + share
    assert total == 1


def likelihood(law: RandomisedResponse, counts: list[int], shares: list[Number]) -> float:
    p = np.array([float(f) for f in shares]) @ law.channel().floats()
    return sum(c * log(q) for c, q in zip(counts, p, strict=True) if c)


def climbed(law: RandomisedResponse, counts: list[int]) -> np.ndarray:
    """The maximum by another algorithm: EM, which never looks at the shape of the channel."""
    rows, f = law.channel().floats(), np.full(law.size, 1 / law.size)
    for _ in range(4000):
        f = f * ((rows / (f @ rows)) @ np.array(counts, dtype=float)) / sum(counts)
    return f


@given(LAWS, st.data())
@settings(max_examples=40)
def test_the_likeliest_law_is_on_the_simplex_and_no_other_is_likelier(law: RandomisedResponse, data) -> None:
    counts = data.draw(st.lists(st.integers(0, 30), min_size=law.size, max_size=law.size).filter(any))
    found = likeliest_frequencies(law, counts)
    assert sum(found) == 1
    assert all(share >= 0 for share in found)
    best = likelihood(law, counts, found)
    assert best >= likelihood(law, counts, list(climbed(law, counts))) - 1e-9 * sum(counts)
    for k in range(law.size):
        corner = [Fraction(int(j == k)) for j in range(law.size)]
        mixed = [f * Fraction(99, 100) + c / 100 for f, c in zip(found, corner, strict=True)]
        assert best >= likelihood(law, counts, mixed) - 1e-9


def misses(law: RandomisedResponse, truth: list[int], miss: float) -> float:
    """The exact probability that an interval fails to hold the share of value 0, for rows as they are (two values)."""
    n, held = len(truth), 0.0
    channel = law.channel().floats()
    mass = np.ones(1)
    for x in truth:
        mass = np.convolve(mass, [1 - channel[x, 0], channel[x, 0]])
    share = truth.count(0) / n
    for c in range(n + 1):
        low, high = frequency_intervals(law, [c, n - c], miss)[0]
        held += mass[c] * (low <= share <= high)
    return 1 - held


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_the_intervals_hold_for_every_true_share(n: int, dual: bool) -> None:
    """Bonferroni halves the miss between two values, so each interval alone misses half as often."""
    for level in ("1/3", "9/10", "1/100"):
        law = law_of(level, 2, dual)
        for zeros in range(n + 1):
            assert misses(law, [0] * zeros + [1] * (n - zeros), 0.2) <= 0.1 + 1e-9


def test_the_intervals_are_not_much_wider_than_they_must_be() -> None:
    law = law_of("1/3", 2)
    low, high = frequency_intervals(law, [6000, 4000], 0.05)[0]
    error = standard_errors(law, [6000, 4000])[0]
    assert high - low < 2 * 1.05 * stats.norm.ppf(1 - 0.05 / 4) * error


@given(LAWS, st.integers(0, 20), st.integers(1, 20))
def test_an_interval_reaches_one_count_beyond_what_was_seen(law: RandomisedResponse, seen: int, others: int) -> None:
    """So that the tails of unlike rows are below the binomial's: without it the argument has a hole at small counts."""
    n = seen + others
    low, high = frequency_intervals(law, [seen, others] + [0] * (law.size - 2), 0.9)[0]
    for count in (max(seen - 1, 0), seen, seen + 1):
        share = float(unbiased_frequencies(law, [count, n - count] + [0] * (law.size - 2))[0])
        assert low - 1e-12 <= min(max(share, 0), 1) <= high + 1e-12


def test_standard_errors_are_those_of_the_estimate() -> None:
    """Var f̂ from the exact law of c for a sample of 50: c is binomial with p = (b + (a − b)f)/S."""
    law, n, share = law_of("1/2", 3), 50, Fraction(1, 5)
    p = float(law.channel().rows[0, 0] * share + law.channel().rows[1, 0] * (1 - share))
    variance = n * p * (1 - p) / n**2 * float((law.same + 2 * law.other) / (law.same - law.other)) ** 2
    count = round(n * p)
    assert standard_errors(law, [count, n - count, 0])[0] == pytest.approx(variance**0.5, rel=0.02)


def test_frequencies_come_back_from_a_file_and_a_scale_five_per_cent_wrong_would_be_seen(tmp_path) -> None:
    """400 000 rows at ε = 1: each share within 6 standard errors, false alarm below 1e-8; at ε = 1.05 it is 13 away."""
    rows = ["a"] * 360_000 + ["b"] * 40_000
    (tmp_path / "in.csv").write_text("v\n" + "\n".join(rows) + "\n")
    law = CategoryMechanism("v", epsilon(1), ("a", "b", "c"))
    for made, right in ((law, True), (CategoryMechanism("v", epsilon("1.05"), ("a", "b", "c")), False)):
        note = obfuscate(made, tmp_path / "in.csv", tmp_path / "out.csv")
        found = recover_frequencies(TableMetadata(law, note.rows, note.order, (), note.library), tmp_path / "out.csv")
        off = [abs(float(f) - t) / e for f, t, e in zip(found.estimate, (0.9, 0.1, 0.0), found.errors, strict=True)]
        assert (max(off) < 6) == right


def test_a_table_that_is_not_its_notes_is_refused(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("v\na\nb\n")
    note = obfuscate(CategoryMechanism("v", epsilon(1), ("a", "b")), tmp_path / "in.csv", tmp_path / "out.csv")
    for content, words in (("v\na\n", "must have the 2 rows"), ("v\na\nsecret\n", "values of its note alone")):
        (tmp_path / "out.csv").write_text(content)
        with pytest.raises(InputError, match=words) as problem:
            recover_frequencies(note, tmp_path / "out.csv")
        assert "secret" not in str(problem.value)
    places = TableMetadata(
        LocationMechanism("x", "y", epsilon(1), "m", Fraction(1), PlaneCoordinates("m")), 1, "kept", (), ""
    )
    with pytest.raises(InputError, match="must be of randomised response"):
        recover_frequencies(places, tmp_path / "out.csv")
    for counts, confidence in (([0, 0], "0.95"), ([1], "0.95"), ([1, 2], "1"), ([1, 2], "0")):
        with pytest.raises(InputError, match="must be"):
            estimate_frequencies(CategoryMechanism("v", epsilon(1), ("a", "b")), counts, confidence)
