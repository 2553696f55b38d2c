"""Audits: exact ε of channels; incorrect boxes are refuted, correct ones no more often than stated."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import utmost as ut
from audit.boxes import correct_geometric, inverse_laplace, laplace, wrong_clamp, wrong_clamp_channel
from utmost.audit import channel_bound, function_box, load_box, lower_bound, program_box, sampled_bound
from utmost.audit.events import to_comparable
from utmost.channel import channel
from utmost.errors import InputError
from utmost.mechanisms import geometric

TENTH = ut.epsilon("0.1")
TEST_FAILURE_RISK = 1e-6


def max_false_alarms(confidence: str, audits: int) -> int:
    """So many false alarms or more have probability below 1e-6 if each audit has no more than its stated one."""
    return int(binom.isf(TEST_FAILURE_RISK, audits, float(1 - Fraction(confidence))))


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=2))
def test_no_set_of_outputs_of_a_channel_has_a_larger_ratio_than_its_witness(weights):
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    result = channel_bound(channel(rows))
    events = [[y for y in range(3) if mask >> y & 1] for mask in range(1, 8)]
    ratios = [sum(a[y] for y in e) / sum(b[y] for y in e) for e in events for a, b in (rows, rows[::-1])]
    assert result.privacy_loss.ratio == max(ratios)
    assert result.lower == pytest.approx(math.log(max(ratios)), abs=1e-12)
    if result.event:
        y = int(result.event.removeprefix("output "))
        assert rows[result.high][y] / rows[result.low][y] == max(ratios)


def test_a_channel_s_claim_is_decided_to_the_last_digit():
    mechanism = geometric(5, ut.alpha("1/2"))
    assert channel_bound(mechanism, claimed=ut.alpha("1/2")).verdict == "holds"
    assert channel_bound(mechanism, claimed=ut.alpha("500000000000000001/1000000000000000000")).verdict == "refuted"
    assert channel_bound(mechanism).verdict is None
    assert channel_bound(mechanism, pair=(0, 3), distance=3).privacy_loss.ratio == 8
    assert channel_bound(mechanism, pair=(0, 3), distance=3).lower == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pair": (0, 0)}, "must differ"),
        ({"pair": (0, 9)}, "not an input"),
        ({"pair": (0, 1), "distance": 0}, "distance must be from"),
        ({"pair": (0, 1), "points": ut.line(6)}, "without a space"),
    ],
)
def test_an_invalid_pair_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        channel_bound(geometric(5, ut.alpha("1/2")), **options)


def test_a_wrong_clamp_is_caught_and_not_overstated():
    """Claimed 0.1; its law, written out, has ε = 1.49: a count of 1 that is given up on says 1, a count of 0 never."""
    truth = channel_bound(wrong_clamp_channel(20, TENTH), claimed=TENTH)
    assert (truth.verdict, truth.lower) == ("refuted", pytest.approx(1.49, abs=0.01))
    result = sampled_bound(wrong_clamp(20, TENTH), (0, 1), samples=20_000, confidence="0.999999999", claimed=TENTH)
    assert (result.verdict, result.high) == ("refuted", 1)
    assert 0.7 < result.lower <= truth.lower


def test_a_fifth_too_little_noise_is_caught_with_20_000_draws_of_each_secret():
    """Real ε 1.25, claimed 1. The bound is 1.16 with a spread of 0.023, so a miss is seven standard errors away."""
    for _ in range(3):
        result = sampled_bound(laplace("1.25"), (0, 1), samples=20_000, claimed=ut.epsilon(1))
        assert result.verdict == "refuted"
        assert result.lower < 1.25 + 0.02


@pytest.mark.slow
def test_a_twentieth_too_little_noise_is_caught_with_400_000_draws_of_each_secret():
    result = sampled_bound(laplace("1.05"), (0, 1), samples=400_000, claimed=ut.epsilon(1))
    assert result.verdict == "refuted"


def test_the_impossible_outputs_of_a_float_sampler_are_caught():
    generator = np.random.default_rng(3)
    result = sampled_bound(inverse_laplace(1.0, generator), (0, 1), samples=5000, claimed=ut.epsilon(1))
    assert result.lower > 4
    assert "bit" in result.event
    assert result.counts[1] == 0
    assert sampled_bound(function_box(load_box("numpy.random:laplace")), (0.0, 1.0), samples=5000).lower > 4


def test_an_event_once_in_a_thousand_draws_is_caught():
    """25 times in the second half under one secret, never under the other."""
    generator = np.random.default_rng(20)

    def rare(secrets, _):
        return [f"leak{x}" if u < 0.001 else 0 for x, u in zip(secrets, generator.random(len(secrets)), strict=True)]

    results = [sampled_bound(rare, (0, 1), samples=50_000, claimed=TENTH) for _ in range(10)]
    assert sum(result.verdict == "refuted" for result in results) >= 9
    assert {result.event for result in results if result.event} <= {"value = 'leak0'", "value = 'leak1'"}


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=2, max_size=5))
def test_of_named_inputs_every_pair_counts(weights):
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    names = [f"x{k}" for k in range(len(rows))]
    result = channel_bound(channel(rows, names))
    pairs = [channel_bound(channel(rows, names), pair=(a, b)) for a in names for b in names if a != b]
    assert result.neighbours == "any two inputs"
    assert result.lower == max(pair.lower for pair in pairs)


def test_a_plainer_event_is_named_if_the_verdict_is_the_same():
    result = sampled_bound(correct_geometric(9, ut.alpha("1/2")), (8, 9), samples=4000)
    assert "mod" not in result.event


CORRECT_BOXES = {
    "geometric at the end": (correct_geometric(10, ut.epsilon(1)), (0, 1), 1.0),
    "geometric inside": (correct_geometric(10, TENTH), (4, 5), 0.1),
    "laplace on a grid": (laplace("1"), (0, 1), 1.0),
}


@pytest.mark.few
@pytest.mark.parametrize("name", CORRECT_BOXES)
@pytest.mark.parametrize(("confidence", "audits"), [("0.9", 200), ("0.99", 100)])
def test_correct_boxes_raise_no_more_alarms_than_stated(name, confidence, audits):
    """At 90 % one audit in ten may be wrong. More than the 1e-6 quantile of that binomial law fails this test."""
    box, secrets, truth = CORRECT_BOXES[name]
    lowers = [sampled_bound(box, secrets, samples=500, confidence=confidence).lower for _ in range(audits)]
    assert sum(lower > truth for lower in lowers) <= max_false_alarms(confidence, audits)


def test_the_count_of_alarms_would_notice_a_bound_without_a_margin(monkeypatch):
    monkeypatch.setattr(lower_bound, "log_ratio", lambda high, low, *_: math.log((high + 1) / (low + 1)))
    box, secrets, truth = CORRECT_BOXES["geometric at the end"]
    lowers = [sampled_bound(box, secrets, samples=500, confidence="0.9").lower for _ in range(200)]
    assert sum(lower > truth for lower in lowers) > max_false_alarms("0.9", 200)


def test_distance_divides_the_bound():
    near_bound, far_bound = (sampled_bound(function_box(abs), (0, 2), samples=200, distance=d).lower for d in (1, 2))
    assert near_bound == pytest.approx(2 * far_bound)


def test_nothing_found_is_zero_and_no_event():
    result = sampled_bound(function_box(lambda secret: 7), (0, 1), samples=200, claimed=TENTH)
    assert (result.lower, result.event, result.counts, result.verdict) == (0.0, None, None, "not refuted")


@pytest.mark.parametrize(
    "answer",
    [
        lambda s: math.nan if s else None,
        lambda s: ("a", s),
        lambda s: np.array([1.5, s]),
        str,
        Fraction,
        lambda s: 10**400 * s,
    ],
    ids=["nan", "tuple", "array", "text", "fraction", "huge"],
)
def test_a_box_that_returns_its_secret_is_caught_whatever_the_type(answer):
    assert sampled_bound(function_box(answer), (0, 1), samples=400).lower > 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 10}, "samples must be"),
        ({"samples": 10**9}, "samples must be"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": math.nan}, "seconds must be"),
        ({"confidence": "1"}, "confidence must be"),
        ({"confidence": "0.1"}, "confidence must be"),
        ({"distance": -1}, "distance must be"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        sampled_bound(function_box(abs), (0, 1), **options)


def fails(secret):
    raise RuntimeError("row of Ann: 393")


def exits(secret):
    raise SystemExit(0)


def sleeps(secret):
    time.sleep(60)


def catches_exceptions(secret):
    try:
        time.sleep(60)
    except Exception:
        return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fails, "raised RuntimeError"),
        (exits, "raised SystemExit"),
        (sleeps, "more seconds"),
        (catches_exceptions, "more seconds"),
        (lambda s: time.sleep(0.02), "more seconds"),
        (lambda s: {}, "got dict"),
    ],
    ids=["fails", "exits", "sleeps", "catches_exceptions", "slow", "dict"],
)
def test_a_function_that_does_not_answer_gives_one_clear_error(function, message):
    start = time.monotonic()
    with pytest.raises(InputError, match=message) as error:
        sampled_bound(function_box(function), (0, 1), samples=1000, seconds=0.5)
    assert "393" not in str(error.value)
    assert time.monotonic() - start < 5


@pytest.mark.slow
def test_a_slow_function_is_audited_on_the_draws_there_was_time_for():
    result = sampled_bound(function_box(lambda s: time.sleep(0.001) or s), (0, 1), samples=10**6, seconds=4)
    assert 100 <= result.samples < 10**4
    assert result.lower > 2


def test_draws_that_repeat_are_no_evidence():
    def seeded(secrets, _):
        return np.random.default_rng(1).laplace(size=len(secrets)) + np.asarray(secrets)

    with pytest.raises(InputError, match="fixed seed"):
        sampled_bound(seeded, (0, 1), samples=1000)


def test_a_box_that_answers_too_few_is_refused():
    with pytest.raises(InputError, match="a value for each of"):
        sampled_bound(lambda secrets, _: [1], (0, 1), samples=1000)


def test_progress_is_reported_up_to_the_end():
    reports = []
    sampled_bound(
        function_box(abs), (0, 1), samples=1000, progress=lambda made, planned: reports.append((made, planned))
    )
    assert reports == sorted(reports)
    assert reports[-1] == (2000, 2000)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent_module:f", "ModuleNotFoundError"),
        ("math:absent", "AttributeError"),
        ("math:pi", "cannot be called"),
        ("math", "MODULE:FUNCTION"),
    ],
)
def test_what_is_not_a_function_cannot_be_loaded(name, message):
    with pytest.raises(InputError, match=message):
        load_box(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "got nothing"),
        ("'open", "open quote"),
        ("absent-program-393", "must name a program"),
        ("false", "it ended with 1"),
        ("head -n 1", "one line for each line"),
        ("yes", "bytes a secret"),
        ("sleep 30", "more seconds"),
    ],
)
def test_a_program_that_breaks_the_protocol_is_refused(line, message):
    start = time.monotonic()
    with pytest.raises(InputError, match=message):
        sampled_bound(program_box(line), (0, 1), samples=1000, seconds=1)
    assert time.monotonic() - start < 5


def test_a_program_s_lines_are_numbers_tuples_or_text():
    lines = program_box("cat")
    assert lines(["1", "0.5", "1,2.5", "a,b", "", "nan", [1, 2]], 10) == [1, 0.5, (1, 2.5), "a,b", "", "nan", "[1, 2]"]
    assert lines(["a\u2028b", "9" * 5000], 10) == ["a\u2028b", "9" * 5000]
    with pytest.raises(InputError, match="line break"):
        lines(["a\nb"], 10)
    assert sampled_bound(lines, (0, 1), samples=500).lower > 3


@pytest.mark.parametrize("distance", ["1e400", "1e-400", 0, -1])
def test_a_distance_beyond_use_is_refused_before_anything_is_drawn(distance: object) -> None:
    def never(*_: object) -> list[object]:
        raise AssertionError("a draw was made")

    with pytest.raises(InputError, match="distance must be"):
        sampled_bound(never, (0, 1), distance=distance)  # type: ignore[arg-type]


class RaisesWhenCompared(int):
    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparisons")

    __hash__ = int.__hash__


def test_values_that_raise_when_compared_are_converted_and_endless_ones_refused() -> None:
    assert to_comparable(RaisesWhenCompared(3)) == 3
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested"):
        to_comparable(endless)
