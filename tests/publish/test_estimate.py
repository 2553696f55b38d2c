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
from utmost.consumer.counts import posterior, reading_rules
from utmost.consumer.counts.posteriors import credible_intervals, posterior_sums
from utmost.data.grid import Grid
from utmost.design import optimal
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import tail_probability, untruncated_law
from utmost.publish.estimate import belief_curves, estimate, remap_values
from utmost.publish.reading import number_readings, prior_points
from utmost.publish.reading.estimates import Reader, unbiased_number, unbiased_total
from utmost.publish.reading.prior_points import Axis
from utmost.publish.release_model import Answer
from utmost.queries import Histogram, Mean, Quantile, Sum
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, drawn_parts
from utmost.spaces import line

EPSILONS = st.sampled_from(["0.1", "1", "1/3", "5/2"])


def parts(total, rows):
    """What was drawn for a mean of a secret number of rows."""
    return {"total": total, "rows": rows}


# --- remarks ----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(legal_consumers(2, 7), EPSILONS, st.data())
def test_the_tails_of_an_answer_are_those_of_the_prior_through_the_channel(consumer, rate, data):
    size = consumer.prior.size
    y = data.draw(st.integers(0, size - 1))
    reading = count(y, rate, size - 1).estimate(consumer.prior, consumer.loss)
    law = [
        float(sum(p * q for p, q in zip(consumer.prior.exact(), column, strict=True)))
        for column in zip(*geometric(size - 1, epsilon(rate)).channel().rows, strict=True)
    ]
    below, above = number_readings.answer_tails(reading.reader, number_readings.lattice_of(reading.answer), y)
    assert below == pytest.approx(sum(law[: y + 1]), rel=1e-9) or (y == size - 1 and below >= 0.5)
    assert above == pytest.approx(sum(law[y:]), rel=1e-9) or (y == 0 and above >= 0.5)


def test_an_answer_that_contradicts_the_prior_is_remarked_upon():
    remark = count(404, "0.1", 944).estimate("binomial:0.9", "absolute").remark
    assert remark.startswith("This answer is very unlikely under your prior: one as small or smaller had")
    assert remark.endswith("a probability of less than 1 in 1000.")
    assert "as large or larger" in count(404, "0.1", 944).estimate("binomial:0.1", "absolute").remark
    assert count(404, "0.1", 944).estimate("binomial:0.45", "absolute").remark == ""
    assert "as large or larger" in count(404, "0.1", None).estimate("uniform", "absolute", at_most=20).remark


def test_of_many_cells_those_that_contradict_the_prior_are_counted():
    cells = answer(Histogram({"k": (0, 1)}), "0.4", OPEN, value=(12, 900))
    assert cells.estimate("poisson:12", "absolute", at_most=1000).remark.startswith(
        "1 of the 2 numbers are very unlikely"
    )
    assert cells.estimate("poisson:12", "absolute", at_most=1000).remark.endswith("less than 1 in 2000.")
    assert cells.estimate("uniform", "absolute", at_most=1000).remark == ""


@pytest.mark.parametrize("prior", ["binomial:1/4", "poisson:25", "zipf:1"])
def test_a_prior_of_counts_on_a_mean_says_what_it_counts(prior):
    mean = answer(Mean("age", AGES, Fraction(48)), "0.2", setting(944), value=Fraction(47))
    remark = mean.estimate(prior, "absolute", grid=1001).remark
    assert remark.startswith(f"{prior} is a prior of counts: here it counts the 1000 steps of ")
    assert "prior of counts" not in mean.estimate("steps:1,2", "absolute", grid=1001).remark
    assert "prior of counts" not in count(404, "0.1", 944).estimate(prior, "absolute").remark
    assert "counts the 9 steps" in count(404, "0.1", 944).estimate(prior, "absolute", grid=10).remark


