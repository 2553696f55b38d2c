"""The kernel against brute force over matrices of fractions, and against laws that hold at a million counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.consumer import losses, priors
from utmost.consumer.counts import (
    Readings,
    face_value_reading,
    posterior,
    posterior_mass,
    read,
    reading_search,
    readings,
)
from utmost.consumer.counts.recurrences import Floats, scan
from utmost.consumer.counts.tie_breaking import sign_of_polynomial
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, epsilon, exponential, power

ALPHAS = ["1/2", "1/3", "2/3", "9/10", "99/100", "1/100", "999/1000"]


def whole(values: Sequence[Number]) -> list[Number | int]:
    """The same up to one factor, as integers where they are rational: those are fast."""
    if not all(isinstance(value, Fraction) for value in values):
        return list(values)
    common = math.lcm(*(value.denominator for value in values))
    return [int(value * common) for value in values]


def oracle(prior: Prior, level: Level, loss: Loss) -> tuple[list[int], list[float], float, float]:
    """Remap (the smallest exact minimiser), losses given the answer, expected loss, face value loss: by matrices.

    The truncated geometric mechanism entry by entry (GRS12 Ex. 2.2), all sums exact, no answer in log space.
    """
    size, a = prior.size, level.alpha
    cells = [cell for row in loss.matrix(size) for cell in row]
    scale = math.lcm(*(cell.denominator for cell in cells)) if all(isinstance(c, Fraction) for c in cells) else 1
    cost = np.array(whole(cells), dtype=object).reshape(size, size)
    weights, powers = whole(prior.exact()), whole([level.power(k) for k in range(size)])
    remap, given, face, chances = [], [], [], []
    for y in range(size):
        joint = [weights[x] * powers[abs(x - y)] for x in range(size)]
        sums = (np.array(joint, dtype=object) @ cost).tolist()
        best = 0
        for w in range(1, size):
            best = w if sums[w] < sums[best] else best
        total = sum(joint)
        remap.append(best)
        given.append(float(sums[best] / Fraction(scale) / total))
        face.append(float(sums[y] / Fraction(scale) / total))
        kappa = 1 if y in (0, size - 1) else 1 - a
        chances.append(float(kappa * total / Fraction(1) / (powers[0] * sum(weights)) / (1 + a if size > 1 else 1)))
    return remap, given, math.fsum(map(float.__mul__, chances, given)), math.fsum(map(float.__mul__, chances, face))


def check(prior: Prior, level: Level, loss: Loss) -> None:
    found = readings(prior, level, loss)
    remap, given, expected, face = oracle(prior, level, loss)
    assert found.remap.tolist() == remap
    assert found.losses == pytest.approx(given, rel=1e-9, abs=1e-11 * (1 + max(given)))
    assert found.expected_loss == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert found.face_value_loss == pytest.approx(face, rel=1e-9, abs=1e-11)


def weights_of(counts: Sequence[int | Fraction]) -> Prior:
    total = Fraction(sum(counts))
    return priors.explicit([c / total for c in counts])


def counts(size: int) -> st.SearchStrategy[list[int]]:
    """Integer weights with many zeros, ties and symmetries."""
    entry = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 8, 16, 100, 10**9])
    plain = st.lists(entry, min_size=size, max_size=size)
    mirrored = st.lists(entry, min_size=(size + 1) // 2, max_size=(size + 1) // 2).map(
        lambda half: half[: size // 2] + half[::-1]
    )
    growing = st.sampled_from([2, 3, 10]).map(lambda base: [base ** min(k, 30) for k in range(size)])
    return st.one_of(plain, mirrored, growing, growing.map(lambda c: c[::-1])).filter(any)


drawn_priors = st.integers(1, 40).flatmap(counts).map(weights_of)
rational_levels = st.sampled_from(ALPHAS).map(alpha)
closed_losses = st.one_of(
    st.sampled_from([losses.absolute, losses.squared, losses.binary, losses.power(1), losses.power(2)]),
    st.tuples(st.integers(0, 5), st.integers(1, 5)).map(lambda pair: losses.asymmetric(*pair)),
    st.integers(1, 5).map(lambda under: losses.asymmetric(under, 0)),
)


@given(drawn_priors, rational_levels, closed_losses)
@settings(max_examples=150)
def test_closed_forms_are_the_exact_remap_ties_included(prior: Prior, level: Level, loss: Loss) -> None:
    check(prior, level, loss)


@given(st.data())
@settings(max_examples=60)
def test_searched_losses_are_the_exact_remap_ties_included(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    prior = weights_of(data.draw(counts(size)))
    rows = st.lists(st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=size, max_size=size)
    tables = rows.map(losses.matrix)
    loss = data.draw(st.one_of(tables, st.sampled_from(["1/2", "3/2", "3"]).map(losses.power)))
    check(prior, data.draw(rational_levels), loss)


@given(st.integers(1, 9).flatmap(counts).map(weights_of), st.sampled_from(["0.1", "1", "3"]))
@settings(max_examples=40)
def test_ties_are_settled_at_an_irrational_alpha(prior: Prior, size: str) -> None:
    for loss in (losses.absolute, losses.squared, losses.binary, losses.power("3/2")):
        check(prior, epsilon(size), loss)


@pytest.mark.parametrize("loss", ["absolute", "squared", "binary", "asymmetric:2,1", "power:3"])
@pytest.mark.parametrize("family", ["uniform", "binomial:0.3", "zipf:1", "poisson:12.5"])
def test_families_at_sixty_counts_agree_with_brute_force(family: str, loss: str) -> None:
    check(priors.parse(family, 60), alpha("9/10"), losses.parse(loss))


def exact_choices(prior: Prior, level: Level) -> tuple[list[int], list[int], list[int]]:
    """Medians, rounded means and modes of all posteriors, by integers: quicker than comparing all readings."""
    weights, powers = whole(prior.proportions()), whole([level.power(k) for k in range(prior.size)])
    medians, means, modes = [], [], []
    for y in range(prior.size):
        joint = [weight * powers[abs(x - y)] for x, weight in enumerate(weights)]
        below, total = list(accumulate(joint)), sum(joint)
        medians.append(next(w for w, mass in enumerate(below) if 2 * mass >= total))
        means.append(math.ceil(Fraction(sum(x * p for x, p in enumerate(joint)), total) - Fraction(1, 2)))
        modes.append(joint.index(max(joint)))
    return medians, means, modes


@pytest.mark.parametrize(("size", "a"), [(200, "1/2"), (200, "99/100"), (600, "2/3")])
@pytest.mark.parametrize("family", ["uniform", "binomial:1/2", "poisson:24", "geometric", "mirrored"])
def test_closed_forms_are_the_exact_choices_at_middle_sizes(family: str, size: int, a: str) -> None:
    level = alpha(a)
    made = {
        "geometric": [
            level.alpha**k for k in range(size)
        ],  # below y the posterior is flat: modes tie, means touch halves
        "mirrored": [[5, 0, 0, 1, 0, 3][min(k, size - 1 - k) % 6] for k in range(size)],
    }
    parts = made.get(family)
    prior = weights_of(parts) if parts else priors.parse(family, size)
    found = [readings(prior, level, loss).remap.tolist() for loss in (losses.absolute, losses.squared, losses.binary)]
    assert found == list(exact_choices(prior, level))


@pytest.mark.parametrize("text", ["absolute", "squared", "binary", "asymmetric:1,3", "power:1/2", "power:3/2"])
@pytest.mark.parametrize("rate", [0.01, 0.5, 7.0])
@pytest.mark.parametrize("family", ["uniform", "binomial:0.1", "zipf:2", "poisson:900"])
def test_no_reading_beats_the_remap_at_a_thousand_counts(family: str, rate: float, text: str) -> None:
    prior, loss = priors.parse(family, 1000), losses.parse(text)
    found = readings(prior, rate, loss)
    cost = loss.array(np.arange(1000)[:, None], np.arange(1000)[None, :])
    for y in (0, 1, 99, 500, 731, 999):
        sums = posterior(prior, rate, y) @ cost
        assert sums[found.remap[y]] <= sums.min() * (1 + 1e-10)
        assert found.losses[y] == pytest.approx(sums[found.remap[y]], rel=1e-9, abs=1e-12)


@given(st.sampled_from(["3/2", "1/2", "3"]), st.sampled_from([0.02, 0.3, 4.0]), st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_the_band_of_a_large_search_loses_nothing(p: str, rate: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.exponential(size=5000) ** 3 * (random.random(5000) < 0.2)
    prior, loss = priors.explicit((weights / weights.sum()).tolist()), losses.power(p)
    found = readings(prior, rate, loss)
    for y in (0, 17, 2500, 4999):
        one = read(prior, rate, loss, y)
        assert one.estimate == found.remap[y]
        assert one.loss == pytest.approx(found.losses[y], rel=1e-8, abs=1e-9)


def spikes(size: int) -> Prior:
    weights = np.zeros(size)
    weights[[0, size // 3, size - 1]] = 0.25, 0.5, 0.25
    return priors.explicit(weights.tolist())


def ends(size: int) -> Prior:
    return priors.explicit([0.5, *[0.0] * (size - 2), 0.5])


def sound(found: Readings, size: int) -> None:
    assert found.remap.min() >= 0
    assert found.remap.max() < size
    assert np.all(np.diff(found.remap) >= 0)
    assert np.all(np.isfinite(found.losses))
    assert found.losses.min() >= 0
    assert math.fsum(np.exp(found.evidence)) == pytest.approx(1, abs=1e-8)
    assert found.expected_loss <= found.face_value_loss * (1 + 1e-9) + 1e-12


@dataclass(frozen=True)
class Own:
    """A loss of the user's own, known by its doubles only."""

    name: str
    value: Callable[[Floats, Floats], Floats]

    def array(self, truth: object, reading: object) -> Floats:
        return np.asarray(self.value(np.asarray(truth), np.abs(np.subtract(truth, reading))), dtype=np.float64)

    def exact(self, i: int, j: int) -> Number:
        raise AssertionError("the kernel asked for an exact loss")

    def matrix(self, size: int) -> object:
        raise AssertionError("the kernel asked for a matrix")


