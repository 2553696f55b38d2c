"""Readings of counts against brute force over matrices of fractions, and against laws that hold at a million counts."""

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
from utmost.consumer.counts import Readings, posterior, read, reading_rules, reading_search, readings
from utmost.consumer.counts import posteriors as posteriors_module
from utmost.consumer.counts.posteriors import Floats, posterior_sums, scan
from utmost.consumer.counts.reading_rules import sign_of_polynomial
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, epsilon, exponential, power

ALPHAS = ["1/2", "1/3", "2/3", "9/10", "99/100", "1/100", "999/1000"]


def to_integers(values: Sequence[Number]) -> list[Number | int]:
    """The same up to one factor, as integers where they are rational: those are fast."""
    if not all(isinstance(value, Fraction) for value in values):
        return list(values)
    common = math.lcm(*(value.denominator for value in values))
    return [int(value * common) for value in values]


def matrix_readings(prior: Prior, level: Level, loss: Loss) -> tuple[list[int], list[float], float, float]:
    """Remap (the smallest exact minimiser), losses given the answer, expected loss, face value loss: by matrices.

    The truncated geometric mechanism entry by entry (GRS12 Ex. 2.2), all sums exact, no answer in log space.
    """
    size, a = prior.size, level.alpha
    cells = [cell for row in loss.matrix(size) for cell in row]
    scale = math.lcm(*(cell.denominator for cell in cells)) if all(isinstance(c, Fraction) for c in cells) else 1
    cost = np.array(to_integers(cells), dtype=object).reshape(size, size)
    weights, powers = to_integers(prior.exact()), to_integers([level.power(k) for k in range(size)])
    remap, answer_losses, face_losses, chances = [], [], [], []
    for y in range(size):
        joint = [weights[x] * powers[abs(x - y)] for x in range(size)]
        sums = (np.array(joint, dtype=object) @ cost).tolist()
        best = 0
        for w in range(1, size):
            best = w if sums[w] < sums[best] else best
        total = sum(joint)
        remap.append(best)
        answer_losses.append(float(sums[best] / Fraction(scale) / total))
        face_losses.append(float(sums[y] / Fraction(scale) / total))
        kappa = 1 if y in (0, size - 1) else 1 - a
        chances.append(float(kappa * total / Fraction(1) / (powers[0] * sum(weights)) / (1 + a if size > 1 else 1)))
    return (
        remap,
        answer_losses,
        math.fsum(map(float.__mul__, chances, answer_losses)),
        math.fsum(map(float.__mul__, chances, face_losses)),
    )


def check_readings(prior: Prior, level: Level, loss: Loss) -> None:
    fast = readings(prior, level, loss)
    remap, answer_losses, expected_loss, face_value_loss = matrix_readings(prior, level, loss)
    assert fast.remap.tolist() == remap
    assert fast.losses == pytest.approx(answer_losses, rel=1e-9, abs=1e-11 * (1 + max(answer_losses)))
    assert fast.expected_loss == pytest.approx(expected_loss, rel=1e-9, abs=1e-11)
    assert fast.face_value_loss == pytest.approx(face_value_loss, rel=1e-9, abs=1e-11)


def explicit_prior(counts: Sequence[int | Fraction]) -> Prior:
    total = Fraction(sum(counts))
    return priors.explicit([c / total for c in counts])


