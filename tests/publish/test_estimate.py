"""Readings of a release against channels of fractions, brute force and draws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_releases import AGES, CLOSED, OPEN, answer, count, release, setting, survey
from strategies import inner_alphas, legal_consumers, weights
from utmost.channel import channel
from utmost.consumer import Consumer, losses, priors
from utmost.consumer.counts import posterior, single_answer
from utmost.consumer.counts.closed_form import credible_intervals
from utmost.consumer.counts.recurrences import posterior_sums
from utmost.data.queries import Grid, Histogram, Mean, Quantile, Sum
from utmost.design import optimal
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import tail_probability, untruncated_law
from utmost.publish import mechanism_selection
from utmost.publish.estimate import belief_curves, cell_names, estimate, remap_values
from utmost.publish.reading import lattice_reading, point_selection, ratio_reading
from utmost.publish.reading.prior_axis import Axis
from utmost.publish.reading.reader import Reader
from utmost.publish.reading.unbiased_estimates import unbiased_number, unbiased_total
from utmost.publish.release_model import Answer, LatticeMechanism, RatioMechanism
from utmost.spaces import line

EPSILONS = st.sampled_from(["0.1", "1", "1/3", "5/2"])


# --- counts -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(legal_consumers(2, 7), EPSILONS, st.data())
def test_a_count_is_read_as_the_consumer_of_its_channel_reads_it(consumer, rate, data):
    size = consumer.prior.size
    y = data.draw(st.integers(0, size - 1))
    found = count(y, rate, size - 1).estimate(consumer.prior, consumer.loss)
    mechanism = geometric(size - 1, epsilon(rate))
    after = [float(p) for p in consumer.posterior(mechanism, y)]
    table = consumer.loss.matrix(size).astype(float)
    assert found.estimate == consumer.remap(mechanism)[y]
    assert found.loss.expected == pytest.approx(after @ table[:, found.estimate], rel=1e-9, abs=1e-12)
    assert found.loss.face_value == pytest.approx(after @ table[:, y], rel=1e-9, abs=1e-12)
    assert found.before.expected == pytest.approx(float(consumer.expected_loss(mechanism)), rel=1e-9, abs=1e-12)
    assert found.before.face_value == pytest.approx(float(consumer.face_value_loss(mechanism)), rel=1e-9, abs=1e-12)
    assert belief_curves(found).posterior == pytest.approx(after, rel=1e-9, abs=1e-15)


@settings(max_examples=40)
@given(legal_consumers(2, 6), EPSILONS, st.sampled_from(["0.5", "0.9", "0.95"]), st.data())
def test_an_interval_holds_its_share_of_the_posterior_and_no_end_can_be_spared(consumer, rate, share, data):
    size = consumer.prior.size
    y = data.draw(st.integers(0, size - 1))
    found = count(y, rate, size - 1).estimate(consumer.prior, consumer.loss, coverage=share)
    after = [float(p) for p in consumer.posterior(geometric(size - 1, epsilon(rate)), y)]
    low, high = found.interval
    rest = (1 - float(share)) / 2
    assert sum(after[:low]) <= rest + 1e-12
    assert sum(after[high + 1 :]) <= rest + 1e-12
    assert sum(after[: low + 1]) > rest - 1e-12
    assert sum(after[high:]) > rest - 1e-12


@settings(max_examples=15, deadline=None)
@given(legal_consumers(2, 5), EPSILONS)
def test_the_loss_over_all_answers_is_that_of_the_best_mechanism_made_for_her(consumer, rate):
    size = consumer.prior.size
    found = count(0, rate, size - 1).estimate(consumer.prior, consumer.loss)
    best = optimal(line(size), epsilon(rate), consumer).loss
    assert found.before.expected == pytest.approx(float(best), rel=1e-9, abs=1e-12)
    assert "GRS12 Thm 3.2" in found.claim


def test_a_million_counts_need_no_matrix_and_agree_with_the_posterior():
    found = count(400_123, "0.01", 10**6).estimate("binomial:0.4", "squared")
    chances = posterior(priors.binomial(10**6 + 1, "0.4"), epsilon("0.01"), 400_123)
    mean = float(chances @ np.arange(10**6 + 1))
    assert abs(found.estimate - mean) <= 0.5001
    assert found.loss.expected == pytest.approx(float(chances @ (np.arange(10**6 + 1) - found.estimate) ** 2), rel=1e-6)
    assert found.before.gain > 1


def test_a_loss_that_is_too_much_work_for_all_answers_is_read_for_this_one():
    found = count(50_123, "0.001", 10**5).estimate("uniform", "power:1.5")
    assert found.before is None
    assert found.estimate == 50_123
    assert found.loss.expected == pytest.approx(math.gamma(2.5) * 1000**1.5, rel=1e-3)  # Laplace noise of scale 1000


@pytest.mark.parametrize("rate", ["1000", "50", "1/1000000"])
def test_extreme_levels_are_read(rate):
    found = count(7, rate, 20).estimate("uniform", "absolute")
    assert found.estimate == (10 if rate.startswith("1/") else 7)
    assert found.loss.expected <= found.loss.face_value


# --- no public end ----------------------------------------------------------------------------------------------------


@given(weights(5), inner_alphas(), st.integers(0, 6))
def test_an_answer_beyond_her_range_has_the_posterior_of_its_end_exactly(prior, level, further):
    law = [untruncated_law(x, [4, 4 + further], alpha(level)) for x in range(5)]
    for k in (0, 1):
        joint = [p * row[k] for p, row in zip(prior, law, strict=True)]
        after = [j / sum(joint) for j in joint]
        assert after == list(Consumer(priors.explicit(prior), losses.absolute).posterior(geometric(4, alpha(level)), 4))


@settings(max_examples=40)
@given(legal_consumers(2, 6), inner_alphas(), st.integers(1, 4))
def test_cutting_a_count_without_an_upper_end_at_hers_costs_her_nothing_exactly(consumer, level, further):
    """The mechanism with outputs 0 … N + further and a last one for all beyond, against the truncated one."""
    size, known = consumer.prior.size, alpha(level)
    outputs = range(1, size + further)
    rows = [
        [tail_probability(x, known), *untruncated_law(x, outputs, known), tail_probability(size + further - x, known)]
        for x in range(size)
    ]
    assert consumer.expected_loss(channel(rows)) == consumer.expected_loss(geometric(size - 1, known))


@settings(max_examples=30)
@given(legal_consumers(2, 6), EPSILONS, st.integers(0, 50))
def test_an_answer_above_her_range_is_read_as_its_end(consumer, rate, further):
    last = consumer.prior.size - 1
    above, at = (
        count(y, rate, None).estimate(consumer.prior, consumer.loss, at_most=last) for y in (last + further, last)
    )
    assert (above.estimate, above.interval, above.loss, above.before) == (
        at.estimate,
        at.interval,
        at.loss,
        at.before,
    )
    assert above.value == last + further == above.unbiased


def test_the_length_of_a_prior_gives_the_range_too():
    found = count(9, "1", None).estimate("1/4,1/4,1/2", "absolute")
    assert found.reader.axis == Axis(Fraction(0), Fraction(1), 3)
    assert found.estimate == 2
    assert count(9, "1", None).estimate(priors.uniform(6), losses.binary).estimate == 5


def test_at_least_and_at_most_narrow_what_is_held_possible():
    found = count(404, "0.1").estimate("uniform", "absolute", at_least=300, at_most="390.5")
    assert found.reader.axis == Axis(Fraction(300), Fraction(1), 91)
    assert 300 <= found.interval[0] <= found.estimate <= found.interval[1] == 390


@pytest.mark.parametrize("kept", [1, 3])
def test_sensitivity_enters_by_the_rate_of_a_step_alone(kept):
    found = count(40, Fraction(kept, 2), 100, kept).estimate("uniform", "absolute")
    plain = count(40, Fraction(1, 2), 100 * kept).estimate("uniform", "absolute")
    assert (found.estimate, found.interval, found.loss) == (plain.estimate, plain.interval, plain.loss)
    assert ("made for her" in found.claim) == (kept == 1)
    assert found.claim.startswith("optimal" if kept == 1 else "metric")


# --- unbiased readings ------------------------------------------------------------------------------------------------


@given(inner_alphas(), st.integers(-3, 3), st.integers(1, 6), st.data())
def test_unbiased_readings_are_right_on_average_whatever_the_truth_exactly(level, low, width, data):
    known, high = alpha(level), low + width
    x = data.draw(st.integers(low, high))
    law = geometric(width, known).law(x - low)
    mean = sum(p * unbiased_number(low + y, low, high, known) for y, p in enumerate(law))
    assert mean == x


@given(inner_alphas(), st.integers(0, 6), st.integers(1, 4), st.booleans())
def test_the_same_with_one_end_or_none_exactly(level, x, further, low_end):
    """What lies beyond `last` (or below `first`) is summed in closed form: its mean is that of an absorbing end."""
    known, last = alpha(level), x + further
    first, low = (0, 0) if low_end else (-further, None)
    inner = range(first + 1, last)
    mean = sum(
        p * unbiased_number(y, low, None, known) for y, p in zip(inner, untruncated_law(x, inner, known), strict=True)
    )
    mean += tail_probability(x - first, known) * unbiased_number(first, first, None, known)
    mean += tail_probability(last - x, known) * unbiased_number(last, None, last, known)
    assert mean == x
    assert unbiased_number(last + 5, low, None, known) == last + 5


@given(inner_alphas(), st.integers(1, 6), st.data())
def test_the_standard_error_of_an_unbiased_total_is_within_its_bound(level, width, data):
    known = alpha(level)
    x = data.draw(st.integers(0, width))
    spread = sum(
        p * (unbiased_number(y, 0, width, known) - x) ** 2 for y, p in enumerate(geometric(width, known).law(x))
    )
    assert spread <= 2 * level / (1 - level) ** 2


def test_the_total_of_cells_adds_their_unbiased_readings():
    asked = answer(Histogram({"k": tuple(range(6))}), "0.5", setting(30), value=(0, 3, 0, 30, 12, 0))
    found = asked.estimate("uniform", "absolute")
    assert float(found.total[0]) == pytest.approx(sum(float(u) for u in found.unbiased), rel=1e-12)
    assert found.unbiased[1] == 3
    rate = Fraction(1, 4)  # 0.5 for two cells that move
    assert float(found.unbiased[0]) == pytest.approx(-1 / math.expm1(rate), rel=1e-14)
    assert found.total[1] == pytest.approx(math.sqrt(6 * 2 * math.exp(-rate)) / -math.expm1(-rate), rel=1e-12)


def test_a_number_between_two_equal_ends_is_known():
    assert unbiased_total(LatticeMechanism(Fraction(1), 3, 3), [3, 3])[0] == 6
    assert unbiased_number(3, 3, 3, alpha("1/2")) == 3


# --- histograms -------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.sampled_from(["absolute", "squared", "power:1.5"]))
def test_every_cell_is_read_as_a_count_of_its_own(values, loss):
    keys = Histogram({"k": tuple(range(len(values)))})
    asked = answer(keys, "0.5", setting(12), value=tuple(values))
    found = asked.estimate("binomial:0.3", loss)
    for value, reading in zip(values, found.readings, strict=True):
        alone = count(value, "0.25", 12).estimate("binomial:0.3", loss)
        assert (reading.estimate, reading.interval) == (alone.estimate, alone.interval)
        assert reading.loss.expected == pytest.approx(alone.loss.expected, rel=1e-9)
        assert reading.loss.face_value == pytest.approx(alone.loss.face_value, rel=1e-9)
        assert found.before == alone.before


def test_one_cell_can_be_picked_and_a_wrong_one_lists_them():
    asked = answer(Histogram({"a": ("x", "y"), "b": (1, 2)}), "1", setting(9), value=(1, 2, 3, 4))
    assert cell_names(asked) == ("x,1", "x,2", "y,1", "y,2")
    found = asked.estimate("uniform", "absolute", cell="y,1")
    assert (found.cells, found.value, found.total) == (("y,1",), (3,), None)
    with pytest.raises(InputError, match=r"cell must be one of x,1; x,2; y,1; y,2: got \"z\""):
        asked.estimate("uniform", "absolute", cell="z")


@settings(max_examples=60)
@given(weights(9), EPSILONS, st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_of_all_answers_at_once_hold_their_share(prior, rate, coverage):
    held = priors.explicit(prior)
    low, high = credible_intervals(posterior_sums(held.logs(), float(Fraction(rate))), coverage)
    rest = (1 - coverage) / 2
    for y in range(9):
        chances = posterior(held, epsilon(rate), y)
        below = np.array([0.0, *accumulate(chances.tolist())])
        assert below[low[y]] <= rest + 1e-12 < below[low[y] + 1] + 2e-12
        assert 1 - below[high[y] + 1] <= rest + 1e-12
        alone = single_answer.credible_interval(chances, coverage)
        ties = [abs(edge - share) < 1e-9 for edge in below for share in (rest, 1 - rest)]
        assert any(ties) or (low[y], high[y]) == alone


# --- points of her own ------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.integers(2, 9).flatmap(weights),
    st.integers(-40, 140),
    st.sampled_from(["absolute", "squared", "power:1.5", "asymmetric:2,1", "binary"]),
)
def test_a_grid_of_her_own_has_the_exact_posterior_at_its_points(prior, number, loss):
    """Brute force in the value's unit: a sum of steps of 1/4 from 0 to 25, ε = 1/20 a step."""
    law = LatticeMechanism(Fraction(1, 20), 0, 100, Fraction(0), Fraction(1, 4))
    number = min(max(number, 0), 100)
    asked = Answer(
        "s", "sum", None, Fraction(1), 20, law, "metric", count(1, 1).error, law.value(number), {"column": "v"}
    )
    found = asked.estimate(priors.explicit(prior), loss)
    points = [Fraction(25 * k, len(prior) - 1) for k in range(len(prior))]
    joint = [float(p) * math.exp(-abs(float(x) * 4 - number) / 20) for p, x in zip(prior, points, strict=True)]
    after = [j / math.fsum(joint) for j in joint]
    assert belief_curves(found).posterior == pytest.approx(after, rel=1e-12, abs=1e-300)

    fear = losses.parse(loss)

    def expected(w: Fraction) -> float:
        return math.fsum(p * float(fear.array(float(x), float(w))) for p, x in zip(after, points, strict=True))

    least = min(map(expected, points))
    assert found.loss.expected == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert expected(found.estimate) == pytest.approx(least, rel=1e-9, abs=1e-12)
    face = min(points, key=lambda x: (abs(x - law.value(number)), x))
    assert found.loss.face_value == pytest.approx(expected(face), rel=1e-9, abs=1e-12)