capped = Own("capped", lambda truth, gap: np.minimum(gap, 10))
uneven = Own("uneven", lambda truth, gap: gap * (1 + truth % 3))


def sampled(size: int) -> Prior:
    return priors.from_data(np.random.default_rng(5).integers(0, size, size // 20), size)


ORDINARY = {
    "uniform": priors.uniform,
    "binomial": lambda size: priors.binomial(size, "0.3"),
    "poisson": lambda size: priors.poisson(size, 40),
    "zipf": lambda size: priors.zipf(size, 1),
    "data": sampled,
    "ends": ends,
}


def dense(prior: Prior, rate: float) -> tuple[Floats, Floats]:
    """P(x | y), a row for each answer, and P(y): the whole matrix, with no recursion and nothing left out."""
    counts, a = np.arange(prior.size), math.exp(-rate)
    scores = prior.logs() - rate * np.abs(counts[:, None] - counts)
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    kappa = np.where((counts == 0) | (counts == prior.size - 1), 1.0, 1 - a) / (1 + a)
    return weights / total, np.exp(top[:, 0]) * total[:, 0] * kappa


@pytest.mark.parametrize("rate", [1e-3, 0.1, 2.0, 50.0])
@pytest.mark.parametrize("make", ORDINARY.values(), ids=ORDINARY)
def test_what_a_large_search_leaves_out_does_not_count(
    make: Callable[[int], Prior], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (posterior_mass, face_value_reading, reading_search):
        monkeypatch.setattr(module, "MAX_FULL_COUNTS", 100)  # so that 601 counts are searched as a million are
    prior, counts = make(601), np.arange(601)
    given, chances = dense(prior, rate)
    for loss in (losses.power("3/2"), losses.power("1/2"), losses.power(3), losses.power(12), capped, uneven):
        found = readings(prior, rate, loss)
        sums = given @ loss.array(counts[:, None], counts)
        assert found.losses == pytest.approx(sums.min(axis=1), rel=1e-8, abs=1e-10)
        assert sums[counts, found.remap] == pytest.approx(sums.min(axis=1), rel=1e-8, abs=1e-10)
        assert found.expected_loss == pytest.approx(float(chances @ sums.min(axis=1)), rel=1e-9, abs=1e-25)
        assert found.face_value_loss == pytest.approx(float(chances @ sums.diagonal()), rel=1e-9)


@pytest.mark.parametrize("loss", [losses.power("3/2"), uneven], ids=["power", "uneven"])
@pytest.mark.parametrize("make", ORDINARY.values(), ids=ORDINARY)
def test_five_thousand_counts_agree_with_the_whole_matrix(make: Callable[[int], Prior], loss: Loss) -> None:
    prior, counts = make(5001), np.arange(5001)
    found = readings(prior, 0.1, loss)
    given, chances = dense(prior, 0.1)
    achieved = np.einsum("yx,yx->y", given, loss.array(counts, found.remap[:, None]))
    assert found.losses == pytest.approx(achieved, rel=1e-9, abs=1e-9)
    assert found.expected_loss == pytest.approx(float(chances @ achieved), rel=1e-9, abs=1e-25)
    some = np.linspace(0, 5000, 12).astype(np.int64)
    least = (given[some] @ loss.array(counts[:, None], counts)).min(axis=1)
    assert achieved[some] == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("size", "name"), [(1_000_001, "poisson"), (1_000_001, "ends"), (100_001, "binomial")])
def test_answers_far_from_the_prior_cost_nothing(size: int, name: str) -> None:
    prior = ORDINARY[name](size)
    found = readings(prior, epsilon("0.1"), losses.power("1.5"))
    sound(found, size)
    outermost = found.remap[[0, -1]].tolist()
    assert outermost == [read(prior, 0.1, losses.power("1.5"), y).estimate for y in (0, size - 1)]


@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.1, 50.0])
@pytest.mark.parametrize("make", [spikes, ends, priors.uniform, lambda size: priors.binomial(size, "0.3")])
def test_a_hundred_thousand_counts_neither_overflow_nor_warn(rate: float, make: object) -> None:
    prior = make(100_001)  # type: ignore[operator]
    for loss in (losses.absolute, losses.squared, losses.binary, losses.asymmetric(3, 1)):
        found = readings(prior, rate, loss)
        sound(found, prior.size)
        assert math.isfinite(found.expected_loss)


