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


def is_proved_refinement(a: Channel, b: Channel) -> bool:
    """Whether B refines A, with the proof looked at: R is a channel and A·R is B, or the witness does prefer B."""
    result = refinement(a, b)
    if result.refines:
        assert result.witness is None
        Channel(result.post_processing.inputs, result.post_processing.outputs, result.post_processing.rows)
        assert a.then(result.post_processing) == b.restrict(a.inputs)
        return True
    witness = result.witness
    assert result.post_processing is None
    assert witness.holds(a, b)
    assert witness.with_b < witness.with_a
    assert witness.prior == (Fraction(1, len(a.inputs)),) * len(a.inputs)
    assert min(witness.loss.flat) == 0
    assert max(witness.loss.flat) == 1
    assert witness.with_a == posterior_uncertainty(witness.prior, witness.loss, a)
    return False


@st.composite
def channel_pairs(draw, max_inner=5):
    """A channel and a post-processing of it; A often has dependent columns."""
    size, inner, width = (draw(st.integers(1, n)) for n in (4, max_inner, 4))
    return draw(channels(size, inner)), draw(channels(inner, width))


@settings(max_examples=60)
@given(channel_pairs(7))
def test_what_is_processed_further_refines_and_r_is_found(pair):
    a, post_processing = pair
    assert is_proved_refinement(a, a.then(post_processing))


@settings(max_examples=60)
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(channels(n), channels(n))))
def test_one_of_two_proofs_always_exists(pair):
    a, b = pair
    is_proved_refinement(a, b)
    is_proved_refinement(b, a)


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
    a, post_processing = draw(channel_pairs())
    actions = draw(st.integers(1, 4))
    entries = st.lists(fractions(-5, 5), min_size=actions, max_size=actions)
    size = len(a.inputs)
    return draw(weights(size)), draw(st.lists(entries, min_size=size, max_size=size)), a, a.then(post_processing)


@settings(max_examples=60)
@given(consumers())
def test_nobody_does_better_with_a_refinement(scenario):
    """The data-processing inequality: FMPD23 eq. 6, from right to left."""
    prior, table, a, b = scenario
    assert posterior_vulnerability(prior, table, b) <= posterior_vulnerability(prior, table, a)
    assert posterior_uncertainty(prior, table, b) >= posterior_uncertainty(prior, table, a)


@settings(max_examples=60)
@given(channels())
def test_refinement_is_reflexive_and_lies_between_the_identity_and_a_constant_channel(source):
    everything, nothing = identity(source.inputs), deterministic([0] * len(source.inputs), source.inputs, [0])
    assert is_proved_refinement(source, source)
    assert is_proved_refinement(everything, source)
    assert is_proved_refinement(source, nothing)


@settings(max_examples=60)
@given(st.integers(1, 3).flatmap(lambda n: st.tuples(*[channels(n, 3)] * 3)))
def test_refinement_is_transitive(triple):
    a, b, c = triple
    if is_proved_refinement(a, b) and is_proved_refinement(b, c):
        assert is_proved_refinement(a, c)
    first, second = a.then(channel(b.rows[:1].repeat(3, axis=0))), a
    assert is_proved_refinement(second, first)


@settings(max_examples=60)
@given(channels(), st.randoms(use_true_random=False), st.fractions(0, 1))
def test_channels_with_the_same_columns_permuted_split_or_padded_are_equivalent(source, random, share):
    order = list(range(len(source.outputs)))
    random.shuffle(order)
    columns = [source.rows[:, y] for y in order]
    split = [columns[0] * share, *columns[1:], columns[0] * (1 - share), columns[0] * 0]
    other = channel(np.stack(split, axis=1), source.inputs, [f"o{k}" for k in range(len(split))])
    assert is_proved_refinement(source, other)
    assert is_proved_refinement(other, source)


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
    assert is_proved_refinement(a, b)
    assert not is_proved_refinement(b, a)
    assert refinement(b, a).witness.inputs == ("y", "x")
    with pytest.raises(InputError, match="A and B must have the same inputs, got 'y' in one of them only"):
        refinement(a, channel(b.rows, ["z", "x"]))