def test_losses_are_in_the_value_s_own_unit():
    coarse, fine = (Grid(Fraction(0), Fraction(top), Fraction(top, 4)) for top in (4, 1))
    steps = answer(Sum("v", coarse, Fraction(0)), 1, setting(10), value=Fraction(9))
    quarters = answer(Sum("v", fine, Fraction(0)), 1, setting(10), value=Fraction(9, 4))
    for loss, factor in (("absolute", 4), ("squared", 16), ("power:1.5", 8), ("binary", 1)):
        one, other = (asked.estimate("uniform", loss) for asked in (steps, quarters))
        assert one.estimate == 4 * other.estimate
        assert one.loss.expected == pytest.approx(factor * other.loss.expected, rel=1e-12)
        assert one.before.face_value == pytest.approx(factor * other.before.face_value, rel=1e-12)


def test_a_mean_of_a_public_number_of_rows_is_read_on_its_lattice():
    asked = answer(Mean("age", AGES, Fraction(40)), "0.1", CLOSED, value=Fraction(18) + Fraction(27533, 944))
    found = asked.estimate("uniform", "absolute")
    assert found.reader.axis == Axis(Fraction(18), Fraction(1, 944), 944 * 73 + 1)
    assert found.estimate == found.value == found.unbiased
    assert found.loss.expected == pytest.approx(730 / 944, rel=1e-3)  # E|Δ| of ε/73 a step is about 730 steps
    assert found.claim.startswith("metric")