# --- counts -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(legal_consumers(2, 7), EPSILONS, st.data())
def test_a_count_is_read_as_the_consumer_of_its_channel_reads_it(consumer, rate, data):
    size = consumer.prior.size
    y = data.draw(st.integers(0, size - 1))
    reading = count(y, rate, size - 1).estimate(consumer.prior, consumer.loss)
    mechanism = geometric(size - 1, epsilon(rate))
    posterior_law = [float(p) for p in consumer.posterior(mechanism, y)]
    table = consumer.loss.matrix(size).astype(float)
    assert reading.estimate == consumer.remap(mechanism)[y]
    assert reading.loss.expected == pytest.approx(posterior_law @ table[:, reading.estimate], rel=1e-9, abs=1e-12)
    assert reading.loss.face_value == pytest.approx(posterior_law @ table[:, y], rel=1e-9, abs=1e-12)
    assert reading.before.expected == pytest.approx(float(consumer.expected_loss(mechanism)), rel=1e-9, abs=1e-12)
    assert reading.before.face_value == pytest.approx(float(consumer.face_value_loss(mechanism)), rel=1e-9, abs=1e-12)
    assert belief_curves(reading).posterior == pytest.approx(posterior_law, rel=1e-9, abs=1e-15)


@settings(max_examples=40)
@given(legal_consumers(2, 6), EPSILONS, st.sampled_from(["0.5", "0.9", "0.95"]), st.data())
def test_an_interval_holds_its_share_of_the_posterior_and_no_end_can_be_spared(consumer, rate, coverage, data):
    size = consumer.prior.size
    y = data.draw(st.integers(0, size - 1))
    reading = count(y, rate, size - 1).estimate(consumer.prior, consumer.loss, coverage=coverage)
    posterior_law = [float(p) for p in consumer.posterior(geometric(size - 1, epsilon(rate)), y)]
    low, high = reading.interval
    tail = (1 - float(coverage)) / 2
    assert sum(posterior_law[:low]) <= tail + 1e-12
    assert sum(posterior_law[high + 1 :]) <= tail + 1e-12
    assert sum(posterior_law[: low + 1]) > tail - 1e-12
    assert sum(posterior_law[high:]) > tail - 1e-12


@settings(max_examples=15, deadline=None)
@given(legal_consumers(2, 5), EPSILONS)
def test_the_loss_over_all_answers_is_that_of_the_best_mechanism_made_for_her(consumer, rate):
    size = consumer.prior.size
    reading = count(0, rate, size - 1).estimate(consumer.prior, consumer.loss)
    optimal_loss = optimal(line(size), epsilon(rate), consumer).loss
    assert reading.before.expected == pytest.approx(float(optimal_loss), rel=1e-9, abs=1e-12)
    assert "GRS12 Thm 3.2" in reading.claim


def test_a_million_counts_need_no_matrix_and_agree_with_the_posterior():
    reading = count(400_123, "0.01", 10**6).estimate("binomial:0.4", "squared")
    probabilities = posterior(priors.binomial(10**6 + 1, "0.4"), epsilon("0.01"), 400_123)
    mean = float(probabilities @ np.arange(10**6 + 1))
    assert abs(reading.estimate - mean) <= 0.5001
    assert reading.loss.expected == pytest.approx(
        float(probabilities @ (np.arange(10**6 + 1) - reading.estimate) ** 2), rel=1e-6
    )
    assert reading.before.gain > 1


def test_a_loss_that_is_too_much_work_for_all_answers_is_read_for_this_one():
    reading = count(50_123, "0.001", 10**5).estimate("uniform", "power:1.5")
    assert reading.before is None
    assert reading.estimate == 50_123
    assert reading.loss.expected == pytest.approx(math.gamma(2.5) * 1000**1.5, rel=1e-3)  # Laplace noise of scale 1000


@pytest.mark.parametrize("rate", ["1000", "50", "1/1000000"])
def test_extreme_levels_are_read(rate):
    reading = count(7, rate, 20).estimate("uniform", "absolute")
    assert reading.estimate == (10 if rate.startswith("1/") else 7)
    assert reading.loss.expected <= reading.loss.face_value


# --- no public end ----------------------------------------------------------------------------------------------------


@given(weights(5), inner_alphas(), st.integers(0, 6))
def test_an_answer_beyond_her_range_has_the_posterior_of_its_end_exactly(prior, level, excess):
    rows = [untruncated_law(x, [4, 4 + excess], alpha(level)) for x in range(5)]
    for k in (0, 1):
        joint = [p * row[k] for p, row in zip(prior, rows, strict=True)]
        posterior_law = [j / sum(joint) for j in joint]
        assert posterior_law == list(
            Consumer(priors.explicit(prior), losses.absolute).posterior(geometric(4, alpha(level)), 4)
        )


