"""The planar geometric mechanism: libqif's matrix, exact draws from it, one-line refusals."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from utmost.channel import Channel, is_private
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import channel_on, planar_geometric
from utmost.mechanisms.registry import build
from utmost.spaces import grid, line, scale_space, sub_space

LEVEL = epsilon("3/4")
PLACES = grid(3, 4)


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_its_matrix_is_that_of_libqif(rate: Fraction) -> None:
    qif = pytest.importorskip("qif", reason="qif is not installed: make oracles")
    expected = qif.mechanism.geo_ind.planar_geometric_grid(4, 4, 1.0, float(rate))
    assert np.abs(planar_geometric(grid(4, 4), epsilon(rate)).channel().floats() - expected).max() < 2e-7


def test_it_is_private_and_exact_and_the_channel_of_planar_on_the_places() -> None:
    source = planar_geometric(PLACES, LEVEL).channel()
    assert source.exact
    assert source == Channel(PLACES.labels, PLACES.labels, source.rows)
    assert is_private(source, PLACES, LEVEL)
    assert source == channel_on("planar", PLACES, LEVEL)


def test_draws_have_the_law_of_the_matrix_and_the_labels_of_places() -> None:
    mechanism, count = planar_geometric(PLACES, LEVEL), 40_000
    counts = Counter(mechanism.draw(["1,2"] * count))
    row = mechanism.channel().rows[PLACES.labels.index("1,2")]
    expected = {label: float(chance) * count for label, chance in zip(PLACES.labels, row, strict=True)}
    statistic = sum((counts[label] - mean) ** 2 / mean for label, mean in expected.items())
    assert statistic < chi2.ppf(1 - 1e-9, len(PLACES) - 1)
    assert mechanism.draw([]) == []


def test_the_command_line_builds_the_same_with_a_step_and_recomputes_its_epsilon() -> None:
    built = build("planar-geometric", {"grid": "2x3", "step": "1/2"}, epsilon(1))
    places = scale_space(grid(2, 3), "1/2")
    channel = built.channel()
    assert channel == planar_geometric(places, epsilon(1)).channel()
    assert built.privacy_loss(channel).epsilon == pytest.approx(1, abs=1e-9)
    assert set(built.draw(built.parse_input("1, 2"), 5)) <= set(places.labels)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: planar_geometric(sub_space(grid(2, 2), ["0,0", "0,1", "1,0"]), LEVEL),
            "planar needs places that fill a grid",
        ),
        (lambda: planar_geometric(line(3), LEVEL), "planar needs places"),
        (lambda: planar_geometric(grid(2, 2, "manhattan"), LEVEL), "planar needs places"),
        (lambda: planar_geometric(grid(40, 40), LEVEL), "at most 1024 places"),
        (lambda: planar_geometric(PLACES, alpha(1)), "0 < alpha < 1"),
        (lambda: planar_geometric("grid", LEVEL), "space must be a space"),
        (lambda: planar_geometric(PLACES, LEVEL).draw(["secret"]), "input must be places of the grid, got something"),
        (lambda: build("planar-geometric", {"grid": "x"}, LEVEL), "--grid must"),
        (lambda: build("planar-geometric", {"grid": "0x3"}, LEVEL), "--grid must be of 1 to 1024 places"),
        (lambda: build("planar-geometric", {"grid": "2x2", "step": "-1"}, LEVEL), "--step must be > 0"),
        (lambda: build("planar-geometric", {"grid": "2x2"}, LEVEL).parse_input("5,5"), "--input must be a place"),
        (lambda: build("planar-geometric", {}, LEVEL), "--grid must be given for planar-geometric"),
    ],
)
def test_bad_input_is_refused_in_one_line_that_does_not_repeat_it(make, words) -> None:
    with pytest.raises(InputError, match=words) as error:
        make()
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)
