"""A new density or loss over an interval is one class and one registration: help, errors and docs list all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from utmost.cli import main
from utmost.continuous.densities import DENSITIES, linear_density, parse_density
from utmost.continuous.densities.density import DensityFamily
from utmost.continuous.interval import Interval
from utmost.continuous.losses import CONTINUOUS_LOSSES, ContinuousLoss, parse_continuous_loss
from utmost.continuous.losses.loss import ContinuousLossFamily, Floats
from utmost.exact import Number, rational

PAGE = Path(__file__).parents[2] / "docs" / "continuous-laws.md"
UNIT = Interval(Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Capped(ContinuousLoss):
    """|w − x|, at most `cap`."""

    cap: Fraction

    @property
    def name(self) -> str:
        return f"capped:{self.cap}"

    @property
    def convex(self) -> bool:
        return False

    def of_gap(self, gap: Fraction) -> Number:
        return min(abs(gap), self.cap)

    def of_gaps(self, gaps: Floats) -> Floats:
        return np.minimum(np.abs(gaps), float(self.cap))

    def lipschitz(self, interval: Interval) -> Number:
        return Fraction(1)

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        return Fraction(0), 1


CAPPED = ContinuousLossFamily(
    kind="capped",
    example="capped:0.2",
    written="capped:c",
    meaning="|w−x|, at most c",
    parse=lambda text: Capped(rational(text, "capped")),
)
RAMP = DensityFamily(
    kind="ramp",
    example="ramp",
    meaning="rising from 0",
    parse=lambda _, interval: linear_density(
        [(interval.low, 0), (interval.high, 2 / interval.length)], interval, "ramp"
    ),
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The output of a command."""
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    captured = capsys.readouterr()
    assert exit_info.value.code == 0, captured.err
    return captured.out


def test_a_new_density_and_a_new_loss_are_used_and_listed(capsys: pytest.CaptureFixture[str]):
    with DENSITIES.registration(RAMP), CONTINUOUS_LOSSES.registration(CAPPED):
        assert parse_continuous_loss("capped:0.2") == Capped(Fraction(1, 5))
        assert parse_density("ramp", UNIT).exact_masses([Fraction(0), Fraction(1, 2)]) == [Fraction(1, 4)]
        options = ["--interval", "0,1", "--epsilon", "2", "--prior", "ramp", "--loss", "capped:0.2", "--width", "0.05"]
        assert "capped:1/5" in run(capsys, "loss", "laplace", *options)
        text = run(capsys, "loss", "--help")
        assert "ramp" in text
        assert "capped:0.2" in text
        assert "capped:0.2" in run(capsys, "continuous", "grid", "--help")
        with pytest.raises(ut.InputError, match=r"capped:0\.2"):
            parse_continuous_loss("cubed")
        with pytest.raises(ut.InputError, match="ramp"):
            parse_density("gamma:2", UNIT)
    with pytest.raises(ut.InputError):
        parse_density("ramp", UNIT)


def test_the_documentation_has_a_line_for_each():
    page = PAGE.read_text()
    for density in DENSITIES:
        assert f"| `{density.example}` | {density.meaning} |" in page
    for loss in CONTINUOUS_LOSSES:
        formula = loss.meaning.replace("|", "\\|")
        assert f"| `{loss.written}` | {formula} |" in page
