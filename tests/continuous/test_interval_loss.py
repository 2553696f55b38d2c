"""Losses over an interval in one call."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import utmost as ut
from utmost.continuous import IntervalLoss, bound_expected_loss, densities, losses, mechanisms

UNIT, LEVEL = ut.interval(0, 1), ut.epsilon(2)


def overlap(first: IntervalLoss, second: IntervalLoss) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def test_the_call_is_what_its_parts_say() -> None:
    result = UNIT.loss("laplace", LEVEL, prior="beta:2,5", loss="absolute", width="1e-4")
    parts = bound_expected_loss(densities.beta(2, 5, UNIT), mechanisms.Laplace(UNIT, LEVEL), losses.absolute, "1e-4")
    assert (result.lower, result.upper) == (parts.lower, parts.upper)
    assert repr(UNIT.loss("laplace", LEVEL, prior="beta:2,5")).startswith(
        "<IntervalLoss: laplace at ε = 2 costs between 0.1235"
    )
    assert result.remark == ""
    table = result.table
    assert table.names == ("cells", "lower", "upper", "width")
    assert [row["cells"] for row in table.rows] == sorted(stage.cells for stage in result.stages)


def test_without_a_width_the_bounds_are_a_thousandth_of_the_loss_apart() -> None:
    for text in ("absolute", "squared"):
        result = ut.interval(0, 100).loss("laplace", ut.epsilon("0.1"), prior="normal:40,10", loss=text)
        assert result.bounds.width <= result.stages[0].upper / 1000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["double", "fraction", "ball"])
def test_own_densities_return_doubles_fractions_or_balls(kind: str) -> None:
    flint = pytest.importorskip("flint")
    numbers = {"double": float, "fraction": Fraction, "ball": flint.arb}
    number = numbers[kind]
    own = UNIT.loss("laplace", LEVEL, prior=lambda x: 6 * number(x) * (1 - number(x)), width="1e-3")
    known = UNIT.loss("laplace", LEVEL, prior="beta:2,2", width="1e-6")
    assert overlap(own, known)
    assert own.bounds.width < Fraction(11, 10000)
    assert "as measured" in own.remark


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["double", "fraction", "ball"])
def test_own_losses_return_doubles_fractions_or_balls(kind: str) -> None:
    flint = pytest.importorskip("flint")
    number: Any = {"double": float, "fraction": Fraction, "ball": lambda gap: flint.arb(float(gap))}[kind]
    own = UNIT.loss("laplace", LEVEL, prior="beta:2,5", loss=lambda gap: number(gap) ** 2, width="1e-3")
    assert overlap(own, UNIT.loss("laplace", LEVEL, prior="beta:2,5", loss="squared", width="1e-6"))
    assert "no proof" in own.remark


def test_a_loss_that_is_not_convex_is_read_without_that() -> None:
    own = UNIT.loss("laplace", LEVEL, loss=lambda gap: math.sqrt(abs(gap)), width="0.02")
    assert own.remark == ""
    assert overlap(own, UNIT.loss("laplace", LEVEL, loss="power:1/2", width="0.02"))


def test_grids_come_near_laplace_noise() -> None:
    result = UNIT.convergence(LEVEL, (1, 4, 16), prior="beta:2,5")
    rows = result.table.rows
    assert [row["steps"] for row in rows] == [1, 4, 16]
    last: Any = rows[-1]
    assert abs(last["difference <="]) < Fraction(1, 1000)
    assert last["difference >="] <= last["difference <="]


def test_a_notebook_shows_the_report_and_the_readings() -> None:
    result = UNIT.loss("laplace", LEVEL, prior=lambda x: 2 * x, loss=abs, width="0.02")
    html = result._repr_html_()
    assert "Not proved: the prior is taken straight" in html
    assert "No Lipschitz constant is stated" in html
    assert result.plot().chart is not None


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"prior": lambda x: "a"}, "returns a number, got str"),
    ({"prior": lambda x: math.nan}, "finite everywhere"),
    ({"prior": lambda x: 3 * x}, "total 1, got about 1.5"),
    ({"prior": lambda x: 2 - 4 * x}, ">= 0"),
    ({"prior": lambda x: 1 / (x - x)}, "raised ZeroDivisionError at 0"),
    ({"prior": 3}, "got int"),
    ({"loss": lambda gap: "a"}, "returns a number, got str"),
    ({"loss": lambda gap: math.nan}, "finite"),
    ({"loss": lambda gap: -1}, ">= 0"),
    ({"loss": lambda gap: 1 - abs(gap)}, "not fall"),
    ({"loss": lambda guess, truth: 1}, "raised TypeError"),
    ({"loss": 3}, "got int"),
    ({"width": 0}, "width must be > 0"),
    ({"width": math.nan}, "finite"),
    ({"level": 2}, "level must be made by"),
    ({"level": None}, "level must be given"),
    ({"mechanism": "nothing"}, "mechanism must be"),
    ({"mechanism": 3}, "mechanism must be"),
]


@pytest.mark.parametrize(("change", "text"), REFUSED)
def test_what_is_wrong_is_said_in_one_line(change: dict[str, Any], text: str) -> None:
    arguments = {"mechanism": "laplace", "level": LEVEL, **change}
    with pytest.raises(ut.InputError, match=text) as refusal:
        UNIT.loss(**arguments)
    assert "\n" not in str(refusal.value)
