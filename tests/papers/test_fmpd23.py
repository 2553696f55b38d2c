"""FMPD23: what is published and what is computed; the errata; the pictures."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels as random_channels
from strategies import rational_levels, weights
from utmost import papers
from utmost.channel import is_private
from utmost.consumer import losses, priors
from utmost.consumer.loss_classes import lift_loss
from utmost.design import by_program, capacity
from utmost.design.universal import binary_mechanism, closest_pair, extension, isolating, pair_loss
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric
from utmost.papers import Report, fmpd23
from utmost.papers.fmpd23 import capacities, channels, examples, existence, regions, tables
from utmost.polytopes import count_vertices
from utmost.qif import capacity as leakage
from utmost.qif import posterior_uncertainty, posterior_vulnerability, refinement, vulnerability
from utmost.spaces import Space, cycle, discrete, graph, line, space, sub_space

HALF = alpha("1/2")
WRONG_IN_THE_PAPER = {
    "Section II-C, after Definition 2",
    "Equations 8 and 9",
    "Section IV-B, Definition 6",
    "Theorem 6",
    "Theorems 10 and A4, the loss",
    "Theorem 10, the rows",
    "Theorem 12",
    "Section I, beyond lines",
    "Lemma A2, proof",
    "Lemma 21, the matrix",
    "Section VI-B, n secrets",
    "Corollary 22, additive",
    "Table 6a",
    "Table 7a",
}
DRAWN_ITEMS = {
    "Figure 1",
    "Figure 2",
    "Figure 3",
    "Figure 4b",
    "Figure 5b",
    "Figure 6b",
    "Figure 7b",
    "Figure 8",
    "Table 6a",
}


@pytest.fixture(scope="module")
def report() -> Report:
    return papers.report("FMPD23")


def find_item(report: Report, name: str):
    (match,) = [item for item in report.items if item.name == name]
    return match


def differing_labels(item) -> list[str]:
    """The labels of the lines on which the two sides of an item are not spelled alike."""
    pairs = zip(item.published.rows, item.computed.rows, strict=True)
    return [ours[0] for theirs, ours in pairs if theirs != ours]


@pytest.mark.slow
def test_everything_published_is_computed_again_but_for_the_errata(report: Report) -> None:
    assert {item.name for item in report.items if item.agrees is False} == WRONG_IN_THE_PAPER
    assert sum(item.agrees is True for item in report.items) >= 26


@pytest.mark.slow
def test_every_table_and_figure_has_its_item(report: Report) -> None:
    names = {item.name for item in report.items}
    assert len(names) == len(report.items)
    assert names >= DRAWN_ITEMS | {"Table 4a", "Table 5a", "Table 7a", "Corollary 9", "Corollary 13", "Corollary 20"}


@pytest.mark.slow
def test_an_item_without_published_values_does_not_claim_to_agree(report: Report) -> None:
    for item in report.items:
        assert (item.published is None) == (item.agrees is None)


@pytest.mark.slow
def test_two_counts_of_the_tables_are_wrong_and_no_capacity(report: Report) -> None:
    grids, cubes = find_item(report, "Table 6a"), find_item(report, "Table 7a")
    assert [row[1] for row in grids.published.rows] == ["18", "4798", "-"]
    assert [row[1] for row in grids.computed.rows][:2] == ["18", "4346"]
    assert [row[2] for row in cubes.published.rows][:2] == ["4", "29275"]
    assert [row[2] for row in cubes.computed.rows][:2] == ["4", "29213"]
    for table in (grids, cubes):
        for theirs, ours in zip(table.published.rows, table.computed.rows, strict=True):
            for printed, computed in zip(theirs[3:], ours[3:], strict=True):
                places = len(printed.partition(".")[2])
                assert f"{float(computed.split()[-1]):.{places}f}" == printed


@pytest.mark.parametrize(
    ("printed", "agrees"),
    [("1.67", True), ("1.66", False), ("1.667", True), ("1.7", True), ("2", True), ("1.68", False)],
)
def test_a_printed_decimal_agrees_when_it_is_the_value_rounded(printed: str, agrees: bool) -> None:
    assert tables.capacity_rounds_to(capacity(line(3), HALF).multiplicative, printed) is agrees  # 5/3


def test_a_wrong_count_or_capacity_in_a_table_does_not_agree() -> None:
    right = tables.PrintedRow("3", line(3), "4", "2", "1.67", "0.5")
    assert tables.table_item("t", "", "n", [right]).agrees
    for wrong in (
        ("5", "2", "1.67", "0.5"),
        ("4", "3", "1.67", "0.5"),
        ("4", "2", "1.66", "0.5"),
        ("4", "2", "1.67", "0.4"),
    ):
        assert not tables.table_item("t", "", "n", [tables.PrintedRow("3", line(3), *wrong)]).agrees


@pytest.mark.slow
def test_each_known_erratum_is_listed_once(report: Report) -> None:
    text = " ".join(report.errata)
    for phrase in (
        "M ⊑ M′ for all M′",
        "1 − |X|/(1+(|X|−1)e^ε)",
        "There are 4346",
        "Where 4798 comes from we do not know",
        "There are 29213",
        "utmost type grid:3x3 --alpha 1/2 --vertices --count",
        "utmost type hamming:3 --alpha 1/2 --kernels --count",
        "constraints are counted as vertices",
        "2/27, 2/21, 4/21, 2/27",
        "is the dual R°",
        "n = 3 only",
        "n/(k+j)",
        "a must be onto",
    ):
        assert text.count(phrase) == 1
    assert len(set(report.errata)) == len(report.errata)


@pytest.mark.slow
def test_errata_are_sorted_into_statements_proofs_and_misprints_and_quote_the_paper(report: Report) -> None:
    kinds = [re.split("[, ]", line)[0] for line in report.errata]
    order = ["Statement", "Proof", "Misprint"]
    assert set(kinds) == set(order)
    assert kinds == sorted(kinds, key=order.index)
    quoted = [line for line in report.errata if '"' in line]
    assert [line.split(":")[0] for line in report.errata if line not in quoted] == [
        "Misprint, Lemma 21, proof",  # a matrix
        "Misprint, Fig. 8",  # rows
    ]


@pytest.mark.slow
def test_the_note_of_a_differing_item_names_its_kind(report: Report) -> None:
    for item in report.items:
        if item.agrees is False:
            assert item.note.split(":")[0] in {"statement", "proof", "misprint"}


@pytest.mark.slow
def test_the_summary_comes_first_and_follows_the_items(report: Report) -> None:
    first = report.items[0]
    assert first.name == "What stands"
    assert first.agrees
    assert first.computed.rows[0][1:] == ("Tables 4a, 5a, 6a, 7a: 30 of 30", "yes")
    assert {row[1] for row in first.computed.rows[1:]} <= {item.name for item in report.items}
    spoilt = [replace(item, agrees=False) if item.name == "Theorem 4" else item for item in report.items]
    assert not fmpd23.summary_item(spoilt).agrees


@pytest.mark.slow
def test_rounding_the_diagonal_of_a_grid_makes_more_vertices_but_not_4798() -> None:
    points = list(product(range(3), repeat=2))
    for root_two, root_eight, count in ((1414214, 2828427, 4746), (1414213, 2828426, 4346)):  # √2 and √8, in millionths
        lengths = {0: 0, 1: 10**6, 2: root_two, 4: 2 * 10**6, 5: 2236068, 8: root_eight}
        metric = [[lengths[(a - c) ** 2 + (b - d) ** 2] for c, d in points] for a, b in points]
        assert count_vertices(space(metric)) == count


@pytest.mark.slow
def test_the_errors_are_where_the_errata_say(report: Report) -> None:
    assert differing_labels(find_item(report, "Section II-C, after Definition 2")) == [
        "𝕀 ⊑ T, as the sentence after Def. 2 asks of the optimal T"
    ]
    assert differing_labels(find_item(report, "Section IV-B, Definition 6")) == [
        "ℓ_nib is monotone (line:2)",
        "ℓ_nib is monotone (cycle:4)",
        "ℓ_nib is monotone (hamming:3)",
        "trivial losses are strictly monotone (constant, line:3)",
    ]
    assert differing_labels(find_item(report, "Theorem 12")) == [
        "ℓ_bin with two of the three actions: some mechanism is optimal"
    ]
    assert differing_labels(find_item(report, "Lemma A2, proof")) == ["4", "5", "6"]
    assert differing_labels(find_item(report, "Corollary 22, additive")) == ["α = 1/3", "α = 1/2", "α = 2/3"]


@pytest.mark.slow
def test_the_report_is_json_without_its_pictures(report: Report) -> None:
    copy = json.loads(json.dumps(papers.document(report)))
    assert [item["name"] for item in copy["items"]] == [item.name for item in report.items]
    assert set(copy["items"][0]) == {"name", "caption", "published", "computed", "agrees", "note", "series"}


@pytest.mark.slow
def test_every_figure_is_drawn_with_a_claim_for_a_title(report: Report) -> None:
    assert {item.name for item in report.items if item.draw} == DRAWN_ITEMS
    for item in report.items:
        if item.draw is not None:
            document = item.draw().to_dict()
            title = document.get("title") or document["layer"][0]["title"]
            assert len(title["text"].split()) > 5
            assert title["subtitle"]


def test_the_letters_of_figures_4b_and_5b_are_the_paper_s() -> None:
    line_vertices = regions.line_of_three_vertices()
    assert {line_vertices[letter] for letter in "BCD"} == set(regions.inners(geometric(2, HALF).channel()))
    discrete_vertices = regions.letter_vertices(discrete(3), HALF, channels.mechanisms()["random response R"])
    assert {discrete_vertices[letter] for letter in "ABC"} == set(
        regions.inners(channels.mechanisms()["random response R"])
    )


# Errata


def test_the_optimal_mechanism_is_refined_by_the_others_and_not_conversely() -> None:
    best, other = binary_mechanism(line(2), HALF), channels.constant_channel(2)
    assert refinement(best, other).refines
    assert not refinement(other, best).refines


@given(
    random_channels(3, 3),
    weights(3),
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=3), min_size=3, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_the_additive_leakage_of_gains_in_0_to_1_is_at_most_the_limit(
    mechanism, prior: list[Fraction], entries: list[list[int]]
) -> None:
    width = min(map(len, entries))
    gain = [[Fraction(value, 4) for value in row[:width]] for row in entries]
    leakage_value = posterior_vulnerability(prior, gain, mechanism) - vulnerability(prior, gain)
    assert leakage_value <= channels.additive_limit(3, leakage(mechanism).additive.value)


@given(rational_levels())
@settings(max_examples=20, deadline=None)
def test_the_additive_limit_is_attained_on_two_secrets_by_guessing(level: Level) -> None:
    best = binary_mechanism(line(2), level)
    leakage_value = posterior_vulnerability(priors.uniform(2), channels.guessing(2), best) - Fraction(1, 2)
    assert leakage_value == channels.additive_limit(2, leakage(best).additive.value)


def metrics() -> tuple[Space, ...]:
    uneven = space([[0, 2, 3, 3], [2, 0, 2, 4], [3, 2, 0, 3], [3, 4, 3, 0]])
    return line(2), line(4), discrete(4), cycle(5), graph([("c", "x"), ("c", "y"), ("c", "z")]), uneven


@pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)
def test_vertices_come_in_opposite_pairs_and_are_at_least_twice_the_dimension(metric: Space) -> None:
    from utmost.polytopes import vertices

    exponents = {tuple(k) for k in vertices(metric)}
    assert {tuple(max(k) - value for value in k) for k in exponents} == exponents
    assert len(exponents) >= 2 * (len(metric) - 1)


@pytest.mark.parametrize("size", range(2, 8))
def test_a_line_has_two_to_the_n_minus_one_vertices(size: int) -> None:
    assert count_vertices(line(size)) == 2 ** (size - 1)


def test_the_mechanism_best_for_two_ends_of_a_line_does_not_extend_to_it() -> None:
    end_mechanism = binary_mechanism(sub_space(line(3), [0, 2]), HALF)
    assert not extension(end_mechanism, line(3), HALF).exists
    rows = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 5), Fraction(4, 5)]]
    assert (
        end_mechanism.rows.tolist() == rows
    )  # so the middle needs ≥ 2/5 and ≤ 2/5 for each answer, and both are 4/5 in all


@given(weights(3), rational_levels())
@settings(max_examples=25, deadline=None)
def test_the_two_actions_of_theorem_10_are_served_best_by_its_mechanism_on_a_discrete_space(
    prior: list[Fraction], level: Level
) -> None:
    metric = discrete(3)
    first, second = closest_pair(metric)
    mechanism, loss = isolating(metric, level, first), pair_loss(metric, first, second)
    assert is_private(mechanism, metric, level)
    from utmost.consumer import Consumer

    reader = Consumer(priors.explicit(prior), losses.matrix(loss.tolist()))
    assert by_program(metric, level, reader).loss == posterior_uncertainty(prior, loss, mechanism)


def test_the_lifted_loss_and_the_padded_one_differ_by_what_no_action_changes() -> None:
    metric = discrete(4)
    pair = closest_pair(metric)
    difference = pair_loss(metric, *pair) - lift_loss(losses.binary, pair, metric)
    assert all(len(set(row)) == 1 for row in difference)


@given(rational_levels(), st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_the_printed_additive_bound_of_corollary_22_is_never_attained(level: Level, size: int) -> None:
    additive_capacity = capacity(discrete(size), level).additive
    assert additive_capacity.exact
    assert additive_capacity.value == 1 - size / (1 + (size - 1) / level.alpha)
    assert additive_capacity.value < capacities._printed_bound(size, level.alpha, True)


@given(rational_levels(), st.integers(2, 7))
@settings(max_examples=25, deadline=None)
def test_the_geometric_mechanism_attains_both_capacities_of_the_line(level: Level, size: int) -> None:
    capacity_values, geometric_leakage = capacity(line(size), level), leakage(geometric(size - 1, level))
    assert geometric_leakage.multiplicative.value == capacity_values.multiplicative.value
    assert (
        geometric_leakage.additive.value
        == capacity_values.additive.value
        == capacities._line_additive_capacity(size, level.alpha)
    )


@pytest.mark.parametrize("metric", [line(3), discrete(3), cycle(4)], ids=lambda metric: metric.name)
@pytest.mark.parametrize("minimise", [True, False])
def test_the_programs_of_corollaries_17_and_18_are_what_scipy_finds(metric: Space, minimise: bool) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    size = len(metric)
    cells = {(i, j): k for k, (i, j) in enumerate(product(range(size), repeat=2))}
    above = []
    for i, k, j in product(range(size), repeat=3):  # m_ij ≤ m_kj·e^d
        if i != k:
            row = np.zeros(size * size)
            row[cells[i, j]], row[cells[k, j]] = 1.0, -(2.0 ** float(metric.distance(i, k)))
            above.append(row)
    assert len(above) == size**2 * (size - 1)  # besides one sum for each secret
    sums = np.array([[float(i == x) for i, _ in cells] for x in range(size)])
    cost = np.array([float(i == j) for i, j in cells]) * (1 if minimise else -1)
    best = optimize.linprog(cost, np.array(above), np.zeros(len(above)), sums, np.ones(size)).fun
    assert float(capacities.diagonal_optimum(metric, HALF, minimise)) == pytest.approx(abs(best), abs=1e-9)


def test_figure_8_s_two_superfluous_rows_belong_to_no_channel() -> None:
    outers = [Fraction(text) for text in examples.FIGURE_8["outer"].split()]
    average = lambda text: sum(Fraction(v) * w for v, w in zip(text.split(), outers, strict=True))  # noqa: E731
    assert average("2/27 2/21 4/21 2/27") == Fraction(10, 96)
    assert {average(row) for label, row in examples.FIGURE_8.items() if label != "outer"} == {Fraction(1, 8)}


def test_the_columns_of_k_a_on_n_secrets_are_those_of_the_note() -> None:
    for size in (3, 4, 5):
        metric = discrete(size)
        first, second = regions.inners(isolating(metric, HALF, metric.labels[0]))
        assert first == tuple(Fraction(2 if k == 0 else 1, size + 1) for k in range(size))
        assert second == tuple(Fraction(1 if k == 0 else 2, 2 * size - 1) for k in range(size))


def test_no_kernel_of_a_discrete_type_is_t_on_every_pair_of_three_secrets() -> None:
    from utmost.polytopes import kernels

    for kernel in kernels(discrete(3), HALF):
        rows = kernel.channel().rows
        assert any(any(a == b for a, b in zip(rows[x], rows[z], strict=True)) for x, z in ((0, 1), (0, 2), (1, 2)))


def test_has_optimal_mechanism_is_true_exactly_where_there_is_one() -> None:
    assert existence.has_optimal_mechanism(line(3), HALF, losses.absolute)
    assert not existence.has_optimal_mechanism(discrete(3), HALF, losses.absolute)
