"""Mechanisms beside each other: no rival is below the optimum, and refinements agree with losses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from strategies import levels, rational_levels, weights
from utmost.comparison.rivals import MAX_COMPARED_POINTS
from utmost.errors import InputError
from utmost.spaces import cycle, discrete, grid, line

HALF = ut.alpha("1/2")
SPACES = [line(4), grid(2, 2), grid(2, 3), cycle(5), discrete(4)]


def reader_of(space: ut.Space, prior: list[Fraction] | None = None, loss: str = "absolute") -> ut.Consumer:
    law = ut.priors.uniform(len(space)) if prior is None else ut.priors.explicit(prior)
    return ut.Consumer(law, ut.losses.over(ut.losses.parse(loss), space), space.labels)


@st.composite
def questions(draw: st.DrawFn) -> tuple[ut.Space, ut.Consumer]:
    space = draw(st.sampled_from(SPACES))
    return space, reader_of(space, draw(weights(len(space))), draw(st.sampled_from(["absolute", "squared", "binary"])))


@settings(max_examples=8)
@given(questions(), levels())
def test_no_rival_that_is_private_costs_less_than_the_optimum(question, level):
    space, reader = question
    comparison = ut.compare(space, level, reader)
    least = comparison["optimal"].design.certificate.lower
    assert len(comparison.mechanisms) + len(comparison.refused) == len(ut.comparison.rival_names())
    for row in comparison.mechanisms:
        assert row.private
        assert least <= row.loss.upper
        assert row.loss.lower <= row.loss.upper
        assert row.face_value_loss is None or row.loss.lower <= row.face_value_loss.upper
        assert row.loss.lower <= comparison.silent_loss.upper
        assert 1 <= row.leakage.upper <= row.capacity.upper * (1 + Fraction(1, 10**30))
        assert row.capacity.lower <= comparison.level_capacity.upper


@settings(max_examples=8)
@given(questions(), rational_levels())
def test_rational_numbers_are_those_of_the_consumer(question, level):
    space, reader = question
    for row in ut.compare(space, level, reader, ["optimal", "response", "silence"]).mechanisms:
        exact = reader.expected_loss(row.channel)
        assert row.loss.lower <= exact <= row.loss.upper
        if all(isinstance(entry, Fraction) for entry in (*reader.costs().flat, *row.channel.rows.flat)):
            assert row.loss.lower == exact == row.loss.upper
        assert row.guess.lower <= ut.qif.bayes.posterior(reader.prior, row.channel) <= row.guess.upper


@pytest.mark.slow
@settings(max_examples=6)
@given(questions(), rational_levels())
def test_what_refines_a_mechanism_never_costs_less(question, level):
    space, reader = question
    comparison = ut.compare(space, level, reader)
    for (first, second), refines in comparison.refinements.items():
        if refines:
            assert comparison[first].loss.lower <= comparison[second].loss.upper
            assert comparison[second].guess.lower <= comparison[first].guess.upper
        if second == "silence":
            assert refines


@settings(max_examples=6)
@given(weights(5), rational_levels())
def test_the_optimum_of_a_count_refines_the_geometric_mechanism(prior, level):
    """GRS12 Thm 3.2."""
    comparison = ut.compare(line(5), level, reader_of(line(5), prior), ["optimal", "geometric"])
    assert comparison.refinements["geometric", "optimal"]
    assert comparison["geometric"].loss == comparison["optimal"].loss


def test_a_channel_of_ones_own_is_matched_by_its_labels():
    space = discrete(3)
    mine = ut.channel.channel([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]], inputs=[2, 0, 1])
    comparison = ut.compare(space, HALF, reader_of(space, loss="binary"), [("mine", mine), "response", "silence"])
    assert comparison["mine"].loss.lower == Fraction(1, 2) == comparison["response"].loss.lower
    assert comparison.refinements["mine", "response"]
    assert comparison.refinements["response", "mine"]


def test_a_channel_of_floats_is_measured_as_it_stands():
    rows = np.array([[0.6, 0.4], [0.4, 0.6]])
    mine = ut.channel.channel(rows.tolist())
    comparison = ut.compare(line(2), HALF, reader_of(line(2)), [("mine", mine), "geometric"])
    assert float(comparison["mine"].loss.upper) == pytest.approx(0.4)
    assert comparison["mine"].private
    assert not comparison["mine"].channel.exact
    assert comparison.refinements["geometric", "mine"] is None


def test_a_channel_that_is_not_private_is_told():
    mine = ut.geometric(3, ut.alpha("1/4"))
    comparison = ut.compare(line(4), HALF, reader_of(line(4)), ["optimal", ("mine", mine)])
    assert not comparison["mine"].private
    assert comparison["mine"].loss.upper < comparison["optimal"].loss.lower
    assert "Not private" in comparison._repr_html_()


def test_a_mechanism_for_another_space_is_listed_with_the_reason():
    comparison = ut.compare(grid(2, 2), HALF, reader_of(grid(2, 2)), ["planar", "geometric", "staircase"])
    assert [row.name for row in comparison.mechanisms] == ["planar"]
    assert [refused.name for refused in comparison.refused] == ["geometric", "staircase"]
    assert "needs a line with equal steps" in comparison.refused[0].reason


def test_losses_of_irrational_channels_come_at_once():
    """Sixteen rows with sums of their own below the line: their exact sum has a denominator of 10^16 terms."""
    comparison = ut.compare(grid(4, 4), ut.epsilon(1), reader_of(grid(4, 4)), ["exponential", "planar", "response"])
    for row in comparison.mechanisms:
        assert row.loss.upper - row.loss.lower < Fraction(1, 10**30)


def test_a_comparison_shows_as_text_page_frame_and_charts(tmp_path):
    comparison = ut.compare(grid(2, 2), HALF, reader_of(grid(2, 2)), ["optimal", "planar"])
    assert repr(comparison).startswith("<MechanismComparison on grid:2x2 at α = 1/2")
    assert len(repr(comparison)) < 200
    assert "<table" in comparison._repr_html_()
    table = comparison.to_arrow().to_pydict()
    assert table["mechanism"] == ["optimal", "planar"]
    assert table["loss_low"][0] <= table["loss_high"][0]
    for name, figure in (("bars", comparison.plot()), ("maps", comparison.maps("0,1"))):
        figure.save(tmp_path / f"{name}.svg")
        assert "optimal" in (tmp_path / f"{name}.svg").read_text()


@pytest.mark.parametrize(
    ("mechanisms", "words"),
    [
        (["geometic"], "did you mean geometric"),
        (["optimal", "optimal"], 'must have different names, got "optimal" twice'),
        ([], "must be 1 to 50"),
        ("optimal", "must be a list"),
        ([3], "must be names or channels, got int"),
        ([ut.geometric(7, HALF)], "must be the points of line:4"),
        ([("x" * 99, ut.geometric(3, HALF))], "1 to 40 characters"),
    ],
)
def test_wrong_mechanisms_are_refused_in_a_line(mechanisms, words):
    with pytest.raises(InputError, match=words):
        ut.compare(line(4), HALF, reader_of(line(4)), mechanisms)


def test_a_space_that_is_too_large_is_refused_at_once():
    with pytest.raises(InputError, match=f"at most {MAX_COMPARED_POINTS}"):
        ut.compare(grid(1000, 1000), HALF, reader_of(line(4)))


def test_a_road_network_is_mapped_by_its_distances():
    roads = ut.graph([("a", "b", 2), ("b", "c", 1), ("c", "d", 4), ("d", "a", 3)])
    table = ut.compare(roads, HALF, reader_of(roads), ["optimal", "exponential"])
    chart = table.maps("b").chart.to_dict()
    assert "stand about as far apart as they are" in " ".join(chart["title"]["subtitle"])
    panels = [panel["title"] for panel in chart["concat"]]
    assert sorted(panels) == ["exponential", "optimal"]


def test_maps_need_places():
    comparison = ut.compare(line(4), HALF, reader_of(line(4)), ["geometric"])
    with pytest.raises(InputError, match="points that are places"):
        comparison.maps(1)
