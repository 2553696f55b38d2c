"""Does a channel meet a definition: against every event and its complement, and against the ε of the channel."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, fractions, levels, small_spaces
from utmost.axioms.curves import Curve, curve_from_points
from utmost.axioms.definition import (
    Definition,
    Relation,
    approximate,
    definition_of,
    identity,
    parse_relation,
    pure,
    relation_from_space,
    subsampling,
    variation,
)
from utmost.axioms.privacy_profiles import profile
from utmost.axioms.satisfaction import satisfaction
from utmost.channel import Channel, channel, is_private, mix
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric, response
from utmost.spaces import line


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Bounds M: named ones, and any concave piecewise linear one, with and without a jump at 0."""
    share = draw(fractions(0, 1))
    named_bounds = [
        pure(draw(levels())), approximate(draw(levels()), share), variation(share), identity(), subsampling(share),
    ]  # fmt: skip
    profile_bound = profile(draw(channels(2)), (0, 1)).curve
    lower = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])) * profile_bound.at_zero
    return draw(st.sampled_from([*named_bounds, profile_bound, Curve(profile_bound.points, lower, Fraction(1))]))


@st.composite
def definitions(draw: st.DrawFn, size: int) -> Definition:
    """Any relation on 0 … size−1, with a default bound and others for some pairs."""
    all_pairs = [(x, y) for x in range(size) for y in range(size) if x != y]
    pairs = draw(st.lists(st.sampled_from(all_pairs), unique=True)) if all_pairs else []
    pair_bounds = {pair: draw(curves()) for pair in pairs if draw(st.booleans())}
    return Definition(Relation(tuple(range(size)), tuple(pairs)), draw(curves()), pair_bounds)


@st.composite
def channels_with_definitions(draw: st.DrawFn) -> tuple[Channel, Definition]:
    source = draw(channels(outputs=draw(st.integers(1, 4))))
    return source, draw(definitions(len(source.inputs)))


def excesses(source: Channel, definition: Definition) -> list:
    """P(O|i₂) − M(P(O|i₁)) for every related pair and every event O that is possible and not sure."""
    positions = range(len(source.outputs))
    amounts = []
    for size in range(len(positions) + 1):
        for event in combinations(positions, size):
            mass = [sum(law[list(event)], Fraction(0)) for law in source.rows]
            for first, second in definition.relation.pairs:
                if (mass[first], mass[second]) not in ((0, 0), (1, 1)):
                    amounts.append(mass[second] - definition.bound(first, second)(mass[first]))
    return amounts


@given(channels_with_definitions())
def test_the_verdict_is_that_of_every_event_and_its_complement(case):
    source, definition = case
    verdict, amounts = satisfaction(source, definition), excesses(source, definition)
    assert verdict.holds == all(amount <= 0 for amount in amounts)
    if verdict.witness is not None:
        assert verdict.excess == max(amounts)


@given(channels_with_definitions())
def test_a_witness_is_missing_only_where_no_related_secrets_can_be_told_apart(case):
    source, definition = case
    differs = any(any(source.rows[x] != source.rows[other]) for x, other in definition.relation.pairs)
    assert (satisfaction(source, definition).witness is not None) == differs


@given(channels_with_definitions())
def test_the_witness_is_an_event_with_the_probabilities_that_are_said(case):
    source, definition = case
    witness = satisfaction(source, definition).witness
    if witness is None:
        return
    pair = tuple(source.inputs.index(label) for label in witness.pair)
    first, second = (sum(source.rows[x, list(witness.event)], Fraction(0)) for x in pair)
    assert (witness.first, witness.second) == (first, second)
    assert witness.bound == definition.bound(*pair)(first)
    assert sorted(witness.event + witness.complement) == sorted(source.outputs)
    if witness.excess > 0:
        lower = definition.bound(*pair).reflected
        assert 1 - second < lower(1 - first)  # the complement is less likely than m allows