@settings(max_examples=40)
@given(legal_consumers(2, 6), inner_alphas(), st.integers(1, 4))
def test_cutting_a_count_without_an_upper_end_at_hers_costs_her_nothing_exactly(consumer, level, excess):
    """The mechanism with outputs 0 … N + further and a last one for all beyond, against the truncated one."""
    size, exact_level = consumer.prior.size, alpha(level)
    outputs = range(1, size + excess)
    rows = [
        [
            tail_probability(x, exact_level),
            *untruncated_law(x, outputs, exact_level),
            tail_probability(size + excess - x, exact_level),
        ]
        for x in range(size)
    ]
    assert consumer.expected_loss(channel(rows)) == consumer.expected_loss(geometric(size - 1, exact_level))


@settings(max_examples=30)
@given(legal_consumers(2, 6), EPSILONS, st.integers(0, 50))
def test_an_answer_above_her_range_is_read_as_its_end(consumer, rate, excess):
    last = consumer.prior.size - 1
    above, at_end = (
        count(y, rate, None).estimate(consumer.prior, consumer.loss, at_most=last) for y in (last + excess, last)
    )
    assert (above.estimate, above.interval, above.loss, above.before) == (
        at_end.estimate,
        at_end.interval,
        at_end.loss,
        at_end.before,
    )
    assert above.value == last + excess == above.unbiased


def test_the_length_of_a_prior_gives_the_range_too():
    reading = count(9, "1", None).estimate("1/4,1/4,1/2", "absolute")
    assert reading.reader.axis == Axis(Fraction(0), Fraction(1), 3)
    assert reading.estimate == 2
    assert count(9, "1", None).estimate(priors.uniform(6), losses.binary).estimate == 5


def test_at_least_and_at_most_narrow_what_is_held_possible():
    reading = count(404, "0.1").estimate("uniform", "absolute", at_least=300, at_most="390.5")
    assert reading.reader.axis == Axis(Fraction(300), Fraction(1), 91)
    assert 300 <= reading.interval[0] <= reading.estimate <= reading.interval[1] == 390


@pytest.mark.parametrize("unit_rows", [1, 3])
def test_sensitivity_enters_by_the_rate_of_a_step_alone(unit_rows):
    reading = count(40, Fraction(unit_rows, 2), 100, unit_rows).estimate("uniform", "absolute")
    plain_reading = count(40, Fraction(1, 2), 100 * unit_rows).estimate("uniform", "absolute")
    assert (reading.estimate, reading.interval, reading.loss) == (
        plain_reading.estimate,
        plain_reading.interval,
        plain_reading.loss,
    )
    assert ("made for this reader" in reading.claim) == (unit_rows == 1)
    assert reading.claim.startswith("optimal" if unit_rows == 1 else "metric")


# --- unbiased readings ------------------------------------------------------------------------------------------------


@given(inner_alphas(), st.integers(-3, 3), st.integers(1, 6), st.data())
def test_unbiased_readings_are_right_on_average_whatever_the_truth_exactly(level, low, width, data):
    exact_level, high = alpha(level), low + width
    x = data.draw(st.integers(low, high))
    law = geometric(width, exact_level).law(x - low)
    mean = sum(p * unbiased_number(low + y, low, high, exact_level) for y, p in enumerate(law))
    assert mean == x


@given(inner_alphas(), st.integers(0, 6), st.integers(1, 4), st.booleans())
def test_the_same_with_one_end_or_none_exactly(level, x, distance, low_end):
    """What lies beyond `last` (or below `first`) is summed in closed form: its mean is that of an absorbing end."""
    exact_level, last = alpha(level), x + distance
    first, low = (0, 0) if low_end else (-distance, None)
    inner = range(first + 1, last)
    mean = sum(
        p * unbiased_number(y, low, None, exact_level)
        for y, p in zip(inner, untruncated_law(x, inner, exact_level), strict=True)
    )
    mean += tail_probability(x - first, exact_level) * unbiased_number(first, first, None, exact_level)
    mean += tail_probability(last - x, exact_level) * unbiased_number(last, None, last, exact_level)
    assert mean == x
    assert unbiased_number(last + 5, low, None, exact_level) == last + 5


