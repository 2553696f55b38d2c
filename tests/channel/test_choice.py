"""Visible choice (FMPD23 §IV-C): told beside, not mixed in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, legal_consumers
from utmost.channel import Channel, channel, choice, is_private, merge
from utmost.consumer import Consumer
from utmost.errors import ChannelError, InputError
from utmost.exact import alpha
from utmost.mechanisms import geometric, response
from utmost.spaces import line


@given(legal_consumers(), st.sampled_from(["0", "1/3", "1/2", "1"]), st.data())
@settings(max_examples=50)
def test_the_loss_of_a_choice_is_the_mean_of_the_losses(user: Consumer, weight: str, data: st.DataObject) -> None:
    first, second = (data.draw(channels(inputs=user.prior.size)) for _ in range(2))
    share = Fraction(weight)
    mean = share * user.expected_loss(first) + (1 - share) * user.expected_loss(second)
    assert user.expected_loss(choice(first, second, weight)) == mean


def test_a_choice_between_private_channels_is_private_and_keeps_their_columns_apart() -> None:
    half = alpha("1/2")
    visible = choice(geometric(2, half).channel(), response(3, half).channel(), "1/3")
    assert is_private(visible, line(3), half)
    assert visible.outputs == ("1:0", "1:1", "1:2", "2:0", "2:1", "2:2")
    assert np.all(visible.rows.sum(axis=1) == 1)


@given(channels(inputs=3), st.sampled_from(["1/3", "1/2"]))
@settings(max_examples=25)
def test_a_choice_between_a_channel_and_itself_says_no_more_than_it(source: Channel, weight: str) -> None:
    visible, single = (merge(posterior).rows for posterior in (choice(source, source, weight), source))
    assert {tuple(column) for column in visible.T} == {tuple(column) for column in single.T}


def test_floats_stay_floats() -> None:
    visible = choice(channel([[0.5, 0.5]]), channel([[1.0]]), "1/4")
    assert visible.rows.tolist() == [[0.125, 0.125, 0.75]]


def test_what_cannot_be_chosen_between_is_refused() -> None:
    source, two = channel([[1]]), channel([[1], [1]])
    with pytest.raises(ChannelError, match="same inputs"):
        choice(source, two, "1/2")
    with pytest.raises(InputError, match="weight must be in"):
        choice(source, source, 2)
