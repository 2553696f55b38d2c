"""KL10: what is published and what is computed; each erratum by its computation; the remarks, on drawn mechanisms."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from axioms.private_mechanisms import mechanisms, relations
from strategies import channels, rational_levels
from utmost import papers
from utmost.axioms import (
    allowed_range,
    at_least_as_general,
    best_coefficient,
    best_mechanism,
    curve_from_lines,
    curve_from_points,
    ergodicity,
    generalize,
    is_dobrushin_optimal,
    maximally_general,
    parse_bound,
    predicate,
    profile,
    row_graphs,
    soundness,
)
from utmost.axioms.definition import approximate, parse_relation, pure
from utmost.axioms.likelihood_ratio import odds_bounds, odds_tails
from utmost.axioms.pair_rules import permits
from utmost.channel import channel, identity
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric
from utmost.papers.items import Item, Report, figure
from utmost.papers.kl10 import bounds, graphs, matrices, output_splits, predicates, theorems, utility
from utmost.papers.kl10 import (
    ergodicity as ergodicity_items,
)
from utmost.papers.kl10 import (
    odds_bounds as odds_items,
)

HALF = alpha("1/2")
WRONG_IN_THE_PAPER = {
    "§2.1, one direction",
    "§3.3, the constraint",
    "Proposition 2.2.2, as printed",
    "Proposition 2.2.3, several pairs",
    "Theorem 2.2.5 (v), as printed",
    "Theorem 2.2.5 (iv), proof",
    "Theorem 2.3.1, Step 3",
    "§3, the geometric mechanism",
    "Definition 3.1.2",
    "§1, the third axiom",
    "Theorem 3.3.3, R not connected",
    "§3.3, spanning trees",
    "Appendix B, as printed",
    "Appendix B, equal row graphs",
    "Lemma 3.3.5, one direction",
    "Appendix C, m₂,ℓ",
    "Lemma 3.3.7, proof",
    "Lemma 3.3.8, as printed",
    "§3.3, a common structure",
}


@pytest.fixture(scope="module")
def report() -> Report:
    return papers.report("KL10")


def test_everything_published_is_computed_again_but_for_the_errata(report: Report) -> None:
    assert {item.name for item in report.items if item.agrees is False} == WRONG_IN_THE_PAPER
    assert sum(item.agrees is True for item in report.items) >= 24


def test_every_result_of_the_paper_has_its_item(report: Report) -> None:
    names = " ".join(item.name for item in report.items)
    expected_names = (
        *("Definition 2.1.3", "Axiom 2.1.1", "Axiom 2.1.2", "Proposition 2.1.4", "Proposition 2.2.2"),
        *("Proposition 2.2.3", "Proposition 2.2.4", "Theorem 2.2.5", "Theorem 2.3.1", "Definition 3.1.2"),
        *(
            "Definition 3.1.3",
            "Example 3.2.1",
            "Example 3.2.2",
            "Example 3.2.3",
            "Definition 3.3.1",
            "Definition 3.3.2",
        ),
        *("Theorem 3.3.3", "Lemma 3.3.4", "Lemma 3.3.5", "Lemma 3.3.7", "Lemma 3.3.8"),
        *(f"Appendix {letter}" for letter in "ABCE"),
    )
    for name in expected_names:
        assert name in names
    assert len({item.name for item in report.items}) == len(report.items)


def test_an_item_without_published_values_does_not_claim_to_agree(report: Report) -> None:
    for item in report.items:
        assert (item.published is None) == (item.agrees is None)


def test_the_report_is_json_and_its_errata_say_what_kind_they_are(report: Report) -> None:
    copy = json.loads(json.dumps(papers.document(report)))
    assert [item["name"] for item in copy["items"]] == [item.name for item in report.items]
    assert all(line.startswith(("Statement, ", "Proof of ", "Misprint, ")) for line in report.errata)
    assert len(report.errata) >= 20


@pytest.mark.slow
def test_profile_region_row_graphs_and_overlaps_are_drawn(report: Report) -> None:
    charts = {item.name: figure(item) for item in report.items if item.draw or item.series}
    assert {"Definition 2.1.3", "Axiom 2.1.1, up to one half", "Definition 3.3.2"} < set(charts)
    assert len(charts) >= 5
    assert all(chart is not None and chart.to_dict() for chart in charts.values())


# Section 2: the bounds M, and what they mean for an attacker


@given(rational_levels(), st.fractions(0, 1, max_denominator=12), st.fractions(0, 1, max_denominator=30))
def test_the_printed_bound_of_epsilon_and_delta_is_what_both_inequalities_allow(level: Level, delta, a) -> None:
    assume(level.alpha > 0)
    rate = 1 / level.alpha
    printed = min(Fraction(1), rate * a + delta, 1 - (1 - a - delta) / rate)
    assert approximate(level, delta)(a) == printed
    assert bounds.max_allowed(f"b <= {rate}*a + {delta} and a <= {rate}*b + {delta}", a) == printed


def test_in_one_direction_the_bound_differs() -> None:
    """a ≤ 2b for an event and its complement: b ≤ 1 − (1−a)/2, and the printed M has b ≤ 2a besides."""
    assert [bounds.max_allowed("a <= 2*b", Fraction(k, 8)) for k in (0, 1, 4)] == [
        Fraction(1, 2),
        Fraction(9, 16),
        Fraction(3, 4),
    ]
    assert [pure(HALF)(Fraction(k, 8)) for k in (0, 1, 4)] == [0, Fraction(1, 4), Fraction(3, 4)]


@given(st.integers(2, 6), rational_levels())
def test_in_one_direction_a_mechanism_beats_the_lemma(size: int, level: Level) -> None:
    """p_j = 1 − α^(j−1): P(O|j) ≤ e^ε·P(O|j+1) for every O, and the overlap of 1 and n is α^(n−1)."""
    assume(0 < level.alpha < 1)
    mechanism = ergodicity_items.two_output_channel([1 - level.alpha**j for j in range(size)])
    for j in range(size - 1):
        assert all(level.alpha * a <= b for a, b in matrices.event_probabilities(mechanism, j, j + 1))
    assert (
        -ergodicity(mechanism).value
        == level.alpha ** (size - 1)
        < -best_coefficient(parse_relation(f"line:{size}"), level)
    )


def test_with_or_for_and_the_identity_channel_is_private() -> None:
    event_points = list(matrices.event_probabilities(identity("ab"), 0, 1))
    assert all(a <= 2 * b or b <= 2 * a for a, b in event_points)
    assert not all(a <= 2 * b and b <= 2 * a for a, b in event_points)


@given(st.integers(0, 3), st.integers(1, 9))
def test_the_profile_of_a_random_subset_is_its_bound(records: int, tenths: int) -> None:
    """Brute force over all subsets: P(S|i₁) = p^|S|·(1−p)^(n−|S|), and i₂ has one record more."""
    p = Fraction(tenths, 10)
    subsets = [(bits, len(f"{bits:b}".replace("0", ""))) for bits in range(2 ** (records + 1))]
    fewer = [p**k * (1 - p) ** (records - k) if bits < 2**records else Fraction(0) for bits, k in subsets]
    more = [p**k * (1 - p) ** (records + 1 - k) for _, k in subsets]
    subset_profile = profile(channel([fewer, more]), (0, 1))
    assert subset_profile.curve == parse_bound(f"subsampling:{p}")
    assert subset_profile.reversed.curve == parse_bound(f"subsampling:{p}").reversed


@given(channels(), rational_levels())
def test_the_odds_changes_are_those_of_the_outputs_and_within_the_profile_s_own_bounds(source, level: Level) -> None:
    assume(level.alpha < 1 and len(source.inputs) > 1)
    pair_channel = source.restrict(source.inputs[:2])
    curve = profile(pair_channel, pair_channel.inputs).curve
    tails, limits = odds_items.exact_odds(pair_channel, level), odds_bounds(curve, level)
    assert (tails.rise, tails.fall) == (odds_tails(curve, level).rise, odds_tails(curve, level).fall)
    assert tails.rise <= limits.rise
    assert tails.fall <= limits.fall


# Section 2.2 and 2.3: predicates


@given(rational_levels(), st.fractions(0, 1, max_denominator=20), st.fractions(0, 1, max_denominator=20))
def test_the_exchanged_items_hold_for_differential_privacy(level: Level, a, share) -> None:
    curve = pure(level)
    b = curve.reflected(a) + share * (curve(a) - curve.reflected(a))
    assert all(permits(curve, a, end) for end in allowed_range(a, b))


@given(st.fractions(Fraction(1, 2), Fraction(19, 20), max_denominator=20))
def test_the_printed_items_fail_beyond_one_half(a) -> None:
    """With b = m(a) of e^ε = 2 the printed end (1−b)·a/(1−a) is above M(a), for every a > 1/2."""
    assume(a > Fraction(1, 2))
    curve = pure(HALF)
    b = curve.reflected(a)
    assert predicates.interval_end(a, b, True) > curve(a)
    assert predicates.interval_end(1 - a, 1 - b, False) < curve.reflected(1 - a)
    assert permits(curve, a, b)


def test_the_counter_example_of_the_printed_items() -> None:
    curve = pure(HALF)
    assert predicates.interval_end(Fraction(3, 4), Fraction(1, 2), True) == Fraction(3, 2)
    assert permits(curve, Fraction(3, 4), Fraction(1, 2))
    assert not permits(curve, Fraction(3, 4), Fraction(15, 16))
    assert predicates.interval_end(Fraction(1, 4), Fraction(1, 2), False) == Fraction(-1, 2)
    assert not permits(curve, Fraction(1, 4), Fraction(1, 16))


def test_the_listed_predicates_are_sound_and_unsound() -> None:
    assert all(soundness(predicate(text)).sound is True for text in predicates.SOUND)
    assert all(soundness(predicate(text)).sound is False for text in predicates.UNSOUND)


@pytest.mark.parametrize("name", theorems.UNSOUND_BY_NAME)
def test_an_unsound_predicate_is_refuted_by_the_matrices_of_its_item(name: str) -> None:
    """The matrices in the item, read back from their text, are what they are said to be: over all events."""
    rule = predicate(theorems.UNSOUND_BY_NAME[name])
    for axiom in ("2.1.1", "2.1.2"):
        rows = [[cell for cell in row[2:] if cell] for row in theorems.failure_item(name, axiom).computed.rows]
        if axiom == "2.1.1":
            source_channel, processing_rows, result_channel = channel(rows[:2]), rows[2:-2], channel(rows[-2:])
            assert source_channel.then(channel(processing_rows, source_channel.outputs)) == result_channel
            sources = [source_channel]
        else:
            sources, result_channel = [channel(rows[:2]), channel(rows[2:4])], channel(rows[4:])
        for source in sources:
            assert all(permits(rule, a, b) for a, b in matrices.event_probabilities(source, 0, 1))
        assert not all(permits(rule, a, b) for a, b in matrices.event_probabilities(result_channel, 0, 1))


@given(st.lists(st.tuples(st.fractions(0, 5, max_denominator=6), st.fractions(0, 1, max_denominator=6)), max_size=3))
def test_the_lower_bound_m_never_decreases(lines) -> None:
    curve = curve_from_lines([(slope, start) for slope, start in lines if slope + start >= 1])
    lower = curve.reflected
    assert lower.drop is None
    assert all(b > a for (_, a), (_, b) in pairwise(lower.points) if b > 0)


def test_the_bound_of_an_open_predicate_is_not_attained() -> None:
    rule, closed_rule = predicates.open_and_closed_predicates()
    mechanism = matrices.two_output_mechanism(Fraction(1, 4), Fraction(7, 20))
    assert [
        all(permits(q, a, b) for a, b in matrices.event_probabilities(mechanism, 0, 1)) for q in (rule, closed_rule)
    ] == [
        False,
        True,
    ]


@given(st.fractions(0, 1, max_denominator=30))
def test_a_concave_bound_that_ends_at_one_does_not_jump_there(limit) -> None:
    curve = curve_from_points([(0, 0), (1, limit)], at_one=1)
    assert curve.concave == (limit == 1)


def test_an_integral_of_one_is_no_indicator() -> None:
    item = theorems.indicator231()
    assert [row[1] for row in item.computed.rows] == ["1", "no", "yes"]


@given(st.sampled_from(theorems.BOUND_TEXTS))
def test_the_tightest_mechanism_has_the_bound_as_its_profile(text: str) -> None:
    mechanism = theorems.tightest_mechanism(parse_bound(text))
    assert profile(mechanism, (0, 1)).curve == parse_bound(text)


# Section 3: generality and measures


@given(channels())
@settings(max_examples=40)
def test_where_the_bound_jumps_every_mechanism_has_a_strictly_more_general_one(source) -> None:
    """Whoever meets M(0) = 0, M = 1 has likelihood ratios below some k, and M_k is strictly more general."""
    assume(len(source.inputs) > 1)
    pair_channel = source.restrict(source.inputs[:2])
    jump = curve_from_points([(0, 1), (1, 1)], at_zero=0)
    assume(all(permits(jump, a, b) for a, b in matrices.event_probabilities(pair_channel, 0, 1)))
    max_ratio = max(b / a for a, b in zip(*pair_channel.rows.tolist(), strict=True) if a)
    general_channel = matrices.two_output_mechanism(1 / (max_ratio + 1), Fraction(1))
    general_channel = channel(general_channel.rows.tolist(), pair_channel.inputs)
    assert at_least_as_general(pair_channel, general_channel).refines
    assert not at_least_as_general(general_channel, pair_channel).refines


def test_not_every_optimum_comes_from_the_geometric_mechanism() -> None:
    assert not at_least_as_general(utility.figure5_channel(), geometric(3, HALF)).refines
    assert [row[1] for row in utility.any_optimum().computed.rows] == ["yes", "no", "no"]


def test_measures_before_and_after_as_derived_by_hand() -> None:
    # 0/1 loss, P(0|0) = 1/3: −(2/3 + 2/3) before and −(1/3 + 1/3) after exchanging the answers
    assert utility.example321().note == "−Trace(LᵀM) = -4/3 before, -2/3 after"
    # 1/8·(1/6 + 2/6) twice, and 3/4·(1/3 + 1/3), is 5/8; reading 1 always loses 1/8 + 1/8
    assert utility.example321_geometric().note == "−Trace(LᵀM) = -5/8 before, -1/4 after"
    assert [row[2] for row in utility.example322_shapes().computed.rows] == ["1/9", "1/18"]


def test_merging_answers_into_halves_keeps_the_coefficient_and_cannot_be_undone() -> None:
    assert [row[1] for row in utility.strict_loss().computed.rows] == ["no", "no", "no"]


@given(st.integers(1, 5))
def test_the_geometric_mechanism_sums_to_its_definition(i: int) -> None:
    assume(i <= graphs.LAST_INPUT)
    assert sum(graphs.geometric_probability(i, z) for z in range(1, graphs.LAST_INPUT + 1)) == 1


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_connected_row_graphs_are_columns_that_are_listed_as_vertices(data) -> None:
    space = data.draw(st.sampled_from([space for _, space in graphs.examples().values()]))
    mechanism = data.draw(mechanisms(parse_relation(space.name), HALF))
    assert bool(maximally_general(mechanism, space, HALF)) == graphs.is_made_of_vertices(mechanism, space)


def test_printed_ratios_divide_by_zero_and_related_ones_do_not() -> None:
    # (16, 8, 6, 3)/32: over all pairs ρ₁ = 16/3 and ρ₂ = 6/8, (2·3/16)·(2·4/3) = 1; over (1, 2) alone 4/3 and 3/4
    assert output_splits.ratios([(s, t) for s in (0, 1) for t in (2, 3)]) == (Fraction(16, 3), Fraction(3, 4))
    with pytest.raises(ZeroDivisionError):
        output_splits.weights(2 / Fraction(16, 3), 2 / Fraction(3, 4))
    assert output_splits.weights(2 / Fraction(4, 3), 2 / Fraction(3, 4)) == (Fraction(5, 9), Fraction(1, 6))


def test_a_relation_that_is_not_connected_and_one_that_has_a_single_tree() -> None:
    assert [row[1] for row in graphs.unconnected_relation().computed.rows] == ["yes", "no"]
    assert [row[1] for row in graphs.spanning_trees().computed.rows] == ["no"] * 6
    assert [row[1] for row in output_splits.same_graphs().computed.rows] == ["0", "1"]


# Lemmas on Dobrushin's coefficient


@st.composite
def private_laws(draw: st.DrawFn) -> list[Fraction]:
    """Private 2 × n mechanisms with steps up that are tight or not, from any value in the middle."""
    size = draw(st.integers(2, 7))
    middle = draw(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=30))
    start = draw(st.integers(0, size - 1))
    law = [middle]
    for _ in range(start):
        low = max(law[0] / 2, 1 - (1 - law[0]) * 2)
        law.insert(0, draw(st.sampled_from([low, low, (low + law[0]) / 2])))
    for _ in range(size - 1 - start):
        high = min(law[-1] * 2, 1 - (1 - law[-1]) / 2)
        law.append(draw(st.sampled_from([high, high, (high + law[-1]) / 2])))
    return law


@settings(max_examples=200)
@given(private_laws())
def test_lemma_3_3_5_is_right_as_printed(law) -> None:
    best = -best_coefficient(parse_relation(f"line:{len(law)}"), HALF)
    assert ergodicity_items.meets_lemma335(law) == (ergodicity_items.end_overlap(law) == best)
    if ergodicity_items.end_overlap(law) == best:
        assert ergodicity_items.meets_lemma334(law)  # Lemma 3.3.4


def test_the_programs_are_certified_and_their_values_the_formula_s() -> None:
    values = [ergodicity_items.end_overlap(ergodicity_items.least_overlap_law(size)) for size in range(2, 8)]
    assert values == [Fraction(2, 3), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 6), Fraction(1, 8)]


def test_lemma_3_3_8_as_printed_is_wrong_both_ways() -> None:
    late_rise = ergodicity_items.two_output_channel([Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)])
    best = best_mechanism(parse_relation("line:3"), HALF)
    assert ergodicity_items.meets_printed_lemma338(channel([[1], [1]]), (0, 1))
    assert not is_dobrushin_optimal(channel([[1], [1]]), parse_relation("line:2"), HALF)
    assert ergodicity_items.meets_printed_lemma338(late_rise, (0, 1, 2))
    assert not is_dobrushin_optimal(late_rise, parse_relation("line:3"), HALF)
    assert not ergodicity_items.meets_printed_lemma338(best, (0, 1, 2))
    assert is_dobrushin_optimal(best, parse_relation("line:3"), HALF)
    assert not ergodicity_items.meets_printed_lemma338(geometric(3, HALF).channel(), (0, 1, 2, 3))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_lemma_3_3_8_as_corrected_decides_optimality(data) -> None:
    relation = data.draw(relations(5, connected=True))
    mechanism = data.draw(st.one_of(mechanisms(relation, HALF), st.just(best_mechanism(relation, HALF))))
    is_optimal = is_dobrushin_optimal(mechanism, relation, HALF)
    assert ergodicity_items.meets_corrected_lemma338(mechanism, relation) == is_optimal


@given(st.integers(2, 8))
def test_optimal_row_graphs_share_a_step_exactly_for_odd_diameters(size: int) -> None:
    relation = parse_relation(f"line:{size}")
    row_graph_list = row_graphs(best_mechanism(relation, HALF), relation, HALF)
    common_edges = set.intersection(*({frozenset(edge) for edge in graph.edges} for graph in row_graph_list))
    assert len(common_edges) == (size - 1) % 2


def test_generalizing_an_optimum_keeps_its_coefficient() -> None:
    assert [row[1:] for row in ergodicity_items.optimum_after_generalizing().computed.rows] == [
        ("2", "no", "-1/2"),
        ("3", "yes", "-1/2"),
    ]
    relation = parse_relation("line:3")
    assert maximally_general(generalize(best_mechanism(relation, HALF), relation, HALF).channel, relation, HALF)


def test_the_items_of_single_values_show_both_sides() -> None:
    item: Item = ergodicity_items.appendix_c()
    assert [row[1] for row in item.published.rows] == ["2/3", "-1"]
    assert [row[1] for row in item.computed.rows] == ["2/3", "1/3"]