@given(inner_alphas(), st.integers(1, 6), st.data())
def test_the_standard_error_of_an_unbiased_total_is_within_its_bound(level, width, data):
    exact_level = alpha(level)
    x = data.draw(st.integers(0, width))
    variance = sum(
        p * (unbiased_number(y, 0, width, exact_level) - x) ** 2
        for y, p in enumerate(geometric(width, exact_level).law(x))
    )
    assert variance <= 2 * level / (1 - level) ** 2


def test_the_total_of_cells_adds_their_unbiased_readings():
    histogram = answer(Histogram({"k": tuple(range(6))}), "0.5", setting(30), value=(0, 3, 0, 30, 12, 0))
    reading = histogram.estimate("uniform", "absolute")
    assert float(reading.total[0]) == pytest.approx(sum(float(u) for u in reading.unbiased), rel=1e-12)
    assert reading.unbiased[1] == 3
    rate = Fraction(1, 4)  # 0.5 for two cells that move
    assert float(reading.unbiased[0]) == pytest.approx(-1 / math.expm1(rate), rel=1e-14)
    assert reading.total[1] == pytest.approx(math.sqrt(6 * 2 * math.exp(-rate)) / -math.expm1(-rate), rel=1e-12)


def test_a_number_between_two_equal_ends_is_known():
    assert unbiased_total(GeometricLattice(Fraction(1), 3, 3), [3, 3])[0] == 6
    assert unbiased_number(3, 3, 3, alpha("1/2")) == 3


# --- histograms -------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.sampled_from(["absolute", "squared", "power:1.5"]))
def test_every_cell_is_read_as_a_count_of_its_own(values, loss):
    keys = Histogram({"k": tuple(range(len(values)))})
    histogram = answer(keys, "0.5", setting(12), value=tuple(values))
    histogram_reading = histogram.estimate("binomial:0.3", loss)
    for value, reading in zip(values, histogram_reading.readings, strict=True):
        count_reading = count(value, "0.25", 12).estimate("binomial:0.3", loss)
        assert (reading.estimate, reading.interval) == (count_reading.estimate, count_reading.interval)
        assert reading.loss.expected == pytest.approx(count_reading.loss.expected, rel=1e-9)
        assert reading.loss.face_value == pytest.approx(count_reading.loss.face_value, rel=1e-9)
        assert histogram_reading.before == count_reading.before


def test_one_cell_can_be_picked_and_a_wrong_one_lists_them():
    histogram = answer(Histogram({"a": ("x", "y"), "b": (1, 2)}), "1", setting(9), value=(1, 2, 3, 4))
    assert histogram.query.cell_names == ("x,1", "x,2", "y,1", "y,2")
    reading = histogram.estimate("uniform", "absolute", cell="y,1")
    assert (reading.cells, reading.value, reading.total) == (("y,1",), (3,), None)
    with pytest.raises(InputError, match=r"cell must be one of x,1; x,2; y,1; y,2: got \"z\""):
        histogram.estimate("uniform", "absolute", cell="z")