@pytest.mark.parametrize("offset", [0, 1, 500, 10**6])
def test_lattices_of_any_length_keep_their_digits(offset):
    """10^15 points: near the answer the posterior is that of the noise, to the last step."""
    number = 4 * 10**14 + 12345
    law = LatticeMechanism(Fraction(1, 1000), 0, 10**15)
    first = number - 5000 + offset
    axis = Axis(Fraction(first), Fraction(1), 10_001)
    logs = lattice_reading.lattice_likelihood(axis, law, number)
    inside = min(number, first + 10_000) - first if offset <= 5000 else 0
    expected = -np.abs(np.arange(10_001) - inside) / 1000
    assert logs == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_a_large_sum_is_read_on_the_points_that_matter_to_a_uniform_prior():
    grid = Grid(Fraction(0), Fraction(10**6), Fraction(1))
    asked = answer(Sum("v", grid, Fraction(0)), 1, setting(5000), value=Fraction(2_345_678_901))
    found = asked.estimate("uniform", "absolute")
    assert found.estimate == found.value
    assert found.loss.expected == pytest.approx(10**6, rel=1e-3)
    assert float(found.interval[1] - found.value) == pytest.approx(10**6 * math.log(20), rel=0.02)
    assert (found.before, found.claim[:12]) == (None, "none claimed")
    assert "near the answer" in found.remark
    assert asked.estimate("uniform", "absolute", grid=11).reader.axis.size == 11


