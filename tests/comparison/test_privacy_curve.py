"""The optimum and its rivals against ε: losses fall, and are those of single comparisons."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from strategies import weights
from utmost.errors import InputError
from utmost.spaces import cycle, grid, line

READER = ut.Consumer(ut.priors.uniform(4), ut.losses.absolute)


@settings(max_examples=6)
@given(st.data(), st.lists(st.integers(1, 30), min_size=1, max_size=3, unique=True))
def test_more_epsilon_never_costs_the_optimum_more(data, tenths):
    space = data.draw(st.sampled_from([line(4), cycle(4), grid(2, 2)]))
    loss = ut.losses.over(ut.losses.absolute, space)
    reader = ut.Consumer(ut.priors.explicit(data.draw(weights(4))), loss, space.labels)
    result = ut.curve(space, reader, [Fraction(k, 10) for k in sorted(tenths)], ["optimal", "response"])
    losses = [point.mechanisms[0].loss for point in result.points]
    assert all(after.lower <= before.upper for before, after in pairwise(losses))
    for point in result.points:
        least = point.mechanisms[0].design.certificate.lower
        assert all(row.private and least <= row.loss.upper for row in point.mechanisms)


def test_a_point_is_a_comparison():
    result = ut.curve(line(4), READER, ["1/2", 2], ["optimal", "geometric", "planar"])
    for point in result.points:
        single = ut.compare(line(4), point.level, READER, ["optimal", "geometric"])
        assert [row.loss for row in point.mechanisms] == [single[row.name].loss for row in point.mechanisms]
        assert [refused.name for refused in point.refused] == ["planar"]
    assert result.names == ["optimal", "geometric"]


def test_doubles_are_read_as_they_are_printed():
    result = ut.curve(line(4), READER, np.linspace(0.1, 0.3, 3), ["silence"])
    assert [point.level.exponent for point in result.points] == [Fraction(k, 10) for k in (1, 2)] + [Fraction("0.3")]


def test_levels_may_be_given():
    result = ut.curve(line(4), READER, [ut.alpha("1/2"), ut.alpha("1/3")], ["geometric"])
    assert result.points[0].mechanisms[0].loss.lower == READER.expected_loss(ut.geometric(3, ut.alpha("1/2")))


def test_a_curve_shows_as_text_page_frame_and_chart(tmp_path):
    result = ut.curve(line(4), READER, [1, 2], ["optimal", "response", "planar"])
    assert repr(result) == "<PrivacyCurve on line:4: optimal, response at 2 levels, ε = 1 to ε = 2>"
    page = result._repr_html_()
    assert "<table" in page
    assert "Left out: planar" in page
    assert result.to_arrow().num_rows == 4
    result.plot().save(tmp_path / "curve.svg")
    assert "response" in (tmp_path / "curve.svg").read_text()


@pytest.mark.parametrize(
    ("epsilons", "words"),
    [
        ([], "1 to 200 numbers, got 0"),
        (range(1, 10**5), "1 to 200 numbers, got 99999"),
        ([1, 1], "got 1 twice"),
        ([2, 1], "after a larger one"),
        ([0, 1], "must be > 0"),
        ([-1], "epsilon must be >= 0"),
        (["x"], "must be a number"),
        ([float("nan")], "must be a number"),
        ("1,2", "must be a list"),
        (3, "must be a list"),
    ],
)
def test_wrong_levels_are_refused_in_a_line(epsilons, words):
    with pytest.raises(InputError, match=words):
        ut.curve(line(4), READER, epsilons)