@settings(max_examples=60)
@given(weights(9), EPSILONS, st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_of_all_answers_at_once_hold_their_share(prior, rate, coverage):
    count_prior = priors.explicit(prior)
    low, high = credible_intervals(posterior_sums(count_prior.logs(), float(Fraction(rate))), coverage)
    tail = (1 - coverage) / 2
    for y in range(9):
        probabilities = posterior(count_prior, epsilon(rate), y)
        below = np.array([0.0, *accumulate(probabilities.tolist())])
        assert below[low[y]] <= tail + 1e-12 < below[low[y] + 1] + 2e-12
        assert 1 - below[high[y] + 1] <= tail + 1e-12
        interval = reading_rules.credible_interval(probabilities, coverage)
        ties = [abs(edge - share) < 1e-9 for edge in below for share in (tail, 1 - tail)]
        assert any(ties) or (low[y], high[y]) == interval


# --- the reader's own points ------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.integers(2, 9).flatmap(weights),
    st.integers(-40, 140),
    st.sampled_from(["absolute", "squared", "power:1.5", "asymmetric:2,1", "binary"]),
)
def test_a_grid_of_her_own_has_the_exact_posterior_at_its_points(prior, number, loss):
    """Brute force in the value's unit: a sum of steps of 1/4 from 0 to 25, ε = 1/20 a step."""
    mechanism = GeometricLattice(Fraction(1, 20), 0, 100, Fraction(0), Fraction(1, 4))
    number = min(max(number, 0), 100)
    quarters = Sum("v", Grid(Fraction(0), Fraction(1), Fraction(1, 4)), None)
    error = count(1, 1).error
    released_sum = Answer("s", quarters, Fraction(1), 20, mechanism, "metric", error, mechanism.value(number))
    reading = released_sum.estimate(priors.explicit(prior), loss)
    points = [Fraction(25 * k, len(prior) - 1) for k in range(len(prior))]
    joint = [float(p) * math.exp(-abs(float(x) * 4 - number) / 20) for p, x in zip(prior, points, strict=True)]
    posterior_law = [j / math.fsum(joint) for j in joint]
    assert belief_curves(reading).posterior == pytest.approx(posterior_law, rel=1e-12, abs=1e-300)

    value_loss = losses.parse(loss)

    def expected(w: Fraction) -> float:
        return math.fsum(
            p * float(value_loss.array(float(x), float(w))) for p, x in zip(posterior_law, points, strict=True)
        )

    least_loss = min(map(expected, points))
    assert reading.loss.expected == pytest.approx(least_loss, rel=1e-9, abs=1e-12)
    assert expected(reading.estimate) == pytest.approx(least_loss, rel=1e-9, abs=1e-12)
    face = min(points, key=lambda x: (abs(x - mechanism.value(number)), x))
    assert reading.loss.face_value == pytest.approx(expected(face), rel=1e-9, abs=1e-12)


def test_losses_are_in_the_value_s_own_unit():
    coarse, fine = (Grid(Fraction(0), Fraction(top), Fraction(top, 4)) for top in (4, 1))
    steps = answer(Sum("v", coarse, Fraction(0)), 1, setting(10), value=Fraction(9))
    quarters = answer(Sum("v", fine, Fraction(0)), 1, setting(10), value=Fraction(9, 4))
    for loss, factor in (("absolute", 4), ("squared", 16), ("power:1.5", 8), ("binary", 1)):
        coarse_reading, fine_reading = (released_sum.estimate("uniform", loss) for released_sum in (steps, quarters))
        assert coarse_reading.estimate == 4 * fine_reading.estimate
        assert coarse_reading.loss.expected == pytest.approx(factor * fine_reading.loss.expected, rel=1e-12)
        assert coarse_reading.before.face_value == pytest.approx(factor * fine_reading.before.face_value, rel=1e-12)


def test_a_mean_of_a_public_number_of_rows_is_read_on_its_lattice():
    released_mean = answer(Mean("age", AGES, Fraction(40)), "0.1", CLOSED, value=Fraction(18) + Fraction(27533, 944))
    reading = released_mean.estimate("uniform", "absolute")
    assert reading.reader.axis == Axis(Fraction(18), Fraction(1, 944), 944 * 73 + 1)
    assert reading.estimate == reading.value == reading.unbiased
    assert reading.loss.expected == pytest.approx(730 / 944, rel=1e-3)  # E|Δ| of ε/73 a step is about 730 steps
    assert reading.claim.startswith("metric")


@pytest.mark.parametrize("offset", [0, 1, 500, 10**6])
def test_lattices_of_any_length_keep_their_digits(offset):
    """10^15 points: near the answer the posterior is that of the noise, to the last step."""
    number = 4 * 10**14 + 12345
    mechanism = GeometricLattice(Fraction(1, 1000), 0, 10**15)
    first = number - 5000 + offset
    axis = Axis(Fraction(first), Fraction(1), 10_001)
    logs = number_readings.lattice_likelihood(axis, mechanism, number)
    position = min(number, first + 10_000) - first if offset <= 5000 else 0
    expected = -np.abs(np.arange(10_001) - position) / 1000
    assert logs == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_a_large_sum_is_read_on_the_points_that_matter_to_a_uniform_prior():
    grid = Grid(Fraction(0), Fraction(10**6), Fraction(1))
    released_sum = answer(Sum("v", grid, Fraction(0)), 1, setting(5000), value=Fraction(2_345_678_901))
    reading = released_sum.estimate("uniform", "absolute")
    assert reading.estimate == reading.value
    assert reading.loss.expected == pytest.approx(10**6, rel=1e-3)
    assert float(reading.interval[1] - reading.value) == pytest.approx(10**6 * math.log(20), rel=0.02)
    assert (reading.before, reading.claim[:12]) == (None, "none claimed")
    assert "near the answer" in reading.remark
    assert released_sum.estimate("uniform", "absolute", grid=11).reader.axis.size == 11