def test_other_priors_are_spread_from_end_to_end_and_a_coarse_grid_says_so():
    grid = Grid(Fraction(0), Fraction(10**6), Fraction(1))
    asked = answer(Sum("v", grid, Fraction(0)), 1, setting(5000), value=Fraction(2_345_678_901))
    found = asked.estimate("binomial:0.5", "absolute")
    assert found.reader.axis == Axis(Fraction(0), Fraction(125_000), 40_001)
    assert found.remark == ""
    assert "raise --grid" in asked.estimate("binomial:0.5", "absolute", grid=1001).remark


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=3),
    st.sampled_from(["absolute", "squared", "asymmetric:3,1"]),
    st.sampled_from(["0.2", "0.5"]),
)
def test_only_points_near_the_answers_matter_to_a_uniform_prior(values, loss, rate):
    asked = answer(Histogram({"k": tuple(range(len(values)))}), rate, OPEN, value=tuple(values))
    whole = asked.estimate("uniform", loss, at_most=3000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_selection, "MAX_PRIOR_POINTS", 100)
        near = asked.estimate("uniform", loss, at_most=3000)
    assert near.reader.near
    assert (near.estimate, near.interval) == (whole.estimate, whole.interval)
    for one, other in zip(near.loss, whole.loss, strict=True):
        assert one.expected == pytest.approx(other.expected, rel=1e-9)
    assert near.before is None


