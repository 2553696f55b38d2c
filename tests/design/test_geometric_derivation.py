"""Derivability from the geometric mechanism (GRS12 §5.1, App. B)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, levels, rational_levels
from utmost.channel import Channel, channel, is_private
from utmost.consumer import Consumer, losses, priors
from utmost.design import by_program, derivation
from utmost.errors import InputError
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric, inverse_geometric
from utmost.spaces import line

FIGURE_5A = [["1/3", "1/3", "1/3", 0], ["2/3", "1/6", "1/6", 0], ["1/3", "1/3", "1/3", 0], ["1/6", "1/6", "2/3", 0]]
FIGURE_5B = [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1]]


@given(st.integers(1, 5).flatmap(lambda size: channels(inputs=size + 1)), levels())
@settings(max_examples=40)
def test_every_remap_of_the_geometric_mechanism_is_found_again(remap: Channel, level: Level) -> None:
    mechanism = geometric(len(remap.inputs) - 1, level).channel().then(remap)
    verdict = derivation(mechanism, level)
    assert verdict.derivable
    assert verdict.remap == remap


@given(channels(inputs=4, outputs=3), rational_levels())
@settings(max_examples=60)
def test_the_answer_is_whether_the_quotient_is_stochastic(mechanism: Channel, level: Level) -> None:
    quotient = inverse_geometric(3, level) @ mechanism.rows
    verdict = derivation(mechanism, level)
    assert all(row.sum() == 1 for row in quotient)
    assert verdict.derivable == bool(np.all(quotient >= 0))
    if not verdict.derivable:
        assert verdict.value == quotient[verdict.answer, verdict.reading] == quotient.min() < 0
    else:
        assert is_private(mechanism, line(4), level)


def test_figure_5_is_private_and_optimal_for_an_illegal_consumer_but_not_derivable() -> None:
    level, mechanism = alpha("1/2"), channel(FIGURE_5A)
    reader = Consumer(priors.uniform(4), losses.matrix(FIGURE_5B))
    assert is_private(mechanism, line(4), level)
    assert not reader.legality().legal
    assert by_program(line(4), level, reader).loss == reader.face_value_loss(mechanism)
    verdict = derivation(mechanism, level)
    assert (verdict.derivable, verdict.answer, verdict.reading, verdict.value) == (False, 1, 1, Fraction(-1, 2))
    assert reader.expected_loss(geometric(3, level)) > reader.face_value_loss(mechanism)


def test_levels_zero_and_one_are_refused() -> None:
    for end in (0, 1):
        with pytest.raises(InputError):
            derivation(channel([["1", 0], [0, "1"]]), alpha(end))


def test_inputs_in_another_order_are_derived_all_the_same() -> None:
    mechanism = geometric(3, alpha("1/2")).channel()
    assert derivation(mechanism.restrict([2, 0, 3, 1]), alpha("1/2")).derivable
