"""Values and the events made of them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.audit.events import (
    MAX_THRESHOLDS,
    Interval,
    Members,
    choose_events,
    grid_step,
    lowest_bit,
    make_features,
    make_sample,
    number_positions,
    thresholds,
    to_comparable,
    trailing_zeros,
)
from utmost.errors import InputError


def make_samples(first, second):
    ours, theirs = [to_comparable(v) for v in first], [to_comparable(v) for v in second]
    positions = number_positions([*ours, *theirs])
    return make_sample(ours, positions), make_sample(theirs, positions)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.array([1.0, 2.0]), (1.0, 2.0)),
        (np.str_("a"), "a"),
        (True, True),
        (None, "None"),
        (math.nan, "nan"),
        (Decimal("NaN"), "nan"),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-Infinity"), -math.inf),
        (Decimal("1e999999"), math.inf),
        (1 + 2j, (1.0, 2.0)),
        ([1, ("a", None)], (1, ("a", "None"))),
        (b"ab", b"ab"),
    ],
)
def test_what_a_box_may_return_is_made_comparable(value, expected):
    assert to_comparable(value) == expected


@pytest.mark.parametrize("value", [object(), {"a": 1}, {1, 2}, [0] * 1001], ids=["object", "dict", "set", "long"])
def test_what_cannot_be_compared_is_refused_by_name(value):
    with pytest.raises(InputError, match="audited value must"):
        to_comparable(value)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_the_lowest_bit_is_that_of_the_fraction(value):
    exact, k = Fraction(value), int(lowest_bit(np.array([value]))[0])
    assert (exact / Fraction(2) ** k) % 2 == 1
    assert 0 <= trailing_zeros(np.array([value]))[0] <= 52


def test_the_step_of_numbers_on_a_grid_is_recognised():
    assert grid_step(np.array([0.07, 1.1, math.inf, math.nan])) == 0.01
    assert grid_step(np.array([3 / 1024])) == 2.0**-10
    assert grid_step(np.array([1e300])) is None
    assert grid_step(np.array([])) is None


@settings(max_examples=40)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=400))
def test_thresholds_are_values_and_few(numbers):
    result = thresholds(np.array(numbers))
    assert set(result.tolist()) <= set(numbers)
    assert len(result) <= 2 * MAX_THRESHOLDS
    assert len(result) == len(set(numbers)) or len(set(numbers)) > MAX_THRESHOLDS


@settings(max_examples=40)
@given(st.lists(st.integers(-5, 5), min_size=8, max_size=60), st.data())
def test_the_chosen_intervals_count_what_they_say(values, data):
    others = data.draw(st.lists(st.integers(-5, 5), min_size=len(values), max_size=len(values)))
    first, second = make_samples(values, others)
    for candidate in choose_events(first, second, 6):
        event = candidate.event
        if isinstance(event, Members):
            assert event.contains(first).sum() == sum(v in event.values for v in values)
        elif isinstance(event, Interval) and event.feature.name == "value" and not event.feature.suffix:
            assert event.contains(first).sum() == sum(event.low <= v <= event.high for v in values)


def best_event_text(first, second):
    return str(choose_events(*make_samples(first, second), 1)[0].event)


def test_each_kind_of_difference_has_its_event():
    count = 200
    assert best_event_text([0] * count, [1] * count) == "value = 0"
    assert best_event_text(["yes", "no"] * count, ["no"] * 2 * count) == "value = 'yes'"
    assert "value mod 3" in best_event_text([*range(0, 3 * count, 3)], [*range(1, 3 * count, 3)])
    assert "coordinate 2" in best_event_text([(0, k) for k in range(count)], [(0, k + count) for k in range(count)])
    assert "minus sign" in best_event_text([-0.0] * count, [0.0] * count)
    assert "lowest bit" in best_event_text(
        [k * 2.0**-60 for k in range(1, count, 2)], [k * 2.0**-40 for k in range(1, count, 2)]
    )
    assert best_event_text([math.nan] * count, [1.0] * count) in ("value = 'nan'", "value = 1")
    texts = [f"w{k}" for k in range(40)]
    assert "one of" in best_event_text([texts[k % 20] for k in range(800)], [texts[20 + k % 20] for k in range(800)])


def test_a_few_values_are_all_named():
    assert str(Members((3,))) == "value = 3"
    assert str(Members((3, 2))) == "value is 3 or 2"
    assert str(Members((3, 2, "a"))) == "value is 3, 2 or 'a'"
    assert str(Members((4, 3, 2, 1))) == "value is one of 4, such as 4, 3, 2"


def test_a_half_line_is_preferred_to_a_residue_that_says_the_same():
    first, second = make_samples([*range(10)] * 40, [*range(8)] * 50)
    names = [str(c.event) for c in choose_events(first, second, 4) if c.forward]
    assert names.index("value ≥ 8") < min([names.index(n) for n in names if "mod" in n], default=len(names))


def test_a_rare_event_under_one_secret_only_is_among_the_chosen():
    common = [(k % 2, k % 3, k % 5, k % 7) for k in range(9970)]
    first, second = make_samples([*common, *["a"] * 30][::-1], [*common, *["b"] * 30][::-1])
    order = np.random.default_rng(1).permutation(10_000)
    first, second = make_samples(*([sample.values[k] for k in order] for sample in (first, second)))
    candidates = choose_events(first, second, 4)
    assert {(str(c.event), c.forward) for c in candidates if c.exclusive} == {
        ("value = 'a'", True),
        ("value = 'b'", False),
    }


def test_events_that_are_almost_sure_under_both_secrets_are_not_counted():
    first, second = make_samples([0] * 995 + ["a"] * 5, [0] * 995 + ["b"] * 5)
    assert all(0 not in c.event.values for c in choose_events(first, second, 4) if isinstance(c.event, Members))
    assert len(choose_events(*make_samples([7] * 100, [7] * 100), 4)) == 1


def test_a_number_beyond_doubles_stays_a_number():
    first, _ = make_samples([10**400, -(10**400)], [0, 1])
    assert first.columns[-1].tolist() == [math.inf, -math.inf]
    assert make_features(first)