@settings(max_examples=4)
@given(st.integers(-73, 73), st.integers(9_000, 12_000), st.sampled_from(["replace", "add-remove"]))
def test_only_means_near_the_ratio_matter_to_a_uniform_prior(mean, rows, relation):
    given_ = setting(20_000) if relation == "replace" else OPEN
    query = Mean("age", AGES, None, "vote = 1")
    ratio_ = Fraction(109, 2) + Fraction(mean, 2)
    asked = answer(query, "0.1", given_, value=ratio_, parts=(mean * rows, rows))
    near, whole = asked.estimate("uniform", "absolute"), asked.estimate("uniform", "absolute", grid=2921)
    assert near.reader.near
    assert not whole.reader.near
    for one, other in zip((near.estimate, *near.interval), (whole.estimate, *whole.interval), strict=True):
        assert abs(one - other) <= Fraction(4, 100)
    assert near.loss.expected == pytest.approx(whole.loss.expected, rel=0.02)


def test_the_points_of_a_prior_listed_for_a_sum_are_its_grid():
    asked = answer(Sum("v", AGES, Fraction(20)), 1, setting(100), value=Fraction(4000))
    found = asked.estimate("1/4,1/2,1/4", "binary")
    assert found.reader.axis == Axis(Fraction(1800), Fraction(3650), 3)
    weights = [w * math.exp(-abs(x - 4000) / 73) for w, x in ((1, 1800), (2, 5450), (1, 9100))]
    assert found.estimate == 5450
    assert found.loss.expected == pytest.approx(1 - weights[1] / sum(weights), rel=1e-6)


# --- means of a secret number of rows ---------------------------------------------------------------------------------


def brute(axis: Axis, law: RatioMechanism, parts: tuple[int, int], prior: list[float], most: int) -> list[float]:
    """The posterior by summing over every number of rows up to `most`, one term at a time."""
    total, rows = parts
    joint = []
    for k, weight in enumerate(prior):
        mean = (axis.value(k) - law.total.origin) / law.total.unit
        terms = (
            math.exp(-float(law.rows.epsilon) * abs(r - rows) - float(law.total.epsilon) * abs(round(r * mean) - total))
            for r in range(1, most + 1)
        )
        joint.append(weight * math.fsum(terms))
    return [j / math.fsum(joint) for j in joint]


