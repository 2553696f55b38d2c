"""GRS12: what is published and what is computed; the errata; the theorem for asymmetric losses."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from strategies import channels, monotone_rows, rational_levels, weights
from utmost import papers
from utmost.channel import Channel, channel, identity, is_private
from utmost.channel.channel import matrix_product
from utmost.consumer import Consumer, losses, priors
from utmost.continuous import laplace_loss
from utmost.design import by_program, derivation, lemmas, optimal, signature
from utmost.design.count_mechanism import remapped_geometric
from utmost.errors import InputError
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import inverse_geometric
from utmost.papers.grs12 import databases, figures, laplace, theorems
from utmost.papers.items import LabelledMatrix, Report, matrix_item
from utmost.spaces import line

HALF = alpha("1/2")
WRONG_IN_THE_PAPER = {"Corollary 3.4", "Lemma 5.9"}


@pytest.fixture(scope="module")
def report() -> Report:
    return papers.report("grs12")  # case does not matter


def test_everything_published_is_computed_again_but_for_the_errata(report: Report) -> None:
    assert {item.name for item in report.items if item.agrees is False} == WRONG_IN_THE_PAPER
    assert sum(item.agrees is True for item in report.items) >= 20


def test_every_figure_and_example_has_its_item(report: Report) -> None:
    names = " ".join(item.name for item in report.items)
    for wanted in ("1(a)", "1(b)", "3(a)", "3(b)", "Figure 4", "5(a)", "6(a)", "6(b)", "Example 2.3", "Example A.1"):
        assert wanted in names
    assert len({item.name for item in report.items}) == len(report.items)


def test_an_item_without_published_values_does_not_claim_to_agree(report: Report) -> None:
    for item in report.items:
        assert (item.published is None) == (item.agrees is None)


def test_a_misprint_is_shown_beside_the_computed_value() -> None:
    rows = figures.fraction_rows(figures.FIGURE_1B)
    rows[2][3] = Fraction(1, 7)
    item = matrix_item("Figure 1(b)", "", figures.count_grid(rows), geometric(5, HALF).channel().rows.tolist())
    assert item.agrees is False
    assert item.published.rows[2][4] == "1/7"
    assert item.computed.rows[2][4] == "1/6"


def test_agreement_is_of_numbers_not_of_text() -> None:
    grid = LabelledMatrix("", (0,), (0,), [[Fraction("0.50")]])
    assert matrix_item("", "", grid, [[Fraction(1, 2)]]).agrees
    assert not matrix_item("", "", grid, [["1/2"]]).agrees


def test_the_report_is_json(report: Report) -> None:
    copy = json.loads(json.dumps(papers.document(report)))
    assert copy["key"] == "GRS12"
    assert [item["name"] for item in copy["items"]] == [item.name for item in report.items]
    figure = next(item for item in copy["items"] if item["name"] == "Figure 1(b)")
    assert figure["published"]["rows"][0] == ["0", "2/3", "1/6", "1/12", "1/24", "1/48", "1/48"]
    assert len(copy["errata"]) == len(report.errata) > 0


def test_an_unknown_paper_is_refused_and_case_does_not_matter(report: Report) -> None:
    with pytest.raises(InputError, match="paper must be one of GRS12"):
        papers.report("XYZ")
    assert report.key == "GRS12"


@pytest.mark.parametrize("rows", [figures.FIGURE_1B, figures.FIGURE_3A, figures.FIGURE_5A])
def test_the_published_mechanisms_are_private_channels(rows: tuple[str, ...]) -> None:
    assert is_private(channel(figures.fraction_rows(rows)), line(len(rows)), HALF)


def test_laplace_costs_from_1_to_the_factor_and_the_coin_attains_it(report: Report) -> None:
    (item,) = (item for item in report.items if item.series)
    coin, count, bound = (np.array(series.y) for series in item.series)
    assert np.all((count >= 1) & (count <= bound))
    assert np.allclose(coin, bound, rtol=1e-14)
    assert np.allclose(bound, np.cosh(np.array(item.series[0].x) / 2), rtol=1e-14)  # (1+α)/(2√α) = cosh(ε/2)


# Errata


@given(rational_levels(), st.integers(1, 4))
@settings(max_examples=20)
def test_the_remap_is_the_quotient_on_the_left(level: Level, size: int) -> None:
    consumer = Consumer(priors.uniform(size + 1), losses.absolute)
    mechanism = optimal(line(size + 1), level, consumer).channel
    quotient = matrix_product(inverse_geometric(size, level), mechanism.rows)
    assert set(quotient.ravel()) <= {Fraction(0), Fraction(1)}
    assert np.all(quotient == derivation(mechanism, level).remap.rows)


def test_on_the_right_it_is_no_remap_for_figure_3() -> None:
    printed = channel(figures.fraction_rows(figures.FIGURE_3A))
    assert min(matrix_product(printed.rows, inverse_geometric(5, HALF)).ravel()) < 0


def test_a_mechanism_that_remaps_to_the_geometric_one_need_not_be_private() -> None:
    identity_channel = identity(range(4))
    assert identity_channel.then(geometric(3, HALF).channel()) == geometric(3, HALF).channel()
    assert not is_private(identity_channel, line(4), HALF)


@given(weights(3), st.sampled_from([losses.absolute, losses.squared, losses.binary]), weights(3))
@settings(max_examples=30)
def test_at_alpha_1_every_private_mechanism_is_best_for_everyone(
    prior: list[Fraction], loss: losses.Loss, law: list[Fraction]
) -> None:
    consumer, constant = Consumer(priors.explicit(prior), loss), channel([law] * 3)
    assert is_private(constant, line(3), alpha(1))
    assert consumer.expected_loss(constant) == optimal(line(3), alpha(1), consumer).loss


def test_no_factor_bounds_laplace_noise_when_losses_may_be_negative() -> None:
    costs = laplace.coin_consumer().costs()
    assert laplace.coin_consumer().expected_loss(geometric(1, HALF)) == Fraction(
        1, 3
    )  # so the loss less 1/3 has optimum 0
    assert laplace_loss(costs, HALF).lower > Fraction(1, 3)


@given(st.integers(1, 5), rational_levels())
@settings(max_examples=25)
def test_gamma_of_lemma_5_12_is_small_enough_exactly_below_its_limit(size: int, level: Level) -> None:
    limit = theorems.gamma_limit(size, level)
    if limit is None:
        assert theorems.is_geometric_the_only_optimum(size, level, Fraction(50))
    else:
        assert theorems.is_geometric_the_only_optimum(size, level, limit * Fraction(999, 1000))
        assert not theorems.is_geometric_the_only_optimum(size, level, limit)


@given(rational_levels(), st.integers(1, 4))
@settings(max_examples=15)
def test_with_gamma_0_the_geometric_mechanism_is_still_the_only_optimum(level: Level, size: int) -> None:
    assert theorems.is_geometric_the_only_optimum(size, level, Fraction(0))


@pytest.mark.parametrize("delta", ["0", "1/10", "1/2"])
def test_figure_6_is_the_only_optimum_exactly_below_an_eighth(delta: str) -> None:
    assert databases.figure6_verdict(delta, Fraction(124, 1000)) == "the only one"
    assert databases.figure6_verdict(delta, Fraction(1, 8)) == "one of several"
    assert databases.figure6_verdict(delta, Fraction(126, 1000)) == "not optimal"


# Asymmetric losses (§7): the theorem of docs/papers/grs12.md


@st.composite
def asymmetric_consumers(draw: st.DrawFn, max_size: int = 6) -> Consumer:
    """Losses that fall towards a best reading φ(i) and rise from it, φ non-decreasing."""
    size = draw(st.integers(2, max_size))
    best = sorted(draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size)))
    steps = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    rows = [_loss_row(draw(steps), draw(steps), phi, size) for phi in best]
    return Consumer(priors.explicit(draw(weights(size))), losses.matrix(rows))


def _loss_row(steps_below: list[int], steps_above: list[int], best_reading: int, size: int) -> list[int]:
    """A row that is 0 at `best` and grows by these steps on its two sides."""
    return [
        sum(steps_above[: j - best_reading]) if j >= best_reading else sum(steps_below[: best_reading - j])
        for j in range(size)
    ]


@given(asymmetric_consumers(), rational_levels())
@settings(max_examples=150)
def test_asymmetric_consumers_are_served_best_by_the_geometric_mechanism(consumer: Consumer, level: Level) -> None:
    remapped = remapped_geometric(level, consumer.costs())
    assert remapped.objection is None


@given(asymmetric_consumers(4), rational_levels())
@settings(max_examples=25)
def test_the_program_finds_nothing_better_for_asymmetric_consumers(consumer: Consumer, level: Level) -> None:
    size = consumer.prior.size
    assert by_program(line(size), level, consumer).loss == consumer.expected_loss(geometric(size - 1, level))


def test_a_best_reading_that_goes_down_and_up_again_is_not_served_best() -> None:
    rows = [[11, 1, 0], [0, 1, 6], [3, 1, 0]]  # best readings 2, 0, 2
    consumer = Consumer(priors.explicit(["4/7", "1/7", "2/7"]), losses.matrix(rows))
    level = alpha("9/20")
    assert by_program(line(3), level, consumer).loss < consumer.expected_loss(geometric(2, level))


@st.composite
def strict_cases(draw: st.DrawFn) -> tuple[Consumer, Channel, Level]:
    """A strict asymmetric consumer with a full-support prior, and a private mechanism."""
    size, level = draw(st.integers(3, 6)), draw(rational_levels())
    consumer = Consumer(
        priors.explicit(draw(weights(size, positive=True))), losses.matrix(draw(monotone_rows(size, True, False)))
    )
    return consumer, geometric(size - 1, level).channel().then(draw(channels(size, size))), level


@given(strict_cases())
@settings(max_examples=40)
def test_the_exchange_improves_every_mechanism_whose_signature_is_not_unimodal(
    case: tuple[Consumer, Channel, Level],
) -> None:
    consumer, mechanism, level = case
    violations = unimodality_violations(signature(mechanism, level))
    assume(violations)
    for h, k, m in violations:
        better = exchange_columns(mechanism, level, h, k, m)
        assert consumer.face_value_loss(better) < consumer.face_value_loss(mechanism)


def test_all_three_exchanges_are_needed_and_improve() -> None:
    mixed = channel([[Fraction(3 if x == y else 1, 8) for y in range(6)] for x in range(6)])
    mechanism = geometric(5, HALF).channel().then(mixed)
    consumer = Consumer(priors.uniform(6), losses.asymmetric(3, 1))
    violations = unimodality_violations(signature(mechanism, HALF))
    assert {"A" if h <= k else "B" if h + 1 >= m else "C" for h, k, m in violations} == {"A", "B", "C"}
    for violation in violations:
        assert consumer.face_value_loss(exchange_columns(mechanism, HALF, *violation)) < consumer.face_value_loss(
            mechanism
        )


def unimodality_violations(symbols: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """(h, k, m) with k < m, S or ↑ at (h, k) and S or ↓ at (h, m)."""
    return [
        (h, k, m)
        for h, row in enumerate(symbols)
        for m in range(len(row))
        for k in range(m)
        if row[k] in "S↑" and row[m] in "S↓"
    ]


def exchange_columns(mechanism: Channel, level: Level, h: int, k: int, m: int) -> Channel:
    """The exchange of the proof, by an amount small enough to stay private."""
    for power in range(6, 200, 6):
        rows = np.array(mechanism.rows)
        _move_mass(rows, h, k, m, Fraction(1, 2**power))
        if rows.min() < 0:
            continue
        candidate = Channel(mechanism.inputs, mechanism.outputs, rows)
        if is_private(candidate, line(len(rows)), level):
            return candidate
    raise AssertionError("no amount is small enough")


def _move_mass(rows: np.ndarray, h: int, k: int, m: int, share: Fraction) -> None:
    low, high = np.arange(h + 1), np.arange(h + 1, len(rows))
    from_m, from_k = rows[low, m] * share, rows[high, k] * share * rows[h, m] / rows[h + 1, k]
    if h <= k:
        rows[low, m], rows[low, k] = rows[low, m] - from_m, rows[low, k] + from_m
    elif h + 1 >= m:
        rows[high, k], rows[high, m] = rows[high, k] - from_k, rows[high, m] + from_k
    else:  # k < h < m - 1: both to column h, where they meet with ratio 1
        rows[low, m], rows[high, k] = rows[low, m] - from_m, rows[high, k] - from_k
        rows[low, h], rows[high, h] = rows[low, h] + from_m, rows[high, h] + from_k


@given(st.data(), st.integers(2, 5), rational_levels())
@settings(max_examples=25)
def test_optima_of_strict_asymmetric_consumers_obey_lemmas_5_5_and_5_6(
    data: st.DataObject, size: int, level: Level
) -> None:
    loss = losses.matrix(data.draw(monotone_rows(size, True, False)))
    consumer = Consumer(priors.explicit(data.draw(weights(size, positive=True))), loss)
    best = by_program(line(size), level, consumer)
    findings = {finding.lemma: finding.holds for finding in lemmas(signature(best.channel, level))}
    assert all(findings[name] for name in ("5.3(a)", "5.3(b)", "5.5", "5.6(a)", "5.6(b)"))
