"""Losses drawn by hand: what they cost, when they are legal, and that they are read like every other loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from utmost.consumer import Consumer, losses, priors
from utmost.consumer.counts import read, readings
from utmost.consumer.losses import PiecewiseLoss
from utmost.design.optimal import optimal
from utmost.errors import InputError
from utmost.exact import Level, epsilon
from utmost.mechanisms import geometric
from utmost.spaces import line

errors = strategies.fractions(-6, 6)
costs = st.one_of(st.integers(0, 4).map(Fraction), strategies.fractions(0, 5))
shapes = st.lists(st.tuples(errors, costs), min_size=1, max_size=6, unique_by=lambda point: point[0])
drawings = shapes.filter(lambda points: any(cost for _, cost in points)).map(losses.drawn)


@given(drawings, st.integers(1, 9))
def test_it_is_a_function_of_the_error_alone_and_its_forms_agree(loss: PiecewiseLoss, size: int) -> None:
    matrix = loss.matrix(size)
    for i in range(size):
        for j in range(size):
            assert loss.exact(i, j) == matrix[i, j] == loss.at(j - i)
    counts = np.arange(size)
    assert loss.array(counts[:, None], counts[None, :]) == pytest.approx(matrix.astype(float), rel=1e-12, abs=1e-12)


@given(drawings)
def test_its_name_is_read_back_as_the_same_loss(loss: PiecewiseLoss) -> None:
    assert losses.parse(loss.name) == loss


@given(drawings, st.integers(1, 12))
@settings(max_examples=300)
def test_legality_is_what_the_definition_says(loss: PiecewiseLoss, size: int) -> None:
    verdict = losses.legality(loss, size)
    brute = losses.legality(losses.matrix(loss.matrix(size).tolist()), size)
    assert (verdict.legal, verdict.strict) == (brute.legal, brute.strict)
    for witness, strictly in ((verdict.witness, False), (verdict.strict_witness, True)):
        if witness is not None:
            i, nearer, farther = witness
            assert all(0 <= k < size for k in witness)
            assert abs(nearer - i) <= abs(farther - i)
            nearer_loss, farther_loss = loss.exact(i, nearer), loss.exact(i, farther)
            equidistant = abs(nearer - i) == abs(farther - i)
            assert (
                nearer_loss > farther_loss
                or (equidistant and nearer_loss != farther_loss)
                or (strictly and not equidistant and nearer_loss == farther_loss)
            )


@given(drawings)
def test_monotone_means_that_no_error_costs_less_than_a_smaller_one_to_its_side(loss: PiecewiseLoss) -> None:
    grid = [Fraction(k, 40) for k in range(320)]
    points = sorted({*grid, *(abs(error) for error, _ in loss.points)})
    for side in (1, -1):
        side_costs = [loss.at(side * point) for point in points]
        if side_costs != sorted(side_costs):
            assert not loss.monotone
            return
    assert loss.monotone


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_readings_of_counts_are_those_of_the_matrix_path(data: st.DataObject) -> None:
    size, loss = data.draw(st.integers(1, 9)), data.draw(drawings)
    prior, level = priors.explicit(data.draw(strategies.weights(size))), data.draw(strategies.rational_levels())
    reader, mechanism = Consumer(prior, loss), geometric(size - 1, level)
    all_readings = readings(prior, level, loss)
    assert all_readings.expected_loss == pytest.approx(float(reader.expected_loss(mechanism)), rel=1e-9, abs=1e-11)
    assert all_readings.face_value_loss == pytest.approx(float(reader.face_value_loss(mechanism)), rel=1e-9, abs=1e-11)
    possible = [y for y in range(size) if any(prior.exact())]
    assert [int(all_readings.remap[y]) for y in possible] == reader.remap(mechanism)
    for y in possible:
        assert read(prior, level, loss, y).estimate == all_readings.remap[y]


@pytest.mark.parametrize("text", ["drawn:-40:8,-20:3,0:0,20:2,40:20", "drawn:-9:1,0:0,30:2", "power:3/2"])
@pytest.mark.parametrize("family", ["uniform", "binomial:0.3", "steps:0,3,1,0,9"])
def test_a_search_within_windows_finds_what_a_search_over_all_readings_does(text: str, family: str) -> None:
    prior, loss, level = priors.parse(family, 150), losses.parse(text), epsilon("0.1")
    table = losses.matrix(loss.matrix(150).tolist()) if isinstance(loss, PiecewiseLoss) else None
    all_readings = readings(prior, level, loss)
    counts = np.arange(150)
    joint = np.exp(prior.logs()[:, None] - 0.1 * np.abs(counts[:, None] - counts[None, :]))
    scores = loss.array(counts[:, None], counts[None, :]).T @ joint
    best = scores[all_readings.remap, counts]
    assert best == pytest.approx(scores.min(axis=0), rel=1e-12)
    if table is not None:
        assert readings(prior, level, table).remap.tolist() == all_readings.remap.tolist()


@given(st.integers(2, 5), strategies.rational_levels(), drawings)
@settings(max_examples=25, deadline=None)
def test_the_geometric_mechanism_is_the_best_for_every_monotone_drawing(
    size: int, level: Level, loss: PiecewiseLoss
) -> None:
    """GRS12 Thm 3.2 and its extension to two different sides; certified by `optimal`, in fractions."""
    reader = Consumer(priors.uniform(size), loss)
    design = optimal(line(size), level, reader)
    if loss.monotone:
        assert reader.expected_loss(geometric(size - 1, level)) == design.loss


def test_a_loss_that_falls_away_from_the_truth_is_read_beyond_the_posterior() -> None:
    """Free of cost 30 above the truth: the best reading lies where the posterior has nothing."""
    loss = losses.parse("drawn:0:5,29:5,30:0,31:5")
    weights = ["1"] + ["0"] * 60
    prior = priors.explicit(weights)
    assert read(prior, epsilon("1"), loss, 0).estimate == 30
    assert readings(prior, epsilon("1"), loss).remap.tolist() == [30] * 61
    wide = priors.parse("binomial:0", 5000)
    assert read(wide, epsilon("1"), loss, 0).estimate == 30
    with pytest.raises(InputError, match="fall away"):
        readings(wide, epsilon("1"), loss)


def test_level_losses_do_not_take_forever_to_settle() -> None:
    """Every reading costs the same: thousands of ties, and no more than a moment's patience for them."""
    prior = priors.uniform(1500)
    all_readings = readings(prior, epsilon("0.01"), losses.parse("drawn:0:5"), [700])
    assert all_readings.expected_loss == pytest.approx(5)


@pytest.mark.parametrize(
    "text",
    [
        *("drawn:", "drawn:1", "drawn:1:2:3", "drawn:1:2,1:3", "drawn:0:0", "drawn:0:-1", "drawn:nan:1", "drawn:0:inf"),
        *("drawn:1e40:1", "drawn:0:1e13", "drawn:" + ",".join(f"{k}:1" for k in range(300)), "drawn:exp(1):1"),
    ],
)
def test_nonsense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        losses.parse(text)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_an_error_has_no_sign_off_a_line() -> None:
    from utmost.spaces import discrete

    with pytest.raises(InputError, match="on a line"):
        losses.over(losses.parse("drawn:0:0,1:1"), discrete(3))
    assert losses.legality(losses.parse("drawn:-3:3,0:0,3:3"), 5).strict_witness == (0, 3, 4)