@settings(max_examples=25)
@given(
    st.integers(2, 6).flatmap(lambda size: weights(size, positive=True)),
    st.integers(-60, 60),
    st.integers(0, 25),
    st.sampled_from(["1", "2", "4"]),
    st.sampled_from([None, 30]),
)
def test_a_mean_of_a_secret_number_of_rows_has_the_posterior_of_brute_force(prior, top, rows, rate, units):
    query = Mean("v", Grid(Fraction(-1), Fraction(2), Fraction(1, 2)), None, "v < 2")
    asked = answer(query, rate, setting(units), value=Fraction(1, 2), parts=(top, min(rows, units or rows)))
    found = asked.estimate(priors.explicit(prior), "squared")
    expected = brute(found.reader.axis, asked.mechanism, asked.parts, [float(p) for p in prior], units or 400)
    assert belief_curves(found).posterior == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_readings_of_such_means_keep_what_they_promise_over_draws():
    """Rows and mean drawn as the reader believes, then the noise: so each interval holds with 90 %.

    400 draws: fewer than 335 hits have probability below 10^-4 (a binomial of 0.9 is 360 ± 6); the mean loss must be
    within 4 standard errors of the mean loss promised. An ε wrong by a factor of 2, either way, fails.
    """
    chosen = mechanism_selection.select_mechanism(
        Mean("v", Grid(Fraction(0), Fraction(10), Fraction(1)), None, "v < 9"), Fraction(2), setting(60)
    )
    law = chosen.mechanism
    axis = Axis(Fraction(0), Fraction(1, 4), 41)
    reader = Reader(axis, priors.binomial(41, "0.4"), losses.squared, 0.9)
    random = np.random.default_rng(20261115)
    hits, gaps = 0, []
    for _ in range(400):
        mean, rows = axis.value(int(random.binomial(40, 0.4))), int(random.integers(1, 61))
        truth = round(float(rows * (mean - law.total.origin) / law.total.unit))
        noisy = [x + _noise(random, float(part.epsilon)) for x, part in ((truth, law.total), (rows, law.rows))]
        parts = (noisy[0], min(max(noisy[1], 0), 60))
        found = ratio_reading.read_ratio(reader, law, parts, Fraction(5))
        hits += found.interval[0] <= mean <= found.interval[1]
        gaps.append(float(found.estimate - mean) ** 2 - found.loss.expected)
    assert hits >= 335
    assert abs(np.mean(gaps)) <= 4 * np.std(gaps) / 20


def _noise(random: np.random.Generator, rate: float) -> int:
    share = -math.expm1(-rate)
    return int(random.geometric(share) - random.geometric(share))


def test_a_million_rows_are_thinned_and_read_as_if_they_were_not(monkeypatch):
    asked = answer(Mean("age", AGES, None, "vote = 1"), "0.01", OPEN, value=Fraction(47), parts=(-15 * 10**6, 10**6))
    whole = asked.estimate("uniform", "absolute", grid=401, at_least=46, at_most=48)
    after = belief_curves(whole).posterior
    monkeypatch.setattr(ratio_reading, "MAX_RATIO_TERMS", 3e5)
    thin = asked.estimate("uniform", "absolute", grid=401, at_least=46, at_most=48)
    assert belief_curves(thin).posterior == pytest.approx(after, rel=3e-4, abs=1e-9)
    assert (thin.estimate, thin.interval) == (whole.estimate, whole.interval)
    assert float(thin.estimate) == pytest.approx(47, abs=0.01)


def test_a_mean_without_rows_is_read_from_the_prior():
    query = Mean("v", Grid(Fraction(0), Fraction(4), Fraction(1)), None, "v < 2")
    asked = answer(query, 1, OPEN, value=Fraction(2), parts=(0, 0))
    found = asked.estimate("uniform", "absolute")
    assert found.estimate == 2
    assert found.interval[0] < 1 < 3 < found.interval[1]


# --- quantiles --------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 9), min_size=5, max_size=5),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(9, 10)]),
    st.sampled_from(["0.5", "2", "5"]),
    st.sampled_from(["0.5", "0.9", "0.99"]),
)
def test_the_rank_of_a_quantile_is_within_its_bound_with_the_probability_said(counts, share, rate, coverage):
    query = Quantile("v", Grid(Fraction(0), Fraction(4), Fraction(1)), share, None)
    asked = answer(query, rate, OPEN, value=Fraction(2), position=2)
    found = asked.estimate("uniform", "absolute", coverage=coverage)
    weighed = [
        (math.exp(-float(asked.mechanism.rate) * loss), loss)
        for loss in mechanism_selection.quantile_losses(query, counts)
    ]
    far = sum(w for w, loss in weighed if loss >= found.rank * share.denominator)
    assert far / sum(w for w, _ in weighed) <= 1 - float(coverage) + 1e-12


