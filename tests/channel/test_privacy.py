"""The ε of a channel: recomputed from its entries, decided, and checked against brute force over all pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, levels
from utmost.channel import Channel, channel, is_private, least_epsilon, mix
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric
from utmost.spaces import line, space


@given(levels(), st.integers(1, 6))
@settings(max_examples=50)
def test_the_geometric_mechanism_has_exactly_the_level_asked_for(level: Level, size: int) -> None:
    loss = least_epsilon(geometric(size, level).channel(), line(size + 1))
    assert loss.alpha == level.alpha
    assert loss.within(level)
    assert loss.epsilon == pytest.approx(level.epsilon, rel=1e-14)
    assert loss.exponent == level.exponent


@given(channels(inputs=4))
def test_the_leak_is_the_maximum_over_all_pairs_and_outputs(source: Channel) -> None:
    """Brute force over every pair with its distance, in floats, against the generating pairs in fractions."""
    loss = least_epsilon(source, line(4))
    rows = source.rows
    brute = 0.0
    for x in range(4):
        for z in range(4):
            for y in range(len(source.outputs)):
                if x != z and rows[x, y]:
                    ratio = math.log(rows[x, y] / rows[z, y]) if rows[z, y] else math.inf
                    brute = max(brute, ratio / abs(x - z))
    assert loss.epsilon == pytest.approx(brute, abs=1e-12)


@given(channels(inputs=3), st.lists(st.integers(2, 9), min_size=3, max_size=3))
def test_the_leak_is_decided_where_distances_differ(source: Channel, sides: list[int]) -> None:
    a, b, c = sides
    if a > b + c or b > a + c or c > a + b:
        return
    mechanism = space([[0, a, b], [a, 0, c], [b, c, 0]])
    loss = least_epsilon(source, mechanism)
    for x, z in mechanism.edges:
        for y in range(len(source.outputs)):
            for high, low in ((x, z), (z, x)):
                above, below = source.rows[high, y], source.rows[low, y]
                if loss.ratio is not None and above and below:
                    assert (above / below) ** int(loss.distance) <= loss.ratio ** int(mechanism.distance(x, z))


@given(channels(inputs=3), levels())
def test_privacy_is_decided_as_the_definition_says(source: Channel, level: Level) -> None:
    by_definition = all(
        source.rows[x, y] * level.power(abs(x - z)) <= source.rows[z, y]
        for x in range(3) for z in range(3) for y in range(len(source.outputs))
    )  # fmt: skip
    assert is_private(source, line(3), level) == by_definition


@given(levels(), st.integers(1, 4), channels(inputs=5), st.data())
@settings(max_examples=40)
def test_post_processing_and_mixing_never_leak_more(
    level: Level, size: int, post_processing: Channel, data: st.DataObject
) -> None:
    mechanism = geometric(4, level).channel()
    assert is_private(mechanism.then(post_processing), line(5), level)
    constant = channel([["1/5"] * 5] * 5)
    assert is_private(mix(mechanism, constant, data.draw(st.fractions(0, 1, max_denominator=9))), line(5), level)


def test_an_output_possible_under_one_input_only_is_an_infinite_leak() -> None:
    loss = least_epsilon(channel([["1/2", "1/2", 0], ["1/2", "1/4", "1/4"]]), line(2))
    assert loss.ratio is None
    assert loss.epsilon == math.inf
    assert (loss.output, loss.high, loss.low) == (2, 1, 0)
    assert not loss.within(epsilon(1000))
    assert loss.within(alpha(0))


def test_a_level_just_below_the_truth_is_refused() -> None:
    source = geometric(4, alpha("1/2")).channel()
    assert is_private(source, line(5), epsilon("0.6931471805599454"))
    assert not is_private(source, line(5), epsilon("0.6931471805599453"))


def test_float_channels_get_a_float_answer() -> None:
    loss = least_epsilon(channel([[0.75, 0.25], [0.25, 0.75]]), line(2))
    assert loss.epsilon == pytest.approx(math.log(3))
    assert loss.within(epsilon("1.1"))


def test_one_input_leaks_nothing_and_labels_must_be_the_points() -> None:
    assert least_epsilon(channel([["1/2", "1/2"]]), line(1)).epsilon == 0
    with pytest.raises(InputError, match="points of line:3"):
        least_epsilon(channel([["1/2", "1/2"]]), line(3))


def test_inputs_in_another_order_are_matched_by_label() -> None:
    source = geometric(3, alpha("1/3")).channel()
    assert least_epsilon(source.restrict([3, 1, 0, 2]), line(4)).ratio == 3


def test_a_root_of_the_ratio_is_exact() -> None:
    mechanism = space([[0, 2], [2, 0]])
    loss = least_epsilon(channel([["2/3", "1/3"], ["1/3", "2/3"]]), mechanism)
    assert loss.alpha is not None
    assert loss.alpha * loss.alpha == Fraction(1, 2)


def test_float_entries_are_compared_as_the_fractions_they_are() -> None:
    """Doubles whose ratio is just above 3: a float logarithm would call it 3."""
    rows = [[0.40073491630876384, 0.5992650836912362], [0.1335783054362546, 0.8664216945637454]]
    source = channel(rows)
    exactly = Fraction(rows[0][0]) / Fraction(rows[1][0])
    assert exactly > 3
    assert least_epsilon(source, line(2)).ratio == exactly
    assert not is_private(source, line(2), alpha("1/3"))
    assert least_epsilon(channel([[0.5, 0.5], [5e-324, 1.0]]), line(2)).epsilon == pytest.approx(743.7, abs=1)


def test_the_distance_counts_in_the_decision() -> None:
    mechanism = space([[0, 3], [3, 0]])
    source = channel([["8/9", "1/9"], ["1/9", "8/9"]])
    assert is_private(source, mechanism, alpha("1/2"))
    assert not is_private(source, line(2), alpha("1/2"))
    assert not is_private(source, mechanism, alpha("51/100"))


def test_tiny_leaks_are_told_to_full_accuracy() -> None:
    source = channel([["1/2", "1/2"], ["1/2+1e-30", "1/2-1e-30"]])
    assert least_epsilon(source, line(2)).epsilon == pytest.approx(2e-30, rel=1e-14)
    assert alpha("1-1e-40").epsilon == pytest.approx(1e-40, rel=1e-14)


def test_a_mechanism_may_stand_for_its_channel_and_labels_are_checked_at_every_level() -> None:
    assert is_private(geometric(3, alpha("1/2")), line(4), alpha("1/2"))
    with pytest.raises(InputError, match="0, 1"):
        is_private(channel([["1", 0], [0, "1"]], inputs=["yes", "no"]), line(2), alpha(0))
    with pytest.raises(InputError, match="got int"):
        least_epsilon(5, line(2))  # type: ignore[arg-type]


def test_a_power_that_cannot_be_written_is_decided_by_balls() -> None:
    mechanism = space([[0, "1/2"], ["1/2", 0]])
    source = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    assert least_epsilon(source, mechanism).within(alpha("sqrt(2)/10"))
    assert not least_epsilon(source, mechanism).within(alpha("sqrt(2)/2"))


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.3"), alpha("2/3")])
@pytest.mark.parametrize("distance", ["sqrt(2)", "1+sqrt(2)", "sqrt(5)/2", "sqrt(2)+sqrt(5)"])
def test_at_an_irrational_distance_the_level_is_recovered_exactly(level: Level, distance: str) -> None:
    far = space([[0, distance], [distance, 0]])
    ratio = 1 / level.power(far.distance(0, 1))
    k = 1 / (1 + ratio)
    two = channel([[k * ratio, k], [k, k * ratio]])
    loss = least_epsilon(two, far)
    assert loss.alpha == level.alpha
    assert loss.exponent == level.exponent
    assert loss.within(level)
    assert not loss.within(alpha(level.alpha + Fraction(1, 10**30)))


def test_leaks_at_distances_with_an_irrational_ratio_are_compared() -> None:
    """A right triangle: the column allowed by all three pairs has the same ε on each; a little more on one is seen."""
    triangle = space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]])
    level = alpha("1/2")
    column = [Fraction(1, 4), level.power(1) / 4, level.power(triangle.distance(0, 2)) / 4]
    assert is_private(channel([[c, 1 - c] for c in column]), triangle, level)
    column[2] -= Fraction(1, 10**12)
    loss = least_epsilon(channel([[c, 1 - c] for c in column]), triangle)
    assert not loss.within(level)
    assert {loss.high, loss.low} == {0, 2}


def test_leaks_at_distances_far_apart_are_compared_without_huge_powers() -> None:
    """ε at distance 1/1000 against ε at 1000: a power of a million, which is never written out where balls decide."""
    far, near = Fraction(1000), Fraction(1, 1000)
    points = space([[0, near, far], [near, 0, far], [far, far, 0]])
    tiny, hair = Fraction(1, 2**1000), Fraction(1, 3000)
    rows = [[1 - tiny, tiny], [1 - tiny, tiny], [tiny, 1 - tiny]]
    loss = least_epsilon(channel(rows), points)
    assert (loss.distance, loss.within(alpha("1/2"))) == (far, True)
    assert least_epsilon(channel([[1 - 3 * tiny, 3 * tiny], *rows[1:]]), points).distance == near
    close = least_epsilon(channel([[hair, 1 - hair], [hair, 1 - hair], [hair, 1 - hair]]), points)
    assert close.ratio == 1


def test_equal_leaks_at_distances_far_apart_are_seen_to_be_equal() -> None:
    """2 at distance 1 and 2^100 at distance 100: the first one found stays, whatever precision a ball has."""
    points = space([[0, 1, 100], [1, 0, 100], [100, 100, 0]])
    small = Fraction(1, 2**101)
    rows = [[2 * small, 1 - 2 * small], [small, 1 - small], [Fraction(1, 2), Fraction(1, 2)]]
    assert least_epsilon(channel(rows), points).ratio in (2, 2**100)
    assert is_private(channel(rows), points, alpha("1/2"))
    assert not is_private(channel(rows), points, alpha("501/1000"))
