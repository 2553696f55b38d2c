"""What audits find: the ε of channels, exactly; wrong boxes, surely; right boxes, at the stated rate never."""

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
from audit.boxes import laplace, right, textbook, wrong_clamp, wrong_clamp_channel
from utmost.audit import channel_bound, function_box, load_box, lower_bound, program_box, sampled_bound
from utmost.audit.features import to_comparable
from utmost.channel import channel
from utmost.errors import InputError
from utmost.mechanisms import geometric

TENTH = ut.epsilon("0.1")
ONCE_IN_A_MILLION = 1e-6


def allowed(confidence: str, audits: int) -> int:
    """So many false alarms or more have probability below 1e-6 if each audit has no more than its stated one."""
    return int(binom.isf(ONCE_IN_A_MILLION, audits, float(1 - Fraction(confidence))))


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=2))
def test_no_set_of_outputs_of_a_channel_says_more_than_its_witness(weights):
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    found = channel_bound(channel(rows))
    events = [[y for y in range(3) if mask >> y & 1] for mask in range(1, 8)]
    ratios = [sum(a[y] for y in e) / sum(b[y] for y in e) for e in events for a, b in (rows, rows[::-1])]
    assert found.leak.ratio == max(ratios)
    assert found.lower == pytest.approx(math.log(max(ratios)), abs=1e-12)
    if found.event:
        y = int(found.event.removeprefix("output "))
        assert rows[found.high][y] / rows[found.low][y] == max(ratios)


def test_a_channel_s_claim_is_decided_to_the_last_digit():
    mechanism = geometric(5, ut.alpha("1/2"))
    assert channel_bound(mechanism, claimed=ut.alpha("1/2")).verdict == "holds"
    assert channel_bound(mechanism, claimed=ut.alpha("500000000000000001/1000000000000000000")).verdict == "refuted"
    assert channel_bound(mechanism).verdict is None
    assert channel_bound(mechanism, pair=(0, 3), distance=3).leak.ratio == 8
    assert channel_bound(mechanism, pair=(0, 3), distance=3).lower == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pair": (0, 0)}, "must differ"),
        ({"pair": (0, 9)}, "not an input"),
        ({"pair": (0, 1), "distance": 0}, "distance must be from"),
        ({"pair": (0, 1), "points": ut.line(6)}, "without a space"),
    ],
)
def test_a_pair_that_is_none_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        channel_bound(geometric(5, ut.alpha("1/2")), **options)


def test_a_wrong_clamp_is_caught_and_not_overstated():
    """Claimed 0.1; its law, written out, has ε = 1.49: a count of 1 that is given up on says 1, a count of 0 never."""
    truth = channel_bound(wrong_clamp_channel(20, TENTH), claimed=TENTH)
    assert (truth.verdict, truth.lower) == ("refuted", pytest.approx(1.49, abs=0.01))
    found = sampled_bound(wrong_clamp(20, TENTH), (0, 1), samples=20_000, confidence="0.999999999", claimed=TENTH)
    assert (found.verdict, found.high) == ("refuted", 1)
    assert 0.7 < found.lower <= truth.lower


def test_a_fifth_too_little_noise_is_caught_with_20_000_draws_of_each_secret():
    """Real ε 1.25, claimed 1. The bound is 1.16 with a spread of 0.023, so a miss is seven standard errors away."""
    for _ in range(3):
        found = sampled_bound(laplace("1.25"), (0, 1), samples=20_000, claimed=ut.epsilon(1))
        assert found.verdict == "refuted"
        assert found.lower < 1.25 + 0.02


def test_a_twentieth_too_little_noise_is_caught_with_400_000_draws_of_each_secret():
    found = sampled_bound(laplace("1.05"), (0, 1), samples=400_000, claimed=ut.epsilon(1))
    assert found.verdict == "refuted"


def test_the_impossible_outputs_of_a_float_sampler_are_caught():
    generator = np.random.default_rng(3)
    found = sampled_bound(textbook(1.0, generator), (0, 1), samples=5000, claimed=ut.epsilon(1))
    assert found.lower > 4
    assert "bit" in found.event
    assert found.counts[1] == 0
    assert sampled_bound(function_box(load_box("numpy.random:laplace")), (0.0, 1.0), samples=5000).lower > 4


def test_a_leak_once_in_a_thousand_draws_is_caught():
    """25 times in the second half under one secret, never under the other."""
    generator = np.random.default_rng(20)

    def rare(secrets, _):
        return [f"leak{x}" if u < 0.001 else 0 for x, u in zip(secrets, generator.random(len(secrets)), strict=True)]

    found = [sampled_bound(rare, (0, 1), samples=50_000, claimed=TENTH) for _ in range(10)]
    assert sum(f.verdict == "refuted" for f in found) >= 9
    assert {f.event for f in found if f.event} <= {"value = 'leak0'", "value = 'leak1'"}


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=2, max_size=5))
def test_of_named_inputs_every_pair_counts(weights):
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    names = [f"x{k}" for k in range(len(rows))]
    found = channel_bound(channel(rows, names))
    pairs = [channel_bound(channel(rows, names), pair=(a, b)) for a in names for b in names if a != b]
    assert found.neighbours == "any two inputs"
    assert found.lower == max(pair.lower for pair in pairs)


