"""FMM21: what is published and what is computed; the errata; the pictures."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest

from utmost import papers
from utmost.channel import channel
from utmost.consumer import Consumer, losses, priors
from utmost.continuous import geometric_loss, laplace_loss
from utmost.exact import alpha
from utmost.papers import Report
from utmost.papers.fmm21 import margins, matrices, pixelation

WRONG_IN_THE_PAPER = {
    "Section II-D1",
    "Section IV-C, the tie",
    "Section IV-D(b)",
    "Definition 4",
    "Section VII, ratios",
    "Equation 12",
    "Lemma 16",
    "Theorem 14, proof",
    "Sections VIII and X, continuity",
}


@pytest.fixture(scope="module")
def report() -> Report:
    return papers.report("FMM21")


def find_item(report: Report, name: str):
    (match,) = [item for item in report.items if item.name == name]
    return match


def test_everything_published_is_computed_again_but_for_the_errata(report: Report) -> None:
    assert {item.name for item in report.items if item.agrees is False} == WRONG_IN_THE_PAPER
    assert sum(item.agrees is True for item in report.items) >= 16


def test_names_are_unique_and_what_has_no_published_side_claims_nothing(report: Report) -> None:
    assert len({entry.name for entry in report.items}) == len(report.items)
    for entry in report.items:
        assert (entry.published is None) == (entry.agrees is None)


def test_the_matrices_are_those_of_the_paper(report: Report) -> None:
    for name in ("Section IV-C, the channel M", "Section VII, G_2", "Section VII, G_4"):
        entry = find_item(report, name)
        assert entry.published == entry.computed
        channel([row[1:] for row in entry.computed.rows])


def test_the_example_loses_a_third_and_its_rows_are_ln_4_apart(report: Report) -> None:
    rows = dict(find_item(report, "Section IV-C, the loss").computed.rows)
    assert rows["expected loss, uniform prior, Bayes risk"] == "1/3"
    assert rows["e^d_D(M(x0), M(x1))"] == "4"


def test_the_printed_masses_of_definition_4_exceed_1(report: Report) -> None:
    entry = find_item(report, "Definition 4")
    assert [row[1] for row in entry.published.rows] == ["1", "4", "91/16"]
    assert [row[1] for row in entry.computed.rows] == ["1/4", "1/16", "1"]


def test_the_printed_rows_of_equation_12_exceed_1(report: Report) -> None:
    entry = find_item(report, "Equation 12")
    assert all(Fraction(row[1]) > 1 for row in entry.published.rows)
    assert [row[1] for row in entry.computed.rows] == ["1", "1", "1", "4"]


def test_true_differences_fall_faster_than_earth_moves(report: Report) -> None:
    table = margins.uniform_margins()
    for coarse, fine in pairwise(table[1:]):
        assert coarse.upper / fine.upper > 3
    move = [row.move for row in table if row.move is not None]
    assert all(a / b < 2.5 for a, b in pairwise(move))
    assert all(row.upper * row.count**2 < Fraction(1, 4) for row in table)
    assert find_item(report, "Theorem 13").series


def test_the_difference_that_is_tabled_is_that_of_two_integrals() -> None:
    """Against a midpoint sum of Def. 2 on the whole line, N = 2."""
    grid, level = matrices.unit_grid(2), margins.level_with_32nd_roots()
    consumer = Consumer(priors.uniform(3), pixelation.distance_loss(grid))
    rate, points = level.epsilon, [0.0, 0.5, 1.0]
    total, steps = 0.0, 24000
    for k in range(steps):
        y = -5.5 + 12 * (k + 0.5) / steps
        density = [rate / 2 * 2.718281828459045 ** (-rate * abs(x - y)) / 3 for x in points]
        total += min(sum(p * abs(x - w) for p, x in zip(density, points, strict=True)) for w in points) * 12 / steps
    step = grid.level(level)
    assert float(laplace_loss(consumer.costs(), step)) == pytest.approx(total, abs=1e-6)
    row = margins.uniform_margins()[1]
    assert float(row.upper) == pytest.approx(total - float(geometric_loss(consumer.costs(), step)), abs=1e-6)


def test_the_reduction_of_theorem_14_loses_the_lipschitz_constant(report: Report) -> None:
    rows = dict(find_item(report, "Theorem 14, proof").computed.rows)
    assert rows["κ of ℓ*, to be that of ℓ = |w−x|"] == "8"
    assert rows["the same with N + 1 for N"] == "1/8"


def test_the_bounds_of_lemma_9_close() -> None:
    widths = [high / low for low, _, high in (pixelation.lemma9_bounds(n, 4, "2") for n in (1, 2, 4) if n > 1)]
    assert widths[0] > widths[1] > 1


def test_a_consumer_of_the_two_ends_loses_nothing_where_the_middle_is_a_point() -> None:
    """At even N the reading changes at a point of the grid, so the two mechanisms cost the same: a check by hand."""
    level = alpha(Fraction(1, 2) ** 4)
    for count, is_equal in ((2, True), (4, True), (1, False)):
        consumer = Consumer(margins.trial_priors(count)["0 or 1"], pixelation.distance_loss(matrices.unit_grid(count)))
        step = matrices.unit_grid(count).level(level)
        assert (laplace_loss(consumer.costs(), step).exact == geometric_loss(consumer.costs(), step)) is is_equal


def test_binary_losses_are_among_those_that_need_no_lipschitz_constant(report: Report) -> None:
    rows = find_item(report, "Sections VIII and X, continuity").computed.rows
    assert all(1 <= float(row[3]) <= float(row[4]) for row in rows)
    assert float(rows[2][3]) < float(rows[1][3]) < float(rows[0][3])
    assert losses.legality(losses.binary, 3).legal


def test_a_step_loss_that_is_not_monotone_is_served_better_by_another_mechanism(report: Report) -> None:
    entry = find_item(report, "Section VIII, step functions")
    assert entry.agrees is True
    assert [row[3] for row in entry.computed.rows] == ["8.2%", "11.2%", "11.7%", "5.7%", "0.1%"]  # as in the docs
    assert all(float(best) < float(laplace) for _, best, laplace, _ in entry.computed.rows)


@pytest.mark.parametrize("name", ["Figure 1(a)", "Figure 1(b)", "Theorem 13"])
def test_figures_are_drawn(report: Report, name: str) -> None:
    entry = find_item(report, name)
    if entry.draw is None:
        assert entry.series
        assert all(len(line.x) == len(line.y) > 1 for line in entry.series)
    else:
        chart_json = json.dumps(entry.draw().to_dict())
        assert "geometric G_2" in chart_json
        assert "Laplace, 8 cells" in chart_json


def test_the_document_is_json(report: Report) -> None:
    text = json.dumps(papers.document(report))
    assert json.loads(text)["key"] == "FMM21"
    assert len(report.errata) >= 12