def test_other_priors_are_spread_from_end_to_end_and_a_coarse_grid_says_so():
    grid = Grid(Fraction(0), Fraction(10**6), Fraction(1))
    released_sum = answer(Sum("v", grid, Fraction(0)), 1, setting(5000), value=Fraction(2_345_678_901))
    reading = released_sum.estimate("binomial:0.5", "absolute")
    assert reading.reader.axis == Axis(Fraction(0), Fraction(125_000), 40_001)
    assert reading.remark.startswith("binomial:1/2 is a prior of counts: here it counts the 40000 steps of 125000")
    assert "very unlikely under your prior: one as small or smaller" in reading.remark
    assert "take more points" in released_sum.estimate("binomial:0.5", "absolute", grid=1001).remark


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=3),
    st.sampled_from(["absolute", "squared", "asymmetric:3,1"]),
    st.sampled_from(["0.2", "0.5"]),
)
def test_only_points_near_the_answers_matter_to_a_uniform_prior(values, loss, rate):
    histogram = answer(Histogram({"k": tuple(range(len(values)))}), rate, OPEN, value=tuple(values))
    full_reading = histogram.estimate("uniform", loss, at_most=3000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prior_points, "MAX_PRIOR_POINTS", 100)
        near_reading = histogram.estimate("uniform", loss, at_most=3000)
    assert near_reading.reader.is_partial
    assert (near_reading.estimate, near_reading.interval) == (full_reading.estimate, full_reading.interval)
    for near_loss, full_loss in zip(near_reading.loss, full_reading.loss, strict=True):
        assert near_loss.expected == pytest.approx(full_loss.expected, rel=1e-9)
    assert near_reading.before is None


@pytest.mark.slow
@settings(max_examples=4)
@given(st.integers(-73, 73), st.integers(9_000, 12_000), st.sampled_from(["replace", "add-remove"]))
def test_only_means_near_the_ratio_matter_to_a_uniform_prior(mean, rows, relation):
    privacy_setting = setting(20_000) if relation == "replace" else OPEN
    query = Mean("age", AGES, None, "vote = 1")
    ratio = Fraction(109, 2) + Fraction(mean, 2)
    released_mean = answer(query, "0.1", privacy_setting, value=ratio, parts=parts(mean * rows, rows))
    near_reading, full_reading = (
        released_mean.estimate("uniform", "absolute"),
        released_mean.estimate("uniform", "absolute", grid=2921),
    )
    assert near_reading.reader.is_partial
    assert not full_reading.reader.is_partial
    for near_value, full_value in zip(
        (near_reading.estimate, *near_reading.interval), (full_reading.estimate, *full_reading.interval), strict=True
    ):
        assert abs(near_value - full_value) <= Fraction(4, 100)
    # points of the full grid are 1/40 apart, a third of the loss: the nearest of them is off by up to 2.5 % of it
    assert near_reading.loss.expected == pytest.approx(full_reading.loss.expected, rel=0.03)


def test_the_points_of_a_prior_listed_for_a_sum_are_its_grid():
    released_sum = answer(Sum("v", AGES, Fraction(20)), 1, setting(100), value=Fraction(4000))
    reading = released_sum.estimate("1/4,1/2,1/4", "binary")
    assert reading.reader.axis == Axis(Fraction(1800), Fraction(3650), 3)
    weights = [w * math.exp(-abs(x - 4000) / 73) for w, x in ((1, 1800), (2, 5450), (1, 9100))]
    assert reading.estimate == 5450
    assert reading.loss.expected == pytest.approx(1 - weights[1] / sum(weights), rel=1e-6)


# --- means of a secret number of rows ---------------------------------------------------------------------------------