def test_two_far_ends_are_told_apart_at_the_middle() -> None:
    found = readings(ends(100_001), 50.0, losses.absolute)
    assert found.remap.tolist() == [0] * 50_001 + [100_000] * 50_000
    assert found.losses[0] == 0
    assert found.losses[50_000] == pytest.approx(50_000)


def test_a_million_counts_read_at_face_value_far_from_the_ends() -> None:
    found = readings(priors.uniform(1_000_001), 0.1, losses.absolute)
    assert np.array_equal(found.remap[1000:-1000], np.arange(1000, 1_000_001 - 1000))
    a = math.exp(-0.1)
    assert found.losses[500_000] == pytest.approx(2 * a / (1 - a * a), rel=1e-12)  # E|Δ| of the geometric noise
    sound(found, 1_000_001)


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_scan_solves_its_recurrence(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    factor, source = random.random(size), random.random(size)
    value, expected = 0.0, []
    for f, s in zip(factor, source, strict=True):
        value = f * value + s
        expected.append(value)
    assert scan(factor, source) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("size", [30, 5001])
@pytest.mark.parametrize("text", ["absolute", "squared", "binary", "asymmetric:2,1", "power:3/2"])
def test_reading_one_answer_agrees_with_reading_all(size: int, text: str) -> None:
    prior, loss = priors.binomial(size, "0.37"), losses.parse(text)
    every = readings(prior, 0.21, loss)
    for y in (0, size // 3, size - 1):
        one = read(prior, 0.21, loss, y)
        assert one.estimate == every.remap[y]
        assert one.loss == pytest.approx(every.losses[y], rel=1e-8)


def test_a_wide_posterior_is_convolved_fast_and_right() -> None:
    prior = priors.uniform(40_001)
    assert read(prior, 1e-9, losses.power("3/2"), 0).estimate == 20_000  # the middle of a nearly flat posterior
    assert read(prior, 1.0, losses.power("3/2"), 123).estimate == 123


@given(drawn_priors, st.floats(0.01, 5), st.floats(0.01, 0.99), st.data())
@settings(max_examples=60)
def test_the_interval_has_the_coverage_asked(prior: Prior, rate: float, share: float, data: st.DataObject) -> None:
    y = data.draw(st.integers(0, prior.size - 1))
    chances = posterior(prior, rate, y)
    low, high = read(prior, rate, losses.absolute, y, coverage=share).interval
    assert chances[low : high + 1].sum() >= share - 1e-12
    assert chances[:low].sum() <= (1 - share) / 2 + 1e-12
    assert chances[high + 1 :].sum() <= (1 - share) / 2 + 1e-12


def test_the_sign_of_a_polynomial_is_decided_where_balls_cannot() -> None:
    root = power(2, Fraction(1, 2))
    assert sign_of_polynomial([root, -2 * root], Fraction(1, 2)) == 0
    assert sign_of_polynomial([root, -2 * root], Fraction(1, 2) + Fraction(1, 10**400)) == -1
    assert sign_of_polynomial([Fraction(1), exponential(1) * -1], exponential(-1)) == 0
    assert sign_of_polynomial([Fraction(1), Fraction(-1)], exponential(-1)) == 1


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_the_ends_of_the_levels_are_refused(rate: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        readings(priors.uniform(3), rate, losses.absolute)


def test_hopeless_searches_and_wrong_shapes_are_refused_with_advice() -> None:
    with pytest.raises(InputError, match="one answer at a time"):
        readings(priors.uniform(1_000_001), 1e-4, losses.power("3/2"))
    with pytest.raises(InputError, match="matrix of 3 rows"):
        readings(priors.uniform(3), 1.0, losses.matrix([[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="answer must be a count"):
        posterior(priors.uniform(3), 1.0, 3)
    with pytest.raises(InputError, match="coverage"):
        read(priors.uniform(3), 1.0, losses.absolute, 1, coverage=1)


@pytest.mark.parametrize("rate", [10, 30, 50])
@pytest.mark.parametrize("loss", [losses.absolute, losses.binary, losses.asymmetric(2, 1), losses.squared])
def test_losses_keep_their_relative_accuracy_at_large_epsilon(rate: int, loss: Loss) -> None:
    """Two likely counts and nothing near the others: the loss is what is left of 1 after taking nearly all of it."""
    prior = priors.explicit([0, "1/2", 0, 0, "1/2", 0, 0, 0])
    level = epsilon(rate)
    _, _, expected, _ = oracle(prior, level, loss)
    assert readings(prior, level, loss).expected_loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", ["0.1", Fraction(1, 10), None])
def test_what_is_no_level_is_refused_at_the_door(level: object) -> None:
    with pytest.raises(InputError, match="level must be"):
        readings(priors.uniform(3), level, losses.absolute)  # type: ignore[arg-type]
