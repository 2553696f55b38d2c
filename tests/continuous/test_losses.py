"""Losses over an interval: legality and Lipschitz constants are decided, with witnesses that can be checked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.continuous.interval import Interval, interval
from utmost.continuous.losses import (
    ContinuousLoss,
    Linear,
    Power,
    absolute,
    asymmetric,
    huber,
    parse_continuous_loss,
    power,
    squared,
    step,
    user_loss,
)
from utmost.errors import InputError, UndecidedError
from utmost.exact import sign

UNIT = interval(0, 1)


def small_fractions(low: int, high: int) -> st.SearchStrategy[Fraction]:
    return st.integers(low * 12, high * 12).map(lambda n: Fraction(n, 12))


def losses() -> st.SearchStrategy[ContinuousLoss]:
    positive = small_fractions(0, 3).filter(bool)
    return st.one_of(
        st.sampled_from([absolute, squared]),
        st.builds(asymmetric, positive, small_fractions(0, 3)),
        st.sampled_from(["1/3", "1/2", "1", "3/2", "5/2", "4"]).map(power),
        positive.map(huber),
        small_fractions(0, 3).map(step),
    )


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low = draw(small_fractions(-3, 3))
    return Interval(low, low + draw(small_fractions(1, 3)))


@given(losses(), intervals(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_legal_loss_depends_on_the_distance_alone_and_does_not_fall(
    loss: ContinuousLoss, inputs: Interval, data: st.DataObject
) -> None:
    smaller_gap, larger_gap = sorted(data.draw(st.tuples(small_fractions(0, 3), small_fractions(0, 3))))
    assert loss.of_gap(smaller_gap) <= loss.of_gap(larger_gap)
    assert loss.of_gap(-smaller_gap) <= loss.of_gap(-larger_gap)
    assert loss.of_gap(Fraction(0)) == 0
    witness = loss.legality_violation(inputs)
    assert (witness is None) == loss.legal
    if witness is None:
        assert loss.of_gap(smaller_gap) == loss.of_gap(-smaller_gap)
    else:
        assert {witness.nearer, witness.farther, witness.truth} <= {
            inputs.low,
            inputs.high,
            (inputs.low + inputs.high) / 2,
        }
        assert abs(witness.nearer - witness.truth) <= abs(witness.farther - witness.truth)
        assert loss.exact(witness.nearer, witness.truth) > loss.exact(witness.farther, witness.truth)


@given(losses(), intervals(), small_fractions(0, 6), st.data())
@settings(max_examples=200, deadline=None)
def test_lipschitz_is_decided_with_a_witness(
    loss: ContinuousLoss, inputs: Interval, kappa: Fraction, data: st.DataObject
) -> None:
    witness, constant = loss.lipschitz_violation(inputs, kappa), loss.lipschitz(inputs)
    assert (witness is None) == (constant is not None and constant <= kappa)
    if witness is not None:
        assert all(x in inputs for x in (witness.reading, witness.x, witness.other))
        rise = loss.exact(witness.reading, witness.x) - loss.exact(witness.reading, witness.other)
        assert sign(rise * rise - (kappa * (witness.x - witness.other)) ** 2) > 0
    if constant is not None:
        w, x, y = (inputs.low + inputs.length * data.draw(st.fractions(0, 1, max_denominator=24)) for _ in range(3))
        rise = loss.exact(w, x) - loss.exact(w, y)
        assert sign(constant * abs(x - y) - rise) >= 0
        assert sign(constant * abs(x - y) + rise) >= 0


@given(losses(), small_fractions(-3, 3), small_fractions(-3, 3), small_fractions(-3, 3))
@settings(max_examples=100, deadline=None)
def test_a_convex_loss_lies_below_its_chords(loss: ContinuousLoss, w: Fraction, v: Fraction, x: Fraction) -> None:
    chord = loss.exact(w, x) + loss.exact(v, x) - 2 * loss.exact((w + v) / 2, x)
    assert not loss.convex or sign(chord) >= 0


@pytest.mark.parametrize("loss", [power("1/2"), step("1/4")], ids=lambda loss: loss.name)
def test_what_is_called_not_convex_is_above_a_chord(loss: ContinuousLoss) -> None:
    gaps = [Fraction(k, 8) for k in range(17)]
    assert not loss.convex
    assert any(sign(loss.of_gap(a) + loss.of_gap(b) - 2 * loss.of_gap((a + b) / 2)) < 0 for a in gaps for b in gaps)


def test_the_constants_are_the_textbook_ones() -> None:
    long = interval(-1, 3)
    assert absolute.lipschitz(long) == 1
    assert squared.lipschitz(long) == 8
    assert squared.lipschitz(UNIT) == 2  # FMM21's own example
    assert str(power("3/2").lipschitz(interval(0, 2))) == "3/2*2^(1/2)"
    assert power("1/2").lipschitz(UNIT) is None
    assert huber("1/2").lipschitz(long) == Fraction(1, 2)
    assert huber(9).lipschitz(long) == 4
    assert asymmetric(2, 5).lipschitz(UNIT) == 5
    assert step("1/2").lipschitz(UNIT) is None
    assert step(1).lipschitz(UNIT) == 0


@given(losses(), st.lists(small_fractions(-3, 3), min_size=1, max_size=6), small_fractions(-3, 3))
@settings(max_examples=60, deadline=None)
def test_doubles_agree_with_the_exact_loss(loss: ContinuousLoss, readings: list[Fraction], truth: Fraction) -> None:
    halves = [w + Fraction(1, 64) for w in readings]  # away from jumps
    values = loss.array([float(w) for w in halves], float(truth))
    assert values == pytest.approx([float(loss.exact(w, truth)) for w in halves], rel=1e-12, abs=1e-15)


def test_command_line_texts_name_the_losses() -> None:
    for text in ("absolute", "squared", "huber:1/10", "power:3/2", "asymmetric:2,1", "step:1/10"):
        assert parse_continuous_loss(text).name == text
        assert parse_continuous_loss(f" {text} ") == parse_continuous_loss(text)
    assert parse_continuous_loss("huber:0.1") == huber("1/10")
    assert isinstance(parse_continuous_loss("asymmetric:1,1"), Linear)
    assert isinstance(parse_continuous_loss("power:2"), Power)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "binary",
        "absolute:1",
        "huber",
        "huber:0",
        "huber:-1",
        "power:0",
        "power:-1",
        "power:99",
        "power:nan",
        "step:-1",
        "asymmetric:1",
        "asymmetric:0,0",
        "asymmetric:-1,2",
        "asymmetric:1,2,3",
        "step:",
        "huber:1,2",
        "power:sqrt(2)",
    ],
)
def test_what_is_no_loss_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_continuous_loss(text)
    assert "\n" not in str(caught.value)


def test_a_negative_kappa_is_refused() -> None:
    with pytest.raises(InputError, match="kappa must be >= 0"):
        absolute.lipschitz_violation(UNIT, -1)


def clipped(gap: Fraction) -> Fraction:
    return min(abs(gap), Fraction(1, 4))


def test_a_declared_loss_is_believed_where_it_was_not_refuted() -> None:
    loss = user_loss(clipped, UNIT, kappa=1, name="clipped")
    assert loss.legal
    assert loss.legality_violation(UNIT) is None
    assert loss.lipschitz(UNIT) == 1
    assert loss.lipschitz_violation(UNIT, 1) is None
    witness = loss.lipschitz_violation(UNIT, "1/2")
    assert witness is not None
    rise = loss.exact(witness.reading, witness.other) - loss.exact(witness.reading, witness.x)
    assert abs(rise) > Fraction(1, 2) * abs(witness.x - witness.other)
    assert loss.array(np.array([[0.5, 0.125]]), 0.0).tolist() == [[0.25, 0.125]]
    tilted = user_loss(lambda gap: gap if gap > 0 else -2 * gap, UNIT, kappa=2, legal=False, convex=True)
    violation = tilted.legality_violation(UNIT)
    assert violation is not None
    assert tilted.exact(violation.nearer, violation.truth) > tilted.exact(violation.farther, violation.truth)
    with pytest.raises(UndecidedError):
        user_loss(clipped, UNIT).lipschitz_violation(UNIT, 7)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (lambda gap: -abs(gap), {}, ">= 0"),
        (lambda gap: 1 - abs(gap) / 2, {}, "not fall"),
        (lambda gap: gap if gap > 0 else -2 * gap, {}, "to be legal"),
        (lambda gap: 2 * abs(gap), {"kappa": 1}, "Lipschitz"),
        (clipped, {"convex": True}, "convex"),
        (lambda gap: "half", {}, "number such as 1/2"),
    ],
)
def test_a_declaration_that_fails_is_refused(
    function: Callable[[Fraction], object], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        user_loss(function, UNIT, **options)  # type: ignore[arg-type]
