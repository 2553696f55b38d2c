"""Priors: exact weights sum to one and match their definitions; logs match them, and scipy, at any size."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from utmost.consumer import priors
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Real, power

rates = st.fractions(Fraction(1, 20), Fraction(40), max_denominator=20)
sizes = st.integers(1, 40)
families = st.one_of(
    sizes.map(priors.uniform),
    st.builds(priors.binomial, sizes, st.fractions(0, 1, max_denominator=30)),
    st.builds(priors.poisson, sizes, rates),
    st.builds(priors.zipf, sizes, st.integers(0, 4)),
    st.builds(priors.zipf, st.integers(1, 8), st.sampled_from(["1/2", "1.5"])),
    st.builds(priors.from_data, st.lists(st.integers(0, 9), min_size=1, max_size=30), st.just(10), st.integers(0, 2)),
)


@given(families)
@settings(max_examples=150)
def test_weights_are_a_distribution_and_logs_are_their_logarithms(prior: Prior) -> None:
    weights, logs = prior.exact(), prior.logs()
    assert isinstance(prior, Prior)
    assert len(weights) == len(logs) == prior.size
    assert sum(weights, Fraction(0)) == 1
    proportions = prior.proportions()
    for weight, proportion, log in zip(weights, proportions, logs.tolist(), strict=True):
        assert weight >= 0
        assert weight * sum(proportions, Fraction(0)) == proportion
        assert log == pytest.approx(math.log(float(weight)) if weight else -math.inf, abs=1e-12)


def test_weights_are_the_definitions() -> None:
    assert priors.binomial(4, "1/3").exact() == tuple(Fraction(c, 27) for c in (8, 12, 6, 1))
    assert priors.poisson(4, 3).exact() == tuple(
        w / 13 for w in (Fraction(1), Fraction(3), Fraction(9, 2), Fraction(9, 2))
    )
    assert priors.zipf(3, 2).exact() == tuple(Fraction(c, 49) for c in (36, 9, 4))
    half = priors.zipf(2, "1/2").exact()
    assert isinstance(half[0], Real)
    assert half[0] == 1 / (1 + power(2, Fraction(-1, 2)))


def test_a_binomial_of_a_million_has_the_logs_of_scipy_and_no_underflow() -> None:
    logs, counts = priors.binomial(1_000_001, "0.3").logs(), np.arange(1_000_001)
    assert np.all(np.isfinite(logs))
    np.testing.assert_allclose(logs, stats.binom.logpmf(counts, 10**6, 0.3), atol=1e-7)
    assert logs[0] == pytest.approx(1e6 * math.log(0.7), rel=1e-13)
    assert math.fsum(np.exp(logs)) == pytest.approx(1, abs=1e-12)


def test_a_poisson_of_a_million_has_the_logs_of_scipy() -> None:
    counts = np.arange(1_000_001)
    logs = priors.poisson(1_000_001, "1234.5").logs()
    np.testing.assert_allclose(logs, stats.poisson.logpmf(counts, 1234.5), rtol=1e-10)


def test_a_poisson_cut_far_below_its_mean_keeps_its_precision() -> None:
    weights = np.exp(priors.poisson(11, 10**12).logs())
    assert weights[-2] / weights[-1] == pytest.approx(10 / 10**12, rel=1e-12)


def test_a_zipf_of_a_million_has_the_logs_of_the_zeta_function() -> None:
    logs = priors.zipf(1_000_001, "1.5").logs()
    total = special.zeta(1.5, 1) - special.zeta(1.5, 1_000_002)
    np.testing.assert_allclose(logs, -1.5 * np.log(np.arange(1, 1_000_002)) - math.log(total), atol=1e-12)


def test_weights_too_small_for_a_double_keep_their_logarithm() -> None:
    tiny = Fraction(1, 10**5000)
    assert priors.explicit([tiny, 1 - tiny]).logs()[0] == pytest.approx(-5000 * math.log(10), rel=1e-14)


def test_float_weights_stay_floats() -> None:
    prior = priors.explicit([0.1, 0.2, 0.7])
    assert np.exp(prior.logs()) == pytest.approx([0.1, 0.2, 0.7], rel=1e-15)
    with pytest.raises(InputError, match="exact"):
        prior.exact()


@pytest.mark.parametrize(
    ("weights", "message"),
    [(["1/2", "3/4"], "got 5/4"), (["-1/2", "3/2"], ">= 0"), ([0.5, 0.6], "got 1.1"), ([float("nan"), 1.0], "finite"),
     ([], "size"), (["x"], "number"), ([-0.5, 1.5], "outside"), ([None], "number")],
)  # fmt: skip
def test_weights_that_are_no_prior_are_refused_with_the_reason(weights: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        priors.explicit(weights)
    assert "\n" not in str(caught.value)


def test_exact_weights_are_refused_where_they_are_infeasible() -> None:
    for prior in (priors.binomial(5001, "0.3"), priors.poisson(2001, 3), priors.zipf(501, "1.5")):
        with pytest.raises(InputError, match=r"use logs\(\)"):
            prior.exact()


@pytest.mark.parametrize("size", [0, -1, 10**12, True, 2.5])
def test_sizes_that_are_none_are_refused(size: int) -> None:
    with pytest.raises(InputError, match="size"):
        priors.uniform(size)


def test_data_are_tallied() -> None:
    prior = priors.from_data(np.array([3, 3, 1, 0]), 4)
    assert prior.exact() == (Fraction(1, 4), Fraction(1, 4), 0, Fraction(1, 2))
    assert priors.from_data([], 3, smoothing="1/2").exact() == (Fraction(1, 3),) * 3


@pytest.mark.parametrize(("samples", "smoothing"), [([], 0), ([4], 0), ([-1], 0), ([0.5], 0), ([[1]], 0), ([1], -1)])
def test_data_that_are_no_counts_are_refused_without_showing_them(samples: list[int], smoothing: int) -> None:
    with pytest.raises(InputError, match=r"samples|smoothing"):
        priors.from_data(samples, 4, smoothing)


@pytest.mark.parametrize(
    ("name", "content"),
    [("w.txt", "1/4\n0\n3/4\n"), ("w.csv", "0.25,0,0.75\n"), ("w.json", json.dumps([0.25, 0, 0.75]))],
)
def test_files_of_weights_are_read_exactly(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert priors.parse(str(tmp_path / name), 3).exact() == (Fraction(1, 4), 0, Fraction(3, 4))


def test_the_command_line_names_every_family() -> None:
    assert priors.parse("uniform", 4) == priors.uniform(4)
    assert priors.parse("1/4,0,3/4", 3) == priors.explicit(["1/4", 0, "3/4"])
    assert priors.parse("binomial:0.3", 4) == priors.binomial(4, "3/10")
    assert priors.parse("poisson:12.5", 4) == priors.poisson(4, "25/2")
    assert priors.parse("zipf:1", 4) == priors.zipf(4, 1)
    assert priors.parse("1", 1).exact() == (1,)


@pytest.mark.parametrize(
    "text", ["", "unifrom", "binomial:", "binomial:2", "binomial:x", "poisson:0", "zipf:-1", "no/such/file", "1/2,1/4",
             "1/2,1/2", "1/2,x,1/2", "poisson:nan", "\0,1"]
)  # fmt: skip
def test_nonsense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        priors.parse(text, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["[1, 2", '["a"]', "[[1]]", "[NaN]", "[]", ""])
def test_bad_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(content)
    with pytest.raises(InputError):
        priors.parse(str(path), 1)


def test_weights_of_a_file_are_divided_by_their_sum_and_listed_ones_must_sum_to_one(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text("1\n1\n2\n")
    assert (
        priors.parse(str(path), 3).exact()
        == priors.listed(str(path)).exact()
        == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    )
    with pytest.raises(InputError, match="prior must sum to 1"):
        priors.listed("1,1,2")
    assert priors.listed(".25,.25,1/2").exact()[2] == Fraction(1, 2)
    for word in ("normal:3,4", "nan,1", "", "nothing"):
        with pytest.raises(InputError, match="prior must be uniform"):
            priors.listed(word)