def test_a_quantile_is_read_at_face_value_and_says_why():
    found = release(survey())["median"].estimate("binomial:0.4", "squared")
    assert (found.estimate, found.value, found.interval, found.loss, found.reader) == (45, 45, None, None, None)
    assert "no posterior" in found.remark
    with pytest.raises(InputError, match="has no posterior"):
        belief_curves(found)


# --- claims -----------------------------------------------------------------------------------------------------------


def test_the_theorem_is_claimed_where_it_holds_and_nowhere_else(tmp_path):
    plain = count(3, 1, 8)
    assert "GRS12 Thm 3.2)" in plain.estimate("uniform", "squared").claim
    assert "two different sides" in plain.estimate("uniform", "asymmetric:2,1").claim
    falling = losses.matrix([[abs(i - j) % 4 for j in range(9)] for i in range(9)])
    assert plain.estimate("uniform", falling).claim.startswith("none claimed: GRS12 Thm 3.2 is about losses")
    rising = losses.matrix([[2 * abs(i - j) if j > i else abs(i - j) for j in range(9)] for i in range(9)])
    assert "two different sides" in plain.estimate("uniform", rising).claim
    assert plain.estimate("uniform", "squared", grid=3).claim.startswith("none claimed for points of her own")
    for asked in survey():
        if asked.kind != "count":
            assert "made for her (" not in asked.estimate("uniform", "absolute").claim


def test_the_reading_of_other_answers_is_the_remap():
    found = count(404, "0.1").estimate("binomial:0.45", "absolute")
    several = [Fraction(y) for y in (0, 380, 404, 470, 944)]
    expected = [count(int(y), "0.1").estimate("binomial:0.45", "absolute").estimate for y in several]
    assert remap_values(found, several).tolist() == expected
    with pytest.raises(InputError, match="only a lattice number"):
        remap_values(release(survey())["median"].estimate("uniform", "absolute"), several)


# --- bad input --------------------------------------------------------------------------------------------------------

BELOW = Grid(Fraction(-1), Fraction(2), Fraction(1))
BAD = [
    (lambda: count(4, 1, None).estimate("uniform", "absolute"), "at-most must be given for a count"),
    (lambda: count(4, 1, 9).estimate("1/2,1/2", "absolute"), "prior must have 10 weights"),
    (lambda: count(4, 1, 9).estimate("gauss", "absolute"), "prior must be uniform, weights"),
    (lambda: count(4, 1, 9).estimate("uniform", "hinge"), "loss must be absolute"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", coverage=1), "coverage must be strictly between"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", coverage=float("nan")), "coverage must be strictly"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", grid=1), "grid must be from 2"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", grid=50), "grid must be at most 10 points"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", at_most=-1), "must leave a value"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", at_least=5, at_most=2), "at-least must not be above"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", cell="a"), "cell must not be given for a count"),
    (lambda: count(4, 1, 9).estimate("uniform", losses.matrix([[0, 1], [1, 0]])), "loss must be a matrix of 10 rows"),
    (lambda: count(4, 1, 9).estimate("", "absolute"), "prior must be uniform, weights"),
    (lambda: survey()[3].estimate("uniform", "absolute", at_least=91), "must leave a range within 18 to 91"),
    (lambda: survey()[3].estimate("1", "absolute"), "prior must have at least 2 weights"),
    (lambda: survey()[4].estimate("1", "absolute"), "prior must have at least 2 weights"),
    (
        lambda: answer(Sum("v", BELOW, None), 1, OPEN, value=Fraction(1)).estimate("uniform", "absolute", at_most=5),
        "at-least must be given for a sum",
    ),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_told_in_one_line(call, words):
    with pytest.raises(InputError, match=words) as told:
        call()
    assert "\n" not in str(told.value)


def test_a_prior_from_a_file_is_read_exactly(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("0.25\n0.25\n0.5\n")
    found = estimate(count(1, 1, 2), str(path), "binary")
    assert found.reader.prior.exact() == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