def integer_weights(size: int) -> st.SearchStrategy[list[int]]:
    """Integer weights with many zeros, ties and symmetries."""
    entry = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 8, 16, 100, 10**9])
    independent = st.lists(entry, min_size=size, max_size=size)
    symmetric = st.lists(entry, min_size=(size + 1) // 2, max_size=(size + 1) // 2).map(
        lambda half: half[: size // 2] + half[::-1]
    )
    geometric = st.sampled_from([2, 3, 10]).map(lambda base: [base ** min(k, 30) for k in range(size)])
    return st.one_of(independent, symmetric, geometric, geometric.map(lambda c: c[::-1])).filter(any)


explicit_priors = st.integers(1, 40).flatmap(integer_weights).map(explicit_prior)
rational_levels = st.sampled_from(ALPHAS).map(alpha)
closed_losses = st.one_of(
    st.sampled_from([losses.absolute, losses.squared, losses.binary, losses.power(1), losses.power(2)]),
    st.tuples(st.integers(0, 5), st.integers(1, 5)).map(lambda pair: losses.asymmetric(*pair)),
    st.integers(1, 5).map(lambda under: losses.asymmetric(under, 0)),
)


@given(explicit_priors, rational_levels, closed_losses)
@settings(max_examples=150)
def test_closed_forms_are_the_exact_remap_ties_included(prior: Prior, level: Level, loss: Loss) -> None:
    check_readings(prior, level, loss)


@given(st.data())
@settings(max_examples=60)
def test_searched_losses_are_the_exact_remap_ties_included(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    prior = explicit_prior(data.draw(integer_weights(size)))
    rows = st.lists(st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=size, max_size=size)
    tables = rows.map(losses.matrix)
    loss = data.draw(st.one_of(tables, st.sampled_from(["1/2", "3/2", "3"]).map(losses.power)))
    check_readings(prior, data.draw(rational_levels), loss)


@given(st.integers(1, 9).flatmap(integer_weights).map(explicit_prior), st.sampled_from(["0.1", "1", "3"]))
@settings(max_examples=40)
def test_ties_are_settled_at_an_irrational_alpha(prior: Prior, size: str) -> None:
    for loss in (losses.absolute, losses.squared, losses.binary, losses.power("3/2")):
        check_readings(prior, epsilon(size), loss)


@pytest.mark.parametrize("loss", ["absolute", "squared", "binary", "asymmetric:2,1", "power:3"])
@pytest.mark.parametrize("family", ["uniform", "binomial:0.3", "zipf:1", "poisson:12.5"])
def test_families_at_sixty_counts_agree_with_brute_force(family: str, loss: str) -> None:
    check_readings(priors.parse(family, 60), alpha("9/10"), losses.parse(loss))


def exact_remaps(prior: Prior, level: Level) -> tuple[list[int], list[int], list[int]]:
    """Medians, rounded means and modes of all posteriors, by integers: quicker than comparing all readings."""
    weights, powers = to_integers(prior.proportions()), to_integers([level.power(k) for k in range(prior.size)])
    medians, means, modes = [], [], []
    for y in range(prior.size):
        joint = [weight * powers[abs(x - y)] for x, weight in enumerate(weights)]
        below, total = list(accumulate(joint)), sum(joint)
        medians.append(next(w for w, mass in enumerate(below) if 2 * mass >= total))
        means.append(math.ceil(Fraction(sum(x * p for x, p in enumerate(joint)), total) - Fraction(1, 2)))
        modes.append(joint.index(max(joint)))
    return medians, means, modes


@pytest.mark.parametrize(
    ("size", "a"), [(200, "1/2"), (200, "99/100"), pytest.param(600, "2/3", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("family", ["uniform", "binomial:1/2", "poisson:24", "geometric", "mirrored"])
def test_closed_forms_are_the_exact_choices_at_middle_sizes(family: str, size: int, a: str) -> None:
    level = alpha(a)
    proportions_of = {
        "geometric": [
            level.alpha**k for k in range(size)
        ],  # below y the posterior is flat: modes tie, means touch halves
        "mirrored": [[5, 0, 0, 1, 0, 3][min(k, size - 1 - k) % 6] for k in range(size)],
    }
    proportions = proportions_of.get(family)
    prior = explicit_prior(proportions) if proportions else priors.parse(family, size)
    remaps = [readings(prior, level, loss).remap.tolist() for loss in (losses.absolute, losses.squared, losses.binary)]
    assert remaps == list(exact_remaps(prior, level))


@pytest.mark.parametrize("text", ["absolute", "squared", "binary", "asymmetric:1,3", "power:1/2", "power:3/2"])
@pytest.mark.parametrize("rate", [0.01, 0.5, 7.0])
@pytest.mark.parametrize("family", ["uniform", "binomial:0.1", "zipf:2", "poisson:900"])
def test_no_reading_beats_the_remap_at_a_thousand_counts(family: str, rate: float, text: str) -> None:
    prior, loss = priors.parse(family, 1000), losses.parse(text)
    all_readings = readings(prior, rate, loss)
    cost = loss.array(np.arange(1000)[:, None], np.arange(1000)[None, :])
    for y in (0, 1, 99, 500, 731, 999):
        sums = posterior(prior, rate, y) @ cost
        assert sums[all_readings.remap[y]] <= sums.min() * (1 + 1e-10)
        assert all_readings.losses[y] == pytest.approx(sums[all_readings.remap[y]], rel=1e-9, abs=1e-12)


@given(st.sampled_from(["3/2", "1/2", "3"]), st.sampled_from([0.02, 0.3, 4.0]), st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_the_band_of_a_large_search_loses_nothing(p: str, rate: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.exponential(size=5000) ** 3 * (random.random(5000) < 0.2)
    prior, loss = priors.explicit((weights / weights.sum()).tolist()), losses.power(p)
    all_readings = readings(prior, rate, loss)
    for y in (0, 17, 2500, 4999):
        reading = read(prior, rate, loss, y)
        assert reading.estimate == all_readings.remap[y]
        assert reading.loss == pytest.approx(all_readings.losses[y], rel=1e-8, abs=1e-9)


def spike_prior(size: int) -> Prior:
    weights = np.zeros(size)
    weights[[0, size // 3, size - 1]] = 0.25, 0.5, 0.25
    return priors.explicit(weights.tolist())


def end_prior(size: int) -> Prior:
    return priors.explicit([0.5, *[0.0] * (size - 2), 0.5])


def check_soundness(all_readings: Readings, size: int) -> None:
    assert all_readings.remap.min() >= 0
    assert all_readings.remap.max() < size
    assert np.all(np.diff(all_readings.remap) >= 0)
    assert np.all(np.isfinite(all_readings.losses))
    assert all_readings.losses.min() >= 0
    assert math.fsum(np.exp(all_readings.evidence)) == pytest.approx(1, abs=1e-8)
    assert all_readings.expected_loss <= all_readings.face_value_loss * (1 + 1e-9) + 1e-12


@dataclass(frozen=True)
class FloatLoss(Loss):
    """A loss of the user's own, known by its doubles only."""

    name: str
    value: Callable[[Floats, Floats], Floats]

    def array(self, truth: object, reading: object) -> Floats:
        return np.asarray(self.value(np.asarray(truth), np.abs(np.subtract(truth, reading))), dtype=np.float64)

    def exact(self, i: int, j: int) -> Number:
        raise AssertionError("readings asked for an exact loss")

    def matrix(self, size: int) -> object:
        raise AssertionError("readings asked for a matrix")


capped = FloatLoss("capped", lambda truth, gap: np.minimum(gap, 10))
uneven = FloatLoss("uneven", lambda truth, gap: gap * (1 + truth % 3))


def sampled_prior(size: int) -> Prior:
    return priors.from_data(np.random.default_rng(5).integers(0, size, size // 20), size)


PRIOR_FAMILIES = {
    "uniform": priors.uniform,
    "binomial": lambda size: priors.binomial(size, "0.3"),
    "poisson": lambda size: priors.poisson(size, 40),
    "zipf": lambda size: priors.zipf(size, 1),
    "data": sampled_prior,
    "ends": end_prior,
}


def dense_posteriors(prior: Prior, rate: float) -> tuple[Floats, Floats]:
    """P(x | y), a row for each answer, and P(y): the whole matrix, with no recursion and nothing left out."""
    counts, a = np.arange(prior.size), math.exp(-rate)
    scores = prior.logs() - rate * np.abs(counts[:, None] - counts)
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    kappa = np.where((counts == 0) | (counts == prior.size - 1), 1.0, 1 - a) / (1 + a)
    return weights / total, np.exp(top[:, 0]) * total[:, 0] * kappa


@pytest.mark.few
@pytest.mark.parametrize("rate", [1e-3, 0.1, 2.0, 50.0])
@pytest.mark.parametrize("make_prior", PRIOR_FAMILIES.values(), ids=PRIOR_FAMILIES)
def test_what_a_large_search_leaves_out_does_not_count(
    make_prior: Callable[[int], Prior], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (posteriors_module, reading_rules, reading_search):
        monkeypatch.setattr(module, "MAX_FULL_COUNTS", 100)  # so that 601 counts are searched as a million are
    prior, counts = make_prior(601), np.arange(601)
    posteriors, chances = dense_posteriors(prior, rate)
    for loss in (losses.power("3/2"), losses.power("1/2"), losses.power(3), losses.power(12), capped, uneven):
        all_readings = readings(prior, rate, loss)
        sums = posteriors @ loss.array(counts[:, None], counts)
        assert all_readings.losses == pytest.approx(sums.min(axis=1), rel=1e-8, abs=1e-10)
        assert sums[counts, all_readings.remap] == pytest.approx(sums.min(axis=1), rel=1e-8, abs=1e-10)
        assert all_readings.expected_loss == pytest.approx(float(chances @ sums.min(axis=1)), rel=1e-9, abs=1e-25)
        assert all_readings.face_value_loss == pytest.approx(float(chances @ sums.diagonal()), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [losses.power("3/2"), uneven], ids=["power", "uneven"])
@pytest.mark.parametrize("make_prior", PRIOR_FAMILIES.values(), ids=PRIOR_FAMILIES)
def test_five_thousand_counts_agree_with_the_whole_matrix(make_prior: Callable[[int], Prior], loss: Loss) -> None:
    prior, counts = make_prior(5001), np.arange(5001)
    all_readings = readings(prior, 0.1, loss)
    posteriors, chances = dense_posteriors(prior, 0.1)
    answer_losses = np.einsum("yx,yx->y", posteriors, loss.array(counts, all_readings.remap[:, None]))
    assert all_readings.losses == pytest.approx(answer_losses, rel=1e-9, abs=1e-9)
    assert all_readings.expected_loss == pytest.approx(float(chances @ answer_losses), rel=1e-9, abs=1e-25)
    sample = np.linspace(0, 5000, 12).astype(np.int64)
    min_losses = (posteriors[sample] @ loss.array(counts[:, None], counts)).min(axis=1)
    assert answer_losses[sample] == pytest.approx(min_losses, rel=1e-9, abs=1e-9)


@pytest.mark.few
@pytest.mark.parametrize(("size", "name"), [(100_001, "binomial"), (1_000_001, "poisson"), (1_000_001, "ends")])
def test_answers_far_from_the_prior_cost_nothing(size: int, name: str) -> None:
    prior = PRIOR_FAMILIES[name](size)
    all_readings = readings(prior, epsilon("0.1"), losses.power("1.5"))
    check_soundness(all_readings, size)
    outermost = all_readings.remap[[0, -1]].tolist()
    assert outermost == [read(prior, 0.1, losses.power("1.5"), y).estimate for y in (0, size - 1)]


@pytest.mark.few
@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.1, 50.0])
@pytest.mark.parametrize(
    "make_prior", [spike_prior, end_prior, priors.uniform, lambda size: priors.binomial(size, "0.3")]
)
def test_a_hundred_thousand_counts_neither_overflow_nor_warn(rate: float, make_prior: object) -> None:
    prior = make_prior(100_001)  # type: ignore[operator]
    for loss in (losses.absolute, losses.squared, losses.binary, losses.asymmetric(3, 1)):
        all_readings = readings(prior, rate, loss)
        check_soundness(all_readings, prior.size)
        assert math.isfinite(all_readings.expected_loss)


def test_two_far_ends_are_told_apart_at_the_middle() -> None:
    all_readings = readings(end_prior(100_001), 50.0, losses.absolute)
    assert all_readings.remap.tolist() == [0] * 50_001 + [100_000] * 50_000
    assert all_readings.losses[0] == 0
    assert all_readings.losses[50_000] == pytest.approx(50_000)


def test_a_million_counts_read_at_face_value_far_from_the_ends() -> None:
    all_readings = readings(priors.uniform(1_000_001), 0.1, losses.absolute)
    assert np.array_equal(all_readings.remap[1000:-1000], np.arange(1000, 1_000_001 - 1000))
    a = math.exp(-0.1)
    assert all_readings.losses[500_000] == pytest.approx(2 * a / (1 - a * a), rel=1e-12)  # E|Δ| of the geometric noise
    check_soundness(all_readings, 1_000_001)


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_scan_solves_its_recurrence(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    factor, source = random.random(size), random.random(size)
    value, solution = 0.0, []
    for f, s in zip(factor, source, strict=True):
        value = f * value + s
        solution.append(value)
    assert scan(factor, source) == pytest.approx(solution, rel=1e-13)


@pytest.mark.parametrize("size", [30, 5001])
@pytest.mark.parametrize("text", ["absolute", "squared", "binary", "asymmetric:2,1", "power:3/2"])
def test_reading_one_answer_agrees_with_reading_all(size: int, text: str) -> None:
    prior, loss = priors.binomial(size, "0.37"), losses.parse(text)
    all_readings = readings(prior, 0.21, loss)
    for y in (0, size // 3, size - 1):
        reading = read(prior, 0.21, loss, y)
        assert reading.estimate == all_readings.remap[y]
        assert reading.loss == pytest.approx(all_readings.losses[y], rel=1e-8)


def test_a_wide_posterior_is_convolved_fast_and_right() -> None:
    prior = priors.uniform(40_001)
    assert read(prior, 1e-9, losses.power("3/2"), 0).estimate == 20_000  # the middle of a nearly flat posterior
    assert read(prior, 1.0, losses.power("3/2"), 123).estimate == 123


@given(explicit_priors, st.floats(0.01, 5), st.floats(0.01, 0.99), st.data())
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
    _, _, expected_loss, _ = matrix_readings(prior, level, loss)
    assert readings(prior, level, loss).expected_loss == pytest.approx(expected_loss, rel=1e-9)


@pytest.mark.parametrize("level", ["0.1", Fraction(1, 10), None])
def test_what_is_no_level_is_refused_at_the_door(level: object) -> None:
    with pytest.raises(InputError, match="level must be"):
        readings(priors.uniform(3), level, losses.absolute)  # type: ignore[arg-type]


def test_what_the_sums_derive_over_all_counts_is_worked_out_once() -> None:
    """A loop over a million answers asks for them: worked out anew each time they would make it quadratic."""
    sums = posterior_sums(priors.binomial(300, "0.3").logs(), 0.1)
    names = [name for name in dir(sums) if not name.startswith("_") and not callable(getattr(sums, name))]
    assert {"total", "offset", "relative_error_bound"} <= set(names)
    for name in names:
        assert isinstance(getattr(sums, name), int) or getattr(sums, name) is getattr(sums, name), name


def test_a_search_makes_one_pass_over_all_counts_for_all_groups_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    rounding_error = posteriors_module.rounding_error
    monkeypatch.setattr(
        posteriors_module, "rounding_error", lambda logs, *rest: sizes.append(len(logs)) or rounding_error(logs, *rest)
    )
    readings(priors.uniform(10_001), 0.5, losses.power("3/2"))
    assert sizes == [10_001]