@settings(max_examples=60)
@given(small_spaces(2), levels(), st.data())
def test_pure_definitions_are_met_exactly_when_the_channel_is_private(space, level, data):
    # where all neighbours are one unit apart
    if any(space.distance(x, y) != 1 for x, y in space.edges):
        return
    rows = data.draw(channels(len(space))).rows
    source = channel(rows, inputs=space.labels)
    definition = Definition(relation_from_space(space), pure(level))
    assert satisfaction(source, definition).holds == is_private(source, space, level)


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("1/10")])
def test_the_geometric_mechanism_meets_its_own_level_with_nothing_to_spare(level: Level):
    verdict = satisfaction(geometric(4, level), Definition(relation_from_space(line(5)), pure(level)))
    assert verdict.holds
    assert verdict.excess == 0
    assert verdict.exact


def test_a_level_that_is_slightly_too_strict_is_not_met():
    hair = alpha(Fraction(1, 2) + Fraction(1, 10**40))
    verdict = satisfaction(geometric(4, alpha("1/2")), Definition(relation_from_space(line(5)), pure(hair)))
    assert not verdict.holds
    assert 0 < verdict.excess < Fraction(1, 10**39)


def test_a_mechanism_that_sometimes_reveals_all_meets_only_a_bound_above_zero():
    # with probability 1/100 the input is revealed: δ = 1/100 at ε = 0, and no pure ε
    mechanism = mix(channel([[1, 0, 0], [0, 1, 0]]), channel([[0, 0, 1], [0, 0, 1]]), "1/100")
    relation = parse_relation("discrete:2")
    for text, holds in (("pure:100", False), ("approximate:0,1/100", True), ("variation:1/101", False)):
        assert satisfaction(mechanism, definition_of(text, relation)).holds is holds
    jump = definition_of("points:0 0,0 1/100,1 1", relation)
    verdict = satisfaction(mechanism, jump)  # M(0) = 0: what i₁ never says i₂ must not say
    assert not verdict.holds
    assert (verdict.witness.event, verdict.excess) == ((1,), Fraction(1, 100))


def test_some_pairs_may_be_protected_more_than_others():
    relation = parse_relation("line:3")
    source = response(3, alpha("1/2"))
    assert satisfaction(source, Definition(relation, pure(alpha("1/2")))).holds
    stricter = Definition(relation, pure(alpha("1/2")), {(1, 2): pure(alpha("2/3"))})
    verdict = satisfaction(source, stricter)
    assert not verdict.holds
    assert verdict.witness.pair == (1, 2)
    # response(3) at α = 1/2: (1/4, 1/2, 1/4) and (1/4, 1/4, 1/2); M(1/4) = 3/8 at 2/3
    assert (verdict.witness.event, verdict.excess) == ((2,), Fraction(1, 8))


def test_one_direction_can_be_asked_alone():
    source = channel([["1/2", "1/2"], ["1/4", "3/4"]])
    bound = profile(source, (0, 1)).curve
    assert satisfaction(source, Definition(Relation((0, 1), ((0, 1),)), bound)).excess == 0
    assert not satisfaction(source, Definition(Relation((0, 1), ((1, 0),)), bound)).holds


def test_the_bound_of_pure_privacy_asks_both_directions_even_of_one_ordered_pair():
    # KL10 §2 asks P(O|i₁) ≤ e^ε·P(O|i₂) of (i₁, i₂) in R; its M in §2.1 asks the reverse of the same pair as well: that
    # is the same only where R is symmetric. Here P(O|i₁) ≤ 2·P(O|i₂) for every O, and M(0) = 0 < P({1}|i₂) = 1/2.
    source = channel([[1, 0], ["1/2", "1/2"]])
    assert all(p <= 2 * q for p, q in source.rows.T)
    one_way = Relation((0, 1), ((0, 1),))
    verdict = satisfaction(source, Definition(one_way, pure(alpha("1/2"))))
    assert (verdict.holds, verdict.witness.event, verdict.excess) == (False, (1,), Fraction(1, 2))
    one_way_bound = curve_from_points([(0, "1/2"), (1, 1)])  # P(O|i₁) ≤ 2·P(O|i₂) of complements: b ≤ 1 − (1−a)/2
    assert satisfaction(source, Definition(one_way, one_way_bound)).excess == 0