def test_a_plainer_event_is_named_if_the_verdict_is_the_same():
    found = sampled_bound(right(9, ut.alpha("1/2")), (8, 9), samples=4000)
    assert "mod" not in found.event


RIGHT = {
    "geometric at the end": (right(10, ut.epsilon(1)), (0, 1), 1.0),
    "geometric inside": (right(10, TENTH), (4, 5), 0.1),
    "laplace on a grid": (laplace("1"), (0, 1), 1.0),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(("confidence", "audits"), [("0.9", 200), ("0.99", 100)])
def test_right_boxes_raise_no_more_alarms_than_stated(name, confidence, audits):
    """At 90 % one audit in ten may be wrong. More than the 1e-6 quantile of that binomial law fails this test."""
    box, secrets, truth = RIGHT[name]
    lowers = [sampled_bound(box, secrets, samples=500, confidence=confidence).lower for _ in range(audits)]
    assert sum(lower > truth for lower in lowers) <= allowed(confidence, audits)


def test_the_count_of_alarms_would_notice_a_bound_without_a_margin(monkeypatch):
    monkeypatch.setattr(lower_bound, "log_ratio", lambda high, low, draws, risk: math.log((high + 1) / (low + 1)))
    box, secrets, truth = RIGHT["geometric at the end"]
    lowers = [sampled_bound(box, secrets, samples=500, confidence="0.9").lower for _ in range(200)]
    assert sum(lower > truth for lower in lowers) > allowed("0.9", 200)


def test_distance_divides_the_bound():
    near, far = (sampled_bound(function_box(abs), (0, 2), samples=200, distance=d).lower for d in (1, 2))
    assert near == pytest.approx(2 * far)


def test_nothing_found_is_zero_and_no_event():
    found = sampled_bound(function_box(lambda secret: 7), (0, 1), samples=200, claimed=TENTH)
    assert (found.lower, found.event, found.counts, found.verdict) == (0.0, None, None, "not refuted")


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
def test_whatever_is_returned_a_box_that_tells_is_caught(answer):
    assert sampled_bound(function_box(answer), (0, 1), samples=400).lower > 3


@pytest.mark.parametrize(
    ("options", "says"),
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
def test_a_plan_that_cannot_be_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        sampled_bound(function_box(abs), (0, 1), **options)


def fails(secret):
    raise RuntimeError("row of Ann: 393")


def leaves(secret):
    raise SystemExit(0)


def sleeps(secret):
    time.sleep(60)


def held(secret):
    try:
        time.sleep(60)
    except Exception:
        return 0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (fails, "raised RuntimeError"),
        (leaves, "raised SystemExit"),
        (sleeps, "more seconds"),
        (held, "more seconds"),
        (lambda s: time.sleep(0.02), "more seconds"),
        (lambda s: {}, "got dict"),
    ],
    ids=["fails", "leaves", "sleeps", "held", "slow", "dict"],
)
def test_a_function_that_does_not_answer_gives_one_clear_error(function, says):
    start = time.monotonic()
    with pytest.raises(InputError, match=says) as told:
        sampled_bound(function_box(function), (0, 1), samples=1000, seconds=0.5)
    assert "393" not in str(told.value)
    assert time.monotonic() - start < 5


def test_a_slow_function_is_audited_on_the_draws_there_was_time_for():
    found = sampled_bound(function_box(lambda s: time.sleep(0.001) or s), (0, 1), samples=10**6, seconds=2)
    assert 100 <= found.samples < 10**4
    assert found.lower > 2


def test_draws_that_repeat_are_no_evidence():
    def seeded(secrets, _):
        return np.random.default_rng(1).laplace(size=len(secrets)) + np.asarray(secrets)

    with pytest.raises(InputError, match="fixed seed"):
        sampled_bound(seeded, (0, 1), samples=1000)


def test_a_box_that_answers_too_few_is_refused():
    with pytest.raises(InputError, match="a value for each of"):
        sampled_bound(lambda secrets, _: [1], (0, 1), samples=1000)


def test_progress_is_told_up_to_the_end():
    told = []
    sampled_bound(function_box(abs), (0, 1), samples=1000, progress=lambda done, meant: told.append((done, meant)))
    assert told == sorted(told)
    assert told[-1] == (2000, 2000)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("absent_module:f", "ModuleNotFoundError"),
        ("math:absent", "AttributeError"),
        ("math:pi", "cannot be called"),
        ("math", "MODULE:FUNCTION"),
    ],
)
def test_a_function_that_is_none_cannot_be_loaded(name, says):
    with pytest.raises(InputError, match=says):
        load_box(name)


@pytest.mark.parametrize(
    ("line", "says"),
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
def test_a_program_that_does_not_do_as_it_must_is_refused(line, says):
    start = time.monotonic()
    with pytest.raises(InputError, match=says):
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


class Spiteful(int):
    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparisons")

    __hash__ = int.__hash__


def test_values_that_misbehave_when_compared_or_never_end_are_tamed() -> None:
    assert to_comparable(Spiteful(3)) == 3
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested"):
        to_comparable(endless)
