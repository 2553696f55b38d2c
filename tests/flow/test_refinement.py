"""Refinement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, fractions, levels, weights
from utmost.channel import Channel, channel, deterministic, identity
from utmost.consumer import priors
from utmost.errors import InputError, UndecidedError
from utmost.exact import alpha, epsilon, exponential, power
from utmost.mechanisms import geometric, response
from utmost.qif import (
    bayes,
    capacity,
    guessing,
    leakage,
    posterior_uncertainty,
    posterior_vulnerability,
    refinement,
)


def proved(a: Channel, b: Channel) -> bool:
    """Whether B refines A, with the proof looked at: R is a channel and A·R is B, or the witness does prefer B."""
    found = refinement(a, b)
    if found.refines:
        assert found.witness is None
        Channel(found.post.inputs, found.post.outputs, found.post.rows)
        assert a.then(found.post) == b.restrict(a.inputs)
        return True
    witness = found.witness
    assert found.post is None
    assert witness.holds(a, b)
    assert witness.with_b < witness.with_a
    assert witness.prior == (Fraction(1, len(a.inputs)),) * len(a.inputs)
    assert min(witness.loss.flat) == 0
    assert max(witness.loss.flat) == 1
    assert witness.with_a == posterior_uncertainty(witness.prior, witness.loss, a)
    return False


@st.composite
def pairs(draw, largest=5):
    """A channel and a post-processing of it; A often has dependent columns."""
    size, inner, width = (draw(st.integers(1, n)) for n in (4, largest, 4))
    return draw(channels(size, inner)), draw(channels(inner, width))


@settings(max_examples=60)
@given(pairs(7))
def test_what_is_processed_further_refines_and_r_is_found(pair):
    a, post = pair
    assert proved(a, a.then(post))


@settings(max_examples=60)
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(channels(n), channels(n))))
def test_one_of_two_proofs_always_exists(pair):
    a, b = pair
    proved(a, b)
    proved(b, a)


@settings(max_examples=60)
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(channels(n), channels(n))))
def test_qif_decides_the_same(pair):
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    a, b = pair
    assert qif.refinement.refined_by(a.rows.copy(), b.rows.copy()) == refinement(a, b).refines


@settings(max_examples=60)
@given(st.integers(2, 4).flatmap(lambda n: st.tuples(channels(n), channels(n))))
def test_qif_finds_the_witness_s_losses(pair):
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    a, b = pair
    witness = refinement(a, b).witness
    if witness is not None:
        loss, law = witness.loss.T.copy(), np.array(witness.prior, dtype=object)
        assert qif.measure.l_risk.posterior(loss, law, a.rows.copy()) == witness.with_a
        assert qif.measure.l_risk.posterior(loss, law, b.rows.copy()) == witness.with_b


@st.composite
def consumers(draw):
    a, post = draw(pairs())
    actions = draw(st.integers(1, 4))
    entries = st.lists(fractions(-5, 5), min_size=actions, max_size=actions)
    size = len(a.inputs)
    return draw(weights(size)), draw(st.lists(entries, min_size=size, max_size=size)), a, a.then(post)


@settings(max_examples=60)
@given(consumers())
def test_nobody_does_better_with_a_refinement(scenario):
    """The data-processing inequality: FMPD23 eq. 6, from right to left."""
    prior, table, a, b = scenario
    assert posterior_vulnerability(prior, table, b) <= posterior_vulnerability(prior, table, a)
    assert posterior_uncertainty(prior, table, b) >= posterior_uncertainty(prior, table, a)


@settings(max_examples=60)
@given(channels())
def test_refinement_is_reflexive_and_lies_between_telling_all_and_telling_nothing(source):
    everything, nothing = identity(source.inputs), deterministic([0] * len(source.inputs), source.inputs, [0])
    assert proved(source, source)
    assert proved(everything, source)
    assert proved(source, nothing)


@settings(max_examples=60)
@given(st.integers(1, 3).flatmap(lambda n: st.tuples(*[channels(n, 3)] * 3)))
def test_refinement_is_transitive(triple):
    a, b, c = triple
    if proved(a, b) and proved(b, c):
        assert proved(a, c)
    first, second = a.then(channel(b.rows[:1].repeat(3, axis=0))), a
    assert proved(second, first)


@settings(max_examples=60)
@given(channels(), st.randoms(use_true_random=False), st.fractions(0, 1))
def test_channels_with_the_same_columns_permuted_split_or_padded_are_equivalent(source, random, share):
    order = list(range(len(source.outputs)))
    random.shuffle(order)
    columns = [source.rows[:, y] for y in order]
    split = [columns[0] * share, *columns[1:], columns[0] * (1 - share), columns[0] * 0]
    other = channel(np.stack(split, axis=1), source.inputs, [f"o{k}" for k in range(len(split))])
    assert proved(source, other)
    assert proved(other, source)


@settings(max_examples=60)
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(channels(n), channels(n))))
def test_equivalent_channels_leak_the_same_and_refinements_no_more(pair):
    a, b = pair
    if refinement(a, b).refines:
        more, less = capacity(a), capacity(b)
        assert less.multiplicative.value <= more.multiplicative.value
        assert less.additive.value <= more.additive.value
        for measure in (bayes, guessing):
            uniform = priors.uniform(len(a.inputs))
            assert leakage(measure, uniform, b).additive <= leakage(measure, uniform, a).additive


def test_inputs_may_come_in_any_order_but_must_be_the_same():
    a = channel([["3/4", "1/4"], ["1/4", "3/4"]], ["x", "y"])
    b = channel([["3/8", "5/8"], ["5/8", "3/8"]], ["y", "x"])
    assert proved(a, b)
    assert not proved(b, a)
    assert refinement(b, a).witness.inputs == ("y", "x")
    with pytest.raises(InputError, match="A and B must have the same inputs, got 'y' in one of them only"):
        refinement(a, channel(b.rows, ["z", "x"]))


@pytest.mark.parametrize("size", [2, 3, 6, 12])
@pytest.mark.parametrize("less", [alpha("1/3"), epsilon("0.2")], ids=["rational", "irrational"])
def test_geometric_mechanisms_refine_each_other_as_privacy_grows(size, less):
    more = alpha("1/2") if less == alpha("1/3") else epsilon("0.1")
    strong, weak = geometric(size - 1, more).channel(), geometric(size - 1, less).channel()
    found = refinement(weak, strong)
    assert found.refines
    assert all(value >= 0 for value in found.post.rows.flat)
    assert np.allclose(weak.floats() @ found.post.floats(), strong.floats(), atol=1e-12)
    if size <= 6:
        assert weak.then(found.post) == strong
    other = refinement(strong, weak)
    assert not other.refines
    assert other.witness.holds(strong, weak)


@settings(max_examples=60)
@given(st.integers(2, 5), levels())
def test_geometric_and_response_mechanisms_of_one_level_are_not_comparable(size, level):
    line, flat = geometric(size - 1, level).channel(), response(size, level).channel()
    expected = size == 2
    assert refinement(line, flat).refines == expected
    assert refinement(flat, line).refines == expected


def test_a_visible_choice_of_irrational_mechanisms_with_dependent_columns():
    strong, weak = geometric(3, epsilon("0.1")).channel(), geometric(3, epsilon("0.2")).channel()
    half = Fraction(1, 2)
    choice = channel(np.hstack([strong.rows * half, weak.rows * half]), strong.inputs)
    found = refinement(choice, strong)
    assert found.refines
    assert np.allclose(choice.floats() @ found.post.floats(), strong.floats(), atol=1e-12)
    assert all(value >= 0 for value in found.post.rows.flat)
    assert all(row.sum() == 1 for row in found.post.rows)
    assert refinement(weak, choice).refines
    other = refinement(choice, weak)
    assert other.witness.holds(choice, weak)


def square(entry, size):
    """The response mechanism with this level."""
    total = 1 + (size - 1) * entry
    return channel([[(1 if x == y else entry) / total for y in range(size)] for x in range(size)])


def root(k):
    return power(k, Fraction(1, 2))


def test_roots_are_decided():
    low, high = square(root(2) / 4, 6), square(root(3) / 4, 6)
    found = refinement(low, high)
    assert found.refines
    assert np.allclose(low.floats() @ found.post.floats(), high.floats(), atol=1e-12)
    assert refinement(high, low).witness.holds(high, low)
    three = square(root(2) / 4, 3), square(root(3) / 4, 3)
    assert three[0].then(refinement(*three).post) == three[1]


def test_where_many_powers_meet_a_simple_proof_is_found_and_else_one_line_says_so():
    low, high = square((root(2) + root(3)) / 8, 5), square((root(5) + root(7)) / 8, 5)
    assert refinement(low, low).refines
    assert refinement(high, low).witness.holds(high, low)
    with pytest.raises(UndecidedError, match="not decided for these irrational entries: use a level") as problem:
        refinement(low, high)
    assert "\n" not in str(problem.value)


def test_mechanisms_at_the_distances_of_the_plane_are_compared():
    """Exponential weights on the corners of a square, at e^−d and e^−d/2 for distances 1 and √2."""

    def corners(scale):
        weights = [exponential(-scale * d) for d in (Fraction(0), Fraction(1), Fraction(1), root(2))]
        total = sum(weights, Fraction(0))
        return channel([[weights[x ^ y] / total for y in range(4)] for x in range(4)])

    weak, strong = corners(Fraction(1)), corners(Fraction(1, 2))
    found = refinement(weak, strong)
    assert found.refines
    assert np.allclose(weak.floats() @ found.post.floats(), strong.floats(), atol=1e-12)
    assert refinement(strong, weak).witness.holds(strong, weak)


def test_powers_of_e_with_different_exponents_are_one_field():
    first, second = square(exponential(Fraction(-1, 2)), 5), square(exponential(Fraction(-1, 3)), 5)
    found = refinement(first, second)
    assert first.then(found.post) == second
    assert not refinement(second, first).refines


def test_floats_are_refused_with_what_to_do():
    floats = channel([[0.75, 0.25], [0.25, 0.75]])
    exact = channel([["3/4", "1/4"], ["1/4", "3/4"]])
    with pytest.raises(InputError, match="A must have exact entries, got floats: write them as fractions"):
        refinement(floats, exact)
    with pytest.raises(InputError, match="B must have exact entries, got floats"):
        refinement(exact, floats)


def random_channel(size, width, seed, largest=50):
    random = np.random.default_rng(seed)
    table = random.integers(1, largest, (size, width))
    return channel([[Fraction(int(v), int(row.sum())) for v in row] for row in table])


@pytest.mark.parametrize(("size", "inner"), [(20, 20), (20, 26), (40, 40)])
def test_larger_channels_of_independent_and_of_dependent_columns(size, inner):
    a, post, other = (random_channel(*shape) for shape in ((size, inner, 1), (inner, size, 2), (size, size, 3)))
    assert proved(a, a.then(post))
    assert not proved(a, other)


@pytest.mark.parametrize("hair", [Fraction(0), Fraction(1, 10**9), Fraction(1, 10**30)])
def test_a_posterior_outside_by_a_hair_is_seen(hair):
    """A's posteriors of the first secret are 3/4, 1/2 and 1/4, and nothing that refines it goes beyond 3/4."""
    a = channel([["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]])
    b = channel([[Fraction(3, 10) + hair, Fraction(7, 10) - hair], ["1/10", "9/10"]])
    assert proved(a, b) == (not hair)


@pytest.mark.parametrize("hair", [Fraction(0), Fraction(1, 10**9), Fraction(1, 10**30)])
def test_a_negative_probability_by_a_hair_is_seen(hair):
    """A is regular, so R is unique; its first row is (−hair, 1 + hair)."""
    a, post = random_channel(3, 3, 7), np.array([[-hair, 1 + hair], [1, 0], [Fraction(1, 2)] * 2], dtype=object)
    assert proved(a, channel(a.rows @ post)) == (not hair)