def test_inputs_may_come_in_any_order_and_labels_keep_their_kind():
    source = channel([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]], inputs=["c", "a", "b"])
    relation = Relation(("a", "b", "c"), ((0, 1), (1, 2)))
    verdict = satisfaction(source, Definition(relation, variation("1/5")))
    assert verdict.witness.pair == ("a", "b")
    assert verdict.excess == Fraction(1, 20)


def test_an_empty_relation_and_a_constant_channel_have_no_witness():
    source = response(3, alpha("1/2"))
    assert satisfaction(source, Definition(Relation((0, 1, 2), ()), variation(0))).witness is None
    constant = channel([["1/2", "1/2"], ["1/2", "1/2"]])
    verdict = satisfaction(constant, Definition(parse_relation("line:2"), variation(0)))
    assert verdict.holds
    assert verdict.witness is None


def test_floats_are_judged_as_the_doubles_they_are():
    verdict = satisfaction(
        channel([[0.75, 0.25], [0.25, 0.75]]), Definition(parse_relation("line:2"), pure(alpha("1/3")))
    )
    assert verdict.holds
    assert not verdict.exact
    small_excess = satisfaction(
        channel([[1.0, 0.0], [1 - 1e-10, 1e-10]]), Definition(parse_relation("line:2"), pure(alpha("1/100")))
    )
    assert not small_excess.holds  # a zero above 1e-10: ε is infinite, however small the excess


@pytest.mark.parametrize(
    ("space", "message"),
    [("line:3", "must be the secrets of the definition.s relation: 0, 1, 2"), ("graph", "got none called x")],
)
def test_a_channel_of_other_secrets_is_refused_in_one_line(space, message):
    relation = parse_relation(space) if space != "graph" else Relation(("x", "y"), ((0, 1),))
    with pytest.raises(InputError, match=message) as error:
        satisfaction(channel([["1/2", "1/2"], ["1/4", "3/4"]]), Definition(relation, variation(0)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("size", [1, 10**40, 10**300, 10**330])
def test_excesses_with_equal_doubles_are_compared_exactly(size):
    """P(O|1) exceeds P(O|0) by 1/(9·size), P(O|2) by a little more; over variation 0 these are the excesses."""
    share, little = Fraction(1, 3), Fraction(1, 9 * size)
    rows = [[share + move, 1 - share - move] for move in (0, little, little * (1 + Fraction(1, 10**20)))]
    definition = Definition(Relation((0, 1, 2), ((0, 1), (0, 2))), variation(0))
    verdict = satisfaction(channel(rows), definition)
    assert (verdict.witness.pair, verdict.excess) == ((0, 2), little * (1 + Fraction(1, 10**20)))
    backwards = satisfaction(channel(rows[::-1]), Definition(Relation((0, 1, 2), ((2, 0), (2, 1))), variation(0)))
    assert (backwards.witness.pair, backwards.excess) == ((2, 0), verdict.excess)


def test_slopes_beyond_doubles_are_compared_exactly():
    small = Fraction(1, 10**400)
    source = channel([[small, 1 - small], [3 * small, 1 - 3 * small], [2 * small, 1 - 2 * small]])
    relation = Relation((0, 1, 2), ((0, 2), (0, 1)))
    assert satisfaction(source, Definition(relation, pure(Level(small)))).holds
    verdict = satisfaction(source, Definition(relation, pure(Level(Fraction(1, 2)))))
    assert (verdict.holds, verdict.witness.pair, verdict.excess) == (False, (0, 1), small)
