"""Hypers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, weights
from utmost.channel import channel, deterministic, identity
from utmost.consumer import priors
from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.mechanisms import geometric
from utmost.qif import hyper


@st.composite
def scenarios(draw, positive=False):
    source = draw(channels())
    return draw(weights(len(source.inputs), positive=positive)), source


@settings(max_examples=60)
@given(scenarios())
def test_the_mean_of_the_inners_is_the_prior(scenario):
    prior, source = scenario
    result = hyper(prior, source)
    assert result.prior() == tuple(prior)
    assert sum(result.outers) == 1
    assert all(outer > 0 for outer in result.outers)
    assert all(sum(inner) == 1 for inner in result.inners.T)


@settings(max_examples=60)
@given(scenarios())
def test_inners_are_distinct_and_come_by_bayes_rule(scenario):
    prior, source = scenario
    result = hyper(prior, source)
    inners = [tuple(inner) for inner in result.inners.T]
    assert len(set(inners)) == len(inners)
    expected: dict[tuple[Fraction, ...], Fraction] = {}
    for column in source.rows.T:
        joint = [p * c for p, c in zip(prior, column, strict=True)]
        if sum(joint):
            posterior = tuple(j / sum(joint) for j in joint)
            expected[posterior] = expected.get(posterior, Fraction(0)) + sum(joint)
    assert dict(zip(inners, result.outers, strict=True)) == expected


@settings(max_examples=60)
@given(scenarios(positive=True))
def test_the_abstract_channel_has_the_same_hyper_for_every_prior(scenario):
    prior, source = scenario
    abstract = hyper(prior, source).channel()
    assert len(abstract.outputs) <= len(source.outputs)
    for other in (prior, priors.uniform(len(prior)), [1, *[0] * (len(prior) - 1)]):
        ours, theirs = hyper(other, abstract), hyper(other, source)
        assert (ours.outers, ours.inners.tolist()) == (theirs.outers, theirs.inners.tolist())


@settings(max_examples=60)
@given(scenarios(), st.randoms(use_true_random=False), st.fractions(0, 1))
def test_order_names_and_splitting_of_outputs_do_not_matter(scenario, random, share):
    prior, source = scenario
    order = list(range(len(source.outputs)))
    random.shuffle(order)
    columns = [source.rows[:, y] for y in order]
    split = [columns[0] * share, *columns[1:], columns[0] * (1 - share), columns[0] * 0]
    names = [f"o{k}" for k in range(len(split))]
    assert hyper(prior, channel(np.stack(split, axis=1), source.inputs, names)) == hyper(prior, source)


def test_the_identity_gives_points_and_a_constant_channel_the_prior():
    prior = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    everything = hyper(prior, identity("abc"))
    assert everything.outers == tuple(prior)
    assert everything.inners.tolist() == np.eye(3, dtype=int).tolist()
    nothing = hyper(prior, deterministic(["same"] * 3, "abc", ["same"]))
    assert (nothing.outers, nothing.inners.T.tolist()) == ((1,), [prior])


def test_a_hyper_of_irrational_entries_is_exact():
    source = geometric(3, epsilon("0.1")).channel()
    result = hyper(priors.uniform(4), source)
    assert result.prior() == (Fraction(1, 4),) * 4
    assert len(result.outers) == 4
    assert result.channel() == source


def test_a_channel_is_not_recovered_where_the_prior_is_zero():
    with pytest.raises(InputError, match="prior must be > 0 on every input"):
        hyper([1, 0], identity("ab")).channel()


def test_floats_are_refused_with_what_to_do():
    with pytest.raises(InputError, match="channel must have exact entries, got floats: write them as fractions"):
        hyper(priors.uniform(2), channel([[0.5, 0.5], [0.25, 0.75]]))
    with pytest.raises(InputError, match="prior must have 2 weights"):
        hyper(priors.uniform(3), identity("ab"))


@settings(max_examples=50)
@given(scenarios(positive=True))
def test_qif_finds_the_same_hyper(scenario):
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    prior, source = scenario
    outers, inners = qif.channel.hyper(source.rows.copy(), np.array(prior, dtype=object))
    theirs = {tuple(inner): outer for outer, inner in zip(outers.ravel(), inners.T, strict=True)}
    ours = hyper(prior, source)
    assert theirs == dict(zip(map(tuple, ours.inners.T), ours.outers, strict=True))
