"""Consumers: posterior, remap, expected loss, induced mechanism, directness."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, legal_consumers, levels, weights
from utmost.channel import Channel, channel, deterministic, identity
from utmost.consumer import Consumer, losses, priors
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric


def brute_force(reader: Consumer, source: Channel) -> Fraction:
    """The least expected loss over every deterministic remap, one by one."""
    size, width = len(source.inputs), len(source.outputs)
    costs = reader.costs()
    return min(
        sum(costs[x, remap[y]] * source.rows[x, y] for x in range(size) for y in range(width))
        for remap in product(range(size), repeat=width)
    )


@given(legal_consumers(2, 3), st.data())
@settings(max_examples=60)
def test_the_remap_attains_the_least_loss_over_all_remaps(reader: Consumer, data: st.DataObject) -> None:
    source = data.draw(channels(inputs=reader.prior.size))
    if len(source.outputs) > 4:
        return
    assert reader.expected_loss(source) == brute_force(reader, source)
    assert reader.face_value_loss(reader.induced(source)) == reader.expected_loss(source)


@given(legal_consumers(2, 4), st.data())
@settings(max_examples=60)
def test_the_posterior_is_bayes_rule_and_the_remap_its_smallest_minimiser(
    reader: Consumer, data: st.DataObject
) -> None:
    source = data.draw(channels(inputs=reader.prior.size))
    prior, remap = reader.prior.exact(), reader.remap(source)
    table = reader.loss.matrix(reader.prior.size)
    for y, w in enumerate(remap):
        joint = [p * source.rows[x, y] for x, p in enumerate(prior)]
        if not sum(joint):
            assert w == 0
            with pytest.raises(InputError, match="probability 0"):
                reader.posterior(source, y)
            continue
        posterior = reader.posterior(source, y)
        assert list(posterior) == [j / sum(joint) for j in joint]
        risks = [sum(posterior * table[:, v]) for v in range(reader.prior.size)]
        assert w == risks.index(min(risks))


@given(legal_consumers(2, 4), levels(), st.data())
@settings(max_examples=40)
def test_a_randomised_remap_is_never_better(reader: Consumer, level: Level, data: st.DataObject) -> None:
    size = reader.prior.size
    mechanism = geometric(size - 1, level).channel()
    random_remap = data.draw(channels(inputs=size, outputs=size))
    assert reader.face_value_loss(mechanism.then(random_remap)) >= reader.expected_loss(mechanism)


@given(legal_consumers(2, 4), levels())
@settings(max_examples=40)
def test_the_induced_mechanism_is_direct_and_has_the_same_loss(reader: Consumer, level: Level) -> None:
    mechanism = geometric(reader.prior.size - 1, level)
    induced = reader.induced(mechanism)
    assert reader.is_direct(induced)
    assert reader.expected_loss(induced) == reader.expected_loss(mechanism)


def test_example_2_3_post_processing_decreases_the_loss() -> None:
    """Prior on both ends, binary loss, n = 5, α = 1/3: α^3/(1+α) after the remap; truncated face value is α/(1+α)."""
    level = alpha("1/3")
    reader = Consumer(priors.explicit(["1/2", 0, 0, 0, 0, "1/2"]), losses.binary)
    mechanism = geometric(5, level)
    assert reader.expected_loss(mechanism) == Fraction(1, 27) / Fraction(4, 3)
    assert reader.face_value_loss(mechanism) == Fraction(1, 3) / Fraction(4, 3)
    assert not reader.is_direct(mechanism.channel())
    assert reader.remap(mechanism) == [0, 0, 0, 5, 5, 5]


def test_exact_in_exact_out_and_float_in_float_out() -> None:
    exact = Consumer(priors.uniform(3), losses.absolute)
    floats = Consumer(priors.explicit([0.25, 0.5, 0.25]), losses.absolute)
    mechanism = geometric(2, alpha("1/2"))
    assert isinstance(exact.expected_loss(mechanism), Fraction)
    assert isinstance(floats.expected_loss(mechanism), float)
    assert floats.expected_loss(mechanism) == pytest.approx(
        float(Consumer(priors.explicit(["1/4", "1/2", "1/4"]), losses.absolute).expected_loss(mechanism))
    )
    assert not isinstance(exact.expected_loss(geometric(2, epsilon("0.1"))), float)
    table = Consumer(priors.uniform(2), losses.matrix([[0.0, 1.0], [2.0, 0.0]]))
    assert isinstance(table.expected_loss(geometric(1, alpha("1/2"))), float)


@given(st.integers(2, 5).flatmap(lambda size: weights(size)))
def test_ends_of_the_level_tell_all_or_nothing(prior: list[Fraction]) -> None:
    reader = Consumer(priors.explicit(prior), losses.squared)
    size = len(prior)
    assert reader.expected_loss(geometric(size - 1, alpha(0))) == 0
    prior_loss = min(sum(p * (x - w) ** 2 for x, p in enumerate(prior)) for w in range(size))
    assert reader.expected_loss(geometric(size - 1, alpha(1))) == prior_loss


def test_shapes_must_fit() -> None:
    reader = Consumer(priors.uniform(3), losses.absolute)
    with pytest.raises(InputError, match="3 secrets"):
        reader.remap(geometric(5, alpha("1/2")))
    with pytest.raises(InputError, match="face value"):
        reader.face_value_loss(channel([["1"]] * 3, outputs=["x"]))
    merge_all = deterministic([0, 0, 0], range(3), [0])
    assert reader.remap(identity(range(3)).then(merge_all)) == [1]


def test_a_tie_goes_to_the_smallest_reading() -> None:
    """Two equally likely ends and absolute loss: every reading between is as good."""
    reader = Consumer(priors.explicit(["1/2", 0, "1/2"]), losses.absolute)
    assert reader.remap(channel([["1"], ["1"], ["1"]])) == [0]
    assert np.all(reader.scores(channel([["1"], ["1"], ["1"]])) == Fraction(1))