def brute_force_posterior(
    axis: Axis, mechanism: RatioMechanism, parts: tuple[int, int], prior: list[float], max_rows: int
) -> list[float]:
    """The posterior by summing over every number of rows up to `max_rows`, one term at a time."""
    total, rows = parts
    joint = []
    for k, weight in enumerate(prior):
        mean = (axis.value(k) - mechanism.total.origin) / mechanism.total.unit
        terms = (
            math.exp(
                -float(mechanism.rows.epsilon) * abs(r - rows)
                - float(mechanism.total.epsilon) * abs(round(r * mean) - total)
            )
            for r in range(1, max_rows + 1)
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
    released_mean = answer(
        query, rate, setting(units), value=Fraction(1, 2), parts=parts(top, min(rows, units or rows))
    )
    reading = released_mean.estimate(priors.explicit(prior), "squared")
    expected = brute_force_posterior(
        reading.reader.axis,
        released_mean.mechanism,
        drawn_parts(released_mean.details),
        [float(p) for p in prior],
        units or 400,
    )
    assert belief_curves(reading).posterior == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_readings_of_such_means_keep_what_they_promise_over_draws():
    """Rows and mean drawn as the reader believes, then the noise: so each interval holds with 90 %.

    400 draws: fewer than 335 hits have probability below 10^-4 (a binomial of 0.9 is 360 ± 6); the mean loss must be
    within 4 standard errors of the mean loss promised. An ε wrong by a factor of 2, either way, fails.
    """
    grid = Grid(Fraction(0), Fraction(10), Fraction(1))
    mechanism = Mean("v", grid, None, "v < 9").select_mechanism(Fraction(2), setting(60)).mechanism
    axis = Axis(Fraction(0), Fraction(1, 4), 41)
    reader = Reader(axis, priors.binomial(41, "0.4"), losses.squared, 0.9)
    random = np.random.default_rng(20261115)
    hits, gaps = 0, []
    for _ in range(400):
        mean, rows = axis.value(int(random.binomial(40, 0.4))), int(random.integers(1, 61))
        truth = round(float(rows * (mean - mechanism.total.origin) / mechanism.total.unit))
        noisy = [
            x + _noise(random, float(lattice.epsilon))
            for x, lattice in ((truth, mechanism.total), (rows, mechanism.rows))
        ]
        parts = (noisy[0], min(max(noisy[1], 0), 60))
        reading = number_readings.read_ratio(reader, mechanism, parts, Fraction(5))
        hits += reading.interval[0] <= mean <= reading.interval[1]
        gaps.append(float(reading.estimate - mean) ** 2 - reading.loss.expected)
    assert hits >= 335
    assert abs(np.mean(gaps)) <= 4 * np.std(gaps) / 20


def _noise(random: np.random.Generator, rate: float) -> int:
    share = -math.expm1(-rate)
    return int(random.geometric(share) - random.geometric(share))


def test_a_million_rows_are_thinned_and_read_as_if_they_were_not(monkeypatch):
    released_mean = answer(
        Mean("age", AGES, None, "vote = 1"), "0.01", OPEN, value=Fraction(47), parts=parts(-15 * 10**6, 10**6)
    )
    full_reading = released_mean.estimate("uniform", "absolute", grid=401, at_least=46, at_most=48)
    posterior_law = belief_curves(full_reading).posterior
    monkeypatch.setattr(number_readings, "MAX_RATIO_TERMS", 3e5)
    thin_reading = released_mean.estimate("uniform", "absolute", grid=401, at_least=46, at_most=48)
    assert belief_curves(thin_reading).posterior == pytest.approx(posterior_law, rel=3e-4, abs=1e-9)
    assert (thin_reading.estimate, thin_reading.interval) == (full_reading.estimate, full_reading.interval)
    assert float(thin_reading.estimate) == pytest.approx(47, abs=0.01)


def test_a_mean_without_rows_is_read_from_the_prior():
    query = Mean("v", Grid(Fraction(0), Fraction(4), Fraction(1)), None, "v < 2")
    released_mean = answer(query, 1, OPEN, value=Fraction(2), parts=parts(0, 0))
    reading = released_mean.estimate("uniform", "absolute")
    assert reading.estimate == 2
    assert reading.interval[0] < 1 < 3 < reading.interval[1]


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
    quantile = answer(query, rate, OPEN, value=Fraction(2), position=2)
    reading = quantile.estimate("uniform", "absolute", coverage=coverage)
    losses = query.losses(counts)
    far = [
        p
        for p, loss in zip(quantile.mechanism.law(losses), losses, strict=True)
        if loss >= reading.rank * share.denominator
    ]
    assert float(sum(far)) <= 1 - float(coverage) + 1e-12


def test_a_quantile_is_read_at_face_value_and_says_why():
    reading = release(survey())["median"].estimate("binomial:0.4", "squared")
    assert (reading.estimate, reading.value, reading.interval, reading.loss, reading.reader) == (
        45,
        45,
        None,
        None,
        None,
    )
    assert "no posterior" in reading.remark
    with pytest.raises(InputError, match="has no posterior"):
        belief_curves(reading)


# --- claims -----------------------------------------------------------------------------------------------------------


def test_the_theorem_is_claimed_where_it_holds_and_nowhere_else(tmp_path):
    released_count = count(3, 1, 8)
    assert "GRS12 Thm 3.2)" in released_count.estimate("uniform", "squared").claim
    assert "two different sides" in released_count.estimate("uniform", "asymmetric:2,1").claim
    falling = losses.matrix([[abs(i - j) % 4 for j in range(9)] for i in range(9)])
    assert released_count.estimate("uniform", falling).claim.startswith("none claimed: GRS12 Thm 3.2 is about losses")
    assert released_count.estimate("uniform", "nib").claim.startswith("none claimed: GRS12 Thm 3.2 is about losses")
    rising = losses.matrix([[2 * abs(i - j) if j > i else abs(i - j) for j in range(9)] for i in range(9)])
    assert "two different sides" in released_count.estimate("uniform", rising).claim
    assert released_count.estimate("uniform", "squared", grid=3).claim.startswith(
        "none claimed for points of the reader's own"
    )
    for released_answer in survey():
        if released_answer.kind != "count":
            assert "made for this reader (" not in released_answer.estimate("uniform", "absolute").claim


def test_the_reading_of_other_answers_is_the_remap():
    reading = count(404, "0.1").estimate("binomial:0.45", "absolute")
    values = [Fraction(y) for y in (0, 380, 404, 470, 944)]
    expected = [count(int(y), "0.1").estimate("binomial:0.45", "absolute").estimate for y in values]
    assert remap_values(reading, values).tolist() == expected
    with pytest.raises(InputError, match="only a lattice number"):
        remap_values(release(survey())["median"].estimate("uniform", "absolute"), values)


# --- bad input --------------------------------------------------------------------------------------------------------

BELOW = Grid(Fraction(-1), Fraction(2), Fraction(1))
BAD = [
    (lambda: count(4, 1, None).estimate("uniform", "absolute"), "at_most must be given for a count"),
    (lambda: count(4, 1, 9).estimate("1/2,1/2", "absolute"), "prior must have 10 weights"),
    (lambda: count(4, 1, 9).estimate("gauss", "absolute"), "prior must be uniform, binomial:0.3"),
    (lambda: count(4, 1, 9).estimate("uniform", "hinge"), "loss must be absolute"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", coverage=1), "coverage must be strictly between"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", coverage=float("nan")), "coverage must be strictly"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", grid=1), "grid must be from 2"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", grid=50), "grid must be at most 10 points"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", at_most=-1), "must leave a value"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", at_least=5, at_most=2), "at_least must not be above"),
    (lambda: count(4, 1, 9).estimate("uniform", "absolute", cell="a"), "cell must not be given for a count"),
    (lambda: count(4, 1, 9).estimate("uniform", losses.matrix([[0, 1], [1, 0]])), "loss must be a matrix of 10 rows"),
    (lambda: count(4, 1, 9).estimate("", "absolute"), "prior must be uniform, binomial:0.3"),
    (lambda: survey()[3].estimate("uniform", "absolute", at_least=91), "must leave a range within 18 to 91"),
    (lambda: survey()[3].estimate("1", "absolute"), "prior must have at least 2 weights"),
    (lambda: survey()[4].estimate("1", "absolute"), "prior must have at least 2 weights"),
    (
        lambda: answer(Sum("v", BELOW, None), 1, OPEN, value=Fraction(1)).estimate("uniform", "absolute", at_most=5),
        "at_least must be given for a sum",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as problem:
        call()
    assert "\n" not in str(problem.value)


def test_a_prior_from_a_file_is_read_exactly(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("0.25\n0.25\n0.5\n")
    reading = estimate(count(1, 1, 2), str(path), "binary")
    assert reading.reader.prior.exact() == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