@pytest.mark.parametrize("size", [2, 3, 6, 12])
@pytest.mark.parametrize("less", [alpha("1/3"), epsilon("0.2")], ids=["rational", "irrational"])
def test_geometric_mechanisms_refine_each_other_as_privacy_grows(size, less):
    more = alpha("1/2") if less == alpha("1/3") else epsilon("0.1")
    strong, weak = geometric(size - 1, more).channel(), geometric(size - 1, less).channel()
    result = refinement(weak, strong)
    assert result.refines
    assert all(value >= 0 for value in result.post_processing.rows.flat)
    assert np.allclose(weak.floats() @ result.post_processing.floats(), strong.floats(), atol=1e-12)
    if size <= 6:
        assert weak.then(result.post_processing) == strong
    reverse = refinement(strong, weak)
    assert not reverse.refines
    assert reverse.witness.holds(strong, weak)


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
    result = refinement(choice, strong)
    assert result.refines
    assert np.allclose(choice.floats() @ result.post_processing.floats(), strong.floats(), atol=1e-12)
    assert all(value >= 0 for value in result.post_processing.rows.flat)
    assert all(row.sum() == 1 for row in result.post_processing.rows)
    assert refinement(weak, choice).refines
    reverse = refinement(choice, weak)
    assert reverse.witness.holds(choice, weak)


def response_channel(entry, size):
    """The response mechanism with this level."""
    total = 1 + (size - 1) * entry
    return channel([[(1 if x == y else entry) / total for y in range(size)] for x in range(size)])


def square_root(k):
    return power(k, Fraction(1, 2))


def test_channels_with_square_roots_are_compared():
    low, high = response_channel(square_root(2) / 4, 6), response_channel(square_root(3) / 4, 6)
    result = refinement(low, high)
    assert result.refines
    assert np.allclose(low.floats() @ result.post_processing.floats(), high.floats(), atol=1e-12)
    assert refinement(high, low).witness.holds(high, low)
    three_secrets = response_channel(square_root(2) / 4, 3), response_channel(square_root(3) / 4, 3)
    assert three_secrets[0].then(refinement(*three_secrets).post_processing) == three_secrets[1]


def test_where_many_powers_meet_a_simple_proof_is_found_and_else_one_line_says_so():
    low, high = (
        response_channel((square_root(2) + square_root(3)) / 8, 5),
        response_channel((square_root(5) + square_root(7)) / 8, 5),
    )
    assert refinement(low, low).refines
    assert refinement(high, low).witness.holds(high, low)
    with pytest.raises(UndecidedError, match="not decided for these irrational entries: use a level") as problem:
        refinement(low, high)
    assert "\n" not in str(problem.value)


def test_mechanisms_at_the_distances_of_the_plane_are_compared():
    """Exponential weights on the corners of a square, at e^−d and e^−d/2 for distances 1 and √2."""

    def corners(scale):
        weights = [exponential(-scale * d) for d in (Fraction(0), Fraction(1), Fraction(1), square_root(2))]
        total = sum(weights, Fraction(0))
        return channel([[weights[x ^ y] / total for y in range(4)] for x in range(4)])

    weak, strong = corners(Fraction(1)), corners(Fraction(1, 2))
    result = refinement(weak, strong)
    assert result.refines
    assert np.allclose(weak.floats() @ result.post_processing.floats(), strong.floats(), atol=1e-12)
    assert refinement(strong, weak).witness.holds(strong, weak)


def test_powers_of_e_with_different_exponents_are_one_field():
    first, second = response_channel(exponential(Fraction(-1, 2)), 5), response_channel(exponential(Fraction(-1, 3)), 5)
    result = refinement(first, second)
    assert first.then(result.post_processing) == second
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
    a, post_processing, other = (
        random_channel(*shape) for shape in ((size, inner, 1), (inner, size, 2), (size, size, 3))
    )
    assert is_proved_refinement(a, a.then(post_processing))
    assert not is_proved_refinement(a, other)


@pytest.mark.parametrize("excess", [Fraction(0), Fraction(1, 10**9), Fraction(1, 10**30)])
def test_a_posterior_outside_by_very_little_is_detected(excess):
    """A's posteriors of the first secret are 3/4, 1/2 and 1/4, and nothing that refines it goes beyond 3/4."""
    a = channel([["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]])
    b = channel([[Fraction(3, 10) + excess, Fraction(7, 10) - excess], ["1/10", "9/10"]])
    assert is_proved_refinement(a, b) == (not excess)


@pytest.mark.parametrize("excess", [Fraction(0), Fraction(1, 10**9), Fraction(1, 10**30)])
def test_a_negative_probability_of_tiny_size_is_detected(excess):
    """A is regular, so R is unique; its first row is (−excess, 1 + excess)."""
    a, factor = random_channel(3, 3, 7), np.array([[-excess, 1 + excess], [1, 0], [Fraction(1, 2)] * 2], dtype=object)
    assert is_proved_refinement(a, channel(a.rows @ factor)) == (not excess)
